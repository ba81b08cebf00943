//! The way down, the way up, and both, against numbers and laws.

use noren::bootstrapping::Mode;
use noren::switching::Readout;

use crate::world::{World, rms, uniform};

#[test]
fn values_come_down_with_the_noise_of_the_law() {
    let world = World::toy(9, Mode::Real);
    let values = uniform(10, 512);
    let x = world.encrypt(&values, 512, 1.0);
    for part in [0.45, 1.0 / 32.0] {
        let samples = world.switch.down(&x, part).expect("levels");
        assert_eq!((samples.len(), samples.part()), (512, part));
        let errors: Vec<f64> = world.phases(&samples).iter().zip(&values).map(|(phase, z)| phase - part * z).collect();
        let worst = errors.iter().fold(0.0, |worst: f64, error| worst.max(error.abs()));
        assert!(worst < samples.error() + 7.0 * samples.deviation(), "{worst:e}");
        let (found, law) = (rms(errors), samples.deviation());
        assert!(found < 1.1 * law.hypot(samples.error()) && found > 0.9 * law, "{found:e}, law {law:e}");
    }
}

#[test]
fn values_go_down_and_up_without_a_bootstrap_between() {
    // Every number of slots, and fewer values than slots.
    for (log_slots, count) in [(9, 512), (9, 300), (4, 16), (4, 1), (0, 1)] {
        let world = World::toy(log_slots, Mode::Real);
        let slots = 1 << log_slots;
        let values = uniform(11, count);
        let x = world.encrypt(&values, slots, 1.0);
        let samples = world.switch.down(&x, 0.2).expect("levels");
        assert_eq!(samples.len(), count);
        let y = world.switch.up(&samples, Readout::Real).expect("samples");
        assert_eq!(y.level(), world.switch.bootstrapper().output_level());
        let found = world.decrypt(&y);
        for (found, z) in found.iter().zip(&values) {
            let sine = (std::f64::consts::TAU * 0.2 * z).sin();
            // The samples have the noise of the way down, which is less than that of a bootstrap.
            assert!((found - sine).abs() < y.error_bound(), "{found} for {sine}, bound {:e}", y.error_bound());
        }
    }
}

#[test]
fn phases_go_through_any_table() {
    let world = World::toy(4, Mode::Real);
    let values = uniform(12, 16);
    // A quarter of the circle ahead, for the half of it that a table has.
    let x = world.encrypt(&values, 16, 1.0);
    let x = world.switch.bootstrapper().evaluator().add_const(&x, 1.25.into()).expect("a number");
    let samples = world.switch.down(&x, 0.2).expect("levels");
    let quarters = world.switch.bootstrap(&samples, |phase| phase / 4.0).expect("its samples");
    assert_eq!((quarters.len(), quarters.part(), quarters.deviation()), (16, 1.0, world.switch.law().bootstrap));
    let noise = 7.0 * (0.25 * world.switch.law().decision + quarters.deviation()) + 0.25 * samples.error();
    for (phase, z) in world.phases(&quarters).iter().zip(&values) {
        assert!((phase - 0.05 * (z + 1.25)).abs() < noise, "{phase} for {z}");
    }
    let y = world.switch.up(&quarters, Readout::Real).expect("samples");
    for (found, phase) in world.decrypt(&y).iter().zip(world.phases(&quarters)) {
        assert!((found - (std::f64::consts::TAU * phase).sin()).abs() < y.error_bound());
    }
    let refused = world.switch.bootstrap(&samples, |phase| (phase - 0.25).ln()).err();
    assert!(refused.is_some_and(|error| error.to_string().contains("NaN")));
}
