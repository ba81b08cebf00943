//! Points at which a polynomial shows how large it becomes.

use num_complex::Complex64;

use crate::schemes::range::{Range, modulus};

/// Points for each degree.
const PER_DEGREE: usize = 8;

/// How much larger a polynomial may be between the points than on them: `1 / cos(pi / 16) = 1.01959...`, rounded up,
/// which leaves room for the rounding errors of the values.
const BETWEEN_POINTS: f64 = 1.0196;

/// The points at which polynomials up to this degree are followed, for messages in a range: `m + 1` of them, with
/// `m = 8 degree`.
///
/// On an interval of centre c and half-width h they are `c + h cos(pi j / m)`, both ends included. On a disc of radius r
/// they are `r exp(i pi j / m)`: half of 2m points on the circle, where the polynomial is largest; at the other half real
/// polynomials have the conjugate values.
pub(super) fn points(degree: usize, range: Range) -> Vec<Complex64> {
    let intervals = PER_DEGREE * degree.max(1);
    let angle = std::f64::consts::PI / intervals as f64;
    let angles = (0..=intervals).map(|j| angle * j as f64);
    match range {
        Range::Real { low, high } if low == -high => angles.map(|t| Complex64::from(high * libm::cos(t))).collect(),
        Range::Real { low, high } => {
            let (centre, half) = (f64::midpoint(low, high), (high - low) / 2.0);
            angles.map(|t| Complex64::from(centre + half * libm::cos(t))).collect()
        }
        Range::Complex { magnitude } => {
            angles.map(|t| Complex64::new(magnitude * libm::cos(t), magnitude * libm::sin(t))).collect()
        }
    }
}

/// A bound on `|p|` over the range for a polynomial that has these values at the [`points`] of its degree, or of a higher
/// one: at most 2 % above the true maximum.
///
/// The largest value at `m + 1` such points of an interval, divided by `cos(pi d / 2m)`, bounds a polynomial of degree
/// `d < m` (Ehlich and Zeller, "Schwankung von Polynomen zwischen Gitterpunkten", 1964). On the circle
/// `Re(exp(-i d t / 2 + i a) p(r exp(i t)))` is a trigonometric polynomial of degree d in `t / 2` for every a. Near its
/// maximum it falls no faster than `cos(d (t - t_0) / 2)` (M. Riesz, 1914), and a point is within `pi / 2m` in t: at 2m
/// points the same bound holds, with room to spare. Infinite if a value is not finite.
pub(super) fn bound(values: &[Complex64]) -> f64 {
    let larger = |max: f64, value: &Complex64| if value.is_finite() { max.max(modulus(*value)) } else { f64::INFINITY };
    BETWEEN_POINTS * values.iter().fold(0.0, larger)
}

/// The range of a polynomial that has these values at the [`points`] of a range: an interval for real points.
pub(super) fn range_of(values: &[Complex64], of: &Range) -> Range {
    if of.interval().is_none() || values.iter().any(|value| !value.is_finite()) {
        return if of.interval().is_some() { Range::symmetric(f64::INFINITY) } else { Range::disc(bound(values)) };
    }
    let low = values.iter().fold(f64::INFINITY, |low, value| low.min(value.re));
    let high = values.iter().fold(f64::NEG_INFINITY, |high, value| high.max(value.re));
    // The polynomial without the middle of its values is bounded as any other.
    let (centre, half) = (f64::midpoint(low, high), BETWEEN_POINTS * (high - low) / 2.0);
    let largest = bound(values);
    Range::real((centre - half).max(-largest), (centre + half).min(largest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn real(values: impl IntoIterator<Item = f64>) -> Vec<Complex64> {
        values.into_iter().map(Complex64::from).collect()
    }

    #[test]
    fn the_bound_is_met_between_the_points() {
        // T_d turned by half a step has its maximum, 1, in the middle between two points.
        let (degree, m) = (8, 64.0);
        let values = points(degree, Range::symmetric(1.0)).into_iter();
        let values = values.map(|x| libm::cos(8.0 * (libm::acos(x.re) + 0.5 * std::f64::consts::PI / m)));
        let found = bound(&real(values));
        assert!((1.0..1.0001).contains(&found), "{found}");
    }

    #[test]
    fn ranges_hold_polynomials_between_the_points() {
        // A polynomial whose largest and smallest values lie between points, on intervals that are not symmetric.
        for [low, high] in [[0.0, 1.0], [-1.0, 3.0], [0.3, 0.4]] {
            let of = Range::real(low, high);
            let p = |x: Complex64| ((x * 2.0 - 1.1) * x + 0.37) * x - 0.2;
            let values: Vec<Complex64> = points(3, of).into_iter().map(p).collect();
            let [lowest, highest] = range_of(&values, &of).interval().unwrap();
            for k in 0..=1000 {
                let y = p(Complex64::from(low + (high - low) * f64::from(k) / 1000.0)).re;
                assert!(lowest <= y && y <= highest, "{low} {high}: {y} of {lowest} to {highest}");
            }
        }
    }

    #[test]
    fn the_circle_bounds_the_disc() {
        let p = |z: Complex64| ((z * 0.7 - 1.3) * z + 0.11) * z * z - z * 0.9 + 0.5;
        for radius in [0.1, 1.0, 2.5] {
            let of = Range::disc(radius);
            let values: Vec<Complex64> = points(4, of).into_iter().map(p).collect();
            let (found, mut largest) = (range_of(&values, &of).magnitude(), 0.0f64);
            for k in 0..5000 {
                let t = 2.0 * std::f64::consts::PI * f64::from(k) / 5000.0;
                largest = largest.max(p(Complex64::from_polar(radius, t)).norm());
            }
            assert!(largest <= found && found < 1.02 * largest, "{radius}: {found} for {largest}");
        }
    }

    #[test]
    fn what_is_not_finite_has_no_bound() {
        assert_eq!(bound(&real([1.0, f64::NAN, 2.0])), f64::INFINITY);
        assert_eq!(bound(&real([f64::NEG_INFINITY, 2.0])), f64::INFINITY);
        assert_eq!(range_of(&real([1.0, f64::NAN]), &Range::symmetric(1.0)), Range::symmetric(f64::INFINITY));
    }

    #[test]
    fn points_reach_both_ends() {
        let points = points(3, Range::symmetric(2.0));
        assert_eq!((points.len(), points[0].re, points[24].re), (25, 2.0, -2.0));
    }
}
