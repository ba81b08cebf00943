//! Keys of a bootstrap as they lie in expanded files: the form in which the host computes with them.

use noren_math::torus::gadget::Gadget;
use noren_math::torus_products::product::KEY_LAYOUT;

use crate::torus::shape::RotationShape;

/// Rows of the key switch start at multiples of this many words of 32 bits: a cache line.
pub(crate) const LINE_WORDS: usize = 16;

/// How many numbers and words the keys of a bootstrap have, and in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BootstrapLayout {
    /// The shape of the blind rotation.
    pub rotation: RotationShape,
    /// How many bits the short secret has.
    pub bits: usize,
    /// How the key switch cuts words into digits.
    pub switch: Gadget,
}

/// The numbers and words of the keys of a bootstrap.
#[derive(Debug, Clone, Copy)]
pub struct BootstrapWords<'a> {
    /// The spectra of all GGSW samples, `[steps, ...]`, each step in the order of
    /// [`TorusFft::write_key`](noren_math::roots::torus::TorusFft::write_key).
    pub rotation: &'a [f64],
    /// Rows (i, j) of the key switch one after the other, each filled up to whole cache lines.
    pub switch: &'a [u32],
}

impl BootstrapLayout {
    /// The order of numbers and words, which belongs to a version: points of a block, groups that lie together, points of a group;
    /// and to what multiple of words rows of the key switch are filled up.
    pub const ORDER: [u64; 4] = [KEY_LAYOUT[0], KEY_LAYOUT[1], KEY_LAYOUT[2], LINE_WORDS as u64];

    /// How many numbers the blind rotation has; `None` if they are more than the address space holds.
    #[must_use]
    pub fn rotation_numbers(&self) -> Option<usize> {
        let shape = &self.rotation;
        shape.rows().checked_mul(shape.samples.words())?.checked_mul(shape.steps(self.bits))
    }

    /// How many words of 32 bits the key switch has; `None` if they are more than the address space holds.
    #[must_use]
    pub fn switch_words(&self) -> Option<usize> {
        self.rotation.samples.extracted().checked_mul(self.switch.levels())?.checked_mul(stride(self.bits))
    }
}

/// How many words of 32 bits a row of a sample of dimension n takes.
pub(crate) const fn stride(n: usize) -> usize {
    (n + 1).next_multiple_of(LINE_WORDS)
}
