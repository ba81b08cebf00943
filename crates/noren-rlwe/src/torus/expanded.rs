//! Keys of a bootstrap as they lie in memory: sections that a program can use where they are, in a file that is mapped.

use std::borrow::Cow;

use noren_ring::torus::expanded::{BootstrapLayout, BootstrapWords};
use noren_ring::torus::server::TorusServer;

use crate::error::{Error, Result};
use crate::mapped::check_unchanged;
use crate::owner::{KeyId, Owner};
use crate::torus::keys::ServerKeys;
use crate::torus::parameters::TorusParameters;
use crate::torus::wire::KEY;
use crate::wire::expanded::MappedContainer;
use crate::wire::reader::Reader;
use crate::wire::writer::Writer;

/// Four words: [`BootstrapLayout::ORDER`].
const LAYOUT: u16 = 0x0130;
/// The spectra of all GGSW samples, each number the bits of an `f64`.
const ROTATION: u16 = 0x0131;
/// The rows of the key switch, two numbers to a word.
const SWITCH: u16 = 0x0132;

/// Two numbers to a word, the first in its lower half.
fn pairs(numbers: &[u32]) -> Cow<'_, [u64]> {
    if cfg!(target_endian = "little") {
        Cow::Borrowed(bytemuck::cast_slice(numbers))
    } else {
        let (pairs, _) = numbers.as_chunks();
        Cow::Owned(pairs.iter().map(|&[low, high]| u64::from(low) | u64::from(high) << 32).collect())
    }
}

impl ServerKeys {
    /// Adds the sections of these keys, which are of this server, as they lie in memory.
    ///
    /// # Errors
    /// [`Error::Parameters`] for keys of exact products or of another device than the host, which have no such form.
    pub fn write_expanded<'a>(&'a self, server: &TorusServer, writer: &mut Writer<'a>) -> Result<()> {
        let BootstrapWords { rotation, switch } = server.bootstrap_words(&self.bootstrap).ok_or_else(|| {
            let found = if server.ring().product().is_exact() { "exact" } else { "those of another device" };
            Error::parameter("products", found, "transforms in f64 on the host: expand the compact keys there")
        })?;
        writer.bytes(KEY, self.owner.key.0.as_slice());
        writer.words(LAYOUT, BootstrapLayout::ORDER.to_vec());
        writer.words(ROTATION, bytemuck::cast_slice(rotation));
        writer.words(SWITCH, pairs(switch));
        Ok(())
    }

    /// Refuses results of keys that lie in a file that has changed. To be called after the keys were used.
    ///
    /// # Errors
    /// [`Error::FileChanged`].
    pub fn check_file(&self) -> Result<()> {
        check_unchanged(self.bootstrap.held().file(), "server keys")
    }

    /// Takes the sections of [`ServerKeys::write_expanded`] from a reader of this very container. The words stay where they are.
    ///
    /// The words are not looked at, and that they are of the key that is named is believed: whoever makes such a file must be
    /// trusted as whoever runs the program.
    ///
    /// # Errors
    /// [`Error::Wire`] with the reason why a section is refused, [`Error::Parameters`] for a device other than the host.
    ///
    /// # Panics
    /// If the products are exact, or of another degree.
    pub fn map_expanded(
        parameters: &TorusParameters,
        server: &TorusServer,
        reader: &mut Reader<'_>,
        container: &MappedContainer,
    ) -> Result<Self> {
        assert!(!server.ring().product().is_exact(), "products by transforms");
        let owner = Owner { fingerprint: parameters.fingerprint(), key: KeyId(reader.take(KEY)?.array()?) };
        let section = reader.take(LAYOUT)?;
        let found: [u64; 4] = section.word_array()?;
        if found != BootstrapLayout::ORDER {
            let needed = format!("{:?}: expand the keys again", BootstrapLayout::ORDER);
            return Err(section.value("the order of words", format!("{found:?}"), needed));
        }
        let (rotation, bits) = (parameters.rotation(), parameters.short_dimension());
        let layout = BootstrapLayout { rotation, bits, switch: parameters.switch_gadget() };
        let section = reader.take(ROTATION)?;
        let (rotation, words) = (container.row(&section)?, section.words()?.len());
        if layout.rotation_numbers() != Some(words) {
            return Err(section.value("the numbers", words, "those of all GGSW samples"));
        }
        let section = reader.take(SWITCH)?;
        let (switch, words) = (container.row(&section)?, section.words()?.len());
        if layout.switch_words().map(|numbers| numbers / 2) != Some(words) {
            return Err(section.value("the words", words, "those of all rows of the key switch"));
        }
        let bootstrap = server.map_bootstrap_key(layout, [rotation, switch]).ok_or_else(|| {
            let needed = "the host: expand the compact keys for this device";
            Error::parameter("device", server.device().name(), needed)
        })?;
        Ok(Self { owner, bootstrap })
    }
}
