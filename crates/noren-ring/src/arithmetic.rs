//! Sums, products and transforms of elements.

use noren_math::kernels::{Kernels, MAX_TERMS};

use crate::poly::{Coeff, Domain, Eval, Poly};
use crate::ring::Ring;

/// Results of so many words go past the caches: with two operands they are 24 MiB, and about a cache of 32 MiB.
const STREAMED_WORDS: usize = 1 << 20;

impl Ring {
    /// From coefficients to evaluations. The words are changed in place.
    #[must_use]
    pub fn ntt(&self, mut a: Poly<Coeff>) -> Poly<Eval> {
        self.check(&a);
        self.update(&mut a, |limb, row| self.engine().kernels().ntt_forward(row, self.basis().table(limb)));
        a.into_domain()
    }

    /// From evaluations to coefficients. The words are changed in place.
    #[must_use]
    pub fn intt(&self, mut a: Poly<Eval>) -> Poly<Coeff> {
        self.check(&a);
        self.update(&mut a, |limb, row| self.engine().kernels().ntt_inverse(row, self.basis().table(limb)));
        a.into_domain()
    }

    /// `a + b`.
    #[must_use]
    pub fn add<D: Domain>(&self, a: &Poly<D>, b: &Poly<D>) -> Poly<D> {
        self.check(a);
        self.check(b);
        let add = if self.streams() { Kernels::add_streamed } else { Kernels::add };
        self.build_pointwise(a.is_secret() || b.is_secret(), |limb, range, out| {
            add(
                self.engine().kernels(),
                out,
                &a.limb(limb)[range.clone()],
                &b.limb(limb)[range],
                self.basis().modulus(limb),
            );
        })
    }

    /// `a += b`.
    pub fn add_assign<D: Domain>(&self, a: &mut Poly<D>, b: &Poly<D>) {
        self.check(a);
        self.check(b);
        a.rows.mark(b.is_secret());
        self.update_pointwise(a, |limb, range, row| {
            self.engine().kernels().add_assign(row, &b.limb(limb)[range], self.basis().modulus(limb));
        });
    }

    /// `a - b`.
    #[must_use]
    pub fn sub<D: Domain>(&self, a: &Poly<D>, b: &Poly<D>) -> Poly<D> {
        self.check(a);
        self.check(b);
        let sub = if self.streams() { Kernels::sub_streamed } else { Kernels::sub };
        self.build_pointwise(a.is_secret() || b.is_secret(), |limb, range, out| {
            sub(
                self.engine().kernels(),
                out,
                &a.limb(limb)[range.clone()],
                &b.limb(limb)[range],
                self.basis().modulus(limb),
            );
        })
    }

    /// `a -= b`.
    pub fn sub_assign<D: Domain>(&self, a: &mut Poly<D>, b: &Poly<D>) {
        self.check(a);
        self.check(b);
        a.rows.mark(b.is_secret());
        self.update_pointwise(a, |limb, range, row| {
            self.engine().kernels().sub_assign(row, &b.limb(limb)[range], self.basis().modulus(limb));
        });
    }

    /// `-a`.
    #[must_use]
    pub fn neg<D: Domain>(&self, a: &Poly<D>) -> Poly<D> {
        self.check(a);
        self.build_pointwise(a.is_secret(), |limb, range, out| {
            self.engine().kernels().neg(out, &a.limb(limb)[range], self.basis().modulus(limb));
        })
    }

    /// `a = -a`.
    pub fn neg_assign<D: Domain>(&self, a: &mut Poly<D>) {
        self.check(a);
        self.update_pointwise(a, |limb, _, row| self.engine().kernels().neg_assign(row, self.basis().modulus(limb)));
    }

    /// `a * b`; both may have more limbs than this ring.
    #[must_use]
    pub fn mul(&self, a: &Poly<Eval>, b: &Poly<Eval>) -> Poly<Eval> {
        self.check_covers(a);
        self.check_covers(b);
        let mul = if self.streams() { Kernels::mul_streamed } else { Kernels::mul };
        self.build_pointwise(a.is_secret() || b.is_secret(), |limb, range, out| {
            mul(
                self.engine().kernels(),
                out,
                &a.limb(limb)[range.clone()],
                &b.limb(limb)[range],
                self.basis().modulus(limb),
            );
        })
    }

    /// `a *= b`; `b` may have more limbs than this ring.
    pub fn mul_assign(&self, a: &mut Poly<Eval>, b: &Poly<Eval>) {
        self.check(a);
        self.check_covers(b);
        a.rows.mark(b.is_secret());
        self.update_pointwise(a, |limb, range, row| {
            self.engine().kernels().mul_assign(row, &b.limb(limb)[range], self.basis().modulus(limb));
        });
    }

    /// `acc += a * b`; `a` and `b` may have more limbs than this ring.
    pub fn mul_add_assign(&self, acc: &mut Poly<Eval>, a: &Poly<Eval>, b: &Poly<Eval>) {
        self.check(acc);
        self.check_covers(a);
        self.check_covers(b);
        acc.rows.mark(a.is_secret() || b.is_secret());
        self.update_pointwise(acc, |limb, range, row| {
            self.engine().kernels().mul_add_assign(
                row,
                &a.limb(limb)[range.clone()],
                &b.limb(limb)[range],
                self.basis().modulus(limb),
            );
        });
    }

