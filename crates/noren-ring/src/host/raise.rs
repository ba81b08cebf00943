//! The same numbers modulo more primes, from few (ModRaise): alone, and with a switch of the secret.

use std::ops::Range;

use noren_math::kernels::MAX_TERMS;

use crate::device::Direction;
use crate::divide::DivideRound;
use crate::engine::Engine;
use crate::engine::rows::Rows;
use crate::host::convert::weighted_sum;
use crate::key::KeyPairs;
use crate::key_layout::BLOCK;
use crate::poly::{Coeff, Eval, Poly};
use crate::window::Window;

impl Window {
    /// The element over this ring whose coefficients are those of `c`, as representatives in `(-Q'/2, Q'/2)` for the
    /// product Q' of c's primes.
    ///
    /// `c` may be over any window, one that shares primes with this ring too. The representatives are found by mixed
    /// radices, without an estimate: they are exact everywhere, next to `Q'/2` too.
    pub(super) fn raise(&self, c: &Poly<Eval>) -> Poly<Eval> {
        let numbers = Numbers::new(self, c);
        let (engine, mut raised) = (self.engine(), self.unset(c.is_secret()));
        let words = self.limbs() * self.degree();
        engine.walk(
            words,
            raised.limbs_mut(),
            || (),
            |engine, (), (limb, row)| numbers.write_values(engine, limb, row),
        );
        raised
    }
}

impl DivideRound {
    /// `(c_0 + round(c_1 k_0 / D), round(c_1 k_1 / D))` over the primes that are kept, for the numbers `c_0`, `c_1` of
    /// [`Window::raise`] and the sums `k_i = sum_j k_ji` of the halves of the pairs of a key: both parts of a ciphertext are
    /// raised, and switched to another secret, in one pass.
    ///
    /// D must be the product P of the special primes that the key was made with. Then c_1 itself serves as every digit: it
    /// is congruent to itself modulo each digit's primes, and shorter than a digit of its own would be. So nothing is
    /// decomposed, and the noise is that of digits of the size of `Q'`, however the key is cut.
    ///
    /// The key may have more limbs; a pair without primes among those that are kept adds nothing but noise.
    ///
    /// # Panics
    /// If the parts differ in their windows, or the key lacks a limb that is dropped or kept.
    pub(super) fn raise_and_switch(&self, [c0, c1]: [&Poly<Eval>; 2], key: &KeyPairs) -> [Poly<Eval>; 2] {
        let (ring, dropped, secret) = (self.kept(), self.dropped(), c0.is_secret() || c1.is_secret());
        let (engine, basis, degree) = (ring.engine(), ring.basis(), ring.degree());
        let kernels = engine.kernels();
        let numbers = [c0, c1].map(|c| Numbers::new(ring, c));
        let width = ring.piece(BLOCK);
        let words = |limbs: usize| limbs * degree * 2 * (1 + key.digits());
        let unset = |count, degree| {
            let mut rows = engine.unset_rows(count, degree);
            rows.mark(secret);
            rows
        };
        let (rows, sums) = (|count| unset(count, degree), || unset(2, width));
        // Writes block `j` of both products at a limb; `c` is the row of c_1.
        let products = |limb: usize, j: usize, c: &[u64], out: [&mut [u64]; 2]| {
            let digits = [&c[j * width..(j + 1) * width]; MAX_TERMS];
            kernels.inner_product_pair(out, &digits[..key.digits()], key.block(limb, j), basis.modulus(limb));
        };

        // At the primes that are dropped: what the division subtracts.
        let mut remainders = [rows(dropped.len()), rows(dropped.len())];
        let [first, second] = remainders.each_mut();
        let tasks = dropped.iter().zip(first.rows_mut().zip(second.rows_mut()));
        engine.walk(
            words(dropped.len()),
            tasks,
            || rows(1),
            |engine, scratch, (&limb, (first, second))| {
                let [c] = scratch.first_rows_mut();
                numbers[1].write_values(engine, limb, c);
                let blocks = first.chunks_mut(width).zip(second.chunks_mut(width)).enumerate();
                engine.run(words(1), blocks, |(j, (first, second))| products(limb, j, c, [first, second]));
                engine.rows(2 * degree, [first, second].into_iter(), |row| self.lift(limb, row));
            },
        );
        let mut terms: [Vec<&[u64]>; 2] = remainders.each_ref().map(|rows| rows.rows().collect());
        let quotients = terms.each_ref().map(|terms| self.quotient(terms, secret));
        terms.iter_mut().zip(&quotients).for_each(|(terms, quotient)| terms.extend(quotient.rows()));

        let mut results = [ring.unset(secret), ring.unset(secret)];
        let [first, second] = results.each_mut();
        let tasks = first.limbs_mut().zip(second.limbs_mut());
        engine.walk(
            words(ring.limbs()),
            tasks,
            || rows(1),
            |engine, scratch, ((limb, first), (_, second))| {
                let q = basis.modulus(limb);
                let [c] = scratch.first_rows_mut();
                // P c_0 is subtracted from what is subtracted, in coefficient form: one transform brings both.
                self.convert(engine, &terms[0], &mut [(limb, &mut *first)]);
                let factor = q.shoup(q.neg(basis.product_mod(dropped.iter().copied(), q)));
                engine.pointwise(degree, [(limb, &mut *c)].into_iter(), |limb, range, c| {
                    numbers[0].write(limb, range, c)
                });
                engine.pointwise(degree, [(limb, &mut *first)].into_iter(), |_, range, first| {
                    kernels.mul_scalar_add_assign(first, &c[range], factor, q);
                });
                self.convert(engine, &terms[1], &mut [(limb, &mut *second)]);
                let transforms = [&mut *first, &mut *second].into_iter();
                engine.rows(2 * degree, transforms, |row| basis.transform(limb).forward(kernels, row));

                numbers[1].write_values(engine, limb, c);
                let blocks = first.chunks_mut(width).zip(second.chunks_mut(width)).enumerate();
                engine.run_with(words(1), blocks, sums, |sums, (j, (first, second))| {
                    let [u0, u1] = sums.first_rows_mut();
                    products(limb, j, c, [&mut *u0, &mut *u1]);
                    self.finish_block(limb, u0, first);
                    self.finish_block(limb, u1, second);
                });
            },
        );
        results
    }
}

