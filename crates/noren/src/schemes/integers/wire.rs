//! Bytes of parameters, plaintexts and ciphertexts of exact integers.
//!
//! The container, and the sections of what a ciphertext wraps, are those of [`noren_rlwe::wire`]; here are the sections
//! that integers add. `docs/wire.md` describes them byte by byte.

use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::parameters::Parameters as RlweParameters;
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::list;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::reader::Reader;
use noren_rlwe::wire::reason::Reason;
use noren_rlwe::wire::section::Section;
use noren_rlwe::wire::writer::Writer;

use crate::schemes::extent::{EXTENT_NEEDED, Extent};
use crate::schemes::integers::content::{Content, Encoding};
use crate::schemes::integers::context::Context;
use crate::schemes::integers::encoder::Encoder;
use crate::schemes::integers::encryption::Ciphertext;
use crate::schemes::integers::noise::Noise;
use crate::schemes::integers::parameters::{Parameters, ParametersSpec};
use crate::schemes::integers::plaintext::Plaintext;
use crate::schemes::integers::scheme::Scheme;
use crate::schemes::integers::slot_matrix::{Giant, SlotMatrix};
use crate::schemes::summary::CiphertextSummary;

/// Parameters: one word, the plaintext modulus.
const MODULUS: u16 = 0x01;
/// Parameters: the sizes of the primes q, and of the primes p, in bits.
const LOG_Q: u16 = 0x02;
const LOG_P: u16 = 0x03;
/// Plaintexts: one word for each coefficient, from 0 to t - 1.
const COEFFICIENTS: u16 = 0x01;
/// Plaintexts and ciphertexts: three words, the encoding (0 slots, 1 coefficients) with `log2` of the stretch times 2^8, the
/// length (0 for all), the period.
const CONTENT: u16 = 0x03;
/// The factor of `log2` of a stretch, beside the encoding.
const STRETCH: u64 = 1 << 8;
/// Ciphertexts: one word, the factor.
const FACTOR: u16 = 0x01;
/// Ciphertexts: the base-two logarithms of the variances of the noise by degree, each as the bits of an `f64`.
const NOISE: u16 = 0x02;

/// Matrices: three words, the rows, the columns and the limbs.
const SHAPE: u16 = 0x01;
/// Matrices: the exponents of the baby steps.
const BABIES: u16 = 0x02;
/// Matrices: of each giant step the exponent, the number of its factors, and the positions of their baby steps.
const GIANTS: u16 = 0x03;
/// Matrices: the residues modulo t of the coefficients of all factors, `floor(64/b)` in each word from the low bits up, for the
/// b bits of `t - 1`; each factor begins with a word of its own.
const FACTORS: u16 = 0x04;

/// The most parts of a ciphertext: a product that is not relinearised.
const MOST_DEGREE: usize = 2;

impl Object for Parameters {
    type Context = ();
    const KIND: Kind = Kind::INTEGER_PARAMETERS;

    fn needed_fingerprint((): &()) -> Option<[u8; 32]> {
        None
    }

    fn fingerprint(&self, (): &()) -> [u8; 32] {
        Parameters::fingerprint(self)
    }

    fn write<'a>(&'a self, (): &'a (), writer: &mut Writer<'a>) {
        writer.words(MODULUS, vec![self.modulus().value()]);
        writer.sizes(LOG_Q, &self.spec().log_q);
        writer.sizes(LOG_P, &self.spec().log_p);
        self.rlwe().write(&(), writer);
    }

    /// Chooses the primes again, which must be those of the file. Whether their security is enough is for the caller to
    /// say: they may have been made with [`Security::None`](noren_rlwe::security::Security::None).
    fn read((): &(), reader: &mut Reader<'_>) -> Result<Self> {
        let [plaintext_modulus] = reader.take(MODULUS)?.word_array()?;
        let log_q = reader.take(LOG_Q)?.sizes()?;
        let log_p = reader.take(LOG_P)?.sizes()?;
        let rlwe = RlweParameters::read(&(), reader)?;
        let (log_n, index) = match rlwe.log_n() {
            Ok(log_n) => (log_n, 0),
            Err(_) => (0, rlwe.index().index()),
        };
        let (dnum, secret, security) = (rlwe.dnum(), rlwe.secret(), rlwe.security());
        let spec = ParametersSpec { log_n, index, plaintext_modulus, log_q, log_p, dnum, secret, security };
        let parameters = spec.build()?;
        // The file does not name the auxiliary primes, which no byte depends on.
        if parameters.rlwe().fingerprint() == rlwe.fingerprint() {
            Ok(parameters)
        } else {
            Err(Error::Wire { what: Self::KIND.name(), reason: Reason::Fingerprint })
        }
    }
}

