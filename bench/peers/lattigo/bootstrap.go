package main

import (
	"fmt"
	"math"
	"math/cmplx"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/tuneinsight/lattigo/v6/circuits/ckks/bootstrapping"
	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

// memoryShare is the part of the machine's memory that Go may fill before it collects more often. Without a limit its
// heap grows to twice what lives, which is more than many machines have.
const memoryShare = 0.8

// leastBits tells right results from wrong ones.
const leastBits = 8

// documentedFailure is log2 of the probability that a bootstrap of these sets fails, as Lattigo's documentation says.
const documentedFailure = -138.7

// set is one of Lattigo's own parameter sets for 2^15 slots.
type set struct {
	name  string
	dense bool
}

var (
	// The fastest of Lattigo's sets that leaves about as many levels as noren's.
	sparseSet = set{"N16QP1546H192H32", false}
	// The one with a dense secret, as noren's.
	denseSet = set{"N16QP1767H32768H32", true}
)

// runBootstrap measures Lattigo's bootstrapping: set-up, every kind of message, stages. For real messages it gains
// nothing: its rings of real numbers bootstrap two of them as one complex one.
func runBootstrap(chosen set, step options) {
	limitMemory()
	runtime.GOMAXPROCS(step.threads[0])

	start := time.Now()
	literal := bootstrapping.N16QP1546H192H32
	if chosen.dense {
		literal = bootstrapping.N16QP1767H32768H32
	}
	params, err := ckks.NewParametersFromLiteral(literal.SchemeParams)
	check(err)
	btp, err := bootstrapping.NewParametersFromLiteral(params, literal.BootstrappingParams)
	check(err)
	sk := rlwe.NewKeyGenerator(params).GenSecretKeyNew()
	context := time.Since(start)

	start = time.Now()
	keys, _, err := btp.GenEvaluationKeys(sk)
	check(err)
	keyTime := time.Since(start)
	start = time.Now()
	eval, err := bootstrapping.NewEvaluator(btp, keys)
	check(err)
	matrices := time.Since(start)

	b := bench{chosen.name, params, btp, keys.BinarySize()}
	setup := context + keyTime + matrices
	r := b.record("setup", []float64{float64(setup.Nanoseconds())})
	r.ContextNs, r.KeysNs, r.MatricesNs = float64(context.Nanoseconds()), float64(keyTime.Nanoseconds()), float64(matrices.Nanoseconds())
	r.print()

	encoder, decryptor := ckks.NewEncoder(params), rlwe.NewDecryptor(params, sk)
	encryptor := rlwe.NewEncryptor(params, sk)
	low := func(values []complex128) *rlwe.Ciphertext {
		plain := ckks.NewPlaintext(params, 0)
		check(encoder.Encode(values, plain))
		ct, err := encryptor.EncryptNew(plain)
		check(err)
		return ct
	}
	for turn, threads := range step.threads {
		runtime.GOMAXPROCS(threads)
		inputs := messages(params.MaxSlots())
		if turn > 0 {
			// The same results again: only their times differ.
			inputs = inputs[:2]
		}
		var times []float64
		precision := map[string][2]float64{}
		level := 0
		for _, input := range inputs {
			// Bootstrapping overwrites what it is given.
			ct := low(input.values)
			runtime.GC()
			start := time.Now()
			out, err := eval.Bootstrap(ct)
			check(err)
			times = append(times, float64(time.Since(start).Nanoseconds()))
			level = out.Level()
			found := make([]complex128, params.MaxSlots())
			check(encoder.Decode(decryptor.DecryptNew(out), found))
			precision[input.name] = bits(found, input.values)
		}
		first := times[0]
		if turn == 0 {
			times = times[1:]
		}
		r := b.record("bootstrap", times)
		worst, rms := math.Inf(1), math.Inf(1)
		for _, each := range precision {
			worst, rms = math.Min(worst, each[0]), math.Min(rms, each[1])
		}
		r.FirstNs = first
		if turn == 0 {
			r.Precision, r.WorstBits, r.RmsBits = precision, worst, rms
		}
		r.LevelsLeft = level
		r.LevelBits = math.Log2(float64(params.Q()[1]))
		r.Log2Failure = documentedFailure + math.Log2(100)
		if worst < leastBits {
			r.MedianNs, r.MadNs, r.Reps, r.Note = nil, nil, 0, "wrong result: no time"
		}
		r.print()
		if turn == 0 {
			b.stages(eval, low(inputs[0].values))
		}
	}
}

// limitMemory makes Go collect more often before the machine's memory is full.
func limitMemory() {
	info, err := os.ReadFile("/proc/meminfo")
	check(err)
	_, rest, _ := strings.Cut(string(info), "MemTotal:")
	var kib int64
	_, err = fmt.Sscan(rest, &kib)
	check(err)
	debug.SetMemoryLimit(int64(memoryShare * float64(kib<<10)))
}

// bench is what all records of the suite share.
type bench struct {
	set      string
	params   ckks.Parameters
	btp      bootstrapping.Parameters
	keyBytes int
}

// record is one for some times.
func (b bench) record(op string, times []float64) record {
	all := b.btp.BootstrappingParameters
	m := median(times)
	deviations := make([]float64, len(times))
	for i, t := range times {
		deviations[i] = math.Abs(t - m)
	}
	mad := median(deviations)
	limbs, special := all.QCount(), all.PCount()
	return record{
		Suite: "bootstrap", Op: op, Library: "lattigo", Version: "v6.2.0", N: all.N(), Limbs: limbs, LogQP: all.LogQP(),
		Special: special, Dnum: (limbs + special - 1) / special, Slots: b.params.MaxSlots(), Security: "128", Isa: "go",
		Threads: runtime.GOMAXPROCS(0), MedianNs: &m, MadNs: &mad, Reps: len(times), KeyBytes: b.keyBytes,
		Set: b.set, Mode: "complex", Note: fmt.Sprintf("Go's memory limit %.0f%% of the machine's", 100*memoryShare),
	}
}

// stages measures one pass, stage by stage, as Evaluator.Evaluate does it.
func (b bench) stages(eval *bootstrapping.Evaluator, ct *rlwe.Ciphertext) {
	runtime.GC()
	last := time.Now()
	took := map[string]float64{}
	done := func(stage string, err error) {
		check(err)
		took[stage] += float64(time.Since(last).Nanoseconds())
		last = time.Now()
	}
	ct, _, err := eval.ScaleDown(ct)
	check(err)
	ct, err = eval.ModUp(ct)
	done("raise", err)
	re, im, err := eval.CoeffsToSlots(ct)
	done("coeff_to_slot", err)
	re, err = eval.EvalMod(re)
	check(err)
	im, err = eval.EvalMod(im)
	done("eval_mod", err)
	_, err = eval.SlotsToCoeffs(re, im)
	done("slot_to_coeff", err)
	for _, stage := range []string{"raise", "coeff_to_slot", "eval_mod", "slot_to_coeff"} {
		r := b.record("stage", []float64{took[stage]})
		r.Stage = stage
		r.print()
	}
}

// message is one kind of input.
type message struct {
	name   string
	values []complex128
}

// messages are those that every library bootstraps, of absolute values up to 1.
func messages(slots int) []message {
	state := uint64(1)
	// Knuth's generator; the upper bits are the good ones. In [-1, 1).
	next := func() float64 {
		state = state*6364136223846793005 + 1442695040888963407
		return float64(state>>11)/(1<<52) - 1
	}
	fill := func(f func(int) complex128) []complex128 {
		all := make([]complex128, slots)
		for j := range all {
			all[j] = f(j)
		}
		return all
	}
	return []message{
		{"random complex", fill(func(int) complex128 { return complex(next()/math.Sqrt2, next()/math.Sqrt2) })},
		{"random real", fill(func(int) complex128 { return complex(next(), 0) })},
		{"constant 1", fill(func(int) complex128 { return 1 })},
		{"constant i", fill(func(int) complex128 { return 1i })},
		{"one-hot", fill(func(j int) complex128 {
			if j == slots/3 {
				return 1
			}
			return 0
		})},
		{"alternating", fill(func(j int) complex128 { return complex(float64(1-2*(j%2)), 0) })},
	}
}

// bits are those of precision: of the worst slot, and of the root of the mean square.
func bits(found, expected []complex128) [2]float64 {
	// JSON has no infinity.
	const wrong = -1e3
	worst, sum := 0.0, 0.0
	for j, x := range found {
		distance := cmplx.Abs(x - expected[j])
		if math.IsNaN(distance) {
			return [2]float64{wrong, wrong}
		}
		worst = math.Max(worst, distance)
		sum += distance * distance
	}
	return [2]float64{-math.Log2(worst), -math.Log2(sum/float64(len(found))) / 2}
}
