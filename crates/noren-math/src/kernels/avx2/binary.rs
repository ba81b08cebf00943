//! Products of polynomials over GF(2) by `pclmulqdq`.

use std::arch::x86_64::{
    __m128i, _mm_clmulepi64_si128, _mm_extract_epi64, _mm_loadu_si128, _mm_set_epi64x, _mm_setzero_si128, _mm_xor_si128,
};

/// See `binary::add_binary_product`. Word k of the product is a sum over `a_i b_(k - i)`, kept in one register.
#[target_feature(enable = "avx2,pclmulqdq")]
pub(in crate::kernels) fn add_binary_product(out: &mut [u64], a: &[u64], b: &[u64]) {
    if a.is_empty() || b.is_empty() {
        return;
    }
    let mut carry = 0;
    for k in 0..a.len() + b.len() - 1 {
        // Those i for which both a_i and b_(k - i) are.
        let (first, end) = ((k + 1).saturating_sub(b.len()), (k + 1).min(a.len()));
        let pairs = (end - first) / 2;
        let (a, b) = (&a[first..end], &b[k + 1 - end..k + 1 - first]);
        let mut sum = _mm_setzero_si128();
        for (a, b) in a.as_chunks::<2>().0.iter().zip(b.as_rchunks::<2>().1.iter().rev()) {
            let (a, b) = (load(a), load(b));
            let products = [_mm_clmulepi64_si128::<0x10>(a, b), _mm_clmulepi64_si128::<0x01>(a, b)];
            sum = _mm_xor_si128(sum, _mm_xor_si128(products[0], products[1]));
        }
        if let ([a], [b, ..]) = (&a[2 * pairs..], b) {
            let product = _mm_clmulepi64_si128::<0x00>(single(*a), single(*b));
            sum = _mm_xor_si128(sum, product);
        }
        out[k] ^= carry ^ _mm_extract_epi64::<0>(sum).cast_unsigned();
        carry = _mm_extract_epi64::<1>(sum).cast_unsigned();
    }
    out[a.len() + b.len() - 1] ^= carry;
}

#[target_feature(enable = "avx2")]
fn load(pair: &[u64; 2]) -> __m128i {
    // SAFETY: a pair is 16 bytes, and loads without an alignment.
    unsafe { _mm_loadu_si128(pair.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
fn single(word: u64) -> __m128i {
    _mm_set_epi64x(0, word.cast_signed())
}
