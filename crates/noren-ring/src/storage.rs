//! Where words lie that are made once and then only read.

use std::ops::Deref;

use noren_math::kernels::aligned::AlignedVec;
use noren_math::kernels::mapped::MappedRow;

/// Words of one piece.
#[derive(Clone)]
pub(crate) enum Storage {
    Own(AlignedVec<u64>),
    /// In a file, as they were found there: they may be anything.
    Mapped(MappedRow),
}

impl Deref for Storage {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        match self {
            Self::Own(words) => words,
            Self::Mapped(words) => words,
        }
    }
}
