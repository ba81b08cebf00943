//! The slots of results of switching: every copy of a vector that repeats, whatever its length, its period and its slots.

use noren::bootstrapping::Mode;
use noren::circuits::matrix::Matrix;
use noren::circuits::trace;
use noren::ckks::{Ciphertext, Decryptor};
use noren::schemes::extent::Extent;
use noren::switching::{Decision, Readout, Steps, Variation};
use noren_math::kernels::is_fastest;

use crate::world::{World, uniform};

/// How far a value is from where it is decided, and what it becomes.
type Expected = Vec<(f64, f64)>;

/// A vector of which the first `length` slots of each period are values, and what follows is numbers that mean nothing.
fn vector(world: &World, values: &[f64], extent: Extent, slots: usize) -> Ciphertext {
    let rest = uniform(99, slots);
    let slot = |j: usize| {
        let j = j % extent.period();
        values.get(j).copied().unwrap_or(rest[j])
    };
    let all: Vec<f64> = (0..slots).map(slot).collect();
    let x = world.encrypt(&all, slots, 1.0);
    x.with_length(extent.length()).and_then(|x| x.with_period(extent.period())).expect("an extent")
}

/// Every copy of every value is right, the slots behind them repeat too, and the extent is still what it was.
fn check(world: &World, result: &Ciphertext, extent: Extent, expected: &Expected, dead_zone: f64) {
    assert_eq!(result.extent(), extent);
    let (found, bound, period) = (world.decrypt(result), result.error_bound(), extent.period());
    assert!(bound < 0.6, "{bound}");
    for (j, &found_here) in found.iter().enumerate() {
        assert!((found_here - found[j % period]).abs() <= 2.0 * bound, "slot {j} of {extent:?}: {found:?}");
        if let Some(&(distance, value)) = expected.get(j % period).filter(|&&(distance, _)| distance.abs() > dead_zone)
        {
            assert!(
                (found_here - value).abs() <= bound,
                "slot {j} of {extent:?}: {found_here} for {value}, {distance}"
            );
        }
    }
}

#[test]
fn every_copy_is_switched() {
    if !is_fastest() {
        return;
    }
    let world = World::toy(4, Mode::Real);
    let extents = [
        (16, Some(16), 16),
        (16, Some(3), 16),
        (16, Some(4), 4),
        (16, Some(3), 4),
        (16, Some(1), 1),
        (16, Some(5), 2),
        (16, None, 8),
        (16, None, 16),
        (8, Some(5), 8),
        (8, Some(2), 4),
        (4, None, 4),
        (1, Some(1), 1),
    ];
    for (slots, length, period) in extents {
        let extent = Extent::new(length, period, slots).expect("an extent");
        let count = extent.values().min(period);
        let (a, b) = (uniform(61, count), uniform(62, count));
        let [x, y] = [&a, &b].map(|values| vector(&world, values, extent, slots));
        let of = |f: &dyn Fn(f64, f64) -> (f64, f64)| a.iter().zip(&b).map(|(&a, &b)| f(a, b)).collect::<Expected>();
        let bit = |b: bool| f64::from(u8::from(b));
        let decided = |found: noren::error::Result<Decision>, expected: &Expected| {
            let Decision { result, dead_zone, .. } = found.expect("levels");
            assert!(dead_zone < 0.1);
            check(&world, &result, extent, expected, dead_zone);
        };
        let switch = &world.switch;
        decided(switch.sign(&x), &of(&|a, _| (a, a.signum())));
        decided(switch.threshold(&x, 0.25), &of(&|a, _| (a - 0.25, bit(a > 0.25))));
        decided(switch.less(&x, &y), &of(&|a, b| (b - a, bit(a < b))));
        let always = f64::INFINITY;
        let made = |found: noren::error::Result<Ciphertext>, expected: &Expected| {
            check(&world, &found.expect("levels"), extent, expected, 0.0);
        };
        made(switch.relu(&x), &of(&|a, _| (always, a.max(0.0))));
        made(switch.maximum(&x, &y), &of(&|a, b| (always, a.max(b))));
        made(switch.minimum(&x, &y), &of(&|a, b| (always, a.min(b))));
        let cube = |a: f64| a * a * a;
        let rising = Variation::Monotone(vec![]);
        made(switch.function(&x, &rising, cube), &of(&|a, _| (always, cube(a))));
        let ranges = vector(&world, &a.iter().map(|a| (3.0 * a).abs().round()).collect::<Vec<_>>(), extent, slots);
        let whole = ranges.with_range(-0.5, 15.0);
        made(switch.lookup(&whole, |z| (z % 2) as f64), &of(&|a, _| (always, (3.0 * a).abs().round() % 2.0)));
    }
}

