//! The operations that bootstrapping consists of, at the highest level.

use std::hint::black_box;

use noren::bootstrapping::rns_heaan::DoubleLevels;
use noren::ckks::{Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest};
use noren_cli::measure::{Failure, Judge, Run, drop_result, seed, time, values};

use crate::rns_heaan::sets::Setting;

/// The constant, of 55 bits as the scale of a double level.
const CONSTANT: i64 = 0x5a_8279_99fc_ef34;

/// Measures a sum, products with a number and with a ciphertext, a rescaling and a rotation by one.
pub(super) fn run(run: &Run<'_>, setting: &Setting<'_>, context: &Context) -> Result<(), Failure> {
    let parameters = setting.parameters;
    // Those of bootstrapping have fewer levels.
    let request = KeyRequest { relinearization: true, rotations: vec![1], ..KeyRequest::default() };
    let keys = context.generate_keys(seed(0), &request)?;
    let evaluator = Evaluator::new(context, keys.evaluation.clone())?;
    let decryptor = Decryptor::new(context, &keys.secret)?;
    let judge = Judge { run, decryptor: &decryptor };
    let (slots, top) = (parameters.slots(), parameters.spec().levels);
    let values = values(slots);
    let plaintext = Encoder::new(context).encode_complex(
        &values,
        slots,
        parameters.ckks().max_level(),
        parameters.scale_at(top),
    )?;
    let encryptor = Encryptor::symmetric(context, &keys.secret, seed(2))?;
    let (a, b) = (encryptor.encrypt(&plaintext)?, encryptor.encrypt(&plaintext)?);
    let levels = DoubleLevels::new(&evaluator);

    let report = |op, note, right: bool, call: &mut dyn FnMut() -> noren::Result<()>| {
        let timing = right.then(|| time(run.seconds, 1.0, call)).transpose()?;
        run.report(&setting.record(op, timing, note).with("level", top))
    };
    let right = judge.is_right("add", &evaluator.add(&a, &b)?, |j| values[j] + values[j])?;
    report("add", "", right, &mut || evaluator.add(black_box(&a), &b).map(drop_result))?;
    let right =
        judge.is_right("mul_integer", &evaluator.mul_integer(&a, CONSTANT)?, |j| values[j] * CONSTANT as f64)?;
    report("mul_integer", "by a number of 55 bits, without rescaling", right, &mut || {
        evaluator.mul_integer(black_box(&a), CONSTANT).map(drop_result)
    })?;
    let product = evaluator.mul_no_rescale(&a, &b)?;
    let right = judge.is_right("mul_relin", &product, |j| values[j] * values[j])?;
    report("mul_relin", "without rescaling", right, &mut || {
        evaluator.mul_no_rescale(black_box(&a), &b).map(drop_result)
    })?;
    let right = judge.is_right("rescale", &levels.rescale(&product)?, |j| values[j] * values[j])?;
    report("rescale", "by both primes of a level", right, &mut || {
        levels.rescale(black_box(&product)).map(drop_result)
    })?;
    let right = judge.is_right("rotate", &evaluator.rotate(&a, 1)?, |j| values[(j + 1) % slots])?;
    report("rotate", "", right, &mut || evaluator.rotate(black_box(&a), 1).map(drop_result))
}
