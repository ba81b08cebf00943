//! The words of a polynomial.

use std::sync::Arc;

use noren_math::machine::aligned::AlignedVec;
use noren_math::machine::mapped::{MappedFile, MappedRow};

use crate::engine::pool::Pool;
use crate::memory::DeviceRows;
use crate::storage::Storage;

/// Rows from this degree on are padded: strides by a power of two fall on the same cache sets, which costs up to 30 %.
const PADDED_DEGREE: usize = 1 << 12;
/// Nine cache lines: neighbouring rows start in different sets, and every row stays aligned to 64 bytes.
const PADDING: usize = 576 / size_of::<u64>();
/// Words in a cache line: rows start at its multiples.
const LINE: usize = 64 / size_of::<u64>();

/// `limbs` rows of `degree` words, shape `[limbs, degree]`, in one buffer; every row is aligned to 64 bytes.
///
/// The buffer comes from a [`Pool`] and returns to it on drop, wiped if the rows are secret; or it lies in a mapped file, whose
/// rows follow each other without padding, and is copied before it is written to.
pub(crate) struct Rows {
    buffer: Storage,
    /// The first word of the first row.
    offset: usize,
    /// Words from the start of one row to the start of the next.
    stride: usize,
    limbs: usize,
    degree: usize,
    secret: bool,
    pool: Arc<Pool>,
}

/// A row with its limb.
pub(crate) type LimbRow<'a> = (usize, &'a mut [u64]);

impl Rows {
    /// Rows that hold anything: for results that are written before they are read.
    pub(crate) fn unset(pool: &Arc<Pool>, limbs: usize, degree: usize) -> Self {
        let stride = stride(degree);
        let buffer = Storage::Own(pool.take(limbs * stride));
        Self { buffer, offset: 0, stride, limbs, degree, secret: false, pool: Arc::clone(pool) }
    }

    /// Rows that lie in a file; `None` if there are not limbs times degree words.
    pub(crate) fn mapped(pool: &Arc<Pool>, words: MappedRow, limbs: usize, degree: usize) -> Option<Self> {
        (words.len() == limbs * degree).then(|| {
            let buffer = Storage::Mapped(words);
            Self { buffer, offset: 0, stride: degree, limbs, degree, secret: false, pool: Arc::clone(pool) }
        })
    }

    /// The file, if the rows lie in one.
    pub(crate) fn file(&self) -> Option<&Arc<MappedFile>> {
        self.buffer.file()
    }

    /// The memory, to be written: rows of a file become a copy.
    fn own(&mut self) -> &mut [u64] {
        if let Storage::Mapped(_) = self.buffer {
            *self = self.copy(0, self.limbs);
        }
        match &mut self.buffer {
            Storage::Own(words) => words,
            Storage::Mapped(_) => unreachable!("a copy has memory of its own"),
        }
    }

    /// Memory for `count` elements, for [`Rows::unset`] to take.
    pub(crate) fn reserve(pool: &Pool, count: usize, limbs: usize, degree: usize) {
        pool.reserve(count, limbs * stride(degree));
    }

    /// Rows of zeros.
    pub(crate) fn zero(pool: &Arc<Pool>, limbs: usize, degree: usize) -> Self {
        let mut rows = Self::unset(pool, limbs, degree);
        rows.own().fill(0);
        rows
    }

    /// Marks the rows to be wiped on drop, if `secret`; a mark stays.
    pub(crate) fn mark(&mut self, secret: bool) {
        self.secret |= secret;
    }

    /// Row `i`.
    ///
    /// # Panics
    /// If there is no such row.
    pub(crate) fn row(&self, i: usize) -> &[u64] {
        assert!(i < self.limbs, "row {i} of {} does not exist", self.limbs);
        &self.buffer[self.offset + i * self.stride..][..self.degree]
    }

    /// All rows in order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[u64]> {
        (0..self.limbs).map(|i| self.row(i))
    }

    /// All rows in order, to be written.
    pub(crate) fn rows_mut(&mut self) -> impl Iterator<Item = &mut [u64]> {
        self.own();
        let (degree, offset, stride) = (self.degree, self.offset, self.stride);
        let words = self.limbs * stride;
        self.own()[offset..][..words].chunks_exact_mut(stride).map(move |row| &mut row[..degree])
    }

    /// The first rows, to be written.
    ///
    /// # Panics
    /// If there are fewer.
    pub(crate) fn first_rows_mut<const COUNT: usize>(&mut self) -> [&mut [u64]; COUNT] {
        assert!(COUNT <= self.limbs, "{COUNT} rows of {} do not exist", self.limbs);
        let mut rows = self.rows_mut();
        std::array::from_fn(|_| rows.next().expect("the rows were counted"))
    }

    /// A copy of `limbs` rows from row `first` on, as secret as these.
    ///
    /// # Panics
    /// If there are no such rows.
    pub(crate) fn copy(&self, first: usize, limbs: usize) -> Self {
        assert!(first + limbs <= self.limbs, "rows {first}..{} of {} cannot be copied", first + limbs, self.limbs);
        let mut copy = Self::unset(&self.pool, limbs, self.degree);
        copy.secret = self.secret;
        copy.rows_mut().zip(first..).for_each(|(row, i)| row.copy_from_slice(self.row(i)));
        copy
    }
}

