//! Operations on columns, element by element: each is one batch of bootstraps, or a few that wait for each other.

use noren_rlwe::error::{Error, Result};

use crate::programs::columns::column::{Column, Samples};
use crate::programs::columns::element::Element;
use crate::programs::columns::operation::{Binary, Unary};
use crate::schemes::tfhe::{Bit, Bits, Ciphertexts, Encoding, Evaluator, Gate, Parameters};

/// Evaluates on columns of one owner.
#[derive(Clone)]
pub struct ColumnEvaluator {
    digits: Evaluator,
}

impl ColumnEvaluator {
    /// Evaluates with this evaluator of bits and digits.
    ///
    /// # Errors
    /// None that a caller can cause.
    pub fn new(digits: Evaluator) -> Result<Self> {
        Ok(Self { digits })
    }

    /// What bits and digits are evaluated with.
    #[must_use]
    pub const fn digits(&self) -> &Evaluator {
        &self.digits
    }

    fn parameters(&self) -> &Parameters {
        self.digits.context().parameters()
    }

    /// Values that everybody knows as a column, which hides nothing.
    ///
    /// # Errors
    /// [`Error::Parameters`] for a value out of range; as [`Element::digits`].
    pub fn trivial(&self, element: Element, values: &[i128]) -> Result<Column> {
        let parameters = self.parameters();
        let (digits, range) = (element.digits(parameters)?, element.range(parameters));
        if let Some(value) = values.iter().find(|value| !range.contains(value)) {
            return Err(Error::parameter(
                "value",
                value,
                format!("{} to {} for {element}", range.start(), range.end()),
            ));
        }
        if parameters.encoding() == Encoding::Bits {
            let bits = values.iter().map(|&value| self.digits.trivial_bit(value == 1));
            return Column::of_bits(bits.collect::<Result<_>>()?);
        }
        let bits = parameters.message_size().trailing_zeros() as usize;
        let digit = |value: i128, place: usize| {
            self.digits.trivial((value >> (place * bits) & i128::from(parameters.message_size() - 1)) as u64)
        };
        let ciphertexts = values.iter().flat_map(|&value| (0..digits).map(move |place| digit(value, place)));
        Column::of_digits(parameters, element, ciphertexts.collect::<Result<_>>()?)
    }

    /// The operation on each pair of elements.
    ///
    /// # Errors
    /// [`Error::Parameters`] for elements that have no such operation, or are of different kinds; [`Error::Length`] for columns of
    /// different lengths; what the evaluator refuses.
    pub fn binary(&self, operation: Binary, a: &Column, b: &Column) -> Result<Column> {
        self.check_alike(a, b)?;
        match (a.samples(), b.samples()) {
            (Samples::Bits(Bits(x)), Samples::Bits(Bits(y))) => {
                let gate = operation.gate().ok_or_else(|| refusal(operation, a.element()))?;
                let gates: Vec<(Gate, &Bit, &Bit)> = x.iter().zip(y).map(|(x, y)| (gate, x, y)).collect();
                Column::of_bits(self.digits.gates(&gates)?)
            }
            (Samples::Digits(Ciphertexts(x)), Samples::Digits(Ciphertexts(y))) => match (a.element(), operation) {
                (Element::Digit, Binary::Add) => {
                    let sums = x.iter().zip(y).map(|(x, y)| self.digits.add(x, y));
                    Column::of_digits(self.parameters(), Element::Digit, sums.collect::<Result<_>>()?)
                }
                _ => Err(refusal(operation, a.element())),
            },
            _ => Err(refusal(operation, a.element())),
        }
    }

    /// The operation on each element.
    ///
    /// # Errors
    /// As [`ColumnEvaluator::binary`].
    pub fn unary(&self, operation: Unary, a: &Column) -> Result<Column> {
        match (a.samples(), operation) {
            (Samples::Bits(Bits(bits)), Unary::Not) => {
                Column::of_bits(bits.iter().map(|bit| self.digits.not(bit)).collect::<Result<_>>()?)
            }
            _ => Err(refusal(operation, a.element())),
        }
    }

    /// Elements of a where the condition holds, else of b.
    ///
    /// # Errors
    /// As [`ColumnEvaluator::binary`].
    pub fn select(&self, condition: &Column, a: &Column, b: &Column) -> Result<Column> {
        self.check_alike(a, b)?;
        self.check_length(a, condition)?;
        match (condition.samples(), a.samples(), b.samples()) {
            (Samples::Bits(Bits(c)), Samples::Bits(Bits(x)), Samples::Bits(Bits(y))) => {
                let choices: Vec<(&Bit, &Bit, &Bit)> = c.iter().zip(x).zip(y).map(|((c, x), y)| (c, x, y)).collect();
                Column::of_bits(self.digits.muxes(&choices)?)
            }
            _ => Err(refusal("select", a.element())),
        }
    }

    /// Refuses columns of different elements or lengths.
    fn check_alike(&self, a: &Column, b: &Column) -> Result<()> {
        if a.element() != b.element() {
            return Err(Error::parameter("element", b.element(), format!("{}, as of the other operand", a.element())));
        }
        self.check_length(a, b)
    }

    fn check_length(&self, a: &Column, b: &Column) -> Result<()> {
        let (needed, found) = (a.len(self.parameters()), b.len(self.parameters()));
        if needed == found {
            return Ok(());
        }
        let needed = format!("{needed}, as of the other operand");
        Err(Error::Length { what: "elements of a column", found, needed })
    }
}

fn refusal(operation: impl ToString, element: Element) -> Error {
    Error::parameter("operation", operation.to_string(), format!("one that elements of {element} have"))
}
