//! Each operation by itself.

use noren::radix::{Comparison, Move, Operation};

use crate::integers::{COMPARISONS, Integers, MOVES, mask};
use crate::world::{World, cases};

/// Operations of two integers of the same bits.
fn binary() -> Vec<Operation> {
    let mut operations = vec![
        Operation::Add,
        Operation::Sub,
        Operation::Mul,
        Operation::DivRem,
        Operation::DivRemSigned,
        Operation::Min,
        Operation::Max,
        Operation::Exchange,
        Operation::ExchangeSigned,
        Operation::And,
        Operation::Or,
        Operation::Xor,
    ];
    operations.extend(COMPARISONS.map(Operation::Compare));
    operations.extend(COMPARISONS.map(Operation::CompareSigned));
    operations
}

/// The values at the ends of something, and others.
fn ends(bits: usize) -> Vec<u64> {
    let max = mask(bits);
    [0, 1, 3, max, max / 2, max / 2 + 1, 0x1b2d_364f_5a6c_7e81 & max].to_vec()
}

fn pairs(values: &[u64]) -> (Vec<u64>, Vec<u64>) {
    values.iter().flat_map(|&x| values.iter().map(move |&y| (x, y))).unzip()
}

#[test]
fn operations_of_two_integers_of_4_bits_are_right_over_all_inputs() {
    let integers = Integers::small();
    let (a, b) = pairs(&(0..16).collect::<Vec<_>>());
    for operation in cases(binary()) {
        integers.assert_operation(operation, 4, &[&a, &b]);
    }
}

#[test]
fn operations_of_one_integer_of_8_bits_are_right_over_all_inputs() {
    let integers = Integers::small();
    let all: Vec<u64> = (0..256).collect();
    let operations = [
        Operation::Neg,
        Operation::Not,
        Operation::AddKnown(0xb7),
        Operation::MulKnown(0xb7),
        Operation::AndKnown(0xb7),
        Operation::AndKnown(0xc),
        Operation::Cast(2),
        Operation::CastSigned(12),
        Operation::MoveKnown(Move::ShiftLeft, 3),
        Operation::MoveKnown(Move::RotateRight, 3),
        Operation::MoveKnown(Move::ShiftRightSigned, 3),
    ];
    for operation in cases(operations) {
        integers.assert_operation(operation, 8, &[&all]);
    }
}

#[test]
fn sums_and_orders_are_right_at_the_ends_of_all_widths() {
    let integers = Integers::small();
    for bits in cases([64, 2, 4, 6, 8, 10, 12, 14, 20, 22, 32, 50]) {
        let values = [1, mask(bits), mask(bits) / 2];
        let (a, b) = pairs(&values);
        for operation in [Operation::Add, Operation::Sub, Operation::Compare(Comparison::Le)] {
            integers.assert_operation(operation, bits, &[&a, &b]);
        }
    }
}

#[test]
fn operations_are_right_at_the_ends_of_wide_integers() {
    let integers = Integers::small();
    let (a, b) = pairs(&[1, mask(18), mask(18) / 2, 0x2_7e81]);
    let divides = |operation: &Operation| matches!(operation, Operation::DivRem | Operation::DivRemSigned);
    let (c, d) = pairs(&[0, 1, 127, 128, 129, 255]);
    let all =
        binary().into_iter().filter(|operation| !divides(operation)).map(|operation| (operation, 18, [&a[..], &b]));
    let wider: [(Operation, usize, [&[u64]; 2]); 5] = [
        (Operation::Mul, 36, [&[u64::MAX >> 28, 0xf_8d09_4dec], &[u64::MAX >> 28, 0x1_0000_0001]]),
        (Operation::DivRem, 8, [&[200, 255, 7, 0, 255, 9], &[7, 255, 0, 0, 1, 10]]),
        (Operation::DivRem, 14, [&[0x3fff, 12345], &[3, 12346]]),
        (Operation::DivRemSigned, 8, [&c, &d]),
        (Operation::DivRemSigned, 14, [&[0x2000, 12345], &[0x3fff, 77]]),
    ];
    for (operation, bits, columns) in cases(all.chain(wider)) {
        integers.assert_operation(operation, bits, &columns);
    }
}

#[test]
fn encrypted_amounts_move_as_known_ones_do() {
    let integers = Integers::small();
    for direction in cases(MOVES) {
        let amounts: Vec<u64> = (0..16).collect();
        integers.assert_operation(Operation::Move(direction), 8, &[&[0xb5; 16], &amounts]);
        integers.assert_operation(Operation::Move(direction), 12, &[&[0xb5d; 16], &amounts]);
        integers.assert_operation(Operation::Move(direction), 8, &[&[0x75; 16], &amounts]);
        let amounts: Vec<u64> = (0..4).collect();
        integers.assert_operation(Operation::Move(direction), 2, &[&[1; 4], &amounts]);
        for bits in 0..=14 {
            integers.assert_operation(Operation::MoveKnown(direction, bits), 12, &[&[0xb5d, 0x75d]]);
        }
    }
}

