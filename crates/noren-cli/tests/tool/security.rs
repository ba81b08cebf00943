//! Files whose parameters promise too little security are refused, unless that is asked for.

use std::process::Output;

use crate::sandbox::{NAMES, Sandbox};

fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Refused without an option by the name of the file, and with too small an option; done with that of the parameters.
fn refused(sandbox: &Sandbox, arguments: &[&str], file: &str) {
    for asked in [&[][..], &["--min-security", "128"], &["--min-security", "256"]] {
        let output = sandbox.strict_command(&[arguments, asked].concat()).output().expect("runs");
        let message = message(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {message}");
        for text in
            [&format!("{file}: found parameters that promise no security"), "--min-security none", "-bit security"]
        {
            assert!(message.contains(text), "{arguments:?}: {text:?} is not in {message}");
        }
    }
    for none in ["none", "0"] {
        let output = sandbox.strict_command(&[arguments, &["--min-security", none, "--force"]].concat()).output();
        let output = output.expect("runs");
        assert!(output.status.success(), "{arguments:?}: {}", message(&output));
        assert!(
            message(&output).contains("warning: ") && message(&output).contains("no security"),
            "{}",
            message(&output)
        );
    }
}

#[test]
fn keys_without_security_are_refused_by_every_verb_that_uses_them() {
    let sandbox = Sandbox::with_keys("weak", "mean");
    let (rows, columns) = ("12", NAMES.join(","));
    let keygen = ["keygen", "--out", "new", "--program", "mean", "--rows", rows, "--columns", &columns];
    refused(&sandbox, &[&keygen[..], &["--params", "small.params"]].concat(), "small.params");
    refused(&sandbox, &["encrypt", "--key", "keys/public.key", "table.csv", "-o", "table.ct"], "keys/public.key");
    refused(&sandbox, &["encrypt", "--key", "keys/secret.key", "table.csv", "-o", "own.ct"], "keys/secret.key");
    refused(&sandbox, &["eval", "mean", "--keys", "keys/eval.keys", "table.ct", "-o", "mean.ct"], "keys/eval.keys");
    refused(&sandbox, &["decrypt", "--key", "keys/secret.key", "mean.ct", "-o", "mean.csv"], "keys/secret.key");

    sandbox.integers("integers.params", 10, 65537, 3);
    refused(&sandbox, &["keygen", "--out", "whole", "--integers", "integers.params"], "integers.params");
    sandbox.write("whole.csv", b"a,b\n1,2\n3,4\n");
    refused(&sandbox, &["encrypt", "--key", "whole/public.key", "whole.csv", "-o", "whole.ct"], "whole/public.key");
    refused(&sandbox, &["decrypt", "--key", "whole/secret.key", "whole.ct", "-o", "whole-own.csv"], "whole/secret.key");

    sandbox.done(&["keygen", "--out", "bits", "--tfhe", "TOY_2_2"]);
    sandbox.write("bits.csv", b"a,b\n1,1\n0,1\n");
    let encrypt = ["encrypt", "--key", "bits/secret.key", "--type", "bool", "bits.csv", "-o", "bits.ct"];
    refused(&sandbox, &encrypt, "bits/secret.key");
    refused(&sandbox, &["eval", "and", "--keys", "bits/server.keys", "bits.ct", "-o", "and.ct"], "bits/server.keys");
    refused(&sandbox, &["expand", "bits/server.keys", "-o", "bits.mapped"], "bits/server.keys");
    refused(&sandbox, &["eval", "and", "--keys", "bits.mapped", "bits.ct", "-o", "same.ct"], "bits.mapped");
    refused(&sandbox, &["decrypt", "--key", "bits/secret.key", "and.ct", "-o", "and.csv"], "bits/secret.key");
}

#[test]
fn what_is_only_shown_needs_no_security() {
    let sandbox = Sandbox::with_keys("shown", "mean");
    for arguments in [["params", "show", "small.params"].as_slice(), &["inspect", "keys/public.key"]] {
        let output = sandbox.strict_command(arguments).output().expect("runs");
        assert!(output.status.success(), "{}", message(&output));
    }
}

#[test]
fn keys_of_the_usual_security_need_no_option_and_can_be_too_weak_for_another() {
    let sandbox = Sandbox::new("usual");
    sandbox.write("table.csv", b"a,b\n1,2\n3,4\n");
    let run = |arguments: &[&str]| sandbox.strict_command(arguments).output().expect("runs");
    let done = run(&["keygen", "--out", "keys", "--program", "sum", "--rows", "2", "--columns", "2"]);
    assert!(done.status.success() && done.stderr.is_empty(), "{}", message(&done));
    let encrypt = ["encrypt", "--key", "keys/public.key", "table.csv", "-o", "table.ct"];
    let refused = run(&[&encrypt[..], &["--min-security", "192"]].concat());
    let text = message(&refused);
    assert_eq!(refused.status.code(), Some(1), "{text}");
    for needed in ["promise 128-bit security", "needed 192-bit security", "--min-security 128"] {
        assert!(text.contains(needed), "{text}");
    }
    let done = run(&encrypt);
    assert!(done.status.success() && done.stderr.is_empty(), "{}", message(&done));
}
