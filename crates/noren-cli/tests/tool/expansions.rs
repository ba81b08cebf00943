//! Evaluation keys and lookup keys as they lie in memory: made, shown, and used in place of the file that they were made from.

use crate::cyclotomic;
use crate::lookup;
use crate::sandbox::Sandbox;

/// Expands keys, compares what is shown of both files, and refuses a damaged one.
fn expand(sandbox: &Sandbox, keys: &str, kind: &str) {
    let mapped = ["expand", keys, "-o", "keys.mapped"];
    assert!(sandbox.done(&mapped).contains("wrote keys.mapped, "));
    sandbox.refused(&mapped, &["keys.mapped exists", "--force"]);
    sandbox.done(&[&mapped[..], &["--force"]].concat());
    let [before, after] = [keys, "keys.mapped"].map(|name| sandbox.json(&["inspect", name]));
    assert_eq!((&after["kind"], &after["form"], &after["digest"]), (&kind.into(), &"expanded".into(), &"ok".into()));
    for name in ["owner", "fingerprint", "parameters"] {
        assert!(before[name] == after[name] && !after[name].is_null(), "{name}: {after}");
    }
    let list = |report: &serde_json::Value| -> Vec<_> {
        let keys = report["evaluation_keys"].as_array().expect("a list").clone();
        keys.into_iter().map(|key| (key["kind"].clone(), key["level"].clone())).collect()
    };
    assert!(!list(&before).is_empty() && list(&before) == list(&after), "{after}");
    let whole = sandbox.read("keys.mapped");
    assert!(whole.len() > sandbox.read(keys).len());
    sandbox.refused(&["expand", "keys.mapped", "-o", "again.mapped"], &["keys.mapped: found", kind]);
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    for (content, needed) in
        [(&flipped, "the digest does not match"), (&whole[..whole.len() - 64].to_vec(), "cut.mapped")]
    {
        sandbox.write("cut.mapped", content);
        sandbox.refused(&["inspect", "cut.mapped"], &["cut.mapped", needed]);
    }
}

#[test]
fn expanded_evaluation_keys_run_programs() {
    let sandbox = Sandbox::with_keys("expand-ckks", "mean");
    expand(&sandbox, "keys/eval.keys", "expanded evaluation keys with CKKS parameters");
    sandbox.done(&["encrypt", "--key", "keys/public.key", "table.csv", "-o", "table.ct"]);
    let eval = |keys, output| sandbox.run(&["eval", "mean", "--keys", keys, "table.ct", "-o", output]);
    for (keys, output) in [("keys/eval.keys", "one.ct"), ("keys.mapped", "two.ct")] {
        assert!(eval(keys, output).status.success(), "{keys}");
    }
    assert_eq!(sandbox.read("one.ct"), sandbox.read("two.ct"));
    let damaged = ["eval", "mean", "--keys", "cut.mapped", "table.ct", "-o", "no.ct"];
    sandbox.refused(&damaged, &["cut.mapped"]);
    let strict = sandbox.strict_command(&["eval", "mean", "--keys", "keys.mapped", "table.ct", "-o", "no.ct"]).output();
    assert!(!strict.expect("it starts").status.success(), "parameters without security");
    // `keygen --add` onto expanded evaluation keys writes the compact form.
    std::fs::copy(sandbox.path("keys.mapped"), sandbox.path("keys/eval.keys")).expect("there");
    sandbox.done(&["keygen", "--add", "--out", "keys", "--rotations", "77"]);
    let grown = sandbox.json(&["inspect", "keys/eval.keys"]);
    assert_eq!(grown["kind"], "evaluation keys with CKKS parameters");
}

#[test]
fn expanded_lookup_keys_look_up() {
    let sandbox = lookup::with_keys("expand-lookup", "5");
    expand(&sandbox, "keys/lookup.keys", "expanded lookup keys");
    lookup::encrypt(&sandbox, "5", &[[1, 2], [4, 3]]);
    // Parameters are taken from such a file too.
    sandbox.done(&["prepare", "--params", "keys.mapped", "-o", "f.prepared", "--function", "gcd", "--domain", "5"]);
    for (keys, output) in [("keys/lookup.keys", "one.ct"), ("keys.mapped", "two.ct")] {
        sandbox.done(&["eval", "lookup", "--keys", keys, "--function", "f.prepared", "pairs.ct", "-o", output]);
    }
    assert_eq!(sandbox.read("one.ct"), sandbox.read("two.ct"));
}

#[test]
fn expanded_keys_of_integers_multiply_matrices() {
    let sandbox = cyclotomic::with_keys("expand-integers");
    expand(&sandbox, "keys/eval.keys", "expanded evaluation keys with integer parameters");
    let eval = |keys| sandbox.done(&[&cyclotomic::eval(keys, "matrix.csv", "table.ct")[..], &["--force"]].concat());
    let [left, right] = ["keys/eval.keys", "keys.mapped"].map(|keys| {
        eval(keys);
        sandbox.read("product.ct")
    });
    assert_eq!(left, right);
}
