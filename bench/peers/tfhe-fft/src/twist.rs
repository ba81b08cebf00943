//! From words to the points of a complex transform and back: conversion, folding and twist, which tfhe-fft leaves to its user.
//!
//! A polynomial modulo `X^N + 1` becomes `z_j = (a_j + i a_{j+N/2}) exp(i pi j / N)`. Where the compiler may use AVX-512 or AVX2,
//! eight or twice four points at a time, as TFHE-rs does it; otherwise in loops that it vectorises.

use std::f64::consts::PI;

use eight::Eight;
use tfhe_fft::c64;

/// `exp(i pi j / N)` for `j < N/2`.
pub struct Twist {
    re: Vec<f64>,
    im: Vec<f64>,
    eight: Eight,
}

/// `2^64`.
const Q: f64 = 18_446_744_073_709_551_616.0;

impl Twist {
    pub fn new(n: usize) -> Self {
        let angle = |j: usize| PI * j as f64 / n as f64;
        let [re, im] = [f64::cos, f64::sin].map(|part| (0..n / 2).map(|j| part(angle(j))).collect());
        Self { re, im, eight: Eight::new() }
    }

    /// Words as signed integers.
    pub fn fold(&self, points: &mut [c64], words: &[u64]) {
        let (low, high) = words.split_at(words.len() / 2);
        let points = points.as_chunks_mut().0.iter_mut();
        let words = low.as_chunks().0.iter().zip(high.as_chunks().0);
        let roots = self.re.as_chunks().0.iter().zip(self.im.as_chunks().0);
        points.zip(words).zip(roots).for_each(|((points, words), roots)| self.eight.fold(points, words, roots));
    }

    /// Adds the nearest words; the points are `N/2` times as large as they should be.
    pub fn unfold_add(&self, words: &mut [u64], points: &[c64]) {
        let (low, high) = words.split_at_mut(words.len() / 2);
        let scale = 1.0 / points.len() as f64;
        let points = points.as_chunks().0.iter();
        let words = low.as_chunks_mut().0.iter_mut().zip(high.as_chunks_mut().0);
        let roots = self.re.as_chunks().0.iter().zip(self.im.as_chunks().0);
        points
            .zip(words)
            .zip(roots)
            .for_each(|((points, words), roots)| self.eight.unfold_add(words, points, roots, scale));
    }
}

/// Eight real and eight imaginary parts.
type Parts<'a> = (&'a [f64; 8], &'a [f64; 8]);

#[cfg(target_feature = "avx512dq")]
mod eight {
    use std::arch::x86_64::__m512d;

    use bytemuck::{cast, cast_mut, cast_ref};
    use pulp::x86::V4;
    use tfhe_fft::c64;

    use super::{Parts, Q};

    /// Eight points at a time by the instructions that the compiler was told of.
    pub struct Eight(V4);

    impl Eight {
        pub fn new() -> Self {
            Self(V4::try_new().expect("this program was built for another processor"))
        }

        #[inline(always)]
        pub fn fold(&self, points: &mut [c64; 8], words: (&[u64; 8], &[u64; 8]), roots: Parts<'_>) {
            let (f, dq) = (self.0.avx512f, self.0.avx512dq);
            let lower = cast([0u64, 8, 1, 9, 2, 10, 3, 11]);
            let upper = cast([4u64, 12, 5, 13, 6, 14, 7, 15]);
            let (x, y) = (dq._mm512_cvtepi64_pd(cast(*words.0)), dq._mm512_cvtepi64_pd(cast(*words.1)));
            let (w_re, w_im) = (cast(*roots.0), cast(*roots.1));
            let re = f._mm512_fmsub_pd(x, w_re, f._mm512_mul_pd(y, w_im));
            let im = f._mm512_fmadd_pd(x, w_im, f._mm512_mul_pd(y, w_re));
            let out: &mut [[f64; 8]; 2] = cast_mut(points);
            out[0] = cast(f._mm512_permutex2var_pd(re, lower, im));
            out[1] = cast(f._mm512_permutex2var_pd(re, upper, im));
        }

