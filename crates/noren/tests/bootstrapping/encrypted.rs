//! Bootstrapping of ciphertexts on the toy ring: results, every stage, and what is refused.

use noren::schemes::error::SlotError;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use noren::bootstrapping::{
    BootstrapKeys, BootstrapPlan, Bootstrapper, Direction, GiantOrder, Group, Mode, Parameters, Preset, Role,
    WithBootstrapping,
};
use noren::ckks::{Ciphertext, CkksError, Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, Keys, Scale};
use noren::{Complex64, Error, EvaluationKeys, Seed};
use noren_math::roots::fft::FftTable;

use crate::numbers::{complex, reversed, worst};

/// Keys and bootstrappers of some parameters.
pub struct World {
    pub parameters: Parameters,
    pub context: Context,
    pub keys: Keys,
    pub bootstrap: Arc<BootstrapKeys>,
    pub complex: Bootstrapper,
    pub real: Bootstrapper,
}

pub fn seed(number: u8) -> Seed {
    Seed::from_bytes([number; 32])
}

/// One world for all tests.
pub fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| World::new(Preset::Toy.parameters().expect("a preset")))
}

impl World {
    pub fn new(parameters: Parameters) -> Self {
        let context = Context::new(parameters.ckks().expect("primes")).expect("rings");
        let keys = context.generate_keys(seed(1), &KeyRequest::default()).expect("keys");
        let bootstrap = BootstrapKeys::generate(&context, &parameters, &keys.secret, seed(2), None).expect("keys");
        let bootstrap = Arc::new(bootstrap);
        let new = |mode| Bootstrapper::new(&context, &parameters, bootstrap.clone(), mode).expect("its keys");
        let (complex, real) = (new(Mode::Complex), new(Mode::Real));
        Self { parameters, context, keys, bootstrap, complex, real }
    }

    pub fn encrypt_at(&self, z: &[Complex64], level: usize, scale: &Scale) -> Ciphertext {
        let plaintext = Encoder::new(&self.context).encode_complex(z, z.len(), level, scale).expect("encode");
        let encryptor = Encryptor::public(&self.context, &self.keys.public, seed(3)).expect("encryptor");
        stated(encryptor.encrypt(&plaintext).expect("encrypt"), z)
    }

    pub fn encrypt(&self, z: &[Complex64]) -> Ciphertext {
        let level = self.parameters.input_level();
        self.encrypt_at(z, level, self.context.parameters().scale_at(level))
    }

    pub fn decrypt(&self, ciphertext: &Ciphertext) -> Vec<Complex64> {
        let decryptor = Decryptor::new(&self.context, &self.keys.secret).expect("decryptor");
        // Between the stages, and of messages that are too large, numbers are not as stated.
        decryptor.allow_unbounded().decrypt_complex(ciphertext).expect("decrypt")
    }

    /// The packed coefficients of a decryption, in units of its scale.
    pub fn coefficients(&self, ciphertext: &Ciphertext) -> Vec<Complex64> {
        let slots = self.decrypt(ciphertext);
        let (mut re, mut im): (Vec<f64>, Vec<f64>) = slots.iter().map(|z| (z.re, z.im)).unzip();
        FftTable::new(slots.len()).inverse(&mut re, &mut im);
        re.into_iter().zip(im).map(|(re, im)| Complex64::new(re, im)).collect()
    }

    /// Checks level, scale and bound of a result; its worst error.
    pub fn error(&self, result: &Ciphertext, expected: &[Complex64]) -> f64 {
        let level = self.parameters.output_level();
        assert_eq!((result.level(), result.scale()), (level, self.context.parameters().scale_at(level)));
        let error = worst(&self.decrypt(result), expected);
        let bound = result.error_bound();
        assert!(error <= bound && bound < 2f64.powi(-18), "an error of {error:e}, a bound of {bound:e}");
        error
    }
}

pub fn largest(z: &[Complex64]) -> f64 {
    z.iter().map(|z| z.norm()).fold(0.0, f64::max)
}