impl Object for Plaintext {
    type Context = Context;
    const KIND: Kind = Kind::INTEGER_PLAINTEXT;

    fn needed_fingerprint(context: &Context) -> Option<[u8; 32]> {
        Some(context.parameters().fingerprint())
    }

    fn fingerprint(&self, _: &Context) -> [u8; 32] {
        self.parameters.fingerprint()
    }

    fn write<'a>(&'a self, _: &'a Context, writer: &mut Writer<'a>) {
        let modulus = self.parameters.modulus();
        let residues = self.coefficients.iter().map(|&x| modulus.reduce(x.into()));
        writer.words(COEFFICIENTS, residues.collect::<Vec<u64>>());
        write_content(writer, self.content());
    }

    fn read(context: &Context, reader: &mut Reader<'_>) -> Result<Self> {
        let parameters = context.parameters();
        let (n, modulus) = (parameters.degree(), parameters.modulus());
        let section = reader.take(COEFFICIENTS)?;
        let words = section.words()?;
        if words.len() != n {
            return Err(section.value("the coefficients", words.len(), n));
        }
        let coefficient = |word| {
            let refused = || section.value("a coefficient", word, format!("below {}", modulus.value()));
            if word < modulus.value() { Ok(modulus.center(word)) } else { Err(refused()) }
        };
        let coefficients = words.iter().map(coefficient).collect::<Result<_>>()?;
        Ok(Self::new(parameters, coefficients, read_content(reader, parameters)?))
    }
}

impl<S: Scheme> Object for Ciphertext<S> {
    type Context = Context;
    const KIND: Kind = S::KIND;

    fn needed_fingerprint(context: &Context) -> Option<[u8; 32]> {
        Some(context.parameters().fingerprint())
    }

    fn fingerprint(&self, _: &Context) -> [u8; 32] {
        self.parameters.fingerprint()
    }

    fn write<'a>(&'a self, context: &'a Context, writer: &mut Writer<'a>) {
        writer.words(FACTOR, vec![self.factor]);
        writer.words(NOISE, self.noise.variances().iter().map(|x| x.to_bits()).collect::<Vec<_>>());
        write_content(writer, self.content());
        self.inner.write(context.rlwe(), writer);
    }

    fn read(context: &Context, reader: &mut Reader<'_>) -> Result<Self> {
        let parameters = context.parameters();
        let section = reader.take(FACTOR)?;
        let [factor] = section.word_array()?;
        if !parameters.modulus().is_unit(factor) {
            let needed = format!("a unit modulo {}", parameters.modulus().value());
            return Err(section.value("the factor", factor, needed));
        }
        let section = reader.take(NOISE)?;
        let variances: Vec<f64> = section.words()?.iter().map(f64::from_bits).collect();
        let degrees = variances.len();
        let noise = Noise::from_variances(variances);
        let needed = "logarithms of variances between 2^-65536 and 2^65536, or of 0";
        let noise = noise.ok_or_else(|| section.value("the noise", format!("{degrees} words"), needed))?;
        let content = read_content(reader, parameters)?;
        let inner = rlwe::Ciphertext::read(context.rlwe(), reader)?;
        if inner.degree() > MOST_DEGREE {
            return Err(Error::DegreeTooHigh { found: inner.degree(), needed: MOST_DEGREE });
        }
        Ok(Self::new(inner, factor, noise, content, parameters.clone()))
    }
}

impl<S: Scheme> Ciphertext<S> {
    /// The numbers of the ciphertext in the current item, whose sections are passed over: no context is needed.
    pub(crate) fn skim(reader: &mut Reader<'_>) -> Result<CiphertextSummary> {
        for tag in [FACTOR, NOISE, CONTENT] {
            reader.take(tag)?;
        }
        CiphertextSummary::read(reader)
    }
}

/// Several ciphertexts in one container.
#[derive(Clone)]
pub struct Ciphertexts<S>(pub Vec<Ciphertext<S>>);

