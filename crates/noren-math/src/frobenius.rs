//! The Frobenius automorphism of Galois rings, and the trace that it makes.

use crate::galois_ring::GaloisRing;

/// The automorphism sigma maps Y, which is a root of unity of an order that p does not divide, to `Y^p`; its power d is the
/// identity. The trace is the sum of all `sigma^i(x)`, the norm their product: both are integers modulo `p^r`.
impl GaloisRing {
    /// `Y^k`.
    #[must_use]
    pub fn power_of_y(&self, mut k: u64) -> Vec<u64> {
        // In degree 1, Y is minus the constant of G.
        let y = match self.degree() {
            1 => vec![self.numbers().sub(0, self.modulus()[0])],
            d => (0..d).map(|i| u64::from(i == 1)).collect(),
        };
        let (mut power, mut square) = (self.one(), y);
        while k > 0 {
            if k % 2 == 1 {
                power = self.mul(&power, &square);
            }
            square = self.mul(&square, &square);
            k /= 2;
        }
        power
    }

    /// `sigma^i(x)`.
    ///
    /// # Panics
    /// If x has not d coefficients.
    #[must_use]
    pub fn conjugate(&self, x: &[u64], i: usize) -> Vec<u64> {
        let d = self.degree();
        if i.is_multiple_of(d) {
            return x.to_vec();
        }
        let image = (0..i % d).fold(self.power_of_y(1), |image, _| self.power(&image, self.numbers().p()));
        // Horner's rule in Y^(p^i).
        x.iter().rev().fold(vec![0; d], |sum, &coefficient| {
            let mut sum = self.mul(&sum, &image);
            sum[0] = self.numbers().add(sum[0], coefficient);
            sum
        })
    }

    /// The basis dual to `1, Y, .., Y^(d-1)` under the trace: element i is `b_i / G'(Y)`, for `G(X) = (X - Y) sum_i b_i X^i`.
    #[must_use]
    pub fn dual_basis(&self) -> Vec<Vec<u64>> {
        let (numbers, modulus) = (self.numbers(), self.modulus());
        let (inverse, y) = (self.inv(&self.derivative()), self.power_of_y(1));
        let mut quotient = self.one();
        let mut basis = vec![inverse.clone()];
        for &g in modulus[1..self.degree()].iter().rev() {
            quotient = self.mul(&quotient, &y);
            quotient[0] = numbers.add(quotient[0], g);
            basis.push(self.mul(&quotient, &inverse));
        }
        basis.reverse();
        basis
    }

    /// A power by squaring.
    fn power(&self, x: &[u64], mut exponent: u64) -> Vec<u64> {
        let (mut power, mut square) = (self.one(), x.to_vec());
        while exponent > 0 {
            if exponent % 2 == 1 {
                power = self.mul(&power, &square);
            }
            square = self.mul(&square, &square);
            exponent /= 2;
        }
        power
    }
}

#[cfg(test)]
mod tests {
    use crate::cyclotomic::Cyclotomic;
    use crate::galois_ring::GaloisRing;
    use crate::hypercube::Hypercube;
    use crate::slots::SlotTransform;

    fn ring(m: u32, p: u64, r: u32) -> GaloisRing {
        let cube = Hypercube::new(&Cyclotomic::new(m).expect("an index"), p).expect("slots");
        SlotTransform::new(&cube, r).expect("a power").values().clone()
    }

    #[test]
    fn conjugates_are_powers_modulo_p_and_traces_of_the_dual_basis_are_those_of_the_definition() {
        for (m, p, r) in [(31, 2, 1), (31, 2, 7), (11, 3, 2), (57, 7, 1), (16 + 1, 103, 2), (63, 2, 59)] {
            let ring = ring(m, p, r);
            let (numbers, d) = (*ring.numbers(), ring.degree());
            let x: Vec<u64> = (0..d as u64).map(|i| (i * i * 5 + 3) % numbers.value()).collect();
            // The automorphism is a power modulo p, of order d, and respects products.
            let once = ring.conjugate(&x, 1);
            assert!(once.iter().zip(ring.power(&x, p)).all(|(a, b)| a % p == b % p), "{m}, {p}, {r}");
            assert_eq!(ring.conjugate(&once, d - 1), x);
            let product = ring.mul(&x, &ring.power_of_y(3));
            assert_eq!(ring.conjugate(&product, 1), ring.mul(&once, &ring.conjugate(&ring.power_of_y(3), 1)));
            assert_eq!(ring.mul(&x, &ring.inv(&x)), ring.one());
            for (i, dual) in ring.dual_basis().iter().enumerate() {
                for j in 0..d as u64 {
                    let product = ring.mul(dual, &ring.power_of_y(j));
                    let trace = (0..d).fold(vec![0; d], |sum, k| {
                        let conjugate = ring.conjugate(&product, k);
                        sum.iter().zip(&conjugate).map(|(&a, &b)| numbers.add(a, b)).collect()
                    });
                    let expected: Vec<u64> = (0..d).map(|k| u64::from(k == 0 && i as u64 == j)).collect();
                    assert_eq!(trace, expected, "{m}, {p}, {r}: {i} {j}");
                }
            }
        }
    }
}
