//! Calibration: the costs of units on this machine, from measured operations, in a few seconds.

use std::hint::black_box;
use std::time::{Duration, Instant};

use noren_math::kernels;
use noren_math::random::Seed;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::parameters as rlwe;
use noren_rlwe::security::Security;

use crate::cost::fit::non_negative_least_squares;
use crate::cost::machine::{Machine, TorusCosts, UnitCosts};
use crate::cost::ring::RingMeter;
use crate::cost::system;
use crate::cost::work::{Caches, Work};
use crate::schemes::bgv::Bgv;
use crate::schemes::ckks::{self, Decryptor, Encoder, Encryptor, Evaluator};
use crate::schemes::integers;
use crate::schemes::tfhe;

/// The rings that are measured: `log2 n`, limbs and special primes.
const SHAPES: [(u32, usize, usize); 13] = [
    (10, 2, 1),
    (11, 2, 1),
    (12, 2, 2),
    (12, 3, 1),
    (13, 3, 1),
    (13, 4, 2),
    (14, 4, 4),
    (14, 6, 1),
    (14, 8, 2),
    (15, 6, 2),
    (15, 12, 6),
    (16, 6, 3),
    (16, 12, 6),
];
/// Sets of TFHE that are measured; costs of others follow from them.
const SETS: [&str; 2] = ["BOOL", "2_2"];
/// Sizes of batches of bootstraps that are measured.
const BATCHES: [usize; 4] = [1, 2, 6, 18];
/// The rotations of a sum of rotations.
const ROTATIONS: [isize; 4] = [1, 2, 3, 4];
/// Slots of sparsely packed ciphertexts.
const FEW_SLOTS: usize = 16;
/// The ciphertexts of a sum of products, together: more than most caches hold. Parts of them tell how large the caches are.
const STREAMED_BYTES: usize = 48 << 20;
/// Where that is more ciphertexts than this, the sum is left out.
const MOST_STREAMED: usize = 256;
/// Every operation is measured at least this often, and for at least this time.
const LEAST_SAMPLES: usize = 2;
const LEAST_TIME: Duration = Duration::from_millis(4);
const MOST_SAMPLES: usize = 12;
/// Operations that take longer than this are long.
const LONG: Duration = Duration::from_millis(20);
/// A sample is not shorter.
const SAMPLE: Duration = Duration::from_micros(100);

/// Parts of the caches that this machine may have for itself: virtual machines share the last one.
const CACHE_PARTS: [u64; 4] = [1, 2, 4, 8];

impl Machine {
    /// This machine, with costs for `threads` threads: from the [usual file](Self::default_path) if it is of this version of
    /// noren, this processor and this table of kernels, and else [measured](calibrate()) now, and written there.
    ///
    /// A file that cannot be read is measured again; one that cannot be written is left.
    ///
    /// # Errors
    /// As [`calibrate`].
    pub fn here(threads: usize, progress: impl Fn(usize, usize)) -> Result<Self> {
        if let Some(machine) = Self::stored().filter(|machine| machine.threads().contains(&threads)) {
            return Ok(machine);
        }
        let machine = calibrate(&[1, threads], progress)?;
        if let Some(path) = Self::default_path() {
            // Where it cannot be written, it is measured again next time.
            let _ = machine.save(path.as_path());
        }
        Ok(machine)
    }
}

/// The time of an operation, and what it does, for each part of the caches.
struct Sample {
    works: Vec<Work>,
    nanoseconds: f64,
}

/// The meters of a ring, for each part of the caches.
struct Meters(Vec<RingMeter>);

impl Meters {
    fn new(parameters: &rlwe::Parameters, caches: Caches, threads: usize) -> Result<Self> {
        parts(caches).map(|caches| RingMeter::new(parameters, caches, threads)).collect::<Result<_>>().map(Self)
    }

    /// The time of an operation whose work `count` counts.
    fn time(&self, count: impl Fn(&RingMeter) -> Work, run: impl FnMut() -> Result<()>) -> Result<Sample> {
        Ok(Sample { works: self.0.iter().map(count).collect(), nanoseconds: time(run)? })
    }
}

