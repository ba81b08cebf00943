//! Sets of 128 bits: `n16` with `2_2`, and with a larger set.

use noren::bootstrapping::{Mode, Preset};
use noren::schemes::slots::SlotEvaluator;
use noren::switching::{Readout, Samples, SchemeSwitch, Steps, Variation};
use noren::tfhe;
use noren::wire::{Form, Object};

use crate::world::{World, rms, uniform};

/// The precision of results with this largest error, in bits.
fn bits(error: f64) -> f64 {
    -error.log2()
}

fn worst(errors: impl IntoIterator<Item = f64>) -> f64 {
    errors.into_iter().fold(0.0, |worst: f64, error| worst.max(error.abs()))
}

fn world(log_slots: u32, set: &str, threads: Option<usize>) -> World {
    let bootstrapping = Preset::N16.spec_for(log_slots).expect("slots").build().expect("parameters");
    let set = tfhe::Preset::named(set).expect("a set").parameters().expect("parameters");
    World::new(&bootstrapping, &set, Mode::Real, threads, Vec::new())
}

/// Numbers whose sign is known: at least the dead zone away from 0, and at most 1.
fn outside(number: u8, count: usize, dead_zone: f64) -> Vec<f64> {
    uniform(number, count).iter().map(|z| z.signum() * (dead_zone + z.abs() * (1.0 - dead_zone))).collect()
}

#[test]
#[ignore = "5 GB and a minute: make test-full"]
fn signs_on_a_grid_of_a_thousand_values_are_right() {
    let world = world(10, "2_2", None);
    let grid: Vec<f64> = (0..1000).map(|i| (f64::from(i) - 499.5) / 500.0).collect();
    let x = world.encrypt(&grid, 1024, 1.0);
    let decision = world.switch.sign(&x).expect("levels");
    let (found, bound) = (world.decrypt(&decision.result)[..1000].to_vec(), decision.result.error_bound());
    let errors: Vec<f64> = found.iter().map(|v| v - v.signum()).collect();
    let wrong = found.iter().zip(&grid).filter(|(v, z)| v.signum() != z.signum()).map(|(_, z)| z.abs());
    let nearest = wrong.fold(0.0, f64::max);
    println!(
        "1000 signs: {:.1} bits in the worst, {:.1} rms, bound {:.1}; wrong up to {nearest:.4}, dead zone {:.4}",
        bits(worst(errors.iter().copied())),
        bits(rms(errors.iter().copied())),
        bits(bound),
        decision.dead_zone
    );
    assert!(worst(errors.iter().copied()) <= bound && bits(worst(errors)) >= 20.0);
    assert!(nearest < decision.dead_zone && decision.dead_zone < 0.026);
    assert!(decision.log2_failure <= -64.0);
    // As far as one alone may be wrong with the probability that all may.
    let single = world.switch.sign(&world.encrypt(&[0.5], 1, 1.0)).expect("levels");
    println!("dead zone of one value {:.5}", single.dead_zone);
    assert!(single.dead_zone < 0.0236, "{}", single.dead_zone);

    // Twelve products, down to the level that switches again.
    let ckks = world.switch.bootstrapper().evaluator();
    let mut power = decision.result.clone();
    for _ in 0..12 {
        power = SlotEvaluator::mul(ckks, &power, &decision.result).expect("levels");
    }
    let errors = world.decrypt(&power).iter().zip(&found).map(|(v, sign)| v - sign.signum()).collect::<Vec<f64>>();
    println!("after 12 products: {:.1} bits, bound {:.1}", bits(worst(errors.clone())), bits(power.error_bound()));
    assert!(worst(errors) <= power.error_bound() && power.error_bound() < 2f64.powi(-12));
    assert_eq!(power.level(), world.context.parameters().bootstrapping().input_level());
    let again = world.switch.sign(&power).expect("the level that switches");
    assert!(world.decrypt(&again.result).iter().zip(&found).all(|(v, sign)| (v - sign.signum()).abs() < 0.01));
}

