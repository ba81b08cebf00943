//! Sums over slots and copies, in clear.

use noren::circuits::recorder::Recorder;
use noren::circuits::trace::{self, Unrolling};
use noren::error::Error;
use noren::schemes::costs::RotationCosts;

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

/// How many steps a plan for `count` terms may have.
fn all_steps(count: usize) -> impl Iterator<Item = usize> {
    let most = count.ilog2() as usize;
    (0..=most).filter(move |&steps| Unrolling::unrolled(count, 1, steps).is_ok())
}

#[test]
fn plans_of_any_number_of_steps_give_the_same_sum() {
    let slots = 64_isize;
    let x = vector(numbers(64, 1), 0);
    for count in 1..=64_usize {
        for stride in [1, 5, -3] {
            let at = |j: isize, i: usize| (j + i.cast_signed() * stride).rem_euclid(slots).cast_unsigned();
            let sum = |j| (0..count).map(|i| x.values()[at(j, i)]).sum();
            let expected: Vec<f64> = (0..slots).map(sum).collect();
            for steps in all_steps(count) {
                let y = Unrolling::unrolled(count, stride, steps).expect("possible").apply(&EV, &x).expect("no level");
                let what = format!("count {count}, stride {stride}, {steps} steps");
                assert_close(y.values(), &expected, rounding(count), &what);
            }
        }
    }
}

#[test]
fn powers_of_two_unroll_into_any_number_of_steps_with_the_published_key_counts() {
    let keys = |doublings: u32, steps| {
        let plan = Unrolling::unrolled(1 << doublings, 3, steps).expect("possible");
        assert_eq!(plan.steps(), steps);
        plan.rotations().len()
    };
    assert_eq!([1, 2, 3, 4, 5, 6, 7].map(|steps| keys(7, steps)), [127, 22, 13, 10, 9, 8, 7]);
    assert_eq!([4, 5, 7].map(|steps| keys(15, steps)), [52, 35, 25]);
    for doublings in 1..=8 {
        assert!(all_steps(1 << doublings).eq(1..=doublings), "{doublings} doublings");
    }
    // The smaller pieces come first.
    let rotations = Unrolling::unrolled(32, 1, 2).expect("possible").rotations();
    assert_eq!(rotations, [1, 2, 3, 4, 8, 12, 16, 20, 24, 28]);
}

#[test]
fn other_counts_join_doublings_between_one_bits() {
    // 13 is 1101: one doubling, a term more, two doublings, a term more.
    assert!(all_steps(13).eq(2..=3));
    assert_eq!(Unrolling::unrolled(13, 1, 2).expect("possible").rotations(), [1, 3, 6, 9]);
    assert_eq!(Unrolling::unrolled(13, 1, 3).expect("possible").rotations(), [1, 3, 6]);
    for (count, steps) in [(13, 1), (13, 4), (16, 0), (16, 5), (1, 1)] {
        let refused = Unrolling::unrolled(count, 1, steps);
        assert!(matches!(refused, Err(Error::Parameters { name: "steps", .. })), "{count}, {steps}");
    }
    assert!(matches!(Unrolling::unrolled(0, 1, 1), Err(Error::Length { found: 0, .. })));
}

#[test]
fn no_count_takes_more_memory_than_a_ring_has_slots() {
    for count in [1 << 31, u32::MAX as usize, 1 << 40] {
        let plan = Unrolling::usual(count, 1);
        assert!(plan.rotations().len() < 200, "{count}");
        assert!(matches!(Unrolling::unrolled(count, 1, 1), Err(Error::Parameters { name: "steps", .. })), "{count}");
    }
    assert!(Unrolling::unrolled(1 << 17, 1, 2).is_ok());
    assert!(matches!(Unrolling::unrolled(1 << 40, 1 << 30, 40), Err(Error::Parameters { name: "stride", .. })));
}

#[test]
fn plans_ask_for_the_rotations_they_name() {
    for count in 1..200 {
        for steps in all_steps(count) {
            let recorder = Recorder::new();
            let plan = Unrolling::unrolled(count, 3, steps).expect("possible");
            plan.apply(&recorder, &recorder.fresh(256)).expect("nothing can be missing");
            let usage = recorder.usage();
            assert!(usage.rotations.keys().eq(&plan.rotations()), "count {count}");
            assert_eq!(plan.steps(), steps);
            let appended = count.count_ones() as usize - 1;
            assert_eq!((usage.depth, usage.counts.decompositions), (0, steps + appended), "count {count}");
        }
        let recorder = Recorder::new();
        trace::sum(&recorder, &recorder.fresh(256), count, 3).expect("nothing can be missing");
        assert!(recorder.usage().rotations.keys().eq(&trace::rotations(count, 3)), "count {count}");
    }
}

#[test]
fn the_fastest_plan_stays_within_the_memory_for_keys() {
    let costs = RotationCosts { shared: 4.0, end: 2.0, cached: 1.0, streamed: 1.5, key_bytes: 10, cache_bytes: 260 };
    let cost = |steps| Unrolling::unrolled(128, 1, steps).expect("possible").cost(&costs);
    // Work of all sums and of each, rotations, and whether the keys fit half of the cache: 13 of them do.
    assert_eq!((cost(2), cost(3), cost(7)), (10.0 + 22.0 * 1.5, 14.0 + 13.0, 30.0 + 7.0));
    for limit in 70..1300 {
        let plan = Unrolling::fastest(128, 1, &costs, limit).expect("seven keys are enough");
        assert!(plan.key_bytes(&costs) <= limit);
        let affordable = (1..=7)
            .filter(|&steps| Unrolling::unrolled(128, 1, steps).is_ok_and(|other| other.key_bytes(&costs) <= limit));
        assert_eq!(plan.cost(&costs), affordable.map(cost).fold(f64::INFINITY, f64::min), "limit {limit}");
    }
    match Unrolling::fastest(128, 1, &costs, 69) {
        Err(Error::Parameters { name: "key_memory", found, needed }) => {
            assert!(found.contains("69 bytes") && needed.contains("at least 70 bytes"), "{found}, {needed}");
        }
        other => panic!("{other:?} was not expected"),
    }
}

#[test]
fn usual_plans_take_two_doublings_at_a_time() {
    for doublings in 1..=16_usize {
        let plan = Unrolling::usual(1 << doublings, 5);
        assert_eq!(plan.steps(), doublings.div_ceil(2), "{doublings} doublings");
        assert_eq!(plan.rotations().len(), doublings + doublings / 2, "{doublings} doublings");
        assert_eq!(plan.rotations(), trace::rotations(1 << doublings, 5));
    }
}

#[test]
fn field_traces_are_sums_over_the_whole_vector() {
    for steps in 1..=3 {
        let plan = Unrolling::field_trace(64, 3, steps).expect("possible");
        assert_eq!(plan, Unrolling::unrolled(8, 8, steps).expect("possible"));
    }
    assert!(matches!(Unrolling::field_trace(64, 7, 1), Err(Error::Parameters { name: "doublings", .. })));
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
