//! Products that are scaled by t/Q, a few limbs at a time.

use std::ops::Range;

use crate::convert::BaseConversion;
use crate::engine::Engine;
use crate::engine::rows::{LimbRow, Rows};
use crate::host::convert::BLOCK;
use crate::memory::DeviceRows;
use crate::poly::{Eval, Poly};
use crate::product::{Pairs, ScaledProduct};

impl ScaledProduct {
    /// The three parts of the sum of the products.
    pub(super) fn multiply(&self, factors: &[Pairs]) -> [Poly<Eval>; 3] {
        let quotients = self.divide.apply_all(self.tensor(factors).into());
        quotients.try_into().expect("there are as many quotients as elements")
    }

    /// The three parts before the division: over Q and B, at the limbs of B over the factors `B/b_j`.
    pub(crate) fn tensor(&self, factors: &[Pairs]) -> [Poly<Eval>; 3] {
        let secret = factors.as_flattened().as_flattened().iter().any(|factor| factor.is_secret());
        let mut sums = [(); 3].map(|()| self.ring_qb.unset(secret));
        for (k, factors) in factors.iter().enumerate() {
            self.add_product(factors, &mut sums, k > 0);
        }
        sums
    }

    /// Adds the product of two pairs to the sums, or writes it.
    fn add_product(&self, &[a, b]: &Pairs, sums: &mut [Poly<Eval>; 3], add: bool) {
        let [lifted_a, lifted_b] = self.lift([a, b]);
        let scaled = self.scale(&lifted_b);
        let first = self.ring_q.range().start;
        let (mut at_b, mut at_q): (Vec<SumRow>, Vec<SumRow>) = sum_rows(sums).partition(|(limb, _)| *limb < first);
        self.add_at_q(a, &scaled, &mut at_q, add);
        self.add_at_b(&lifted_a, scaled, &mut at_b, add);
    }

    /// Takes both pairs out of the evaluation form, ready for [`ScaledProduct::extend`] and [`ScaledProduct::scale`].
    fn lift(&self, [a, b]: Pairs) -> [[Lifted; 2]; 2] {
        let (engine, basis, degree) = (self.ring_q.engine(), self.ring_q.basis(), self.ring_q.degree());
        let (kernels, first, limbs) = (engine.kernels(), self.ring_q.range().start, self.ring_q.limbs());
        let secret = [a, b].as_flattened().iter().any(|factor| factor.is_secret());
        let mut rows = [(); 4].map(|()| unset(engine, limbs, degree, secret));
        let is_square = [0, 1].map(|half| std::ptr::eq(a[half], b[half])) == [true; 2];
        let [a0, a1, b0, b1] = rows.each_mut().map(Rows::rows_mut);
        let halves = [a0.zip(b0), a1.zip(b1)].into_iter().zip([0, 1]);
        let mut tasks: Vec<_> = halves.flat_map(|(rows, half)| rows.enumerate().map(move |row| (row, half))).collect();
        // The rows of one limb, which need the same roots, follow each other.
        tasks.sort_by_key(|((i, _), half)| (*i, *half));
        engine.rows(4 * limbs * degree, tasks.into_iter(), |((i, (row_a, row_b)), half)| {
            let limb = first + i;
            row_a.copy_from_slice(a[half].limb(limb));
            self.extend.lift(kernels, basis, i, row_a);
            if is_square {
                let q = basis.modulus(limb);
                kernels.mul_scalar(row_b, row_a, q.shoup(self.ratios[i]), q);
            } else {
                row_b.copy_from_slice(b[half].limb(limb));
                self.scale.lift(kernels, basis, i, row_b);
            }
        });
        let [a0, a1, b0, b1] = rows;
        let lifted = |conversion: &BaseConversion, rows| Lifted::new(engine, conversion, rows);
        [[a0, a1].map(|rows| lifted(&self.extend, rows)), [b0, b1].map(|rows| lifted(&self.scale, rows))]
    }

    /// b' modulo B, in coefficient form, ready for the way back to Q.
    fn scale(&self, b: &[Lifted; 2]) -> [Lifted; 2] {
        let (engine, basis, degree) = (self.ring_q.engine(), self.ring_q.basis(), self.ring_q.degree());
        let start = self.ring_qb.range().start;
        let limbs = self.ring_q.range().start - start;
        b.each_ref().map(|b| {
            let mut out = unset(engine, limbs, degree, b.rows.is_secret());
            let mut rows: Vec<LimbRow> = (start..).zip(out.rows_mut()).collect();
            let (group, terms) = (engine.group(limbs, self.scale.group()), b.terms());
            engine.walk(
                limbs * degree,
                rows.chunks_mut(group),
                || (),
                |engine, (), rows| self.scale.convert(engine, basis, &terms, rows),
            );
            Lifted::new(engine, &self.back, out)
        })
    }

    /// The products at the limbs of Q, where b' is brought back to.
    fn add_at_q(&self, a: [&Poly<Eval>; 2], scaled: &[Lifted; 2], sums: &mut [SumRow], add: bool) {
        let (engine, degree) = (self.ring_q.engine(), self.ring_q.degree());
        let group = engine.group(sums.len(), self.back.group());
        engine.walk(
            PRODUCT_ROWS * sums.len() * degree,
            sums.chunks_mut(group),
            || unset(engine, 2 * group, degree, scaled[0].rows.is_secret()),
            |engine, scratch, sums| {
                let limbs: Vec<usize> = sums.iter().map(|(limb, _)| *limb).collect();
                self.convert(engine, &self.back, scaled, &limbs, scratch);
                for (place, (limb, sums)) in sums.iter_mut().enumerate() {
                    self.transform(engine, *limb, scratch.rows_mut().skip(place).step_by(limbs.len()).take(2));
                    let b = [scratch.row(place), scratch.row(limbs.len() + place)];
                    self.add_at(engine, *limb, [a.map(|a| a.limb(*limb)), b], sums, add);
                }
            },
        );
    }

