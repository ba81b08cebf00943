//! Parameters: samples over the torus, what values they hold, and how often a bootstrap may fail.

use std::fmt;
use std::sync::Arc;

use noren_math::torus_products::product::Grouping;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::torus::law::Failure;
use noren_rlwe::torus::parameters::TorusParameters;
use noren_rlwe::torus::spec::TorusSpec;

use crate::schemes::tfhe::error::TfheError;

/// No sum is larger: the circle has fewer units.
const MAX_NOISE: f64 = 65536.0;

/// The encoding of a ciphertext.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// A bit: 1/8 of the circle for true, -1/8 for false.
    Bits,
    /// An integer below `p = 2^(message_bits + carry_bits)`, each unit `1/(2p)` of the circle: the highest bit stays free, for
    /// tables give `-f(x)` for `x + p`.
    Integers {
        /// The bits of a value that nothing was added to.
        message_bits: u32,
        /// The bits above, for sums and for second arguments.
        carry_bits: u32,
    },
}

impl Encoding {
    /// Refuses parameters for bits.
    pub(crate) fn needs_integers(self) -> Result<()> {
        match self {
            Self::Integers { .. } => Ok(()),
            Self::Bits => Err(Error::parameter("encoding", "bits", "integers for values and tables: use such a set")),
        }
    }

    /// Refuses parameters for integers.
    pub(crate) fn needs_bits(self) -> Result<()> {
        match self {
            Self::Bits => Ok(()),
            Self::Integers { .. } => Err(Error::parameter("encoding", "integers", "bits for gates: use such a set")),
        }
    }
}

/// The description of parameters; [`ParametersSpec::build`] checks it.
#[derive(Debug, Clone, PartialEq)]
pub struct ParametersSpec {
    /// Dimensions, noises and digits.
    pub torus: TorusSpec,
    /// The encoding of a ciphertext.
    pub encoding: Encoding,
    /// The largest noise that may enter a bootstrap, as multiple of the deviation of the noise of a bootstrap. Parts of a sum
    /// count as if their noises were the same: `x + 4 y` counts 5.
    pub max_noise: f64,
    /// The base-two logarithm of how often a bootstrap of so much noise may fail.
    pub max_failure_log2: f64,
}

/// Checked parameters. Immutable, and cheap to clone.
#[derive(Debug, Clone)]
pub struct Parameters(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    spec: ParametersSpec,
    torus: TorusParameters,
    failure: Failure,
    fingerprint: [u8; 32],
}

impl ParametersSpec {
    /// Checks security, ranges and the probability of failure.
    ///
    /// # Errors
    /// [`Error::Parameters`] names what is outside the supported range, [`Error::WeakNoise`] noise that is not secure, and
    /// [`TfheError::FailsTooOften`] says how often a bootstrap would fail.
    pub fn build(self) -> Result<Parameters> {
        let torus = self.torus.clone().build()?;
        if let Encoding::Integers { message_bits, carry_bits } = self.encoding {
            let most = self.torus.log_degree;
            if message_bits == 0 || message_bits.saturating_add(carry_bits) > most {
                let found = format!("{message_bits} and {carry_bits}");
                let needed =
                    format!("at least 1 bit of messages, and at most {most} bits with carries for this degree");
                return Err(Error::parameter("message_bits and carry_bits", found, needed));
            }
        }
        if !(1.0..=MAX_NOISE).contains(&self.max_noise) {
            return Err(Error::parameter("max_noise", self.max_noise, format!("1 to {MAX_NOISE}")));
        }
        let failure = torus.law().failure(self.max_noise * self.max_noise, self.encoding.margin());
        if failure.log2.is_nan() || failure.log2 > self.max_failure_log2 {
            return Err(TfheError::FailsTooOften {
                found: failure.log2,
                allowed: self.max_failure_log2,
                deviation: libm::log2(failure.deviation),
                margin: libm::log2(failure.margin),
            }
            .into());
        }
        let fingerprint = fingerprint(&torus, &self);
        Ok(Parameters(Arc::new(Inner { spec: self, torus, failure, fingerprint })))
    }
}

