package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/cmplx"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

type record struct {
	Suite    string   `json:"suite"`
	Op       string   `json:"op"`
	Library  string   `json:"library"`
	Version  string   `json:"version"`
	N        int      `json:"n"`
	Limbs    int      `json:"limbs"`
	LogQP    float64  `json:"log_qp"`
	Special  int      `json:"special"`
	Dnum     int      `json:"dnum"`
	Slots    int      `json:"slots"`
	Security string   `json:"security"`
	Isa      string   `json:"isa"`
	Threads  int      `json:"threads"`
	MedianNs *float64 `json:"median_ns"` // nil: the result was wrong
	MadNs    *float64 `json:"mad_ns"`
	Reps     int      `json:"reps"`
	PeakRss  int64    `json:"peak_rss_bytes"`
	Note     string   `json:"note"`
	// Fields of the suite trace.
	Level    *int   `json:"level,omitempty"`
	Keys     int    `json:"keys,omitempty"`
	KeyBytes int    `json:"key_bytes,omitempty"`
	Method   string `json:"method,omitempty"`
	// Fields of the suite chain.
	Scheme string  `json:"scheme,omitempty"`
	Depth  int     `json:"depth,omitempty"`
	LogQ   float64 `json:"log_q,omitempty"`
	// Fields of the suite matvec.
	Dimension int `json:"dimension,omitempty"`
	BabySteps int `json:"baby_steps,omitempty"`
	// Fields of the suite bootstrap.
	Set         string                `json:"set,omitempty"`
	Mode        string                `json:"mode,omitempty"`
	Stage       string                `json:"stage,omitempty"`
	ContextNs   float64               `json:"context_ns,omitempty"`
	KeysNs      float64               `json:"keys_ns,omitempty"`
	MatricesNs  float64               `json:"matrices_ns,omitempty"`
	FirstNs     float64               `json:"first_ns,omitempty"`
	LevelsLeft  int                   `json:"levels_left,omitempty"`
	LevelBits   float64               `json:"level_bits,omitempty"`
	WorstBits   float64               `json:"worst_bits,omitempty"`
	RmsBits     float64               `json:"rms_bits,omitempty"`
	Log2Failure float64               `json:"log2_failure,omitempty"`
	Precision   map[string][2]float64 `json:"precision,omitempty"`
}

// version is that of go.mod.
const version = "v6.2.0"

// leastSamples and sample are as in noren's measure.rs.
const (
	leastSamples = 5
	sample       = 50 * time.Microsecond
	warmUp       = 0.2
)

// tolerance tells right results from wrong ones: all shapes are thousands of times more exact.
const tolerance = 1.0 / 1024

func median(x []float64) float64 {
	slices.Sort(x)
	if len(x)%2 == 1 {
		return x[len(x)/2]
	}
	return (x[len(x)/2-1] + x[len(x)/2]) / 2
}

// measure times one call, warm, and returns the median, the median absolute deviation and the number of samples.
func measure(seconds, per float64, f func()) (float64, float64, int) {
	repeats := 1
	once := func() time.Duration {
		start := time.Now()
		for range repeats {
			f()
		}
		return time.Since(start)
	}
	start := time.Now()
	for once() < sample {
		repeats *= 2
	}
	for time.Since(start).Seconds() < seconds*warmUp {
		once()
	}
	start = time.Now()
	times := []float64{}
	for len(times) < leastSamples || time.Since(start).Seconds() < seconds {
		times = append(times, float64(once().Nanoseconds())/float64(repeats)/per)
	}
	m := median(times)
	deviations := make([]float64, len(times))
	for i, t := range times {
		deviations[i] = math.Abs(t - m)
	}
	return m, median(deviations), len(times)
}

// peakRss is the most memory held since the call before this one, in bytes.
func peakRss() int64 {
	status, err := os.ReadFile("/proc/self/status")
	check(err)
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kib int64
	_, err = fmt.Sscan(rest, &kib)
	check(err)
	// Where this is forbidden, the peak is that of the whole run.
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o200)
	return kib << 10
}

// report measures an operation if its result is right, and prints the record.
func (s shape) report(r record, params ckks.Parameters, step options, per float64, right bool, f func()) {
	r.LogQP, r.Slots, r.Security = params.LogQP(), params.MaxSlots(), "128"
	// Lattigo checks no security: the shapes are those that noren checked.
	if s == seal[0] {
		r.Security = "none"
	}
	s.measure(r, step, per, right, f)
}

// measure measures an operation if its result is right, and prints the record, of which it knows the shape.
func (s shape) measure(r record, step options, per float64, right bool, f func()) {
	r.Library, r.Version, r.Isa, r.Threads = "lattigo", version, "go", runtime.GOMAXPROCS(0)
	r.N, r.Limbs, r.Special, r.Dnum = 1<<s.logN, s.limbs, s.special, s.dnum()
	if right {
		m, mad, reps := measure(step.seconds, per, f)
		r.MedianNs, r.MadNs, r.Reps = &m, &mad, reps
	} else {
		r.Note = "wrong result: no time"
	}
	r.print()
}

// print states the memory and prints the record.
func (r record) print() {
	r.PeakRss = peakRss()
	line, err := json.Marshal(r)
	check(err)
	fmt.Println(string(line))
}

// values are numbers of absolute value 1 for all slots.
func values(slots int) []complex128 {
	all := make([]complex128, slots)
	for j := range all {
		all[j] = cmplx.Rect(1, float64(j))
	}
	return all
}

// isRight decrypts and compares.
func isRight(encoder *ckks.Encoder, decryptor *rlwe.Decryptor, ct *rlwe.Ciphertext, expected func(int) complex128) bool {
	found := make([]complex128, 1<<ct.LogDimensions.Cols)
	check(encoder.Decode(decryptor.DecryptNew(ct), found))
	for j, x := range found {
		// The negation also catches what is not a number.
		if !(cmplx.Abs(x-expected(j)) <= tolerance) {
			return false
		}
	}
	return true
}
