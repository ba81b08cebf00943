//! Circuit bootstrapping: from LWE samples of digits to GGSW samples of their bits.

use noren_math::kernels::aligned::AlignedVec;
use noren_math::torus::gadget::Gadget;

use crate::engine::Engine;
use crate::interrupt::Steps;
use crate::torus::blind_rotation::{BlindRotation, GlweShape, Scratch};
use crate::torus::bootstrap::shares;
use crate::torus::glwe_switch::{GlweScratch, GlweSwitch};
use crate::torus::key_switch::{Exponents, LweSwitch};
use crate::torus::lwe::Lwe;
use crate::torus::polynomial::rotate;
use crate::torus::trace::{Trace, TraceScratch, divide};

/// Leading bits that the width of a box keeps: the zeros below are as many steps of the trace that all boxes share.
const WIDTH_BITS: u32 = 3;

/// The table by which one blind rotation gives all bits of a digit, for all digits of a gadget.
///
/// A digit v of m bits counts `1/2^m` of the circle, so that `v + 2^(m-1)` is half a circle further and negates what the table
/// gives. So the table has `(-1)^(c_i)` for the *control bits* of v, `c_(m-1)` its highest bit and `c_i` the exclusive or of
/// that and bit i: `(1 - (-1)^c) / 2` is the bit. In front of each of the `2^(m-1)` values of the lower bits lie `m l` boxes of
/// w coefficients, one for control bit i and level j, of `-(-1)^(c_i) 2^64 / (2 B^j)`.
#[derive(Debug, Clone)]
pub struct ControlTable {
    bits: u32,
    gadget: Gadget,
    /// w.
    width: usize,
    polynomial: AlignedVec<u64>,
}

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

impl ControlTable {
    /// The table for digits of `bits` bits, and GGSW samples of this gadget.
    ///
    /// # Panics
    /// If a box would have no coefficient; see [`ControlTable::box_width`].
    #[must_use]
    pub fn new(degree: usize, bits: u32, gadget: Gadget) -> Self {
        let width = Self::box_width(degree, bits, gadget);
        assert!(width >= 2, "no room for {bits} bits at {} levels in degree {degree}", gadget.levels());
        let (value_width, boxes) = (degree >> (bits - 1), bits as usize * gadget.levels());
        let mut polynomial = AlignedVec::zeroed(degree);
        for (place, word) in polynomial.iter_mut().enumerate() {
            // Boxes start half a box early; the last half box is that of the first one, negated.
            let (value, at) = ((place + width / 2) / value_width, (place + width / 2) % value_width / width);
            if at < boxes {
                let (bit, level) = (at / gadget.levels(), at % gadget.levels());
                // The control bits of values of half a circle more are the others.
                let (low, wrapped) = (value % (1 << (bits - 1)), value >> (bits - 1) == 1);
                let control = (low >> bit & 1 == 1) != wrapped;
                let half = half_weight(gadget, level);
                *word = if control { half } else { half.wrapping_neg() };
            }
        }
        Self { bits, gadget, width, polynomial }
    }

    /// How many coefficients a box has: the noise of a phase may be up to half of it, in units of `1/2N`.
    #[must_use]
    pub fn box_width(degree: usize, bits: u32, gadget: Gadget) -> usize {
        let most = (degree >> (bits - 1)) / (bits as usize * gadget.levels());
        let dropped = (usize::BITS - most.leading_zeros()).saturating_sub(WIDTH_BITS).max(1);
        most >> dropped << dropped
    }

    /// The bits of a digit.
    #[must_use]
    pub const fn bits(&self) -> u32 {
        self.bits
    }

    /// The digits of the GGSW samples.
    #[must_use]
    pub const fn gadget(&self) -> Gadget {
        self.gadget
    }

    /// Steps of the trace that all boxes share: those that keep multiples of w.
    const fn shared_steps(&self) -> usize {
        self.width.trailing_zeros() as usize
    }
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

