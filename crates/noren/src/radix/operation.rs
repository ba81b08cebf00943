//! Operations on integers as circuits, and what they cost.

use noren_rlwe::error::{Error, Result};

use crate::radix::carry::{BASE, propagate};
use crate::radix::circuit::{Circuit, Cost, DIGIT_BITS, Shape};
use crate::radix::columns::Columns;
use crate::radix::compare::{Comparison, difference};
use crate::radix::divide::{divide, divide_signed};
use crate::radix::integer::{check_bits, check_fits};
use crate::radix::multiply::{multiply, multiply_known};
use crate::radix::select::{map, mask, not, select};
use crate::radix::shift::Move;
use crate::radix::sort::{exchange, exchanges};
use crate::radix::value::Value;

/// Operations on integers.
///
/// All operands have the same number of bits, but for amounts of shifts, which may have any. Unless they say otherwise, results
/// have the bits of the operands and are modulo `2^bits`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `-a`.
    Neg,
    /// `a b`.
    Mul,
    /// `a + number`.
    AddKnown(u64),
    /// `a number`.
    MulKnown(u64),
    /// The sum of integers, by their number.
    Sum(usize),
    /// The quotient of a and b, rounded down, and the remainder, unsigned. For b = 0 all bits of the quotient are 1, and the
    /// remainder is a.
    DivRem,
    /// The quotient of signed integers a and b, rounded down, and the remainder, with the sign of b. For b = 0 the
    /// quotient is -1, or 0 if a is negative, and the remainder is a.
    DivRemSigned,
    /// A flag: a relation of unsigned integers.
    Compare(Comparison),
    /// A flag: a relation of signed integers.
    CompareSigned(Comparison),
    /// The smaller of unsigned integers.
    Min,
    /// The larger of unsigned integers.
    Max,
    /// The largest of unsigned integers, by how many there are, and the number of the first that is it, counted from 0, of the fewest bits.
    Argmax(usize),
    /// The smaller and the larger of unsigned integers.
    Exchange,
    /// The smaller and the larger of signed integers.
    ExchangeSigned,
    /// Unsigned integers in ascending order, by exchanges; how many there are.
    Sort(usize),
    /// Signed integers in ascending order, by exchanges; how many there are.
    SortSigned(usize),
    /// Of a flag, a and b: a if the flag is true, else b.
    Select,
    /// Each bit whether it is 1 in both.
    And,
    /// Each bit whether it is 1 in both, of a and the number.
    AndKnown(u64),
    /// Each bit whether it is 1 in one at least.
    Or,
    /// Each bit whether it is 1 in just one.
    Xor,
    /// Each bit whether it is 0.
    Not,
    /// Moves by a number of bits. Shifts by the width or more leave 0, or copies of the sign; rotations are modulo the
    /// width.
    MoveKnown(Move, usize),
    /// Moves a by b bits. Of b as many low bits count as numbers below the width have; the others are passed over.
    Move(Move),
    /// The same unsigned integer with another number of bits: higher bits are dropped, or are 0.
    Cast(usize),
    /// The same signed integer with another number of bits: higher bits are dropped, or are those of the sign.
    CastSigned(usize),
}

/// Bounds on a digit that hold for all elements of a batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Digit {
    /// The largest value.
    pub(crate) most: u64,
    /// The noise, in bootstraps.
    pub(crate) noise: f64,
}

impl Digit {
    /// A digit that comes from encryption.
    pub(crate) const FRESH: Self = Self { most: BASE - 1, noise: 1.0 };

    /// Bounds that hold for both.
    pub(crate) fn or(self, other: Self) -> Self {
        Self { most: self.most.max(other.most), noise: self.noise.max(other.noise) }
    }
}

impl Operation {
    /// The cost for integers of `bits` bits that come from encryption, for a batch of one or of many.
    ///
    /// # Errors
    /// [`Error::Parameters`] for a width that is odd or not from 2 to 64, or a number of the operation that is out of range.
    pub fn cost(self, bits: usize, shape: Shape) -> Result<Cost> {
        self.check(bits)?;
        match self {
            Self::Sort(count) => Ok(Self::Exchange.cost_of_sort(count, bits, shape)),
            Self::SortSigned(count) => Ok(Self::ExchangeSigned.cost_of_sort(count, bits, shape)),
            _ => Ok(self.cost_at(bits, shape, Digit::FRESH.noise).0),
        }
    }

