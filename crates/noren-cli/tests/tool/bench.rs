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
    assert!(record["reps"].as_u64() >= Some(5), "{record}");
    assert_eq!(record["library"], "noren");
}

#[test]
fn kernels_are_measured_for_each_instruction_set() {
    let sandbox = Sandbox::new("kernels");
    let records = records(&sandbox, &["bench", "kernels", "--log-n", "10,12"]);
    records.iter().for_each(check);
    let info = sandbox.json(&["info"]);
    let tables = info["isa_available"].as_array().expect("a list");
    let ops = [
        "ntt_forward",
        "ntt_inverse",
        "add",
        "mul",
        "mul_add",
        "mul_then_add",
        "inner_product",
        "basis_convert",
        "fft",
    ];
    for n in [1024, 4096] {
        for isa in tables {
            let found: Vec<&str> = records
                .iter()
                .filter(|record| record["n"] == n && record["isa"] == *isa)
                .filter_map(|record| record["op"].as_str())
                .collect();
            assert_eq!(found, ops, "{isa}, n = {n}");
        }
    }
    assert!(records.iter().all(|record| record["gb_per_s"].as_f64().is_some_and(|rate| rate > 0.0)));
}

#[test]
fn ciphertexts_are_measured_for_each_number_of_threads() {
    let sandbox = Sandbox::new("bench");
    let ckks = records(&sandbox, &["bench", "ckks", "--log-n", "14", "--threads", "1,2"]);
    ckks.iter().for_each(check);
    let ops = ["encode", "encrypt", "decrypt", "add", "mul_plain", "mul_relin_rescale", "rotate", "rotate_hoisted"];
    for threads in [1, 2] {
        let found = ckks.iter().filter(|record| record["threads"] == threads);
        assert_eq!(found.filter_map(|record| record["op"].as_str()).collect::<Vec<_>>(), ops);
    }
    let shape = |record: &Value| ["n", "limbs", "special", "dnum", "slots"].map(|field| record[field].as_u64());
    let shapes: BTreeSet<_> = ckks.iter().map(shape).collect();
    assert_eq!(shapes, BTreeSet::from([[16384, 7, 2, 4, 8192].map(Some)]));
    assert!(ckks.iter().all(|record| record["security"] == "128"));

    let client = records(&sandbox, &["bench", "client", "--log-n", "14"]);
    client.iter().for_each(check);
    assert_eq!(client.iter().filter_map(|r| r["op"].as_str()).collect::<Vec<_>>(), ["keygen", "encode", "encrypt"]);
}

#[test]
fn degrees_without_a_parameter_set_are_refused() {
    let sandbox = Sandbox::new("degrees");
    sandbox.refused(&["bench", "ckks", "--log-n", "13"], &["found 13", "14, 15 or 16"]);
    sandbox.refused(&["bench", "kernels", "--log-n", "18"], &["found 18", "3 to 17"]);
}
