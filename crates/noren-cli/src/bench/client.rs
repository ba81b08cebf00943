//! The suite `client`: what the owner of the data does.

use std::hint::black_box;

use noren::Complex64;
use noren::ckks::{Context, Encoder, Encryptor, KeyRequest};

use crate::bench::ckks::{drop_result, seed};
use crate::bench::measure;
use crate::bench::record::Record;
use crate::bench::shape::Shape;
use crate::bench::suite::Run;
use crate::failure::Failure;

/// Measures at one shape with one number of threads.
pub(super) fn run(run: &Run<'_>, shape: Shape, threads: usize) -> Result<(), Failure> {
    let context = Context::with_threads(shape.parameters()?, Some(threads))?;
    let parameters = context.parameters().clone();
    let request = KeyRequest { relinearization: true, ..KeyRequest::default() };
    let keys = context.generate_keys(seed(0), &request)?;
    let encoder = Encoder::new(&context);
    let encryptor = Encryptor::symmetric(&context, &keys.secret, seed(1))?;

    let (slots, level) = (parameters.max_slots(), parameters.max_level());
    let scale = *parameters.scale_at(level);
    let values: Vec<Complex64> = (0..slots).map(|j| Complex64::cis(j as f64)).collect();
    let plaintext = encoder.encode_complex(&values, slots, level, &scale)?;

    let time = |op, note, call: &mut dyn FnMut() -> noren::Result<()>| {
        let timing = measure::time(run.seconds, 1.0, call)?;
        run.report(&Record::of_scheme("client", op, &parameters, threads, timing, note))
    };
    time("keygen", "secret, public and relinearisation key", &mut || {
        context.generate_keys(seed(2), black_box(&request)).map(drop_result)
    })?;
    time("encode", "", &mut || encoder.encode_complex(black_box(&values), slots, level, &scale).map(drop_result))?;
    time("encrypt", "secret key", &mut || encryptor.encrypt(black_box(&plaintext)).map(drop_result))
}
