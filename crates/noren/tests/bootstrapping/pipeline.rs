//! The whole pipeline on numbers in clear: it gives the message back, up to the error of the series.

use noren::Complex64;
use noren::bootstrapping::{Diagonals, Direction, Exponential, Parameters, Preset, SineSeries};
use noren_math::roots::fft::FftTable;

use crate::numbers::{complex, uniform, worst};

/// Every stage of bootstrapping, with real numbers for polynomials. The unit of coefficients is `q_0`.
struct Clear {
    table: FftTable,
    to_coefficients: Vec<Diagonals>,
    to_slots: Vec<Diagonals>,
    half_width: f64,
    ratio: f64,
    exponential: Exponential,
    series: SineSeries,
    weight: usize,
}

/// A result for all slots, and from the real parts alone.
struct Output {
    complex: Vec<Complex64>,
    real: Vec<Complex64>,
}

impl Clear {
    fn new(parameters: &Parameters) -> Self {
        let slots = parameters.slots();
        let matrices = |direction: Direction| direction.matrices(slots, &parameters.transform(direction).groups);
        Self {
            table: FftTable::new(slots),
            to_coefficients: matrices(Direction::SlotToCoeff),
            to_slots: matrices(Direction::CoeffToSlot),
            half_width: parameters.exponential().half_width(),
            ratio: parameters.series().ratio(),
            exponential: parameters.exponential().clone(),
            series: *parameters.series(),
            weight: parameters.spec().ephemeral_weight as usize,
        }
    }

    /// The coefficients `Delta v + q_0 I` over `q_0`, where a message's slots were multiplied by the first matrices.
    fn raise(&self, z: &[Complex64], number: u64) -> Vec<Complex64> {
        let slots = self.to_coefficients.iter().fold(z.to_vec(), |x, matrix| matrix.apply(&x));
        let (mut re, mut im): (Vec<f64>, Vec<f64>) = slots.iter().map(|c| (c.re, c.im)).unzip();
        self.table.inverse(&mut re, &mut im);
        // I is the integer nearest to c_1 s / q_0 - m / q_0.
        let sums: Vec<f64> = uniform(number, 2 * z.len() * self.weight)
            .chunks(self.weight)
            .map(|u| u.iter().sum::<f64>() / 2.0)
            .collect();
        let raised = |m: f64, sum: f64| m + (sum - m).round();
        let parts = re.iter().zip(&im).zip(sums.chunks(2));
        let ratio = self.ratio;
        parts.map(|((re, im), sums)| Complex64::new(raised(re / ratio, sums[0]), raised(im / ratio, sums[1]))).collect()
    }

    /// The slots of such a polynomial, and of these the coefficients over `K q_0`, halved as real parts are read off.
    fn coefficients_in_slots(&self, coefficients: &[Complex64]) -> Vec<Complex64> {
        let (mut re, mut im): (Vec<f64>, Vec<f64>) =
            coefficients.iter().map(|c| (c.re / self.half_width, c.im / self.half_width)).unzip();
        self.table.forward(&mut re, &mut im);
        let slots = re.into_iter().zip(im).map(|(re, im)| Complex64::new(re, im)).collect();
        let whole = self.to_slots.iter().fold(slots, |x: Vec<Complex64>, matrix| matrix.apply(&x));
        whole.into_iter().map(|t| t / 2.0).collect()
    }

    fn run(&self, z: &[Complex64], number: u64) -> Output {
        let t = self.coefficients_in_slots(&self.raise(z, number));
        let factor = self.series.factor();
        let series = |u: f64| {
            let e = self.exponential.at(u);
            e * (e + self.series.shift())
        };
        let both = t.iter().map(|&t| {
            // u_0 = t + conj t and u_1 = -i (t - conj t) are real.
            let (first, second) = (t + t.conj(), -Complex64::I * (t - t.conj()));
            assert!(first.im == 0.0 && second.im == 0.0);
            (series(first.re), series(second.re))
        });
        // 2 i (Im P_0 + i Im P_1) by one conjugation; the factor -i / 2 and the rest is exact.
        let scale = -Complex64::I * factor / 2.0;
        let (complex, real) = both
            .map(|(p, q)| {
                let whole = (p + Complex64::I * q) - (p - Complex64::I * q).conj();
                (whole * scale, (p - p.conj()) * scale)
            })
            .unzip();
        Output { complex, real }
    }
}

fn inputs(slots: usize) -> Vec<(&'static str, Vec<Complex64>)> {
    let one_hot = |value: Complex64| {
        let mut z = vec![Complex64::ZERO; slots];
        z[slots / 3] = value;
        z
    };
    vec![
        ("random", complex(5, slots)),
        ("zero", vec![Complex64::ZERO; slots]),
        ("one", vec![Complex64::ONE; slots]),
        ("i", vec![Complex64::I; slots]),
        ("one-hot", one_hot(Complex64::ONE)),
        ("alternating", (0..slots).map(|j| Complex64::from(1.0 - 2.0 * (j % 2) as f64)).collect()),
    ]
}

