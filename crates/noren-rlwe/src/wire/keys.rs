//! Keys as sections.

use std::sync::Arc;

use noren_math::random::Seed;
use noren_math::sample::GAUSSIAN_BOUND;
use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::key_use::KeyUse;
use crate::keygen::{check_public, digit_half, public_half, secret_key};
use crate::keys::{EvaluationKeys, KeyOutline, KeySwitchKey, PublicKey, SecretKey};
use crate::owner::{KeyId, Owner};
use crate::parameters::Parameters;
use crate::security::SecretDistribution;
use crate::shape::KeyShape;
use crate::wire::kind::Kind;
use crate::wire::object::Object;
use crate::wire::parameters::{distribution_from_words, distribution_to_words};
use crate::wire::reader::Reader;
use crate::wire::section::Section;
use crate::wire::writer::Writer;

/// Two words: how a secret was drawn, and its weight.
const DISTRIBUTION: u16 = 0x0101;
/// The coefficients of a secret.
const COEFFICIENTS: u16 = 0x0102;

/// One word: the exponent k of the automorphism that a key of a set is for, 0 for relinearisation.
const ELEMENT: u16 = 0x0101;
/// Three words: the limbs, special primes and digits of a key's shape, unless it is the usual one.
const SHAPE: u16 = 0x0102;
/// The identity of the secret key that a key or a set belongs to; of a key switching key, behind it that of the secret key that
/// it switches from.
pub(super) const KEY: u16 = 0x0103;
/// The seed of the uniform halves.
pub(super) const SEED: u16 = 0x0110;
/// The half b of a public key.
pub(super) const B: u16 = 0x0111;
/// The half b of the first digit of a key switching key; the other digits have the tags behind it.
const DIGIT: u16 = 0x0120;
/// The half a of the first digit of a key switching key without a seed, and those of the others behind it.
const UNSEEDED_DIGIT: u16 = 0x0180;

/// Words of a shape, and bytes of a seed.
const SHAPE_WORDS: usize = 3;
const SEED_BYTES: usize = 32;
/// Bytes of the identities of a key switching key.
const SWITCH_BYTES: usize = 2 * KeyId::BYTES;

/// The mark of relinearisation keys in place of an exponent, which is odd.
const RELINEARIZATION: u32 = 0;

impl Object for SecretKey {
    type Context = Context;
    const KIND: Kind = Kind::SECRET_KEY;

    fn needed_fingerprint(context: &Context) -> Option<[u8; 32]> {
        Some(context.parameters().fingerprint())
    }

    fn fingerprint(&self, _context: &Context) -> [u8; 32] {
        *SecretKey::fingerprint(self)
    }

    fn write<'a>(&'a self, _context: &'a Context, writer: &mut Writer<'a>) {
        let (bits, _) = width(self.distribution);
        writer.words(DISTRIBUTION, distribution_to_words(self.distribution).to_vec());
        writer.small(COEFFICIENTS, &self.coefficients, bits);
    }

    fn read(context: &Context, reader: &mut Reader<'_>) -> Result<Self> {
        let section = reader.take(DISTRIBUTION)?;
        let distribution = distribution_from_words(&section, section.word_array()?)?;
        let (bits, bound) = width(distribution);
        let coefficients = reader.take(COEFFICIENTS)?.small(context.parameters().degree(), bits, bound)?;
        if let SecretDistribution::SparseTernary(weight) = distribution {
            // The weight is public; the sum over all coefficients is the only thing that is looked at.
            let found: usize = coefficients.iter().map(|&x| usize::from(x.unsigned_abs())).sum();
            if found != weight {
                return Err(section.value("the weight", weight, "the number of nonzero coefficients"));
            }
        }
        // All coefficients are looked at, whatever they are.
        if coefficients.iter().fold(0, |any, x| any | x) == 0 {
            return Err(Error::ZeroKey { key: "secret key" });
        }
        Ok(secret_key(context, coefficients, distribution))
    }
}

impl Object for PublicKey {
    type Context = Context;
    const KIND: Kind = Kind::PUBLIC_KEY;

