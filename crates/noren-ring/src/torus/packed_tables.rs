//! Tables that bits choose from.

use crate::torus::shape::GlweShape;

/// Tables of `2^bits` entries for each of some outputs, packed into polynomials without encryption.
///
/// Entry x of a table is a coefficient: the low bits of x say which one, the others which polynomial. Tables of fewer
/// entries than a polynomial has coefficients lie one behind another in it, as many as fit.
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

    /// The shape of samples.
    #[must_use]
    pub const fn shape(&self) -> GlweShape {
        self.shape
    }

    /// How many outputs there are.
    #[must_use]
    pub const fn outputs(&self) -> usize {
        self.outputs
    }

    /// Entry x of an output, as a word.
    ///
    /// # Panics
    /// If there is no such entry.
    #[must_use]
    pub fn word(&self, output: usize, x: usize) -> u64 {
        assert!(output < self.outputs && x < 1 << self.bits, "entry {x} of output {output}");
        self.unit * u64::from(self.entries[(output << self.bits) + x])
    }

    /// A polynomial as GLWE sample without noise.
    pub(crate) fn polynomial(&self, group: usize, number: usize) -> Vec<u64> {
        let mut sample = vec![0; self.shape.words()];
        let body = &mut sample[self.shape.extracted()..];
        let start = (self.outputs_in(group).start << self.bits) + number * self.shape.degree;
        let entries = &self.entries[start..][..(self.outputs_in(group).len() << self.bits).min(self.shape.degree)];
        body.iter_mut().zip(entries).for_each(|(word, &value)| *word = self.unit * u64::from(value));
        sample
    }

    /// Bits that choose a coefficient.
    pub(crate) const fn low_bits(&self) -> usize {
        let most = self.shape.degree.trailing_zeros() as usize;
        if self.bits < most { self.bits } else { most }
    }

    /// Bits that choose a polynomial.
    pub(crate) const fn high_bits(&self) -> usize {
        self.bits - self.low_bits()
    }

    /// How many outputs share polynomials, and so a tree.
    const fn shared(&self) -> usize {
        self.shape.degree >> self.low_bits()
    }

    pub(crate) fn groups(&self) -> usize {
        self.outputs.div_ceil(self.shared())
    }

    pub(crate) fn outputs_in(&self, group: usize) -> std::ops::Range<usize> {
        group * self.shared()..self.outputs.min((group + 1) * self.shared())
    }
}
