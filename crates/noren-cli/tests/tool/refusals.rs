//! Mistakes are refused with their values in the message, and no file changes.

use std::fs;

use crate::sandbox::{NAMES, Sandbox};

fn encrypt(input: &str) -> [&str; 6] {
    ["encrypt", "--key", "keys/public.key", input, "-o", "out.ct"]
}

fn decrypt<'a>(key: &'a str, input: &'a str) -> [&'a str; 6] {
    ["decrypt", "--key", key, input, "-o", "out.csv"]
}

fn eval<'a>(program: &'a str, keys: &'a str, input: &'a str) -> [&'a str; 7] {
    ["eval", program, "--keys", keys, input, "-o", "out.ct"]
}

/// A sandbox with keys for a program, and the usual table encrypted.
fn encrypted(name: &str, program: &str) -> Sandbox {
    let sandbox = Sandbox::with_keys(name, program);
    sandbox.done(&["encrypt", "--key", "keys/public.key", "table.csv", "-o", "table.ct"]);
    sandbox
}

#[test]
fn tables_that_are_none_are_refused_by_place_and_text() {
    let sandbox = Sandbox::with_keys("csv", "mean");
    for (text, needed) in [
        ("a,b\n1,2\n3,NaN\n", &["bad.csv: row 2, column 2 (\"b\") (line 3)", "\"NaN\""][..]),
        ("a,b\n1,inf\n", &["row 1, column 2", "\"inf\"", "finite"]),
        ("a,b\n1,2\n\"x y\",4\n", &["row 2, column 1 (\"a\")", "\"x y\"", "a number"]),
        ("a,b\n1,2\n3\n", &["row 2 (line 3)", "1 field", "needed 2"]),
        ("a,b\n1,2\n3,4,5\n", &["row 2 (line 3)", "3 fields"]),
        ("a;b\n1;2\n", &["row 1, column 1", "\"1;2\""]),
        ("", &["no row, needed"]),
        ("a,b\n", &["no row, needed"]),
        ("1,2\n3,4\n", &["--no-header"]),
        ("a,b\n1,1e200\n", &["row 1, column 2 (\"b\")", "1e200", "3e150"]),
        ("a,b\n1,1e-200\n", &["bad.csv", "2^-664", "2^-500 to 2^500"]),
    ] {
        sandbox.write("bad.csv", text.as_bytes());
        sandbox.refused(&encrypt("bad.csv"), needed);
    }
    for (descr, shape, bytes, needed) in [
        ("<c16", "(1, 1)", 16, &["bad.npy", "<c16", "float64"][..]),
        ("<f8", "(1, 1, 1)", 8, &["[1, 1, 1]", "one or two dimensions"]),
        ("<f8", "(2, 3)", 47, &["47 bytes", "48 bytes"]),
        ("<f8", "(0, 3)", 0, &["[0, 3]"]),
    ] {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
        let length = u16::try_from(header.len()).expect("short").to_le_bytes();
        sandbox.write("bad.npy", &[b"\x93NUMPY\x01\0", &length[..], header.as_bytes(), &vec![0; bytes]].concat());
        sandbox.refused(&encrypt("bad.npy"), needed);
    }
    sandbox.write("bad.npy", b"PK\x03\x04");
    sandbox.refused(&encrypt("bad.npy"), &["no signature"]);
    sandbox.refused(&encrypt("table.xlsx"), &["table.xlsx", ".csv, .tsv, .npy, .parquet, .arrow or .feather"]);
    sandbox.refused(&encrypt("missing.csv"), &["missing.csv", "No such file", "check the name"]);
}