    fn needed_fingerprint(context: &Context) -> Option<[u8; 32]> {
        Some(context.parameters().fingerprint())
    }

    fn fingerprint(&self, _context: &Context) -> [u8; 32] {
        *PublicKey::fingerprint(self)
    }

    fn write<'a>(&'a self, context: &'a Context, writer: &mut Writer<'a>) {
        writer.bytes(KEY, self.owner.key.0.as_slice());
        writer.bytes(SEED, self.seed.as_bytes().as_slice());
        writer.poly(B, context.ring_q(context.parameters().max_limbs()), &self.b);
    }

    fn read(context: &Context, reader: &mut Reader<'_>) -> Result<Self> {
        let ring = context.ring_q(context.parameters().max_limbs());
        let owner = Owner { fingerprint: context.parameters().fingerprint(), key: KeyId(reader.take(KEY)?.array()?) };
        let seed = Seed::from_bytes(reader.take(SEED)?.array()?);
        let b = reader.take(B)?.poly(&ring)?;
        check_public(&ring, &b)?;
        let a = public_half(&ring, &seed);
        Ok(Self { b, a, seed, owner })
    }
}

impl Object for KeySwitchKey {
    type Context = Context;
    const KIND: Kind = Kind::KEY_SWITCH_KEY;

    fn needed_fingerprint(context: &Context) -> Option<[u8; 32]> {
        Some(context.parameters().fingerprint())
    }

    fn fingerprint(&self, _context: &Context) -> [u8; 32] {
        *KeySwitchKey::fingerprint(self)
    }

    fn write<'a>(&'a self, context: &'a Context, writer: &mut Writer<'a>) {
        write_start(self, context, writer);
        for (tag, digit) in (DIGIT..).zip(0..self.pairs.digits()) {
            writer.key_half(tag, context.ring(), &self.pairs, digit, 0);
        }
        if self.seed.is_none() {
            for (tag, digit) in (UNSEEDED_DIGIT..).zip(0..self.pairs.digits()) {
                writer.key_half(tag, context.ring(), &self.pairs, digit, 1);
            }
        }
    }

    fn read(context: &Context, reader: &mut Reader<'_>) -> Result<Self> {
        let Start { shape, owner, from, seed } = Start::read(context, reader)?;
        let (limbs, first) = first_digit(context, shape, reader)?;
        let (ring, digits) = key_ring(context, shape, limbs)?;
        let b = first.poly(&ring)?;
        // Only now, as the first digit was there in full: a length that is only claimed allocates nothing.
        let mut pairs = ring.zero_key(digits);
        let mut halves = Vec::new();
        let mut take = |j, b: Poly<Eval>| match &seed {
            Some(seed) => ring.set_key_pair(&mut pairs, j, [&b, &digit_half(&ring, seed, j)]),
            None => halves.push(b),
        };
        take(0, b);
        for (j, tag) in (0..digits).zip(DIGIT..).skip(1) {
            take(j, reader.take(tag)?.poly(&ring)?);
        }
        for (j, (b, tag)) in halves.iter().zip(UNSEEDED_DIGIT..).enumerate() {
            ring.set_key_pair(&mut pairs, j, [b, &reader.take(tag)?.poly(&ring)?]);
        }
        Ok(Self { pairs, shape, seed, limbs, owner, from })
    }
}

/// The sections that keys of both forms begin with.
pub(super) struct Start {
    pub(super) shape: KeyShape,
    pub(super) owner: Owner,
    pub(super) from: KeyId,
    pub(super) seed: Option<Seed>,
}

impl Start {
    pub(super) fn read(context: &Context, reader: &mut Reader<'_>) -> Result<Self> {
        let parameters = context.parameters();
        let shape = reader.take_if(SHAPE).map(|section| read_shape(parameters, &section)).transpose()?;
        let ids = reader.take(KEY)?.array::<SWITCH_BYTES>()?;
        let [key, from] = [0, KeyId::BYTES].map(|at| KeyId(std::array::from_fn(|i| ids[at + i])));
        let owner = Owner { fingerprint: parameters.fingerprint(), key };
        let seed = reader.take_if(SEED).map(|section| section.array()).transpose()?.map(Seed::from_bytes);
        Ok(Self { shape: shape.unwrap_or(parameters.shape()), owner, from, seed })
    }
}

