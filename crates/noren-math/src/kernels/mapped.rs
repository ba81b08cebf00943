//! Words of a file where the system has them anyway: every process that maps the file reads the same pages.

use std::fmt;
use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::sync::Arc;

use content::Content;

use crate::kernels::aligned::Word;

/// The little-endian words of a file, read where they lie. Pages come from the disk when they are first touched, stay as
/// long as the system has memory for them, and are not copied for each process.
///
/// # What if the file changes
/// Whoever writes files so that a mapping sees it breaks the promise that shared words stay as they are. noren's own files
/// are replaced under their names and never written to in place, so a mapping keeps the old ones. Against everybody else it
/// relies on this: words of a mapping are data only. They are multiplied, added and reduced; no address, length, branch
/// or index is ever made of one, and the kernels take any word. So a change leads to wrong numbers, as any other change of
/// a key does, and a file that is cut short ends the process with `SIGBUS` when a page is touched that is gone.
pub struct MappedFile(Content);

impl MappedFile {
    /// Maps a whole file. Where the system has no mappings, or orders bytes in another way, it is read into memory.
    ///
    /// # Errors
    /// What the system says; that the file is empty, or no multiple of 8 bytes.
    pub fn open(file: &File) -> io::Result<Self> {
        let found = file.metadata()?.len();
        let refused = |needed: &str| {
            let message = format!("{found} bytes where {needed} are needed: it is no file of words");
            io::Error::new(io::ErrorKind::InvalidData, message)
        };
        let bytes = usize::try_from(found).map_err(|_| refused("bytes that fit the address space"))?;
        if bytes == 0 || !bytes.is_multiple_of(size_of::<u64>()) {
            return Err(refused("a multiple of 8 bytes, and some"));
        }
        Ok(Self(Content::open(file, bytes)?))
    }
}

impl Deref for MappedFile {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.0
    }
}

impl fmt::Debug for MappedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MappedFile").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// Consecutive words of a mapped file, which stays mapped for as long. Cheap to clone.
#[derive(Debug, Clone)]
pub struct MappedRow {
    file: Arc<MappedFile>,
    range: Range<usize>,
}

impl MappedRow {
    /// The words of this range; `None` if the file ends before.
    #[must_use]
    pub fn new(file: &Arc<MappedFile>, range: Range<usize>) -> Option<Self> {
        file.get(range.clone())?;
        Some(Self { file: file.clone(), range })
    }

    /// The same bytes as words of another type, in their order in the file: of numbers of 64 bits as many, of 32 bits twice as
    /// many.
    #[must_use]
    pub fn view<T: Word>(&self) -> &[T] {
        const { assert!(size_of::<u64>().is_multiple_of(size_of::<T>()) && align_of::<T>() <= align_of::<u64>()) };
        // SAFETY: any bits are a word of the sealed types, and whole words of theirs fill each word of the row.
        let (before, words, after) = unsafe { self.align_to::<T>() };
        assert!(before.is_empty() && after.is_empty(), "words of 64 bits start and end where shorter ones do");
        words
    }
}

impl Deref for MappedRow {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.file[self.range.clone()]
    }
}

#[cfg(all(unix, target_endian = "little", target_pointer_width = "64"))]
mod content {
    use std::fs::File;
    use std::io;
    use std::ops::Deref;
    use std::ptr::{self, NonNull};

    use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

    /// A mapping.
    pub(super) struct Content {
        start: NonNull<u64>,
        len: usize,
    }

    // SAFETY: a mapping belongs to nobody else in this process, and is only read.
    unsafe impl Send for Content {}
    // SAFETY: as for `Send`.
    unsafe impl Sync for Content {}

    impl Content {
        /// Maps so many bytes of a file, a multiple of 8 and not 0.
        pub(super) fn open(file: &File, bytes: usize) -> io::Result<Self> {
            // SAFETY: the system chooses a place where nothing is, so no memory of this process changes.
            let start = unsafe { mmap(ptr::null_mut(), bytes, ProtFlags::READ, MapFlags::PRIVATE, file, 0)? };
            let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
            Ok(Self { start, len: bytes / size_of::<u64>() })
        }
    }

    impl Deref for Content {
        type Target = [u64];

        fn deref(&self) -> &[u64] {
            // SAFETY: the mapping has so many words, starts on a page, is readable until it is dropped, and any bytes are
            // words. That they stay as they are is what `MappedFile` says of changes from outside.
            unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
        }
    }

    impl Drop for Content {
        fn drop(&mut self) {
            // SAFETY: `open` mapped exactly this range, and no reference outlives the owner. An error leaves it mapped.
            let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len * size_of::<u64>()) };
        }
    }
}

#[cfg(not(all(unix, target_endian = "little", target_pointer_width = "64")))]
mod content {
    use std::fs::File;
    use std::io::{self, Read};
    use std::ops::Deref;

    use crate::kernels::aligned::AlignedVec;

    /// A copy of a file.
    pub(super) struct Content(AlignedVec<u64>);

    impl Content {
        pub(super) fn open(mut file: &File, bytes: usize) -> io::Result<Self> {
            let mut words = AlignedVec::zeroed(bytes / size_of::<u64>());
            for word in words.iter_mut() {
                let mut bytes = [0; size_of::<u64>()];
                file.read_exact(&mut bytes)?;
                *word = u64::from_le_bytes(bytes);
            }
            Ok(Self(words))
        }
    }

    impl Deref for Content {
        type Target = [u64];

        fn deref(&self) -> &[u64] {
            &self.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A file with these bytes, open for reading; its name is gone at once.
    fn file(name: &str, bytes: &[u8]) -> io::Result<File> {
        let path = std::env::temp_dir().join(format!("noren-mapped-{}-{name}", std::process::id()));
        fs::write(&path, bytes)?;
        let file = File::open(&path);
        fs::remove_file(&path)?;
        file
    }

    #[test]
    fn words_are_those_of_the_file_and_outlive_its_name() -> io::Result<()> {
        let words: Vec<u64> = (0..5000).map(|i| i * 0x0123_4567_89ab).collect();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mapped = Arc::new(MappedFile::open(&file("words", &bytes)?)?);
        assert_eq!(**mapped, words);
        let row = MappedRow::new(&mapped, 700..4999).expect("within the file");
        assert!(MappedRow::new(&mapped, 4999..5001).is_none());
        let halves: Vec<u32> = words[700..4999].iter().flat_map(|&x| [x as u32, (x >> 32) as u32]).collect();
        assert_eq!(row.view::<u32>(), halves);
        assert!(row.view::<f64>().iter().map(|x| x.to_bits()).eq(words[700..4999].iter().copied()));
        drop(mapped);
        let copy = row.clone();
        drop(row);
        assert_eq!(*copy, words[700..4999]);
        Ok(())
    }

    #[test]
    fn what_is_no_file_of_words_is_refused() -> io::Result<()> {
        for (name, bytes) in [("empty", &[][..]), ("odd", &[0; 12])] {
            let error = MappedFile::open(&file(name, bytes)?).expect_err("refused");
            assert!(error.to_string().contains("multiple of 8 bytes"), "{error}");
        }
        Ok(())
    }
}
