//! Mistakes of callers, and damaged bytes.

use noren::error::{Error, cause};
use noren::radix::{Comparison, Evaluator, Flag, Integer, Integers as File, Move, Operation, Shape};
use noren::tfhe::{Lookup, TfheError};
use noren::wire::{Form, Object};

use crate::integers::Integers;
use crate::world::{INTEGERS_1_1, INTEGERS_2_2, World, small_spec};

#[test]
fn integers_that_do_not_fit_are_refused() {
    let integers = Integers::small();
    let encryptor = integers.world.encryptor();
    for bits in [0, 1, 7, 66, usize::MAX] {
        assert!(matches!(Integer::encrypt(&encryptor, 0, bits), Err(Error::Parameters { name: "bits", .. })));
        assert!(matches!(Operation::Add.cost(bits, Shape::Flat), Err(Error::Parameters { name: "bits", .. })));
    }
    assert!(matches!(cause(&Integer::encrypt(&encryptor, 256, 8)), Some(TfheError::OutOfRoom { found: 256, .. })));
    assert!(Integer::encrypt(&encryptor, u64::MAX, 64).is_ok());
    for value in [-129, 128] {
        assert!(matches!(cause(&Integer::encrypt_signed(&encryptor, value, 8)), Some(TfheError::OutOfRoom { .. })));
    }
    for value in [-128, -1, 0, 127] {
        let integer = Integer::encrypt_signed(&encryptor, value, 8).expect("8 bits");
        assert_eq!(integer.decrypt_signed(&integers.world.decryptor()).expect("an integer"), value);
    }
    let [evaluator, _] = &integers.evaluators;
    assert!(matches!(cause(&evaluator.trivial(4, 2)), Some(TfheError::OutOfRoom { .. })));
    let a = integers.encrypt(&[1], 8);
    assert!(matches!(
        cause(&evaluator.apply(Operation::AddKnown(256), &[&a])),
        Some(TfheError::OutOfRoom { found: 256, .. })
    ));
    assert!(matches!(evaluator.apply(Operation::Cast(9), &[&a]), Err(Error::Parameters { name: "bits", .. })));
}

#[test]
fn digits_that_are_none_are_refused() {
    let world = World::small(INTEGERS_2_2);
    let (evaluator, x) = (world.evaluator(), world.encryptor().encrypt(1).expect("a message"));
    let large = evaluator.add_constant(&x, 1).expect("room");
    assert!(matches!(cause(&Integer::from_digits(vec![large])), Some(TfheError::OutOfRoom { found: 4, .. })));
    let bit = Lookup::new(&world.context, |x| x & 1).expect("a table");
    let bit = evaluator.lookup(&x, &bit).expect("a lookup");
    let noisy = evaluator.mul_constant(&bit, 3).expect("room");
    assert!(matches!(cause(&Integer::from_digits(vec![noisy])), Some(TfheError::NoisyCombination { .. })));
    assert!(matches!(Integer::from_digits(Vec::new()), Err(Error::Parameters { name: "bits", .. })));
}

#[test]
fn batches_that_do_not_match_are_refused() {
    let integers = Integers::small();
    let [evaluator, _] = &integers.evaluators;
    let (a, b, wide) = (integers.encrypt(&[1, 2], 8), integers.encrypt(&[3], 8), integers.encrypt(&[1, 2], 16));
    assert!(matches!(evaluator.add(&a, &b), Err(Error::Length { found: 1, .. })));
    assert!(matches!(evaluator.add(&a, &[]), Err(Error::Length { found: 0, .. })));
    assert!(matches!(evaluator.add(&[], &a), Err(Error::Length { found: 2, .. })));
    assert!(evaluator.add(&[], &[]).expect("nothing").is_empty());
    assert!(matches!(evaluator.add(&a, &wide), Err(Error::Parameters { name: "bits", .. })));
    let mixed = [a[0].clone(), wide[0].clone()];
    assert!(matches!(evaluator.neg(&mixed), Err(Error::Parameters { name: "bits", .. })));
    assert!(matches!(evaluator.compare(Comparison::Lt, &a, &wide), Err(Error::Parameters { name: "bits", .. })));
    assert!(matches!(evaluator.sum(&[]), Err(Error::Parameters { .. })));
    assert!(matches!(evaluator.apply(Operation::Add, &[&a]), Err(Error::Length { what: "operands", found: 1, .. })));
    for operation in [Operation::DivRem, Operation::Compare(Comparison::Eq), Operation::Select] {
        assert!(matches!(evaluator.apply(operation, &[&a, &a]), Err(Error::Parameters { name: "operation", .. })));
    }
    let flags = integers.encrypt_flags(&[1]);
    assert!(matches!(evaluator.select(&flags, &a, &a), Err(Error::Length { .. })));
    assert!(matches!(evaluator.map_flags(&flags, &[], |a, b| a & b), Err(Error::Length { .. })));
    // Amounts may have other bits, but all the same.
    assert!(evaluator.shift_encrypted(Move::ShiftLeft, &a, &wide).is_ok());
    assert!(matches!(evaluator.shift_encrypted(Move::ShiftLeft, &a, &mixed), Err(Error::Parameters { .. })));
}

