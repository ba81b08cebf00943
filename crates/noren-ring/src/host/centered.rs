//! Elements to the numbers they stand for.

use noren_math::kernels::Kernels;

use crate::basis::RnsBasis;
use crate::engine::rows::Rows;
use crate::host::convert::{BLOCK, block_of, weighted_sum};
use crate::poly::{Coeff, Poly};
use crate::window::Window;

/// Coefficients come out as `i128` if they are all below this in absolute value.
const WIDEST: u128 = 1 << 126;

impl Window {
    /// Every `step`-th coefficient as a number in `(-Q/2, Q/2)`, rounded to `f64`.
    pub(crate) fn centered_f64(&self, a: &Poly<Coeff>, step: usize) -> Vec<f64> {
        // Both are powers of two, or the step is 1: a block starts with a coefficient that is asked for, or has none.
        let within = step.min(BLOCK);
        let mut numbers = vec![0.0; self.degree().div_ceil(within)];
        self.for_each_centered(a, &mut numbers, BLOCK / within, |radix, digits, numbers| {
            if let [row] = digits {
                let read = numbers.iter_mut().zip(row.iter().step_by(within));
                read.for_each(|(number, &digit)| *number = radix.centred(0, digit) as f64);
                return;
            }
            for (j, number) in (0..).step_by(within).zip(numbers) {
                let mut sum = DoubleDouble::default();
                for (i, row) in digits.iter().enumerate().rev() {
                    sum = sum.mul_add(radix.moduli[i] as f64, radix.centred(i, row[j]) as f64);
                }
                *number = sum.round();
            }
        });
        if step > within { numbers.into_iter().step_by(step / within).collect() } else { numbers }
    }

    /// The coefficients as numbers in `(-Q/2, Q/2)`, or `None` unless all lie in `(-2^126, 2^126)`.
    pub(crate) fn centered_i128(&self, a: &Poly<Coeff>) -> Option<Vec<i128>> {
        if self.is_narrow() {
            let mut numbers = vec![0i128; self.degree()];
            self.for_each_centered(a, &mut numbers, BLOCK, |radix, digits, numbers| {
                for (i, row) in digits.iter().enumerate().rev() {
                    let factor = i128::from(radix.moduli[i]);
                    for (number, &digit) in numbers.iter_mut().zip(*row) {
                        *number = number.wrapping_mul(factor).wrapping_add(radix.centred(i, digit).into());
                    }
                }
            });
            return Some(numbers);
        }
        let mut numbers = vec![None; self.degree()];
        self.for_each_centered(a, &mut numbers, BLOCK, |radix, digits, numbers| {
            for (j, number) in numbers.iter_mut().enumerate() {
                // A partial sum is no larger than the number itself divided by the moduli that are to come, plus one:
                // it overflows only if the number lies outside the range.
                *number = digits.iter().enumerate().rev().try_fold(0i128, |sum, (i, row)| {
                    sum.checked_mul(radix.moduli[i].into())?.checked_add(radix.centred(i, row[j]).into())
                });
            }
        });
        numbers.into_iter().map(|number| number.filter(|x| x.unsigned_abs() < WIDEST)).collect()
    }

    /// Whether all numbers below Q/2 lie below [`WIDEST`].
    fn is_narrow(&self) -> bool {
        let product = self.moduli().try_fold(1u128, |product, q| product.checked_mul(q.value().into()));
        product.is_some_and(|product| product / 2 < WIDEST)
    }

    /// The digits u_i of the coefficients, a row for each prime: `x = sum u_i W_i - (Q - 1)/2` for x in `(-Q/2, Q/2)` and
    /// the product W_i of the first i primes. Range: `u_i` in `[0, q_i)`.
    pub(crate) fn mixed_radix_digits(&self, a: &Poly<Coeff>) -> Rows {
        self.for_each_centered(a, &mut vec![(); self.degree()], BLOCK, |_, _, _| {})
    }

    /// Calls `read` with the mixed-radix digits of each block of coefficients and the `width` numbers of `out` to fill. Returns
    /// the digits of all.
    fn for_each_centered<T: Send>(
        &self,
        a: &Poly<Coeff>,
        out: &mut [T],
        width: usize,
        read: impl Fn(&MixedRadix, &[&[u64]], &mut [T]) + Send + Sync,
    ) -> Rows {
        let (engine, basis) = (self.engine(), self.basis());
        let radix = MixedRadix::new(basis);
        let mut digits = engine.unset_rows(self.limbs(), self.degree());
        digits.mark(a.is_secret());
        let mut columns = columns(digits.rows_mut());
        let tasks = columns.chunks_mut(self.limbs()).zip(out.chunks_mut(width)).enumerate();
        engine.run(self.limbs() * self.degree(), tasks, |(block, (columns, out))| {
            let mut digits: Vec<&[u64]> = Vec::with_capacity(columns.len());
            for (i, digit) in columns.iter_mut().enumerate() {
                radix.digit(
                    engine.kernels(),
                    basis,
                    i,
                    digit,
                    block_of(a.limb(self.range().start + i), block),
                    &digits,
                );
                digits.push(digit);
            }
            read(&radix, &digits, out);
        });
        drop(columns);
        digits
    }
}

