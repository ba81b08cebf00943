//! The benchmarks print records in the schema that all libraries are compared with.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::sandbox::Sandbox;

fn records(sandbox: &Sandbox, arguments: &[&str]) -> Vec<Value> {
    let text = sandbox.done(&[arguments, &["--json", "--seconds", "0"]].concat());
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

fn check(record: &Value) {
    for field in ["suite", "op", "library", "version", "security", "isa", "note"] {
        assert!(record[field].is_string(), "{field} in {record}");
    }
    for field in ["n", "limbs", "special", "dnum", "slots", "threads", "reps"] {
        assert!(record[field].is_u64(), "{field} in {record}");
    }
    let positive = |field: &str| record[field].as_f64().is_some_and(|value| value > 0.0);
    assert!(positive("median_ns") && positive("log_qp"), "{record}");
    assert!(record["mad_ns"].as_f64() <= record["median_ns"].as_f64(), "{record}");
    // An operation that takes seconds is measured once.
    let slow = record["reps"] == 1 && record["median_ns"].as_f64() >= Some(1e9);
    assert!(record["reps"].as_u64() >= Some(5) || slow, "{record}");
    assert_eq!(record["library"], "noren");
}

/// The operations of the records of which the fields have these values.
fn ops<'a>(records: &'a [Value], fields: &[(&str, Value)]) -> Vec<&'a str> {
    let found = records.iter().filter(|record| fields.iter().all(|(name, value)| record[name] == *value));
    found.filter_map(|record| record["op"].as_str()).collect()
}

