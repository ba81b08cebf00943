//! Keys, encryption, and bootstraps: gates of bits, functions of integers.

use noren::Error;
use noren::tfhe::{Bit, Ciphertext, Context, Decryptor, Encoding, Encryptor, Evaluator, Gate, Keys, Lookup};

use crate::failure::Failure;
use crate::measure::judge::drop_result;
use crate::measure::judge::seed;
use crate::measure::suites::tfhe::measurement::Measurement;
use crate::measure::timing::with_scratch_file;

/// Keys once, then each operation, and bootstraps in batches.
pub(super) fn run(measurement: &Measurement<'_>, batches: &[usize]) -> Result<(), Failure> {
    let context = &measurement.context;
    measurement.report("secret_key", 1, true, || {
        drop_result(context.secret_key(&seed(0)));
        Ok(())
    })?;
    let keys = context.generate_keys(seed(0))?;
    let generate = || context.generate_keys(seed(0)).map(drop_result);
    measurement.report_with("server_key", 1, true, generate, |record| record.with("key_bytes", keys.server.bytes()))?;
    match context.parameters().encoding() {
        Encoding::Bits => Sides::new(context, &keys)?.bits(measurement, batches),
        Encoding::Integers { .. } => Sides::new(context, &keys)?.integers(measurement, batches),
    }
}

/// The file of keys that a client sends, written while they are made: what it holds meanwhile is what counts.
pub(super) fn client(measurement: &Measurement<'_>) -> Result<(), Failure> {
    let (context, seed) = (&measurement.context, seed(0));
    let secret = context.secret_key(&seed);
    with_scratch_file(|path| {
        let file_bytes = context.write_compact_keys(&seed, &secret, path)?;
        let write = || context.write_compact_keys(&seed, &secret, path).map(drop_result);
        measurement.report_with("client_keys", 1, true, write, |record| record.with("file_bytes", file_bytes))
    })
}

/// Both ends of a computation.
struct Sides<'a> {
    encryptor: Encryptor<'a>,
    decryptor: Decryptor<'a>,
    evaluator: Evaluator,
}

impl<'a> Sides<'a> {
    fn new(context: &Context, keys: &'a Keys) -> Result<Self, Error> {
        Ok(Self {
            encryptor: Encryptor::new(context, &keys.secret, seed(1))?,
            decryptor: Decryptor::new(context, &keys.secret)?,
            evaluator: Evaluator::new(context, keys.server.clone())?,
        })
    }

    fn bits(&self, measurement: &Measurement<'_>, batches: &[usize]) -> Result<(), Failure> {
        let Self { encryptor, decryptor, evaluator } = self;
        let (yes, no) = (encryptor.encrypt_bit(true)?, encryptor.encrypt_bit(false)?);
        let right = decryptor.decrypt_bit(&yes)? && !decryptor.decrypt_bit(&no)?;
        measurement.report("encrypt", 1, right, || encryptor.encrypt_bit(true).map(drop_result))?;
        measurement.report("decrypt", 1, right, || decryptor.decrypt_bit(&yes).map(drop_result))?;
        let right = [(&yes, true), (&no, false)].into_iter().try_fold(true, |right, (choice, expected)| {
            let found = decryptor.decrypt_bit(&evaluator.mux(choice, &yes, &no)?)?;
            Ok::<_, Error>(right && found == expected)
        })?;
        measurement.report("mux", 1, right, || evaluator.mux(&yes, &yes, &no).map(drop_result))?;
        let values = |i: usize| (i.is_multiple_of(2), i.is_multiple_of(3));
        for &batch in batches {
            let encrypt = |i| {
                let (a, b) = values(i);
                Ok((encryptor.encrypt_bit(a)?, encryptor.encrypt_bit(b)?))
            };
            let pairs = (0..batch).map(encrypt).collect::<Result<Vec<(Bit, Bit)>, Error>>()?;
            let gates: Vec<_> = pairs.iter().map(|(a, b)| (Gate::Nand, a, b)).collect();
            let right = evaluator.gates(&gates)?.iter().enumerate().try_fold(true, |right, (i, bit)| {
                let (a, b) = values(i);
                Ok::<_, Error>(right && decryptor.decrypt_bit(bit)? != (a && b))
            })?;
            measurement.report("gate", batch, right, || evaluator.gates(&gates).map(drop_result))?;
        }
        Ok(())
    }

    fn integers(&self, measurement: &Measurement<'_>, batches: &[usize]) -> Result<(), Failure> {
        let Self { encryptor, decryptor, evaluator } = self;
        let one = encryptor.encrypt(1)?;
        let right = decryptor.decrypt(&one)? == 1;
        measurement.report("encrypt", 1, right, || encryptor.encrypt(1).map(drop_result))?;
        measurement.report("decrypt", 1, right, || decryptor.decrypt(&one).map(drop_result))?;
        let size = measurement.context.parameters().message_size();
        let square = |x: u64| x * x % size;
        let lookup = Lookup::new(&measurement.context, square)?;
        for &batch in batches {
            let inputs = (0..batch as u64).map(|i| encryptor.encrypt(i % size)).collect::<Result<Vec<_>, _>>()?;
            let inputs: Vec<&Ciphertext> = inputs.iter().collect();
            let results = evaluator.lookup_each(&inputs, &lookup)?;
            let right = results
                .iter()
                .zip(0..)
                .try_fold(true, |right, (y, i)| Ok::<_, Error>(right && decryptor.decrypt(y)? == square(i % size)))?;
            measurement
                .report("bootstrap", batch, right, || evaluator.lookup_each(&inputs, &lookup).map(drop_result))?;
        }
        Ok(())
    }
}