impl Encoding {
    /// How much noise is tolerated, in units of the circle: 1/8 for bits, as all gates decide with at least this margin,
    /// half a unit for integers.
    #[must_use]
    pub fn margin(self) -> f64 {
        match self {
            Self::Bits => 0.125,
            Self::Integers { .. } => 0.25 / self.size() as f64,
        }
    }

    /// How many values there are: p, or 2.
    #[must_use]
    pub const fn size(self) -> u64 {
        match self {
            Self::Bits => 2,
            Self::Integers { message_bits, carry_bits } => 1 << (message_bits + carry_bits),
        }
    }

    /// A unit as a word: `2^64 / (2p)`, or `2^64 / 8`.
    #[must_use]
    pub const fn unit(self) -> u64 {
        match self {
            Self::Bits => 1 << 61,
            Self::Integers { message_bits, carry_bits } => 1 << (63 - message_bits - carry_bits),
        }
    }
}

impl Parameters {
    /// The specification that gives these parameters again.
    #[must_use]
    pub fn spec(&self) -> &ParametersSpec {
        &self.0.spec
    }

    /// Dimensions, noises and digits.
    #[must_use]
    pub fn torus(&self) -> &TorusParameters {
        &self.0.torus
    }

    /// The encoding of a ciphertext.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        self.0.spec.encoding
    }

    /// How many values a message without carries has: `2^message_bits`, or 2 for bits.
    #[must_use]
    pub fn message_size(&self) -> u64 {
        match self.encoding() {
            Encoding::Bits => 2,
            Encoding::Integers { message_bits, .. } => 1 << message_bits,
        }
    }

    /// The largest noise that may enter a bootstrap; see [`ParametersSpec::max_noise`].
    #[must_use]
    pub fn max_noise(&self) -> f64 {
        self.0.spec.max_noise
    }

    /// How likely a bootstrap of the largest noise fails. A program of m bootstraps fails at most m times as often.
    #[must_use]
    pub fn failure(&self) -> Failure {
        self.0.failure
    }

    /// The BLAKE3 digest of the text `noren-tfhe-parameters-v1`, the fingerprint of [`Parameters::torus`], and words of 64 bits,
    /// little-endian: the bits of messages and of carries, 0 and 0 for [`Encoding::Bits`].
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 32] {
        self.0.fingerprint
    }
}

impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spec = &self.spec().torus;
        match self.encoding() {
            Encoding::Bits => write!(f, "bits")?,
            Encoding::Integers { message_bits, carry_bits } => write!(f, "{message_bits} + {carry_bits} bits")?,
        }
        write!(
            f,
            ": n = {}, k = {}, N = {}, {} a step, short noise {}, GLWE noise {}, digits {} x {} bits, key switch {} x {} \
             bits, security {}, failure {}",
            spec.n,
            spec.k,
            1u64 << spec.log_degree,
            match spec.grouping {
                Grouping::Single => "one bit",
                Grouping::Pair => "two bits",
            },
            spec.lwe_noise,
            spec.glwe_noise,
            spec.levels,
            spec.log_base,
            spec.switch_levels,
            spec.switch_log_base,
            spec.security,
            self.failure()
        )?;
        spec.light.map_or(Ok(()), |light| write!(f, ", light keys: {light}"))
    }
}

fn fingerprint(torus: &TorusParameters, spec: &ParametersSpec) -> [u8; 32] {
    let (message_bits, carry_bits) = match spec.encoding {
        Encoding::Bits => (0, 0),
        Encoding::Integers { message_bits, carry_bits } => (message_bits, carry_bits),
    };
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"noren-tfhe-parameters-v1");
    hasher.update(&torus.fingerprint());
    for word in [message_bits, carry_bits] {
        hasher.update(&u64::from(word).to_le_bytes());
    }
    hasher.finalize().into()
}