    /// The keys of the trace, which pack samples too.
    #[must_use]
    pub const fn trace(&self) -> &Trace {
        &self.trace
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
        assert_eq!(table.polynomial.len(), shape.degree, "a table of the degree");
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
            rotate(&mut acc[shape.extracted()..], &table.polynomial, (log - exponents.body as usize) % log);
        }
        let masks: Vec<&[u32]> = exponents.iter().map(|exponents| &exponents.mask[..]).collect();
        self.rotation.rotate(&mut accumulators, &masks, scratch);
        accumulators
    }

    /// The GGSW samples of one accumulator.
    fn controls(&self, table: &ControlTable, acc: &[u64], memory: &mut Memory) -> AlignedVec<u64> {
        let (shape, levels) = (self.shape(), table.gadget.levels());
        let (n, shared) = (shape.degree, table.shared_steps());
        let mut acc = AlignedVec::from_slice(acc);
        divide(&mut acc, n);
        self.trace.run(0..shared, &mut acc, &mut memory.trace);
        let mut rows = AlignedVec::zeroed(table.bits as usize * (shape.dimension + 1) * levels * shape.words());
        let mut sample = AlignedVec::zeroed(shape.words());
        for (bit, rows) in rows.chunks_exact_mut((shape.dimension + 1) * levels * shape.words()).enumerate() {
            for level in 0..levels {
                let place = (bit * levels + level) * table.width;
                for (out, polynomial) in sample.chunks_exact_mut(n).zip(acc.chunks_exact(n)) {
                    rotate(out, polynomial, (2 * n - place) % (2 * n));
                }
                self.trace.run(shared..self.trace.steps(), &mut sample, &mut memory.trace);
                let constant = &mut sample[shape.extracted()];
                *constant = constant.wrapping_add(half_weight(table.gadget, level));
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

/// Half of what digit `level + 1` counts: `2^64 / (2 B^(level + 1))`.
const fn half_weight(gadget: Gadget, level: usize) -> u64 {
    1 << (u64::BITS - 1 - gadget.log_base() * (level as u32 + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of the rotated table at box (bit, level) for a phase of `p / 2N` of the circle.
    fn looked_up(table: &ControlTable, phase: usize, bit: usize, level: usize) -> u64 {
        let n = table.polynomial.len();
        let at = (phase + (bit * table.gadget.levels() + level) * table.width) % (2 * n);
        if at < n { table.polynomial[at] } else { table.polynomial[at - n].wrapping_neg() }
    }

    #[test]
    fn tables_give_all_control_bits_for_all_phases_within_half_a_box() {
        for (degree, bits, gadget) in [
            (2048, 2, Gadget::new(7, 3)),
            (512, 1, Gadget::new(5, 4)),
            (1024, 3, Gadget::new(8, 2)),
            (64, 2, Gadget::new(9, 1)),
        ] {
            let table = ControlTable::new(degree, bits, gadget);
            for digit in 0..1 << bits {
                let (centre, half) = (digit * ((2 * degree) >> bits), table.width / 2);
                for phase in (centre + 2 * degree - half..centre + 2 * degree + half).map(|phase| phase % (2 * degree))
                {
                    for (bit, level) in (0..bits as usize).flat_map(|bit| (0..gadget.levels()).map(move |l| (bit, l))) {
                        let highest = digit >> (bits - 1);
                        let control = if bit + 1 == bits as usize { highest } else { digit >> bit & 1 ^ highest };
                        let half = half_weight(gadget, level);
                        let found = looked_up(&table, phase, bit, level).wrapping_add(half);
                        assert_eq!(found, (control as u64) * 2 * half, "digit {digit}, bit {bit}, phase {phase}");
                    }
                }
            }
        }
    }

    #[test]
    fn boxes_share_steps_of_the_trace() {
        let table = ControlTable::new(2048, 2, Gadget::new(7, 3));
        assert_eq!((table.width, table.shared_steps()), (160, 5));
        assert_eq!(ControlTable::box_width(64, 3, Gadget::new(4, 8)), 0, "no room");
    }
}