fn parts(caches: Caches) -> impl Iterator<Item = Caches> {
    CACHE_PARTS.into_iter().map(move |part| Caches { last: (caches.last / part).max(caches.near), ..caches })
}

/// Measures this machine with one thread and with each of these numbers of threads; `progress` is told how much of the work
/// is done.
///
/// Operations of CKKS and BGV in rings of degree `2^10` to `2^16` are timed, each several times, of which the lower quartile
/// counts: other processes make operations slower, never faster. The costs of units are the non-negative solution of least
/// squares of relative distances; how far measurements are from it is in [`UnitCosts`].
///
/// # Errors
/// [`Error::Resources`](noren_rlwe::error::Error::Resources) or [`Error::Memory`](noren_rlwe::error::Error::Memory) where there
/// is not a GiB of memory.
pub fn calibrate(threads: &[usize], progress: impl Fn(usize, usize)) -> Result<Machine> {
    let mut counts: Vec<usize> = threads.iter().copied().filter(|&count| count > 1).collect();
    counts.sort_unstable();
    counts.dedup();
    counts.insert(0, 1);
    let (caches, all) = (system::caches(), counts.len() * (SHAPES.len() + SETS.len()));
    let mut done = 0;
    let mut advance = || {
        done += 1;
        progress(done, all);
    };
    // An allocator keeps memory of what was given back, in proportion to its size: small rings come first, as in a program
    // that has no others.
    let mut measured: Vec<(usize, Vec<Sample>)> = counts.iter().map(|&count| (count, Vec::new())).collect();
    for shape in SHAPES {
        for (count, samples) in &mut measured {
            samples.extend(measure_ring(shape, caches, *count)?);
            advance();
        }
    }
    let mut torus = Vec::new();
    for set in SETS {
        for &count in &counts {
            torus.push(measure_torus(set, count)?);
            advance();
        }
    }
    let (caches, units) = fit(&measured, caches);
    Ok(Machine {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        processor: system::processor(),
        isa: kernels::kernels().name().to_owned(),
        memory: system::memory(),
        caches,
        units,
        torus,
    })
}

/// The caches and costs that explain the samples of each number of threads.
fn fit(measured: &[(usize, Vec<Sample>)], caches: Caches) -> (Caches, Vec<UnitCosts>) {
    let fits = parts(caches).enumerate().map(|(part, caches)| {
        let mut units: Vec<UnitCosts> = Vec::new();
        for (threads, samples) in measured {
            let costs = fit_units(*threads, samples, part, units.first());
            units.push(costs);
        }
        (caches, units)
    });
    let residual = |units: &[UnitCosts]| units.iter().map(|costs| costs.most_residual).sum::<f64>();
    let best = fits.min_by(|(_, a), (_, b)| residual(a).total_cmp(&residual(b)));
    best.expect("the whole cache is a part")
}

/// The costs that explain the samples; with more than one thread, beside the known costs of what one thread does.
fn fit_units(threads: usize, samples: &[Sample], part: usize, alone: Option<&UnitCosts>) -> UnitCosts {
    let known = alone.map(UnitCosts::prices);
    let (mut rows, mut right) = (Vec::new(), Vec::new());
    for Sample { works, nanoseconds } in samples {
        let [serial, shared] = works[part].amounts();
        let amounts = if known.is_some() { shared } else { serial };
        let given: f64 = known.iter().flat_map(|prices| serial.iter().zip(prices)).map(|(a, p)| a * p).sum();
        rows.push(amounts.iter().map(|a| a / nanoseconds).collect::<Vec<f64>>());
        right.push(1.0 - given / nanoseconds);
    }
    let distances = |prices: &[f64]| -> Vec<f64> {
        let predicted = |row: &Vec<f64>| row.iter().zip(prices).map(|(a, p)| a * p).sum::<f64>();
        rows.iter().zip(&right).map(|(row, b)| (predicted(row) - b).abs()).collect()
    };
    let mut prices = non_negative_least_squares(&rows, &right);
    for _ in 0..REWEIGHTINGS {
        let weights = distances(&prices).into_iter().map(|distance| distance.max(LEAST_DISTANCE).sqrt().recip());
        let weighted = |row: &Vec<f64>, weight: f64| row.iter().map(|a| a * weight).collect::<Vec<f64>>();
        let (rows, right): (Vec<_>, Vec<_>) =
            rows.iter().zip(&right).zip(weights).map(|((row, b), weight)| (weighted(row, weight), b * weight)).unzip();
        prices = non_negative_least_squares(&rows, &right);
    }
    let mut residuals = distances(&prices);
    residuals.sort_by(f64::total_cmp);
    let at = |part: f64| residuals[((residuals.len() - 1) as f64 * part) as usize];
    UnitCosts::new(threads, &prices, at(0.5), at(0.9))
}

