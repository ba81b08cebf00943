//! Signs, comparisons and tables on encrypted reals.

use noren::bootstrapping::Mode;
use noren::ckks::Operand;
use noren::error::Error;
use noren::switching::{SchemeSwitch, Steps, Variation};
use noren_math::kernels::is_fastest;

use crate::world::{World, uniform};

/// The decisions on a grid of values, and what they should be; those in the dead zone may be either.
fn check_signs(world: &World, values: &[f64], magnitude: f64) -> f64 {
    let x = world.encrypt(values, values.len(), magnitude);
    let decision = world.switch.sign(&x).expect("levels");
    let bound = decision.result.error_bound();
    assert!(bound < 2f64.powi(-12), "{bound:e}");
    for (found, z) in world.decrypt(&decision.result).iter().zip(values) {
        let nearest = found.signum();
        assert!((found - nearest).abs() < bound, "{found}");
        assert!(nearest == z.signum() || z.abs() < decision.dead_zone, "{found} for {z}");
    }
    decision.dead_zone
}

#[test]
fn signs_are_right_outside_the_dead_zone() {
    let world = World::toy(9, Mode::Real);
    let grid: Vec<f64> = (0..512).map(|i| (f64::from(i) - 255.5) / 256.0).collect();
    let dead_zone = check_signs(&world, &grid, 1.0);
    assert!(dead_zone < 0.03, "{dead_zone}");
    // It is in proportion to the magnitude that is stated.
    let small: Vec<f64> = grid.iter().map(|z| z / 64.0).collect();
    assert!(check_signs(&world, &small, 1.0 / 64.0) < dead_zone / 60.0);
    let large: Vec<f64> = grid.iter().map(|z| z * 100.0).collect();
    assert!(check_signs(&world, &large, 100.0) > 99.0 * dead_zone);
}

#[test]
fn dead_zones_count_the_errors_of_the_way_down() {
    let world = World::toy(4, Mode::Real);
    let x = world.encrypt(&[0.25; 16], 16, 1.0);
    let evaluator = world.switch.bootstrapper().evaluator();
    // The error of the way down grows with the message, that of the ciphertext does not: at 2^30 it is a part of the circle.
    for magnitude in [2f64.powi(10), 2f64.powi(30)] {
        let moved = evaluator.add_const(&x, magnitude.into()).expect("a number");
        let samples = world.switch.down(&moved, 0.45 / magnitude).expect("levels");
        let decision = world.switch.sign(&moved).expect("levels");
        let phases = decision.dead_zone * 0.45 / magnitude;
        assert!(phases > samples.error() + 8.0 * world.switch.law().decision, "{phases}");
        assert!(samples.error() > moved.error_bound() * 0.45 / magnitude);
    }
}

#[test]
fn three_steps_tell_nearer_values_apart() {
    if !is_fastest() {
        return;
    }
    let mut world = World::toy(9, Mode::Real);
    let grid: Vec<f64> = (0..512).map(|i| (f64::from(i) - 255.5) / 256.0).collect();
    let one = check_signs(&world, &grid, 1.0);
    world.switch = world.switch.with_steps(Steps::Three);
    let three = check_signs(&world, &grid, 1.0);
    for scale in [1.0 / 8.0, 1.0 / 32.0, 1.0 / 256.0] {
        let values: Vec<f64> = grid.iter().map(|z| z * scale).collect();
        assert_eq!(check_signs(&world, &values, 1.0), three);
    }
    assert!(three < one / 15.0, "{three} after {one}");
    // Where failures may be more frequent, the zone is smaller.
    world.switch = world.switch.with_failure(-29.0).expect("a probability");
    let decision = world.switch.sign(&world.encrypt(&grid, 512, 1.0)).expect("levels");
    assert!(decision.log2_failure <= -29.0 && decision.dead_zone < three / 1.2, "{}", decision.dead_zone);
    assert!(
        [f64::NAN, 0.0, -501.0].into_iter().all(|log2| World::toy(0, Mode::Real).switch.with_failure(log2).is_err())
    );
}

