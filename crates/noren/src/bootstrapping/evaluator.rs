//! An evaluator whose levels do not end.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

use noren_rlwe::error::Result;
use noren_rlwe::keys::EvaluationKeys;

use crate::bootstrapping::bootstrapper::Bootstrapper;
use crate::bootstrapping::renewal::Bootstraps;
use crate::circuits::renewing::{Renewal, Renewing};
use crate::schemes::ckks::{Ciphertext, Evaluator};

/// Evaluates programs of any depth: a ciphertext that has too few levels for an operation is bootstrapped before it.
///
/// All circuits run on it as on an [`Evaluator`]. Its rules:
///
/// - **Levels.** The levels between [`Parameters::input_level`](crate::bootstrapping::Parameters::input_level) and
///   [`Parameters::output_level`](crate::bootstrapping::Parameters::output_level) are for the program; those below are for
///   bootstrapping, and a ciphertext from above goes down to the level of results first, so that keys for that level
///   serve. [`BootstrappingEvaluator::levels_left`] says how many products can follow one another before the next bootstrap;
///   [`SlotEvaluator::level`](crate::schemes::slots::SlotEvaluator::level) has no end.
/// - **When.** An operand is bootstrapped when the product needs a level that it does not have, and not before. A
///   polynomial whose depth fits between two bootstraps asks for all its levels at once, so that its argument is
///   bootstrapped and nothing within it; a deeper one is bootstrapped within, where its powers run out.
/// - **Once.** The last results are remembered, up to 256 MiB: the same ciphertext is not bootstrapped again, and what uses it
///   later uses its result, sums too.
/// - **As planned.** It is the evaluator of [`Planned`](crate::circuits::renewing::Planned) bootstraps with a bootstrapper: a
///   dry run on a recorder counts them. A program runs one operation after the other, each by all threads.
/// - **Magnitudes.** Bootstrapping rests on the bound that a ciphertext carries, [`Ciphertext::magnitude`], and takes at
///   most [`MAX_MAGNITUDE`](crate::bootstrapping::MAX_MAGNITUDE). Products multiply these bounds, which after
///   some steps are far above the truth: the error of a result grows with the bound, and beyond the limit it is refused. A
///   program that knows better says so with [`Ciphertext::with_magnitude`].
/// - **Real or complex.** As the bootstrapper is: in [`Mode::Real`](crate::bootstrapping::Mode::Real) messages that may be
///   complex are refused.
///
/// Cheap to clone, and shared between threads; clones share the memory and the count.
///
/// # Examples
/// ```
/// use noren::bootstrapping::{BootstrapKeys, Bootstrapper, Mode, Preset, WithBootstrapping};
/// use noren::ckks::{Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest};
/// use noren::schemes::slots::SlotEvaluator;
/// use noren::Seed;
/// use std::sync::Arc;
///
/// // A small ring for the example, without security.
/// let parameters = Preset::Toy.parameters()?;
/// let context = Context::new(parameters.ckks()?)?;
/// let level = parameters.output_level();
/// let request = KeyRequest { relinearization: true, level: Some(level), ..KeyRequest::default() };
/// let keys = context.generate_keys(Seed::random()?, &request)?;
/// let bootstrap = BootstrapKeys::generate(&context, &parameters, &keys.secret, Seed::random()?, None)?;
/// let bootstrapper = Bootstrapper::new(&context, &parameters, Arc::new(bootstrap), Mode::Real)?;
/// let ev = Evaluator::new(&context, keys.evaluation)?.with_bootstrapping(Arc::new(bootstrapper))?;
///
/// let x = Encoder::new(&context).encode(&[0.5, -0.9], 512, level)?;
/// let mut x = Encryptor::public(&context, &keys.public, Seed::random()?)?.encrypt(&x)?;
/// for _ in 0..5 {
///     // cos 2t = 2 cos^2 t - 1
///     x = ev.weighted_sum(&[(&ev.square(&x)?, 2.0)], -1.0)?.with_magnitude(1.0);
/// }
/// let values = Decryptor::new(&context, &keys.secret)?.decrypt_real(&x)?;
/// assert!((values[0] - (32.0 * 0.5f64.acos()).cos()).abs() < 1e-2);
/// assert_eq!(ev.bootstraps(), 4);
/// # Ok::<(), noren::Error>(())
/// ```
pub type BootstrappingEvaluator = Renewing<Arc<Evaluator>, Arc<Bootstraps>, Ciphertext>;

