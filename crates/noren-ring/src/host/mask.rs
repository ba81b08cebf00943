//! Fresh encryptions: an encryption of zero, and the message added.

use crate::poly::{Eval, Poly};
use crate::window::Window;

impl Window {
    /// `(k_0 v + e_0 + m, k_1 v + e_1)` for a pair k of evaluations, and v and e given by their coefficients.
    ///
    /// Limb by limb, so that the transforms of v and e are used while they are in the cache. The pair and m may have
    /// more limbs than this ring. The results are marked as secret: that v and e hide them is for the caller to know.
    /// Range: coefficients in `(-2^62, 2^62)`.
    ///
    /// # Panics
    /// If a length is not the degree, or an element lacks a limb of this ring.
    pub(super) fn mask(&self, k: [&Poly<Eval>; 2], v: &[i64], e: [&[i64]; 2], m: &Poly<Eval>) -> [Poly<Eval>; 2] {
        let (engine, basis, kernels) = (self.engine(), self.basis(), self.engine().kernels());
        let mut out = [(); 2].map(|()| self.unset(true));
        let [first, second] = out.each_mut().map(Poly::limbs_mut);
        let scratch = || {
            let mut row = engine.unset_rows(1, self.degree());
            row.mark(true);
            row
        };
        let (words, degree) = (self.limbs() * self.degree(), self.degree());
        engine.walk(words, first.zip(second), scratch, |engine, row, ((limb, first), (_, second))| {
            let (q, transform) = (basis.modulus(limb), basis.transform(limb));
            let [mask] = row.first_rows_mut();
            let transformed = |row: &mut [u64], coefficients: &[i64]| {
                engine.pointwise(degree, [(limb, &mut *row)].into_iter(), |_, range, row| {
                    kernels.reduce_signed(row, &coefficients[range], q);
                });
                transform.forward(kernels, row);
            };
            transformed(mask, v);
            for ((out, k), e) in [&mut *first, second].into_iter().zip(k).zip(e) {
                transformed(out, e);
                engine.pointwise(degree, [(limb, out)].into_iter(), |_, range, out| {
                    kernels.mul_add_assign(out, &k.limb(limb)[range.clone()], &mask[range], q);
                });
            }
            engine.pointwise(degree, [(limb, first)].into_iter(), |_, range, first| {
                kernels.add_assign(first, &m.limb(limb)[range], q);
            });
        });
        out
    }
}
