//! Which outputs may be written, and under which names they are hidden until they are whole.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use noren::wire::{Form, Object};
use noren_rlwe::wire::file::{self, Access};
use noren_rlwe::wire::publish::{Destination, Existing};
use noren_rlwe::wire::regular;

use crate::console::Console;
use crate::failure::Failure;
use crate::progress;
use crate::streams::{STANDARD, names_standard_output};

/// The argument that lets outputs be replaced.
#[derive(Debug, Args)]
pub(crate) struct Force {
    /// Replace outputs that exist
    #[arg(long)]
    pub(crate) force: bool,
}

impl Force {
    /// The policy for files that exist.
    pub(crate) const fn existing(&self) -> Existing {
        if self.force { Existing::Replace } else { Existing::Keep }
    }
}

/// The content of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// Bytes that no terminal shows.
    Binary,
    /// Lines of text.
    Text,
}

/// A file that may be written, or standard output.
pub(crate) struct Output {
    path: PathBuf,
    existing: Existing,
    /// Bytes go to standard output, and the report to standard error.
    standard: bool,
}

impl Output {
    /// Refuses, before any work, a file that exists, unless it may be replaced, one that cannot be written, and whatever is no
    /// regular file; removes what an interrupted run has left of it. Whether it exists is asked once more when it is written.
    pub(crate) fn new(path: &Path, force: &Force) -> Result<Self, Failure> {
        if names_standard_output(path) {
            let needed = "a file: what is written here is used where it lies, or consists of parts";
            return Err(Failure::input(path, "the output", "standard output", needed));
        }
        // A link that leads nowhere is a file too.
        if !force.force && fs::symlink_metadata(path).is_ok() {
            return Err(Failure::Exists { path: path.to_owned() });
        }
        refuse_special(path)?;
        let directory = file::directory_of(path);
        let failed = |path: &Path, source| Failure::Io { path: path.to_owned(), source };
        match fs::metadata(directory) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(Failure::input(path, "its directory", "a file", "a directory")),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(Failure::NoDirectory { path: path.to_owned(), directory: directory.to_owned() });
            }
            Err(error) => return Err(failed(directory, error)),
        }
        // A name that the file system does not take, such as one that is too long.
        if let Err(error) = fs::symlink_metadata(path)
            && error.kind() != ErrorKind::NotFound
        {
            return Err(failed(path, error));
        }
        // Only trying tells whether files can be made there.
        let trial = hidden(directory, |trial| File::create_new(trial).map(drop));
        trial.and_then(|(trial, ())| fs::remove_file(trial)).map_err(|error| failed(path, error))?;
        file::remove_leftovers(path);
        Ok(Self { path: path.to_owned(), existing: force.existing(), standard: false })
    }

    /// As [`Output::new`], but that `-`, and names of standard output such as `/dev/stdout`, are admitted: the report then goes to
    /// standard error. A terminal is refused for content that it cannot show.
    pub(crate) fn or_standard(
        path: &Path,
        force: &Force,
        content: Content,
        console: &Console,
    ) -> Result<Self, Failure> {
        if !names_standard_output(path) {
            return Self::new(path, force);
        }
        if content == Content::Binary && io::stdout().is_terminal() {
            let needed = "a pipe or a file, for bytes that are no text";
            return Err(Failure::input(path, "standard output", "a terminal", needed));
        }
        console.report_on_standard_error();
        Ok(Self { path: STANDARD.into(), existing: Existing::Keep, standard: true })
    }

    /// The terminal, for people who look at numbers. Where there is none, an output must be named, so that no number gets into a
    /// log by accident.
    pub(crate) fn terminal(console: &Console) -> Result<Self, Failure> {
        if !io::stdout().is_terminal() {
            let (found, needed) = ("none, and no terminal", "-o FILE; in a pipe -o - and --format, such as csv");
            return Err(Failure::Unsuitable { what: "--output", found: found.to_owned(), needed: needed.to_owned() });
        }
        console.report_on_standard_error();
        Ok(Self { path: TERMINAL.into(), existing: Existing::Keep, standard: true })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where a file is written, and whether one that exists by then is replaced.
    ///
    /// # Panics
    /// For standard output, which [`Output::new`] does not admit.
    pub(crate) fn destination(&self) -> Destination<'_> {
        assert!(!self.standard, "standard output is written by its own methods");
        Destination { path: &self.path, existing: self.existing }
    }

    /// Writes an object, as a whole or not at all; gives the bytes of the file.
    pub(crate) fn write<O: Object>(&self, context: &O::Context, object: &O) -> Result<u64, Failure> {
        let _shown = progress::spinner(format!("writing {}", self.path.display()));
        if !self.standard {
            object.write_file(context, Form::Packed, self.destination())?;
            return size(&self.path);
        }
        if O::KIND.is_secret() {
            let needed = "a file: secret keys are not written to standard output";
            return Err(Failure::input(&self.path, "the output", O::KIND, needed));
        }
        let bytes = object.to_bytes(context, Form::Packed);
        self.print(&bytes)?;
        Ok(bytes.len() as u64)
    }

    /// Writes bytes, as a whole or not at all where that is a file, for those whom `access` lets read it.
    pub(crate) fn write_bytes(&self, access: Access, bytes: &[u8]) -> Result<(), Failure> {
        self.write_with(access, |sink| sink.write_all(bytes))
    }

    /// As [`Output::write_bytes`], of bytes that are made while they are written.
    pub(crate) fn write_with(
        &self,
        access: Access,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let through = |sink: &mut dyn Write| {
            let mut sink = BufWriter::new(sink);
            write(&mut sink)?;
            sink.flush()
        };
        if self.standard {
            let written = through(&mut io::stdout().lock());
            return written.map_err(|source| Failure::Io { path: self.path.clone(), source });
        }
        Ok(file::write_atomically(self.destination(), access, |file| through(file))?)
    }

    /// Writes bytes to standard output.
    pub(crate) fn print(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        let written = out.write_all(bytes).and_then(|()| out.flush());
        written.map_err(|source| Failure::Io { path: self.path.clone(), source })
    }
}

/// Refuses an output that exists and is no regular file, also behind links: a rename would put a file in the place of a device.
pub(crate) fn refuse_special(path: &Path) -> Result<(), Failure> {
    regular::check_place(path).map_err(|_| Failure::NotRegular { path: path.to_owned() })
}

/// Bytes of a file.
pub(crate) fn size(path: &Path) -> Result<u64, Failure> {
    let found = fs::metadata(path).map_err(|source| Failure::Io { path: path.to_owned(), source })?;
    Ok(found.len())
}

/// The name of the terminal in reports.
const TERMINAL: &str = "to the terminal";

/// How hidden names begin and end.
pub(crate) const HIDDEN: [&str; 2] = [".noren-", ".tmp"];

/// Makes something under a hidden name of a directory that nothing else has; gives the name too.
pub(crate) fn hidden<T>(directory: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(PathBuf, T)> {
    /// Names that are tried: processes with the same number can share a directory.
    const NAMES: u32 = 64;
    let [begin, end] = HIDDEN;
    for count in 0..NAMES {
        let path = directory.join(format!("{begin}{}-{count}{end}", std::process::id()));
        match make(&path) {
            Ok(made) => return Ok((path, made)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    let message = format!("hidden files named {begin}...{end} fill the directory: remove them");
    Err(io::Error::new(ErrorKind::AlreadyExists, message))
}
