//! A function of many digits as tables, with its cost, noise and failures.

use std::fmt;

use noren_ring::torus::control_table::ControlTable;
use noren_ring::torus::packed_tables::PackedTables;
use noren_rlwe::error::{Error, Result};

use crate::schemes::tfhe::context::Context;
use crate::schemes::tfhe::error::TfheError;
use crate::schemes::tfhe::evaluator::BOOTSTRAP_NOISE;
use crate::schemes::tfhe::large::digits::{failure, message_bits};
use crate::schemes::tfhe::lookup::{Lookup, Range};

/// The most bits of all inputs together: tables have an entry of two bytes for each value and output.
const MAX_BITS: usize = 24;

/// Steps by which the largest noise of operands is searched.
const NOISE_STEP: f64 = 0.125;

/// A function of several digits, from which results of several digits come.
///
/// Digits are messages of m bits, the lowest first: two integers of 8 bits are eight digits of 2 bits, those of the first one in
/// front. The way is the cheaper one of two:
///
/// - *Directly*: digits that fit a ciphertext together, as `x + 2^m y` does, are looked up by bootstraps, one or more for all
///   outputs.
/// - *By circuit bootstrapping*: a blind rotation for each digit makes GGSW samples of its bits, which choose from tables in which
///   all values lie packed. The cost hardly depends on the number of values and outputs. Needs
///   [`CircuitKeys`](crate::schemes::tfhe::CircuitKeys).
#[derive(Debug, Clone)]
pub struct LargeLookup {
    pub(crate) digits: usize,
    /// One for each output.
    pub(crate) ranges: Vec<Range>,
    pub(crate) method: Method,
    pub(crate) fingerprint: [u8; 32],
    /// The largest noise that operands may have.
    pub(crate) max_noise: f64,
    /// The noise of results.
    pub(crate) noise: f64,
    /// The base-two logarithm of the probability of a wrong result, for operands with the noise of a bootstrap.
    failure_log2: f64,
}

/// How values are found.
#[derive(Debug, Clone)]
pub(crate) enum Method {
    /// Tables of the outputs of one bootstrap each.
    Direct(Vec<Lookup>),
    /// By the control bits of all digits.
    Circuit { control: ControlTable, tables: PackedTables },
}

impl LargeLookup {
    /// The tables of `function`, which is given the value of all digits together, `sum_i x_i 2^(m i)`, and whose value is written in
    /// `outputs` digits.
    ///
    /// # Errors
    /// [`TfheError::OutOfRoom`] if a value needs more digits; [`Error::Parameters`] if there are no digits, all digits
    /// have more than 24 bits, or the parameters are for bits; [`TfheError::NoisyCombination`] if results would have
    /// more noise than ciphertexts may have.
    pub fn new(context: &Context, digits: usize, outputs: usize, function: impl Fn(u64) -> u64) -> Result<Self> {
        Self::by(context, [digits, outputs], function, |shape, bootstraps| {
            !shape.is_circuit_cheaper(context, bootstraps)
        })
    }

    /// The same by bootstraps of all digits together, whatever they cost, where these fit a ciphertext.
    ///
    /// # Errors
    /// As [`LargeLookup::new`].
    pub(crate) fn together(
        context: &Context,
        digits: usize,
        outputs: usize,
        function: impl Fn(u64) -> u64,
    ) -> Result<Self> {
        Self::by(context, [digits, outputs], function, |_, _| true)
    }