/// Adds the sections of a [`Start`].
pub(super) fn write_start<'a>(key: &'a KeySwitchKey, context: &Context, writer: &mut Writer<'a>) {
    if key.shape != context.parameters().shape() {
        let KeyShape { limbs, special, digits } = key.shape;
        writer.words(SHAPE, [limbs, special, digits].map(|count| count as u64).to_vec());
    }
    writer.bytes(KEY, [key.owner.key.0, key.from.0].concat());
    if let Some(seed) = &key.seed {
        writer.bytes(SEED, seed.as_bytes().as_slice());
    }
}

/// Announces the sections of [`write_start`].
pub(super) fn announce_start(context: &Context, shape: KeyShape, writer: &mut Writer<'_>) {
    if shape != context.parameters().shape() {
        writer.announce_words(SHAPE, SHAPE_WORDS);
    }
    writer.announce_bytes(KEY, SWITCH_BYTES);
    writer.announce_bytes(SEED, SEED_BYTES);
}

/// The limbs of a key, and the section of its first digit.
fn first_digit<'r>(context: &Context, shape: KeyShape, reader: &mut Reader<'r>) -> Result<(usize, Section<'r>)> {
    let first = reader.take(DIGIT)?;
    let (window, special) = (first.window()?, context.parameters().first_limb());
    let limbs = window.end.saturating_sub(special);
    if shape.digits == 0 || !(1..=shape.limbs).contains(&limbs) {
        let start = special - shape.special;
        let needed = format!("{start}.. with {} special primes and up to {} others", shape.special, shape.limbs);
        return Err(first.value("limbs", format!("{window:?}"), needed));
    }
    Ok((limbs, first))
}

impl KeySwitchKey {
    /// The outline of the key in the current item, whose sections are passed over without being expanded.
    pub(super) fn skim_seeded(context: &Context, reader: &mut Reader<'_>) -> Result<KeyOutline> {
        let Start { shape, owner, from, seed } = Start::read(context, reader)?;
        let (limbs, first) = first_digit(context, shape, reader)?;
        let (ring, digits) = key_ring(context, shape, limbs)?;
        let unseeded = (UNSEEDED_DIGIT..).take(if seed.is_none() { digits } else { 0 });
        for tag in (DIGIT..).take(digits).skip(1).chain(unseeded) {
            let (found, needed) = (reader.take(tag)?, ring.range());
            if found.window()? != needed {
                return Err(first.value("limbs", format!("{:?}", found.window()?), format!("{needed:?}")));
            }
        }
        Ok(KeyOutline { shape, limbs, owner, from, bytes: reader.item_bytes() })
    }

    /// Announces the sections of a key of this shape, for ciphertexts of `limbs` limbs, that is written later.
    ///
    /// # Errors
    /// [`Error::Parameters`] if the parameters have no such keys.
    pub fn announce(context: &Context, shape: KeyShape, limbs: usize, writer: &mut Writer<'_>) -> Result<()> {
        let (ring, digits) = key_ring(context, shape, limbs)?;
        announce_start(context, shape, writer);
        for (tag, _) in (DIGIT..).zip(0..digits) {
            writer.announce_poly(tag, &ring);
        }
        Ok(())
    }
}

impl Object for EvaluationKeys {
    type Context = Context;
    const KIND: Kind = Kind::EVALUATION_KEYS;

    fn needed_fingerprint(context: &Context) -> Option<[u8; 32]> {
        Some(context.parameters().fingerprint())
    }

    fn fingerprint(&self, _context: &Context) -> [u8; 32] {
        self.parameters.fingerprint()
    }

