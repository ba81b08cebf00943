//! Bootstrapping twice: the error of the first time is bootstrapped itself.

use noren::bootstrapping::Preset;

use crate::encrypted::{World, inputs, reals};

#[test]
fn two_iterations_leave_the_rounding_of_the_scale() {
    let mut spec = Preset::Toy.spec();
    spec.iterations = 2;
    let world = World::new(spec.build().expect("supported"));
    for (name, z) in inputs(world.parameters.slots()) {
        let input = world.encrypt(&z);
        let fresh = crate::numbers::worst(&world.decrypt(&input), &z);
        let result = world.complex.bootstrap(&input).expect("bootstrap");
        let complex = world.error(&result, &z);
        let own = crate::numbers::worst(&world.decrypt(&result), &world.decrypt(&input));
        let real = world.error(&world.real.bootstrap(&input).expect("bootstrap"), &reals(&z));
        println!(
            "{name}: 2^{:.2} 2^{:.2} own 2^{:.2} fresh 2^{:.2} bound 2^{:.2}",
            complex.log2(),
            real.log2(),
            own.log2(),
            fresh.log2(),
            result.error_bound().log2()
        );
    }
}
