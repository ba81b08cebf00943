//! Bootstrapping of fewer slots than the ring has.

use noren::bootstrapping::Preset;

use crate::encrypted::{PRECISION, World, inputs, reals};

fn few(log_slots: u32) -> World {
    World::new(Preset::Toy.spec_for(log_slots).expect("at most all").build().expect("supported"))
}

#[test]
fn any_number_of_slots_comes_back() {
    for log_slots in [9, 8, 5, 1, 0] {
        let world = few(log_slots);
        assert_eq!(world.parameters.slots(), 1 << log_slots);
        for (name, z) in inputs(1 << log_slots) {
            let input = world.encrypt(&z);
            let result = world.complex.bootstrap(&input).expect("bootstrap");
            assert_eq!(result.slots(), 1 << log_slots);
            let complex = world.error(&result, &z);
            let real = world.error(&world.real.bootstrap(&input).expect("bootstrap"), &reals(&z));
            println!(
                "{log_slots} {name}: 2^{:.2} 2^{:.2} bound 2^{:.2}",
                complex.log2(),
                real.log2(),
                result.error_bound().log2()
            );
            assert!(complex <= PRECISION && real <= PRECISION, "{log_slots}, {name}: {complex:e}, {real:e}");
        }
    }
}
