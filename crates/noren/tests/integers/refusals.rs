//! What callers can get wrong, and what they are told.

use noren::bfv::Bfv;
use noren::bgv::{Bgv, Context, Decryptor, Encoder, Encryptor, KeyRequest};
use noren::error::Error;
use noren::schemes::integers::Scheme;

use crate::small::{Setup, seed, spec};

fn exhausted<S: Scheme>() {
    let setup = Setup::new(spec(2), &KeyRequest { relinearization: true, ..KeyRequest::default() });
    let ev = setup.evaluator::<S>();
    let mut a = setup.encrypt::<S>(&setup.values(1), 2);
    assert!(matches!(ev.square(&ev.square(&a).unwrap()), Err(Error::NoiseExhausted { .. })));
    // Sums are not refused, but what may be wrong is not decrypted.
    while a.noise_budget() >= 0.0 {
        a = ev.add(&a, &a).unwrap();
    }
    assert!(matches!(setup.decryptor().decrypt(&a), Err(Error::NoiseExhausted { what: "decryption", .. })));
    assert_eq!(a.level(), 0);
}

#[test]
fn exhausted_noise_is_an_error_and_no_garbage() {
    exhausted::<Bgv>();
    exhausted::<Bfv>();
}

#[test]
fn missing_keys_and_foreign_things_are_refused() {
    let setup = Setup::new(spec(2), &KeyRequest { rotations: vec![1], ..KeyRequest::default() });
    let ev = setup.evaluator::<Bgv>();
    let a = setup.encrypt::<Bgv>(&setup.values(1), 2);
    assert!(matches!(ev.square(&a), Err(Error::MissingKey { .. })));
    assert!(matches!(ev.rotate(&a, 2), Err(Error::MissingKey { .. })));
    match ev.rotate_many(&a, &[1, 2, 3]) {
        Err(Error::MissingKey { kind, .. }) => assert!(kind.contains("by 2") && kind.contains("by 3"), "{kind}"),
        other => panic!("{:?} was not expected", other.err()),
    }
    let lazy = ev.mul_no_relinearize(&a, &a).unwrap();
    assert!(matches!(ev.rotate(&lazy, 1), Err(Error::DegreeTooHigh { found: 2, .. })));
    assert!(matches!(ev.mul(&lazy, &a), Err(Error::DegreeTooHigh { found: 2, .. })));
    assert!(matches!(ev.mod_switch(&a, 0), Err(Error::Parameters { name: "limbs", .. })));
    assert!(matches!(ev.mod_switch(&a, 3), Err(Error::Parameters { name: "limbs", .. })));
    assert!(matches!(ev.at_level(&a, 9), Err(Error::LevelExhausted { needed: 9, .. })));

    // Another plaintext modulus is another meaning of the same polynomials.
    let mut other = spec(2);
    other.plaintext_modulus = 12289;
    let other = Context::new(other.build().unwrap()).unwrap();
    let plaintext = Encoder::new(&other).encode(&[1]).unwrap();
    assert!(matches!(ev.add_plain(&a, &plaintext), Err(Error::ParameterMismatch { .. })));
    let encryptor: Encryptor = Encryptor::public(&other, &setup.keys.public, seed(3)).unwrap();
    let b = encryptor.encrypt(&plaintext).unwrap();
    assert!(matches!(ev.add(&a, &b), Err(Error::ParameterMismatch { .. })));
    let decryptor = Decryptor::new(&other, &setup.keys.secret).unwrap();
    assert!(matches!(decryptor.decrypt(&a), Err(Error::ParameterMismatch { .. })));
}
