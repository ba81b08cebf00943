//! The modular reduction alone, on ciphertexts: every multiple of `q_0` with every message.

use std::collections::BTreeSet;
use std::f64::consts::{SQRT_2, TAU};
use std::sync::OnceLock;

use noren_math::random::Seed;
use num_complex::Complex64;

use super::*;
use crate::bootstrapping::preset::Preset;
use crate::schemes::ckks::{Decryptor, Encoder, Encryptor, KeyRequest, Keys};

/// Exact values, and what came of them.
struct Reduced {
    multiples: Vec<[i32; 2]>,
    messages: Vec<Complex64>,
    found: Vec<Complex64>,
    /// By the rules of ciphertexts: noise and truncation together, without what the series leaves.
    std: f64,
    bound: f64,
}

struct World {
    context: Context,
    keys: Keys,
    pipeline: Pipeline,
}

impl World {
    fn new() -> Self {
        let parameters = Preset::Toy.parameters().expect("a preset");
        let context = Context::new(parameters.ckks().expect("primes")).expect("rings");
        let keys = context.generate_keys(Seed::from_bytes([1; 32]), &KeyRequest::default()).expect("keys");
        let bootstrap = BootstrapKeys::generate(&context, &parameters, &keys.secret, Seed::from_bytes([2; 32]), None);
        let bootstrap = Arc::new(bootstrap.expect("keys"));
        let pipeline = Pipeline::new(&context, &parameters, bootstrap, Mode::Complex).expect("its keys");
        Self { context, keys, pipeline }
    }

    /// Encrypts `i u`, `u = (I + z / rho) / K`, for real and imaginary parts, and reduces.
    fn reduce(&self, multiples: Vec<[i32; 2]>, messages: Vec<Complex64>, number: u8) -> Reduced {
        let Pipeline { parameters, evaluator, .. } = &self.pipeline;
        let ckks = self.context.parameters();
        let (half_width, ratio) = (parameters.exponential().half_width(), parameters.series().ratio());
        let encryptor = Encryptor::symmetric(&self.context, &self.keys.secret, Seed::from_bytes([number; 32]));
        let encryptor = encryptor.expect("its secret");
        let parts = [0, 1].map(|i| {
            let u = multiples.iter().zip(&messages).map(|(multiple, z)| {
                let z = if i == 0 { z.re } else { z.im };
                Complex64::new(0.0, (f64::from(multiple[i]) + z / ratio) / half_width)
            });
            let (u, scale) = (u.collect::<Vec<_>>(), EvalMod::input_scale(parameters, ckks));
            let plaintext = Encoder::new(&self.context)
                .encode_complex(&u, parameters.slots(), parameters.slots_level(), &scale)
                .expect("slots");
            encryptor.encrypt(&plaintext).expect("its context").with_magnitude(1.0)
        });

        let end = ckks.scale_at(parameters.output_level());
        let eval_mod = EvalMod { evaluator, parameters };
        let scale = eval_mod.series_scale(end, &base_scale(&self.context, parameters).expect("a scale")).expect("b");
        let series = parts.map(|u| {
            let e = eval_mod.exponential(&u, &scale).expect("levels");
            eval_mod.series(&e).expect("a level")
        });
        let whole = self.pipeline.imaginary_parts(&series).expect("a key");
        let result = evaluator.reinterpret(whole, &end.div(series[0].scale())).expect("a scale");
        assert_eq!(result.level(), parameters.output_level());
        assert!((result.scale().ratio_to(end) - 1.0).abs() < 1e-15);
        // Multiples beyond the interval give any numbers, far from what is stated.
        let decryptor = Decryptor::new(&self.context, &self.keys.secret).expect("its context").allow_unbounded();
        let mut found = decryptor.decrypt_complex(&result).expect("its context");
        found.truncate(messages.len());
        Reduced {
            multiples,
            messages,
            found,
            std: result.estimate().std().hypot(result.estimate().bias()),
            bound: result.error_bound(),
        }
    }
}