    /// The cost of sorting by these exchanges. Those of a layer are one batch, made for the noisiest of its operands.
    fn cost_of_sort(self, count: usize, bits: usize, shape: Shape) -> Cost {
        let (mut noises, mut total) = (vec![Digit::FRESH.noise; count], Cost::default());
        for layer in exchanges(count).iter().filter(|layer| !layer.is_empty()) {
            let noise = layer.iter().flat_map(|&(i, j)| [noises[i], noises[j]]).fold(0.0, f64::max);
            let (cost, after) = self.cost_at(bits, shape, noise);
            total.bootstraps += layer.len() * cost.bootstraps;
            total.rounds += cost.rounds;
            total.held = total.held.max(layer.len() * cost.held);
            layer.iter().for_each(|&(i, j)| (noises[i], noises[j]) = (after, after));
        }
        total
    }

    /// The cost for integers of this noise, and the noise of its results.
    fn cost_at(self, bits: usize, shape: Shape, noise: f64) -> (Cost, f64) {
        let operand = |index| match self.takes_flag(index) {
            true => vec![Digit { most: 1, noise }],
            false => vec![Digit { noise, ..Digit::FRESH }; bits / DIGIT_BITS],
        };
        let (cost, outputs) = self.cost_of(&(0..self.operands()).map(operand).collect::<Vec<_>>(), shape);
        (cost, outputs.iter().flatten().map(|digit| digit.noise).fold(0.0, f64::max))
    }

    /// The cost for operands of these digits, and the digits of each result.
    ///
    /// # Panics
    /// For another number of operands, and for sorting.
    pub(crate) fn cost_of(self, operands: &[impl AsRef<[Digit]>], shape: Shape) -> (Cost, Vec<Vec<Digit>>) {
        let (circuit, outputs) = self.circuit(operands, shape);
        let digit = |value: &Value| Digit { most: value.most(), noise: value.noise() };
        let digits = outputs.iter().map(|output| output.iter().map(digit).collect()).collect();
        (circuit.cost(&outputs.concat()), digits)
    }

    /// The circuit for operands of these digits, and the digits of each result.
    pub(super) fn circuit(self, operands: &[impl AsRef<[Digit]>], shape: Shape) -> (Circuit, Vec<Vec<Value>>) {
        let mut circuit = Circuit::new(shape);
        let mut input = |digit: &Digit| circuit.input(digit.most, digit.noise);
        let operands: Vec<Vec<Value>> =
            operands.iter().map(|digits| digits.as_ref().iter().map(&mut input).collect()).collect();
        let outputs = self.build(&mut circuit, &operands);
        (circuit, outputs)
    }

    /// How many operands it takes.
    #[must_use]
    pub const fn operands(self) -> usize {
        match self {
            Self::Neg
            | Self::AddKnown(_)
            | Self::MulKnown(_)
            | Self::AndKnown(_)
            | Self::Not
            | Self::MoveKnown(..)
            | Self::Cast(_)
            | Self::CastSigned(_) => 1,
            Self::Select => 3,
            Self::Sum(count) | Self::Argmax(count) | Self::Sort(count) | Self::SortSigned(count) => count,
            _ => 2,
        }
    }

    /// Whether its operands are integers, and its result is one.
    pub(super) const fn has_one_integer(self) -> bool {
        !matches!(
            self,
            Self::DivRem
                | Self::DivRemSigned
                | Self::Argmax(_)
                | Self::Exchange
                | Self::ExchangeSigned
                | Self::Sort(_)
                | Self::SortSigned(_)
                | Self::Select
                | Self::Compare(_)
                | Self::CompareSigned(_)
        )
    }

    /// Whether the operand of this number is a flag.
    pub(super) fn takes_flag(self, operand: usize) -> bool {
        self == Self::Select && operand == 0
    }

    /// Whether the operand of this number may have other bits than the first integer.
    pub(super) const fn any_bits(self, operand: usize) -> bool {
        matches!(self, Self::Move(_)) && operand == 1
    }

    /// Refuses widths and numbers out of range.
    pub(super) fn check(self, bits: usize) -> Result<()> {
        check_bits(bits)?;
        match self {
            Self::AddKnown(number) | Self::MulKnown(number) | Self::AndKnown(number) => check_fits(number, bits),
            Self::Cast(bits) | Self::CastSigned(bits) => check_bits(bits),
            Self::Sum(0) | Self::Argmax(0) | Self::Sort(0) | Self::SortSigned(0) => {
                Err(Error::parameter("integers of one element", 0, "at least 1"))
            }
            _ => Ok(()),
        }
    }