        #[inline(always)]
        pub fn unfold_add(
            &self,
            words: (&mut [u64; 8], &mut [u64; 8]),
            points: &[c64; 8],
            roots: Parts<'_>,
            scale: f64,
        ) {
            let f = self.0.avx512f;
            let even = cast([0u64, 2, 4, 6, 8, 10, 12, 14]);
            let odd = cast([1u64, 3, 5, 7, 9, 11, 13, 15]);
            let [a, b]: &[[f64; 8]; 2] = cast_ref(points);
            let (a, b, scale) = (cast(*a), cast(*b), f._mm512_set1_pd(scale));
            let re = f._mm512_mul_pd(f._mm512_permutex2var_pd(a, even, b), scale);
            let im = f._mm512_mul_pd(f._mm512_permutex2var_pd(a, odd, b), scale);
            let (w_re, w_im) = (cast(*roots.0), cast(*roots.1));
            self.add(words.0, f._mm512_fmadd_pd(re, w_re, f._mm512_mul_pd(im, w_im)));
            self.add(words.1, f._mm512_fmsub_pd(im, w_re, f._mm512_mul_pd(re, w_im)));
        }

        /// Adds the nearest integers modulo `2^64`.
        #[inline(always)]
        fn add(&self, words: &mut [u64; 8], x: __m512d) {
            let (f, dq) = (self.0.avx512f, self.0.avx512dq);
            let magic = f._mm512_set1_pd(1.5 * (1u64 << 52) as f64 * Q);
            let x = f._mm512_sub_pd(x, f._mm512_sub_pd(f._mm512_add_pd(x, magic), magic));
            *words = cast(f._mm512_add_epi64(cast(*words), dq._mm512_cvtpd_epi64(x)));
        }
    }
}

#[cfg(all(target_feature = "avx2", target_feature = "fma", not(target_feature = "avx512dq")))]
mod eight {
    use std::arch::x86_64::{__m256d, __m256i};

    use bytemuck::{cast, cast_mut, cast_ref};
    use pulp::x86::V3;
    use tfhe_fft::c64;

    use super::{Parts, Q};

    /// Twice four points at a time by the instructions that the compiler was told of.
    pub struct Eight(V3);

    impl Eight {
        pub fn new() -> Self {
            Self(V3::try_new().expect("this program was built for another processor"))
        }

        #[inline(always)]
        pub fn fold(&self, points: &mut [c64; 8], words: (&[u64; 8], &[u64; 8]), roots: Parts<'_>) {
            let (avx, fma) = (self.0.avx, self.0.fma);
            let out: &mut [[[f64; 4]; 2]; 2] = cast_mut(points);
            let (x, y): (&[[u64; 4]; 2], &[[u64; 4]; 2]) = (cast_ref(words.0), cast_ref(words.1));
            let (w_re, w_im): (&[__m256d; 2], &[__m256d; 2]) = (&cast(*roots.0), &cast(*roots.1));
            for i in 0..2 {
                let (x, y) = (self.signed(cast(x[i])), self.signed(cast(y[i])));
                let re = fma._mm256_fmsub_pd(x, w_re[i], avx._mm256_mul_pd(y, w_im[i]));
                let im = fma._mm256_fmadd_pd(x, w_im[i], avx._mm256_mul_pd(y, w_re[i]));
                let (lower, upper) = (avx._mm256_unpacklo_pd(re, im), avx._mm256_unpackhi_pd(re, im));
                out[i][0] = cast(avx._mm256_permute2f128_pd::<0x20>(lower, upper));
                out[i][1] = cast(avx._mm256_permute2f128_pd::<0x31>(lower, upper));
            }
        }

        #[inline(always)]
        pub fn unfold_add(
            &self,
            words: (&mut [u64; 8], &mut [u64; 8]),
            points: &[c64; 8],
            roots: Parts<'_>,
            scale: f64,
        ) {
            let (avx, fma) = (self.0.avx, self.0.fma);
            let points: &[[[f64; 4]; 2]; 2] = cast_ref(points);
            let (x, y): (&mut [[u64; 4]; 2], &mut [[u64; 4]; 2]) = (cast_mut(words.0), cast_mut(words.1));
            let (w_re, w_im): (&[__m256d; 2], &[__m256d; 2]) = (&cast(*roots.0), &cast(*roots.1));
            let scale = avx._mm256_set1_pd(scale);
            for i in 0..2 {
                let (a, b) = (cast(points[i][0]), cast(points[i][1]));
                let (lower, upper) =
                    (avx._mm256_permute2f128_pd::<0x20>(a, b), avx._mm256_permute2f128_pd::<0x31>(a, b));
                let re = avx._mm256_mul_pd(avx._mm256_unpacklo_pd(lower, upper), scale);
                let im = avx._mm256_mul_pd(avx._mm256_unpackhi_pd(lower, upper), scale);
                self.add(&mut x[i], fma._mm256_fmadd_pd(re, w_re[i], avx._mm256_mul_pd(im, w_im[i])));
                self.add(&mut y[i], fma._mm256_fmsub_pd(im, w_re[i], avx._mm256_mul_pd(re, w_im[i])));
            }
        }

