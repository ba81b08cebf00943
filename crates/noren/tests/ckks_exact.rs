//! Results at scales that the caller chooses: against plain arithmetic, within their bounds, and what is refused.

mod world;

use noren::error::cause;
use noren::schemes::error::SlotError;
use std::f64::consts::TAU;

use noren::ckks::{CkksError, Context, Evaluator, Factor, KeyRequest, ParametersSpec, Scale};
use noren::schemes::slots::GiantStep;
use noren::{Complex64, Error};
use noren_rlwe::shape::KeyShape;
use world::{Twin, World, real, seed, toy, uniform, worst};

const I: Complex64 = Complex64::I;

fn scale(bits: u32, factor: f64) -> Scale {
    Scale::from_log2(bits).mul(&Scale::from_f64(factor).expect("positive"))
}

/// Seven levels of 50 bits.
fn wide() -> ParametersSpec {
    ParametersSpec { log_q: vec![50; 8], log_p: vec![50; 3], log_scale: 50, ..toy() }
}

fn prime(world: &World, level: usize) -> u64 {
    world.context.parameters().rlwe().q()[level]
}

/// The scale of a product of two scales after rescaling from this level.
fn below(world: &World, level: usize, a: &Scale, b: &Scale) -> Scale {
    a.mul(b).div_u64(prime(world, level))
}

fn circle(number: u64, count: usize) -> Vec<Complex64> {
    uniform(number, count).into_iter().map(|x| Complex64::from_polar(1.0 - 1e-12, TAU * x)).collect()
}

#[test]
fn reading_at_another_scale_multiplies_by_any_constant() {
    let world = World::new(toy(), 1, &[]);
    let x = world.encrypt(&circle(1, 512), 2);
    for factor in [0.5, 1.0 / 3.0, 1e6, TAU] {
        let factor = Scale::from_f64(factor).expect("positive");
        let y = world.apply([&x], |ev, [x]| ev.reinterpret(x.clone(), &factor), |[x]| x / factor.to_f64());
        world.error(&y);
        assert_eq!(y.ciphertext.level(), x.ciphertext.level());
        assert_eq!(y.ciphertext.scale(), &x.ciphertext.scale().mul(&factor));
        // Error and bound are divided alike.
        let ratio = x.ciphertext.error_bound() / y.ciphertext.error_bound() / factor.to_f64();
        assert!((ratio - 1.0).abs() < 1e-12, "{ratio}");
        let inverse = Scale::from_log2(0).div(&factor);
        let back = world.evaluator.reinterpret(y.ciphertext, &inverse).expect("back");
        assert!(back.scale().deviation_from(x.ciphertext.scale()).abs() < 2f64.powi(-99));
        assert!(worst(&world.decrypt(&back), &x.values) <= back.error_bound());
    }
    // The same polynomial has the same error: it adds up linearly.
    let half = Scale::from_f64(0.5).expect("positive");
    let rounded = world.evaluator.rescale(&x.ciphertext).expect("rescale");
    let twice = world
        .evaluator
        .reinterpret(world.evaluator.reinterpret(rounded.clone(), &half).expect("half"), &Scale::from_log2(1));
    let sum = world.evaluator.add(&rounded, &twice.expect("back")).expect("one scale");
    assert!((sum.estimate().std() / rounded.estimate().std() - 2.0).abs() < 1e-12);
}