    /// Adds the identity of the secret key, then one item for each key.
    fn write<'a>(&'a self, context: &'a Context, writer: &mut Writer<'a>) {
        self.write_items(writer, |key, writer| key.write(context, writer));
    }

    /// Takes all items that are left.
    fn read(context: &Context, reader: &mut Reader<'_>) -> Result<Self> {
        Self::read_items(context, reader, |reader| KeySwitchKey::read(context, reader))
    }

    fn check_files(&self) -> Result<()> {
        Self::check_files(self)
    }
}

impl EvaluationKeys {
    /// Adds the identity of the secret key, then one item for each key: what it is for, and its sections by `write`.
    pub(super) fn write_items<'a>(
        &'a self,
        writer: &mut Writer<'a>,
        write: impl Fn(&'a KeySwitchKey, &mut Writer<'a>),
    ) {
        let relinearization = self.relinearization.iter().map(|key| (RELINEARIZATION, key));
        let galois = self.galois.iter().map(|(&k, key)| (k, key));
        writer.bytes(KEY, self.key.0.as_slice());
        for (element, key) in relinearization.chain(galois) {
            writer.next_item();
            writer.words(ELEMENT, vec![element.into()]);
            write(key, writer);
        }
    }

    /// Takes what [`EvaluationKeys::write_items`] wrote, the sections of a key by `read`: all items that are left.
    pub(super) fn read_items<'r>(
        context: &Context,
        reader: &mut Reader<'r>,
        read: impl Fn(&mut Reader<'r>) -> Result<KeySwitchKey>,
    ) -> Result<Self> {
        let mut keys = Self::new(context.parameters(), KeyId(reader.take(KEY)?.array()?));
        let mut previous = None;
        while let Some((element, section)) = next_key(context, reader, &mut previous)? {
            let key = Arc::new(read(reader)?);
            if keys.relinearization.is_none() && keys.galois.is_empty() {
                keys.shape = key.shape;
            } else if key.shape != keys.shape {
                return Err(section.value("the shape of the key", key.shape, "the same in all keys of a set"));
            }
            keys.check_key("a key of the set", &key)?;
            if element == RELINEARIZATION {
                keys.relinearization = Some(key);
            } else {
                keys.galois.insert(element, key);
            }
        }
        // Keys are read once, as they are made once.
        context.ring().engine().release();
        Ok(keys)
    }

    /// The use and the outline of each key in what [`EvaluationKeys::write`](Object::write) wrote, or
    /// [`EvaluationKeys::write_expanded`], as the kind of the container says: all items that are left.
    ///
    /// # Errors
    /// [`Error::Wire`] with the reason why a section is refused.
    pub fn skim(context: &Context, reader: &mut Reader<'_>) -> Result<Vec<(KeyUse, KeyOutline)>> {
        reader.take(KEY)?.array::<{ KeyId::BYTES }>()?;
        let (mut keys, mut previous) = (Vec::new(), None);
        while let Some((element, _)) = next_key(context, reader, &mut previous)? {
            let usage = KeyUse::of_element(element, context.parameters().index());
            keys.push((usage, KeySwitchKey::skim(context, reader)?));
        }
        Ok(keys)
    }
}

/// Goes to the next item, if one is left: the exponent of the automorphism that its key is for, or [`RELINEARIZATION`], and the
/// section that says so. Those of the key follow.
fn next_key<'r>(
    context: &Context,
    reader: &mut Reader<'r>,
    previous: &mut Option<u64>,
) -> Result<Option<(u32, Section<'r>)>> {
    if !reader.next_item()? {
        return Ok(None);
    }
    let section = reader.take(ELEMENT)?;
    let [element] = section.word_array()?;
    if previous.is_some_and(|previous| element <= previous) {
        return Err(section.value("the automorphism", element, "in ascending order"));
    }
    *previous = Some(element);
    match u32::try_from(element) {
        Ok(k) if k == RELINEARIZATION || context.check_automorphism(k).is_ok() => Ok(Some((k, section))),
        _ => Err(section.value("the automorphism", element, "0, or odd and below 2n")),
    }
}

