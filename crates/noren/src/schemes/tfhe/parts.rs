//! Parts of a batch: what is held between its steps has a bound, however many elements there are.

use std::ops::Range;

/// Bytes of ciphertexts that a batch may hold beside its operands and results: 1 GiB, some hundred products of 32 bits.
pub(crate) const WORKING_SET: usize = 1 << 30;

/// Elements of a batch, in equal parts but for one element, each of at most as many as have room.
///
/// `bytes` are those that an element holds, `limit` those that all elements of a part may hold together. Where that is
/// less than `least` elements, which keep all threads at work, a part has so many.
pub(crate) fn parts(count: usize, bytes: usize, limit: usize, least: usize) -> impl Iterator<Item = Range<usize>> {
    let most = (limit / bytes.max(1)).max(least).max(1);
    let parts = count.div_ceil(most);
    (0..parts).map(move |part| part * count / parts..(part + 1) * count / parts)
}

/// Elements of which each has `bootstraps` bootstraps, in `rounds` rounds that wait for each other: enough of them to
/// keep a device at work, on average, that takes `capacity` samples at a time.
pub(crate) fn elements_that_fill(capacity: usize, bootstraps: usize, rounds: usize) -> usize {
    (capacity * rounds).div_ceil(bootstraps.max(1))
}

#[cfg(test)]
mod tests {
    use super::{elements_that_fill, parts};

    #[test]
    fn parts_cover_a_batch_once_and_keep_the_bound() {
        for count in [0, 1, 2, 7, 64, 512, 20_000] {
            for (bytes, limit, least) in [(1, 1, 1), (10, 100, 1), (10, 100, 16), (6_400_000, 1 << 30, 3), (0, 5, 1)] {
                let parts: Vec<_> = parts(count, bytes, limit, least).collect();
                assert!(parts.iter().cloned().flatten().eq(0..count), "{count} elements of {bytes} bytes");
                let most = parts.iter().map(std::iter::ExactSizeIterator::len).max().unwrap_or(0);
                assert!(most * bytes <= limit || most <= least, "{most} elements of {bytes} bytes");
                assert!(parts.iter().all(|part| part.len() + 1 >= most), "parts are equal");
            }
        }
    }

    #[test]
    fn narrow_circuits_have_larger_parts() {
        assert_eq!(elements_that_fill(32, 1, 1), 32);
        assert_eq!(elements_that_fill(32, 64, 1), 1);
        assert_eq!(elements_that_fill(64, 10, 5), 32);
    }
}
