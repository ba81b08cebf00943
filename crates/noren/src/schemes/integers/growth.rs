//! The operations on ciphertexts as far as their noise, limbs and factors go: those of results of the evaluator, and of its model in
//! clear.

use std::marker::PhantomData;

use noren_rlwe::error::Result;

use crate::schemes::integers::encryption::Ciphertext;
use crate::schemes::integers::error::IntegerError;
use crate::schemes::integers::modulus::PlaintextModulus;
use crate::schemes::integers::noise::{Laws, Noise};
use crate::schemes::integers::parameters::Parameters;
use crate::schemes::integers::plaintext::Norms;
use crate::schemes::integers::scheme::{Scheme, depth, relinearized};

/// The limbs, the plaintext factor and the noise of a ciphertext.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) limbs: usize,
    pub(crate) factor: u64,
    pub(crate) noise: Noise,
}

impl<S: Scheme> Ciphertext<S> {
    pub(super) fn state(&self) -> State {
        State { limbs: self.limbs(), factor: self.factor, noise: self.noise.clone() }
    }
}

/// How an operand is made ready for a sum: multiplied by a unit modulo t, which its factor takes up, then brought to `limbs`
/// limbs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Alignment {
    pub(super) multiplier: i64,
    pub(super) limbs: usize,
}

/// A sum of products of ciphertexts that is not relinearised.
#[derive(Debug)]
pub(crate) struct Products {
    pub(super) limbs: usize,
    /// The factor of the first product, and whether all have it.
    pub(super) factor: u64,
    pub(super) alike: bool,
    pub(super) noise: Noise,
}

/// A giant step as noise sees it.
#[derive(Debug)]
pub(super) struct GiantTerms {
    /// Whether it rotates.
    pub(super) moves: bool,
    /// For each product whether its baby step rotates, and its factor.
    pub(super) terms: Vec<(bool, Norms)>,
}

/// The growth of noise by each operation, and what becomes of limbs and factors.
pub(crate) struct Growth<'a, S> {
    parameters: &'a Parameters,
    scheme: PhantomData<S>,
}

impl<'a, S: Scheme> Growth<'a, S> {
    pub(crate) const fn new(parameters: &'a Parameters) -> Self {
        Self { parameters, scheme: PhantomData }
    }

