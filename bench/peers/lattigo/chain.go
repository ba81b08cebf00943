package main

import (
	"fmt"
	"math/cmplx"
	"runtime"
	"slices"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/bgv"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

// plaintextModulus and the moduli below are those of the comparison of Tsuji and Oguchi, table 1: for each depth the bits of
// Q, in a first prime of firstBits and others of equal size.
const (
	plaintextModulus = 65537
	firstBits        = 60
)

var (
	chainLimbs = map[string]map[int][2]int{
		"bfv": {2: {2, 118}, 4: {3, 177}, 6: {4, 235}, 8: {5, 294}, 10: {6, 352}},
		"bgv": {2: {2, 118}, 4: {4, 235}, 6: {6, 352}, 8: {8, 410}, 10: {10, 583}},
	}
	// chainShape is that of CKKS: 146 bits at depth 2, and 45 more a level.
	chainShape = shape{16, 56, 45, 0, 60, 0}
)

// runChain measures products that follow one another, with a fresh ciphertext and of the ciphertext with itself.
func runChain(scheme string, depth int, step options) {
	if scheme == "ckks" {
		chainOfNumbers(depth, step)
		return
	}
	chainOfIntegers(scheme, depth, step)
}

func chainOfIntegers(scheme string, depth int, step options) {
	size, known := chainLimbs[scheme][depth]
	if !known {
		return
	}
	limbs, bits := size[0], size[1]
	// The last product needs the largest prime.
	logQ := slices.Repeat([]int{(bits - firstBits) / (limbs - 1)}, limbs)
	for i := range 1 + (bits-firstBits)%(limbs-1) {
		logQ[i]++
	}
	logQ[0] = firstBits
	// As many special primes as make the fastest digits: two for BFV, which keeps its modulus, and three for BGV.
	digits := map[string]int{"bfv": 2, "bgv": 3}[scheme]
	special := (limbs + digits - 1) / digits
	params, err := bgv.NewParametersFromLiteral(bgv.ParametersLiteral{
		LogN: 15, LogQ: logQ, LogP: slices.Repeat([]int{60}, special), PlaintextModulus: plaintextModulus})
	check(err)
	kgen := rlwe.NewKeyGenerator(params)
	sk, pk := kgen.GenKeyPairNew()
	keys := rlwe.NewMemEvaluationKeySet(kgen.GenRelinearizationKeyNew(sk))
	encoder, encryptor, decryptor := bgv.NewEncoder(params), rlwe.NewEncryptor(params, pk), rlwe.NewDecryptor(params, sk)
	eval := bgv.NewEvaluator(params, keys, scheme == "bfv")
	numbers := func(step uint64) []uint64 {
		all := make([]uint64, params.MaxSlots())
		for j := range all {
			all[j] = (uint64(j)*step + 3) % plaintextModulus
		}
		return all
	}
	encrypt := func(numbers []uint64) *rlwe.Ciphertext {
		plain := bgv.NewPlaintext(params, params.MaxLevel())
		check(encoder.Encode(numbers, plain))
		ct, err := encryptor.EncryptNew(plain)
		check(err)
		return ct
	}
	x, y := numbers(5), numbers(7)
	a, b := encrypt(x), encrypt(y)
	chain := func(squares bool) *rlwe.Ciphertext {
		product := a
		for range depth {
			factor := b
			if squares {
				factor = product
			}
			product, err = eval.MulRelinNew(product, factor)
			check(err)
			if product.Level() > 0 {
				check(eval.Rescale(product, product))
			}
		}
		return product
	}
	isRight := func(squares bool) bool {
		found := make([]uint64, len(x))
		check(encoder.Decode(decryptor.DecryptNew(chain(squares)), found))
		for j := range found {
			expected := x[j]
			for range depth {
				if squares {
					expected = expected * expected % plaintextModulus
				} else {
					expected = expected * y[j] % plaintextModulus
				}
			}
			if found[j] != expected {
				return false
			}
		}
		return true
	}
	s := shape{logN: 15, limbs: limbs, special: special}
	s.reportChains(scheme, depth, params.LogQ(), params.LogQP(), params.MaxSlots(), step, isRight, func(squares bool) { chain(squares) })
}

func chainOfNumbers(depth int, step options) {
	s := chainShape
	s.limbs, s.special = depth+1, (depth+3)/3
	params := s.parameters()
	kgen := rlwe.NewKeyGenerator(params)
	sk, pk := kgen.GenKeyPairNew()
	keys := rlwe.NewMemEvaluationKeySet(kgen.GenRelinearizationKeyNew(sk))
	encoder, decryptor := ckks.NewEncoder(params), rlwe.NewDecryptor(params, sk)
	eval := ckks.NewEvaluator(params, keys)
	x := values(params.MaxSlots())
	plain := ckks.NewPlaintext(params, params.MaxLevel())
	check(encoder.Encode(x, plain))
	a, err := rlwe.NewEncryptor(params, pk).EncryptNew(plain)
	check(err)
	b := a.CopyNew()
	chain := func(squares bool) *rlwe.Ciphertext {
		product := a
		for range depth {
			factor := b
			if squares {
				factor = product
			}
			product, err = eval.MulRelinNew(product, factor)
			check(err)
			check(eval.Rescale(product, product))
		}
		return product
	}
	right := func(squares bool) bool {
		power := depth + 1
		if squares {
			power = 1 << depth
		}
		return isRight(encoder, decryptor, chain(squares), func(j int) complex128 { return cmplx.Pow(x[j], complex(float64(power), 0)) })
	}
	s.reportChains("ckks", depth, params.LogQ(), params.LogQP(), params.MaxSlots(), step, right, func(squares bool) { chain(squares) })
}

// reportChains measures both kinds of chains with each number of threads.
func (s shape) reportChains(scheme string, depth int, logQ, logQP float64, slots int, step options, right func(bool) bool, f func(bool)) {
	for _, threads := range step.threads {
		runtime.GOMAXPROCS(threads)
		for _, squares := range []bool{false, true} {
			op := "chain"
			if squares {
				op = "chain_squares"
			}
			r := record{Suite: "chain", Op: op, Scheme: scheme, Depth: depth, LogQ: logQ}
			r.LogQP, r.Slots, r.Security = logQP, slots, "128"
			if logQP > map[int]float64{15: 868, 16: 1747}[s.logN] {
				check(fmt.Errorf("%.0f bits are too many for 128-bit security", logQP))
			}
			s.measure(r, step, 1, right(squares), func() { f(squares) })
		}
	}
}
