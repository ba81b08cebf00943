//! Keys: determinism, and the form in which they travel.

use std::sync::Arc;

use noren::tfhe::{Context, Encoding, Evaluator, Gate, Grouping, ServerKeys};
use noren_naive::Naive;

use crate::world::{INTEGERS_2_2, World, on_host, seed, small_spec};

#[test]
fn the_same_seed_gives_the_same_keys_for_any_threads_and_products() {
    let parameters = small_spec(Encoding::Bits).build().expect("parameters");
    let contexts = [
        Context::with_threads(parameters.clone(), Some(1)),
        Context::with_threads(parameters.clone(), Some(3)),
        Context::exact(parameters, Some(2)),
    ];
    let mut known = None;
    for context in contexts.map(|context| context.expect("a context")) {
        let secret = context.secret_key(&seed(9));
        let compact = context.compact_keys(&seed(9), &secret).expect("its own secret");
        let bytes = (secret.long_bits().to_vec(), compact.rotation_bodies().to_vec(), compact.switch_bodies().to_vec());
        assert_eq!(*known.get_or_insert(bytes.clone()), bytes);
    }
}

#[test]
fn keys_of_both_sides_at_once_are_those_that_travel() {
    for encoding in [Encoding::Bits, INTEGERS_2_2] {
        for grouping in [Grouping::Single, Grouping::Pair] {
            let mut spec = small_spec(encoding);
            spec.torus.grouping = grouping;
            let context = Context::with_threads(spec.build().expect("parameters"), Some(1)).expect("a context");
            let keys = context.generate_keys(seed(9)).expect("keys");
            let compact = context.compact_keys(&seed(9), &keys.secret).expect("its own secret");
            let expanded = context.expand(&compact).expect("the same parameters");
            let words = |keys: &ServerKeys| {
                let key = on_host(keys);
                (key.rotation().numbers().expect("transforms").to_vec(), key.switch().words().to_vec())
            };
            assert!(words(&keys.server) == words(&expanded), "{encoding:?}, {grouping:?}");
        }
    }
}

#[test]
fn exact_and_transformed_products_agree_on_every_gate() {
    for grouping in [Grouping::Single, Grouping::Pair] {
        let mut spec = small_spec(Encoding::Bits);
        spec.torus.grouping = grouping;
        let world = World::new(spec.clone(), 1);
        let exact = Context::exact(spec.build().expect("parameters"), Some(1)).expect("a context");
        let keys = exact.generate_keys(seed(1)).expect("keys");
        let (encryptor, decryptor) = (world.encryptor(), world.decryptor());
        let exact = Evaluator::new(&exact, Arc::clone(&keys.server)).expect("the same parameters");
        for (a, b) in [(false, true), (true, true)] {
            let [bit_a, bit_b] = [a, b].map(|value| encryptor.encrypt_bit(value).expect("a bit"));
            for gate in Gate::ALL {
                let bits = [&world.evaluator(), &exact].map(|evaluator| evaluator.gate(gate, &bit_a, &bit_b));
                let values = bits.map(|bit| decryptor.decrypt_bit(&bit.expect("a gate")).expect("a bit"));
                assert_eq!(values, [gate.apply(a, b); 2], "{grouping:?}");
            }
        }
    }
}

#[test]
fn many_at_once_give_the_same_bytes_as_one_by_one() {
    let world = World::small(Encoding::Bits);
    let encryptor = world.encryptor();
    let bits: Vec<_> = (0..21).map(|i| encryptor.encrypt_bit(i % 3 == 0).expect("a bit")).collect();
    let gates: Vec<_> = (0..20).map(|i| (Gate::ALL[i % 6], &bits[i], &bits[i + 1])).collect();
    let together = world.evaluator().gates(&gates).expect("gates");
    for threads in [1, 3] {
        let parameters = world.context.parameters().clone();
        let context = Context::with_threads(parameters, Some(threads)).expect("a context");
        let evaluator = Evaluator::new(&context, Arc::clone(&world.keys.server)).expect("the same parameters");
        assert_eq!(evaluator.gates(&gates).expect("gates"), together);
        let alone: Vec<_> = gates.iter().map(|(gate, a, b)| evaluator.gate(*gate, a, b).expect("a gate")).collect();
        assert_eq!(alone, together);
    }
}

#[test]
fn a_device_holds_keys_and_computes_gates_with_them() {
    let parameters = small_spec(Encoding::Bits).build().expect("parameters");
    let context = Context::on_device(parameters, Some(1), Arc::new(Naive)).expect("a context");
    let keys = context.generate_keys(seed(1)).expect("keys");
    let evaluator = Evaluator::new(&context, Arc::clone(&keys.server)).expect("the same parameters");
    let world = World::small(Encoding::Bits);
    let bits = [true, false].map(|value| world.encryptor().encrypt_bit(value).expect("a bit"));
    for gate in [Gate::Nand, Gate::Xor] {
        let bit = evaluator.gate(gate, &bits[0], &bits[1]).expect("a gate");
        assert!(world.decryptor().decrypt_bit(&bit).expect("a bit"), "{gate:?}");
    }
}
