//! Prices of lookups, in BFV.

use noren_rlwe::error::Result;

use crate::cost::price::PROCESS_BYTES;
use crate::cost::price::{Party, Price};
use crate::cost::ring::RingMeter;
use crate::cost::slots::TRANSFERS;
use crate::cost::work::{Unit, Work};
use crate::lookup::LookupPlan;

/// The failure of laws of noise that a positive budget stands for, as base-two logarithm.
pub(crate) const BUDGET_FAILURE: f64 = -128.0;

/// The time of an operation of a function at one point of its matrix, in residues: 16 s for two operations at 2^30 points, beside
/// 4 s for their residues.
const RESIDUES_OF_OPERATION: f64 = 2.0;

/// Lookups with a plan.
#[derive(Debug, Clone)]
pub(crate) struct LookupDraft<'a> {
    /// The plan of all of them.
    pub(crate) plan: &'a LookupPlan,
    /// The ciphertexts that the client encrypts.
    pub(crate) inputs: usize,
    /// The ciphertexts that it decrypts.
    pub(crate) results: usize,
    /// The lookups by a matrix.
    pub(crate) pairs: usize,
    /// The different matrices.
    pub(crate) matrices: usize,
    /// The operations that their functions consist of, together.
    pub(crate) operations: usize,
    /// The lookups without a matrix.
    pub(crate) lines: usize,
    /// How many values the number has that these depend on.
    pub(crate) line_values: usize,
    /// The ciphertexts of inputs that are multiplied by numbers and added to results.
    pub(crate) terms: usize,
}

impl LookupDraft<'_> {
    /// How many one-hot vectors are made, block by block.
    pub(crate) fn one_hot_vectors(&self) -> usize {
        let layout = self.plan.layout();
        let [rows, columns] = layout.blocks();
        self.pairs * (rows + columns) + self.line_blocks()
    }

    /// The blocks of all numbers that are looked up without a matrix.
    pub(crate) fn line_blocks(&self) -> usize {
        self.lines * self.line_values.div_ceil(self.plan.layout().stretch())
    }

    /// The squarings of each of them.
    pub(crate) fn squarings(&self) -> usize {
        self.plan.parameters().modulus().value().ilog2() as usize
    }

    /// How many products with a matrix's factors and how many rotations there are.
    pub(crate) fn steps(&self) -> [usize; 2] {
        let layout = self.plan.layout();
        [self.pairs * layout.factors(), self.pairs * (layout.babies() + layout.halves() * layout.giants())]
    }

    /// The price.
    pub(crate) fn price(&self, client: &Party, server: &Party) -> Result<Price> {
        let (plan, layout) = (self.plan, self.plan.layout());
        let (parameters, degree) = (plan.parameters(), layout.degree() as f64);
        let rlwe = parameters.rlwe();
        let (own, meter) = (client.meter(rlwe)?, server.meter(rlwe)?);
        let (first, limbs) = (parameters.max_limbs(), plan.limbs());
        let mut price = Price::default();
        let row_bytes = size_of::<u64>() as u64 * layout.degree() as u64;
        let (inputs, results) = (self.inputs as f64, self.results as f64);
        price.encrypt_seconds = client.seconds(&own.encryptions(own.encode_residues(first), first, self.inputs))?;
        price.decrypt_seconds = client.seconds(&(own.decrypt_residues(limbs) + own.read(2 * limbs)))? * results;
        let keys: Work = plan.evaluation_keys().map(|class| own.keys_of(&class)).sum();
        price.keys_seconds = client.seconds(&keys)?;
        price.key_bytes = plan.key_disk_bytes();
        let packed = |polynomials: f64, limbs: usize| (rlwe.log_q(limbs) * polynomials * degree / 8.0) as u64;
        price.input_bytes = packed(inputs, first);
        price.result_bytes = packed(2.0 * results, limbs);

        // Squarings drop limbs one after the other.
        let mean = first.midpoint(plan.entry_limbs());
        let squarings = (self.one_hot_vectors() * self.squarings()) as f64;
        let square = server.seconds(&meter.scaled_products(1, mean))?;
        price.add_part("squarings of one-hot vectors", squarings, squarings * square);
        let [factors, rotations] = self.steps().map(|count| count as f64);
        if self.pairs > 0 {
            let words = factors * limbs as f64 * degree;
            let log_n = layout.degree().ilog2();
            let work = Work::of(Unit::Transform(log_n), f64::from(log_n) * words)
                .and(Unit::Conversion, 2.0 * words)
                .in_shared_loops();
            price.add_part("products with the matrix", factors, server.seconds(&work)?);
            let shaped = RingMeter::shaped(rlwe, plan.shape(), server.machine.caches, server.threads)?;
            let babies = shaped.rotations(layout.babies(), limbs);
            let giants = shaped.rotations(1, limbs) * (layout.halves() * layout.giants()) as f64;
            price.add_part("rotations", rotations, server.seconds(&(babies + giants))? * self.pairs as f64);
            let values = self.matrices as f64 + RESIDUES_OF_OPERATION * self.operations as f64;
            let residues = layout.factors() as f64 * degree * values;
            price.prepare_seconds = server.seconds(&Work::of(Unit::Residue, residues))?;
            price.server_memory = self.matrices as u64 * plan.matrix_bytes();
        }
        let (lookups, doublings) = ((self.pairs + self.lines) as f64, layout.stretch().ilog2().max(1) as usize);
        let sums = meter.rotation_sums(doublings.div_ceil(3), doublings, plan.entry_limbs());
        price.add_part("sums over slots", lookups, server.seconds(&sums)? * lookups);
        if self.terms > 0 {
            // A product with a number takes about as long as a sum.
            let all = meter.sum(first) * (2 * self.terms) as f64 + meter.rescale(first) * self.results as f64;
            price.add_part("sums of inputs", self.terms as f64, server.seconds(&all)?);
        }
        let transfers = server.seconds(&meter.transfers((self.inputs, first), (self.results, limbs)))?;
        price.add_part(TRANSFERS, inputs + results, transfers);
        let held = 2 * (self.inputs * first + self.results * limbs) as u64 * row_bytes;
        price.server_memory += plan.key_bytes() + plan.working_bytes(1) + held;
        price.client_memory = PROCESS_BYTES + 24 * packed(1.0, first);
        price.add_reading(plan.key_bytes());
        Ok(price)
    }
}