#[test]
fn sums_arrive_at_any_level_and_scale() {
    let world = World::new(toy(), 3, &[]);
    let ev = &world.evaluator;
    let [x, y, z] = [4, 5, 6].map(|number| world.encrypt(&circle(number, 512), number));
    let lower = world.apply([&y], |ev, [y]| ev.at_level(y, 3), |[y]| y);
    // A scale that is nowhere on the chain of scales.
    let unusual = world.apply([&z], |ev, [z]| ev.reinterpret(z.clone(), &scale(0, 1.37)), |[z]| z / 1.37);
    let (a, b, c, d) = (Complex64::new(0.3, -0.7), Complex64::new(-1.25, 0.0), 2.0 * I, Complex64::new(0.5, 0.125));
    for level in 0..3 {
        for target in [scale(40, 1.0), scale(43, 1.0 / 3.0), scale(36, TAU)] {
            let sum = world.apply(
                [&x, &lower, &unusual],
                |ev, [x, y, z]| ev.combine(&[(x, a), (y, b), (z, c)], d, level, &target),
                |[x, y, z]| a * x + b * y + c * z + d,
            );
            assert_eq!((sum.ciphertext.level(), sum.ciphertext.scale()), (level, &target));
            world.error(&sum);
        }
    }
    // The canonical operations are special cases, to the last bit.
    let target = *world.context.parameters().scale_at(2);
    let terms = [(&x.ciphertext, 0.5), (&lower.ciphertext, -2.0)];
    let usual = ev.weighted_sum(&terms, 0.25).expect("allowed");
    let exact = ev.combine(&terms.map(|(x, c)| (x, c.into())), 0.25.into(), 2, &target).expect("allowed");
    assert_eq!(world.decrypt(&usual), world.decrypt(&exact));
    assert_eq!(usual.estimate(), exact.estimate());
}

#[test]
fn chebyshev_polynomials_take_one_division_each() {
    let world = World::new(wide(), 7, &[]);
    let ev = &world.evaluator;
    let x = world.encrypt(&real(&uniform(8, 512)), 9);
    let x = world.apply([&x], |ev, [x]| ev.at_level(x, 6), |[x]| x);
    let half = Scale::from_f64(0.5).expect("positive");
    let twice = |a: &Twin| ev.reinterpret(a.ciphertext.clone(), &half).expect("in range");
    // T_{a+b} = 2 T_a T_b - T_{a-b}, at the product of both scales.
    let next = |a: &Twin, b: &Twin, difference: Option<&Twin>, level: usize| {
        let target = below(&world, level + 1, a.ciphertext.scale(), b.ciphertext.scale());
        let (terms, constant) = match difference {
            Some(t) => (vec![(&t.ciphertext, Complex64::from(-1.0))], 0.0),
            None => (vec![], -1.0),
        };
        let sum = ev.dot_combine(&[(&twice(a), &b.ciphertext)], &terms, constant.into(), level, &target);
        let values = (0..512).map(|j| {
            let rest = difference.map_or(Complex64::ONE, |t| t.values[j]);
            2.0 * a.values[j] * b.values[j] - rest
        });
        let ciphertext = sum.expect("allowed").with_magnitude(1.0);
        assert_eq!((ciphertext.level(), ciphertext.scale()), (level, &target));
        Twin { ciphertext, values: values.collect() }
    };
    let t2 = next(&x, &x, None, 5);
    let t3 = next(&x, &t2, Some(&x), 4);
    let t4 = next(&t2, &t2, None, 4);
    let t7 = next(&t3, &t4, Some(&x), 3);
    for (t, degree) in [(&t2, 2.0), (&t3, 3.0), (&t4, 4.0), (&t7, 7.0)] {
        // The slope of T_k is at most k^2; every division adds less than the encryption did.
        assert!(world.error(t) <= 2.0 * degree * degree * world.error(&x), "T_{degree}");
        let cosines: Vec<f64> = x.values.iter().map(|x| (degree * x.re.acos()).cos()).collect();
        assert!(worst(&world.decrypt(&t.ciphertext), &real(&cosines)) <= t.ciphertext.error_bound() + 1e-13);
    }
}

