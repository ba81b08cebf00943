//! Every operation of both schemes: exact, with the noise that the formulas say.

use noren::bfv::Bfv;
use noren::bgv::{Bgv, KeyRequest};
use noren::schemes::integers::Scheme;
use noren::schemes::slots::GiantStep;

use crate::small::{Setup, rotated, spec, zip};

/// How far noise may stay below its prediction: the formulas are about averages, and count squares and sums for the worst
/// case, half a bit each.
const SLACK: f64 = 1.5;

fn setup(limbs: usize) -> Setup {
    let request =
        KeyRequest { relinearization: true, rotations: vec![1, 2, 3, 4, -5, 8], swap: true, ..KeyRequest::default() };
    Setup::new(spec(limbs), &request)
}

fn linear_operations<S: Scheme>() {
    let setup = setup(3);
    let (t, ev) = (setup.t(), setup.evaluator::<S>());
    let [x, y] = [1, 2].map(|stream| setup.values(stream));
    let (a, b, p) = (setup.encrypt::<S>(&x, 3), setup.encrypt::<S>(&y, 4), setup.encode(&y));
    setup.check(&a, &x, 0.5, "fresh");
    setup.check(&ev.add(&a, &b).unwrap(), &zip(t, &x, &y, |a, b| a + b), SLACK, "sum");
    setup.check(&ev.sub(&a, &b).unwrap(), &zip(t, &x, &y, |a, b| a - b), SLACK, "difference");
    setup.check(&ev.add(&a, &a).unwrap(), &zip(t, &x, &x, |a, b| a + b), 0.5, "double");
    setup.check(&ev.neg(&a).unwrap(), &zip(t, &x, &x, |a, _| -a), 0.5, "negative");
    setup.check(&ev.add_plain(&a, &p).unwrap(), &zip(t, &x, &y, |a, b| a + b), 0.5, "sum with plaintext");
    setup.check(&ev.sub_plain(&a, &p).unwrap(), &zip(t, &x, &y, |a, b| a - b), 0.5, "difference from plaintext");
    setup.check(&ev.add_scalar(&a, -7).unwrap(), &zip(t, &x, &x, |a, _| a - 7), 0.5, "sum with number");
    setup.check(
        &ev.sub_scalar(&a, 1 << 40).unwrap(),
        &zip(t, &x, &x, |a, _| a - (1 << 40)),
        0.5,
        "difference from number",
    );
    setup.check(&ev.mul_scalar(&a, -300).unwrap(), &zip(t, &x, &x, |a, _| -300 * a), 0.5, "product with number");
    setup.check(&ev.mul_plain(&a, &p).unwrap(), &zip(t, &x, &y, |a, b| a * b), 0.5, "product with plaintext");
    let sum = ev.weighted_sum(&[(&a, 3), (&b, -4)], 5).unwrap();
    setup.check(&sum, &zip(t, &x, &y, |a, b| 3 * a - 4 * b + 5), SLACK, "weighted sum");
    let sum = ev.dot_plain(&[(&a, &p), (&b, &p)]).unwrap();
    setup.check(&sum, &zip(t, &zip(t, &x, &y, |a, b| a + b), &y, |a, b| a * b), SLACK, "plain dot");
}

#[test]
fn linear_operations_are_exact_with_the_noise_of_the_formulas() {
    linear_operations::<Bgv>();
    linear_operations::<Bfv>();
}

