//! Functions of two numbers as a polynomial of the first, whose coefficients are vectors: to compare with.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use noren_math::interpolation::Interpolation;
use noren_math::modulus::Modulus;
use noren_ring::small::SmallPolynomials;
use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::resources::Resources;
use noren_rlwe::streamed::sum_streamed;

use crate::lookup::function::Function;
use crate::lookup::layout::Layout;
use crate::lookup::one_hot::one_hot;
use crate::lookup::step::Step;
use crate::schemes::bfv::{Ciphertext, Context, Encoder, Evaluator, KeyRequest, Noise, Parameters};
use crate::schemes::integers::content::Content;
use crate::schemes::integers::encryption::scaled;

/// `f(x, y) = sum_i f_{i, y} x^i`, evaluated for all y at once: the vectors `V_i = (f_{i, 0}, f_{i, 1}, ..)` times the powers
/// of x, then the product with the one-hot vector of y, and the sum over slots.
///
/// By the method of Paterson and Stockmeyer with g powers: `sum_k (sum_{j < g} V_{g k + j} x^j) x^{g k}`, about `2 sqrt N`
/// products of ciphertexts for N numbers x.
///
/// Source: Maeda et al., "Efficient homomorphic evaluation of arbitrary uni/bivariate integer functions and their
/// applications", IEICE Transactions E107-A, 2024.
pub struct PolynomialLookup {
    parameters: Parameters,
    layout: Layout,
    powers: usize,
    /// `V_i`, in order.
    factors: SmallPolynomials,
    /// `log2` of the largest norm of g vectors that follow one another: the root of the sum of the squares of all coefficients.
    log2_norm: f64,
}

impl PolynomialLookup {
    /// Prepares a function of numbers that fill one ciphertext and have a slot each: interpolates for each y, then encodes
    /// the vectors of coefficients. It takes `4 n` bytes for each number while it prepares, and half of that later.
    ///
    /// # Errors
    /// [`Error::Parameters`] for another domain; [`LookupError::Undefined`](crate::lookup::LookupError::Undefined) and
    /// [`LookupError::NotInRange`](crate::lookup::LookupError::NotInRange) name the first point that needs a value
    /// below t; [`Error::Resources`] before any work if the memory does not suffice.
    pub fn prepare(context: &Context, function: &Function) -> Result<Self> {
        let (parameters, modulus) = (context.parameters(), context.parameters().modulus());
        let (domain, t, degree) = (function.domain(), modulus.value(), parameters.degree());
        let layout = Layout::new(degree, t, domain)?;
        if layout.queries() != 1 || layout.blocks() != [1; 2] || layout.rest() != [false; 2] {
            let needed = format!("more than {} and at most {degree}", parameters.row_slots());
            return Err(Error::parameter("domain", format!("{domain:?}"), needed));
        }
        let powers = 1 << domain[0].ilog2().div_ceil(2);
        let count = domain[0].next_multiple_of(powers);
        let bytes = (SmallPolynomials::word_count(degree, domain[1] + count) * size_of::<u64>()) as u64;
        let advice = "close other programs, raise the limit of the process or container, or take a smaller domain";
        let resources = Resources::of_machine(Path::new("."));
        resources.check_memory(bytes, "memory for the coefficients of a function", advice)?;

        let interpolation = Interpolation::new(Modulus::new(t)?, domain[0])?;
        let (engine, failed) = (context.rlwe().ring().engine(), AtomicBool::new(false));
        let all: Vec<u32> = (0..domain[0] as u32).collect();
        let interpolate = |y: usize, out: &mut [i64]| {
            let mut row = vec![0; interpolation.coefficients()];
            match function.residues(&all, &vec![y as u32; domain[0]], t) {
                Ok(values) => row.iter_mut().zip(values).for_each(|(cell, value)| *cell = value.cast_unsigned()),
                Err(_) => failed.store(true, Ordering::Relaxed),
            }
            interpolation.interpolate(&mut row);
            out.fill(0);
            out.iter_mut().zip(row).for_each(|(out, coefficient)| *out = modulus.center(coefficient));
        };
        let polynomials = SmallPolynomials::build(engine, degree, domain[1], interpolate, || {});
        if failed.into_inner() {
            function.check(t)?;
        }

        let encoder = Encoder::new(context);
        let squares: Vec<AtomicU64> = (0..count / powers).map(|_| AtomicU64::new(0)).collect();
        let write = |i: usize, out: &mut [i64]| {
            let coefficient = |y: usize| match polynomials.coefficient(y, i) {
                x if x < 0 => t - x.unsigned_abs(),
                x => x.unsigned_abs(),
            };
            let value = |slot| if i < domain[0] && slot < domain[1] { coefficient(slot) } else { 0 };
            encoder.write_coefficients(value, out).expect("t has slots: the layout needs them");
            // Squares of 2^15 in 2^15 coefficients fill 45 bits, and those of 2^8 vectors 53.
            squares[i / powers].fetch_add(out.iter().map(|x| x.unsigned_abs().pow(2)).sum(), Ordering::Relaxed);
        };
        let factors = SmallPolynomials::build(engine, degree, count, write, || {});
        let largest = squares.into_iter().map(AtomicU64::into_inner).max().unwrap_or(0).max(1);
        let log2_norm = libm::log2(largest as f64) / 2.0;
        Ok(Self { parameters: parameters.clone(), layout, powers, factors, log2_norm })
    }

