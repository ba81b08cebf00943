//! The baseline: its stages on numbers, and on ciphertexts of a small ring against these numbers.

use std::f64::consts::{PI, TAU};
use std::sync::{Arc, OnceLock};

use noren::bootstrapping::paper2::taylor::DEGREE;
use noren::bootstrapping::paper2::{Bootstrapper, DoubleLevels, Parameters, ParametersSpec, Plan, TaylorExponential};
use noren::bootstrapping::{Diagonals, Direction};
use noren::ckks::{Ciphertext, Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, Keys, Scale};
use noren::security::Security;
use noren::{Complex64, Error, EvaluationKeys, Seed};
use noren_math::fft::FftTable;

use crate::numbers::{complex, reversed, uniform, worst};

/// What the source publishes.
const PUBLISHED_PRECISION: f64 = 1.0 / (1 << 11) as f64;

/// Every stage, with real numbers for polynomials. The unit of coefficients is `q_0`.
struct Clear {
    table: FftTable,
    to_slots: Vec<Diagonals>,
    to_coefficients: Vec<Diagonals>,
    exponential: TaylorExponential,
    ratio: f64,
    weight: usize,
}

impl Clear {
    fn new(parameters: &Parameters) -> Self {
        let (slots, mut groups) = (parameters.slots(), parameters.spec().groups.clone());
        let to_coefficients = Direction::SlotToCoeff.matrices(slots, &groups);
        groups.reverse();
        Self {
            table: FftTable::new(slots),
            to_slots: Direction::CoeffToSlot.matrices(slots, &groups),
            to_coefficients,
            exponential: parameters.exponential(),
            ratio: parameters.ratio(),
            weight: parameters.spec().weight as usize,
        }
    }

    /// The packed coefficients of slots.
    fn inverse(&self, z: &[Complex64]) -> Vec<Complex64> {
        let (mut re, mut im): (Vec<f64>, Vec<f64>) = z.iter().map(|c| (c.re, c.im)).unzip();
        self.table.inverse(&mut re, &mut im);
        re.into_iter().zip(im).map(|(re, im)| Complex64::new(re, im)).collect()
    }

    fn forward(&self, v: &[Complex64]) -> Vec<Complex64> {
        let (mut re, mut im): (Vec<f64>, Vec<f64>) = v.iter().map(|c| (c.re, c.im)).unzip();
        self.table.forward(&mut re, &mut im);
        re.into_iter().zip(im).map(|(re, im)| Complex64::new(re, im)).collect()
    }

    /// The coefficients `v / rho + I` with integers I as a raised ciphertext has them.
    fn raise(&self, z: &[Complex64], number: u64) -> Vec<Complex64> {
        let sums = uniform(number, 2 * z.len() * self.weight);
        let mut sums = sums.chunks(self.weight).map(|u| u.iter().sum::<f64>() / 2.0);
        // I is the integer nearest to c_1 s / q_0 - m / q_0.
        let mut raised = |m: f64| m + (sums.next().expect("two for each slot") - m).round();
        let v = self.inverse(z);
        v.into_iter().map(|v| v / self.ratio).map(|m| Complex64::new(raised(m.re), raised(m.im))).collect()
    }

    fn sine(&self, turns: f64) -> f64 {
        self.exponential.at(turns).im * self.ratio / TAU
    }

    fn run(&self, z: &[Complex64], number: u64) -> Vec<Complex64> {
        let slots = self.forward(&self.raise(z, number));
        let x = self.to_slots.iter().fold(slots, |x: Vec<Complex64>, matrix| matrix.apply(&x));
        let v: Vec<Complex64> = x.into_iter().map(|x| Complex64::new(self.sine(x.re), self.sine(x.im))).collect();
        self.to_coefficients.iter().fold(v, |x, matrix| matrix.apply(&x))
    }
}

fn largest(z: &[Complex64]) -> f64 {
    z.iter().map(|z| z.norm()).fold(0.0, f64::max)
}

/// Numbers of size at most 1.
fn random(number: u64, slots: usize) -> Vec<Complex64> {
    complex(number, slots).into_iter().map(|z| z / 2f64.sqrt()).collect()
}

fn inputs(slots: usize) -> Vec<(&'static str, Vec<Complex64>)> {
    let one_hot = (0..slots).map(|j| if j == slots / 3 { Complex64::ONE } else { Complex64::ZERO }).collect();
    vec![
        ("random", random(20, slots)),
        ("constant", vec![Complex64::ONE; slots]),
        ("constant i", vec![Complex64::I; slots]),
        ("one-hot", one_hot),
        ("alternating", (0..slots).map(|j| Complex64::from(1.0 - 2.0 * (j % 2) as f64)).collect()),
        ("zero", vec![Complex64::ZERO; slots]),
    ]
}