/// Times the operations of a ring.
fn measure_ring((log_n, limbs, special): (u32, usize, usize), caches: Caches, threads: usize) -> Result<Vec<Sample>> {
    let mut log_q = vec![40; limbs];
    log_q[0] = 48;
    let spec = ckks::ParametersSpec {
        log_n,
        log_q,
        log_p: vec![48; special],
        log_scale: 40,
        dnum: limbs.div_ceil(special),
        // Nothing secret is encrypted.
        security: Security::None,
        ..ckks::ParametersSpec::default()
    };
    let parameters = spec.build()?;
    let context = ckks::Context::with_threads(parameters.clone(), Some(threads))?;
    let meters = Meters::new(parameters.rlwe(), caches, threads)?;
    let seed = |number: u8| Seed::from_bytes([number; 32]);
    let request =
        ckks::KeyRequest { relinearization: true, rotations: ROTATIONS.to_vec(), ..ckks::KeyRequest::default() };
    let keys = context.generate_keys(seed(0), &request)?;
    let (encoder, evaluator) = (Encoder::new(&context), Evaluator::new(&context, keys.evaluation.clone())?);
    let public = Encryptor::public(&context, &keys.public, seed(1))?;
    let symmetric = Encryptor::symmetric(&context, &keys.secret, seed(2))?;
    let decryptor = Decryptor::new(&context, &keys.secret)?;
    let generator = KeyGenerator::new(context.rlwe(), seed(3));

    let (slots, level) = (parameters.max_slots(), parameters.max_level());
    let values: Vec<f64> = (0..slots).map(|j| libm::sin(j as f64)).collect();
    let plaintext = encoder.encode(&values, slots, level)?;
    let (a, b) = (public.encrypt(&plaintext)?, public.encrypt(&plaintext)?);
    let many = STREAMED_BYTES / (2 * limbs * parameters.degree() * size_of::<u64>());
    let streamed = vec![[a.clone(), b.clone()]; if many > MOST_STREAMED { 0 } else { many / 2 }];
    let pairs: Vec<_> = streamed.iter().map(|[a, b]| (a, b)).collect();
    let few = &values[..FEW_SLOTS];
    let c = public.encrypt(&encoder.encode(few, FEW_SLOTS, level)?)?;
    let (low, low_few) = (evaluator.at_level(&a, 0)?, evaluator.at_level(&c, 0)?);
    let none = context.automorphisms_of(&ckks::KeyRequest::default())?;
    let (rotations, wanted) = (ROTATIONS.len(), context.automorphisms_of(&request)?);
    [
        meters.time(|meter| meter.sum(limbs), || evaluator.add(&a, &b).map(drop_result)),
        meters.time(
            |meter| meter.plain_products(1, limbs),
            || evaluator.mul_plain_no_rescale(&a, &plaintext).map(drop_result),
        ),
        meters.time(|meter| meter.rescale(limbs), || evaluator.rescale(&a).map(drop_result)),
        meters.time(|meter| meter.products(1, 0, limbs), || evaluator.mul(&a, &b).map(drop_result)),
        meters.time(|meter| meter.products(1, 1, limbs), || evaluator.square(&a).map(drop_result)),
        meters.time(|meter| meter.rotations(1, limbs), || evaluator.rotate(&a, 1).map(drop_result)),
        meters
            .time(|meter| meter.rotations(rotations, limbs), || evaluator.rotate_many(&a, &ROTATIONS).map(drop_result)),
        meters.time(
            |meter| meter.rotation_sums(1, rotations, limbs),
            || evaluator.sum_rotations(&a, &ROTATIONS).map(drop_result),
        ),
        meters.time(|meter| meter.embed(slots, limbs), || encoder.encode(&values, slots, level).map(drop_result)),
        meters.time(|meter| meter.encrypt_public(limbs), || public.encrypt(&plaintext).map(drop_result)),
        meters.time(|meter| meter.encrypt_secret(limbs), || symmetric.encrypt(&plaintext).map(drop_result)),
        meters.time(|meter| meter.decrypt_embedded(slots, limbs), || decryptor.decrypt_real(&a).map(drop_result)),
        meters.time(|meter| meter.public_key(limbs), || generator.public(&keys.secret).map(drop_result)),
        meters.time(
            |meter| meter.key_pair(limbs) + meter.switching_key(limbs) * (1 + rotations) as f64,
            || generator.keys(&wanted, None).map(drop_result),
        ),
        meters.time(|meter| meter.decrypt_embedded(slots, 1), || decryptor.decrypt_real(&low).map(drop_result)),
        meters.time(|meter| meter.decrypt_embedded(FEW_SLOTS, 1), || decryptor.decrypt_real(&low_few).map(drop_result)),
        meters.time(|meter| meter.key_pair(limbs), || generator.keys(&none, None).map(drop_result)),
        meters.time(|meter| meter.embed(FEW_SLOTS, limbs), || encoder.encode(few, FEW_SLOTS, level).map(drop_result)),
        meters.time(|meter| meter.decrypt_embedded(FEW_SLOTS, limbs), || decryptor.decrypt_real(&c).map(drop_result)),
    ]
    .into_iter()
    .chain([4, 2, 1].into_iter().map(|part| pairs.len() / part).filter(|&terms| terms > 1).map(|terms| {
        meters.time(|meter| meter.products(terms, 0, limbs), || evaluator.dot(&pairs[..terms]).map(drop_result))
    }))
    .chain(measure_residues(log_n, caches, threads)?)
    .collect()
}

