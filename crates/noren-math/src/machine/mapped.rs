//! Words of a file where the system has them anyway: every process that maps the file reads the same pages.

use std::fmt;
use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::sync::Arc;
use std::time::SystemTime;

use content::Content;

use crate::machine::aligned::Word;

/// The little-endian words of a file, read where they lie. Pages come from the disk when they are first touched, stay as
/// long as the system has memory for them, and are not copied for each process.
///
/// # Files that change
/// noren's own files are replaced under their names and never written to in place, so a mapping keeps the old ones. A file
/// that somebody else writes to or cuts short while it is mapped breaks the promise that shared words stay as they are.
/// Words of a mapping are therefore data only: they are multiplied, added and reduced; no address, length, branch or index is
/// made of one, and the kernels take any word. Pages that the file has lost read as zeros, by a handler of `SIGBUS` that
/// the first mapping installs. [`MappedFile::is_unchanged`] tells both after a computation, whose results are then refused.
pub struct MappedFile {
    content: Content,
    /// Open for as long as the mapping, so that it can be asked whether it has changed.
    file: File,
    stamp: Stamp,
}

/// The length and the time of modification of a file.
#[derive(PartialEq, Eq)]
struct Stamp(u64, Option<SystemTime>);

impl Stamp {
    fn of(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        // Not all systems have the time.
        Ok(Self(metadata.len(), metadata.modified().ok()))
    }
}

impl MappedFile {
    /// Maps a whole file. Where it cannot be mapped, or the machine orders bytes in another way, it is read into memory (systems
    /// other than Linux, Android and those of Apple).
    ///
    /// # Errors
    /// The error of the system; that the file is empty, or no multiple of 8 bytes.
    pub fn open(file: File) -> io::Result<Self> {
        let stamp = Stamp::of(&file)?;
        let found = stamp.0;
        let refused = |needed: &str| {
            let message = format!("{found} bytes where {needed} are needed: it is no file of words");
            io::Error::new(io::ErrorKind::InvalidData, message)
        };
        let bytes = usize::try_from(found).map_err(|_| refused("bytes that fit the address space"))?;
        if bytes == 0 || !bytes.is_multiple_of(size_of::<u64>()) {
            return Err(refused("a multiple of 8 bytes, and some"));
        }
        Ok(Self { content: Content::open(&file, bytes)?, file, stamp })
    }

    /// Whether no page was missing when it was touched, and the file has the length and the time of modification that it had
    /// when it was mapped.
    ///
    /// It finds what changes files by accident. Whoever may write to the file can set its time back, and a change within the
    /// resolution of times (some milliseconds) after the last one before is not seen.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        !self.content.has_lost_pages() && Stamp::of(&self.file).is_ok_and(|stamp| stamp == self.stamp)
    }
}

impl Deref for MappedFile {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.content
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

    /// The file.
    #[must_use]
    pub fn file(&self) -> &Arc<MappedFile> {
        &self.file
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

#[cfg(all(
    any(target_os = "linux", target_os = "android", target_vendor = "apple"),
    target_endian = "little",
    target_pointer_width = "64"
))]
mod content {
    use std::fs::File;
    use std::io;
    use std::ops::Deref;
    use std::ptr::{self, NonNull};

    use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

    use crate::machine::bus_error::Region;

    /// A mapping.
    pub(super) struct Content {
        start: NonNull<u64>,
        len: usize,
        region: &'static Region,
    }

    // SAFETY: a mapping belongs to nobody else in this process, and is only read.
    unsafe impl Send for Content {}
    // SAFETY: as for `Send`.
    unsafe impl Sync for Content {}

    impl Content {
        /// Maps `bytes` bytes of a file, a multiple of 8 and not 0.
        pub(super) fn open(file: &File, bytes: usize) -> io::Result<Self> {
            // SAFETY: the system chooses a place where nothing is, so no memory of this process changes.
            let start = unsafe { mmap(ptr::null_mut(), bytes, ProtFlags::READ, MapFlags::PRIVATE, file, 0)? };
            let start: NonNull<u64> = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
            let region = Region::guard(start.as_ptr().expose_provenance(), bytes);
            Ok(Self { start, len: bytes / size_of::<u64>(), region })
        }

        /// As a mapping of somebody else.
        #[cfg(test)]
        pub(super) fn leave_unguarded(&self) {
            self.region.release();
        }

        pub(super) fn has_lost_pages(&self) -> bool {
            self.region.has_lost_pages()
        }
    }

    impl Deref for Content {
        type Target = [u64];

        fn deref(&self) -> &[u64] {
            // SAFETY: the mapping has `len` words, starts on a page, is readable until it is dropped, and any bytes are
            // words. That they stay as they are is what `MappedFile` says of changes from outside.
            unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
        }
    }

