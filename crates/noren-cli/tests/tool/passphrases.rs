//! Secret keys under a passphrase: made, used, changed, and refused.

use std::fs;
use std::process::Output;

use noren_files::encrypted;
use noren_files::passphrase::{Passphrase, Work};
use noren_math::kernels::is_fastest;

use crate::sandbox::Sandbox;

const RIGHT: &str = "correct horse battery staple";

/// Puts a key in clear under a passphrase with little work: each use of one that the tool makes takes a second.
fn protect(sandbox: &Sandbox, name: &str) {
    let passphrase = Passphrase::new(RIGHT).expect("not empty");
    let bytes = encrypted::encrypt(&sandbox.read(name), &passphrase, Work::LEAST).expect("randomness");
    sandbox.write(name, &bytes);
}

/// A sandbox with keys for a program, the secret one under the passphrase in `right`, and a mean in `mean.ct`.
fn sandbox(name: &str) -> Sandbox {
    let sandbox = Sandbox::with_keys(name, "mean");
    sandbox.done(&["encrypt", "--key", "keys/public.key", "table.csv", "-o", "table.ct"]);
    sandbox.done(&["eval", "mean", "--keys", "keys/eval.keys", "table.ct", "-o", "mean.ct"]);
    sandbox.done(&["decrypt", "--key", "keys/secret.key", "mean.ct", "-o", "clear.csv"]);
    fs::copy(sandbox.path("keys/secret.key"), sandbox.path("clear.key")).expect("writable");
    protect(&sandbox, "keys/secret.key");
    sandbox.write("right", format!("{RIGHT}\nwritten by hand\n").as_bytes());
    sandbox.write("wrong", b"correct horse battery stable\n");
    sandbox.write("empty", b"\n");
    sandbox
}

fn with_variable(sandbox: &Sandbox, arguments: &[&str], name: &str, value: &str) -> Output {
    sandbox.command(arguments).env(name, value).output().expect("the tool starts")
}

fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[cfg(unix)]
fn mode(sandbox: &Sandbox, name: &str) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(sandbox.path(name)).expect("there").permissions().mode() & 0o777
}

#[test]
fn keygen_writes_a_secret_key_that_the_passphrase_alone_opens() {
    let sandbox = Sandbox::with_table("protected");
    sandbox.write("right", RIGHT.as_bytes());
    let keygen = ["keygen", "--program", "mean", "--rows", "12", "--columns", "3", "--params", "small.params"];
    let seed = ["--seed", &"1".repeat(64), "--out"];
    sandbox.done(&[&keygen[..], &seed[..], &["clear"]].concat());
    // Without anybody to ask nothing is made.
    let asks = [&keygen[..], &seed[..], &["keys", "--passphrase"]].concat();
    sandbox.refused(&asks, &["keys/secret.key", "no terminal", "--passphrase-file", "NOREN_PASSPHRASE"]);
    let output = with_variable(&sandbox, &asks, "NOREN_PASSPHRASE", "");
    assert!(output.status.code() == Some(1) && message(&output).contains("empty"), "{}", message(&output));
    assert!(!sandbox.exists("keys"));
    sandbox.done(&[&keygen[..], &seed[..], &["keys", "--passphrase-file", "right"]].concat());
    let (bytes, clear) = (sandbox.read("keys/secret.key"), sandbox.read("clear/secret.key"));
    assert!(bytes.starts_with(b"age-encryption.org/v1\n-> scrypt "));
    let own = clear.windows(16).filter(|window| window.iter().any(|&byte| byte != window[0]));
    own.for_each(|window| assert!(!bytes.windows(16).any(|found| found == window), "a part of the key is in clear"));
    for name in ["public.key", "eval.keys"] {
        assert!(sandbox.read(&format!("keys/{name}")) == sandbox.read(&format!("clear/{name}")));
    }
    let opened = encrypted::decrypt(&bytes, &Passphrase::new(RIGHT).expect("not empty")).expect("opened");
    assert!(*opened == clear);
    #[cfg(unix)]
    assert_eq!(mode(&sandbox, "keys/secret.key"), 0o600);
    // A file that is in the way is refused before anybody is asked.
    sandbox.refused(&asks, &["keys/secret.key exists"]);
    // The variable by itself encrypts nothing, which is said.
    let plan = [&keygen[..], &seed[..], &["other"]].concat();
    let output = with_variable(&sandbox, &plan, "NOREN_PASSPHRASE", RIGHT);
    assert!(output.status.success() && message(&output).contains("is not encrypted"), "{}", message(&output));
    assert!(sandbox.read("other/secret.key") == clear);
}

