//! Memory that cannot be had is an error with the number of bytes, and everything works afterwards.

use std::env;
use std::process::Command;

use noren::ckks::{self, KeyRequest};
use noren::tfhe::{self, Preset};
use noren::{Error, Security, Seed};

/// Runs a test of this program that is ignored otherwise, with an address space of `mebibytes` MiB; the bytes that it was refused.
fn refused(test: &str, mebibytes: usize) -> Vec<u64> {
    let program = env::current_exe().expect("a program");
    let call =
        format!("ulimit -v {}; exec \"$0\" {test} --exact --ignored --nocapture --test-threads=1", mebibytes << 10);
    let output = Command::new("sh").arg("-c").arg(call).arg(program).output().expect("a shell");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text.lines().filter_map(|line| line.split_once("refused ")?.1.parse().ok()).collect()
}

#[test]
#[cfg(target_os = "linux")]
fn memory_for_keys_that_cannot_be_had_is_an_error() {
    for mebibytes in [120, 200, 300, 450] {
        let bytes = refused("evaluation_keys_of_gigabytes", mebibytes);
        assert!(bytes.len() == 1 && bytes[0] >= 1 << 20, "{bytes:?}");
    }
    let bytes = refused("keys_of_tfhe", 100);
    assert!(!bytes.is_empty() && bytes.iter().all(|&bytes| bytes >= 1 << 20), "{bytes:?}");
}

/// Prints the bytes that an error names.
fn report<T>(result: Result<T, Error>) {
    match result {
        Err(Error::Memory(missing)) => println!("refused {}", missing.bytes),
        Err(error) => panic!("{error}"),
        Ok(_) => {}
    }
}

#[test]
#[ignore = "run with little memory by the test above"]
fn evaluation_keys_of_gigabytes() {
    let spec = |log_n, limbs: usize| ckks::ParametersSpec {
        log_n,
        log_q: [vec![50], vec![40; limbs - 1]].concat(),
        log_p: vec![50; 2],
        log_scale: 40,
        security: Security::None,
        ..ckks::ParametersSpec::default()
    };
    let request = KeyRequest { relinearization: true, rotations: (1..200).collect(), ..KeyRequest::default() };
    let context = ckks::Context::with_threads(spec(14, 10).build().expect("supported"), Some(1)).expect("rings");
    report(context.generate_keys(Seed::from_bytes([1; 32]), &request));
    // The same context, and another one.
    context.generate_keys(Seed::from_bytes([1; 32]), &KeyRequest::default()).expect("small keys");
    let small = ckks::Context::with_threads(spec(11, 2).build().expect("supported"), Some(1)).expect("rings");
    small.generate_keys(Seed::from_bytes([1; 32]), &KeyRequest::default()).expect("small keys");
}

#[test]
#[ignore = "run with little memory by the test above"]
fn keys_of_tfhe() {
    let spec = Preset::named("2_2").expect("a set").spec.clone();
    let context = tfhe::Context::with_threads(spec.build().expect("supported"), Some(1)).expect("tables");
    let seed = Seed::from_bytes([1; 32]);
    report(context.generate_keys(seed.clone()).map(drop));
    let secret = context.secret_key(&seed);
    report(context.compact_keys(&seed, &secret).and_then(|keys| context.expand(&keys)));
    let encryptor = tfhe::Encryptor::new(&context, &secret, Seed::from_bytes([2; 32])).expect("its own key");
    let decryptor = tfhe::Decryptor::new(&context, &secret).expect("its own key");
    assert_eq!(decryptor.decrypt(&encryptor.encrypt(3).expect("in range")).expect("its own key"), 3);
}
