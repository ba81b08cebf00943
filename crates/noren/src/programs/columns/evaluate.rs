//! Operations on columns, element by element: each is a batch of bootstraps, or a few batches that wait for each other.

use std::sync::Arc;

use noren_ring::interrupt::Steps;
use noren_rlwe::error::{Error, Result};

use crate::programs::columns::column::{Column, Samples};
use crate::programs::columns::element::Element;
use crate::programs::columns::operation::{Binary, Unary};
use crate::radix::{self, Flag, Integer, Operation};
use crate::schemes::tfhe::parts::WORKING_SET;
use crate::schemes::tfhe::{Bit, Bits, Ciphertext, Ciphertexts, Encoding, Evaluator, Gate, Parameters};

/// Evaluates on columns of one owner. Cheap to clone, and shared between threads.
#[derive(Clone)]
pub struct ColumnEvaluator {
    digits: Evaluator,
    /// Of parameters that hold integers.
    integers: Option<Arc<radix::Evaluator>>,
    pub(super) working_set: usize,
}

impl ColumnEvaluator {
    /// Evaluates with this evaluator of bits and digits.
    #[must_use]
    pub fn new(digits: Evaluator) -> Self {
        let integers = radix::Evaluator::new(&digits).ok().map(Arc::new);
        Self { digits, integers, working_set: WORKING_SET }
    }

    /// The same, but that operations on integers hold ciphertexts of at most `bytes` bytes at a time, beside operands and results;
    /// 1 GiB at first. See [`radix::Evaluator::with_working_set`].
    #[must_use]
    pub fn with_working_set(self, bytes: usize) -> Self {
        let integers = radix::Evaluator::new(&self.digits).ok();
        let integers = integers.map(|integers| Arc::new(integers.with_working_set(bytes)));
        Self { integers, working_set: bytes, ..self }
    }

    /// The evaluator of bits and digits.
    #[must_use]
    pub const fn digits(&self) -> &Evaluator {
        &self.digits
    }

    /// The operation on each pair of elements. Shifts move by as many low bits of b as numbers below the width have;
    /// those of signed integers to the right keep the sign. A remainder has the sign of b. The quotient by 0 has all
    /// bits 1, or is 0 of a negative number, and the remainder is a.
    ///
    /// # Errors
    /// [`Error::Parameters`] for elements that have no such operation, or are of different kinds; [`Error::Length`] for columns of
    /// different lengths; what the evaluator refuses.
    pub fn binary(&self, operation: Binary, a: &Column, b: &Column) -> Result<Column> {
        self.check_alike(a, b)?;
        self.by_parts(&[a, b], |columns| self.binary_whole(operation, columns[0], columns[1]))
    }

    fn binary_whole(&self, operation: Binary, a: &Column, b: &Column) -> Result<Column> {
        match a.element() {
            Element::Bool => self.of_truths(operation, a, b),
            Element::Digit => match (operation, a.samples(), b.samples()) {
                (Binary::Add, Samples::Digits(Ciphertexts(x)), Samples::Digits(Ciphertexts(y))) => {
                    let sums = x.iter().zip(y).map(|(x, y)| self.digits.add(x, y));
                    Column::of_digits(self.parameters(), Element::Digit, sums.collect::<Result<_>>()?)
                }
                _ => Err(refusal(operation, Element::Digit)),
            },
            Element::Unsigned(_) | Element::Signed(_) => self.of_integers(operation, a, b),
        }
    }

    /// The operation of each element with a number that everybody knows: cheaper than with a column of it where the number is the
    /// same for all.
    ///
    /// # Errors
    /// As [`ColumnEvaluator::binary`]; [`Error::Parameters`] for a number out of range.
    pub fn binary_known(&self, operation: Binary, a: &Column, values: &[i128]) -> Result<Column> {
        let element = a.element();
        element.check(self.parameters(), values)?;
        let shifts = matches!(operation, Binary::ShiftLeft | Binary::ShiftRight);
        if let Some(amount) = values.iter().find(|amount| shifts && **amount < 0) {
            return Err(Error::parameter("amount of a shift", amount, "0 or more"));
        }
        let known = match values {
            [value, others @ ..] if others.iter().all(|other| other == value) => operation.with_known(element, *value),
            _ => None,
        };
        match known {
            Some(known) => {
                self.check_length(a, values.len())?;
                self.apply(known, a, element)
            }
            None => {
                let width = i128::from(element.bits().unwrap_or_default());
                match values.iter().find(|amount| shifts && **amount >= width) {
                    Some(amount) => Err(Error::parameter("amount of a shift", amount, format!("below {width}"))),
                    None => self.binary(operation, a, &self.trivial(element, values)?),
                }
            }
        }
    }