#[test]
fn every_verb_that_reads_a_secret_key_takes_its_passphrase() {
    let sandbox = sandbox("verbs");
    let decrypt = ["decrypt", "--key", "keys/secret.key", "mean.ct", "-o"];
    sandbox.done(&[&decrypt[..], &["file.csv", "--passphrase-file", "right"]].concat());
    let output = with_variable(&sandbox, &[&decrypt[..], &["variable.csv"]].concat(), "NOREN_PASSPHRASE", RIGHT);
    assert!(output.status.success(), "{}", message(&output));
    for name in ["file.csv", "variable.csv"] {
        assert_eq!(sandbox.text(name), sandbox.text("clear.csv"));
    }
    // The file comes before the variable.
    let both = [&decrypt[..], &["both.csv", "--passphrase-file", "wrong"]].concat();
    let output = with_variable(&sandbox, &both, "NOREN_PASSPHRASE", RIGHT);
    assert!(output.status.code() == Some(1) && message(&output).contains("wrong"), "{}", message(&output));
    let encrypt = ["encrypt", "--key", "keys/secret.key", "table.csv", "-o", "own.ct"];
    sandbox.done(&[&encrypt[..], &["--passphrase-file", "right"]].concat());
    let add = ["keygen", "--add", "--out", "keys", "--rotations", "3"];
    sandbox.done(&[&add[..], &["--passphrase-file", "right"]].concat());
    assert!(sandbox.read("keys/secret.key").starts_with(b"age-encryption.org/"));
    let text = sandbox.done(&["inspect", "keys/secret.key"]);
    assert!(text.contains("under a passphrase"), "{text}");
    // A key in clear needs none, and is read with one.
    sandbox.done(&["decrypt", "--key", "clear.key", "mean.ct", "-o", "again.csv", "--passphrase-file", "right"]);
    // Where keys of others are needed, nobody is asked.
    let eval = ["eval", "mean", "--keys", "keys/secret.key", "table.ct", "-o", "out.ct", "--passphrase-file", "right"];
    sandbox.refused(&eval, &["keys/secret.key", "under a passphrase"]);
}

#[test]
fn keys_of_integers_and_of_tfhe_are_opened_too() {
    let sandbox = Sandbox::new("schemes");
    sandbox.integers("integers.params", 10, 65537, 3);
    sandbox.write("right", RIGHT.as_bytes());
    sandbox.write("whole.csv", b"x,y\n1,2\n3,4\n");
    sandbox.done(&["keygen", "--out", "integers", "--integers", "integers.params"]);
    sandbox.done(&["keygen", "--out", "tfhe", "--tfhe", "TOY_2_2"]);
    for (directory, options) in [("integers", &[][..]), ("tfhe", &["--type", "uint8"])] {
        let key = format!("{directory}/secret.key");
        protect(&sandbox, &key);
        let (ct, csv) = (format!("{directory}.ct"), format!("{directory}.csv"));
        let encrypt = ["encrypt", "--key", &key, "whole.csv", "-o", &ct, "--passphrase-file", "right"];
        sandbox.done(&[&encrypt[..], options].concat());
        sandbox.done(&["decrypt", "--key", &key, &ct, "-o", &csv, "--passphrase-file", "right"]);
        assert_eq!(sandbox.text(&csv), sandbox.text("whole.csv"));
    }
}

