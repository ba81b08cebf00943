//! Sums, products, images and transforms of elements.

use crate::automorphism::Automorphism;
use crate::device::{Change, Direction, Operation};
use crate::operand::Operand;
use crate::poly::{Coeff, Domain, Eval, Poly};
use crate::ring::Ring;

impl Ring {
    /// From coefficients to evaluations. The words are changed in place.
    #[must_use]
    pub fn ntt(&self, mut a: Poly<Coeff>) -> Poly<Eval> {
        self.check(&a);
        self.device().transform(self, a.as_limbs_mut(), Direction::Forward);
        a.into_domain()
    }

    /// From evaluations to coefficients. The words are changed in place.
    #[must_use]
    pub fn intt(&self, mut a: Poly<Eval>) -> Poly<Coeff> {
        self.check(&a);
        self.device().transform(self, a.as_limbs_mut(), Direction::Inverse);
        a.into_domain()
    }

    /// `a + b`.
    #[must_use]
    pub fn add<D: Domain>(&self, a: &Poly<D>, b: &Poly<D>) -> Poly<D> {
        self.check(a);
        self.check(b);
        self.compute(Operation::Add(a.as_limbs(), b.as_limbs()))
    }

    /// `a += b`.
    pub fn add_assign<D: Domain>(&self, a: &mut Poly<D>, b: &Poly<D>) {
        self.check(a);
        self.check(b);
        self.change(a, Change::Add(b.as_limbs()));
    }

    /// `a - b`.
    #[must_use]
    pub fn sub<D: Domain>(&self, a: &Poly<D>, b: &Poly<D>) -> Poly<D> {
        self.check(a);
        self.check(b);
        self.compute(Operation::Sub(a.as_limbs(), b.as_limbs()))
    }

    /// `a -= b`.
    pub fn sub_assign<D: Domain>(&self, a: &mut Poly<D>, b: &Poly<D>) {
        self.check(a);
        self.check(b);
        self.change(a, Change::Sub(b.as_limbs()));
    }

    /// `-a`.
    #[must_use]
    pub fn neg<D: Domain>(&self, a: &Poly<D>) -> Poly<D> {
        self.check(a);
        self.compute(Operation::Neg(a.as_limbs()))
    }

    /// `a = -a`.
    pub fn neg_assign<D: Domain>(&self, a: &mut Poly<D>) {
        self.check(a);
        self.change(a, Change::Neg);
    }

    /// `a * b`; both may have more limbs than this ring.
    #[must_use]
    pub fn mul(&self, a: &Poly<Eval>, b: &Poly<Eval>) -> Poly<Eval> {
        self.check_covers(a);
        self.check_covers(b);
        self.compute(Operation::Mul(a.as_limbs(), b.as_limbs()))
    }

    /// `a *= b`; `b` may have more limbs than this ring.
    pub fn mul_assign(&self, a: &mut Poly<Eval>, b: &Poly<Eval>) {
        self.check(a);
        self.check_covers(b);
        self.change(a, Change::Mul(b.as_limbs()));
    }

    /// `acc += a * b`; `a` and `b` may have more limbs than this ring.
    pub fn mul_add_assign(&self, acc: &mut Poly<Eval>, a: &Poly<Eval>, b: &Poly<Eval>) {
        self.check(acc);
        self.check_covers(a);
        self.check_covers(b);
        self.change(acc, Change::AddProduct(a.as_limbs(), b.as_limbs()));
    }

    /// `sum_j a_j * b_j` over the pairs `(a_j, b_j)`, reduced once; all may have more limbs than this ring.
    #[must_use]
    pub fn inner_product(&self, pairs: &[(&Poly<Eval>, &Poly<Eval>)]) -> Poly<Eval> {
        match pairs {
            [(a, b)] => self.mul(a, b),
            _ => self.gather(Operand::Products(pairs)),
        }
    }

    /// An operand, written down in one pass. Range: residues of integers in `[0, q)`.
    ///
    /// # Panics
    /// If an element lacks a limb of this ring, or an integer a residue.
    #[must_use]
    pub fn gather(&self, operand: Operand) -> Poly<Eval> {
        operand.check_covers(self);
        self.device().gather(self, operand)
    }

    /// `a * w` for an integer w given by its residues, one for each limb. Range: residues in `[0, q)`.
    #[must_use]
    pub fn mul_scalar<D: Domain>(&self, a: &Poly<D>, residues: &[u64]) -> Poly<D> {
        self.check(a);
        self.check_residues(residues);
        self.compute(Operation::Scale(a.as_limbs(), residues))
    }

    /// `a *= w`; see [`Ring::mul_scalar`].
    pub fn mul_scalar_assign<D: Domain>(&self, a: &mut Poly<D>, residues: &[u64]) {
        self.check(a);
        self.check_residues(residues);
        self.change(a, Change::Scale(residues));
    }

    /// `acc += a * w` on the limbs of this ring; see [`Ring::mul_scalar`].
    ///
    /// `acc` and `a` may have more limbs, and the other limbs of `acc` stay as they are. So a multiple of the special
    /// primes' product P is added to an element modulo `Q P`: its residues modulo those primes are 0.
    pub fn mul_scalar_add_assign<D: Domain>(&self, acc: &mut Poly<D>, a: &Poly<D>, residues: &[u64]) {
        self.check_covers(acc);
        self.check_covers(a);
        self.check_residues(residues);
        self.change(acc, Change::AddScaled(a.as_limbs(), residues));
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
        self.change(a, Change::AddConstant(residues));
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

    /// `a(X^k)` in evaluation form; `a` may have more limbs than this ring.
    ///
    /// # Panics
    /// If the automorphism is one of another index.
    #[must_use]
    pub fn automorphism(&self, a: &Poly<Eval>, automorphism: &Automorphism) -> Poly<Eval> {
        self.check_covers(a);
        self.check_index(automorphism);
        self.compute(Operation::Image(a.as_limbs(), automorphism))
    }

    /// `acc += a(X^k)` in evaluation form; `a` may have more limbs than this ring.
    ///
    /// # Panics
    /// If the automorphism is one of another index.
    pub fn automorphism_add_assign(&self, acc: &mut Poly<Eval>, a: &Poly<Eval>, automorphism: &Automorphism) {
        self.check(acc);
        self.check_covers(a);
        self.check_index(automorphism);
        self.change(acc, Change::AddImage(a.as_limbs(), automorphism));
    }

    fn compute<D: Domain>(&self, operation: Operation) -> Poly<D> {
        Poly::from_limbs(self.device().compute(self, operation))
    }

    fn change<D: Domain>(&self, a: &mut Poly<D>, change: Change) {
        self.device().update(self, a.as_limbs_mut(), change);
    }
}
