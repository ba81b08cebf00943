//! The digits of scheme switching: a specification is checked into an immutable value, or chosen.

use std::fmt;
use std::sync::Arc;

use noren_math::torus::gadget::Gadget;
use noren_ring::torus::shape::GlweShape;

use crate::error::{Error, Result};
use crate::parameters::Parameters;
use crate::torus::digits::{Digits, MAX_DIGIT_BITS};
use crate::torus::parameters::TorusParameters;
use crate::torus::scheme_switch::law::{SwitchLaw, UP_SHAPE, down, packing};
use crate::torus::scheme_switch::spec::SwitchSpec;
use crate::torus::security;

/// The most noise of the key switch from s to Z that [`SwitchSpec::choose`] takes, `log2` of the deviation: far below what the
/// decision of a bootstrap adds, and what finer decisions need.
const DOWN_LOG2: f64 = -22.0;

/// The same of packing, whose noise stays in the result of a bootstrap.
const PACKING_LOG2: f64 = -20.0;

/// Checked parameters. Immutable, and cheap to clone.
#[derive(Debug, Clone)]
pub struct SwitchParameters(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    spec: SwitchSpec,
    torus: TorusParameters,
    rlwe: Parameters,
    law: SwitchLaw,
    fingerprint: [u8; 32],
}

impl SwitchSpec {
    /// The fewest digits, and of these the ones of least noise, that add a deviation of at most `2^-22` of the circle on the way down,
    /// where they are exact, and `2^-20` by packing.
    ///
    /// # Errors
    /// [`Error::Parameters`] names what rules out the two sets, or digits that do not exist.
    pub fn choose(torus: &TorusParameters, rlwe: &Parameters) -> Result<Self> {
        let [large, _] = shapes(torus, rlwe)?;
        let missing = |name, log2: f64| {
            let needed = format!("given: no digits keep noise below 2^{log2} of the circle");
            Error::parameter(name, "automatic", needed)
        };
        let down = fewest(DOWN_LOG2, |digits| digits.check_switch(["", ""], large), |gadget| down(torus, rlwe, gadget));
        let packing = fewest(PACKING_LOG2, |digits| digits.check(["", ""]), |gadget| packing(torus, gadget));
        Ok(Self {
            down: down.ok_or_else(|| missing("down", DOWN_LOG2))?,
            packing: packing.ok_or_else(|| missing("packing", PACKING_LOG2))?,
        })
    }

    /// Checks the specification for samples of these parameters over the torus, and ciphertexts of these.
    ///
    /// All rows over the torus are GLWE samples of the noise of their parameters, under a secret of dimension `N'` whatever their
    /// degree: they must be as secure as the stronger of both sets says.
    ///
    /// # Errors
    /// [`Error::Parameters`] names digits that are outside the supported range, samples with several polynomials in the mask, a ring
    /// that is smaller or whose index is not a power of two, or one without a special prime; [`Error::WeakNoise`] noise over the torus
    /// that is too small.
    pub fn build(self, torus: &TorusParameters, rlwe: &Parameters) -> Result<SwitchParameters> {
        let [large, small] = shapes(torus, rlwe)?;
        self.down.check_switch(["down.log_base", "down.levels"], large)?;
        self.packing.check(["packing.log_base", "packing.levels"])?;
        let level = torus.spec().security.max(rlwe.security());
        security::check("keys of scheme switching", small.degree, torus.spec().glwe_noise, level)?;
        let law = SwitchLaw::of(torus, rlwe, &self)?;
        let fingerprint = fingerprint(torus, rlwe, &self);
        Ok(SwitchParameters(Arc::new(Inner { spec: self, torus: torus.clone(), rlwe: rlwe.clone(), law, fingerprint })))
    }
}

impl SwitchParameters {
    /// The specification that gives these parameters again.
    #[must_use]
    pub fn spec(&self) -> &SwitchSpec {
        &self.0.spec
    }

    /// The parameters of samples over the torus.
    #[must_use]
    pub fn torus(&self) -> &TorusParameters {
        &self.0.torus
    }

    /// The parameters of ciphertexts.
    #[must_use]
    pub fn rlwe(&self) -> &Parameters {
        &self.0.rlwe
    }

    /// How much noise the parts add.
    #[must_use]
    pub fn law(&self) -> SwitchLaw {
        self.0.law
    }

    /// The shape of samples of the ring's degree N, under Z.
    #[must_use]
    pub fn sliced(&self) -> GlweShape {
        GlweShape { dimension: 1, degree: self.rlwe().degree() }
    }

    /// How many slices such a sample has: `g = N/N'`.
    #[must_use]
    pub fn slices(&self) -> usize {
        self.rlwe().degree() / self.torus().shape().degree
    }

    /// Digits of the key switch from s to Z.
    #[must_use]
    pub fn down(&self) -> Gadget {
        self.0.spec.down.gadget()
    }

    /// Digits of packing.
    #[must_use]
    pub fn packing(&self) -> Gadget {
        self.0.spec.packing.gadget()
    }

    /// The BLAKE3 digest of the text `noren-switch-parameters-v1`, the fingerprints of the torus parameters and of the RLWE parameters,
    /// and words of 64 bits, little-endian: `log2 B` and digits of the key switch from s to Z, and of packing.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 32] {
        self.0.fingerprint
    }
}

impl fmt::Display for SwitchParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SwitchSpec { down, packing } = self.spec();
        write!(f, "scheme switching: {} slices, down {down}, packing {packing}", self.slices())
    }
}

/// The shapes of samples under Z and under z, of two sets that go together.
fn shapes(torus: &TorusParameters, rlwe: &Parameters) -> Result<[GlweShape; 2]> {
    let small = torus.shape();
    if small.dimension != 1 {
        return Err(Error::parameter("k", small.dimension, "1: the secret is one polynomial of the ring"));
    }
    let log_n = rlwe.log_n()?;
    if torus.spec().log_degree > log_n {
        let needed = format!("at most {log_n}, that of the ring of ciphertexts");
        return Err(Error::parameter("log_degree", torus.spec().log_degree, needed));
    }
    rlwe.gadget_of(UP_SHAPE)?;
    Ok([GlweShape { dimension: 1, degree: rlwe.degree() }, small])
}

/// The fewest digits that pass a check, of a noise of at most `2^log2`, and of these the ones of least noise.
fn fewest(log2: f64, check: impl Fn(&Digits) -> Result<()>, variance: impl Fn(Gadget) -> f64) -> Option<Digits> {
    let most = libm::exp2(2.0 * log2);
    (1..=MAX_DIGIT_BITS as usize).find_map(|levels| {
        let digits = (1..=MAX_DIGIT_BITS / levels as u32).map(|log_base| Digits::new(log_base, levels));
        let possible = digits.filter(|digits| check(digits).is_ok());
        let noise = possible.map(|digits| (digits, variance(digits.gadget())));
        let (digits, least) = noise.min_by(|(_, x), (_, y)| x.total_cmp(y))?;
        (least <= most).then_some(digits)
    })
}

fn fingerprint(torus: &TorusParameters, rlwe: &Parameters, spec: &SwitchSpec) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"noren-switch-parameters-v1");
    hasher.update(&torus.fingerprint()).update(&rlwe.fingerprint());
    for word in spec.words() {
        hasher.update(&word.to_le_bytes());
    }
    hasher.finalize().into()
}