/// The extension of [`Evaluator`] by this layer.
pub trait WithBootstrapping {
    /// The evaluator with levels that do not end.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`](noren_rlwe::error::Error::ParameterMismatch) if the bootstrapper is of other parameters,
    /// [`Error::KeyMismatch`](noren_rlwe::error::Error::KeyMismatch) if its keys are of
    /// another secret key.
    fn with_bootstrapping(&self, bootstrapper: Arc<Bootstrapper>) -> Result<BootstrappingEvaluator>;
}

impl WithBootstrapping for Evaluator {
    fn with_bootstrapping(&self, bootstrapper: Arc<Bootstrapper>) -> Result<BootstrappingEvaluator> {
        self.context().check(&bootstrapper.parameters().ckks()?, "the bootstrapper")?;
        self.keys().owner().check(&bootstrapper.owner(), "the bootstrapper")?;
        let renewal = Arc::new(Bootstraps::new(bootstrapper, 0.0)?);
        Ok(Renewing { ev: Arc::new(self.clone()), renewal, vectors: PhantomData })
    }
}

impl BootstrappingEvaluator {
    /// The evaluator for what needs no new levels.
    #[must_use]
    pub fn evaluator(&self) -> &Evaluator {
        &self.ev
    }

    /// The bootstrapper.
    #[must_use]
    pub fn bootstrapper(&self) -> &Bootstrapper {
        &self.renewal.bootstrapper
    }

    /// The same with other evaluation keys of the same secret; both share the memory and the count.
    ///
    /// # Errors
    /// As [`Evaluator::new`].
    pub fn with_keys(&self, keys: Arc<EvaluationKeys>) -> Result<Self> {
        let ev = Arc::new(Evaluator::new(self.ev.context(), keys)?);
        Ok(Self { ev, ..self.clone() })
    }

    /// The evaluator with a failure budget: what needs a bootstrap is refused
    /// ([`FailureBudgetExceeded`](crate::schemes::error::FailureBudgetExceeded)) if with it the probability that any
    /// bootstrap was wrong in some slot might exceed `2^log2_failure`. The count starts anew, for this evaluator and
    /// its clones.
    ///
    /// # Errors
    /// None of parameters that bootstrap.
    pub fn with_failure_budget(self, log2_failure: f64) -> Result<Self> {
        let renewal = Arc::new(Bootstraps::new(self.renewal.bootstrapper.clone(), log2_failure)?);
        Ok(Self { renewal, ..self })
    }

    /// The same message at the level of results, or, if it is there, as it is; see [`Bootstrapper::bootstrap`].
    ///
    /// # Errors
    /// As [`Bootstrapper::bootstrap`], but for levels that are too high.
    pub fn bootstrap(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.ready(a, self.renewal.most()).map(Cow::into_owned)
    }

    /// How many bootstraps there were, of this evaluator and all its clones.
    #[must_use]
    pub fn bootstraps(&self) -> u64 {
        self.renewal.count()
    }

    /// `log2` of a bound on the probability that any of these was wrong in some slot; minus infinity for none.
    ///
    /// See [`BootstrapPlan::log2_failure`](crate::bootstrapping::BootstrapPlan::log2_failure).
    #[must_use]
    pub fn log2_failure(&self) -> f64 {
        self.renewal.log2_failure()
    }
}
