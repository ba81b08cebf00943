//! Levels and scales: the chain of scales, exact tracking, and what unequal scales lead to.

mod world;

use noren::ckks::{CkksError, Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, ParametersSpec, Scale};
use noren::error::cause;
use noren::{Complex64, Error, Security};
use world::{World, real, seed, toy, uniform, worst};

#[test]
fn thirty_squarings_of_one_stay_on_the_chain_of_scales() {
    let depth = 30;
    let spec = ParametersSpec {
        log_n: 9,
        log_q: [vec![50], vec![40; depth]].concat(),
        log_p: vec![50; 5],
        log_scale: 40,
        security: Security::None,
        ..ParametersSpec::default()
    };
    let world = World::new(spec, 1, &[]);
    let mut x = world.encrypt_symmetric(&real(&[1.0; 256]), 2);
    let chain = world.context.parameters().clone();
    for level in (0..depth).rev() {
        x = world.square(&x);
        // The caller knows that the slots stay near 1, so the errors do not square.
        x.ciphertext = x.ciphertext.with_magnitude(1.0);
        assert_eq!(x.ciphertext.level(), level);
        assert_eq!(x.ciphertext.scale(), chain.scale_at(level), "level {level}");
        let deviation = x.ciphertext.scale().to_f64() / 2f64.powi(40) - 1.0;
        assert!(deviation.abs() < 2f64.powi(-15), "level {level}: {deviation:e}");
        world.error(&x);
    }
}

#[test]
fn unequal_scales_are_never_added() {
    let world = World::new(toy(), 3, &[]);
    let ev = &world.evaluator;
    let x = world.encrypt(&real(&uniform(1, 512)), 4);
    let odd = ev.drop_level(&ev.square(&x.ciphertext).expect("square"), 2).expect("drop");
    let canonical = ev.at_level(&x.ciphertext, 2).expect("lower");
    let mismatch = |result: noren::Result<_>| match cause(&result) {
        Some(CkksError::ScaleMismatch { left_log2, right_log2 }) => left_log2 != right_log2,
        _ => false,
    };
    let difference = odd.scale().deviation_from(canonical.scale()).abs();
    assert!(difference > 2f64.powi(-30), "the primes happen to give equal scales");
    assert!(mismatch(ev.add(&odd, &canonical)));
    assert!(mismatch(ev.sub(&canonical, &odd)));
    assert!(mismatch(ev.dot(&[(&odd, &odd), (&canonical, &canonical)])));
    let plain = world.encode(&x.values, 2);
    assert!(mismatch(ev.add_plain(&odd, &plain.plaintext)));
    assert!(mismatch(ev.dot_plain(&[(&odd, &plain.plaintext), (&canonical, &plain.plaintext)])));

    let (a, b) = ev.align(&odd, &canonical).expect("align");
    assert_eq!((a.level(), b.level()), (1, 1));
    let sum = ev.add(&a, &b).expect("now they match");
    let expected: Vec<Complex64> = x.values.iter().map(|x| x * x + x).collect();
    assert!(worst(&world.decrypt(&sum), &expected) <= sum.error_bound());
    let bottom = |x| ev.drop_level(x, 0).expect("drop");
    assert!(matches!(ev.align(&bottom(&odd), &bottom(&canonical)), Err(Error::LevelExhausted { needed: 1, left: 0 })));
}

#[test]
fn operands_of_any_level_and_scale_meet() {
    let world = World::new(toy(), 5, &[]);
    let x = world.encrypt(&real(&uniform(2, 512)), 6);
    let y = world.encrypt(&real(&uniform(3, 512)), 7);
    // A scale that is nowhere on the chain of scales.
    let odd = world.apply([&x], |ev, [x]| ev.drop_level(&ev.square(x)?, 2), |[x]| x * x);
    for twin in [
        world.add(&odd, &y),
        world.sub(&y, &odd),
        world.mul(&odd, &y),
        world.mul(&y, &odd),
        world.square(&odd),
        world.apply(
            [&odd, &y],
            |ev, [x, y]| ev.weighted_sum(&[(x, 0.75), (y, -0.5)], 0.25),
            |[x, y]| 0.75 * x - 0.5 * y + 0.25,
        ),
        world.apply([&odd], |ev, [x]| ev.mul_const(x, Complex64::new(0.0, 1.5)), |[x]| x * Complex64::new(0.0, 1.5)),
        world.apply(
            [&odd, &y],
            |ev, [x, y]| {
                let (x, y) = ev.align(x, y)?;
                ev.add(&y, &x)
            },
            |[x, y]| x + y,
        ),
    ] {
        world.error(&twin);
    }
    let canonical = world.apply([&odd], |ev, [x]| ev.mul_const(x, Complex64::from(1.0)), |[x]| x);
    assert_eq!(canonical.ciphertext.scale(), world.context.parameters().scale_at(1));
}

#[test]
fn a_message_that_may_overflow_has_no_bound() {
    let world = World::new(toy(), 8, &[]);
    let x = world.encrypt(&real(&[1.0; 512]), 9);
    let ev = &world.evaluator;
    let low = ev.at_level(&x.ciphertext, 0).expect("lower");
    assert!(low.error_bound() < 1e-5);
    // 50 bits at scale 2^40 hold values below 512.
    assert!(ev.mul_integer(&low, 511).expect("multiply").error_bound().is_finite());
    assert!(ev.mul_integer(&low, 513).expect("multiply").error_bound().is_infinite());
    assert!(ev.mul_integer(&x.ciphertext, 513).expect("multiply").error_bound().is_finite());
}

