package main

import (
	"runtime"
	"slices"

	"github.com/tuneinsight/lattigo/v6/circuits/bgv/lintrans"
	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/bgv"
)

// matrixSize is the number of rows and columns of the matrix.
const matrixSize = 512

// matvecShape is the same as in noren's matvec.rs.
var matvecShape = shape{14, 33, 33, 10, 48, 2}

// babyStepRatios are those that are measured: base-two logarithms of baby steps over giant steps, as Lattigo takes them.
var babyStepRatios = []int{2, 4}

// runMatvec measures a matrix times a vector, encoded before, by diagonals with baby steps and giant steps.
func runMatvec(step options) {
	s := matvecShape
	params, err := bgv.NewParametersFromLiteral(bgv.ParametersLiteral{
		LogN: s.logN, LogQ: slices.Repeat([]int{s.scale}, s.limbs), LogP: slices.Repeat([]int{s.specialBits}, s.special),
		PlaintextModulus: plaintextModulus})
	check(err)
	kgen := rlwe.NewKeyGenerator(params)
	sk, pk := kgen.GenKeyPairNew()
	encoder, decryptor := bgv.NewEncoder(params), rlwe.NewDecryptor(params, sk)

	slots := params.MaxSlots()
	x, expected := make([]uint64, slots), make([]uint64, slots)
	for j := range x {
		x[j] = uint64(5*(j%matrixSize)+3) % plaintextModulus
	}
	diagonals := lintrans.Diagonals[uint64]{}
	for k := range matrixSize {
		diagonals[k] = make([]uint64, slots)
		for j := range slots {
			row, column := j%matrixSize, (j+k)%matrixSize
			diagonals[k][j] = entry(row, column)
			expected[j] = (expected[j] + entry(row, column)*x[column]) % plaintextModulus
		}
	}
	plain := bgv.NewPlaintext(params, params.MaxLevel())
	check(encoder.Encode(x, plain))
	ct, err := rlwe.NewEncryptor(params, pk).EncryptNew(plain)
	check(err)

	for _, ratio := range babyStepRatios {
		matrix := lintrans.NewLinearTransformation(params, lintrans.Parameters{
			DiagonalsIndexList: diagonals.DiagonalsIndexList(), LevelQ: params.MaxLevel(), LevelP: params.MaxLevelP(),
			Scale: params.DefaultScale(), LogDimensions: ct.LogDimensions, LogBabyStepGiantStepRatio: ratio})
		check(lintrans.Encode(encoder, diagonals, matrix))
		keys := kgen.GenGaloisKeysNew(matrix.GaloisElements(params), sk)
		eval := lintrans.NewEvaluator(bgv.NewEvaluator(params, rlwe.NewMemEvaluationKeySet(nil, keys...), false))
		out := bgv.NewCiphertext(params, 1, params.MaxLevel())
		multiply := func() { check(eval.Evaluate(ct, matrix, out)) }
		for _, threads := range step.threads {
			runtime.GOMAXPROCS(threads)
			multiply()
			found := make([]uint64, slots)
			check(encoder.Decode(decryptor.DecryptNew(out), found))
			r := record{Suite: "matvec", Op: "matvec", Scheme: "bgv", LogQP: params.LogQP(), Slots: slots / 2, Security: "128"}
			r.Dimension, r.BabySteps, r.Keys = matrixSize, matrix.N1, len(keys)
			s.measure(r, step, 1, slices.Equal(found, expected), multiply)
		}
	}
}

// entry is an entry of the matrix, as every driver takes it: none is zero.
func entry(i, j int) uint64 {
	return uint64((7*i*i+11*i*j+13*j*j)%(plaintextModulus-1) + 1)
}
