//! Arguments that cannot be understood end with exit code 2, help with 0.

use crate::sandbox::Sandbox;

#[test]
fn wrong_usage_ends_with_two_and_says_what_is_wrong() {
    let sandbox = Sandbox::new("usage");
    let keygen = ["keygen", "--out", "k", "--rows", "3", "--columns", "2", "--program"];
    for (arguments, needed) in [
        (vec![], "Usage"),
        (vec!["fly"], "fly"),
        (vec!["encrypt", "--key", "k"], "<INPUT>"),
        (vec!["eval", "median", "--keys", "k", "t.ct", "-o", "o.ct"], "median"),
        (vec!["info", "--threads", "0"], "1..=1024"),
        (vec!["info", "--threads", "100000"], "1..=1024"),
        (vec!["info", "--threads", "1,2"], "one number"),
        (vec!["info", "--frobnicate"], "--frobnicate"),
        ([&keygen[..], &["mode"]].concat(), "mode"),
        ([&keygen[..], &["sum", "--seed", "12"]].concat(), "64 hexadecimal digits"),
        ([&keygen[..], &["sum", "--precision", "20", "--params", "p"]].concat(), "--params"),
        (vec!["keygen", "--out", "k", "--program", "sum", "--rows", "0", "--columns", "2"], "--rows"),
        (vec!["keygen", "--out", "k", "--program", "sum", "--rows", "1", "--columns", "a,,b"], "--columns"),
        (vec!["params", "check"], "FILE"),
        (vec!["params", "check", "--log-n", "13"], "--log-q"),
        (vec!["params", "check", "--log-n", "13", "--log-q", "40,40", "--restarts", "3"], "such as 3:40"),
        (vec!["params", "choose", "--depth", "two", "--precision", "20"], "two"),
        (vec!["params", "choose", "--depth", "2", "--precision", "20", "--security", "80"], "80"),
        (vec!["params", "choose", "--depth", "2", "--precision", "20", "--modulus", "257"], "--modulus"),
        (vec!["params", "choose", "--depth", "2", "--scheme", "bgv"], "--modulus"),
        (
            vec!["params", "check", "--log-n", "5", "--log-q", "40", "--modulus", "257", "--log-scale", "9"],
            "--log-scale",
        ),
        (vec!["plan", "--lookup", "0"], "one or two whole numbers"),
        (vec!["plan", "--lookup", "8", "--bootstrap", "n16"], "--bootstrap"),
        (vec!["keygen", "--out", "k", "--lookup", "8,8,8"], "one or two whole numbers"),
        (vec!["keygen", "--out", "k", "--lookup", "8", "--rotations", "1"], "--rotations"),
        (vec!["keygen", "--out", "k", "--lookup", "8", "--integers", "p"], "--integers"),
        (
            vec!["keygen", "--out", "k", "--tfhe", "2_2", "--rotations", "1"],
            "--rotations cannot be used with --tfhe SET: it is for --bootstrap PRESET; --integers FILE; --add",
        ),
        (vec!["keygen", "--out", "k", "--lookup", "8", "--circuit"], "--circuit cannot be used with --lookup X[,Y]"),
        (vec!["keygen", "--out", "k", "--integers", "p", "--mode", "complex"], "it is for --bootstrap PRESET"),
        (vec!["keygen", "--out", "k", "--integers", "p", "--precision", "20"], "it is for --program"),
        (
            vec!["keygen", "--out", "k", "--add", "--swap-rows", "--passphrase"],
            "--passphrase cannot be used with --add",
        ),
        (vec!["keygen", "--out", "k", "--add", "--swap-rows", "--force"], "--force cannot be used with --add"),
        (vec!["prepare", "--domain", "8", "-o", "f"], "--function"),
        (vec!["prepare", "--function", "div", "-o", "f"], "--domain"),
        (vec!["prepare", "--function", "root", "--domain", "8", "-o", "f"], "root"),
        (vec!["prepare", "--table", "t.csv", "--undefined", "0", "-o", "f"], "--undefined"),
        (vec!["eval", "lookup", "--keys", "k", "t.ct", "-o", "o.ct"], "--function"),
        (vec!["encrypt", "--key", "k", "t.csv", "--domain", "8", "--bounds", "b", "-o", "t.ct"], "--domain"),
        (vec!["bench", "kernels"], "unrecognized subcommand"),
        (vec!["measure", "everything"], "everything"),
        (vec!["measure", "chain", "--seconds=-1"], "seconds"),
        (vec!["measure", "weak-client", "--preset", "n17"], "one of n16"),
    ] {
        let output = sandbox.run(&arguments);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(needed), "{arguments:?}: {message}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
    assert!(!sandbox.exists("k"));
}

#[test]
fn every_verb_has_help_with_an_example() {
    let sandbox = Sandbox::new("help");
    assert!(sandbox.done(&["--version"]).contains(env!("CARGO_PKG_VERSION")));
    for verb in [
        "info",
        "params",
        "plan",
        "keygen",
        "expand",
        "prepare",
        "encrypt",
        "eval",
        "decrypt",
        "rekey",
        "reencrypt",
        "inspect",
        "party",
        "compare",
        "demo",
    ] {
        let help = sandbox.done(&[verb, "--help"]);
        assert!(help.contains(&format!("  noren {verb}")), "{help}");
    }
}

#[test]
fn keygen_without_a_kind_shows_all_kinds() {
    let sandbox = Sandbox::new("kinds-of-keys");
    for arguments in [&["keygen"][..], &["keygen", "--out", "k"], &["keygen", "--rows", "3"]] {
        let output = sandbox.strict_command(arguments).output().expect("runs");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{message}");
        for kind in ["--program ", "--bootstrap ", "--integers ", "--lookup ", "--tfhe "] {
            let line = message.lines().find(|line| line.trim_start().starts_with(kind));
            assert!(line.is_some_and(|line| line.contains("   keys for ")), "{kind}: {message}");
            let example =
                message.lines().find(|line| line.starts_with("  noren keygen --out keys") && line.contains(kind));
            assert!(example.is_some(), "{kind}: {message}");
        }
    }
    let output = sandbox.strict_command(&["keygen", "--tfhe", "2_2"]).output().expect("runs");
    assert!(String::from_utf8_lossy(&output.stderr).contains("--out <DIR>"));
}

#[test]
fn errors_are_json_where_json_is_asked_for() {
    let sandbox = Sandbox::new("json-errors");
    sandbox.write("foreign", b"hello");
    for (arguments, code, needed) in [
        (&["inspect", "foreign", "--json"][..], 1, "foreign: "),
        (&["inspect", "missing", "--json"], 1, "missing: "),
        (&["--json", "info", "--threads", "0"], 2, "1..=1024"),
        (&["keygen", "--json"], 2, "keygen needs the kind of keys"),
    ] {
        let output = sandbox.strict_command(arguments).output().expect("runs");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        let error: serde_json::Value = serde_json::from_str(&message).expect("one value of JSON");
        assert!(output.status.code() == Some(code) && error["exit_code"] == code, "{message}");
        assert!(error["error"].as_str().is_some_and(|error| error.contains(needed)), "{message}");
        assert!(output.stdout.is_empty() && message.lines().count() == 1, "{message}");
    }
}

#[test]
fn keygen_makes_the_directories_above_that_of_the_keys_or_none() {
    let sandbox = Sandbox::with_table("nested");
    sandbox.keygen("a/b/keys", "small.params", "mean", '1');
    assert!(sandbox.exists("a/b/keys/secret.key") && sandbox.exists("a/b/keys/eval.keys"));
    // A refused keygen leaves no directory.
    sandbox.write("file", b"");
    let keygen = ["keygen", "--tfhe", "TOY_BOOL", "--out"];
    sandbox.refused(&[&keygen[..], &["file/b/keys"]].concat(), &["file/b/keys"]);
    sandbox.refused(&[&keygen[..], &["-"]].concat(), &["--out", "standard output", "secret keys"]);
    sandbox.refused(&[&keygen[..], &["new/-/keys", "--passphrase-file", "none"]].concat(), &["none"]);
    let keygen = ["keygen", "--program", "mean", "--rows", "12", "--columns", "3", "--params", "missing.params"];
    sandbox.refused(&[&keygen[..], &["--out", "c/d"]].concat(), &["missing.params"]);
    assert!(!sandbox.exists("c"));
}
