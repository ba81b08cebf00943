//! Functions as tables that a bootstrap looks up.

use noren_ring::torus::table::Table;
use noren_rlwe::error::{Error, Result};

use crate::schemes::tfhe::context::Context;
use crate::schemes::tfhe::error::TfheError;
use crate::schemes::tfhe::parameters::Parameters;

/// One or more functions of an integer, as a table.
///
/// The table of f is a polynomial whose coefficients come in boxes of `N/p` for each value, half a box early: coefficient j
/// holds `f(floor((j + N/(2p)) p / N))`, and `-f(0)` in the last half box, which stands for phases below 0.
///
/// Several functions share one bootstrap where inputs leave room: function t lies in the boxes from `t inputs` on, and its
/// value is the coefficient that is as many boxes further.
#[derive(Debug, Clone)]
pub struct Lookup {
    pub(crate) table: Table,
    /// Inputs are below this number.
    pub(crate) inputs: u64,
    /// One for each function.
    pub(crate) ranges: Vec<Range>,
    /// The summand of the phase of all values.
    pub(crate) offset: u64,
    pub(crate) fingerprint: [u8; 32],
}

/// The values of a function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    /// The largest.
    pub(crate) max: u64,
}

/// A function of two integers: a table of `x + s y` for x below s.
#[derive(Debug, Clone)]
pub struct BivariateLookup {
    pub(crate) lookup: Lookup,
    /// s.
    pub(crate) shift: u64,
}

impl Lookup {
    /// The table of a function of all values below p.
    ///
    /// # Errors
    /// [`TfheError::OutOfRoom`] if a value is not below p, [`Error::Parameters`] if the parameters are for bits.
    pub fn new(context: &Context, function: impl Fn(u64) -> u64) -> Result<Self> {
        Self::many(context, context.parameters().encoding().size(), &[&function])
    }

    /// The table of several functions of values below `inputs`: one bootstrap looks all of them up.
    ///
    /// # Errors
    /// [`Error::Length`] if there is no function, or inputs times functions are more than p; else as [`Lookup::new`].
    pub fn many(context: &Context, inputs: u64, functions: &[&dyn Fn(u64) -> u64]) -> Result<Self> {
        let parameters = context.parameters();
        parameters.encoding().needs_integers()?;
        let size = parameters.encoding().size();
        let fits = inputs > 0 && inputs <= size && (1..=(size / inputs) as usize).contains(&functions.len());
        if !fits {
            let needed = format!("1 to {} of inputs below {inputs}", size.checked_div(inputs).unwrap_or(0));
            return Err(Error::Length { what: "functions of a lookup", found: functions.len(), needed });
        }
        let mut values = vec![0; size as usize];
        let mut ranges = Vec::with_capacity(functions.len());
        for (boxes, function) in values.chunks_exact_mut(inputs as usize).zip(functions) {
            boxes.iter_mut().zip(0..).for_each(|(value, x)| *value = function(x));
            ranges.push(Range { max: boxes.iter().copied().max().unwrap_or(0) });
        }
        if let Some(&Range { max: found }) = ranges.iter().find(|range| range.max >= size) {
            let (needed, hint) = (format!("at most {}", size - 1), "reduce it in the function");
            return Err(TfheError::OutOfRoom { what: "a value of the function", found, needed, hint }.into());
        }
        let unit = parameters.encoding().unit();
        let table = table(parameters, inputs, functions.len(), |index| values[index] * unit);
        Ok(Self { table, inputs, ranges, offset: 0, fingerprint: parameters.fingerprint() })
    }

    /// The table of `scale` for values from p to 2p - 1, and of 0 for those below p.
    ///
    /// It is the one function that goes once around the circle: a table of `-scale/2` gives `scale/2` for `x + p`, and half of
    /// the scale is added to both.
    ///
    /// # Errors
    /// As [`Lookup::new`].
    pub(crate) fn carry(context: &Context, scale: u64) -> Result<Self> {
        let mut lookup = Self::new(context, |_| scale)?;
        let parameters = context.parameters();
        lookup.inputs *= 2;
        lookup.offset = scale * (parameters.encoding().unit() / 2);
        let negative = lookup.offset.wrapping_neg();
        lookup.table = table(parameters, lookup.inputs, 1, |_| negative);
        Ok(lookup)
    }

    /// Refuses a context of other parameters.
    pub(crate) fn check(&self, context: &Context) -> Result<()> {
        context.check_fingerprint(&self.fingerprint, "the lookup")
    }

    /// How many functions the table has.
    #[must_use]
    pub fn functions(&self) -> usize {
        self.ranges.len()
    }
}

impl BivariateLookup {
    /// The table of a function of two messages, `x` and `y` below `2^message_bits`.
    ///
    /// # Errors
    /// [`Error::Parameters`] if there are fewer carry bits than message bits; else as [`Lookup::new`].
    pub fn new(context: &Context, function: impl Fn(u64, u64) -> u64) -> Result<Self> {
        let shift = context.parameters().message_size();
        Self::with_shift(context, shift, function)
    }

    /// The table of a function of `x` below `shift` and `y` below `p / shift`.
    ///
    /// # Errors
    /// [`Error::Parameters`] if no y has room; else as [`Lookup::new`].
    pub fn with_shift(context: &Context, shift: u64, function: impl Fn(u64, u64) -> u64) -> Result<Self> {
        let size = context.parameters().encoding().size();
        context.parameters().encoding().needs_integers()?;
        if shift == 0 || size / shift < 2 {
            return Err(Error::parameter("shift", shift, format!("1 to {}: use a set with more carry bits", size / 2)));
        }
        let inputs = size / shift * shift;
        let lookup = Lookup::many(context, inputs, &[&|index| function(index % shift, index / shift)])?;
        Ok(Self { lookup, shift })
    }
}

/// The polynomial of the words at indices below p, a box for each.
fn table(parameters: &Parameters, inputs: u64, functions: usize, word: impl Fn(usize) -> u64) -> Table {
    let degree = parameters.torus().shape().degree;
    let size = parameters.encoding().size() as usize;
    let width = degree / size;
    let outputs: Vec<usize> = (0..functions).map(|t| t * inputs as usize * width).collect();
    let coefficient = |j: usize| match (j + width / 2) / width {
        index if index < size => word(index),
        _ => word(0).wrapping_neg(),
    };
    Table::from_fn(degree, coefficient, &outputs)
}
