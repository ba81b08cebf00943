//! Parameters of samples over the torus: a specification is checked into an immutable value.

use std::sync::Arc;

use noren_math::torus::gadget::Gadget;
use noren_ring::torus::shape::{GlweShape, RotationShape};

use crate::error::{Error, Result};
use crate::torus::digits::{MAX_DIGIT_BITS, check_digits};
use crate::torus::law::NoiseLaw;
use crate::torus::light::spec::LightSpec;
use crate::torus::noise::TorusNoise;
use crate::torus::security;
use crate::torus::spec::TorusSpec;

/// The widest noise: a Gaussian whose tail goes around the circle is none.
const MAX_DEVIATION: f64 = 0.0625;

/// The widest TUniform noise, in bits of a word of 64.
const MAX_TUNIFORM_BITS: u32 = 60;

/// Short samples have words of 32 bits: the most bits that digits of the key switch have together.
const MAX_SWITCH_BITS: u32 = 32;

/// The most dimensions of a short sample: indices of bits are small.
const MAX_DIMENSION: usize = 1 << 14;

/// The most polynomials of a mask.
const MAX_MASKS: usize = 16;

/// Checked parameters. Immutable, and cheap to clone.
#[derive(Debug, Clone)]
pub struct TorusParameters(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    spec: TorusSpec,
    law: NoiseLaw,
    fingerprint: [u8; 32],
}

impl TorusSpec {
    /// Checks the specification.
    ///
    /// # Errors
    /// [`Error::Parameters`] names what is outside the supported range, [`Error::WeakNoise`] noise that is too small for its
    /// dimension.
    pub fn build(self) -> Result<TorusParameters> {
        self.check_ranges()?;
        security::check("short samples", self.n, self.lwe_noise, self.security)?;
        security::check("GLWE samples", self.k << self.log_degree, self.glwe_noise, self.security)?;
        let fingerprint = fingerprint(&self);
        let law = NoiseLaw::of(&self);
        Ok(TorusParameters(Arc::new(Inner { spec: self, law, fingerprint })))
    }

    fn check_ranges(&self) -> Result<()> {
        let range = |name, found: usize, least: usize, most: usize| {
            if (least..=most).contains(&found) {
                Ok(())
            } else {
                Err(Error::parameter(name, found, format!("{least} to {most}")))
            }
        };
        range("n", self.n, 1, MAX_DIMENSION)?;
        range("k", self.k, 1, MAX_MASKS)?;
        range("log_degree", self.log_degree as usize, 4, 16)?;
        if !self.n.is_multiple_of(self.grouping.bits()) {
            return Err(Error::parameter("n", self.n, "an even number, for bits in pairs"));
        }
        check_digits(["log_base", "levels"], self.log_base, self.levels, MAX_DIGIT_BITS)?;
        check_digits(["switch_log_base", "switch_levels"], self.switch_log_base, self.switch_levels, MAX_SWITCH_BITS)?;
        if let Some(light) = &self.light {
            light.check(GlweShape { dimension: self.k, degree: 1 << self.log_degree })?;
        }
        check_noise("lwe_noise", self.lwe_noise)?;
        check_noise("glwe_noise", self.glwe_noise)
    }
}

impl TorusParameters {
    /// The specification that gives these parameters again.
    #[must_use]
    pub fn spec(&self) -> &TorusSpec {
        &self.0.spec
    }

    /// The dimension n of short samples.
    #[must_use]
    pub fn short_dimension(&self) -> usize {
        self.0.spec.n
    }

