//! The work of operations on samples of ring learning with errors: counts from the shape of the parameters.

use noren_ring::gadget::Gadget;
use noren_rlwe::error::Result;
use noren_rlwe::key_class::KeyClass;
use noren_rlwe::parameters::Parameters;
use noren_rlwe::shape::KeyShape;

use crate::circuits::recorder::Operation;
use crate::cost::work::{Caches, Residence, Unit, Work};

/// Counts the work of operations in a ring.
///
/// With n coefficients, l limbs, k special primes and digits of `a_1 .. a_b` limbs:
///
/// | part of a key switch | rows transformed | rows times terms of conversions |
/// |---|---|---|
/// | decomposition (ModUp) | `b (l + k)` | `sum_j a_j (l + k - a_j)` |
/// | division by P (ModDown) of a part | `l + k` | `k l` |
/// | division by `P q_l` of a part | `l + k` | `(k + 1) (l - 1)` |
///
/// and the inner product reads `2 b (l + k)` rows of the key. Words are counted where they lie, by the bytes that an
/// operation works on, or a whole circuit where that is more.
///
/// Source: the algorithms of `noren-ring`; Kim, Polyakov and Zucca, eprint 2021/204, for the products of BFV.
#[derive(Debug, Clone)]
pub struct RingMeter {
    log_n: u32,
    special: usize,
    gadget: Gadget,
    caches: Caches,
    resident: f64,
    threads: usize,
}

/// Loops over fewer words than this run on the caller's thread, as those of the engine.
const SHARED_WORDS: f64 = 16384.0;
/// The same for pointwise loops.
const SHARED_POINTWISE_WORDS: f64 = 131_072.0;
/// The words of encoding that take as long as decrypting and decoding one does, beside transforms.
const DECODED_WORDS: f64 = 1.4;
/// Blocks of memory of this many words or more have large pages, of 2 MiB.
const LARGE_PAGE_WORDS: f64 = 262_144.0;
/// The seed of a ciphertext depends on its message: a word of it takes as long as this part of a uniform one.
const HASHED_WORDS: f64 = 0.65;
/// Costs of a word of a ciphertext in uniform words: to read it, to write it, and to expand it from a seed, with the digests and
/// copies of its container. Fitted to measured times of compiled functions: three times the costs of the ciphertext alone.
const READ_WORDS: f64 = 1.5;
const WRITTEN_WORDS: f64 = 1.95;
const EXPANDED_WORDS: f64 = 1.8;
/// The seeds and the estimate of a fresh ciphertext take as long as so many calls.
const CALLS_OF_ENCRYPTION: f64 = 20.0;
/// The bounds of a decrypted plaintext, and the memory that it takes, as so many calls.
const CALLS_OF_DECRYPTION: f64 = 12.0;
/// The shared loops of a key switch: the lift, the dropped limbs, their quotients and the kept limbs.
const LOOPS_OF_SWITCH: f64 = 4.0;

/// Rows to transform, and rows times terms to convert.
#[derive(Debug, Clone, Copy, Default)]
struct Rows {
    transforms: usize,
    conversions: usize,
}

impl RingMeter {
    /// The meter for operations with keys of the parameters' own shape.
    ///
    /// # Errors
    /// A ring whose index is no power of two.
    pub fn new(parameters: &Parameters, caches: Caches, threads: usize) -> Result<Self> {
        Self::shaped(parameters, parameters.shape(), caches, threads)
    }

