//! Circuit bootstrapping: from LWE samples of digits to GGSW samples of their bits.

use noren_math::machine::aligned::AlignedVec;

use crate::engine::Engine;
use crate::host::torus::blind_rotation::{BlindRotation, Scratch};
use crate::host::torus::bootstrap::shares;
use crate::host::torus::glwe_switch::{GlweScratch, GlweSwitch};
use crate::host::torus::key_switch::{Exponents, LweSwitch};
use crate::host::torus::trace::{Trace, TraceScratch, divide};
use crate::interrupt::Steps;
use crate::torus::control_table::ControlTable;
use crate::torus::lwe::Lwe;
use crate::torus::polynomial::rotate;
use crate::torus::shape::GlweShape;

/// The keys of circuit bootstrapping, but for the key switch to short samples.
///
/// A blind rotation with finer digits than those of a bootstrap leaves the sample of all boxes. Of each, the trace makes a
/// GLWE sample m of the bit times `2^64 / B^j`, which is a row of the GGSW sample of the bit; the rows of `-S_r m` are `(0, ..,
/// body of m, .., 0)` in the mask plus a switch of the mask of m with the products of secrets. Source: Wang et al., "Circuit
/// bootstrapping: faster and smaller", Eurocrypt 2024.
#[derive(Debug)]
pub struct CircuitBootstrap {
    rotation: BlindRotation,
    trace: Trace,
    squares: Vec<GlweSwitch>,
}

/// Memory for one thread.
struct Memory {
    rotation: Scratch,
    trace: TraceScratch,
    square: GlweScratch,
}

impl CircuitBootstrap {
    /// Joins the keys: the blind rotation of fine digits, the trace, and for each secret `S_r` the switch from masks to
    /// `sum_i a_i S_i S_r`.
    ///
    /// # Panics
    /// If they are of different shapes.
    #[must_use]
    pub fn new(rotation: BlindRotation, trace: Trace, squares: Vec<GlweSwitch>) -> Self {
        let shape = rotation.shape();
        assert_eq!(trace.shape(), shape, "keys of one shape");
        assert!(squares.len() == shape.dimension && squares.iter().all(|key| key.shape() == shape), "a key a secret");
        Self { rotation, trace, squares }
    }

    /// The shape of the samples.
    #[must_use]
    pub const fn shape(&self) -> GlweShape {
        self.rotation.shape()
    }

    /// How many bytes the keys take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.rotation.bytes() + self.trace.bytes() + self.squares.iter().map(GlweSwitch::bytes).sum::<usize>()
    }

    /// For each sample, whose digit counts `1/2^m` of the circle, the GGSW samples of its control bits, `[m, (k+1) l, k + 1, N]`,
    /// the lowest bit first. Blocks of samples share the reading of keys, and are shared out to threads.
    ///
    /// # Panics
    /// If a sample is not one that the switch takes, or the table is of another degree.
    #[must_use]
    pub fn run(
        &self,
        engine: &Engine,
        switch: &LweSwitch,
        table: &ControlTable,
        samples: &[&Lwe],
    ) -> Vec<AlignedVec<u64>> {
        let shape = self.shape();
        assert_eq!(table.polynomial().len(), shape.degree, "a table of the degree");
        assert_eq!(switch.to(), self.rotation.bits(), "the switch ends where rotation starts");
        let mut results = vec![AlignedVec::zeroed(0); samples.len()];
        let block = shares(samples.len(), engine.threads());
        let tasks = samples.chunks(block).zip(results.chunks_mut(block));
        let words = samples.len() * self.rotation.bits() * shape.words();
        let memory = || Memory {
            rotation: self.rotation.scratch(),
            trace: self.trace.scratch(),
            square: self.squares[0].scratch(),
        };
        let steps = Steps::new(samples.len());
        engine.run_with(words, tasks, memory, |memory, (samples, results)| {
            let accumulators = self.rotate(switch, table, samples, &mut memory.rotation);
            for (acc, result) in accumulators.chunks_exact(shape.words()).zip(results) {
                *result = self.controls(table, acc, memory);
                steps.advance(1);
            }
        });
        results
    }

    /// The accumulators `[samples, k + 1, N]` in which all boxes of the table are where the phases point to.
    fn rotate(
        &self,
        switch: &LweSwitch,
        table: &ControlTable,
        samples: &[&Lwe],
        scratch: &mut Scratch,
    ) -> AlignedVec<u64> {
        let (shape, log) = (self.shape(), 2 * self.shape().degree);
        let short = switch.switch(samples);
        let exponents: Vec<Exponents> = short.iter().map(|words| Exponents::of(words, log.trailing_zeros())).collect();
        let mut accumulators = AlignedVec::zeroed(samples.len() * shape.words());
        for (acc, exponents) in accumulators.chunks_exact_mut(shape.words()).zip(&exponents) {
            rotate(&mut acc[shape.extracted()..], table.polynomial(), (log - exponents.body as usize) % log);
        }
        let masks: Vec<&[u32]> = exponents.iter().map(|exponents| &exponents.mask[..]).collect();
        self.rotation.rotate(&mut accumulators, &masks, scratch);
        accumulators
    }

    /// The GGSW samples of one accumulator.
    fn controls(&self, table: &ControlTable, acc: &[u64], memory: &mut Memory) -> AlignedVec<u64> {
        let (shape, levels) = (self.shape(), table.gadget().levels());
        let (n, shared) = (shape.degree, table.shared_steps());
        let mut acc = AlignedVec::from_slice(acc);
        divide(&mut acc, n);
        self.trace.run(0..shared, &mut acc, &mut memory.trace);
        let mut rows = AlignedVec::zeroed(table.bits() as usize * (shape.dimension + 1) * levels * shape.words());
        let mut sample = AlignedVec::zeroed(shape.words());
        for (bit, rows) in rows.chunks_exact_mut((shape.dimension + 1) * levels * shape.words()).enumerate() {
            for level in 0..levels {
                let place = table.place(bit, level);
                for (out, polynomial) in sample.chunks_exact_mut(n).zip(acc.chunks_exact(n)) {
                    rotate(out, polynomial, (2 * n - place) % (2 * n));
                }
                self.trace.run(shared..self.trace.steps(), &mut sample, &mut memory.trace);
                let constant = &mut sample[shape.extracted()];
                *constant = constant.wrapping_add(table.half_weight(level));
                self.write_rows(rows, (level, levels), &sample, &mut memory.square);
            }
        }
        rows
    }

    /// The rows of one level from the GLWE sample of the bit times what the level counts.
    fn write_rows(&self, rows: &mut [u64], (level, levels): (usize, usize), sample: &[u64], scratch: &mut GlweScratch) {
        let shape = self.shape();
        for (r, rows) in rows.chunks_exact_mut(levels * shape.words()).enumerate() {
            let row = &mut rows[level * shape.words()..][..shape.words()];
            match self.squares.get(r) {
                Some(square) => square.times_secret(r, row, sample, scratch),
                None => row.copy_from_slice(sample),
            }
        }
    }
}
