//! The set of 128 bits end to end: every kind of message, every stage, many bootstraps in a row, any number of threads.
//!
//! One world for all, of 8 GB: these run one after the other, by `make test-full`.

use std::sync::Arc;

use noren::Complex64;
use noren::bootstrapping::{BootstrapKeys, Bootstrapper, Mode, Parameters, Preset};
use noren::ckks::{Ciphertext, Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, Keys, Scale};

use crate::encrypted::{inputs, random, reals, seed, stated, taken_as_real};
use crate::numbers::{reversed, worst};
use crate::summary::Summary;

struct Full {
    parameters: Parameters,
    context: Context,
    keys: Keys,
    bootstrap: Arc<BootstrapKeys>,
}

/// Bits that are right in the worst slot.
const PRECISION: f64 = 21.5;

impl Full {
    fn new(threads: Option<usize>) -> Self {
        let parameters = Preset::N16.parameters().expect("a preset");
        let ckks = parameters.ckks().expect("primes");
        let context = Context::with_threads(ckks, threads).expect("rings");
        let keys = context.generate_keys(seed(1), &KeyRequest::default()).expect("keys");
        let bootstrap = BootstrapKeys::generate(&context, &parameters, &keys.secret, seed(2), None).expect("keys");
        Self { parameters, context, keys, bootstrap: Arc::new(bootstrap) }
    }

    fn bootstrapper(&self, mode: Mode) -> Bootstrapper {
        Bootstrapper::new(&self.context, &self.parameters, self.bootstrap.clone(), mode).expect("its keys")
    }

    /// Encrypted with the secret key: the error of a public encryption, about `2^-24`, would hide that of bootstrapping.
    fn encrypt(&self, z: &[Complex64]) -> Ciphertext {
        let level = self.parameters.input_level();
        let scale: &Scale = self.context.parameters().scale_at(level);
        let plaintext = Encoder::new(&self.context).encode_complex(z, z.len(), level, scale).expect("encode");
        let encryptor = Encryptor::symmetric(&self.context, &self.keys.secret, seed(3)).expect("encryptor");
        stated(encryptor.encrypt(&plaintext).expect("encrypt"), z)
    }

    fn decrypt(&self, ciphertext: &Ciphertext) -> Vec<Complex64> {
        let decryptor = Decryptor::new(&self.context, &self.keys.secret).expect("decryptor");
        // Between the stages numbers are not as stated.
        decryptor.allow_unbounded().decrypt_complex(ciphertext).expect("decrypt")
    }
}

fn rms(a: &[Complex64], b: &[Complex64]) -> f64 {
    let squares: f64 = a.iter().zip(b).map(|(a, b)| (a - b).norm_sqr()).sum();
    (squares / a.len() as f64).sqrt()
}

#[test]
#[ignore = "8 GB and a minute: make test-full"]
fn n16_every_message_comes_back_with_21_bits_and_a_half() {
    let mut summary = Summary::default();
    let full = Full::new(None);
    for mode in [Mode::Complex, Mode::Real] {
        let bootstrapper = full.bootstrapper(mode);
        let slots = full.parameters.slots();
        let seeds = (0..3).map(|number| ("random", random(100 + number, slots)));
        for (name, z) in inputs(slots).into_iter().chain(seeds) {
            let input = full.encrypt(&z);
            let input = if mode == Mode::Real { taken_as_real(&input) } else { input };
            let result = bootstrapper.bootstrap(&input).expect("bootstrap");
            let level = full.parameters.output_level();
            assert_eq!((result.level(), level - full.parameters.input_level()), (level, full.parameters.levels_left()));
            assert_eq!(result.scale(), full.context.parameters().scale_at(level));
            let z = if mode == Mode::Real { reals(&z) } else { z };
            let found = full.decrypt(&result);
            let (error, bound) = (worst(&found, &z), result.error_bound());
            summary.add(error);
            println!(
                "{mode:?} {name:12} worst 2^{:.2} rms 2^{:.2} bound 2^{:.2}",
                error.log2(),
                rms(&found, &z).log2(),
                bound.log2()
            );
            assert!(error <= bound, "{name}: {error:e} of {bound:e}");
            assert!(error <= 2f64.powf(-PRECISION), "{mode:?} {name}: {error:e}");
        }
    }
    summary.print(Preset::N16);
}