/// Every multiple with as many messages as fit the slots; the messages of all rounds are evenly spread over `[-1, 1]`.
fn grid(slots: usize, interval: i32, round: usize, rounds: usize) -> (Vec<[i32; 2]>, Vec<Complex64>) {
    let multiples = 2 * interval as usize + 1;
    let messages = slots / multiples;
    let points = messages * rounds;
    let message = |j: usize| 2.0 * (j * rounds + round) as f64 / (points - 1) as f64 - 1.0;
    (0..multiples * messages)
        .map(|i| {
            let (first, j) = ((i % multiples) as i32 - interval, i / multiples);
            // The imaginary parts run the other way, beside other multiples.
            let second = ((i + j) % multiples) as i32 - interval;
            ([first, -second], Complex64::new(message(j), -message(messages - 1 - j)))
        })
        .unzip()
}

fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(World::new)
}

/// The value of the series at exact messages, by its closed form.
fn of_series(parameters: &Parameters, z: f64) -> f64 {
    parameters.series().message(Complex64::cis(TAU * z / parameters.series().ratio()))
}

/// How many ciphertexts the grid takes.
const ROUNDS: usize = 4;

fn rounds() -> impl Iterator<Item = Reduced> {
    let parameters = &world().pipeline.parameters;
    let interval = parameters.spec().eval_mod.interval as i32;
    (0..ROUNDS).map(move |round| {
        let (multiples, messages) = grid(parameters.slots(), interval, round, ROUNDS);
        world().reduce(multiples, messages, 10 + round as u8)
    })
}

#[test]
fn every_multiple_vanishes_beside_every_message() {
    let parameters = &world().pipeline.parameters;
    let mut met = BTreeSet::new();
    let (mut squares, mut count, mut predicted) = (0.0, 0.0, 0.0_f64);
    for Reduced { multiples, messages, found, std, bound } in rounds() {
        met.extend(multiples.iter().flatten().copied());
        // Both real parts have the error of the series.
        let whole = bound + SQRT_2 * parameters.series().error();
        for ((multiple, z), found) in multiples.iter().zip(&messages).zip(&found) {
            let error = (found - z).norm();
            assert!(error <= whole, "{z} beside {multiple:?}: {error:e} of {whole:e}");
            // Without the series, noise and truncation are left.
            let expected = Complex64::new(of_series(parameters, z.re), of_series(parameters, z.im));
            let noise = (found - expected).norm();
            assert!(noise <= bound, "{z} beside {multiple:?}: {noise:e} of {bound:e}");
            squares += noise * noise;
            count += 1.0;
        }
        predicted = predicted.max(std);
    }
    assert!(met.iter().copied().eq(-14..=14), "{met:?}");
    let root = f64::sqrt(squares / count);
    assert!(root <= predicted, "noise {root:e}, predicted {predicted:e}");
}

#[test]
fn error_follows_the_fifth_chebyshev_polynomial() {
    let parameters = &world().pipeline.parameters;
    let fifth = |z: f64| z * (16.0 * z.powi(4) - 20.0 * z * z + 5.0);
    let (mut products, mut squares, mut noise, mut count) = (0.0, 0.0, 0.0, 0.0);
    for Reduced { messages, found, .. } in rounds() {
        for (z, found) in messages.iter().zip(&found) {
            for (z, found) in [(z.re, found.re), (z.im, found.im)] {
                products += fifth(z) * (found - z);
                squares += fifth(z) * fifth(z);
                noise += (found - of_series(parameters, z)).powi(2);
                count += 1.0;
            }
        }
    }
    // The fit of `A T_5` has the deviation of the noise over the root of the sum of squares.
    let (amplitude, deviation) = (products / squares, f64::sqrt(noise / count / squares));
    let expected = parameters.series().error();
    // The best series differs from T_5 by a part of t^2, where t is the largest angle.
    let part = (TAU / parameters.series().ratio()).powi(2);
    let far = (amplitude + expected).abs();
    assert!(far < 5.0 * deviation + part * expected, "{amplitude:e} +- {deviation:e} of -{expected:e}");
}

#[test]
fn multiples_beyond_the_interval_mean_nothing() {
    let slots = world().pipeline.parameters.slots();
    for sign in [-1, 1] {
        let Reduced { found, .. } = world().reduce(vec![[20 * sign, 0]; slots], vec![Complex64::from(0.5); slots], 20);
        assert!(found.iter().all(|found| (found.re - 0.5).abs() > 0.5));
    }
}
