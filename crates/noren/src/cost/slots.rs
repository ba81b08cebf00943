//! Prices of circuits on slots, in CKKS, BGV and BFV.

use noren_rlwe::error::Result;
use noren_rlwe::parameters::Parameters;

use crate::circuits::linear::MOST_KEPT;
use crate::circuits::recorder::{CircuitUsage, Operation};
use crate::cost::price::{Left, PROCESS_BYTES, Party, Price};
use crate::cost::ring::RingMeter;
use crate::cost::work::Work;

/// The meaning of slots, as far as costs depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slots {
    /// Real numbers of CKKS.
    Reals,
    /// Integers whose products drop limbs: BGV.
    Residues,
    /// Integers whose products are scaled: BFV.
    ScaledResidues,
}

/// A circuit that a recorder saw, with the parameters that it runs with.
#[derive(Debug, Clone)]
pub struct SlotDraft {
    /// The meaning of slots.
    pub slots: Slots,
    /// The parameters of ciphertexts and keys.
    pub parameters: Parameters,
    /// The operations of the circuit, once.
    pub usage: CircuitUsage,
    /// The limbs of ciphertexts at each depth; deeper ones have those of the last.
    pub limbs: Vec<usize>,
    /// The limbs of each evaluation key.
    pub key_limbs: Vec<usize>,
    /// The slots of a ciphertext of reals.
    pub width: usize,
    /// The ciphertexts that the client encrypts.
    pub inputs: usize,
    /// The ciphertexts that it decrypts.
    pub results: usize,
}

/// Rows of factors of vectors that repeat have no fewer words: those that kernels work on at once.
const FACTOR_WORDS: usize = 64;
/// The part of a price that is for ciphertexts as bytes.
pub(crate) const TRANSFERS: &str = "ciphertexts read and written";
/// Rows of each prime's tables, in words of a ring: the quotients of roots, and what pools keep.
const TABLE_ROWS: u64 = 2;
/// The scratch rows of operations, as ciphertexts.
const SCRATCH_CIPHERTEXTS: u64 = 2;

impl SlotDraft {
    /// The limbs at each depth up to `depth` where every level is one limb, from the top level down; at level 0 they end.
    #[must_use]
    pub fn limbs_below(top: usize, depth: usize) -> Vec<usize> {
        (0..=depth).map(|depth| top + 1 - depth.min(top)).collect()
    }

    /// The price of a run.
    ///
    /// # Errors
    /// Parameters without special primes where keys are needed; a number of threads that a machine was not measured with.
    pub fn price(&self, client: &Party, server: &Party) -> Result<Price> {
        let mut price = Price::default();
        self.price_client(client, &mut price)?;
        self.price_server(server, &mut price)?;
        Ok(price)
    }

    /// The bytes of all evaluation keys in memory.
    #[must_use]
    pub fn key_bytes(&self, meter: &RingMeter) -> u64 {
        self.key_limbs.iter().map(|&limbs| meter.key_bytes(limbs)).sum()
    }

    /// The limbs at a depth.
    fn limbs_at(&self, depth: usize) -> usize {
        limbs_at(&self.limbs, depth)
    }

    /// The bytes of a row in memory.
    fn row_bytes(&self) -> u64 {
        (self.parameters.degree() * size_of::<u64>()) as u64
    }

    /// The bytes of `rows` polynomials modulo the first `limbs` primes, packed.
    fn packed(&self, polynomials: usize, limbs: usize) -> u64 {
        (self.parameters.log_q(limbs) * (polynomials * self.parameters.degree()) as f64 / 8.0) as u64
    }

    fn price_client(&self, client: &Party, price: &mut Price) -> Result<()> {
        let meter = client.meter(&self.parameters)?;
        let [first, last] = [self.limbs_at(0), self.limbs_at(self.usage.depth)];
        let keys: Work = self.key_limbs.iter().map(|&limbs| meter.switching_key(limbs)).sum();
        let keys = keys + meter.key_pair(self.parameters.max_limbs());
        let (encode, decrypt) = match self.slots {
            Slots::Reals => (meter.embed(self.width, first), meter.decrypt_embedded(self.width, last)),
            Slots::Residues | Slots::ScaledResidues => (meter.encode_residues(first), meter.decrypt_residues(last)),
        };
        price.keys_seconds = client.seconds(&keys)?;
        price.encrypt_seconds = client.seconds(&meter.encryptions(encode, first, self.inputs))?;
        price.decrypt_seconds = client.seconds(&(decrypt + meter.read(2 * last)))? * self.results as f64;

        // A key travels with the seed of one half of it, and so does a ciphertext that the secret key encrypted.
        let special = self.parameters.log_p();
        let key_bits = |limbs: usize| meter.digits(limbs).len() as f64 * (self.parameters.log_q(limbs) + special);
        let degree = self.parameters.degree() as f64;
        price.key_bytes = self.key_limbs.iter().map(|&limbs| (key_bits(limbs) * degree / 8.0) as u64).sum();
        price.input_bytes = self.inputs as u64 * self.packed(1, first);
        price.result_bytes = self.results as u64 * self.packed(2, last);
        let largest = self.key_limbs.iter().map(|&limbs| meter.key_bytes(limbs)).max().unwrap_or_default();
        price.client_memory = largest + self.message_memory();
        Ok(())
    }

