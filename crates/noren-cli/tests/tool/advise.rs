//! Advice on the command line: costs from a file, choices, limits and refusals.

use serde_json::Value;

use crate::sandbox::Sandbox;

/// A sandbox with the costs of the reference machine, so that nothing is measured.
fn sandbox(name: &str) -> Sandbox {
    let sandbox = Sandbox::new(name);
    sandbox.write("server.json", noren::cost::Machine::reference().to_json().as_bytes());
    sandbox
}

#[test]
fn advice_names_the_scheme_first_and_says_why_the_others_are_not() {
    let sandbox = sandbox("advise");
    let asked = ["advise", "inner-product", "--count", "100", "--real", "20", "--machine", "server.json"];
    let text = sandbox.done(&asked);
    let parts = [
        "1. CKKS (noren): N = 2^13",
        "sums of rotations",
        "all times are predictions",
        "- TFHE: ",
        "- CKKS (openfhe 1.5.1)",
        "keys not measured",
    ];
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = sandbox.json(&asked);
    assert_eq!(json["candidates"][0]["scheme"], "ckks");
    let [peer, ours] = [&json["peers"][0], &json["candidates"][0]["price"]];
    let seconds = |row: &Value| row["server_seconds"].as_f64().expect("a time");
    assert!((seconds(peer) / seconds(ours) / peer["ratio"]["ratio"].as_f64().expect("a number") - 1.0).abs() < 1e-12);
    assert_eq!(json["rejections"].as_array().map(Vec::len), Some(6));
    // The workload of a report is asked for again from a file.
    sandbox.write("workload.json", json["workload"].to_string().as_bytes());
    assert_eq!(sandbox.json(&["advise", "--workload", "workload.json", "--machine", "server.json"]), json);
}

#[test]
fn scripts_are_written_once_unless_forced() {
    let sandbox = sandbox("advise-script");
    let asked =
        ["advise", "inner-product", "--count", "100", "--real", "20", "--machine", "server.json", "--script", "run.py"];
    sandbox.done(&asked);
    assert!(sandbox.text("run.py").contains("np.sum(x * y, axis=-1)"), "{}", sandbox.text("run.py"));
    sandbox.refused(&asked, &["run.py exists"]);
    sandbox.done(&[&asked[..], &["--force"]].concat());
}

#[test]
fn what_is_advised_runs_as_a_function() {
    let sandbox = sandbox("advise-function");
    let asked = ["advise", "squarings", "--degree", "2", "--modulus", "65537", "--instances", "3"];
    let asked = [&asked[..], &["--machine", "server.json", "--function", "chain.function"]].concat();
    sandbox.done(&asked);
    sandbox.refused(&asked, &["chain.function exists"]);
    sandbox.write("x.csv", b"x\n3\n65536\n40000\n");
    sandbox.done(&["function", "keygen", "chain.function", "--out", "keys"]);
    sandbox.done(&["function", "encrypt", "chain.function", "--key", "keys/secret.key", "x.csv", "-o", "request"]);
    sandbox.done(&["function", "run", "chain.function", "--keys", "keys/server.keys", "request", "-o", "reply"]);
    sandbox.done(&["function", "decrypt", "chain.function", "--key", "keys/secret.key", "reply", "-o", "out.csv"]);
    let power = |x: u128| x.pow(4) % 65537;
    let expected: Vec<String> = [3, 65536, 40000].map(|x| power(x).to_string()).to_vec();
    // Below the name of the column.
    assert_eq!(sandbox.text("out.csv").lines().skip(1).collect::<Vec<_>>(), expected);
    let wide = ["advise", "sum", "--count", "2", "--integer", "60", "--machine", "server.json", "--function", "wide"];
    sandbox.refused(&wide, &["2^53"]);
    assert!(!sandbox.path("wide").exists());
}

#[test]
fn clients_and_limits_change_the_advice() {
    let sandbox = sandbox("advise-limits");
    let asked = ["advise", "compare", "--integer", "16", "--machine", "server.json"];
    let with = |more: &[&'static str]| [&asked[..], more].concat();
    let seconds = |json: Value| json["candidates"][0]["price"]["keys_seconds"].as_f64().expect("a time");
    let [near, weak] = [&[][..], &["--client", "pi-zero"]].map(|more| seconds(sandbox.json(&with(more))));
    assert!(weak > 5.0 * near, "{weak} {near}");
    for (more, word) in [
        (&["--server-memory", "10"][..], "nearest is TFHE"),
        (&["--client", "toaster"], "pi-zero"),
        (&["--instances", "0"], "instances"),
        (&["--server-seconds=nan"], "a positive number of seconds"),
        (&["--client-seconds=-1"], "a positive number of seconds"),
    ] {
        sandbox.refused(&with(more), &[word]);
    }
    // 2^64 bytes, of which a word holds none.
    for limit in ["--server-memory", "--client-memory"] {
        let output = sandbox.run(&with(&[limit, "17592186044416"]));
        let message = String::from_utf8(output.stderr).expect("text");
        assert!(!output.status.success() && message.contains("at most 17592186044415 MiB"), "{message}");
        sandbox.done(&with(&[limit, "17592186044415"]));
    }
}

#[test]
fn what_is_missing_is_named() {
    let sandbox = sandbox("advise-missing");
    for (arguments, word) in [
        (&["advise", "sum", "--count", "3", "--machine", "server.json"][..], "--real BITS"),
        (&["advise", "sum", "--real", "10", "--machine", "server.json"], "--count"),
        (&["advise", "sum", "--count", "3", "--real", "10", "--machine", "none.json"], "none.json"),
    ] {
        sandbox.refused(arguments, &[word]);
    }
    sandbox.write("wrong.json", b"{}");
    sandbox.refused(&["advise", "compare", "--integer", "8", "--machine", "wrong.json"], &["noren calibrate"]);
    // Before anything is measured.
    sandbox.refused(&["calibrate", "--out", "wrong.json"], &["wrong.json exists", "--force"]);
    sandbox.refused(&["calibrate", "--out", "none/machine.json"], &["none"]);
}
