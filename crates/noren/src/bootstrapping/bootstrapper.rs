//! New levels for ciphertexts.

use std::sync::{Arc, OnceLock};

use noren_math::machine::memory;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::owner::Owner;

use crate::bootstrapping::iteration;
use crate::bootstrapping::keys::BootstrapKeys;
use crate::bootstrapping::mode::Mode;
use crate::bootstrapping::parameters::Parameters;
use crate::bootstrapping::pipeline::{Pipeline, Stage, Stages};
use crate::schemes::ckks::error::CkksError;
use crate::schemes::ckks::{Ciphertext, Context};
use crate::schemes::error::SlotError;

/// Renews ciphertexts. Shared between threads.
///
/// # Examples
/// ```
/// use noren::bootstrapping::{BootstrapKeys, Bootstrapper, Mode, Preset};
/// use noren::ckks::{Context, Decryptor, Encoder, Encryptor, KeyRequest};
/// use noren::Seed;
/// use std::sync::{Arc, OnceLock};
///
/// // A small ring for the example, without security.
/// let parameters = Preset::Toy.parameters()?;
/// let context = Context::new(parameters.ckks()?)?;
/// let keys = context.generate_keys(Seed::random()?, &KeyRequest::default())?;
/// let secret = &keys.secret;
/// let bootstrap = BootstrapKeys::generate(&context, &parameters, secret, Seed::random()?, None)?;
/// let bootstrapper = Bootstrapper::new(&context, &parameters, Arc::new(bootstrap), Mode::Real)?;
///
/// let low = Encoder::new(&context).encode(&[0.5, -0.25], 512, parameters.input_level())?;
/// let low = Encryptor::public(&context, &keys.public, Seed::random()?)?.encrypt(&low)?;
/// let high = bootstrapper.bootstrap(&low)?;
/// assert_eq!((low.level(), high.level()), (3, 5));
/// let values = Decryptor::new(&context, secret)?.decrypt_real(&high)?;
/// assert!((values[0] - 0.5).abs() < high.error_bound() && (values[1] + 0.25).abs() < 1e-6);
/// # Ok::<(), noren::Error>(())
/// ```
pub struct Bootstrapper {
    pub(super) pipeline: Pipeline,
    /// Of the first use: see [`Bootstrapper::sine_error`].
    pub(super) sine_error: OnceLock<f64>,
}

/// The largest message with its error, as the magnitude and the bound of its ciphertext state them.
pub const MAX_MAGNITUDE: f64 = 1024.0;

impl Bootstrapper {
    /// Encodes the matrices.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] for a context or keys of other parameters, [`Error::MissingKey`] names all keys that are
    /// missing, [`Error::KeyLevel`] one of too few limbs, [`Error::Memory`] if there is not memory for the matrices; as
    /// [`Mode::check`].
    pub fn new(context: &Context, parameters: &Parameters, keys: Arc<BootstrapKeys>, mode: Mode) -> Result<Self> {
        context.check(&parameters.ckks()?, "the bootstrapping")?;
        mode.check(parameters)?;
        keys.check(context, parameters)?;
        let pipeline = memory::refusing(|| Pipeline::new(context, parameters, keys, mode))??;
        Ok(Self { pipeline, sine_error: OnceLock::new() })
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.pipeline.parameters
    }

    /// The parameters of the ciphertexts, and the secret key that they must belong to.
    #[must_use]
    pub fn owner(&self) -> Owner {
        self.pipeline.evaluator.keys().owner()
    }

    /// The level of results: that of [the parameters](Parameters::output_level), and one less for [`Mode::Paired`].
    #[must_use]
    pub fn output_level(&self) -> usize {
        self.pipeline.output_level()
    }

    /// How many multiplications can follow one another between two bootstraps.
    #[must_use]
    pub fn levels_left(&self) -> usize {
        self.output_level() - self.parameters().input_level()
    }

