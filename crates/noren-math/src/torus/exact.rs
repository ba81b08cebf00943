//! Products of torus polynomials with small integers, exactly.

use zeroize::Zeroizing;

use crate::kernels::aligned::AlignedVec;
use crate::kernels::kernels;
use crate::torus::fft::TorusFft;
use crate::torus::gadget::Gadget;
use crate::torus::word::Torus;

/// The largest small integer, for every degree.
pub const LARGEST_SMALL: i64 = 32;

/// Digits in which words are multiplied, without a rest: short enough that roundings stay below one half of a unit.
///
/// By the bound of [`torus::bound`](crate::torus::bound), with one term, digits up to `2^15` and integers up to 32 in the place
/// of words, a product is off by less than `n^(3/2) 2^(1 + 15 + 5) (18L + 8) 2^-53`: 0.39 for degree 2^16. An integer off by less
/// than one half is rounded to the right one.
const LOG_BASE: u32 = 16;

/// A polynomial of small integers, ready for exact products; wiped when it goes out of use.
pub struct SmallSpectrum {
    spectrum: Zeroizing<Vec<f64>>,
}

impl TorusFft {
    /// Prepares products with small integers, such as a binary secret. Range: in `[-32, 32]`.
    ///
    /// # Panics
    /// If the length is not the degree, or an integer is larger.
    #[must_use]
    pub fn small_spectrum(&self, small: &[i64]) -> SmallSpectrum {
        // No branch on the integers: only on whether all are in range.
        let in_range = small.iter().fold(true, |all, x| all & (-LARGEST_SMALL..=LARGEST_SMALL).contains(x));
        assert!(in_range, "integers up to {LARGEST_SMALL}");
        let words: Zeroizing<Vec<u64>> = Zeroizing::new(small.iter().map(|x| x.cast_unsigned()).collect());
        let mut spectrum = Zeroizing::new(vec![0.0; self.degree()]);
        // A torus spectrum, so that products with digits are.
        self.forward_torus(&mut spectrum, &words);
        SmallSpectrum { spectrum }
    }

    /// `out += a small` modulo `X^N + 1` and q, exactly.
    ///
    /// # Panics
    /// If a length is not the degree.
    pub fn mul_small_add<T: Torus>(&self, out: &mut [T], a: &[T], small: &SmallSpectrum) {
        let gadget = Gadget::new(LOG_BASE, T::BITS / LOG_BASE);
        let shifted: Vec<T> = a.iter().map(|x| x.wrapping_add(gadget.offset())).collect();
        let mut digit = AlignedVec::zeroed(self.degree());
        let mut product = Wiped(AlignedVec::zeroed(self.degree()));
        let mut sum = Zeroizing::new(vec![T::default(); self.degree()]);
        for level in 0..gadget.levels() {
            sum.iter_mut().for_each(|x| *x = T::wrapping_from(x.centred() << LOG_BASE));
            kernels().torus_forward_digits(&mut digit, &shifted, &gadget, level, self, &[]);
            product.0.fill(0.0);
            self.mul_add_assign(&mut product.0, &digit, &small.spectrum);
            self.inverse_add(&mut sum, &mut product.0);
        }
        assert_eq!(out.len(), sum.len(), "rows have as many words as the transform's degree");
        out.iter_mut().zip(&*sum).for_each(|(out, &x)| *out = out.wrapping_add(x));
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
        let mut found = a.clone();
        fft.mul_small_add(&mut found, &a, &fft.small_spectrum(&small));
        let mut expected = a.clone();
        for (at, x) in terms {
            for (j, &word) in a.iter().enumerate() {
                let term = T::wrapping_from(word.centred().wrapping_mul(if at + j < n { x } else { -x }));
                expected[(at + j) % n] = expected[(at + j) % n].wrapping_add(term);
            }
        }
        assert!(found == expected, "degree 2^{log}, words of {} bits", T::BITS);
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