#[test]
fn comparisons_choose_the_larger_and_the_smaller() {
    let world = World::toy(4, Mode::Real);
    let (a, b) = (uniform(21, 16), uniform(22, 16));
    let [x, y] = [&a, &b].map(|values| world.encrypt(values, 16, 1.0));
    let less = world.switch.less(&x, &y).expect("levels");
    for ((found, a), b) in world.decrypt(&less.result).iter().zip(&a).zip(&b) {
        let expected = f64::from(u8::from(a < b));
        assert!((found - expected).abs() < less.result.error_bound() || (a - b).abs() < less.dead_zone, "{a} < {b}");
    }
    let [larger, smaller] = [world.switch.maximum(&x, &y), world.switch.minimum(&x, &y)].map(|z| z.expect("levels"));
    for (result, choose) in [(&larger, f64::max as fn(f64, f64) -> f64), (&smaller, f64::min)] {
        let bound = result.error_bound();
        assert!(bound < 0.06, "{bound}");
        for ((found, a), b) in world.decrypt(result).iter().zip(&a).zip(&b) {
            assert!((found - choose(*a, *b)).abs() < bound, "{a}, {b}: {found}, bound {bound}");
        }
    }
    // Numbers in clear, one for each slot or one for all.
    for (operand, clear) in [(Operand::from(&b[..]), &b[..]), (Operand::from(0.125), &[0.125; 16])] {
        let decision = world.switch.greater(&x, operand).expect("levels");
        for ((found, a), b) in world.decrypt(&decision.result).iter().zip(&a).zip(clear) {
            let expected = f64::from(u8::from(a > b));
            assert!((found - expected).abs() < decision.result.error_bound() || (a - b).abs() < decision.dead_zone);
        }
        let [larger, smaller] = [world.switch.maximum(&x, operand), world.switch.minimum(&x, operand)];
        for (result, choose) in [(larger, f64::max as fn(f64, f64) -> f64), (smaller, f64::min)] {
            let result = result.expect("levels");
            for ((found, a), b) in world.decrypt(&result).iter().zip(&a).zip(clear) {
                assert!((found - choose(*a, *b)).abs() < result.error_bound(), "{a}, {b}: {found}");
            }
        }
    }
    let relu = world.switch.relu(&x).expect("levels");
    for (found, a) in world.decrypt(&relu).iter().zip(&a) {
        assert!((found - a.max(0.0)).abs() < relu.error_bound(), "{a}: {found}");
    }
    let above = world.switch.threshold(&x, 0.25).expect("levels");
    for (found, a) in world.decrypt(&above.result).iter().zip(&a) {
        let expected = f64::from(u8::from(*a > 0.25));
        assert!((found - expected).abs() < above.result.error_bound() || (a - 0.25).abs() < above.dead_zone, "{a}");
    }
}

#[test]
fn tables_take_whole_numbers_to_anything() {
    let world = World::toy(4, Mode::Real);
    let values: Vec<f64> = (0..16).map(f64::from).collect();
    let x = world.encrypt(&values, 16, 15.0).with_range(0.0, 15.0);
    let square = world.switch.lookup(&x, |z| (z * z) as f64).expect("levels");
    let prime = world.switch.lookup(&x, |z| f64::from(u8::from([2, 3, 5, 7, 11, 13].contains(&z)))).expect("levels");
    let rounded = world.switch.round(&x).expect("levels");
    // Two values are read as bits.
    assert!(prime.error_bound() < 2f64.powi(-13) && square.error_bound() < 0.5);
    let [square, prime, rounded] = [&square, &prime, &rounded].map(|y| (world.decrypt(y), y.error_bound()));
    for (z, value) in values.iter().enumerate() {
        assert!((square.0[z] - value * value).abs() < square.1);
        assert!((prime.0[z] - f64::from(u8::from([2, 3, 5, 7, 11, 13].contains(&z)))).abs() < prime.1);
        assert!((rounded.0[z] - value).abs() < rounded.1);
    }
    // Up to the distance that is stated, numbers need not be whole.
    let distance = world.switch.box_distance(16).expect("integers");
    assert!((0.1..0.4).contains(&distance), "{distance}");
    let moved: Vec<f64> =
        values.iter().zip([0.99, -0.99].iter().cycle()).map(|(z, side)| z + side * distance).collect();
    let x = world.encrypt(&moved, 16, 16.0).with_range(0.0, 15.5);
    let rounded = world.switch.round(&x).expect("levels");
    for (found, value) in world.decrypt(&rounded).iter().zip(&values) {
        assert!((found - value).abs() < rounded.error_bound(), "{found} for {value}");
    }
}

