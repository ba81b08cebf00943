//! Work on several items at once, with progress.

use noren_ring::engine::Engine;
use noren_ring::interrupt::Steps;
use noren_rlwe::error::Result;

/// Runs `work` on each item and its position, side by side on the threads of the engine; without one, one after the other.
///
/// # Errors
/// The first one of `work`.
pub(crate) fn side_by_side<T: Send, R: Send>(
    engine: Option<&Engine>,
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
    match engine {
        Some(engine) => engine.map(items, work).into_iter().collect(),
        None => items.into_iter().map(work).collect(),
    }
}
