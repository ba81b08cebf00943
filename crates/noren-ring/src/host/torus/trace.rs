//! The trace of GLWE samples: a chain of automorphisms that keeps the constant coefficient alone.

use std::ops::Range;

use noren_math::torus::gadget::Gadget;
use noren_math::torus_products::matrix::Precision;

use crate::engine::Engine;
use crate::host::torus::glwe_switch::{GlweScratch, GlweSwitch};
use crate::torus::polynomial::{add_automorphism, automorphism};
use crate::torus::product::TorusProduct;
use crate::torus::shape::GlweShape;
use crate::torus::trace::{exponent, steps};

/// The keys of the automorphisms `X -> X^d`, `d = 2^(L-i) + 1` for the steps `i = 0..L`, `N = 2^L`.
///
/// Step i takes a sample c to `c + c(X^d)`. Where only coefficients at multiples of `2^i` are not 0, those at odd multiples
/// vanish, and the others double: after all L steps N times the constant coefficient is left. With the sum over all
/// automorphisms of the ring, the trace, it is the same in any order of the steps.
///
/// The factor N is what a sample is divided by before ([`divide`]): its words are rounded, and the phase modulo `2^64 / N` that
/// is left is all that the trace needs. Source: Chen, Dai, Kim, Song, eprint 2020/015; in circuit bootstrapping: Wang et al.,
/// "Circuit bootstrapping: faster and smaller", Eurocrypt 2024.
#[derive(Debug)]
pub struct Trace {
    shape: GlweShape,
    switches: Vec<GlweSwitch>,
}

/// Memory for steps of a trace.
#[derive(Debug)]
pub struct TraceScratch {
    /// Of the masks.
    moved: Vec<u64>,
    switch: GlweScratch,
}

impl Trace {
    /// The keys of the first `count` steps, whose rows `write` writes: it is given the step i, the row `r l + j - 1` and the words
    /// of the sample, which hold anything. The row is a sample of `-S_r(X^d) 2^64 / B^j`.
    ///
    /// # Panics
    /// As [`GlweSwitch::from_fn`]; if there is no step, or more than [`steps`].
    pub fn from_fn(
        engine: &Engine,
        product: &TorusProduct,
        (shape, gadget, count): (GlweShape, Gadget, usize),
        precision: Precision,
        write: impl Fn(usize, usize, &mut [u64]) + Send + Sync,
    ) -> Self {
        assert!((1..=steps(shape.degree)).contains(&count), "{count} steps of degree {}", shape.degree);
        let mut switches: Vec<Option<GlweSwitch>> = (0..count).map(|_| None).collect();
        let words = count * shape.dimension * gadget.levels() * shape.words();
        engine.run(words, switches.iter_mut().enumerate(), |(step, switch)| {
            *switch = Some(GlweSwitch::from_fn(product, (shape, gadget, precision), |row, out| write(step, row, out)));
        });
        Self { shape, switches: switches.into_iter().flatten().collect() }
    }

    /// The shape of the samples.
    #[must_use]
    pub const fn shape(&self) -> GlweShape {
        self.shape
    }

    /// How many steps there are: `L = log2 N`, or the first ones of them.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.switches.len()
    }

    /// How many bytes the keys take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.switches.iter().map(GlweSwitch::bytes).sum()
    }

    /// Memory for steps.
    #[must_use]
    pub fn scratch(&self) -> TraceScratch {
        TraceScratch { moved: vec![0; self.shape.extracted()], switch: self.switches[0].scratch() }
    }

    /// `sample += sample(X^d)` for the exponents of the steps, one after the other.
    ///
    /// # Panics
    /// If there is no such step, or a length is wrong.
    pub fn run(&self, steps: Range<usize>, sample: &mut [u64], scratch: &mut TraceScratch) {
        let mut before = vec![0; sample.len()];
        for step in steps {
            before.copy_from_slice(sample);
            self.add_automorphism(step, sample, &before, scratch);
        }
    }

    /// `acc += sample(X^d)` for the exponent of a step.
    ///
    /// # Panics
    /// If there is no such step, or a length is wrong.
    pub fn add_automorphism(&self, step: usize, acc: &mut [u64], sample: &[u64], scratch: &mut TraceScratch) {
        self.move_parts(step, acc, sample, scratch);
        self.switches[step].add(acc, &mut scratch.moved, &mut scratch.switch);
    }

    /// [`Trace::add_automorphism`] where both are given with `-X` in place of X, and the sum is left so. Automorphisms commute.
    ///
    /// # Panics
    /// As [`Trace::add_automorphism`].
    pub fn add_alternate(&self, step: usize, acc: &mut [u64], sample: &[u64], scratch: &mut TraceScratch) {
        self.move_parts(step, acc, sample, scratch);
        self.switches[step].add_alternate(acc, &scratch.moved, &mut scratch.switch);
    }

    /// Adds the body of `sample(X^d)`, and leaves its masks in the scratch.
    fn move_parts(&self, step: usize, acc: &mut [u64], sample: &[u64], scratch: &mut TraceScratch) {
        let (masks, body) = sample.split_at(self.shape.extracted());
        self.move_masks(step, masks, scratch);
        add_automorphism(&mut acc[masks.len()..], body, exponent(self.shape.degree, step));
    }

    fn move_masks(&self, step: usize, masks: &[u64], scratch: &mut TraceScratch) {
        let n = self.shape.degree;
        for (out, polynomial) in scratch.moved.chunks_exact_mut(n).zip(masks.chunks_exact(n)) {
            automorphism(out, polynomial, exponent(n, step));
        }
    }
}

/// Divides the words of a sample, as signed numbers, by a power of two above 1, to the nearest.
///
/// The phase is divided too, up to the roundings and multiples of `2^64 / divisor`: for the divisor `2^i`, the first i steps of a
/// trace take those to multiples of `2^64`.
pub fn divide(sample: &mut [u64], divisor: usize) {
    let shift = divisor.trailing_zeros();
    sample.iter_mut().for_each(|word| *word = divided(*word, shift));
}

/// A word, as a signed number, divided by `2^shift`, to the nearest. The shift is above 0.
#[inline(always)]
pub(crate) const fn divided(word: u64, shift: u32) -> u64 {
    // Shifts that bring zeros are vectors on every machine: the offset makes numbers positive.
    let twice = word.wrapping_add(1 << (u64::BITS - 1)) >> (shift - 1);
    ((twice >> 1) + (twice & 1)).wrapping_sub(1 << (u64::BITS - 1 - shift))
}
