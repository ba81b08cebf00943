//! Matrices that a server keeps encoded, from one run to the next.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use noren_rlwe::error::{Error, Result};

use crate::circuits::linear::{LinearMap, MOST_KEPT, PreparedMap};
use crate::lowering::layout::Layout;
use crate::schemes::slots::{Scalar, SlotEvaluator};

/// The encoded matrices of a graph, each for the level that it was last used at: in all runs of a plan the same, up to [`MOST_KEPT`]
/// bytes. Where memory does not suffice for these, none is kept.
pub(crate) struct Kept<F>(Mutex<HashMap<Place, Encoded<F>>>);

/// The encoded matrices of an evaluator.
pub(crate) type KeptBy<E> = Kept<<E as SlotEvaluator>::Factor>;

/// The matrices of a graph in clear, for several runs that each encode them anew: the trials of a search.
#[derive(Debug)]
pub(crate) struct Maps<T>(Mutex<BySlots<T>>);

/// The matrix of each place, for each number of slots.
type BySlots<T> = HashMap<(usize, Place), Arc<LinearMap<T>>>;

impl<T> Default for Maps<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Maps<T> {
    /// The matrix of a place in ciphertexts of this many slots; made if it is not known.
    pub(super) fn known(
        &self,
        slots: usize,
        place: &Place,
        map: impl FnOnce() -> Result<LinearMap<T>>,
    ) -> Result<Arc<LinearMap<T>>> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (slots, place.clone());
        if let Some(known) = lock().get(&key) {
            return Ok(Arc::clone(known));
        }
        let map = Arc::new(map()?);
        lock().insert(key, Arc::clone(&map));
        Ok(map)
    }
}

/// A matrix of a graph: all that it follows from, besides the graph and the slots.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Place {
    /// The node whose result it gives, or brings an operand of into place.
    pub(super) node: usize,
    /// The layout of the operand.
    pub(super) from: Layout,
    pub(super) role: Role,
}

/// The use of a matrix by a node.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Role {
    /// Elements of one ciphertext of the operand come to lie in one of a result with this layout.
    Moves { target: Layout, result: usize, part: usize },
    /// One block of results from one block of elements of a product with the matrix of the node.
    Multiplies { results: usize, elements: usize },
}

/// A matrix that is encoded for a level.
struct Encoded<F> {
    level: usize,
    prepared: Arc<PreparedMap<F>>,
}

impl<F> Default for Kept<F> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<F> Kept<F> {
    /// The matrix of a place, encoded for `x`; made if it is not kept. Who uses it several times holds it meanwhile.
    ///
    /// # Errors
    /// As [`LinearMap::prepare`], and what `map` refuses.
    pub(super) fn prepared<T: Scalar, E>(
        &self,
        place: &Place,
        ev: &E,
        x: &E::Ciphertext,
        map: impl FnOnce() -> Result<Arc<LinearMap<T>>>,
    ) -> Result<Arc<PreparedMap<F>>>
    where
        E: SlotEvaluator<Scalar = T, Factor = F>,
    {
        let level = ev.level(x);
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().get(place).filter(|known| known.level == level).map(|known| Arc::clone(&known.prepared));
        if let Some(prepared) = known {
            return Ok(prepared);
        }
        let map = map()?;
        let prepared = match map.prepare(ev, x) {
            // One after the other there may be room for them.
            Err(Error::Memory(_)) => {
                lock().clear();
                map.prepare(ev, x)?
            }
            prepared => prepared?,
        };
        let prepared = Arc::new(prepared);
        let mut kept = lock();
        // Other levels are those of clients who send what no run needs.
        kept.remove(place);
        let bytes = kept.values().map(|known| known.prepared.bytes()).sum::<usize>() + prepared.bytes();
        if bytes as u64 <= MOST_KEPT {
            kept.insert(place.clone(), Encoded { level, prepared: Arc::clone(&prepared) });
        }
        drop(kept);
        Ok(prepared)
    }

    /// How many matrices there are.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}
