//! Parameters as sections.

use crate::error::Result;
use crate::parameters::{Parameters, ParametersSpec, index_of_word, index_word};
use crate::security::{SecretDistribution, Security};
use crate::wire::header::{MAX_LIMBS, MAX_LOG_DEGREE};
use crate::wire::kind::Kind;
use crate::wire::object::Object;
use crate::wire::reader::Reader;
use crate::wire::section::Section;
use crate::wire::writer::Writer;

/// Five words: log n (2^32 + m for an index m that is not a power of two), number of digits, secret, weight of the
/// secret or its number of parties, security in bits.
const SHAPE: u16 = 0x0101;
/// The primes `q_0 ... q_L`.
const Q: u16 = 0x0102;
/// The special primes.
const P: u16 = 0x0103;

const TERNARY: u64 = 0;
const SPARSE_TERNARY: u64 = 1;
const GAUSSIAN: u64 = 2;
const JOINT: u64 = 3;

impl Object for Parameters {
    type Context = ();
    const KIND: Kind = Kind::PARAMETERS;

    fn needed_fingerprint((): &()) -> Option<[u8; 32]> {
        None
    }

    fn fingerprint(&self, (): &()) -> [u8; 32] {
        Parameters::fingerprint(self)
    }

    fn write<'a>(&'a self, (): &'a (), writer: &mut Writer<'a>) {
        let [secret, weight] = distribution_to_words(self.secret());
        let security = match self.security() {
            Security::None => 0,
            Security::Bits128 => 128,
            Security::Bits192 => 192,
            Security::Bits256 => 256,
        };
        writer.words(SHAPE, vec![index_word(self.index()), self.dnum() as u64, secret, weight, security]);
        writer.words(Q, self.q());
        writer.words(P, self.p());
    }

    /// Reads parameters and checks them again. Whether their security is enough is for the caller to say: they may have
    /// been made with [`Security::None`].
    fn read((): &(), reader: &mut Reader<'_>) -> Result<Self> {
        let shape = reader.take(SHAPE)?;
        let [word, dnum, secret, weight, security] = shape.word_array()?;
        let needed = || format!("log n of at most {MAX_LOG_DEGREE}, or 2^32 + m for another index m");
        let index = index_of_word(word).ok_or_else(|| shape.value("the index", word, needed()))?;
        let secret = distribution_from_words(&shape, [secret, weight])?;
        let security = match security {
            0 => Security::None,
            128 => Security::Bits128,
            192 => Security::Bits192,
            256 => Security::Bits256,
            _ => return Err(shape.value("the security", security, "0, 128, 192 or 256")),
        };
        let (q, p) = (primes(&reader.take(Q)?)?, primes(&reader.take(P)?)?);
        let digits = usize::try_from(dnum).unwrap_or(usize::MAX);
        let parameters =
            ParametersSpec { index, q, p, dnum: digits, secret, security, ..ParametersSpec::default() }.build()?;
        // A specification may leave the number of digits open, a file may not: there is one encoding of each object.
        if parameters.dnum() == digits {
            Ok(parameters)
        } else {
            Err(shape.value("the number of digits", dnum, parameters.dnum()))
        }
    }
}

/// How secrets are drawn, and the weight of sparse ones or the parties of joint ones.
pub(super) const fn distribution_to_words(distribution: SecretDistribution) -> [u64; 2] {
    match distribution {
        SecretDistribution::Ternary => [TERNARY, 0],
        SecretDistribution::SparseTernary(weight) => [SPARSE_TERNARY, weight as u64],
        SecretDistribution::Gaussian => [GAUSSIAN, 0],
        SecretDistribution::Joint(parties) => [JOINT, parties as u64],
    }
}

/// Reads what [`distribution_to_words`] writes; the section is that of the words.
pub(super) fn distribution_from_words(section: &Section<'_>, words: [u64; 2]) -> Result<SecretDistribution> {
    match (words[0], usize::try_from(words[1])) {
        (TERNARY, Ok(0)) => Ok(SecretDistribution::Ternary),
        (SPARSE_TERNARY, Ok(weight)) => Ok(SecretDistribution::SparseTernary(weight)),
        (GAUSSIAN, Ok(0)) => Ok(SecretDistribution::Gaussian),
        (JOINT, Ok(parties @ 2..=SecretDistribution::MAX_PARTIES)) => Ok(SecretDistribution::Joint(parties)),
        _ => Err(section.value("the secret", format!("{words:?}"), "[0, 0], [1, weight], [2, 0] or [3, parties]")),
    }
}

fn primes(section: &Section<'_>) -> Result<Vec<u64>> {
    let words = section.words()?;
    if words.len() > MAX_LIMBS {
        return Err(section.value("the number of primes", words.len(), format!("at most {MAX_LIMBS}")));
    }
    Ok(words.iter().collect())
}