#[test]
fn known_factors_multiply_as_encrypted_ones_do() {
    let integers = Integers::small();
    for factor in cases(ends(16).into_iter().rev()) {
        integers.assert_operation(Operation::MulKnown(factor), 16, &[&ends(16)]);
        integers.assert_operation(Operation::AddKnown(factor), 16, &[&ends(16)]);
    }
}

#[test]
fn many_terms_are_summed_and_compared() {
    let integers = Integers::small();
    for count in cases([3, 1, 2, 5, 9, 20]) {
        let term = |index: u64| [0xffff - index, (index * 0x1357) & 0xffff];
        let terms: Vec<[u64; 2]> = (0..count).map(term).collect();
        let terms: Vec<&[u64]> = terms.iter().map(|term| &term[..]).collect();
        integers.assert_operation(Operation::Sum(terms.len()), 16, &terms);
        integers.assert_operation(Operation::Argmax(terms.len()), 16, &terms);
    }
    let ties = [&[5, 9][..], &[9, 9], &[9, 0], &[1, 9]];
    integers.assert_operation(Operation::Argmax(4), 8, &ties);
}

#[test]
fn a_flag_chooses() {
    let integers = Integers::small();
    let (a, b) = pairs(&ends(10));
    for flag in [0, 1] {
        integers.assert_operation(Operation::Select, 10, &[&vec![flag; a.len()], &a, &b]);
    }
}

#[test]
fn integers_of_the_default_set_are_added_and_compared() {
    let integers = Integers::of(World::preset("2_2"));
    integers.assert_operation(Operation::Add, 8, &[&[200], &[100]]);
    integers.assert_operation(Operation::Compare(Comparison::Lt), 8, &[&[200], &[201]]);
}

#[test]
#[ignore = "thousands of bootstraps of 128 bits: a minute"]
fn integers_of_the_default_set_are_right() {
    let integers = Integers::of(World::preset("2_2"));
    for operation in binary() {
        integers.assert_operation(operation, 8, &[&[200, 77], &[77, 200]]);
    }
    for operation in [Operation::Add, Operation::Mul, Operation::DivRem, Operation::Max] {
        integers.assert_operation(operation, 16, &[&[54_321, 0xffff], &[12_345, 0xffff]]);
    }
    integers.assert_operation(Operation::Sub, 64, &[&[1, u64::MAX], &[2, 1]]);
}

#[test]
#[ignore = "all pairs of 8 bits: minutes"]
fn sums_of_two_integers_of_8_bits_are_right_over_all_inputs() {
    let integers = Integers::small();
    for a in (0..256).step_by(16) {
        let (a, b): (Vec<u64>, Vec<u64>) = (a..a + 16).flat_map(|x| (0..256).map(move |y| (x, y))).unzip();
        for operation in [Operation::Add, Operation::Sub, Operation::Compare(Comparison::Lt)] {
            integers.assert_operation(operation, 8, &[&a, &b]);
        }
    }
}

/// The quotients of small divisors are long, those of 0 are all ones, those of large ones 0 or 1; -128 / -1 does not fit.
#[test]
#[ignore = "all dividends of 8 bits: minutes"]
fn quotients_of_all_integers_of_8_bits_are_right() {
    let integers = Integers::small();
    for divisor in [0, 1, 2, 3, 7, 10, 16, 85, 127, 128, 129, 200, 254, 255] {
        let (dividends, divisors): (Vec<u64>, Vec<u64>) = (0..256).map(|dividend| (dividend, divisor)).unzip();
        for operation in [Operation::DivRem, Operation::DivRemSigned] {
            integers.assert_operation(operation, 8, &[&dividends, &divisors]);
        }
    }
}

#[test]
fn integers_are_sorted() {
    let integers = Integers::small();
    let values = ends(8);
    for count in cases([3, 1, 2, 5, 7]) {
        let terms: Vec<Vec<u64>> =
            (0..count).map(|term| (0..4).map(|at| values[(3 * term + 2 * at) % values.len()]).collect()).collect();
        let terms: Vec<&[u64]> = terms.iter().map(Vec::as_slice).collect();
        for operation in [Operation::Sort(count), Operation::SortSigned(count)] {
            integers.assert_operation(operation, 8, &terms);
        }
    }
    let (one, two) = (integers.encrypt(&[1], 8), integers.encrypt(&[1, 2], 8));
    assert!(integers.evaluators[0].sort(&[]).is_err());
    assert!(integers.evaluators[0].sort(&[&one, &two]).is_err());
}