#[test]
#[ignore = "4 GB and half a minute: make test-full"]
fn three_steps_tell_signs_from_two_to_the_minus_twelve() {
    let world = world(7, "2_2", None);
    // Six deviations for each of the decisions of a value.
    let switch = world.switch.with_failure(-20.0).expect("a probability");
    let switch = switch.with_steps(Steps::Three);
    let world = World { switch, ..world };
    let values: Vec<f64> = outside(60, 128, 0.0).iter().map(|z| z.signum() * (1.03 + 7.0 * z.abs()) / 4096.0).collect();
    let decision = world.switch.sign(&world.encrypt(&values, 128, 1.0)).expect("levels");
    println!("three steps at six deviations: dead zone 2^{:.2}", decision.dead_zone.log2());
    let wrong = world.decrypt(&decision.result).iter().zip(&values).filter(|(v, z)| v.signum() != z.signum()).count();
    assert!(wrong == 0 && decision.dead_zone < 2f64.powf(-11.9), "{wrong} wrong, {}", decision.dead_zone);
}

#[test]
#[ignore = "100 000 bootstraps: five minutes on two cores"]
fn a_hundred_thousand_signs_outside_the_dead_zone_are_right() {
    let world = world(10, "2_2", None);
    let dead_zone = world.switch.sign(&world.encrypt(&[0.5; 1024], 1024, 1.0)).expect("levels").dead_zone;
    let mut decided = 0;
    for number in 0..98 {
        let values = outside(number, 1024, dead_zone);
        let samples = world.switch.down(&world.encrypt(&values, 1024, 1.0), 0.45).expect("levels");
        let signs = world.switch.signs(&samples).expect("its samples");
        let wrong = world.phases(&signs).iter().zip(&values).filter(|(phase, z)| phase.signum() != z.signum()).count();
        assert_eq!(wrong, 0, "vector {number}");
        decided += values.len();
    }
    println!("{decided} signs from {dead_zone:.4} on, none wrong");
    assert!(decided >= 100_000);
}

#[test]
#[ignore = "5 GB and half a minute: make test-full"]
fn every_stage_has_the_noise_of_its_law() {
    let world = world(12, "2_2", None);
    let (slots, law) = (4096, *world.switch.law());
    let values = uniform(50, slots);
    let x = world.encrypt(&values, slots, 1.0);
    let report = |stage: &str, found: f64, law: f64| {
        println!("{stage:28} measured 2^{:.2}, predicted 2^{:.2}", found.log2(), law.log2());
        assert!((0.9..1.1).contains(&(found / law)), "{stage}: {found:e}, {law:e}");
    };

    // Down, where values are so small a part that errors of CKKS do not show.
    let samples = world.switch.down(&x, 2f64.powi(-12)).expect("levels");
    let errors = |samples: &Samples, expected: &dyn Fn(usize) -> f64| {
        rms(world.phases(samples).iter().enumerate().map(|(i, phase)| phase - expected(i)))
    };
    report("key switch to the subring", errors(&samples, &|i| values[i] * 2f64.powi(-12)), law.down);

    // Decisions: how many are wrong near 0 says the deviation of what is compared.
    let near: Vec<f64> = (0..slots).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let half = 0.6745 * law.decision;
    let samples = world.switch.down(&world.encrypt(&near, slots, 1.0), half).expect("levels");
    let signs = world.switch.signs(&samples).expect("its samples");
    let right = world.phases(&signs).iter().zip(&near).filter(|(phase, z)| phase.signum() == z.signum()).count();
    // Of a normal distribution three quarters are above -0.6745 deviations; the derivative gives the deviation.
    let share = right as f64 / slots as f64;
    let deviation = law.decision / (1.0 + (share - 0.75) / (0.6745 * 0.3178));
    println!("{share:.4} of decisions right at 0.6745 deviations: 0.75 by the law");
    report("decision", deviation, law.decision);

    // Bootstraps, by the phases of signs far from 0.
    let far = outside(51, slots, 0.1);
    let signs = world.switch.signs(&world.switch.down(&world.encrypt(&far, slots, 1.0), 0.45).expect("levels"));
    let signs = signs.expect("its samples");
    report("bootstrap", errors(&signs, &|i| 0.25 * far[i].signum()), law.bootstrap);

    // Up, by the sines of phases that the secret tells: of results of bootstraps, at most 1/64 of the circle,
    // where sines are steep.
    let samples = world.switch.bootstrap(&signs, |phase| phase / 32.0).expect("its samples");
    let turns = std::f64::consts::TAU;
    let sines: Vec<f64> = world.phases(&samples).iter().map(|phase| (turns * phase).sin()).collect();
    let y = world.decrypt(&world.switch.up(&samples, Readout::Real).expect("samples"));
    let found = rms(y.iter().zip(&sines).map(|(v, sine)| v - sine));
    // The derivative of the sine is nearly 1 there.
    report("packing and the switch up", found / turns, law.up);
}

