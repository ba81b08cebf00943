//! Points at which a polynomial shows how large it becomes.

/// Points for each degree.
const PER_DEGREE: usize = 8;

/// How much larger a polynomial may be between the points than on them: `1 / cos(pi / 16) = 1.01959...`, rounded up,
/// which leaves room for the rounding errors of the values.
const BETWEEN_POINTS: f64 = 1.0196;

/// The points `range cos(pi j / m)`, `j = 0 ... m`, with `m = 8 degree`: both ends of `[-range, range]` included.
pub(super) fn points(degree: usize, range: f64) -> Vec<f64> {
    let intervals = PER_DEGREE * degree.max(1);
    let angle = std::f64::consts::PI / intervals as f64;
    (0..=intervals).map(|j| range * libm::cos(angle * j as f64)).collect()
}

/// A bound on `|p|` over `[-range, range]` for a polynomial that has these values at the [`points`] of its degree, or
/// of a higher one: at most 2 % above the true maximum.
///
/// The largest value at `m + 1` such points, divided by `cos(pi d / 2m)`, bounds a polynomial of degree `d < m` (Ehlich
/// and Zeller, "Schwankung von Polynomen zwischen Gitterpunkten", 1964). Infinite if a value is not finite.
pub(super) fn bound(values: &[f64]) -> f64 {
    let larger = |max: f64, value: &f64| if value.is_finite() { max.max(value.abs()) } else { f64::INFINITY };
    BETWEEN_POINTS * values.iter().fold(0.0, larger)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_met_between_the_points() {
        // T_d turned by half a step has its maximum, 1, in the middle between two points.
        let (degree, m) = (8, 64.0);
        let values =
            points(degree, 1.0).into_iter().map(|x| libm::cos(8.0 * (libm::acos(x) + 0.5 * std::f64::consts::PI / m)));
        let values: Vec<f64> = values.collect();
        let found = bound(&values);
        assert!((1.0..1.0001).contains(&found), "{found}");
    }

    #[test]
    fn what_is_not_finite_has_no_bound() {
        assert_eq!(bound(&[1.0, f64::NAN, 2.0]), f64::INFINITY);
        assert_eq!(bound(&[f64::NEG_INFINITY, 2.0]), f64::INFINITY);
    }

    #[test]
    fn points_reach_both_ends() {
        let points = points(3, 2.0);
        assert_eq!((points.len(), points[0], points[24]), (25, 2.0, -2.0));
    }
}