/// Cuts rows into blocks of [`BLOCK`] words, and lists them block by block: all rows of the first block come first.
fn columns<'a>(rows: impl Iterator<Item = &'a mut [u64]>) -> Vec<&'a mut [u64]> {
    let mut cut: Vec<_> = rows.map(|row| row.chunks_mut(BLOCK)).collect();
    let blocks = cut.first().map_or(0, ExactSizeIterator::len);
    let mut columns = Vec::with_capacity(blocks * cut.len());
    for _ in 0..blocks {
        columns.extend(cut.iter_mut().filter_map(Iterator::next));
    }
    columns
}

/// The digits of numbers to the radices `q_0, q_1, ...`: Garner's algorithm on rows.
///
/// With `W_i = q_0 .. q_{i-1}` and `h = (Q-1)/2`, a number x in `[-h, h]` has `x + h = sum u_i W_i` with u_i in
/// `[0, q_i)`. As `h = sum (q_i - 1)/2 W_i`, x itself is `sum (u_i - (q_i - 1)/2) W_i`: digits that are centred one by
/// one, and found without a comparison.
struct MixedRadix {
    moduli: Vec<u64>,
    /// For digit i: `W_i^-1`, and `-W_j W_i^-1` for each j below i, modulo q_i.
    weights: Vec<Vec<u64>>,
    /// For digit i: `h W_i^-1 mod q_i`.
    offsets: Vec<u64>,
}

impl MixedRadix {
    fn new(basis: &RnsBasis) -> Self {
        let range = basis.range();
        let mut radix = Self { moduli: Vec::new(), weights: Vec::new(), offsets: Vec::new() };
        for limb in range.clone() {
            let q = basis.modulus(limb);
            let inverse = q.inv(basis.product_mod(range.start..limb, q));
            let mut weights = vec![inverse];
            let mut product = inverse;
            for below in range.start..limb {
                weights.push(q.neg(product));
                product = q.mul(product, q.reduce(basis.modulus(below).value()));
            }
            // Q is 0 modulo q_i, so h is -1/2.
            let half = q.value() / 2;
            radix.moduli.push(q.value());
            radix.offsets.push(q.mul(half, inverse));
            radix.weights.push(weights);
        }
        radix
    }

    /// Writes digit `i` of the numbers with residues `residues` modulo q_i, whose lower digits are `below`.
    fn digit(
        &self,
        kernels: &Kernels,
        basis: &RnsBasis,
        i: usize,
        out: &mut [u64],
        residues: &[u64],
        below: &[&[u64]],
    ) {
        let q = &basis.moduli()[i];
        let mut terms = Vec::with_capacity(i + 1);
        terms.push(residues);
        terms.extend_from_slice(below);
        weighted_sum(kernels, out, &terms, &self.weights[i], q);
        kernels.add_scalar_assign(out, self.offsets[i], q);
    }

    /// Digit `i`, centred. Range: in `[0, q_i)`.
    fn centred(&self, i: usize, digit: u64) -> i64 {
        digit as i64 - (self.moduli[i] / 2) as i64
    }
}

/// An unevaluated sum of two `f64`, about 106 bits wide, by operations that round alike on every machine.
///
/// Source: Dekker, A floating-point technique for extending the available precision, 1971.
#[derive(Clone, Copy, Default)]
struct DoubleDouble {
    high: f64,
    low: f64,
}

impl DoubleDouble {
    /// `self * factor + term`.
    #[inline]
    fn mul_add(self, factor: f64, term: f64) -> Self {
        let product = self.high * factor;
        let (a, b) = (split(self.high), split(factor));
        let error = ((a.0 * b.0 - product) + a.0 * b.1 + a.1 * b.0) + a.1 * b.1;
        let sum = product + term;
        let back = sum - product;
        let lost = (product - (sum - back)) + (term - back);
        let low = self.low * factor + error + lost;
        let high = sum + low;
        Self { high, low: low - (high - sum) }
    }

    /// The nearest `f64`.
    fn round(self) -> f64 {
        self.high + self.low
    }
}

/// Cuts the 53 bits of `x` into two halves whose products are exact.
#[inline]
fn split(x: f64) -> (f64, f64) {
    /// `2^27 + 1`.
    const SPLITTER: f64 = 134_217_729.0;
    let shifted = SPLITTER * x;
    let high = shifted - (shifted - x);
    (high, x - high)
}
