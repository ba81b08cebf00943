package main

import (
	"runtime"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

// runClient measures what the owner of the data does.
func runClient(s shape, step options) {
	params := s.parameters()
	kgen := rlwe.NewKeyGenerator(params)
	sk, pk := kgen.GenKeyPairNew()
	encoder, decryptor := ckks.NewEncoder(params), rlwe.NewDecryptor(params, sk)
	public, symmetric := rlwe.NewEncryptor(params, pk), rlwe.NewEncryptor(params, sk)
	x := values(params.MaxSlots())
	plain := ckks.NewPlaintext(params, params.MaxLevel())
	check(encoder.Encode(x, plain))
	ct := ckks.NewCiphertext(params, 1, params.MaxLevel())
	decrypted := ckks.NewPlaintext(params, params.MaxLevel())
	decoded := make([]complex128, params.MaxSlots())
	right := true
	for _, encryptor := range []*rlwe.Encryptor{symmetric, public} {
		check(encryptor.Encrypt(plain, ct))
		right = right && isRight(encoder, decryptor, ct, func(j int) complex128 { return x[j] })
	}
	decryptor.Decrypt(ct, decrypted)
	for _, threads := range step.threads {
		runtime.GOMAXPROCS(threads)
		report := func(op, note string, f func()) {
			s.report(record{Suite: "client", Op: op, Note: note}, params, step, 1, right, f)
		}
		report("keygen", "secret and public key", func() { kgen.GenKeyPairNew() })
		report("keygen_secret", "", func() { kgen.GenSecretKeyNew() })
		report("keygen_public", "", func() { kgen.GenPublicKeyNew(sk) })
		report("encode", "", func() { check(encoder.Encode(x, plain)) })
		report("encrypt", "public key", func() { check(public.Encrypt(plain, ct)) })
		report("encrypt_secret", "secret key", func() { check(symmetric.Encrypt(plain, ct)) })
		report("decrypt", "without decoding", func() { decryptor.Decrypt(ct, decrypted) })
		report("decode", "of the decrypted message", func() { check(encoder.Decode(decrypted, decoded)) })
	}
}
