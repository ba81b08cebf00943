//! Where words lie that are made once and then only read.

use std::ops::Deref;
use std::sync::Arc;

use noren_math::machine::aligned::{AlignedVec, Word};
use noren_math::machine::mapped::{MappedFile, MappedRow};

/// Words of one piece.
#[derive(Debug, Clone)]
pub(crate) enum Storage<T: Word = u64> {
    Own(AlignedVec<T>),
    /// In a file, as they were found there: they may be anything.
    Mapped(MappedRow),
}

impl<T: Word> Storage<T> {
    /// The file, if the words lie in one.
    pub(crate) fn file(&self) -> Option<&Arc<MappedFile>> {
        match self {
            Self::Own(_) => None,
            Self::Mapped(row) => Some(row.file()),
        }
    }
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
