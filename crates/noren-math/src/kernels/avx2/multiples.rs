//! Multiples of rows of 32-bit words, eight to a vector.

use std::arch::x86_64::*;

use crate::kernels::torus::multiples::vector_multiples;

vector_multiples!(
    "avx2",
    8,
    __m256i,
    _mm256_loadu_si256,
    _mm256_storeu_si256,
    _mm256_set1_epi32,
    _mm256_mullo_epi32,
    _mm256_sub_epi32
);
