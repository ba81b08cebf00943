//! The baseline: its stages on numbers, and on ciphertexts of a small ring against these numbers.

use std::f64::consts::{PI, TAU};
use std::sync::{Arc, OnceLock};

use noren::bootstrapping::rns_heaan::DEGREE;
use noren::bootstrapping::rns_heaan::{
    Bootstrapper, DoubleLevels, Parameters, ParametersSpec, RnsHeaanPlan, TaylorExponential,
};
use noren::bootstrapping::{Diagonals, Direction};
use noren::ckks::{Ciphertext, CkksError, Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, Keys, Scale};
use noren::security::Security;
use noren::{Complex64, Error, EvaluationKeys, Seed};
use noren_math::roots::fft::FftTable;

use crate::numbers::{complex, reversed, uniform, worst};
use crate::summary::Summary;

/// The precision that the source publishes.
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
            let tight = multiple < 12 || excess > 0.0 || found > 0.8 * bound;
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

    /// Encrypted with `limbs` limbs.
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
        // Some tests state the size of parts, as the published method takes it: numbers are larger.
        decryptor.allow_unbounded().decrypt_complex(ciphertext).expect("decrypt")
    }

    /// The packed coefficients of a decryption, in units of its scale.
    fn coefficients(&self, ciphertext: &Ciphertext) -> Vec<Complex64> {
        Clear::new(&self.parameters).inverse(&self.decrypt(ciphertext))
    }

    /// Checks level, scale and bound of a result; its worst error.
    fn error(&self, result: &Ciphertext, expected: &[Complex64]) -> f64 {
        let level = self.parameters.output_level();
        assert_eq!((result.level(), result.scale()), (2 * level + 1, self.parameters.scale_at(level)));
        let error = worst(&self.decrypt(result), expected);
        let bound = result.error_bound();
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

#[test]
fn every_stage_holds_what_it_says() {
    let world = world();
    let (parameters, clear) = (&world.parameters, Clear::new(&world.parameters));
    let slots = parameters.slots();
    let z = random(30, slots);
    let stages = world.bootstrapper.stages(&world.encrypt(&z), &mut |_| {}).expect("bootstrap");
    let in_order = |values: &[Complex64]| (0..slots).map(|j| values[reversed(j, slots)]).collect::<Vec<_>>();

    // Lowered: the same message below q_0.
    let q0: f64 = world.context.parameters().rlwe().q()[..2].iter().map(|&q| q as f64).product();
    assert_eq!(stages.lowered.level(), 1);
    assert!((stages.lowered.scale().to_f64() * parameters.ratio() / q0 - 1.0).abs() < 1e-12);
    let error = worst(&world.decrypt(&stages.lowered), &z);
    assert!(error < 2f64.powi(-24), "lowered: {error:e}");

    // Raised: the same modulo q_0, and small multiples of it.
    assert_eq!(stages.raised.level(), 2 * parameters.spec().levels + 1);
    let turn = 256.0 / PI;
    let whole: Vec<Complex64> = world.coefficients(&stages.raised).iter().map(|x| x * turn).collect();
    let v = world.coefficients(&stages.lowered);
    let (mut square, mut count) = (0.0, 0.0);
    for (x, v) in whole.iter().zip(&v) {
        let rest = x - v / parameters.ratio();
        let multiple = Complex64::new(rest.re.round(), rest.im.round());
        assert!((rest - multiple).norm() < 2f64.powi(-40), "{rest} is no integer");
        square += multiple.norm_sqr();
        count += 2.0;
    }
    // The secret is fixed, and so not all is independent: within a fifth of 65/12.
    let variance = square / count;
    assert!((variance * 12.0 / 65.0 - 1.0).abs() < 0.2, "a variance of {variance}");

    // Coefficient to slot, in bit-reversed order.
    let whole = in_order(&whole);
    let error = worst(&world.decrypt(&stages.slots), &whole.iter().map(|x| x / turn).collect::<Vec<_>>());
    assert!(error < 2f64.powi(-40) && error <= stages.slots.error_bound(), "coefficient to slot: {error:e}");

    // Real and imaginary parts, and their exponentials, against the same polynomial in clear and against the truth.
    for (i, (part, e)) in stages.parts.iter().zip(&stages.exponentials).enumerate() {
        let of = |x: &Complex64| if i == 0 { x.re } else { x.im };
        let expected: Vec<Complex64> = whole.iter().map(|x| Complex64::from(2.0 * of(x) / turn)).collect();
        let error = worst(&world.decrypt(part), &expected);
        assert!(error < 2f64.powi(-39) && error <= part.error_bound(), "part {i}: {error:e}");
        let expected: Vec<Complex64> = whole.iter().map(|x| clear.exponential.at(of(x))).collect();
        let error = worst(&world.decrypt(e), &expected);
        assert!(error < 2f64.powi(-32) && error <= e.error_bound(), "exponential {i}: {error:e}");
        let truth: Vec<Complex64> = whole.iter().map(|x| Complex64::cis(TAU * of(x))).collect();
        assert!(worst(&expected, &truth) < 2f64.powi(-12));
    }

    // The sines are the coefficients of the message again.
    let sines: Vec<Complex64> = whole.iter().map(|x| Complex64::new(clear.sine(x.re), clear.sine(x.im))).collect();
    let error = worst(&world.decrypt(&stages.coefficients), &sines);
    assert!(error < 2f64.powi(-26) && error <= stages.coefficients.error_bound(), "sines: {error:e}");
    let error = worst(&sines, &in_order(&v));
    assert!(error < 2f64.powi(-14), "sines: {error:e}");

    // Slot to coefficient: what it adds, and the result.
    let sines = world.decrypt(&stages.coefficients);
    let expected = clear.to_coefficients.iter().fold(sines, |x, matrix| matrix.apply(&x));
    let error = worst(&world.decrypt(&stages.result), &expected);
    assert!(error < 2f64.powi(-34), "slot to coefficient: {error:e}");
    assert!(world.error(&stages.result, &z) <= PUBLISHED_PRECISION);
}

#[test]
fn any_scale_level_magnitude_and_number_of_slots_is_taken() {
    let world = world();
    let (parameters, slots) = (&world.parameters, world.parameters.slots());
    let z = random(40, slots);
    let base = parameters.base().div(&Scale::from_log2(parameters.spec().log_ratio));
    let times = |scale: &Scale, x: f64| scale.mul(&Scale::from_f64(x).expect("positive"));
    let run = |input: &Ciphertext| world.bootstrapper.bootstrap(input).expect("bootstrap");
    for (limbs, scale) in
        [(5, *parameters.scale_at(1)), (4, times(parameters.scale_at(1), 0.3)), (3, times(&base, 7.0))]
    {
        let error = world.error(&run(&world.encrypt_at(&z, limbs, &scale)), &z);
        assert!(error <= PUBLISHED_PRECISION, "{limbs} limbs: {error:e}");
    }
    // Two limbs: as it stands, and lower.
    for factor in [1.0, 0.25] {
        let error = world.error(&run(&world.encrypt_at(&z, 2, &times(&base, factor))), &z);
        assert!(error <= PUBLISHED_PRECISION, "two limbs: {error:e}");
    }
    // Larger messages have errors as much larger.
    let large: Vec<Complex64> = z.iter().map(|z| z * 100.0).collect();
    let result = run(&world.encrypt(&large));
    let error = worst(&world.decrypt(&result), &large);
    assert!(error <= result.error_bound() && error <= 128.0 * PUBLISHED_PRECISION, "{error:e}");
    for few in [1, 64] {
        let z = random(41, few);
        let result = run(&world.encrypt(&z));
        assert_eq!(result.slots(), few);
        assert!(world.error(&result, &z) <= PUBLISHED_PRECISION);
    }
}

#[test]
fn products_go_on_between_bootstraps() {
    let world = world();
    let z = random(50, world.parameters.slots());
    let evaluator = Evaluator::new(&world.context, world.keys.evaluation.clone()).expect("keys");
    let double = DoubleLevels::new(&evaluator);
    let (mut x, mut expected) = (world.encrypt(&z), z);
    for _ in 0..3 {
        x = world.bootstrapper.bootstrap(&x).expect("bootstrap");
        assert_eq!(double.level(&x).expect("a double level"), world.parameters.output_level());
        x = double.square(&x).expect("a level is left");
        expected.iter_mut().for_each(|z| *z *= *z);
        // Squares of the canonical scale are canonical.
        let level = double.level(&x).expect("a double level");
        assert!(x.scale().deviation_from(world.parameters.scale_at(level)).abs() < 2f64.powi(-90));
        let error = worst(&world.decrypt(&x), &expected);
        assert!(error <= x.error_bound() && error < 4.0 * PUBLISHED_PRECISION, "{error:e} of {:e}", x.error_bound());
    }
}

#[test]
fn a_constant_keeps_only_what_the_sine_leaves() {
    // Between primes of 61 and 55 bits there are 6: (2 pi / 2^6)^2 / 6 is 2^-9.3.
    let world = World::new(ParametersSpec { log_ratio: 6, ..ParametersSpec::toy() });
    let z = vec![Complex64::ONE; world.parameters.slots()];
    let result = world.bootstrapper.bootstrap(&world.encrypt(&z)).expect("bootstrap");
    let error = world.error(&result, &z);
    let sine = (TAU / 64.0).powi(2) / 6.0;
    assert!((error / sine - 1.0).abs() < 0.02, "{error:e}, {sine:e}");

    // Parts uniform in [0, 1) have the mean 1/2, and this one coefficient leaves the published 11 bits: an eighth of that error,
    // in both parts.
    let half = Complex64::new(0.5, 0.5);
    let z: Vec<Complex64> = complex(90, world.parameters.slots()).into_iter().map(|z| z * 0.5 + half).collect();
    let result = world.bootstrapper.bootstrap(&world.encrypt(&z).with_magnitude(1.0)).expect("bootstrap");
    let error = worst(&world.decrypt(&result), &z);
    assert!((error.log2() - (sine * 2f64.sqrt() / 8.0).log2()).abs() < 0.5, "{error:e}");
    assert!(error < PUBLISHED_PRECISION && error > PUBLISHED_PRECISION / 2.0, "{error:e}");
}

#[test]
fn the_same_seeds_give_the_same_result() {
    let world = world();
    let input = world.encrypt(&random(60, world.parameters.slots()));
    let [a, b] = [0, 1].map(|_| world.decrypt(&world.bootstrapper.bootstrap(&input).expect("bootstrap")));
    assert_eq!(a, b);
}

#[test]
fn what_cannot_be_bootstrapped_is_refused() {
    let world = world();
    let (parameters, slots) = (&world.parameters, world.parameters.slots());
    let z = random(80, slots);
    let refused = |ciphertext: &Ciphertext| match world.bootstrapper.bootstrap(ciphertext) {
        Err(error) => error,
        Ok(_) => panic!("it was not refused"),
    };
    let one_limb = world.encrypt_at(&z, 1, &Scale::from_log2(20));
    assert!(matches!(refused(&one_limb).downcast_ref(), Some(CkksError::TooLowToBootstrap { needed: 1, left: 0 })));
    let output = parameters.output_level();
    let high = world.encrypt_at(&z, 2 * output + 2, parameters.scale_at(output));
    assert!(matches!(refused(&high), Error::Parameters { name: "level", .. }));
    let large: Vec<Complex64> = z.iter().map(|z| z * 4000.0).collect();
    assert!(matches!(refused(&world.encrypt(&large)), Error::Parameters { name: "magnitude", .. }));
    // At double level 0 nothing can be made smaller.
    let base = parameters.base().div(&Scale::from_log2(parameters.spec().log_ratio));
    for factor in [2.0, 2f64.powi(-17)] {
        let scale = base.mul(&Scale::from_f64(factor).expect("positive"));
        let message = refused(&world.encrypt_at(&z, 2, &scale)).to_string();
        assert!(message.contains("bootstrap one level earlier"), "{message}");
    }

    // Another ring, keys of another ring, and missing keys, all of them by name.
    let other = ParametersSpec { levels: 20, ..ParametersSpec::toy() }.build().expect("supported");
    let context = Context::new(other.ckks().clone()).expect("rings");
    let new = |context: &Context, parameters: &Parameters, keys: &Arc<EvaluationKeys>| {
        Bootstrapper::new(context, parameters, keys.clone()).err().expect("refused")
    };
    let keys = &world.keys.evaluation;
    assert!(matches!(new(&context, parameters, keys), Error::ParameterMismatch { .. }));
    assert!(matches!(new(&context, &other, keys), Error::ParameterMismatch { .. }));
    let few = KeyRequest { relinearization: true, ..KeyRequest::default() };
    let few = world.context.generate_keys(seed(1), &few).expect("keys").evaluation;
    let Error::MissingKey { kind, .. } = new(&world.context, parameters, &few) else { panic!("another error") };
    for named in ["conjugation", "rotation by 1 ", "rotation by 64 "] {
        assert!(kind.contains(named), "{named} is missing in: {kind}");
    }
    let low = KeyRequest { level: Some(5), ..parameters.key_request() };
    let low = world.context.generate_keys(seed(1), &low).expect("keys").evaluation;
    let Error::MissingKey { kind, .. } = new(&world.context, parameters, &low) else { panic!("another error") };
    assert!(kind.contains("relinearisation, beyond the limbs of its key"), "{kind}");
}

#[test]
fn parameters_outside_their_ranges_are_refused_by_name() {
    let toy = ParametersSpec::toy;
    let refused = |spec: ParametersSpec| match spec.build() {
        Err(Error::Parameters { name, .. }) => name,
        other => panic!("{:?}", other.map(|_| "accepted")),
    };
    assert_eq!(refused(ParametersSpec { log_n: 17, ..toy() }), "log_n");
    assert_eq!(refused(ParametersSpec { log_n: 11, ..toy() }), "groups");
    assert_eq!(refused(ParametersSpec { levels: 17, ..toy() }), "levels");
    assert_eq!(refused(ParametersSpec { levels: 60, ..toy() }), "number of primes");
    assert_eq!(refused(ParametersSpec { log_ratio: 3, ..toy() }), "log_ratio");
    assert_eq!(refused(ParametersSpec { doublings: 0, ..toy() }), "doublings");
    assert_eq!(refused(ParametersSpec { weight: 65, ..toy() }), "weight");
    assert_eq!(refused(ParametersSpec { interval: 33, ..toy() }), "interval");
    let secure = ParametersSpec { security: Security::Bits128, ..ParametersSpec::published() }.build();
    assert!(matches!(secure, Err(Error::Insecure { .. })));
}

#[test]
fn the_published_set_is_that_counted_by_hand() {
    const ROW: u64 = 8 << 16;
    let parameters = ParametersSpec::published().build().expect("supported");
    let plan = RnsHeaanPlan::new(&parameters);
    // 61 + 32 * 55 bits and 37 of 50; the primes themselves change it little.
    assert!((parameters.log_qp() - 3671.0).abs() < 2.0, "{}", parameters.log_qp());
    assert_eq!(parameters.secure_log_qp(), Some(961.0));
    // 32 levels: 5 matrices, 3 for the polynomial, 8 squarings, 5 matrices.
    let levels = (parameters.slots_level(), parameters.reduced_level(), parameters.output_level());
    assert_eq!(levels, (27, 16, 11));
    // Three baby steps and a giant step in the first matrix, three of each in the others; products and conjugation.
    assert_eq!(plan.keys(), 4 + 4 * 6 + 2);
    assert_eq!(plan.key_bytes(), 2 * ROW * (4 * 103 + 6 * (101 + 99 + 97 + 95) + 2 * 93));
    // The matrices with the last layer have whole rows; the others repeat after 2^12, 2^9, 2^6 and 2^3 of the 2^15 slots.
    let parts = ((101 + 65) << 12) + ((99 + 67) << 9) + ((97 + 69) << 6) + ((95 + 71) << 3);
    assert_eq!(plan.factor_bytes(), ROW * 8 * (103 + 63) + ROW * 15 * parts / (1 << 15));
    assert!(plan.log2_failure(1) < -50.0 && plan.log2_failure(1) > -60.0, "{}", plan.log2_failure(1));
    // Scales stay near 2^55, and squares go from one to the next.
    for level in 1..=parameters.spec().levels {
        let scale = parameters.scale_at(level);
        assert!((scale.log2() - 55.0).abs() < 0.5, "level {level}: {}", scale.log2());
        let below = scale.mul(scale).div(&parameters.primes(level));
        assert!(below.deviation_from(parameters.scale_at(level - 1)).abs() < 2f64.powi(-90), "level {level}");
    }
}

#[test]
#[ignore = "12 GB and a minute"]
fn the_published_set_has_the_published_precision() {
    let mut summary = Summary::default();
    let world = World::new(ParametersSpec::published());
    for (name, z) in inputs(world.parameters.slots()) {
        let error = world.error(&world.bootstrapper.bootstrap(&world.encrypt(&z)).expect("bootstrap"), &z);
        summary.add(error);
        println!("rns-heaan, {name}: 2^{:.2}", error.log2());
        assert!(error <= PUBLISHED_PRECISION, "{name}: {error:e}");
    }
    summary.print_named("rns-heaan");
}
