//! Results at scales that the caller chooses.
//!
//! The other operations follow the canonical scales. Where a circuit has a profile of scales of its own, as
//! bootstrapping has, it says what scale it wants, and integers take up the difference.

use std::borrow::Cow;

use noren_ring::operand::{Operand, Sum};
use noren_ring::poly::{Eval, Poly};
use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::linear;
use noren_rlwe::multiply::relinearize_rescale_parts;
use num_complex::Complex64;

use crate::schemes::ckks::content::Content;
use crate::schemes::ckks::encryption::Ciphertext;
use crate::schemes::ckks::error::CkksError;
use crate::schemes::ckks::evaluator::levels::multiple;
use crate::schemes::ckks::evaluator::products::sum_of_products;
use crate::schemes::ckks::evaluator::{Evaluator, SCALE_TOLERANCE, check_levels, first};
use crate::schemes::ckks::noise;
use crate::schemes::ckks::scale::Scale;

/// Scales stay between the inverse of 2 to this power and 2 to it: products of two are finite.
const LARGEST_LOG_SCALE: f64 = 500.0;

impl Evaluator {
    /// The same polynomial read at another scale: the scale is multiplied by `factor`, so that message and error are
    /// divided by it. Exact, and no level is used.
    ///
    /// So a product with any positive real constant is free; the scale is not canonical afterwards.
    ///
    /// # Errors
    /// [`Error::Parameters`] if the scale would leave `2^-500` to `2^500`.
    pub fn reinterpret(&self, a: Ciphertext, factor: &Scale) -> Result<Ciphertext> {
        self.check(&a)?;
        let scale = a.scale().mul(factor);
        if !(-LARGEST_LOG_SCALE..=LARGEST_LOG_SCALE).contains(&scale.log2()) {
            let needed = format!("such that the scale stays between 2^-{LARGEST_LOG_SCALE} and 2^{LARGEST_LOG_SCALE}");
            return Err(Error::parameter("factor", factor.to_f64(), needed));
        }
        // The polynomials are the same, and so is their name.
        let estimate = a.estimate().clone().multiplied(Complex64::from(1.0 / factor.to_f64()));
        Ok(a.read_at(scale, estimate))
    }

    /// `constant + sum c_k x_k` at this level and exactly this scale, with one rescaling.
    ///
    /// The operands may be at any higher levels and at any scales: limbs are dropped, and the integers nearest to the
    /// parts of `c_k target q / scale_k` take up the scales, where q is the prime of the level above. Imaginary parts are
    /// multiplied by `X^{n/2}`. What the integers miss counts as a systematic error.
    ///
    /// # Errors
    /// [`Error::Length`] for an empty sum, [`Error::LevelExhausted`] unless all operands are above the level,
    /// [`SlotError::NotFinite`](crate::schemes::error::SlotError::NotFinite) and [`CkksError::Overflow`] for factors
    /// that are not numbers or do not fit the modulus.
    pub fn combine(
        &self,
        terms: &[(&Ciphertext, Complex64)],
        constant: Complex64,
        level: usize,
        target: &Scale,
    ) -> Result<Ciphertext> {
        let &(operand, _) = first("terms of a weighted sum", terms)?;
        self.check_above(operand, terms.iter().map(|&(x, _)| x), level)?;
        let before = target.mul_u64(self.context.parameters().prime(level + 1));
        let ring = self.ring(level + 1);
        let sum = self.combination(&ring, terms, constant, &before)?;
        let parts = sum.parts(self.context.imaginary_unit());
        let parts = parts.iter().map(|part| ring.gather(Operand::Sum(part))).collect();
        let inner = rlwe::Ciphertext::new(parts, operand.key_id());
        let inner = linear::rescale(self.context.rlwe(), inner)?;
        let estimate = noise::rescaled(sum.estimate, self.context.parameters().rlwe(), target);
        let operands = terms.iter().map(|(x, _)| x.content());
        Ok(self.result(inner, *target, Content::slot_by_slot(operand.content(), operands, estimate)))
    }

    /// `sum a_k b_k + sum c_j x_j + constant` at this level and exactly this scale, with one relinearisation and one
    /// division for everything.
    ///
    /// The operands may be at any higher levels: limbs are dropped. Each product is multiplied by the integer
    /// `target q / scale_a scale_b`, which must be one up to `2^-30`: choose the target, or the scales of the factors, so
    /// that it is 1, or small. Terms and constant may be at any scale, as in [`Evaluator::combine`].
    ///
    /// # Errors
    /// As [`Evaluator::combine`] and [`Evaluator::mul`]; [`Error::Length`] if there are no products;
    /// [`CkksError::ScaleMismatch`] where the factor of a product is no integer.
    pub fn dot_combine(
        &self,
        products: &[(&Ciphertext, &Ciphertext)],
        terms: &[(&Ciphertext, Complex64)],
        constant: Complex64,
        level: usize,
        target: &Scale,
    ) -> Result<Ciphertext> {
        let products: Vec<Product> = products.iter().map(|&(a, b)| Product { a, b, weight: 1 }).collect();
        self.dot_combine_weighted(&products, terms, constant, level, target)
    }