#[test]
fn three_steps_decide_every_copy() {
    let mut world = World::toy(4, Mode::Real);
    world.switch = world.switch.with_steps(Steps::Three);
    let extent = Extent::new(Some(3), 4, 16).expect("an extent");
    let values = [0.02, -0.02, 0.7];
    let decision = world.switch.sign(&vector(&world, &values, extent, 16)).expect("levels");
    let expected = values.iter().map(|&value| (value, value.signum())).collect();
    check(&world, &decision.result, extent, &expected, decision.dead_zone);
}

#[test]
fn sums_rotations_and_matrices_follow() {
    let world = World::toy_with(4, Mode::Real, (-15..16).filter(|&steps| steps != 0).collect());
    let evaluator = world.switch.bootstrapper().evaluator();
    let matrix = Matrix::new(2, 4, vec![1.0, 2.0, 3.0, 4.0, 4.0, 3.0, 2.0, 1.0]).expect("2 x 4");
    let entries = [0.25, -0.5, 0.125, 0.5, -0.25, 0.25, 0.5, 0.125];
    let wide = Matrix::new(2, 4, entries.to_vec()).expect("2 x 4");
    let narrow = Matrix::new(4, 2, uniform(63, 8)).expect("4 x 2");
    let a = [1.0, -1.0, 0.5, 0.75];
    let clear: Vec<f64> = a.iter().map(|a: &f64| a.max(0.0)).collect();
    let product = |entries: &[f64], x: &[f64]| -> Vec<f64> {
        entries.chunks(x.len()).map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
    };
    let near = |found: &Ciphertext, expected: &[f64]| {
        let (all, bound) = (world.decrypt(found), found.error_bound());
        assert!(bound < 1.0, "{bound}");
        for (found, expected) in all.iter().zip(expected) {
            assert!((found - expected).abs() <= bound, "{all:?} for {expected}, bound {bound}");
        }
    };
    for period in [4, 8, 16] {
        let x = vector(&world, &a, Extent::new(Some(4), period, 16).expect("an extent"), 16);
        let y = world.switch.relu(&x).expect("levels");
        near(&matrix.apply(evaluator, &y).expect("keys"), &[5.5, 5.75]);
        near(&trace::sum(evaluator, &y, 4, 1).expect("keys"), &[2.25]);
        let turned = evaluator.rotate(&y, 1).expect("its key");
        near(&turned, &[&clear[1..], if period == 4 { &clear[..1] } else { &[] }].concat());
        // With fewer rows than the slots that repeat, and again with more.
        let z = wide.apply(evaluator, &world.switch.bootstrapper().bootstrap(&x).expect("its level")).expect("keys");
        let z = z.with_length(Some(2)).expect("rows");
        let relu = world.switch.relu(&z).expect("levels");
        let known: Vec<f64> = product(&entries, &a).into_iter().map(|z| z.max(0.0)).collect();
        near(&relu, &known);
        near(&narrow.apply(evaluator, &relu).expect("keys"), &product(&uniform(63, 8), &known));
        near(&trace::sum(evaluator, &relu, 2, 1).expect("keys"), &[known.iter().sum()]);
    }
}

