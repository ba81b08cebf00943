//! Products of ciphertexts, and of ciphertexts with plaintexts.

use std::borrow::Cow;

use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;
use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::error::Result;
use noren_rlwe::multiply::{multiply_relinearize, multiply_relinearize_rescale, relinearize_rescale};

use crate::schemes::ckks::content::Content;
use crate::schemes::ckks::encoder::Plaintext;
use crate::schemes::ckks::encryption::Ciphertext;
use crate::schemes::ckks::estimate::Estimate;
use crate::schemes::ckks::evaluator::{Evaluator, check_levels, check_scales, first};
use crate::schemes::ckks::noise;
use crate::schemes::ckks::scale::Scale;

impl Evaluator {
    /// `a b`, relinearised and rescaled at once: one level down. With itself a ciphertext is [squared](Evaluator::square).
    ///
    /// The scale is `scale_a scale_b / q_l`, canonical for canonical operands.
    ///
    /// # Errors
    /// [`Error::LevelExhausted`](noren_rlwe::error::Error::LevelExhausted) if an operand is at level 0,
    /// [`Error::MissingKey`](noren_rlwe::error::Error::MissingKey) and
    /// [`Error::KeyLevel`](noren_rlwe::error::Error::KeyLevel) if the relinearisation key is missing or too short.
    pub fn mul(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        if std::ptr::eq(a, b) {
            return self.square(a);
        }
        self.check_pair(a, b)?;
        check_levels(1, a.level().min(b.level()))?;
        let [a, b] = self.level_pair(a, b)?;
        let inner = multiply_relinearize_rescale(self.context.rlwe(), a.rlwe(), b.rlwe(), &self.keys)?;
        self.keys.check_files()?;
        let content = Content::slot_by_slot(a.content(), [b.content()], a.estimate().product(b.estimate()));
        Ok(self.one_level_down(inner, &a.scale().mul(b.scale()), content))
    }

    /// `a a`. The slots of real ciphertexts are not negative then, as the range of the result says.
    ///
    /// # Errors
    /// As [`Evaluator::mul`].
    pub fn square(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.check(a)?;
        check_levels(1, a.level())?;
        let inner = multiply_relinearize_rescale(self.context.rlwe(), a.rlwe(), a.rlwe(), &self.keys)?;
        self.keys.check_files()?;
        let content = Content::slot_by_slot(a.content(), [], a.estimate().squared());
        Ok(self.one_level_down(inner, &a.scale().mul(a.scale()), content))
    }

    /// `a b`, relinearised but not rescaled: at the level of the lower operand, with the product of both scales.
    ///
    /// Several such products are added before one [`Evaluator::rescale`]; see also [`Evaluator::dot`], which
    /// relinearises only once too.
    ///
    /// # Errors
    /// [`Error::MissingKey`](noren_rlwe::error::Error::MissingKey) and
    /// [`Error::KeyLevel`](noren_rlwe::error::Error::KeyLevel) if the relinearisation key is missing or too short.
    pub fn mul_no_rescale(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        let [a, b] = self.level_pair(a, b)?;
        let inner = multiply_relinearize(self.context.rlwe(), a.rlwe(), b.rlwe(), &self.keys)?;
        self.keys.check_files()?;
        let (scale, estimate) = (a.scale().mul(b.scale()), a.estimate().product(b.estimate()));
        let estimate = noise::relinearized(estimate, self.context.parameters().rlwe(), &scale, inner.limbs());
        Ok(self.result(inner, scale, Content::slot_by_slot(a.content(), [b.content()], estimate)))
    }

    /// `a p`, rescaled: one level down. The plaintext is of the level of `a`.
    ///
    /// # Errors
    /// [`Error::LevelExhausted`](noren_rlwe::error::Error::LevelExhausted) at level 0,
    /// [`Error::LevelMismatch`](noren_rlwe::error::Error::LevelMismatch) for a plaintext of another level.
    pub fn mul_plain(&self, a: &Ciphertext, p: &Plaintext) -> Result<Ciphertext> {
        self.dot_plain(&[(a, p)])
    }

    /// `a p`, not rescaled: with the product of both scales.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`](noren_rlwe::error::Error::LevelMismatch) for a plaintext of another level.
    pub fn mul_plain_no_rescale(&self, a: &Ciphertext, p: &Plaintext) -> Result<Ciphertext> {
        self.sum_of_plain_products(&[(a, p)])
    }

