//! Products of ciphertexts, and of ciphertexts with plaintexts.

use std::borrow::Cow;

use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::linear;
use noren_rlwe::multiply::relinearize;
use noren_rlwe::product::Factors;

use crate::schemes::integers::content::Content;
use crate::schemes::integers::encryption::Ciphertext;
use crate::schemes::integers::evaluator::{Evaluator, first};
use crate::schemes::integers::growth::Products;
use crate::schemes::integers::plaintext::Plaintext;
use crate::schemes::integers::scheme::Scheme;

impl<S: Scheme> Evaluator<S> {
    /// `a b`, relinearised, with the limbs that its noise needs.
    ///
    /// # Errors
    /// [`IntegerError::NoiseExhausted`](crate::schemes::integers::IntegerError::NoiseExhausted) if the product may be
    /// wrong, [`Error::DegreeTooHigh`] if an operand must be relinearised first, [`Error::MissingKey`] and
    /// [`Error::KeyLevel`] if the relinearisation key is missing or too short.
    pub fn mul(&self, a: &Ciphertext<S>, b: &Ciphertext<S>) -> Result<Ciphertext<S>> {
        self.dot(&[(a, b)])
    }

    /// `a a`.
    ///
    /// # Errors
    /// As [`Evaluator::mul`].
    pub fn square(&self, a: &Ciphertext<S>) -> Result<Ciphertext<S>> {
        self.mul(a, a)
    }

    /// `sum a_k b_k`, with one relinearisation for all products.
    ///
    /// # Errors
    /// As [`Evaluator::mul`]; [`Error::Length`] for an empty sum.
    pub fn dot(&self, pairs: &[(&Ciphertext<S>, &Ciphertext<S>)]) -> Result<Ciphertext<S>> {
        let sum = self.sum_of_products(pairs)?;
        if !sum.products.alike {
            return self.relinearize(&self.tensors(pairs)?);
        }
        let state = self.growth().relinearized(&sum.products)?;
        let t = self.context.parameters().modulus().value();
        let inner = S::multiply(self.context.rlwe(), &sum.factors(), t, state.limbs, &self.keys)?;
        self.keys.check_files()?;
        Ok(self.result(inner, state, sum.content))
    }

    /// `a b` as three parts: several such products are added before one [`Evaluator::relinearize`].
    ///
    /// # Errors
    /// As [`Evaluator::mul`], but no key is needed.
    pub fn mul_no_relinearize(&self, a: &Ciphertext<S>, b: &Ciphertext<S>) -> Result<Ciphertext<S>> {
        let sum = self.sum_of_products(&[(a, b)])?;
        let state = self.growth().tensor(&sum.products)?;
        let inner = S::tensor(self.context.rlwe(), &sum.factors(), self.context.parameters().modulus().value())?;
        Ok(self.result(inner, state, sum.content))
    }

    /// Brings a product back to two parts, and drops the limbs that its noise does not need. Two parts stay as they are.
    ///
    /// # Errors
    /// [`Error::MissingKey`] and [`Error::KeyLevel`] if the relinearisation key is missing or too short.
    pub fn relinearize(&self, a: &Ciphertext<S>) -> Result<Ciphertext<S>> {
        self.check(a)?;
        if a.degree() <= 1 {
            return Ok(a.clone());
        }
        let inner = relinearize(self.context.rlwe(), &a.inner, &self.keys)?;
        self.keys.check_files()?;
        self.settled(self.result(inner, self.growth().relinearized_alone(a.state()), a.content()))
    }

    /// `a p`, with the limbs that its noise needs.
    ///
    /// The noise is multiplied by the root of the sum of the squares of p's coefficients: about `t sqrt(n/12)`, and by the
    /// number itself where p is one.
    ///
    /// # Errors
    /// [`IntegerError::NoiseExhausted`](crate::schemes::integers::IntegerError::NoiseExhausted) if the product may be
    /// wrong.
    pub fn mul_plain(&self, a: &Ciphertext<S>, p: &Plaintext) -> Result<Ciphertext<S>> {
        self.check(a)?;
        self.check_plain(p)?;
        let content = a.content().product(p.content(), self.context.parameters().degree())?;
        let state = self.growth().plain_product(a.state(), p.norms())?;
        let mut inner = a.inner.clone();
        let poly = p.in_ring(&self.ring(a.limbs())).into_owned();
        linear::mul_plain_assign(self.context.rlwe(), &mut inner, &rlwe::Plaintext { poly })?;
        self.settled(self.result(inner, state, content))
    }

    /// `sum a_k p_k`, of ciphertexts of one number of parts.
    ///
    /// # Errors
    /// As [`Evaluator::mul_plain`]; [`Error::Length`] for an empty sum.
    pub fn dot_plain(&self, pairs: &[(&Ciphertext<S>, &Plaintext)]) -> Result<Ciphertext<S>> {
        self.settled(self.sum_of_plain_products(pairs)?)
    }

