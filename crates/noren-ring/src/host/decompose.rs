//! Digits of an element (ModUp), a few limbs at a time.

use crate::convert::BaseConversion;
use crate::decompose::Decomposer;
use crate::engine::Engine;
use crate::engine::rows::{LimbRow, Rows};
use crate::host::digits::Digits;
use crate::operand::Operand;
use crate::poly::{Coeff, Eval, Poly};
use crate::window::Window;

impl Decomposer {
    /// The digits of `c`, an element modulo `Q_l = q_0 .. q_l`, over all primes of `P Q_l`, written down.
    ///
    /// `ring_q` is the window of `Q_l`; `c` may have more limbs. [`Ring::switch`](crate::ring::Ring::switch) never writes digits down.
    ///
    /// # Panics
    /// If the ring does not start at q_0, has more limbs than the gadget cuts, or `c` lacks one of its limbs.
    #[must_use]
    pub fn decompose(&self, ring_q: &Window, c: &Poly<Eval>) -> Digits {
        self.check(ring_q);
        ring_q.check_covers(c);
        let lift = self.lift(ring_q, c.into());
        let ring_qp = self.ring_qp(ring_q);
        let mut polys: Vec<Poly<Eval>> = lift.conversions.iter().map(|_| ring_qp.unset(c.is_secret())).collect();
        let (engine, words) = (ring_q.engine(), polys.len() * ring_qp.limbs() * ring_qp.degree());
        let group = engine.group(polys.len() * ring_qp.limbs(), lift.group());
        let mut limbs: Vec<Vec<_>> = polys.iter_mut().map(|poly| poly.limbs_mut().collect()).collect();
        let mut tasks: Vec<_> = limbs
            .iter_mut()
            .enumerate()
            .flat_map(|(j, limbs)| limbs.chunks_mut(group).map(move |group| (j, group)))
            .collect();
        // The digits of one group of limbs follow each other: they need the same roots.
        tasks.sort_by_key(|(j, group)| (group[0].0, *j));
        engine.walk(
            words,
            tasks.into_iter(),
            || (),
            |engine, (), (j, group)| {
                lift.convert(engine, j, group);
                engine.rows(group.len() * ring_qp.degree(), group.iter_mut(), |(limb, row)| {
                    if lift.is_own(j, *limb) {
                        row.copy_from_slice(c.limb(*limb));
                    } else {
                        ring_q.basis().transform(*limb).forward(engine.kernels(), row);
                    }
                });
            },
        );
        Digits::new(polys)
    }

    /// Takes `c` out of the evaluation form, ready to be extended to other primes.
    ///
    /// # Panics
    /// As [`Decomposer::decompose`].
    pub(crate) fn lift(&self, ring_q: &Window, c: Operand) -> Lift<'_> {
        let engine = self.ring().engine();
        let mut scaled: Poly<Coeff> = ring_q.unset(c.is_secret());
        let (words, degree) = (ring_q.limbs() * ring_q.degree(), ring_q.degree());
        engine.walk(
            words,
            scaled.limbs_mut(),
            || (),
            |engine, (), (limb, row)| {
                engine.pointwise(degree, [(limb, &mut *row)].into_iter(), |limb, range, row| {
                    c.write(ring_q, limb, range.start, row);
                });
                self.lift_row(ring_q, limb, row);
            },
        );
        self.lifted(ring_q, scaled)
    }

    /// Takes the row of an element over `ring_q` at a limb out of the evaluation form, for [`Decomposer::lifted`].
    pub(crate) fn lift_row(&self, ring_q: &Window, limb: usize, row: &mut [u64]) {
        let (i, digits) = (limb - self.gadget().special(), self.gadget().digits_at(ring_q.limbs()));
        let j = digits.partition_point(|digit| digit.end <= i);
        let kernels = self.ring().engine().kernels();
        self.conversion(j, digits[j].len()).lift(kernels, self.ring().basis(), i - digits[j].start, row);
    }

    /// The element ready for the conversions, from all rows of [`Decomposer::lift_row`].
    pub(crate) fn lifted(&self, ring_q: &Window, scaled: Poly<Coeff>) -> Lift<'_> {
        let digits = self.gadget().digits_at(ring_q.limbs());
        let conversions: Vec<&BaseConversion> =
            digits.iter().enumerate().map(|(j, digit)| self.conversion(j, digit.len())).collect();
        let quotient = |conversion: &&BaseConversion| {
            conversion.quotient(self.ring().engine(), &conversion.source_rows(&scaled), scaled.is_secret())
        };
        let quotients = conversions.iter().map(quotient).collect();
        Lift { whole: self.ring(), conversions, scaled, quotients }
    }
}

/// An element in coefficient form, ready for the conversions that extend its digits.
pub(crate) struct Lift<'a> {
    whole: &'a Window,
    /// One for each digit.
    conversions: Vec<&'a BaseConversion>,
    /// The rows that the conversions add up, and one more for each digit.
    scaled: Poly<Coeff>,
    quotients: Vec<Rows>,
}

impl Lift<'_> {
    /// How many digits there are.
    pub(crate) fn digits(&self) -> usize {
        self.conversions.len()
    }

    /// For how many limbs a digit should be extended at once, at most.
    pub(crate) fn group(&self) -> usize {
        self.conversions.iter().map(|conversion| conversion.group()).max().unwrap_or(1)
    }

    /// Whether `limb` is one of digit `j`'s own: there the digit is the element that was lifted.
    pub(crate) fn is_own(&self, j: usize, limb: usize) -> bool {
        self.conversions[j].sources().contains(&limb)
    }

    /// Writes the rows of digit `j` at some limbs, in order, each with its limb, in coefficient form. Those at the digit's
    /// own limbs stay as they are.
    pub(crate) fn convert(&self, engine: &Engine, j: usize, rows: &mut [LimbRow]) {
        let (conversion, own) = (self.conversions[j], self.conversions[j].sources());
        let mut terms = conversion.source_rows(&self.scaled);
        terms.extend(self.quotients[j].rows());
        let (first, last) = (own[0], own[own.len() - 1]);
        let (before, rest) = rows.split_at_mut(rows.partition_point(|&(limb, _)| limb < first));
        let (_, after) = rest.split_at_mut(rest.partition_point(|&(limb, _)| limb <= last));
        for rows in [before, after] {
            conversion.convert(engine, self.whole.basis(), &terms, rows);
        }
    }
}
