//! The failure probability: against exact arithmetic, and against integers that were drawn.

use noren::bootstrapping::{log2_failure, log2_tail};
use num_bigint::BigInt;

use crate::numbers::uniform;

/// `log2` of `P(|S| >= a / 2^bits)` for a sum S of `weight` uniform numbers in `[-1/2, 1/2)`, in integers:
/// `2 / m! sum_i (-1)^i C(m, i) (m/2 - x - i)^m`.
fn exact_log2_tail(weight: u32, numerator: i64, bits: u32) -> f64 {
    let unit = BigInt::from(1) << bits;
    // All in units of 2^-(bits + 1).
    let y = BigInt::from(weight) * &unit - BigInt::from(2 * numerator);
    let mut binomial = BigInt::from(1);
    let mut sum = BigInt::from(0);
    let mut i = 0u32;
    while BigInt::from(2 * i) * &unit < y {
        sum += &binomial * (&y - BigInt::from(2 * i) * &unit).pow(weight);
        binomial = -binomial * (weight - i) / (i + 1);
        i += 1;
    }
    let factorial = (1..=weight).fold(BigInt::from(1), |product, k| product * k);
    1.0 + log2(&sum) - log2(&factorial) - f64::from(weight) * f64::from(bits + 1)
}

fn log2(number: &BigInt) -> f64 {
    let bits = number.bits();
    let shift = bits.saturating_sub(60);
    let top: i64 = (number >> shift).try_into().expect("60 bits");
    (top as f64).log2() + shift as f64
}

#[test]
fn tails_agree_with_integers() {
    for weight in [1, 2, 3, 5, 8, 16, 31, 32, 33, 48, 64] {
        for numerator in 1..i64::from(weight) * 8 {
            let expected = exact_log2_tail(weight, numerator, 4);
            let found = log2_tail(weight, numerator as f64 / 16.0);
            // Where the tail is most of the probability, the sum loses up to 35 bits and the powers 6.
            let tolerance = if expected > -20.0 { 2f64.powi(-12) } else { 2f64.powi(-40) * (1.0 - expected) };
            assert!((found - expected).abs() < tolerance, "{weight} {numerator}/16: {found} {expected}");
        }
    }
    assert_eq!(log2_tail(32, 16.0), f64::NEG_INFINITY);
    assert_eq!(log2_tail(32, 0.0), 0.0);
    assert_eq!(log2_tail(32, -1.0), 0.0);
}

#[test]
fn failure_is_the_tail_of_all_coefficients() {
    // The bound 14.5 - 1/128 in 2^-7.
    let expected = exact_log2_tail(32, 1855, 7) + 16.0;
    assert!((log2_failure(32, 14, 128.0, 1 << 16, 1) - expected).abs() < 1e-9);
    assert!((log2_failure(32, 14, 128.0, 1 << 16, 100) - expected - 100f64.log2()).abs() < 1e-9);
    assert_eq!(log2_failure(32, 1, 128.0, 1 << 16, 1), 0.0, "more than certain is certain");
}

#[test]
fn multiples_have_the_predicted_variance_and_tail() {
    const WEIGHT: usize = 8;
    const COUNT: usize = 1 << 17;
    for z in [0.0, 0.1, -0.1] {
        let sums: Vec<f64> = uniform(3, COUNT * WEIGHT).chunks(WEIGHT).map(|u| u.iter().sum::<f64>() / 2.0).collect();
        // c_0 / q_0 is the representative of z - S in [-1/2, 1/2), and S + c_0 / q_0 = z + I.
        let multiples: Vec<f64> = sums
            .iter()
            .map(|sum| {
                let rest = z - sum;
                let first = rest - (rest + 0.5).floor();
                (sum + first - z).round()
            })
            .collect();
        let variance = multiples.iter().map(|i| i * i).sum::<f64>() / COUNT as f64;
        // Sheppard's correction; the fourth moment is below that of a Gaussian, so 5 deviations are sqrt(50 / COUNT).
        let expected = (WEIGHT + 1) as f64 / 12.0;
        assert!((variance / expected - 1.0).abs() < (50.0 / COUNT as f64).sqrt() + z.abs() * z.abs(), "{variance}");
        // |I| >= 3 needs |S - z| >= 5/2: one tail is nearer by z, the other farther.
        let beyond = multiples.iter().filter(|i| i.abs() >= 3.0).count() as f64;
        let tail = |bound: f64| log2_tail(WEIGHT as u32, bound).exp2() / 2.0;
        let mean = COUNT as f64 * (tail(2.5 - z) + tail(2.5 + z));
        assert!((beyond - mean).abs() < 5.0 * mean.sqrt(), "z = {z}: {beyond} beyond, {mean} expected");
    }
}
