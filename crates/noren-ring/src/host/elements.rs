//! Elements in the memory of the host: made and changed by loops of its engine.

use std::ops::Range;
use std::sync::Arc;

use noren_math::machine::mapped::MappedFile;

use crate::engine::rows::{LimbRow, Rows};
use crate::memory::Limbs;
use crate::poly::{Domain, Poly};
use crate::window::Window;

impl Window {
    /// A new element, of which `write` writes each limb.
    pub(crate) fn build<D: Domain>(&self, secret: bool, write: impl Fn(usize, &mut [u64]) + Send + Sync) -> Poly<D> {
        let mut poly = self.unset(secret);
        self.update(poly.as_limbs_mut(), write);
        poly
    }

    /// A new element, of which `write` writes ranges of limbs: words that do not depend on each other.
    pub(crate) fn build_pointwise<D: Domain>(
        &self,
        secret: bool,
        write: impl Fn(usize, Range<usize>, &mut [u64]) + Send + Sync,
    ) -> Poly<D> {
        let mut poly = self.unset(secret);
        self.update_pointwise(poly.as_limbs_mut(), write);
        poly
    }

    /// An element that holds anything: for results that are written before they are read.
    pub(crate) fn unset<D: Domain>(&self, secret: bool) -> Poly<D> {
        let mut rows = self.engine().unset_rows(self.limbs(), self.degree());
        rows.mark(secret);
        Poly::from_limbs(Limbs::new(rows, self.range().start))
    }

    /// Changes each limb of this ring's window.
    pub(crate) fn update(&self, a: &mut Limbs, change: impl Fn(usize, &mut [u64]) + Send + Sync) {
        let range = self.range();
        let rows = a.limbs_mut().filter(|(limb, _)| range.contains(limb));
        self.engine().rows(self.limbs() * self.degree(), rows, |(limb, row)| change(limb, row));
    }

    /// Changes ranges of the limbs of this ring's window: words that do not depend on each other.
    pub(crate) fn update_pointwise(
        &self,
        a: &mut Limbs,
        change: impl Fn(usize, Range<usize>, &mut [u64]) + Send + Sync,
    ) {
        let range = self.range();
        let rows = a.limbs_mut().filter(|(limb, _)| range.contains(limb));
        self.engine().pointwise(self.degree(), rows, change);
    }
}

impl Limbs {
    /// The row of the prime at position `limb` of the whole ring.
    ///
    /// # Panics
    /// If there is no such row, or another device holds the rows.
    #[inline]
    pub(crate) fn limb(&self, limb: usize) -> &[u64] {
        self.host_rows().row(limb - self.window().start)
    }

    /// The rows with the positions of their primes in the whole ring, to be written.
    ///
    /// # Panics
    /// If another device holds the rows.
    pub(crate) fn limbs_mut(&mut self) -> impl Iterator<Item = LimbRow<'_>> {
        let start = self.window().start;
        let Some(rows) = self.rows_mut::<Rows>() else { panic!("{FOREIGN}") };
        rows.rows_mut().enumerate().map(move |(i, row)| (start + i, row))
    }

    /// # Panics
    /// If another device holds the rows.
    #[inline]
    fn host_rows(&self) -> &Rows {
        self.rows().unwrap_or_else(|| panic!("{FOREIGN}"))
    }
}

/// A mixture of devices is a bug.
const FOREIGN: &str = "an element of another device has no rows in the memory of the host";

impl<D: Domain> Poly<D> {
    /// Whether the rows lie in the memory of the host.
    pub(crate) fn is_on_host(&self) -> bool {
        self.as_limbs().rows::<Rows>().is_some()
    }

    /// The mapped file, if the rows lie in one.
    #[must_use]
    pub fn file(&self) -> Option<&Arc<MappedFile>> {
        self.as_limbs().rows::<Rows>().and_then(Rows::file)
    }

    /// [`Limbs::limb`].
    #[inline]
    pub(crate) fn limb(&self, limb: usize) -> &[u64] {
        self.as_limbs().limb(limb)
    }

    /// [`Limbs::limbs_mut`].
    pub(crate) fn limbs_mut(&mut self) -> impl Iterator<Item = LimbRow<'_>> {
        self.as_limbs_mut().limbs_mut()
    }
}