#[test]
fn ranks_and_extremes_of_vectors_that_repeat() {
    let rotations = (1..16).collect();
    let world = World::toy_with(4, Mode::Real, rotations);
    let values = [0.5, -0.75, 0.0, 0.25];
    for period in [4, 8, 16] {
        let extent = Extent::new(Some(4), period, 16).expect("an extent");
        let x = vector(&world, &values, extent, 16);
        let ranks = world.switch.rank(&x, 4).expect("keys");
        let expected = [3.0, 0.0, 1.0, 2.0].map(|rank| (f64::INFINITY, rank)).to_vec();
        check(&world, &ranks.result, Extent::new(Some(4), 4, 16).expect("an extent"), &expected, 0.0);
        let top = world.switch.top(&x, 4, 2).expect("keys");
        let expected = [1.0, 0.0, 0.0, 1.0].map(|top| (f64::INFINITY, top)).to_vec();
        check(&world, &top.result, Extent::new(Some(4), 4, 16).expect("an extent"), &expected, 0.0);
        let best = world.switch.argmax(&x, 4).expect("keys");
        let one = Extent::new(Some(1), period, 16).expect("an extent");
        check(&world, &best.value, one, &vec![(f64::INFINITY, 0.5)], 0.0);
        check(&world, &best.index, one, &vec![(f64::INFINITY, 0.0)], 0.0);
    }
}

#[test]
fn bits_come_up_within_their_bound_beside_slots_that_hold_none() {
    for mode in [Mode::Real, Mode::Complex] {
        let world = World::toy(4, mode);
        let parts = if mode == Mode::Real { 1 } else { 2 };
        for (count, slots) in [(1, 1), (3, 4), (4, 4), (5, 8), (9, 16), (16, 16)] {
            let values: Vec<f64> = uniform(65, count).iter().map(|x| x.signum() * (0.5 + x.abs() / 2.0)).collect();
            let x = vector(&world, &values, Extent::of_values(count, slots), slots);
            let signs = world.switch.signs(&world.switch.down(&x, 0.2).expect("levels")).expect("its samples");
            let y = world.switch.up(&signs, Readout::Bits).expect("samples");
            assert_eq!((signs.len(), y.slots(), y.extent()), (parts * count, slots, Extent::of_values(count, slots)));
            let decryptor = Decryptor::new(world.context.ckks(), &world.keys.secret).expect("its secret");
            let (found, bound) = (decryptor.decrypt_complex(&y).expect("its secret"), y.error_bound());
            // Imaginary parts of real values are 0, whose sign may be either.
            for (slot, found) in found.iter().enumerate() {
                let expected = values.get(slot).map_or(0.0, |value| value.signum());
                assert!((found.re - expected).abs() <= bound, "{mode:?}, {count}: slot {slot} is {found}, {bound:e}");
            }
            // Where all slots are bits, errors count in their squares.
            let real = world.switch.up(&signs, Readout::Real).expect("samples").error_bound();
            assert!(if count == slots { bound < real / 2.0 } else { bound <= real }, "{count} of {slots}: {bound:e}");
        }
    }
}

#[test]
fn samples_are_the_values_of_one_copy() {
    for mode in [Mode::Real, Mode::Complex] {
        let world = World::toy(4, mode);
        let values = uniform(64, 3);
        for (slots, period) in [(16, 4), (16, 16), (8, 4), (4, 4)] {
            let x = vector(&world, &values, Extent::new(Some(3), period, slots).expect("an extent"), slots);
            let samples = world.switch.down(&x, 0.2).expect("levels");
            let parts = if mode == Mode::Real { 1 } else { 2 };
            assert_eq!(samples.len(), 3 * parts);
            for (phase, value) in world.phases(&samples).iter().zip(&values) {
                assert!((phase - 0.2 * value).abs() < 0.01, "{phase} {value}");
            }
            let y = world.switch.up(&samples, Readout::Real).expect("samples");
            assert_eq!((y.slots(), y.extent()), (4, Extent::of_values(3, 4)));
            let decryptor = Decryptor::new(world.context.ckks(), &world.keys.secret).expect("its secret");
            let found = decryptor.decrypt_complex(&y).expect("its secret");
            for (found, value) in found.iter().zip(&values) {
                assert!((found.re - (std::f64::consts::TAU * 0.2 * value).sin()).abs() <= y.error_bound());
            }
            assert!(found[3].norm() <= y.error_bound());
        }
    }
}
