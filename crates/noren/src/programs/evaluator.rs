//! The evaluators that programs run on, and their threads.

use noren_ring::interrupt::Steps;
use noren_rlwe::error::Result;

use crate::programs::table::EncryptedTable;
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
    let items: Vec<(usize, T)> = items.into_iter().enumerate().collect();
    let steps = Steps::new(items.len());
    let work = |(index, item)| {
        let result = work(index, item);
        steps.advance(1);
        result
    };
    match ev.engine() {
        Some(engine) => engine.map(items, work).into_iter().collect(),
        None => items.into_iter().map(work).collect(),
    }
}

/// A table of the ciphertexts of an evaluator.
pub(super) type Table<E> = EncryptedTable<<E as SlotEvaluator>::Ciphertext>;