#[test]
fn integers_of_other_sets_or_keys_are_refused() {
    let integers = Integers::small();
    let [evaluator, _] = &integers.evaluators;
    let a = integers.encrypt(&[1], 8);
    let stranger = Integers::of(World::new(small_spec(INTEGERS_2_2), 2));
    let b = stranger.encrypt(&[1], 8);
    assert!(matches!(evaluator.add(&a, &b), Err(Error::KeyMismatch { .. })));
    assert!(matches!(evaluator.apply(Operation::Not, &[&b]), Err(Error::KeyMismatch { .. })));
    assert!(matches!(b[0].decrypt(&integers.world.decryptor()), Err(Error::KeyMismatch { .. })));

    let bits = World::small(INTEGERS_1_1);
    assert!(matches!(Evaluator::new(&bits.evaluator()), Err(Error::Parameters { name: "encoding", .. })));
    assert!(matches!(Integer::encrypt(&bits.encryptor(), 1, 8), Err(Error::Parameters { name: "encoding", .. })));
    assert!(matches!(Flag::encrypt(&bits.encryptor(), true), Err(Error::Parameters { name: "encoding", .. })));
    let mut spec = small_spec(INTEGERS_2_2);
    spec.max_noise = 4.0;
    let quiet = World::new(spec, 1);
    assert!(matches!(Evaluator::new(&quiet.evaluator()), Err(Error::Parameters { name: "max_noise", .. })));
}

#[test]
fn flags_are_turned_over_and_joined() {
    let integers = Integers::small();
    let (a, b) = (integers.encrypt_flags(&[0, 0, 1, 1]), integers.encrypt_flags(&[0, 1, 0, 1]));
    let [evaluator, _] = &integers.evaluators;
    assert_eq!(integers.decrypt_flags(&evaluator.not_flags(&a).expect("flags")), [1, 1, 0, 0]);
    let implied = evaluator.map_flags(&a, &b, |a, b| !a | b).expect("flags");
    assert_eq!(integers.decrypt_flags(&implied), [1, 1, 0, 1]);
    let trivial = [true, false].map(|value| evaluator.trivial_flag(value).expect("a flag"));
    assert_eq!(integers.decrypt_flags(&evaluator.not_flags(&trivial).expect("flags")), [0, 1]);
}

#[test]
fn integers_come_back_from_bytes() {
    let integers = Integers::small();
    let [evaluator, _] = &integers.evaluators;
    let a = integers.encrypt(&[1, 200, 77], 8);
    let file = File(evaluator.add(&a, &a).expect("a sum"));
    let parameters = integers.world.context.parameters();
    let bytes = file.to_bytes(parameters, Form::Packed);
    assert_eq!(File::from_bytes(parameters, &bytes).expect("its own bytes"), file);
    for cut in [0, 40, 95, 200, bytes.len() / 2, bytes.len() - 1] {
        assert!(matches!(File::from_bytes(parameters, &bytes[..cut]), Err(Error::Wire { .. })), "cut to {cut}");
    }
    for at in (0..bytes.len()).step_by(bytes.len() / 50) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        assert!(File::from_bytes(parameters, &damaged).is_err(), "byte {at} of {}", bytes.len());
    }
    let other = World::small(INTEGERS_1_1);
    assert!(File::from_bytes(other.context.parameters(), &bytes).is_err());
}