    /// The operation on each element.
    ///
    /// # Errors
    /// As [`ColumnEvaluator::binary`].
    pub fn unary(&self, operation: Unary, a: &Column) -> Result<Column> {
        self.by_parts(&[a], |columns| self.unary_whole(operation, columns[0]))
    }

    fn unary_whole(&self, operation: Unary, a: &Column) -> Result<Column> {
        match (a.element(), a.samples(), operation) {
            (Element::Bool, Samples::Bits(Bits(bits)), Unary::Not) => {
                Column::of_bits(bits.iter().map(|bit| self.digits.not(bit)).collect::<Result<_>>()?)
            }
            (Element::Bool, _, Unary::Not) => self.truths(self.integers(a.element())?.not_flags(&self.flags_of(a)?)?),
            (Element::Bool | Element::Digit, ..) => Err(refusal(operation, a.element())),
            (element, _, Unary::Not) => self.apply(Operation::Not, a, element),
            (element, _, Unary::Neg) => self.apply(Operation::Neg, a, element),
        }
    }

    /// Elements of a where the condition holds, else of b.
    ///
    /// # Errors
    /// As [`ColumnEvaluator::binary`]; [`Error::Parameters`] for a condition that is no column of truth values.
    pub fn select(&self, condition: &Column, a: &Column, b: &Column) -> Result<Column> {
        self.check_alike(a, b)?;
        self.check_length(a, condition.count())?;
        if condition.element() != Element::Bool {
            return Err(Error::parameter("condition", condition.element(), "a column of truth values"));
        }
        self.by_parts(&[condition, a, b], |columns| self.select_whole(columns[0], columns[1], columns[2]))
    }

    fn select_whole(&self, condition: &Column, a: &Column, b: &Column) -> Result<Column> {
        match (condition.samples(), a.samples(), b.samples()) {
            (Samples::Bits(Bits(c)), Samples::Bits(Bits(x)), Samples::Bits(Bits(y))) => {
                let choices: Vec<(&Bit, &Bit, &Bit)> = c.iter().zip(x).zip(y).map(|((c, x), y)| (c, x, y)).collect();
                return Column::of_bits(self.digits.muxes(&choices)?);
            }
            _ if a.element() == Element::Digit => return Err(refusal("select", a.element())),
            _ => {}
        }
        let (evaluator, flags) = (self.integers(a.element())?, self.flags_of(condition)?);
        if a.element() == Element::Bool {
            let first = evaluator.map_flags(&flags, &self.flags_of(a)?, |c, x| c & x)?;
            let second = evaluator.map_flags(&flags, &self.flags_of(b)?, |c, y| !c & y)?;
            return self.truths(evaluator.map_flags(&first, &second, |x, y| x | y)?);
        }
        self.column(a.element(), evaluator.select(&flags, &self.integers_of(a)?, &self.integers_of(b)?)?)
    }

    /// The same values as elements of another kind: integers modulo `2^bits`, truth values as 0 and 1, and integers as whether they
    /// are not 0.
    ///
    /// # Errors
    /// [`Error::Parameters`] for single digits, and for parameters that do not hold the elements.
    pub fn cast(&self, a: &Column, to: Element) -> Result<Column> {
        if a.element() == to {
            return Ok(a.clone());
        }
        self.by_parts(&[a], |columns| self.cast_whole(columns[0], to))
    }

    fn cast_whole(&self, a: &Column, to: Element) -> Result<Column> {
        match (a.element(), to) {
            (Element::Digit, _) | (_, Element::Digit) => Err(refusal(format!("cast to {to}"), a.element())),
            (Element::Bool, to) => {
                let digits = to.digits(self.parameters())?;
                // Its clones share their words.
                let zero = self.digits.trivial(0)?;
                let integer = |flag: Flag| {
                    let zeros = std::iter::repeat_n(&zero, digits - 1);
                    Integer::from_digits(std::iter::once(flag.value()).chain(zeros).cloned().collect())
                };
                self.column(to, self.flags_of(a)?.into_iter().map(integer).collect::<Result<_>>()?)
            }
            (from, Element::Bool) => {
                let zeros = vec![0; a.count()];
                self.binary(Binary::Compare(radix::Comparison::Ne), a, &self.trivial(from, &zeros)?)
            }
            (from, to) => {
                let bits = to.bits().unwrap_or_default() as usize;
                let cast = if from.is_signed() { Operation::CastSigned(bits) } else { Operation::Cast(bits) };
                self.apply(cast, a, to)
            }
        }
    }

