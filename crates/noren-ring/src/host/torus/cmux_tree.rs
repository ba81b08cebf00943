//! Lookups by encrypted bits: a tree of CMUXes over packed tables, and a rotation within the polynomial that is left.

use crate::engine::Engine;
use crate::host::torus::blind_rotation::{BlindRotation, Scratch};
use crate::host::torus::bootstrap::extract;
use crate::torus::lwe::Lwe;
use crate::torus::packed_tables::PackedTables;

/// The entries that the bits of each list choose, for each a sample for each output; `controls` are GGSW samples of the
/// bits of an index, the lowest first. Polynomials are shared out to threads.
///
/// # Panics
/// If controls are fewer than bits, or of another shape.
#[must_use]
pub fn lookup_each(engine: &Engine, tables: &PackedTables, controls: &[BlindRotation]) -> Vec<Vec<Lwe>> {
    let groups = tables.groups();
    let mut results: Vec<Vec<Lwe>> = vec![Vec::new(); controls.len() * groups];
    let words = results.len() * tables.products() / groups * tables.shape().words();
    engine.run(words, results.iter_mut().enumerate(), |(task, result): (usize, &mut Vec<Lwe>)| {
        *result = tables.lookup_group(&controls[task / groups], task % groups);
    });
    results.chunks_exact(groups).map(|groups| groups.concat()).collect()
}

impl PackedTables {
    /// The outputs that share polynomials.
    fn lookup_group(&self, controls: &BlindRotation, group: usize) -> Vec<Lwe> {
        let (n, mut scratch) = (self.shape().degree, controls.scratch());
        let mut chosen = self.subtree(controls, (group, 0), self.high_bits(), &mut scratch);
        for bit in 0..self.low_bits() {
            controls.rotate_if(bit, &mut chosen, 2 * n - (1 << bit), &mut scratch);
        }
        let outputs = self.outputs_in(group).len();
        (0..outputs).map(|output| extract(&chosen, n, output << self.bits())).collect()
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
}
