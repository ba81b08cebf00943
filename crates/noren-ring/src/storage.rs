//! Where words lie that are made once and then only read.

use std::ops::Deref;

use noren_math::kernels::aligned::{AlignedVec, Word};
use noren_math::kernels::mapped::MappedRow;

/// Words of one piece.
#[derive(Debug, Clone)]
pub(crate) enum Storage<T: Word = u64> {
    Own(AlignedVec<T>),
    /// In a file, as they were found there: they may be anything.
    Mapped(MappedRow),
}

impl<T: Word> Deref for Storage<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Own(words) => words,
            Self::Mapped(words) => words.view(),
        }
    }
}
