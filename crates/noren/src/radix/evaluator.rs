//! Operations on batches of integers.

use noren_ring::interrupt::Steps;
use noren_rlwe::error::{Error, Result};

use crate::radix::carry::BASE;
use crate::radix::circuit::{Circuit, DIGIT_BITS, MAX_NOISE, Shape};
use crate::radix::compare::Comparison;
use crate::radix::integer::{Flag, Integer, check_bits, check_fits, check_set};
use crate::radix::operation::{Digit, Operation};
use crate::radix::run::Runner;
use crate::radix::shift::Move;
use crate::radix::sort::exchanges;
use crate::schemes::tfhe::{self, Ciphertext};

/// Integers up to which a batch is computed in few rounds.
const SINGLE: usize = 1;

/// Evaluates on batches of integers: what an operation does, it does for each of them, and every round of lookups of all goes to
/// the evaluator at once.
pub struct Evaluator {
    runner: Runner,
    /// The largest batch, in integers, that has few rounds.
    small_batch: usize,
}

/// An operand of each element of a batch: its digits.
type Column<'a> = Vec<&'a [Ciphertext]>;

impl Evaluator {
    /// Evaluates with this evaluator of digits.
    ///
    /// # Errors
    /// [`Error::Parameters`] for a set that is not of 2 bits of message and 2 of carry, or not for sums of 5 bootstraps.
    pub fn new(evaluator: &tfhe::Evaluator) -> Result<Self> {
        let parameters = evaluator.context().parameters();
        check_set(parameters)?;
        if parameters.max_noise() < MAX_NOISE {
            return Err(Error::parameter("max_noise", parameters.max_noise(), format!("at least {MAX_NOISE}")));
        }
        Ok(Self { runner: Runner::new(evaluator), small_batch: SINGLE })
    }

    /// The same, but that batches of at most `integers` integers are computed with [`Shape::Flat`] circuits, larger ones with
    /// [`Shape::Lean`] ones; 1 at first. More is faster where threads are many.
    #[must_use]
    pub fn with_small_batch(mut self, integers: usize) -> Self {
        self.small_batch = integers;
        self
    }

    /// The same, but that batches hold ciphertexts of at most `bytes` bytes at a time, beside operands and results; 1 GiB at first.
    ///
    /// Larger batches are computed in parts, of as many integers at least as keep all threads at work. Results do not depend on it.
    #[must_use]
    pub fn with_working_set(mut self, bytes: usize) -> Self {
        self.runner = self.runner.with_working_set(bytes);
        self
    }

    /// The evaluator of digits.
    #[must_use]
    pub const fn digits(&self) -> &tfhe::Evaluator {
        self.runner.evaluator()
    }

    /// The number as an integer that hides nothing.
    ///
    /// # Errors
    /// [`TfheError::OutOfRoom`](crate::tfhe::TfheError::OutOfRoom) if it has more bits; [`Error::Parameters`] for a
    /// width that is odd or not from 2 to 64.
    pub fn trivial(&self, value: u64, bits: usize) -> Result<Integer> {
        check_bits(bits)?;
        check_fits(value, bits)?;
        let digits = (0..bits).step_by(DIGIT_BITS).map(|at| self.digits().trivial(value >> at & (BASE - 1)));
        Integer::from_digits(digits.collect::<Result<_>>()?)
    }

    /// The truth value as a flag that hides nothing.
    ///
    /// # Errors
    /// None that a caller can cause.
    pub fn trivial_flag(&self, value: bool) -> Result<Flag> {
        Ok(Flag { value: self.digits().trivial(u64::from(value))? })
    }

    /// The result of an operation on integers that has one integer as result.
    ///
    /// # Errors
    /// [`Error::Parameters`] for operations on flags or with other results, that have functions of their own.
    /// [`Error::Length`] for batches of different lengths or another number of operands; [`Error::Parameters`] for operands of
    /// different bits, and for numbers of the operation that are out of range; [`Error::ParameterMismatch`] and
    /// [`Error::KeyMismatch`] for integers of others.
    pub fn apply(&self, operation: Operation, operands: &[&[Integer]]) -> Result<Vec<Integer>> {
        if !operation.has_one_integer() {
            return Err(Error::parameter("operation", format!("{operation:?}"), "one of integers with one result"));
        }
        let columns: Vec<Column<'_>> = operands.iter().map(|integers| column(integers)).collect();
        self.run(operation, &columns)?.into_iter().map(|mut results| integer(&mut results)).collect()
    }

