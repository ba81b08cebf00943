//! The sine series: that it is the best one, and how its error grows.

use std::f64::consts::TAU;

use noren::Complex64;
use noren::bootstrapping::SineSeries;
use noren::error::Error;

const RATIOS: [f64; 5] = [16.0, 64.0, 107.634_740_681_2, 256.0, 1024.0];

/// Points of a fine grid on `(0, 1]`, another one than the fit uses.
fn grid() -> impl Iterator<Item = f64> {
    (1..=100_000).map(|j| f64::from(j) / 100_000.0)
}

/// The error of a message, with cancellation only between numbers of its size.
fn error(series: &SineSeries, z: f64) -> f64 {
    series.message(Complex64::cis(TAU * z / series.ratio())) - z
}

#[test]
fn error_is_the_largest_one_and_alternates_three_times() {
    for ratio in RATIOS {
        let series = SineSeries::fit(ratio).expect("supported");
        // The values near 1 that the message is the difference of round to 2^-53, and count ratio / 2 pi times.
        let rounding = ratio * 2f64.powi(-52);
        let errors: Vec<f64> = grid().map(|z| error(&series, z)).collect();
        let largest = errors.iter().fold(0.0_f64, |m, e| m.max(e.abs()));
        assert!((largest - series.error()).abs() < 1e-4 * series.error() + rounding, "{ratio}: {largest:e}");
        // By Chebyshev's theorem a series whose error reaches its maximum three times with alternating signs is the
        // only best one: sin t and sin 2t vanish together nowhere in (0, pi).
        let near = 0.999 * series.error() - rounding;
        let mut signs: Vec<bool> = errors.iter().filter(|e| e.abs() >= near).map(|e| *e > 0.0).collect();
        signs.dedup();
        assert_eq!(signs.len(), 3, "{ratio}");
    }
}

#[test]
fn error_is_that_of_the_fifth_chebyshev_polynomial() {
    for ratio in RATIOS {
        let series = SineSeries::fit(ratio).expect("supported");
        let t = TAU / ratio;
        // Taylor's series is off by t^5 / 30 (1 + O(t^2)); T_5 has the leading coefficient 16.
        let expected = t.powi(4) / 30.0 / 16.0;
        assert!((series.error() / expected - 1.0).abs() < 0.3 * t * t + 1e-4, "{ratio}: {:e}", series.error());
        // a - 4/3 and b + 1/6 are of the order of t^2.
        assert!((series.sine() - 4.0 / 3.0).abs() < 0.1 * t * t, "{ratio}: {}", series.sine());
        assert!((series.double() + 1.0 / 6.0).abs() < 0.05 * t * t, "{ratio}: {}", series.double());
    }
}

#[test]
fn error_at_the_usual_ratio() {
    let series = SineSeries::fit(2f64.powf(6.75)).expect("supported");
    assert!((series.error().log2() + 25.3).abs() < 0.05, "2^{}", series.error().log2());
    assert!((series.sine() - 1.33363).abs() < 2e-5 && (series.double() + 0.16682).abs() < 2e-5);
    assert!((series.shift() + 7.995).abs() < 1e-3);
}

#[test]
fn ratios_without_a_sensible_series_are_refused() {
    for ratio in [0.0, 15.9, 1025.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(SineSeries::fit(ratio), Err(Error::Parameters { name: "ratio", .. })), "{ratio}");
    }
}
