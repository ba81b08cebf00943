//! Rings whose index is no power of two, as users meet them.

use crate::sandbox::Sandbox;

/// Numbers modulo 7 in 12 slots.
const ROWS: usize = 9;
const T: usize = 7;

fn entry(row: usize, column: usize) -> usize {
    (5 * row + 3 * column + row * column + 1) % T
}

fn table([rows, columns]: [usize; 2], header: &str) -> String {
    let row = |row| (0..columns).map(|column| entry(row, column).to_string()).collect::<Vec<_>>().join(",") + "\n";
    std::iter::once(header.to_owned()).chain((0..rows).map(row)).collect()
}

/// A sandbox with keys, a table of two columns in `table.ct`, and a matrix.
pub fn with_keys(name: &str) -> Sandbox {
    let sandbox = Sandbox::new(name);
    let check = ["params", "check", "--index", "57", "--modulus", "7", "--security", "none", "-o", "ring.params"];
    sandbox.done(&[&check[..], &["--log-q", "45,45", "--log-p", "48"]].concat());
    sandbox.done(&["keygen", "--out", "keys", "--integers", "ring.params", "--matrices"]);
    sandbox.write("table.csv", table([ROWS, 2], "a,b\n").as_bytes());
    sandbox.write("matrix.csv", table([4, ROWS], "").as_bytes());
    sandbox.done(&["encrypt", "--key", "keys/public.key", "table.csv", "-o", "table.ct"]);
    sandbox
}

pub fn eval<'a>(keys: &'a str, matrix: &'a str, input: &'a str) -> [&'a str; 9] {
    ["eval", "matrix", "--keys", keys, "--matrix", matrix, input, "-o", "product.ct"]
}

#[test]
fn a_matrix_multiplies_the_columns_of_a_table() {
    let sandbox = with_keys("matrix");
    let report = sandbox.json(&eval("keys/eval.keys", "matrix.csv", "table.ct"));
    assert_eq!((&report["rows"], &report["columns"]), (&4.into(), &2.into()));
    sandbox.done(&["decrypt", "--key", "keys/secret.key", "product.ct", "-o", "product.csv"]);
    let sum = |row, column| (0..ROWS).map(|i| entry(row, i) * entry(i, column)).sum::<usize>() % T;
    let expected: String = (0..4).map(|row| format!("{},{}\n", sum(row, 0), sum(row, 1))).collect();
    assert_eq!(sandbox.text("product.csv"), format!("a,b\n{expected}"));
    // The table itself, and more rows than slots.
    sandbox.done(&["decrypt", "--key", "keys/secret.key", "table.ct", "-o", "again.csv"]);
    assert_eq!(sandbox.text("again.csv"), sandbox.text("table.csv"));
    sandbox.write("long.csv", table([30, 2], "a,b\n").as_bytes());
    sandbox.done(&["encrypt", "--key", "keys/public.key", "long.csv", "-o", "long.ct"]);
    sandbox.done(&["decrypt", "--key", "keys/secret.key", "long.ct", "-o", "long2.csv"]);
    assert_eq!(sandbox.text("long2.csv"), sandbox.text("long.csv"));
    let long = [&eval("keys/eval.keys", "matrix.csv", "long.ct")[..], &["--force"]].concat();
    sandbox.refused(&long, &["long.ct", "30 rows", "up to 12 rows"]);
}

#[test]
fn prepared_matrices_multiply_as_tables_do() {
    let sandbox = with_keys("matrix-prepared");
    let prepare = ["prepare", "--params", "keys/public.key", "-o", "matrix.prepared", "--matrix"];
    let report = sandbox.json(&[&prepare[..], &["matrix.csv"]].concat());
    assert_eq!((&report["rows"], &report["columns"], &report["limbs"]), (&4.into(), &ROWS.into(), &2.into()));
    sandbox.done(&eval("keys/eval.keys", "matrix.csv", "table.ct"));
    let product = sandbox.read("product.ct");
    sandbox.done(&[&eval("keys/eval.keys", "matrix.prepared", "table.ct")[..], &["--force"]].concat());
    assert_eq!(sandbox.read("product.ct"), product);
    assert!(sandbox.done(&["inspect", "matrix.prepared"]).contains("prepared matrix of slots"));

    let force = |matrix| [&eval("keys/eval.keys", matrix, "table.ct")[..], &["--force"]].concat();
    let mut damaged = sandbox.read("matrix.prepared");
    damaged[200] ^= 1;
    sandbox.write("damaged.prepared", &damaged);
    sandbox.refused(&force("damaged.prepared"), &["damaged.prepared"]);
    sandbox.write("short.prepared", &damaged[..damaged.len() / 2]);
    sandbox.refused(&force("short.prepared"), &["short.prepared"]);
    sandbox.refused(&force("keys/public.key"), &["keys/public.key", "prepared matrix of slots, or a table"]);
    sandbox.write("narrow.csv", table([2, 3], "").as_bytes());
    let narrow = ["prepare", "--params", "keys/public.key", "--matrix", "narrow.csv", "-o", "narrow.prepared"];
    sandbox.done(&narrow);
    sandbox.refused(&force("narrow.prepared"), &["narrow.prepared", "3 columns", "9, as many as the table has rows"]);
    // Parameters of other keys.
    let check = ["params", "check", "--index", "57", "--modulus", "7", "--security", "none", "-o", "other.params"];
    sandbox.done(&[&check[..], &["--log-q", "45,46", "--log-p", "48"]].concat());
    let other = ["prepare", "--params", "other.params", "--matrix", "matrix.csv", "-o", "other.prepared"];
    sandbox.done(&other);
    sandbox.refused(&force("other.prepared"), &["other.prepared", "parameters"]);
    assert_eq!(sandbox.read("product.ct"), product);
    // Arguments that prepare does not take, and an output that exists.
    for wrong in [&["prepare", "--matrix", "matrix.csv", "-o", "x"][..], &["prepare", "-o", "x"], &prepare[..5]] {
        assert_eq!(sandbox.run(wrong).status.code(), Some(2), "{wrong:?}");
    }
    sandbox.refused(&[&prepare[..], &["matrix.csv"]].concat(), &["matrix.prepared exists"]);
}

