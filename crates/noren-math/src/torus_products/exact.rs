//! Products of torus polynomials with small integers, exactly.

use std::fmt;

use zeroize::{Zeroizing, optimization_barrier};

use crate::kernels::kernels;
use crate::kernels::torus::operands::TorusProducts;
use crate::machine::aligned::AlignedVec;
use crate::roots::torus::TorusFft;
use crate::torus::digit::Digit;
use crate::torus::gadget::Gadget;
use crate::torus::word::Torus;
use crate::torus_products::product::{Grouping, KeyShape};

/// The largest small integer, for every degree.
pub const LARGEST_SMALL: i64 = 32;

/// The longest digits in which words are multiplied: longer ones have no use.
const MAX_BITS: u32 = 22;

/// Polynomials of small integers, ready for exact products; wiped when they go out of use.
pub struct SmallSpectrum {
    /// A matrix of one column, a row for each polynomial.
    key: Zeroizing<Vec<f64>>,
    rows: usize,
    /// Of the longest digits that they may be multiplied with.
    digit_bits: u32,
}

impl TorusFft {
    /// Prepares products with polynomials of small integers, such as binary secrets. Shape: `[count, N]`. Range: in
    /// `[-largest, largest]`, largest in `[1, 32]`.
    ///
    /// Words are multiplied in digits of as many bits as they may have for roundings to stay below one half of a unit: an
    /// integer off by less is rounded to the right one. By the bound of [`torus::bound`](crate::torus_products::bound), with integers in
    /// the place of words, a sum of R products is off by less than `R n^(3/2) (largest B) (18L + 3R + 5) 2^-53`: for binary
    /// secrets digits of 22 bits, three to a word of 64, are short enough for 18 products of degree 2^12.
    ///
    /// # Panics
    /// If the length is not that of 1 to 64 polynomials, or an integer is larger.
    #[must_use]
    pub fn small_spectrum(&self, small: &[i64], largest: i64) -> SmallSpectrum {
        assert!((1..=LARGEST_SMALL).contains(&largest), "integers up to {LARGEST_SMALL}, not {largest}");
        // No branch on the integers: only on whether all are in range.
        let in_range = small.iter().fold(true, |all, x| all & (-largest..=largest).contains(x));
        assert!(in_range, "integers up to {largest}");
        let rows = small.len() / self.degree();
        assert!(rows > 0 && small.len() == rows * self.degree(), "polynomials of degree {}", self.degree());
        let (count, points) = (rows as f64, self.points() as f64);
        let steps = 18.0 * points.log2() + 3.0 * count + 5.0;
        let unit_error = count * points.powf(1.5) * largest as f64 * steps * (f64::EPSILON / 2.0);
        let digit_bits = (1..=MAX_BITS).rev().find(|&bits| unit_error * f64::from(1u32 << bits) < 0.5);
        let digit_bits = digit_bits.unwrap_or_else(|| panic!("sums of {rows} products are too large"));
        // One column: its rows are the digits of one polynomial, by their number.
        let shape = KeyShape { columns: 1, gadget: Gadget::new(1, rows as u32), grouping: Grouping::Single };
        let words: Zeroizing<Vec<u64>> = Zeroizing::new(small.iter().map(|x| x.cast_unsigned()).collect());
        let mut key = Zeroizing::new(vec![0.0; self.key_words(&shape)]);
        let mut scratch = Zeroizing::new(vec![0.0; self.degree()]);
        for (row, words) in words.chunks_exact(self.degree()).enumerate() {
            self.write_key(&mut key, &shape, (row, 0), words, &mut scratch);
        }
        SmallSpectrum { key, rows, digit_bits }
    }