impl DeviceRows for Rows {
    fn limbs(&self) -> usize {
        self.limbs
    }

    fn degree(&self) -> usize {
        self.degree
    }

    fn is_secret(&self) -> bool {
        self.secret
    }

    fn set_secret(&mut self, secret: bool) {
        self.secret = secret;
    }

    /// Moves the words to pages of their own, [guarded](AlignedVec::guarded).
    fn guard(&mut self) {
        let guarded = AlignedVec::guarded(&self.buffer[self.offset..][..self.limbs * self.stride]);
        if let Storage::Own(mut before) = std::mem::replace(&mut self.buffer, Storage::Own(guarded)) {
            before.wipe();
            self.pool.give(before);
        }
        (self.offset, self.secret) = (0, true);
    }

    /// The buffer stays as long as it is, so this costs nothing.
    fn keep(&mut self, first: usize, limbs: usize) {
        assert!(first + limbs <= self.limbs, "rows {first}..{} of {} cannot be kept", first + limbs, self.limbs);
        self.offset += first * self.stride;
        self.limbs = limbs;
    }

    fn copy(&self, first: usize, limbs: usize) -> Box<dyn DeviceRows> {
        Box::new(self.copy(first, limbs))
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        let Storage::Own(mut buffer) = std::mem::replace(&mut self.buffer, Storage::Own(AlignedVec::zeroed(0))) else {
            return;
        };
        if buffer.is_guarded() {
            return; // Wiped as it is dropped.
        }
        if self.secret {
            buffer.wipe();
        }
        self.pool.give(buffer);
    }
}

/// Words from the start of one row to the start of the next.
pub(crate) const fn stride(degree: usize) -> usize {
    if degree >= PADDED_DEGREE { degree + PADDING } else { degree.next_multiple_of(LINE) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(pool: &Arc<Pool>, limbs: usize, degree: usize) -> Rows {
        let mut rows = Rows::unset(pool, limbs, degree);
        rows.rows_mut().enumerate().for_each(|(i, row)| row.fill(i as u64 + 1));
        rows
    }

    #[test]
    fn rows_are_aligned_disjoint_and_complete() {
        let pool = Arc::new(Pool::new(0));
        for degree in [8, 64, 1 << 12, 1 << 13] {
            let rows = filled(&pool, 5, degree);
            for (i, row) in rows.rows().enumerate() {
                assert_eq!(row.len(), degree);
                assert_eq!(row.as_ptr() as usize % 64, 0, "degree {degree}, row {i}");
                assert!(row.iter().all(|&word| word == i as u64 + 1), "degree {degree}, row {i}");
            }
        }
    }

    #[test]
    fn kept_and_copied_rows_are_the_named_ones() {
        let pool = Arc::new(Pool::new(1 << 20));
        let mut rows = filled(&pool, 6, 16);
        let copy = rows.copy(1, 3);
        assert_eq!(copy.rows().map(|row| row[0]).collect::<Vec<_>>(), [2, 3, 4]);
        rows.keep(2, 3);
        rows.keep(1, 2);
        assert_eq!(rows.rows().map(|row| row[15]).collect::<Vec<_>>(), [4, 5]);
        assert_eq!(rows.copy(0, 2).rows_mut().map(|row| row[0]).collect::<Vec<_>>(), [4, 5]);
    }

    #[test]
    fn guarded_rows_hold_the_same_words_and_do_not_come_back() {
        let pool = Arc::new(Pool::new(1 << 20));
        let mut rows = filled(&pool, 4, 16);
        rows.keep(1, 2);
        rows.guard();
        assert!(rows.is_secret());
        assert_eq!(rows.rows().map(|row| row[15]).collect::<Vec<_>>(), [2, 3]);
        assert!(pool.take(64).iter().all(|&word| word == 0), "what was copied is wiped");
        pool.clear();
        drop(rows);
        assert_eq!(pool.bytes(), 0);
    }

    #[test]
    fn secret_rows_come_back_wiped_and_others_as_they_were() {
        let pool = Arc::new(Pool::new(1 << 20));
        drop(filled(&pool, 4, 16));
        assert!(Rows::unset(&pool, 4, 16).row(3).iter().all(|&word| word == 4), "public rows are not wiped");
        let mut secret = filled(&pool, 4, 16);
        secret.mark(true);
        secret.keep(1, 2);
        let copy = secret.copy(0, 2);
        assert!(copy.is_secret());
        drop((secret, copy));
        assert!(pool.bytes() > 0);
        while pool.bytes() > 0 {
            assert!(pool.take(32).iter().all(|&word| word == 0), "a part that was cut off is wiped too");
        }
    }
}