#[test]
fn matrices_and_keys_that_do_not_fit_are_refused() {
    let sandbox = with_keys("matrix-refused");
    for (text, parts) in [
        (table([2, 3], ""), &["bad.csv", "3 columns", "9, as many as the table has rows"][..]),
        (table([2, ROWS], "").replacen('1', "7", 1), &["bad.csv: row 1, column 1", "found 7", "-3 to 6"]),
        (table([2, ROWS], "").replacen('1', "0.5", 1), &["row 1, column 1", "found 0.5", "whole number"]),
        (table([20, ROWS], ""), &["bad.csv", "rows of a matrix", "20", "1 to 12"]),
    ] {
        sandbox.write("bad.csv", text.as_bytes());
        sandbox.refused(&eval("keys/eval.keys", "bad.csv", "table.ct"), parts);
    }
    // Verbs without --missing do not advise it.
    for missing in ["nan", ""] {
        sandbox.write("bad.csv", table([2, ROWS], "").replacen('1', missing, 1).as_bytes());
        let eval = eval("keys/eval.keys", "bad.csv", "table.ct");
        sandbox.refused(&eval, &["bad.csv: row 1, column 1", "needed a finite number: none may be missing\n"]);
    }
    sandbox.done(&["keygen", "--out", "bare", "--integers", "ring.params"]);
    sandbox.refused(&eval("bare/eval.keys", "matrix.csv", "table.ct"), &["table.ct"]);
    sandbox.refused(&eval("keys/public.key", "matrix.csv", "table.ct"), &["keys/public.key", "evaluation keys"]);
    sandbox.refused(&["keygen", "--out", "k", "--integers", "ring.params", "--rotations", "1"], &["57", "dimension"]);
    let other = ["eval", "sum", "--keys", "keys/eval.keys", "--matrix", "matrix.csv", "table.ct", "-o", "x.ct"];
    sandbox.refused(&other, &["matrix.csv", "sum takes none"]);
    // A ring of a power of two has rows of slots, and no matrices of this kind.
    sandbox.integers("rows.params", 10, 12289, 2);
    sandbox.refused(&["keygen", "--out", "k", "--integers", "rows.params", "--matrices"], &["not a power of two"]);
    assert!(!sandbox.exists("k"));
}

#[test]
fn rings_are_shown_checked_and_found() {
    let sandbox = Sandbox::new("ring-params");
    let slots = sandbox.json(&["params", "slots", "--index", "15709", "--prime", "2"]);
    assert_eq!((&slots["slots"], &slots["degree"], &slots["n"]), (&682.into(), &22.into(), &15004.into()));
    let text = sandbox.done(&["params", "slots", "--index", "57", "--prime", "7"]);
    assert!(text.contains("m = 57, n = phi(m) = 36"), "{text}");
    let found = ["params", "choose", "--depth", "1", "--modulus", "2", "--slots", "100", "--slot-degree", "4"];
    let found = sandbox.json(&found);
    assert!(found["security_bits"] == 128 && found["slots"].as_u64() >= Some(100), "{found}");
    let index = |index: &'static str, modulus: &'static str| {
        ["params", "check", "--log-q", "45", "--security", "none", "--index", index, "--modulus", modulus]
    };
    sandbox.refused(&index("64", "7"), &["log_n"]);
    sandbox.refused(&index("30", "7"), &["twice an odd number"]);
    sandbox.refused(&index("57", "1152921504606846976"), &["2^60 - 1"]);
    sandbox.refused(&["params", "slots", "--index", "57", "--prime", "19"], &["modulus 19", "divides the index"]);
    sandbox.refused(&["params", "slots", "--index", "57", "--prime", "6"], &["6", "prime"]);
    // Without slots, where the prime divides the index.
    assert_eq!(sandbox.json(&index("57", "19"))["slots"], 0);
}
