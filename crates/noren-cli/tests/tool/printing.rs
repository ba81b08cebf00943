//! Decrypted numbers are written with the digits that their error bound supports, unless others are asked for.

use crate::sandbox::{NAMES, Sandbox, entry};

fn encrypted(name: &str) -> Sandbox {
    let sandbox = Sandbox::with_keys(name, "mean");
    sandbox.done(&["encrypt", "--key", "keys/secret.key", "table.csv", "-o", "table.ct"]);
    sandbox
}

fn decrypt<'a>(output: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["decrypt", "--key", "keys/secret.key", "table.ct", "--force", "-o", output], more].concat()
}

#[test]
fn digits_are_those_of_the_error_bound() {
    let sandbox = encrypted("digits");
    let report = sandbox.json(&decrypt("out.csv", &[]));
    let bounds: Vec<f64> =
        report["error_bounds"].as_array().expect("a list").iter().filter_map(|x| x.as_f64()).collect();
    for (r, line) in sandbox.text("out.csv").lines().skip(1).enumerate() {
        for (c, field) in line.split(',').enumerate() {
            let decimals = field.split_once('.').map_or(0, |(_, decimals)| decimals.len());
            let unit = 0.1f64.powi(decimals as i32);
            // The bound as it is told has at most half a unit of rounding in it.
            assert!(unit <= bounds[c] && bounds[c] < 11.0 * unit, "{field} within {}", bounds[c]);
            let value: f64 = field.parse().expect("a number");
            assert!((value - entry(r, c)).abs() <= bounds[c], "{field}");
        }
    }
    let exact = sandbox.json(&decrypt("full.csv", &["--digits", "full"]));
    assert!(exact["error_bound"].as_f64() < report["error_bound"].as_f64(), "{exact}");
    assert!(sandbox.text("full.csv").len() > sandbox.text("out.csv").len());
    sandbox.done(&decrypt("three.csv", &["--digits", "3"]));
    assert!(sandbox.numbers("three.csv", 0).concat().iter().all(|x| x.fract().abs() < 1e-6 || x.abs() < 30.0));
    assert!(
        sandbox.text("three.csv").lines().any(|line| line.starts_with("-4.00,6.00,26.0")),
        "{}",
        sandbox.text("three.csv")
    );
    sandbox.refused(&decrypt("out.npy", &["--digits", "3"]), &["--digits", "NPY"]);
    let wrong = sandbox.run(&decrypt("out.csv", &["--digits", "18"]));
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn the_header_can_be_left_out() {
    let sandbox = encrypted("headless");
    sandbox.done(&decrypt("out.csv", &[]));
    sandbox.done(&decrypt("bare.csv", &["--no-header"]));
    assert_eq!(sandbox.text("out.csv"), NAMES.join(",") + "\n" + &sandbox.text("bare.csv"));
    sandbox.done(&decrypt("out.tsv", &[]));
    assert_eq!(sandbox.text("out.tsv"), sandbox.text("out.csv").replace(',', "\t"));
    sandbox.refused(&decrypt("out.npy", &["--no-header"]), &["--no-header", "NPY"]);
}

#[test]
fn integers_have_all_their_digits() {
    let sandbox = Sandbox::new("whole-digits");
    sandbox.integers("integers.params", 10, 65537, 3);
    sandbox.done(&["keygen", "--out", "keys", "--integers", "integers.params"]);
    sandbox.write("whole.csv", b"a\n12345\n");
    sandbox.done(&["encrypt", "--key", "keys/public.key", "whole.csv", "-o", "table.ct"]);
    sandbox.refused(&decrypt("out.csv", &["--digits", "3"]), &["--digits", "exact integers"]);
    sandbox.done(&decrypt("out.csv", &["--no-header", "--quiet"]));
    assert_eq!(sandbox.text("out.csv"), "12345\n");
}
