//! Sums over slots and copies, in clear.

use noren::circuits::recorder::Recorder;
use noren::circuits::trace;

use crate::numbers::{EV, assert_close, numbers, rounding, vector};

#[test]
fn trace_adds_equally_spaced_slots() {
    let slots = 64;
    let x = vector(numbers(slots, 1), 0);
    for count in 1..=slots {
        for stride in [1, 3, 8, -1, -5] {
            let y = trace::sum(&EV, &x, count, stride).expect("no level is needed");
            let expected: Vec<f64> = (0..slots.cast_signed())
                .map(|j| {
                    let at = |i: usize| (j + i.cast_signed() * stride).rem_euclid(slots.cast_signed()).cast_unsigned();
                    (0..count).map(|i| x.values()[at(i)]).sum()
                })
                .collect();
            assert_close(y.values(), &expected, rounding(count), &format!("count {count}, stride {stride}"));
            assert_eq!(y.level(), 0);
        }
    }
}

#[test]
fn trace_asks_for_the_rotations_it_names() {
    for count in 1..200 {
        let recorder = Recorder::new();
        let x = recorder.fresh(256);
        trace::sum(&recorder, &x, count, 3).expect("nothing can be missing");
        let demands = recorder.demands();
        assert!(demands.rotations.keys().eq(&trace::rotations(count, 3)), "count {count}");
        assert_eq!(demands.depth, 0);
        if count.is_power_of_two() {
            assert_eq!(demands.counts.decompositions, count.ilog2().div_ceil(2) as usize, "count {count}");
        }
    }
}

#[test]
fn replicate_copies_to_following_slots() {
    for count in 1..=8 {
        let mut values = vec![0.0; 16];
        (values[0], values[8]) = (1.0, 2.0);
        let y = trace::replicate(&EV, &vector(values, 0), count, 1).expect("no level is needed");
        let expected: Vec<f64> = (0..16)
            .map(|j| {
                if j % 8 >= count {
                    0.0
                } else if j < 8 {
                    1.0
                } else {
                    2.0
                }
            })
            .collect();
        assert_eq!(y.values(), expected, "count {count}");
    }
}