/// A fresh ciphertext with what is known of these numbers.
pub fn stated(ciphertext: Ciphertext, z: &[Complex64]) -> Ciphertext {
    let largest = largest(z);
    let real = z.iter().all(|z| z.im == 0.0);
    if real { ciphertext.with_range(-largest, largest) } else { ciphertext.with_magnitude(largest) }
}

/// The ciphertext with the statement that it is real: where it is not, real parts are bootstrapped alone.
pub fn taken_as_real(ciphertext: &Ciphertext) -> Ciphertext {
    let magnitude = ciphertext.magnitude();
    ciphertext.clone().with_range(-magnitude, magnitude)
}

pub fn reals(z: &[Complex64]) -> Vec<Complex64> {
    z.iter().map(|z| Complex64::from(z.re)).collect()
}

/// Numbers of size at most 1.
pub fn random(number: u64, slots: usize) -> Vec<Complex64> {
    complex(number, slots).into_iter().map(|z| z / 2f64.sqrt()).collect()
}

pub fn inputs(slots: usize) -> Vec<(&'static str, Vec<Complex64>)> {
    let one_hot = (0..slots).map(|j| if j == slots / 3 { Complex64::ONE } else { Complex64::ZERO }).collect();
    let signs = complex(21, slots).into_iter().map(|z| Complex64::from(z.re.signum())).collect();
    vec![
        ("random", random(20, slots)),
        ("constant", vec![Complex64::ONE; slots]),
        ("constant i", vec![Complex64::I; slots]),
        ("one-hot", one_hot),
        ("alternating", (0..slots).map(|j| Complex64::from(1.0 - 2.0 * (j % 2) as f64)).collect()),
        ("signs", signs),
        ("zero", vec![Complex64::ZERO; slots]),
    ]
}

pub const PRECISION: f64 = 1.0 / (1 << 21) as f64;

#[test]
fn messages_come_back_with_21_bits() {
    let world = world();
    for (name, z) in inputs(world.parameters.slots()) {
        let input = world.encrypt(&z);
        let complex = world.error(&world.complex.bootstrap(&input).expect("bootstrap"), &z);
        let real = world.error(&world.real.bootstrap(&taken_as_real(&input)).expect("bootstrap"), &reals(&z));
        assert!(complex <= PRECISION && real <= PRECISION, "{name}: {complex:e}, {real:e}");
    }
}

