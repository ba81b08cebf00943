//! Fresh ciphertexts as they travel: their masks are a seed.

use std::ops::Range;

use noren_math::random::Seed;
use noren_ring::interrupt::{self, Steps};
use noren_ring::torus::lwe::Lwe;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::owner::{KeyId, Owner};
use noren_rlwe::streams::seed_of_messages;
use noren_rlwe::wire::header::Encoding;
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::reader::Reader;
use noren_rlwe::wire::reason::Reason;
use noren_rlwe::wire::writer::Writer;

use crate::schemes::tfhe::ciphertext::{Bit, Ciphertext};
use crate::schemes::tfhe::context::Context;
use crate::schemes::tfhe::encryption::{Encryptor, FRESH_NOISE};
use crate::schemes::tfhe::parameters::Parameters;

/// The name of the key, 16 bytes.
const KEY: u16 = 0x01;
/// The public seed of all masks.
const SEED: u16 = 0x02;
/// The body of each sample.
const BODIES: u16 = 0x03;

/// Fresh ciphertexts of integers, or of bits where the parameters are for bits: a public seed of all masks, and a word for each.
///
/// 8 bytes a value and 32 for all of them, in place of 16 KiB a value.
#[derive(Debug, Clone)]
pub struct SeededCiphertexts {
    pub(crate) owner: Owner,
    pub(crate) seed: Seed,
    pub(crate) bodies: Vec<u64>,
}

impl SeededCiphertexts {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bodies.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// The integers, with their masks.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] for those of other parameters, [`Error::Parameters`] if these are for bits.
    pub fn expand(&self, context: &Context) -> Result<Vec<Ciphertext>> {
        context.parameters().encoding().needs_integers()?;
        self.check(context)?;
        Ok(self.ciphertexts(context.parameters(), context.parameters().message_size() - 1, 0..self.len()))
    }

    /// The bits, with their masks.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] for those of other parameters, [`Error::Parameters`] if these are for integers.
    pub fn expand_bits(&self, context: &Context) -> Result<Vec<Bit>> {
        context.parameters().encoding().needs_bits()?;
        self.check(context)?;
        Ok(self.bits(context.parameters(), 0..self.len()))
    }

    /// The integers in some places, which everybody may know to be at most `max`; the parameters are theirs.
    pub(crate) fn ciphertexts(&self, parameters: &Parameters, max: u64, places: Range<usize>) -> Vec<Ciphertext> {
        let fresh = |sample| Ciphertext { sample, owner: self.owner, max, noise: FRESH_NOISE };
        self.samples(parameters, places).map(fresh).collect()
    }

    /// The bits in some places; the parameters are theirs.
    pub(crate) fn bits(&self, parameters: &Parameters, places: Range<usize>) -> Vec<Bit> {
        self.samples(parameters, places).map(|sample| Bit { sample, owner: self.owner, noise: FRESH_NOISE }).collect()
    }

    fn samples(&self, parameters: &Parameters, places: Range<usize>) -> impl Iterator<Item = Lwe> {
        let dimension = parameters.torus().dimension();
        places.map(move |place| {
            interrupt::check();
            let mut words = vec![0; dimension + 1];
            write_mask(&self.seed, place, &mut words[..dimension]);
            words[dimension] = self.bodies[place];
            Lwe::from_words(words)
        })
    }

    fn check(&self, context: &Context) -> Result<()> {
        context.owner(&self.owner).check(&self.owner, "the seeded ciphertexts")
    }

    /// Whether the current item of a reader holds seeded ciphertexts, and not others.
    pub(crate) fn are_next(reader: &Reader<'_>) -> bool {
        reader.peek(SEED).is_some_and(|section| section.encoding() == Encoding::Bytes)
    }
}

