//! A client with the memory of a small device and no vector instructions: keys, encryption and decryption by the tool.

use std::fmt::Write;

use crate::sandbox::{Sandbox, tool};

/// The memory of a Raspberry Pi Zero 2 W, in KiB.
#[cfg(target_os = "linux")]
const KIBIBYTES: u64 = 512 << 10;

/// Runs the tool on one thread with portable kernels, in an address space of the memory of the device.
#[cfg(target_os = "linux")]
fn limited(sandbox: &Sandbox, arguments: &str) {
    let script = format!("ulimit -v {KIBIBYTES}; exec \"$0\" \"$@\"");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script]).arg(tool()).args(arguments.split(' '));
    command.args(["--threads", "1"]).env("NOREN_ISA", "portable").current_dir(sandbox.path("."));
    let output = command.output().expect("a shell");
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
#[cfg(target_os = "linux")]
fn a_client_s_work_fits_the_memory_of_a_small_device() {
    let sandbox = Sandbox::new("weak-device");
    let mut table = "a,b\n".to_owned();
    for row in 0..100 {
        writeln!(table, "{},{}", row % 7, row % 5).expect("a string takes all");
    }
    sandbox.write("table.csv", table.as_bytes());
    // Parameters of 128-bit security, which the tool chooses.
    limited(&sandbox, "keygen --out keys --program variance --rows 100 --columns a,b");
    limited(&sandbox, "encrypt --key keys/secret.key table.csv -o table.ct");
    sandbox.done(&["eval", "variance", "--keys", "keys/eval.keys", "table.ct", "-o", "result.ct"]);
    limited(&sandbox, "decrypt --key keys/secret.key result.ct -o result.csv");
    let found = &sandbox.numbers("result.csv", 1)[0];
    let variance = |modulus: u32| {
        let values: Vec<f64> = (0..100).map(|row| f64::from(row % modulus)).collect();
        let mean = values.iter().sum::<f64>() / 100.0;
        values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 99.0
    };
    // The tool states a bound of 2^-18.7.
    for (found, modulus) in found.iter().zip([7, 5]) {
        assert!((found - variance(modulus)).abs() < f64::exp2(-18.7), "{found}, {} in clear", variance(modulus));
    }
}
