//! The noise model against the scheme: the same circuits on both, with the same bounds.

use noren::circuits::linear::LinearMap;
use noren::circuits::polynomial::Polynomial;
use noren::circuits::trace;
use noren::ckks::{
    Ciphertext, Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, NoiseModel, Parameters, ParametersSpec,
};
use noren::error::Result;
use noren::schemes::slots::SlotEvaluator;
use noren::{Security, Seed};

const SLOTS: usize = 64;
const LEVELS: usize = 5;
const RANGE: [f64; 2] = [-1.0, 1.0];

/// Sums, products, a matrix and a polynomial, one after the other.
fn circuit<E: SlotEvaluator<Scalar = f64>>(ev: &E, x: &E::Ciphertext, y: &E::Ciphertext) -> Result<Vec<E::Ciphertext>> {
    let weights: Vec<f64> = (0..SLOTS).map(|i| (i % 7) as f64 / 7.0 - 0.5).collect();
    let weighted = ev.mul_plain(x, &ev.encode_for(&weights, x)?)?;
    let sum = trace::sum(ev, &weighted, SLOTS, 1)?;
    let product = ev.mul(x, y)?;
    let shifted = ev.add_plain(&product, &ev.encode_for(&weights, &product)?)?;
    let entries: Vec<f64> = (0..16).map(|i| f64::from(i % 5) / 5.0 - 0.3).collect();
    let moved = LinearMap::windowed(4, 4, &entries)?.apply(ev, &shifted)?;
    let cubic = Polynomial::power(vec![0.1, -0.5, 0.25, 0.5])?.evaluate(ev, &ev.with_range(product, RANGE))?;
    let mixed = ev.weighted_sum(&[(&cubic, 0.5), (x, -0.25)], 0.125)?;
    let difference = ev.sub(&mixed, y)?;
    let chosen = ev.square(&ev.rotate(&difference, 3)?)?;
    Ok(vec![weighted, sum, shifted, moved, cubic, mixed, chosen])
}

fn parameters() -> Parameters {
    let log_q = [50].into_iter().chain([40; LEVELS]).collect();
    let spec = ParametersSpec {
        log_n: 10,
        log_q,
        log_p: vec![50],
        log_scale: 40,
        security: Security::None,
        ..ParametersSpec::default()
    };
    spec.build().expect("a small ring")
}

#[test]
fn bounds_and_values_are_those_of_the_scheme() -> Result<()> {
    let parameters = parameters();
    let context = Context::new(parameters.clone())?;
    let rotations = (-8..8).chain(trace::rotations(SLOTS, 1)).collect();
    let request = KeyRequest { relinearization: true, rotations, ..KeyRequest::default() };
    let keys = context.generate_keys(Seed::from_bytes([1; 32]), &request)?;
    let ev = Evaluator::new(&context, keys.evaluation.clone())?;
    let encryptor = Encryptor::symmetric(&context, &keys.secret, Seed::from_bytes([2; 32]))?;
    let decryptor = Decryptor::new(&context, &keys.secret)?;
    let vectors = [3.0, 5.0].map(|f: f64| (0..SLOTS).map(|i| wave(f * i as f64)).collect::<Vec<f64>>());

    let encrypt = |values: &Vec<f64>| -> Result<Ciphertext> {
        encryptor.encrypt_in(&Encoder::new(&context).encode(values, SLOTS, LEVELS)?, RANGE)
    };
    let found = circuit(&ev, &encrypt(&vectors[0])?, &encrypt(&vectors[1])?)?;
    let exact = NoiseModel::new(parameters.clone(), None);
    let noisy = NoiseModel::new(parameters, Some(&Seed::from_bytes([3; 32])));
    let model = |model: &NoiseModel| {
        circuit(model, &model.encrypt(&vectors[0], RANGE, LEVELS)?, &model.encrypt(&vectors[1], RANGE, LEVELS)?)
    };
    for (step, ((found, exact_result), noisy_result)) in
        found.iter().zip(model(&exact)?).zip(model(&noisy)?).enumerate()
    {
        let (bound, predicted) = (found.error_bound(), exact.error_bound(&exact_result));
        assert!((0.9..1.1).contains(&(predicted / bound)), "step {step}: {predicted:e} for {bound:e}");
        assert_eq!(found.level(), exact.level(&exact_result), "step {step}");
        let errors = |values: &[f64]| {
            let pairs = values.iter().zip(exact_result.values());
            pairs.map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
        };
        let (measured, modelled) = (errors(&decryptor.decrypt_real(found)?), errors(noisy_result.values()));
        assert!(measured <= bound && modelled <= predicted, "step {step}: {measured:e}, {modelled:e} of {bound:e}");
        assert!((0.2..5.0).contains(&(modelled / measured)), "step {step}: {modelled:e} for {measured:e}");
    }
    Ok(())
}

/// Numbers in [-1, 1] that repeat late.
fn wave(x: f64) -> f64 {
    x.sin()
}