    /// The meter for operations with keys of this shape.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn shaped(parameters: &Parameters, shape: KeyShape, caches: Caches, threads: usize) -> Result<Self> {
        // Without special primes there are no keys, whose digits are counted.
        let gadget = match shape.special {
            0 => Gadget::new(&vec![1.0; shape.limbs], 0, 1)?,
            _ => parameters.gadget_of(shape)?,
        };
        Ok(Self::of(parameters.log_n()?, shape.special, gadget, caches, threads))
    }

    /// The meter of a ring of degree `2^log_n`, with this many special primes.
    pub(crate) const fn of(log_n: u32, special: usize, gadget: Gadget, caches: Caches, threads: usize) -> Self {
        Self { log_n, special, gadget, caches, resident: 0.0, threads }
    }

    /// The same meter for operations of a circuit that works on `bytes` bytes of keys and factors, in turn.
    #[must_use]
    pub fn within(mut self, bytes: u64) -> Self {
        self.resident = bytes as f64;
        self
    }

    /// A sum of two ciphertexts.
    #[must_use]
    pub fn sum(&self, limbs: usize) -> Work {
        self.call(2.0, 6 * limbs, 6 * limbs)
    }

    /// The division of a ciphertext by its last limb.
    #[must_use]
    pub fn rescale(&self, limbs: usize) -> Work {
        self.pointwise(4 * limbs, 4 * limbs) + self.rows(self.rescaled(limbs))
    }

    /// Products with plaintexts, added, without rescaling.
    #[must_use]
    pub fn plain_products(&self, terms: usize, limbs: usize) -> Work {
        self.call(2.0, (2 + 3 * terms) * limbs, (2 + 4 * terms) * limbs)
    }

    /// Products of ciphertexts, added, relinearised and rescaled.
    #[must_use]
    pub fn products(&self, terms: usize, squares: usize, limbs: usize) -> Work {
        let end = self.divided_with_limb(limbs);
        let tensors = (8 * terms - 2 * squares + 3) * limbs;
        self.switch(limbs, end, 1, (4 * terms + 2) * limbs) + self.pointwise((4 * terms + 2) * limbs, tensors)
    }

    /// Products of ciphertexts of BFV, scaled by t/Q, relinearised.
    #[must_use]
    pub fn scaled_products(&self, terms: usize, limbs: usize) -> Work {
        // The auxiliary modulus has about as many primes as Q; the special ones serve in it.
        let (auxiliary, all) = (limbs, limbs + limbs.max(self.special));
        let lift = Rows { transforms: terms * (6 * limbs + 4 * auxiliary), conversions: terms * 6 * limbs * auxiliary };
        let divide = Rows { transforms: auxiliary, conversions: limbs * auxiliary };
        let end = Rows { transforms: 2 * all, conversions: 2 * limbs * auxiliary };
        let words = 8 * terms * (limbs + auxiliary);
        self.switch(limbs, Rows::default(), 1, words)
            + self.rows(lift)
            + self.rows(divide)
            + self.rows(end)
            + self.pointwise(words, 2 * words)
    }

    /// Rotations of one ciphertext, which share a decomposition.
    #[must_use]
    pub fn rotations(&self, count: usize, limbs: usize) -> Work {
        let divided = self.divided(limbs);
        let end = Rows { transforms: count * divided.transforms, conversions: count * divided.conversions };
        self.switch(limbs, end, count, (2 + 2 * count) * limbs) + self.image(3 * count * limbs)
    }

    /// Sums of rotations in a row.
    #[must_use]
    pub fn rotation_sums(&self, sums: usize, rotations: usize, limbs: usize) -> Work {
        let (decomposed, divided) = (self.decomposed(limbs), self.divided(limbs));
        let further = Rows {
            transforms: (sums - 1) * (decomposed.transforms + divided.transforms / 2),
            conversions: (sums - 1) * (decomposed.conversions + divided.conversions / 2),
        };
        self.switch(limbs, divided, rotations, 4 * limbs)
            + self.rows(further)
            + self.image(3 * rotations * self.all(limbs))
            + self.loops((sums - 1) as f64 * LOOPS_OF_SWITCH, self.all(limbs))
    }

    /// The encoding of a factor of giant steps for vectors of `slots` slots: its words are those of a subring.
    #[must_use]
    pub fn embed_factor(&self, slots: usize, limbs: usize) -> Work {
        let words = (2 * slots * self.all(limbs)) as f64;
        let transform = Unit::Transform((2 * slots).ilog2().min(self.log_n));
        let work = Work::of(transform, words * libm::log2((2 * slots) as f64)).and(Unit::Embedding, layers(slots));
        work.and(Unit::Call, 1.0)
    }

    /// A matrix by baby steps and giant steps, rescaled, whose factors have `width` words a row.
    #[must_use]
    pub fn giant_steps(&self, babies: usize, giants: usize, terms: usize, width: usize, limbs: usize) -> Work {
        let (decomposed, divided, all) = (self.decomposed(limbs), self.divided(limbs), self.all(limbs));
        let moved = Rows {
            transforms: giants * (decomposed.transforms + divided.transforms / 2),
            conversions: giants * (decomposed.conversions + divided.conversions / 2),
        };
        let words = self.words(terms * all);
        let bytes = (8 * terms * all * width) as f64;
        let shares = self
            .caches
            .shares(bytes.max(self.resident))
            .map(|(place, share)| Work::of(Unit::Key(place), share * words));
        let factors = self.spread(shares.into_iter().sum(), terms * all);
        self.switch(limbs, self.divided_with_limb(limbs), babies + giants, terms * all)
            + self.rows(moved)
            + factors
            + self.image(3 * (babies + giants) * all)
            + self.loops(giants as f64 * LOOPS_OF_SWITCH, all)
    }

    /// An operation that a circuit was recorded with; factors have `width` words a row, and `scaled` says that products are those of BFV, which is not rescaled.
    #[must_use]
    pub fn operation(&self, operation: Operation, limbs: usize, width: usize, scaled: bool) -> Work {
        let rescale = |work: Work| if scaled { work } else { work + self.rescale(limbs) };
        match operation {
            Operation::Sum => self.sum(limbs),
            // To the limbs and the scale of a deeper ciphertext; BFV has one set of limbs.
            Operation::Alignment if scaled => Work::default(),
            Operation::Alignment => self.call(2.0, 4 * limbs, 4 * limbs) + self.rescale(limbs),
            Operation::WeightedSum { terms, .. } => {
                rescale(self.call(2.0 * terms as f64, (2 + 2 * terms) * limbs, 4 * terms * limbs))
            }
            // By the schemes, whose encodings differ.
            Operation::Encoding | Operation::FactorEncoding => Work::default(),
            Operation::PlainProducts { terms } => rescale(self.plain_products(terms, limbs)),
            Operation::Products { terms, .. } if scaled => self.scaled_products(terms, limbs),
            Operation::Products { terms, squares } => self.products(terms, squares, limbs),
            Operation::Rotations { count } => self.rotations(count, limbs),
            Operation::RotationSums { sums, rotations } => self.rotation_sums(sums, rotations, limbs),
            Operation::GiantSteps { babies, giants, terms } => self.giant_steps(babies, giants, terms, width, limbs),
        }
    }

    /// The encoding of a vector of `slots` slots in the canonical embedding, modulo `rows` primes.
    #[must_use]
    pub fn embed(&self, slots: usize, rows: usize) -> Work {
        let work = self.call(1.0, 2 * rows, 2 * rows) + self.rows(Rows { transforms: rows, conversions: 0 });
        work + self.spread(Work::of(Unit::Embedding, layers(slots)), 1)
    }

    /// The decryption of a vector of `slots` slots in the canonical embedding, modulo as few primes as hold it, and its
    /// decoding.
    #[must_use]
    pub fn decrypt_embedded(&self, slots: usize, limbs: usize) -> Work {
        let held = limbs.min(2);
        // A digit of mixed radix is a sum over those below; of one digit alone nothing is to be made.
        let rows = Rows { transforms: held, conversions: held * (held + 1) / 2 };
        let work = self.call(CALLS_OF_DECRYPTION, 8 * held, 8 * held) + self.rows(rows);
        work.and(Unit::Centering, (2 * slots * (held - 1)) as f64)
            + self.spread(Work::of(Unit::Decoding, layers(slots)), 1)
    }

    /// The encoding of integers, modulo `rows` primes.
    #[must_use]
    pub fn encode_residues(&self, rows: usize) -> Work {
        let work = self.call(1.0, 2 * rows, 2 * rows) + self.rows(Rows { transforms: rows, conversions: rows });
        work.and(Unit::Residue, self.words(1))
    }

    /// The decryption of integers, and their decoding.
    #[must_use]
    pub fn decrypt_residues(&self, limbs: usize) -> Work {
        let work = self.call(1.0, 4 * limbs, 4 * limbs) + self.rows(Rows { transforms: limbs, conversions: 2 * limbs });
        work.and(Unit::Residue, DECODED_WORDS * self.words(1))
    }

    /// The decomposition of a part of a ciphertext into digits.
    pub(crate) fn decomposition(&self, limbs: usize) -> Work {
        self.rows(self.decomposed(limbs))
    }

    /// The division of a part by P.
    pub(crate) fn division(&self, limbs: usize) -> Work {
        let Rows { transforms, conversions } = self.divided(limbs);
        self.rows(Rows { transforms: transforms / 2, conversions: conversions / 2 })
    }

    /// A rotation of digits, with a key that lies there.
    pub(crate) fn rotation(&self, limbs: usize, place: Residence) -> Work {
        let rows = self.key_rows(limbs);
        let key = self.spread(Work::of(Unit::Key(place), self.words(rows)), rows);
        key + self.image(3 * self.all(limbs))
    }

    /// Products of `polynomials` polynomials with words from memory, added, special primes included.
    pub(crate) fn streamed(&self, polynomials: usize, limbs: usize) -> Work {
        let rows = polynomials * self.all(limbs);
        self.spread(Work::of(Unit::Key(Residence::Memory), self.words(rows)), rows)
    }

    /// Reading `rows` rows of ciphertexts from bytes.
    #[must_use]
    pub fn read(&self, rows: usize) -> Work {
        Work::of(Unit::Uniform, READ_WORDS * self.words(rows))
    }

    /// The same of ciphertexts that travel with seeds of as many rows.
    #[must_use]
    pub fn read_seeded(&self, rows: usize) -> Work {
        self.read(rows).and(Unit::Uniform, EXPANDED_WORDS * self.words(rows))
    }

    /// Writing `rows` rows of ciphertexts as bytes.
    #[must_use]
    pub fn write(&self, rows: usize) -> Work {
        Work::of(Unit::Uniform, WRITTEN_WORDS * self.words(rows))
    }

    /// Encryptions of `count` messages with the secret key, as bytes, each encoded by this work. Ciphertexts are kept until they are
    /// sent.
    pub(crate) fn encryptions(&self, encode: Work, limbs: usize, count: usize) -> Work {
        let kept = Work::of(Unit::Fresh, self.words(2 * limbs) * count.saturating_sub(1) as f64);
        (encode + self.encrypt_secret(limbs) + self.write(limbs)) * count as f64 + kept
    }

    /// Reading the ciphertexts of inputs, which travel with seeds, and writing those of results: how many of how many limbs each.
    pub(crate) fn transfers(&self, inputs: (usize, usize), results: (usize, usize)) -> Work {
        self.read_seeded(inputs.1) * inputs.0 as f64 + self.write(2 * results.1) * results.0 as f64
    }

    /// The transforms of `rows` rows.
    #[must_use]
    pub fn transform(&self, rows: usize) -> Work {
        self.rows(Rows { transforms: rows, conversions: 0 })
    }

    /// Encryption with a public key.
    #[must_use]
    pub fn encrypt_public(&self, limbs: usize) -> Work {
        let work = self.call(3.0, 6 * limbs, 14 * limbs) + self.rows(Rows { transforms: 3 * limbs, conversions: 0 });
        let seeded = self.words(limbs.min(2)) * HASHED_WORDS;
        work.and(Unit::Error, self.words(3)).and(Unit::Uniform, seeded).and(Unit::Call, CALLS_OF_ENCRYPTION)
    }

    /// The secret key and the public key.
    #[must_use]
    pub fn key_pair(&self, limbs: usize) -> Work {
        // The memory in which keys are made is freed with the call, and fresh in the next.
        let fresh = Work::of(Unit::Fresh, self.words(2 * limbs));
        self.secret(limbs) + fresh + self.public_key(limbs)
    }

    /// The secret key.
    #[must_use]
    pub fn secret(&self, limbs: usize) -> Work {
        self.transform(self.all(limbs)).and(Unit::Error, self.words(1))
    }

    /// The public key.
    #[must_use]
    pub fn public_key(&self, limbs: usize) -> Work {
        let work = self.call(2.0, 4 * limbs, 7 * limbs) + self.rows(Rows { transforms: limbs, conversions: 0 });
        work.and(Unit::Error, self.words(1)) + self.spread(Work::of(Unit::Uniform, self.words(limbs)), limbs)
    }

    /// Encryption with the secret key.
    #[must_use]
    pub fn encrypt_secret(&self, limbs: usize) -> Work {
        let seeded = self.words(limbs.min(2)) * HASHED_WORDS;
        self.public_key(limbs).and(Unit::Uniform, seeded).and(Unit::Call, CALLS_OF_ENCRYPTION)
    }

    /// A key for switching ciphertexts of up to `limbs` limbs.
    #[must_use]
    pub fn switching_key(&self, limbs: usize) -> Work {
        self.key(self.digits(limbs).len(), self.all(limbs))
    }

    /// All keys of a class, in this ring.
    #[must_use]
    pub fn keys_of<R>(&self, class: &KeyClass<R>) -> Work {
        self.key(class.digits, class.limbs + class.special) * class.count as f64
    }

    /// A key of `digits` pairs of polynomials of `all` rows.
    fn key(&self, digits: usize, all: usize) -> Work {
        let rows = digits * all;
        let work = self.call(digits as f64, 3 * rows, 7 * rows) + self.transform(rows);
        let words = self.words(2 * rows);
        let fresh = if words < LARGE_PAGE_WORDS { Unit::Fresh } else { Unit::FreshLarge };
        let work = work.and(fresh, words).and(Unit::Error, self.words(digits));
        work + self.spread(Work::of(Unit::Uniform, self.words(rows)), all)
    }

    /// The bytes of a key for ciphertexts of up to `limbs` limbs, in memory.
    #[must_use]
    pub fn key_bytes(&self, limbs: usize) -> u64 {
        (self.key_rows(limbs) as u64) << (self.log_n + 3)
    }

    /// The limbs of each digit of a ciphertext.
    pub(crate) fn digits(&self, limbs: usize) -> Vec<usize> {
        self.gadget.digits_at(limbs).into_iter().map(|digit| digit.len()).collect()
    }

    fn all(&self, limbs: usize) -> usize {
        limbs + self.special
    }

    fn key_rows(&self, limbs: usize) -> usize {
        2 * self.digits(limbs).len() * self.all(limbs)
    }

    fn words(&self, rows: usize) -> f64 {
        rows as f64 * libm::exp2(f64::from(self.log_n))
    }

    fn decomposed(&self, limbs: usize) -> Rows {
        let (digits, all) = (self.digits(limbs), self.all(limbs));
        Rows { transforms: digits.len() * all, conversions: digits.iter().map(|a| a * (all - a)).sum() }
    }

    /// The division of both parts by P.
    fn divided(&self, limbs: usize) -> Rows {
        Rows { transforms: 2 * self.all(limbs), conversions: 2 * self.special * limbs }
    }

    /// The division of both parts by `P q_l`.
    fn divided_with_limb(&self, limbs: usize) -> Rows {
        Rows { transforms: 2 * self.all(limbs), conversions: 2 * (self.special + 1) * (limbs - 1) }
    }

    /// The division of both parts by `q_l`.
    fn rescaled(&self, limbs: usize) -> Rows {
        Rows { transforms: 2 * limbs, conversions: 2 * (limbs - 1) }
    }

    /// A decomposition, inner products with keys, and the divisions `end`; `operands` are the rows beside the keys.
    fn switch(&self, limbs: usize, end: Rows, keys: usize, operands: usize) -> Work {
        let rows = keys * self.key_rows(limbs);
        let loops = self.loops(LOOPS_OF_SWITCH, self.all(limbs));
        self.rows(self.decomposed(limbs)) + self.rows(end) + self.placed(Unit::Key, rows, rows + operands) + loops
    }

    fn rows(&self, rows: Rows) -> Work {
        let work = Work::of(Unit::Transform(self.log_n), self.words(rows.transforms) * f64::from(self.log_n));
        self.spread(work.and(Unit::Conversion, self.words(rows.conversions)), rows.transforms)
    }

    fn image(&self, rows: usize) -> Work {
        self.spread(Work::of(Unit::Image, self.words(rows)), rows)
    }

    /// Loops of a pointwise operation: the rows that it works on, and those of its results.
    fn call(&self, loops: f64, operands: usize, results: usize) -> Work {
        let shared = self.threads > 1 && self.words(results) >= loops * SHARED_POINTWISE_WORDS;
        let unit = if shared { Unit::SharedLoop } else { Unit::Call };
        let (work, calls) = (self.resident_at(Unit::Word, results, operands), Work::of(unit, loops));
        if shared { work.in_shared_loops() + calls.in_shared_loops() } else { work + calls }
    }

    /// Pointwise work within the loops of another operation.
    fn pointwise(&self, operands: usize, results: usize) -> Work {
        self.placed(Unit::Word, results, operands)
    }

    /// `rows` rows of a unit, where a working set of `operands` rows lies.
    fn placed(&self, unit: impl Fn(Residence) -> Unit, rows: usize, operands: usize) -> Work {
        self.spread(self.resident_at(unit, rows, operands), rows)
    }

    fn resident_at(&self, unit: impl Fn(Residence) -> Unit, rows: usize, operands: usize) -> Work {
        let bytes = (8.0 * self.words(operands)).max(self.resident);
        let shares = self.caches.shares(bytes).map(|(place, share)| Work::of(unit(place), share * self.words(rows)));
        shares.into_iter().sum()
    }

    /// Calls of loops over `rows` rows each.
    fn loops(&self, loops: f64, rows: usize) -> Work {
        let unit = if self.spreads(rows) { Unit::SharedLoop } else { Unit::Call };
        self.spread(Work::of(unit, loops), rows)
    }

    /// Work in a loop over `rows` rows.
    fn spread(&self, work: Work, rows: usize) -> Work {
        if self.spreads(rows) { work.in_shared_loops() } else { work }
    }

    fn spreads(&self, rows: usize) -> bool {
        self.threads > 1 && self.words(rows) >= SHARED_WORDS
    }
}

/// The words times layers of the transform of `slots` complex slots.
fn layers(slots: usize) -> f64 {
    let words = (2 * slots) as f64;
    words * libm::log2(words)
}