/// The coefficients of an element as numbers in `(-Q'/2, Q'/2)`, to be taken modulo any prime of the list.
struct Numbers<'a> {
    source: &'a Poly<Eval>,
    whole: Window,
    /// The residues of a single prime, the mixed-radix digits of several.
    rows: Rows,
}

impl<'a> Numbers<'a> {
    fn new(ring: &Window, source: &'a Poly<Eval>) -> Self {
        let window = ring.window(source.window());
        let mut coefficients: Poly<Coeff> = source.clone().into_domain();
        window.transform(coefficients.as_limbs_mut(), Direction::Inverse);
        let rows = if source.limbs() == 1 {
            coefficients.into_limbs().into_rows().unwrap_or_else(|limbs| unreachable!("{limbs:?} of the host"))
        } else {
            window.mixed_radix_digits(&coefficients)
        };
        Self { source, whole: ring.whole(), rows }
    }

    /// Writes a range of the row at a limb, in coefficient form.
    fn write(&self, limb: usize, range: Range<usize>, out: &mut [u64]) {
        let (basis, kernels) = (self.whole.basis(), self.whole.engine().kernels());
        let (q, primes) = (basis.modulus(limb), self.source.window());
        if primes.len() == 1 {
            return kernels.reduce_centred(out, &self.rows.row(0)[range], basis.modulus(primes.start), q);
        }
        // The number is sum u_i W_i - (Q' - 1)/2, with W_i the product of the first i primes.
        let weights: Vec<u64> = primes.clone().map(|end| basis.product_mod(primes.start..end, q)).collect();
        let less_one = q.sub(basis.product_mod(primes, q), 1);
        let half = q.mul(less_one, q.value().div_ceil(2));
        let digits: Vec<&[u64]> = self.rows.rows().map(|row| &row[range.clone()]).collect();
        weighted_sum(kernels, out, &digits, &weights, q);
        kernels.add_scalar_assign(out, q.neg(half), q);
    }

    /// Writes the row at a limb, in evaluation form.
    fn write_values(&self, engine: &Engine, limb: usize, row: &mut [u64]) {
        if self.source.window().contains(&limb) {
            return row.copy_from_slice(self.source.limb(limb));
        }
        let rows = [(limb, &mut *row)].into_iter();
        engine.pointwise(self.whole.degree(), rows, |limb, range, row| self.write(limb, range, row));
        self.whole.basis().transform(limb).forward(engine.kernels(), row);
    }
}
