//! How likely a coefficient leaves the interval on which bootstrapping is right.
//!
//! Raising the modulus turns a ciphertext `(c_0, c_1)` modulo `q_0` of the message m into one of `m + q_0 I`, with
//! integers I. Under a secret of h coefficients that are not zero, a coefficient of `c_1 s / q_0` is a sum S of h
//! numbers, uniform in `[-1/2, 1/2)` and independent, as `c_1` is uniform. Since `c_0` is in `[-q_0/2, q_0/2)` and
//! `c_0 + c_1 s = m + q_0 I`, the integer I is the one nearest to `S - m / q_0`. So
//! `|I| > B` if and only if `|S - m / q_0| >= B + 1/2`.

/// `log2` of the probability that a sum of `weight` uniform numbers in `[-1/2, 1/2)` is at least `bound` in absolute
/// value: the tail of the Irwin-Hall distribution,
/// `2 / m! sum_{i <= y} (-1)^i C(m, i) (y - i)^m` with `y = m/2 - bound`.
///
/// `-infinity` if it cannot happen, and 0 if the bound is not positive. Up to weight 64 it is right to `2^-12`, and in
/// tails below `2^-20`, where the alternating sum hardly cancels, to `2^-40` of itself.
#[must_use]
pub fn log2_tail(weight: u32, bound: f64) -> f64 {
    let m = f64::from(weight);
    let y = m / 2.0 - bound;
    if y <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if bound <= 0.0 {
        return 0.0;
    }
    // Relative to the first term, y^m / m!.
    let (mut binomial, mut sum, mut i) = (1.0, 0.0, 0.0);
    while i < y {
        sum += binomial * libm::pow((y - i) / y, m);
        binomial *= -(m - i) / (i + 1.0);
        i += 1.0;
    }
    let log2_factorial: f64 = (1..=weight).map(|k| libm::log2(f64::from(k))).sum();
    (1.0 + m * libm::log2(y) - log2_factorial + libm::log2(sum)).min(0.0)
}

/// `log2` of a bound on the probability that one of `coefficients` coefficients of any of `bootstraps` raised ciphertexts has
/// `|I| > interval`, for messages m with `|m| <= q_0 / ratio`: the sum of the probabilities of all. With n slots 2n
/// coefficients count: those in the subring, which alone reach the exponential.
#[must_use]
pub fn log2_failure(weight: u32, interval: u32, ratio: f64, coefficients: usize, bootstraps: u64) -> f64 {
    let bound = f64::from(interval) + 0.5 - 1.0 / ratio;
    let coefficients = libm::log2(coefficients as f64) + libm::log2(bootstraps as f64);
    (log2_tail(weight, bound) + coefficients).min(0.0)
}
