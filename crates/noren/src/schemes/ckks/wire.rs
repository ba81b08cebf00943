//! Bytes of CKKS parameters, plaintexts and ciphertexts.
//!
//! The container, and the sections of what a plaintext or ciphertext wraps, are those of [`noren_rlwe::wire`]; here are
//! the sections that CKKS adds. `docs/wire.md` describes them byte by byte.

use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::context::Context as RlweContext;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::parameters::Parameters as RlweParameters;
use noren_rlwe::wire::header::MAX_LIMBS;
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::list;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::reader::Reader;
use noren_rlwe::wire::reason::Reason;
use noren_rlwe::wire::section::Section;
use noren_rlwe::wire::writer::Writer;

use crate::schemes::ckks::content::Content;
use crate::schemes::ckks::context::Context;
use crate::schemes::ckks::encryption::Ciphertext;
use crate::schemes::ckks::estimate::{Estimate, Group, Key, Nature};
use crate::schemes::ckks::message::{Message, Polynomials};
use crate::schemes::ckks::parameters::{Parameters, ParametersSpec};
use crate::schemes::ckks::scale::Scale;
use crate::schemes::extent::{EXTENT_NEEDED, Extent};
use crate::schemes::range::Range;
use crate::schemes::summary::CiphertextSummary;

/// Parameters: one word, the base-two logarithm of the highest scale.
const LOG_SCALE: u16 = 0x01;
/// Parameters: the sizes of the primes q, and of the primes p, in bits.
const LOG_Q: u16 = 0x02;
const LOG_P: u16 = 0x03;
/// Parameters: two words for each restart of the chain of scales, the level and the base-two logarithm of its scale; only where
/// there are any.
const RESTARTS: u16 = 0x04;
/// Samples: ten words, the slots, the two parts of the scale, whether the message is real, its lowest and highest value
/// (the negative magnitude and the magnitude, if it is not), the bias, the name, the length (0 for all slots) and the
/// period.
const MEANING: u16 = 0x01;
const MEANING_WORDS: usize = 10;
/// Samples: four words for each group of error sources, the key, the members (low, high), the variance.
const SOURCES: u16 = 0x02;

/// The words of one group.
const GROUP_WORDS: usize = 4;

/// Several ciphertexts in one container.
#[derive(Clone)]
pub struct Ciphertexts(pub Vec<Ciphertext>);

impl Object for Parameters {
    type Context = ();
    const KIND: Kind = Kind::CKKS_PARAMETERS;

    fn needed_fingerprint((): &()) -> Option<[u8; 32]> {
        None
    }

    fn fingerprint(&self, (): &()) -> [u8; 32] {
        Parameters::fingerprint(self)
    }

    fn write<'a>(&'a self, (): &'a (), writer: &mut Writer<'a>) {
        writer.words(LOG_SCALE, vec![u64::from(self.log_scale())]);
        writer.sizes(LOG_Q, &self.spec().log_q);
        writer.sizes(LOG_P, &self.spec().log_p);
        let restarts = &self.spec().restarts;
        if !restarts.is_empty() {
            let words = restarts.iter().flat_map(|&(level, bits)| [level as u64, u64::from(bits)]);
            writer.words(RESTARTS, words.collect::<Vec<_>>());
        }
        self.rlwe().write(&(), writer);
    }

    /// Chooses the primes again, which must be those of the file. Whether their security is enough is for the caller to
    /// say: they may have been made with [`Security::None`](noren_rlwe::security::Security::None).
    fn read((): &(), reader: &mut Reader<'_>) -> Result<Self> {
        let section = reader.take(LOG_SCALE)?;
        let [log_scale] = section.word_array()?;
        let log_scale = section.size(log_scale)?;
        let log_q = reader.take(LOG_Q)?.sizes()?;
        let log_p = reader.take(LOG_P)?.sizes()?;
        let restarts = reader.take_if(RESTARTS).as_ref().map_or_else(|| Ok(Vec::new()), restarts)?;
        let rlwe = RlweParameters::read(&(), reader)?;
        let (log_n, dnum, secret, security) = (rlwe.log_n()?, rlwe.dnum(), rlwe.secret(), rlwe.security());
        let spec = ParametersSpec { log_n, log_q, log_p, log_scale, restarts, dnum, secret, security };
        let parameters = spec.build()?;
        if *parameters.rlwe() == rlwe { Ok(parameters) } else { Err(refused(Self::KIND, Reason::Fingerprint)) }
    }
}