#[test]
fn squarings_end_at_exactly_the_scale_that_was_asked_for() {
    let world = World::new(wide(), 10, &[]);
    let ev = &world.evaluator;
    let angle = uniform(11, 512);
    let x = world.encrypt(&angle.iter().map(|&x| Complex64::from_polar(1.0 - 1e-12, x)).collect::<Vec<_>>(), 12);
    let end = Scale::from_log2(42);
    // From the end: the geometric means with the primes of the levels 3 to 6.
    let start = (3..=6).fold(end, |scale, level| scale.mul_u64(prime(&world, level)).sqrt());
    let mut e = world.apply([&x], |ev, [x]| ev.combine(&[(x, 1.0.into())], Complex64::ZERO, 6, &start), |[x]| x);
    for level in (2..6).rev() {
        e = world.square(&e);
        e.ciphertext = e.ciphertext.with_magnitude(1.0);
        assert_eq!(e.ciphertext.level(), level);
    }
    let deviation = e.ciphertext.scale().deviation_from(&end);
    assert!(deviation.abs() < 2f64.powi(-95), "{deviation:e}");
    world.error(&e);
    let expected: Vec<Complex64> = angle.iter().map(|x| Complex64::from_polar(1.0, 16.0 * x)).collect();
    assert!(worst(&world.decrypt(&e.ciphertext), &expected) < 2f64.powi(-25));
    // A product and its linear terms: E (E + c), at the scale of the product.
    let c = Complex64::from(-7.995);
    let target = below(&world, 2, &end, &end);
    let series = world.apply(
        [&e],
        |ev, [e]| ev.dot_combine(&[(e, e)], &[(e, c)], Complex64::ZERO, 1, &target),
        |[e]| e * (e + c),
    );
    assert_eq!(series.ciphertext.scale(), &target);
    world.error(&series);
    assert!(ev.add(&series.ciphertext, &ev.mul(&e.ciphertext, &e.ciphertext).expect("mul")).is_ok(), "one scale");
}

#[test]
fn products_of_several_scales_meet_by_integers() {
    let world = World::new(toy(), 13, &[]);
    let [x, y, z] = [14, 15, 16].map(|number| world.encrypt(&circle(number, 512), number));
    let part = |twin: &Twin, factor: f64| {
        world.apply([twin], |ev, [x]| ev.reinterpret(x.clone(), &scale(0, factor)), |[x]| x / factor)
    };
    let (third, eighth) = (part(&x, 1.0 / 3.0), part(&y, 0.125));
    let target = below(&world, 3, x.ciphertext.scale(), y.ciphertext.scale());
    let sum = world.apply(
        [&third, &eighth, &y, &z],
        |ev, [x, y8, y, z]| ev.dot_combine(&[(x, y), (y8, z), (z, z)], &[(y8, I)], 0.5.into(), 2, &target),
        |[x, y8, y, z]| x * y + y8 * z + z * z + I * y8 + 0.5,
    );
    assert_eq!((sum.ciphertext.level(), sum.ciphertext.scale()), (2, &target));
    world.error(&sum);
    // One product without anything else is that of `mul`, under its name.
    let ev = &world.evaluator;
    let top = below(&world, 4, x.ciphertext.scale(), y.ciphertext.scale());
    let pair = [(&x.ciphertext, &y.ciphertext)];
    let alone = ev.dot_combine(&pair, &[], Complex64::ZERO, 3, &top).expect("allowed");
    let usual = ev.mul(&x.ciphertext, &y.ciphertext).expect("allowed");
    assert_eq!(alone.estimate(), usual.estimate());
    assert_eq!(world.decrypt(&alone), world.decrypt(&usual));
}

