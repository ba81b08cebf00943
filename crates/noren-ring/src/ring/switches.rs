//! Key switches and all that is made of them, conversions, divisions and products of ciphertexts.

use crate::decompose::Decomposer;
use crate::divide::DivideRound;
use crate::images::Images;
use crate::key::KeyPairs;
use crate::matrix::{Matrix, Order};
use crate::operand::Operand;
use crate::poly::{Domain, Eval, Poly};
use crate::product::{Pairs, ScaledProduct};
use crate::product_switch::SwitchedProduct;
use crate::ring::Ring;
use crate::small::SmallPolynomials;
use crate::switch::{KeySwitch, Term};

impl Ring {
    /// `round(x / D)`; `x` may be over any window that has the dropped and the kept limbs. Only the index and the
    /// device of this ring matter.
    ///
    /// # Panics
    /// If `x` lacks a dropped or a kept limb.
    #[must_use]
    pub fn divide_round(&self, x: Poly<Eval>, divide: &DivideRound) -> Poly<Eval> {
        self.divide_round_all(vec![x], divide).remove(0)
    }

    /// [`Ring::divide_round`] for several elements at once.
    ///
    /// # Panics
    /// If an element lacks a dropped or a kept limb.
    #[must_use]
    pub fn divide_round_all(&self, xs: Vec<Poly<Eval>>, divide: &DivideRound) -> Vec<Poly<Eval>> {
        for x in &xs {
            divide.kept().check_covers(x);
            check_limbs(x, divide.dropped());
        }
        self.device().divide_round(divide, xs)
    }

    /// The ring of the digits of elements of this ring, the window of `Q_l`: that of `P Q_l`.
    #[must_use]
    pub fn ring_qp(&self, decomposer: &Decomposer) -> Self {
        self.window(decomposer.ring_qp(self).range())
    }

