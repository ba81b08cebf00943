//! Lookups over all their inputs.

use noren::tfhe::{BivariateLookup, Lookup};

use crate::world::{INTEGERS_1_1, INTEGERS_2_2, World};

#[test]
fn lookups_of_small_parameters_are_right_over_all_inputs() {
    assert_lookups(&World::small(INTEGERS_1_1));
    assert_lookups(&World::small(INTEGERS_2_2));
}

#[test]
fn lookups_of_1_1_are_right_over_all_inputs() {
    assert_lookups(&World::preset("1_1"));
}

#[test]
fn lookups_of_2_2_are_right_over_all_inputs() {
    assert_lookups(&World::preset("2_2"));
}

#[test]
#[ignore = "another set of 128 bits, and keys that are made of light ones"]
fn lookups_of_2_2_with_light_keys_are_right_over_all_inputs() {
    assert_lookups(&World::preset("2_2_LIGHT"));
}

#[test]
#[ignore = "64 inputs of a large set: a minute"]
fn lookups_of_3_3_are_right_over_all_inputs() {
    assert_lookups(&World::preset("3_3"));
}

#[test]
#[ignore = "another set of 128 bits"]
fn lookups_of_2_2_with_uniform_noise_are_right_over_all_inputs() {
    assert_lookups(&World::preset("2_2_TUNIFORM"));
}

#[test]
#[ignore = "keys of 10 GB: some minutes"]
fn lookups_of_4_4_are_right() {
    let world = World::preset("4_4");
    let lookup = Lookup::new(&world.context, |x| x * x % 256).expect("a table");
    for x in [0, 7, 15] {
        let x = world.encryptor().encrypt(x).expect("a message");
        let largest = world.evaluator().mul_constant(&x, 17).expect("room");
        let result = world.evaluator().lookup(&largest, &lookup).expect("a lookup");
        let value = world.decryptor().decrypt(&largest).expect("a value");
        assert_eq!(world.decryptor().decrypt(&result).expect("a value"), value * value % 256);
    }
}

#[test]
fn several_functions_share_one_bootstrap() {
    let world = World::small(INTEGERS_2_2);
    let (encryptor, decryptor, evaluator) = (world.encryptor(), world.decryptor(), world.evaluator());
    let functions: [&dyn Fn(u64) -> u64; 4] = [&|x| 3 - x, &|x| x * x, &|x| 15 * (x & 1), &|_| 7];
    let lookup = Lookup::many(&world.context, 4, &functions).expect("a table");
    for x in 0..4 {
        let results = evaluator.lookup_many(&encryptor.encrypt(x).expect("a message"), &lookup).expect("a lookup");
        let values: Vec<u64> = results.iter().map(|result| decryptor.decrypt(result).expect("a value")).collect();
        assert_eq!(values, functions.map(|function| function(x)), "at {x}");
        let largest: Vec<u64> = results.iter().map(|result| result.max()).collect();
        assert_eq!(largest, [3, 9, 15, 7]);
    }
}

#[test]
fn sums_carry_into_the_room_above_messages() {
    let world = World::small(INTEGERS_2_2);
    let (encryptor, decryptor, evaluator) = (world.encryptor(), world.decryptor(), world.evaluator());
    let message = Lookup::new(&world.context, |x| x % 4).expect("a table");
    let carry = Lookup::new(&world.context, |x| x / 4).expect("a table");
    for (x, y) in (0..4).flat_map(|x| (0..4).map(move |y| (x, y))) {
        let [a, b] = [x, y].map(|value| encryptor.encrypt(value).expect("a message"));
        let sum = evaluator.combine(&[(&a, 3), (&b, 1)], 2).expect("room");
        assert_eq!(decryptor.decrypt(&sum).expect("a value"), 3 * x + y + 2);
        let digits = evaluator.lookup_pairs(&[(&sum, &message), (&sum, &carry)]).expect("lookups");
        let digits: Vec<u64> = digits.iter().map(|digit| decryptor.decrypt(&digit[0]).expect("a digit")).collect();
        assert_eq!(digits, [(3 * x + y + 2) % 4, (3 * x + y + 2) / 4]);
    }
}

/// Three functions of all values below p, and two of all pairs of messages.
fn assert_lookups(world: &World) {
    let (encryptor, decryptor, evaluator) = (world.encryptor(), world.decryptor(), world.evaluator());
    let parameters = world.context.parameters();
    let (size, base) = (parameters.encoding().size(), parameters.message_size());
    // Values above messages are made as x + base y.
    let digits = |value: u64| [value % base, value / base].map(|digit| encryptor.encrypt(digit).expect("a message"));
    let all: Vec<_> = (0..size).map(digits).collect();
    let packed: Vec<_> = all.iter().map(|[x, y]| evaluator.combine(&[(x, 1), (y, base)], 0).expect("room")).collect();
    let packed: Vec<_> = packed.iter().collect();
    let functions: [&dyn Fn(u64) -> u64; 3] = [&|x| x, &|x| size - 1 - x, &|x| x * x % size];
    for function in functions {
        let lookup = Lookup::new(&world.context, function).expect("a table");
        let results = evaluator.lookup_each(&packed, &lookup).expect("lookups");
        for (x, result) in (0..).zip(&results) {
            assert_eq!(decryptor.decrypt(result).expect("a value"), function(x), "at {x}");
        }
    }
    let pairs: Vec<_> = all.iter().map(|[x, y]| (x, y)).collect();
    let functions: [&dyn Fn(u64, u64) -> u64; 2] = [&|x, y| x * y % base, &|x, y| u64::from(x < y)];
    for function in functions {
        let lookup = BivariateLookup::new(&world.context, function).expect("a table");
        let results = evaluator.lookup_bivariate_each(&pairs, &lookup).expect("lookups");
        for (index, result) in (0..).zip(&results) {
            let (x, y) = (index % base, index / base);
            assert_eq!(decryptor.decrypt(result).expect("a value"), function(x, y), "at {x}, {y}");
        }
    }
}
