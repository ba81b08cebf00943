//! The suite `cyclotomic`: a matrix of all slots times an encrypted vector, in BGV over rings whose index is no power of
//! two.
//!
//! Entries and values are random elements of the slots, numbers, or elements along one dimension. The modulus of ciphertexts has about 200 bits. Rings
//! and moduli are those of the publication, most of which reach no security: the record says so. The result is compared
//! with the product in clear.

use std::fmt;
use std::hint::black_box;
use std::str::FromStr;

use clap::Args;
use noren::bgv::{
    Context, Decryptor, Encoder, Encryptor, Entries, Evaluator, GaloisRing, KeyRequest, Keys, Parameters,
    ParametersSpec, SlotMatrix,
};
use noren::{Security, Seed};
use noren_cli::measure::{After, Failure, Record, Run, drop_result, reset_peak_rss, seed, time};
use noren_math::embedding::Embedding;
use noren_math::kernels::{Kernels, available, kernels};
use noren_math::machine::aligned::AlignedVec;
use noren_math::modulus::Modulus;

/// The options of the suite.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Rings with their plaintext moduli, as index:prime:exponent [default: 511:2:1, 2047:2:1, 4095:2:1, 15709:2:1, 15709:3:1,
    /// 24295:2:1, 15709:2:59]
    #[arg(long, value_name = "M:P:R,...", value_delimiter = ',')]
    set: Vec<Set>,
}

impl Options {
    /// Measures the suite, and says after each step which it was.
    pub(crate) fn run(&self, run: &Run<'_>, after: &mut After<'_>) -> Result<(), Failure> {
        for &set in if self.set.is_empty() { &SETS } else { &self.set[..] } {
            measure(run, set)?;
            after(&[("--suite", "cyclotomic"), ("--set", &set.to_string())])?;
        }
        Ok(())
    }
}

/// The index m of a ring, the prime p and the exponent r of plaintexts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Set {
    index: u32,
    prime: u64,
    power: u32,
}

/// The sets of the publication.
const SETS: [Set; 7] = [
    Set::new(511, 2, 1),
    Set::new(2047, 2, 1),
    Set::new(4095, 2, 1),
    Set::new(15709, 2, 1),
    Set::new(15709, 3, 1),
    Set::new(24295, 2, 1),
    Set::new(15709, 2, 59),
];

impl Set {
    const fn new(index: u32, prime: u64, power: u32) -> Self {
        Self { index, prime, power }
    }

    /// A record with the names of the set.
    fn name(self, record: Record) -> Record {
        record.with("m", self.index).with("p", self.prime).with("r", self.power)
    }
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.index, self.prime, self.power)
    }
}

impl FromStr for Set {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let needed = || "an index, a prime and an exponent are needed, such as 15709:2:1".to_owned();
        let parts: Vec<&str> = text.split(':').collect();
        let [index, prime, power] = parts[..] else { return Err(needed()) };
        let parse = |index: &str| index.parse::<u64>().map_err(|_| needed());
        let small = |text: &str| parse(text)?.try_into().map_err(|_| needed());
        Ok(Self::new(small(index)?, parse(prime)?, small(power)?))
    }
}

/// A verb on rows, element by element.
type Verb = fn(&Kernels, &mut [u64], &[u64], &[u64], &Modulus);

/// The entries of the matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Elements,
    Numbers,
    /// Elements where row and column differ in their coordinate along the first dimension alone.
    Dimension,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Elements => "elements",
            Self::Numbers => "numbers",
            Self::Dimension => "dimension",
        }
    }
}

/// Measures a set with each number of threads.
fn measure(run: &Run<'_>, set: Set) -> Result<(), Failure> {
    let parameters = parameters(set)?;
    measure_norms(run, set, &parameters)?;
    measure_rows(run, set, &parameters)?;
    for &threads in run.threads {
        measure_context(run, set, &parameters, threads)?;
        for kind in [Kind::Elements, Kind::Numbers, Kind::Dimension] {
            measure_set(run, set, &parameters, kind, threads)?;
        }
    }
    Ok(())
}