#[test]
fn numbers_come_back_up_to_the_systematic_error() {
    for spec in [ParametersSpec::toy(), ParametersSpec { log_ratio: 6, ..ParametersSpec::toy() }] {
        let parameters = spec.build().expect("supported");
        let clear = Clear::new(&parameters);
        let (error, ratio) = (parameters.systematic_error(), parameters.ratio());
        for (name, z) in inputs(parameters.slots()) {
            let found = worst(&clear.run(&z, 11), &z);
            assert!(found <= error, "{name}: {found:e} of {error:e}");
            // A constant is one large coefficient, and meets the sine where it is worst; a random message has none.
            let sine = (TAU / ratio).powi(2) / 6.0;
            match name {
                "constant" | "constant i" => assert!((found / sine - 1.0).abs() < 0.1, "{name}: {found:e}, {sine:e}"),
                "random" => assert!(found < sine / 64.0, "{name}: {found:e}, {sine:e}"),
                _ => {}
            }
        }
    }
}

#[test]
fn taylor_and_squarings_leave_at_most_what_is_said() {
    let exponential = TaylorExponential::new(8);
    let coefficients = exponential.coefficients();
    assert_eq!((coefficients.len(), coefficients[2], coefficients[3].im), (DEGREE + 1, (-0.5).into(), -1.0 / 6.0));
    // Against the exponential itself; 2^-44 for eight squarings of numbers of 53 bits.
    for multiple in 0..=24 {
        for excess in [0.0, 1.0 / 256.0, 1.0 / 64.0] {
            let turns = f64::from(multiple) + excess;
            let found = (exponential.at(turns).im - (TAU * excess).sin()).abs() / TAU;
            let bound = exponential.error(turns, excess);
            assert!(found <= bound + 2f64.powi(-44), "{turns}: {found:e} of {bound:e}");
            let tight = multiple < 12 || found > 0.8 * bound;
            assert!(tight, "{turns}: {found:e} of {bound:e}");
        }
    }
}

#[test]
fn totals_of_taylor_errors_hold_for_integers_that_are_drawn() {
    const WEIGHT: usize = 64;
    const COUNT: usize = 1 << 12;
    let exponential = TaylorExponential::new(8);
    let bound = exponential.total_error(WEIGHT as u32, 20, 1.0 / 256.0, COUNT);
    for number in 0..8 {
        let sums = uniform(100 + number, COUNT * WEIGHT);
        let errors = sums.chunks(WEIGHT).map(|u| {
            let multiple = (u.iter().sum::<f64>() / 2.0).round().abs();
            exponential.error(multiple + 1.0 / 256.0, 1.0 / 256.0)
        });
        let total: f64 = errors.sum();
        assert!(total < bound, "{total:e} of {bound:e}");
    }
    // No better than the largest error that is likely, and not much worse.
    let likely = exponential.error(18.0, 1.0 / 256.0);
    assert!(bound > likely / 16.0 && bound < 64.0 * likely, "{bound:e}, {likely:e}");
}

struct World {
    parameters: Parameters,
    context: Context,
    keys: Keys,
    bootstrapper: Bootstrapper,
}

fn seed(number: u8) -> Seed {
    Seed::from_bytes([number; 32])
}

/// One world for all tests.
fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| World::new(ParametersSpec::toy()))
}

impl World {
    fn new(spec: ParametersSpec) -> Self {
        let parameters = spec.build().expect("supported");
        let context = Context::new(parameters.ckks().clone()).expect("rings");
        let keys = context.generate_keys(seed(1), &parameters.key_request()).expect("keys");
        let bootstrapper = Bootstrapper::new(&context, &parameters, keys.evaluation.clone()).expect("its keys");
        Self { parameters, context, keys, bootstrapper }
    }

    /// Encrypted with so many limbs.
    fn encrypt_at(&self, z: &[Complex64], limbs: usize, scale: &Scale) -> Ciphertext {
        let plaintext = Encoder::new(&self.context).encode_complex(z, z.len(), limbs - 1, scale).expect("encode");
        let encryptor = Encryptor::public(&self.context, &self.keys.public, seed(3)).expect("encryptor");
        encryptor.encrypt(&plaintext).expect("encrypt").with_magnitude(largest(z))
    }

    fn encrypt(&self, z: &[Complex64]) -> Ciphertext {
        self.encrypt_at(z, 4, self.parameters.scale_at(1))
    }

    fn decrypt(&self, ciphertext: &Ciphertext) -> Vec<Complex64> {
        let decryptor = Decryptor::new(&self.context, &self.keys.secret).expect("decryptor");
        decryptor.decrypt_complex(ciphertext).expect("decrypt")
    }

    /// Checks level, scale and bound of a result; its worst error.
    fn error(&self, result: &Ciphertext, expected: &[Complex64]) -> f64 {
        let level = self.parameters.output_level();
        assert_eq!((result.level(), result.scale()), (2 * level + 1, self.parameters.scale_at(level)));
        let error = worst(&self.decrypt(result), expected);
        let bound = result.error_bound();
        println!("error 2^{:.2} bound 2^{:.2}", error.log2(), bound.log2());
        assert!(error <= bound && bound < 1.0 / 64.0, "an error of {error:e}, a bound of {bound:e}");
        error
    }
}

#[test]
fn messages_come_back_with_the_published_precision() {
    let world = world();
    for (name, z) in inputs(world.parameters.slots()) {
        let error = world.error(&world.bootstrapper.bootstrap(&world.encrypt(&z)).expect("bootstrap"), &z);
        assert!(error <= PUBLISHED_PRECISION, "{name}: {error:e}");
    }
}
