//! New levels for ciphertexts, as the baseline gives them.

use std::sync::Arc;

use noren_rlwe::error::{Error, Result};
use noren_rlwe::keys::EvaluationKeys;

use crate::bootstrapping::bootstrapper::check_size;
use crate::bootstrapping::rns_heaan::parameters::{Parameters, limb_level};
use crate::bootstrapping::rns_heaan::pipeline::{Pipeline, Stage, Stages};
use crate::schemes::ckks::{Ciphertext, Context};

/// By what part a message at double level 0 may be larger than `q_0 / rho`.
const ROOM: f64 = 1.0 / 1024.0;

/// How far below `q_0 / rho` a message at double level 0 may stand, in bits: below, its noise is all that is left.
const LEAST_BITS: f64 = 16.0;

/// Renews ciphertexts as the source does. Shared between threads.
///
/// # Examples
/// ```
/// use noren::bootstrapping::rns_heaan::{Bootstrapper, ParametersSpec};
/// use noren::ckks::{Context, Decryptor, Encoder, Encryptor};
/// use noren::{Complex64, Seed};
///
/// // A small ring for the example. No set of the baseline has security by today's tables.
/// let parameters = ParametersSpec::toy().build()?;
/// let context = Context::new(parameters.ckks().clone())?;
/// let keys = context.generate_keys(Seed::random()?, &parameters.key_request())?;
/// let bootstrapper = Bootstrapper::new(&context, &parameters, keys.evaluation.clone())?;
///
/// // Double level 1 has four limbs.
/// let z = [Complex64::new(0.5, -0.25)];
/// let low = Encoder::new(&context).encode_complex(&z, 512, 3, parameters.scale_at(1))?;
/// let low = Encryptor::public(&context, &keys.public, Seed::random()?)?.encrypt(&low)?;
/// let high = bootstrapper.bootstrap(&low)?;
/// assert_eq!(high.level(), 2 * parameters.output_level() + 1);
/// let values = Decryptor::new(&context, &keys.secret)?.decrypt_complex(&high)?;
/// assert!((values[0] - z[0]).norm() < high.error_bound());
/// # Ok::<(), noren::Error>(())
/// ```
pub struct Bootstrapper {
    pipeline: Pipeline,
}

impl Bootstrapper {
    /// Encodes the matrices. The keys are those of [`Parameters::key_request`], or more.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] for a context or keys of other parameters, [`Error::MissingKey`] names all keys that are
    /// missing, [`Error::KeyLevel`] one of too few limbs.
    ///
    /// [`Error::ParameterMismatch`]: noren_rlwe::error::Error::ParameterMismatch
    /// [`Error::MissingKey`]: noren_rlwe::error::Error::MissingKey
    /// [`Error::KeyLevel`]: noren_rlwe::error::Error::KeyLevel
    pub fn new(context: &Context, parameters: &Parameters, keys: Arc<EvaluationKeys>) -> Result<Self> {
        context.check(parameters.ckks(), "the bootstrapping")?;
        context.parameters().rlwe().check_fingerprint(&keys.parameters().fingerprint(), "the evaluation keys")?;
        check_keys(context, parameters, &keys)?;
        Ok(Self { pipeline: Pipeline::new(context, parameters, keys)? })
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.pipeline.parameters
    }

    /// The same message at the [double level of results](Parameters::output_level) and its canonical scale.
    ///
    /// The ciphertext may be at any scale, and at any level from two limbs up to below that of results. With more than two limbs
    /// it is brought to the scale `q_0 / rho`, over the power of two not below its magnitude. With two it stays as it is, so
    /// that magnitude times scale must be at most `q_0 / rho`. A magnitude that is stated too small gives a wrong result,
    /// which nobody can see without the key.
    ///
    /// The bound on the error of the result holds but with the probability of
    /// [`RnsHeaanPlan::log2_failure`](crate::bootstrapping::rns_heaan::RnsHeaanPlan::log2_failure), and that of all
    /// bounds.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`]; [`CkksError::TooLowToBootstrap`] if there is one limb only, [`Error::Parameters`] if there are so
    /// many that nothing would be gained, if the magnitude is above [`MAX_MAGNITUDE`], or if at double level 0 the message is
    /// too large for `q_0 / rho`, or far below it.
    ///
    /// [`Error::ParameterMismatch`]: noren_rlwe::error::Error::ParameterMismatch
    /// [`CkksError::TooLowToBootstrap`]: crate::schemes::ckks::error::CkksError::TooLowToBootstrap
    /// [`Error::Parameters`]: noren_rlwe::error::Error::Parameters
    /// [`MAX_MAGNITUDE`]: crate::bootstrapping::MAX_MAGNITUDE
    pub fn bootstrap(&self, a: &Ciphertext) -> Result<Ciphertext> {
        Ok(self.stages(a, &mut |_| {})?.result)
    }

    /// As [`Bootstrapper::bootstrap`], with all that lies between; `done` hears of each stage when it is over.
    ///
    /// # Errors
    /// As [`Bootstrapper::bootstrap`].
    pub fn stages(&self, a: &Ciphertext, done: &mut dyn FnMut(Stage)) -> Result<Stages> {
        self.check(a)?;
        self.pipeline.run(a, done)
    }

    fn check(&self, a: &Ciphertext) -> Result<()> {
        self.pipeline.evaluator.check(a)?;
        let parameters = self.parameters();
        let (needed, output) = (limb_level(0), limb_level(parameters.output_level()));
        check_size(a, needed, output)?;
        if a.level() > needed {
            return Ok(());
        }
        let standing = a.scale().ratio_to(&parameters.base()) * parameters.ratio();
        if !(a.magnitude() * standing <= 1.0 + ROOM && libm::log2(standing) >= -LEAST_BITS) {
            let least = 1.0 / standing;
            let needed = format!(
                "at most {least}, q_0 / rho over the scale, which is itself at most 2^{LEAST_BITS}: bootstrap one level earlier"
            );
            return Err(Error::parameter("magnitude", a.magnitude(), needed));
        }
        Ok(())
    }
}

/// Refuses keys that do not serve these parameters, before anything is computed: all that are missing are named at once.
fn check_keys(context: &Context, parameters: &Parameters, keys: &EvaluationKeys) -> Result<()> {
    let request = context.automorphisms_of(&parameters.key_request())?;
    keys.check(request.relinearization, request.galois)
}
