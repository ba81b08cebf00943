//! Bootstrapping twice: the error of the first time is bootstrapped itself.

use noren::Complex64;
use noren::bootstrapping::{BootstrapPlan, Bootstrapper, Mode, Preset};
use noren::ckks::{Encoder, Encryptor, Scale};
use noren_math::kernels::is_fastest;

use crate::encrypted::{World, inputs, random, reals, seed, taken_as_real};
use crate::numbers::worst;
use crate::summary::Summary;

fn twice(log_slots: u32) -> World {
    let mut spec = Preset::Toy.spec_for(log_slots).expect("at most all");
    spec.iterations = 2;
    World::new(spec.build().expect("supported"))
}

/// The deviation of the rounding of one division in a slot, at the scale of results: `sqrt(N (1 + 2N/3) / 12) / S`.
fn rounding(world: &World) -> f64 {
    let (n, level) = (world.parameters.degree() as f64, world.parameters.output_level());
    (n * (1.0 + 2.0 * n / 3.0) / 12.0).sqrt() / world.context.parameters().scale_at(level).to_f64()
}

fn rms(a: &[Complex64], b: &[Complex64]) -> f64 {
    (a.iter().zip(b).map(|(a, b)| (a - b).norm_sqr()).sum::<f64>() / a.len() as f64).sqrt()
}

#[test]
fn two_iterations_leave_the_rounding_of_the_scale() {
    if !is_fastest() {
        return;
    }
    let world = twice(9);
    for (name, z) in inputs(world.parameters.slots()) {
        let input = world.encrypt(&z);
        let before = world.decrypt(&input);
        let result = world.complex.bootstrap(&input).expect("bootstrap");
        let complex = rms(&world.decrypt(&result), &before);
        world.error(&result, &z);
        let result = world.real.bootstrap(&taken_as_real(&input)).expect("bootstrap");
        let real = rms(&world.decrypt(&result), &reals(&before));
        world.error(&result, &reals(&z));
        // The way down, twice that of the series, and switches of keys, which round and add as much again.
        let bound = 4.0 * rounding(&world);
        assert!(complex < bound && real < bound, "{name}: {complex:e} and {real:e} of {bound:e}");
        assert!(result.error_bound() < 2f64.powi(-25), "{name}: {:e}", result.error_bound());
    }
}

#[test]
fn fewer_slots_other_scales_and_larger_messages_are_as_precise() {
    let world = twice(5);
    let paired = Bootstrapper::new(&world.context, &world.parameters, world.bootstrap.clone(), Mode::Paired);
    let paired = paired.expect("its keys");
    let (z, level) = (random(35, 32), world.parameters.input_level());
    let canonical = *world.context.parameters().scale_at(level);
    for (scale, magnitude) in [(1.0, 1.0), (0.3, 1.0), (1.7, 1.0), (1.0, 100.0)] {
        let z: Vec<Complex64> = z.iter().map(|z| z * magnitude).collect();
        let factor = Scale::from_f64(scale).expect("positive");
        for level in [level, level + 1] {
            let input = world.encrypt_at(&z, level, &canonical.mul(&factor));
            let before = world.decrypt(&input);
            for bootstrapper in [&world.complex, &paired] {
                if level >= bootstrapper.output_level() {
                    continue;
                }
                let result = bootstrapper.bootstrap(&input).expect("bootstrap");
                let error = worst(&world.decrypt(&result), &z);
                assert!(error <= result.error_bound(), "{error:e} of {:e}", result.error_bound());
                // As above, and the way down is rounded at the scale of the input.
                let (own, bound) = (rms(&world.decrypt(&result), &before), 4.0 * rounding(&world) / scale.min(1.0));
                assert!(own < bound, "scale {scale}, magnitude {magnitude}: {own:e} of {bound:e}");
            }
        }
    }
}

#[test]
fn expected_precision_is_that_of_results_to_a_bit() {
    for world in [twice(9), World::new(Preset::Toy.parameters().expect("a preset"))] {
        let plan = BootstrapPlan::new(&world.parameters).expect("a plan");
        let z = random(36, world.parameters.slots());
        // Symmetric encryptions have little noise of their own.
        let level = world.parameters.input_level();
        let scale = world.context.parameters().scale_at(level);
        let plaintext = Encoder::new(&world.context).encode_complex(&z, z.len(), level, scale).expect("encode");
        let encryptor = Encryptor::symmetric(&world.context, &world.keys.secret, seed(7)).expect("encryptor");
        let result = world.complex.bootstrap(&encryptor.encrypt(&plaintext).expect("encrypt")).expect("bootstrap");
        let bits = -worst(&world.decrypt(&result), &z).log2();
        assert!(
            (plan.precision_bits(Mode::Complex) - bits).abs() < 1.0,
            "{bits}, and {} expected",
            plan.precision_bits(Mode::Complex)
        );
    }
}

/// Runs a preset on the usual inputs, encrypted with the secret; prints and checks the worst slot and the level.
fn run(preset: Preset, bits: f64) {
    let mut summary = Summary::default();
    let world = World::new(preset.parameters().expect("a preset"));
    let (level, slots) = (world.parameters.input_level(), world.parameters.slots());
    let scale = world.context.parameters().scale_at(level);
    let encryptor = Encryptor::symmetric(&world.context, &world.keys.secret, seed(7)).expect("encryptor");
    for (name, z) in inputs(slots) {
        let plaintext = Encoder::new(&world.context).encode_complex(&z, slots, level, scale).expect("encode");
        let input = encryptor.encrypt(&plaintext).expect("encrypt");
        for (bootstrapper, z) in [(&world.complex, z.clone()), (&world.real, reals(&z))] {
            let result = bootstrapper.bootstrap(&taken_as_real(&input)).expect("bootstrap");
            let worst = worst(&world.decrypt(&result), &z);
            summary.add(worst);
            println!("{preset}, {name}: 2^{:.2}, bound 2^{:.2}", worst.log2(), result.error_bound().log2());
            assert!(worst <= result.error_bound() && worst.log2() < -bits, "{preset}, {name}: {worst:e}");
            assert_eq!((result.level(), result.slots()), (world.parameters.output_level(), slots));
        }
    }
    summary.print(preset);
}

#[test]
#[ignore = "128-bit parameters: 10 GB, a minute"]
fn n16_precise_comes_back_with_28_bits() {
    run(Preset::N16Precise, 28.0);
}

#[test]
#[ignore = "128-bit parameters: 10 GB, a minute"]
fn n16_132_comes_back_with_20_bits() {
    run(Preset::N16Margin, 20.0);
}

#[test]
#[ignore = "128-bit parameters: 10 GB, a minute"]
fn n16_small_comes_back_with_20_bits() {
    run(Preset::N16Small, 20.0);
}

#[test]
#[ignore = "128-bit parameters: 8 GB, a minute"]
fn n15_comes_back_with_17_bits() {
    run(Preset::N15, 17.0);
}
