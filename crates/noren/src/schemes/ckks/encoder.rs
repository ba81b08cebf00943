//! Numbers to plaintexts and back, by the canonical embedding.

use noren_ring::poly::{Coeff, Eval, Poly};
use noren_ring::ring::Ring;
use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::shape::KeyShape;
use num_complex::Complex64;

use crate::schemes::ckks::content::Content;
use crate::schemes::ckks::context::Context;
use crate::schemes::ckks::error::CkksError;
use crate::schemes::ckks::estimate::{Estimate, Nature, mix};
use crate::schemes::ckks::factor::{Factor, row_words};
use crate::schemes::ckks::message::Message;
use crate::schemes::ckks::parameters::Parameters;
use crate::schemes::ckks::scale::Scale;
use crate::schemes::error::SlotError;
use crate::schemes::extent::Extent;
use crate::schemes::range::Range;
use crate::schemes::slots::check_values;

/// Coefficients below this are rounded to 64-bit integers, larger ones to 128 bits.
const NARROW: f64 = (1u64 << 62) as f64;
/// The largest coefficient that 128 bits are used for.
const WIDE: f64 = (1u128 << 126) as f64;
/// Decoding reads as many limbs as hold the message that is expected, times `2^MARGIN_BITS`.
const MARGIN_BITS: f64 = 32.0;

/// Turns vectors of numbers into plaintexts, and plaintexts into vectors.
///
/// A plaintext is a polynomial m with integer coefficients. Slot j is `m(zeta^(5^j)) / scale`, `zeta = exp(i pi / N)`
/// for degree N. Encoding n values at a scale takes the inverse of this map, multiplies by the scale and rounds every
/// coefficient to the nearest integer. With n below N/2 slots, m is a polynomial in `X^(N/2n)`, and the slots of the
/// full embedding repeat the n values.
#[derive(Clone)]
pub struct Encoder {
    context: Context,
}

/// An encoded vector.
pub type Plaintext = Message<rlwe::Plaintext>;

impl Plaintext {
    /// The level that it was encoded for.
    #[must_use]
    pub fn level(&self) -> usize {
        self.rlwe().level()
    }

    /// A bound on the error in every slot.
    #[must_use]
    pub fn error_bound(&self) -> f64 {
        let error = self.estimate().bound(self.slots(), self.parameters().max_slots());
        error + decoding_error(self.slots()) * (self.magnitude() + error)
    }
}