/// Runs every input on the ring of a preset.
fn check(preset: Preset) {
    let parameters = preset.parameters().expect("a preset");
    let clear = Clear::new(&parameters);
    // The rounding of u at 2^-53, of all layers there and back on coefficients up to 14, stretched by K rho.
    let layers = f64::from(2 * parameters.slots().ilog2());
    let rounding = 2f64.powi(-53) * 4.0 * layers * clear.half_width * clear.ratio;
    let part = parameters.systematic_error() + rounding;
    for (name, z) in inputs(parameters.slots()) {
        let output = clear.run(&z, 11);
        let error = worst(&output.complex, &z);
        assert!(error < part * std::f64::consts::SQRT_2, "{preset}, {name}: {error:e}");
        let reals: Vec<Complex64> = z.iter().map(|z| Complex64::from(z.re)).collect();
        let real_error = worst(&output.real, &reals);
        assert!(real_error < part, "{preset}, {name}, real parts: {real_error:e}");
        // A message of size 1 meets the series where its error is largest.
        assert!(name != "one" || error > 0.9 * clear.series.error(), "{preset}, {name}: {error:e}");
    }
}

#[test]
fn pipeline_returns_the_message_up_to_the_systematic_error() {
    check(Preset::Toy);
}

#[test]
fn pipeline_closes_on_the_large_rings() {
    check(Preset::N15);
    check(Preset::N16);
}

#[test]
fn wrong_constants_and_wrong_orders_are_seen() {
    let parameters = Preset::Toy.parameters().expect("a preset");
    let z = complex(7, parameters.slots());
    let error = |change: &dyn Fn(&mut Clear)| {
        let mut clear = Clear::new(&parameters);
        change(&mut clear);
        worst(&clear.run(&z, 13).complex, &z)
    };
    assert!(error(&|_| ()) < 2f64.powi(-24));
    assert!(error(&|clear| clear.series = SineSeries::fit(2.0 * clear.ratio).expect("supported")) > 0.1);
    assert!(error(&|clear| clear.exponential = Exponential::new(10.0, 3, 31).expect("supported")) > 0.1);
    assert!(error(&|clear| clear.to_slots.swap(0, 1)) > 0.1);
    assert!(error(&|clear| clear.to_coefficients.swap(1, 2)) > 0.1);
}

#[test]
fn coefficients_between_the_transforms_are_the_message_in_bit_reversed_order() {
    let parameters = Preset::Toy.parameters().expect("a preset");
    let clear = Clear::new(&parameters);
    let (slots, ratio) = (parameters.slots(), parameters.series().ratio());
    let z = complex(6, slots);
    let raised = clear.raise(&z, 12);
    for (j, raised) in raised.iter().enumerate() {
        let z = z[crate::numbers::reversed(j, slots)] / ratio;
        for rest in [raised.re - z.re, raised.im - z.im] {
            assert!((rest - rest.round()).abs() < 2f64.powi(-44), "coefficient {j}: {rest} is no integer");
            assert!(rest.abs() < 14.5, "coefficient {j}: {rest}");
        }
    }
    let back = clear.coefficients_in_slots(&raised);
    let expected: Vec<Complex64> =
        (0..slots).map(|j| raised[crate::numbers::reversed(j, slots)] / (2.0 * clear.half_width)).collect();
    assert!(worst(&back, &expected) < 2f64.powi(-44));
}

#[test]
fn every_multiple_inside_the_interval_vanishes_and_none_outside() {
    let parameters = Preset::N16.parameters().expect("a preset");
    let (exponential, series) = (parameters.exponential(), parameters.series());
    let at = |multiple: i32, z: f64| {
        let u = (f64::from(multiple) + z / series.ratio()) / exponential.half_width();
        series.message(exponential.at(u))
    };
    let bound = parameters.systematic_error() + 2f64.powi(-53) * 64.0 * exponential.half_width() * series.ratio();
    for multiple in -14..=14 {
        for z in [-1.0, -0.5, 0.0, 1e-6, 0.25, 1.0] {
            let error = (at(multiple, z) - z).abs();
            assert!(error < bound, "I = {multiple}, z = {z}: {error:e}");
        }
    }
    // One multiple beyond the interval the series is off already; soon it means nothing.
    for sign in [-1, 1] {
        let (next, far) = ((at(15 * sign, 0.5) - 0.5).abs(), (at(20 * sign, 0.5) - 0.5).abs());
        assert!(next > 64.0 * bound && far > 1.0, "I = {} and {}: {next:e}, {far:e}", 15 * sign, 20 * sign);
    }
}

#[test]
fn error_of_the_series_stays_below_its_maximum_and_grows_outside_like_the_fifth_power() {
    let parameters = Preset::N16.parameters().expect("a preset");
    let series = parameters.series();
    let error = |z: f64| (series.message(Complex64::cis(std::f64::consts::TAU * z / series.ratio())) - z).abs();
    // Sixteen times the maximum is Taylor's error at 1, and the fifth power takes over outside.
    for z in [4.0, 6.0, 8.0] {
        let law = 16.0 * series.error() * f64::powi(z, 5);
        assert!((error(z) / law - 1.0).abs() < 0.15, "z = {z}: {:e} against {law:e}", error(z));
    }
}