#[test]
fn every_stage_holds_what_it_says() {
    let world = world();
    let parameters = &world.parameters;
    let slots = parameters.slots();
    let z = random(30, slots);
    let stages = world.complex.stages(&world.encrypt(&z), &mut |_| {}).expect("bootstrap");
    let (half_width, ratio) = (parameters.exponential().half_width(), parameters.series().ratio());
    let packed = |values: &[Complex64]| (0..slots).map(|j| values[reversed(j, slots)]).collect::<Vec<_>>();

    // Slot to coefficient.
    let q0 = world.context.parameters().rlwe().q()[0] as f64;
    assert_eq!(stages.coefficients.level(), 0);
    assert!((stages.coefficients.scale().to_f64() * ratio / q0 - 1.0).abs() < 1e-12);
    let coefficients = packed(&world.coefficients(&stages.coefficients));
    let error = worst(&coefficients, &z);
    assert!(error < 2f64.powi(-26), "slot to coefficient: {error:e}");

    // Raised: the same modulo q_0, and small multiples of it.
    let raised = packed(&world.coefficients(&stages.raised));
    let whole: Vec<Complex64> = raised.iter().map(|t| t * 2.0 * half_width).collect();
    let (mut square, mut count) = (0.0, 0.0);
    let mut multiples = Vec::new();
    for (t, z) in whole.iter().zip(&coefficients) {
        let rest = t - z / ratio;
        let multiple = Complex64::new(rest.re.round(), rest.im.round());
        assert!((rest - multiple).norm() < 2f64.powi(-33), "{rest} is no integer");
        assert!(multiple.re.abs() <= 14.0 && multiple.im.abs() <= 14.0);
        square += multiple.norm_sqr();
        count += 2.0;
        multiples.push(multiple);
    }
    // The secret is fixed, and so not all is independent: within a fifth of 33/12.
    let variance = square / count;
    assert!((variance / 2.75 - 1.0).abs() < 0.2, "a variance of {variance}");

    // Coefficient to slot, in the order of z.
    let in_slots = world.decrypt(&stages.slots);
    let error = worst(&in_slots, &whole.iter().map(|t| t / (2.0 * half_width)).collect::<Vec<_>>());
    assert!(error < 2f64.powi(-37) && error <= stages.slots.error_bound(), "coefficient to slot: {error:e}");
    let [first, second] = [0, 1].map(|i| world.decrypt(&stages.parts[i]));
    for (i, part) in [first, second].into_iter().enumerate() {
        let of = |z: &Complex64| if i == 0 { z.re } else { z.im };
        let expected: Vec<Complex64> = whole.iter().map(|t| Complex64::I * of(t) / half_width).collect();
        let error = worst(&part, &expected);
        assert!(error < 2f64.powi(-37) && error <= stages.parts[i].error_bound(), "part {i}: {error:e}");

        // The exponential and the series, against those in clear.
        let e: Vec<Complex64> = whole.iter().map(|t| Complex64::cis(std::f64::consts::TAU * of(t))).collect();
        let error = worst(&world.decrypt(&stages.exponentials[i]), &e);
        assert!(error < 2f64.powi(-30) && error <= stages.exponentials[i].error_bound(), "exponential {i}: {error:e}");
        let p: Vec<Complex64> = e.iter().map(|e| e * (e + parameters.series().shift())).collect();
        let error = worst(&world.decrypt(&stages.series[i]), &p);
        assert!(error < 2f64.powi(-27) && error <= stages.series[i].error_bound(), "series {i}: {error:e}");
    }
    assert!(world.error(&stages.result, &z) <= PRECISION);
}

#[test]
fn any_scale_level_magnitude_and_number_of_slots_is_taken() {
    let world = world();
    let (slots, input) = (world.parameters.slots(), world.parameters.input_level());
    let z = random(40, slots);
    let canonical = *world.context.parameters().scale_at(input);
    let factor = |x: f64| canonical.mul(&Scale::from_f64(x).expect("positive"));
    // One level above, and scales that are not canonical.
    for (level, scale) in [(input + 1, canonical), (input, factor(0.8)), (input, factor(1.7)), (input, factor(0.3))] {
        let result = world.complex.bootstrap(&world.encrypt_at(&z, level, &scale)).expect("bootstrap");
        let error = world.error(&result, &z);
        assert!(error <= 4.0 * PRECISION, "2^{:.2} at level {level}: {error:e}", scale.log2());
    }
    // Larger messages have errors as much larger.
    for magnitude in [3.0, 100.0] {
        let large: Vec<Complex64> = z.iter().map(|z| z * magnitude).collect();
        let result = world.complex.bootstrap(&world.encrypt(&large)).expect("bootstrap");
        let error = worst(&world.decrypt(&result), &large);
        assert!(error <= result.error_bound(), "{magnitude}: {error:e} of {:e}", result.error_bound());
        assert!(error <= 2.0 * magnitude * PRECISION, "{magnitude}: {error:e}");
    }
    for few in [1, 64] {
        let z = random(41, few);
        let result = world.complex.bootstrap(&world.encrypt(&z)).expect("bootstrap");
        assert_eq!(result.slots(), few);
        assert!(world.error(&result, &z) <= PRECISION);
    }
}

#[test]
fn real_bootstrapping_refuses_what_may_be_complex() {
    let world = world();
    let z = random(43, world.parameters.slots());
    let input = world.encrypt(&z);
    let refused = world.real.bootstrap(&input).err().expect("complex numbers");
    assert!(
        refused.to_string().contains("complex or paired")
            && matches!(refused.downcast_ref(), Some(SlotError::NotReal { .. })),
        "{refused}"
    );
    // Real numbers stay real, in both modes.
    let input = world.encrypt(&reals(&z));
    for bootstrapper in [&world.real, &world.complex] {
        let result = bootstrapper.bootstrap(&input).expect("real numbers");
        assert_eq!(result.estimate().range(), input.estimate().range());
    }
}

