//! The evaluators that programs run on, and their threads.

use noren_rlwe::error::Result;

use crate::programs::table::EncryptedTable;
use crate::schemes::side_by_side;
use crate::schemes::slots::SlotEvaluator;

/// An evaluator that can be shared between threads, on real numbers: what programs run on.
pub trait TableEvaluator:
    SlotEvaluator<Scalar = f64, Ciphertext: Send + Sync, Plaintext: Send + Sync> + Send + Sync
{
}

impl<E> TableEvaluator for E where
    E: SlotEvaluator<Scalar = f64, Ciphertext: Send + Sync, Plaintext: Send + Sync> + Send + Sync
{
}

/// Runs `work` on each item and its position, side by side on the threads of the evaluator.
pub(super) fn side_by_side<E: TableEvaluator, T: Send, R: Send>(
    ev: &E,
    items: impl IntoIterator<Item = T>,
    work: impl Fn(usize, T) -> Result<R> + Send + Sync,
) -> Result<Vec<R>> {
    side_by_side::side_by_side(ev.engine(), items, work)
}

/// A table of the ciphertexts of an evaluator.
pub(super) type Table<E> = EncryptedTable<<E as SlotEvaluator>::Ciphertext>;
