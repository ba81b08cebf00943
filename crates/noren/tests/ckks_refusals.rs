//! Every mistake of a caller is an error that names what was found.

mod world;

use noren::error::cause;
use noren::schemes::error::SlotError;
use std::sync::Arc;

use noren::ckks::{
    Ciphertext, CkksError, Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, ParametersSpec, Releases,
};
use noren::schemes::slots::GiantStep;
use noren::wire::{Form, Object};
use noren::{Complex64, Error, KeyId, Result};
use world::{World, real, seed, toy, uniform};

fn refusal(result: Result<Ciphertext>) -> Error {
    match result {
        Err(error) => error,
        Ok(_) => panic!("it was not refused"),
    }
}

#[test]
fn products_at_level_zero_are_refused() {
    let world = World::new(toy(), 1, &[]);
    let ev = &world.evaluator;
    let x = world.encrypt(&real(&uniform(1, 512)), 2).ciphertext;
    let low = ev.at_level(&x, 0).expect("lower");
    let plain = world.encode(&real(&uniform(2, 512)), 0).plaintext;
    for result in [
        ev.mul(&low, &x),
        ev.mul(&x, &low),
        ev.square(&low),
        ev.mul_plain(&low, &plain),
        ev.mul_const(&low, Complex64::from(2.0)),
        ev.weighted_sum(&[(&x, 1.0), (&low, 1.0)], 0.0),
        ev.dot(&[(&x, &x), (&x, &low)]),
        ev.dot_plain(&[(&low, &plain)]),
        ev.rescale(&low),
    ] {
        let error = refusal(result);
        assert!(matches!(error, Error::LevelExhausted { needed: 1, left: 0 }), "{error}");
        assert!(error.to_string().contains("bootstrap"), "{error}");
    }
    assert!(matches!(refusal(ev.at_level(&low, 3)), Error::LevelExhausted { needed: 3, left: 0 }));
    assert!(matches!(refusal(ev.drop_level(&low, 1)), Error::LevelExhausted { needed: 1, left: 0 }));
}

#[test]
fn empty_sums_are_refused() {
    let world = World::new(toy(), 3, &[]);
    let ev = &world.evaluator;
    for result in [ev.weighted_sum(&[], 1.0), ev.dot(&[]), ev.dot_plain(&[])] {
        assert!(matches!(refusal(result), Error::Length { found: 0, .. }));
    }
}

#[test]
fn unequal_slots_are_refused() {
    let world = World::new(toy(), 4, &[]);
    let ev = &world.evaluator;
    let x = world.encrypt(&real(&uniform(1, 512)), 5).ciphertext;
    let few = world.encrypt(&real(&uniform(1, 64)), 6).ciphertext;
    let plain = world.encode(&real(&uniform(2, 64)), 4).plaintext;
    for result in [
        ev.add(&x, &few),
        ev.sub(&x, &few),
        ev.mul(&x, &few),
        ev.mul_no_rescale(&x, &few),
        ev.weighted_sum(&[(&x, 1.0), (&few, 1.0)], 0.0),
        ev.dot(&[(&x, &few)]),
        ev.dot(&[(&x, &x), (&few, &few)]),
        ev.add_plain(&x, &plain),
        ev.mul_plain(&x, &plain),
        ev.align(&x, &few).map(|(x, _)| x),
    ] {
        let error = refusal(result);
        assert!(matches!(error, Error::Length { what: "slots of the second operand", found: 64, .. }), "{error}");
    }
}

#[test]
fn plaintexts_of_another_level_are_refused() {
    let world = World::new(toy(), 7, &[]);
    let ev = &world.evaluator;
    let x = world.encrypt(&real(&uniform(1, 512)), 8).ciphertext;
    let plain = world.encode(&real(&uniform(2, 512)), 2).plaintext;
    let both = [(&x, &plain)];
    for result in
        [ev.add_plain(&x, &plain), ev.mul_plain(&x, &plain), ev.mul_plain_no_rescale(&x, &plain), ev.dot_plain(&both)]
    {
        assert!(matches!(refusal(result), Error::LevelMismatch { left: 4, right: 2 }));
    }
}

#[test]
fn constants_that_are_not_numbers_or_too_large_are_refused() {
    let world = World::new(toy(), 9, &[]);
    let ev = &world.evaluator;
    let x = ev.at_level(&world.encrypt(&real(&uniform(1, 512)), 10).ciphertext, 1).expect("lower");
    for bad in [f64::NAN, f64::INFINITY] {
        for result in [
            ev.add_const(&x, Complex64::new(0.0, bad)),
            ev.mul_const(&x, Complex64::from(bad)),
            ev.weighted_sum(&[(&x, bad)], 0.0),
            ev.weighted_sum(&[(&x, 1.0)], bad),
        ] {
            let error = refusal(result);
            let Some(SlotError::NotFinite { value, .. }) = error.downcast_ref() else { panic!("{error}") };
            assert_eq!(value.to_bits(), bad.to_bits());
        }
    }
    // 90 bits at scale 2^40 hold numbers below 2^49.
    let large = 2f64.powi(50);
    for result in [
        ev.add_const(&x, Complex64::from(large)),
        ev.mul_const(&x, Complex64::from(large)),
        ev.weighted_sum(&[(&x, 1.0)], large),
    ] {
        let error = refusal(result);
        let Some(CkksError::Overflow { value, limit, .. }) = error.downcast_ref() else { panic!("{error}") };
        assert!(*value == large && *limit < large, "{error}");
    }
}

