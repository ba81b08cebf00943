// Command lattigo times CKKS operations of Lattigo v6 and prints them as JSON lines in noren's benchmark schema.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

// shape is a parameter set: q_0 of 50 bits, further primes of 45, special primes of 50.
type shape struct{ logN, limbs, special int }

var shapes = []shape{{14, 7, 2}, {15, 11, 4}, {16, 24, 8}}

type record struct {
	Suite    string  `json:"suite"`
	Op       string  `json:"op"`
	Library  string  `json:"library"`
	Version  string  `json:"version"`
	N        int     `json:"n"`
	Limbs    int     `json:"limbs"`
	LogQP    float64 `json:"log_qp"`
	Special  int     `json:"special"`
	Dnum     int     `json:"dnum"`
	Slots    int     `json:"slots"`
	Security string  `json:"security"`
	Isa      string  `json:"isa"`
	Threads  int     `json:"threads"`
	MedianNs float64 `json:"median_ns"`
	MadNs    float64 `json:"mad_ns"`
	Reps     int     `json:"reps"`
	PeakRss  int64   `json:"peak_rss_bytes"`
	Note     string  `json:"note"`
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func median(x []float64) float64 {
	sort.Float64s(x)
	return x[len(x)/2]
}

// peakRss reads the high-water mark of the resident set, in bytes.
func peakRss() int64 {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return usage.Maxrss * 1024
}

func main() {
	seconds := flag.Float64("seconds", 1, "time spent on each operation")
	only := flag.String("log-n", "14,15,16", "ring degrees to run")
	flag.Parse()
	for _, s := range shapes {
		if !strings.Contains(*only, strconv.Itoa(s.logN)) {
			continue
		}
		run(s, *seconds)
	}
}

func run(s shape, seconds float64) {
	logQ := []int{50}
	for len(logQ) < s.limbs {
		logQ = append(logQ, 45)
	}
	logP := []int{}
	for len(logP) < s.special {
		logP = append(logP, 50)
	}
	params, err := ckks.NewParametersFromLiteral(ckks.ParametersLiteral{LogN: s.logN, LogQ: logQ, LogP: logP, LogDefaultScale: 45})
	check(err)

	kgen := rlwe.NewKeyGenerator(params)
	sk, pk := kgen.GenKeyPairNew()
	galois := []uint64{}
	for r := 1; r <= 8; r++ {
		galois = append(galois, params.GaloisElement(r))
	}
	keys := rlwe.NewMemEvaluationKeySet(kgen.GenRelinearizationKeyNew(sk), kgen.GenGaloisKeysNew(galois, sk)...)
	encoder := ckks.NewEncoder(params)
	encryptor := rlwe.NewEncryptor(params, pk)
	decryptor := rlwe.NewDecryptor(params, sk)
	eval := ckks.NewEvaluator(params, keys)

	values := make([]complex128, params.MaxSlots())
	for i := range values {
		values[i] = complex(math.Cos(float64(i)), math.Sin(float64(i)))
	}
	plain := ckks.NewPlaintext(params, params.MaxLevel())
	check(encoder.Encode(values, plain))
	a, err := encryptor.EncryptNew(plain)
	check(err)
	b := a.CopyNew()
	sum := a.CopyNew()
	product := ckks.NewCiphertext(params, 1, params.MaxLevel())
	rescaled := ckks.NewCiphertext(params, 1, params.MaxLevel()-1)
	rotated := ckks.NewCiphertext(params, 1, params.MaxLevel())
	decoded := make([]complex128, params.MaxSlots())

	report := func(op string, per float64, f func()) {
		f()
		times := []float64{}
		for start := time.Now(); len(times) < 5 || time.Since(start).Seconds() < seconds; {
			t := time.Now()
			f()
			times = append(times, float64(time.Since(t).Nanoseconds())/per)
		}
		m := median(times)
		deviations := make([]float64, len(times))
		for i, t := range times {
			deviations[i] = math.Abs(t - m)
		}
		line, err := json.Marshal(record{"ckks", op, "lattigo", "v6.2.0", 1 << s.logN, s.limbs, params.LogQP(), s.special,
			(s.limbs + s.special - 1) / s.special, params.MaxSlots(), "128", "go", runtime.GOMAXPROCS(0), m, median(deviations), len(times), peakRss(), ""})
		check(err)
		fmt.Println(string(line))
	}
	report("encode", 1, func() { check(encoder.Encode(values, plain)) })
	report("encrypt", 1, func() { check(encryptor.Encrypt(plain, a)) })
	report("decrypt", 1, func() { check(encoder.Decode(decryptor.DecryptNew(a), decoded)) })
	report("add", 1, func() { check(eval.Add(a, b, sum)) })
	report("mul_plain", 1, func() { check(eval.Mul(a, plain, sum)) })
	report("mul_relin_rescale", 1, func() {
		check(eval.MulRelin(a, b, product))
		check(eval.Rescale(product, rescaled))
	})
	report("rotate", 1, func() { check(eval.Rotate(a, 1, rotated)) })
	steps := []int{1, 2, 3, 4, 5, 6, 7, 8}
	report("rotate_hoisted", 8, func() {
		_, err := eval.RotateHoistedNew(a, steps)
		check(err)
	})
}
