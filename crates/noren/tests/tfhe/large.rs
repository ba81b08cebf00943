//! Lookups of many digits, against the function in the clear.

use std::sync::Arc;

use noren::error::{Error, cause};
use noren::tfhe::{
    Ciphertext, CircuitKeys, CompactCircuitKeys, Context, Encoding, Evaluator, KeyFile, LargeLookup, Lookup,
    ParametersSpec, Preset, TfheError, TorusSpec,
};
use noren::wire::{Form, Object};
use noren_math::kernels::is_fastest;

use crate::world::{INTEGERS_1_1, INTEGERS_2_2, World, cases, seed, small_spec};

/// An evaluator with keys of circuit bootstrapping.
fn evaluator(world: &World) -> Evaluator {
    world.evaluator().with_circuit_keys(circuit_keys(world)).expect("keys of the same owner")
}

fn circuit_keys(world: &World) -> Arc<CircuitKeys> {
    let compact = world.context.circuit_keys(&seed(1), &world.keys.secret).expect("its own secret");
    Arc::new(world.context.expand_circuit(&compact).expect("its own digits"))
}

/// The digits of a number, the lowest first.
fn encrypt(world: &World, value: u64, digits: usize) -> Vec<Ciphertext> {
    encrypt_each(world, &[value], digits).remove(0)
}

/// The digits of each number.
fn encrypt_each(world: &World, values: &[u64], digits: usize) -> Vec<Vec<Ciphertext>> {
    let (encryptor, base) = (world.encryptor(), world.context.parameters().message_size());
    let digits = |value: &u64| (0..digits as u32).map(|i| value / base.pow(i) % base).collect::<Vec<_>>();
    let encrypt = |digit: &u64| encryptor.encrypt(*digit).expect("a message");
    values.iter().map(|value| digits(value).iter().map(encrypt).collect()).collect()
}

fn decrypt(world: &World, digits: &[Ciphertext]) -> u64 {
    let (decryptor, base) = (world.decryptor(), world.context.parameters().message_size());
    digits.iter().rev().fold(0, |value, digit| value * base + decryptor.decrypt(digit).expect("a digit"))
}

/// The results for these numbers, looked up together.
fn look_up(world: &World, evaluator: &Evaluator, lookup: &LargeLookup, values: &[u64]) -> Vec<Vec<Ciphertext>> {
    let inputs = encrypt_each(world, values, lookup.digits());
    let inputs: Vec<Vec<&Ciphertext>> = inputs.iter().map(|digits| digits.iter().collect()).collect();
    let inputs: Vec<&[&Ciphertext]> = inputs.iter().map(|digits| &digits[..]).collect();
    evaluator.lookup_large_each(&inputs, lookup).expect("lookups")
}

fn assert_function(world: &World, lookup: &LargeLookup, values: &[u64], function: impl Fn(u64) -> u64) {
    let results = look_up(world, &evaluator(world), lookup, values);
    for (&x, result) in values.iter().zip(&results) {
        assert_eq!(decrypt(world, result), function(x), "{lookup}: at {x}");
    }
}

#[test]
fn functions_of_digits_are_right_over_all_inputs() {
    let world = World::small(INTEGERS_2_2);
    // Directly with one and two digits; in one polynomial, and chosen among several.
    for (digits, outputs, needs_keys) in cases([(3, 4, true), (1, 4, false), (2, 1, false), (4, 1, true), (5, 2, true)])
    {
        let function = |x: u64| (x * x + 7 * x + 3) % (1 << (2 * outputs));
        let lookup = LargeLookup::new(&world.context, digits, outputs, function).expect("tables");
        assert_eq!(lookup.needs_circuit_keys(), needs_keys, "{lookup}");
        // Of the larger ones, some.
        let step = if digits > 3 { 37 } else { 1 };
        let values: Vec<u64> = (0..1 << (2 * digits)).step_by(step).collect();
        assert_function(&world, &lookup, &values, function);
    }
}

#[test]
fn functions_of_bits_are_right_over_all_inputs() {
    let world = World::small(INTEGERS_1_1);
    let function = |x: u64| x * x % 8;
    let lookup = LargeLookup::new(&world.context, 4, 3, function).expect("tables");
    assert_function(&world, &lookup, &(0..16).collect::<Vec<_>>(), function);
}

