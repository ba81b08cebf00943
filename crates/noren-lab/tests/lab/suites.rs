//! Each suite prints its records.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::program::Lab;
use crate::records::{check, ops};

#[test]
fn kernels_are_measured_for_each_instruction_set() {
    let lab = Lab::new("kernels");
    let records = lab.records(&["kernels", "--log-n", "6,10"]);
    records.iter().for_each(check);
    let elementwise = ["add", "mul", "mul_add", "mul_then_add"];
    let transforms = ["ntt_forward", "ntt_inverse"];
    let others = ["inner_product", "basis_convert", "fft"];
    for isa in noren_math::kernels::available().map(noren_math::kernels::Kernels::name) {
        let of =
            |n: u64, bits: u64| ops(&records, &[("isa", isa.into()), ("n", n.into()), ("prime_bits", bits.into())]);
        assert_eq!(of(64, 48), elementwise);
        assert_eq!(of(1024, 48), [&transforms[..], &elementwise, &others].concat());
        assert_eq!(of(1024, 50), transforms);
    }
    // Transforms of torus words stay in the caches.
    let is_torus = |record: &&Value| record["op"].as_str().is_some_and(|op| op.starts_with("torus_"));
    let mut rows = records.iter().filter(|record| !is_torus(record));
    assert!(rows.all(|record| record["gb_per_s"].as_f64().is_some_and(|rate| rate > 0.0)));
    assert!(records.iter().any(|record| is_torus(&record)));
    let rates = records.iter().filter_map(|record| record["butterflies_per_cycle"].as_f64());
    assert!(rates.clone().count() > 0 && rates.clone().all(|rate| rate > 0.0));
}

#[test]
fn ciphertexts_are_measured_for_each_number_of_threads() {
    let Some(lab) = Lab::of_fastest_kernels("ckks") else { return };
    let ckks = lab.records(&["ckks", "--log-n", "14", "--threads", "1,2"]);
    ckks.iter().for_each(check);
    let all = ["encode", "encrypt", "decrypt", "add", "mul_plain", "mul_const", "mul_relin_rescale", "rotate"];
    let all = [&all[..], &["rotate_hoisted"]].concat();
    for threads in [1, 2] {
        assert_eq!(ops(&ckks, &[("threads", threads.into())]), all);
    }
    let shape = |record: &Value| ["n", "limbs", "special", "dnum", "slots"].map(|field| record[field].as_u64());
    let shapes: BTreeSet<_> = ckks.iter().map(shape).collect();
    assert_eq!(shapes, BTreeSet::from([[16384, 7, 2, 4, 8192].map(Some)]));
    assert!(ckks.iter().all(|record| record["security"] == "128"));
}

#[test]
fn sums_are_measured_for_each_number_of_iterations() {
    let Some(lab) = Lab::of_fastest_kernels("trace") else { return };
    let records = lab.records(&["trace", "--special", "5", "--level", "1", "--unrolled", "3,7"]);
    records.iter().for_each(check);
    let (doubling, unrolled) = records.split_first().expect("there are records");
    assert_eq!((&doubling["op"], &doubling["method"]), (&"trace".into(), &"doubling".into()));
    // One digit, two halves, two limbs and five special ones, 2^15 words.
    assert_eq!(doubling["key_bytes"], 7 * 2 * 7 * (8u64 << 15));
    let row = |record: &Value| ["level", "special", "h", "keys"].map(|field| record[field].as_u64());
    let (field, sums) = unrolled.split_last().expect("there are records");
    assert_eq!(sums.iter().map(row).collect::<Vec<_>>(), [[1, 5, 7, 7].map(Some), [1, 5, 3, 13].map(Some)]);
    assert!(sums.iter().all(|record| record["op"] == "trace" && record["method"].is_null()));
    assert!(field["op"] == "field_trace" && field["auto_default"] == true, "{field}");
    assert!(unrolled.iter().all(|record| record["model_ns"].as_f64() > Some(0.0) && record["auto"].is_boolean()));
}