    fn by(
        context: &Context,
        [digits, outputs]: [usize; 2],
        function: impl Fn(u64) -> u64,
        is_direct: impl Fn(&Shape, usize) -> bool,
    ) -> Result<Self> {
        let parameters = context.parameters();
        parameters.encoding().needs_integers()?;
        let message_bits = message_bits(parameters) as usize;
        let most = MAX_BITS / message_bits;
        for (name, found) in [("digits", digits), ("outputs", outputs)] {
            if !(1..=most).contains(&found) {
                return Err(Error::parameter(name, found, format!("1 to {most} of {message_bits} bits")));
            }
        }
        let values = values(digits * message_bits, outputs * message_bits, function)?;
        let mask = (1 << message_bits) - 1;
        let digit = |x: usize, output: usize| u64::from(values[x] >> (output * message_bits) & mask);
        let largest = |output| (0..values.len()).map(|x| digit(x, output)).max().unwrap_or(0);
        let ranges = (0..outputs).map(|output| Range { max: largest(output) }).collect();
        let shape = Shape { digits, outputs, message_bits };
        if let Some(bootstraps) = shape.bootstraps(context)
            && is_direct(&shape, bootstraps)
        {
            return Self::direct(context, shape, bootstraps, ranges, &digit);
        }
        Self::circuit(context, shape, ranges, &digit)
    }

    fn direct(
        context: &Context,
        shape: Shape,
        bootstraps: usize,
        ranges: Vec<Range>,
        digit: &dyn Fn(usize, usize) -> u64,
    ) -> Result<Self> {
        let parameters = context.parameters();
        let functions: Vec<_> = (0..shape.outputs).map(|output| move |x: u64| digit(x as usize, output)).collect();
        let functions: Vec<&dyn Fn(u64) -> u64> = functions.iter().map(|function| function as _).collect();
        let tables = functions
            .chunks(shape.outputs.div_ceil(bootstraps))
            .map(|functions| Lookup::many(context, 1 << shape.bits(), functions))
            .collect::<Result<Vec<_>>>()?;
        let factor = shape.factor();
        let failure = parameters.torus().law().failure(factor * factor, parameters.encoding().margin());
        Ok(Self {
            digits: shape.digits,
            ranges,
            method: Method::Direct(tables),
            fingerprint: parameters.fingerprint(),
            max_noise: parameters.max_noise() / factor,
            noise: BOOTSTRAP_NOISE,
            failure_log2: failure.log2 + libm::log2(bootstraps as f64),
        })
    }

    fn circuit(
        context: &Context,
        shape: Shape,
        ranges: Vec<Range>,
        digit: &dyn Fn(usize, usize) -> u64,
    ) -> Result<Self> {
        let (parameters, circuit) = (context.parameters(), context.circuit()?);
        let (torus, encoding, bits) = (parameters.torus(), parameters.encoding(), shape.message_bits as u32);
        let control = ControlTable::new(torus.shape().degree, bits, circuit.control());
        let tables =
            PackedTables::from_fn(torus.shape(), (shape.bits(), shape.outputs), encoding.unit(), |controls, output| {
                digit(shape.value(controls), output) as u16
            });
        let noise = (circuit.law().lookup(shape.bits()) / torus.law().bootstrap()).sqrt();
        if noise > parameters.max_noise() {
            let what = "a result of so many digits";
            return Err(TfheError::NoisyCombination { what, found: noise, needed: parameters.max_noise() }.into());
        }
        let failure = |noise| {
            let one = failure(torus, encoding, bits, circuit.control(), noise)?;
            Some(one.log2 + libm::log2(shape.digits as f64))
        };
        let fits = |noise: &f64| failure(*noise).is_some_and(|log2| log2 <= parameters.spec().max_failure_log2);
        let steps = (parameters.max_noise() / NOISE_STEP) as u32;
        let max_noise = (1..=steps).map(|step| f64::from(step) * NOISE_STEP).take_while(fits).last().unwrap_or(0.0);
        Ok(Self {
            digits: shape.digits,
            ranges,
            method: Method::Circuit { control, tables },
            fingerprint: parameters.fingerprint(),
            max_noise,
            noise,
            failure_log2: failure(BOOTSTRAP_NOISE).unwrap_or(0.0),
        })
    }

    /// How many digits go in.
    #[must_use]
    pub const fn digits(&self) -> usize {
        self.digits
    }

