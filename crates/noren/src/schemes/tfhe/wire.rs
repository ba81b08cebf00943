//! Bytes of parameters, ciphertexts and keys of TFHE.
//!
//! The container is that of [`noren_rlwe::wire`], the sections of samples and keys are those of
//! [`noren_rlwe::torus::wire`]; here are the sections that the scheme adds. `docs/wire.md` describes them byte by byte.

use noren_ring::interrupt;
use noren_ring::torus::lwe::Lwe;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::owner::{KeyId, Owner};
use noren_rlwe::torus::circuit::keys::CompactCircuitKeys;
use noren_rlwe::torus::keys::CompactKeys;
use noren_rlwe::torus::light::keys::LightKeys;
use noren_rlwe::torus::parameters::TorusParameters;
use noren_rlwe::torus::secret::TorusSecret;
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::reader::Reader;
use noren_rlwe::wire::reason::Reason;
use noren_rlwe::wire::section::Section;
use noren_rlwe::wire::writer::Writer;

use crate::schemes::tfhe::ciphertext::{Bit, Ciphertext};
use crate::schemes::tfhe::parameters::{Encoding, Parameters, ParametersSpec};

/// Parameters: two words, the bits of messages and of carries, 0 and 0 for bits.
const ENCODING: u16 = 0x01;
/// Parameters: two words, the largest noise and the allowed failures, each the bits of an `f64`.
const BOUNDS: u16 = 0x02;
/// Ciphertexts: the name of the key, 16 bytes.
const KEY: u16 = 0x01;
/// Ciphertexts: of each its largest value and its noise, of bits the noise alone; noises as the bits of an `f64`.
const STATE: u16 = 0x02;
/// Ciphertexts: the words of all samples, one after the other.
const SAMPLES: u16 = 0x03;

/// Integers that travel together.
#[derive(Debug, Clone, PartialEq)]
pub struct Ciphertexts(pub Vec<Ciphertext>);

/// Bits that travel together.
#[derive(Debug, Clone, PartialEq)]
pub struct Bits(pub Vec<Bit>);

/// A key with the parameters of its scheme: one file that needs no other.
pub struct KeyFile<K> {
    /// The parameters.
    pub parameters: Parameters,
    /// The key.
    pub key: K,
}

/// A key that can stand in a [`KeyFile`].
pub trait FileKey: Object<Context = TorusParameters> {
    /// The kind of container that holds it with its parameters.
    const FILE_KIND: Kind;
}

impl FileKey for TorusSecret {
    const FILE_KIND: Kind = Kind::TFHE_SECRET_KEY;
}

impl FileKey for CompactKeys {
    const FILE_KIND: Kind = Kind::TFHE_KEYS;
}

impl FileKey for CompactCircuitKeys {
    const FILE_KIND: Kind = Kind::TFHE_CIRCUIT_KEYS;
}

impl FileKey for LightKeys {
    const FILE_KIND: Kind = Kind::TFHE_LIGHT_KEYS;
}

impl Object for Parameters {
    type Context = ();
    const KIND: Kind = Kind::TFHE_PARAMETERS;

    fn needed_fingerprint((): &()) -> Option<[u8; 32]> {
        None
    }

    fn fingerprint(&self, (): &()) -> [u8; 32] {
        Parameters::fingerprint(self)
    }

    fn write<'a>(&'a self, (): &'a (), writer: &mut Writer<'a>) {
        let bits = match self.encoding() {
            Encoding::Bits => [0, 0],
            Encoding::Integers { message_bits, carry_bits } => [message_bits, carry_bits],
        };
        writer.sizes(ENCODING, &bits);
        let spec = self.spec();
        writer.words(BOUNDS, vec![spec.max_noise.to_bits(), spec.max_failure_log2.to_bits()]);
        self.torus().write(&(), writer);
    }

    /// Reads parameters and checks them again. Whether their security, and the failures that they allow, are enough is for
    /// the caller to say.
    fn read((): &(), reader: &mut Reader<'_>) -> Result<Self> {
        let section = reader.take(ENCODING)?;
        let [message_bits, carry_bits] = section.word_array()?;
        let encoding = match [section.size(message_bits)?, section.size(carry_bits)?] {
            [0, 0] => Encoding::Bits,
            [message_bits, carry_bits] => Encoding::Integers { message_bits, carry_bits },
        };
        let bounds: [u64; 2] = reader.take(BOUNDS)?.word_array()?;
        let [max_noise, max_failure_log2] = bounds.map(f64::from_bits);
        let torus = TorusParameters::read(&(), reader)?.spec().clone();
        ParametersSpec { torus, encoding, max_noise, max_failure_log2 }.build()
    }
}