    /// `a + b`, modulo `2^bits`.
    ///
    /// # Errors
    /// As [`Evaluator::apply`].
    pub fn add(&self, a: &[Integer], b: &[Integer]) -> Result<Vec<Integer>> {
        self.apply(Operation::Add, &[a, b])
    }

    /// `a - b`, modulo `2^bits`.
    ///
    /// # Errors
    /// As [`Evaluator::apply`].
    pub fn sub(&self, a: &[Integer], b: &[Integer]) -> Result<Vec<Integer>> {
        self.apply(Operation::Sub, &[a, b])
    }

    /// `a b`, modulo `2^bits`.
    ///
    /// # Errors
    /// As [`Evaluator::apply`].
    pub fn mul(&self, a: &[Integer], b: &[Integer]) -> Result<Vec<Integer>> {
        self.apply(Operation::Mul, &[a, b])
    }

    /// `-a`, modulo `2^bits`.
    ///
    /// # Errors
    /// As [`Evaluator::apply`].
    pub fn neg(&self, a: &[Integer]) -> Result<Vec<Integer>> {
        self.apply(Operation::Neg, &[a])
    }

    /// Quotients, rounded down, and remainders of unsigned integers. For b = 0 all bits of the quotient are 1, and the remainder
    /// is a.
    ///
    /// # Errors
    /// As [`Evaluator::apply`].
    pub fn div_rem(&self, a: &[Integer], b: &[Integer]) -> Result<(Vec<Integer>, Vec<Integer>)> {
        self.pairs(Operation::DivRem, &[a, b])
    }

    /// Quotients of signed integers, rounded down, and remainders, with the signs of b. For b = 0 the quotient is -1,
    /// or 0 if a is negative, and the remainder is a; the quotient of the least integer and -1 is the least integer.
    ///
    /// # Errors
    /// As [`Evaluator::apply`].
    pub fn div_rem_signed(&self, a: &[Integer], b: &[Integer]) -> Result<(Vec<Integer>, Vec<Integer>)> {
        self.pairs(Operation::DivRemSigned, &[a, b])
    }

    /// The largest unsigned integer of each element, and the number of the first that is it, counted from 0, with as many bits
    /// as it needs: `terms[i]` holds the i-th integer of all elements.
    ///
    /// # Errors
    /// As [`Evaluator::apply`]; [`Error::Parameters`] if there is no integer.
    pub fn argmax(&self, terms: &[&[Integer]]) -> Result<(Vec<Integer>, Vec<Integer>)> {
        self.pairs(Operation::Argmax(terms.len()), terms)
    }

    /// The unsigned integers of each element in ascending order: `terms[i]` holds the i-th integer of all elements, before and after.
    ///
    /// All exchanges of a layer of [`exchanges`] are one batch.
    ///
    /// # Errors
    /// As [`Evaluator::apply`]; [`Error::Parameters`] if there is no integer.
    pub fn sort(&self, terms: &[&[Integer]]) -> Result<Vec<Vec<Integer>>> {
        self.sort_by(Operation::Exchange, terms)
    }

    /// The signed integers of each element in ascending order; see [`Evaluator::sort`].
    ///
    /// # Errors
    /// As [`Evaluator::sort`].
    pub fn sort_signed(&self, terms: &[&[Integer]]) -> Result<Vec<Vec<Integer>>> {
        self.sort_by(Operation::ExchangeSigned, terms)
    }