/// Times the encoding and the decryption of integers.
fn measure_residues(log_n: u32, caches: Caches, threads: usize) -> Result<Vec<Result<Sample>>> {
    const LIMBS: usize = 3;
    // Slots of integers modulo 65537 end there.
    if log_n > 15 {
        return Ok(Vec::new());
    }
    let spec = integers::ParametersSpec {
        log_n,
        log_q: vec![45; LIMBS],
        log_p: vec![48],
        plaintext_modulus: 65537,
        security: Security::None,
        ..integers::ParametersSpec::default()
    };
    let parameters = spec.build()?;
    let context = integers::Context::with_threads(parameters.clone(), Some(threads))?;
    let meters = Meters::new(parameters.rlwe(), caches, threads)?;
    let keys = context.generate_keys(Seed::from_bytes([0; 32]), &integers::KeyRequest::default())?;
    let encoder = integers::Encoder::new(&context);
    let values: Vec<i64> = (0..parameters.slots() as i64).map(|j| 7 * j % 65537).collect();
    let symmetric = integers::Encryptor::<Bgv>::symmetric(&context, &keys.secret, Seed::from_bytes([1; 32]))?;
    let ciphertext = symmetric.encrypt(&encoder.encode(&values)?)?;
    let decryptor = integers::Decryptor::new(&context, &keys.secret)?;
    Ok(vec![
        meters.time(
            |meter| meter.encode_residues(LIMBS) + meter.encrypt_secret(LIMBS),
            || symmetric.encrypt(&encoder.encode(&values)?).map(drop_result),
        ),
        meters.time(
            |meter| meter.decrypt_residues(LIMBS),
            || encoder.decode(&decryptor.decrypt(&ciphertext)?).map(drop_result),
        ),
    ])
}

