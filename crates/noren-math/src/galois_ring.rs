//! Galois rings, which the slots of plaintexts are.

use crate::polynomials::{inverse, product};
use crate::prime_power::PrimePower;

/// The Galois ring `GR(p^r, d) = Z[Y]/(p^r, G)`, for a monic G of degree d that is irreducible modulo p. Elements are
/// their d coefficients, those of `Y^0` first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GaloisRing {
    numbers: PrimePower,
    /// The coefficients of G below the leading one.
    modulus: Vec<u64>,
}

impl GaloisRing {
    /// The ring of G, given without its leading coefficient.
    pub(crate) fn of(numbers: PrimePower, modulus: Vec<u64>) -> Self {
        Self { numbers, modulus }
    }

    /// The integers that coefficients are.
    #[must_use]
    pub fn numbers(&self) -> &PrimePower {
        &self.numbers
    }

    /// The degree d.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.modulus.len()
    }

    /// The coefficients of G, the leading 1 included.
    #[must_use]
    pub fn modulus(&self) -> Vec<u64> {
        self.modulus.iter().copied().chain([1]).collect()
    }

    /// `a b`.
    ///
    /// # Panics
    /// If there are not d coefficients of each.
    #[must_use]
    pub fn mul(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let d = self.degree();
        assert!(a.len() == d && b.len() == d, "elements of {d} coefficients");
        let mut product = product(a, b, &self.numbers);
        while product.len() > d {
            let lead = product.pop().unwrap_or(0);
            let low = product.len() - d;
            self.subtract_multiple(&mut product[low..], lead);
        }
        product
    }

    /// `Y a`.
    pub(crate) fn times_y(&self, a: &mut [u64]) {
        a.rotate_right(1);
        let lead = std::mem::take(&mut a[0]);
        self.subtract_multiple(a, lead);
    }

    /// Subtracts the multiple of G, without its leading term, that cancels a coefficient above.
    fn subtract_multiple(&self, a: &mut [u64], lead: u64) {
        let z = &self.numbers;
        a.iter_mut().zip(&self.modulus).for_each(|(x, &g)| *x = z.sub(*x, z.mul(lead, g)));
    }

    pub(crate) fn one(&self) -> Vec<u64> {
        let mut one = vec![0; self.degree()];
        one[0] = 1;
        one
    }

    /// `G'(Y)`.
    pub(crate) fn derivative(&self) -> Vec<u64> {
        let z = &self.numbers;
        self.modulus().iter().zip(0..).skip(1).map(|(&g, i)| z.mul(g, i % z.value())).collect()
    }

    /// The inverse of an element that is not 0 modulo p.
    ///
    /// # Panics
    /// If it is 0 modulo p, or has not d coefficients.
    #[must_use]
    pub fn inv(&self, x: &[u64]) -> Vec<u64> {
        let (z, d) = (&self.numbers, self.degree());
        assert_eq!(x.len(), d, "elements of {d} coefficients");
        let modulo_p = |a: &[u64]| -> Vec<u64> { a.iter().map(|&a| a % z.p()).collect() };
        let mut y = inverse(&modulo_p(x), &modulo_p(&self.modulus()), &z.residue_field());
        y.resize(d, 0);
        // Newton's iteration y (2 - x y): each step doubles the power of p.
        for _ in 0..z.r().next_power_of_two().ilog2() {
            let mut rest: Vec<u64> = self.mul(x, &y).into_iter().map(|a| z.sub(0, a)).collect();
            rest[0] = z.add(rest[0], 2 % z.value());
            y = self.mul(&y, &rest);
        }
        y
    }
}
