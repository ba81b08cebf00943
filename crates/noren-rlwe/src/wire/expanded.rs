//! Key switching keys as they lie in memory: sections that a program can use where they are, in a file that is mapped.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use noren_math::machine::mapped::{MappedFile, MappedRow};
use noren_ring::key_layout::{BLOCK, KeyLayout};
use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::keys::{EvaluationKeys, KeyOutline, KeySwitchKey};
use crate::resources::Resources;
use crate::shape::KeyShape;
use crate::wire::file::{self, Access};
use crate::wire::keys::{Start, announce_start, key_ring, write_start};
use crate::wire::kind::Kind;
use crate::wire::publish::Destination;
use crate::wire::reader::{Limits, Reader};
use crate::wire::regular;
use crate::wire::section::Section;
use crate::wire::writer::Writer;

/// Two words: the limbs of the key, and how many words of a row lie together.
const LAYOUT: u16 = 0x0130;
/// The words of all pairs, in the order in which a switch reads them.
const PAIRS: u16 = 0x0131;

const LAYOUT_WORDS: usize = 2;

/// A container in a file that is mapped: what is read of it stays where it lies, and is shared with all processes that
/// map it.
#[derive(Debug)]
pub struct MappedContainer(Arc<MappedFile>);

impl MappedContainer {
    /// Maps a file.
    ///
    /// # Errors
    /// [`Error::Io`] with the path: what the system says, that the file is none of words, or that this machine orders bytes
    /// in another way than files do.
    pub fn open(path: &Path) -> Result<Self> {
        let mapped = regular::open(path).and_then(|file| {
            if cfg!(target_endian = "little") {
                MappedFile::open(file)
            } else {
                let message =
                    "this machine cannot use words as files hold them: read the file that they were expanded from";
                Err(io::Error::new(ErrorKind::Unsupported, message))
            }
        });
        Ok(Self(Arc::new(mapped.map_err(|source| Error::Io { path: path.to_owned(), source })?)))
    }

    /// A reader of the container, which must hold one kind of object. Where the limits ask for the digest, the whole file is
    /// read.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn reader(&self, needed: Kind, limits: &Limits) -> Result<Reader<'_>> {
        Reader::open(bytemuck::cast_slice(&self.0), needed, limits)
    }

    /// The polynomial of a section of this very container, over exactly the limbs of `ring`, where it lies. Its residues are
    /// not looked at.
    ///
    /// # Errors
    /// [`Error::Wire`] if the section holds something else, or a polynomial that is packed.
    pub fn poly(&self, section: &Section<'_>, ring: &Ring) -> Result<Poly<Eval>> {
        section.check_raw_poly(ring)?;
        let words = self.words_of(section, ring.limbs() * ring.degree())?;
        Ok(ring.mapped(words).expect("the length of the section is that of the ring's elements"))
    }

    /// The words of a section of this very container, where they lie.
    ///
    /// # Errors
    /// [`Error::Wire`] if the section holds something else.
    pub fn row(&self, section: &Section<'_>) -> Result<MappedRow> {
        self.words_of(section, section.words()?.len())
    }

    fn words_of(&self, section: &Section<'_>, words: usize) -> Result<MappedRow> {
        let start = section.offset() as usize / size_of::<u64>();
        let row = MappedRow::new(&self.0, start..start + words);
        row.ok_or_else(|| section.value("the words of a section", words, "within the file".to_owned()))
    }
}

/// Writes a container that is meant to be mapped, as a whole or not at all; gives its bytes. `check` refuses, after all was
/// written, what lies in a mapped file itself and has changed there; `what` names the disk space in the error.
///
/// # Errors
/// [`Error::Resources`] before anything is written if the disk has no room for it, [`Error::Io`] with the path,
/// [`Error::Exists`] for a file that is kept, and the error of `check`.
pub fn write_to_map(
    to: Destination<'_>,
    writer: &Writer<'_>,
    what: &'static str,
    check: impl FnOnce() -> Result<()>,
) -> Result<u64> {
    let bytes = writer.encoded_len();
    // Those of an interrupted run take room that is needed now.
    file::remove_leftovers(to.path);
    let resources = Resources::of_machine(file::directory_of(to.path));
    resources.check_disk(bytes, what, "make room, or choose another place")?;
    file::make_atomically(to, Access::Default, |file| {
        writer.write_to(file).map_err(|source| Error::Io { path: to.path.to_owned(), source })?;
        check()
    })?;
    Ok(bytes)
}