impl Object for Ciphertexts {
    type Context = Parameters;
    const KIND: Kind = Kind::TFHE_CIPHERTEXTS;

    fn needed_fingerprint(parameters: &Parameters) -> Option<[u8; 32]> {
        Some(parameters.fingerprint())
    }

    fn fingerprint(&self, parameters: &Parameters) -> [u8; 32] {
        parameters.fingerprint()
    }

    /// # Panics
    /// If there is no ciphertext, or they are of several keys or of other parameters.
    fn write<'a>(&'a self, parameters: &'a Parameters, writer: &mut Writer<'a>) {
        write_ciphertexts(parameters, self.0.iter(), writer);
    }

    fn read(parameters: &Parameters, reader: &mut Reader<'_>) -> Result<Self> {
        Ok(Self(read_ciphertexts(parameters, reader)?))
    }
}

impl Object for Bits {
    type Context = Parameters;
    const KIND: Kind = Kind::TFHE_BITS;

    fn needed_fingerprint(parameters: &Parameters) -> Option<[u8; 32]> {
        Some(parameters.fingerprint())
    }

    fn fingerprint(&self, parameters: &Parameters) -> [u8; 32] {
        parameters.fingerprint()
    }

    /// # Panics
    /// If there is no bit, or they are of several keys or of other parameters.
    fn write<'a>(&'a self, parameters: &'a Parameters, writer: &mut Writer<'a>) {
        write_key(parameters, self.0.iter().map(|x| &x.owner), writer);
        writer.words(STATE, self.0.iter().map(|x| x.noise.to_bits()).collect::<Vec<_>>());
        write_samples(self.0.iter().map(|x| &x.sample), writer);
    }

    fn read(parameters: &Parameters, reader: &mut Reader<'_>) -> Result<Self> {
        let owner = read_key(parameters, reader)?;
        let section = reader.take(STATE)?;
        if parameters.encoding() != Encoding::Bits {
            return Err(section.value("the parameters", "of integers", "those of bits"));
        }
        let noises = section.words()?.iter().map(|noise| read_noise(parameters, &section, noise));
        let noises = noises.collect::<Result<Vec<_>>>()?;
        let samples = read_samples(parameters, noises.len(), reader)?.zip(noises);
        Ok(Self(samples.map(|(sample, noise)| Bit { sample, owner, noise }).collect()))
    }
}

impl<K: FileKey> Object for KeyFile<K> {
    type Context = ();
    const KIND: Kind = K::FILE_KIND;

    fn needed_fingerprint((): &()) -> Option<[u8; 32]> {
        None
    }

    fn fingerprint(&self, (): &()) -> [u8; 32] {
        self.parameters.fingerprint()
    }

    fn write<'a>(&'a self, (): &'a (), writer: &mut Writer<'a>) {
        self.parameters.write(&(), writer);
        writer.next_item();
        self.key.write(self.parameters.torus(), writer);
    }

    /// Reads the parameters and checks them again, and the key with them.
    fn read((): &(), reader: &mut Reader<'_>) -> Result<Self> {
        let parameters = Parameters::read(&(), reader)?;
        reader.next_item()?;
        let key = K::read(parameters.torus(), reader)?;
        Ok(Self { parameters, key })
    }
}

