//! From words to the points of a complex transform and back: conversion, folding and twist, which tfhe-fft leaves to its user.
//!
//! A polynomial modulo `X^N + 1` becomes `z_j = (a_j + i a_{j+N/2}) exp(i pi j / N)`. With AVX-512 eight points at a time, as
//! TFHE-rs does it; otherwise in loops that the compiler vectorises.

use std::arch::x86_64::*;
use std::f64::consts::PI;

use tfhe_fft::c64;

/// `exp(i pi j / N)` for `j < N/2`.
pub struct Twist {
    re: Vec<f64>,
    im: Vec<f64>,
    simd: bool,
}

/// `2^64`.
const Q: f64 = 18_446_744_073_709_551_616.0;

impl Twist {
    pub fn new(n: usize) -> Self {
        let angle = |j: usize| PI * j as f64 / n as f64;
        let simd = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq");
        Self {
            re: (0..n / 2).map(|j| angle(j).cos()).collect(),
            im: (0..n / 2).map(|j| angle(j).sin()).collect(),
            simd,
        }
    }

    /// Words as signed integers.
    pub fn fold(&self, points: &mut [c64], words: &[u64]) {
        let half = self.re.len();
        assert!(points.len() == half && words.len() == 2 * half && half % 8 == 0);
        if self.simd {
            // SAFETY: the CPU has the instructions, and all rows have the lengths that were checked.
            return unsafe { self.fold_eights(points, words) };
        }
        let (low, high) = words.split_at(half);
        for j in 0..half {
            let (x, y) = (low[j] as i64 as f64, high[j] as i64 as f64);
            points[j] = c64::new(x * self.re[j] - y * self.im[j], x * self.im[j] + y * self.re[j]);
        }
    }

    /// Adds the nearest words; the points are `N/2` times as large as they should be.
    pub fn unfold_add(&self, words: &mut [u64], points: &[c64]) {
        let half = self.re.len();
        assert!(points.len() == half && words.len() == 2 * half && half % 8 == 0);
        let scale = 1.0 / half as f64;
        if self.simd {
            // SAFETY: as in `fold`.
            return unsafe { self.unfold_eights(words, points, scale) };
        }
        let (low, high) = words.split_at_mut(half);
        let nearest = |x: f64| {
            let x = x * scale;
            (x - (x / Q).round_ties_even() * Q).round_ties_even() as i128 as u64
        };
        for j in 0..half {
            let z = points[j];
            low[j] = low[j].wrapping_add(nearest(z.re * self.re[j] + z.im * self.im[j]));
            high[j] = high[j].wrapping_add(nearest(z.im * self.re[j] - z.re * self.im[j]));
        }
    }

    #[target_feature(enable = "avx512f,avx512dq")]
    unsafe fn fold_eights(&self, points: &mut [c64], words: &[u64]) {
        let half = self.re.len();
        let lower = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
        let upper = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
        for j in (0..half).step_by(8) {
            // SAFETY: `j + 8 <= half`, and the rows have `half` and `2 half` entries.
            unsafe {
                let x = _mm512_cvtepi64_pd(_mm512_loadu_si512(words.as_ptr().add(j).cast()));
                let y = _mm512_cvtepi64_pd(_mm512_loadu_si512(words.as_ptr().add(j + half).cast()));
                let (w_re, w_im) = (_mm512_loadu_pd(self.re.as_ptr().add(j)), _mm512_loadu_pd(self.im.as_ptr().add(j)));
                let re = _mm512_fmsub_pd(x, w_re, _mm512_mul_pd(y, w_im));
                let im = _mm512_fmadd_pd(x, w_im, _mm512_mul_pd(y, w_re));
                let out = points.as_mut_ptr().add(j).cast::<f64>();
                _mm512_storeu_pd(out, _mm512_permutex2var_pd(re, lower, im));
                _mm512_storeu_pd(out.add(8), _mm512_permutex2var_pd(re, upper, im));
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512dq")]
    unsafe fn unfold_eights(&self, words: &mut [u64], points: &[c64], scale: f64) {
        let half = self.re.len();
        let even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
        let odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
        let (scale, magic) = (_mm512_set1_pd(scale), _mm512_set1_pd(1.5 * (1u64 << 52) as f64 * Q));
        let add = |at: *mut u64, x: __m512d| {
            let x = _mm512_sub_pd(x, _mm512_sub_pd(_mm512_add_pd(x, magic), magic));
            // SAFETY: the callers pass places with eight words.
            unsafe {
                let sum = _mm512_add_epi64(_mm512_loadu_si512(at.cast()), _mm512_cvtpd_epi64(x));
                _mm512_storeu_si512(at.cast(), sum);
            }
        };
        for j in (0..half).step_by(8) {
            // SAFETY: as in `fold_eights`.
            unsafe {
                let from = points.as_ptr().add(j).cast::<f64>();
                let (a, b) = (_mm512_loadu_pd(from), _mm512_loadu_pd(from.add(8)));
                let re = _mm512_mul_pd(_mm512_permutex2var_pd(a, even, b), scale);
                let im = _mm512_mul_pd(_mm512_permutex2var_pd(a, odd, b), scale);
                let (w_re, w_im) = (_mm512_loadu_pd(self.re.as_ptr().add(j)), _mm512_loadu_pd(self.im.as_ptr().add(j)));
                add(words.as_mut_ptr().add(j), _mm512_fmadd_pd(re, w_re, _mm512_mul_pd(im, w_im)));
                add(words.as_mut_ptr().add(j + half), _mm512_fmsub_pd(im, w_re, _mm512_mul_pd(re, w_im)));
            }
        }
    }
}
