//! Workloads in BGV and BFV.

use noren::Seed;
use noren::advisor::{Computation, Placement, SlotCircuit};
use noren::cost::SlotDraft;
use noren::schemes::integers::{
    Ciphertext, Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, Parameters, Scheme,
};
use noren_rlwe::keygen::KeyGenerator;

use crate::bench::advise::step::Step;
use crate::bench::ckks::seed;
use crate::failure::Failure;

/// Keys, encryption, the circuit and decryption, each timed.
pub(super) fn run<S: Scheme>(
    step: &Step<'_>,
    parameters: &Parameters,
    circuit: SlotCircuit,
    draft: &SlotDraft,
) -> Result<(), Failure> {
    let price = &step.candidate.price;
    let context = Context::with_threads(parameters.clone(), Some(step.threads))?;
    let limbs = |depth: &usize| draft.limbs[*depth.min(&(draft.limbs.len() - 1))];
    let request = KeyRequest {
        relinearization: draft.usage.relinearization.is_some(),
        limbs: draft.usage.relinearization.as_ref().map(limbs),
        rotations_at: draft.usage.rotations.iter().map(|(&steps, depth)| (steps, limbs(depth))).collect(),
        ..KeyRequest::default()
    };
    let keys = context.generate_keys(seed(0), &request)?;
    let evaluator = Evaluator::<S>::new(&context, keys.evaluation.clone())?;
    let encoder = Encoder::new(&context);
    let encryptor = Encryptor::<S>::symmetric(&context, &keys.secret, seed(1))?;
    let decryptor = Decryptor::new(&context, &keys.secret)?;
    let encrypt = || encrypt(&encoder, &encryptor, parameters, circuit, draft.runs);
    let inputs = encrypt()?;
    let prepare = || circuit.prepare(&evaluator, &inputs[0][0], 1);
    let prepared = prepare()?;
    let run = || inputs.iter().map(|inputs| prepared.run(&evaluator, inputs, 1)).collect::<noren::Result<Vec<_>>>();
    let results = step.first(run)?;
    let decode = |result: &Ciphertext<S>| encoder.decode(&decryptor.decrypt(result)?);
    let decrypt = || results.iter().flatten().map(decode).collect::<noren::Result<Vec<_>>>();
    let expected = expected(circuit, parameters.modulus().value() as i64);
    let right = decrypt()?.iter().all(|slots| slots[0] == expected);
    step.part("server", right, price.server_seconds, run)?;
    if price.prepare_seconds > 0.0 {
        step.part("prepare", right, price.prepare_seconds, prepare)?;
    }
    if request.relinearization || !request.rotations_at.is_empty() {
        let generator = KeyGenerator::new(context.rlwe(), Seed::from_bytes([0; 32]));
        let wanted = context.automorphisms_of(&request)?;
        step.part("keys", right, price.keys_seconds, || generator.keys(&wanted, None))?;
    }
    step.part("encrypt", right, price.encrypt_seconds, encrypt)?;
    step.part("decrypt", right, price.decrypt_seconds, decrypt)
}

/// The ciphertexts of each run; every instance has the same values.
fn encrypt<S: Scheme>(
    encoder: &Encoder,
    encryptor: &Encryptor<'_, S>,
    parameters: &Parameters,
    circuit: SlotCircuit,
    runs: usize,
) -> noren::Result<Vec<Vec<Ciphertext<S>>>> {
    let (slots, filled) = (parameters.slots(), circuit.values());
    let values: Vec<i64> = (0..slots)
        .map(|slot| match circuit.placement {
            Placement::Consecutive if slot % circuit.slots() >= filled => padding(circuit.computation),
            _ => VALUE,
        })
        .collect();
    let one = || match circuit.computation {
        Computation::Matrix { .. } if circuit.placement == Placement::Consecutive => {
            encryptor.encrypt(&encoder.encode_repeated(&values[..circuit.slots()])?)
        }
        _ => encryptor.encrypt(&encoder.encode(&values)?),
    };
    (0..runs).map(|_| (0..circuit.inputs()).map(|_| one()).collect()).collect()
}

/// The value of every input.
const VALUE: i64 = 3;

const fn padding(computation: Computation) -> i64 {
    match computation {
        Computation::Product { .. } => 1,
        _ => 0,
    }
}

/// The result of each instance.
fn expected(circuit: SlotCircuit, t: i64) -> i64 {
    let exact = match circuit.computation {
        Computation::Product { count } => i128::from(VALUE).pow(count as u32),
        Computation::Sum { count } => i128::from(VALUE) * count as i128,
        Computation::InnerProduct { length } => i128::from(VALUE * VALUE) * length as i128,
        Computation::Matrix { columns, .. } => i128::from(VALUE) * columns as i128,
        Computation::Squarings { depth } => i128::from(VALUE).pow(1 << depth),
        Computation::Polynomial { degree } => (0..=degree as u32).map(|power| i128::from(VALUE).pow(power)).sum(),
        _ => 0,
    };
    exact.rem_euclid(i128::from(t)) as i64
}
