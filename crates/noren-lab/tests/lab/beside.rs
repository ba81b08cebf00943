//! Other libraries in the same run.

use crate::program::Lab;

#[cfg(unix)]
#[test]
fn programs_beside_are_shown_or_named_and_left_out() {
    use std::os::unix::fs::PermissionsExt;

    let lab = Lab::new("beside");
    let line = lab.records(&["kernels", "--log-n", "6"])[0].to_string().replace("noren", "other");
    let script = |name: &str, body: &str| {
        std::fs::write(lab.path(name), format!("#!/bin/sh\n{body}\n")).expect("written");
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(lab.path(name), executable).expect("a file of ours");
    };
    script("good", &format!("echo \"$*\" >> arguments\necho '{line}'"));
    script("garbage", "echo a hundred times faster");
    script("broken", "echo no memory >&2; exit 3");
    let beside = ["--beside", "./good", "--beside", "./garbage", "--beside", "./broken", "--beside", "./missing"];
    let call = [&["bench", "kernels", "--log-n", "6,7", "--seconds", "0", "--json"], &beside[..]].concat();
    let output = lab.run(&call);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{err}");
    assert_eq!(out.lines().filter(|line| line.contains("\"other\"")).count(), 2, "{out}");
    let arguments = std::fs::read_to_string(lab.path("arguments")).expect("text");
    assert!(arguments.contains("--suite kernels --log-n 7 --threads 1 --seconds 0"));
    for (name, reason) in [("./garbage", "no record"), ("./broken", "no memory"), ("./missing", "left out")] {
        let named: Vec<&str> = err.lines().filter(|line| line.contains(name)).collect();
        assert!(named.len() == 1 && named[0].contains(reason), "{err}");
    }
}