impl<S: Scheme> Object for Ciphertexts<S> {
    type Context = Context;
    const KIND: Kind = S::KIND_OF_SEVERAL;

    fn needed_fingerprint(context: &Context) -> Option<[u8; 32]> {
        Some(context.parameters().fingerprint())
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

impl Object for SlotMatrix {
    type Context = Context;
    const KIND: Kind = Kind::SLOT_MATRIX;

    fn needed_fingerprint(context: &Context) -> Option<[u8; 32]> {
        Some(context.parameters().fingerprint())
    }

    fn fingerprint(&self, _: &Context) -> [u8; 32] {
        self.parameters.fingerprint()
    }

    fn write<'a>(&'a self, _: &'a Context, writer: &mut Writer<'a>) {
        self.write_coefficients(writer);
    }

    /// Transforms all factors again.
    fn read(context: &Context, reader: &mut Reader<'_>) -> Result<Self> {
        let mut matrix = Self::read_coefficients(context, reader)?;
        let (encoder, limbs) = (Encoder::new(context), matrix.limbs);
        for giant in &mut matrix.giants {
            giant.terms = encoder.prepare_factors(std::mem::take(&mut giant.terms), limbs)?;
        }
        Ok(matrix)
    }
}

impl SlotMatrix {
    /// The steps, and the coefficients of all factors.
    pub(super) fn write_coefficients(&self, writer: &mut Writer<'_>) {
        let modulus = self.parameters.modulus();
        let packed = PackedResidues::new(modulus.value());
        writer.words(SHAPE, self.shape.iter().chain([&self.limbs]).map(|&x| x as u64).collect::<Vec<_>>());
        writer.words(BABIES, self.babies.iter().map(|&k| u64::from(k)).collect::<Vec<_>>());
        let (mut giants, mut factors) = (Vec::new(), Vec::new());
        for giant in &self.giants {
            giants.extend([u64::from(giant.exponent), giant.terms.len() as u64]);
            for (baby, factor) in &giant.terms {
                giants.push(*baby as u64);
                packed.pack(factor.coefficients.iter().map(|&x| modulus.reduce(x.into())), &mut factors);
            }
        }
        writer.words(GIANTS, giants);
        writer.words(FACTORS, factors);
    }

    /// The matrix of [`SlotMatrix::write_coefficients`], whose factors are not transformed.
    pub(super) fn read_coefficients(context: &Context, reader: &mut Reader<'_>) -> Result<Self> {
        let parameters = context.parameters();
        let (n, ring, slots) = (parameters.degree(), parameters.rlwe().index(), parameters.slots());
        let most = Self::most_factors(context)?;
        let section = reader.take(SHAPE)?;
        let [rows, columns, limbs] = section.word_array()?.map(|x| usize::try_from(x).unwrap_or(usize::MAX));
        let fits = |x: usize, most: usize| (1..=most).contains(&x);
        if !fits(rows, slots) || !fits(columns, slots) || !fits(limbs, parameters.max_limbs()) {
            let needed = format!("up to {slots} rows and columns, and {} limbs", parameters.max_limbs());
            return Err(section.value("the shape of a matrix", format!("{rows}, {columns}, {limbs}"), needed));
        }
        let exponent = |section: &Section<'_>, k: u64| {
            let unit = u32::try_from(k).ok().filter(|&k| k < ring.index() && ring.inverse(k).is_ok());
            unit.ok_or_else(|| section.value("an exponent", k, format!("one of the units modulo {}", ring.index())))
        };
        let section = reader.take(BABIES)?;
        let babies = section.words()?.iter().map(|k| exponent(&section, k)).collect::<Result<Vec<_>>>()?;
        let section = reader.take(GIANTS)?;
        let mut words = section.words()?.iter();
        let mut steps = Vec::new();
        while let Some(k) = words.next() {
            let count = words.next().unwrap_or(0);
            let positions: Vec<usize> =
                words.by_ref().take(count.min(most as u64) as usize).map(|x| x as usize).collect();
            let ascend = positions.is_sorted_by(|x, y| x < y) && positions.last().is_some_and(|&x| x < babies.len());
            if positions.len() as u64 != count || !ascend {
                let needed = format!("ascending positions of {} baby steps", babies.len());
                return Err(section.value("the factors of a giant step", count, needed));
            }
            steps.push((exponent(&section, k)?, positions));
        }
        let factors = steps.iter().map(|(_, positions)| positions.len()).sum::<usize>();
        if factors > most || babies.len() > most {
            return Err(section.value("factors", factors.max(babies.len()), format!("up to {most}")));
        }
        let section = reader.take(FACTORS)?;
        let (words, packed) = (section.words()?, PackedResidues::new(parameters.modulus().value()));
        if words.len() != factors * packed.words(n) {
            return Err(section.value("words of factors", words.len(), factors * packed.words(n)));
        }
        let words: Vec<u64> = words.iter().collect();
        let mut rows_of_words = words.chunks_exact(packed.words(n));
        let encoder = Encoder::new(context);
        let mut factor = |position: usize| {
            let residues = rows_of_words.next().and_then(|words| packed.unpack(words, n));
            let needed = format!("residues modulo {}, and zeros after them", parameters.modulus().value());
            let residues = residues.ok_or_else(|| section.value("a factor", "others", needed))?;
            let plaintext = encoder.of_residues(&residues, Extent::of_slots(slots));
            Ok((position, plaintext))
        };
        let giant = |(exponent, positions): (u32, Vec<usize>)| {
            let terms = positions.into_iter().map(&mut factor).collect::<Result<_>>()?;
            Ok(Giant { exponent, terms })
        };
        let giants = steps.into_iter().map(giant).collect::<Result<_>>()?;
        Ok(Self { parameters: parameters.clone(), shape: [rows, columns], limbs, babies, giants })
    }
}