/// Times a set of TFHE.
fn measure_torus(set: &str, threads: usize) -> Result<TorusCosts> {
    let parameters = tfhe::Preset::named(set)?.parameters()?;
    let context = tfhe::Context::with_threads(parameters.clone(), Some(threads))?;
    let seed = |number: u8| Seed::from_bytes([number; 32]);
    let keys = context.generate_keys(seed(0))?;
    let server_key = time(|| context.generate_keys(seed(0)).map(drop_result))?;
    let client_key = time(|| context.compact_keys(&seed(0), &keys.secret).map(drop_result))?;
    let encryptor = tfhe::Encryptor::new(&context, &keys.secret, seed(1))?;
    let decryptor = tfhe::Decryptor::new(&context, &keys.secret)?;
    let (server_key_bytes, client_key_bytes) = (keys.server.bytes() as u64, context.compact_file_bytes());
    let evaluator = tfhe::Evaluator::new(&context, keys.server)?;
    let most = BATCHES[BATCHES.len() - 1];
    let mut bootstraps = Vec::new();
    let (encrypt, decrypt);
    if parameters.encoding() == tfhe::Encoding::Bits {
        let bits = (0..most).map(|i| encryptor.encrypt_bit(i % 2 == 0)).collect::<Result<Vec<_>>>()?;
        encrypt = time(|| encryptor.encrypt_bit(true).map(drop_result))?;
        decrypt = time(|| decryptor.decrypt_bit(&bits[0]).map(drop_result))?;
        for batch in BATCHES {
            let gates: Vec<_> = bits[..batch].iter().map(|bit| (tfhe::Gate::Nand, bit, &bits[0])).collect();
            let whole = time(|| evaluator.gates(&gates).map(drop_result))?;
            bootstraps.push((batch, whole / batch as f64));
        }
    } else {
        let values = (0..most as u64).map(|i| encryptor.encrypt(i % 2)).collect::<Result<Vec<_>>>()?;
        encrypt = time(|| encryptor.encrypt(1).map(drop_result))?;
        decrypt = time(|| decryptor.decrypt(&values[0]).map(drop_result))?;
        let lookup = tfhe::Lookup::new(&context, |x| x)?;
        for batch in BATCHES {
            let operands: Vec<_> = values[..batch].iter().collect();
            let whole = time(|| evaluator.lookup_each(&operands, &lookup).map(drop_result))?;
            bootstraps.push((batch, whole / batch as f64));
        }
    }
    let set = set.to_owned();
    Ok(TorusCosts {
        set,
        threads,
        server_key,
        client_key,
        server_key_bytes,
        client_key_bytes,
        encrypt,
        decrypt,
        bootstraps,
    })
}

/// Least squares are taken so often again, each time with less weight on what is far from the last solution: towards the least sum
/// of distances, which a few disturbed measurements do not move.
const REWEIGHTINGS: usize = 8;
/// Distances below are alike.
const LEAST_DISTANCE: f64 = 0.02;

/// The lower quartile of the times of an operation, in nanoseconds.
fn time(mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    time_erased(&mut run)
}

/// [`time`] of an operation of any type, compiled once.
fn time_erased(run: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
    let mut sample = |repeats: u32| {
        let start = Instant::now();
        (0..repeats).try_for_each(|_| run())?;
        Ok::<_, Error>(start.elapsed())
    };
    let start = Instant::now();
    let mut repeats = 1;
    let mut first = sample(repeats)?;
    while first < SAMPLE && start.elapsed() < LEAST_TIME {
        repeats *= 2;
        first = sample(repeats)?;
    }
    // Of long operations the first call counts: filling caches is a small part of it.
    let nanoseconds = |time: Duration| time.as_secs_f64() * 1e9 / f64::from(repeats);
    let mut samples = if first > LONG { vec![nanoseconds(first)] } else { Vec::new() };
    while samples.len() < LEAST_SAMPLES || (samples.len() < MOST_SAMPLES && start.elapsed() < LEAST_TIME) {
        samples.push(nanoseconds(sample(repeats)?));
    }
    samples.sort_by(f64::total_cmp);
    Ok(samples[samples.len() / 4])
}

fn drop_result<T>(result: T) {
    drop(black_box(result));
}