#[test]
fn results_can_be_used_as_those_of_a_bootstrap() {
    let world = World::small(INTEGERS_2_2);
    let evaluator = evaluator(&world);
    let function = |x: u64| (5 * x + 1) % 64;
    let lookup = LargeLookup::new(&world.context, 3, 3, function).expect("tables");
    let next = Lookup::new(&world.context, |x| x / 2).expect("a table");
    assert!(lookup.noise() <= 1.0);
    let first = look_up(&world, &evaluator, &lookup, &[39]).remove(0);
    assert!(first.iter().all(|digit| digit.max() == 3));
    let again = evaluator.lookup_large(&first.iter().collect::<Vec<_>>(), &lookup).expect("a lookup");
    assert_eq!(decrypt(&world, &again), function(function(39)));
    let sum = evaluator.combine(&[(&again[0], 1), (&again[1], 4)], 0).expect("room");
    let halved = evaluator.lookup(&sum, &next).expect("a lookup");
    assert_eq!(world.decryptor().decrypt(&halved).expect("a value"), decrypt(&world, &again) % 16 / 2);
}

#[test]
fn several_inputs_at_once_give_the_same_bytes_as_one_by_one() {
    if !is_fastest() {
        return;
    }
    let world = World::small(INTEGERS_2_2);
    let lookup = LargeLookup::new(&world.context, 3, 2, |x| x % 13).expect("tables");
    let keys = circuit_keys(&world);
    let inputs = encrypt_each(&world, &[0, 7, 14, 21, 28, 35, 42, 49, 56], 3);
    let inputs: Vec<Vec<&Ciphertext>> = inputs.iter().map(|digits| digits.iter().collect()).collect();
    let inputs: Vec<&[&Ciphertext]> = inputs.iter().map(|digits| &digits[..]).collect();
    let results = [1, 3].map(|threads| {
        let context = Context::with_threads(world.context.parameters().clone(), Some(threads)).expect("a context");
        let evaluator = Evaluator::new(&context, Arc::clone(&world.keys.server)).expect("the same parameters");
        let evaluator = evaluator.with_circuit_keys(Arc::clone(&keys)).expect("keys of the same owner");
        let together = evaluator.lookup_large_each(&inputs, &lookup).expect("lookups");
        for (input, result) in inputs.iter().zip(&together) {
            assert_eq!(&evaluator.lookup_large(input, &lookup).expect("a lookup"), result);
        }
        together
    });
    assert_eq!(results[0], results[1]);
}

#[test]
fn what_a_lookup_cannot_take_is_refused() {
    let world = World::small(INTEGERS_2_2);
    let evaluator = evaluator(&world);
    let lookup = LargeLookup::new(&world.context, 3, 1, |x| x % 4).expect("tables");
    let input = encrypt(&world, 11, 3);
    let input: Vec<&Ciphertext> = input.iter().collect();
    let refused = world.evaluator().lookup_large(&input, &lookup);
    assert!(matches!(refused, Err(Error::MissingKey { .. })));
    let refused = evaluator.lookup_large(&input[..2], &lookup);
    assert!(matches!(refused, Err(Error::Length { found: 2, .. })));
    let large = evaluator.combine(&[(input[0], 2)], 0).expect("room");
    let refused = evaluator.lookup_large(&[&large, input[1], input[2]], &lookup);
    assert!(matches!(cause(&refused), Some(TfheError::OutOfRoom { found: 6, .. })));
    let other = World::new(small_spec(INTEGERS_2_2), 9);
    let refused = world.evaluator().with_circuit_keys(circuit_keys(&other));
    assert!(matches!(refused, Err(Error::KeyMismatch { .. })));
    let refused = other.evaluator().lookup_large(&input, &lookup);
    assert!(matches!(refused, Err(Error::KeyMismatch { .. })));
    let spec = small_spec(INTEGERS_1_1);
    let other = World::new(ParametersSpec { torus: TorusSpec { n: 41, ..spec.torus.clone() }, ..spec }, 1);
    let refused = other.evaluator().with_circuit_keys(circuit_keys(&world));
    assert!(matches!(refused, Err(Error::ParameterMismatch { .. })));
    let refused = evaluator.lookup_large(&input, &LargeLookup::new(&other.context, 3, 1, |x| x % 2).expect("tables"));
    assert!(matches!(refused, Err(Error::ParameterMismatch { .. })));
}

#[test]
fn functions_that_have_no_tables_are_refused() {
    let context = World::small(INTEGERS_2_2).context;
    let refused = LargeLookup::new(&context, 3, 2, |x| x);
    assert!(matches!(cause(&refused), Some(TfheError::OutOfRoom { found: 16, .. })));
    for (digits, outputs) in [(0, 1), (13, 1), (3, 0)] {
        let refused = LargeLookup::new(&context, digits, outputs, |_| 0);
        assert!(matches!(refused, Err(Error::Parameters { .. })), "{digits} digits to {outputs}");
    }
    let bits = World::small(Encoding::Bits).context;
    assert!(matches!(LargeLookup::new(&bits, 3, 1, |_| 0), Err(Error::Parameters { .. })));
    assert!(matches!(bits.circuit(), Err(Error::Parameters { .. })));
}