#[test]
fn nothing_is_written_without_the_right_passphrase_and_the_right_key() {
    let sandbox = sandbox("refusals");
    let decrypt =
        |more: &[&'static str]| [&["decrypt", "--key", "keys/secret.key", "mean.ct", "-o", "out.csv"], more].concat();
    sandbox.refused(&decrypt(&[]), &["keys/secret.key", "no terminal", "--passphrase-file", "NOREN_PASSPHRASE"]);
    for (file, needed) in
        [("wrong", "passphrase is wrong"), ("empty", "empty"), ("missing", "missing"), ("keys", "directory")]
    {
        let options: &[&str] = match file {
            "wrong" => &["--passphrase-file", "wrong"],
            "empty" => &["--passphrase-file", "empty"],
            "missing" => &["--passphrase-file", "missing"],
            _ => &["--passphrase-file", "keys"],
        };
        sandbox.refused(&decrypt(options), &[needed]);
    }
    let right = ["--passphrase-file", "right"];
    let whole = sandbox.read("keys/secret.key");
    for length in [10, 100, whole.len() - 1] {
        sandbox.write("keys/secret.key", &whole[..length]);
        sandbox.refused(&decrypt(&right), &["keys/secret.key"]);
    }
    let mut changed = whole.clone();
    *changed.last_mut().expect("bytes") ^= 1;
    sandbox.write("keys/secret.key", &changed);
    sandbox.refused(&decrypt(&right), &["keys/secret.key", "changed"]);
    // Work of hours and terabytes.
    let text: Vec<u8> = whole.clone();
    let at = text.windows(4).position(|window| window == b" 10\n").expect("the least work");
    let forged = [&whole[..at], b" 35\n", &whole[at + 4..]].concat();
    sandbox.write("keys/secret.key", &forged);
    sandbox.refused(&decrypt(&right), &["keys/secret.key", "2^35", "2^20"]);
    // Plaintexts that are no key, or a key of another kind, under the right passphrase.
    for (content, needed) in [
        (&b"not a key"[..], "not a file of noren"),
        (&sandbox.read("keys/public.key"), "found public key"),
        (&sandbox.read("mean.ct"), "found encrypted table"),
    ] {
        sandbox.write("keys/secret.key", content);
        protect(&sandbox, "keys/secret.key");
        sandbox.refused(&decrypt(&right), &["keys/secret.key", needed]);
    }
}

#[test]
fn passphrases_are_put_on_changed_and_taken_off() {
    if !is_fastest() {
        return;
    }
    let sandbox = sandbox("change");
    sandbox.write("new", b"another one\n");
    let clear = sandbox.read("clear.key");
    let passphrase = |more: &[&'static str]| [&["passphrase", "keys/secret.key"], more].concat();
    let before = sandbox.read("keys/secret.key");
    sandbox.refused(
        &passphrase(&["--passphrase-file", "wrong", "--new-passphrase-file", "new"]),
        &["passphrase is wrong"],
    );
    sandbox.refused(&passphrase(&["--passphrase-file", "right", "--new-passphrase-file", "empty"]), &["empty"]);
    sandbox.refused(
        &passphrase(&["--passphrase-file", "right"]),
        &["no terminal", "--new-passphrase-file", "NOREN_NEW_PASSPHRASE"],
    );
    sandbox.done(&passphrase(&["--passphrase-file", "right", "--new-passphrase-file", "new"]));
    assert!(sandbox.read("keys/secret.key") != before);
    sandbox.refused(&passphrase(&["--passphrase-file", "right", "--remove"]), &["passphrase is wrong"]);
    sandbox.done(&passphrase(&["--passphrase-file", "new", "--remove"]));
    assert!(sandbox.read("keys/secret.key") == clear);
    sandbox.refused(&passphrase(&["--remove"]), &["a key in clear"]);
    #[cfg(unix)]
    assert_eq!(mode(&sandbox, "keys/secret.key"), 0o600);
    let report = sandbox.json(&passphrase(&["--passphrase-file", "right"]));
    assert_eq!(report["passphrase"], true);
    #[cfg(unix)]
    assert_eq!(mode(&sandbox, "keys/secret.key"), 0o600);
    sandbox.done(&["decrypt", "--key", "keys/secret.key", "mean.ct", "-o", "out.csv", "--passphrase-file", "right"]);
    assert_eq!(sandbox.text("out.csv"), sandbox.text("clear.csv"));
    // Only secret keys, and whole ones.
    for name in ["keys/public.key", "table.csv", "missing"] {
        sandbox.refused(&["passphrase", name, "--passphrase-file", "right"], &[name]);
    }
    let mut damaged = clear;
    damaged[200] ^= 1;
    sandbox.write("damaged.key", &damaged);
    sandbox.refused(&["passphrase", "damaged.key", "--passphrase-file", "right"], &["damaged.key", "digest"]);
}