/// The object that a message on the wire wraps.
pub trait Wrapped: Object<Context = RlweContext> + Polynomials {
    /// The kind of container that holds it with its meaning.
    const MESSAGE_KIND: Kind;

    /// Refuses what evaluators do not take.
    ///
    /// # Errors
    /// [`Error::DegreeTooHigh`].
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

impl Wrapped for rlwe::Plaintext {
    const MESSAGE_KIND: Kind = Kind::CKKS_PLAINTEXT;
}

impl Wrapped for rlwe::Ciphertext {
    const MESSAGE_KIND: Kind = Kind::CKKS_CIPHERTEXT;

    /// Evaluators keep every ciphertext at two parts and rely on it.
    fn check(&self) -> Result<()> {
        if self.degree() == 1 { Ok(()) } else { Err(Error::DegreeTooHigh { found: self.degree(), needed: 1 }) }
    }
}

impl<T: Wrapped> Object for Message<T> {
    type Context = Context;
    const KIND: Kind = T::MESSAGE_KIND;

    fn needed_fingerprint(context: &Context) -> Option<[u8; 32]> {
        Some(context.parameters().fingerprint())
    }

    fn fingerprint(&self, _: &Context) -> [u8; 32] {
        self.parameters().fingerprint()
    }

    fn write<'a>(&'a self, context: &'a Context, writer: &mut Writer<'a>) {
        write_meaning(writer, self.content(), self.scale());
        self.rlwe().write(context.rlwe(), writer);
    }

    fn read(context: &Context, reader: &mut Reader<'_>) -> Result<Self> {
        let (content, scale) = read_meaning(context, reader)?;
        let inner = T::read(context.rlwe(), reader)?;
        inner.check()?;
        Ok(Self::new(inner, scale, content, context.parameters().clone()))
    }
}

impl Ciphertext {
    /// The numbers of the ciphertext in the current item, whose sections are passed over: no context is needed.
    pub(crate) fn skim(reader: &mut Reader<'_>) -> Result<CiphertextSummary> {
        let section = reader.take(MEANING)?;
        let [slots, high, low, ..] = section.word_array::<MEANING_WORDS>()?;
        let log_scale = read_scale(&section, [high, low])?.log2();
        reader.take(SOURCES)?;
        Ok(CiphertextSummary { slots: Some(slots), log_scale: Some(log_scale), ..CiphertextSummary::read(reader)? })
    }
}

impl Object for Ciphertexts {
    type Context = Context;
    const KIND: Kind = Kind::CKKS_CIPHERTEXTS;

    fn needed_fingerprint(context: &Context) -> Option<[u8; 32]> {
        Ciphertext::needed_fingerprint(context)
    }

    fn fingerprint(&self, context: &Context) -> [u8; 32] {
        context.parameters().fingerprint()
    }

    /// # Panics
    /// If there are none.
    fn write<'a>(&'a self, context: &'a Context, writer: &mut Writer<'a>) {
        list::write_all(&self.0, context, writer);
    }

    fn read(context: &Context, reader: &mut Reader<'_>) -> Result<Self> {
        list::read_all(context, reader).map(Self)
    }
}

fn write_meaning(writer: &mut Writer<'_>, content: &Content, scale: &Scale) {
    let (slots, extent, estimate) = (content.slots(), content.extent(), content.estimate());
    let (high, low) = scale.parts();
    let magnitude = estimate.magnitude();
    let interval = estimate.range().interval();
    let [lowest, highest] = interval.unwrap_or([-magnitude, magnitude]).map(f64::to_bits);
    let scale = [high, low].map(f64::to_bits);
    let known = [u64::from(interval.is_some()), lowest, highest, estimate.bias().to_bits()];
    let extent = [extent.length().unwrap_or(0), extent.period()].map(|count| count as u64);
    writer.words(MEANING, [&[slots as u64], &scale[..], &known, &[estimate.tag()], &extent].concat());
    let words = |group: &Group| {
        let members = group.members;
        [code(group.key), members as u64, (members >> u64::BITS) as u64, group.variance.to_bits()]
    };
    writer.words(SOURCES, estimate.groups().iter().flat_map(words).collect::<Vec<_>>());
}