    /// The products at the limbs of B, to which a is extended.
    fn add_at_b(&self, a: &[Lifted; 2], scaled: [Lifted; 2], sums: &mut [SumRow], add: bool) {
        let (engine, degree) = (self.ring_q.engine(), self.ring_q.degree());
        let group = engine.group(sums.len(), self.extend.group());
        let [mut b0, mut b1] = scaled.map(|b| b.rows);
        let b = b0.rows_mut().zip(b1.rows_mut());
        let mut tasks: Vec<_> = sums.iter_mut().zip(b).collect();
        engine.walk(
            PRODUCT_ROWS * tasks.len() * degree,
            tasks.chunks_mut(group),
            || unset(engine, 2 * group, degree, a[0].rows.is_secret()),
            |engine, scratch, tasks| {
                let limbs: Vec<usize> = tasks.iter().map(|((limb, _), _)| *limb).collect();
                self.convert(engine, &self.extend, a, &limbs, scratch);
                for (place, ((limb, sums), (b0, b1))) in tasks.iter_mut().enumerate() {
                    let a = scratch.rows_mut().skip(place).step_by(limbs.len()).take(2);
                    self.transform(engine, *limb, a.chain([&mut **b0, &mut **b1]));
                    let a = [scratch.row(place), scratch.row(limbs.len() + place)];
                    self.add_at(engine, *limb, [a, [&**b0, &**b1]], sums, add);
                }
            },
        );
    }

    /// Writes both halves at some limbs: the first in the first rows of `out`, the second in those after.
    fn convert(
        &self,
        engine: &Engine,
        conversion: &BaseConversion,
        halves: &[Lifted; 2],
        limbs: &[usize],
        out: &mut Rows,
    ) {
        let mut out = out.rows_mut();
        for half in halves {
            let mut rows: Vec<LimbRow> = limbs.iter().copied().zip(out.by_ref()).collect();
            conversion.convert(engine, self.ring_q.basis(), &half.terms(), &mut rows);
        }
    }

    /// Brings rows at a limb to the evaluation form.
    fn transform<'a>(&self, engine: &Engine, limb: usize, rows: impl Iterator<Item = &'a mut [u64]>) {
        let transform = self.ring_q.basis().transform(limb);
        engine.rows(2 * self.ring_q.degree(), rows, |row| transform.forward(engine.kernels(), row));
    }

    /// Adds the product of two pairs at a limb to the sums, or writes it.
    fn add_at(&self, engine: &Engine, limb: usize, [a, b]: [[&[u64]; 2]; 2], sums: &mut [&mut [u64]; 3], add: bool) {
        let (kernels, q) = (engine.kernels(), self.ring_q.basis().modulus(limb));
        let mut rows = sums.each_mut().map(|row| (limb, &mut **row));
        engine.columns(self.ring_q.degree(), &mut rows, |range, rows| {
            let [(_, s0), (_, s1), (_, s2)] = rows else { unreachable!("a product has three parts") };
            let blocks = s0.chunks_mut(BLOCK).zip(s1.chunks_mut(BLOCK)).zip(s2.chunks_mut(BLOCK)).enumerate();
            for (block, ((s0, s1), s2)) in blocks {
                let start = range.start + block * BLOCK;
                let words = |row: &'_ [u64]| -> Range<usize> { start..row.len().min(start + s0.len()) };
                let ([a0, a1], [b0, b1]) = (a.map(|row| &row[words(row)]), b.map(|row| &row[words(row)]));
                if add {
                    kernels.mul_add_assign(s0, a0, b0, q);
                    kernels.mul_add_assign(s1, a0, b1, q);
                    kernels.mul_add_assign(s1, a1, b0, q);
                    kernels.mul_add_assign(s2, a1, b1, q);
                } else {
                    kernels.mul(s0, a0, b0, q);
                    kernels.inner_product(s1, &[(a0, b1), (a1, b0)], q);
                    kernels.mul(s2, a1, b1, q);
                }
            }
        });
    }
}

/// The rows of the three sums at a limb.
type SumRow<'a> = (usize, [&'a mut [u64]; 3]);

/// About how many rows a product reads, transforms and writes at each limb.
const PRODUCT_ROWS: usize = 8;

/// Rows that are ready to be converted, and how often the modulus fits.
struct Lifted {
    rows: Rows,
    quotient: Rows,
}

impl Lifted {
    fn new(engine: &Engine, conversion: &BaseConversion, rows: Rows) -> Self {
        let quotient = conversion.quotient(engine, &rows.rows().collect::<Vec<_>>(), rows.is_secret());
        Self { rows, quotient }
    }

    /// The summands of the conversion.
    fn terms(&self) -> Vec<&[u64]> {
        self.rows.rows().chain(self.quotient.rows()).collect()
    }
}

/// The rows of all sums at each limb.
fn sum_rows([s0, s1, s2]: &mut [Poly<Eval>; 3]) -> impl Iterator<Item = SumRow<'_>> {
    let rows = s0.limbs_mut().zip(s1.limbs_mut()).zip(s2.limbs_mut());
    rows.map(|(((limb, s0), (_, s1)), (_, s2))| (limb, [s0, s1, s2]))
}

fn unset(engine: &Engine, count: usize, degree: usize, secret: bool) -> Rows {
    let mut rows = engine.unset_rows(count, degree);
    rows.mark(secret);
    rows
}