    /// Switches `c`, an element over the limbs of this ring or more.
    ///
    /// # Panics
    /// If this ring does not start at q_0, has more limbs than the gadget cuts, or `c` lacks one of its limbs; if there is no term; if a key has fewer pairs than there are digits; if an operand
    /// lacks a limb; or if an automorphism is one of another index.
    #[must_use]
    pub fn switch<'a>(
        &self,
        c: impl Into<Operand<'a>>,
        decomposer: &Decomposer,
        switch: &KeySwitch,
    ) -> [Poly<Eval>; 2] {
        let c = c.into();
        c.check_covers(self);
        self.check_switch(decomposer, switch);
        self.device().switch(decomposer, self, c, switch)
    }

    /// [`Ring::switch`] with each term alone: several images of one element.
    ///
    /// # Panics
    /// As [`Ring::switch`].
    #[must_use]
    pub fn switch_each(&self, c: &Poly<Eval>, decomposer: &Decomposer, switch: &KeySwitch) -> Vec<[Poly<Eval>; 2]> {
        self.check_covers(c);
        self.check_switch(decomposer, switch);
        self.device().switch_each(decomposer, self, c, switch)
    }

    /// Takes a pair `(c_0, c_1)` through steps `c_i -> c_i + sum_k psi_k(c'_i)`, where `c'_0 = c_0 + u_0 / P` and
    /// `c'_1 = u_1 / P` for the inner products `u_i = sum_j d_j k_ji` of the digits of `c_1` with the key of the term.
    ///
    /// The digits of the next step need a `c_1` that is divided by the special primes' product P, and rounded. Nothing needs
    /// `c_0` before the end: it stays times P, modulo the special primes too, and is rounded once.
    ///
    /// Each step is a [`Ring::switch`], and `divide` the division by P.
    ///
    /// # Panics
    /// As [`Ring::switch`], or if there is no step.
    #[must_use]
    pub fn sum_in_steps(
        &self,
        c: [&Poly<Eval>; 2],
        decomposer: &Decomposer,
        steps: &[&[Term]],
        divide: &DivideRound,
    ) -> [Poly<Eval>; 2] {
        decomposer.check(self);
        c.iter().for_each(|c| self.check_covers(c));
        assert!(!steps.is_empty(), "a sum has a step");
        steps.iter().for_each(|terms| self.check_terms(decomposer, terms));
        self.device().sum_in_steps(decomposer, self, c, steps, divide)
    }

    /// A matrix times an element over the limbs of this ring or more.
    ///
    /// Of a sum that is moved only the second part is divided by P, so that it can be decomposed; all else adds up
    /// undivided.
    ///
    /// # Panics
    /// If a key has fewer pairs than there are digits, a term names an image that there is not, an automorphism is one of
    /// another index, an operand lacks a limb, or there is no giant step; in turn, if the first sum has an automorphism or a
    /// later one has none.
    #[must_use]
    pub fn multiply_matrix(&self, c: [&Poly<Eval>; 2], decomposer: &Decomposer, matrix: &Matrix) -> [Poly<Eval>; 2] {
        decomposer.check(self);
        c.iter().for_each(|part| self.check_covers(part));
        self.check_matrix(decomposer, matrix);
        self.device().multiply_matrix(decomposer, self, c, matrix)
    }

    /// The three parts of the sum of products of ciphertexts, scaled. Only the index and the device of this
    /// ring matter.
    ///
    /// # Panics
    /// If there is no product, or an operand lacks a limb of Q.
    #[must_use]
    pub fn scaled_product(&self, product: &ScaledProduct, factors: &[Pairs]) -> [Poly<Eval>; 3] {
        check_factors(product, factors);
        self.device().scaled_product(product, factors)
    }

    /// Both parts of the sum of products of ciphertexts, scaled and switched; `decomposer` is the one that the product was made
    /// for. Only the index and the device of this ring matter.
    ///
    /// # Panics
    /// As [`Ring::scaled_product`], and if the key lacks a pair or a limb.
    #[must_use]
    pub fn switched_product(
        &self,
        product: &SwitchedProduct,
        decomposer: &Decomposer,
        key: &KeyPairs,
        factors: &[Pairs],
    ) -> [Poly<Eval>; 2] {
        check_factors(product.product(), factors);
        let ring = product.product().ring();
        key.check_covers(&decomposer.ring_qp(ring), decomposer.gadget().digits_at(ring.limbs()).len());
        self.device().switched_product(product, decomposer, key, factors)
    }

    /// The element over this ring whose coefficients are those of `c`, as representatives in `(-Q'/2, Q'/2)` for the
    /// product Q' of c's primes.
    ///
    /// `c` may be over any window, one that shares primes with this ring too. The representatives are found by mixed
    /// radices, without an estimate: they are exact everywhere, next to `Q'/2` too.
    #[must_use]
    pub fn raise(&self, c: &Poly<Eval>) -> Poly<Eval> {
        self.device().raise(self, c)
    }

    /// `(c_0 + round(c_1 k_0 / D), round(c_1 k_1 / D))` over the primes that are kept, for the numbers `c_0`, `c_1` of
    /// [`Ring::raise`] and the sums `k_i = sum_j k_ji` of the halves of the pairs of a key: both parts of a ciphertext are
    /// raised, and switched to another secret, in one pass. Only the index and the device of this ring matter.
    ///
    /// D must be the product P of the special primes that the key was made with. Then c_1 itself serves as every digit: it
    /// is congruent to itself modulo each digit's primes, and shorter than a digit of its own would be. So nothing is
    /// decomposed, and the noise is that of digits of the size of `Q'`, however the key is cut.
    ///
    /// The key may have more limbs; a pair without primes among those that are kept adds nothing but noise.
    ///
    /// # Panics
    /// If the parts differ in their windows, or the key lacks a limb that is dropped or kept.
    #[must_use]
    pub fn raise_and_switch(&self, c: [&Poly<Eval>; 2], divide: &DivideRound, key: &KeyPairs) -> [Poly<Eval>; 2] {
        assert_eq!(c[0].window(), c[1].window(), "the parts have different moduli");
        let mut needed = divide.dropped().iter().copied().chain(divide.kept().range());
        assert!(needed.all(|limb| key.ring().range().contains(&limb)), "{key:?} lacks a limb that is needed");
        self.device().raise_and_switch(divide, c, key)
    }

    /// `(k_0 v + e_0 + m, k_1 v + e_1)` for a pair k of evaluations, and v and e given by their coefficients.
    ///
    /// The pair and m may have more limbs than this ring. The results are marked as secret: that v and e hide them is for the
    /// caller to know. Range: coefficients in `(-2^62, 2^62)`.
    ///
    /// # Panics
    /// If a length is not the degree, or an element lacks a limb of this ring.
    #[must_use]
    pub fn mask(&self, k: [&Poly<Eval>; 2], v: &[i64], e: [&[i64]; 2], m: &Poly<Eval>) -> [Poly<Eval>; 2] {
        for coefficients in [v, e[0], e[1]] {
            self.check_degree(coefficients.len());
        }
        for element in [k[0], k[1], m] {
            self.check_covers(element);
        }
        self.device().mask(self, k, v, e, m)
    }

    /// `count` images of this ring, to be set by [`Ring::set_image`]: one of `sets` sets of images that are multiplied with the
    /// same factors.
    #[must_use]
    pub fn images(&self, count: usize, sets: usize) -> Images {
        Images::new(self, count, sets, self.device().images(self, count))
    }

    /// Sets image `i`; the elements may have more limbs than the ring of the images.
    ///
    /// # Panics
    /// If there is no such image, or an element lacks a limb of the ring.
    pub fn set_image(&self, images: &mut Images, i: usize, image: [&Poly<Eval>; 2]) {
        assert!(i < images.count(), "there is no image {i} of {}", images.count());
        image.iter().for_each(|part| images.ring().check_covers(part));
        self.device().set_image(images, i, image);
    }

    /// The sums `S_b = sum_{a < A} f_{b A + a} y_a` over the A images, one for each A factors.
    ///
    /// Several sets of images may be multiplied with the same factors: the result is one list of sums for each set. Each
    /// factor is transformed once for each limb, a few at a time, and is gone when it was multiplied.
    ///
    /// # Panics
    /// If there are no images, they are of different numbers or rings, or were not made for that number of sets; if the factors
    /// are of another degree or no multiple of the images, or a prime is not above 2^15.
    #[must_use]
    pub fn streamed_sums(&self, sets: &[&Images], factors: &SmallPolynomials) -> Vec<Vec<[Poly<Eval>; 2]>> {
        let images = sets.first().map_or(0, |images| images.count());
        assert!(images > 0, "a sum has an image at least");
        for set in sets {
            assert_eq!(set.sets(), sets.len(), "images are laid out for a number of sets");
            assert!(set.count() == images && set.ring().range() == self.range(), "sets of images are alike");
        }
        assert_eq!(factors.degree(), self.degree(), "factors are of the degree of the ring");
        assert_eq!(factors.count() % images, 0, "each sum has a factor for each image");
        self.device().streamed_sums(self, sets, factors)
    }

    fn check_switch(&self, decomposer: &Decomposer, switch: &KeySwitch) {
        decomposer.check(self);
        self.check_terms(decomposer, switch.terms);
        switch.moved.iter().for_each(|m| self.check_covers(m));
        switch.added.iter().flatten().for_each(|a| a.check_covers(self));
        let (end, kept) = (self.range().end, switch.divide.kept().range());
        let dropped = switch.divide.dropped();
        assert!(
            kept.end <= end && dropped.iter().all(|&limb| limb < end),
            "limbs {dropped:?} cannot be dropped and {kept:?} kept of 0..{end}"
        );
    }

    fn check_terms(&self, decomposer: &Decomposer, terms: &[Term]) {
        let (ring, digits) = (decomposer.ring_qp(self), decomposer.gadget().digits_at(self.limbs()).len());
        assert!(!terms.is_empty(), "a sum needs a term");
        for Term { key, automorphism } in terms {
            key.check_covers(&ring, digits);
            automorphism.iter().for_each(|automorphism| self.check_index(automorphism));
        }
    }

    fn check_matrix(&self, decomposer: &Decomposer, matrix: &Matrix) {
        let (ring, digits) = (decomposer.ring_qp(self), decomposer.gadget().digits_at(self.limbs()).len());
        for term in matrix.images.iter().flatten() {
            term.key.check_covers(&ring, digits);
            term.automorphism.iter().for_each(|automorphism| ring.check_index(automorphism));
        }
        assert!(!matrix.giants.is_empty(), "a matrix needs a giant step");
        for (i, giant) in matrix.giants.iter().enumerate() {
            for &(image, factor) in &giant.terms {
                assert!(image < matrix.images.len(), "there is no image {image} of {}", matrix.images.len());
                ring.check_factor(factor);
            }
            if let Some((key, automorphism)) = giant.rotation {
                key.check_covers(&ring, digits);
                ring.check_index(automorphism);
            }
            let fits = matrix.order == Order::Separate || giant.rotation.is_some() == (i > 0);
            assert!(fits, "in turn all sums but the first are moved");
        }
    }
}

/// # Panics
/// If there is no product, or a factor lacks a limb.
fn check_factors(product: &ScaledProduct, factors: &[Pairs]) {
    assert!(!factors.is_empty(), "a sum of products has one at least");
    factors.as_flattened().as_flattened().iter().for_each(|factor| product.ring().check_covers(factor));
}

/// # Panics
/// If the element lacks one of the limbs.
fn check_limbs<D: Domain>(x: &Poly<D>, limbs: &[usize]) {
    assert!(limbs.iter().all(|limb| x.window().contains(limb)), "{x:?} lacks one of limbs {limbs:?}");
}