#[test]
fn complex_matrices_arrive_at_any_scale() {
    let slots = 16usize;
    let world = World::new(toy(), 17, &[1, 2, 3, 4, 8, 12]);
    let x = world.encrypt(&circle(18, slots), 19);
    let entries = circle(20, slots * slots);
    // Diagonal k = b + i, moved back by the giant step b.
    let target = scale(38, TAU);
    let factor_scale = target.mul_u64(prime(&world, 4)).div(x.ciphertext.scale());
    let factor = |b: usize, i: usize| {
        let moved: Vec<Complex64> = (0..slots)
            .map(|p| {
                let row = (p + slots - b) % slots;
                entries[row * slots + (row + b + i) % slots]
            })
            .collect();
        world.encoder.encode_factor_complex(&moved, slots, 4, &factor_scale).expect("encode")
    };
    let giants: Vec<_> = [0, 4, 8, 12]
        .map(|b| GiantStep { rotation: b as isize, terms: (0..4).map(|i| (i, factor(b, i))).collect() })
        .into();
    let y = world.evaluator.sum_giant_steps(&x.ciphertext, &[0, 1, 2, 3], &giants).expect("keys are there");
    // The same giant steps one after the other, all with the key of one rotation.
    let in_turn: Vec<_> = giants
        .into_iter()
        .map(|giant| GiantStep { rotation: if giant.rotation == 0 { 0 } else { 4 }, ..giant })
        .collect();
    let babies = [0, 1, 2, 3];
    let turned = world.evaluator.sum_giant_steps_in_turn(&x.ciphertext, &babies, &in_turn).expect("keys are there");
    let refused = world.evaluator.sum_giant_steps_in_turn(&x.ciphertext, &babies, &in_turn[1..]);
    assert!(matches!(refused, Err(Error::Parameters { name: "rotation of a giant step", .. })));
    let values: Vec<Complex64> =
        (0..slots).map(|row| (0..slots).map(|j| entries[row * slots + j] * x.values[j]).sum()).collect();
    for y in [y, turned] {
        assert!(y.scale().deviation_from(&target).abs() < 2f64.powi(-98));
        let error = world.error(&Twin { ciphertext: y, values: values.clone() });
        assert!(error < 2f64.powi(-22), "{error:e}");
    }
    // A factor without the special primes of the keys.
    let special = world.context.parameters().rlwe().p().len();
    let shape = |special| KeyShape { special, ..world.keys.evaluation.shape() };
    let bare = |special| world.encoder.encode_factor_shaped(&[I], slots, 4, &factor_scale, shape(special));
    assert!(matches!(bare(special + 1), Err(Error::Parameters { name: "special primes of a factor", .. })));
    let bare = GiantStep { rotation: 0, terms: vec![(0, bare(special - 1).expect("encode"))] };
    let refused = world.evaluator.sum_giant_steps(&x.ciphertext, &[0], &[bare]);
    assert!(matches!(refused, Err(Error::Parameters { name: "special primes of the factor", .. })));

    // Real factors are complex ones with imaginary parts of zero.
    let reals = uniform(21, slots);
    let as_real = world.encoder.encode_factor(&reals, slots, 4, &factor_scale).expect("encode");
    let as_complex = world.encoder.encode_factor_complex(&real(&reals), slots, 4, &factor_scale).expect("encode");
    let of = |factor: &Factor| (factor.magnitude(), factor.estimate().std(), factor.estimate().bias());
    assert_eq!(of(&as_real), of(&as_complex));
    let far = world.encoder.encode_factor_complex(&[Complex64::new(0.0, f64::NAN)], slots, 4, &factor_scale);
    assert!(matches!(cause(&far), Some(SlotError::NotFinite { index: 0, .. })));
    let many = world.encoder.encode_factor_complex(&vec![I; slots + 1], slots, 4, &factor_scale);
    assert!(matches!(many, Err(Error::Length { found: 17, .. })));
    let above = world.encoder.encode_factor_complex(&[I], slots, 5, &factor_scale);
    assert!(matches!(above, Err(Error::LevelExhausted { needed: 5, left: 4 })));
}