/// The ring of a key of this shape for `limbs` limbs, and how many digits it has.
///
/// # Errors
/// [`Error::Parameters`] if the parameters have no such keys.
pub(super) fn key_ring(context: &Context, shape: KeyShape, limbs: usize) -> Result<(Ring, usize)> {
    let switching = context.switching(shape)?;
    if !(1..=shape.limbs).contains(&limbs) {
        let needed = format!("1 to the {} limbs of the shape", shape.limbs);
        return Err(Error::parameter("limbs", limbs, needed));
    }
    Ok((switching.ring_qp(limbs), switching.decomposer().gadget().digits_at(limbs).len()))
}

/// The shape of a key: not the usual one, which is left out, so that a key has one form only.
fn read_shape(parameters: &Parameters, section: &Section) -> Result<KeyShape> {
    let counts = section.word_array::<SHAPE_WORDS>()?;
    let [limbs, special, digits] = counts.map(|count| usize::try_from(count).unwrap_or(usize::MAX));
    let shape = KeyShape { limbs, special, digits };
    if shape == parameters.shape() || parameters.gadget_of(shape).is_err() {
        return Err(section.value(
            "the shape of the key",
            shape,
            "one of the parameters' primes, and not the usual one",
        ));
    }
    Ok(shape)
}

/// Bits and bound of the coefficients of a secret.
const fn width(distribution: SecretDistribution) -> (u32, i8) {
    match distribution {
        SecretDistribution::Ternary | SecretDistribution::SparseTernary(_) => (2, 1),
        // 7 bits hold up to 63.
        SecretDistribution::Gaussian => (7, GAUSSIAN_BOUND as i8),
        SecretDistribution::Joint(_) => (8, i8::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_request::KeyRequest;
    use crate::keygen::KeyGenerator;
    use crate::parameters::ParametersSpec;
    use crate::security::Security;
    use crate::wire::writer::Form;
    use noren_math::prime::primes_below;

    #[test]
    fn uniform_halves_come_back_from_their_seeds() {
        let (q, p) = (primes_below(1 << 30, 32).take(3).collect(), primes_below(1 << 31, 32).take(1).collect());
        let spec = ParametersSpec { index: 32, q, p, security: Security::None, ..ParametersSpec::default() };
        let context = Context::new(spec.build().expect("supported")).expect("supported");
        let generator = KeyGenerator::new(&context, Seed::from_bytes([1; 32]));
        let secret = generator.secret();
        let public = generator.public(&secret).expect("no security asked for");
        let request = KeyRequest { relinearization: Some(3), galois: vec![(5, 2), (31, 3)] };
        let keys = generator.evaluation_keys(&secret, &request, None).expect("no security asked for");
        for form in [Form::Raw, Form::Packed] {
            let again = SecretKey::from_bytes(&context, &secret.to_bytes(&context, form)).expect("just written");
            assert_eq!(*again.coefficients, *secret.coefficients);
            let [again, before] = [&again, &secret].map(|secret| context.ring().to_words(&secret.over(context.ring())));
            assert_eq!(again, before);
            let again = PublicKey::from_bytes(&context, &public.to_bytes(&context, form)).expect("just written");
            let ring = context.ring_q(3);
            for (left, right) in [(&again.a, &public.a), (&again.b, &public.b)] {
                assert_eq!(ring.to_words(left), ring.to_words(right));
            }
            let again = EvaluationKeys::from_bytes(&context, &keys.to_bytes(&context, form)).expect("just written");
            assert_eq!(again.automorphisms().map(|(k, _)| k).collect::<Vec<_>>(), [5, 31]);
            let pairs = keys.automorphisms().zip(again.automorphisms()).map(|((_, left), (_, right))| (left, right));
            for (left, right) in pairs.chain(keys.relinearization.iter().zip(&again.relinearization)) {
                assert_eq!((left.limbs, left.pairs.digits()), (right.limbs, right.pairs.digits()));
                let ring = context.ring_qp(left.limbs);
                let words = |key: &KeySwitchKey, j| ring.key_pair(&key.pairs, j).map(|half| ring.to_words(&half));
                for j in 0..left.pairs.digits() {
                    assert_eq!(words(left, j), words(right, j));
                }
            }
        }
    }
}