#[test]
fn numbers_beyond_their_bounds_are_refused() {
    let sandbox = Sandbox::with_keys("beyond", "mean");
    for (bounds, needed) in [
        ("[100, 100, 10]", &["table.csv: row", "column 3 (\"bp\")", "at most 10.0"][..]),
        ("[100, 100]", &["bounds.json", "expected 3, found 2"]),
        ("[100, 0, 100]", &["bounds.json", "bound is 0 for column \"bmi\""]),
        (r#"{"age": 100, "bmi": 100}"#, &["bounds.json", "without column \"bp\""]),
        (r#"{"age": 100, "bmi": 100, "bp": 100, "sex": 1}"#, &["\"sex\""]),
        ("{", &["bounds.json", "a list of numbers"]),
        ("1e200", &["bounds.json", "2^665", "2^-500 to 2^500"]),
    ] {
        sandbox.write("bounds.json", bounds.as_bytes());
        sandbox.refused(&[&encrypt("table.csv")[..], &["--bounds", "bounds.json"]].concat(), needed);
    }
    sandbox.write("bounds.json", b"[1, 2]");
    let keygen = ["keygen", "--out", "new", "--program", "mean", "--rows", "12", "--columns", "3"];
    let needed = ["bounds.json", "expected 3, found 2"];
    sandbox.refused(&[&keygen[..], &["--bounds", "bounds.json"]].concat(), &needed);
}

#[test]
fn keys_of_other_parameters_are_refused() {
    let sandbox = encrypted("mismatch", "mean");
    sandbox.parameters("other.params", 11);
    sandbox.keygen("other", "other.params", "mean", '2');
    sandbox.refused(&decrypt("other/secret.key", "table.ct"), &["table.ct", "belongs to parameters"]);
    sandbox.refused(&eval("mean", "other/eval.keys", "table.ct"), &["table.ct", "belongs to parameters"]);
}

#[test]
fn missing_keys_are_named() {
    let sandbox = encrypted("missing", "sum");
    let shape = "--rows 12 --columns age,bmi,bp";
    sandbox.refused(
        &eval("covariance", "keys/eval.keys", "table.ct"),
        // A column takes 16 slots, and the next one lies beside it.
        &["keys/eval.keys cannot run covariance", "relinearisation", "rotation by 16", shape],
    );
}

#[test]
fn tables_other_than_planned_are_refused_with_both_shapes() {
    let sandbox = Sandbox::with_keys("shapes", "mean");
    let rows: String = (0..300).map(|row| format!("{row},1,2\n")).collect();
    sandbox.write("long.csv", format!("age,bmi,bp\n{rows}").as_bytes());
    sandbox.done(&["encrypt", "--key", "keys/public.key", "long.csv", "-o", "long.ct"]);
    let needed = ["mean on a table of 300 rows and 3 columns", "rotation by 256", "--rows 300 --columns age,bmi,bp"];
    sandbox.refused(&eval("mean", "keys/eval.keys", "long.ct"), &needed);
}

#[test]
fn files_of_another_kind_are_refused_by_name() {
    let sandbox = encrypted("kinds", "mean");
    let (secret, evaluation) = ("secret key with CKKS parameters", "evaluation keys with CKKS parameters");
    sandbox.refused(&eval("mean", "keys/secret.key", "table.ct"), &["keys/secret.key", secret, evaluation]);
    sandbox.refused(&eval("mean", "table.ct", "table.ct"), &["table.ct: found encrypted table", evaluation]);
    sandbox.refused(&eval("mean", "keys/eval.keys", "keys/public.key"), &["found public key", "encrypted table"]);
    sandbox.refused(&decrypt("keys/public.key", "table.ct"), &["found public key", "needed secret key"]);
    sandbox.refused(&["params", "show", "table.ct"], &["found encrypted table", "needed CKKS parameters"]);
    let key = ["encrypt", "--key", "keys/eval.keys", "table.csv", "-o", "out.ct"];
    sandbox.refused(&key, &["keys/eval.keys: found evaluation keys", "needed public key", "--key"]);
}

#[test]
fn damaged_and_foreign_files_are_refused() {
    let sandbox = encrypted("damaged", "mean");
    let whole = sandbox.read("table.ct");
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    for (name, content, needed) in [
        ("cut.ct", &whole[..whole.len() - 64], "truncated"),
        ("short.ct", &whole[..40], "cannot be read"),
        ("flipped.ct", &flipped, "the digest does not match"),
        ("foreign.ct", b"\x89PNG\r\n\x1a\n and so on", "not a file of noren"),
        ("empty.ct", b"", "not a file of noren"),
        ("tail.ct", &[&whole[..], b"more"].concat(), "has a tail"),
    ] {
        sandbox.write(name, content);
        sandbox.refused(&decrypt("keys/secret.key", name), &[name, needed]);
        sandbox.refused(&eval("mean", "keys/eval.keys", name), &[name, needed]);
        sandbox.refused(&["inspect", name], &[name, needed]);
    }
    let mut key = sandbox.read("keys/eval.keys");
    let middle = key.len() / 2;
    key[middle] ^= 0x40;
    sandbox.write("bad.keys", &key);
    sandbox.refused(&eval("mean", "bad.keys", "table.ct"), &["bad.keys", "the digest does not match"]);
    // A file without content where nothing is stored: larger than what is read at most.
    sandbox.write("huge.ct", &whole);
    let sparse = fs::File::options().write(true).open(sandbox.path("huge.ct")).expect("there");
    if sparse.set_len((1 << 36) + 1).is_ok() {
        sandbox.refused(&decrypt("keys/secret.key", "huge.ct"), &["huge.ct", "68719476737 bytes", "at most"]);
    }
}

#[test]
fn outputs_that_cannot_be_written_are_refused() {
    let sandbox = encrypted("outputs", "mean");
    let long = ["n".repeat(252), "\u{e9}".repeat(126)].map(|stem| stem + ".ct");
    let too_long = "n".repeat(253) + ".ct";
    let to = |output| ["eval", "mean", "--keys", "keys/eval.keys", "table.ct", "-o", output];
    sandbox.refused(&to("no/such/out.ct"), &["no/such", "does not exist", "mkdir -p no/such"]);
    sandbox.refused(&to("table.csv/out.ct"), &["table.csv/out.ct", "a file"]);
    if cfg!(target_os = "linux") {
        // Nobody can write there, not even the owner of the machine.
        sandbox.refused(&to("/proc/out.ct"), &["/proc/out.ct"]);
        let keygen = ["keygen", "--program", "mean", "--rows", "12", "--columns", "3", "--params", "small.params"];
        sandbox.refused(&[&keygen[..], &["--out", "/proc/keys"]].concat(), &["/proc/keys"]);
        let full = fs::File::options().write(true).open("/dev/full").expect("a device that is always full");
        let output = sandbox.command(&to("out.ct")).stdout(full).output().expect("runs");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && sandbox.exists("out.ct"), "{message}");
        assert!(
            message.contains("No space left") && message.contains("all output files of this run are complete"),
            "{message}"
        );
    }
    // Every name that the file system takes, and others before the work.
    for name in &long {
        sandbox.done(&to(name));
        assert!(sandbox.exists(name));
    }
    sandbox.refused(&to(&too_long), &["nnn.ct: ", "too long"]);
    if cfg!(target_os = "linux") {
        // The plan comes before all work.
        sandbox.integers("small.integers", 10, 65537, 3);
        let program = ["--program", "mean", "--rows", "12", "--columns", "3", "--params", "small.params"];
        for kind in [&program[..], &["--integers", "small.integers"], &["--tfhe", "TOY_BOOL"]] {
            for more in [&[][..], &["--plan-only"]] {
                let full = fs::File::options().write(true).open("/dev/full").expect("a device that is always full");
                let keygen = [&["keygen", "--out", "new"], kind, more].concat();
                let output = sandbox.command(&keygen).stdout(full).output().expect("runs");
                let message = String::from_utf8_lossy(&output.stderr).into_owned();
                assert!(output.status.code() == Some(1) && !sandbox.exists("new"), "{keygen:?}: {message}");
                assert!(message.contains("nothing was written") && !message.contains("complete"), "{message}");
            }
        }
    }
    sandbox.refused(
        &decrypt("keys/secret.key", "table.ct").map(|a| if a == "out.csv" { "out.txt" } else { a }),
        &[".txt"],
    );
}

#[test]
fn outputs_that_exist_are_replaced_only_by_force() {
    let sandbox = encrypted("exists", "mean");
    sandbox.write("out.ct", b"something dear");
    sandbox.write("out.csv", b"something dear");
    sandbox.refused(&encrypt("table.csv"), &["out.ct exists", "--force"]);
    sandbox.refused(&eval("mean", "keys/eval.keys", "table.ct"), &["out.ct exists"]);
    sandbox.refused(&decrypt("keys/secret.key", "table.ct"), &["out.csv exists"]);
    sandbox.refused(&["params", "choose", "--depth", "1", "--precision", "9", "-o", "out.ct"], &["out.ct exists"]);
    let shape = ["--program", "mean", "--rows", "12", "--columns", "3", "--params", "small.params"];
    let keygen = [&["keygen", "--out", "keys"], &shape[..]].concat();
    sandbox.refused(&keygen, &["keys/secret.key exists"]);
    let before = sandbox.read("keys/secret.key");
    sandbox.done(&[&keygen[..], &["--force"]].concat());
    assert!(sandbox.read("keys/secret.key") != before);
    sandbox.done(&[&encrypt("table.csv")[..], &["--force"]].concat());
    assert!(sandbox.read("out.ct") != b"something dear");
}

#[test]
fn models_that_do_not_suit_are_refused() {
    let sandbox = encrypted("models", "sum");
    for (program, model, needed) in [
        ("linear", r#"{"weights": [1, 2]}"#, &["model.json", "weights: expected 3, found 2"][..]),
        ("linear", r#"{"weights": [1, 2, 3], "mean": [1]}"#, &["means: expected 3, found 1"]),
        ("linear", r#"{"weights": [1], "columns": ["height"]}"#, &["height", "age"]),
        ("linear", r#"{"weights": [[1, 2, 3], [1, 2, 4]], "outputs": ["p", "p"]}"#, &["outputs is \"p\" once more"]),
        ("logistic", r#"{"weights": [1, 2, 3]}"#, &["interval"]),
        ("logistic", r#"{"weights": [1, 2, 3, 4], "interval": 8}"#, &["weights: expected 3, found 4"]),
        ("polynomial", r#"{"coefficients": []}"#, &["model.json"]),
        ("variance", r#"{"ddof": 12}"#, &["ddof is 12", "below 12"]),
        ("sum", "{}", &["model", "sum"]),
        ("mean", "not JSON", &["model"]),
    ] {
        sandbox.write("model.json", model.as_bytes());
        let eval = [&eval(program, "keys/eval.keys", "table.ct")[..], &["--model", "model.json"]].concat();
        sandbox.refused(&eval, needed);
    }
    sandbox.refused(&eval("linear", "keys/eval.keys", "table.ct"), &["model is missing for linear", "weights"]);
    sandbox.write("bounds.json", br#"{"age": 100, "bmi": 100, "bp": 1, "bp": 100}"#);
    let bounds = ["encrypt", "--key", "keys/public.key", "table.csv", "-o", "no.ct", "--bounds", "bounds.json"];
    sandbox.refused(&bounds, &["bounds.json: the file", "a second bound of column \"bp\""]);
    sandbox.write("model.json", br#"{"weights": [1, 2], "interval": 8}"#);
    let keygen = ["keygen", "--out", "new", "--program", "logistic", "--rows", "12", "--columns", "3"];
    sandbox.refused(&[&keygen[..], &["--model", "model.json"]].concat(), &["weights: expected 3, found 2"]);
    let keygen = ["keygen", "--out", "new", "--program", "sum", "--rows", "12", "--columns", "3"];
    sandbox.refused(&[&keygen[..], &["--model", "model.json"]].concat(), &["model.json", "sum"]);
}

#[test]
fn results_that_cannot_be_right_are_not_written() {
    let sandbox = Sandbox::with_table("doubt");
    sandbox.write("risk.json", br#"{"weights": [4, 4, 4], "interval": 8, "degree": 7}"#);
    let shape = ["--rows", "12", "--columns", &NAMES.join(","), "--params", "small.params"];
    let keygen = ["keygen", "--out", "keys", "--program", "logistic", "--model", "risk.json"];
    sandbox.done(&[&keygen[..], &shape].concat());
    sandbox.done(&["encrypt", "--key", "keys/public.key", "table.csv", "-o", "table.ct"]);
    let eval = ["eval", "logistic", "--keys", "keys/eval.keys", "--model", "risk.json", "table.ct", "-o", "risk.ct"];
    sandbox.done(&eval);
    let decrypt = decrypt("keys/secret.key", "risk.ct");
    sandbox.refused(&decrypt, &["risk.ct: row", "column \"probability\"", "between -8 and 8", "--unchecked"]);
    sandbox.done(&[&decrypt[..], &["--unchecked"]].concat());
    assert!(sandbox.exists("out.csv"));
}

#[test]
fn parameters_that_do_not_hold_are_refused() {
    let sandbox = Sandbox::with_table("parameters");
    let sizes = ["--log-n", "12", "--log-q", "50,45,45", "--log-p", "50"];
    sandbox.refused(
        &[&["params", "check"], &sizes[..]].concat(),
        &["190.0 bits", "128-bit", "at most 106", "--security none", "--min-security none"],
    );
    sandbox.refused(&["params", "check", "small.params"], &["small.params", "350.0 bits", "at most 26"]);
    sandbox.refused(&["params", "choose", "--depth", "2", "--precision", "48"], &["precision_bits is 48.0", "depth 2"]);
    sandbox.refused(
        &["params", "choose", "--depth", "999", "--precision", "10"],
        &["depth is 999", "10.0 bits", "at depth"],
    );
    let shallow = ["--log-q", "50,40", "--log-p", "50", "--log-scale", "40"];
    let check = ["params", "check", "--log-n", "10", "--security", "none", "-o", "shallow.params"];
    sandbox.done(&[&check[..], &shallow].concat());
    let keygen = ["keygen", "--out", "keys", "--program", "covariance", "--rows", "12", "--columns", "3"];
    sandbox.refused(
        &[&keygen[..], &["--params", "shallow.params"]].concat(),
        &["max_level is 1", "at least 2", "deepest of the programs"],
    );
    let keygen = ["keygen", "--out", "keys", "--program", "mean", "--rows", "12", "--columns", "3"];
    sandbox.refused(&[&keygen[..], &["--precision", "50"]].concat(), &["precision_bits"]);
    assert!(!sandbox.exists("keys"));
}

#[test]
fn tables_without_enough_levels_are_refused() {
    let sandbox = encrypted("levels", "covariance");
    sandbox.done(&["eval", "mean", "--keys", "keys/eval.keys", "table.ct", "-o", "mean.ct"]);
    sandbox.done(&["eval", "covariance", "--keys", "keys/eval.keys", "table.ct", "-o", "cov.ct"]);
    sandbox.refused(&eval("mean", "keys/eval.keys", "cov.ct"), &["cov.ct", "pairs of columns"]);
    let model = (0..=64).map(|k| k.to_string()).collect::<Vec<_>>().join(",");
    sandbox.write("deep.json", format!(r#"{{"coefficients": [{model}]}}"#).as_bytes());
    let deep = [&eval("polynomial", "keys/eval.keys", "table.ct")[..], &["--model", "deep.json"]].concat();
    sandbox.refused(&deep, &["table.ct: polynomial on 12 rows and 3 columns", "found 5 levels", "needed 8"]);
}

#[test]
fn an_unknown_instruction_set_is_refused() {
    let sandbox = Sandbox::new("isa");
    let output = sandbox.command(&["info"]).env("NOREN_ISA", "abacus").output().expect("runs");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("abacus") && message.contains("portable"), "{message}");
}