#[test]
fn missing_and_short_keys_are_named() {
    let context = Context::new(toy().build().expect("parameters")).expect("context");
    let request = KeyRequest { rotations: vec![1], rotations_at: vec![(2, 1)], ..KeyRequest::default() };
    let keys = context.generate_keys(seed(11), &request).expect("keys");
    let world = World::new(toy(), 11, &[]);
    let x = world.encrypt(&real(&uniform(1, 512)), 12).ciphertext;
    let ev = Evaluator::new(&context, keys.evaluation.clone()).expect("evaluator");
    for result in [ev.mul(&x, &x), ev.square(&x), ev.mul_no_rescale(&x, &x), ev.dot(&[(&x, &x)])] {
        assert!(matches!(refusal(result), Error::MissingKey { kind, .. } if kind.contains("relinearisation")));
    }
    for result in
        [ev.rotate(&x, 3), ev.sum_rotations(&x, &[1, 3]), ev.rotate_many(&x, &[1, 3]).map(|mut all| all.remove(0))]
    {
        assert!(matches!(refusal(result), Error::MissingKey { kind, .. } if kind.contains('3')));
    }
    assert!(matches!(refusal(ev.conjugate(&x)), Error::MissingKey { kind, .. } if kind.contains("conjugation")));
    assert!(matches!(refusal(ev.rotate(&x, 2)), Error::KeyLevel { found: 2, needed: 5, .. }));
    assert!(ev.rotate(&ev.at_level(&x, 1).expect("lower"), 2).is_ok());
    assert!(ev.rotate(&x, 0).is_ok() && ev.rotate(&x, 512).is_ok(), "what changes nothing needs no key");
    let above = KeyRequest { level: Some(5), ..KeyRequest::default() };
    assert!(matches!(context.generate_keys(seed(1), &above), Err(Error::LevelExhausted { needed: 5, left: 4 })));
}

#[test]
fn other_parameters_are_refused_everywhere() {
    let world = World::new(toy(), 13, &[]);
    // The same ring and keys, another chain of scales.
    let other = World::new(ParametersSpec { log_scale: 39, ..toy() }, 13, &[]);
    let x = world.encrypt(&real(&uniform(1, 512)), 14).ciphertext;
    let y = other.encrypt(&real(&uniform(1, 512)), 14).ciphertext;
    let plain = other.encode(&real(&uniform(2, 512)), 4).plaintext;
    let ev = &world.evaluator;
    for result in [
        ev.add(&x, &y),
        ev.mul(&y, &x),
        ev.neg(&y),
        ev.rotate(&y, 0),
        ev.conjugate(&y),
        ev.at_level(&y, 1),
        ev.rescale(&y),
        ev.mul_i(&y),
        ev.add_plain(&x, &plain),
        ev.mul_plain(&x, &plain),
    ] {
        let error = refusal(result);
        assert!(matches!(&error, Error::ParameterMismatch { left, right, .. } if left != right), "{error}");
    }
    let decryptor = Decryptor::new(&world.context, &world.keys.secret).expect("decryptor");
    assert!(matches!(decryptor.decrypt_real(&y), Err(Error::ParameterMismatch { .. })));
    assert!(matches!(world.encoder.decode_real(&plain), Err(Error::ParameterMismatch { .. })));
    let encryptor = Encryptor::public(&world.context, &world.keys.public, seed(15)).expect("encryptor");
    assert!(matches!(encryptor.encrypt(&plain), Err(Error::ParameterMismatch { .. })));

    let larger = World::new(ParametersSpec { log_n: 11, ..toy() }, 16, &[]);
    let keys = Arc::clone(&larger.keys.evaluation);
    assert!(matches!(Evaluator::new(&world.context, keys), Err(Error::ParameterMismatch { .. })));
    assert!(matches!(Decryptor::new(&world.context, &larger.keys.secret), Err(Error::ParameterMismatch { .. })));
    let refused = Encryptor::symmetric(&world.context, &larger.keys.secret, seed(17));
    assert!(matches!(refused, Err(Error::ParameterMismatch { .. })));
}

