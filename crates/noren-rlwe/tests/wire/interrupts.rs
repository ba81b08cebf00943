//! Long writing, reading and digesting ends when it is told to.

use std::io::{self, Cursor, Seek, SeekFrom, Write};
use std::thread;
use std::time::Duration;

use noren_ring::interrupt::{Interrupt, Interrupted};
use noren_rlwe::wire::items::Items;
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::reader::{Limits, Reader};
use noren_rlwe::wire::writer::{Form, Writer};

use crate::scratch::Scratch;

/// The bytes of a section: some tens of milliseconds of work.
const BYTES: usize = 64 << 20;

fn writer(bytes: &[u8]) -> Writer<'_> {
    let mut writer = Writer::new(Kind::TABLE, [7; 32], Form::Packed);
    writer.bytes(0x01, bytes);
    writer
}

/// A file that stops its own writing at once.
struct Stopping<'a> {
    interrupt: &'a Interrupt,
    file: Cursor<Vec<u8>>,
}

impl Write for Stopping<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.interrupt.stop();
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Stopping<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

#[test]
fn one_section_is_written_piece_by_piece() {
    let (bytes, interrupt) = (vec![3; BYTES], Interrupt::new());
    let whole = writer(&bytes);
    let mut file = Stopping { interrupt: &interrupt, file: Cursor::new(Vec::new()) };
    assert_eq!(interrupt.run(|| whole.write_to(&mut file).map_err(|_| ())), Err(Interrupted));
    assert!(file.file.into_inner().len() < BYTES / 4);
}

#[test]
fn digests_and_files_end_when_they_are_told_to() {
    /// Without interrupts, many seconds of work.
    const TIMES: usize = 1000;
    let scratch = Scratch::new("interrupts");
    let (path, content) = (scratch.path("table"), vec![3; BYTES]);
    let bytes = writer(&content).to_bytes();
    std::fs::write(&path, &bytes).expect("a directory of its own");
    let limits = Limits::default();
    let works: [&(dyn Fn() + Sync); 3] = [
        &|| drop(Reader::open(&bytes, Kind::TABLE, &limits).expect("whole")),
        &|| drop(noren_rlwe::wire::file::read(&path, u64::MAX).expect("a file")),
        &|| {
            let mut items = Items::open(&path, Kind::TABLE, &limits).expect("whole");
            items.read(1, u64::MAX).expect("whole");
            items.finish().expect("whole");
        },
    ];
    for work in works {
        let interrupt = Interrupt::new();
        let result = thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(20));
                interrupt.stop();
            });
            interrupt.run(|| (0..TIMES).for_each(|_| work()))
        });
        assert_eq!(result, Err(Interrupted));
    }
}
