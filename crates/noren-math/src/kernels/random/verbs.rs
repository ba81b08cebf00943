//! The verbs of random streams and samples.

use crate::kernels::call::call;
use crate::kernels::random::chacha::BLOCK_WORDS;
use crate::kernels::table::Kernels;

impl Kernels {
    /// Blocks of ChaCha20 with a nonce of zeros, from block `counter` on; words as the bytes of the stream, little-endian.
    ///
    /// # Panics
    /// If `out` is not made of blocks of 8 words.
    pub fn chacha20(&self, out: &mut [u64], key: &[u32; 8], counter: u64) {
        assert!(out.len().is_multiple_of(BLOCK_WORDS), "blocks have {BLOCK_WORDS} words");
        call!(self.chacha20(out, key, counter));
    }

    /// The samples of [`gaussian`](crate::sample::gaussian) for which words `2j` and `2j + 1` are drawn. Range: in any,
    /// out `[-32, 32]`.
    ///
    /// # Panics
    /// If there are not two words for each sample.
    pub fn gaussian(&self, out: &mut [i64], words: &[u64]) {
        assert_eq!(words.len(), 2 * out.len(), "a sample is made of two words");
        call!(self.gaussian(out, words));
    }

    /// The pairs of words, as signed numbers divided by 2^63 with their lowest bit set, that lie within the unit circle: their
    /// number. They come first; what follows is of no use.
    ///
    /// # Panics
    /// If there is not room for as many pairs as there are words.
    pub fn inside_circle(&self, pairs: &mut [[f64; 2]], words: &[u64]) -> usize {
        assert_eq!(2 * pairs.len(), words.len(), "two words for each pair");
        call!(self.inside_circle(pairs, words))
    }

    /// The samples of [`torus_sample::gaussian`](crate::torus_sample::gaussian) of these pairs: `u f` and `v f` with
    /// `f = scale sqrt(-2 ln(s) / s)` and `s = u^2 + v^2`, rounded to the nearest whole number. Range: s in `(0, 1)`.
    ///
    /// # Panics
    /// If there are not two samples for each pair; the last one may be left out.
    pub fn normal(&self, out: &mut [u64], pairs: &[[f64; 2]], scale: f64) {
        assert_eq!(out.len().div_ceil(2), pairs.len(), "two samples for each pair");
        call!(self.normal(out, pairs, scale));
    }
}