    /// The sum of all columns, element by element, as the narrowest element of their sign that holds every sum of so many
    /// ([`Element::of_sum`]); of truth values how many are true. Sums that need more than 64 bits are modulo `2^64`.
    ///
    /// # Errors
    /// As [`ColumnEvaluator::binary`]; [`Error::Length`] for no column.
    pub fn total(&self, terms: &[Column]) -> Result<Column> {
        let element = self.check_terms(terms)?;
        let (wide, each) = (element.of_sum(terms.len()), terms[0].count());
        if wide == element {
            return self.sum(terms);
        }
        // All signs are looked up in one batch.
        let all = self.cast(&Column::concatenate(terms.iter())?, wide)?;
        let part = |at: usize| all.gather(&(at * each..(at + 1) * each).collect::<Vec<_>>());
        self.sum(&(0..terms.len()).map(part).collect::<Vec<_>>())
    }

    /// The sum of all columns, element by element, in their own type: modulo `2^bits`. Of truth values as
    /// [`total`](ColumnEvaluator::total).
    ///
    /// # Errors
    /// As [`ColumnEvaluator::binary`]; [`Error::Length`] for no column.
    pub fn sum(&self, terms: &[Column]) -> Result<Column> {
        let element = self.check_terms(terms)?;
        if element == Element::Bool {
            return self.total(terms);
        }
        let integers = terms.iter().map(|term| self.integers_of(term)).collect::<Result<Vec<_>>>()?;
        let integers: Vec<&[Integer]> = integers.iter().map(Vec::as_slice).collect();
        self.column(element, self.integers(element)?.sum(&integers)?)
    }

    /// Of each element the first column in which it is largest, counted from 0, as the narrowest unsigned integer that holds all
    /// numbers of columns.
    ///
    /// # Errors
    /// As [`ColumnEvaluator::sum`].
    pub fn argmax(&self, terms: &[Column]) -> Result<Column> {
        let element = self.check_terms(terms)?;
        let evaluator = self.integers(element)?;
        let ordered = |term: &Column| match element {
            // Half of all values more makes the order that of unsigned integers.
            Element::Signed(bits) => evaluator.apply(Operation::AddKnown(1 << (bits - 1)), &[&self.integers_of(term)?]),
            _ => self.integers_of(term),
        };
        let integers = terms.iter().map(ordered).collect::<Result<Vec<_>>>()?;
        let integers: Vec<&[Integer]> = integers.iter().map(Vec::as_slice).collect();
        let (_, numbers) = evaluator.argmax(&integers)?;
        let bits = Element::narrowest(terms.len() - 1);
        self.column(Element::Unsigned(bits), evaluator.apply(Operation::Cast(bits as usize), &[&numbers])?)
    }

    /// The smallest or largest of all columns, element by element; other operations in the same way, by halves.
    ///
    /// # Errors
    /// As [`ColumnEvaluator::sum`].
    pub fn fold(&self, operation: Binary, terms: &[Column]) -> Result<Column> {
        self.check_terms(terms)?;
        let mut terms = terms.to_vec();
        let progress = Steps::new(terms.len() - 1);
        while terms.len() > 1 {
            // The halves of all pairs make one batch.
            let left = Column::concatenate(terms.iter().step_by(2).take(terms.len() / 2))?;
            let right = Column::concatenate(terms.iter().skip(1).step_by(2))?;
            let joined = self.binary(operation, &left, &right)?;
            let each = terms[0].count();
            let odd = (terms.len() % 2 == 1).then(|| terms.remove(terms.len() - 1));
            let part = |at: usize| joined.gather(&(at * each..(at + 1) * each).collect::<Vec<_>>());
            progress.advance(terms.len() / 2);
            terms = (0..terms.len() / 2).map(part).chain(odd).collect();
        }
        Ok(terms.remove(0))
    }

    /// Values that everybody knows as a column, which hides nothing.
    ///
    /// # Errors
    /// [`Error::Parameters`] for a value out of range; as [`Element::digits`].
    pub fn trivial(&self, element: Element, values: &[i128]) -> Result<Column> {
        let parameters = self.parameters();
        element.check(parameters, values)?;
        if parameters.encoding() == Encoding::Bits {
            let both = [self.digits.trivial_bit(false)?, self.digits.trivial_bit(true)?];
            return Column::of_bits(values.iter().map(|&value| both[usize::from(value == 1)].clone()).collect());
        }
        // Clones of a digit share their words.
        let all = (0..parameters.message_size()).map(|digit| self.digits.trivial(digit)).collect::<Result<Vec<_>>>()?;
        let digits = element.cut(parameters, values)?.map(|digit| all[digit as usize].clone());
        Column::of_digits(parameters, element, digits.collect())
    }

    pub(super) fn parameters(&self) -> &Parameters {
        self.digits.context().parameters()
    }