    impl Drop for Content {
        fn drop(&mut self) {
            self.region.release();
            // SAFETY: `open` mapped exactly this range, and no reference outlives the owner. An error leaves it mapped.
            let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len * size_of::<u64>()) };
        }
    }
}

#[cfg(not(all(
    any(target_os = "linux", target_os = "android", target_vendor = "apple"),
    target_endian = "little",
    target_pointer_width = "64"
)))]
mod content {
    use std::fs::File;
    use std::io::{self, Read};
    use std::ops::Deref;

    use crate::machine::aligned::AlignedVec;

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

        /// There are none: this is a copy.
        pub(super) fn has_lost_pages(&self) -> bool {
            false
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
        let mapped = Arc::new(MappedFile::open(file("words", &bytes)?)?);
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
    #[cfg(all(any(target_os = "linux", target_vendor = "apple"), target_pointer_width = "64"))]
    fn pages_that_a_file_has_lost_are_zeros_and_are_recorded() -> io::Result<()> {
        let path = std::env::temp_dir().join(format!("noren-mapped-{}-lost", std::process::id()));
        let content = || vec![0xff; 1 << 20];
        // The second time in the same region.
        for _ in 0..2 {
            fs::write(&path, content())?;
            let (lost, whole) = (MappedFile::open(File::open(&path)?)?, MappedFile::open(file("whole", &content())?)?);
            assert!(lost.is_unchanged() && lost[1 << 16] == u64::MAX);
            File::options().write(true).open(&path)?.set_len(1 << 19)?;
            assert!(!lost.is_unchanged(), "the length has changed");
            // In threads, which all touch pages that are gone.
            let sums = std::thread::scope(|scope| {
                let sum = |start: usize| lost[start..].iter().step_by(64).fold(0, |sum: u64, &x| sum.wrapping_add(x));
                let threads: Vec<_> = (0..4).map(|i| scope.spawn(move || sum((1 << 16) + (i << 13)))).collect();
                threads.into_iter().map(|thread| thread.join().expect("no panic")).collect::<Vec<_>>()
            });
            assert_eq!(sums, [0; 4]);
            assert_eq!(lost[(1 << 16) - 1], u64::MAX, "what the file has");
            assert!(!lost.is_unchanged() && whole.is_unchanged());
            assert!(whole.iter().all(|&word| word == u64::MAX));
        }
        fs::remove_file(&path)
    }

    #[test]
    fn words_that_change_are_told_by_their_time() -> io::Result<()> {
        let path = std::env::temp_dir().join(format!("noren-mapped-{}-changed", std::process::id()));
        fs::write(&path, [1; 4096])?;
        let mapped = MappedFile::open(File::open(&path)?)?;
        // A name more or less is no change.
        let other = path.with_extension("other");
        fs::rename(&path, &other)?;
        assert!(mapped.is_unchanged());
        // Times of files have a resolution of some milliseconds.
        std::thread::sleep(std::time::Duration::from_millis(50));
        std::os::unix::fs::FileExt::write_all_at(&File::options().write(true).open(&other)?, &[2; 8], 0)?;
        assert!(!mapped.is_unchanged());
        fs::remove_file(&other)
    }

    /// In a process of its own, as it ends there: a page that is gone of a mapping that nothing guards.
    #[test]
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    fn bus_errors_elsewhere_end_the_process() -> io::Result<()> {
        use std::os::unix::process::ExitStatusExt;
        const CHILD: &str = "NOREN_TEST_BUS_ERROR";
        let name = "machine::mapped::tests::bus_errors_elsewhere_end_the_process";
        if std::env::var_os(CHILD).is_some() {
            let guarded = MappedFile::open(file("guarded", &[1; 4096])?)?;
            let mut path = std::env::temp_dir();
            path.push(format!("noren-mapped-{}-unguarded", std::process::id()));
            fs::write(&path, [1; 8192])?;
            let unguarded = File::options().read(true).write(true).open(&path)?;
            fs::remove_file(&path)?;
            let content = content::Content::open(&unguarded, 8192)?;
            content.leave_unguarded();
            unguarded.set_len(0)?;
            // The last line of this process.
            println!("{} {}", guarded[0], content[512]);
            return Ok(());
        }
        let mut child = std::process::Command::new(std::env::current_exe()?);
        let status = child.args(["--exact", name, "--nocapture"]).env(CHILD, "1").output()?.status;
        assert_eq!(status.signal(), Some(libc::SIGBUS), "{status}");
        Ok(())
    }

    #[test]
    fn what_is_no_file_of_words_is_refused() -> io::Result<()> {
        for (name, bytes) in [("empty", &[][..]), ("odd", &[0; 12])] {
            let error = MappedFile::open(file(name, bytes)?).expect_err("refused");
            assert!(error.to_string().contains("multiple of 8 bytes"), "{error}");
        }
        Ok(())
    }
}
