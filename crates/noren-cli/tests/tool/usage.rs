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
    for verb in ["info", "params", "plan", "keygen", "expand", "encrypt", "eval", "decrypt", "inspect", "bench", "demo"]
    {
        let help = sandbox.done(&[verb, "--help"]);
        assert!(help.contains(&format!("  noren {verb}")), "{help}");
    }
}
