//! Operations on ciphertexts give the same bytes however their loops are shared out.

mod world;

use noren::ckks::{Ciphertext, Context, Encoder, Evaluator, ParametersSpec};
use noren::schemes::slots::GiantStep;
use noren::wire::{Form, Object};
use noren::{Complex64, Error, Parallel};
use world::{World, seed, toy, uniform};

/// Long enough for rows to be cut, with few primes.
fn long() -> ParametersSpec {
    ParametersSpec { log_n: 15, log_q: vec![50, 40, 40], log_p: vec![50], log_scale: 40, ..toy() }
}

/// The bytes of what an evaluator makes of two ciphertexts.
fn everything(ev: &Evaluator, x: &Ciphertext, y: &Ciphertext) -> noren::Result<Vec<Vec<u8>>> {
    let context = ev.context();
    let encoder = Encoder::new(context);
    let (level, scale) = (x.level(), *context.parameters().scale_at(x.level()));
    let plaintext = encoder.encode(&[0.5, -0.25], 2, level)?;
    let factor = |number| encoder.encode_factor(&uniform(number, 2), 2, level, &scale);
    let giants: Vec<_> = [0, 4]
        .into_iter()
        .map(|rotation| Ok(GiantStep { rotation, terms: vec![(0, factor(5)?), (1, factor(6)?)] }))
        .collect::<noren::Result<_>>()?;
    let mut results = vec![ev.add(x, y)?, ev.mul_plain_no_rescale(x, &plaintext)?, ev.mul_const(x, Complex64::I)?];
    results.extend([ev.mul(x, y)?, ev.square(x)?, ev.mul_no_rescale(x, y)?]);
    results.push(ev.rescale(&results[5])?);
    results.extend([ev.rotate(x, 1)?, ev.conjugate(y)?, ev.sum_rotations(x, &[0, 1, 4])?]);
    results.extend(ev.rotate_many(x, &[1, 4, 5])?);
    results.push(ev.sum_giant_steps(x, &[0, 1], &giants)?);
    Ok(results.iter().map(|result| result.to_bytes(context, Form::Packed)).collect())
}

#[test]
fn every_way_on_any_threads_gives_the_same_bytes() {
    let world = World::new(long(), 1, &[1, 4, 5]);
    let number = |seed| uniform(seed, 2).into_iter().map(Complex64::from).collect::<Vec<_>>();
    let (x, y) = (world.encrypt(&number(2), 3).ciphertext, world.encrypt(&number(3), 4).ciphertext);
    let expected = everything(&world.evaluator, &x, &y).expect("keys are there");
    for parallel in Parallel::ALL {
        for threads in [1, 2, 3, 5] {
            let parameters = world.context.parameters().clone();
            let context = Context::with_parallel(parameters, Some(threads), parallel).expect("threads");
            let evaluator = Evaluator::new(&context, world.keys.evaluation.clone()).expect("the same parameters");
            let found = everything(&evaluator, &x, &y).expect("keys are there");
            let differing: Vec<usize> = (0..expected.len()).filter(|&i| found[i] != expected[i]).collect();
            assert!(differing.is_empty(), "results {differing:?}: {parallel}, {threads} threads");
        }
    }
    // Keys too are the same for each.
    let context = Context::with_parallel(world.context.parameters().clone(), Some(3), Parallel::Coefficient);
    let keys = context.expect("threads").generate_keys(seed(1), &Default::default()).expect("keys");
    let public = |keys: &noren::PublicKey| keys.to_bytes(world.context.rlwe(), Form::Packed);
    assert!(public(&keys.public) == public(&world.keys.public));
}

#[test]
fn no_threads_are_refused() {
    for parallel in Parallel::ALL {
        let refused = Context::with_parallel(toy().build().expect("parameters"), Some(0), parallel);
        assert!(matches!(refused, Err(Error::Ring(_))), "{parallel}");
    }
}