    fn sort_by(&self, exchange: Operation, terms: &[&[Integer]]) -> Result<Vec<Vec<Integer>>> {
        let bits = terms.first().and_then(|term| term.first()).map_or(DIGIT_BITS, Integer::bits);
        Operation::Sort(terms.len()).check(bits)?;
        let each = terms[0].len();
        terms.iter().try_for_each(|term| check_length(each, term.len()))?;
        let mut terms: Vec<Vec<Integer>> = terms.iter().map(|term| term.to_vec()).collect();
        let layers = exchanges(terms.len());
        let progress = Steps::new(layers.iter().map(Vec::len).sum());
        for layer in layers.iter().filter(|layer| !layer.is_empty()) {
            let left: Vec<Integer> = layer.iter().flat_map(|&(i, _)| terms[i].iter().cloned()).collect();
            let right: Vec<Integer> = layer.iter().flat_map(|&(_, j)| terms[j].iter().cloned()).collect();
            let (low, high) = self.pairs(exchange, &[&left, &right])?;
            let (mut low, mut high) = (low.into_iter(), high.into_iter());
            for &(i, j) in layer {
                (terms[i], terms[j]) = (low.by_ref().take(each).collect(), high.by_ref().take(each).collect());
            }
            progress.advance(layer.len());
        }
        Ok(terms)
    }

    /// The sum of all terms of each element, modulo `2^bits`: `terms[i]` holds the i-th term of all elements.
    ///
    /// # Errors
    /// As [`Evaluator::apply`]; [`Error::Parameters`] if there is no term.
    pub fn sum(&self, terms: &[&[Integer]]) -> Result<Vec<Integer>> {
        self.apply(Operation::Sum(terms.len()), terms)
    }

    /// Whether a relation of unsigned integers holds.
    ///
    /// # Errors
    /// As [`Evaluator::apply`].
    pub fn compare(&self, comparison: Comparison, a: &[Integer], b: &[Integer]) -> Result<Vec<Flag>> {
        self.flags(Operation::Compare(comparison), a, b)
    }

    /// Whether a relation of signed integers holds.
    ///
    /// # Errors
    /// As [`Evaluator::apply`].
    pub fn compare_signed(&self, comparison: Comparison, a: &[Integer], b: &[Integer]) -> Result<Vec<Flag>> {
        self.flags(Operation::CompareSigned(comparison), a, b)
    }

    /// a where the flag is true, else b.
    ///
    /// # Errors
    /// As [`Evaluator::apply`].
    pub fn select(&self, flags: &[Flag], a: &[Integer], b: &[Integer]) -> Result<Vec<Integer>> {
        let flags = flags.iter().map(|flag| std::slice::from_ref(&flag.value)).collect();
        let results = self.run(Operation::Select, &[flags, column(a), column(b)])?;
        results.into_iter().map(|mut results| integer(&mut results)).collect()
    }

    /// Moves by a number of bits that everybody knows. Shifts by the width or more leave 0, or copies of the sign;
    /// rotations are modulo the width.
    ///
    /// # Errors
    /// As [`Evaluator::apply`].
    pub fn shift(&self, direction: Move, a: &[Integer], bits: usize) -> Result<Vec<Integer>> {
        self.apply(Operation::MoveKnown(direction, bits), &[a])
    }

    /// Moves each integer by an encrypted number of bits, of any width. As many low bits of it count as numbers below the width
    /// have; the others are passed over.
    ///
    /// # Errors
    /// As [`Evaluator::apply`].
    pub fn shift_encrypted(&self, direction: Move, a: &[Integer], amounts: &[Integer]) -> Result<Vec<Integer>> {
        self.apply(Operation::Move(direction), &[a, amounts])
    }

    /// Whether the flag is false, without a bootstrap.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] and [`Error::KeyMismatch`] for flags of others.
    pub fn not_flags(&self, flags: &[Flag]) -> Result<Vec<Flag>> {
        let not = |flag: &Flag| Ok(Flag { value: self.digits().combine_known(&[(&flag.value, -1)], 1, 1)? });
        flags.iter().map(not).collect()
    }

    /// A function of two flags.
    ///
    /// # Errors
    /// [`Error::Length`] for batches of different lengths; [`Error::ParameterMismatch`] and [`Error::KeyMismatch`] for flags of
    /// others.
    pub fn map_flags(&self, a: &[Flag], b: &[Flag], function: impl Fn(bool, bool) -> bool) -> Result<Vec<Flag>> {
        check_length(a.len(), b.len())?;
        let mut circuit = Circuit::new(Shape::Lean);
        let pair = [(); 2].map(|()| circuit.input(1, 1.0));
        let sum = pair[1].clone() * 2 + &pair[0];
        let output = circuit.lookup(&sum, |x| u64::from(function(x & 1 == 1, x & 2 == 2)));
        let batch: Vec<_> = a.iter().zip(b).map(|(a, b)| vec![&a.value, &b.value]).collect();
        let results = self.runner.run(&circuit, &batch, &[output.within(1)])?;
        Ok(results.into_iter().map(|mut values| Flag { value: values.remove(0) }).collect())
    }

