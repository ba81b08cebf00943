//! Products over slots, in clear.

use noren::circuits::product::{self, product, sequential};
use noren::circuits::recorder::Recorder;
use noren::error::Error;

use crate::numbers::{EV, assert_close, numbers, rounding, vector};

const SLOTS: usize = 64;

/// By the definition.
fn expected(x: &[f64], count: usize, stride: isize) -> Vec<f64> {
    let at = |j: usize, i: usize| (j.cast_signed() + i.cast_signed() * stride).rem_euclid(x.len().cast_signed());
    (0..x.len()).map(|j| (0..count).map(|i| x[at(j, i).cast_unsigned()]).product()).collect()
}

#[test]
fn products_multiply_equally_spaced_slots() {
    for count in 1..=SLOTS {
        for stride in [1, 3, 8, -1, -5, 0] {
            let x = vector(numbers(SLOTS, 1), SLOTS);
            let (tree, row) = (product(&EV, &x, count, stride), sequential(&EV, &x, count, stride));
            let (tree, row) = (tree.expect("levels are there"), row.expect("levels are there"));
            let expected = expected(x.values(), count, stride);
            for found in [&tree, &row] {
                assert_close(found.values(), &expected, rounding(count), &format!("count {count}, stride {stride}"));
            }
            let levels = count.next_power_of_two().ilog2() as usize;
            assert_eq!((product::depth(count), tree.level()), (levels, SLOTS - levels), "count {count}");
            assert_eq!(row.level(), SLOTS - (count - 1), "count {count}");
        }
    }
}

#[test]
fn ones_beyond_the_factors_change_nothing() {
    let mut x = numbers(100, 3);
    x.resize(128, 1.0);
    let padded = product(&EV, &vector(x.clone(), 7), 128, 1).expect("seven levels");
    // The factors fill a period: every slot holds the product of all.
    assert_close(padded.values(), &[x.iter().product(); 128], rounding(128), "padded");
}

#[test]
fn trees_ask_for_the_rotations_they_name_and_few_products() {
    for count in 1..300_usize {
        let recorder = Recorder::new();
        product(&recorder, &recorder.fresh(512), count, 3).expect("nothing can be missing");
        let usage = recorder.usage();
        let named = product::rotations(count, 3).expect("there are factors");
        assert!(usage.rotations.keys().eq(&named), "count {count}");
        let levels = product::depth(count);
        assert_eq!((usage.depth, usage.counts.rotations), (levels, usage.counts.products), "count {count}");
        let most = if count.is_power_of_two() { levels } else { 2 * levels };
        assert!((levels..=most).contains(&usage.counts.products), "count {count}");
    }
    assert_eq!(product::rotations(128, 1).expect("there are factors"), [1, 2, 4, 8, 16, 32, 64]);
    assert_eq!(product::rotations(100, 1).expect("there are factors"), [1, 2, 3, 6, 12, 25, 50]);
}

#[test]
fn products_in_a_row_take_one_rotation_key() {
    let recorder = Recorder::new();
    sequential(&recorder, &recorder.fresh(64), 20, -2).expect("nothing can be missing");
    let usage = recorder.usage();
    assert!(usage.rotations.keys().eq(&[-2]));
    assert_eq!((usage.depth, usage.counts.products, usage.counts.rotations), (19, 19, 19));
}

#[test]
fn products_refuse_no_factors_too_many_and_too_few_levels() {
    let x = vector(numbers(8, 1), 2);
    for refused in [product(&EV, &x, 0, 1), sequential(&EV, &x, 0, 1)] {
        assert!(matches!(refused, Err(Error::Length { found: 0, .. })));
    }
    assert!(matches!(product::rotations(0, 1), Err(Error::Length { found: 0, .. })));
    for (count, stride) in [(usize::MAX, 1), (4, isize::MAX), (4, isize::MIN)] {
        let refused = product(&EV, &x, count, stride);
        assert!(matches!(refused, Err(Error::Parameters { name: "stride", .. })), "{count}, {stride}");
    }
    assert!(product(&EV, &x, 4, 1).is_ok() && sequential(&EV, &x, 3, 1).is_ok());
    assert!(matches!(product(&EV, &x, 5, 1), Err(Error::LevelExhausted { needed: 3, left: 2 })));
    assert!(matches!(sequential(&EV, &x, 4, 1), Err(Error::LevelExhausted { needed: 3, left: 2 })));
}
