//! Mistakes of callers are refused, with the values that were found and needed.

use std::sync::Arc;

use noren::error::{Error, cause};
use noren::tfhe::{
    BivariateLookup, Context, Decryptor, Encoding, Encryptor, Evaluator, Gate, Lookup, ParametersSpec, Preset,
    TfheError, TorusNoise,
};
use noren::{Security, Seed};

use crate::world::{INTEGERS_1_1, INTEGERS_2_2, World, seed, small_spec};

/// A condition on a result.
type Claim = fn(noren::Result<()>) -> bool;

#[test]
fn specifications_are_refused_with_the_numbers() {
    let spec = |change: fn(&mut ParametersSpec)| {
        let mut spec = Preset::named("2_2").expect("a set").spec.clone();
        change(&mut spec);
        spec.build().map(drop)
    };
    assert!(matches!(
        spec(|spec| spec.torus.lwe_noise = TorusNoise::Gaussian(1e-6)),
        Err(Error::WeakNoise { dimension: 876, found, needed, .. }) if found < needed
    ));
    assert!(matches!(
        spec(|spec| spec.torus.glwe_noise = TorusNoise::TUniform(15)),
        Err(Error::WeakNoise { dimension: 2048, .. })
    ));
    assert!(matches!(cause(&spec(|spec| spec.max_noise = 9.0)),
        Some(TfheError::FailsTooOften { found, allowed: -128.0, .. }) if *found > -128.0
    ));
    assert!(matches!(
        cause(&spec(|spec| spec.encoding = Encoding::Integers { message_bits: 3, carry_bits: 2 })),
        Some(TfheError::FailsTooOften { .. })
    ));
    for (name, change) in [
        ("n", (|spec| spec.torus.n = 0) as fn(&mut ParametersSpec)),
        // Bits come in pairs.
        ("n", |spec| spec.torus.n = 877),
        ("k", |spec| spec.torus.k = 17),
        ("log_degree", |spec| spec.torus.log_degree = 17),
        ("log_base", |spec| spec.torus.log_base = 0),
        ("levels", |spec| spec.torus.levels = 3),
        ("switch_levels", |spec| spec.torus.switch_levels = 11),
        ("lwe_noise", |spec| spec.torus.lwe_noise = TorusNoise::Gaussian(f64::NAN)),
        ("glwe_noise", |spec| spec.torus.glwe_noise = TorusNoise::TUniform(64)),
        ("security", |spec| spec.torus.security = Security::Bits256),
        ("max_noise", |spec| spec.max_noise = f64::NAN),
        ("message_bits and carry_bits", |spec| {
            spec.encoding = Encoding::Integers { message_bits: u32::MAX, carry_bits: u32::MAX };
        }),
    ] {
        assert!(matches!(spec(change), Err(Error::Parameters { name: found, .. }) if found == name), "{name}");
    }
}

#[test]
fn things_of_other_parameters_or_keys_are_refused() {
    let (world, stranger) = (World::small(INTEGERS_2_2), World::new(small_spec(INTEGERS_2_2), 2));
    let mut spec = small_spec(INTEGERS_2_2);
    spec.torus.n += 1;
    let other = World::new(spec, 1);
    // The same samples, and keys, with another meaning.
    let meaning = World::small(INTEGERS_1_1);

    assert!(is_mismatch(Encryptor::new(&world.context, &other.keys.secret, seed(1))));
    assert!(is_mismatch(Decryptor::new(&world.context, &other.keys.secret)));
    assert!(is_mismatch(Evaluator::new(&world.context, Arc::clone(&other.keys.server))));
    assert!(is_mismatch(world.context.compact_keys(&seed(1), &other.keys.secret)));
    // Of equal parameters any secret has keys, which are its own.
    let keys = world.context.compact_keys(&seed(1), &stranger.keys.secret).expect("equal parameters");
    assert_eq!(keys.owner(), stranger.keys.secret.owner());

    let x = world.encryptor().encrypt(1).expect("a message");
    let lookup = |context: &Context| Lookup::new(context, |x| x).expect("a table");
    for (found, is_expected) in [(&stranger, is_other_key as Claim), (&other, is_mismatch), (&meaning, is_mismatch)] {
        let y = found.encryptor().encrypt(1).expect("a message");
        assert!(is_expected(world.evaluator().add(&x, &y).map(drop)));
        assert!(is_expected(world.evaluator().lookup(&y, &lookup(&world.context)).map(drop)));
        assert!(is_expected(world.decryptor().decrypt(&y).map(drop)));
    }
    assert!(is_mismatch(world.evaluator().lookup(&x, &lookup(&meaning.context))));
}

