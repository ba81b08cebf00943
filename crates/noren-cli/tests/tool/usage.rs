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
        (vec!["prepare", "--domain", "8", "-o", "f"], "--function"),
        (vec!["prepare", "--function", "div", "-o", "f"], "--domain"),
        (vec!["prepare", "--function", "root", "--domain", "8", "-o", "f"], "root"),
        (vec!["prepare", "--table", "t.csv", "--undefined", "0", "-o", "f"], "--undefined"),
        (vec!["eval", "lookup", "--keys", "k", "t.ct", "-o", "o.ct"], "--function"),
        (vec!["encrypt", "--key", "k", "t.csv", "--domain", "8", "--bounds", "b", "-o", "t.ct"], "--domain"),
        (vec!["bench", "everything"], "everything"),
        (vec!["bench", "ckks", "--seconds=-1"], "seconds"),
        (vec!["bench", "bootstrap", "--preset", "n17"], "one of n16"),
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
        "info", "params", "plan", "keygen", "expand", "prepare", "encrypt", "eval", "decrypt", "inspect", "bench",
        "demo",
    ] {
        let help = sandbox.done(&[verb, "--help"]);
        assert!(help.contains(&format!("  noren {verb}")), "{help}");
    }
}
