//! Signed files: made, verified, asked for by every verb, and changed by a server.

use std::fs;

use noren_files::passphrase::{Passphrase, Work};
use noren_files::signing_key::SigningKey;

use crate::sandbox::Sandbox;

/// A sandbox with keys for a mean, an encrypted table, and a signing key in `signer` that has signed all that travels.
fn sandbox(name: &str) -> Sandbox {
    let sandbox = Sandbox::with_keys(name, "mean");
    sandbox.done(&["encrypt", "--key", "keys/public.key", "table.csv", "-o", "table.ct"]);
    sandbox.done(&["eval", "mean", "--keys", "keys/eval.keys", "table.ct", "-o", "mean.ct"]);
    sandbox.done(&["signing-key", "--out", "signer"]);
    let files = ["keys/public.key", "keys/eval.keys", "table.ct", "mean.ct", "small.params"];
    sandbox.done(&[&["sign", "--key", "signer/signing.key"], &files[..]].concat());
    sandbox
}

const SIGNER: [&str; 2] = ["--signer", "signer/signing.pub"];

/// A call of each verb that reads files of others, and the file that is not as it was signed.
const CALLS: &[(&str, &str)] = &[
    ("verify mean.ct", "mean.ct"),
    ("inspect mean.ct", "mean.ct"),
    ("params show small.params", "small.params"),
    ("params check small.params --security none", "small.params"),
    ("keygen --out new --program mean --rows 12 --columns 3 --params small.params", "small.params"),
    ("keygen --add --out keys --rotations 100", "keys/eval.keys"),
    ("keygen --add --out keys --rotations 100", "keys/public.key"),
    ("encrypt --key keys/public.key table.csv -o out", "keys/public.key"),
    ("eval mean --keys keys/eval.keys table.ct -o out", "keys/eval.keys"),
    ("eval mean --keys keys/eval.keys table.ct -o out", "table.ct"),
    ("decrypt --key keys/secret.key mean.ct -o out.csv", "mean.ct"),
];

fn signed(call: &str) -> Vec<&str> {
    call.split(' ').chain(SIGNER).collect()
}

#[test]
fn every_verb_refuses_files_that_are_not_as_they_were_signed() {
    let sandbox = sandbox("unsigned");
    sandbox.done(&["signing-key", "--out", "stranger"]);
    for (call, file) in CALLS {
        let (content, signature) = (sandbox.read(file), format!("{file}.minisig"));
        let right = sandbox.read(&signature);
        // Another byte at the end, where no digest is asked for before the signature.
        let mut changed = content.clone();
        *changed.last_mut().expect("bytes") ^= 1;
        sandbox.write(file, &changed);
        sandbox.refused(&signed(call), &[file, "signature is not right"]);
        sandbox.write(file, &content);
        fs::remove_file(sandbox.path(&signature)).expect("there");
        sandbox.refused(&signed(call), &[file, "no signature", "noren sign"]);
        sandbox.done(&["sign", file, "--key", "stranger/signing.key"]);
        sandbox.refused(&signed(call), &[file, "signed by key"]);
        sandbox.write(&signature, &right);
    }
}

#[test]
fn every_verb_takes_files_that_are_signed() {
    let sandbox = sandbox("signed");
    for (call, _) in CALLS.iter().filter(|(call, _)| !call.starts_with("keygen --add")) {
        sandbox.done(&[&signed(call)[..], if call.contains("-o out") { &["--force"] } else { &[] }].concat());
    }
    sandbox.done(&signed("keygen --add --out keys --rotations 100"));
    // The keys that were added are signed by nobody yet.
    sandbox.refused(
        &signed("eval mean --keys keys/eval.keys table.ct -o new.ct"),
        &["keys/eval.keys", "signature is not right"],
    );
    let report = sandbox.json(&signed("verify table.ct mean.ct"));
    assert_eq!(report["files"].as_array().map(Vec::len), Some(2));
    let comment = report["files"][0]["comment"].as_str().expect("a comment").to_owned();
    assert!(comment.contains("\tfile:table.ct\thashed\tkind:encrypted table"), "{comment}");
}