    /// The memory of a client that makes no keys: tables, and room for two messages.
    fn message_memory(&self) -> u64 {
        let rows = (self.parameters.p().len() + self.parameters.max_limbs()) as u64;
        PROCESS_BYTES + rows * self.row_bytes() * (TABLE_ROWS + 2 * SCRATCH_CIPHERTEXTS)
    }

    /// The price of a client whose keys another device makes.
    pub(crate) fn left(&self, client: &Party) -> Result<Left> {
        let secret = client.meter(&self.parameters)?.secret(self.limbs_at(0));
        Ok(Left { secrets_seconds: client.seconds(&secret)?, memory: self.message_memory() })
    }

    fn price_server(&self, server: &Party, price: &mut Price) -> Result<()> {
        let meter = server.meter(&self.parameters)?;
        let keys = self.key_bytes(&meter);
        let inputs = (2 * self.inputs * self.limbs_at(0)) as u64 * self.row_bytes();
        // Each key is used once in a run, or a few times: by then all others were read.
        let meter = meter.within(keys + inputs);
        let factor_words = match self.slots {
            Slots::Reals => {
                (2 * self.width).clamp(FACTOR_WORDS.min(self.parameters.degree()), self.parameters.degree())
            }
            Slots::Residues | Slots::ScaledResidues => self.parameters.degree(),
        };
        let (mut factors, mut encodings, mut most, mut prepare) = (0, 0, 0, Work::default());
        for (&(depth, operation), &count) in &self.usage.operations {
            let limbs = self.limbs_at(depth);
            match operation {
                Operation::Encoding => {
                    let work = match self.slots {
                        Slots::Reals => meter.embed(self.width, limbs),
                        _ => meter.encode_residues(limbs),
                    };
                    price.add_part(describe(operation), count as f64, server.seconds(&work)? * count as f64);
                }
                // Servers keep them, as far as there is room.
                Operation::FactorEncoding => {
                    let rows = limbs + self.parameters.p().len();
                    let encode = match self.slots {
                        Slots::Reals => meter.embed_factor(self.width, limbs),
                        _ => meter.encode_residues(rows),
                    };
                    prepare += encode * count as f64;
                    encodings += count;
                    factors += (count * rows * factor_words * size_of::<u64>()) as u64;
                }
                _ => {
                    if let Operation::GiantSteps { terms, .. } = operation {
                        let rows = limbs + self.parameters.p().len();
                        most = most.max((terms * rows * factor_words * size_of::<u64>()) as u64);
                    }
                    let work_of = |operation| {
                        meter.operation(operation, limbs, factor_words, self.slots == Slots::ScaledResidues)
                    };
                    let mut work = work_of(operation);
                    if let (Operation::WeightedSum { lowered, .. }, Slots::Residues) = (operation, self.slots) {
                        work += work_of(Operation::Alignment) * lowered as f64;
                    }
                    let times = count as f64;
                    price.add_part(describe(operation), times, server.seconds(&work)? * times);
                }
            }
        }
        let [first, last] = [self.limbs_at(0), self.limbs_at(self.usage.depth)];
        let transfers = server.seconds(&meter.transfers((self.inputs, first), (self.results, last)))?;
        price.add_part(TRANSFERS, (self.inputs + self.results) as f64, transfers);
        let again = if factors > MOST_KEPT { 1.0 - MOST_KEPT as f64 / factors as f64 } else { 0.0 };
        let prepare = server.seconds(&prepare)?;
        price.prepare_seconds = prepare * (1.0 - again);
        if again > 0.0 {
            price.add_part(describe(Operation::FactorEncoding), encodings as f64 * again, prepare * again);
            factors = MOST_KEPT + most;
        }
        let special = self.parameters.p().len();
        let held =
            self.usage.held.most_rows(|depth| self.limbs_at(depth), special, server.threads) as u64 * self.row_bytes();
        price.run_memory = held;
        let rows = self.parameters.primes().count() as u64;
        price.server_memory = PROCESS_BYTES + rows * TABLE_ROWS * self.row_bytes() + keys + factors + held;
        price.add_reading(keys);
        Ok(())
    }
}

/// The limbs at a depth, of those at each depth.
pub(crate) fn limbs_at(limbs: &[usize], depth: usize) -> usize {
    limbs.get(depth).or(limbs.last()).copied().unwrap_or(1)
}

/// An operation in words.
fn describe(operation: Operation) -> &'static str {
    match operation {
        Operation::Sum => "sums",
        Operation::Alignment => "alignments of depths",
        Operation::WeightedSum { .. } => "weighted sums",
        Operation::Encoding => "encodings",
        Operation::FactorEncoding => "encodings of matrices",
        Operation::PlainProducts { .. } => "products with plaintexts",
        Operation::Products { .. } => "products",
        Operation::Rotations { .. } => "rotations",
        Operation::RotationSums { .. } => "sums of rotations",
        Operation::GiantSteps { .. } => "matrix products",
    }
}
