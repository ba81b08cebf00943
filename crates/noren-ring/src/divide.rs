//! Division by some of the primes, rounded: ModDown and rescale.

use std::ops::Range;

use noren_math::modulus::ShoupFactor;

use crate::convert::{Conversion, Plan};
use crate::engine::Engine;
use crate::poly::{Eval, Poly};
use crate::ring::Ring;
use crate::rows::{LimbRow, Rows};

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
/// [`DivideRound::of_multiple`] multiplies x before it divides.
#[derive(Debug)]
pub struct DivideRound {
    ring: Ring,
    plan: Plan,
    /// `-w/D` modulo each kept prime: the difference is taken as `t - x`, in the memory of t.
    factors: Vec<ShoupFactor>,
}

impl DivideRound {
    /// Prepares the division by the primes at `dropped` to the primes at `kept` of the whole list.
    ///
    /// # Panics
    /// If `dropped` is empty, repeats a limb or shares one with `kept`, or a limb is not in the list.
    #[must_use]
    pub fn new(ring: &Ring, dropped: &[usize], kept: Range<usize>) -> Self {
        Self::with_plan(ring, kept.clone(), |_| 1, Plan::new(ring.basis(), dropped, kept, Conversion::Exact))
    }

    /// Prepares `x -> round(w x / D)` for a number w with residues `multiplier(limb)` modulo the primes at `dropped` and
    /// `kept`. It takes as long as without w.
    ///
    /// The remainder is that of `w x`; with the kept primes' shares of it over w, the quotient is `(x - t/w) w/D`. Range:
    /// residues in `[0, q)`, not 0 at the kept primes.
    ///
    /// # Panics
    /// As [`DivideRound::new`], or if w is 0 modulo a kept prime.
    #[must_use]
    pub fn of_multiple(ring: &Ring, dropped: &[usize], kept: Range<usize>, multiplier: impl Fn(usize) -> u64) -> Self {
        let basis = ring.basis();
        let factor = |limb| {
            let (q, w) = (basis.modulus(limb), multiplier(limb));
            assert!(w < q.value(), "{w} is not a residue modulo {}", q.value());
            if dropped.contains(&limb) { w } else { q.inv(w) }
        };
        let plan = Plan::scaled(basis, dropped, kept.clone(), factor);
        Self::with_plan(ring, kept, multiplier, plan)
    }