#[test]
#[ignore = "8 GB and half a minute: make test-full"]
fn n16_every_stage_holds_what_it_says() {
    let full = Full::new(None);
    let (parameters, slots) = (&full.parameters, full.parameters.slots());
    let z = random(30, slots);
    let stages = full.bootstrapper(Mode::Complex).stages(&full.encrypt(&z), &mut |_| {}).expect("bootstrap");
    let (half_width, ratio) = (parameters.exponential().half_width(), parameters.series().ratio());
    let report = |stage: &str, ciphertext: &Ciphertext, expected: &[Complex64]| {
        let found = full.decrypt(ciphertext);
        let (error, bound) = (worst(&found, expected), ciphertext.error_bound());
        let root = rms(&found, expected);
        println!("{stage:12} worst 2^{:.2} rms 2^{:.2} bound 2^{:.2}", error.log2(), root.log2(), bound.log2());
        assert!(error <= bound, "{stage}: {error:e} of {bound:e}");
    };

    // The slots after coefficient to slot are so near to the raised coefficients that the integers can be read off them.
    let interval = f64::from(parameters.spec().eval_mod.interval);
    let in_slots: Vec<Complex64> = full.decrypt(&stages.slots).iter().map(|t| t * 2.0 * half_width).collect();
    let multiples: Vec<Complex64> = in_slots.iter().map(|t| Complex64::new((t.re).round(), (t.im).round())).collect();
    assert!(multiples.iter().all(|i| i.re.abs() <= interval && i.im.abs() <= interval));
    let mut histogram = vec![0usize; 2 * parameters.spec().eval_mod.interval as usize + 1];
    let parts = multiples.iter().flat_map(|i| [i.re, i.im]);
    parts.clone().for_each(|i| histogram[(i + interval) as usize] += 1);
    println!("multiples of q_0 from -{interval}: {histogram:?}");
    // Sums of h uniform numbers, rounded: (h + 1) / 12. The secret is fixed, and coefficients share it: within a tenth.
    let variance = parts.map(|i| i * i).sum::<f64>() / (2 * slots) as f64;
    let expected = f64::from(parameters.spec().ephemeral_weight + 1) / 12.0;
    println!("variance {variance:.4}, expected {expected:.4}");
    assert!((variance / expected - 1.0).abs() < 0.1);

    // From what is modulo q_0, by numbers. Packed coefficients of the decryption of U z are z in bit-reversed order.
    let mut coefficients = full.decrypt(&stages.coefficients);
    let (mut re, mut im): (Vec<f64>, Vec<f64>) = coefficients.iter().map(|z| (z.re, z.im)).unzip();
    noren_math::roots::fft::FftTable::new(slots).inverse(&mut re, &mut im);
    let packed: Vec<Complex64> = re.into_iter().zip(im).map(|(re, im)| Complex64::new(re, im)).collect();
    coefficients = (0..slots).map(|j| packed[reversed(j, slots)]).collect();
    println!("coefficients worst 2^{:.2} rms 2^{:.2}", worst(&coefficients, &z).log2(), rms(&coefficients, &z).log2());
    let whole: Vec<Complex64> = multiples.iter().zip(&coefficients).map(|(i, z)| i + z / ratio).collect();
    report("slots", &stages.slots, &whole.iter().map(|t| t / (2.0 * half_width)).collect::<Vec<_>>());
    for (i, part) in stages.parts.iter().enumerate() {
        let of = |z: &Complex64| if i == 0 { z.re } else { z.im };
        let turned: Vec<Complex64> = whole.iter().map(|t| Complex64::I * of(t) / half_width).collect();
        report("i u", part, &turned);
        let e: Vec<Complex64> = whole.iter().map(|t| Complex64::cis(std::f64::consts::TAU * of(t))).collect();
        report("exponential", &stages.exponentials[i], &e);
        let p: Vec<Complex64> = e.iter().map(|e| e * (e + parameters.series().shift())).collect();
        report("series", &stages.series[i], &p);
    }
    report("result", &stages.result, &z);
}

#[test]
#[ignore = "8 GB and a minute: make test-full"]
fn n16_twenty_bootstraps_in_a_row_do_not_drift() {
    let full = Full::new(None);
    let bootstrapper = full.bootstrapper(Mode::Complex);
    let evaluator = Evaluator::new(&full.context, full.bootstrap.evaluation.clone()).expect("keys");
    // Numbers of size 1: products with them keep messages and errors as large as they are.
    let unit = |number: u64| -> Vec<Complex64> {
        let angles = random(number, full.parameters.slots());
        angles.iter().map(|z| Complex64::cis(z.re * std::f64::consts::PI)).collect()
    };
    let mut expected = unit(50);
    let mut x = full.encrypt(&expected);
    let mut first = None;
    for round in 0..20_i32 {
        let before = full.decrypt(&x);
        x = bootstrapper.bootstrap(&x).expect("bootstrap");
        let after = full.decrypt(&x);
        let (own, all) = (worst(&after, &before), worst(&after, &expected));
        println!("round {round}: 2^{:.2}, of all rounds 2^{:.2}", own.log2(), all.log2());
        assert!(own <= 4.0 * *first.get_or_insert(own), "round {round}: {own:e}");
        // Errors of rounds are random but for that of the series: at most all add up.
        assert!(all <= 4.0 * f64::from(round + 1) * first.unwrap_or(own), "after round {round}: {all:e}");
        let factor = unit(51 + round as u64);
        let plaintext = Encoder::new(&full.context)
            .encode_complex(&factor, factor.len(), x.level(), full.context.parameters().scale_at(x.level()))
            .expect("encode");
        x = evaluator.mul_plain(&x, &plaintext).expect("levels are left");
        x = evaluator.at_level(&x, full.parameters.input_level()).expect("levels are left").with_magnitude(1.0);
        expected.iter_mut().zip(&factor).for_each(|(z, factor)| *z *= factor);
    }
}

#[test]
#[ignore = "9 GB and a minute: make test-full"]
fn n16_gives_the_same_bytes_for_one_and_two_threads() {
    let results = [1, 2].map(|threads| {
        let full = Full::new(Some(threads));
        let z = random(60, full.parameters.slots());
        let result = full.bootstrapper(Mode::Complex).bootstrap(&full.encrypt(&z)).expect("bootstrap");
        full.decrypt(&result)
    });
    assert!(results[0] == results[1], "the results differ");
}
