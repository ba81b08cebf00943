//! Functions of elements, looked up.

use std::cell::Cell;
use std::ops::RangeInclusive;

use noren_rlwe::error::{Error, Result};

use crate::programs::columns::column::Column;
use crate::programs::columns::element::Element;
use crate::programs::columns::evaluate::{ColumnEvaluator, refusal};
use crate::schemes::tfhe::{BivariateLookup, Ciphertext, Context, LargeLookup, Lookup, Parameters};

/// The most bits of all operands together.
const MAX_BITS: u32 = 16;

/// The noise of digits that every lookup takes, in bootstraps.
pub(crate) const CLEAN: f64 = 1.0;

/// A function of the elements of one or two columns, as tables.
///
/// Of single digits it has one bootstrap: a function of one is defined for all values with their carries, one of two for messages.
/// Of integers it is looked up by their digits together; from six digits on with circuit keys.
pub struct ColumnLookup {
    inputs: Vec<Element>,
    output: Element,
    tables: Tables,
}

enum Tables {
    One(Lookup),
    Two(BivariateLookup),
    Large(LargeLookup),
}

impl Tables {
    /// The tables of a function from values of elements to the word of its value.
    fn new(context: &Context, inputs: &[Element], output: Element, word: impl Fn(&[i128]) -> u64) -> Result<Self> {
        let parameters = context.parameters();
        Ok(match (inputs, output) {
            ([Element::Digit], Element::Digit) => Self::One(Lookup::new(context, |x| word(&[i128::from(x)]))?),
            ([Element::Digit, Element::Digit], Element::Digit) => {
                Self::Two(BivariateLookup::new(context, |x, y| word(&[i128::from(x), i128::from(y)]))?)
            }
            ([Element::Unsigned(_) | Element::Signed(_)], _)
            | ([Element::Unsigned(_) | Element::Signed(_), Element::Unsigned(_) | Element::Signed(_)], _)
                if output != Element::Digit =>
            {
                let digits = inputs.iter().map(|input| input.digits(parameters)).sum::<Result<usize>>()?;
                let outputs = output.digits(parameters)?;
                Self::Large(LargeLookup::new(context, digits, outputs, |x| word(&split(inputs, x)))?)
            }
            _ => {
                let kinds: Vec<String> = inputs.iter().map(ToString::to_string).collect();
                let needed = "one or two digits to a digit, or one or two integers to an integer or a truth value";
                return Err(Error::parameter("kinds of a lookup", format!("{} to {output}", kinds.join(", ")), needed));
            }
        })
    }
}

impl ColumnLookup {
    /// The tables of a function of integers whose digits fit a ciphertext together, which is looked up by bootstraps alone.
    ///
    /// # Errors
    /// As [`ColumnLookup::new`].
    pub(crate) fn direct(
        context: &Context,
        inputs: &[Element],
        output: Element,
        function: impl Fn(&[i128]) -> i128,
    ) -> Result<Self> {
        let parameters = context.parameters();
        let word = |x: u64| output.word(function(&split(inputs, x)));
        let digits = inputs.iter().map(|input| input.digits(parameters)).sum::<Result<usize>>()?;
        let tables = Tables::Large(LargeLookup::together(context, digits, output.digits(parameters)?, word)?);
        Ok(Self { inputs: inputs.to_vec(), output, tables })
    }

    /// The tables of a function of elements of these kinds, whose values are elements of `output`.
    ///
    /// # Errors
    /// [`Error::Parameters`] for kinds that cannot be looked up together, and values that are out of range; as [`Lookup::new`] and
    /// [`LargeLookup::new`].
    pub fn new(
        context: &Context,
        inputs: &[Element],
        output: Element,
        function: impl Fn(&[i128]) -> i128,
    ) -> Result<Self> {
        let parameters = context.parameters();
        let outside = Cell::new(None);
        let word = |values: &[i128]| {
            let value = function(values);
            if output.range(parameters).contains(&value) {
                return output.word(value);
            }
            outside.set(outside.get().or(Some(value)));
            // It has more bits than outputs, which refuse it; the refusal below names it.
            u64::MAX
        };
        let tables = Tables::new(context, inputs, output, word);
        if let Some(value) = outside.get() {
            let range = output.range(parameters);
            let needed =
                format!("at least {} and at most {} for {output}: reduce it there", range.start(), range.end());
            return Err(Error::parameter("value of the function", value, needed));
        }
        Ok(Self { inputs: inputs.to_vec(), output, tables: tables? })
    }

