//! The complex exponential, against Bessel functions and the exponential itself.

use noren::Complex64;
use noren::bootstrapping::Exponential;
use noren::error::Error;
use serde_json::Value;

/// Frequencies with the Bessel functions of all orders there; `tests/data/bootstrapping/bessel.py` made them.
fn cases() -> Vec<(f64, u32, Vec<f64>)> {
    let file: Vec<Value> = serde_json::from_str(include_str!("../data/bootstrapping/bessel.json")).expect("JSON");
    let number = |value: &Value| value.as_str().expect("text").parse().expect("a number");
    let case = |case: &Value| {
        let values = case["values"].as_array().expect("a list").iter().map(number).collect();
        (case["half_width"].as_f64().expect("a number"), case["doublings"].as_u64().expect("an integer") as u32, values)
    };
    file.iter().map(case).collect()
}

/// `a_0 = J_0`, `a_k = 2 i^k J_k`.
fn by_definition(k: usize, bessel: f64) -> Complex64 {
    let power = [Complex64::ONE, Complex64::I, -Complex64::ONE, -Complex64::I][k % 4];
    power * bessel * if k == 0 { 1.0 } else { 2.0 }
}

#[test]
fn coefficients_are_bessel_functions() {
    // 128 values of size 1, whose arguments round at the frequency, are summed up.
    let rounding = 2f64.powi(-48);
    for (half_width, doublings, bessel) in cases() {
        let series = Exponential::new(half_width, doublings, 63).expect("supported");
        assert_eq!(series.coefficients().len(), 64);
        for (k, (found, &value)) in series.coefficients().iter().zip(&bessel).enumerate() {
            let error = (found - by_definition(k, value)).norm();
            assert!(error < rounding, "K = {half_width}, r = {doublings}, k = {k}: {error:e}");
            assert!(if k % 2 == 0 { found.im == 0.0 } else { found.re == 0.0 });
        }
    }
}

#[test]
fn truncation_is_the_sum_of_what_is_left_out() {
    for (half_width, doublings, bessel) in cases() {
        for degree in [15, 23, 31] {
            let series = Exponential::new(half_width, doublings, degree).expect("supported");
            let expected: f64 = bessel[degree + 1..].iter().map(|j| 2.0 * j.abs()).sum();
            assert!((series.truncation() - expected).abs() < 2f64.powi(-44), "K = {half_width}, degree {degree}");
        }
    }
    let log2 = |half_width, doublings, degree| {
        Exponential::new(half_width, doublings, degree).expect("supported").truncation().log2()
    };
    assert!((log2(14.02, 3, 31) + 39.0).abs() < 0.1, "{}", log2(14.02, 3, 31));
    assert!((log2(14.02, 4, 23) + 43.2).abs() < 0.1, "{}", log2(14.02, 4, 23));
}

#[test]
fn exponential_is_near_the_true_one() {
    for (half_width, doublings, degree) in [(14.02, 3, 31), (14.02, 4, 23), (2.0, 0, 35), (26.0, 8, 7)] {
        let series = Exponential::new(half_width, doublings, degree).expect("supported");
        // Every squaring doubles both the truncation and the rounding.
        let bound = (series.truncation() + 2f64.powi(-48)) * f64::from(1 << doublings) * (1.0 + 2f64.powi(-20));
        let mut largest = 0.0_f64;
        for j in -5000..=5000 {
            let u = f64::from(j) / 5000.0;
            let error = (series.at(u) - Complex64::cis(std::f64::consts::TAU * (half_width * u).fract())).norm();
            largest = largest.max(error);
        }
        assert!(largest < bound, "K = {half_width}, r = {doublings}: {largest:e} above {bound:e}");
        assert!(largest > bound / 4.0, "K = {half_width}, r = {doublings}: {largest:e} far below {bound:e}");
    }
}

#[test]
fn exponential_near_integers_is_as_near_with_fewer_degrees() {
    let (interval, room, doublings) = (14, 2f64.powf(-5.75), 3);
    let whole = |degree| Exponential::new(f64::from(interval) + room, doublings, degree).expect("supported");
    let near = |degree| Exponential::near_integers(interval, room, doublings, degree).expect("supported");
    for degree in [28, 31] {
        let exponential = near(degree);
        let (polynomial, half_width) = (exponential.coefficients(), exponential.half_width());
        assert_eq!(polynomial.len(), degree + 1);
        assert!(polynomial.iter().enumerate().all(|(k, c)| if k % 2 == 0 { c.im == 0.0 } else { c.re == 0.0 }));
        // Every squaring doubles the error of the polynomial and the rounding of the value.
        let bound = (exponential.truncation() + 2f64.powi(-48)) * f64::from(1 << doublings) * (1.0 + 2f64.powi(-20));
        let mut largest = 0.0_f64;
        for turns in -14..=14 {
            for offset in (-500..=500).map(|i| room * f64::from(i) / 500.0) {
                let e = exponential.at((f64::from(turns) + offset) / half_width);
                largest = largest.max((e - Complex64::cis(std::f64::consts::TAU * offset)).norm());
            }
        }
        assert!(largest < bound && largest > bound / 4.0, "degree {degree}: {largest:e}, at most {bound:e}");
        assert!(
            exponential.truncation() < whole(degree).truncation() / 3.0,
            "degree {degree}: {} {}",
            exponential.truncation().log2(),
            whole(degree).truncation().log2()
        );
    }
    assert!(near(28).truncation() < 2f64.powf(-33.8) && whole(28).truncation() > 2f64.powi(-32));
}

#[test]
fn exponential_that_is_near_everywhere_is_the_series() {
    for (interval, doublings, degree) in [(2, 3, 31), (14, 3, 45), (1, 0, 63)] {
        let near = Exponential::near_integers(interval, 0.01, doublings, degree).expect("supported");
        assert_eq!(near, Exponential::new(f64::from(interval) + 0.01, doublings, degree).expect("supported"));
    }
    assert!(matches!(Exponential::near_integers(14, 0.01, 2, 31), Err(Error::Parameters { .. })));
}

#[test]
fn depth_counts_polynomial_and_squarings() {
    for (doublings, degree, depth) in [(3, 31, 8), (4, 23, 9), (3, 32, 9), (8, 7, 11)] {
        assert_eq!(Exponential::new(2.0, doublings, degree).expect("supported").depth(), depth);
    }
}

#[test]
fn frequencies_and_degrees_that_do_not_converge_are_refused() {
    for (half_width, doublings, degree) in [(14.0, 2, 31), (f64::NAN, 3, 31), (14.0, 31, 31), (14.0, 3, 64)] {
        let refused = Exponential::new(half_width, doublings, degree);
        assert!(matches!(refused, Err(Error::Parameters { .. })), "{half_width} {doublings} {degree}");
    }
}