    /// Divides by the product of the plan's sources what is `multiplier(limb)` times x.
    fn with_plan(ring: &Ring, kept: Range<usize>, multiplier: impl Fn(usize) -> u64, plan: Plan) -> Self {
        let dropped = plan.sources();
        assert!(!dropped.iter().any(|limb| kept.contains(limb)), "limbs {dropped:?} cannot be dropped from {kept:?}");
        let ring = ring.window(kept.clone());
        let factor = |limb| {
            let (q, w) = (ring.basis().modulus(limb), multiplier(limb));
            assert!(w != 0, "the multiplier is 0 modulo {}", q.value());
            q.shoup(q.neg(q.mul(w, q.inv(ring.basis().product_mod(dropped.iter().copied(), q)))))
        };
        Self { factors: kept.map(factor).collect(), ring, plan }
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

    /// [`DivideRound::apply`] for several elements at once: the rows of a limb, which need the same roots, follow each
    /// other, and threads share out the rows of all.
    ///
    /// # Panics
    /// If an element lacks a dropped or a kept limb.
    #[must_use]
    pub fn apply_many<const COUNT: usize>(&self, xs: [Poly<Eval>; COUNT]) -> [Poly<Eval>; COUNT] {
        self.apply_all(xs.into()).try_into().expect("there are as many quotients as elements")
    }

    /// [`DivideRound::apply_many`] for any number of elements.
    ///
    /// # Panics
    /// If an element lacks a dropped or a kept limb.
    #[must_use]
    pub fn apply_all(&self, mut xs: Vec<Poly<Eval>>) -> Vec<Poly<Eval>> {
        let (engine, degree, dropped) = (self.ring.engine(), self.ring.degree(), self.dropped());
        for x in &xs {
            self.ring.check_covers(x);
            assert!(dropped.iter().all(|limb| x.window().contains(limb)), "{x:?} lacks one of limbs {dropped:?}");
        }
        let words = xs.len() * degree;
        let remainders = xs.iter_mut().flat_map(|x| x.limbs_mut()).filter(|(limb, _)| dropped.contains(limb));
        engine.rows(words * dropped.len(), remainders, |(limb, row)| self.lift(limb, row));

        let mut terms: Vec<Vec<&[u64]>> = xs.iter().map(|x| self.plan.source_rows(x)).collect();
        let overflows: Vec<Rows> =
            xs.iter().zip(&terms).map(|(x, terms)| self.quotient(terms, x.is_secret())).collect();
        terms.iter_mut().zip(&overflows).for_each(|(terms, overflow)| terms.extend(overflow.rows()));

        let mut quotients: Vec<Poly<Eval>> = xs.iter().map(|x| self.ring.unset(x.is_secret())).collect();
        let group = engine.group(xs.len() * self.ring.limbs(), self.plan.group());
        let mut rows: Vec<Vec<_>> = quotients.iter_mut().map(|quotient| quotient.limbs_mut().collect()).collect();
        let mut tasks: Vec<_> = rows
            .iter_mut()
            .enumerate()
            .flat_map(|(i, rows)| rows.chunks_mut(group).map(move |rows| (i, rows)))
            .collect();
        // The elements of one group of limbs follow each other.
        tasks.sort_by_key(|(i, rows)| (rows[0].0, *i));
        engine.walk(
            words * self.ring.limbs(),
            tasks.into_iter(),
            || (),
            |engine, (), (i, rows)| {
                self.convert(engine, &terms[i], rows);
                // Row after row: what is transformed is near.
                for (limb, row) in rows {
                    engine.kernels().ntt_forward(row, self.ring.basis().table(*limb));
                    engine.pointwise(degree, [(*limb, &mut **row)].into_iter(), |limb, range, row| {
                        self.finish_block(limb, &xs[i].limb(limb)[range], row);
                    });
                }
            },
        );
        quotients
    }

    /// The ring of the limbs that are kept.
    pub(crate) fn kept(&self) -> &Ring {
        &self.ring
    }

    /// The limbs that are dropped.
    pub(crate) fn dropped(&self) -> &[usize] {
        self.plan.sources()
    }

    /// Takes the row of a dropped limb out of the evaluation form, ready for the conversion.
    ///
    /// # Panics
    /// If the limb is not dropped.
    pub(crate) fn lift(&self, limb: usize, row: &mut [u64]) {
        let (basis, kernels) = (self.ring.basis(), self.ring.engine().kernels());
        let source = self.dropped().iter().position(|&dropped| dropped == limb).expect("the limb is dropped");
        self.plan.lift(kernels, basis, source, row);
    }

    /// The row that the conversion adds to those of the dropped limbs.
    pub(crate) fn quotient(&self, lifted: &[&[u64]], secret: bool) -> Rows {
        self.plan.quotient(self.ring.engine(), lifted, secret)
    }

    /// Writes what is subtracted at some limbs, in coefficient form: `terms` are the lifted rows and their quotient.
    pub(crate) fn convert(&self, engine: &Engine, terms: &[&[u64]], rows: &mut [LimbRow]) {
        self.plan.convert(engine, self.ring.basis(), terms, rows);
    }

    /// A block of the result at a limb: `x` is the element's, `out` is changed from what is subtracted, in evaluation form.
    pub(crate) fn finish_block(&self, limb: usize, x: &[u64], out: &mut [u64]) {
        let (q, kernels) = (self.ring.basis().modulus(limb), self.ring.engine().kernels());
        kernels.sub_mul_scalar_assign(out, x, self.factors[limb - self.ring.range().start], q);
    }
}