impl Encoder {
    /// The encoder of a context.
    #[must_use]
    pub fn new(context: &Context) -> Self {
        Self { context: context.clone() }
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Encodes real values at the canonical scale of a level. Fewer values than slots are followed by zeros.
    ///
    /// # Errors
    /// As [`Encoder::encode_real`].
    pub fn encode(&self, values: &[f64], slots: usize, level: usize) -> Result<Plaintext> {
        self.context.check_level(level)?;
        self.encode_real(values, slots, level, self.context.parameters().scale_at(level))
    }

    /// Encodes real values. Fewer values than slots are followed by zeros.
    ///
    /// # Errors
    /// [`Error::Length`] if there are more values than slots, or the slots are not a power of two up to half the
    /// degree; [`SlotError::NotFinite`]; [`CkksError::Overflow`] if a value does not fit the modulus of the level at
    /// this scale; [`Error::LevelExhausted`] if there is no such level.
    pub fn encode_real(&self, values: &[f64], slots: usize, level: usize, scale: &Scale) -> Result<Plaintext> {
        self.encode_with(values.len(), |j| (values[j], 0.0), Field::Real, slots, level, scale)
    }

    /// Encodes complex values. Fewer values than slots are followed by zeros.
    ///
    /// # Errors
    /// As [`Encoder::encode_real`].
    pub fn encode_complex(&self, values: &[Complex64], slots: usize, level: usize, scale: &Scale) -> Result<Plaintext> {
        self.encode_with(values.len(), |j| (values[j].re, values[j].im), Field::Complex, slots, level, scale)
    }

    /// Encodes real values over and over in all of `slots` slots, at the canonical scale of a level: with zeros after them up
    /// to a power of two, which is the period. Matrices of this dimension take fewer rotations then.
    ///
    /// # Errors
    /// As [`Encoder::encode_real`].
    pub fn encode_repeated(&self, values: &[f64], slots: usize, level: usize) -> Result<Plaintext> {
        self.context.check_level(level)?;
        self.encode_repeated_with(values, Field::Real, slots, level, self.context.parameters().scale_at(level))
    }

    /// Encodes complex values as [`Encoder::encode_repeated`] does real ones.
    ///
    /// # Errors
    /// As [`Encoder::encode_real`].
    pub fn encode_repeated_complex(&self, values: &[Complex64], slots: usize, level: usize) -> Result<Plaintext> {
        self.context.check_level(level)?;
        self.encode_repeated_with(values, Field::Complex, slots, level, self.context.parameters().scale_at(level))
    }

    /// Encodes real values for [`Evaluator::sum_giant_steps`](crate::schemes::ckks::evaluator::Evaluator): as
    /// [`Encoder::encode_real`], modulo the special primes too.
    ///
    /// # Errors
    /// As [`Encoder::encode_real`].
    pub fn encode_factor(&self, values: &[f64], slots: usize, level: usize, scale: &Scale) -> Result<Factor> {
        let special = self.context.parameters().rlwe().p().len();
        self.embed(values.len(), |j| (values[j], 0.0), Field::Real, slots, level, scale, Some(special))
    }

    /// Encodes complex values as [`Encoder::encode_factor`] does real ones.
    ///
    /// # Errors
    /// As [`Encoder::encode_real`].
    pub fn encode_factor_complex(
        &self,
        values: &[Complex64],
        slots: usize,
        level: usize,
        scale: &Scale,
    ) -> Result<Factor> {
        let shape = self.context.parameters().rlwe().shape();
        self.encode_factor_shaped(values, slots, level, scale, shape)
    }

    /// [`Encoder::encode_factor_complex`] modulo the special primes that keys of this shape use, for evaluators with such
    /// keys.
    ///
    /// # Errors
    /// As [`Encoder::encode_real`], and [`Error::Parameters`] if the parameters have fewer special primes.
    pub fn encode_factor_shaped(
        &self,
        values: &[Complex64],
        slots: usize,
        level: usize,
        scale: &Scale,
        shape: KeyShape,
    ) -> Result<Factor> {
        let value = |j: usize| (values[j].re, values[j].im);
        self.embed(values.len(), value, Field::Complex, slots, level, scale, Some(shape.special))
    }

    /// The slots of a plaintext that is known to be real.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if the plaintext was made with other parameters, [`SlotError::NotReal`] if it may
    /// hold complex numbers.
    pub fn decode_real(&self, plaintext: &Plaintext) -> Result<Vec<f64>> {
        check_real(plaintext.estimate(), "the plaintext")?;
        self.decode_real_parts(plaintext)
    }

    /// The real parts of the slots; imaginary parts are dropped.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if the plaintext was made with other parameters.
    pub fn decode_real_parts(&self, plaintext: &Plaintext) -> Result<Vec<f64>> {
        Ok(self.decode(plaintext)?.0)
    }

    /// The slots.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if the plaintext was made with other parameters.
    pub fn decode_complex(&self, plaintext: &Plaintext) -> Result<Vec<Complex64>> {
        let (re, im) = self.decode(plaintext)?;
        Ok(re.into_iter().zip(im).map(|(re, im)| Complex64::new(re, im)).collect())
    }

    /// [`Encoder::encode_repeated`] at any scale.
    fn encode_repeated_with<T: Copy + Into<Complex64>>(
        &self,
        values: &[T],
        field: Field,
        slots: usize,
        level: usize,
        scale: &Scale,
    ) -> Result<Plaintext> {
        let period = values.len().next_power_of_two();
        if values.is_empty() || period > slots {
            let needed = format!("1 to {slots}, the number of slots");
            return Err(Error::Length { what: "values", found: values.len(), needed });
        }
        let value = |j: usize| values.get(j % period).map_or((0.0, 0.0), |&x| (x.into().re, x.into().im));
        let repeated = self.encode_with(slots, value, field, slots, level, scale)?;
        repeated.with_length(Some(values.len()))?.with_period(period)
    }

    fn encode_with(
        &self,
        count: usize,
        value: impl Fn(usize) -> (f64, f64),
        field: Field,
        slots: usize,
        level: usize,
        scale: &Scale,
    ) -> Result<Plaintext> {
        Ok(self.embed(count, value, field, slots, level, scale, None)?.map(|poly| rlwe::Plaintext { poly }))
    }

    /// The polynomial of the values modulo the primes of the level; that of a factor modulo `factor_special` special primes too, the
    /// last of the list, and in the smallest ring that it needs.
    #[expect(clippy::too_many_arguments, reason = "one for each part of what is encoded")]
    fn embed(
        &self,
        count: usize,
        value: impl Fn(usize) -> (f64, f64),
        field: Field,
        slots: usize,
        level: usize,
        scale: &Scale,
        factor_special: Option<usize>,
    ) -> Result<Message<Poly<Eval>>> {
        self.context.check_level(level)?;
        let rlwe = self.context.rlwe();
        let (listed, special) = (rlwe.parameters().p().len(), factor_special.unwrap_or(0));
        let skipped = listed.checked_sub(special);
        let refused = || Error::parameter("special primes of a factor", special, format!("at most {listed}"));
        let window = skipped.ok_or_else(refused)?..listed + level + 1;
        // Refuses what is no number of slots.
        self.context.transform(slots)?;
        check_values(count, slots)?;
        let (mut re, mut im) = (vec![0.0; slots], vec![0.0; slots]);
        let (mut largest, mut square) = (0, 0.0f64);
        // Zeros fill the slots after the values.
        let (mut low, mut high) = if count < slots { (0.0, 0.0) } else { (f64::INFINITY, f64::NEG_INFINITY) };
        for j in 0..count {
            (re[j], im[j]) = value(j);
            let next = re[j] * re[j] + im[j] * im[j];
            if !next.is_finite() {
                return Err(unusable(j, re[j], im[j], scale));
            }
            if next > square {
                (largest, square) = (j, next);
            }
            (low, high) = (re[j].min(low), re[j].max(high));
        }
        let magnitude = square.sqrt();
        let mut ring = rlwe.ring();
        if factor_special.is_some() {
            let period = period(&re, &im);
            re.truncate(period);
            im.truncate(period);
            let words = row_words(ring.degree(), period);
            ring = if words < ring.degree() { rlwe.subring(words) } else { ring };
        }
        self.context.transform(re.len())?.inverse(&mut re, &mut im);

        let factor = scale.to_f64();
        let highest = re.iter().chain(&im).fold(0.0, |max: f64, x| max.max(x.abs())) * factor;
        let limit = libm::exp2((self.context.rlwe().ring_q(level + 1).log2_modulus() - 1.0).min(WIDE_BITS));
        if highest >= limit {
            let (value, limit) = (magnitude, limit / factor);
            return Err(CkksError::Overflow { index: largest, value, limit, scale_log2: scale.log2() }.into());
        }
        let ring = &ring.window(window);
        let (poly, residue) = if highest < NARROW {
            rounded(ring, &re, &im, factor, |x| x as i64, Ring::from_signed)
        } else {
            rounded(ring, &re, &im, factor, |x| x as i128, Ring::from_i128)
        };
        let parameters = self.context.parameters().clone();
        let range = match field {
            Field::Real => Range::real(low, high),
            Field::Complex => Range::disc(magnitude),
        };
        let estimate = encoded(&parameters, slots, range, residue, level, scale);
        let extent = Extent::of_values(count, slots);
        Ok(Message::new(ring.ntt(poly), *scale, Content::new(slots, extent, estimate), parameters))
    }

    pub(super) fn decode(&self, plaintext: &Plaintext) -> Result<(Vec<f64>, Vec<f64>)> {
        self.context.check(plaintext.parameters(), "the plaintext")?;
        let table = self.context.transform(plaintext.slots())?;
        let limbs = limbs_to_read(&self.context, plaintext.rlwe().limbs(), plaintext.scale(), plaintext.estimate());
        let ring = self.context.rlwe().ring_q(limbs);
        let gap = self.context.parameters().max_slots() / plaintext.slots();
        let mut re = ring.to_centered_f64_every(&ring.intt(ring.restrict(&plaintext.rlwe().poly)), gap);
        let inverse = 1.0 / plaintext.scale().to_f64();
        re.iter_mut().for_each(|x| *x *= inverse);
        let mut im = re.split_off(plaintext.slots());
        table.forward(&mut re, &mut im);
        Ok((re, im))
    }
}

/// The layout in which numbers are encoded.
#[derive(Clone, Copy)]
enum Field {
    Real,
    Complex,
}

/// The treatment of complex numbers.
const READ_AS_COMPLEX: &str = "read them as complex numbers, ask for their real parts, or state their range (with_range) \
                               if they are known to be real";

/// Refuses what may hold complex numbers.
pub(crate) fn check_real(estimate: &Estimate, what: &'static str) -> Result<()> {
    if estimate.range().interval().is_some() {
        Ok(())
    } else {
        Err(SlotError::NotReal { what, remedy: READ_AS_COMPLEX }.into())
    }
}

/// The base-two logarithm of [`WIDE`].
const WIDE_BITS: f64 = 126.0;

/// The smallest power of two after which all values repeat.
fn period(re: &[f64], im: &[f64]) -> usize {
    let repeats = |x: &[f64], half: usize| x[..half] == x[half..2 * half];
    let halves = std::iter::successors(Some(re.len() / 2), |half| Some(half / 2)).take_while(|&half| half > 0);
    (2 * re.len()) >> (1 + halves.take_while(|&half| repeats(re, half) && repeats(im, half)).count())
}

/// The polynomial of the scaled and rounded coefficients, and the sum of the squares of what rounding changed.
fn rounded<T: Copy + Default>(
    ring: &Ring,
    re: &[f64],
    im: &[f64],
    factor: f64,
    to_integer: impl Fn(f64) -> T,
    to_poly: impl Fn(&Ring, &[T]) -> Poly<Coeff>,
) -> (Poly<Coeff>, f64) {
    let half = ring.degree() / 2;
    let gap = half / re.len();
    let mut coefficients = vec![T::default(); ring.degree()];
    let mut residue = 0.0;
    let (low, high) = coefficients.split_at_mut(half);
    for (values, out) in [(re, low), (im, high)] {
        for (x, out) in values.iter().zip(out.iter_mut().step_by(gap)) {
            let exact = x * factor;
            let whole = exact.round_ties_even();
            residue += (exact - whole) * (exact - whole);
            *out = to_integer(whole);
        }
    }
    (to_poly(ring, &coefficients), residue)
}

/// The estimate of an encoded vector: the rounding as it turned out, and the errors of the transforms.
///
/// By Parseval the mean square over the slots of a polynomial is the sum of the squares of its coefficients. Estimates
/// count in slots of the full embedding, of which `max_slots / slots` make one: hence that factor.
fn encoded(parameters: &Parameters, slots: usize, range: Range, residue: f64, level: usize, scale: &Scale) -> Estimate {
    let (copies, magnitude) = ((parameters.max_slots() / slots) as f64, range.magnitude());
    let variance = residue * copies / (scale.to_f64() * scale.to_f64());
    let contents = [residue, magnitude, scale.to_f64(), level as f64, slots as f64];
    let tag = contents.iter().fold(0, |tag, x| mix(tag, x.to_bits()));
    Estimate::exact(range, tag).with_source(Nature::Plain, variance, 0).with_bias(magnitude * transform_error(slots))
}

/// A bound on the error of encoding and decoding in `f64`, relative to the largest slot.
///
/// Each of the `log2 n` layers of both transforms rounds a product and a sum, `2^-53` each, and the root itself; the
/// conversions and the scaling round four times more. The errors of different layers are independent, and a fourfold
/// allowance for the largest of all slots covers them: `4 * 2^-53 * (log2 n + 4)`.
pub(crate) fn transform_error(slots: usize) -> f64 {
    4.0 * f64::EPSILON / 2.0 * (f64::from(slots.ilog2()) + 4.0)
}

/// A bound on the error of decoding in `f64`, relative to the largest slot: half of [`transform_error`].
///
/// It counts for the message as it is when it is decoded, however large it was when it was encoded.
pub(crate) fn decoding_error(slots: usize) -> f64 {
    transform_error(slots) / 2.0
}

/// How many of `limbs` limbs hold the message with a wide margin: modulo fewer primes everything is faster.
pub(crate) fn limbs_to_read(context: &Context, limbs: usize, scale: &Scale, estimate: &Estimate) -> usize {
    let expected = (estimate.magnitude() + estimate.worst()).max(1.0) * scale.to_f64();
    let bits = libm::log2(expected) + 1.0 + MARGIN_BITS;
    let parameters = context.parameters().rlwe();
    (1..limbs).find(|&few| parameters.log_q(few) >= bits).unwrap_or(limbs)
}

/// Why a value cannot be encoded whose square is not finite.
fn unusable(index: usize, re: f64, im: f64, scale: &Scale) -> Error {
    match [re, im].into_iter().find(|x| !x.is_finite()) {
        Some(value) => SlotError::NotFinite { index, value }.into(),
        None => {
            let value = re.abs().max(im.abs());
            CkksError::Overflow { index, value, limit: WIDE / scale.to_f64(), scale_log2: scale.log2() }.into()
        }
    }
}
