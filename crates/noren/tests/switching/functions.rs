//! Signs, comparisons and tables on encrypted reals.

use noren::bootstrapping::Mode;

use crate::world::{World, uniform};

#[test]
fn signs_are_right_outside_the_dead_zone() {
    let world = World::toy(9, Mode::Real);
    let values = uniform(20, 512);
    let x = world.encrypt(&values, 512, 1.0);
    let decision = world.switch.sign(&x).expect("levels");
    assert!(decision.dead_zone < 0.05, "{}", decision.dead_zone);
    let bound = decision.result.error_bound();
    assert!(bound < 2f64.powi(-12), "{bound:e}");
    for (found, z) in world.decrypt(&decision.result).iter().zip(&values) {
        let nearest = found.signum();
        assert!((found - nearest).abs() < bound, "{found}");
        assert!(nearest == z.signum() || z.abs() < decision.dead_zone, "{found} for {z}");
    }
}
