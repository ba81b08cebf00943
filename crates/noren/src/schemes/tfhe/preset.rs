//! Sets of parameters by their names.

use noren_math::torus_products::product::Grouping;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::security::Security;
use noren_rlwe::torus::digits::Digits;
use noren_rlwe::torus::light::spec::LightSpec;
use noren_rlwe::torus::noise::TorusNoise::{self, Gaussian, TUniform};
use noren_rlwe::torus::spec::TorusSpec;

use crate::schemes::tfhe::parameters::{Encoding, Parameters, ParametersSpec};

/// The base-two logarithm of the largest failure probability of default sets.
const FAILURE: f64 = -128.0;

/// The noise that gates may meet: that of a sum of two results of MUX, each of two bootstraps, as if they were the same.
const GATE_NOISE: f64 = 2.0 * std::f64::consts::SQRT_2;

/// A set of parameters with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Preset {
    /// The name.
    pub name: &'static str,
    /// Where the set comes from.
    pub source: &'static str,
    /// Whether the set is for comparisons with older libraries alone: it does not reach the security of the others.
    pub legacy: bool,
    /// Its description.
    pub spec: ParametersSpec,
}

/// All sets.
pub static PRESETS: [Preset; 17] = [
    bits("BOOL", "noren", -64.0, [646, 3, 9], [Gaussian(9.107_9e-5), Gaussian(1.952_46e-11)], [(17, 1), (2, 5)]),
    bits("BOOL_128", "noren", FAILURE, [693, 3, 9], [Gaussian(4.048_01e-5), Gaussian(1.952_46e-11)], [(17, 1), (3, 4)]),
    light(
        bits(
            "BOOL_LIGHT",
            "noren",
            -64.0,
            [666, 4, 9],
            [Gaussian(6.454e-5), Gaussian(2.845_267_479_601_915e-15)],
            [(16, 1), (2, 6)],
        ),
        LightSpec { log_count: 3, trace: Digits::new(4, 11), square: Digits::new(8, 6) },
    ),
    bits(
        "BOOL_TFHE_RS",
        "TFHE-rs boolean, default",
        FAILURE,
        [739, 3, 9],
        [Gaussian(1.830_452_073_350_730_5e-5), Gaussian(9.315_272_083_503_367e-10)],
        [(10, 2), (3, 4)],
    ),
    integers(
        "1_1",
        1,
        [837, 4, 9],
        [Gaussian(3.374_714_248_183_739_7e-6), Gaussian(2.845_267_479_601_915e-15)],
        [(23, 1), (5, 3)],
    ),
    in_pairs(integers(
        "2_2",
        2,
        [876, 1, 11],
        [Gaussian(1.722e-6), Gaussian(2.845_267_479_601_915e-15)],
        [(23, 1), (3, 5)],
    )),
    light(
        in_pairs(integers(
            "2_2_LIGHT",
            2,
            [876, 1, 11],
            [Gaussian(1.722e-6), Gaussian(2.845_267_479_601_915e-15)],
            [(8, 3), (3, 6)],
        )),
        LightSpec { log_count: 6, trace: Digits::new(2, 23), square: Digits::new(8, 6) },
    ),
    integers(
        "2_2_TFHE_RS",
        2,
        [866, 1, 11],
        [Gaussian(2.046_151_696_979_124e-6), Gaussian(2.845_267_479_601_915e-15)],
        [(23, 1), (3, 5)],
    ),
    integers("2_2_TUNIFORM", 2, [918, 1, 11], [TUniform(45), TUniform(17)], [(23, 1), (4, 4)]),
    integers(
        "3_3",
        3,
        [1006, 1, 13],
        [Gaussian(1.827_710_129_421_597_8e-7), Gaussian(2.168_404_344_971_009e-19)],
        [(15, 2), (3, 7)],
    ),
    integers(
        "4_4",
        4,
        [1098, 1, 16],
        [Gaussian(3.737_183_412_709_79e-8), Gaussian(2.168_404_344_971_009e-19)],
        [(11, 3), (3, 7)],
    ),
    legacy(
        "TFHEPP_LEGACY",
        "TFHEpp, 128 bits by its authors",
        -64.0,
        [630, 1, 10],
        [Gaussian(9.25e-5), Gaussian(2.980_232_238_769_531e-8)],
        [(6, 3), (2, 7)],
    ),
    legacy(
        "OPENFHE_LEGACY",
        "OpenFHE binfhe STD128: its dimensions, noises (3.19 / 2^15, 3.19 / 2^27) and gadget; keys are binary, and the key \
         switch has digits in place of tables",
        -64.0,
        [556, 1, 10],
        [Gaussian(9.735_107_421_875e-5), Gaussian(2.376_735_210_418_701e-8)],
        [(7, 4), (2, 7)],
    ),
    legacy(
        "OPENFHE_PAPER_LEGACY",
        "OpenFHE binfhe STD128 of the dimensions n = 512, N = 1024, that comparisons list",
        -64.0,
        [512, 1, 10],
        [Gaussian(9.735_107_421_875e-5), Gaussian(2.376_735_210_418_701e-8)],
        [(7, 4), (2, 7)],
    ),
    toy("TOY_BOOL", 42, Encoding::Bits, GATE_NOISE),
    in_pairs(toy("TOY_2_2", 40, Encoding::Integers { message_bits: 2, carry_bits: 2 }, 5.0)),
    TOY_SWITCH,
];