/// The canonical norm of a polynomial of small coefficients by an FFT.
fn measure_norms(run: &Run<'_>, set: Set, parameters: &Parameters) -> Result<(), Failure> {
    reset_peak_rss();
    let embedding = Embedding::new(parameters.rlwe().index());
    let small: Vec<f64> = random(seed(9), parameters.degree(), 7).into_iter().map(|x| x as f64 - 3.0).collect();
    let (fast, slow) = (embedding.norm(&small), embedding.norm_by_horner(&small, kernels()));
    let is_right = (fast - slow).abs() <= 1e-9 * slow;
    let timing = is_right.then(|| {
        time(run.seconds, 1.0, || {
            drop_result(embedding.norm(&small));
            Ok::<_, Failure>(())
        })
    });
    run.report(&set.name(Record::of_integers("cyclotomic", "norm_fft", parameters, 1, timing.transpose()?, "")))?;
    for table in available() {
        let is_right = embedding.norm_by_horner(&small, table) == slow;
        let horner = || {
            drop_result(embedding.norm_by_horner(&small, table));
            Ok::<_, Failure>(())
        };
        let timing = is_right.then(|| time(run.seconds, 1.0, horner)).transpose()?;
        let record = Record::of_integers("cyclotomic", "norm_horner", parameters, 1, timing, "");
        run.report(&Record { isa: table.name().into(), ..set.name(record) })?;
    }
    Ok(())
}

/// Sums and products of rows of the degree modulo a prime of ciphertexts, element by element.
fn measure_rows(run: &Run<'_>, set: Set, parameters: &Parameters) -> Result<(), Failure> {
    reset_peak_rss();
    let prime = parameters.rlwe().primes().last().expect("a ring has a prime");
    let modulus = Modulus::new(prime).expect("a prime of a ring");
    let row = |byte| -> AlignedVec<u64> {
        let numbers = random(seed(byte), parameters.degree(), prime);
        AlignedVec::from_slice(&numbers.into_iter().map(i64::cast_unsigned).collect::<Vec<_>>())
    };
    let (a, b, mut out) = (row(10), row(11), row(12));
    let (mut sum, mut product) = (out.clone(), out.clone());
    for ((sum, product), (&a, &b)) in sum.iter_mut().zip(&mut *product).zip(a.iter().zip(&*b)) {
        (*sum, *product) = (modulus.add(a, b), modulus.mul(a, b));
    }
    for table in available() {
        let verbs: [(_, Verb, _); 2] = [("add", Kernels::add, &sum), ("mul", Kernels::mul, &product)];
        for (op, verb, expected) in verbs {
            verb(table, &mut out, &a, &b, &modulus);
            let is_right = out == *expected;
            let call = || {
                verb(table, black_box(&mut out), &a, &b, &modulus);
                Ok::<_, Failure>(())
            };
            let timing = is_right.then(|| time(run.seconds, 1.0, call)).transpose()?;
            let record = Record::of_integers("cyclotomic", op, parameters, 1, timing, "");
            run.report(&Record { isa: table.name().into(), ..set.name(record) })?;
        }
    }
    Ok(())
}

/// Four primes of 50 bits, and two special ones.
fn parameters(set: Set) -> Result<Parameters, Failure> {
    let modulus = set.prime.checked_pow(set.power).unwrap_or(0);
    let spec = ParametersSpec {
        index: set.index,
        plaintext_modulus: modulus,
        log_q: vec![50; 4],
        log_p: vec![50; 2],
        dnum: 2,
        security: Security::None,
        ..ParametersSpec::default()
    };
    Ok(spec.build()?)
}

/// Parameters, tables of the ring, and the ring of the slots: what comes before keys.
fn measure_context(run: &Run<'_>, set: Set, made: &Parameters, threads: usize) -> Result<(), Failure> {
    reset_peak_rss();
    let context = || -> Result<(), Failure> {
        let context = Context::with_threads(parameters(set)?, Some(threads))?;
        context.galois_ring()?;
        drop_result(context);
        Ok(())
    };
    let timing = time(run.seconds, 1.0, context)?;
    run.report(&set.name(Record::of_integers("cyclotomic", "context", made, threads, Some(timing), "")))
}

