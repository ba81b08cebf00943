//! Elements whose sums of products have a great many factors: [`SmallPolynomials`](crate::small::SmallPolynomials), which are
//! transformed when they are needed, and not kept.

use crate::memory::Limbs;
use crate::window::Window;

/// Elements `(y_0, y_1)` of a ring, side by side, as [`Ring::streamed_sums`](crate::ring::Ring::streamed_sums) reads them.
///
/// How the words of an image lie is for the device to say: it has a row of `2 count degree` words for each limb.
pub struct Images {
    ring: Window,
    count: usize,
    sets: usize,
    words: Limbs,
}

impl Images {
    /// Images in such rows of a device: one of `sets` sets of images that are multiplied with the same factors.
    pub(crate) fn new(ring: &Window, count: usize, sets: usize, words: Limbs) -> Self {
        Self { ring: ring.clone(), count, sets, words }
    }

    /// The ring of the elements.
    #[must_use]
    pub fn ring(&self) -> &Window {
        &self.ring
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// How many sets of images are multiplied with the same factors.
    #[must_use]
    pub fn sets(&self) -> usize {
        self.sets
    }

    /// How many bytes `count` images take.
    #[must_use]
    pub fn bytes(ring: &Window, count: usize) -> u64 {
        (2 * count * ring.limbs() * ring.degree() * size_of::<u64>()) as u64
    }

    /// The rows, for devices.
    #[must_use]
    pub fn words(&self) -> &Limbs {
        &self.words
    }

    /// The rows to be changed, for devices.
    pub fn words_mut(&mut self) -> &mut Limbs {
        &mut self.words
    }
}