    /// The digits of each result.
    fn build(self, circuit: &mut Circuit, operands: &[Vec<Value>]) -> Vec<Vec<Value>> {
        let one = Value::constant(1);
        let known = |number: u64, digits: usize| known_digits(number, digits);
        let result = match (self, operands) {
            (Self::Add, [a, b]) => add(circuit, a, b),
            (Self::AddKnown(number), [a]) => add(circuit, a, &known(number, a.len())),
            (Self::Sub, [a, b]) => {
                let sums: Vec<Value> = a.iter().zip(b).map(|(a, b)| difference(a, b)).collect();
                propagate(circuit, &sums, &one)
            }
            (Self::Neg, [a]) => propagate(circuit, &a.iter().map(not).collect::<Vec<_>>(), &one),
            (Self::Mul, [a, b]) => multiply(circuit, a, b),
            (Self::MulKnown(factor), [a]) => multiply_known(circuit, a, factor),
            (Self::Sum(_), terms) => {
                let mut columns = Columns::new(terms[0].len());
                for digits in terms {
                    digits.iter().enumerate().for_each(|(column, digit)| columns.add(column, digit.clone()));
                }
                columns.sum(circuit)
            }
            (Self::DivRem, [a, b]) => {
                let (quotient, remainder) = divide(circuit, a, b);
                return vec![quotient, remainder];
            }
            (Self::DivRemSigned, [a, b]) => {
                let (quotient, remainder) = divide_signed(circuit, a, b);
                return vec![quotient, remainder];
            }
            (Self::Compare(comparison), [a, b]) => vec![comparison.build(circuit, a, b, false)],
            (Self::CompareSigned(comparison), [a, b]) => vec![comparison.build(circuit, a, b, true)],
            (Self::Min, [a, b]) => {
                let flag = Comparison::Lt.build(circuit, a, b, false);
                select(circuit, &flag, a, b)
            }
            (Self::Max, [a, b]) => {
                let flag = Comparison::Lt.build(circuit, a, b, false);
                select(circuit, &flag, b, a)
            }
            (Self::Argmax(_), terms) => {
                let (largest, number) = argmax(circuit, terms);
                return vec![largest, number];
            }
            (Self::Exchange, [a, b]) => return exchange(circuit, a, b, false).into(),
            (Self::ExchangeSigned, [a, b]) => return exchange(circuit, a, b, true).into(),
            (Self::Sort(_) | Self::SortSigned(_), _) => panic!("integers are sorted by exchanges"),
            (Self::Select, [flag, a, b]) => select(circuit, &flag[0], a, b),
            (Self::And, [a, b]) => map(circuit, a, b, |a, b| a & b),
            (Self::AndKnown(number), [a]) => mask(circuit, a, number),
            (Self::Or, [a, b]) => map(circuit, a, b, |a, b| a | b),
            (Self::Xor, [a, b]) => map(circuit, a, b, |a, b| a ^ b),
            (Self::Not, [a]) => a.iter().map(not).collect(),
            (Self::MoveKnown(direction, bits), [a]) => direction.by(circuit, a, bits),
            (Self::Move(direction), [a, amount]) => direction.by_encrypted(circuit, a, amount),
            (Self::Cast(bits), [a]) => widen(a, bits, &Value::constant(0)),
            (Self::CastSigned(bits), [a]) => {
                let sign = circuit.lookup(&a[a.len() - 1], |x| (BASE - 1) * (x / 2));
                widen(a, bits, &sign)
            }
            _ => panic!("{self:?} takes {} operands, not {}", self.operands(), operands.len()),
        };
        vec![result]
    }
}

/// The digits of a number that everybody knows.
pub(super) fn known_digits(number: u64, digits: usize) -> Vec<Value> {
    (0..digits).map(|place| Value::constant(number >> (DIGIT_BITS * place) & (BASE - 1))).collect()
}

fn add(circuit: &mut Circuit, a: &[Value], b: &[Value]) -> Vec<Value> {
    let sums: Vec<Value> = a.iter().zip(b).map(|(a, b)| a.clone() + b).collect();
    propagate(circuit, &sums, &Value::constant(0))
}

/// The largest integer and its number, by a tournament.
fn argmax(circuit: &mut Circuit, terms: &[Vec<Value>]) -> (Vec<Value>, Vec<Value>) {
    let bits = terms.len().next_power_of_two().trailing_zeros() as usize;
    let numbers = (0..).map(|number| known_digits(number, bits.div_ceil(DIGIT_BITS).max(1)));
    let mut players: Vec<(Vec<Value>, Vec<Value>)> = terms.iter().cloned().zip(numbers).collect();
    while players.len() > 1 {
        let play = |players: &[(Vec<Value>, Vec<Value>)]| {
            let [(a, number_a), (b, number_b)] = players else { return players[0].clone() };
            let flag = Comparison::Lt.build(circuit, a, b, false);
            (select(circuit, &flag, b, a), select(circuit, &flag, number_b, number_a))
        };
        players = players.chunks(2).map(play).collect();
    }
    players.remove(0)
}

/// The lowest digits, or more of them, all the same.
fn widen(digits: &[Value], bits: usize, more: &Value) -> Vec<Value> {
    digits.iter().chain(std::iter::repeat(more)).take(bits / DIGIT_BITS).cloned().collect()
}
