//! FIFOs, devices, sockets and directories under the names of inputs, and traps under hidden names: refused, never waited for.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::sandbox::Sandbox;

/// Runs the tool, which must not wait for anybody.
fn ends(sandbox: &Sandbox, arguments: &[&str]) -> Output {
    let command = &mut sandbox.command(arguments);
    let mut run = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    let begun = Instant::now();
    while run.try_wait().expect("a child").is_none() {
        if begun.elapsed() > Duration::from_secs(120) {
            run.kill().expect("a child");
            panic!("{arguments:?} waits for something that does not come");
        }
        thread::sleep(Duration::from_millis(2));
    }
    run.wait_with_output().expect("it has ended")
}

fn refused(sandbox: &Sandbox, arguments: &[&str], needed: &[&str]) {
    let output = ends(sandbox, arguments);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {message}");
    needed.iter().for_each(|text| assert!(message.contains(text), "{arguments:?}: {text:?} is not in {message}"));
}

fn fifo(sandbox: &Sandbox, name: &str) {
    assert!(Command::new("mkfifo").arg(sandbox.path(name)).status().expect("mkfifo is there").success());
}

/// The arguments of every verb with one that names an input, `{}`.
const INPUTS: &[&str] = &[
    "inspect {}",
    "params show {}",
    "params check {}",
    "keygen --out new --program mean --rows 12 --columns 3 --params {}",
    "keygen --out new --program mean --rows 12 --columns 3 --bounds {}",
    "keygen --out new --program linear --rows 12 --columns 3 --model {}",
    "keygen --out new --integers {}",
    "keygen --out new --lookup 16 --params {}",
    "encrypt --key {} table.csv -o out",
    "encrypt --key keys/public.key {}.csv -o out",
    "encrypt --key keys/public.key {}.npy -o out",
    "encrypt --key keys/public.key table.csv --bounds {} -o out",
    "eval mean --keys {} table.ct -o out",
    "eval mean --keys keys/eval.keys {} -o out",
    "eval linear --keys keys/eval.keys --model {} table.ct -o out",
    "decrypt --key {} table.ct -o out.csv",
    "decrypt --key keys/secret.key {} -o out.csv",
    "expand {} -o out",
    "advise --workload {}",
    "advise compare --integer 8 --machine {}",
    "prepare --params {} --function max --domain 16 -o out",
    "prepare --params integers.params --table {}.csv -o out",
];

#[test]
fn inputs_that_are_no_regular_files_are_refused_by_their_type() {
    let sandbox = Sandbox::with_keys("special", "mean");
    sandbox.integers("integers.params", 10, 65537, 3);
    sandbox.done(&["encrypt", "--key", "keys/public.key", "table.csv", "-o", "table.ct"]);
    fifo(&sandbox, "fifo");
    let _socket = UnixListener::bind(sandbox.path("socket")).expect("writable");
    symlink("/dev/zero", sandbox.path("zero")).expect("writable");
    fs::create_dir(sandbox.path("directory")).expect("writable");
    for name in ["fifo", "socket", "zero", "directory"] {
        for end in ["csv", "npy"] {
            symlink(name, sandbox.path(&format!("{name}.{end}"))).expect("writable");
        }
    }
    for (name, needed) in [
        ("fifo", "a FIFO where a regular file is needed"),
        ("zero", "a device"),
        ("socket", "a socket"),
        ("directory", "a directory"),
    ] {
        for case in INPUTS {
            let text = case.replace("{}", name);
            refused(&sandbox, &text.split(' ').collect::<Vec<_>>(), &[name, needed]);
        }
    }
    assert!(!sandbox.exists("out") && !sandbox.exists("out.csv") && !sandbox.exists("new"));
    // The secret key of a directory to which keys are added.
    fs::create_dir(sandbox.path("added")).expect("writable");
    fifo(&sandbox, "added/secret.key");
    refused(&sandbox, &["keygen", "--add", "--out", "added", "--rotations", "1"], &["added/secret.key", "a FIFO"]);
    // --force replaces regular files only, too.
    let encrypt = ["encrypt", "--key", "keys/public.key", "table.csv", "--force", "-o"];
    for name in ["fifo", "zero", "socket", "directory"] {
        refused(&sandbox, &[&encrypt[..], &[name]].concat(), &[name, "not a regular file"]);
    }
}