#[test]
fn functions_of_reals_stay_within_what_they_change() {
    let world = World::toy(4, Mode::Real);
    let values: Vec<f64> = (0..16).map(|i| f64::from(i) / 4.0 + 1.0).collect();
    let x = world.encrypt(&values, 16, 8.0).with_range(1.0, 4.75);
    let rising = Variation::Monotone(vec![]);
    type Stated = (fn(f64) -> f64, Variation);
    let functions: [Stated; 7] = [
        (|z| z.exp() / 50.0, rising.clone()),
        (|z| (3.0 * z).sin(), Variation::Lipschitz(3.0)),
        (|z| 1.0 / z, Variation::Monotone(vec![0.0])),
        (|_| 2.5, rising),
        (|z| (z - 2.3).abs() / 4.0, Variation::Monotone(vec![2.3])),
        // Steps far from the values, and of three kinds.
        (|z| f64::from(u8::from(z > 1.13)) / 2.0, Variation::Monotone(vec![1.13])),
        (|z| z.trunc().rem_euclid(3.0) / 4.0, Variation::Monotone(vec![2.0, 3.0, 4.0])),
    ];
    for (function, variation) in functions {
        let y = world.switch.function(&x, &variation, function).expect("levels");
        let [low, high] = y.estimate().range().interval().expect("real");
        assert!(values.iter().all(|&z| low <= function(z) && function(z) <= high), "{variation:?}");
        let bound = y.error_bound();
        assert!(bound < 0.6, "{bound}");
        for (found, z) in world.decrypt(&y).iter().zip(&values) {
            assert!((found - function(*z)).abs() < bound, "{z}: {found} for {}, bound {bound}", function(*z));
        }
    }
}

#[test]
fn bounds_of_functions_hold_between_the_numbers_where_they_are_asked() {
    let world = World::toy(2, Mode::Real);
    let x = world.encrypt(&[0.5, 0.25, -0.5, 0.75], 4, 1.0);
    let spike = |z: f64| f64::from(u8::from(z == 0.5));
    let y = world.switch.function(&x, &Variation::Monotone(vec![0.5]), spike).expect("levels");
    let error = (world.decrypt(&y)[0] - 1.0).abs();
    assert!(error > 0.9 && error <= y.error_bound(), "{error} {}", y.error_bound());
    assert_eq!(y.estimate().range().interval(), Some([0.0, 1.0]));
    // A claim that the values contradict is refused: a tooth as wide as four of the numbers.
    let tooth = |z: f64| f64::from(u8::from((z - 0.5).abs() < 0.001));
    let refused = world.switch.function(&x, &Variation::Monotone(vec![]), tooth);
    assert!(matches!(refused, Err(Error::Parameters { name: "function", .. })));
    let refused = world.switch.function(&x, &Variation::Lipschitz(1.0), tooth);
    assert!(matches!(refused, Err(Error::Parameters { name: "Lipschitz constant", .. })));
}

#[test]
fn tournaments_take_fresh_ciphertexts() {
    let world = World::toy_with(3, Mode::Real, SchemeSwitch::rotations_of_extremes(8));
    let values = [3.0, 7.5, -1.0, 2.9, 2.0, 2.0, 0.0, -4.0];
    for level in [world.context.ckks().parameters().max_level(), world.switch.bootstrapper().output_level()] {
        let x = world.encrypt_at(&values, 8, level).with_range(-8.0, 8.0);
        let found = world.switch.argmax(&x, 8).expect("keys");
        assert!(found.dead_zone < 4.5 && (world.decrypt(&found.index)[0] - 1.0).abs() < 0.01);
        assert!((world.decrypt(&found.value)[0] - 7.5).abs() <= found.value.error_bound());
        assert_eq!([found.value, found.index].map(|one| one.extent().length()), [Some(1); 2]);
    }
}

#[test]
fn tournaments_of_many_large_numbers_are_bootstrapped_on_their_way() {
    let world = World::toy_with(9, Mode::Real, SchemeSwitch::rotations_of_extremes(512));
    // More rounds than levels, and more than bootstrapping takes.
    let mut values: Vec<f64> = uniform(65, 512).iter().map(|value| 1000.0 * value).collect();
    values[371] = 5000.0;
    let found = world.switch.argmax(&world.encrypt(&values, 512, 5000.0), 512).expect("keys");
    assert!((world.decrypt(&found.index)[0] - 371.0).abs() <= found.index.error_bound());
    assert!((world.decrypt(&found.value)[0] - 5000.0).abs() <= found.value.error_bound());
    assert!(found.index.error_bound() < 1.0, "{}", found.index.error_bound());
}