    fn of_truths(&self, operation: Binary, a: &Column, b: &Column) -> Result<Column> {
        let gate = operation.gate().ok_or_else(|| refusal(operation, Element::Bool))?;
        if let (Samples::Bits(Bits(x)), Samples::Bits(Bits(y))) = (a.samples(), b.samples()) {
            let gates: Vec<(Gate, &Bit, &Bit)> = x.iter().zip(y).map(|(x, y)| (gate, x, y)).collect();
            return Column::of_bits(self.digits.gates(&gates)?);
        }
        let (x, y) = (self.flags_of(a)?, self.flags_of(b)?);
        self.truths(self.integers(Element::Bool)?.map_flags(&x, &y, |x, y| gate.apply(x, y))?)
    }

    fn of_integers(&self, operation: Binary, a: &Column, b: &Column) -> Result<Column> {
        let element = a.element();
        let (evaluator, x, y) = (self.integers(element)?, self.integers_of(a)?, self.integers_of(b)?);
        if let Binary::Compare(comparison) = operation {
            return self.truths(if element.is_signed() {
                evaluator.compare_signed(comparison, &x, &y)?
            } else {
                evaluator.compare(comparison, &x, &y)?
            });
        }
        let result = match (operation, element.is_signed()) {
            (Binary::Min, true) => {
                evaluator.select(&evaluator.compare_signed(radix::Comparison::Lt, &x, &y)?, &x, &y)?
            }
            (Binary::Max, true) => {
                evaluator.select(&evaluator.compare_signed(radix::Comparison::Lt, &x, &y)?, &y, &x)?
            }
            (Binary::Div, false) => evaluator.div_rem(&x, &y)?.0,
            (Binary::Rem, false) => evaluator.div_rem(&x, &y)?.1,
            (Binary::Div, true) => evaluator.div_rem_signed(&x, &y)?.0,
            (Binary::Rem, true) => evaluator.div_rem_signed(&x, &y)?.1,
            (_, signed) => {
                let operation = operation.of_integers(signed).ok_or_else(|| refusal(operation, element))?;
                evaluator.apply(operation, &[&x, &y])?
            }
        };
        self.column(element, result)
    }

    /// An operation of each integer, whose results are elements of a kind.
    fn apply(&self, operation: Operation, a: &Column, to: Element) -> Result<Column> {
        let evaluator = self.integers(a.element())?;
        self.by_parts(&[a], |columns| self.column(to, evaluator.apply(operation, &[&self.integers_of(columns[0])?])?))
    }

    /// The evaluator of integers.
    pub(super) fn integers(&self, element: Element) -> Result<&radix::Evaluator> {
        self.integers.as_deref().ok_or_else(|| {
            Error::parameter("parameters", self.parameters(), format!("2_2, for operations on elements of {element}"))
        })
    }

    /// The integers of a column.
    pub(super) fn integers_of(&self, column: &Column) -> Result<Vec<Integer>> {
        let digits = column.element().digits(self.parameters())?;
        column.ciphertexts()?.chunks(digits).map(|digits| Integer::from_digits(digits.to_vec())).collect()
    }

    /// The flags of a column.
    fn flags_of(&self, column: &Column) -> Result<Vec<Flag>> {
        column.ciphertexts()?.iter().map(|value| Flag::from_ciphertext(value.clone())).collect()
    }

    /// The column of these integers.
    pub(super) fn column(&self, element: Element, integers: Vec<Integer>) -> Result<Column> {
        let digits: Vec<Ciphertext> = integers.iter().flat_map(|integer| integer.digits().iter().cloned()).collect();
        Column::of_digits(self.parameters(), element, digits)
    }

    /// The column of these flags.
    fn truths(&self, flags: Vec<Flag>) -> Result<Column> {
        let values = flags.iter().map(|flag| flag.value().clone()).collect();
        Column::of_digits(self.parameters(), Element::Bool, values)
    }

    /// Refuses columns of different elements or lengths.
    pub(super) fn check_alike(&self, a: &Column, b: &Column) -> Result<()> {
        if a.element() != b.element() {
            return Err(a.other_than(b));
        }
        self.check_length(a, b.count())
    }

    pub(super) fn check_length(&self, a: &Column, found: usize) -> Result<()> {
        let needed = a.count();
        if needed == found {
            return Ok(());
        }
        let needed = format!("{needed}, as of the other operand");
        Err(Error::Length { what: "elements of a column", found, needed })
    }

    /// Refuses no columns, columns that differ, and those of others.
    pub(super) fn check_terms(&self, terms: &[Column]) -> Result<Element> {
        let Some(first) = terms.first() else {
            return Err(Error::Length { what: "columns", found: 0, needed: "at least 1".into() });
        };
        terms.iter().try_for_each(|term| self.check(term).and_then(|()| self.check_alike(first, term)))?;
        Ok(first.element())
    }
}

pub(super) fn refusal(operation: impl ToString, element: Element) -> Error {
    Error::parameter("operation", operation.to_string(), format!("one that elements of {element} have"))
}