    /// `out += sum_r a_r small_r` modulo `X^N + 1` and q, exactly. Shape: `a` is `[count, N]`.
    ///
    /// # Panics
    /// If a length is not the degree, or that of so many polynomials as were prepared.
    pub fn mul_small_add<T: Torus>(&self, out: &mut [T], a: &[T], small: &SmallSpectrum) {
        let n = self.degree();
        assert_eq!(a.len(), small.rows * n, "a polynomial for each small one");
        assert_eq!(out.len(), n, "rows have as many words as the transform's degree");
        let digits: Vec<Digit> = whole_digits(T::BITS, small.digit_bits).collect();
        let offset = T::wrapping_from(digits.iter().fold(0, |sum, digit| sum | 1 << (digit.shift + digit.bits - 1)));
        let shifted: Vec<T> = a.iter().map(|x| x.wrapping_add(offset)).collect();
        let mut spectra = AlignedVec::zeroed(a.len());
        let mut scratch = Wiped(AlignedVec::zeroed(n));
        let mut sum = WipedWords(vec![T::default(); n]);
        for digit in digits {
            sum.0.iter_mut().for_each(|x| *x = T::wrapping_from(x.centred() << digit.bits));
            for (spectrum, shifted) in spectra.chunks_exact_mut(n).zip(shifted.chunks_exact(n)) {
                kernels().torus_forward_digit(spectrum, shifted, digit, self, &[]);
            }
            let (rows, key) = (small.rows, &small.key[..]);
            let products =
                TorusProducts { digits: &spectra, stride: n, rows, columns: 1, key, turns: None, ahead: &[] };
            kernels().torus_products_add(&mut sum.0, &products, &mut scratch.0, self);
        }
        out.iter_mut().zip(&sum.0).for_each(|(out, &x)| *out = out.wrapping_add(x));
    }
}

/// Digits of at most `digit_bits` bits that make up a whole word, the most significant first; their lengths differ by one at most.
fn whole_digits(word_bits: u32, digit_bits: u32) -> impl Iterator<Item = Digit> {
    let count = word_bits.div_ceil(digit_bits);
    (0..count).map(move |i| {
        let end = |i: u32| word_bits * i / count;
        Digit { shift: word_bits - end(i + 1), bits: end(i + 1) - end(i) }
    })
}

impl fmt::Debug for SmallSpectrum {
    /// Shows the number of polynomials only: they may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SmallSpectrum").field("rows", &self.rows).finish_non_exhaustive()
    }
}

/// Words that are wiped on drop.
struct Wiped(AlignedVec<f64>);

impl Drop for Wiped {
    fn drop(&mut self) {
        self.0.wipe();
    }
}

/// The same for words.
struct WipedWords<T: Torus>(Vec<T>);

impl<T: Torus> Drop for WipedWords<T> {
    fn drop(&mut self) {
        self.0.fill(T::default());
        optimization_barrier(&self.0[..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Torus>(log: u32, largest: i64) {
        let n = 1usize << log;
        let fft = TorusFft::new(n);
        // Sparse, so that the sum term by term is short; of the largest size.
        let mut small = vec![0; n];
        let terms = [(0, largest), (1, -largest), (n / 2 + 1, largest.min(7)), (n - 1, largest)];
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
            fft.mul_small_add(&mut found, &a.repeat(count), &fft.small_spectrum(&small.repeat(count), largest));
            let mut expected = a.clone();
            for (at, x) in terms {
                let x = x * count as i64;
                for (j, &word) in a.iter().enumerate() {
                    let term = T::wrapping_from(word.centred().wrapping_mul(if at + j < n { x } else { -x }));
                    expected[(at + j) % n] = expected[(at + j) % n].wrapping_add(term);
                }
            }
            assert!(found == expected, "{count} of degree 2^{log}, up to {largest}, words of {} bits", T::BITS);
        }
    }

    #[test]
    fn products_with_small_integers_are_exact() {
        for log in [4, 7, 9, 11, 14, 16] {
            for largest in [1, LARGEST_SMALL] {
                check::<u32>(log, largest);
                check::<u64>(log, largest);
            }
        }
    }

    #[test]
    fn dense_products_are_those_of_words() {
        // All words and integers of the largest size: no sum of products is larger.
        let n = 1usize << 11;
        let fft = TorusFft::new(n);
        let a = vec![(1u64 << 63) - 1; n];
        let mut found = vec![0; n];
        fft.mul_small_add(&mut found, &a, &fft.small_spectrum(&vec![1; n], 1));
        for (j, &found) in found.iter().enumerate() {
            // j + 1 terms have the sign of a, the others the other one.
            let terms = 2 * (j as i64 + 1) - n as i64;
            assert_eq!(found, a[0].wrapping_mul(terms.cast_unsigned()), "coefficient {j}");
        }
    }

    #[test]
    fn digits_make_up_words() {
        for word_bits in [32, 64] {
            for digit_bits in 1..=MAX_BITS {
                let mut above = word_bits;
                for digit in whole_digits(word_bits, digit_bits) {
                    assert!(digit.bits <= digit_bits && digit.shift + digit.bits == above, "{digit:?}");
                    above = digit.shift;
                }
                assert_eq!(above, 0);
            }
        }
    }

    #[test]
    #[should_panic(expected = "integers up to 32")]
    fn larger_integers_are_refused() {
        let _ = TorusFft::new(16).small_spectrum(&[33; 16], LARGEST_SMALL);
    }
}
