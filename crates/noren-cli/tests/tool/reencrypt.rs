//! Key rotation by the tool: old files under a new key, whole directories of them, and what is refused.

use std::fs;

use crate::sandbox::Sandbox;

const CKKS: &str = "encrypted table";

/// A sandbox with keys of integers of two owners, `old` and `new`, and a table of the old one.
fn with_keys(name: &str) -> Sandbox {
    let sandbox = Sandbox::new(name);
    sandbox.integers("small.params", 10, 12289, 3);
    for (directory, digit) in [("old", "1"), ("new", "2")] {
        let seed = digit.repeat(64);
        sandbox.done(&["keygen", "--out", directory, "--integers", "small.params", "--seed", &seed]);
    }
    let numbers: Vec<String> = (0..1500).map(|row| format!("{},{}", row % 97, row * 7 % 12289)).collect();
    sandbox.write("table.csv", format!("a,b\n{}\n", numbers.join("\n")).as_bytes());
    sandbox.done(&["encrypt", "--key", "old/public.key", "table.csv", "-o", "table.ct"]);
    sandbox
}

const REKEY: [&str; 7] = ["rekey", "--from", "old/secret.key", "--to", "new/secret.key", "-o", "rotation.key"];

fn rekey(sandbox: &Sandbox) {
    sandbox.done(&[&REKEY[..], &["--seed", &"3".repeat(64)]].concat());
}

#[test]
fn a_table_goes_to_the_new_key_and_leaves_the_old_one() {
    let sandbox = with_keys("reencrypt");
    let report = sandbox.json(&[&REKEY[..], &["--seed", &"3".repeat(64)]].concat());
    let owner = |name: &str| sandbox.json(&["inspect", name])["owner"].as_str().expect("an owner").to_owned();
    assert!(report["from"].as_str().expect("digits").starts_with(&owner("old/secret.key")), "{report}");
    assert!(
        report["to"].as_str().expect("digits").starts_with(&owner("new/secret.key")) && report["limbs"] == 3,
        "{report}"
    );
    let key = sandbox.json(&["inspect", "rotation.key"]);
    assert_eq!(key["kind"], "re-encryption key with integer parameters");
    assert_eq!(key["owner"].as_str(), Some(&owner("new/secret.key")[..]));
    let of = format!("re-encryption of key {}", owner("old/secret.key"));
    assert_eq!(key["evaluation_keys"][0]["kind"].as_str(), Some(&of[..]));

    let call = ["reencrypt", "--key", "rotation.key", "table.ct", "-o", "new.ct"];
    let report = sandbox.json(&call);
    assert_eq!((&report["files"], &report["ciphertexts"]), (&1.into(), &4.into()), "{report}");
    assert_eq!(owner("new.ct"), owner("new/secret.key"));
    sandbox.done(&["decrypt", "--key", "new/secret.key", "new.ct", "-o", "new.csv"]);
    assert_eq!(sandbox.text("new.csv"), sandbox.text("table.csv"));
    sandbox.refused(
        &["decrypt", "--key", "old/secret.key", "new.ct", "-o", "old.csv"],
        &["belongs to key", "in use is key"],
    );
    sandbox.refused(&call, &["new.ct exists", "--force"]);
    // The same bytes on standard output.
    let piped = sandbox.run(&["reencrypt", "--key", "rotation.key", "table.ct", "-o", "-"]);
    assert_eq!(piped.stdout, sandbox.read("new.ct"));
    // The same key again, and none in place of it.
    sandbox.refused(&REKEY, &["rotation.key exists", "--force"]);
    let before = sandbox.read("rotation.key");
    sandbox.done(&[&REKEY[..], &["--force", "--seed", &"3".repeat(64)]].concat());
    assert_eq!(sandbox.read("rotation.key"), before);
}

