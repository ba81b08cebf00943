//! Products of torus polynomials with small integers, exactly.

use std::fmt;

use zeroize::Zeroizing;

use crate::kernels::aligned::AlignedVec;
use crate::kernels::kernels;
use crate::kernels::torus::TorusProducts;
use crate::torus::fft::TorusFft;
use crate::torus::gadget::Gadget;
use crate::torus::product::{Grouping, KeyShape};
use crate::torus::word::Torus;

/// The largest small integer, for every degree.
pub const LARGEST_SMALL: i64 = 32;

/// Digits in which words are multiplied, without a rest: the longest for which roundings stay below one half of a unit.
///
/// By the bound of [`torus::bound`](crate::torus::bound), with integers up to 32 in the place of words, a sum of products is off
/// by less than `R n^(3/2) (32 B) (18L + 3R + 5) 2^-53`: with 16 bits 0.39 for one product of degree 2^16, 0.21 for 32 of degree
/// 2^12. An integer off by less than one half is rounded to the right one.
const LOG_BASES: [u32; 2] = [16, 8];

/// Polynomials of small integers, ready for exact products; wiped when they go out of use.
pub struct SmallSpectrum {
    /// A matrix of one column, a row for each polynomial.
    key: Zeroizing<Vec<f64>>,
    rows: usize,
    /// Of the digits that they are multiplied with.
    log_base: u32,
}

impl TorusFft {
    /// Prepares products with polynomials of small integers, such as binary secrets. Shape: `[count, N]`. Range: in `[-32, 32]`.
    ///
    /// # Panics
    /// If the length is not that of 1 to 64 polynomials, or an integer is larger.
    #[must_use]
    pub fn small_spectrum(&self, small: &[i64]) -> SmallSpectrum {
        // No branch on the integers: only on whether all are in range.
        let in_range = small.iter().fold(true, |all, x| all & (-LARGEST_SMALL..=LARGEST_SMALL).contains(x));
        assert!(in_range, "integers up to {LARGEST_SMALL}");
        let rows = small.len() / self.degree();
        assert!(rows > 0 && small.len() == rows * self.degree(), "polynomials of degree {}", self.degree());
        let (count, points) = (rows as f64, self.points() as f64);
        let steps = 18.0 * points.log2() + 3.0 * count + 5.0;
        let unit_error = count * points.powf(1.5) * LARGEST_SMALL as f64 * steps * (f64::EPSILON / 2.0);
        let log_base = LOG_BASES.into_iter().find(|&bits| unit_error * f64::from(1u32 << bits) < 0.5);
        let log_base = log_base.unwrap_or_else(|| panic!("sums of {rows} products are too large"));
        // One column: its rows are the digits of one polynomial, by their number.
        let shape = KeyShape { columns: 1, gadget: Gadget::new(1, rows as u32), grouping: Grouping::Single };
        let words: Zeroizing<Vec<u64>> = Zeroizing::new(small.iter().map(|x| x.cast_unsigned()).collect());
        let mut key = Zeroizing::new(vec![0.0; self.key_words(&shape)]);
        let mut scratch = Zeroizing::new(vec![0.0; self.degree()]);
        for (row, words) in words.chunks_exact(self.degree()).enumerate() {
            self.write_key(&mut key, &shape, (row, 0), words, &mut scratch);
        }
        SmallSpectrum { key, rows, log_base }
    }

    /// `out += sum_r a_r small_r` modulo `X^N + 1` and q, exactly. Shape: `a` is `[count, N]`.
    ///
    /// # Panics
    /// If a length is not the degree, or that of so many polynomials as were prepared.
    pub fn mul_small_add<T: Torus>(&self, out: &mut [T], a: &[T], small: &SmallSpectrum) {
        let n = self.degree();
        assert_eq!(a.len(), small.rows * n, "a polynomial for each small one");
        let gadget = Gadget::new(small.log_base, T::BITS / small.log_base);
        let offset = gadget.offset();
        let shifted: Vec<T> = a.iter().map(|x| x.wrapping_add(offset)).collect();
        let mut digits = AlignedVec::zeroed(a.len());
        let mut scratch = Wiped(AlignedVec::zeroed(n));
        let mut sum = Zeroizing::new(vec![T::default(); n]);
        for level in 0..gadget.levels() {
            sum.iter_mut().for_each(|x| *x = T::wrapping_from(x.centred() << small.log_base));
            for (digits, shifted) in digits.chunks_exact_mut(n).zip(shifted.chunks_exact(n)) {
                kernels().torus_forward_digits(digits, shifted, &gadget, level, self, &[]);
            }
            let (rows, key) = (small.rows, &small.key[..]);
            let products = TorusProducts { digits: &digits, stride: n, rows, columns: 1, key, turns: None, ahead: &[] };
            kernels().torus_products_add(&mut sum, &products, &mut scratch.0, self);
        }
        assert_eq!(out.len(), sum.len(), "rows have as many words as the transform's degree");
        out.iter_mut().zip(&*sum).for_each(|(out, &x)| *out = out.wrapping_add(x));
    }
}

impl fmt::Debug for SmallSpectrum {
    /// Shows the number of polynomials only: they may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SmallSpectrum").field("rows", &self.rows).finish_non_exhaustive()
    }
}

/// What is wiped at the end.
struct Wiped(AlignedVec<f64>);

impl Drop for Wiped {
    fn drop(&mut self) {
        self.0.wipe();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Torus>(log: u32) {
        let n = 1usize << log;
        let fft = TorusFft::new(n);
        // Sparse, so that the sum term by term is short; of the largest size.
        let mut small = vec![0; n];
        let terms = [(0, LARGEST_SMALL), (1, -LARGEST_SMALL), (n / 2 + 1, 7), (n - 1, LARGEST_SMALL)];
        terms.iter().for_each(|&(at, x)| small[at] = x);
        let word = |i: usize| match i % 8 {
            0 => T::wrapping_from(1i64 << (T::BITS - 1)),
            1 => T::wrapping_from((1i64 << (T::BITS - 1)).wrapping_sub(1)),
            _ => T::wrapping_from((i as i64).wrapping_mul(0x1e37_79b9_7f4a_7c15)),
        };
        let a: Vec<T> = (0..n).map(word).collect();
        // Several of the largest degree need shorter digits.
        for count in [1, 3] {
            let mut found = a.clone();
            fft.mul_small_add(&mut found, &a.repeat(count), &fft.small_spectrum(&small.repeat(count)));
            let mut expected = a.clone();
            for (at, x) in terms {
                let x = x * count as i64;
                for (j, &word) in a.iter().enumerate() {
                    let term = T::wrapping_from(word.centred().wrapping_mul(if at + j < n { x } else { -x }));
                    expected[(at + j) % n] = expected[(at + j) % n].wrapping_add(term);
                }
            }
            assert!(found == expected, "{count} of degree 2^{log}, words of {} bits", T::BITS);
        }
    }

    #[test]
    fn products_with_small_integers_are_exact() {
        for log in [4, 7, 9, 11, 14, 16] {
            check::<u32>(log);
            check::<u64>(log);
        }
    }

    #[test]
    #[should_panic(expected = "integers up to 32")]
    fn larger_integers_are_refused() {
        let _ = TorusFft::new(16).small_spectrum(&[33; 16]);
    }
}
