//! Mistakes of callers, and their errors.

use noren::bfv::Bfv;
use noren::bgv::{Bgv, Context, Decryptor, Encoder, Encryptor, KeyRequest};
use noren::error::{Error, cause};
use noren::schemes::integers::{self, IntegerError, Scheme};
use noren::schemes::slots::GiantStep;

use crate::small::{Setup, seed, spec};

fn exhausted<S: Scheme>() {
    let setup = Setup::new(spec(2), &KeyRequest { relinearization: true, ..KeyRequest::default() });
    let ev = setup.evaluator::<S>();
    let mut a = setup.encrypt::<S>(&setup.values(1), 2);
    assert!(matches!(cause(&ev.square(&ev.square(&a).unwrap())), Some(IntegerError::NoiseExhausted { .. })));
    // Sums are not refused, but what may be wrong is not decrypted.
    while a.noise_budget() >= 0.0 {
        a = ev.add(&a, &a).unwrap();
    }
    assert!(matches!(
        cause(&setup.decryptor().decrypt(&a)),
        Some(IntegerError::NoiseExhausted { what: "decryption", .. })
    ));
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

fn ciphertexts_of_another_secret<S: Scheme>() {
    let request = KeyRequest { relinearization: true, rotations: vec![1, 2], swap: true, ..KeyRequest::default() };
    let setup = Setup::new(spec(3), &request);
    let strangers = setup.context.generate_keys(seed(7), &request).unwrap();
    let (ev, plaintext) = (setup.evaluator::<S>(), setup.encode(&setup.values(1)));
    let x = setup.encrypt::<S>(&setup.values(1), 2);
    let encryptor: integers::Encryptor<S> =
        integers::Encryptor::public(&setup.context, &strangers.public, seed(3)).unwrap();
    let y = encryptor.encrypt(&plaintext).unwrap();
    let giants = [GiantStep { rotation: 0, terms: vec![(0, &plaintext)] }];
    let refused = [
        ev.add(&x, &y),
        ev.add(&y, &x),
        ev.sub(&x, &y),
        ev.neg(&y),
        ev.add_plain(&y, &plaintext),
        ev.sub_plain(&y, &plaintext),
        ev.add_scalar(&y, 1),
        ev.sub_scalar(&y, 1),
        ev.mul_scalar(&y, 2),
        ev.weighted_sum(&[(&x, 1), (&y, 1)], 0),
        ev.mul(&x, &y),
        ev.square(&y),
        ev.mul_no_relinearize(&x, &y),
        ev.relinearize(&y),
        ev.dot(&[(&x, &x), (&x, &y)]),
        ev.mul_plain(&y, &plaintext),
        ev.dot_plain(&[(&x, &plaintext), (&y, &plaintext)]),
        ev.mod_switch(&y, 2),
        ev.mod_switch_to_noise(&y),
        ev.at_level(&y, 0),
        ev.rotate(&y, 1),
        ev.rotate(&y, 0),
        ev.swap_rows(&y),
        ev.rotate_many(&y, &[1, 2]).map(|mut all| all.remove(0)),
        ev.sum_rotations(&y, &[1, 2]),
        ev.sum_rotations_in_turn(&y, &[&[1], &[2]]),
        ev.check_rotations(&y, &[1]).map(|()| y.clone()),
        ev.sum_giant_steps(&y, &[0], &giants),
    ];
    for (i, result) in refused.into_iter().enumerate() {
        assert!(matches!(result, Err(Error::KeyMismatch { .. })), "{}, {i}: {:?}", S::NAME, result.err());
    }
    assert!(matches!(setup.decryptor().decrypt(&y), Err(Error::KeyMismatch { .. })));
    assert!(matches!(setup.decryptor().measure_noise(&y), Err(Error::KeyMismatch { .. })));
    let decryptor = Decryptor::new(&setup.context, &strangers.secret).unwrap();
    assert!(decryptor.decrypt(&y).is_ok() && matches!(decryptor.decrypt(&x), Err(Error::KeyMismatch { .. })));
    assert_eq!(y.clone().convert::<Bgv>().key_id(), strangers.secret.owner().key);
}

#[test]
fn ciphertexts_of_another_secret_are_refused_by_every_operation() {
    ciphertexts_of_another_secret::<Bgv>();
    ciphertexts_of_another_secret::<Bfv>();
}
