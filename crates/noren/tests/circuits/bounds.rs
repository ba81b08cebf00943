//! Error bounds of polynomials on CKKS ciphertexts: they hold for all inputs, and are sharp when these fill `[-1, 1]`.

use std::f64::consts::PI;

use noren::circuits::approx::Approximation;
use noren::circuits::polynomial::{Basis, Polynomial};
use noren::ckks::{Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, Keys, ParametersSpec};
use noren::{Security, Seed};

use crate::numbers::{filling, numbers};

/// All slots of the ring.
const SLOTS: usize = 1024;

/// The number of encryptions of which the worst error counts.
const ENCRYPTIONS: usize = 8;

/// How far a bound may lie above the worst error. The quantile for `2^-40` alone is 4 above the largest of the errors
/// that are measured here, for a fresh encryption as well.
const SLACK: f64 = 8.0;

/// A ring, its keys, and an encryptor for each mode.
struct World {
    context: Context,
    keys: Keys,
}

impl World {
    fn new(depth: usize) -> Self {
        // The last prime leaves room for results up to 2^(50 - 40 - 1).
        let mut log_q = vec![40; depth + 1];
        log_q[0] = 50;
        let spec = ParametersSpec {
            log_n: SLOTS.ilog2() + 1,
            log_q,
            log_p: vec![50],
            log_scale: 40,
            security: Security::None,
            ..ParametersSpec::default()
        };
        let context = Context::new(spec.build().unwrap()).unwrap();
        let request = KeyRequest { relinearization: true, ..KeyRequest::default() };
        let keys = context.generate_keys(Seed::from_bytes([1; 32]), &request).unwrap();
        Self { context, keys }
    }

    fn encryptor(&self, public: bool) -> Encryptor<'_> {
        let seed = Seed::from_bytes([2; 32]);
        if public {
            Encryptor::public(&self.context, &self.keys.public, seed).unwrap()
        } else {
            Encryptor::symmetric(&self.context, &self.keys.secret, seed).unwrap()
        }
    }

    /// The worst error of the polynomial at these inputs, and the bound on it.
    fn measure(&self, polynomial: &Polynomial, x: &[f64], encryptor: &Encryptor<'_>) -> (f64, f64) {
        let evaluator = Evaluator::new(&self.context, self.keys.evaluation.clone()).unwrap();
        let plaintext = Encoder::new(&self.context).encode(x, SLOTS, polynomial.depth()).unwrap();
        let y = polynomial.evaluate(&evaluator, &encryptor.encrypt(&plaintext).unwrap()).unwrap();
        let found = Decryptor::new(&self.context, &self.keys.secret).unwrap().decrypt_complex(&y).unwrap();
        let errors = found.iter().zip(x).map(|(y, &x)| (y - polynomial.at(x)).norm());
        (errors.fold(0.0, f64::max), y.error_bound())
    }
}

/// Where the slope of a polynomial is largest.
fn steepest(polynomial: &Polynomial) -> f64 {
    let points = 64 * (polynomial.degree() + 1);
    let points: Vec<f64> = (0..=points).map(|j| (PI * j as f64 / points as f64).cos()).collect();
    let slope = |a: f64, b: f64| ((polynomial.at(a) - polynomial.at(b)) / (a - b)).abs();
    let (at, _) = points
        .windows(2)
        .map(|pair| (pair[0], slope(pair[0], pair[1])))
        .fold((0.0, 0.0), |best, next| if next.1 > best.1 { next } else { best });
    at
}

/// The bound must hold at inputs that fill the interval and at those that are all alike, and be at most [`SLACK`] above
/// the worst error of the first.
fn check(polynomial: &Polynomial, what: &str) {
    let world = World::new(polynomial.depth());
    for public in [true, false] {
        let what = format!("{what}, {}", if public { "public" } else { "symmetric" });
        let encryptor = world.encryptor(public);
        let measured = (0..ENCRYPTIONS).map(|_| world.measure(polynomial, &filling(SLOTS), &encryptor));
        let (worst, bound) = measured.fold((0.0, 0.0), |a: (f64, f64), b| (a.0.max(b.0), a.1.max(b.1)));
        println!("{what}: error {worst:.2e}, bound {bound:.2e}, ratio {:.1}", bound / worst);
        assert!(worst <= bound, "{what}: error {worst:e} above the bound {bound:e}");
        assert!(bound <= SLACK * worst, "{what}: bound {bound:e} far above the error {worst:e}");
        for x in [1.0, -1.0, 0.0, steepest(polynomial)] {
            let (worst, bound) = world.measure(polynomial, &[x; SLOTS], &encryptor);
            assert!(worst <= bound, "{what}, at {x}: error {worst:e} above the bound {bound:e}");
        }
    }
}

#[test]
fn bounds_of_power_series_are_sharp() {
    for degree in [1, 2, 3, 5, 8, 15, 31, 64, 127] {
        let polynomial = Polynomial::power(numbers(degree + 1, 10)).unwrap();
        check(&polynomial, &format!("{:?}, degree {degree}", Basis::Power));
    }
}

#[test]
fn bounds_of_chebyshev_series_are_sharp() {
    for degree in [1, 2, 3, 5, 8, 15, 31, 64, 127] {
        let polynomial = Polynomial::chebyshev(numbers(degree + 1, 10)).unwrap();
        check(&polynomial, &format!("{:?}, degree {degree}", Basis::Chebyshev));
    }
}

#[test]
fn bounds_of_sigmoids_are_sharp() {
    for (half_width, degree) in [(4.0, 15), (8.0, 31), (16.0, 63), (32.0, 127)] {
        let approximation = Approximation::sigmoid_of_degree(half_width, degree).unwrap();
        check(approximation.polynomial(), &format!("sigmoid of degree {degree}"));
    }
}