#[test]
fn magnitudes_are_public_but_say_little() {
    let world = World::new(toy(), 18, &[]);
    let encryptor = Encryptor::public(&world.context, &world.keys.public, seed(19)).expect("encryptor");
    for (largest, magnitude) in [(0.0, 1.0), (0.3, 1.0), (1.0, 1.0), (1.1, 1.125), (100.0, 104.0)] {
        let plain = world.encode(&real(&[largest, 0.0]), 4).plaintext;
        assert_eq!(encryptor.encrypt(&plain).expect("encrypt").magnitude(), magnitude);
        assert_eq!(encryptor.encrypt_within(&plain, 100.0).expect("encrypt").magnitude(), 100.0);
        let refused = encryptor.encrypt_within(&plain, largest - 0.1);
        assert!(matches!(refused, Err(Error::Parameters { name: "magnitude", .. })));
    }
    // Everything that is public about two messages of one size is the same.
    let estimate = |values: &[f64]| {
        let encryptor = Encryptor::public(&world.context, &world.keys.public, seed(20)).expect("encryptor");
        encryptor.encrypt(&world.encode(&real(values), 4).plaintext).expect("encrypt").estimate().clone()
    };
    assert_eq!(estimate(&[0.1, 0.2]), estimate(&[-0.9, 1.0]));
}

#[test]
fn ciphertexts_of_another_secret_are_refused_by_every_operation() {
    let (world, other) = (World::new(toy(), 30, &[1, 2]), World::new(toy(), 31, &[1, 2]));
    let (x, y) = (world.encrypt(&real(&uniform(1, 512)), 32).ciphertext, other.encrypt(&real(&uniform(1, 512)), 32));
    let (y, level) = (y.ciphertext, world.max_level());
    let plain = world.encode(&real(&uniform(2, 512)), level).plaintext;
    let factor = world
        .encoder
        .encode_factor(&[1.0; 512], 512, level, world.context.parameters().scale_at(level))
        .expect("encode");
    let (ev, one) = (&world.evaluator, Complex64::ONE);
    let target = world.context.parameters().scale_at(level - 1);
    let giants = [GiantStep { rotation: 0, terms: vec![(0, &factor)] }];
    let both = |(a, _): (Ciphertext, Ciphertext)| a;
    let first = |mut all: Vec<Ciphertext>| all.remove(0);
    let refused = [
        ev.add(&x, &y),
        ev.add(&y, &x),
        ev.sub(&x, &y),
        ev.neg(&y),
        ev.add_plain(&y, &plain),
        ev.sub_plain(&y, &plain),
        ev.add_const(&y, one),
        ev.mul_const(&y, one),
        ev.mul_integer(&y, 2),
        ev.mul_i(&y),
        ev.weighted_sum(&[(&x, 1.0), (&y, 1.0)], 0.0),
        ev.mul(&x, &y),
        ev.mul(&y, &y),
        ev.square(&y),
        ev.mul_no_rescale(&y, &x),
        ev.mul_plain(&y, &plain),
        ev.mul_plain_no_rescale(&y, &plain),
        ev.dot(&[(&x, &x), (&x, &y)]),
        ev.dot_plain(&[(&x, &plain), (&y, &plain)]),
        ev.rescale(&y),
        ev.at_level(&y, 1),
        ev.at_level(&y, level),
        ev.align(&x, &y).map(both),
        ev.drop_level(&y, 1),
        ev.reinterpret(y.clone(), target),
        ev.combine(&[(&x, one), (&y, one)], Complex64::ZERO, level - 1, target),
        ev.dot_combine(&[(&x, &y)], &[], Complex64::ZERO, level - 1, target),
        ev.dot_combine(&[(&x, &x)], &[(&y, one)], Complex64::ZERO, level - 1, target),
        ev.rotate(&y, 1),
        ev.rotate(&y, 0),
        ev.rotate_many(&y, &[1, 2]).map(first),
        ev.conjugate(&y),
        ev.sum_rotations(&y, &[1, 2]),
        ev.sum_rotations_in_turn(&y, &[&[1], &[2]]),
        ev.check_rotations(&y, &[1]).map(|()| y.clone()),
        ev.sum_giant_steps(&y, &[0], &giants),
    ];
    for (i, result) in refused.into_iter().enumerate() {
        let error = refusal(result);
        assert!(matches!(error, Error::KeyMismatch { what: "the ciphertext", .. }), "{i}: {error}");
    }
    // Without keys an evaluator still knows whose it is.
    let bare = world.context.generate_keys(seed(30), &KeyRequest::default()).expect("keys").evaluation;
    let bare = Evaluator::new(&world.context, bare).expect("evaluator");
    assert!(bare.add(&x, &x).is_ok());
    assert!(matches!(refusal(bare.add(&y, &y)), Error::KeyMismatch { .. }));
}