    /// The layout of numbers in slots.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The keys that the evaluator needs.
    #[must_use]
    pub fn keys(&self) -> KeyRequest {
        KeyRequest { relinearization: true, rotations: self.doublings().collect(), swap: true, ..KeyRequest::default() }
    }

    /// How many bytes the vectors of coefficients take.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        size_of_val(self.factors.words()) as u64
    }

    /// How many products of ciphertexts there are, squarings included.
    #[must_use]
    pub fn products(&self) -> usize {
        let sums = self.factors.count() / self.powers;
        let one_hot = self.parameters.modulus().value() - 1;
        let power = one_hot.ilog2() + one_hot.count_ones() - 1;
        self.powers - 1 + sums - 1 + sums.next_power_of_two().ilog2().saturating_sub(1) as usize + power as usize + 1
    }

    /// `f(x, y)` in every slot.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] for ciphertexts of other parameters, [`Error::MissingKey`] for a key of
    /// [`PolynomialLookup::keys`],
    /// [`IntegerError::NoiseExhausted`](crate::schemes::integers::IntegerError::NoiseExhausted) if the modulus is too
    /// small, [`Error::Parameters`] for a number with a plaintext factor, as conversions from BGV have.
    pub fn evaluate(&self, evaluator: &Evaluator, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext> {
        self.evaluate_watched(evaluator, x, y, &|_| {})
    }

    /// [`PolynomialLookup::evaluate`]; `watch` hears of each step when it is done.
    ///
    /// # Errors
    /// As [`PolynomialLookup::evaluate`].
    pub fn evaluate_watched(
        &self,
        evaluator: &Evaluator,
        x: &Ciphertext,
        y: &Ciphertext,
        watch: &dyn Fn(Step),
    ) -> Result<Ciphertext> {
        let watch = |step, _: &[Ciphertext]| {
            watch(step);
            Ok(())
        };
        self.evaluate_steps(evaluator, x, y, &watch)
    }

    /// [`PolynomialLookup::evaluate`]; `watch` is given what each step made.
    pub(super) fn evaluate_steps(
        &self,
        evaluator: &Evaluator,
        x: &Ciphertext,
        y: &Ciphertext,
        watch: &dyn Fn(Step, &[Ciphertext]) -> Result<()>,
    ) -> Result<Ciphertext> {
        evaluator.context().check(&self.parameters, "the prepared function")?;
        if x.factor() != 1 {
            return Err(Error::parameter("factor", x.factor(), "1: multiply the number by its inverse"));
        }
        let mut powers = vec![x.clone()];
        for exponent in 2..=self.powers {
            let (low, high) = (exponent / 2, exponent.div_ceil(2));
            powers.push(evaluator.mul(&powers[low - 1], &powers[high - 1])?);
        }
        watch(Step::Powers, &powers)?;
        let giant = powers.pop().expect("there is a power");
        let sums = self.sums(evaluator, &powers)?;
        watch(Step::Matrix, &sums)?;
        let row = Self::row(evaluator, sums, giant)?;
        watch(Step::Giants, std::slice::from_ref(&row))?;
        let one_hot = one_hot(evaluator, &self.layout, y, 0)?;
        watch(Step::OneHot, std::slice::from_ref(&one_hot))?;
        let selected = evaluator.mul(&row, &one_hot)?;
        let summed = self.doublings().try_fold(selected, |sum, steps| {
            let rotated = evaluator.rotate(&sum, steps)?;
            evaluator.add(&sum, &rotated)
        })?;
        let swapped = evaluator.swap_rows(&summed)?;
        let result = evaluator.add(&summed, &swapped)?;
        watch(Step::Select, std::slice::from_ref(&result))?;
        Ok(result)
    }

    /// The sums `sum_{j < g} V_{g k + j} x^j`, from the powers `x, x^2, .., x^(g - 1)`.
    fn sums(&self, evaluator: &Evaluator, powers: &[Ciphertext]) -> Result<Vec<Ciphertext>> {
        let context = evaluator.context();
        let limbs = powers.iter().map(Ciphertext::limbs).min().unwrap_or(self.parameters.max_limbs());
        let ring = context.rlwe().ring_q(limbs);
        let mut images = ring.images(self.powers, 1);
        let mut one = vec![0; self.layout.degree()];
        one[0] = 1;
        ring.set_image(&mut images, 0, [&scaled(context, &one, 1, limbs), &ring.zero()]);
        let mut noise = Noise::none();
        for (i, power) in powers.iter().enumerate() {
            let power = evaluator.mod_switch(power, limbs)?;
            let parts = power.rlwe().parts();
            ring.set_image(&mut images, i + 1, [&parts[0], &parts[1]]);
            if power.noise().log2_std() > noise.log2_std() {
                noise = power.noise().clone();
            }
        }
        let noise = noise.with(&self.parameters.laws().plain_rounding(limbs)).scaled(self.log2_norm);
        let sums =
            sum_streamed(context.rlwe(), limbs, &[&images], &self.factors, evaluator.keys().owner().key)?.remove(0);
        let sum = |inner: rlwe::Ciphertext| {
            let (noise, parameters) = (noise.clone(), self.parameters.clone());
            let content = Content::slots(parameters.degree());
            let sum = Ciphertext::new(inner, 1, noise, content, parameters);
            evaluator.mod_switch_to_noise(&sum)
        };
        sums.into_iter().map(sum).collect()
    }

    /// The row of x, from the sums and `x^g`.
    fn row(evaluator: &Evaluator, mut sums: Vec<Ciphertext>, mut giant: Ciphertext) -> Result<Ciphertext> {
        while sums.len() > 1 {
            let pair = |pair: &[Ciphertext]| match pair {
                [low, high] => evaluator.add(low, &evaluator.mul(high, &giant)?),
                _ => Ok(pair[0].clone()),
            };
            sums = sums.chunks(2).map(pair).collect::<Result<_>>()?;
            if sums.len() > 1 {
                giant = evaluator.square(&giant)?;
            }
        }
        Ok(sums.remove(0))
    }

    /// The rotations of the sum over a row.
    fn doublings(&self) -> impl Iterator<Item = isize> {
        (0..(self.layout.degree() / 2).ilog2()).map(|bit| 1 << bit)
    }
}
