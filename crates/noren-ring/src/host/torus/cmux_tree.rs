//! Lookups by encrypted bits: a tree of CMUXes over packed tables, and a rotation within the polynomial that is left.

use crate::engine::Engine;
use crate::torus::blind_rotation::{BlindRotation, GlweShape, Scratch};
use crate::torus::bootstrap::extract;
use crate::torus::lwe::Lwe;

/// Tables of `2^bits` entries for each of some outputs, packed into polynomials without encryption.
///
/// Entry x of a table is a coefficient: the low bits of x say which one, the others which polynomial. Tables of fewer entries
/// than a polynomial has coefficients lie one behind another in it, as many as fit.
#[derive(Debug, Clone)]
pub struct PackedTables {
    shape: GlweShape,
    bits: usize,
    outputs: usize,
    unit: u64,
    /// `[outputs, 2^bits]`.
    entries: Vec<u16>,
}

impl PackedTables {
    /// The tables of these values: `value` is given the index x and the output; as a word, a value counts `unit`.
    #[must_use]
    pub fn from_fn(
        shape: GlweShape,
        (bits, outputs): (usize, usize),
        unit: u64,
        value: impl Fn(usize, usize) -> u16,
    ) -> Self {
        let entries = (0..outputs).flat_map(|output| (0..1 << bits).map(move |x| (x, output)));
        Self { shape, bits, outputs, unit, entries: entries.map(|(x, output)| value(x, output)).collect() }
    }

    /// How many bits choose an entry.
    #[must_use]
    pub const fn bits(&self) -> usize {
        self.bits
    }

    /// How many bytes the tables take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&self.entries[..])
    }

    /// How many CMUXes a lookup of all outputs takes.
    #[must_use]
    pub fn products(&self) -> usize {
        self.groups() * ((1 << self.high_bits()) - 1 + self.low_bits())
    }

    /// The entries that the bits of each list choose, for each a sample for each output; `controls` are GGSW samples of the
    /// bits of an index, the lowest first. Polynomials are shared out to threads.
    ///
    /// # Panics
    /// If there are not as many bits as the tables have, or they are of another shape.
    #[must_use]
    pub fn lookup_each(&self, engine: &Engine, controls: &[&BlindRotation]) -> Vec<Vec<Lwe>> {
        for controls in controls {
            assert_eq!(controls.shape(), self.shape, "controls of the shape");
            assert_eq!(controls.bits(), self.bits, "a control for each bit");
        }
        let groups = self.groups();
        let mut results: Vec<Vec<Lwe>> = vec![Vec::new(); controls.len() * groups];
        let words = results.len() * self.products() / groups * self.shape.words();
        engine.run(words, results.iter_mut().enumerate(), |(task, result): (usize, &mut Vec<Lwe>)| {
            *result = self.lookup_group(controls[task / groups], task % groups);
        });
        results.chunks_exact(groups).map(|groups| groups.concat()).collect()
    }

    /// The outputs that share polynomials.
    fn lookup_group(&self, controls: &BlindRotation, group: usize) -> Vec<Lwe> {
        let (n, mut scratch) = (self.shape.degree, controls.scratch());
        let mut chosen = self.subtree(controls, (group, 0), self.high_bits(), &mut scratch);
        for bit in 0..self.low_bits() {
            controls.rotate_if(bit, &mut chosen, 2 * n - (1 << bit), &mut scratch);
        }
        let outputs = self.outputs_in(group).len();
        (0..outputs).map(|output| extract(&chosen, n, output << self.bits)).collect()
    }

    /// The polynomial that `levels` bits choose among those from `first` on.
    fn subtree(
        &self,
        controls: &BlindRotation,
        (group, first): (usize, usize),
        levels: usize,
        scratch: &mut Scratch,
    ) -> Vec<u64> {
        let Some(below) = levels.checked_sub(1) else {
            return self.polynomial(group, first);
        };
        let mut low = self.subtree(controls, (group, first), below, scratch);
        let mut high = self.subtree(controls, (group, first + (1 << below)), below, scratch);
        controls.choose(self.low_bits() + below, &mut low, &mut high, scratch);
        low
    }

    /// A polynomial as GLWE sample without noise.
    fn polynomial(&self, group: usize, number: usize) -> Vec<u64> {
        let mut sample = vec![0; self.shape.words()];
        let body = &mut sample[self.shape.extracted()..];
        let start = (self.outputs_in(group).start << self.bits) + number * self.shape.degree;
        let entries = &self.entries[start..][..(self.outputs_in(group).len() << self.bits).min(self.shape.degree)];
        body.iter_mut().zip(entries).for_each(|(word, &value)| *word = self.unit * u64::from(value));
        sample
    }

    /// Bits that choose a coefficient.
    const fn low_bits(&self) -> usize {
        let most = self.shape.degree.trailing_zeros() as usize;
        if self.bits < most { self.bits } else { most }
    }

    /// Bits that choose a polynomial.
    const fn high_bits(&self) -> usize {
        self.bits - self.low_bits()
    }

    /// How many outputs share polynomials, and so a tree.
    const fn shared(&self) -> usize {
        self.shape.degree >> self.low_bits()
    }

    fn groups(&self) -> usize {
        self.outputs.div_ceil(self.shared())
    }

    fn outputs_in(&self, group: usize) -> std::ops::Range<usize> {
        group * self.shared()..self.outputs.min((group + 1) * self.shared())
    }
}
