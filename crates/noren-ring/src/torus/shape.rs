//! The shapes of samples and of keys.

use noren_math::torus::gadget::Gadget;
use noren_math::torus_products::product::{Grouping, KeyShape};

/// The shape of GLWE samples: k polynomials of the mask, and a body, of degree N.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GlweShape {
    /// k.
    pub dimension: usize,
    /// N.
    pub degree: usize,
}

/// The shape of the GGSW samples of a blind rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RotationShape {
    /// The samples that are rotated, and those that GGSW samples consist of.
    pub samples: GlweShape,
    /// The digits of what is rotated.
    pub gadget: Gadget,
    /// How many bits one step takes.
    pub grouping: Grouping,
}

impl GlweShape {
    /// How many words a sample has: `[k + 1, N]`.
    #[must_use]
    pub const fn words(&self) -> usize {
        (self.dimension + 1) * self.degree
    }

    /// The dimension kN of the LWE samples that are extracted.
    #[must_use]
    pub const fn extracted(&self) -> usize {
        self.dimension * self.degree
    }
}

impl RotationShape {
    /// That of GGSW samples of single bits.
    #[must_use]
    pub const fn single(samples: GlweShape, gadget: Gadget) -> Self {
        Self { samples, gadget, grouping: Grouping::Single }
    }

    /// How many rows the samples of one step have together.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.key().rows()
    }

    pub(crate) const fn key(&self) -> KeyShape {
        KeyShape { columns: self.samples.dimension + 1, gadget: self.gadget, grouping: self.grouping }
    }

    /// The number of steps of a key for `bits` secret bits.
    ///
    /// # Panics
    /// If bits are left over.
    #[must_use]
    pub const fn steps(&self, bits: usize) -> usize {
        assert!(bits.is_multiple_of(self.grouping.bits()), "as many bits as steps take");
        bits / self.grouping.bits()
    }
}