    /// `sum a_k b_k`, with one relinearisation and one rescaling for all products.
    ///
    /// # Errors
    /// As [`Evaluator::mul`]; [`Error::Length`](noren_rlwe::error::Error::Length) for an empty sum;
    /// [`CkksError::ScaleMismatch`](crate::ckks::CkksError::ScaleMismatch) if the scales of the products differ, as
    /// those of canonical operands never do.
    pub fn dot(&self, pairs: &[(&Ciphertext, &Ciphertext)]) -> Result<Ciphertext> {
        let &(operand, _) = first("products of a sum", pairs)?;
        for (a, b) in pairs {
            self.check_pair(operand, a)?;
            self.check_pair(operand, b)?;
        }
        let level = pairs.iter().map(|(a, b)| a.level().min(b.level())).min().unwrap_or(0);
        check_levels(1, level)?;
        let lowered: Vec<[Cow<Ciphertext>; 2]> =
            pairs.iter().map(|(a, b)| Ok([self.lowered(a, level)?, self.lowered(b, level)?])).collect::<Result<_>>()?;
        let (scale, estimate) = sum_of_products(
            lowered.iter().map(|[a, b]| (a.scale().mul(b.scale()), a.estimate().product(b.estimate()))),
        )?;
        let pairs: Vec<_> = lowered.iter().map(|[a, b]| [a.rlwe(), b.rlwe()]).collect();
        let product = rlwe::Ciphertext::new(tensor_sum(&self.ring(level), &pairs).into(), operand.key_id());
        let inner = relinearize_rescale(self.context.rlwe(), &product, &self.keys)?;
        self.keys.check_files()?;
        let operands = lowered.iter().flatten().map(|x| x.content());
        Ok(self.one_level_down(inner, &scale, Content::slot_by_slot(operand.content(), operands, estimate)))
    }

    /// `sum a_k p_k`, with one rescaling; all operands are of one level.
    ///
    /// # Errors
    /// As [`Evaluator::mul_plain`]; [`Error::Length`](noren_rlwe::error::Error::Length) for an empty sum;
    /// [`CkksError::ScaleMismatch`](crate::ckks::CkksError::ScaleMismatch) if the scales of the products differ.
    pub fn dot_plain(&self, pairs: &[(&Ciphertext, &Plaintext)]) -> Result<Ciphertext> {
        let (operand, _) = first("products of a sum", pairs)?;
        check_levels(1, operand.level())?;
        self.divided_product(self.sum_of_plain_products(pairs)?)
    }

    fn sum_of_plain_products(&self, pairs: &[(&Ciphertext, &Plaintext)]) -> Result<Ciphertext> {
        let &(operand, plain) = first("products of a sum", pairs)?;
        for (a, p) in pairs {
            self.check_pair(operand, a)?;
            self.check_plain(operand, plain)?;
            self.check_plain(a, p)?;
            self.check_plain(operand, p)?;
        }
        let (scale, estimate) =
            sum_of_products(pairs.iter().map(|(a, p)| (a.scale().mul(p.scale()), a.estimate().product(p.estimate()))))?;
        let ring = self.ring(operand.level());
        let part = |i: usize| {
            let pairs: Vec<_> = pairs.iter().map(|(a, p)| (&a.rlwe().parts()[i], &p.rlwe().poly)).collect();
            ring.inner_product(&pairs)
        };
        let operands = pairs.iter().flat_map(|(a, p)| [a.content(), p.content()]);
        let content = Content::slot_by_slot(operand.content(), operands, estimate);
        Ok(self.result(rlwe::Ciphertext::new(vec![part(0), part(1)], operand.key_id()), scale, content))
    }

    /// The result of a product with this scale and content that was relinearised and rescaled.
    fn one_level_down(&self, inner: rlwe::Ciphertext, scale: &Scale, product: Content) -> Ciphertext {
        let (parameters, limbs) = (self.context.parameters(), inner.limbs() + 1);
        let scale = scale.div_u64(parameters.prime(limbs - 1));
        let switched = |estimate| noise::switched_rescaled(estimate, parameters.rlwe(), &scale, limbs);
        self.result(inner, scale, product.estimated(switched))
    }
}

/// The three parts of `sum a_k b_k`, each reduced once; all may have more limbs than the ring.
pub(super) fn tensor_sum(ring: &Ring, pairs: &[[&rlwe::Ciphertext; 2]]) -> [Poly<Eval>; 3] {
    let part = |i: usize, j: usize| pairs.iter().map(move |[a, b]| (&a.parts()[i], &b.parts()[j]));
    let sum = |pairs: Vec<(&Poly<Eval>, &Poly<Eval>)>| ring.inner_product(&pairs);
    [sum(part(0, 0).collect()), sum(part(0, 1).chain(part(1, 0)).collect()), sum(part(1, 1).collect())]
}

/// The scale and the estimate of a sum of products, which must all have one scale.
pub(super) fn sum_of_products(products: impl Iterator<Item = (Scale, Estimate)>) -> Result<(Scale, Estimate)> {
    let mut sum: Option<(Scale, Estimate)> = None;
    for (scale, estimate) in products {
        sum = Some(match sum {
            None => (scale, estimate),
            Some((common, total)) => {
                let miss = check_scales(&common, &scale)? * estimate.magnitude();
                (common, total.sum(&estimate).with_bias(miss))
            }
        });
    }
    sum.ok_or_else(|| first::<()>("products of a sum", &[]).expect_err("nothing is first"))
}
