//! The labels of masks and errors, and the streams of masks.

use noren_math::random::{Seed, Xof};

/// The labels of the masks and the error of a row of the GGSW samples of a step.
pub(crate) fn rotation_label(step: usize, row: usize) -> String {
    format!("rotation/{step}/{row}")
}

/// The stream of the masks of rows (i, 1), (i, 2), ... of the key switch, from the public seed.
pub(crate) fn switch_masks(seed: &Seed, i: usize) -> Xof {
    seed.xof(&format!("switch/{i}"))
}