impl EvaluationKeys {
    /// Adds the sections of all keys as they lie in memory: the identity of the secret key, then one item for each key.
    pub fn write_expanded<'a>(&'a self, context: &Context, writer: &mut Writer<'a>) {
        self.write_items(writer, |key, writer| key.write_expanded(context, writer));
    }

    /// Takes the sections of [`EvaluationKeys::write_expanded`] from a reader of this very container, all items that are left. The
    /// words stay where they are; see [`KeySwitchKey::map_expanded`] for what is checked.
    ///
    /// # Errors
    /// [`Error::Wire`] with the reason why a section is refused.
    pub fn map_expanded(
        context: &Context,
        reader: &mut Reader<'_>,
        container: &MappedContainer,
        check_residues: bool,
    ) -> Result<Self> {
        Self::read_items(context, reader, |reader| {
            KeySwitchKey::map_expanded(context, reader, container, check_residues)
        })
    }
}

impl KeySwitchKey {
    /// Announces the sections of [`KeySwitchKey::write_expanded`].
    ///
    /// # Errors
    /// As [`KeySwitchKey::announce`].
    pub fn announce_expanded(context: &Context, shape: KeyShape, limbs: usize, writer: &mut Writer<'_>) -> Result<()> {
        let (ring, digits) = key_ring(context, shape, limbs)?;
        announce_start(context, shape, writer);
        writer.announce_words(LAYOUT, LAYOUT_WORDS);
        writer.announce_words(PAIRS, KeyLayout::new(&ring, digits).words());
        Ok(())
    }

    /// Adds the sections of this key, with both halves of all pairs, as they lie in memory.
    pub fn write_expanded<'a>(&'a self, context: &Context, writer: &mut Writer<'a>) {
        write_start(self, context, writer);
        writer.words(LAYOUT, vec![self.limbs as u64, BLOCK as u64]);
        writer.words(PAIRS, context.ring().key_words(&self.pairs));
    }

    /// Takes the sections of [`KeySwitchKey::write_expanded`] from a reader of this very container. The words stay where they
    /// are.
    ///
    /// The residues are looked at only if asked, and that they follow from the seed is believed: whoever makes an expanded
    /// file must be trusted as whoever runs the program.
    ///
    /// # Errors
    /// [`Error::Wire`] with the reason why a section is refused.
    pub fn map_expanded(
        context: &Context,
        reader: &mut Reader<'_>,
        container: &MappedContainer,
        check_residues: bool,
    ) -> Result<Self> {
        let (Start { shape, owner, from, seed }, limbs) = read_start(context, reader)?;
        let (ring, digits) = key_ring(context, shape, limbs)?;
        let section = reader.take(PAIRS)?;
        let (row, found, layout) = (container.row(&section)?, section.words()?.len(), KeyLayout::new(&ring, digits));
        if found != layout.words() {
            return Err(section.value("the words of all pairs", found, format!("{}, within the file", layout.words())));
        }
        if check_residues && let Some(limb) = layout.find_out_of_range(&ring, &row) {
            return Err(section.value("a residue", format!("above, in limb {limb}"), "below its prime"));
        }
        let pairs = ring.map_key(digits, row).expect("as many words as the layout has");
        Ok(Self { pairs, shape, seed, limbs, owner, from })
    }

    /// The outline of the key in the current item, whose sections are passed over: those of
    /// [`KeySwitchKey::write`](crate::wire::object::Object::write), or of [`KeySwitchKey::write_expanded`], as the kind of the
    /// container says.
    ///
    /// # Errors
    /// [`Error::Wire`] if there is no such key.
    pub fn skim(context: &Context, reader: &mut Reader<'_>) -> Result<KeyOutline> {
        if !reader.header().kind.is_expanded() {
            return Self::skim_seeded(context, reader);
        }
        let (Start { shape, owner, from, .. }, limbs) = read_start(context, reader)?;
        reader.take(PAIRS)?.words()?;
        Ok(KeyOutline { shape, limbs, owner, from, bytes: reader.item_bytes() })
    }
}

/// The sections before the words, with the limbs of the key.
fn read_start(context: &Context, reader: &mut Reader<'_>) -> Result<(Start, usize)> {
    let start = Start::read(context, reader)?;
    let section = reader.take(LAYOUT)?;
    let [limbs, block] = section.word_array::<LAYOUT_WORDS>()?;
    if block != BLOCK as u64 {
        return Err(section.value("the words of a block", block, format!("{BLOCK}: expand the keys again")));
    }
    let limbs = usize::try_from(limbs).unwrap_or(usize::MAX);
    if start.shape.digits == 0 || !(1..=start.shape.limbs).contains(&limbs) {
        return Err(section.value("limbs", limbs, format!("1 to {}", start.shape.limbs)));
    }
    Ok((start, limbs))
}
