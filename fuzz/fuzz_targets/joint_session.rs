//! Bytes as a session of joint keys, and as a message in one.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use noren::bfv::{KeyRequest, Opening, ParametersSpec};
use noren::owners::{Session, Transcript};
use noren::{Security, Seed};

static SESSION: LazyLock<Session> = LazyLock::new(|| {
    let opening = Opening { parties: 2, results: 1, distance: 64 };
    let spec = ParametersSpec {
        log_n: 5,
        plaintext_modulus: 193,
        log_q: vec![30, 30],
        log_p: vec![30],
        secret: opening.secret(),
        security: Security::None,
        ..ParametersSpec::default()
    };
    let request = KeyRequest { relinearization: true, rotations: vec![1], ..KeyRequest::default() };
    let parameters = spec.build().expect("supported");
    Session::new(&parameters, &["a", "b"], &request, opening, &Seed::from_bytes([1; 32])).expect("a session")
});

fuzz_target!(|bytes: &[u8]| {
    if let Ok(session) = Session::from_bytes(bytes) {
        let again = Session::from_bytes(&session.to_bytes()).expect("what was written is read");
        assert_eq!(again.digest(), session.digest());
    }
    let mut transcript = Transcript::new(&SESSION);
    if transcript.add(bytes).is_ok() {
        transcript.add(bytes).expect("what is known changes nothing");
        assert!(transcript.keys().is_err());
    }
});
