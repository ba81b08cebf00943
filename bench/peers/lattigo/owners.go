package main

import (
	"encoding/json"
	"fmt"
	"math"
	"syscall"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/multiparty"
	"github.com/tuneinsight/lattigo/v6/ring"
	"github.com/tuneinsight/lattigo/v6/schemes/bgv"
	"github.com/tuneinsight/lattigo/v6/utils/sampling"
)

// owned is what a party takes for its share of joint keys and of results: CPU seconds and bytes, by steps.
type owned struct {
	Library string             `json:"library"`
	Version string             `json:"version"`
	Parties int                `json:"parties"`
	Seconds map[string]float64 `json:"seconds"`
	Bytes   map[string]int     `json:"bytes"`
	Peak    int64              `json:"peak_rss_bytes"`
}

// floodBits is the deviation of the noise that hides that of a result: what its sampler takes in one word.
const floodBits = 40

func cpu() float64 {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

// runOwners measures one party among others: the shares of its keys, and those of results.
func runOwners(literal bgv.ParametersLiteral, parties, rotations, products, results int) {
	params, err := bgv.NewParametersFromLiteral(literal)
	check(err)
	out := owned{"lattigo", version, parties, map[string]float64{}, map[string]int{}, 0}
	timed := func(step string, call func() int) {
		start := cpu()
		out.Bytes[step] += call()
		out.Seconds[step] += cpu() - start
	}
	crs, err := sampling.NewKeyedPRNG([]byte("what all parties have in common"))
	check(err)
	kgen := rlwe.NewKeyGenerator(params)
	sk := kgen.GenSecretKeyNew()

	public := multiparty.NewPublicKeyGenProtocol(params)
	publicShare := public.AllocateShare()
	timed("share", func() int {
		public.GenShare(sk, public.SampleCRP(crs), &publicShare)
		return publicShare.BinarySize()
	})
	galois := multiparty.NewGaloisKeyGenProtocol(params)
	for at := range rotations {
		share := galois.AllocateShare()
		timed("share", func() int {
			check(galois.GenShare(sk, params.GaloisElement(1<<at), galois.SampleCRP(crs), &share))
			return share.BinarySize()
		})
	}
	if products > 0 {
		relin := multiparty.NewRelinearizationKeyGenProtocol(params)
		ephemeral, first, second := relin.AllocateShare()
		timed("share", func() int {
			relin.GenShareRoundOne(sk, relin.SampleCRP(crs), ephemeral, &first)
			return first.BinarySize()
		})
		timed("relinearize", func() int {
			_, sum, _ := relin.AllocateShare()
			for range parties {
				relin.AggregateShares(sum, first, &sum)
			}
			relin.GenShareRoundTwo(ephemeral, sk, sum, &second)
			return second.BinarySize()
		})
	}
	sigma := math.Exp2(floodBits)
	opening, err := multiparty.NewKeySwitchProtocol(params, ring.DiscreteGaussian{Sigma: sigma, Bound: 6 * sigma})
	check(err)
	pk := kgen.GenPublicKeyNew(sk)
	encryptor, zero := rlwe.NewEncryptor(params, pk), rlwe.NewSecretKey(params)
	ct := rlwe.NewCiphertext(params, 1, params.MaxLevel())
	check(encryptor.EncryptZero(ct))
	for range results {
		share := opening.AllocateShare(params.MaxLevel())
		timed("open", func() int {
			opening.GenShare(sk, zero, ct, &share)
			return share.BinarySize()
		})
	}
	out.Peak = peakRss()
	line, err := json.Marshal(out)
	check(err)
	fmt.Println(string(line))
}