/// Small dimensions with one polynomial in the mask, of half the degree of the toy ring of bootstrapping, and noise that is
/// as large as in real sets.
const TOY_SWITCH: Preset = Preset {
    name: "TOY_SWITCH",
    source: "noren, for tests of scheme switching",
    legacy: false,
    spec: ParametersSpec {
        torus: TorusSpec {
            grouping: Grouping::Pair,
            ..torus(
                [64, 1, 9],
                [Gaussian(4e-6), Gaussian(1.421_085_471_520_200_4e-14)],
                [(23, 1), (3, 5)],
                Security::None,
            )
        },
        encoding: Encoding::Integers { message_bits: 2, carry_bits: 2 },
        max_noise: 1.0,
        max_failure_log2: -64.0,
    },
};

impl Preset {
    /// The set of this name.
    ///
    /// # Errors
    /// [`Error::Parameters`] with the names that there are.
    pub fn named(name: &str) -> Result<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name).ok_or_else(|| {
            let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
            Error::parameter("preset", name, format!("one of {}", names.join(", ")))
        })
    }

    /// The set, checked.
    ///
    /// # Errors
    /// As [`ParametersSpec::build`].
    pub fn parameters(&self) -> Result<Parameters> {
        self.spec.clone().build()
    }
}

/// `[n, k, log2 N]`, the noises of short and GLWE samples, and `(log2 B, levels)` of blind rotation and key switch.
const fn torus(
    [n, k, log_degree]: [usize; 3],
    [lwe_noise, glwe_noise]: [TorusNoise; 2],
    [(log_base, levels), (switch_log_base, switch_levels)]: [(u32, usize); 2],
    security: Security,
) -> TorusSpec {
    let log_degree = log_degree as u32;
    TorusSpec {
        n,
        k,
        log_degree,
        lwe_noise,
        glwe_noise,
        log_base,
        levels,
        grouping: Grouping::Single,
        light: None,
        switch_log_base,
        switch_levels,
        security,
    }
}

const fn bits(
    name: &'static str,
    source: &'static str,
    max_failure_log2: f64,
    sizes: [usize; 3],
    noises: [TorusNoise; 2],
    digits: [(u32, usize); 2],
) -> Preset {
    let torus = torus(sizes, noises, digits, Security::Bits128);
    let spec = ParametersSpec { torus, encoding: Encoding::Bits, max_noise: GATE_NOISE, max_failure_log2 };
    Preset { name, source, legacy: false, spec }
}

/// As many bits of carries as of messages; sums of `x + 2^bits y`.
const fn integers(
    name: &'static str,
    message_bits: u32,
    sizes: [usize; 3],
    noises: [TorusNoise; 2],
    digits: [(u32, usize); 2],
) -> Preset {
    let torus = torus(sizes, noises, digits, Security::Bits128);
    let encoding = Encoding::Integers { message_bits, carry_bits: message_bits };
    let max_noise = ((1 << message_bits) + 1) as f64;
    let spec = ParametersSpec { torus, encoding, max_noise, max_failure_log2: FAILURE };
    Preset { name, source: "TFHE-rs 1.4", legacy: false, spec }
}

/// A set of noren's own: blind rotation takes two bits of the short secret in a step.
const fn in_pairs(preset: Preset) -> Preset {
    let torus = TorusSpec { grouping: Grouping::Pair, ..preset.spec.torus };
    Preset { source: "noren", spec: ParametersSpec { torus, ..preset.spec }, ..preset }
}

/// A set whose keys travel packed.
const fn light(preset: Preset, light: LightSpec) -> Preset {
    let torus = TorusSpec { light: Some(light), ..preset.spec.torus };
    Preset { spec: ParametersSpec { torus, ..preset.spec }, ..preset }
}

const fn legacy(
    name: &'static str,
    source: &'static str,
    max_failure_log2: f64,
    sizes: [usize; 3],
    noises: [TorusNoise; 2],
    digits: [(u32, usize); 2],
) -> Preset {
    let torus = torus(sizes, noises, digits, Security::None);
    let spec = ParametersSpec { torus, encoding: Encoding::Bits, max_noise: GATE_NOISE, max_failure_log2 };
    Preset { name, source, legacy: true, spec }
}

/// Small dimensions and little noise: a bootstrap takes a fraction of a millisecond, and nothing is secret.
const fn toy(name: &'static str, n: usize, encoding: Encoding, max_noise: f64) -> Preset {
    let torus = torus([n, 2, 9], [Gaussian(1e-7), Gaussian(1e-16)], [(10, 2), (4, 4)], Security::None);
    let spec = ParametersSpec { torus, encoding, max_noise, max_failure_log2: FAILURE };
    Preset { name, source: "noren, for tests", legacy: false, spec }
}
