//! Standard input and output in the place of files, and outputs that are no regular files.
#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::process::{Command, Output, Stdio};
use std::thread;

use crate::sandbox::{NAMES, ROWS, Sandbox, table};

/// Runs the tool with these bytes on standard input.
fn fed(sandbox: &Sandbox, arguments: &[&str], input: &[u8]) -> Output {
    let mut command = sandbox.command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut run = command.spawn().expect("starts");
    let (mut to, input) = (run.stdin.take().expect("a pipe"), input.to_vec());
    // A tool that refuses closes its end.
    let feeder = thread::spawn(move || drop(to.write_all(&input)));
    let output = run.wait_with_output().expect("it ends");
    feeder.join().expect("fed");
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn done(sandbox: &Sandbox, arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let output = fed(sandbox, arguments, input);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
    // The report does not mix with the result.
    assert!(text(&output.stderr).contains("wrote -"), "{arguments:?}: {}", text(&output.stderr));
    output.stdout
}

#[test]
fn tables_go_through_pipes_from_the_clear_to_the_result() {
    let sandbox = Sandbox::with_keys("pipes", "mean");
    let encrypt = ["encrypt", "--key", "keys/public.key", "-", "--format", "csv", "-o", "-"];
    let encrypted = done(&sandbox, &encrypt, table().as_bytes());
    let mean = done(&sandbox, &["eval", "mean", "--keys", "keys/eval.keys", "-", "-o", "-"], &encrypted);
    let decrypt = ["decrypt", "--key", "keys/secret.key", "-", "-o", "-", "--format", "csv"];
    let clear = text(&done(&sandbox, &decrypt, &mean));
    assert!(clear.starts_with(&format!("row,{}\nmean,", NAMES.join(","))) && clear.lines().count() == 2, "{clear}");
    // The names of the system mean the same, and links to links of them.
    symlink("/dev/stdout", sandbox.path("out.csv")).expect("writable");
    symlink("out.csv", sandbox.path("again.csv")).expect("writable");
    for output in ["/dev/stdout", "/proc/self/fd/1", "again.csv"] {
        let decrypt = ["decrypt", "--key", "keys/secret.key", "-", "-o", output, "--format", "csv", "--force"];
        assert_eq!(text(&done(&sandbox, &decrypt, &mean)), clear, "{output}");
    }
    assert!(
        fs::metadata("/dev/stdout").is_ok()
            && fs::symlink_metadata(sandbox.path("out.csv")).expect("there").is_symlink()
    );
    let report = fed(&sandbox, &["inspect", "-"], &encrypted);
    assert!(text(&report.stdout).contains(&format!("\"rows\":{ROWS}")), "{}", text(&report.stdout));
    let report = fed(&sandbox, &[&decrypt[..], &["--json"]].concat(), &mean);
    let message = text(&report.stderr);
    let report: serde_json::Value = serde_json::from_str(message.lines().last().unwrap_or_default()).expect("JSON");
    assert_eq!((&report["path"], &report["rows"]), (&"-".into(), &1.into()));
}

#[test]
fn what_no_pipe_can_carry_is_refused() {
    let sandbox = Sandbox::with_keys("no-pipes", "mean");
    let encrypt = ["encrypt", "--key", "keys/public.key"];
    for (arguments, needed) in [
        (&[&encrypt[..], &["-", "-o", "out.ct"]].concat()[..], &["--format"][..]),
        (&["decrypt", "--key", "keys/secret.key", "table.ct", "-o", "-"], &["--format"]),
        (&["encrypt", "--key", "-", "table.csv", "-o", "out.ct"], &["standard input", "a file"]),
        (&["expand", "keys/public.key", "-o", "-"], &["keys/public.key"]),
        (&["expand", "keys/eval.keys", "-o", "-"], &["standard output", "a file"]),
        (&["prepare", "--function", "max", "--domain", "16", "-o", "-"], &["standard output", "a file"]),
        (&["keygen", "--out", "-", "--tfhe", "TOY_BOOL"], &["--out", "secret keys"]),
        (&["signing-key", "--out", "-"], &["--out", "secret keys"]),
        (&["eval", "mean", "--keys", "keys/eval.keys", "-", "-o", "out.ct"], &["not a file of noren"]),
    ] {
        sandbox.refused(arguments, needed);
    }
    let output = fed(&sandbox, &["decrypt", "--key", "keys/secret.key", "-", "-o", "-", "--format", "csv"], b"hello");
    assert!(output.status.code() == Some(1) && output.stdout.is_empty(), "{}", text(&output.stderr));
}

#[test]
fn outputs_that_are_no_regular_files_are_never_replaced() {
    let sandbox = Sandbox::with_keys("outputs", "mean");
    assert!(Command::new("mkfifo").arg(sandbox.path("fifo")).status().expect("mkfifo is there").success());
    symlink("fifo", sandbox.path("link")).expect("writable");
    symlink("link", sandbox.path("out")).expect("writable");
    symlink("/dev/null", sandbox.path("null")).expect("writable");
    let is_fifo = || fs::metadata(sandbox.path("out")).expect("there").file_type().is_fifo();
    for name in ["fifo", "link", "out", "null"] {
        for more in [&[][..], &["--force"]] {
            let encrypt = ["encrypt", "--key", "keys/public.key", "table.csv", "-o", name];
            let output = fed(&sandbox, &[&encrypt[..], more].concat(), b"");
            let message = text(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{name}: {message}");
            let needed = if more.is_empty() { "exists" } else { "not a regular file" };
            assert!(message.contains(needed), "{name}: {message}");
        }
        assert!(is_fifo() && fs::symlink_metadata(sandbox.path("link")).expect("there").is_symlink(), "{name}");
    }
    // A set of files neither.
    fs::create_dir(sandbox.path("new")).expect("writable");
    symlink("../out", sandbox.path("new/secret.key")).expect("writable");
    let keygen = ["keygen", "--out", "new", "--tfhe", "TOY_BOOL", "--force"];
    let output = fed(&sandbox, &keygen, b"");
    assert!(text(&output.stderr).contains("new/secret.key: not a regular file"), "{}", text(&output.stderr));
    assert!(is_fifo() && fs::symlink_metadata(sandbox.path("new/secret.key")).expect("there").is_symlink());
    // A link to a link of a regular file stays, and the file is replaced.
    sandbox.write("old.ct", b"");
    symlink("old.ct", sandbox.path("first")).expect("writable");
    symlink("first", sandbox.path("second")).expect("writable");
    sandbox.done(&["encrypt", "--key", "keys/public.key", "table.csv", "-o", "second", "--force"]);
    assert!(fs::symlink_metadata(sandbox.path("second")).expect("there").is_symlink());
    assert!(!sandbox.read("old.ct").is_empty());
}