    /// As [`Evaluator::dot_plain`], at the limbs that the ciphertexts have, which do not tell how large the plaintexts are.
    ///
    /// # Errors
    /// As [`Evaluator::dot_plain`].
    pub(crate) fn sum_of_plain_products(&self, pairs: &[(&Ciphertext<S>, &Plaintext)]) -> Result<Ciphertext<S>> {
        let &(operand, _) = first("products of a sum", pairs)?;
        let (limbs, factor) = self.common(pairs.iter().map(|&(a, _)| a))?;
        let alike = |a: &Ciphertext<S>| Some(a.factor) == factor && a.degree() == operand.degree();
        if !pairs.iter().all(|(a, _)| alike(a)) {
            let products = pairs.iter().map(|&(a, p)| self.mul_plain(a, p)).collect::<Result<Vec<_>>>()?;
            return products[1..].iter().try_fold(products[0].clone(), |sum, product| self.add(&sum, product));
        }
        pairs.iter().try_for_each(|(_, p)| self.check_plain(p))?;
        let content = self.content_of_products(pairs.iter().map(|(a, p)| (a.content(), p.content())))?;
        let lowered = pairs.iter().map(|&(a, _)| self.lowered(a, limbs)).collect::<Result<Vec<_>>>()?;
        let terms: Vec<_> = lowered.iter().zip(pairs).map(|(a, (_, p))| (a.state(), p.norms())).collect();
        let state = self.growth().sum_of_plain_products(&terms)?;
        let ring = self.ring(limbs);
        let polys: Vec<_> = pairs.iter().map(|(_, p)| p.in_ring(&ring)).collect();
        let part = |i: usize| {
            let pairs: Vec<_> = lowered.iter().zip(&polys).map(|(a, p)| (&a.inner.parts()[i], &**p)).collect();
            ring.inner_product(&pairs)
        };
        let inner = rlwe::Ciphertext::new((0..=operand.degree()).map(part).collect(), operand.key_id());
        Ok(self.result(inner, state, content))
    }

    /// `sum a_k b_k` as three parts, whatever the factors of the products.
    fn tensors(&self, pairs: &[(&Ciphertext<S>, &Ciphertext<S>)]) -> Result<Ciphertext<S>> {
        let products = pairs.iter().map(|(a, b)| self.mul_no_relinearize(a, b)).collect::<Result<Vec<_>>>()?;
        products[1..].iter().try_fold(products[0].clone(), |sum, product| self.add(&sum, product))
    }

    /// The shape of a sum of products.
    fn sum_of_products<'a>(&self, pairs: &[(&'a Ciphertext<S>, &'a Ciphertext<S>)]) -> Result<SumOfProducts<'a, S>> {
        first("products of a sum", pairs)?;
        let operands = || pairs.iter().flat_map(|&(a, b)| [a, b]);
        operands().try_for_each(|a| self.check_linear(a))?;
        let (limbs, _) = self.common(operands())?;
        let lowered = pairs.iter().map(|&(a, b)| Ok([self.lowered(a, limbs)?, self.lowered(b, limbs)?]));
        let pairs: Vec<[Cow<Ciphertext<S>>; 2]> = lowered.collect::<Result<_>>()?;
        let products = self.growth().products(pairs.iter().map(|pair| pair.each_ref().map(|a| a.state())));
        let content = self.content_of_products(pairs.iter().map(|[a, b]| (a.content(), b.content())))?;
        Ok(SumOfProducts { pairs, products, content })
    }

    /// The content of a sum of products, at least one.
    fn content_of_products(&self, pairs: impl Iterator<Item = (Content, Content)>) -> Result<Content> {
        let n = self.context.parameters().degree();
        let products = pairs.map(|(a, b)| a.product(b, n));
        products
            .reduce(|sum, product| sum?.sum(product?))
            .unwrap_or_else(|| Ok(Content::slots(self.context.parameters().slots())))
    }

    /// The fewest limbs of some ciphertexts, and their factor if they have one in common.
    fn common<'a>(&self, mut all: impl Iterator<Item = &'a Ciphertext<S>>) -> Result<(usize, Option<u64>)> {
        let Some(first) = all.next() else {
            return Err(Error::Length { what: "ciphertexts", found: 0, needed: "at least 1".into() });
        };
        self.check(first)?;
        all.try_fold((first.limbs(), Some(first.factor)), |(limbs, factor), a| {
            self.check(a)?;
            Ok((limbs.min(a.limbs()), factor.filter(|&factor| factor == a.factor)))
        })
    }
}

/// A sum of products that is not made yet.
struct SumOfProducts<'a, S: Scheme> {
    pairs: Vec<[Cow<'a, Ciphertext<S>>; 2]>,
    products: Products,
    content: Content,
}

impl<S: Scheme> SumOfProducts<'_, S> {
    fn factors(&self) -> Vec<Factors<'_>> {
        self.pairs.iter().map(|pair| pair.each_ref().map(|a| &a.inner)).collect()
    }
}