    /// The dimension kN of ciphertexts.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.shape().extracted()
    }

    /// The shape of GLWE samples.
    #[must_use]
    pub fn shape(&self) -> GlweShape {
        GlweShape { dimension: self.0.spec.k, degree: 1 << self.0.spec.log_degree }
    }

    /// The digits of blind rotation.
    #[must_use]
    pub fn gadget(&self) -> Gadget {
        Gadget::new(self.0.spec.log_base, self.0.spec.levels as u32)
    }

    /// The GGSW samples of the blind rotation.
    #[must_use]
    pub fn rotation(&self) -> RotationShape {
        RotationShape { samples: self.shape(), gadget: self.gadget(), grouping: self.0.spec.grouping }
    }

    /// The digits of the key switch.
    #[must_use]
    pub fn switch_gadget(&self) -> Gadget {
        Gadget::new(self.0.spec.switch_log_base, self.0.spec.switch_levels as u32)
    }

    /// How many words the bodies of the GGSW samples of one step have, `[rows, N]`.
    pub(crate) fn step_bodies(&self) -> usize {
        self.rotation().rows() * self.shape().degree
    }

    /// How many words the bodies of all GGSW samples have, `[steps, rows, N]`.
    pub(crate) fn rotation_bodies(&self) -> usize {
        self.rotation().steps(self.short_dimension()) * self.step_bodies()
    }

    /// How many bodies the key switch has, `[kN, l]`: an even number, as the degree is.
    pub(crate) fn switch_bodies(&self) -> usize {
        self.dimension() * self.switch_gadget().levels()
    }

    /// How light keys are packed.
    ///
    /// # Errors
    /// [`Error::Parameters`] for parameters that are not of light keys: the probability of failures is that of the others.
    pub fn light(&self) -> Result<LightSpec> {
        let needed = "compact ones: these parameters are not of light keys";
        self.0.spec.light.ok_or_else(|| Error::parameter("keys", "light", needed))
    }

    /// Refuses compact keys where parameters are of light ones.
    pub(crate) fn check_compact(&self) -> Result<()> {
        let refused = || Error::parameter("keys", "compact", "light ones, which these parameters are of");
        if self.0.spec.light.is_some() { Err(refused()) } else { Ok(()) }
    }

    /// How much noise the parts of a bootstrap add.
    #[must_use]
    pub fn law(&self) -> NoiseLaw {
        self.0.law
    }

    /// The BLAKE3 digest of what decides the bytes of keys and ciphertexts.
    ///
    /// Hashed are the text `noren-torus-parameters-v2` and words of 64 bits, little-endian: n, k, `log_degree`; for each noise, of
    /// short samples and of GLWE samples, its kind (0 Gaussian, 1 TUniform) and its width (the bits of the deviation as `f64`;
    /// the bits b); `log_base`, `levels`, `switch_log_base`, `switch_levels`; the bits of a step of blind rotation, 1 or 2; of
    /// light keys `log_count`, and `log2 B` and digits of the trace and of products with secrets. The security level is not
    /// hashed.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 32] {
        self.0.fingerprint
    }
}

fn check_noise(name: &'static str, noise: TorusNoise) -> Result<()> {
    let fits = match noise {
        TorusNoise::Gaussian(deviation) => (0.0..=MAX_DEVIATION).contains(&deviation),
        TorusNoise::TUniform(bits) => bits <= MAX_TUNIFORM_BITS,
    };
    if fits {
        return Ok(());
    }
    let found = match noise {
        TorusNoise::Gaussian(deviation) => format!("Gaussian of deviation {deviation}"),
        TorusNoise::TUniform(_) => noise.to_string(),
    };
    Err(Error::parameter(name, found, format!("a deviation of 0 to {MAX_DEVIATION} of the circle")))
}

fn fingerprint(spec: &TorusSpec) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"noren-torus-parameters-v2");
    let mut word = |value: u64| {
        hasher.update(&value.to_le_bytes());
    };
    [spec.n as u64, spec.k as u64, u64::from(spec.log_degree)].into_iter().for_each(&mut word);
    for noise in [spec.lwe_noise, spec.glwe_noise] {
        let (kind, width) = match noise {
            TorusNoise::Gaussian(deviation) => (0, deviation.to_bits()),
            TorusNoise::TUniform(bits) => (1, u64::from(bits)),
        };
        word(kind);
        word(width);
    }
    let digits = [u64::from(spec.log_base), spec.levels as u64];
    let switch = [u64::from(spec.switch_log_base), spec.switch_levels as u64];
    digits.into_iter().chain(switch).for_each(&mut word);
    word(spec.grouping.bits() as u64);
    spec.light.iter().flat_map(LightSpec::words).for_each(&mut word);
    hasher.finalize().into()
}
