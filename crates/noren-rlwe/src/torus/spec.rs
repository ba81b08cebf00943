//! Parameters of samples over the torus as they are asked for.

use noren_math::torus_products::product::Grouping;

use crate::security::Security;
use crate::torus::light::spec::LightSpec;
use crate::torus::noise::TorusNoise;

/// The description of parameters; [`TorusSpec::build`] checks it.
#[derive(Debug, Clone, PartialEq)]
pub struct TorusSpec {
    /// The dimension n of short samples, which rotate.
    pub n: usize,
    /// How many polynomials k the mask of a GLWE sample has.
    pub k: usize,
    /// The base-two logarithm of the degree N, 4 to 16.
    pub log_degree: u32,
    /// The noise of short samples: that of the key switch.
    pub lwe_noise: TorusNoise,
    /// The noise of GLWE samples, and of fresh ciphertexts of dimension kN.
    pub glwe_noise: TorusNoise,
    /// `log2 B` of blind rotation.
    pub log_base: u32,
    /// How many digits blind rotation has.
    pub levels: usize,
    /// How many bits of the short secret a step of blind rotation takes: in pairs, bootstraps are faster by a third, and the
    /// keys of blind rotation larger by a half.
    pub grouping: Grouping,
    /// `log2 B` of the key switch.
    pub switch_log_base: u32,
    /// How many digits the key switch has.
    pub switch_levels: usize,
    /// How the keys of blind rotation travel, if packed: a server makes them of much less, and they have more noise.
    pub light: Option<LightSpec>,
    /// The security that both noises must reach for their dimensions.
    pub security: Security,
}
