//! Integers of radix digits against the arithmetic of the machine.

mod costs;
mod operations;
mod parts;
mod programs;
mod refusals;

use noren::radix::{Comparison, Evaluator, Flag, Integer, Move, Operation, Shape};

use crate::world::{INTEGERS_2_2, World};

/// A world with integers.
pub struct Integers {
    pub world: World,
    /// For circuits of few rounds, and for those of few bootstraps.
    pub evaluators: [Evaluator; 2],
}

impl Integers {
    pub fn of(world: World) -> Self {
        let evaluator = || Evaluator::new(&world.evaluator()).expect("digits of two bits");
        let evaluators = [evaluator().with_small_batch(usize::MAX), evaluator().with_small_batch(0)];
        Self { world, evaluators }
    }

    pub fn small() -> Self {
        Self::of(World::small(INTEGERS_2_2))
    }

    pub fn encrypt(&self, values: &[u64], bits: usize) -> Vec<Integer> {
        let encryptor = self.world.encryptor();
        values.iter().map(|&value| Integer::encrypt(&encryptor, value, bits).expect("an integer")).collect()
    }

    pub fn encrypt_flags(&self, values: &[u64]) -> Vec<Flag> {
        let encryptor = self.world.encryptor();
        values.iter().map(|&value| Flag::encrypt(&encryptor, value == 1).expect("a flag")).collect()
    }

    pub fn decrypt(&self, integers: &[Integer]) -> Vec<u64> {
        let decryptor = self.world.decryptor();
        integers.iter().map(|integer| integer.decrypt(&decryptor).expect("an integer")).collect()
    }

    pub fn decrypt_flags(&self, flags: &[Flag]) -> Vec<u64> {
        let decryptor = self.world.decryptor();
        flags.iter().map(|flag| u64::from(flag.decrypt(&decryptor).expect("a flag"))).collect()
    }

    /// The results of an operation, decrypted.
    pub fn evaluate(
        &self,
        evaluator: &Evaluator,
        operation: Operation,
        bits: usize,
        columns: &[&[u64]],
    ) -> Vec<Vec<u64>> {
        let first = usize::from(operation == Operation::Select);
        let operands: Vec<Vec<Integer>> = columns[first..].iter().map(|values| self.encrypt(values, bits)).collect();
        let operands: Vec<&[Integer]> = operands.iter().map(|column| &column[..]).collect();
        let pair = |(a, b): (Vec<Integer>, Vec<Integer>)| vec![self.decrypt(&a), self.decrypt(&b)];
        let all = |sorted: noren::Result<Vec<Vec<Integer>>>| -> Vec<Vec<u64>> {
            sorted.expect("integers").iter().map(|integers| self.decrypt(integers)).collect()
        };
        match operation {
            Operation::DivRem => pair(evaluator.div_rem(operands[0], operands[1]).expect("a division")),
            Operation::DivRemSigned => pair(evaluator.div_rem_signed(operands[0], operands[1]).expect("a division")),
            Operation::Exchange | Operation::Sort(_) => all(evaluator.sort(&operands)),
            Operation::ExchangeSigned | Operation::SortSigned(_) => all(evaluator.sort_signed(&operands)),
            Operation::Argmax(_) => pair(evaluator.argmax(&operands).expect("a maximum")),
            Operation::Compare(comparison) => {
                let flags = evaluator.compare(comparison, operands[0], operands[1]).expect("a comparison");
                vec![self.decrypt_flags(&flags)]
            }
            Operation::CompareSigned(comparison) => {
                let flags = evaluator.compare_signed(comparison, operands[0], operands[1]).expect("a comparison");
                vec![self.decrypt_flags(&flags)]
            }
            Operation::Select => {
                let flags = self.encrypt_flags(columns[0]);
                vec![self.decrypt(&evaluator.select(&flags, operands[0], operands[1]).expect("a choice"))]
            }
            _ => vec![self.decrypt(&evaluator.apply(operation, &operands).expect("an operation"))],
        }
    }

    /// Compares results with the model, for both evaluators if their circuits differ.
    pub fn assert_operation(&self, operation: Operation, bits: usize, columns: &[&[u64]]) {
        let [flat, lean] = [Shape::Flat, Shape::Lean].map(|shape| operation.cost(bits, shape).expect("a width"));
        let evaluators = &self.evaluators[..if flat == lean { 1 } else { 2 }];
        let elements = 0..columns[0].len();
        let arguments: Vec<Vec<u64>> =
            elements.map(|index| columns.iter().map(|column| column[index]).collect()).collect();
        for evaluator in evaluators {
            let results = self.evaluate(evaluator, operation, bits, columns);
            for (index, arguments) in arguments.iter().enumerate() {
                let found: Vec<u64> = results.iter().map(|column| column[index]).collect();
                assert_eq!(found, model(operation, bits, arguments), "{operation:?} of {arguments:?}, {bits} bits");
            }
        }
    }
}