#[test]
fn tournaments_find_the_smallest_and_the_largest() {
    let world = World::toy_with(4, Mode::Real, SchemeSwitch::rotations_of_extremes(16));
    for (number, count) in [(30, 16), (31, 11), (32, 2), (33, 1)] {
        let values = uniform(number, count);
        let x = world.encrypt(&values, 16, 1.0);
        for (found, sign) in [(world.switch.argmin(&x, count), 1.0), (world.switch.argmax(&x, count), -1.0)] {
            let found = found.expect("keys");
            let best = values.iter().map(|z| sign * z).fold(f64::INFINITY, f64::min);
            let index = world.decrypt(&found.index)[0];
            assert!((index - index.round()).abs() <= found.index.error_bound() && found.index.error_bound() < 0.01);
            let at = sign * values[index.round() as usize];
            assert!(at - best <= found.dead_zone, "{at} is no {best}");
            let value = world.decrypt(&found.value)[0];
            assert!((sign * value - best).abs() <= found.value.error_bound() + 1e-12, "{value} is no {best}");
        }
    }
    let x = world.encrypt(&[0.5], 1, 1.0);
    assert!(matches!(world.switch.argmin(&x, 2), Err(Error::Length { found: 2, .. })));
}

/// The numbers that are surely below another one, and those that may be.
fn below(values: &[f64], z: f64, dead_zone: f64) -> [usize; 2] {
    let count = |edge: f64| values.iter().filter(|&&other| other < edge).count();
    [count(z - dead_zone), count(z + dead_zone)]
}

#[test]
fn ranks_count_the_smaller_ones() {
    if !is_fastest() {
        return;
    }
    // Pairs in one ciphertext, and in several; as many numbers as slots, and fewer.
    for (log_slots, slots, count) in [(8, 16, 16), (6, 16, 11), (4, 16, 16), (4, 4, 3), (4, 16, 1)] {
        let rotations = SchemeSwitch::rotations_of_ranks(count, 1 << log_slots);
        let world = World::toy_with(log_slots, Mode::Real, rotations);
        let values: Vec<f64> = uniform(40, count).iter().map(|z| z + 10.0).collect();
        let x = world.encrypt(&values, slots, 11.0).with_range(9.0, 11.0);
        let ranks = world.switch.rank(&x, count).expect("keys");
        assert_eq!((ranks.result.slots(), ranks.result.extent().values()), (slots, count));
        let (found, bound) = (world.decrypt(&ranks.result), ranks.result.error_bound());
        assert!(bound < 0.01 && ranks.dead_zone < 0.06, "{bound}, {}", ranks.dead_zone);
        for (found, &z) in found.iter().zip(&values) {
            let [least, most] = below(&values, z, ranks.dead_zone);
            assert!((found - found.round()).abs() < bound, "{found} is not whole");
            assert!((least..most.max(least + 1)).contains(&(found.round() as usize)), "{found} for {z}");
        }
    }
}

#[test]
fn the_largest_numbers_are_found_at_their_places() {
    let world = World::toy_with(6, Mode::Real, SchemeSwitch::rotations_of_ranks(40, 64));
    // At least 0.05 apart, so that ranks are exact; the last ones repeat the order of the first.
    let values: Vec<f64> = (0..40).map(|i| f64::from(i * 27 % 40) / 20.0 - 1.0).collect();
    let x = world.encrypt(&values, 64, 1.0);
    for (count, most) in [(16, 3), (40, 10), (2, 1)] {
        let top = world.switch.top(&x, count, most).expect("keys");
        let mut order: Vec<f64> = values[..count].to_vec();
        order.sort_by(f64::total_cmp);
        for (found, z) in world.decrypt(&top.result)[..count].iter().zip(&values) {
            let expected = f64::from(u8::from(*z >= order[count - most]));
            assert!(
                (found - expected).abs() < top.result.error_bound(),
                "{found} for {z}, the {most} largest of {count}"
            );
        }
    }
    for (count, most) in [(16, 0), (16, 16), (1, 1), (65, 2)] {
        let refused = world.switch.top(&x, count, most).err();
        assert!(matches!(refused, Some(Error::Length { .. })), "{most} of {count}");
    }
    let without = World::toy(9, Mode::Real);
    let refused = without.switch.rank(&without.encrypt(&values, 64, 1.0), 16).err().expect("no keys");
    assert!(matches!(refused, Error::MissingKey { .. }), "{refused}");
}