fn rotations<S: Scheme>() {
    let setup = setup(2);
    let (t, ev) = (setup.t(), setup.evaluator::<S>());
    let x = setup.values(1);
    let a = setup.encrypt::<S>(&x, 3);
    for steps in [1, -5, 0] {
        setup.check(&ev.rotate(&a, steps).unwrap(), &rotated(&x, steps), 0.5, &format!("rotation by {steps}"));
    }
    for (image, steps) in ev.rotate_many(&a, &[3, 0, 1]).unwrap().iter().zip([3, 0, 1]) {
        setup.check(image, &rotated(&x, steps), 0.5, "one of several rotations");
    }
    let (low, high) = x.split_at(x.len() / 2);
    setup.check(&ev.swap_rows(&a).unwrap(), &[high, low].concat(), 0.5, "swap of rows");
    let sum = (0..16).fold(vec![0; x.len()], |sum, steps| zip(t, &sum, &rotated(&x, steps), |a, b| a + b));
    // The noise of a sum of rotations is taken as if all met in one coefficient.
    let found = ev.sum_rotations_in_turn(&a, &[&[1], &[2], &[4], &[8]]).unwrap();
    setup.check(&found, &sum, 2.5, "sum of rotations");
}

#[test]
fn rotations_move_both_rows() {
    rotations::<Bgv>();
    rotations::<Bfv>();
}

fn matrices<S: Scheme>() {
    for limbs in [1, 3] {
        let setup = setup(limbs.max(2));
        let (t, ev, encoder) = (setup.t(), setup.evaluator::<S>(), setup.encoder());
        let x = setup.values(1);
        let a = setup.encrypt::<S>(&x, 3);
        let mut factors: Vec<Vec<i64>> = (0..4).map(|stream| setup.values(10 + stream)).collect();
        // Values that repeat in both rows lie in a subring.
        factors[1] = factors[1][..8].repeat(x.len() / 8);
        factors[2] = vec![factors[2][0]; x.len()];
        let prepare = |i: usize| encoder.prepare_factor(setup.encode(&factors[i]), limbs).unwrap();
        let giants = [
            GiantStep { rotation: 0, terms: vec![(0, prepare(0)), (1, prepare(1))] },
            GiantStep { rotation: 2, terms: vec![(0, prepare(2)), (1, prepare(3))] },
        ];
        let product = |i: usize, steps| zip(t, &factors[i], &rotated(&x, steps), |a, b| a * b);
        let first = zip(t, &product(0, 0), &product(1, 1), |a, b| a + b);
        let second = zip(t, &product(2, 0), &product(3, 1), |a, b| a + b);
        let expected = zip(t, &first, &rotated(&second, 2), |a, b| a + b);
        let y = ev.sum_giant_steps(&a, &[0, 1], &giants).unwrap();
        setup.check(&y, &expected, SLACK, "sum of giant steps");
        for (i, factor) in factors.iter().enumerate() {
            let expected = zip(t, factor, &x, |a, b| a * b);
            setup.check(&ev.mul_plain(&a, &prepare(i)).unwrap(), &expected, SLACK, "product with a factor");
        }
    }
}

#[test]
fn sums_of_giant_steps_are_matrices() {
    matrices::<Bgv>();
    matrices::<Bfv>();
}

fn products<S: Scheme>() {
    let setup = setup(5);
    let (t, ev) = (setup.t(), setup.evaluator::<S>());
    let [x, y] = [1, 2].map(|stream| setup.values(stream));
    let (a, b) = (setup.encrypt::<S>(&x, 3), setup.encrypt::<S>(&y, 4));
    let product = zip(t, &x, &y, |a, b| a * b);
    setup.check(&ev.mul(&a, &b).unwrap(), &product, SLACK, "product");
    setup.check(&ev.square(&a).unwrap(), &zip(t, &x, &x, |a, b| a * b), SLACK, "square");
    let lazy = ev.mul_no_relinearize(&a, &b).unwrap();
    assert_eq!(lazy.degree(), 2);
    setup.check(&lazy, &product, SLACK, "lazy product");
    setup.check(&ev.relinearize(&lazy).unwrap(), &product, SLACK, "relinearised product");
    let twice = ev.add(&lazy, &lazy).unwrap();
    setup.check(&twice, &zip(t, &product, &product, |a, b| a + b), SLACK, "lazy sum");
    let dot = ev.dot(&[(&a, &b), (&b, &a), (&a, &a)]).unwrap();
    setup.check(&dot, &zip(t, &x, &y, |a, b| 2 * a * b + a * a), SLACK, "dot product");
}

