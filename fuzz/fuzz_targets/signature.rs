//! Bytes as a signature, as the public key of a signer, and as a signing key in clear.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use noren_files::signature::{Hash, Requirements, Signature};
use noren_files::signer::Signer;
use noren_files::signing_key::SigningKey;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(signature) = Signature::from_text(text) {
        let back = Signature::from_text(&signature.to_text()).expect("what is written is read");
        assert_eq!(back.comment(), signature.comment());
        let signer = SigningKey::generate().expect("randomness").signer();
        let required = Requirements { any_name: true, ..Requirements::default() };
        assert!(signature.verify(&Hash::of(b""), None, Path::new("file"), &signer, &required).is_err());
    }
    if let Ok(signer) = Signer::from_text(text) {
        assert_eq!(Signer::from_text(&signer.to_text()).as_ref(), Ok(&signer));
    }
    if let Ok(key) = SigningKey::from_text(text, None) {
        let back = key.to_text(None).map(|text| SigningKey::from_text(&text, None));
        assert_eq!(back.expect("no randomness is needed").map(|key| key.signer()), Ok(key.signer()));
    }
});
