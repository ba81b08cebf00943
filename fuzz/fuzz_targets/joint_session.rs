//! Bytes as a session of joint keys, and as a message and a request in one.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::owners::{Request, Session, Transcript};
use noren_fuzz::joint_session;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(session) = Session::from_bytes(bytes) {
        let again = Session::from_bytes(&session.to_bytes()).expect("what was written is read");
        assert_eq!(again.digest(), session.digest());
    }
    let mut transcript = Transcript::new(joint_session());
    if transcript.add(bytes).is_ok() {
        transcript.add(bytes).expect("what is known changes nothing");
        assert!(transcript.keys().is_err());
    }
    if let Ok(request) = Request::from_bytes(joint_session(), bytes) {
        let again = Request::from_bytes(joint_session(), &request.to_bytes(joint_session()));
        assert_eq!(again.expect("what was written is read").digest(joint_session()), request.digest(joint_session()));
    }
});