        /// Words as signed integers.
        #[inline(always)]
        fn signed(&self, x: __m256i) -> __m256d {
            let (avx, avx2) = (self.0.avx, self.0.avx2);
            // 3 * 2^67 and 2^52, in whose low bits the upper 16 and the lower 48 bits are put.
            let (above, below) = (442_721_857_769_029_238_784.0, 4_503_599_627_370_496.0);
            let upper = avx2._mm256_blend_epi16::<0x33>(avx2._mm256_srai_epi32::<16>(x), avx._mm256_setzero_si256());
            let upper = avx2._mm256_add_epi64(upper, avx._mm256_castpd_si256(avx._mm256_set1_pd(above)));
            let lower = avx2._mm256_blend_epi16::<0x88>(x, avx._mm256_castpd_si256(avx._mm256_set1_pd(below)));
            let upper = avx._mm256_sub_pd(avx._mm256_castsi256_pd(upper), avx._mm256_set1_pd(above + below));
            avx._mm256_add_pd(upper, avx._mm256_castsi256_pd(lower))
        }

        /// Adds the nearest integers modulo `2^64`.
        #[inline(always)]
        fn add(&self, words: &mut [u64; 4], x: __m256d) {
            let (avx, avx2) = (self.0.avx, self.0.avx2);
            let magic = avx._mm256_set1_pd(1.5 * (1u64 << 52) as f64 * Q);
            let x = avx._mm256_sub_pd(x, avx._mm256_sub_pd(avx._mm256_add_pd(x, magic), magic));
            let x = avx._mm256_round_pd::<0>(x);
            let (bits, zero) = (avx._mm256_castpd_si256(x), avx._mm256_setzero_si256());
            let all = |x: u64| avx._mm256_set1_epi64x(x as i64);
            let number = avx2._mm256_or_si256(avx2._mm256_and_si256(bits, all((1 << 52) - 1)), all(1 << 52));
            let exponent = avx2._mm256_and_si256(avx2._mm256_srli_epi64::<52>(bits), all(0x7ff));
            let number = avx2._mm256_slli_epi64::<11>(number);
            let number = avx2._mm256_srlv_epi64(number, avx2._mm256_sub_epi64(all(1086), exponent));
            let negative = avx2._mm256_sub_epi64(zero, avx2._mm256_srli_epi64::<63>(bits));
            let number = avx2._mm256_blendv_epi8(number, avx2._mm256_sub_epi64(zero, number), negative);
            *words = cast(avx2._mm256_add_epi64(cast(*words), number));
        }
    }
}

#[cfg(not(any(target_feature = "avx512dq", all(target_feature = "avx2", target_feature = "fma"))))]
mod eight {
    use tfhe_fft::c64;

    use super::{Parts, Q};

    /// Eight points at a time, in loops for the compiler.
    pub struct Eight;

    impl Eight {
        pub fn new() -> Self {
            Self
        }

        pub fn fold(&self, points: &mut [c64; 8], words: (&[u64; 8], &[u64; 8]), roots: Parts<'_>) {
            for j in 0..8 {
                let (x, y) = (words.0[j] as i64 as f64, words.1[j] as i64 as f64);
                points[j] = c64::new(x * roots.0[j] - y * roots.1[j], x * roots.1[j] + y * roots.0[j]);
            }
        }

        pub fn unfold_add(
            &self,
            words: (&mut [u64; 8], &mut [u64; 8]),
            points: &[c64; 8],
            roots: Parts<'_>,
            scale: f64,
        ) {
            let nearest = |x: f64| {
                let x = x * scale;
                (x - (x / Q).round_ties_even() * Q).round_ties_even() as i128 as u64
            };
            for j in 0..8 {
                let (z, re, im) = (points[j], roots.0[j], roots.1[j]);
                words.0[j] = words.0[j].wrapping_add(nearest(z.re * re + z.im * im));
                words.1[j] = words.1[j].wrapping_add(nearest(z.im * re - z.re * im));
            }
        }
    }
}
