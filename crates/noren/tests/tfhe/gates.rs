//! Gates against their functions in clear.

use noren::error::cause;
use noren::schemes::error::FailureBudgetExceeded;
use noren::tfhe::{Bit, Encoding, Evaluator, Gate};

use crate::world::World;

const BOTH: [bool; 2] = [false, true];

#[test]
fn gates_have_their_truth_tables() {
    assert_truth_tables(&World::small(Encoding::Bits));
}

#[test]
fn gates_of_the_default_set_have_their_truth_tables() {
    assert_truth_tables(&World::preset("BOOL"));
}

#[test]
#[ignore = "every set of bits: a minute"]
fn gates_of_all_sets_have_their_truth_tables() {
    for name in ["BOOL_128", "BOOL_TFHE_RS", "TFHEPP_LEGACY", "OPENFHE_LEGACY", "OPENFHE_PAPER_LEGACY"] {
        assert_truth_tables(&World::preset(name));
    }
}

#[test]
fn random_circuits_agree_with_their_clear_twins() {
    let world = World::small(Encoding::Bits);
    assert_random_circuit(&world, 60, 50);
}

#[test]
#[ignore = "100 000 gates of the default set: some minutes"]
fn a_hundred_thousand_gates_have_no_fault() {
    assert_random_circuit(&World::preset("BOOL"), 1_000, 100);
}

fn assert_truth_tables(world: &World) {
    let (encryptor, decryptor, evaluator) = (world.encryptor(), world.decryptor(), world.evaluator());
    let encrypt = |value| encryptor.encrypt_bit(value).expect("a bit");
    let decrypt = |bit: &Bit| decryptor.decrypt_bit(bit).expect("a bit of the key");
    for a in BOTH {
        let (bit_a, trivial) = (encrypt(a), evaluator.trivial_bit(a).expect("a bit"));
        assert_eq!(decrypt(&evaluator.not(&bit_a).expect("not")), !a);
        assert_eq!(decrypt(&trivial), a);
        for b in BOTH {
            let bit_b = encrypt(b);
            for gate in Gate::ALL {
                assert_eq!(decrypt(&evaluator.gate(gate, &bit_a, &bit_b).expect("a gate")), gate.apply(a, b));
                assert_eq!(decrypt(&evaluator.gate(gate, &trivial, &bit_b).expect("a gate")), gate.apply(a, b));
            }
            for condition in BOTH {
                let chosen = evaluator.mux(&encrypt(condition), &bit_a, &bit_b).expect("mux");
                assert_eq!(decrypt(&chosen), if condition { a } else { b });
            }
        }
    }
}

/// Rounds of a layer of gates, muxes and negations on a state of bits, each on random places.
fn assert_random_circuit(world: &World, rounds: usize, width: usize) {
    let (encryptor, decryptor, evaluator) = (world.encryptor(), world.decryptor(), world.evaluator());
    let mut random = crate::world::seed(7).xof("circuit");
    let mut pick = |count: usize| (random.next_u64() % count as u64) as usize;
    let mut clear: Vec<bool> = (0..width).map(|_| pick(2) == 1).collect();
    let mut bits: Vec<Bit> = clear.iter().map(|&value| encryptor.encrypt_bit(value).expect("a bit")).collect();
    for round in 0..rounds {
        let gates: Vec<(Gate, usize, usize)> =
            (0..width - 2).map(|_| (Gate::ALL[pick(6)], pick(width), pick(width))).collect();
        let (condition, a, b, other) = (pick(width), pick(width), pick(width), pick(width));
        let mut next: Vec<bool> = gates.iter().map(|&(gate, a, b)| gate.apply(clear[a], clear[b])).collect();
        next.push(if clear[condition] { clear[a] } else { clear[b] });
        next.push(!clear[other]);
        let mut next_bits = layer(&evaluator, &bits, &gates);
        next_bits.push(evaluator.mux(&bits[condition], &bits[a], &bits[b]).expect("mux"));
        next_bits.push(evaluator.not(&bits[other]).expect("not"));
        (clear, bits) = (next, next_bits);
        let found: Vec<bool> = bits.iter().map(|bit| decryptor.decrypt_bit(bit).expect("a bit")).collect();
        assert_eq!(found, clear, "round {round}");
    }
}

fn layer(evaluator: &Evaluator, bits: &[Bit], gates: &[(Gate, usize, usize)]) -> Vec<Bit> {
    let gates: Vec<(Gate, &Bit, &Bit)> = gates.iter().map(|&(gate, a, b)| (gate, &bits[a], &bits[b])).collect();
    evaluator.gates(&gates).expect("gates")
}

#[test]
fn failures_are_counted_and_refused_beyond_their_budget() {
    let world = World::small(Encoding::Bits);
    let each = world.context.parameters().failure().log2;
    // Room for four bootstraps and a half.
    let evaluator = world.evaluator().with_failure_budget(each + 4.5f64.log2());
    let bit = world.encryptor().encrypt_bit(true).expect("a bit");
    assert_eq!((evaluator.bootstraps(), evaluator.log2_failure()), (0, f64::NEG_INFINITY));
    evaluator.gate(Gate::And, &bit, &bit).expect("within the budget");
    let clone = evaluator.clone();
    clone.mux(&bit, &bit, &bit).expect("two bootstraps");
    assert_eq!(evaluator.bootstraps(), 3, "clones count together");
    assert!((evaluator.log2_failure() - each - 3f64.log2()).abs() < 1e-9);
    let refused = evaluator.mux(&bit, &bit, &bit);
    assert!(matches!(cause(&refused), Some(FailureBudgetExceeded { bootstraps: 5, .. })), "{refused:?}");
    evaluator.gate(Gate::Or, &bit, &bit).expect("what was refused is not counted");
    assert!(evaluator.gate(Gate::Or, &bit, &bit).is_err());
    // A new budget starts anew; without one nothing is refused.
    let evaluator = evaluator.with_failure_budget(each);
    assert_eq!(evaluator.bootstraps(), 0);
    evaluator.gate(Gate::Or, &bit, &bit).expect("the only one");
    assert!(world.evaluator().with_failure_budget(f64::NAN).gate(Gate::Or, &bit, &bit).is_err());
}