#[test]
fn a_directory_goes_as_a_whole_or_not_at_all() {
    let sandbox = with_keys("reencrypt-directory");
    rekey(&sandbox);
    fs::create_dir(sandbox.path("stored")).expect("room");
    let table = sandbox.read("table.ct");
    for name in ["a.ct", "b.ct", "c.ct"] {
        sandbox.write(&format!("stored/{name}"), &table);
    }
    sandbox.write("stored/a.ct.minisig", b"a signature of the old file");
    let call = ["reencrypt", "--key", "rotation.key", "stored", "-o", "rotated"];
    let report = sandbox.json(&call);
    assert_eq!((&report["files"], &report["ciphertexts"]), (&3.into(), &12.into()), "{report}");
    let names: Vec<_> =
        fs::read_dir(sandbox.path("rotated")).expect("there").flatten().map(|e| e.file_name()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    for name in ["a", "b", "c"] {
        sandbox.done(&[
            "decrypt",
            "--key",
            "new/secret.key",
            &format!("rotated/{name}.ct"),
            "-o",
            &format!("{name}.csv"),
        ]);
        assert_eq!(sandbox.text(&format!("{name}.csv")), sandbox.text("table.csv"));
    }
    sandbox.refused(&call, &["rotated/a.ct exists", "--force"]);
    sandbox.done(&[&call[..], &["--force"]].concat());
    // Several inputs, and a directory in place.
    sandbox.done(&["reencrypt", "--key", "rotation.key", "table.ct", "stored/b.ct", "-o", "some"]);
    assert!(sandbox.exists("some/table.ct") && sandbox.exists("some/b.ct"));
    sandbox.refused(
        &["reencrypt", "--key", "rotation.key", "stored", "stored/b.ct", "-o", "twice"],
        &["the name", "the same as of stored/b.ct"],
    );

    // One file that is damaged, of another key, of another kind, or a directory: none of the others is written.
    let mut flipped = table.clone();
    flipped[table.len() / 2] ^= 1;
    let foreign = ["encrypt", "--key", "new/public.key", "table.csv", "-o", "foreign.ct"];
    sandbox.done(&foreign);
    for (content, needed) in [
        (flipped, "the digest does not match"),
        (table[..table.len() - 64].to_vec(), "stored/z.ct"),
        (sandbox.read("foreign.ct"), "the ciphertext belongs to key"),
        (sandbox.read("old/public.key"), "found public key with integer parameters"),
        (b"no container at all".to_vec(), "stored/z.ct"),
    ] {
        sandbox.write("stored/z.ct", &content);
        sandbox.refused(&["reencrypt", "--key", "rotation.key", "stored", "-o", "none"], &["stored/z.ct", needed]);
        assert!(!sandbox.exists("none"));
    }
    fs::remove_file(sandbox.path("stored/z.ct")).expect("there");
    fs::create_dir(sandbox.path("stored/within")).expect("room");
    sandbox.refused(
        &["reencrypt", "--key", "rotation.key", "stored", "-o", "none"],
        &["stored/within", "a directory within one"],
    );
    fs::remove_dir(sandbox.path("stored/within")).expect("empty");
    sandbox.done(&["reencrypt", "--key", "rotation.key", "stored", "-o", "stored", "--force"]);
    sandbox.done(&["decrypt", "--key", "new/secret.key", "stored/c.ct", "-o", "c.csv", "--force"]);
    assert_eq!(sandbox.text("c.csv"), sandbox.text("table.csv"));
    fs::create_dir(sandbox.path("empty")).expect("room");
    sandbox.refused(&["reencrypt", "--key", "rotation.key", "empty", "-o", "none"], &["empty", "at least one"]);
}

#[test]
fn keys_of_other_parameters_and_other_files_are_refused() {
    let sandbox = with_keys("reencrypt-refused");
    rekey(&sandbox);
    sandbox.integers("other.params", 10, 12289, 2);
    sandbox.done(&["keygen", "--out", "other", "--integers", "other.params", "--seed", &"4".repeat(64)]);
    let to = |from: &str, to: &str, needed: &[&str]| {
        sandbox.refused(&["rekey", "--from", from, "--to", to, "-o", "none.key"], needed)
    };
    to("old/secret.key", "other/secret.key", &["other/secret.key", "belongs to parameters"]);
    to("old/secret.key", "old/secret.key", &["which is the old one", "another one, of the same parameters"]);
    to(
        "old/public.key",
        "new/secret.key",
        &["old/public.key: found public key", "secret key of CKKS, or of exact integers"],
    );
    to("old/secret.key", "new/public.key", &["new/public.key: found public key"]);

    sandbox.done(&["encrypt", "--key", "other/public.key", "table.csv", "-o", "other.ct"]);
    let none = |input: &str, needed: &[&str]| {
        sandbox.refused(&["reencrypt", "--key", "rotation.key", input, "-o", "none.ct"], needed)
    };
    none("other.ct", &["other.ct", "belongs to parameters"]);
    none("old/secret.key", &["old/secret.key: found secret key", "encrypted table or ciphertexts"]);
    sandbox.refused(
        &["reencrypt", "--key", "old/public.key", "table.ct", "-o", "none.ct"],
        &["old/public.key: found public key"],
    );
    // Ciphertexts of the other secret: the wrong old key.
    let back = ["rekey", "--from", "new/secret.key", "--to", "old/secret.key", "-o", "back.key"];
    sandbox.done(&back);
    sandbox.refused(&["reencrypt", "--key", "back.key", "table.ct", "-o", "none.ct"], &["table.ct", "belongs to key"]);

    let damaged = sandbox.read("rotation.key");
    sandbox.write("cut.key", &damaged[..damaged.len() - 64]);
    sandbox.refused(&["reencrypt", "--key", "cut.key", "table.ct", "-o", "none.ct"], &["cut.key"]);
    let strict = sandbox.strict_command(&["reencrypt", "--key", "rotation.key", "table.ct", "-o", "none.ct"]).output();
    assert!(!strict.expect("it starts").status.success() && !sandbox.exists("none.ct"), "parameters without security");
}

#[test]
fn tables_of_numbers_go_to_a_new_key() {
    let sandbox = Sandbox::with_keys("reencrypt-ckks", "mean");
    sandbox.keygen("new", "small.params", "mean", '5');
    sandbox.done(&["encrypt", "--key", "keys/public.key", "table.csv", "-o", "table.ct"]);
    sandbox.done(&["rekey", "--from", "keys/secret.key", "--to", "new/secret.key", "-o", "rotation.key"]);
    assert_eq!(sandbox.json(&["inspect", "rotation.key"])["kind"], "re-encryption key with CKKS parameters");
    sandbox.done(&["reencrypt", "--key", "rotation.key", "table.ct", "-o", "new.ct"]);
    assert_eq!(sandbox.json(&["inspect", "new.ct"])["kind"], CKKS);
    // Programs run on it with the keys of the new secret.
    for (keys, table, output) in [("keys", "table.ct", "old-mean"), ("new", "new.ct", "new-mean")] {
        let (evaluation, secret) = (format!("{keys}/eval.keys"), format!("{keys}/secret.key"));
        let (encrypted, clear) = (format!("{output}.ct"), format!("{output}.csv"));
        sandbox.done(&["eval", "mean", "--keys", &evaluation, table, "-o", &encrypted]);
        sandbox.done(&["decrypt", "--key", &secret, &encrypted, "-o", &clear]);
    }
    let [old, new] = ["old-mean.csv", "new-mean.csv"].map(|name| sandbox.numbers(name, 1).concat());
    assert!(
        old.len() > 1 && old.iter().zip(&new).all(|(x, y)| (x - y).abs() < 1e-5 * x.abs().max(1.0)),
        "{old:?} {new:?}"
    );
}

#[test]
fn a_table_goes_to_another_owner_under_a_flood() {
    let sandbox = Sandbox::new("reencrypt-owner");
    sandbox.integers("small.params", 10, 12289, 4);
    for (directory, digit) in [("giver", "1"), ("receiver", "2")] {
        let seed = digit.repeat(64);
        sandbox.done(&["keygen", "--out", directory, "--integers", "small.params", "--seed", &seed]);
    }
    let numbers: Vec<String> = (0..1500).map(|row| format!("{},{}", row % 97, row * 7 % 12289)).collect();
    sandbox.write("table.csv", format!("a,b\n{}\n", numbers.join("\n")).as_bytes());
    sandbox.done(&["encrypt", "--key", "giver/public.key", "table.csv", "-o", "table.ct"]);
    let report = sandbox.json(&["rekey", "--receive", "receiver/secret.key", "-o", "receiver.key"]);
    let shown = sandbox.json(&["inspect", "receiver.key"]);
    assert_eq!(shown["kind"], "public key for re-encryption with integer parameters");
    assert!(report["to"].as_str().expect("digits").starts_with(shown["owner"].as_str().expect("an owner")), "{shown}");
    // The giver has no secret of the receiver.
    let report = sandbox.json(&["rekey", "--from", "giver/secret.key", "--to", "receiver.key", "-o", "handover.key"]);
    assert_eq!((&report["another_owner"], &report["limbs"]), (&true.into(), &4.into()), "{report}");
    assert_eq!(sandbox.json(&["inspect", "handover.key"])["kind"], "re-encryption key with integer parameters");
    let hand = ["reencrypt", "--key", "handover.key", "table.ct", "-o"];
    for (name, options) in
        [("usual.ct", &[][..]), ("few.ct", &["--results", "4", "--distance", "40"]), ("bare.ct", &["--no-flood"])]
    {
        sandbox.done(&[&hand[..], &[name], options].concat());
        sandbox.done(&["decrypt", "--key", "receiver/secret.key", name, "-o", "out.csv", "--force"]);
        assert_eq!(sandbox.text("out.csv"), sandbox.text("table.csv"), "{name}");
    }
    // Two runs have different floods.
    sandbox.done(&[&hand[..], &["again.ct"]].concat());
    assert_ne!(sandbox.read("again.ct"), sandbox.read("usual.ct"));
    sandbox.refused(&[&hand[..], &["none.ct", "--results", "3"]].concat(), &["--results", "3, and 4 ciphertexts"]);
    sandbox.refused(&[&hand[..], &["none.ct", "--distance", "128"]].concat(), &["table.ct", "a flood", "bits"]);
    sandbox.refused(
        &["rekey", "--from", "receiver/secret.key", "--to", "receiver.key", "-o", "none.key"],
        &["the old one"],
    );
    sandbox.refused(&["rekey", "--receive", "receiver/public.key", "-o", "none.key"], &["found public key"]);
    let both = sandbox.run(&["rekey", "--receive", "a", "--from", "b", "--to", "c", "-o", "none.key"]);
    assert_eq!(both.status.code(), Some(2));
    // A key of one owner covers nothing.
    sandbox.done(&["rekey", "--from", "giver/secret.key", "--to", "receiver/secret.key", "-o", "own.key"]);
    sandbox.refused(
        &["reencrypt", "--key", "own.key", "table.ct", "-o", "none.ct", "--no-flood"],
        &["--no-flood", "a key of one owner"],
    );
}

#[test]
fn tables_of_numbers_go_to_another_owner_by_name_alone() {
    let sandbox = Sandbox::with_keys("reencrypt-owner-ckks", "mean");
    sandbox.keygen("theirs", "small.params", "mean", '5');
    sandbox.done(&["encrypt", "--key", "keys/public.key", "table.csv", "-o", "table.ct"]);
    sandbox.done(&["rekey", "--receive", "theirs/secret.key", "-o", "receiver.key"]);
    sandbox.done(&["rekey", "--from", "keys/secret.key", "--to", "receiver.key", "-o", "handover.key"]);
    let hand = ["reencrypt", "--key", "handover.key", "table.ct", "-o", "theirs.ct"];
    sandbox.refused(&hand, &["table.ct", "--no-flood", "integers of BFV or BGV"]);
    sandbox.done(&[&hand[..], &["--no-flood"]].concat());
    sandbox.done(&["decrypt", "--key", "theirs/secret.key", "theirs.ct", "-o", "out.csv"]);
    let [clear, out] = ["table.csv", "out.csv"].map(|name| sandbox.numbers(name, 0).concat());
    assert!(clear.len() > 1 && clear.iter().zip(&out).all(|(x, y)| (x - y).abs() < 1e-4 * x.abs().max(1.0)));
}