#[test]
fn what_cannot_be_met_is_refused() {
    let world = World::new(toy(), 22, &[]);
    let ev = &world.evaluator;
    let x = world.encrypt(&circle(23, 512), 24).ciphertext;
    let few = world.encrypt(&circle(23, 16), 25).ciphertext;
    let low = ev.at_level(&x, 1).expect("lower");
    let (one, zero, target) = (Complex64::ONE, Complex64::ZERO, scale(40, 1.0));
    let product = |a, b, level, target: &Scale| ev.dot_combine(&[(a, b)], &[], zero, level, target);
    let sum = |terms: &[_], constant, level, target: &Scale| ev.combine(terms, constant, level, target);

    assert!(matches!(sum(&[], one, 0, &target), Err(Error::Length { found: 0, .. })));
    assert!(matches!(ev.dot_combine(&[], &[(&x, one)], one, 0, &target), Err(Error::Length { found: 0, .. })));
    assert!(matches!(sum(&[(&x, one), (&few, one)], zero, 0, &target), Err(Error::Length { found: 16, .. })));
    assert!(matches!(product(&x, &few, 0, &target), Err(Error::Length { found: 16, .. })));
    for level in [1, 4, usize::MAX] {
        let terms = [(&x, one), (&low, one)];
        assert!(matches!(sum(&terms, zero, level, &target), Err(Error::LevelExhausted { left: 1, .. })));
        assert!(matches!(product(&x, &low, level, &target), Err(Error::LevelExhausted { left: 1, .. })));
        let term = ev.dot_combine(&[(&x, &x)], &[(&low, one)], zero, level, &target);
        assert!(matches!(term, Err(Error::LevelExhausted { left: 1, .. })));
    }
    assert!(matches!(
        cause(&sum(&[(&x, Complex64::new(0.0, f64::NAN))], zero, 0, &target)),
        Some(SlotError::NotFinite { .. })
    ));
    assert!(matches!(cause(&sum(&[(&x, one)], f64::INFINITY.into(), 0, &target)), Some(SlotError::NotFinite { .. })));
    // 90 bits do not hold a message at 2^60 before a division by 40 bits.
    assert!(matches!(cause(&sum(&[(&x, one)], zero, 0, &scale(100, 1.0))), Some(CkksError::Overflow { .. })));
    assert!(matches!(cause(&sum(&[(&x, one)], (1e9).into(), 0, &target)), Some(CkksError::Overflow { .. })));
    let usual = below(&world, 4, x.scale(), x.scale());
    assert!(product(&x, &x, 3, &usual).is_ok());
    for factor in [0.25, 1.5, 1.0 + 2f64.powi(-20), 1e-300] {
        let other = usual.mul(&scale(0, factor));
        assert!(matches!(cause(&product(&x, &x, 3, &other)), Some(CkksError::ScaleMismatch { .. })), "{factor}");
    }
    for factor in [1e300, 1e-300, 5e-308] {
        let refused = ev.reinterpret(x.clone(), &Scale::from_f64(factor).expect("positive"));
        assert!(matches!(refused, Err(Error::Parameters { name: "factor", .. })), "{factor}");
    }

    let other = World::new(ParametersSpec { log_scale: 39, ..toy() }, 22, &[]);
    let y = other.encrypt(&circle(23, 512), 26).ciphertext;
    assert!(matches!(sum(&[(&x, one), (&y, one)], zero, 0, &target), Err(Error::ParameterMismatch { .. })));
    assert!(matches!(product(&x, &y, 0, &target), Err(Error::ParameterMismatch { .. })));
    assert!(matches!(ev.reinterpret(y, &target), Err(Error::ParameterMismatch { .. })));

    let context = Context::new(toy().build().expect("parameters")).expect("context");
    let keys = context.generate_keys(seed(22), &KeyRequest::default()).expect("keys");
    let keyless = Evaluator::new(&context, keys.evaluation).expect("evaluator");
    assert!(matches!(keyless.dot_combine(&[(&x, &x)], &[], zero, 3, &usual), Err(Error::MissingKey { .. })));
}
