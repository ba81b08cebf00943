//! Files of different secret keys: every verb refuses to mix them, by name, whatever the seeds.

use noren_math::kernels::is_fastest;
use serde_json::Value;

use crate::lookup;
use crate::sandbox::Sandbox;

/// Seeds of key pairs of the same parameters: every pair of them is wrong.
const SEEDS: &str = "12345678";

fn owner(sandbox: &Sandbox, file: &str) -> String {
    match &sandbox.json(&["inspect", file])["owner"] {
        Value::String(owner) => owner.clone(),
        other => panic!("{file}: {other}"),
    }
}

#[test]
fn no_wrong_key_is_accepted_for_any_pair_of_seeds() {
    if !is_fastest() {
        return;
    }
    let sandbox = Sandbox::with_table("owners");
    for seed in SEEDS.chars() {
        sandbox.keygen(&format!("keys{seed}"), "small.params", "mean", seed);
        let key = format!("keys{seed}/public.key");
        sandbox.done(&["encrypt", "--key", &key, "table.csv", "-o", &format!("table{seed}.ct")]);
    }
    for (own, other) in SEEDS.chars().flat_map(|own| SEEDS.chars().map(move |other| (own, other))) {
        let (table, mean) = (format!("table{own}.ct"), format!("mean{own}{other}.ct"));
        let [evaluation, secret] = ["eval.keys", "secret.key"].map(|name| format!("keys{other}/{name}"));
        let eval = ["eval", "mean", "--keys", &evaluation, &table, "-o", &mean];
        let decrypt = ["decrypt", "--key", &secret, &table, "-o", "out.csv", "--force"];
        if own == other {
            sandbox.done(&eval);
            sandbox.done(&decrypt);
        } else {
            sandbox.refused(&eval, &[&table, "belongs to key"]);
            sandbox.refused(&decrypt, &[&table, "belongs to key"]);
        }
    }
    for (own, other) in SEEDS.chars().zip(SEEDS.chars().skip(1)) {
        let (mean, secret) = (format!("mean{own}{own}.ct"), format!("keys{other}/secret.key"));
        let decrypt = ["decrypt", "--key", &secret, &mean, "-o", "out.csv", "--force"];
        sandbox.refused(&decrypt, &[&mean, "belongs to key"]);
        // Neither rounding nor the wish to see all numbers makes another key right.
        sandbox.refused(&[&decrypt[..], &["--unchecked"]].concat(), &["belongs to key"]);
        sandbox.refused(&[&decrypt[..], &["--release", "4"]].concat(), &["belongs to key"]);
    }
}

#[test]
fn all_files_of_one_key_generation_name_one_key() {
    let sandbox = Sandbox::with_keys("owner", "variance");
    sandbox.keygen("other", "small.params", "variance", '2');
    sandbox.done(&["encrypt", "--key", "keys/secret.key", "table.csv", "-o", "table.ct"]);
    sandbox.done(&["eval", "variance", "--keys", "keys/eval.keys", "table.ct", "-o", "result.ct"]);
    let files = ["keys/public.key", "keys/eval.keys", "table.ct", "result.ct"];
    let own = owner(&sandbox, "keys/secret.key");
    assert!(files.iter().all(|file| owner(&sandbox, file) == own));
    assert_ne!(owner(&sandbox, "other/secret.key"), own);
    let text = sandbox.done(&["inspect", "table.ct"]);
    assert!(text.contains(&format!(" and key {own}\n")) && text.contains("format version 2"), "{text}");
    // Parameters belong to nobody.
    assert_eq!(sandbox.json(&["inspect", "small.params"])["owner"], Value::Null);
}

#[test]
fn integers_of_another_secret_are_refused() {
    let sandbox = Sandbox::new("owners-integers");
    sandbox.integers("small.params", 10, 12289, 3);
    sandbox.write("table.csv", b"a\n1\n2\n");
    for directory in ["keys", "other"] {
        sandbox.done(&["keygen", "--out", directory, "--integers", "small.params"]);
    }
    sandbox.done(&["encrypt", "--key", "keys/public.key", "table.csv", "-o", "table.ct"]);
    sandbox.refused(&["decrypt", "--key", "other/secret.key", "table.ct", "-o", "out.csv"], &["belongs to key"]);
    sandbox.done(&["decrypt", "--key", "keys/secret.key", "table.ct", "-o", "out.csv"]);
    let [own, other] = ["keys", "other"].map(|directory| owner(&sandbox, &format!("{directory}/secret.key")));
    assert!(owner(&sandbox, "table.ct") == own && owner(&sandbox, "keys/public.key") == own && own != other);
}

#[test]
fn lookups_with_keys_of_another_secret_are_refused() {
    let sandbox = lookup::with_keys("owners-lookup", "5");
    sandbox.done(&["keygen", "--out", "other", "--lookup", "5", "--params", "small.params"]);
    lookup::encrypt(&sandbox, "5", &[[3, 4]]);
    sandbox.done(&["prepare", "--params", "keys/public.key", "-o", "f.prepared", "--function", "max", "--domain", "5"]);
    let eval = |keys| ["eval", "lookup", "--keys", keys, "--function", "f.prepared", "pairs.ct", "-o", "out.ct"];
    sandbox.refused(&eval("other/lookup.keys"), &["pairs.ct", "belongs to key"]);
    sandbox.done(&eval("keys/lookup.keys"));
    sandbox
        .refused(&["decrypt", "--key", "other/secret.key", "out.ct", "-o", "out.csv"], &["out.ct", "belongs to key"]);
    let own = owner(&sandbox, "keys/secret.key");
    assert!(["keys/lookup.keys", "pairs.ct", "out.ct"].iter().all(|file| owner(&sandbox, file) == own));
}

#[test]
fn bootstrapping_with_keys_of_another_secret_is_refused() {
    let sandbox = Sandbox::new("owners-bootstrap");
    for directory in ["keys", "other"] {
        sandbox.done(&["keygen", "--out", directory, "--bootstrap", "toy"]);
    }
    sandbox.write("table.csv", b"a\n1\n3\n");
    sandbox.done(&["encrypt", "--key", "keys/public.key", "table.csv", "-o", "table.ct"]);
    sandbox.done(&["expand", "other/bootstrap.keys", "-o", "other/mapped.keys"]);
    for keys in ["other/bootstrap.keys", "other/mapped.keys"] {
        let mean = ["eval", "mean", "--keys", keys, "table.ct", "-o", "mean.ct"];
        sandbox.refused(&mean, &["table.ct", "belongs to key"]);
    }
    let [own, other] = ["keys", "other"].map(|directory| owner(&sandbox, &format!("{directory}/secret.key")));
    assert!(owner(&sandbox, "keys/bootstrap.keys") == own && owner(&sandbox, "other/mapped.keys") == other);
    assert!(own != other && owner(&sandbox, "table.ct") == own);
}