#[test]
fn other_rings_cuts_and_orders_do_the_same() {
    let groups = |cuts: &[(u32, usize)]| -> Vec<Group> {
        cuts.iter().map(|&(layers, baby_steps)| Group { layers, baby_steps }).collect()
    };
    let mut spec = Preset::Toy.spec();
    (spec.log_n, spec.log_slots) = (11, 10);
    spec.slot_to_coeff.groups = groups(&[(5, 16), (5, 4)]);
    spec.slot_to_coeff.giants = GiantOrder::Horner;
    spec.coeff_to_slot.groups = groups(&[(2, 2), (4, 8), (4, 16)]);
    spec.coeff_to_slot.giants = GiantOrder::Horner;
    let world = World::new(spec.build().expect("supported"));
    keys_agree(&world.parameters, &world.bootstrap);
    let z = random(45, world.parameters.slots());
    let input = world.encrypt(&z);
    assert!(world.error(&world.complex.bootstrap(&input).expect("bootstrap"), &z) <= PRECISION);
    assert!(world.error(&world.real.bootstrap(&taken_as_real(&input)).expect("bootstrap"), &reals(&z)) <= PRECISION);
}

#[test]
fn products_go_on_between_bootstraps() {
    let world = world();
    let z: Vec<Complex64> = random(50, world.parameters.slots());
    let evaluator = Evaluator::new(&world.context, world.bootstrap.evaluation.clone()).expect("keys");
    let (mut x, mut expected) = (world.encrypt(&z), z.clone());
    for _ in 0..3 {
        x = world.complex.bootstrap(&x).expect("bootstrap");
        x = evaluator.square(&x).expect("a level is left");
        x = evaluator.mul(&x, &x).expect("a level is left");
        expected.iter_mut().for_each(|z| *z = z.powi(4));
        let error = worst(&world.decrypt(&x), &expected);
        assert!(error <= x.error_bound() && error < 2f64.powi(-18), "{error:e} of {:e}", x.error_bound());
    }
}

#[test]
fn the_same_seeds_give_the_same_result() {
    let world = world();
    let input = world.encrypt(&random(60, world.parameters.slots()));
    let [a, b] = [0, 1].map(|_| world.decrypt(&world.complex.bootstrap(&input).expect("bootstrap")));
    assert_eq!(a, b);
}

#[test]
fn false_magnitudes_give_wrong_results_and_foreign_ephemeral_keys_are_refused() {
    let world = world();
    let slots = world.parameters.slots();
    // Too large for the series: nothing can tell without the key.
    let large: Vec<Complex64> = random(70, slots).into_iter().map(|z| z * 40.0).collect();
    let lied = world.encrypt(&large).with_magnitude(1.0);
    assert!(worst(&world.decrypt(&world.complex.bootstrap(&lied).expect("bootstrap")), &large) > 0.1);
    // The way back from another ephemeral secret.
    let other = BootstrapKeys::generate(&world.context, &world.parameters, &world.keys.secret, seed(9), None);
    let from_ephemeral = other.expect("keys").from_ephemeral;
    let keys = Arc::new(BootstrapKeys { from_ephemeral, ..(*world.bootstrap).clone() });
    let refused = Bootstrapper::new(&world.context, &world.parameters, keys, Mode::Complex).err();
    assert!(matches!(refused, Some(Error::KeyMismatch { .. })), "{refused:?}");
}

