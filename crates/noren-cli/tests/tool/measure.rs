//! The suites of a comparison print records in the schema that all libraries are compared with.

use noren_math::kernels::is_fastest;
use serde_json::Value;

use crate::records::{check, ops};
use crate::sandbox::Sandbox;

/// For suites that take long: with kernels that are not the fastest the same is printed, later.
fn of_fastest_kernels(name: &str) -> Option<Sandbox> {
    is_fastest().then(|| Sandbox::new(name))
}

fn records(sandbox: &Sandbox, arguments: &[&str]) -> Vec<Value> {
    crate::records::records(&sandbox.done(&[&["measure"], arguments, &["--json", "--seconds", "0"]].concat()))
}

/// Arguments that cannot be understood, with what the message says of them.
fn misused(sandbox: &Sandbox, arguments: &[&str], needed: &[&str]) {
    let output = sandbox.run(&[&["measure"], arguments].concat());
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    needed.iter().for_each(|text| assert!(message.contains(text), "{arguments:?}: {text:?} is not in {message}"));
}

#[test]
fn the_work_of_a_client_is_measured() {
    let sandbox = Sandbox::new("client");
    let client = records(&sandbox, &["client", "--log-n", "13"]);
    client.iter().for_each(check);
    let all = ["keygen", "keygen_secret", "keygen_public", "encode", "encrypt", "encrypt_secret", "decrypt", "decode"];
    assert_eq!(ops(&client, &[]), all);
    sandbox.refused(&["measure", "client", "--log-n", "12"], &["found 12", "13, 14, 15, 16"]);
}

#[test]
fn samples_are_measured_one_by_one_and_in_batches() {
    let Some(sandbox) = of_fastest_kernels("tfhe") else { return };
    let records = records(&sandbox, &["tfhe", "--workload", "BOOL,client-BOOL", "--batch", "1,8"]);
    records.iter().for_each(check);
    let all = ["secret_key", "server_key", "encrypt", "decrypt", "mux", "gate", "gate"];
    assert_eq!(ops(&records, &[("workload", "BOOL".into())]), all);
    assert_eq!(ops(&records, &[("workload", "client-BOOL".into())]), ["client_keys"]);
    assert_eq!(ops(&records, &[("batch", 8.into())]), ["gate"]);
    assert!(records.iter().all(|record| record["log2_failure"].as_f64().is_some_and(|failure| failure < -64.0)));
    misused(&sandbox, &["tfhe", "--workload", "2_3"], &["BOOL, BOOL_128"]);
    misused(&sandbox, &["client", "--batch", "8"], &["--batch", "client"]);
}

#[test]
fn a_weak_client_is_measured_in_a_process_for_each_part() {
    let Some(sandbox) = of_fastest_kernels("weak-client") else { return };
    let records = records(&sandbox, &["weak-client", "--preset", "toy"]);
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
    let one = self::records(&sandbox, &["weak-client", "--preset", "toy", "--part", "own"]);
    assert_eq!(ops(&one, &[]), own);
}

#[test]
fn reductions_are_measured_in_both_orders() {
    if !is_fastest() {
        return;
    }
    let sandbox = Sandbox::new("reductions");
    let of = |suite: &str, scheme: &str, count: &str, more: &[&str]| {
        records(&sandbox, &[&[suite, "--scheme", scheme, "--count", count], more].concat())
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
    misused(&sandbox, &["product", "--scheme", "bfv"], &["--scheme", "bfv", "ckks, tfhe"]);
    misused(&sandbox, &["product", "--count", "1"], &["--count", "2..=128"]);
    misused(&sandbox, &["product", "--bits", "5"], &["--bits", "even"]);
}

#[test]
fn chains_are_measured_in_each_scheme() {
    let Some(sandbox) = of_fastest_kernels("chain") else { return };
    let records = records(&sandbox, &["chain", "--depth", "1,2", "--threads", "2"]);
    records.iter().for_each(check);
    for (scheme, n) in [("bfv", 1 << 15), ("bgv", 1 << 15), ("ckks", 1 << 16)] {
        for depth in [1, 2] {
            let found = ops(&records, &[("scheme", scheme.into()), ("depth", depth.into()), ("n", n.into())]);
            assert_eq!(found, ["chain", "chain_squares"], "{scheme}, depth {depth}");
        }
    }
    misused(&sandbox, &["chain", "--scheme", "tfhe"], &["--scheme", "tfhe", "bfv, bgv, ckks"]);
    misused(&sandbox, &["chain", "--count", "2"], &["--count", "chain"]);
}
