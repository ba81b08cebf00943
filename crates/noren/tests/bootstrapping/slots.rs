//! Bootstrapping of fewer slots than the ring has: one after another, or real and imaginary parts side by side.

use std::sync::Arc;

use noren::bootstrapping::{BootstrapKeys, BootstrapPlan, Bootstrapper, Mode, Preset, Role};
use noren::ckks::{Ciphertext, Evaluator};
use noren::{Complex64, Error, EvaluationKeys};
use noren_math::kernels::is_fastest;

use crate::encrypted::{PRECISION, World, inputs, random, reals, seed, taken_as_real, world};
use crate::numbers::worst;

fn few(log_slots: u32) -> World {
    World::new(Preset::Toy.spec_for(log_slots).expect("at most all").build().expect("supported"))
}

fn bootstrapper(world: &World, mode: Mode) -> Bootstrapper {
    Bootstrapper::new(&world.context, &world.parameters, world.bootstrap.clone(), mode).expect("its keys")
}

/// Checks level, scale and bound of a result of a mode that uses a level more; its worst error.
fn paired_error(world: &World, result: &Ciphertext, expected: &[Complex64]) -> f64 {
    let level = world.parameters.output_level() - 1;
    assert_eq!((result.level(), result.scale()), (level, world.context.parameters().scale_at(level)));
    let error = worst(&world.decrypt(result), expected);
    let bound = result.error_bound();
    assert!(error <= bound && bound < 2f64.powi(-18), "an error of {error:e}, a bound of {bound:e}");
    error
}

#[test]
fn any_number_of_slots_comes_back() {
    if !is_fastest() {
        return;
    }
    for log_slots in [9, 8, 5, 1, 0] {
        let world = few(log_slots);
        assert_eq!((world.parameters.slots(), world.parameters.gap()), (1 << log_slots, 1 << (9 - log_slots)));
        let paired = (log_slots < 9).then(|| bootstrapper(&world, Mode::Paired));
        for (name, z) in inputs(1 << log_slots) {
            let input = world.encrypt(&z);
            let result = world.complex.bootstrap(&input).expect("bootstrap");
            assert_eq!(result.slots(), 1 << log_slots);
            let complex = world.error(&result, &z);
            let real = world.error(&world.real.bootstrap(&taken_as_real(&input)).expect("bootstrap"), &reals(&z));
            assert!(complex <= PRECISION && real <= PRECISION, "{log_slots}, {name}: {complex:e}, {real:e}");
            if let Some(paired) = &paired {
                let error = paired_error(&world, &paired.bootstrap(&input).expect("bootstrap"), &z);
                assert!(error <= PRECISION, "{log_slots}, {name}: {error:e}");
            }
        }
    }
}

#[test]
fn raised_polynomials_lie_in_the_subring() {
    for log_slots in [8, 5] {
        let world = few(log_slots);
        let (slots, ratio) = (world.parameters.slots(), world.parameters.series().ratio());
        let z = random(31, slots);
        let stages = world.complex.stages(&world.encrypt(&z), &mut |_| {}).expect("bootstrap");
        let width = 2.0 * world.parameters.exponential().half_width();
        let coefficients = world.coefficients(&stages.coefficients);
        for (t, z) in world.coefficients(&stages.raised).iter().zip(&coefficients) {
            let rest = t * width - z / ratio;
            let multiple = Complex64::new(rest.re.round(), rest.im.round());
            // The part outside the subring is gone, and the part inside was not divided by the gap: it is in the scale.
            assert!((rest - multiple).norm() < 2f64.powi(-33), "{rest} is no integer");
            assert!(multiple.re.abs() <= 14.0 && multiple.im.abs() <= 14.0);
        }
        // All copies of a slot hold the same, so that any of them could be read.
        let evaluator = Evaluator::new(&world.context, world.bootstrap.evaluation.clone()).expect("keys");
        let again =
            evaluator.rotate(&stages.raised, slots.cast_signed()).expect("a multiple of the slots needs no key");
        assert_eq!(world.decrypt(&again), world.decrypt(&stages.raised));
        // Side by side: u holds the real parts, then the imaginary ones.
        let beside = bootstrapper(&world, Mode::Paired).stages(&world.encrypt(&z), &mut |_| {}).expect("bootstrap");
        let [u] = &beside.parts[..] else { panic!("one vector for both parts") };
        assert_eq!((u.slots(), beside.exponentials.len()), (2 * slots, 1));
        let halves = world.decrypt(u);
        let separate = world.complex.stages(&world.encrypt(&z), &mut |_| {}).expect("bootstrap").parts;
        let expected = [world.decrypt(&separate[0]), world.decrypt(&separate[1])].concat();
        assert!(worst(&halves, &expected) < 2f64.powi(-36));
    }
}

