//! The suite `matvec`: a matrix times an encrypted vector of integers, in BGV.
//!
//! 512 x 512 entries modulo t = 65537, N = 2^14, ten limbs at 128-bit security. Each of both rows of a ciphertext holds the
//! vector 16 times. The matrix is encoded before, and the result is compared with the product in clear.

use noren::bgv::{Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, ParametersSpec};
use noren::circuits::linear::LinearMap;
use noren_cli::measure::{After, Failure, Record, Run, drop_result, reset_peak_rss, seed, time};

/// The modulus of integers.
const T: i64 = 65537;
/// The rows and columns of the matrix.
const SIZE: i64 = 512;

/// Measures with each number of threads, and says after it which step it was.
pub(crate) fn run(run: &Run<'_>, after: &mut After<'_>) -> Result<(), Failure> {
    let spec = ParametersSpec { log_n: 14, plaintext_modulus: T as u64, ..ParametersSpec::default() };
    let parameters = ParametersSpec { log_q: vec![33; 10], log_p: vec![48; 2], dnum: 5, ..spec }.build()?;
    let entries: Vec<i64> = (0..SIZE).flat_map(|i| (0..SIZE).map(move |j| entry(i, j))).collect();
    let map = LinearMap::dense(SIZE as usize, SIZE as usize, &entries)?;
    let vector: Vec<i64> = (0..SIZE).map(|j| (5 * j + 3) % T).collect();
    let product = entries.chunks(SIZE as usize).map(|row| row.iter().zip(&vector).map(|(a, x)| a * x).sum::<i64>() % T);
    let (slots, copies) = (parameters.row_slots(), parameters.row_slots() / SIZE as usize);
    let expected = product.collect::<Vec<_>>().repeat(2 * copies);
    for &threads in run.threads {
        reset_peak_rss();
        let context = Context::with_threads(parameters.clone(), Some(threads))?;
        let request = KeyRequest { rotations: map.rotations(), ..KeyRequest::default() };
        let keys = context.generate_keys(seed(0), &request)?;
        let evaluator = Evaluator::new(&context, keys.evaluation.clone())?;
        let (encoder, decryptor) = (Encoder::new(&context), Decryptor::new(&context, &keys.secret)?);
        let encryptor = Encryptor::public(&context, &keys.public, seed(1))?;
        let x = encryptor.encrypt(&encoder.encode_repeated(&vector)?)?;
        let prepared = map.prepare(&evaluator, &x)?;
        let right = encoder.decode(&decryptor.decrypt(&prepared.apply(&evaluator, &x)?)?)? == expected;
        let timing =
            right.then(|| time(run.seconds, 1.0, || prepared.apply(&evaluator, &x).map(drop_result))).transpose()?;
        let record = Record { slots, ..Record::of_rlwe("matvec", "matvec", parameters.rlwe(), threads, timing, "") };
        let record = record
            .with("scheme", "bgv")
            .with("dimension", SIZE)
            .with("baby_steps", map.baby_steps())
            .with("keys", map.rotations().len());
        run.report(&record)?;
    }
    after(&[("--suite", "matvec")])
}

/// An entry of the matrix, as every driver takes it: none is zero.
const fn entry(i: i64, j: i64) -> i64 {
    (7 * i * i + 11 * i * j + 13 * j * j) % (T - 1) + 1
}