    /// `sum_j a_j * b_j` over the pairs `(a_j, b_j)`, reduced once; all may have more limbs than this ring.
    #[must_use]
    pub fn inner_product(&self, pairs: &[(&Poly<Eval>, &Poly<Eval>)]) -> Poly<Eval> {
        if let [(a, b)] = pairs {
            return self.mul(a, b);
        }
        for (a, b) in pairs {
            self.check_covers(a);
            self.check_covers(b);
        }
        let secret = pairs.iter().any(|(a, b)| a.is_secret() || b.is_secret());
        self.build_pointwise(secret, |limb, range, out| {
            self.add_products(
                limb,
                out,
                pairs.iter().map(|(a, b)| (&a.limb(limb)[range.clone()], &b.limb(limb)[range.clone()])),
            );
        })
    }

    /// `a * w` for an integer w given by its residues, one for each limb. Range: residues in `[0, q)`.
    #[must_use]
    pub fn mul_scalar<D: Domain>(&self, a: &Poly<D>, residues: &[u64]) -> Poly<D> {
        self.check(a);
        self.check_residues(residues);
        let start = self.range().start;
        self.build_pointwise(a.is_secret(), |limb, range, out| {
            let q = self.basis().modulus(limb);
            self.engine().kernels().mul_scalar(out, &a.limb(limb)[range], q.shoup(residues[limb - start]), q);
        })
    }

    /// `a *= w`; see [`Ring::mul_scalar`].
    pub fn mul_scalar_assign<D: Domain>(&self, a: &mut Poly<D>, residues: &[u64]) {
        self.check(a);
        self.check_residues(residues);
        let start = self.range().start;
        self.update_pointwise(a, |limb, _, row| {
            let q = self.basis().modulus(limb);
            self.engine().kernels().mul_scalar_assign(row, q.shoup(residues[limb - start]), q);
        });
    }

    /// `acc += a * w` on the limbs of this ring; see [`Ring::mul_scalar`].
    ///
    /// `acc` and `a` may have more limbs, and the other limbs of `acc` stay as they are. So a multiple of the special
    /// primes' product P is added to an element modulo `Q P`: its residues modulo those primes are 0.
    pub fn mul_scalar_add_assign<D: Domain>(&self, acc: &mut Poly<D>, a: &Poly<D>, residues: &[u64]) {
        self.check_covers(acc);
        self.check_covers(a);
        self.check_residues(residues);
        acc.rows.mark(a.is_secret());
        let start = self.range().start;
        self.update_pointwise(acc, |limb, range, row| {
            let q = self.basis().modulus(limb);
            self.engine().kernels().mul_scalar_add_assign(
                row,
                &a.limb(limb)[range],
                q.shoup(residues[limb - start]),
                q,
            );
        });
    }

    /// `a * w` for an integer.
    #[must_use]
    pub fn mul_integer<D: Domain>(&self, a: &Poly<D>, w: i64) -> Poly<D> {
        self.mul_integer_i128(a, w.into())
    }

    /// `a * w` for a wide integer.
    #[must_use]
    pub fn mul_integer_i128<D: Domain>(&self, a: &Poly<D>, w: i128) -> Poly<D> {
        self.mul_scalar(a, &self.integer_residues(w))
    }

    /// `a + c` for a constant given by its residues, one for each limb. Range: residues in `[0, q)`.
    pub fn add_constant_assign(&self, a: &mut Poly<Eval>, residues: &[u64]) {
        self.check(a);
        self.check_residues(residues);
        let start = self.range().start;
        self.update_pointwise(a, |limb, _, row| {
            self.engine().kernels().add_scalar_assign(row, residues[limb - start], self.basis().modulus(limb));
        });
    }

    /// The residues of an integer, one for each limb. Range: out `[0, q)`.
    #[must_use]
    pub fn integer_residues(&self, x: i128) -> Vec<u64> {
        self.moduli()
            .map(|q| {
                let residue = q.reduce_u128(x.unsigned_abs());
                if x < 0 { q.neg(residue) } else { residue }
            })
            .collect()
    }

    /// Whether results are so long that they are best written past the caches.
    fn streams(&self) -> bool {
        self.limbs() * self.degree() >= STREAMED_WORDS
    }

    /// `out = sum a_j * b_j` modulo the prime of `limb`, for rows of any common length.
    pub(crate) fn add_products<'a>(
        &self,
        limb: usize,
        out: &mut [u64],
        pairs: impl Iterator<Item = (&'a [u64], &'a [u64])>,
    ) {
        let (kernels, q) = (self.engine().kernels(), self.basis().modulus(limb));
        let mut pairs = pairs.fuse();
        let mut terms: [(&[u64], &[u64]); MAX_TERMS] = [(&[], &[]); MAX_TERMS];
        let mut count = 0;
        for (term, pair) in terms.iter_mut().zip(&mut pairs) {
            *term = pair;
            count += 1;
        }
        kernels.inner_product(out, &terms[..count], q);
        // More terms than one sum holds are rare: no parameters of practice have so many digits.
        for (a, b) in pairs {
            kernels.mul_add_assign(out, a, b, q);
        }
    }
}
