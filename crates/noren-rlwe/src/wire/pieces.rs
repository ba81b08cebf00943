//! Long runs of bytes, piece by piece: between two pieces, work asks whether it is to end.

use std::io::{self, Read};

use noren_ring::interrupt::{self, Steps};

/// Bytes of a piece: some milliseconds of work.
const PIECE: usize = 4 << 20;

/// The pieces of some bytes.
pub(super) fn pieces(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.chunks(PIECE).inspect(|_| interrupt::check())
}

/// Adds bytes to a digest.
pub(super) fn absorb(hasher: &mut blake3::Hasher, bytes: &[u8]) {
    pieces(bytes).for_each(|piece| {
        hasher.update(piece);
    });
}

/// The progress of reading or writing this number of bytes, for the listener of an interrupt.
pub(super) fn steps(bytes: u64) -> Steps {
    Steps::new(usize::try_from(bytes).unwrap_or(usize::MAX))
}

/// Reads up to `most` bytes behind those that are there, and no more than the source has; returns how many. `steps` hears of
/// each.
pub(super) fn read(source: &mut impl Read, bytes: &mut Vec<u8>, most: u64, steps: &Steps) -> io::Result<u64> {
    let mut left = most;
    while left > 0 {
        interrupt::check();
        let wanted = left.min(PIECE as u64);
        let found = source.by_ref().take(wanted).read_to_end(bytes)? as u64;
        steps.advance(found as usize);
        left -= found;
        if found < wanted {
            break;
        }
    }
    Ok(most - left)
}