#[test]
fn traps_under_hidden_names_neither_hang_nor_redirect() {
    let sandbox = Sandbox::with_keys("traps", "mean");
    fs::create_dir(sandbox.path("victim")).expect("writable");
    sandbox.write("victim/lock", b"dear");
    sandbox.write("victim/dear", b"dear");
    fs::create_dir(sandbox.path("new")).expect("writable");
    for directory in [".", "new"] {
        let place = |name: &str| format!("{directory}/{name}");
        fifo(&sandbox, &place(".out.ct.4-0.tmp"));
        fs::create_dir(sandbox.path(&place(".noren-4-0.tmp"))).expect("writable");
        fifo(&sandbox, &place(".noren-4-0.tmp/lock"));
        symlink(sandbox.path("victim"), sandbox.path(&place(".noren-5-0.tmp"))).expect("writable");
        symlink(sandbox.path("victim/dear"), sandbox.path(&place(".out.ct.4-1.tmp"))).expect("writable");
        fs::create_dir(sandbox.path(&place(".noren-6-0.tmp"))).expect("writable");
        symlink(sandbox.path("victim/lock"), sandbox.path(&place(".noren-6-0.tmp/lock"))).expect("writable");
    }
    let output = ends(&sandbox, &["encrypt", "--key", "keys/public.key", "table.csv", "-o", "out.ct"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let keygen = ["keygen", "--out", "new", "--program", "mean", "--rows", "12", "--columns", "3"];
    let output = ends(&sandbox, &[&keygen[..], &["--params", "small.params"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!((sandbox.read("victim/lock"), sandbox.read("victim/dear")), (b"dear".to_vec(), b"dear".to_vec()));
    assert!(fs::symlink_metadata(sandbox.path("new/.noren-5-0.tmp")).expect("not ours").is_symlink());
    assert!(sandbox.exists("out.ct") && sandbox.exists("new/secret.key"));
}

#[test]
fn decrypted_numbers_are_for_their_owner_unless_they_are_released() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::with_keys("modes", "mean");
    let mode = |name: &str| fs::metadata(sandbox.path(name)).expect("written").permissions().mode() & 0o777;
    sandbox.write("usual", b"");
    sandbox.done(&["encrypt", "--key", "keys/public.key", "table.csv", "-o", "table.ct"]);
    let decrypt = ["decrypt", "--key", "keys/secret.key", "table.ct", "-o"];
    for end in ["csv", "npy"] {
        let name = format!("own.{end}");
        sandbox.done(&[&decrypt[..], &[&name]].concat());
        assert_eq!(mode(&name), 0o600, "{name}");
    }
    // Also where everybody could read what was there before.
    sandbox.write("old.csv", b"");
    fs::set_permissions(sandbox.path("old.csv"), fs::Permissions::from_mode(0o644)).expect("own file");
    sandbox.done(&[&decrypt[..], &["old.csv", "--force"]].concat());
    assert_eq!(mode("old.csv"), 0o600);
    sandbox.done(&[&decrypt[..], &["released.csv", "--release", "1"]].concat());
    assert_eq!(mode("released.csv"), mode("usual"));
    sandbox.done(&[&decrypt[..], &["both.csv", "--release", "1", "--public"]].concat());
    sandbox.refused(&[&decrypt[..], &["public.csv", "--public"]].concat(), &["--public", "traces", "--release"]);

    sandbox.integers("integers.params", 10, 65537, 3);
    sandbox.done(&["keygen", "--out", "whole", "--integers", "integers.params"]);
    sandbox.write("whole.csv", b"a,b\n1,2\n3,4\n");
    sandbox.done(&["encrypt", "--key", "whole/public.key", "whole.csv", "-o", "whole.ct"]);
    let decrypt = ["decrypt", "--key", "whole/secret.key", "whole.ct", "-o"];
    sandbox.done(&[&decrypt[..], &["whole-own.csv"]].concat());
    sandbox.done(&[&decrypt[..], &["whole-public.csv", "--public"]].concat());
    assert_eq!((mode("whole-own.csv"), mode("whole-public.csv")), (0o600, mode("usual")));

    sandbox.done(&["keygen", "--out", "bits", "--tfhe", "TOY_2_2"]);
    sandbox.write("bits.csv", b"a\n1\n0\n");
    sandbox.done(&["encrypt", "--key", "bits/secret.key", "--type", "bool", "bits.csv", "-o", "bits.ct"]);
    let decrypt = ["decrypt", "--key", "bits/secret.key", "bits.ct", "-o"];
    sandbox.done(&[&decrypt[..], &["bits-own.csv"]].concat());
    sandbox.done(&[&decrypt[..], &["bits-public.csv", "--public"]].concat());
    assert_eq!((mode("bits-own.csv"), mode("bits-public.csv")), (0o600, mode("usual")));
}