#[test]
fn what_cannot_be_bootstrapped_is_refused() {
    let world = world();
    let (input, output) = (world.parameters.input_level(), world.parameters.output_level());
    let z = random(80, world.parameters.slots());
    let scale = world.context.parameters().scale_at(input);
    let refused = |ciphertext: &Ciphertext| match world.complex.bootstrap(ciphertext) {
        Err(error) => error,
        Ok(_) => panic!("it was not refused"),
    };
    let low = refused(&world.encrypt_at(&z, input - 1, scale));
    assert!(
        matches!(low.downcast_ref(), Some(CkksError::TooLowToBootstrap { needed, left }) if (*needed, *left) == (input, input - 1))
    );
    let high = refused(&world.encrypt_at(&z, output, scale));
    assert!(matches!(high, Error::Parameters { name: "level", .. }));
    let large: Vec<Complex64> = z.iter().map(|z| z * 4000.0).collect();
    assert!(matches!(refused(&world.encrypt(&large)), Error::Parameters { name: "magnitude", .. }));

    // Another ring.
    let mut spec = Preset::Toy.spec();
    spec.special.count += 1;
    let other = spec.build().expect("supported");
    let context = Context::new(other.ckks().expect("primes")).expect("rings");
    let new = |context: &Context, parameters: &Parameters, keys: &Arc<BootstrapKeys>| {
        Bootstrapper::new(context, parameters, keys.clone(), Mode::Complex).err().expect("refused")
    };
    assert!(matches!(new(&context, &other, &world.bootstrap), Error::ParameterMismatch { .. }));
    assert!(matches!(new(&world.context, &other, &world.bootstrap), Error::ParameterMismatch { .. }));
    let keys = context.generate_keys(seed(1), &KeyRequest::default()).expect("keys");
    let foreign = BootstrapKeys::generate(&world.context, &world.parameters, &keys.secret, seed(2), None);
    assert!(matches!(foreign, Err(Error::ParameterMismatch { .. })));

    // All that is missing is named at once.
    let none = EvaluationKeys::new(world.context.parameters().rlwe(), world.keys.secret.owner().key);
    let keys = Arc::new(BootstrapKeys { evaluation: Arc::new(none), ..(*world.bootstrap).clone() });
    let Error::MissingKey { kind, .. } = new(&world.context, &world.parameters, &keys) else { panic!("another error") };
    for named in ["relinearisation", "conjugation", "rotation by 1 "] {
        assert!(kind.contains(named), "{named}: {kind}");
    }
    let few = world.bootstrap.slot_to_coeff.shape();
    let none = EvaluationKeys::shaped(world.context.parameters().rlwe(), few, world.keys.secret.owner().key);
    let keys = Arc::new(BootstrapKeys { slot_to_coeff: Arc::new(none), ..(*world.bootstrap).clone() });
    let Error::MissingKey { kind, .. } = new(&world.context, &world.parameters, &keys) else { panic!("another error") };
    assert!(kind.contains("of slot to coefficient: rotation by 1 ") && !kind.contains("conjugation"), "{kind}");
    // The two sets are not one another.
    let slot_to_coeff = world.bootstrap.evaluation.clone();
    let keys = Arc::new(BootstrapKeys { slot_to_coeff, ..(*world.bootstrap).clone() });
    assert!(matches!(new(&world.context, &world.parameters, &keys), Error::KeyShape { .. }));
    // The two switching keys are not one another.
    let (to_ephemeral, from_ephemeral) = (&world.bootstrap.from_ephemeral, &world.bootstrap.to_ephemeral);
    let keys = Arc::new(BootstrapKeys {
        to_ephemeral: to_ephemeral.clone(),
        from_ephemeral: from_ephemeral.clone(),
        ..(*world.bootstrap).clone()
    });
    assert!(matches!(new(&world.context, &world.parameters, &keys), Error::KeyLevel { .. }));
}

#[test]
fn keys_are_those_of_the_plan() {
    keys_agree(&world().parameters, &world().bootstrap);
}