#[test]
fn products_are_exact_with_the_noise_of_the_formulas() {
    products::<Bgv>();
    products::<Bfv>();
}

fn chains<S: Scheme>() {
    let setup = setup(6);
    let (t, ev) = (setup.t(), setup.evaluator::<S>());
    let mut x = setup.values(1);
    let mut a = setup.encrypt::<S>(&x, 3);
    let depth = a.level();
    assert!(depth >= 4, "{}: depth {depth}", S::NAME);
    for step in 0..depth {
        x = zip(t, &x, &x, |a, b| a * b);
        a = ev.square(&a).unwrap();
        // A chain gathers the deviations of its steps.
        setup.check(&a, &x, SLACK + 0.7 * step as f64, &format!("square {step}"));
        assert!(a.level() >= depth - 1 - step);
    }
    assert_eq!(a.level(), 0);
    assert!(a.limbs() < 6, "{}: limbs are dropped", S::NAME);
    assert!(ev.square(&a).is_err());
}

#[test]
fn squarings_follow_one_another_as_often_as_the_level_says() {
    chains::<Bgv>();
    chains::<Bfv>();
}

fn mixed_levels<S: Scheme>() {
    let setup = setup(5);
    let (t, ev) = (setup.t(), setup.evaluator::<S>());
    let [x, y] = [1, 2].map(|stream| setup.values(stream));
    let (a, b) = (setup.encrypt::<S>(&x, 3), setup.encrypt::<S>(&y, 4));
    let square = ev.square(&a).unwrap();
    let fourth = ev.square(&square).unwrap();
    let squared = zip(t, &x, &x, |a, b| a * b);
    let sum = ev.add(&fourth, &b).unwrap();
    let expected = zip(t, &zip(t, &squared, &squared, |a, b| a * b), &y, |a, b| a + b);
    assert_eq!(setup.decrypt(&sum), expected);
    assert!(sum.noise_budget() > fourth.noise_budget() - 2.0, "{}: {}", S::NAME, sum.noise_budget());
    assert_eq!(setup.decrypt(&ev.sub(&b, &square).unwrap()), zip(t, &y, &squared, |a, b| a - b));
    assert_eq!(setup.decrypt(&ev.mul(&b, &square).unwrap()), zip(t, &y, &squared, |a, b| a * b));
    // One number of limbs and two factors.
    let low = ev.mod_switch(&b, square.limbs()).unwrap();
    let sum = ev.add(&square, &low).unwrap();
    assert_eq!(setup.decrypt(&sum), zip(t, &squared, &y, |a, b| a + b));
    assert!(sum.noise_budget() > square.noise_budget().min(low.noise_budget()) - 12.0);
    let plain = ev.add_plain(&square, &setup.encode(&y)).unwrap();
    assert_eq!(setup.decrypt(&plain), zip(t, &squared, &y, |a, b| a + b));
    let scalar = ev.add_scalar(&square, 11).unwrap();
    assert_eq!(setup.decrypt(&scalar), zip(t, &squared, &y, |a, _| a + 11));
}

#[test]
fn operands_of_any_limbs_and_factors_are_brought_together() {
    mixed_levels::<Bgv>();
    mixed_levels::<Bfv>();
}

#[test]
fn ciphertexts_go_from_one_scheme_to_the_other_and_back() {
    let setup = setup(5);
    let t = setup.t();
    let x = setup.values(1);
    let a = setup.encrypt::<Bgv>(&x, 3);
    let (bgv, bfv) = (setup.evaluator::<Bgv>(), setup.evaluator::<Bfv>());
    let square = bgv.square(&a).unwrap();
    let fourth = bfv.square(&square.convert::<Bfv>()).unwrap();
    let eighth = bgv.square(&fourth.convert::<Bgv>()).unwrap();
    let power = |x: &[i64]| zip(t, x, x, |a, b| a * b);
    assert_eq!(setup.decrypt(&eighth), power(&power(&power(&x))));
}