impl Encryptor<'_> {
    /// Encrypts integers below `2^message_bits`, with one seed for all their masks: 8 bytes each where they travel.
    ///
    /// # Errors
    /// As [`Encryptor::encrypt`], before anything is encrypted.
    pub fn encrypt_seeded(&self, values: &[u64]) -> Result<SeededCiphertexts> {
        self.context.parameters().encoding().needs_integers()?;
        self.encrypt_seeded_at_most(values, self.context.parameters().message_size() - 1)
    }

    /// Encrypts integers that everybody may know to be at most `max`, themselves below `2^message_bits`.
    pub(crate) fn encrypt_seeded_at_most(&self, values: &[u64], max: u64) -> Result<SeededCiphertexts> {
        let messages = values.iter().map(|&value| self.integer_message(value, max)).collect::<Result<Vec<_>>>()?;
        Ok(self.seeded(&messages))
    }

    /// Encrypts bits, with one seed for all their masks: 8 bytes each where they travel.
    ///
    /// # Errors
    /// As [`Encryptor::encrypt_bit`].
    pub fn encrypt_bits_seeded(&self, values: &[bool]) -> Result<SeededCiphertexts> {
        self.context.parameters().encoding().needs_bits()?;
        Ok(self.seeded(&values.iter().map(|&value| self.bit_message(value)).collect::<Vec<_>>()))
    }

    /// As a call of [`Encryptor::encrypt`], whose seed serves all of the messages.
    fn seeded(&self, messages: &[u64]) -> SeededCiphertexts {
        let seed = seed_of_messages(&self.next_seed(), messages);
        let (uniform, mut bodies) = (seed.derive("uniform"), vec![0; messages.len()]);
        self.context.parameters().torus().spec().glwe_noise.sample(&mut seed.xof("error"), &mut bodies);
        let mut mask = vec![0; self.context.parameters().torus().dimension()];
        let steps = Steps::new(messages.len());
        for (place, (body, &message)) in bodies.iter_mut().zip(messages).enumerate() {
            steps.advance(1);
            write_mask(&uniform, place, &mut mask);
            *body = body.wrapping_add(message).wrapping_add(self.secret.hidden(&mask));
        }
        SeededCiphertexts { owner: self.owner, seed: uniform, bodies }
    }
}

/// The mask of a ciphertext, from the public seed.
fn write_mask(seed: &Seed, place: usize, out: &mut [u64]) {
    seed.xof(&format!("ciphertext/{place}")).fill_u64(out);
}

impl Object for SeededCiphertexts {
    type Context = Parameters;
    const KIND: Kind = Kind::TFHE_SEEDED_CIPHERTEXTS;

    fn needed_fingerprint(parameters: &Parameters) -> Option<[u8; 32]> {
        Some(parameters.fingerprint())
    }

    fn fingerprint(&self, parameters: &Parameters) -> [u8; 32] {
        parameters.fingerprint()
    }

    /// # Panics
    /// If there is no ciphertext, or they are of other parameters.
    fn write<'a>(&'a self, parameters: &'a Parameters, writer: &mut Writer<'a>) {
        assert!(!self.is_empty(), "a file holds at least one ciphertext");
        assert_eq!(self.owner.fingerprint, parameters.fingerprint(), "the parameters of the ciphertexts");
        writer.bytes(KEY, self.owner.key.0.as_slice());
        writer.bytes(SEED, self.seed.as_bytes().as_slice());
        writer.words(BODIES, &self.bodies);
    }

    fn read(parameters: &Parameters, reader: &mut Reader<'_>) -> Result<Self> {
        let owner = Owner { fingerprint: parameters.fingerprint(), key: KeyId(reader.take(KEY)?.array()?) };
        let seed = Seed::from_bytes(reader.take(SEED)?.array()?);
        let section = reader.take(BODIES)?;
        let bodies: Vec<u64> = section.words()?.iter().collect();
        if bodies.is_empty() {
            return Err(Error::Wire { what: Self::KIND.name(), reason: Reason::Missing { place: section.place() } });
        }
        Ok(Self { owner, seed, bodies })
    }
}