/// How many keys there are of each number of limbs, special primes and digits: counted, and in the plan.
fn keys_agree(parameters: &Parameters, keys: &BootstrapKeys) {
    let plan = BootstrapPlan::new(parameters).expect("a plan");
    let count = |roles: &[Role], set: &EvaluationKeys| {
        let mut found = BTreeMap::new();
        let relinearization = set.has_relinearization().then(|| set.relinearization(1).expect("a key"));
        for key in set.automorphisms().map(|(_, key)| key).chain(relinearization) {
            let special = key.pairs().ring().limbs() - key.limbs();
            *found.entry((key.limbs(), special, key.pairs().digits())).or_insert(0) += 1;
        }
        let mut planned = BTreeMap::new();
        for class in plan.keys().iter().filter(|class| roles.contains(&class.role)) {
            *planned.entry((class.limbs, class.special, class.digits)).or_insert(0) += class.count;
        }
        assert_eq!(found, planned, "{roles:?}");
    };
    count(&[Role::Relinearization, Role::Conjugation, Role::CoeffToSlot], &keys.evaluation);
    count(&[Role::SlotToCoeff], &keys.slot_to_coeff);
    for (role, key) in [(Role::ToEphemeral, &keys.to_ephemeral), (Role::FromEphemeral, &keys.from_ephemeral)] {
        let class = plan.keys().iter().find(|class| class.role == role).expect("one class");
        let pairs = key.pairs();
        assert_eq!((class.limbs + class.special, class.digits), (pairs.ring().limbs(), pairs.digits()), "{role:?}");
    }
}

#[test]
fn parameters_of_all_presets_have_primes() {
    for preset in Preset::ALL {
        let parameters = preset.parameters().expect("a preset");
        let ckks = parameters.ckks().expect("primes");
        assert_eq!(ckks.max_level(), parameters.max_level(), "{preset}");
        assert_eq!(ckks.rlwe().digits(), parameters.gadget().digits(), "{preset}");
        let log_q: Vec<u32> = ckks.rlwe().q().iter().map(|&q| (q as f64).log2().round() as u32).collect();
        assert_eq!(log_q, parameters.log_q(), "{preset}");
        for direction in [Direction::SlotToCoeff, Direction::CoeffToSlot] {
            assert!(!parameters.transform(direction).groups.is_empty());
        }
        let scale = ckks.scale_at(parameters.output_level()).log2();
        assert!((scale - f64::from(parameters.spec().application.bits)).abs() < 1e-4, "{preset}: 2^{scale}");
    }
}

#[test]
fn keys_and_ciphertexts_of_another_secret_are_refused() {
    let world = world();
    let mismatch = |error: Option<Error>| assert!(matches!(error, Some(Error::KeyMismatch { .. })), "{error:?}");
    let strangers = world.context.generate_keys(seed(40), &KeyRequest::default()).expect("keys");
    let level = world.parameters.input_level();
    let plaintext = Encoder::new(&world.context).encode(&[0.5, 0.25], 512, level).expect("encode");
    let encryptor = Encryptor::public(&world.context, &strangers.public, seed(3)).expect("encryptor");
    mismatch(world.real.bootstrap(&encryptor.encrypt(&plaintext).expect("encrypt")).err());
    let generate = |secret, number| {
        BootstrapKeys::generate(&world.context, &world.parameters, secret, seed(number), None).expect("keys")
    };
    // Keys of two secrets in one set, whichever they are.
    let other = generate(&strangers.secret, 42);
    let own = &*world.bootstrap;
    let sets = [
        BootstrapKeys { evaluation: other.evaluation.clone(), ..own.clone() },
        BootstrapKeys { slot_to_coeff: other.slot_to_coeff.clone(), ..own.clone() },
        BootstrapKeys { to_ephemeral: other.to_ephemeral.clone(), ..own.clone() },
        BootstrapKeys { from_ephemeral: other.from_ephemeral.clone(), ..own.clone() },
        // The same main secret, but two ephemeral ones.
        BootstrapKeys { to_ephemeral: generate(&world.keys.secret, 43).to_ephemeral.clone(), ..own.clone() },
    ];
    for keys in sets {
        let new = Bootstrapper::new(&world.context, &world.parameters, Arc::new(keys), Mode::Complex);
        mismatch(new.err());
    }
    // An evaluator of other keys than its bootstrapper.
    let evaluator = Evaluator::new(&world.context, strangers.evaluation.clone()).expect("one context");
    let bootstrapper = Bootstrapper::new(&world.context, &world.parameters, world.bootstrap.clone(), Mode::Real);
    mismatch(evaluator.with_bootstrapping(Arc::new(bootstrapper.expect("its keys"))).err());
}
