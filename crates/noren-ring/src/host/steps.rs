//! Sums of images of images: several steps, of which only the last divides the first half.

use std::borrow::Cow;

use crate::decompose::Decomposer;
use crate::divide::DivideRound;
use crate::engine::Engine;
use crate::engine::rows::LimbRow;
use crate::host::source::Source;
use crate::host::sums::{Begin, Moved, Sums};
use crate::host::switch::{Added, only};
use crate::operand::Operand;
use crate::poly::{Eval, Poly};
use crate::switch::Term;
use crate::window::Window;

impl Decomposer {
    /// Takes a pair `(c_0, c_1)` through steps `c_i -> c_i + sum_k psi_k(c'_i)`, where `c'_0 = c_0 + u_0 / P` and
    /// `c'_1 = u_1 / P` for the inner products `u_i = sum_j d_j k_ji` of the digits of `c_1` with the key of the term.
    ///
    /// The digits of the next step need a `c_1` that is divided by the special primes' product P, and rounded. Nothing needs
    /// `c_0` before the end: it stays times P, modulo the special primes too, and is rounded once.
    ///
    /// Each step is a [`Decomposer::switch`], and `divide` the division by P.
    pub(super) fn sum_in_steps(
        &self,
        ring_q: &Window,
        [c0, c1]: [&Poly<Eval>; 2],
        steps: &[&[Term]],
        divide: &DivideRound,
    ) -> [Poly<Eval>; 2] {
        let (last, earlier) = steps.split_last().expect("a sum has a step");
        let mut first = self.special_multiple(ring_q, c0);
        let mut second = Cow::Borrowed(c1);
        for terms in earlier {
            let [sum, quotient] =
                self.step(ring_q, [&first, &second], terms, |sums, c1| self.divide_second(sums, c1, divide));
            (first, second) = (sum, Cow::Owned(quotient));
        }
        self.step(ring_q, [&first, &second], last, |sums, c1| only(self.divide(sums, only_second(c1), divide)))
    }

    /// One step of a first half that is not divided, and of a second that is.
    fn step(
        &self,
        ring_q: &Window,
        [first, second]: [&Poly<Eval>; 2],
        terms: &[Term],
        divide: impl Fn(&Sums, Operand) -> [Poly<Eval>; 2],
    ) -> [Poly<Eval>; 2] {
        let (lift, element) = (self.lift(ring_q, second.into()), Operand::from(second));
        let source = Source::lifted(&lift, element);
        let moved = Some(Moved::Undivided(first));
        divide(&Sums::new(self.ring_qp(ring_q), source, vec![terms], moved), element)
    }

    /// `P c` over the limbs of `ring`; at the special primes, which c may lack, it is 0.
    pub(super) fn special_multiple(&self, ring: &Window, c: &Poly<Eval>) -> Poly<Eval> {
        let kernels = ring.engine().kernels();
        ring.build_pointwise(c.is_secret(), |limb, range, row| match self.special_factor(limb) {
            Some(special) => kernels.mul_scalar(row, &c.limb(limb)[range], special, ring.basis().modulus(limb)),
            None => row.fill(0),
        })
    }

    /// `s_0` and `round((P c_1 + s_1) / P)` for the sums `s_i`.
    fn divide_second(&self, sums: &Sums, c1: Operand, divide: &DivideRound) -> [Poly<Eval>; 2] {
        let (engine, degree, dropped) = (sums.ring.engine(), sums.ring.degree(), divide.dropped());
        let (secret, added) = (sums.is_secret() || c1.is_secret(), only_second(c1));
        let mut first = sums.ring.unset(secret);
        let (special, kept) = first.limbs_mut().partition(|(limb, _)| dropped.contains(limb));

        let mut remainder = engine.unset_rows(dropped.len(), degree);
        remainder.mark(secret);
        let rows = dropped.iter().copied().zip(remainder.rows_mut()).collect();
        sums.for_each_limb(vec![[special, rows]], None, |at, [first, second]| {
            let limb = at.limb;
            // P c_1 is 0 there.
            at.write([first, &mut *second], |_, _, _| {});
            divide.lift(limb, second);
        });
        let mut terms: Vec<&[u64]> = remainder.rows().collect();
        let quotient = divide.quotient(&terms, secret);
        terms.extend(quotient.rows());

        let mut second = divide.kept().unset(secret);
        let begin = |engine: &Engine, _: usize, [_, rows]: [&mut [LimbRow]; 2]| divide.convert(engine, &terms, rows);
        let begin = Begin { write: &begin, first: false };
        let rows = second.limbs_mut().collect();
        sums.for_each_limb(vec![[kept, rows]], Some(begin), |at, rows| {
            let limb = at.limb;
            at.merge(rows, |range, [first_sum, second_sum], [first, second], spare| {
                self.add(&sums.ring, limb, range, &added, [&mut *first_sum, &mut *second_sum], spare);
                first.copy_from_slice(first_sum);
                divide.finish_block(limb, second_sum, second);
            });
        });
        [first, second]
    }
}

/// The element that is added to the second sum.
fn only_second(c1: Operand) -> Added {
    Added { elements: [None, Some(c1)], factors: None }
}