#[test]
fn the_owner_of_a_signed_secret_key_is_its_own_identity() {
    let sandbox = sandbox("owners-of-secrets");
    sandbox.integers("integers.params", 10, 12289, 3);
    sandbox.done(&["keygen", "--out", "integers", "--integers", "integers.params"]);
    sandbox.done(&["keygen", "--out", "tfhe", "--tfhe", "TOY_BOOL"]);
    for [secret, other] in [
        ["keys/secret.key", "keys/eval.keys"],
        ["integers/secret.key", "integers/public.key"],
        ["tfhe/secret.key", "tfhe/server.keys"],
    ] {
        sandbox.done(&["sign", secret, other, "--force", "--key", "signer/signing.key"]);
        let report = sandbox.json(&[&["verify", secret, other], &SIGNER[..]].concat());
        let owners = [0, 1].map(|file| {
            let comment = report["files"][file]["comment"].as_str().expect("a comment");
            comment.split("\towner:").nth(1).expect("an owner").to_owned()
        });
        assert!(owners[0] == owners[1] && owners[0] != "none", "{secret}: {owners:?}");
        sandbox.done(&[&["verify", secret, "--owner", &owners[0]], &SIGNER[..]].concat());
        let another = "0".repeat(32);
        sandbox.refused(&[&["verify", secret, "--owner", &another], &SIGNER[..]].concat(), &["another owner"]);
    }
}

#[test]
fn a_signed_file_passes_for_no_other() {
    let sandbox = sandbox("replaced");
    // An old result under the name of a new one, with its signature.
    for end in ["", ".minisig"] {
        fs::copy(sandbox.path(&format!("table.ct{end}")), sandbox.path(&format!("mean.ct{end}"))).expect("writable");
    }
    let decrypt = signed("decrypt --key keys/secret.key mean.ct -o out.csv");
    sandbox.refused(&decrypt, &["mean.ct", "\"table.ct\"", "signed under the name"]);
    sandbox.refused(&signed("verify mean.ct"), &["\"table.ct\""]);
    sandbox.done(&signed("verify mean.ct --any-name"));
}

#[test]
fn what_is_in_the_way_stays_and_arguments_are_checked() {
    let sandbox = sandbox("arguments");
    sandbox.refused(&["signing-key", "--out", "signer"], &["signer/signing.key exists"]);
    sandbox.refused(
        &["sign", "small.params", "table.csv", "--key", "signer/signing.key"],
        &["small.params.minisig exists"],
    );
    assert!(!sandbox.exists("table.csv.minisig"));
    sandbox.refused(&["sign", "table.csv", "missing", "--key", "signer/signing.key"], &["missing"]);
    assert!(!sandbox.exists("table.csv.minisig"));
    sandbox.refused(&["sign", "table.csv", "--key", "signer/signing.pub"], &["signer/signing.pub", "signing key"]);
    sandbox.refused(&["verify", "table.ct", "--signer", "signer/signing.key"], &["signer/signing.key", "public key"]);
    sandbox.done(&["sign", "table.csv", "small.params", "--force", "--key", "signer/signing.key"]);
    for (arguments, needed) in [
        (&["verify", "table.ct"][..], "--signer"),
        (&["info", "--signer", "signer/signing.pub"], "--signer"),
        (&["sign", "table.ct", "--key", "signer/signing.key", "--signer", "signer/signing.pub"], "--signer"),
    ] {
        let output = sandbox.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(needed), "{arguments:?}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(sandbox.path("signer/signing.key")).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn signing_keys_are_under_passphrases_too() {
    let sandbox = Sandbox::with_table("locked");
    let passphrase = Passphrase::new("of the signer").expect("not empty");
    let key = SigningKey::generate().expect("randomness");
    key.write(&sandbox.path("signing.key"), Some((&passphrase, Work::LEAST))).expect("written");
    key.signer().write(&sandbox.path("signing.pub")).expect("written");
    sandbox.write("right", b"of the signer\n");
    sandbox.write("wrong", b"of a stranger\n");
    let sign = ["sign", "table.csv", "--key", "signing.key"];
    sandbox.refused(&sign, &["signing.key", "no terminal", "--passphrase-file"]);
    sandbox.refused(&[&sign[..], &["--passphrase-file", "wrong"]].concat(), &["signing.key", "passphrase is wrong"]);
    sandbox.done(&[&sign[..], &["--passphrase-file", "right"]].concat());
    sandbox.done(&["verify", "table.csv", "--signer", "signing.pub"]);
    sandbox.done(&["passphrase", "signing.key", "--remove", "--passphrase-file", "right"]);
    sandbox.done(&[&sign[..], &["--force"]].concat());
    sandbox.done(&["passphrase", "signing.key", "--passphrase-file", "wrong"]);
    sandbox.refused(&[&sign[..], &["--force", "--passphrase-file", "right"]].concat(), &["passphrase is wrong"]);
    sandbox.done(&["signing-key", "--out", "made", "--passphrase-file", "right"]);
    assert!(SigningKey::needs_passphrase(&sandbox.path("made/signing.key")).expect("a key"));
}