#[test]
fn results_do_not_depend_on_threads() {
    let spec = ParametersSpec { log_n: 12, ..toy() };
    let run = |threads| {
        let context = Context::with_threads(spec.clone().build().expect("parameters"), Some(threads)).expect("context");
        let request = KeyRequest { relinearization: true, rotations: vec![3], ..KeyRequest::default() };
        let keys = context.generate_keys(seed(1), &request).expect("keys");
        let plain = Encoder::new(&context).encode(&uniform(1, 2048), 2048, 4).expect("encode");
        let encryptor = Encryptor::public(&context, &keys.public, seed(2)).expect("encryptor");
        let x = encryptor.encrypt(&plain).expect("encrypt");
        let ev = Evaluator::new(&context, keys.evaluation.clone()).expect("evaluator");
        let y = ev.rotate(&ev.mul(&x, &ev.add(&x, &x).expect("add")).expect("mul"), 3).expect("rotate");
        let values = Decryptor::new(&context, &keys.secret).expect("decryptor").decrypt_real(&y).expect("decrypt");
        (values, y.estimate().clone())
    };
    let (values, estimate) = run(1);
    let (other_values, other_estimate) = run(3);
    assert_eq!(estimate, other_estimate);
    assert!(values.iter().zip(&other_values).all(|(a, b)| a.to_bits() == b.to_bits()));
}

#[test]
fn constants_and_lowering_lead_from_stage_to_stage() {
    use noren::schemes::slots::SlotEvaluator;
    // Scales 2^45 at the levels 4 and 3, 2^38 at 2 and 1, 2^40 at 0.
    let spec =
        ParametersSpec { log_q: vec![50, 34, 38, 36, 45], log_scale: 45, restarts: vec![(2, 38), (0, 40)], ..toy() };
    let world = World::new(spec, 12, &[]);
    let parameters = world.context.parameters();
    for (level, bits) in [(4, 45.0), (3, 45.0), (2, 38.0), (1, 38.0), (0, 40.0)] {
        assert!((parameters.scale_at(level).log2() - bits).abs() < 2f64.powi(-15), "level {level}");
    }
    let chain = |level| Some(parameters.scale_at(level));
    let x = world.encrypt(&real(&uniform(6, 512)), 13);
    let half = |x| world.apply([x], |ev, [x]| ev.mul_const(x, 0.5.into()), |[x]| 0.5 * x);
    let sum = |x| world.apply([x], |ev, [x]| ev.weighted_sum(&[(x, 2.0)], 0.25), |[x]| 2.0 * x + 0.25);
    let first = half(&x);
    let second = sum(&first);
    let third = half(&second);
    let fourth = sum(&third);
    for (twin, level) in [(&first, 3), (&second, 2), (&third, 1), (&fourth, 0)] {
        assert_eq!((twin.ciphertext.level(), Some(twin.ciphertext.scale())), (level, chain(level)));
        world.error(twin);
        let lowered = world.apply([&x], |ev, [x]| ev.at_level(x, level), |[x]| x);
        assert_eq!(Some(lowered.ciphertext.scale()), chain(level));
        world.error(&lowered);
    }
    // Products are canonical within a stage only.
    assert_eq!(Some(world.square(&x).ciphertext.scale()), chain(3));
    let across = world.square(&first);
    assert_ne!(Some(across.ciphertext.scale()), chain(2));
    world.error(&across);
    // A plain factor that is encoded for the operand leads to the chain of scales everywhere.
    for operand in [&x, &first, &second, &third] {
        let plain = world.evaluator.encode_for(&[0.5; 512], &operand.ciphertext).expect("encode");
        let product = world.evaluator.mul_plain(&operand.ciphertext, &plain).expect("multiply");
        let deviation = product.scale().deviation_from(parameters.scale_at(product.level()));
        assert!(deviation.abs() < 2f64.powi(-90), "{deviation:e}");
        // A plain addend has the scale of the operand, also where products need another one.
        let plain = world.evaluator.encode_addend(&[0.5; 512], &operand.ciphertext).expect("encode");
        let sum = world.evaluator.add_plain(&operand.ciphertext, &plain).expect("add");
        let expected: Vec<Complex64> = operand.values.iter().map(|x| x + 0.5).collect();
        assert!(worst(&world.decrypt(&sum), &expected) <= sum.error_bound());
    }
}

#[test]
fn encoding_for_an_operand_leads_back_to_the_chain_of_scales() {
    use noren::schemes::slots::SlotEvaluator;
    let world = World::new(toy(), 10, &[]);
    let x = world.encrypt(&real(&uniform(4, 512)), 11);
    let odd = world.apply([&x], |ev, [x]| ev.drop_level(x, 3), |[x]| x);
    let factors = uniform(5, 512);
    for (operand, level) in [(&x, 3), (&odd, 2)] {
        let plain = world.evaluator.encode_for(&factors, &operand.ciphertext).expect("encode");
        let product = world.evaluator.mul_plain(&operand.ciphertext, &plain).expect("multiply");
        let deviation = product.scale().deviation_from(world.context.parameters().scale_at(level));
        assert!(deviation.abs() < 2f64.powi(-90), "{deviation:e}");
        let expected: Vec<Complex64> = x.values.iter().zip(&factors).map(|(x, c)| x * c).collect();
        assert!(worst(&world.decrypt(&product), &expected) <= product.error_bound());
    }
    assert_eq!(Scale::from_log2(40), *x.ciphertext.scale());
}
