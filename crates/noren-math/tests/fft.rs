//! The special FFT: against its definition, against its inverse, and the same bits in every table.

use std::f64::consts::PI;

use noren_math::kernels::{Kernels, available, by_name};
use noren_math::roots::fft::FftTable;

/// Numbers in `[-1, 1)` from a fixed linear congruence.
fn noise(len: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..len).map(|_| next()).collect()
}

fn portable() -> &'static Kernels {
    by_name("portable").unwrap()
}

/// `m(zeta^(5^j))` by summing `2n` real coefficients, `zeta = exp(i pi / 2n)`.
fn slots_by_definition(re: &[f64], im: &[f64]) -> Vec<(f64, f64)> {
    let n = re.len();
    let coefficients: Vec<f64> = re.iter().chain(im).copied().collect();
    let mut power = 1;
    (0..n)
        .map(|_| {
            let point = power;
            power = 5 * power % (4 * n);
            coefficients.iter().enumerate().fold((0.0, 0.0), |(re, im), (k, c)| {
                let angle = PI / (2 * n) as f64 * (point * k % (4 * n)) as f64;
                (re + c * angle.cos(), im + c * angle.sin())
            })
        })
        .collect()
}

#[test]
fn forward_evaluates_at_the_powers_of_five() {
    for log in 0..=9 {
        let n = 1 << log;
        let (mut re, mut im) = (noise(n, 1), noise(n, 2));
        let expected = slots_by_definition(&re, &im);
        FftTable::new(n).forward(&mut re, &mut im);
        // The definition sums 2n terms below sqrt 2, each with an error below 2^-50.
        let bound = 4.0 * n as f64 * 2f64.powi(-50);
        for (j, (x, y)) in expected.into_iter().enumerate() {
            assert!((re[j] - x).abs() < bound && (im[j] - y).abs() < bound, "n = {n}, slot {j}");
        }
    }
}

#[test]
fn product_of_polynomials_is_product_of_slots() {
    // X^n has the value i in every slot, and X squared has the square of X.
    let n = 64;
    let table = FftTable::new(n);
    let monomial = |k: usize| {
        let (mut re, mut im) = (vec![0.0; n], vec![0.0; n]);
        if k < n {
            re[k] = 1.0
        } else {
            im[k - n] = 1.0
        }
        table.forward(&mut re, &mut im);
        (re, im)
    };
    let (one, middle, x, square) = (monomial(0), monomial(n), monomial(1), monomial(2));
    for j in 0..n {
        assert_eq!((one.0[j], one.1[j]), (1.0, 0.0));
        assert!(middle.0[j].abs() < 1e-15 && (middle.1[j] - 1.0).abs() < 1e-15);
        let squared = (x.0[j] * x.0[j] - x.1[j] * x.1[j], 2.0 * x.0[j] * x.1[j]);
        assert!((squared.0 - square.0[j]).abs() < 1e-14 && (squared.1 - square.1[j]).abs() < 1e-14);
    }
}

#[test]
fn round_trip_error_grows_with_the_logarithm_of_the_size() {
    for log in 0..=16 {
        let n = 1 << log;
        let table = FftTable::new(n);
        let start = (noise(n, 3), noise(n, 4));
        let (mut re, mut im) = start.clone();
        table.forward(&mut re, &mut im);
        table.inverse(&mut re, &mut im);
        let square = |row: &[f64], from: &[f64]| row.iter().zip(from).map(|(x, y)| (x - y).powi(2)).sum::<f64>();
        let error = ((square(&re, &start.0) + square(&im, &start.1)) / (2 * n) as f64).sqrt();
        // Two transforms of `log` layers; a layer adds at most about 2^-53 in the mean square to numbers
        // below 1 (Higham, Accuracy and Stability of Numerical Algorithms, section 24.1).
        let bound = 2.0 * (f64::from(log) + 1.0) * 2f64.powi(-53);
        assert!(error <= bound, "n = {n}: {error:e} above {bound:e}");
    }
}

#[test]
fn tables_agree_in_every_bit() {
    let bits = |row: &[f64]| row.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    for log in 0..=16 {
        let n = 1 << log;
        let table = FftTable::new(n);
        let (re, im) = (noise(n, 5), noise(n, 6));
        for direction in [Kernels::fft_forward, Kernels::fft_inverse] {
            let expected = {
                let (mut re, mut im) = (re.clone(), im.clone());
                direction(portable(), &mut re, &mut im, &table);
                (bits(&re), bits(&im))
            };
            for kernels in available() {
                let (mut re, mut im) = (re.clone(), im.clone());
                direction(kernels, &mut re, &mut im, &table);
                assert!((bits(&re), bits(&im)) == expected, "{} differs at n = {n}", kernels.name());
            }
        }
    }
}

#[test]
fn bits_are_frozen() {
    // Encoded plaintexts are the same on every machine only if these never change.
    let n = 1 << 10;
    let table = FftTable::new(n);
    let (mut re, mut im) = (noise(n, 7), noise(n, 8));
    let digest = |re: &[f64], im: &[f64]| {
        re.iter()
            .chain(im)
            .fold(0u64, |hash, x| (hash.rotate_left(5) ^ x.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    };
    table.forward(&mut re, &mut im);
    assert_eq!(digest(&re, &im), FROZEN_FORWARD);
    table.inverse(&mut re, &mut im);
    assert_eq!(digest(&re, &im), FROZEN_ROUND_TRIP);
}

const FROZEN_FORWARD: u64 = 2_563_143_310_045_512_441;
const FROZEN_ROUND_TRIP: u64 = 2_054_101_748_141_143_342;

#[test]
#[should_panic(expected = "needs a power of two")]
fn other_sizes_are_refused() {
    let _ = FftTable::new(12);
}