fn read_meaning(context: &Context, reader: &mut Reader<'_>) -> Result<(Content, Scale)> {
    let section = reader.take(MEANING)?;
    let [slots, high, low, real, lowest, highest, bias, tag, length, period] = section.word_array::<MEANING_WORDS>()?;
    let most = context.parameters().max_slots();
    let slots = match usize::try_from(slots) {
        Ok(slots) if slots.is_power_of_two() && slots <= most => slots,
        _ => return Err(section.value("the slots", slots, format!("a power of two up to {most}"))),
    };
    let refused = || section.value("the extent", format!("{length}, {period}"), EXTENT_NEEDED);
    let [length, period] = [length, period].map(|word| usize::try_from(word).unwrap_or(usize::MAX));
    let extent = Extent::new((length > 0).then_some(length), period, slots).map_err(|_| refused())?;
    let [lowest, highest, bias] = [lowest, highest, bias].map(f64::from_bits);
    let range = match real {
        1 if lowest <= highest => Range::real(lowest, highest),
        // As it is written, to the sign of zero.
        0 if lowest == -highest && highest.is_sign_positive() && lowest.is_sign_negative() => Range::disc(highest),
        _ => {
            let found = format!("{real}, {lowest} to {highest}");
            return Err(section.value("the range", found, "1 and an interval, or 0 and a disc about zero"));
        }
    };
    let scale = read_scale(&section, [high, low])?;
    let sources = reader.take(SOURCES)?;
    let words: Vec<u64> = sources.words()?.iter().collect();
    let (groups, rest) = words.as_chunks::<GROUP_WORDS>();
    let groups: Option<Vec<Group>> = groups.iter().map(group).collect();
    let estimate = groups.filter(|_| rest.is_empty()).and_then(|groups| Estimate::from_parts(range, bias, tag, groups));
    let needed = "numbers that are not negative, and groups in order";
    let estimate = estimate.ok_or_else(|| sources.value("the estimate", format!("{} words", words.len()), needed))?;
    Ok((Content::new(slots, extent, estimate), scale))
}

fn read_scale(section: &Section<'_>, parts: [u64; 2]) -> Result<Scale> {
    let [high, low] = parts.map(f64::from_bits);
    let scale = Scale::from_parts(high, low);
    scale.ok_or_else(|| section.value("the scale", format!("{high} + {low}"), "positive, in two parts"))
}

/// The key of a group as one word: nature, class and bucket, a byte each.
fn code(key: Key) -> u64 {
    let nature = match key.nature {
        Nature::Plain => 0,
        Nature::Secret => 1,
        Nature::PublicKey => 2,
    };
    nature << 16 | u64::from(key.class) << 8 | u64::from(key.bucket)
}

fn group(&[key, low, high, variance]: &[u64; GROUP_WORDS]) -> Option<Group> {
    let nature = match key >> 16 {
        0 => Nature::Plain,
        1 => Nature::Secret,
        2 => Nature::PublicKey,
        _ => return None,
    };
    let key = Key { nature, class: (key >> 8) as u8, bucket: key as u8 };
    let members = u128::from(high) << u64::BITS | u128::from(low);
    Some(Group { key, members, variance: f64::from_bits(variance) })
}

fn restarts(section: &Section<'_>) -> Result<Vec<(usize, u32)>> {
    let words = section.words()?;
    if words.is_empty() || words.len() % 2 == 1 || words.len() > 2 * MAX_LIMBS {
        let needed = format!("two for each restart, of which there are 1 to {MAX_LIMBS}");
        return Err(section.value("the words of restarts", words.len(), needed));
    }
    let words: Vec<u64> = words.iter().collect();
    // A level that is no usize is above all others.
    let level = |word| usize::try_from(word).unwrap_or(usize::MAX);
    words.as_chunks::<2>().0.iter().map(|&[word, size]| Ok((level(word), section.size(size)?))).collect()
}

fn refused(kind: Kind, reason: Reason) -> Error {
    Error::Wire { what: kind.name(), reason }
}
