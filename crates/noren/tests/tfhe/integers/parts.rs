//! Batches that are cut into parts have the results of whole ones, byte for byte.

use noren::interrupt::Interrupt;
use noren::radix::{Comparison, Evaluator, Integer, Operation, Shape};
use noren::tfhe::{Context, Preset};
use noren_math::kernels::is_fastest;
use std::sync::{Arc, Mutex};

use crate::integers::{Integers, mask};
use crate::world::{INTEGERS_2_2, World, cases, small_spec};

/// More elements than fill the blocks of a few threads.
const COUNT: usize = 48;

/// Integers of which some have the noise of a choice, others that of encryption.
fn integers(world: &Integers, evaluator: &Evaluator, factor: u64) -> Vec<Integer> {
    let values: Vec<u64> = (0..COUNT as u64).map(|x| (x * factor + 3) & mask(8)).collect();
    let fresh = world.encrypt(&values, 8);
    let flags = world.encrypt_flags(&[1; COUNT / 2]);
    let mut mixed = evaluator.select(&flags, &fresh[..COUNT / 2], &fresh[COUNT / 2..]).expect("one length");
    mixed.extend_from_slice(&fresh[COUNT / 2..]);
    mixed
}

#[test]
fn results_do_not_depend_on_the_parts_of_a_batch() {
    if !is_fastest() {
        return;
    }
    let world = Integers::small();
    let evaluator = || Evaluator::new(&world.world.evaluator()).expect("digits of two bits");
    let (whole, cut) = (evaluator(), [1, 1 << 21].map(|bytes| evaluator().with_working_set(bytes)));
    let (a, b) = (integers(&world, &whole, 7), integers(&world, &whole, 201));
    for cut in cases(&cut) {
        for operation in cases([Operation::Max, Operation::Mul, Operation::Not]) {
            let operands = &[&a[..], &b[..]][..operation.operands()];
            let [found, expected] = [cut, &whole].map(|evaluator| evaluator.apply(operation, operands).expect("bytes"));
            assert!(found == expected, "{operation:?}");
        }
        let flags = [cut, &whole].map(|evaluator| evaluator.compare(Comparison::Lt, &a, &b).expect("bytes"));
        assert_eq!(world.decrypt_flags(&flags[0]), world.decrypt_flags(&flags[1]));
        let sorted = [cut, &whole].map(|evaluator| evaluator.sort(&[&a, &b]).expect("bytes"));
        assert!(sorted[0] == sorted[1]);
    }
    let [found, expected] =
        [&cut[0], &whole].map(|evaluator| evaluator.div_rem(&a[12..36], &b[12..36]).expect("bytes"));
    assert!(found == expected);
}

#[test]
fn results_do_not_depend_on_threads_where_a_batch_is_cut() {
    if !is_fastest() {
        return;
    }
    let results = [1, 3].map(|threads| {
        let spec = small_spec(INTEGERS_2_2);
        let context = Context::with_threads(spec.build().expect("parameters"), Some(threads)).expect("a context");
        let keys = context.generate_keys(crate::world::seed(1)).expect("keys");
        let world = Integers::of(World { context, keys });
        let evaluator = Evaluator::new(&world.world.evaluator()).expect("digits of two bits").with_working_set(1);
        let a = integers(&world, &evaluator, 7);
        evaluator.mul(&a, &a).expect("bytes")
    });
    assert!(results[0] == results[1]);
}

#[test]
fn progress_counts_the_bootstraps_of_all_parts() {
    let world = Integers::small();
    let evaluator = Evaluator::new(&world.world.evaluator()).expect("digits of two bits").with_working_set(1);
    let a = world.encrypt(&[7; COUNT], 8);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&heard);
    let listen = move |done, of| told.lock().expect("no panic").push((done, of));
    let results = Interrupt::with(None, Some(Box::new(listen))).run(|| evaluator.mul(&a, &a)).expect("no interrupt");
    assert_eq!(world.decrypt(&results.expect("bytes")), [49; COUNT]);
    let heard = heard.lock().expect("no panic");
    let cost = Operation::Mul.cost(8, Shape::Lean).expect("a width");
    assert_eq!(heard.last(), Some(&(COUNT * cost.bootstraps, COUNT * cost.bootstraps)));
    assert!(heard.is_sorted());
}

#[test]
fn large_products_would_not_have_room_at_once() {
    // 2049 words a ciphertext: what is held for 20 000 products of 32 bits without parts.
    let parameters = Preset::named("2_2").and_then(|preset| preset.parameters()).expect("a set");
    let sample = 8 * (parameters.torus().dimension() + 1);
    let held = |operation: Operation, bits| operation.cost(bits, Shape::Lean).expect("a width").held;
    assert!(20_000 * held(Operation::Mul, 32) * sample > 100 << 30);
    // One product has room, even of the widest.
    assert!(held(Operation::Mul, 64) * sample < 64 << 20);
}
