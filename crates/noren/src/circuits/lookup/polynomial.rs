//! Functions of two numbers as a polynomial of the first, whose coefficients are vectors: to compare with.

use std::marker::PhantomData;

use noren_ring::small::SmallPolynomials;
use noren_ring::streamed::Images;
use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::streamed::sum_streamed;

use crate::circuits::lookup::function::Function;
use crate::circuits::lookup::layout::Layout;
use crate::circuits::lookup::one_hot::one_hot;
use crate::schemes::bfv::{Ciphertext, Context, Encoder, Evaluator, KeyRequest, Noise, Parameters};
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
    log2_norm: f64,
}

impl PolynomialLookup {
    /// Prepares a function of fewer than t numbers, at least two, that need no second ciphertext, by solving for the
    /// coefficients one y after the other: `X^2 Y` operations.
    ///
    /// # Errors
    /// [`Error::Parameters`] for another domain; [`Error::Undefined`] and [`Error::NotInRange`] name a point that needs a value
    /// below t.
    pub fn prepare(context: &Context, function: &Function) -> Result<Self> {
        let ([columns, rows], t) = (function.domain(), context.parameters().modulus().value());
        let modulus = context.parameters().modulus();
        let interpolate = |y: usize| {
            // Divided differences at 0, 1, 2, .., then Horner's method from Newton's form to powers.
            let mut differences = (0..columns).map(|x| function.residue(x, y, t)).collect::<Result<Vec<_>>>()?;
            for order in 1..columns {
                let inverse = modulus.inv(order as u64);
                for x in (order..columns).rev() {
                    let difference = differences[x] + t - differences[x - 1];
                    differences[x] = modulus.mul(difference % t, inverse);
                }
            }
            let mut coefficients = vec![0; columns];
            for (x, difference) in differences.into_iter().enumerate().rev() {
                // Times (X - x), plus the difference.
                for i in (0..columns).rev() {
                    let below = if i > 0 { coefficients[i - 1] } else { 0 };
                    coefficients[i] = (below + t - modulus.mul(coefficients[i], x as u64)) % t;
                }
                coefficients[0] = (coefficients[0] + difference) % t;
            }
            Ok(coefficients)
        };
        let all = (0..rows).map(interpolate).collect::<Result<Vec<_>>>()?;
        Self::of_coefficients(context, [columns, rows], |i, y| all[y][i])
    }

    /// The lookup by polynomials with these coefficients `f_{i, y}`, below t.
    ///
    /// # Errors
    /// As [`PolynomialLookup::prepare`].
    pub fn of_coefficients(
        context: &Context,
        domain: [usize; 2],
        coefficient: impl Fn(usize, usize) -> u64 + Send + Sync,
    ) -> Result<Self> {
        let parameters = context.parameters();
        let layout = Layout::new(parameters.degree(), parameters.modulus().value(), domain)?;
        let fits = layout.queries() == 1 && layout.blocks() == [1; 2] && layout.rest() == [false; 2];
        if !fits {
            let needed = format!("more than {} and at most {}", parameters.row_slots(), parameters.degree());
            return Err(Error::parameter("domain", format!("{domain:?}"), needed));
        }
        let powers = 1 << domain[0].ilog2().div_ceil(2);
        let count = domain[0].next_multiple_of(powers);
        let encoder = Encoder::new(context);
        encoder.encode(&[])?;
        let write = |i: usize, out: &mut [i64]| {
            let value = |slot| if i < domain[0] && slot < domain[1] { coefficient(i, slot) } else { 0 };
            encoder.write_coefficients(value, out).expect("t has slots: a plaintext was encoded");
        };
        let factors = SmallPolynomials::build(context.rlwe().ring().engine(), layout.degree(), count, write, || {});
        let log2_norm = parameters.modulus().log2() + libm::log2(powers as f64 * layout.degree() as f64 / 12.0) / 2.0;
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
    /// [`PolynomialLookup::keys`], [`Error::NoiseExhausted`] if the modulus is too small, [`Error::Parameters`] for a number
    /// with a plaintext factor, as conversions from BGV have.
    pub fn evaluate(&self, evaluator: &Evaluator, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext> {
        evaluator.context().check(&self.parameters, "the prepared function")?;
        if x.factor() != 1 {
            return Err(Error::parameter("factor", x.factor(), "1: multiply the number by its inverse"));
        }
        let mut powers = vec![x.clone()];
        for exponent in 2..=self.powers {
            let (low, high) = (exponent / 2, exponent.div_ceil(2));
            powers.push(evaluator.mul(&powers[low - 1], &powers[high - 1])?);
        }
        let giant = powers.pop().expect("there is a power");
        let row = self.row(evaluator, &powers, giant)?;
        let selected = evaluator.mul(&row, &one_hot(evaluator, &self.layout, y, 0)?)?;
        let summed = self.doublings().try_fold(selected, |sum, steps| {
            let rotated = evaluator.rotate(&sum, steps)?;
            evaluator.add(&sum, &rotated)
        })?;
        let swapped = evaluator.swap_rows(&summed)?;
        evaluator.add(&summed, &swapped)
    }

    /// The row of x, from its powers `x, x^2, .., x^(g - 1)` and `x^g`.
    fn row(&self, evaluator: &Evaluator, powers: &[Ciphertext], mut giant: Ciphertext) -> Result<Ciphertext> {
        let context = evaluator.context();
        let limbs = powers.iter().map(Ciphertext::limbs).min().unwrap_or(giant.limbs());
        let ring = context.rlwe().ring_q(limbs);
        let mut images = Images::unset(&ring, self.powers);
        let mut one = vec![0; self.layout.degree()];
        one[0] = 1;
        images.set(0, [&scaled(context, &one, 1, limbs), &ring.zero()]);
        let mut noise = Noise::none();
        for (i, power) in powers.iter().enumerate() {
            let power = evaluator.mod_switch(power, limbs)?;
            let parts = power.rlwe().parts();
            images.set(i + 1, [&parts[0], &parts[1]]);
            if power.noise().log2_std() > noise.log2_std() {
                noise = power.noise().clone();
            }
        }
        let noise = noise.with(&self.parameters.laws().plain_rounding(limbs)).scaled(self.log2_norm);
        let sums = sum_streamed(context.rlwe(), limbs, &[&images], &self.factors)?.remove(0);
        let sum = |inner: rlwe::Ciphertext| {
            let (noise, parameters) = (noise.clone(), self.parameters.clone());
            evaluator.mod_switch_to_noise(&Ciphertext { inner, factor: 1, noise, parameters, scheme: PhantomData })
        };
        let mut sums = sums.into_iter().map(sum).collect::<Result<Vec<_>>>()?;
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