fn measure_set(run: &Run<'_>, set: Set, parameters: &Parameters, kind: Kind, threads: usize) -> Result<(), Failure> {
    reset_peak_rss();
    let context = Context::with_threads(parameters.clone(), Some(threads))?;
    let ring = context.galois_ring()?;
    let (slots, d) = (parameters.slots(), ring.degree());
    let words = if kind == Kind::Numbers { 1 } else { d };
    let mut entries = random(seed(7), slots * slots * words, ring.numbers().value());
    if kind == Kind::Dimension {
        keep_dimension(parameters, &mut entries);
    }
    let vector = random(seed(8), slots * d, ring.numbers().value());
    let report = |op, timing, note| {
        let record = Record::of_integers("cyclotomic", op, parameters, threads, timing, note);
        run.report(&set.name(record).with("entries", kind.name()))
    };

    let encode = || {
        let entries = match kind {
            Kind::Elements | Kind::Dimension => Entries::Elements(&entries),
            Kind::Numbers => Entries::Numbers(&entries),
        };
        SlotMatrix::new(&context, [slots, slots], entries, parameters.max_limbs())
    };
    // The last one encoded is the one that multiplies, so that no two are held at once.
    let mut matrix = None;
    let encoding = time(run.seconds, 1.0, || {
        matrix = None;
        matrix = Some(encode()?);
        Ok::<_, Failure>(())
    })?;
    let matrix = matrix.expect("it was encoded at least once");
    report("encode_matrix", Some(encoding), "")?;
    let request = KeyRequest { automorphisms: matrix.automorphisms(), ..KeyRequest::default() };
    let make_keys = || -> Result<Keys, Failure> { Ok(context.generate_keys(seed(0), &request)?) };
    let keys = make_keys()?;
    let evaluator = Evaluator::new(&context, keys.evaluation.clone())?;
    let (encoder, decryptor) = (Encoder::new(&context), Decryptor::new(&context, &keys.secret)?);
    let encryptor = Encryptor::public(&context, &keys.public, seed(1))?;
    let x = encryptor.encrypt(&encoder.encode_elements(&vector)?)?;
    let product = evaluator.multiply_matrix(&matrix, &x)?;
    let found = encoder.decode_elements(&decryptor.decrypt(&product)?)?;
    let is_right = found == in_clear(ring, &entries, &vector, words);

    if kind == Kind::Elements {
        let timing = time(run.seconds, 1.0, || make_keys().map(drop_result))?;
        let record = Record::of_integers("cyclotomic", "keygen", parameters, threads, Some(timing), "");
        let switches = matrix.automorphisms().len();
        run.report(&set.name(record).with("entries", kind.name()).with("keys", switches))?;
    }
    if kind == Kind::Elements {
        let encrypt = || encryptor.encrypt(&encoder.encode_elements(&vector)?).map(drop_result);
        report("encrypt", Some(time(run.seconds, 1.0, encrypt)?), "")?;
    }
    let matvec = || evaluator.multiply_matrix(&matrix, &x).map(drop_result);
    report("matvec", is_right.then(|| time(run.seconds, 1.0, matvec)).transpose()?, "")?;
    if kind == Kind::Elements {
        let decrypt = || encoder.decode_elements(&decryptor.decrypt(&product)?).map(drop_result);
        report("decrypt", is_right.then(|| time(run.seconds, 1.0, decrypt)).transpose()?, "")?;
    }
    Ok(())
}

/// Sets all elements to 0 but those of rows and columns that differ along the first dimension alone.
fn keep_dimension(parameters: &Parameters, entries: &mut [i64]) {
    let cube = parameters.hypercube().expect("slots have dimensions");
    let others: Vec<Vec<usize>> = (0..cube.slots()).map(|slot| cube.coordinates(slot)[1..].to_vec()).collect();
    for (entry, place) in entries.chunks_exact_mut(cube.degree()).zip(0..) {
        if others[place / cube.slots()] != others[place % cube.slots()] {
            entry.fill(0);
        }
    }
}

/// Residues from a seed.
fn random(seed: Seed, count: usize, t: u64) -> Vec<i64> {
    let mut xof = seed.xof("bench/cyclotomic");
    (0..count).map(|_| (xof.next_u64() % t).cast_signed()).collect()
}

/// The product of the matrix and the vector, entry by entry.
fn in_clear(ring: &GaloisRing, entries: &[i64], vector: &[i64], words: usize) -> Vec<i64> {
    let (numbers, d) = (ring.numbers(), ring.degree());
    let slots = vector.len() / d;
    let unsigned = |x: &[i64]| x.iter().map(|x| x.cast_unsigned()).collect::<Vec<_>>();
    let vector: Vec<Vec<u64>> = vector.chunks_exact(d).map(unsigned).collect();
    let row = |row: &[i64]| {
        let mut sum = vec![0; d];
        for (entry, x) in row.chunks_exact(words).zip(&vector) {
            let mut entry = unsigned(entry);
            entry.resize(d, 0);
            sum.iter_mut().zip(ring.mul(&entry, x)).for_each(|(sum, x)| *sum = numbers.add(*sum, x));
        }
        sum
    };
    entries.chunks_exact(slots * words).flat_map(row).map(u64::cast_signed).collect()
}