#[test]
fn circuit_keys_that_travelled_evaluate() {
    let world = World::small(INTEGERS_2_2);
    let key = world.context.circuit_keys(&seed(1), &world.keys.secret).expect("its own secret");
    let bytes = KeyFile { parameters: world.context.parameters().clone(), key }.to_bytes(&(), Form::Packed);
    let again = KeyFile::<CompactCircuitKeys>::from_bytes(&(), &bytes).expect("its own bytes");
    assert_eq!(again.to_bytes(&(), Form::Packed), bytes);
    let keys = world.context.expand_circuit(&again.key).expect("the same digits");
    let evaluator = world.evaluator().with_circuit_keys(keys.into()).expect("keys of the same owner");
    let lookup = LargeLookup::new(&world.context, 3, 1, |x| x / 16).expect("tables");
    assert_eq!(decrypt(&world, &look_up(&world, &evaluator, &lookup, &[50])[0]), 3);

    for cut in [0, 40, 95, 200, bytes.len() / 2, bytes.len() - 64, bytes.len() - 1] {
        assert!(KeyFile::<CompactCircuitKeys>::from_bytes(&(), &bytes[..cut]).is_err(), "cut to {cut}");
    }
    for at in (0..bytes.len()).step_by(bytes.len() / 50) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        assert!(KeyFile::<CompactCircuitKeys>::from_bytes(&(), &damaged).is_err(), "byte {at}");
    }
}

#[test]
#[ignore = "a set of 128 bits: two minutes"]
fn functions_of_two_bytes_are_right_with_the_noise_of_their_law() {
    let world = World::preset("2_2");
    println!("{}", world.context.circuit().expect("digits"));
    let evaluator = evaluator(&world);
    println!("keys of {} MB", circuit_keys(&world).bytes() >> 20);
    let function = |x: u64| (x % 256) * (x / 256) % 251;
    let lookup = LargeLookup::new(&world.context, 8, 4, function).expect("tables");
    println!("{lookup}");
    assert!(lookup.failure_log2() < -128.0);
    let values: Vec<u64> = (0..16).map(|i| i * 0x1357 % 0x1_0000).collect();
    for (&x, result) in values.iter().zip(look_up(&world, &evaluator, &lookup, &values)) {
        assert_eq!(decrypt(&world, &result), function(x), "at {x}");
    }
    let zero = Lookup::new(&world.context, |_| 0).expect("a table");
    let bit = evaluator.lookup(&world.encryptor().encrypt(3).expect("a message"), &zero).expect("a lookup");
    let noisy = evaluator.mul_constant(&bit, 4).expect("room");
    let refused = evaluator.lookup_large(&[&noisy; 8], &lookup);
    assert!(matches!(cause(&refused), Some(TfheError::NoisyCombination { found: 4.0, .. })));
    // All control bits of digits 2 are set: the most noise.
    const CALLS: usize = 256;
    let worst = 0xaaaa;
    let (mut squares, unit) = (0.0, world.context.parameters().encoding().unit());
    let results = look_up(&world, &evaluator, &lookup, &[worst; CALLS]);
    for (place, digit) in results.iter().flat_map(|result| result.iter().enumerate()) {
        let message = (function(worst) >> (2 * place) & 3) * unit;
        let phase = world.keys.secret.phase(digit.sample()).expect("its own");
        squares += (phase.wrapping_sub(message).cast_signed() as f64 / 2f64.powi(64)).powi(2);
    }
    let law = world.context.circuit().expect("digits").law().lookup(16);
    let ratio = squares / (4 * CALLS) as f64 / law;
    println!("variance {ratio:.3} of the law, deviation {:.2} of that of a bootstrap", lookup.noise());
    // 1 024 samples of 4.4 % under one key, four of them with the same controls.
    assert!((ratio - 1.0).abs() < 0.15, "{ratio}");
}

#[test]
fn lookups_of_two_bytes_fail_and_are_noisy_no_more_than_bootstraps() {
    for (name, digits) in [("1_1", 16), ("2_2", 8), ("2_2_TUNIFORM", 8)] {
        let context =
            Context::new(Preset::named(name).and_then(Preset::parameters).expect("a set")).expect("a context");
        let lookup = LargeLookup::new(&context, digits, digits / 2, |x| x % 256).expect("tables");
        assert!(lookup.noise() <= 1.0, "{name}: {lookup}");
        assert!(lookup.failure_log2() <= -128.0 && lookup.max_noise() >= 1.0, "{name}: {lookup}");
    }
    // Bootstraps of larger messages have less noise than circuit bootstraps can have.
    let context = Context::new(Preset::named("3_3").and_then(Preset::parameters).expect("a set")).expect("a context");
    assert!(matches!(LargeLookup::new(&context, 4, 2, |_| 0), Err(Error::Parameters { .. })));
}
