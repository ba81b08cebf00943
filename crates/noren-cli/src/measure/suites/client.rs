//! The suite `client`: what the owner of the data does.

use std::hint::black_box;

use clap::Args;
use noren::ckks::{Context, Decryptor, Encoder, Encryptor};
use noren_rlwe::keygen::KeyGenerator;

use crate::failure::Failure;
use crate::machine;
use crate::measure::judge::{Judge, drop_result, seed, values};
use crate::measure::record::Record;
use crate::measure::run::{After, Run};
use crate::measure::shape::Shape;
use crate::measure::timing;

/// The options of the suite.
#[derive(Debug, Args)]
pub struct Options {
    /// Base-two logarithms of the degrees of rings [default: 13,14,15,16]
    #[arg(long, value_name = "BITS,...", value_delimiter = ',')]
    log_n: Vec<u32>,
}

impl Options {
    /// Measures the suite, and says after each step which it was.
    pub(in crate::measure) fn run(&self, run: &Run<'_>, after: &mut After<'_>) -> Result<(), Failure> {
        for shape in Shape::of_client(&self.log_n)? {
            measure(run, shape)?;
            after(&[("--suite", "client"), ("--log-n", &shape.log_n.to_string())])?;
        }
        Ok(())
    }
}

/// Measures at one shape with each number of threads.
fn measure(run: &Run<'_>, shape: Shape) -> Result<(), Failure> {
    machine::reset_peak_rss();
    let parameters = shape.parameters()?;
    for &threads in run.threads {
        let context = Context::with_threads(parameters.clone(), Some(threads))?;
        let generator = KeyGenerator::new(context.rlwe(), seed(0));
        let secret = generator.secret();
        let public_key = generator.public(&secret)?;
        let encoder = Encoder::new(&context);
        let public = Encryptor::public(&context, &public_key, seed(1))?;
        let symmetric = Encryptor::symmetric(&context, &secret, seed(2))?;
        let decryptor = Decryptor::new(&context, &secret)?;
        let judge = Judge { run, decryptor: &decryptor };

        let (slots, level) = (parameters.max_slots(), parameters.max_level());
        let scale = *parameters.scale_at(level);
        let values = values(slots);
        let plaintext = encoder.encode_complex(&values, slots, level, &scale)?;
        let ciphertext = public.encrypt(&plaintext)?;
        let decrypted = decryptor.decrypt(&ciphertext)?;
        let right = judge.is_right("encrypt", &ciphertext, |j| values[j])?
            && judge.is_right("encrypt_secret", &symmetric.encrypt(&plaintext)?, |j| values[j])?;

        let time = |op, note, call: &mut dyn FnMut() -> noren::Result<()>| {
            let timing = right.then(|| timing::time(run.seconds, 1.0, call)).transpose()?;
            run.report(&Record::of_scheme("client", op, &parameters, threads, timing, note))
        };
        time("keygen", "secret and public key", &mut || {
            let secret = generator.secret();
            generator.public(black_box(&secret)).map(drop_result)
        })?;
        time("keygen_secret", "coefficients: evaluations are made at their first use", &mut || {
            drop_result(black_box(&generator).secret());
            Ok(())
        })?;
        time("keygen_public", "", &mut || generator.public(black_box(&secret)).map(drop_result))?;
        time("encode", "", &mut || encoder.encode_complex(black_box(&values), slots, level, &scale).map(drop_result))?;
        time("encrypt", "public key", &mut || public.encrypt(black_box(&plaintext)).map(drop_result))?;
        time("encrypt_secret", "secret key", &mut || symmetric.encrypt(black_box(&plaintext)).map(drop_result))?;
        time("decrypt", "without decoding; modulo as few primes as hold the message", &mut || {
            decryptor.decrypt(black_box(&ciphertext)).map(drop_result)
        })?;
        time("decode", "of the decrypted message", &mut || {
            encoder.decode_complex(black_box(&decrypted)).map(drop_result)
        })?;
    }
    Ok(())
}