#[test]
fn one_context_and_one_secret_serve_any_number_of_slots() {
    let all = world();
    for preset in Preset::ALL {
        let ckks = preset.parameters().expect("a preset").ckks().expect("primes");
        let most = preset.spec().log_slots;
        for log_slots in [0, 1, most / 2, most - 1] {
            let parameters = preset.spec_for(log_slots).expect("fewer").build().expect("supported");
            assert_eq!(parameters.ckks().expect("primes"), ckks, "{preset}, {log_slots}");
        }
    }
    // The same secret, other bootstrapping keys; then products with results of the other.
    let parameters = Preset::Toy.spec_for(4).expect("fewer").build().expect("supported");
    let keys = BootstrapKeys::generate(&all.context, &parameters, &all.keys.secret, seed(5), None).expect("keys");
    let keys = Arc::new(keys);
    let few = Bootstrapper::new(&all.context, &parameters, keys, Mode::Complex).expect("its keys");
    let z = random(32, 16);
    let evaluator = Evaluator::new(&all.context, all.bootstrap.evaluation.clone()).expect("keys");
    let product = evaluator.square(&few.bootstrap(&all.encrypt(&z)).expect("bootstrap")).expect("a level is left");
    let again = all.complex.bootstrap(&product).expect("a level is left");
    let squares: Vec<Complex64> = z.iter().map(|z| z * z).collect();
    assert!(all.error(&again, &squares) <= 4.0 * PRECISION);
    // Fewer slots than are bootstrapped are repeated in them.
    let z = random(33, 2);
    assert!(all.error(&few.bootstrap(&all.encrypt(&z)).expect("bootstrap"), &z) <= PRECISION);
}

#[test]
fn more_slots_other_keys_and_modes_without_room_are_refused() {
    let world = few(5);
    let wide = world.encrypt(&random(34, 64));
    let Err(Error::Length { found, needed, .. }) = world.complex.bootstrap(&wide) else { panic!("it was not refused") };
    assert!(found == 64 && needed.contains("at most 32"), "{found}, {needed}");
    let refused = |keys| {
        Bootstrapper::new(&world.context, &world.parameters, Arc::new(keys), Mode::Complex).err().expect("refused")
    };
    // Keys for all slots have the rotation by 32 for fewer limbs than the projection needs, and lack others.
    let all = crate::encrypted::world();
    let keys = BootstrapKeys::generate(&world.context, &all.parameters, &world.keys.secret, seed(6), None);
    let short = refused(keys.expect("the same primes"));
    let Error::MissingKey { kind, .. } = &short else { panic!("{short}") };
    assert!(kind.contains("rotation by 32 (X -> X^1921), beyond the limbs of its key"), "{short}");
    let none = Arc::new(EvaluationKeys::new(world.context.parameters().rlwe(), world.keys.secret.owner().key));
    let missing = refused(BootstrapKeys { evaluation: none, ..(*world.bootstrap).clone() });
    let Error::MissingKey { kind, .. } = missing else { panic!("{missing}") };
    for named in ["rotation by 32 ", "rotation by 64 ", "rotation by 256 "] {
        assert!(kind.contains(named), "{named}: {kind}");
    }
    // No room for two halves.
    let full = Bootstrapper::new(&all.context, &all.parameters, all.bootstrap.clone(), Mode::Paired).err();
    assert!(matches!(full, Some(Error::Parameters { name: "mode", .. })), "{full:?}");
    let mut spec = Preset::Toy.spec_for(8).expect("fewer");
    assert!(matches!(Preset::Toy.spec_for(10), Err(Error::Parameters { name: "log_slots", .. })));
    spec.log_slots = 10;
    assert!(matches!(spec.clone().build(), Err(Error::Parameters { name: "log_slots", .. })));
    spec.log_slots = 7;
    assert!(matches!(spec.build(), Err(Error::Parameters { name: "slot_to_coeff", .. })));
}

#[test]
fn fewer_slots_take_fewer_keys_and_fail_less_often() {
    let plan = |log_slots| {
        BootstrapPlan::new(&Preset::N16.spec_for(log_slots).expect("at most all").build().expect("supported"))
            .expect("a plan")
    };
    let all = plan(15);
    for log_slots in [14, 12, 10, 5, 0] {
        let few = plan(log_slots);
        let projection: usize = few.keys().iter().filter(|k| k.role == Role::Projection).map(|k| k.count).sum();
        // Two doublings at a time take three keys, and one that is left over takes one.
        let doublings = 15 - log_slots as usize;
        assert_eq!(projection, doublings / 2 * 3 + doublings % 2, "{log_slots}");
        assert!(few.factor_bytes() < all.factor_bytes(), "{log_slots}");
        // One doubling needs a key, and saves as much in the transform.
        let key_bytes = few.key_bytes() as f64 / all.key_bytes() as f64;
        assert!(key_bytes < if doublings == 1 { 1.1 } else { 1.0 }, "{log_slots}: {key_bytes}");
        // 2n coefficients count.
        assert!((all.log2_failure(100) - few.log2_failure(100) - doublings as f64).abs() < 1e-9);
    }
}
