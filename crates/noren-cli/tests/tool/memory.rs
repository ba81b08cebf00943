//! The tool with little memory: what it is asked for is done, or refused with a message, and never ends by a signal.

use std::fmt::Write;
use std::process::Output;

use noren_math::kernels::is_fastest;

use crate::sandbox::{Sandbox, tool};

/// The room beside what the tool takes to start, in KiB.
const ROOMS: [u64; 5] = [1 << 10, 6 << 10, 12 << 10, 20 << 10, 40 << 10];

/// Rows of the table.
const ROWS: usize = 15_000;

/// Calls, each with the file that it writes.
const CALLS: [(&str, &str); 10] = [
    ("keygen --out new --program mean --params real.params --rows 15000 --columns a,b,c,d", "new/secret.key"),
    ("keygen --out new --tfhe TOY_2_2", "new/secret.key"),
    ("encrypt --key real/public.key table.csv -o out.ct", "out.ct"),
    ("encrypt --key whole/public.key table.csv -o out.ct", "out.ct"),
    ("encrypt --key bits/secret.key --type uint8 few.csv -o out.ct", "out.ct"),
    ("eval mean --keys real/eval.keys real.ct -o out.ct", "out.ct"),
    ("eval less --keys bits/server.keys bits.ct -o out.ct", "out.ct"),
    ("decrypt --key real/secret.key real.ct -o out.csv", "out.csv"),
    ("decrypt --key whole/secret.key whole.ct -o out.npy", "out.npy"),
    ("decrypt --key bits/secret.key bits.ct -o out.csv --json", "out.csv"),
];

/// Runs the tool on one thread, with a limit on its address space.
fn within(sandbox: &Sandbox, kibibytes: u64, arguments: &str) -> Output {
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &format!("ulimit -v {kibibytes}; exec \"$0\" \"$@\"")]).arg(tool());
    command.args(arguments.split(' ')).args(["--threads", "1", "--min-security", "none"]);
    command.current_dir(sandbox.path(".")).output().expect("a shell")
}

#[test]
#[cfg(target_os = "linux")]
fn verbs_with_little_memory_are_done_or_refused() {
    // Kernels take no memory of their own: once is enough.
    if !is_fastest() {
        return;
    }
    let sandbox = Sandbox::new("memory");
    let mut table = "a,b,c,d\n".to_owned();
    for row in 0..ROWS {
        writeln!(table, "{},{},{},{}", row % 7, row % 5, row % 3, row % 11).expect("a string takes all");
    }
    sandbox.write("table.csv", table.as_bytes());
    sandbox.write("few.csv", b"a,b\n3,1\n2,2\n7,9\n");
    sandbox.parameters("real.params", 12);
    sandbox.integers("whole.params", 12, 65537, 3);
    let call = |call: &str| sandbox.done(&call.split(' ').collect::<Vec<_>>());
    call("keygen --out real --program mean --params real.params --rows 15000 --columns a,b,c,d");
    call("keygen --out whole --integers whole.params");
    call("keygen --out bits --tfhe TOY_2_2");
    call("encrypt --key real/public.key table.csv -o real.ct");
    call("encrypt --key whole/public.key table.csv -o whole.ct");
    call("encrypt --key bits/secret.key --type uint8 few.csv -o bits.ct");
    // The least memory in which the tool starts.
    let starts = |kibibytes: &u64| within(&sandbox, *kibibytes, "info --quiet").status.code() == Some(0);
    let least = (1..200).map(|times| times << 12).find(starts).expect("it starts in some memory");
    let (mut done, mut refused) = (0, 0);
    for (call, file) in CALLS {
        for room in ROOMS {
            let output = within(&sandbox, least + room, call);
            let message = String::from_utf8_lossy(&output.stderr);
            match output.status.code() {
                Some(0) => done += 1,
                Some(1) => {
                    refused += 1;
                    let last = message.lines().last().unwrap_or_default();
                    let starts = if call.ends_with("--json") { "{\"error\":\"" } else { "error: " };
                    assert!(
                        last.starts_with(starts) && last.contains("bytes of memory"),
                        "{call}, {room} KiB: {message}"
                    );
                    assert!(!sandbox.exists(file), "{call}, {room} KiB left {file}");
                }
                _ => panic!("{call}, {room} KiB: {:?}, {message}", output.status),
            }
            let written = std::path::Path::new(file);
            let directory = written.parent().filter(|parent| parent.components().next().is_some());
            let _ = match directory {
                Some(directory) => std::fs::remove_dir_all(sandbox.path(&directory.to_string_lossy())),
                None => std::fs::remove_file(sandbox.path(file)),
            };
        }
    }
    // The rooms are such that both happen.
    assert!(done >= CALLS.len() && refused >= CALLS.len(), "{done} done, {refused} refused");
}
