//! Bytes of parameters, secrets and keys over the torus.

use std::io::{self, Seek, Write};

use noren_math::machine::aligned::AlignedVec;
use noren_math::random::{SEED_BYTES, Seed};
use noren_math::torus_products::product::Grouping;

use crate::error::{Error, Result};
use crate::owner::KeyId;
use crate::security::Security;
use crate::torus::keys::CompactKeys;
use crate::torus::light::spec::LightSpec;
use crate::torus::noise::TorusNoise;
use crate::torus::parameters::TorusParameters;
use crate::torus::secret::{TorusSecret, is_zero};
use crate::torus::spec::TorusSpec;
use crate::wire::kind::Kind;
use crate::wire::object::Object;
use crate::wire::reader::Reader;
use crate::wire::section::Section;
use crate::wire::stream::Stream;
use crate::wire::writer::{Form, Writer};

/// Parameters: thirteen words, and of light keys five more.
const SPEC: u16 = 0x0101;
/// The name of the keys, 16 bytes.
pub(crate) const KEY: u16 = 0x0101;
/// The bits of the short secret, and of the long one.
const SHORT: u16 = 0x0102;
const LONG: u16 = 0x0103;
/// The seed of all masks.
pub(crate) const SEED: u16 = 0x0110;
/// The bodies of the GGSW samples, and those of the key switch, two to a word.
const ROTATION: u16 = 0x0120;
pub(crate) const SWITCH: u16 = 0x0121;

/// Words of parameters, without those of light keys.
const WORDS: usize = 13;

/// Bits of secrets are small numbers of this width.
const SECRET_BITS: u32 = 2;

const GAUSSIAN: u64 = 0;
const TUNIFORM: u64 = 1;

impl Object for TorusParameters {
    type Context = ();
    const KIND: Kind = Kind::TORUS_PARAMETERS;

    fn needed_fingerprint((): &()) -> Option<[u8; 32]> {
        None
    }

    fn fingerprint(&self, (): &()) -> [u8; 32] {
        TorusParameters::fingerprint(self)
    }

    fn write<'a>(&'a self, (): &'a (), writer: &mut Writer<'a>) {
        let spec = self.spec();
        let [lwe, glwe] = [spec.lwe_noise, spec.glwe_noise].map(noise_to_words);
        let security = match spec.security {
            Security::None => 0,
            Security::Bits128 => 128,
            Security::Bits192 => 192,
            Security::Bits256 => 256,
        };
        let mut words = vec![
            spec.n as u64,
            spec.k as u64,
            u64::from(spec.log_degree),
            lwe[0],
            lwe[1],
            glwe[0],
            glwe[1],
            u64::from(spec.log_base),
            spec.levels as u64,
            u64::from(spec.switch_log_base),
            spec.switch_levels as u64,
            spec.grouping.bits() as u64,
            security,
        ];
        words.extend(spec.light.iter().flat_map(LightSpec::words));
        writer.words(SPEC, words);
    }

    /// Reads parameters and checks them again. Whether their security is enough is for the caller to say.
    fn read((): &(), reader: &mut Reader<'_>) -> Result<Self> {
        let section = reader.take(SPEC)?;
        let words: Vec<u64> = section.words()?.iter().collect();
        let (words, light) = match *words.as_slice() {
            [ref words @ .., a, b, c, d, e] if words.len() == WORDS => {
                (words, Some(LightSpec::from_words([a, b, c, d, e])))
            }
            ref words if words.len() == WORDS => (words, None),
            _ => return Err(section.value("the number of words", words.len(), "13, or 18 for light keys")),
        };
        let security = match words[12] {
            0 => Security::None,
            128 => Security::Bits128,
            192 => Security::Bits192,
            256 => Security::Bits256,
            other => return Err(section.value("the security", other, "0, 128, 192 or 256")),
        };
        let grouping = match words[11] {
            1 => Grouping::Single,
            2 => Grouping::Pair,
            other => return Err(section.value("the bits of a step", other, "1 or 2")),
        };
        // A number that does not fit is larger than any bound that is checked.
        let size = |word| usize::try_from(word).unwrap_or(usize::MAX);
        let bits = |word| u32::try_from(word).unwrap_or(u32::MAX);
        let spec = TorusSpec {
            n: size(words[0]),
            k: size(words[1]),
            log_degree: bits(words[2]),
            lwe_noise: noise_from_words(&section, words[3], words[4])?,
            glwe_noise: noise_from_words(&section, words[5], words[6])?,
            log_base: bits(words[7]),
            levels: size(words[8]),
            switch_log_base: bits(words[9]),
            switch_levels: size(words[10]),
            grouping,
            light,
            security,
        };
        spec.build()
    }
}

impl Object for TorusSecret {
    type Context = TorusParameters;
    const KIND: Kind = Kind::TORUS_SECRET;

    fn needed_fingerprint(parameters: &TorusParameters) -> Option<[u8; 32]> {
        Some(parameters.fingerprint())
    }

    fn fingerprint(&self, _: &TorusParameters) -> [u8; 32] {
        self.parameters.fingerprint()
    }

    fn write<'a>(&'a self, _: &'a TorusParameters, writer: &mut Writer<'a>) {
        writer.bytes(KEY, self.key.0.as_slice());
        writer.small(SHORT, &self.short, SECRET_BITS);
        writer.small(LONG, &self.long, SECRET_BITS);
    }

    fn read(parameters: &TorusParameters, reader: &mut Reader<'_>) -> Result<Self> {
        let key = KeyId(reader.take(KEY)?.array()?);
        let short = secret_bits(&reader.take(SHORT)?, parameters.short_dimension())?;
        let long = secret_bits(&reader.take(LONG)?, parameters.dimension())?;
        for (bits, key) in [(&short, "short secret of the secret key"), (&long, "long secret of the secret key")] {
            if is_zero(bits) {
                return Err(Error::ZeroKey { key });
            }
        }
        Ok(Self { short, long, parameters: parameters.clone(), key })
    }
}