    /// The same message at the [level of results](Self::output_level) and its canonical scale.
    ///
    /// The ciphertext may be at any scale, and at any level from [`Parameters::input_level`] up to below that of results: what
    /// is above the lowest of these is dropped. Messages of a magnitude M above 1 are divided by the power of two not
    /// below M on their way, so that the error grows by that. What counts is M with the bound on the error, since both together are
    /// raised: a message that may leave the range only because of its error is divided too. A magnitude that is stated too small
    /// gives a wrong result, which nobody can see without the key.
    ///
    /// Fewer slots than [`Parameters::slots`] are taken as repeated in all of them, which costs as much as all.
    ///
    /// The bound on the error of the result holds but with the probability of
    /// [`BootstrapPlan::log2_failure`](crate::bootstrapping::plan::BootstrapPlan::log2_failure), and that of all
    /// bounds. `docs/bootstrapping.md` says how it is made.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`]; [`Error::KeyMismatch`] for a ciphertext of another secret key than that of the keys;
    /// [`SlotError::NotReal`] in [`Mode::Real`] for a message that may be complex;
    /// [`Error::Length`] if there are more slots than are bootstrapped;
    /// [`CkksError::TooLowToBootstrap`] if there are too few levels, [`Error::Parameters`] if there are so many that nothing would be
    /// gained, or if the magnitude and the bound on the error are together above [`MAX_MAGNITUDE`].
    pub fn bootstrap(&self, a: &Ciphertext) -> Result<Ciphertext> {
        Ok(self.stages(a, &mut |_| {})?.result)
    }

    /// As [`Bootstrapper::bootstrap`], with all that lies between; `done` hears of each stage when it is over. Of two
    /// iterations it is what lies between in the second one.
    ///
    /// # Errors
    /// As [`Bootstrapper::bootstrap`].
    pub fn stages(&self, a: &Ciphertext, done: &mut dyn FnMut(Stage)) -> Result<Stages> {
        self.check(a)?;
        let stages = iteration::run(&self.pipeline, a, done)?;
        self.pipeline.check_files()?;
        Ok(stages)
    }

    fn check(&self, a: &Ciphertext) -> Result<()> {
        self.check_slots(a)?;
        check_size(a, self.parameters().input_level(), self.output_level())
    }

    /// Refuses ciphertexts of others, with more slots, or that may be complex where real ones are needed.
    pub(super) fn check_slots(&self, a: &Ciphertext) -> Result<()> {
        self.pipeline.evaluator.check(a)?;
        let slots = self.parameters().slots();
        if a.slots() > slots {
            let needed = format!("at most {slots}, the slots that are bootstrapped");
            return Err(Error::Length { what: "slots of the ciphertext", found: a.slots(), needed });
        }
        if self.pipeline.mode == Mode::Real && a.estimate().range().interval().is_none() {
            let remedy =
                "bootstrap in mode complex or paired, or state its range (with_range) if it is known to be real";
            return Err(SlotError::NotReal { what: "the ciphertext to bootstrap", remedy }.into());
        }
        Ok(())
    }
}

/// Refuses ciphertexts with fewer levels than `needed`, or as many as results have, and those whose message may be too large
/// with its error.
///
/// # Errors
/// As [`Bootstrapper::bootstrap`].
pub(super) fn check_size(a: &Ciphertext, needed: usize, output: usize) -> Result<()> {
    if a.level() < needed {
        return Err(CkksError::TooLowToBootstrap { needed, left: a.level() }.into());
    }
    if a.level() >= output {
        return Err(Error::parameter("level", a.level(), format!("below {output}, the level of results")));
    }
    let (magnitude, error) = (a.magnitude(), a.error_bound());
    // Written so that what is not a number is refused.
    if magnitude + error <= MAX_MAGNITUDE {
        return Ok(());
    }
    let found = format!("{magnitude}, with an error of at most {error}");
    let needed = format!("at most {MAX_MAGNITUDE} together, and such that the message fits its level");
    Err(Error::parameter("magnitude", found, needed))
}