    fn laws(&self) -> &'a Laws {
        self.parameters.laws()
    }

    /// Refuses a result that may be wrong.
    ///
    /// # Errors
    /// [`IntegerError::NoiseExhausted`].
    fn check(&self, what: &'static str, noise: &Noise) -> Result<()> {
        let budget = self.laws().budget(noise);
        if budget >= 0.0 { Ok(()) } else { Err(IntegerError::NoiseExhausted { what, missing: -budget }.into()) }
    }

    /// At no more than these limbs.
    pub(crate) fn lowered(&self, a: State, limbs: usize) -> State {
        if a.limbs <= limbs {
            return a;
        }
        State { limbs, noise: a.noise.with(&self.laws().rounding(limbs)), ..a }
    }

    /// As many limbs as its noise needs.
    pub(super) fn limbs_to_keep(&self, a: &State) -> usize {
        S::limbs_to_keep(self.laws(), &a.noise, a.limbs)
    }

    /// Without the limbs that its noise does not need.
    pub(super) fn settled(&self, a: State) -> State {
        let limbs = self.limbs_to_keep(&a);
        self.lowered(a, limbs)
    }

    /// As few limbs as leave `level` multiplications.
    pub(super) fn limbs_of_level(&self, a: &State, level: usize) -> usize {
        let laws = self.laws();
        let suffice = |&limbs: &usize| {
            let noise = a.noise.with(&laws.rounding(limbs));
            laws.budget(&noise) >= 0.0 && depth::<S>(laws, &noise, limbs) >= level
        };
        (1..a.limbs).find(suffice).unwrap_or(a.limbs)
    }

    /// A number times a ciphertext. Range: c in `(-t/2, t/2]`.
    pub(super) fn multiple(&self, a: State, c: i64) -> State {
        State { noise: a.noise.scaled(libm::log2(c.unsigned_abs() as f64)), ..a }
    }

    /// How two operands of a sum come to the fewer of their limbs and one factor.
    ///
    /// An operand that drops limbs takes the factor of the other one before: the division makes up for what the
    /// multiplication adds to its noise. Where no limbs are dropped, both are multiplied by small numbers.
    pub(super) fn alignment(&self, a: &State, b: &State) -> [Alignment; 2] {
        let modulus = self.parameters.modulus();
        let ratio = |to: u64, from: u64| modulus.center(modulus.mul(to, modulus.inv(from)));
        let limbs = a.limbs.min(b.limbs);
        let multipliers = if a.factor == b.factor {
            [1, 1]
        } else if a.limbs > limbs {
            [ratio(b.factor, a.factor), 1]
        } else if b.limbs > limbs {
            [1, ratio(a.factor, b.factor)]
        } else {
            let lead = a.noise.log2_std() - b.noise.log2_std();
            balanced(modulus, modulus.mul(a.factor, modulus.inv(b.factor)), lead)
        };
        multipliers.map(|multiplier| Alignment { multiplier, limbs })
    }

    pub(super) fn aligned(&self, a: State, to: Alignment) -> State {
        let factor = self.multiplied_factor(a.factor, to.multiplier);
        self.lowered(State { factor, ..self.multiple(a, to.multiplier) }, to.limbs)
    }

    /// The factor that takes up a multiplier.
    pub(super) fn multiplied_factor(&self, factor: u64, multiplier: i64) -> u64 {
        let modulus = self.parameters.modulus();
        modulus.mul(factor, modulus.reduce(multiplier.into()))
    }

    /// The sum of two, which are aligned before.
    pub(super) fn sum(&self, a: State, b: State) -> State {
        let [to_a, to_b] = self.alignment(&a, &b);
        sum_of_aligned(self.aligned(a, to_a), &self.aligned(b, to_b))
    }

    /// With a plaintext added.
    pub(crate) fn with_addend(&self, a: State) -> State {
        State { noise: a.noise.with(&self.laws().plain_rounding(a.limbs)), ..a }
    }

    /// The sum of products of these operands, at least one product, at the fewest of their limbs.
    pub(crate) fn products(&self, pairs: impl Iterator<Item = [State; 2]> + Clone) -> Products {
        let limbs = pairs.clone().flatten().map(|a| a.limbs).min().unwrap_or(0);
        let mut factors = pairs.clone().map(|[a, b]| S::product_factor(self.parameters, a.factor, b.factor, limbs));
        let factor = factors.next().unwrap_or(1);
        let alike = factors.all(|other| other == factor);
        let noises = pairs.map(|pair| {
            let [a, b] = pair.map(|a| self.lowered(a, limbs).noise);
            S::product_noise(self.laws(), &a, &b, limbs)
        });
        Products { limbs, factor, alike, noise: noises.fold(Noise::none(), |sum, noise| sum.plus(&noise)) }
    }

    /// A sum of products of one factor, relinearised at the limbs that its noise needs.
    ///
    /// # Errors
    /// [`IntegerError::NoiseExhausted`].
    pub(crate) fn relinearized(&self, sum: &Products) -> Result<State> {
        let (noise, limbs) = relinearized::<S>(self.laws(), &sum.noise, sum.limbs);
        self.check("a product", &noise)?;
        Ok(State { limbs, factor: sum.factor, noise })
    }

    /// A product as three parts.
    ///
    /// # Errors
    /// [`IntegerError::NoiseExhausted`].
    pub(super) fn tensor(&self, product: &Products) -> Result<State> {
        self.check("a product", &product.noise)?;
        Ok(State { limbs: product.limbs, factor: product.factor, noise: product.noise.clone() })
    }

    /// After the key switch of an automorphism.
    pub(super) fn switched(&self, a: State) -> State {
        State { noise: a.noise.with(&self.laws().switches(1, a.limbs, a.limbs)), ..a }
    }

    /// After a re-encryption, with a key that is made from two secrets.
    ///
    /// # Errors
    /// [`IntegerError::NoiseExhausted`].
    pub(super) fn reencrypted(&self, a: State) -> Result<State> {
        let switched = self.switched(a);
        self.check("a re-encryption", &switched.noise)?;
        Ok(switched)
    }

    /// After a re-encryption with a key that was made under a public key.
    ///
    /// # Errors
    /// [`IntegerError::NoiseExhausted`].
    pub(super) fn reencrypted_for(&self, a: State) -> Result<State> {
        let switched = State { noise: a.noise.with(&self.laws().switches_for(a.limbs)), ..a };
        self.check("a re-encryption", &switched.noise)?;
        Ok(switched)
    }

    /// After a relinearisation by itself.
    pub(super) fn relinearized_alone(&self, a: State) -> State {
        State { noise: a.noise.with(&self.laws().relinearizes(a.limbs, a.limbs)), ..a }
    }

    /// Sums of a ciphertext and its images, each of the result of the one before: the images of each sum, and how many of
    /// these take a key.
    ///
    /// All images of one noise may meet in one coefficient.
    ///
    /// # Errors
    /// [`IntegerError::NoiseExhausted`].
    pub(crate) fn sums_of_images(&self, a: State, sums: impl Iterator<Item = (usize, usize)>) -> Result<State> {
        let noise = sums.fold(a.noise, |noise, (images, switches)| {
            let sum = noise.scaled(libm::log2(1.0 + images as f64));
            match switches {
                0 => sum,
                _ => sum.with(&self.laws().switches(switches, a.limbs, a.limbs)),
            }
        });
        self.check("a sum of rotations", &noise)?;
        Ok(State { noise, ..a })
    }

    /// The product with a plaintext, at all limbs.
    ///
    /// # Errors
    /// [`IntegerError::NoiseExhausted`].
    pub(super) fn plain_product(&self, a: State, p: Norms) -> Result<State> {
        let noise = sum_of_plain_products(std::iter::once((&a.noise, p)));
        self.check("a product with a plaintext", &noise)?;
        Ok(State { noise, ..a })
    }

    /// The sum of products with plaintexts of ciphertexts of one number of limbs and one factor, at least one product.
    ///
    /// # Errors
    /// [`IntegerError::NoiseExhausted`].
    pub(crate) fn sum_of_plain_products(&self, terms: &[(State, Norms)]) -> Result<State> {
        let noise = sum_of_plain_products(terms.iter().map(|(a, p)| (&a.noise, *p)));
        self.check("a sum of products with plaintexts", &noise)?;
        Ok(State { noise, ..terms[0].0.clone() })
    }

    /// Sums of products of baby steps with factors, each sum rotated by its giant step: with one limb less if the noise does not
    /// need the last, which goes with the special modulus.
    ///
    /// # Errors
    /// [`IntegerError::NoiseExhausted`].
    pub(super) fn giant_steps(&self, a: State, giants: &[GiantTerms]) -> Result<State> {
        let (laws, limbs) = (self.laws(), a.limbs);
        let moved = a.noise.with(&laws.undivided_switches(1, limbs));
        let terms = giants.iter().flat_map(|giant| &giant.terms);
        let products =
            sum_of_plain_products(terms.map(|&(moves, factor)| (if moves { &moved } else { &a.noise }, factor)));
        let switches = giants.iter().filter(|giant| giant.moves).count();
        // Each giant step with a rotation rounds its second part, and the whole is rounded in the end.
        let rounded = (0..=switches).fold(Noise::none(), |sum, _| sum.with(&laws.rounding(limbs)));
        let noise = products.with(&laws.undivided_switches(switches, limbs)).with(&rounded);
        self.check("a sum of giant steps", &noise)?;
        let sum = State { noise, ..a };
        Ok(if self.limbs_to_keep(&sum) < limbs { self.lowered(sum, limbs - 1) } else { sum })
    }
}

