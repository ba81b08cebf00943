//! The pairs of a switching key, as a handle.

use std::fmt;
use std::sync::Arc;

use noren_math::machine::mapped::MappedFile;

use crate::handle::KeyHandle;
use crate::window::Window;

/// The pairs `(k_j0, k_j1)` of a switching key, one for each digit j, in the memory of a device.
///
/// A key for a high level serves all lower ones: limbs and digits that are not needed are passed over. A clone is cheap, and of the
/// same key.
///
/// A key is public: what hides the secret in it is its error.
#[derive(Clone)]
pub struct KeyPairs {
    ring: Window,
    digits: usize,
    handle: KeyHandle,
}

impl KeyPairs {
    /// The handle of a device of pairs over `ring` for `digits` digits.
    pub(crate) fn new(ring: &Window, digits: usize, handle: KeyHandle) -> Self {
        Self { ring: ring.clone(), digits, handle }
    }

    /// How many digits there are pairs for.
    #[must_use]
    pub fn digits(&self) -> usize {
        self.digits
    }

    /// The ring of the pairs.
    #[must_use]
    pub fn ring(&self) -> &Window {
        &self.ring
    }

    /// How many bytes the device takes for them.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.handle.bytes()
    }

    /// The file, if the pairs lie in one.
    #[must_use]
    pub fn file(&self) -> Option<&Arc<MappedFile>> {
        self.handle.file()
    }

    /// The handle, for devices.
    #[must_use]
    pub fn handle(&self) -> &KeyHandle {
        &self.handle
    }

    /// The handle to be changed, for devices.
    pub fn handle_mut(&mut self) -> &mut KeyHandle {
        &mut self.handle
    }

    /// # Panics
    /// If there are fewer pairs than `digits`, or not over all limbs of the ring.
    pub(crate) fn check_covers(&self, ring: &Window, digits: usize) {
        let (found, needed) = (self.ring.range(), ring.range());
        assert_eq!(self.ring.index(), ring.index(), "the key must be of this ring");
        assert!(self.digits >= digits, "{digits} digits need as many pairs in the key, not {}", self.digits);
        assert!(
            found.start <= needed.start && needed.end <= found.end,
            "a key over limbs {found:?} does not cover limbs {needed:?}"
        );
    }

    pub(crate) fn check_digit(&self, digit: usize) {
        assert!(digit < self.digits, "digit {digit} of {} does not exist", self.digits);
    }
}

impl fmt::Debug for KeyPairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (window, degree) = (self.ring.range(), self.ring.degree());
        f.debug_struct("KeyPairs")
            .field("window", &window)
            .field("degree", &degree)
            .field("digits", &self.digits)
            .finish_non_exhaustive()
    }
}
