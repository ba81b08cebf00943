//! Matrices that a server keeps encoded, from one run to the next.

use std::sync::{Arc, Mutex, PoisonError};

use noren_rlwe::error::{Error, Result};

use crate::circuits::linear::{LinearMap, PreparedMap};
use crate::schemes::slots::{Scalar, SlotEvaluator};

/// The encoded matrices of a graph, each for the level that it was last used at: in all runs of a plan the same. Where memory does
/// not suffice for all, none is kept.
pub(crate) struct Kept<T, F>(Mutex<Vec<Matrix<T, F>>>);

/// The encoded matrices of an evaluator.
pub(crate) type KeptBy<E> = Kept<<E as SlotEvaluator>::Scalar, <E as SlotEvaluator>::Factor>;

struct Matrix<T, F> {
    node: usize,
    level: usize,
    map: LinearMap<T>,
    prepared: Arc<PreparedMap<F>>,
}

impl<T, F> Default for Kept<T, F> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Scalar, F> Kept<T, F> {
    /// The matrix of a node, encoded for `x`.
    ///
    /// # Errors
    /// As [`LinearMap::prepare`].
    pub(super) fn prepared<E>(
        &self,
        node: usize,
        ev: &E,
        map: &LinearMap<T>,
        x: &E::Ciphertext,
    ) -> Result<Arc<PreparedMap<F>>>
    where
        E: SlotEvaluator<Scalar = T, Factor = F>,
    {
        let level = ev.level(x);
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |matrix: &Matrix<T, F>| matrix.node == node && matrix.map == *map;
        let known =
            lock().iter().find(|matrix| matrix.level == level && is_it(matrix)).map(|m| Arc::clone(&m.prepared));
        if let Some(prepared) = known {
            return Ok(prepared);
        }
        let prepared = match map.prepare(ev, x) {
            // One after the other there may be room for them.
            Err(Error::Memory(_)) => {
                lock().clear();
                map.prepare(ev, x)?
            }
            prepared => prepared?,
        };
        let (prepared, mut all) = (Arc::new(prepared), lock());
        // Other levels are those of clients who send what no run needs.
        all.retain(|matrix| !is_it(matrix));
        all.push(Matrix { node, level, map: map.clone(), prepared: Arc::clone(&prepared) });
        Ok(prepared)
    }

    /// How many matrices there are.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}