/// The sum of two of the same limbs and factor.
pub(super) fn sum_of_aligned(a: State, b: &State) -> State {
    State { noise: a.noise.plus(&b.noise), ..a }
}

/// The noise of `sum a_k p_k` for ciphertexts of these noises.
///
/// Coefficients of plaintexts are taken as independent of each other: the squares of their norms add. Where plaintexts are
/// numbers, or nearly so, noises that are not independent may add up in one coefficient: so do the products with the largest
/// coefficients.
fn sum_of_plain_products<'a>(terms: impl Iterator<Item = (&'a Noise, Norms)>) -> Noise {
    let (mut apart, mut together) = (Noise::none(), Noise::none());
    let mut count = 0;
    for (noise, p) in terms {
        apart = apart.with(&noise.scaled(p.log2_norm));
        together = together.plus(&noise.scaled(p.log2_max));
        count += 1;
    }
    if count == 1 { apart } else { apart.with(&together) }
}

/// `[x, y]` with `y = r x mod t`, x a unit modulo t and r one, so that the larger of `2^lead |x|` and `|y|` is small: about
/// `sqrt(2^lead t)`.
///
/// The remainders of Euclid's algorithm for t and r are such multiples of r.
fn balanced(modulus: PlaintextModulus, r: u64, lead: f64) -> [i64; 2] {
    let t = modulus.value().cast_signed();
    let cost = |[x, y]: [i64; 2]| (libm::exp2(lead) * x.abs() as f64).max(y.abs() as f64);
    let (mut rest, mut multiple) = ([t, r.cast_signed()], [0i64, 1]);
    let mut best = [1, modulus.center(r)];
    while rest[1] != 0 {
        let pair = [multiple[1], rest[1]];
        if modulus.is_unit(multiple[1].unsigned_abs()) && cost(pair) < cost(best) {
            best = pair;
        }
        let quotient = rest[0] / rest[1];
        rest = [rest[1], rest[0] - quotient * rest[1]];
        multiple = [multiple[1], multiple[0] - quotient * multiple[1]];
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balanced_pairs_have_the_ratio_and_are_small() {
        for t in [17, 256, 65537, 1 << 40, (1 << 45) + 59] {
            let modulus = PlaintextModulus::new(t).expect("supported");
            for r in [1, 3, 5, 7, 11, 13, t / 2 + u64::from(t % 4 == 2) * 2, t - 2, t - 1] {
                if !modulus.is_unit(r) {
                    continue;
                }
                for lead in [0.0, 5.0, -5.0] {
                    let [x, y] = balanced(modulus, r, lead);
                    assert_eq!(modulus.mul(r, modulus.reduce(x.into())), modulus.reduce(y.into()), "{r} modulo {t}");
                    assert!(modulus.is_unit(x.unsigned_abs()));
                }
                let [x, y] = balanced(modulus, r, 0.0);
                // Of a prime every multiple is a unit, and the remainders pass the root of t.
                let bound = if t % 2 == 0 { t as f64 } else { 2.0 * (t as f64).sqrt() };
                assert!(x.abs().max(y.abs()) as f64 <= bound, "{r} modulo {t}: {x} {y}");
            }
        }
    }
}
