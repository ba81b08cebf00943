//! Division by some of the primes, rounded, a few rows at a time.

use crate::divide::DivideRound;
use crate::engine::Engine;
use crate::engine::rows::{LimbRow, Rows};
use crate::poly::{Eval, Poly};

impl DivideRound {
    /// Quotients of several elements at once: the rows of a limb, which need the same roots, follow each other, and threads share
    /// out the rows of all.
    pub(super) fn apply_all(&self, mut xs: Vec<Poly<Eval>>) -> Vec<Poly<Eval>> {
        let (engine, degree, dropped) = (self.kept().engine(), self.kept().degree(), self.dropped());
        let words = xs.len() * degree;
        let remainders = xs.iter_mut().flat_map(|x| x.limbs_mut()).filter(|(limb, _)| dropped.contains(limb));
        engine.rows(words * dropped.len(), remainders, |(limb, row)| self.lift(limb, row));

        let mut terms: Vec<Vec<&[u64]>> = xs.iter().map(|x| self.conversion.source_rows(x)).collect();
        let overflows: Vec<Rows> =
            xs.iter().zip(&terms).map(|(x, terms)| self.quotient(terms, x.is_secret())).collect();
        terms.iter_mut().zip(&overflows).for_each(|(terms, overflow)| terms.extend(overflow.rows()));

        let mut quotients: Vec<Poly<Eval>> = xs.iter().map(|x| self.kept().unset(x.is_secret())).collect();
        let group = engine.group(xs.len() * self.kept().limbs(), self.conversion.group());
        let mut rows: Vec<Vec<_>> = quotients.iter_mut().map(|quotient| quotient.limbs_mut().collect()).collect();
        let mut tasks: Vec<_> = rows
            .iter_mut()
            .enumerate()
            .flat_map(|(i, rows)| rows.chunks_mut(group).map(move |rows| (i, rows)))
            .collect();
        // The elements of one group of limbs follow each other.
        tasks.sort_by_key(|(i, rows)| (rows[0].0, *i));
        engine.walk(
            words * self.kept().limbs(),
            tasks.into_iter(),
            || (),
            |engine, (), (i, rows)| {
                self.convert(engine, &terms[i], rows);
                // Row after row: what is transformed is near.
                for (limb, row) in rows {
                    self.kept().basis().transform(*limb).forward(engine.kernels(), row);
                    engine.pointwise(degree, [(*limb, &mut **row)].into_iter(), |limb, range, row| {
                        self.finish_block(limb, &xs[i].limb(limb)[range], row);
                    });
                }
            },
        );
        quotients
    }

    /// Takes the row of a dropped limb out of the evaluation form, ready for the conversion.
    ///
    /// # Panics
    /// If the limb is not dropped.
    pub(crate) fn lift(&self, limb: usize, row: &mut [u64]) {
        let (basis, kernels) = (self.kept().basis(), self.kept().engine().kernels());
        let source = self.dropped().iter().position(|&dropped| dropped == limb).expect("the limb is dropped");
        self.conversion.lift(kernels, basis, source, row);
    }

    /// The row that the conversion adds to those of the dropped limbs.
    pub(crate) fn quotient(&self, lifted: &[&[u64]], secret: bool) -> Rows {
        self.conversion.quotient(self.kept().engine(), lifted, secret)
    }

    /// Writes what is subtracted at some limbs, in coefficient form: `terms` are the lifted rows and their quotient.
    pub(crate) fn convert(&self, engine: &Engine, terms: &[&[u64]], rows: &mut [LimbRow]) {
        self.conversion.convert(engine, self.kept().basis(), terms, rows);
    }

    /// A block of the result at a limb: `x` is the element's, `out` is changed from what is subtracted, in evaluation form.
    pub(crate) fn finish_block(&self, limb: usize, x: &[u64], out: &mut [u64]) {
        let (q, kernels) = (self.kept().basis().modulus(limb), self.kept().engine().kernels());
        kernels.sub_mul_scalar_assign(out, x, self.factors[limb - self.kept().range().start], q);
    }
}