impl Object for CompactKeys {
    type Context = TorusParameters;
    const KIND: Kind = Kind::TORUS_KEYS;

    fn needed_fingerprint(parameters: &TorusParameters) -> Option<[u8; 32]> {
        Some(parameters.fingerprint())
    }

    fn fingerprint(&self, _: &TorusParameters) -> [u8; 32] {
        self.parameters.fingerprint()
    }

    fn write<'a>(&'a self, _: &'a TorusParameters, writer: &mut Writer<'a>) {
        write_names(writer, &self.key, &self.seed);
        writer.words(ROTATION, &self.rotation);
        writer.words(SWITCH, joined(&self.switch));
    }

    fn read(parameters: &TorusParameters, reader: &mut Reader<'_>) -> Result<Self> {
        parameters.check_compact()?;
        let (key, seed) = read_names(reader)?;
        let rotation = words(&reader.take(ROTATION)?, parameters.rotation_bodies())?;
        let switch = split(&words(&reader.take(SWITCH)?, parameters.switch_bodies() / 2)?);
        Ok(Self { parameters: parameters.clone(), key, seed, rotation, switch })
    }
}

impl CompactKeys {
    /// Announces the sections of the keys of these parameters, for
    /// [`TorusKeyGenerator::stream_compact`](crate::torus::keygen::TorusKeyGenerator::stream_compact).
    pub fn announce(parameters: &TorusParameters, writer: &mut Writer<'_>) {
        writer.announce_bytes(KEY, size_of::<KeyId>());
        writer.announce_bytes(SEED, SEED_BYTES);
        writer.announce_words(ROTATION, parameters.rotation_bodies());
        writer.announce_words(SWITCH, parameters.switch_bodies() / 2);
    }
}

/// The first two sections of keys that travel.
pub(crate) fn write_names<'a>(writer: &mut Writer<'a>, key: &'a KeyId, seed: &'a Seed) {
    writer.bytes(KEY, key.0.as_slice());
    writer.bytes(SEED, seed.as_bytes().as_slice());
}

/// Reads the names that [`write_names`] wrote.
pub(crate) fn read_names(reader: &mut Reader<'_>) -> Result<(KeyId, Seed)> {
    Ok((KeyId(reader.take(KEY)?.array()?), Seed::from_bytes(reader.take(SEED)?.array()?)))
}

/// The first two sections of compact keys.
pub(super) fn put_names<W: Write + Seek>(
    stream: &mut Stream<'_, W>,
    parameters: &TorusParameters,
    key: KeyId,
    seed: &Seed,
) -> io::Result<()> {
    let mut part = Writer::new(CompactKeys::KIND, parameters.fingerprint(), Form::Packed);
    write_names(&mut part, &key, seed);
    stream.put(&part)
}

/// Some of the bodies of the GGSW samples.
pub(super) fn put_rotation<W: Write + Seek>(stream: &mut Stream<'_, W>, bodies: &[u64]) -> io::Result<()> {
    stream.put_words(ROTATION, bodies)
}

/// All bodies of the key switch.
pub(super) fn put_switch<W: Write + Seek>(stream: &mut Stream<'_, W>, bodies: &[u32]) -> io::Result<()> {
    stream.put_words(SWITCH, &joined(bodies))
}

/// Two numbers to a word, the first one in the lower half.
pub(crate) fn joined(halves: &[u32]) -> Vec<u64> {
    halves.as_chunks::<2>().0.iter().map(|&[low, high]| u64::from(low) | u64::from(high) << u32::BITS).collect()
}

/// The numbers of [`joined`].
pub(crate) fn split(pairs: &[u64]) -> Vec<u32> {
    pairs.iter().flat_map(|&pair| [pair as u32, (pair >> u32::BITS) as u32]).collect()
}

/// Exactly `count` words: nothing is allocated for others.
pub(crate) fn words(section: &Section<'_>, count: usize) -> Result<Vec<u64>> {
    let words = section.words()?;
    if words.len() == count {
        Ok(words.iter().collect())
    } else {
        Err(section.value("the number of bodies", words.len(), count))
    }
}

fn secret_bits(section: &Section<'_>, count: usize) -> Result<AlignedVec<i8>> {
    let bits = section.small(count, SECRET_BITS, 1)?;
    // Every number is looked at, and the one that is refused is not told.
    if bits.iter().fold(false, |bad, &bit| bad | (bit < 0)) {
        return Err(section.value("a bit of a secret", "negative", "0 or 1"));
    }
    Ok(AlignedVec::guarded(&bits))
}

const fn noise_to_words(noise: TorusNoise) -> [u64; 2] {
    match noise {
        TorusNoise::Gaussian(deviation) => [GAUSSIAN, deviation.to_bits()],
        TorusNoise::TUniform(bits) => [TUNIFORM, bits as u64],
    }
}

fn noise_from_words(section: &Section<'_>, kind: u64, width: u64) -> Result<TorusNoise> {
    let refused = |needed| -> Error { section.value("a noise", format!("[{kind}, {width}]"), needed) };
    match kind {
        // There is one zero.
        GAUSSIAN if width == (-0.0f64).to_bits() => Err(refused("a deviation that is not negative")),
        GAUSSIAN => Ok(TorusNoise::Gaussian(f64::from_bits(width))),
        TUNIFORM => Ok(TorusNoise::TUniform(u32::try_from(width).unwrap_or(u32::MAX))),
        _ => Err(refused("[0, a deviation] or [1, bits]")),
    }
}