/// The sections of ciphertexts.
///
/// # Panics
/// As that of [`Ciphertexts`].
pub(crate) fn write_ciphertexts<'a>(
    parameters: &Parameters,
    ciphertexts: impl Iterator<Item = &'a Ciphertext> + Clone,
    writer: &mut Writer<'a>,
) {
    write_key(parameters, ciphertexts.clone().map(|x| &x.owner), writer);
    writer.words(STATE, ciphertexts.clone().flat_map(|x| [x.max, x.noise.to_bits()]).collect::<Vec<_>>());
    write_samples(ciphertexts.map(|x| &x.sample), writer);
}

/// The ciphertexts of these sections, at least one.
pub(crate) fn read_ciphertexts(parameters: &Parameters, reader: &mut Reader<'_>) -> Result<Vec<Ciphertext>> {
    let owner = read_key(parameters, reader)?;
    let section = reader.take(STATE)?;
    let words: Vec<u64> = section.words()?.iter().collect();
    let (states, rest) = words.as_chunks::<2>();
    let size = parameters.encoding().size();
    if !rest.is_empty() || parameters.encoding() == Encoding::Bits {
        return Err(section.value("the words", words.len(), "two for each integer, with parameters of integers"));
    }
    if let Some([max, _]) = states.iter().find(|[max, _]| *max >= size) {
        return Err(section.value("the largest value", max, format!("below {size}")));
    }
    let noises = states.iter().map(|&[_, noise]| read_noise(parameters, &section, noise));
    let noises = noises.collect::<Result<Vec<_>>>()?;
    let samples = read_samples(parameters, states.len(), reader)?.zip(states).zip(noises);
    let ciphertexts = samples.map(|((sample, &[max, _]), noise)| Ciphertext { sample, owner, max, noise });
    Ok(ciphertexts.collect())
}

fn write_key<'a>(parameters: &Parameters, mut owners: impl Iterator<Item = &'a Owner>, writer: &mut Writer<'a>) {
    let first = owners.next().unwrap_or_else(|| panic!("a file holds at least one ciphertext"));
    assert_eq!(first.fingerprint, parameters.fingerprint(), "the parameters of the ciphertexts");
    assert!(owners.all(|owner| owner == first), "ciphertexts of one key");
    writer.bytes(KEY, first.key.0.as_slice());
}

fn read_key(parameters: &Parameters, reader: &mut Reader<'_>) -> Result<Owner> {
    Ok(Owner { fingerprint: parameters.fingerprint(), key: KeyId(reader.take(KEY)?.array()?) })
}

fn read_noise(parameters: &Parameters, section: &Section<'_>, word: u64) -> Result<f64> {
    let (noise, most) = (f64::from_bits(word), parameters.max_noise());
    if (0.0..=most).contains(&noise) && noise.is_sign_positive() {
        Ok(noise)
    } else {
        Err(section.value("a noise", noise, format!("0 to {most}")))
    }
}

fn write_samples<'a>(samples: impl Iterator<Item = &'a Lwe>, writer: &mut Writer<'a>) {
    let words =
        samples.inspect(|_| interrupt::check()).flat_map(|sample| sample.mask().iter().copied().chain([sample.body()]));
    writer.words(SAMPLES, words.collect::<Vec<_>>());
}

fn read_samples(parameters: &Parameters, count: usize, reader: &mut Reader<'_>) -> Result<impl Iterator<Item = Lwe>> {
    let section = reader.take(SAMPLES)?;
    let (words, length) = (section.words()?, parameters.torus().dimension() + 1);
    if count == 0 {
        return Err(Error::Wire { what: "the ciphertexts", reason: Reason::Missing { place: section.place() } });
    }
    // `count` words are there, so that this does not wrap on machines of 64 bits.
    if words.len() as u64 != count as u64 * length as u64 {
        return Err(section.value("the words", words.len(), format!("{length} for each of {count}")));
    }
    let words: Vec<u64> = words.iter().collect();
    let sample = |words: &[u64]| {
        interrupt::check();
        Lwe::from_words(words.to_vec())
    };
    let samples: Vec<Lwe> = words.chunks_exact(length).map(sample).collect();
    Ok(samples.into_iter())
}
