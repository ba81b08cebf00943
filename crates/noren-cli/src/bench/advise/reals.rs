//! Workloads in CKKS.

use noren::advisor::{Computation, Placement, SlotCircuit};
use noren::bootstrapping::Preset;
use noren::ckks::{Ciphertext, Context, Decryptor, Encoder, Encryptor, Evaluator, Parameters};
use noren::cost::SlotDraft;
use noren_rlwe::keygen::KeyGenerator;

use crate::bench::advise::step::Step;
use crate::bench::ckks::seed;
use crate::failure::Failure;

/// Keys, encryption, the circuit and decryption, each timed.
pub(super) fn run(
    step: &Step<'_>,
    parameters: &Parameters,
    circuit: SlotCircuit,
    draft: &SlotDraft,
) -> Result<(), Failure> {
    let price = &step.candidate.price;
    let context = Context::with_threads(parameters.clone(), Some(step.threads))?;
    let level = parameters.max_level();
    let request = draft.usage.key_request(level)?;
    let keys = context.generate_keys(seed(0), &request)?;
    let (encoder, evaluator) = (Encoder::new(&context), Evaluator::new(&context, keys.evaluation.clone())?);
    let encryptor = Encryptor::symmetric(&context, &keys.secret, seed(1))?;
    let decryptor = Decryptor::new(&context, &keys.secret)?;
    let slots = draft.width;
    let encrypt = || encrypt(&encoder, &encryptor, circuit, slots, level, draft.runs);
    let inputs = encrypt()?;
    let prepare = || circuit.prepare(&evaluator, &inputs[0][0], circuit.real_coefficient());
    let prepared = prepare()?;
    let run = || {
        let each = inputs.iter().map(|inputs| prepared.run(&evaluator, inputs, circuit.real_coefficient()));
        each.collect::<noren::Result<Vec<_>>>()
    };
    let results = step.first(run)?;
    let expected = expected(circuit);
    let decrypt =
        || results.iter().flatten().map(|result| decryptor.decrypt_real(result)).collect::<noren::Result<Vec<_>>>();
    let right = results
        .iter()
        .flatten()
        .zip(decrypt()?)
        .all(|(result, slots)| (slots[0] - expected).abs() <= result.error_bound());
    step.part("server", right, price.server_seconds, run)?;
    if price.prepare_seconds > 0.0 {
        step.part("prepare", right, price.prepare_seconds, prepare)?;
    }
    if !request.rotations_at.is_empty() || request.relinearization {
        let generator = KeyGenerator::new(context.rlwe(), seed(0));
        let wanted = context.automorphisms_of(&request)?;
        step.part("keys", right, price.keys_seconds, || generator.keys(&wanted, None))?;
    }
    step.part("encrypt", right, price.encrypt_seconds, encrypt)?;
    step.part("decrypt", right, price.decrypt_seconds, decrypt)
}

/// With bootstraps: not measured here.
pub(super) fn renew(step: &Step<'_>, preset: Preset, _circuit: SlotCircuit, _draft: &SlotDraft) -> Result<(), Failure> {
    step.run.warn(&format!("bootstraps of {preset} are measured by the suite bootstrap"));
    Ok(())
}

/// The ciphertexts of each run. All values are the same, so that every instance has one result.
fn encrypt(
    encoder: &Encoder,
    encryptor: &Encryptor<'_>,
    circuit: SlotCircuit,
    slots: usize,
    level: usize,
    runs: usize,
) -> noren::Result<Vec<Vec<Ciphertext>>> {
    let value = value(circuit.computation);
    let filled = circuit.values();
    let values: Vec<f64> = (0..slots)
        .map(|slot| match circuit.placement {
            Placement::Consecutive if slot % circuit.slots() >= filled => padding(circuit.computation),
            _ => value,
        })
        .collect();
    let one = || encryptor.encrypt_within(&encoder.encode(&values, slots, level)?, 1.0);
    (0..runs).map(|_| (0..circuit.inputs()).map(|_| one()).collect()).collect()
}

/// The value of every input.
fn value(computation: Computation) -> f64 {
    match computation {
        Computation::Product { .. } => 0.99,
        Computation::Polynomial { .. } => 0.5,
        Computation::Sum { count } => 1.0 / count as f64,
        Computation::InnerProduct { length } => (1.0 / length as f64).sqrt(),
        _ => 0.9,
    }
}

/// The padding of an instance's slots.
const fn padding(computation: Computation) -> f64 {
    match computation {
        Computation::Product { .. } => 1.0,
        _ => 0.0,
    }
}

/// The result of each instance.
fn expected(circuit: SlotCircuit) -> f64 {
    let x = value(circuit.computation);
    match circuit.computation {
        Computation::Product { count } => x.powi(count as i32),
        Computation::Squarings { depth } => x.powf(f64::exp2(depth as f64)),
        Computation::Polynomial { degree } => {
            (0..=degree).map(|power| x.powi(power as i32)).sum::<f64>() * circuit.real_coefficient()
        }
        Computation::Matrix { .. } => x,
        _ => 1.0,
    }
}
