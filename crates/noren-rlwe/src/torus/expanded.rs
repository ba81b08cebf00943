//! Keys of a bootstrap as they lie in memory: sections that a program can use where they are, in a file that is mapped.

use std::borrow::Cow;

use noren_math::torus::product::KEY_LAYOUT;
use noren_ring::host::torus::blind_rotation::BlindRotation;
use noren_ring::host::torus::bootstrap::Bootstrap;
use noren_ring::host::torus::key_switch::{LINE_WORDS, LweSwitch};
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

/// Four words: points of a block, groups that lie together, points of a group; and to what multiple of words rows of the key
/// switch are filled up.
const LAYOUT: u16 = 0x0130;
/// The spectra of all GGSW samples, each number the bits of an `f64`.
const ROTATION: u16 = 0x0131;
/// The rows of the key switch, two numbers to a word.
const SWITCH: u16 = 0x0132;

/// The orders in which words lie, which belong to this version.
const fn layout() -> [u64; 4] {
    let [block, groups, group] = KEY_LAYOUT;
    [block, groups, group, LINE_WORDS as u64]
}

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
    /// Adds the sections of these keys as they lie in memory.
    ///
    /// # Errors
    /// [`Error::Parameters`] for keys of exact products or of another device than the host, which have no such form.
    pub fn write_expanded<'a>(&'a self, writer: &mut Writer<'a>) -> Result<()> {
        let refused = |name, found| {
            Error::parameter(name, found, "products by transforms in f64 on the host: expand the compact keys there")
        };
        let key: &Bootstrap = self.bootstrap.held().get().ok_or_else(|| refused("device", "another than the host"))?;
        let numbers = key.rotation().numbers().ok_or_else(|| refused("products", "exact"))?;
        writer.bytes(KEY, self.owner.key.0.as_slice());
        writer.words(LAYOUT, layout().to_vec());
        writer.words(ROTATION, bytemuck::cast_slice(numbers));
        writer.words(SWITCH, pairs(key.switch().words()));
        Ok(())
    }

    /// Refuses results of keys that lie in a file that has changed. To be called after the keys were used.
    ///
    /// # Errors
    /// [`Error::FileChanged`].
    pub fn check_file(&self) -> Result<()> {
        check_unchanged(self.bootstrap.held().get().and_then(Bootstrap::file), "server keys")
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
        let product = server.ring().product();
        assert!(!product.is_exact(), "products by transforms");
        let owner = Owner { fingerprint: parameters.fingerprint(), key: KeyId(reader.take(KEY)?.array()?) };
        let section = reader.take(LAYOUT)?;
        let found: [u64; 4] = section.word_array()?;
        if found != layout() {
            let needed = format!("{:?}: expand the keys again", layout());
            return Err(section.value("the order of words", format!("{found:?}"), needed));
        }
        let (shape, bits) = (parameters.rotation(), parameters.short_dimension());
        let section = reader.take(ROTATION)?;
        let rotation = BlindRotation::mapped(product, shape, bits, container.row(&section)?);
        let words = section.words()?.len();
        let rotation = rotation.ok_or_else(|| section.value("the numbers", words, "those of all GGSW samples"))?;
        let section = reader.take(SWITCH)?;
        let dimensions = (parameters.dimension(), bits);
        let switch = LweSwitch::mapped(dimensions, parameters.switch_gadget(), container.row(&section)?);
        let words = section.words()?.len();
        let switch = switch.ok_or_else(|| section.value("the words", words, "those of all rows of the key switch"))?;
        let bootstrap = server.mapped_key(Bootstrap::new(switch, rotation)).ok_or_else(|| {
            let needed = "the host: expand the compact keys for this device";
            Error::parameter("device", server.device().name(), needed)
        })?;
        Ok(Self { owner, bootstrap })
    }
}
