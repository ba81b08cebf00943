//! Refused switches: of messages whose coefficients leave the circle, and of decisions on complex numbers.

use noren::bootstrapping::Mode;
use noren::error::Error;

use crate::world::World;

#[test]
fn messages_that_are_too_large_for_the_way_down_are_refused() {
    let world = World::toy(4, Mode::Real);
    let x = world.encrypt(&[0.5; 16], 16, 1.0);
    let evaluator = world.switch.bootstrapper().evaluator();
    let moved = |by: f64| evaluator.add_const(&x, by.into()).expect("a number");
    for by in [1.0, 1024.0, 1048576.0] {
        let decision = world.switch.sign(&moved(-by)).expect("levels");
        assert!(
            world.decrypt(&decision.result).iter().all(|found| (found + 1.0).abs() < decision.result.error_bound())
        );
    }
    for by in [2f64.powi(36), 2f64.powi(40)] {
        let refused = world.switch.sign(&moved(-by)).err().expect("a bound that says nothing");
        assert!(matches!(refused, Error::Parameters { .. }), "{refused}");
    }
}

#[test]
fn decisions_on_complex_numbers_are_refused() {
    let world = World::toy(4, Mode::Complex);
    let x = world.encrypt(&[0.5; 16], 16, 1.0);
    assert!(world.switch.down(&x, 0.25).is_ok());
    for refused in [world.switch.sign(&x).err(), world.switch.argmin(&x, 4).err(), world.switch.round(&x).err()] {
        let error = refused.expect("imaginary parts would be decided on noise");
        assert!(matches!(error, Error::Parameters { .. }), "{error}");
        assert!(error.to_string().contains("real"), "{error}");
    }
}
