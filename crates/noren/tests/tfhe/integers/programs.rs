//! Operations on results of operations: the noise of any result is what any operation expects.

use noren::radix::{Comparison, Evaluator, Integer, Move, Operation};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::integers::{Integers, mask, model};

/// The operation of a step of a program.
fn operations() -> impl Strategy<Value = Operation> {
    let some = [
        Operation::Add,
        Operation::Sub,
        Operation::Mul,
        Operation::Neg,
        Operation::Not,
        Operation::Min,
        Operation::Max,
        Operation::Xor,
        Operation::Or,
        Operation::MulKnown(3),
        Operation::AddKnown(2),
        Operation::AndKnown(2),
        Operation::Sum(3),
        Operation::Select,
        Operation::DivRem,
        Operation::Argmax(3),
        Operation::CompareSigned(Comparison::Lt),
        Operation::Compare(Comparison::Ne),
        Operation::Move(Move::RotateLeft),
        Operation::Move(Move::ShiftRight),
        Operation::MoveKnown(Move::ShiftLeft, 1),
        Operation::MoveKnown(Move::RotateRight, 3),
    ];
    prop::sample::select(some.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn programs_compute_what_the_machine_computes(
        digits in 1usize..6,
        start in vec(any::<[u64; 2]>(), 3),
        steps in vec((operations(), any::<[usize; 3]>()), 8),
        flat in any::<bool>(),
    ) {
        let integers = Integers::small();
        let evaluator = &integers.evaluators[usize::from(!flat)];
        let bits = 2 * digits;
        let mut clear: Vec<[u64; 2]> = start.iter().map(|values| values.map(|value| value & mask(bits))).collect();
        let mut secret: Vec<Vec<Integer>> = clear.iter().map(|values| integers.encrypt(values, bits)).collect();
        for (operation, places) in steps {
            let places = places.map(|place| place % clear.len());
            let element = |index: usize| {
                let mut arguments = places.map(|place| clear[place][index]);
                if operation == Operation::Select {
                    // The flag of the program is whether the first two are in order.
                    arguments[0] = u64::from(clear[places[1]][index] < clear[places[2]][index]);
                }
                model(operation, bits, &arguments[..operation.operands()])[0]
            };
            let expected = [element(0), element(1)];
            let found = result(evaluator, operation, &places.map(|place| &secret[place][..]));
            prop_assert_eq!(integers.decrypt(&found), &expected, "{:?} of {} bits", operation, bits);
            clear.push(expected);
            secret.push(found);
        }
    }
}

/// The first result as integers of the same bits.
fn result(evaluator: &Evaluator, operation: Operation, operands: &[&[Integer]; 3]) -> Vec<Integer> {
    let bits = operands[0][0].bits();
    let flags = |comparison, signed| {
        let [a, b, _] = operands;
        let flags =
            if signed { evaluator.compare_signed(comparison, a, b) } else { evaluator.compare(comparison, a, b) };
        let number = |value| vec![evaluator.trivial(value, bits).expect("a number"); a.len()];
        evaluator.select(&flags.expect("a comparison"), &number(1), &number(0)).expect("a choice")
    };
    match operation {
        Operation::DivRem => evaluator.div_rem(operands[0], operands[1]).expect("a division").0,
        Operation::Argmax(_) => evaluator.argmax(operands).expect("a maximum").0,
        Operation::Compare(comparison) => flags(comparison, false),
        Operation::CompareSigned(comparison) => flags(comparison, true),
        Operation::Select => {
            let flags = evaluator.compare(Comparison::Lt, operands[1], operands[2]).expect("a comparison");
            evaluator.select(&flags, operands[1], operands[2]).expect("a choice")
        }
        _ => evaluator.apply(operation, &operands[..operation.operands()]).expect("an operation"),
    }
}