/// Residues modulo t, several in a word.
struct PackedResidues {
    t: u64,
    bits: u32,
}

impl PackedResidues {
    fn new(t: u64) -> Self {
        Self { t, bits: u64::BITS - (t - 1).leading_zeros() }
    }

    /// How many are in a word.
    fn per_word(&self) -> usize {
        (u64::BITS / self.bits) as usize
    }

    /// How many words a row of n takes.
    fn words(&self, n: usize) -> usize {
        n.div_ceil(self.per_word())
    }

    fn pack(&self, residues: impl Iterator<Item = u64>, out: &mut Vec<u64>) {
        let start = out.len();
        for (i, x) in residues.enumerate() {
            let (word, place) = (start + i / self.per_word(), (i % self.per_word()) as u32);
            if word == out.len() {
                out.push(0);
            }
            out[word] |= x << (place * self.bits);
        }
    }

    /// n residues; nothing if one is none, or if bits are left.
    fn unpack(&self, words: &[u64], n: usize) -> Option<Vec<u64>> {
        let mut residues = Vec::with_capacity(n);
        for &word in words {
            let mut rest = word;
            for _ in 0..self.per_word().min(n - residues.len()) {
                residues.push(rest & (u64::MAX >> (u64::BITS - self.bits)));
                rest = rest.checked_shr(self.bits).unwrap_or(0);
            }
            if rest != 0 {
                return None;
            }
        }
        residues.iter().all(|&x| x < self.t).then_some(residues)
    }
}

fn read_content(reader: &mut Reader<'_>, parameters: &Parameters) -> Result<Content> {
    let section = reader.take(CONTENT)?;
    let [code, length, period] = section.word_array()?;
    let refused =
        || section.value("the content", format!("{code}, {length}, {period}"), format!("0 or 1, {EXTENT_NEEDED}"));
    let encoding = match code % STRETCH {
        0 => Encoding::Slots,
        1 => Encoding::Coefficients,
        _ => return Err(refused()),
    };
    let [length, period] = [length, period].map(|word| usize::try_from(word).unwrap_or(usize::MAX));
    let extent =
        Extent::new((length > 0).then_some(length), period, encoding.places(parameters)).map_err(|_| refused())?;
    let content = Content::new(encoding, extent);
    match code / STRETCH {
        0 => Ok(content),
        log_stretch @ 1..64 => content.with_stretch(1 << log_stretch, parameters).map_err(|_| refused()),
        _ => Err(refused()),
    }
}

fn write_content(writer: &mut Writer<'_>, content: Content) {
    let extent = content.extent();
    // A number in all slots says so by its period.
    let log_stretch = if extent.is_number() { 0 } else { u64::from(content.log_stretch()) };
    let code = u64::from(content.encoding() == Encoding::Coefficients) + log_stretch * STRETCH;
    writer.words(CONTENT, vec![code, extent.length().unwrap_or(0) as u64, extent.period() as u64]);
}
