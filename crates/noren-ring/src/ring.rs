//! One ring, its views on fewer primes, and the verbs on its elements.

mod arithmetic;
mod keys;
mod switches;
mod words;

use std::ops::{Deref, Range};
use std::sync::Arc;

use noren_math::cyclotomic::Cyclotomic;
use noren_math::random::Seed;
use noren_math::sample;

use crate::device::{Device, Upload};
use crate::error::Error;
use crate::host::Host;
use crate::parallel::Parallel;
use crate::poly::{Domain, Eval, Poly};
use crate::window::Window;

/// The ring `Z_Q[X]/Phi_m` for a window of the primes of one list, and the verbs on its elements. A clone is cheap.
///
/// All windows of a list share transforms, threads, memory and the [`Device`] that holds elements and computes on them. Degree,
/// primes and the like are methods of [`Window`], to which a ring dereferences. A limb is named by its position in the whole list, so it keeps its name
/// through all windows. Where a verb speaks of one residue for each limb, they are in the order of the window.
///
/// Operands of another window than the ring's are bugs, and panic, unless a verb says that it takes larger windows. So are
/// elements of another device.
#[derive(Debug, Clone)]
pub struct Ring {
    window: Window,
    device: Arc<dyn Device>,
}

impl Deref for Ring {
    type Target = Window;

    fn deref(&self) -> &Window {
        &self.window
    }
}

impl Ring {
    /// The ring of index `m` modulo the product of `moduli`, on the CPU; `threads` as in
    /// [`Engine::new`](crate::engine::Engine::new).
    ///
    /// # Errors
    /// As [`Window::new`].
    pub fn new(index: Cyclotomic, moduli: &[u64], threads: Option<usize>) -> Result<Self, Error> {
        Self::with_parallel(index, moduli, threads, Parallel::default())
    }

    /// [`Ring::new`] with another way to share out loops.
    ///
    /// # Errors
    /// As [`Ring::new`].
    pub fn with_parallel(
        index: Cyclotomic,
        moduli: &[u64],
        threads: Option<usize>,
        parallel: Parallel,
    ) -> Result<Self, Error> {
        Self::on(Arc::new(Host), Window::new(index, moduli, threads, parallel)?)
    }

    /// The ring of a window, on a device.
    ///
    /// # Errors
    /// [`Error::NoTransforms`] of [`Host`] if the index is above 2^16, or the primes lack roots for its transforms.
    pub fn on(device: Arc<dyn Device>, window: Window) -> Result<Self, Error> {
        device.check_ring(&window)?;
        Ok(Self { window, device })
    }

    /// The device that holds elements and computes on them.
    #[must_use]
    pub fn device(&self) -> &Arc<dyn Device> {
        &self.device
    }

    /// The same ring modulo fewer or other primes, by their positions in the whole list.
    ///
    /// # Panics
    /// If the window is empty or reaches past the list.
    #[must_use]
    pub fn window(&self, window: Range<usize>) -> Self {
        Self { window: self.window.window(window), device: Arc::clone(&self.device) }
    }

    /// The same ring modulo all primes of the list.
    #[must_use]
    pub fn whole(&self) -> Self {
        Self { window: self.window.whole(), device: Arc::clone(&self.device) }
    }

    /// [`Window::subring`].
    ///
    /// # Panics
    /// As [`Window::subring`].
    #[must_use]
    pub fn subring(&self, degree: usize) -> Self {
        Self { window: self.window.subring(degree), device: Arc::clone(&self.device) }
    }

    /// Makes memory for the next `count` elements, which the caller is to hold together, in one piece: large pages cost less
    /// than those of each element.
    pub fn reserve(&self, count: usize) {
        self.device.reserve(&self.window, count);
    }

    /// Zero.
    #[must_use]
    pub fn zero<D: Domain>(&self) -> Poly<D> {
        Poly::from_limbs(self.device.zero(&self.window))
    }

    /// A uniform element, read from `seed`.
    ///
    /// The limb of prime q comes from the stream `"{label}/{q}"` by [`sample::uniform`], so it is the same whatever the
    /// window and the number of threads.
    #[must_use]
    pub fn uniform(&self, seed: &Seed, label: &str) -> Poly<Eval> {
        self.upload(|limb, row| {
            let q = self.basis().modulus(limb);
            sample::uniform(&mut seed.xof(&format!("{label}/{}", q.value())), q, row);
        })
    }

    /// The constant with these residues, one for each limb. Range: in `[0, q)`.
    ///
    /// # Panics
    /// If there is not one residue for each limb, or one is out of range.
    #[must_use]
    pub fn constant(&self, residues: &[u64]) -> Poly<Eval> {
        self.check_residues(residues);
        let start = self.range().start;
        self.upload(|limb, row| row.fill(residues[limb - start]))
    }

    /// `X^k`; the exponent counts modulo m.
    #[must_use]
    pub fn monomial(&self, k: usize) -> Poly<Eval> {
        self.ntt(self.from_signed(&self.index().power(k)))
    }

    /// Keeps only the limbs of this ring. No word moves, and the memory of the others is held until the result is
    /// dropped: [`Ring::restrict`] makes a copy without it.
    ///
    /// # Panics
    /// If a limb of this ring is missing.
    #[must_use]
    pub fn truncate<D: Domain>(&self, mut a: Poly<D>) -> Poly<D> {
        self.check_covers(&a);
        a.as_limbs_mut().keep(&self.range());
        a
    }

    /// A copy of the limbs of this ring.
    ///
    /// # Panics
    /// If a limb of this ring is missing.
    #[must_use]
    pub fn restrict<D: Domain>(&self, a: &Poly<D>) -> Poly<D> {
        self.check_covers(a);
        Poly::from_limbs(a.as_limbs().copy(&self.range()))
    }

    /// An element whose rows the host writes.
    fn upload<D: Domain>(&self, write: impl Fn(usize, &mut [u64]) + Send + Sync) -> Poly<D> {
        Poly::from_limbs(self.device.upload(&self.window, Upload::Rows(&write)))
    }
}