#[test]
fn no_pair_of_secrets_decrypts_for_each_other() {
    const SECRETS: u64 = 8;
    let spec = || ParametersSpec { log_n: 6, log_q: vec![45, 35], log_p: vec![], log_scale: 35, ..toy() };
    let context = Context::new(spec().build().expect("parameters")).expect("context");
    let keys = |i| context.generate_keys(seed(i), &KeyRequest::default()).expect("keys");
    let worlds: Vec<_> = (0..SECRETS).map(keys).collect();
    let plaintext = noren::ckks::Encoder::new(&context).encode(&[0.5], 32, 1).expect("encode");
    for (i, keys) in worlds.iter().enumerate() {
        let encryptor = Encryptor::public(&context, &keys.public, seed(50)).expect("encryptor");
        let ciphertext = encryptor.encrypt(&plaintext).expect("encrypt");
        for (j, other) in worlds.iter().enumerate() {
            let decryptor = Decryptor::new(&context, &other.secret).expect("decryptor");
            let results = [
                decryptor.decrypt(&ciphertext).map(drop),
                decryptor.decrypt_real(&ciphertext).map(drop),
                decryptor.decrypt_complex(&ciphertext).map(drop),
                decryptor.decrypt_for_release(&ciphertext, -30, &mut Releases::new(1).expect("one")).map(drop),
            ];
            for result in results {
                let mismatch = matches!(result, Err(Error::KeyMismatch { .. }));
                assert!(if i == j { result.is_ok() } else { mismatch }, "{i}, {j}: {result:?}");
            }
        }
    }
}

/// The ciphertext as a forger writes it: under the name of another secret key, with a digest that fits.
fn relabelled(context: &Context, x: &Ciphertext, key: KeyId) -> Ciphertext {
    let mut bytes = x.to_bytes(context, Form::Raw);
    let own = x.key_id().0;
    let at = bytes.windows(own.len()).position(|window| window == own).expect("a file names its key");
    bytes[at..at + own.len()].copy_from_slice(&key.0);
    let digest = blake3::Hasher::new().update(&bytes[..64]).update(&bytes[96..]).finalize();
    bytes[64..96].copy_from_slice(digest.as_bytes());
    Ciphertext::from_bytes(context, &bytes).expect("a ciphertext like any other")
}

/// An attack: 60 pairs of secret keys, and a name that lies.
#[test]
fn ciphertexts_under_the_name_of_another_key_are_told_by_their_numbers() {
    let context = Context::new(toy().build().expect("a toy set")).expect("rings");
    let secret = |index: u64| {
        let request = KeyRequest { relinearization: false, ..KeyRequest::default() };
        context.generate_keys(seed(index), &request).expect("keys").secret
    };
    let encoder = Encoder::new(&context);
    for pair in 0..60 {
        let [own, other] = [secret(2 * pair), secret(2 * pair + 1)];
        let slots = [1, 8, 512][pair as usize % 3];
        let values = uniform(1, slots);
        let level = pair as usize % (context.parameters().max_level() + 1);
        let x = encoder.encode(&values, slots, level).expect("in range");
        let x = Encryptor::symmetric(&context, &own, seed(pair)).and_then(|e| e.encrypt(&x)).expect("a ciphertext");
        let forged = relabelled(&context, &x, other.owner().key);
        let decryptor = Decryptor::new(&context, &other).expect("its parameters");
        let one = &mut Releases::new(1).expect("one");
        let refused = [
            decryptor.decrypt_real(&forged).map(drop),
            decryptor.decrypt_complex(&forged).map(drop),
            decryptor.decrypt_for_release(&forged, 0, one).map(drop),
        ];
        for refused in refused {
            assert!(matches!(cause(&refused), Some(CkksError::NotAsStated { .. })), "pair {pair}: {refused:?}");
        }
        assert!(decryptor.allow_unbounded().decrypt_real(&forged).is_ok(), "who asks for any numbers gets them");
        assert!(Decryptor::new(&context, &own).and_then(|own| own.decrypt_real(&x)).is_ok());
    }
}

#[test]
fn false_statements_are_told_by_the_numbers() {
    let world = World::new(toy(), 1, &[]);
    let x = world.encrypt(&real(&uniform(1, 512)), 2).ciphertext;
    let decryptor = Decryptor::new(&world.context, &world.keys.secret).expect("its own keys");
    let decrypt = |x: &Ciphertext| decryptor.decrypt_real(x).map(drop);
    assert!(decrypt(&x).is_ok());
    for refused in [decrypt(&x.clone().with_magnitude(0.5)), decrypt(&x.clone().with_range(0.0, 1.0))] {
        let error = refused.expect_err("false");
        assert!(matches!(error.downcast_ref(), Some(CkksError::NotAsStated { .. })), "{error}");
        assert!(error.to_string().contains("real numbers in") && error.to_string().contains("with_range"), "{error}");
    }
}