/// The largest integer.
pub fn mask(bits: usize) -> u64 {
    u64::MAX >> (64 - bits)
}

/// The results of an operation by the arithmetic of the machine.
pub fn model(operation: Operation, bits: usize, arguments: &[u64]) -> Vec<u64> {
    let signed = |value: u64| (value << (64 - bits)).cast_signed() >> (64 - bits);
    let (a, b) = (arguments[0], arguments.get(1).copied().unwrap_or(0));
    let result = match operation {
        Operation::Add => a.wrapping_add(b),
        Operation::Sub => a.wrapping_sub(b),
        Operation::Neg => a.wrapping_neg(),
        Operation::Mul => a.wrapping_mul(b),
        Operation::AddKnown(number) => a.wrapping_add(number),
        Operation::MulKnown(number) => a.wrapping_mul(number),
        Operation::Sum(_) => arguments.iter().fold(0, |sum: u64, value| sum.wrapping_add(*value)),
        Operation::DivRem => {
            return vec![a.checked_div(b).unwrap_or(mask(bits)), a.checked_rem(b).unwrap_or(a)];
        }
        Operation::DivRemSigned => {
            // Wide enough for the least number and -1.
            let (a, b) = (i128::from(signed(a)), i128::from(signed(b)));
            let results = match b {
                0 => [if a < 0 { 0 } else { -1 }, a],
                _ => {
                    let rest = a % b;
                    let rest = if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest };
                    [(a - rest) / b, rest]
                }
            };
            return results.map(|result| result as u64 & mask(bits)).to_vec();
        }
        Operation::Exchange | Operation::Sort(_) | Operation::ExchangeSigned | Operation::SortSigned(_) => {
            let is_signed = matches!(operation, Operation::ExchangeSigned | Operation::SortSigned(_));
            let mut sorted = arguments.to_vec();
            sorted.sort_by_key(|&value| if is_signed { signed(value) } else { value.cast_signed() });
            return sorted;
        }
        Operation::Argmax(_) => {
            let largest = arguments.iter().copied().max().expect("at least one");
            let number = arguments.iter().position(|value| *value == largest).expect("it is one of them");
            return vec![largest, number as u64];
        }
        Operation::Compare(comparison) => u64::from(holds(comparison, &a, &b)),
        Operation::CompareSigned(comparison) => u64::from(holds(comparison, &signed(a), &signed(b))),
        Operation::Min => a.min(b),
        Operation::Max => a.max(b),
        Operation::Select => {
            if a == 1 {
                b
            } else {
                arguments[2]
            }
        }
        Operation::And => a & b,
        Operation::AndKnown(number) => a & number,
        Operation::Or => a | b,
        Operation::Xor => a ^ b,
        Operation::Not => !a,
        Operation::MoveKnown(direction, by) => moved(direction, bits, a, by),
        Operation::Move(direction) => moved(direction, bits, a, b as usize % bits.next_power_of_two()),
        Operation::Cast(to) => return vec![a & mask(to)],
        Operation::CastSigned(to) => return vec![signed(a).cast_unsigned() & mask(to)],
    };
    vec![result & mask(bits)]
}

fn holds<T: Ord>(comparison: Comparison, a: &T, b: &T) -> bool {
    match comparison {
        Comparison::Eq => a == b,
        Comparison::Ne => a != b,
        Comparison::Lt => a < b,
        Comparison::Le => a <= b,
        Comparison::Gt => a > b,
        Comparison::Ge => a >= b,
    }
}

/// Bit by bit.
fn moved(direction: Move, bits: usize, value: u64, by: usize) -> u64 {
    let bit = |place: usize| {
        let source = match direction {
            Move::ShiftLeft => place.checked_sub(by),
            Move::ShiftRight => Some(place + by).filter(|source| *source < bits),
            Move::ShiftRightSigned => Some((place + by).min(bits - 1)),
            Move::RotateLeft => Some((place + bits - by % bits) % bits),
            Move::RotateRight => Some((place + by) % bits),
        };
        source.map_or(0, |source| value >> source & 1)
    };
    (0..bits).map(|place| bit(place) << place).sum()
}

pub const COMPARISONS: [Comparison; 6] =
    [Comparison::Eq, Comparison::Ne, Comparison::Lt, Comparison::Le, Comparison::Gt, Comparison::Ge];

pub const MOVES: [Move; 5] =
    [Move::ShiftLeft, Move::ShiftRight, Move::ShiftRightSigned, Move::RotateLeft, Move::RotateRight];
