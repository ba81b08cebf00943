//! Division by some of the primes, rounded: ModDown and rescale.

use std::ops::Range;

use noren_math::modulus::ShoupFactor;

use crate::convert::{Conversion, Plan};
use crate::poly::{Eval, Poly};
use crate::ring::Ring;
use crate::rows::Rows;

/// `x -> round(x / D)` for `D` the product of some primes of x's modulus, modulo the primes that are kept.
///
/// With `t` the representative of x modulo D in `(-D/2, D/2)`, `x - t` is a multiple of D and the quotient is exact. D
/// is odd, so nothing lies half way. Only t leaves the evaluation form: the dropped limbs are transformed back, t is
/// converted to the kept primes, transformed forth, and subtracted: `(x_i - t_i) D^-1 mod q_i`.
///
/// Dropping the last prime is a rescale, dropping the special primes is ModDown, dropping both is one followed by the
/// other with a single rounding. The conversion is exact as [`Conversion::Exact`] says: where x/D is that near to a half
/// the result may be the other neighbour.
///
/// A scheme that keeps its message in the residue modulo a plaintext modulus p (BGV) needs a t that is 0 modulo p. It
/// takes `t + D u` for the centred `u = -t D^-1 mod p`: one more source row u with weight D in the conversion here, and
/// nothing else changes.
#[derive(Debug)]
pub struct DivideRound {
    ring: Ring,
    plan: Plan,
    /// `-1/D` modulo each kept prime: the difference is taken as `t - x`, in the memory of t.
    factors: Vec<ShoupFactor>,
}

impl DivideRound {
    /// Prepares the division by the primes at `dropped` to the primes at `kept` of the whole list.
    ///
    /// # Panics
    /// If `dropped` is empty, repeats a limb or shares one with `kept`, or a limb is not in the list.
    #[must_use]
    pub fn new(ring: &Ring, dropped: &[usize], kept: Range<usize>) -> Self {
        assert!(!dropped.iter().any(|limb| kept.contains(limb)), "limbs {dropped:?} cannot be dropped from {kept:?}");
        let ring = ring.window(kept.clone());
        let basis = ring.basis();
        let factor = |limb| {
            let q = basis.modulus(limb);
            q.shoup(q.neg(q.inv(basis.product_mod(dropped.iter().copied(), q))))
        };
        Self {
            factors: kept.clone().map(factor).collect(),
            plan: Plan::new(basis, dropped, kept, Conversion::Exact),
            ring,
        }
    }

    /// `round(x / D)`; `x` may be over any window that has the dropped and the kept limbs.
    ///
    /// # Panics
    /// If `x` lacks a dropped or a kept limb.
    #[must_use]
    pub fn apply(&self, x: Poly<Eval>) -> Poly<Eval> {
        let [quotient] = self.apply_many([x]);
        quotient
    }

    /// [`DivideRound::apply`] for several elements at once: threads share out the rows of all of them.
    ///
    /// # Panics
    /// If an element lacks a dropped or a kept limb.
    #[must_use]
    pub fn apply_many<const COUNT: usize>(&self, mut xs: [Poly<Eval>; COUNT]) -> [Poly<Eval>; COUNT] {
        let (basis, engine) = (self.ring.basis(), self.ring.engine());
        let (kernels, degree, dropped) = (engine.kernels(), self.ring.degree(), self.plan.sources());
        for x in &xs {
            self.ring.check_covers(x);
            assert!(dropped.iter().all(|limb| x.window().contains(limb)), "{x:?} lacks one of limbs {dropped:?}");
        }
        let remainders = xs.iter_mut().flat_map(|x| x.limbs_mut()).filter_map(|(limb, row)| {
            let source = dropped.iter().position(|&source| source == limb)?;
            Some((source, row))
        });
        engine.run(COUNT * dropped.len() * degree, remainders, |(source, row)| {
            kernels.ntt_inverse(row, basis.table(dropped[source]));
            self.plan.scale(kernels, basis, source, row);
        });

        let mut terms: Vec<Vec<&[u64]>> =
            xs.iter().map(|x| dropped.iter().map(|&limb| x.limb(limb)).collect()).collect();
        let overflows: Vec<Rows> =
            xs.iter().zip(&terms).map(|(x, terms)| self.plan.quotient(engine, terms, x.is_secret())).collect();
        terms.iter_mut().zip(&overflows).for_each(|(terms, overflow)| terms.extend(overflow.rows()));

        let mut quotients: [Poly<Eval>; COUNT] = std::array::from_fn(|i| self.ring.unset(xs[i].is_secret()));
        let tasks = quotients.iter_mut().zip(xs.iter().zip(&terms)).flat_map(|(quotient, (x, terms))| {
            quotient.limbs_mut().map(move |(limb, row)| (limb, row, x.limb(limb), terms))
        });
        engine.run(COUNT * self.ring.limbs() * degree, tasks, |(limb, row, x, terms)| {
            let (table, factor) = (basis.table(limb), self.factors[limb - self.ring.range().start]);
            self.plan.convert(kernels, basis, terms, limb, row);
            kernels.ntt_forward(row, table);
            kernels.sub_mul_scalar_assign(row, x, factor, table.modulus());
        });
        quotients
    }
}
