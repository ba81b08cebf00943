//! Workloads in lookups of BFV.

use noren::advisor::Computation;
use noren::bfv::{Ciphertext, Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest};
use noren::lookup::{Function, Lookup, LookupKeys, LookupPlan};

use crate::bench::advise::step::Step;
use crate::bench::ckks::seed;
use crate::failure::Failure;

/// Preparation, keys, encryption, lookups and decryption, each timed.
pub(super) fn run(step: &Step<'_>, plan: &LookupPlan) -> Result<(), Failure> {
    let (price, workload, layout) = (&step.candidate.price, step.workload, plan.layout());
    let context = Context::with_threads(plan.parameters().clone(), Some(step.threads))?;
    let request = KeyRequest { relinearization: true, ..KeyRequest::default() };
    let keys = context.generate_keys(seed(0), &request)?;
    let function = function(workload.computation, layout.domain());
    let prepare = || Lookup::prepare(&context, plan, &function, None);
    let lookup = prepare()?;
    let generate = || LookupKeys::generate(&context, seed(2), &keys.secret, plan, None);
    let lookup_keys = generate()?;
    let (encoder, evaluator) = (Encoder::new(&context), Evaluator::new(&context, keys.evaluation.clone())?);
    let encryptor = Encryptor::symmetric(&context, &keys.secret, seed(1))?;
    let decryptor = Decryptor::new(&context, &keys.secret)?;
    let runs = workload.instances.div_ceil(layout.queries());
    let numbers = vec![VALUE as usize; layout.queries().min(workload.instances)];
    let encrypt = || {
        let one = |side: usize| encryptor.encrypt(&layout.encode(&encoder, &numbers, layout.domain()[side])?);
        (0..runs).map(|_| (0..workload.inputs()).map(one).collect()).collect::<noren::Result<Vec<Vec<Ciphertext>>>>()
    };
    let inputs = encrypt()?;
    // A function of one number does not look at the other.
    let run = || {
        let each = inputs.iter().map(|all| lookup.evaluate(&evaluator, &lookup_keys, &all[0], &all[all.len() - 1]));
        each.collect::<noren::Result<Vec<_>>>()
    };
    let results = step.first(run)?;
    let decrypt = || {
        let one = |result: &Ciphertext| Ok(layout.gather(&encoder.decode(&decryptor.decrypt(result)?)?)[0]);
        results.iter().map(one).collect::<noren::Result<Vec<usize>>>()
    };
    let expected = function.value(VALUE as usize, VALUE as usize);
    let right = decrypt()?.iter().all(|&found| Some(found as u64) == expected);
    step.part("server", right, price.server_seconds, run)?;
    if price.prepare_seconds > 0.0 {
        step.part("prepare", right, price.prepare_seconds, prepare)?;
    }
    step.part("keys", right, price.keys_seconds, || Ok((context.generate_keys(seed(0), &request)?, generate()?)))?;
    step.part("encrypt", right, price.encrypt_seconds, encrypt)?;
    step.part("decrypt", right, price.decrypt_seconds, decrypt)
}

/// The value of every input.
const VALUE: u64 = 3;

fn function(computation: Computation, domain: [usize; 2]) -> Function {
    match computation {
        Computation::Compare => Function::rule(domain, |x, y| Some(u64::from(x < y))),
        Computation::Table { inputs: 1 } => Function::rule(domain, |x, _| Some((x * x + 1) % 16)),
        _ => Function::rule(domain, |x, y| Some(x.checked_div(y).unwrap_or(0))),
    }
}
