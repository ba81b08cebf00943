//! Bootstrapping, and its baseline.

use serde_json::Value;

use crate::program::Lab;
use crate::records::{check, ops};

#[test]
fn bootstrapping_is_measured_with_its_stages_and_its_precision() {
    let Some(lab) = Lab::of_fastest_kernels("bootstrap") else { return };
    let records = lab.records(&["bootstrap", "--preset", "toy", "--threads", "1,2"]);
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
        // As the plan predicts; no modulus is secure where no security was asked for.
        assert!((number(whole, "predicted_bits") - worst).abs() < 2.0, "{whole}");
        assert!(number(whole, "predicted_bytes") > number(whole, "key_bytes"), "{whole}");
        assert!(whole["secure_log_qp"].is_null(), "{whole}");
    }
}

#[test]
fn fewer_slots_are_bootstrapped_with_a_projection() {
    let Some(lab) = Lab::of_fastest_kernels("slots") else { return };
    let call = ["bootstrap", "--preset", "toy", "--log-slots", "7", "--mode", "real"];
    let records = lab.records(&call);
    assert!(
        records.iter().all(|record| record["slots"] == 128 && record["n"] == 1024 && !record["median_ns"].is_null())
    );
    let stages: Vec<_> = records.iter().filter_map(|record| record["stage"].as_str()).collect();
    let all = ["slot_to_coeff", "raise", "projection", "coeff_to_slot", "parts", "exponential", "series"];
    assert_eq!(stages, all);
}

#[test]
fn the_baseline_of_bootstrapping_is_measured_too() {
    let Some(lab) = Lab::of_fastest_kernels("rns-heaan") else { return };
    let records = lab.records(&["rns-heaan", "--log-n", "10"]);
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
    let Some(lab) = Lab::of_fastest_kernels("ways") else { return };
    let ways = ["--threads", "2", "--parallel", "coefficient,modulus,both"];
    for suite in [&["bootstrap", "--preset", "toy", "--mode", "real"][..], &["rns-heaan", "--log-n", "10"]] {
        let records = lab.records(&[suite, &ways[..]].concat());
        for way in ["coefficient", "modulus", "both"] {
            let found = ops(&records, &[("parallel", way.into()), ("threads", 2.into())]);
            assert_eq!(found.iter().filter(|&&op| op == "bootstrap").count(), 1, "{way}: {found:?}");
        }
        assert!(records.iter().all(|record| record["parallel"].is_string() && !record["median_ns"].is_null()));
    }
}