#[test]
fn kernels_are_measured_for_each_instruction_set() {
    let sandbox = Sandbox::new("kernels");
    let records = records(&sandbox, &["bench", "kernels", "--log-n", "6,10"]);
    records.iter().for_each(check);
    let info = sandbox.json(&["info"]);
    let elementwise = ["add", "mul", "mul_add", "mul_then_add"];
    let transforms = ["ntt_forward", "ntt_inverse"];
    let others = ["inner_product", "basis_convert", "fft"];
    for isa in info["isa_available"].as_array().expect("a list") {
        let of =
            |n: u64, bits: u64| ops(&records, &[("isa", isa.clone()), ("n", n.into()), ("prime_bits", bits.into())]);
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
    let sandbox = Sandbox::new("bench");
    let ckks = records(&sandbox, &["bench", "ckks", "--log-n", "14", "--threads", "1,2"]);
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

    let client = records(&sandbox, &["bench", "client", "--log-n", "13"]);
    client.iter().for_each(check);
    let all = ["keygen", "keygen_secret", "keygen_public", "encode", "encrypt", "encrypt_secret", "decrypt", "decode"];
    assert_eq!(ops(&client, &[]), all);
}

#[test]
fn samples_are_measured_one_by_one_and_in_batches() {
    let sandbox = Sandbox::new("tfhe");
    let records = records(&sandbox, &["bench", "tfhe", "--workload", "BOOL,client-BOOL", "--batch", "1,8"]);
    records.iter().for_each(check);
    let all = ["secret_key", "server_key", "encrypt", "decrypt", "mux", "gate", "gate"];
    assert_eq!(ops(&records, &[("workload", "BOOL".into())]), all);
    assert_eq!(ops(&records, &[("workload", "client-BOOL".into())]), ["client_keys"]);
    assert_eq!(ops(&records, &[("batch", 8.into())]), ["gate"]);
    assert!(records.iter().all(|record| record["log2_failure"].as_f64().is_some_and(|failure| failure < -64.0)));
    let wrong = sandbox.run(&["bench", "tfhe", "--workload", "2_3"]);
    assert!(!wrong.status.success() && String::from_utf8_lossy(&wrong.stderr).contains("BOOL, BOOL_128"));
    sandbox.refused(&["bench", "ckks", "--batch", "8"], &["--batch", "ckks"]);
}

#[test]
fn sums_are_measured_for_each_number_of_iterations() {
    let sandbox = Sandbox::new("trace");
    let records = records(&sandbox, &["bench", "trace", "--special", "5", "--level", "1", "--unrolled", "3,7"]);
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
fn bootstrapping_is_measured_with_its_stages_and_its_precision() {
    let sandbox = Sandbox::new("bootstrap");
    let records = records(&sandbox, &["bench", "bootstrap", "--preset", "toy", "--threads", "1,2"]);
    assert!(records.iter().all(|record| record["set"] == "toy" && record["n"] == 1024 && record["slots"] == 512));
    for (threads, mode) in [(1, "complex"), (1, "real"), (2, "complex"), (2, "real")] {
        let of = |op: &str| -> Vec<&Value> {
            let wanted = |record: &&Value| record["threads"] == threads && record["mode"] == mode && record["op"] == op;
            records.iter().filter(wanted).collect()
        };
        let number =
            |record: &Value, field: &str| record[field].as_f64().unwrap_or_else(|| panic!("{field}: {record}"));
        let ([setup], [whole]) = (&of("setup")[..], &of("bootstrap")[..]) else { panic!("one of each: {records:?}") };
        check(whole);
        // Time passes between the parts of a set-up, but none is counted.
        let parts: f64 = ["context_ns", "keys_ns", "matrices_ns"].map(|field| number(setup, field)).iter().sum();
        assert!((number(setup, "median_ns") - parts).abs() < 1e-6 * parts, "{setup}");
        assert!(number(setup, "key_bytes") > number(setup, "disk_bytes"), "{setup}");

        let stages = of("stage");
        let names: Vec<_> = stages.iter().filter_map(|stage| stage["stage"].as_str()).collect();
        assert_eq!(names, ["slot_to_coeff", "raise", "coeff_to_slot", "parts", "exponential", "series"]);
        stages.iter().for_each(|stage| check(stage));

        let precision = whole["precision"].as_object().expect("one for each kind");
        let kinds: &[&str] = match mode {
            "complex" => &["alternating", "constant 1", "constant i", "one-hot", "random complex", "random real"],
            _ => &["alternating", "constant 1", "one-hot", "random real"],
        };
        assert_eq!(precision.keys().collect::<Vec<_>>(), kinds);
        // The systematic error of a real part of `toy` is 2^-24.9, and all bounds together are below 2^-20.
        let worst = precision.values().map(|bits| bits[0].as_f64().expect("bits")).fold(f64::INFINITY, f64::min);
        assert!(precision.values().all(|bits| bits[0].as_f64() <= bits[1].as_f64()), "{whole}");
        assert!(worst >= 20.0 && worst == number(whole, "worst_bits"), "{whole}");
        assert_eq!(whole["levels_left"], 2);
        assert!(number(whole, "log2_failure") < -64.0, "{whole}");
        // What the plan expects; no modulus is secure where no security was asked for.
        assert!((number(whole, "predicted_bits") - worst).abs() < 2.0, "{whole}");
        assert!(number(whole, "predicted_bytes") > number(whole, "key_bytes"), "{whole}");
        assert!(whole["secure_log_qp"].is_null(), "{whole}");
    }
}

#[test]
fn a_weak_client_is_measured_in_a_process_for_each_part() {
    let sandbox = Sandbox::new("weak-client");
    let records = records(&sandbox, &["bench", "weak-client", "--preset", "toy"]);
    let of = |part: &str| ops(&records, &[("part", part.into())]);
    let own = ["context", "keygen_secret", "light_keys", "encode", "encrypt_secret", "decrypt"];
    assert_eq!(of("own"), own);
    assert_eq!(of("public"), ["context", "keygen_secret", "keygen_public", "encode", "encrypt"]);
    assert_eq!(of("full"), ["tfhe_keys"]);
    assert_eq!(of("all"), ["context", "keygen_secret", "tfhe_keys", "switch_keys", "bootstrap_keys"]);
    for record in &records {
        assert!(record["median_ns"].as_f64().is_some_and(|time| time > 0.0), "{record}");
        let sends = ["light_keys", "encrypt_secret", "keygen_public", "encrypt", "tfhe_keys", "switch_keys"];
        let sent = record["file_bytes"].as_u64().is_some_and(|bytes| bytes > 0);
        assert!(sent || !sends.contains(&record["op"].as_str().expect("a name")), "{record}");
    }
    let one = self::records(&sandbox, &["bench", "weak-client", "--preset", "toy", "--part", "own"]);
    assert_eq!(ops(&one, &[]), own);
    sandbox.refused(&["bench", "ckks", "--part", "own"], &["--part", "ckks"]);
}

#[test]
fn ways_to_go_parallel_are_measured_and_more_threads_are_modelled() {
    let sandbox = Sandbox::new("parallel");
    let words = ["bench", "parallel", "--log-n", "13", "--threads", "1,2", "--level", "1,17"];
    let (modelled, measured): (Vec<_>, Vec<_>) =
        records(&sandbox, &words).into_iter().partition(|record| record["model"] == true);
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
fn fewer_slots_are_bootstrapped_with_a_projection() {
    let sandbox = Sandbox::new("slots");
    let call = ["bench", "bootstrap", "--preset", "toy", "--log-slots", "7", "--mode", "real"];
    let records = records(&sandbox, &call);
    assert!(
        records.iter().all(|record| record["slots"] == 128 && record["n"] == 1024 && !record["median_ns"].is_null())
    );
    let stages: Vec<_> = records.iter().filter_map(|record| record["stage"].as_str()).collect();
    let all = ["slot_to_coeff", "raise", "projection", "coeff_to_slot", "parts", "exponential", "series"];
    assert_eq!(stages, all);
}

#[test]
fn the_baseline_of_bootstrapping_is_measured_too() {
    let sandbox = Sandbox::new("rns-heaan");
    let records = records(&sandbox, &["bench", "rns-heaan", "--log-n", "10"]);
    assert!(records.iter().all(|record| record["n"] == 1024 && record["set"] == "rns-heaan"));
    assert!(records.iter().all(|record| record["security"] == "none"));
    // All but single operations say what messages are like.
    assert!(records.iter().all(|record| record["mode"] == "complex" || record["level"] == 19), "{records:?}");
    let of = |op: &str| records.iter().filter(|record| record["op"] == op).collect::<Vec<_>>();
    let ([_], [whole]) = (&of("setup")[..], &of("bootstrap")[..]) else { panic!("one of each: {records:?}") };
    check(whole);
    let stages = of("stage");
    let names: Vec<_> = stages.iter().filter_map(|stage| stage["stage"].as_str()).collect();
    assert_eq!(names, ["raise", "coeff_to_slot", "parts", "exponential", "imaginary", "slot_to_coeff"]);
    assert_eq!((&whole["levels_left"], whole["precision"].as_object().map(|kinds| kinds.len())), (&2.into(), Some(6)));
    assert!(whole["worst_bits"].as_f64() >= Some(11.0), "{whole}");
    // The operations of the publication, at its highest level: two primes each.
    for op in ["add", "mul_integer", "mul_relin", "rescale", "rotate"] {
        let [record] = &of(op)[..] else { panic!("one {op}: {records:?}") };
        check(record);
        assert_eq!((&record["level"], &record["limbs"]), (&19.into(), &40.into()), "{record}");
    }
    assert!(records.iter().all(|record| record["parallel"].is_null()), "{records:?}");
}

#[test]
fn bootstrapping_is_measured_in_each_way_to_go_parallel() {
    let sandbox = Sandbox::new("ways");
    let ways = ["--threads", "2", "--parallel", "coefficient,modulus,both"];
    for suite in [&["bootstrap", "--preset", "toy", "--mode", "real"][..], &["rns-heaan", "--log-n", "10"]] {
        let records = records(&sandbox, &[&["bench"], suite, &ways].concat());
        for way in ["coefficient", "modulus", "both"] {
            let found = ops(&records, &[("parallel", way.into()), ("threads", 2.into())]);
            assert_eq!(found.iter().filter(|&&op| op == "bootstrap").count(), 1, "{way}: {found:?}");
        }
        assert!(records.iter().all(|record| record["parallel"].is_string() && !record["median_ns"].is_null()));
    }
    sandbox.refused(&["bench", "ckks", "--parallel", "both"], &["--parallel", "ckks"]);
    let usage = sandbox.run(&["bench", "bootstrap", "--parallel", "all"]);
    assert_eq!(usage.status.code(), Some(2));
}

#[test]
fn products_and_sums_of_many_rows_are_measured_in_one_pass_and_in_two() {
    let sandbox = Sandbox::new("fused");
    let records = records(&sandbox, &["bench", "fused", "--log-n", "10,15", "--limbs", "1,15"]);
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
    sandbox.refused(&["bench", "fused", "--log-n", "16"], &["found 16", "10 to 15"]);
    sandbox.refused(&["bench", "kernels", "--limbs", "2"], &["--limbs", "kernels"]);
}

#[test]
fn reductions_are_measured_in_both_orders() {
    let sandbox = Sandbox::new("reductions");
    let of = |suite: &str, scheme: &str, count: &str, more: &[&str]| {
        records(&sandbox, &[&["bench", suite, "--scheme", scheme, "--count", count], more].concat())
    };
    let fields = |record: &Value| ["n", "slots", "count", "depth", "bootstraps"].map(|name| record[name].as_u64());
    let products = of("product", "ckks", "2,100", &["--way", "tree"]);
    products.iter().for_each(check);
    let shapes: Vec<_> = products.iter().map(fields).collect();
    assert_eq!(shapes, [[8192, 2, 2, 1, 0].map(Some), [16384, 128, 100, 7, 0].map(Some)]);
    // 20 bits of the product, in a modulus that is secure.
    assert!(products.iter().all(|record| record["worst_bits"].as_f64() >= Some(20.0) && record["security"] == "128"));
    assert!(products.iter().all(|record| record["keys_ns"].as_f64() > Some(0.0) && record["way"] == "tree"));
    let sums = of("inner-product", "ckks", "100", &[]);
    sums.iter().for_each(check);
    let ways: Vec<_> = sums.iter().map(|record| record["way"].as_str()).collect();
    assert_eq!(ways, [Some("paper"), Some("tree")]);
    assert!(sums.iter().all(|record| record["op"] == "inner_product" && record["depth"] == 1));
    let integers = of("product", "tfhe", "3", &["--bits", "4"]);
    integers.iter().for_each(check);
    let found: Vec<_> = integers.iter().map(|record| (&record["depth"], &record["bits"])).collect();
    assert_eq!(found, [(&2.into(), &4.into()), (&2.into(), &4.into())]);
    sandbox.refused(&["bench", "product", "--scheme", "bfv"], &["--scheme", "bfv", "ckks, tfhe"]);
    sandbox.refused(&["bench", "chain", "--scheme", "tfhe"], &["--scheme", "tfhe", "bfv, bgv, ckks"]);
    sandbox.refused(&["bench", "chain", "--count", "2"], &["--count", "chain"]);
    let usage = sandbox.run(&["bench", "product", "--count", "1"]);
    assert_eq!(usage.status.code(), Some(2));
}

#[test]
fn steps_that_there_are_not_are_refused() {
    let sandbox = Sandbox::new("steps");
    sandbox.refused(&["bench", "ckks", "--log-n", "13"], &["found 13", "14, 15, 16"]);
    sandbox.refused(&["bench", "kernels", "--log-n", "18"], &["found 18", "3 to 17"]);
    sandbox.refused(&["bench", "rns-heaan", "--log-n", "11"], &["found 11", "10 or 16"]);
    sandbox.refused(&["bench", "trace", "--special", "2"], &["found 2", "1, 5, 10"]);
    sandbox.refused(&["bench", "trace", "--level", "10"], &["found 10", "1 to 9"]);
    sandbox.refused(&["bench", "client", "--shape", "seal"], &["--shape", "client"]);
    sandbox.refused(&["bench", "ckks", "--mode", "real"], &["--mode", "ckks"]);
    sandbox.refused(&["bench", "bootstrap", "--level", "3"], &["--level", "bootstrap"]);
    sandbox.refused(&["bench", "bootstrap", "--preset", "toy", "--log-slots", "10"], &["log_slots", "10", "9"]);
    sandbox.refused(&["bench", "client", "--figure", "levels"], &["--figure", "client"]);
    sandbox.refused(&["bench", "parallel", "--level", "33"], &["found 33", "1 to 32"]);
    sandbox.refused(&["bench", "parallel", "--log-n", "12"], &["found 12", "16, 15, 14, 13"]);
    sandbox.refused(&["bench", "advise", "--number", "0,30"], &["--number", "found 30", "0 to 29"]);
}

#[cfg(unix)]
#[test]
fn programs_beside_are_shown_or_named_and_left_out() {
    use std::os::unix::fs::PermissionsExt;

    let sandbox = Sandbox::new("beside");
    let line = records(&sandbox, &["bench", "kernels", "--log-n", "6"])[0].to_string().replace("noren", "other");
    let script = |name: &str, body: &str| {
        sandbox.write(name, format!("#!/bin/sh\n{body}\n").as_bytes());
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(sandbox.path(name), executable).expect("a file of ours");
    };
    script("good", &format!("echo \"$*\" >> arguments\necho '{line}'"));
    script("garbage", "echo a hundred times faster");
    script("broken", "echo no memory >&2; exit 3");
    let beside = ["--beside", "./good", "--beside", "./garbage", "--beside", "./broken", "--beside", "./missing"];
    let call = [&["bench", "kernels", "--log-n", "6,7", "--seconds", "0", "--json"], &beside[..]].concat();
    let output = sandbox.run(&call);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{err}");
    assert_eq!(out.lines().filter(|line| line.contains("\"other\"")).count(), 2, "{out}");
    assert!(sandbox.text("arguments").contains("--suite kernels --log-n 7 --threads 1 --seconds 0"));
    for (name, reason) in [("./garbage", "no record"), ("./broken", "no memory"), ("./missing", "left out")] {
        let named: Vec<&str> = err.lines().filter(|line| line.contains(name)).collect();
        assert!(named.len() == 1 && named[0].contains(reason), "{err}");
    }
}

#[test]
fn chains_are_measured_in_each_scheme() {
    let sandbox = Sandbox::new("chain");
    let records = records(&sandbox, &["bench", "chain", "--depth", "1,2", "--threads", "2"]);
    records.iter().for_each(check);
    for (scheme, n) in [("bfv", 1 << 15), ("bgv", 1 << 15), ("ckks", 1 << 16)] {
        for depth in [1, 2] {
            let found = ops(&records, &[("scheme", scheme.into()), ("depth", depth.into()), ("n", n.into())]);
            assert_eq!(found, ["chain", "chain_squares"], "{scheme}, depth {depth}");
        }
    }
    sandbox.refused(&["bench", "ckks", "--depth", "2"], &["--depth"]);
    sandbox.refused(&["bench", "chain", "--log-n", "14"], &["--log-n"]);
}