    fn pairs(&self, operation: Operation, operands: &[&[Integer]]) -> Result<(Vec<Integer>, Vec<Integer>)> {
        let columns: Vec<Column<'_>> = operands.iter().map(|integers| column(integers)).collect();
        let pairs = self.run(operation, &columns)?.into_iter().map(|mut pair| {
            let first = integer(&mut pair)?;
            Ok((first, integer(&mut pair)?))
        });
        Ok(pairs.collect::<Result<Vec<_>>>()?.into_iter().unzip())
    }

    fn flags(&self, operation: Operation, a: &[Integer], b: &[Integer]) -> Result<Vec<Flag>> {
        let results = self.run(operation, &[column(a), column(b)])?;
        Ok(results.into_iter().map(|mut results| Flag { value: results.remove(0).remove(0) }).collect())
    }

    /// The digits of all results of an operation for each element of a batch.
    fn run(&self, operation: Operation, operands: &[Column<'_>]) -> Result<Vec<Vec<Vec<Ciphertext>>>> {
        if operands.len() != operation.operands() {
            let needed = operation.operands().to_string();
            return Err(Error::Length { what: "operands", found: operands.len(), needed });
        }
        // A choice has its flag before its integers.
        let first = usize::from(operation.takes_flag(0));
        let bits = operands.get(first).and_then(|column| column.first()).map(|digits| DIGIT_BITS * digits.len());
        operation.check(bits.unwrap_or(DIGIT_BITS))?;
        let Some(bits) = bits else {
            return operands.iter().try_for_each(|column| check_length(0, column.len())).map(|()| Vec::new());
        };
        for (index, column) in operands.iter().enumerate() {
            check_length(operands[first].len(), column.len())?;
            let like = if operation.any_bits(index) { DIGIT_BITS * column[0].len() } else { bits };
            let other = column.iter().map(|digits| DIGIT_BITS * digits.len()).find(|&bits| bits != like);
            if let (Some(other), false) = (other, operation.takes_flag(index)) {
                let needed = format!("{like}, as the other integers have: cast them first");
                return Err(Error::parameter("bits", other, needed));
            }
        }
        let shape = if operands[first].len() <= self.small_batch { Shape::Flat } else { Shape::Lean };
        let (circuit, outputs) = operation.circuit(&operands.iter().map(bounds).collect::<Vec<_>>(), shape);
        let element = |index: usize| operands.iter().flat_map(|column| column[index]).collect();
        let batch: Vec<Vec<&Ciphertext>> = (0..operands[first].len()).map(element).collect();
        let mut results = self.runner.run(&circuit, &batch, &outputs.concat())?;
        let cut = |digits: &mut Vec<Ciphertext>| {
            outputs.iter().map(|output| digits.drain(..output.len()).collect()).collect()
        };
        Ok(results.iter_mut().map(cut).collect())
    }
}

fn column(integers: &[Integer]) -> Column<'_> {
    integers.iter().map(Integer::digits).collect()
}

/// The next result.
fn integer(results: &mut Vec<Vec<Ciphertext>>) -> Result<Integer> {
    Integer::from_digits(results.remove(0))
}

/// The digits of an operand.
fn bounds(column: &Column<'_>) -> Vec<Digit> {
    let of = |digit: &Ciphertext| Digit { most: digit.max(), noise: digit.noise() };
    let of_all = |place: usize| column.iter().map(|digits| of(&digits[place])).reduce(Digit::or);
    (0..column[0].len()).filter_map(of_all).collect()
}

fn check_length(needed: usize, found: usize) -> Result<()> {
    if found == needed {
        return Ok(());
    }
    Err(Error::Length { what: "integers of a batch", found, needed: format!("{needed}, as in the other operands") })
}
