//! How large a random error can become: the tail of sums of products of Gaussians.

/// Rotations are told apart modulo this number for the tail of the error.
pub(crate) const CLASSES: usize = 64;

/// A bound holds in all slots but with probability `2^-FAILURE_BITS`.
const FAILURE_BITS: f64 = 40.0;

/// No [`quantile`] of at most `2^16` slots is more than this many standard deviations: the pure product needs 21.5.
pub(crate) const LARGEST_QUANTILE: f64 = 22.0;

/// The variance of an error in a slot, by what that variance depends on.
///
/// Given the keys, the error of a slot is complex Gaussian of variance `plain + sum_c v_c w_c`, where the `w_c` are
/// independent and exponential of mean 1: `|s(zeta)|^2` in units of its mean, seen from the slot that the error arose
/// in.
pub(crate) struct Spread {
    pub(crate) plain: f64,
    pub(crate) secret: [f64; CLASSES],
    pub(crate) public_key: [f64; CLASSES],
}

impl Default for Spread {
    fn default() -> Self {
        Self { plain: 0.0, secret: [0.0; CLASSES], public_key: [0.0; CLASSES] }
    }
}

/// A `t` with `P(|error| > t in some slot) < 2^-40`, where the weight of each class is the mean over `copies` slots.
///
/// For every `x > 0`: `exp(-t^2/V) <= exp(-2xt + x^2 V)`, and the expectation of the right side is
/// `exp(-2xt + x^2 plain) prod_c (1 - x^2 v_c / copies)^-copies`. So
/// `t = (L + x^2 plain - copies sum_c ln(1 - x^2 v_c / copies)) / 2x` with `L = ln slots + 40 ln 2`, and the best x is
/// searched.
pub(crate) fn quantile(spread: &Spread, slots: usize, copies: usize) -> f64 {
    let level = libm::log(slots as f64) + FAILURE_BITS * std::f64::consts::LN_2;
    let copies = copies as f64;
    let weights = spread.secret.iter().chain(&spread.public_key).filter(|&&v| v > 0.0);
    let weights: Vec<f64> = weights.map(|v| v / copies).collect();
    let largest = weights.iter().fold(0.0, |max: f64, &v| max.max(v));
    let total = spread.plain + weights.iter().sum::<f64>() * copies;
    if total == 0.0 || !total.is_finite() {
        return total;
    }
    let threshold = |square: f64| {
        // No factor is below 1 - 1023/1024, and the logarithm of a product costs one logarithm.
        let product: f64 = weights.iter().map(|v| 1.0 - square * v).product();
        (level + square * spread.plain - copies * libm::log(product)) / (2.0 * square.sqrt())
    };
    // A Gaussian of the whole variance is best at x^2 = L / total, and tails are never lighter: x is not larger.
    let gaussian = level / total;
    let pole = if largest > 0.0 { NEAREST_TO_POLE / largest } else { f64::INFINITY };
    smallest(threshold, gaussian.min(pole))
}

/// How near to its pole, where the largest weight makes the expectation infinite, x^2 is taken.
const NEAREST_TO_POLE: f64 = 1023.0 / 1024.0;

/// The smallest value of a function that falls and then rises on `(0, end]`, by golden sections.
fn smallest(f: impl Fn(f64) -> f64, end: f64) -> f64 {
    /// Each step leaves 0.618 of the interval: 24 leave 2^-16, far below what the function resolves.
    const STEPS: usize = 24;
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    // No minimum lies below: x^2 = L / (4 total) already costs a quarter more than the Gaussian.
    let (mut low, mut high) = (end / 16.0, end);
    let mut best = f(end);
    for _ in 0..STEPS {
        let (left, right) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
        let (at_left, at_right) = (f(left), f(right));
        best = best.min(at_left).min(at_right);
        if at_left < at_right { high = right } else { low = left }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(plain: f64, secret: &[f64]) -> Spread {
        let mut spread = Spread { plain, ..Spread::default() };
        spread.secret[..secret.len()].copy_from_slice(secret);
        spread
    }

    /// `P(|error| > t)` by integrating `exp(-t^2 / (plain + v w)) exp(-w)` over w.
    fn probability(plain: f64, v: f64, t: f64) -> f64 {
        let step = 1e-3;
        let density = |w: f64| (-t * t / (plain + v * w) - w).exp() * step;
        (0..100_000).map(|i| density((f64::from(i) + 0.5) * step)).sum()
    }

    #[test]
    fn quantiles_have_their_probability_and_are_tight() {
        for (plain, v) in [(1.0, 0.0), (0.0, 1.0), (0.5, 0.5), (0.9, 0.1), (1.0, 1e-4)] {
            for slots in [1, 64, 8192, 65536] {
                let wanted = 2f64.powi(-40) / slots as f64;
                let t = quantile(&spread(plain, &[v]), slots, 1);
                assert!(probability(plain, v, t) < wanted, "{plain} {v} {slots}");
                assert!(probability(plain, v, 0.9 * t) > wanted, "{plain} {v} {slots}");
            }
        }
    }

    #[test]
    fn no_quantile_exceeds_the_largest() {
        let product = quantile(&spread(0.0, &[1.0]), 1 << 16, 1);
        assert!(product < LARGEST_QUANTILE && product > 0.9 * LARGEST_QUANTILE, "{product}");
    }

    #[test]
    fn many_classes_or_copies_come_near_to_a_gaussian() {
        let gaussian = quantile(&spread(1.0, &[]), 1024, 1);
        assert!((gaussian - (libm::log(1024.0) + 40.0 * std::f64::consts::LN_2).sqrt()).abs() < 1e-9);
        let classes = quantile(&spread(0.0, &[1.0 / 64.0; 64]), 1024, 1);
        let copies = quantile(&spread(0.0, &[1.0]), 1024, 64);
        assert!((classes / copies - 1.0).abs() < 1e-9);
        assert!(classes > gaussian && classes < 1.2 * gaussian, "{classes} {gaussian}");
    }

    #[test]
    fn no_error_has_no_tail() {
        assert_eq!(quantile(&spread(0.0, &[]), 8, 1), 0.0);
    }
}