#[test]
#[ignore = "7 GB and two minutes: make test-full"]
fn signs_in_every_slot_come_back_with_19_bits() {
    let world = world(15, "2_2", None);
    let values = outside(52, 1 << 15, 0.03);
    let decision = world.switch.sign(&world.encrypt(&values, 1 << 15, 1.0)).expect("levels");
    assert!(decision.dead_zone < 0.03);
    let (found, bound) = (world.decrypt(&decision.result), decision.result.error_bound());
    let error = worst(found.iter().zip(&values).map(|(v, z)| v - z.signum()));
    println!("2^15 signs: {:.1} bits in the worst, bound {:.1}", bits(error), bits(bound));
    assert!(error <= bound && bits(error) >= 19.0);
}

#[test]
#[ignore = "8 GB and two minutes: make test-full"]
fn functions_of_reals_have_eleven_bits() {
    for (set, input) in [("2_2", 7.4), ("3_3", 9.5)] {
        let world = world(10, set, None);
        let values = uniform(53, 1024);
        let x = world.encrypt(&values, 1024, 1.0);
        // Three values, so that the table reads as reals, and numbers away from where they change.
        let stairs = |z: f64| {
            if z < -0.4 {
                -1.0
            } else if z < 0.3 {
                0.25
            } else {
                1.0
            }
        };
        let y = world.switch.function(&x, &Variation::Monotone(vec![]), stairs).expect("levels");
        let inside = |z: f64| (z + 0.4).abs() > 0.05 && (z - 0.3).abs() > 0.05;
        let pairs: Vec<(f64, f64)> = world.decrypt(&y).into_iter().zip(values.iter().copied()).collect();
        let output = rms(pairs.iter().filter(|(_, z)| inside(*z)).map(|(v, z)| v - stairs(*z)));
        // The identity has the noise of the decision besides, of which half the range is 0.225 of the circle.
        let same = world.switch.function(&x, &Variation::Lipschitz(1.0), |z| z).expect("levels");
        let errors: Vec<f64> = world.decrypt(&same).iter().zip(&values).map(|(v, z)| v - z).collect();
        let law = world.switch.law().decision / 0.225;
        println!(
            "{set}: output {:.1} bits rms; the identity {:.2} rms, {:.2} by the law, worst {:.1}, bound {:.1}",
            bits(output),
            bits(rms(errors.iter().copied())),
            bits(law),
            bits(worst(errors.iter().copied())),
            bits(same.error_bound())
        );
        assert!(bits(output) >= 11.0 && bits(rms(errors.iter().copied())) >= input);
        assert!((0.9..1.1).contains(&(rms(errors.iter().copied()) / law)));
        assert!(worst(errors) <= same.error_bound());
    }
}

#[test]
#[ignore = "two times 4 GB and a minute: make test-full"]
fn threads_do_not_change_a_byte() {
    let bytes = [1, 2].map(|threads| {
        let world = world(4, "2_2", Some(threads));
        let x = world.encrypt(&uniform(54, 16), 16, 1.0);
        let signs = world.switch.sign(&x).expect("levels").result;
        let samples = world.switch.down(&x, 0.2).expect("levels");
        let sines = world.switch.up(&samples, Readout::Real).expect("samples");
        [signs, sines].map(|result| result.to_bytes(world.context.ckks(), Form::Raw))
    });
    assert!(bytes[0] == bytes[1], "other bytes with two threads than with one");
}

#[test]
#[ignore = "5 GB and a minute: make test-full"]
fn ranks_of_sixteen_values_are_right() {
    let bootstrapping = Preset::N16.spec_for(8).expect("slots").build().expect("parameters");
    let set = tfhe::Preset::named("2_2").expect("a set").parameters().expect("parameters");
    let world = World::new(&bootstrapping, &set, Mode::Real, None, SchemeSwitch::rotations_of_ranks(16, 256));
    let values: Vec<f64> = (0..16).map(|i| f64::from(i * 7 % 16) / 8.0 - 0.9375).collect();
    let x = world.encrypt(&values, 16, 1.0);
    let (ranks, top) = (world.switch.rank(&x, 16).expect("keys"), world.switch.top(&x, 16, 5).expect("keys"));
    for (i, (rank, top)) in (0..16).zip(world.decrypt(&ranks.result).iter().zip(world.decrypt(&top.result))) {
        assert!((rank - f64::from(i * 7 % 16)).abs() < ranks.result.error_bound().min(0.001));
        assert!((top - f64::from(u8::from(i * 7 % 16 >= 11))).abs() < 2f64.powi(-16));
    }
}