    /// The values that each operand can have: a digit alone may hold carries.
    ///
    /// # Errors
    /// [`Error::Length`] for operands of more than 16 bits together.
    pub fn domain(parameters: &Parameters, inputs: &[Element]) -> Result<Vec<RangeInclusive<i128>>> {
        let ranges: Vec<RangeInclusive<i128>> = match inputs {
            [Element::Digit] => vec![0..=i128::from(parameters.encoding().size()) - 1],
            _ => inputs.iter().map(|input| input.range(parameters)).collect(),
        };
        let bits: u32 =
            ranges.iter().map(|range| (range.end() - range.start()).checked_ilog2().map_or(0, |x| x + 1)).sum();
        if bits <= MAX_BITS {
            return Ok(ranges);
        }
        let needed = format!("at most {MAX_BITS} bits");
        Err(Error::Length { what: "bits of all operands of a lookup", found: bits as usize, needed })
    }

    /// Whether evaluation needs circuit keys.
    #[must_use]
    pub const fn needs_circuit_keys(&self) -> bool {
        matches!(&self.tables, Tables::Large(lookup) if lookup.needs_circuit_keys())
    }
}

impl ColumnEvaluator {
    /// The function of each element, or of each pair.
    ///
    /// # Errors
    /// [`Error::Parameters`] for columns of other kinds than those of the lookup; [`Error::Length`] for columns of different lengths;
    /// [`Error::MissingKey`] if it needs circuit keys; what the evaluator refuses.
    pub fn lookup(&self, lookup: &ColumnLookup, operands: &[&Column]) -> Result<Column> {
        let found: Vec<Element> = operands.iter().map(|column| column.element()).collect();
        if found != lookup.inputs {
            return Err(refusal("a lookup of other kinds", found.first().copied().unwrap_or(Element::Digit)));
        }
        if let [x, y] = operands {
            self.check_length(x, y.count())?;
        }
        self.by_parts(operands, |operands| self.lookup_whole(lookup, operands))
    }

    fn lookup_whole(&self, lookup: &ColumnLookup, operands: &[&Column]) -> Result<Column> {
        let parameters = self.parameters();
        let digits = operands.iter().map(|column| column.ciphertexts()).collect::<Result<Vec<_>>>()?;
        let results = match &lookup.tables {
            Tables::One(table) => self.digits().lookup_each(&digits[0].iter().collect::<Vec<_>>(), table)?,
            Tables::Two(table) => {
                let pairs: Vec<_> = digits[0].iter().zip(digits[1]).collect();
                self.digits().lookup_bivariate_each(&pairs, table)?
            }
            Tables::Large(table) => {
                let clean = digits.iter().map(|digits| self.clean(digits)).collect::<Result<Vec<_>>>()?;
                let widths = lookup.inputs.iter().map(|input| input.digits(parameters)).collect::<Result<Vec<_>>>()?;
                let element = |at: usize| {
                    let of_each = clean.iter().zip(&widths);
                    of_each.flat_map(|(digits, width)| &digits[at * width..(at + 1) * width]).collect()
                };
                let elements: Vec<Vec<&Ciphertext>> = (0..operands[0].count()).map(element).collect();
                let elements: Vec<&[&Ciphertext]> = elements.iter().map(Vec::as_slice).collect();
                self.digits().lookup_large_each(&elements, table)?.concat()
            }
        };
        Column::of_digits(parameters, lookup.output, results)
    }

    /// The same digits with the noise of one bootstrap at most.
    fn clean(&self, digits: &[Ciphertext]) -> Result<Vec<Ciphertext>> {
        let noisy: Vec<&Ciphertext> = digits.iter().filter(|digit| digit.noise() > CLEAN).collect();
        if noisy.is_empty() {
            return Ok(digits.to_vec());
        }
        let mut renewed = self.digits().lookup_each(&noisy, &Lookup::new(self.digits().context(), |x| x)?)?.into_iter();
        let renew = |digit: &Ciphertext| {
            let renewed = if digit.noise() > CLEAN { renewed.next() } else { None };
            let Some(renewed) = renewed else { return Ok(digit.clone()) };
            // The table is that of all values; the bound is that of the digit.
            self.digits().combine_known(&[(&renewed, 1)], 0, digit.max())
        };
        digits.iter().map(renew).collect()
    }
}

/// The values of elements from the word of all their digits.
fn split(inputs: &[Element], word: u64) -> Vec<i128> {
    let mut rest = word;
    let mut values = Vec::with_capacity(inputs.len());
    for input in inputs {
        let bits = input.bits().unwrap_or(u64::BITS);
        let value = i128::from(rest & (u64::MAX >> (u64::BITS - bits)));
        rest = rest.checked_shr(bits).unwrap_or(0);
        values.push(input.of_word(value));
    }
    values
}
