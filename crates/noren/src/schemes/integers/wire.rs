//! Bytes of parameters, plaintexts and ciphertexts of exact integers.
//!
//! The container, and the sections of what a ciphertext wraps, are those of [`noren_rlwe::wire`]; here are the sections
//! that integers add. `docs/wire.md` describes them byte by byte.

use std::marker::PhantomData;

use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::parameters::Parameters as RlweParameters;
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::list;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::reader::Reader;
use noren_rlwe::wire::reason::Reason;
use noren_rlwe::wire::writer::Writer;

use crate::schemes::extent::{EXTENT_NEEDED, Extent};
use crate::schemes::integers::content::{Content, Encoding};
use crate::schemes::integers::context::Context;
use crate::schemes::integers::encoder::Plaintext;
use crate::schemes::integers::encryption::Ciphertext;
use crate::schemes::integers::noise::Noise;
use crate::schemes::integers::parameters::{Parameters, ParametersSpec};
use crate::schemes::integers::scheme::Scheme;

/// Parameters: one word, the plaintext modulus.
const MODULUS: u16 = 0x01;
/// Parameters: the sizes of the primes q, and of the primes p, in bits.
const LOG_Q: u16 = 0x02;
const LOG_P: u16 = 0x03;
/// Plaintexts: one word for each coefficient, from 0 to t - 1.
const COEFFICIENTS: u16 = 0x01;
/// Plaintexts and ciphertexts: three words, the encoding (0 slots, 1 coefficients), the length (0 for all), the period.
const CONTENT: u16 = 0x03;
/// Ciphertexts: one word, the factor.
const FACTOR: u16 = 0x01;
/// Ciphertexts: the base-two logarithms of the variances of the noise by degree, each as the bits of an `f64`.
const NOISE: u16 = 0x02;

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
        write_content(writer, self.content);
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
        write_content(writer, self.content);
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
        Ok(Self { inner, factor, noise, content, parameters: parameters.clone(), scheme: PhantomData })
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

fn read_content(reader: &mut Reader<'_>, parameters: &Parameters) -> Result<Content> {
    let section = reader.take(CONTENT)?;
    let [code, length, period] = section.word_array()?;
    let refused =
        || section.value("the content", format!("{code}, {length}, {period}"), format!("0 or 1, {EXTENT_NEEDED}"));
    let encoding = match code {
        0 => Encoding::Slots,
        1 => Encoding::Coefficients,
        _ => return Err(refused()),
    };
    let [length, period] = [length, period].map(|word| usize::try_from(word).unwrap_or(usize::MAX));
    let extent =
        Extent::new((length > 0).then_some(length), period, encoding.places(parameters)).map_err(|_| refused())?;
    Ok(Content { encoding, extent })
}

fn write_content(writer: &mut Writer<'_>, content: Content) {
    let code = u64::from(content.encoding == Encoding::Coefficients);
    let extent = content.extent;
    writer.words(CONTENT, vec![code, extent.length().unwrap_or(0) as u64, extent.period() as u64]);
}
