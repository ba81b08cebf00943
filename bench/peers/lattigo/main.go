// Command lattigo times operations of Lattigo v6 and prints them as JSON lines in noren's benchmark schema.
//
// It takes the options of one step of a suite, as every program in bench/peers does: see bench/README.md.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/tuneinsight/lattigo/v6/schemes/bgv"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

// shape is a parameter set: sizes of primes in bits, and how many there are. The same as in noren's shape.rs.
type shape struct{ logN, first, scale, limbs, specialBits, special int }

var (
	hybrid = []shape{{14, 48, 45, 7, 48, 2}, {15, 48, 45, 11, 48, 4}, {16, 48, 45, 24, 48, 8}}
	seal   = []shape{{15, 44, 44, 20, 48, 1}}
	client = []shape{{13, 40, 33, 5, 40, 1}, {14, 48, 42, 9, 45, 1}, {15, 48, 44, 18, 48, 1}, hybrid[2]}
	trace  = []shape{{15, 48, 40, 10, 48, 1}, {15, 48, 40, 10, 48, 5}, {15, 48, 40, 10, 45, 10}}
)

// options are those of one step.
type options struct {
	threads []int
	levels  []int
	seconds float64
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// numbers reads a list such as 1,2.
func numbers(list string) []int {
	var all []int
	for field := range strings.SplitSeq(list, ",") {
		number, err := strconv.Atoi(field)
		check(err)
		all = append(all, number)
	}
	return all
}

func main() {
	suite := flag.String("suite", "ckks", "ckks, trace, client, chain, matvec, bootstrap or owners")
	logN := flag.String("log-n", "13,14,15,16", "ckks, client: base-two logarithms of ring degrees")
	family := flag.String("shape", "hybrid", "ckks: hybrid or seal")
	special := flag.String("special", "1,5,10", "trace: numbers of special primes")
	level := flag.String("level", "1,4,9", "trace: levels of the ciphertext")
	preset := flag.String("preset", "n16", "bootstrap: noren's preset; Lattigo's own sets stand beside those for 2^15 slots")
	mode := flag.String("mode", "complex", "bootstrap: complex or real")
	dense := flag.Bool("dense", false, "bootstrap: the set with a dense secret")
	scheme := flag.String("scheme", "bfv,bgv,ckks", "chain: bfv, bgv or ckks")
	depth := flag.String("depth", "2,4,6,8,10", "chain: how many products follow one another")
	logQ := flag.String("log-q", "", "owners: sizes of primes in bits")
	logP := flag.String("log-p", "", "owners: sizes of special primes in bits")
	parties := flag.Int("parties", 3, "owners: how many share the secret")
	rotations := flag.Int("rotations", 0, "owners: keys of rotations")
	products := flag.Int("products", 0, "owners: 1 for a relinearisation key too")
	results := flag.Int("results", 1, "owners: ciphertexts that are opened")
	threads := flag.String("threads", "1", "numbers of threads")
	seconds := flag.Float64("seconds", 1, "time spent on each operation")
	flag.Parse()

	step := options{numbers(*threads), numbers(*level), *seconds}
	if *suite == "bootstrap" {
		chosen := sparseSet
		if *dense {
			chosen = denseSet
		}
		if strings.HasPrefix(*preset, "n16") && *mode == "complex" {
			runBootstrap(chosen, step)
		}
		return
	}
	if *suite == "chain" {
		for name := range strings.SplitSeq(*scheme, ",") {
			for _, products := range numbers(*depth) {
				runChain(name, products, step)
			}
		}
		return
	}
	if *suite == "owners" {
		literal := bgv.ParametersLiteral{
			LogN: numbers(*logN)[0], LogQ: numbers(*logQ), LogP: numbers(*logP), PlaintextModulus: plaintextModulus}
		runOwners(literal, *parties, *rotations, *products, *results)
		return
	}
	if *suite == "matvec" {
		runMatvec(step)
		return
	}
	shapes, key, wanted := map[string][]shape{"ckks": hybrid, "trace": trace, "client": client}[*suite], logNOf, numbers(*logN)
	run := map[string]func(shape, options){"ckks": runCkks, "trace": runTrace, "client": runClient}[*suite]
	if *suite == "ckks" && *family == "seal" {
		shapes = seal
	}
	if *suite == "trace" {
		key, wanted = specialOf, numbers(*special)
	}
	if run == nil {
		check(fmt.Errorf("there is no suite %s", *suite))
	}
	for _, s := range shapes {
		if slices.Contains(wanted, key(s)) {
			run(s, step)
		}
	}
}

func logNOf(s shape) int    { return s.logN }
func specialOf(s shape) int { return s.special }

// parameters makes a parameter set of a shape.
func (s shape) parameters() ckks.Parameters {
	logQ := append([]int{s.first}, slices.Repeat([]int{s.scale}, s.limbs-1)...)
	logP := slices.Repeat([]int{s.specialBits}, s.special)
	params, err := ckks.NewParametersFromLiteral(
		ckks.ParametersLiteral{LogN: s.logN, LogQ: logQ, LogP: logP, LogDefaultScale: s.scale})
	check(err)
	return params
}

// dnum is the number of digits.
func (s shape) dnum() int { return (s.limbs + s.special - 1) / s.special }
