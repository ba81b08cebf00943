package main

import (
	"runtime"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

// summed is the number of slots that are added up.
const summed = 128

// runTrace measures Lattigo's own sum over slots at each level.
func runTrace(s shape, step options) {
	params := s.parameters()
	kgen := rlwe.NewKeyGenerator(params)
	sk := kgen.GenSecretKeyNew()
	galois := params.GaloisElementsForInnerSum(1, summed)
	keys := kgen.GenGaloisKeysNew(galois, sk)
	eval := ckks.NewEvaluator(params, rlwe.NewMemEvaluationKeySet(nil, keys...))
	encoder, decryptor := ckks.NewEncoder(params), rlwe.NewDecryptor(params, sk)
	x := values(params.MaxSlots())
	for _, level := range step.levels {
		plain := ckks.NewPlaintext(params, level)
		check(encoder.Encode(x, plain))
		ct, err := rlwe.NewEncryptor(params, sk).EncryptNew(plain)
		check(err)
		out := ckks.NewCiphertext(params, 1, level)
		for _, threads := range step.threads {
			runtime.GOMAXPROCS(threads)
			sum := func() { check(eval.InnerSum(ct, 1, summed, out)) }
			sum()
			right := isRight(encoder, decryptor, out, func(j int) complex128 {
				total := complex128(0)
				for i := range summed {
					total += x[(j+i)%len(x)]
				}
				return total
			})
			r := record{Suite: "trace", Op: "trace", Note: "InnerSum; keys for all levels", Level: &level}
			r.Keys, r.KeyBytes, r.Method = len(keys), len(keys)*keys[0].BinarySize(), "InnerSum"
			s.report(r, params, step, 1, right, sum)
		}
	}
}
