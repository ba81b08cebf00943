//! The whole way of a sample through a bootstrap, for one sample or for many.

use noren_math::machine::aligned::AlignedVec;

use crate::engine::Engine;
use crate::host::torus::blind_rotation::{BlindRotation, Scratch};
use crate::host::torus::key_switch::{Exponents, LweSwitch};
use crate::interrupt::Steps;
use crate::torus::lwe::Lwe;
use crate::torus::polynomial::{extract_mask, rotate};
use crate::torus::table::Table;

/// How many accumulators share one reading of the key: with the key of two steps they fill half of a second cache of 1 MiB.
pub const BLOCK: usize = 16;

/// Key switch, modulus switch, blind rotation and extraction: samples of dimension kN with new noise.
#[derive(Debug)]
pub struct Bootstrap {
    switch: LweSwitch,
    rotation: BlindRotation,
}

impl Bootstrap {
    /// Joins the two keys.
    ///
    /// # Panics
    /// If the switch does not lead from the samples that are extracted to those that rotate.
    #[must_use]
    pub fn new(switch: LweSwitch, rotation: BlindRotation) -> Self {
        assert_eq!(switch.from(), rotation.shape().extracted(), "the switch starts where extraction ends");
        assert_eq!(switch.to(), rotation.bits(), "the switch ends where rotation starts");
        Self { switch, rotation }
    }

    /// The key of the key switch.
    #[must_use]
    pub const fn switch(&self) -> &LweSwitch {
        &self.switch
    }

    /// The key of the blind rotation.
    #[must_use]
    pub const fn rotation(&self) -> &BlindRotation {
        &self.rotation
    }

    /// Bootstraps each sample with its table: for each the outputs of the table, in their order.
    ///
    /// Samples are taken in blocks, so that a part of the key is read once for several; blocks are shared out to threads.
    ///
    /// # Panics
    /// If a sample or a polynomial has another length, or an output is not a coefficient.
    #[must_use]
    pub fn run(&self, engine: &Engine, jobs: &[(&Lwe, &Table)]) -> Vec<Vec<Lwe>> {
        let block = shares(jobs.len(), engine.threads());
        let mut results = vec![Vec::new(); jobs.len()];
        let tasks = jobs.chunks(block).zip(results.chunks_mut(block));
        let words = jobs.len() * self.rotation.bits() * self.rotation.shape().words();
        let steps = Steps::new(jobs.len());
        engine.run_with(
            words,
            tasks,
            || self.rotation.scratch(),
            |scratch, (jobs, results)| {
                self.run_block(scratch, jobs, results);
                steps.advance(jobs.len());
            },
        );
        results
    }

    fn run_block(&self, scratch: &mut Scratch, jobs: &[(&Lwe, &Table)], results: &mut [Vec<Lwe>]) {
        let shape = self.rotation.shape();
        let log = 2 * shape.degree;
        let samples: Vec<&Lwe> = jobs.iter().map(|(sample, _)| *sample).collect();
        let short = self.switch.switch(&samples);
        let exponents: Vec<Exponents> = short.iter().map(|words| Exponents::of(words, log.trailing_zeros())).collect();
        let mut accumulators = AlignedVec::zeroed(jobs.len() * shape.words());
        for ((acc, exponents), (_, table)) in accumulators.chunks_exact_mut(shape.words()).zip(&exponents).zip(jobs) {
            let body = &mut acc[shape.extracted()..];
            rotate(body, &table.polynomial, (log - exponents.body as usize) % log);
        }
        let masks: Vec<&[u32]> = exponents.iter().map(|exponents| &exponents.mask[..]).collect();
        self.rotation.rotate(&mut accumulators, &masks, scratch);
        for ((acc, result), (_, table)) in accumulators.chunks_exact(shape.words()).zip(results).zip(jobs) {
            *result = table.outputs.iter().map(|&h| extract(acc, shape.degree, h)).collect();
        }
    }
}

/// The number of samples that a thread takes at a time. Shares are even: a block too many on one thread would be waited for.
pub(crate) fn shares(samples: usize, threads: usize) -> usize {
    let blocks = samples.div_ceil(BLOCK).next_multiple_of(threads);
    samples.div_ceil(blocks.max(1)).max(1)
}

/// Coefficient h of a GLWE sample as an LWE sample.
///
/// # Panics
/// If the degree has no such coefficient.
#[must_use]
pub fn extract(sample: &[u64], degree: usize, h: usize) -> Lwe {
    let (masks, body) = sample.split_at(sample.len() - degree);
    let mut words = vec![0; masks.len() + 1];
    extract_mask(&mut words[..masks.len()], masks, degree, h);
    words[masks.len()] = body[h];
    Lwe::from_words(words)
}