#[test]
fn values_and_functions_out_of_range_are_refused() {
    let world = World::small(INTEGERS_2_2);
    let (context, encryptor, evaluator) = (&world.context, world.encryptor(), world.evaluator());
    assert!(is_out_of_room(encryptor.encrypt(4)));
    assert!(is_out_of_room(evaluator.trivial(16)));
    assert!(is_out_of_room(Lookup::new(context, |x| x + 1)));
    assert!(is_out_of_room(BivariateLookup::new(context, |x, y| 4 * x + 2 * y)));
    assert!(matches!(Lookup::many(context, 8, &[&|x| x, &|x| x, &|x| x]), Err(Error::Length { found: 3, .. })));
    assert!(matches!(Lookup::many(context, 17, &[&|x| x]), Err(Error::Length { .. })));
    assert!(matches!(Lookup::many(context, 0, &[]), Err(Error::Length { found: 0, .. })));
    assert!(matches!(BivariateLookup::with_shift(context, 9, |_, _| 0), Err(Error::Parameters { .. })));

    let three = encryptor.encrypt(3).expect("a message");
    let nine = evaluator.mul_constant(&three, 3).expect("room");
    assert!(is_out_of_room(evaluator.add(&nine, &nine)));
    assert!(is_out_of_room(evaluator.mul_constant(&three, u64::MAX)));
    let half = Lookup::many(context, 8, &[&|x| x]).expect("a table");
    assert!(is_out_of_room(evaluator.lookup(&nine, &half)), "its largest value is 9, inputs are below 8");
    let product = BivariateLookup::new(context, |x, y| x * y % 4).expect("a table");
    assert!(is_out_of_room(evaluator.lookup_bivariate(&nine, &three, &product)));
    let pair = Lookup::many(context, 8, &[&|x| x, &|x| x]).expect("a table");
    assert!(matches!(evaluator.lookup(&three, &pair), Err(Error::Length { found: 2, .. })));
}

#[test]
fn sums_of_more_noise_than_was_checked_are_refused() {
    let world = World::small(INTEGERS_2_2);
    let (encryptor, evaluator) = (world.encryptor(), world.evaluator());
    let bit = Lookup::new(&world.context, |x| x & 1).expect("a table");
    let x = evaluator.lookup(&encryptor.encrypt(1).expect("a message"), &bit).expect("a lookup");
    assert!(evaluator.mul_constant(&x, 5).is_ok());
    assert!(matches!(
        cause(&evaluator.mul_constant(&x, 6)),
        Some(TfheError::NoisyCombination { found: 6.0, needed: 5.0, .. })
    ));

    let mut spec = small_spec(Encoding::Bits);
    spec.max_noise = 2.0;
    let world = World::new(spec, 1);
    let (encryptor, evaluator) = (world.encryptor(), world.evaluator());
    let bit = encryptor.encrypt_bit(true).expect("a bit");
    let mux = evaluator.mux(&bit, &bit, &bit).expect("mux");
    assert!((mux.noise() - 2f64.sqrt()).abs() < 1e-12);
    assert!(matches!(cause(&evaluator.gate(Gate::And, &mux, &bit)), Some(TfheError::NoisyCombination { .. })));
}

#[test]
fn bits_and_integers_are_not_mixed() {
    let (bits, integers) = (World::small(Encoding::Bits), World::small(INTEGERS_2_2));
    assert!(is_parameter(bits.encryptor().encrypt(1)));
    assert!(is_parameter(integers.encryptor().encrypt_bit(true)));
    assert!(is_parameter(Lookup::new(&bits.context, |x| x)));
    assert!(is_parameter(bits.evaluator().trivial(1)));
    assert!(is_parameter(integers.evaluator().trivial_bit(true)));
}

#[test]
fn a_secret_key_does_not_decrypt_for_others() {
    let world = World::small(INTEGERS_2_2);
    let key = world.context.secret_key(&Seed::from_bytes([77; 32]));
    let x = world.encryptor().encrypt(2).expect("a message");
    let decryptor = Decryptor::new(&world.context, &key).expect("the same parameters");
    assert!(is_other_key(decryptor.decrypt(&x)));
}

fn is_mismatch<T>(result: noren::Result<T>) -> bool {
    matches!(result, Err(Error::ParameterMismatch { .. }))
}

fn is_other_key<T>(result: noren::Result<T>) -> bool {
    matches!(result, Err(Error::KeyMismatch { .. }))
}

fn is_out_of_room<T>(result: noren::Result<T>) -> bool {
    matches!(cause(&result), Some(TfheError::OutOfRoom { .. }))
}

fn is_parameter<T>(result: noren::Result<T>) -> bool {
    matches!(result, Err(Error::Parameters { .. }))
}
