package main

import (
	"runtime"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

// runCkks measures operations on full ciphertexts.
func runCkks(s shape, step options) {
	params := s.parameters()
	kgen := rlwe.NewKeyGenerator(params)
	sk, pk := kgen.GenKeyPairNew()
	steps := []int{1, 2, 3, 4, 5, 6, 7, 8}
	galois := params.GaloisElements(steps)
	keys := rlwe.NewMemEvaluationKeySet(kgen.GenRelinearizationKeyNew(sk), kgen.GenGaloisKeysNew(galois, sk)...)
	encoder := ckks.NewEncoder(params)
	encryptor := rlwe.NewEncryptor(params, pk)
	decryptor := rlwe.NewDecryptor(params, sk)
	eval := ckks.NewEvaluator(params, keys)

	slots, level := params.MaxSlots(), params.MaxLevel()
	x := values(slots)
	plain := ckks.NewPlaintext(params, level)
	check(encoder.Encode(x, plain))
	a, err := encryptor.EncryptNew(plain)
	check(err)
	b, sum := a.CopyNew(), a.CopyNew()
	scaled := ckks.NewCiphertext(params, 1, level)
	product := ckks.NewCiphertext(params, 1, level)
	rescaled := ckks.NewCiphertext(params, 1, level-1)
	rotated := ckks.NewCiphertext(params, 1, level)
	decoded := make([]complex128, slots)
	right := func(ct *rlwe.Ciphertext, expected func(int) complex128) bool {
		return isRight(encoder, decryptor, ct, expected)
	}
	turned := func(k int) func(int) complex128 {
		return func(j int) complex128 { return x[(j+k)%slots] }
	}
	mul := func() {
		check(eval.MulRelin(a, b, product))
		check(eval.Rescale(product, rescaled))
	}
	hoisted := func() map[int]*rlwe.Ciphertext {
		all, err := eval.RotateHoistedNew(a, steps)
		check(err)
		return all
	}
	for _, threads := range step.threads {
		runtime.GOMAXPROCS(threads)
		report := func(op, note string, per float64, right bool, f func()) {
			s.report(record{Suite: "ckks", Op: op, Note: note}, params, step, per, right, f)
		}
		fresh := right(a, turned(0))
		report("encode", "", 1, fresh, func() { check(encoder.Encode(x, plain)) })
		report("encrypt", "public key", 1, fresh, func() { check(encryptor.Encrypt(plain, a)) })
		report("decrypt", "with decoding", 1, fresh, func() { check(encoder.Decode(decryptor.DecryptNew(a), decoded)) })
		check(eval.Add(a, b, sum))
		ok := right(sum, func(j int) complex128 { return 2 * x[j] })
		report("add", "", 1, ok, func() { check(eval.Add(a, b, sum)) })
		check(eval.Mul(a, plain, scaled))
		square := func(j int) complex128 { return x[j] * x[j] }
		report("mul_plain", "without rescaling", 1, right(scaled, square), func() { check(eval.Mul(a, plain, scaled)) })
		mul()
		report("mul_relin_rescale", "", 1, right(rescaled, square), mul)
		check(eval.Rotate(a, 1, rotated))
		report("rotate", "", 1, right(rotated, turned(1)), func() { check(eval.Rotate(a, 1, rotated)) })
		ok = true
		for k, ct := range hoisted() {
			ok = ok && right(ct, turned(k))
		}
		report("rotate_hoisted", "per rotation of eight", float64(len(steps)), ok, func() { hoisted() })
	}
}
