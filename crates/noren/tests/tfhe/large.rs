//! Lookups of many digits, against the function in the clear.

use std::sync::Arc;
use std::time::Instant;

use noren::error::Error;
use noren::tfhe::{Ciphertext, CircuitKeys, Evaluator, LargeLookup};

use crate::world::{INTEGERS_2_2, World, seed};

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
    let (encryptor, base) = (world.encryptor(), world.context.parameters().message_size());
    let digits = (0..digits as u32).map(|i| value / base.pow(i) % base);
    digits.map(|digit| encryptor.encrypt(digit).expect("a message")).collect()
}

fn decrypt(world: &World, digits: &[Ciphertext]) -> u64 {
    let (decryptor, base) = (world.decryptor(), world.context.parameters().message_size());
    digits.iter().rev().fold(0, |value, digit| value * base + decryptor.decrypt(digit).expect("a digit"))
}

#[test]
fn functions_of_three_digits_are_right_over_all_inputs() {
    let world = World::small(INTEGERS_2_2);
    let evaluator = evaluator(&world);
    let function = |x: u64| (x * x + 7) % 256;
    let lookup = LargeLookup::new(&world.context, 3, 4, function).expect("tables");
    assert!(lookup.needs_circuit_keys());
    println!("{lookup}");
    let inputs: Vec<Vec<Ciphertext>> = (0..64).map(|x| encrypt(&world, x, 3)).collect();
    let inputs: Vec<Vec<&Ciphertext>> = inputs.iter().map(|digits| digits.iter().collect()).collect();
    let inputs: Vec<&[&Ciphertext]> = inputs.iter().map(|digits| &digits[..]).collect();
    let results = evaluator.lookup_large_each(&inputs, &lookup).expect("lookups");
    for (x, result) in (0..).zip(&results) {
        assert_eq!(decrypt(&world, result), function(x), "at {x}");
    }
}

#[test]
#[ignore = "a set of 128 bits"]
fn functions_of_two_bytes_are_right() {
    let world = World::preset("2_2");
    println!("{}", world.context.circuit().expect("digits"));
    let start = Instant::now();
    let keys = circuit_keys(&world);
    println!("keys: {} MB, {:?}", keys.bytes() >> 20, start.elapsed());
    let evaluator = world.evaluator().with_circuit_keys(keys).expect("keys of the same owner");
    let function = |x: u64| (x % 256) * (x / 256) % 251;
    let lookup = LargeLookup::new(&world.context, 8, 4, function).expect("tables");
    println!("{lookup}");
    for x in [0, 0xffff, 0x1234, 0xa5c3] {
        let input = encrypt(&world, x, 8);
        let start = Instant::now();
        let result = evaluator.lookup_large(&input.iter().collect::<Vec<_>>(), &lookup).expect("a lookup");
        println!("{:?}", start.elapsed());
        assert_eq!(decrypt(&world, &result), function(x), "at {x}");
    }
}

#[test]
fn what_a_lookup_cannot_take_is_refused() {
    let world = World::small(INTEGERS_2_2);
    let lookup = LargeLookup::new(&world.context, 3, 1, |x| x % 4).expect("tables");
    let input = encrypt(&world, 11, 3);
    let input: Vec<&Ciphertext> = input.iter().collect();
    let refused = world.evaluator().lookup_large(&input, &lookup);
    assert!(matches!(refused, Err(Error::MissingKey { .. })));
}