#[test]
fn ways_to_go_parallel_are_measured_and_more_threads_are_modelled() {
    let Some(lab) = Lab::of_fastest_kernels("parallel") else { return };
    let words = ["parallel", "--log-n", "13", "--threads", "1,2", "--level", "1,17"];
    let (modelled, measured): (Vec<_>, Vec<_>) =
        lab.records(&words).into_iter().partition(|record| record["model"] == true);
    measured.iter().for_each(check);
    assert!(measured.iter().all(|record| record["security"] == "none" && record["limbs"] == 33));
    let all = ["add", "mul_plain", "mul_relin", "rescale", "rotate"];
    for parallel in ["coefficient", "modulus", "both"] {
        let found = |records, figure: &str, threads: u64, level: u64| {
            let fields = [("threads", threads.into()), ("level", level.into()), ("figure", figure.into())];
            ops(records, &[&fields[..], &[("parallel", parallel.into())]].concat()).join(" ")
        };
        for threads in [1, 2] {
            assert_eq!(found(&measured, "threads", threads, 16), all.join(" "));
        }
        for threads in [8, 16, 32, 64] {
            assert_eq!(found(&modelled, "threads", threads, 16), all.join(" "));
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from) as u64;
        for level in [1, 17] {
            assert_eq!(found(&measured, "levels", cores, level), all.join(" "));
            assert_eq!(found(&modelled, "levels", 16, level), all.join(" "));
        }
    }
    for record in modelled {
        let time = |field: &str| record[field].as_f64().expect("a time");
        assert!(record["note"].as_str().is_some_and(|note| note.contains("model")) && record["reps"] == 0);
        assert!(time("median_ns") == time("work_ns").max(time("memory_ns")), "{record}");
    }
}

#[test]
fn products_and_sums_of_many_rows_are_measured_in_one_pass_and_in_two() {
    let lab = Lab::new("fused");
    let records = lab.records(&["fused", "--log-n", "10,15", "--limbs", "1,15"]);
    records.iter().for_each(check);
    let field = |record: &Value, name: &str| record[name].as_u64().expect("a number");
    for (n, limbs) in [(1 << 10, 1), (1 << 15, 15)] {
        // A modulus of 60 bits is two primes, each with a row.
        for (bits, prime_bits, rows) in [(50, 50, limbs), (60, 30, 2 * limbs)] {
            let fields = [("n", n), ("limbs", rows), ("modulus_bits", bits), ("prime_bits", prime_bits)];
            let fields = fields.map(|(name, value): (&str, u64)| (name, value.into()));
            assert_eq!(ops(&records, &fields), ["mul_then_add_rows", "mul_add_rows"]);
        }
    }
    // The published size: 491,520 words in each of three vectors, and 15 moduli.
    let largest = records.iter().map(|record| (field(record, "words"), field(record, "input_bytes")));
    let single = largest.filter(|&(words, bytes)| bytes < 32 * words).max();
    assert_eq!(single, Some((491_520, 8 * (3 * 491_520 + 15))));
}

#[test]
fn products_with_matrices_are_measured() {
    let lab = Lab::new("cyclotomic");
    let records = lab.records(&["cyclotomic", "--set", "31:2:2"]);
    let found = ops(&records, &[]);
    for op in ["context", "keygen", "encode_matrix", "encrypt", "matvec", "decrypt", "norm_fft", "norm_horner"] {
        assert!(found.contains(&op), "{found:?}");
    }
    let without = lab.run(&["bench", "cyclotomic", "--set", "31:31:1", "--seconds", "0"]);
    assert!(!without.status.success() && String::from_utf8_lossy(&without.stderr).contains("does not divide 31"));
}

#[test]
fn suites_of_a_comparison_are_measured_too() {
    let Some(lab) = Lab::of_fastest_kernels("compared") else { return };
    assert_eq!(ops(&lab.records(&["chain", "--scheme", "bgv", "--depth", "1"]), &[]), ["chain", "chain_squares"]);
    // Two parts have a process each.
    let client = lab.records(&["weak-client", "--preset", "toy", "--part", "own,full"]);
    assert_eq!(ops(&client, &[("part", "full".into())]), ["tfhe_keys"]);
}
