//! Multiples of rows of 32-bit words, sixteen to a vector.

use std::arch::x86_64::*;

use crate::kernels::torus::multiples::vector_multiples;

vector_multiples!(
    "avx512f",
    16,
    __m512i,
    _mm512_loadu_si512,
    _mm512_storeu_si512,
    _mm512_set1_epi32,
    _mm512_mullo_epi32,
    _mm512_sub_epi32
);
