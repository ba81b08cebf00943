//! The noise of CKKS with bootstraps.

use noren_math::random::Seed;
use noren_rlwe::error::{Error, Result, SchemeError};

use crate::backends::modelled::Modelled;
use crate::bootstrapping::{self, BootstrapPlan, MAX_MAGNITUDE, Mode};
use crate::circuits::renewing::{Renewable, Renewal};
use crate::lowering::nodes::Source;
use crate::lowering::recording::Renewed;
use crate::schemes::ckks::CkksError;
use crate::schemes::ckks::model::{ModelVector, NoiseModel};
use crate::schemes::slots::SlotEvaluator;

/// Bits from the expected largest error of a bootstrap to the bound that its result carries: bounds are up to two bits above, and
/// expectations are right to about one (`docs/bootstrapping.md`, "The error of a result").
const BOUND_BITS: f64 = 3.0;

/// An intermediate result that would be small enough to be bootstrapped, but for the bound on its error.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "an intermediate result has an error bound above {MAX_MAGNITUDE}, and cannot be bootstrapped: use a larger precision="
)]
pub(super) struct Overgrown;

impl SchemeError for Overgrown {}

/// Whether intermediate results, or constants of their size, are too large for a bootstrap or for their modulus, as they may be
/// where errors of approximations are too large for what follows.
pub(super) fn is_overgrown(error: &Error) -> bool {
    error.downcast_ref() == Some(&Overgrown) || matches!(error.downcast_ref(), Some(CkksError::Overflow { .. }))
}

/// The noise of CKKS with bootstraps.
pub(super) struct Model {
    pub(super) noise: NoiseModel,
    pub(super) parameters: bootstrapping::Parameters,
    /// The expected largest error of a bootstrap of numbers up to 1.
    expected: f64,
}

impl Model {
    /// The model of parameters, with the noise of this seed, or none.
    ///
    /// # Errors
    /// None of parameters that were built.
    pub(super) fn new(parameters: bootstrapping::Parameters, seed: Option<&Seed>) -> Result<Self> {
        let expected = libm::exp2(-BootstrapPlan::new(&parameters)?.precision_bits(Mode::Real));
        Ok(Self { noise: NoiseModel::new(parameters.ckks()?, seed), parameters, expected })
    }

    /// The expected largest error of a bootstrap of numbers up to a size, and the bound that its result carries. Larger messages
    /// are divided by a power of two on their way.
    pub(super) fn errors(&self, size: f64) -> [f64; 2] {
        let expected = self.expected * libm::exp2(libm::log2(size).ceil().max(0.0));
        [expected, expected * libm::exp2(BOUND_BITS)]
    }

    /// The deviation of errors of a vector whose largest is expected to be so large: the largest of n normal numbers is about
    /// `sqrt(2 ln n)` deviations.
    pub(super) fn deviation(&self, x: &ModelVector, expected: f64) -> f64 {
        expected / (2.0 * libm::log(self.noise.slots(x).max(2) as f64)).sqrt()
    }

    /// The inputs of nodes, or zeros.
    pub(super) fn source<'a>(
        &'a self,
        slots: usize,
        inputs: Option<(&'a [usize], &'a [Vec<f64>])>,
    ) -> impl Source<Renewable<ModelVector>> + 'a {
        Renewed(Modelled::new(&self.noise, self.parameters.output_level(), slots, inputs))
    }

    /// The largest bound on the errors of vectors.
    pub(super) fn bound(&self, parts: &[Renewable<ModelVector>]) -> f64 {
        parts.iter().map(|part| self.noise.error_bound(part.best())).fold(0.0, f64::max)
    }
}

impl Renewal<NoiseModel> for Model {
    fn left(&self, ev: &NoiseModel, x: &ModelVector) -> usize {
        ev.level(x).saturating_sub(self.parameters.input_level())
    }

    fn most(&self) -> usize {
        self.parameters.levels_left()
    }

    fn renew(&self, ev: &NoiseModel, x: &ModelVector) -> Result<ModelVector> {
        let size = x.range().magnitude() + ev.error_bound(x);
        if size.is_nan() || size > MAX_MAGNITUDE {
            if x.range().magnitude() <= MAX_MAGNITUDE {
                return Err(Overgrown.into());
            }
            let found = format!("an intermediate result of up to {size:e}");
            let needed = format!("at most {MAX_MAGNITUDE}, to be bootstrapped: narrow the ranges of inputs, or scale");
            return Err(Error::parameter("magnitude", found, needed));
        }
        let [expected, bound] = self.errors(size);
        ev.renewed(x, self.parameters.output_level(), self.deviation(x, expected), bound)
    }
}