    /// [`Evaluator::dot_combine`] with weights of the products, which are exact: a product of the scale S is twice the
    /// message at the scale `S / 2`.
    ///
    /// # Errors
    /// As [`Evaluator::dot_combine`].
    pub(crate) fn dot_combine_weighted(
        &self,
        products: &[Product],
        terms: &[(&Ciphertext, Complex64)],
        constant: Complex64,
        level: usize,
        target: &Scale,
    ) -> Result<Ciphertext> {
        let operand = first("products of a sum", products)?.a;
        let factors = products.iter().flat_map(|product| [product.a, product.b]);
        self.check_above(operand, factors.chain(terms.iter().map(|&(x, _)| x)), level)?;
        let parameters = self.context.parameters();
        let before = target.mul_u64(parameters.prime(level + 1));
        let ring = self.ring(level + 1);

        let mut scaled = Vec::with_capacity(products.len());
        let mut estimates = Vec::with_capacity(products.len() + 1);
        for Product { a, b, weight } in products {
            let (factor, miss) = whole_ratio(&before.mul_u64(*weight), &a.scale().mul(b.scale()))?;
            scaled.push(if factor == 1 { Cow::Borrowed(a.rlwe()) } else { Cow::Owned(multiple(&ring, a, factor)) });
            let product = a.estimate().product(b.estimate()).multiplied(Complex64::from(*weight as f64));
            let bias = miss * product.magnitude();
            estimates.push(product.with_bias(bias));
        }
        let pairs: Vec<_> = scaled.iter().zip(products).map(|(a, product)| [&**a, product.b.rlwe()]).collect();
        let sum = match (terms, constant) {
            ([], Complex64::ZERO) => None,
            _ => Some(self.combination(&ring, terms, constant, &before)?),
        };
        let unit = self.context.imaginary_unit();
        let start = ring.range().start;
        let [mut first, mut second] = sum
            .as_ref()
            .map_or_else(|| [(); 2].map(|()| Sum { first: start, ..Sum::default() }), |sum| sum.parts(unit));
        first.products.extend(tensor_pairs(&pairs, 0, 0));
        second.products.extend(tensor_pairs(&pairs, 0, 1).chain(tensor_pairs(&pairs, 1, 0)));
        // One product is read as often as it is needed; sums of several are better written down.
        let last: Vec<_> = tensor_pairs(&pairs, 1, 1).collect();
        let written = (last.len() > 1).then(|| ring.inner_product(&last));
        let last = written.as_ref().map_or(Operand::Products(&last), Operand::Element);
        let parts = [Operand::Sum(&first), Operand::Sum(&second), last];
        let inner = relinearize_rescale_parts(self.context.rlwe(), parts, ring.limbs(), &self.keys)?;
        self.keys.check_files()?;

        // One product alone is named as by `mul`, which makes the same polynomials.
        estimates.extend(sum.map(|sum| sum.estimate));
        let (_, estimate) = sum_of_products(estimates.into_iter().map(|part| (before, part)))?;
        let estimate = noise::switched_rescaled(estimate, parameters.rlwe(), target, ring.limbs());
        let factors = products.iter().flat_map(|product| [product.a, product.b]);
        let operands = factors.chain(terms.iter().map(|&(x, _)| x)).map(Ciphertext::content);
        Ok(self.result(inner, *target, Content::slot_by_slot(operand.content(), operands, estimate)))
    }

    /// Refuses operands of other parameters or slots than the first, and those that are not above a level.
    fn check_above<'a>(
        &self,
        operand: &Ciphertext,
        others: impl Iterator<Item = &'a Ciphertext>,
        level: usize,
    ) -> Result<()> {
        let mut lowest = operand.level();
        for x in others {
            self.check_pair(operand, x)?;
            lowest = lowest.min(x.level());
        }
        check_levels(level.saturating_add(1), lowest)
    }
}

/// `weight a b`.
#[derive(Clone, Copy)]
pub(crate) struct Product<'a> {
    pub a: &'a Ciphertext,
    pub b: &'a Ciphertext,
    pub weight: u64,
}

/// The products of the parts i of the first and j of the second factors.
fn tensor_pairs<'a>(
    pairs: &'a [[&'a rlwe::Ciphertext; 2]],
    i: usize,
    j: usize,
) -> impl Iterator<Item = (&'a Poly<Eval>, &'a Poly<Eval>)> {
    pairs.iter().map(move |[a, b]| (&a.parts()[i], &b.parts()[j]))
}

/// The integer `scale / product`, and by what part it misses the quotient; refused unless it is one.
fn whole_ratio(scale: &Scale, product: &Scale) -> Result<(i128, f64)> {
    let ratio = scale.div(product);
    let whole = ratio.round_multiple(1.0).filter(|&(factor, _)| factor > 0);
    match whole.map(|(factor, miss)| (factor, miss.abs())) {
        Some((factor, miss)) if miss <= SCALE_TOLERANCE => Ok((factor, miss)),
        _ => Err(CkksError::ScaleMismatch { left_log2: scale.log2(), right_log2: product.log2() }.into()),
    }
}