    /// How many digits come out.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.ranges.len()
    }

    /// Whether evaluation needs [`CircuitKeys`](crate::schemes::tfhe::CircuitKeys).
    #[must_use]
    pub const fn needs_circuit_keys(&self) -> bool {
        matches!(self.method, Method::Circuit { .. })
    }

    /// The base-two logarithm of the probability that a result is wrong, for operands with the noise of a bootstrap.
    #[must_use]
    pub const fn failure_log2(&self) -> f64 {
        self.failure_log2
    }

    /// The largest noise of operands, as multiple of that of a bootstrap: with more, the lookup would fail more often than the
    /// parameters allow.
    #[must_use]
    pub const fn max_noise(&self) -> f64 {
        self.max_noise
    }

    /// The noise of results, as multiple of that of a bootstrap.
    #[must_use]
    pub const fn noise(&self) -> f64 {
        self.noise
    }
}

impl fmt::Display for LargeLookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} digits to {}: ", self.digits, self.outputs())?;
        match &self.method {
            Method::Direct(tables) => write!(f, "{} bootstraps", tables.len())?,
            Method::Circuit { tables, .. } => {
                write!(f, "{} circuit bootstraps, {} choices", self.digits, tables.products())?;
            }
        }
        write!(f, ", noise {:.2}, failure 2^{:.2}", self.noise, self.failure_log2)
    }
}

/// How many digits of how many bits go in and come out.
#[derive(Clone, Copy)]
struct Shape {
    digits: usize,
    outputs: usize,
    message_bits: usize,
}

impl Shape {
    /// The bits of all digits that go in.
    const fn bits(&self) -> usize {
        self.digits * self.message_bits
    }

    /// The factor of the noise where all digits are added up in one ciphertext.
    fn factor(&self) -> f64 {
        (0..self.digits).map(|digit| libm::exp2((digit * self.message_bits) as f64)).sum()
    }

    /// How many bootstraps look up all outputs directly; nothing if the digits do not fit a ciphertext together.
    fn bootstraps(&self, context: &Context) -> Option<usize> {
        let parameters = context.parameters();
        let shared = parameters.encoding().size() >> self.bits();
        let fits = shared > 0 && self.factor() <= parameters.max_noise();
        fits.then(|| self.outputs.div_ceil(shared as usize))
    }

    /// Whether circuit bootstraps of all digits cost less than `bootstraps` bootstraps.
    fn is_circuit_cheaper(&self, context: &Context, bootstraps: usize) -> bool {
        let Ok(circuit) = context.circuit() else {
            return false;
        };
        let torus = context.parameters().torus();
        let columns = torus.shape().dimension + 1;
        // Transforms of polynomials: rows that are cut into digits, and columns that are added to.
        let rotation = |levels: usize| torus.short_dimension() * (columns * levels + columns);
        let (trace, control) = (circuit.trace().levels(), circuit.control().levels());
        let traces = self.message_bits * control * torus.spec().log_degree as usize * (columns * trace + 2 * columns);
        let each = rotation(circuit.rotation().levels()) + traces;
        self.digits * each < bootstraps * rotation(torus.gadget().levels())
    }

    /// The value of all digits whose control bits these are: of each digit, the highest bit, and the exclusive or of that and each
    /// other bit.
    const fn value(&self, controls: usize) -> usize {
        let (mut value, mut digit) = (0, 0);
        while digit < self.digits {
            let mask = (1 << self.message_bits) - 1;
            let bits = controls >> (digit * self.message_bits) & mask;
            let highest = bits >> (self.message_bits - 1);
            let low = bits ^ (highest * (mask >> 1));
            value |= low << (digit * self.message_bits);
            digit += 1;
        }
        value
    }
}

/// The values of a function of `bits` bits, which fit the 24 bits that all digits have at most.
fn values(bits: usize, output_bits: usize, function: impl Fn(u64) -> u64) -> Result<Vec<u32>> {
    let value = |x| match function(x) {
        found if found >> output_bits > 0 => {
            let needed = format!("at most {}", (1u64 << output_bits) - 1);
            let hint = "reduce it in the function, or ask for more digits";
            Err(TfheError::OutOfRoom { what: "a value of the function", found, needed, hint }.into())
        }
        value => Ok(value as u32),
    };
    (0..1 << bits).map(value).collect()
}
