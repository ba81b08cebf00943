//! Sums and lookups on encrypted integers.

use std::sync::Arc;

use noren_ring::interrupt::Steps;
use noren_ring::torus::lwe::Lwe;
use noren_ring::torus::table::Table;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::owner::Owner;
use noren_rlwe::torus::circuit::keys::CircuitKeys;
use noren_rlwe::torus::keys::ServerKeys;

use crate::schemes::failures::FailureBudget;
use crate::schemes::tfhe::ciphertext::Ciphertext;
use crate::schemes::tfhe::context::Context;
use crate::schemes::tfhe::error::TfheError;
use crate::schemes::tfhe::lookup::{BivariateLookup, Lookup, Range};
use crate::schemes::tfhe::parts::{WORKING_SET, elements_that_fill, parts};

/// The noise of a result of a bootstrap, in its own units.
pub(crate) const BOOTSTRAP_NOISE: f64 = 1.0;

/// Evaluates on ciphertexts of one owner. Cheap to clone, and shared between threads.
#[derive(Clone)]
pub struct Evaluator {
    context: Context,
    keys: Arc<ServerKeys>,
    circuit: Option<Arc<CircuitKeys>>,
    owner: Owner,
    failures: Arc<FailureBudget>,
}

impl Evaluator {
    /// Evaluates with these keys.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if they were made with other parameters.
    pub fn new(context: &Context, keys: Arc<ServerKeys>) -> Result<Self> {
        context.check_keys(keys.owner(), "the server keys")?;
        let owner = context.owner(keys.owner());
        Ok(Self { context: context.clone(), keys, circuit: None, owner, failures: Arc::new(FailureBudget::new(0.0)) })
    }

    /// The evaluator with a failure budget: an operation is refused if with it the probability that any bootstrap has failed
    /// might exceed `2^log2_failure`. The count starts anew, for this evaluator and its clones.
    #[must_use]
    pub fn with_failure_budget(mut self, log2_failure: f64) -> Self {
        self.failures = Arc::new(FailureBudget::new(log2_failure));
        self
    }

    /// How many bootstraps there were, of this evaluator and all its clones; a circuit bootstrap counts as one.
    #[must_use]
    pub fn bootstraps(&self) -> u64 {
        self.failures.bootstraps()
    }

    /// `log2` of a bound on the probability that any of these failed, so that a result is wrong; minus infinity for none.
    ///
    /// It is the sum of what [`Parameters::failure`](crate::schemes::tfhe::Parameters::failure) gives for operands of the largest
    /// noise, and of what a large lookup may fail with.
    #[must_use]
    pub fn log2_failure(&self) -> f64 {
        self.failures.log2_failure()
    }

    pub(crate) fn failures(&self) -> &FailureBudget {
        &self.failures
    }

    /// The evaluator with keys of circuit bootstrapping, for large lookups.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] and [`Error::KeyMismatch`] if they are of other parameters, other digits or another owner.
    pub fn with_circuit_keys(mut self, keys: Arc<CircuitKeys>) -> Result<Self> {
        self.keys.owner().check(keys.owner(), "the circuit keys")?;
        self.context.check_circuit(keys.parameters())?;
        self.circuit = Some(keys);
        Ok(self)
    }

    /// The context.
    #[must_use]
    pub const fn context(&self) -> &Context {
        &self.context
    }

    /// The value as a ciphertext without noise, which hides nothing.
    ///
    /// # Errors
    /// [`TfheError::OutOfRoom`] if it is not below p, [`Error::Parameters`] if the parameters are for bits.
    pub fn trivial(&self, value: u64) -> Result<Ciphertext> {
        let parameters = self.context.parameters();
        parameters.encoding().needs_integers()?;
        self.check_room(value, "the value")?;
        let sample = Lwe::trivial(parameters.torus().dimension(), value * parameters.encoding().unit());
        Ok(Ciphertext { sample, owner: self.owner, max: value, noise: 0.0 })
    }

    /// `x + y`.
    ///
    /// # Errors
    /// [`TfheError::OutOfRoom`] if the sum may need more than the carry bits, [`TfheError::NoisyCombination`];
    /// [`Error::ParameterMismatch`] and [`Error::KeyMismatch`] for ciphertexts of others.
    pub fn add(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext> {
        self.combine(&[(x, 1), (y, 1)], 0)
    }

    /// `x + constant`.
    ///
    /// # Errors
    /// As [`Evaluator::add`].
    pub fn add_constant(&self, x: &Ciphertext, constant: u64) -> Result<Ciphertext> {
        self.combine(&[(x, 1)], constant)
    }

    /// `factor x`.
    ///
    /// # Errors
    /// As [`Evaluator::add`].
    pub fn mul_constant(&self, x: &Ciphertext, factor: u64) -> Result<Ciphertext> {
        self.combine(&[(x, factor)], 0)
    }

    /// `constant + sum_i factor_i x_i`.
    ///
    /// # Errors
    /// As [`Evaluator::add`].
    pub fn combine(&self, terms: &[(&Ciphertext, u64)], constant: u64) -> Result<Ciphertext> {
        let largest = |max: u64, &(x, factor): &(&Ciphertext, u64)| max.saturating_add(x.max.saturating_mul(factor));
        let max = terms.iter().fold(constant, largest);
        self.check_room(max, "the largest value of a sum")?;
        let terms: Vec<(&Ciphertext, i64)> = terms.iter().map(|&(x, factor)| (x, factor.cast_signed())).collect();
        self.combine_known(&terms, constant.cast_signed(), max)
    }

    /// `constant + sum_i factor_i x_i` with factors of either sign, which the caller knows to be at most `max`, and not below 0.
    /// It may be up to `2p - 1`, for [`Lookup::carry`] alone.
    ///
    /// # Errors
    /// As [`Evaluator::add`].
    pub(crate) fn combine_known(&self, terms: &[(&Ciphertext, i64)], constant: i64, max: u64) -> Result<Ciphertext> {
        let mut sum = self.trivial(0)?;
        sum.sample.add_constant(constant.cast_unsigned().wrapping_mul(self.context.parameters().encoding().unit()));
        for &(x, factor) in terms {
            self.owner.check(&x.owner, "the ciphertext")?;
            sum.noise += factor.unsigned_abs() as f64 * x.noise;
            sum.sample.add_multiple(&x.sample, factor);
        }
        self.check_noise(sum.noise, "a sum")?;
        self.check_room(max / 2, "half of the largest value of a sum")?;
        sum.max = max;
        Ok(sum)
    }

    /// `f(x)`, with the noise of a bootstrap.
    ///
    /// # Errors
    /// [`TfheError::OutOfRoom`] if x may be larger than the inputs of the table, [`Error::Length`] if the table has
    /// several functions; [`FailureBudgetExceeded`](crate::schemes::error::FailureBudgetExceeded) beyond a budget,
    /// [`Error::FileChanged`] if the keys lie in a file that has changed; [`Error::ParameterMismatch`] and
    /// [`Error::KeyMismatch`] for things of others.
    pub fn lookup(&self, x: &Ciphertext, lookup: &Lookup) -> Result<Ciphertext> {
        Ok(self.lookup_each(&[x], lookup)?.remove(0))
    }

    /// `f(x)` for each x: faster than one by one, as keys are read once for several, and threads share the work.
    ///
    /// # Errors
    /// As [`Evaluator::lookup`].
    pub fn lookup_each(&self, xs: &[&Ciphertext], lookup: &Lookup) -> Result<Vec<Ciphertext>> {
        if lookup.functions() != 1 {
            let what = "functions of the lookup";
            return Err(Error::Length { what, found: lookup.functions(), needed: "1, or lookup_many".into() });
        }
        Ok(self.lookup_pairs(&pairs(xs, lookup))?.into_iter().flatten().collect())
    }

    /// All functions of the table at x, with one bootstrap.
    ///
    /// # Errors
    /// As [`Evaluator::lookup`].
    pub fn lookup_many(&self, x: &Ciphertext, lookup: &Lookup) -> Result<Vec<Ciphertext>> {
        Ok(self.lookup_pairs(&[(x, lookup)])?.remove(0))
    }

    /// All functions of each table at its x.
    ///
    /// # Errors
    /// As [`Evaluator::lookup`].
    pub fn lookup_pairs(&self, pairs: &[(&Ciphertext, &Lookup)]) -> Result<Vec<Vec<Ciphertext>>> {
        for (x, lookup) in pairs {
            self.owner.check(&x.owner, "the ciphertext")?;
            lookup.check(&self.context)?;
            self.check_noise(x.noise, "the operand of a lookup")?;
            if x.max >= lookup.inputs {
                let needed = format!("at most {}", lookup.inputs - 1);
                let hint = "take its message part first, or use a table of more inputs";
                return Err(TfheError::OutOfRoom {
                    what: "the largest value of the operand",
                    found: x.max,
                    needed,
                    hint,
                }
                .into());
            }
        }
        let jobs: Vec<(&Lwe, &Table)> = pairs.iter().map(|(x, lookup)| (&x.sample, &lookup.table)).collect();
        let results = self.bootstrap(&jobs)?.into_iter().zip(pairs).map(|(samples, (_, lookup))| {
            let value = |(mut sample, range): (Lwe, &Range)| {
                sample.add_constant(lookup.offset);
                Ciphertext { sample, owner: self.owner, max: range.max, noise: BOOTSTRAP_NOISE }
            };
            samples.into_iter().zip(&lookup.ranges).map(value).collect()
        });
        Ok(results.collect())
    }

    /// `f(x, y)`, from `x + s y`.
    ///
    /// # Errors
    /// [`TfheError::OutOfRoom`] if x or y may be too large: then take its message part first. Else as
    /// [`Evaluator::lookup`].
    pub fn lookup_bivariate(&self, x: &Ciphertext, y: &Ciphertext, lookup: &BivariateLookup) -> Result<Ciphertext> {
        Ok(self.lookup_bivariate_each(&[(x, y)], lookup)?.remove(0))
    }

    /// `f(x, y)` for each pair; see [`Evaluator::lookup_each`].
    ///
    /// # Errors
    /// As [`Evaluator::lookup_bivariate`].
    pub fn lookup_bivariate_each(
        &self,
        pairs: &[(&Ciphertext, &Ciphertext)],
        lookup: &BivariateLookup,
    ) -> Result<Vec<Ciphertext>> {
        self.in_parts(pairs, 1, |pairs| {
            let packed = pairs.iter().map(|(x, y)| {
                if x.max >= lookup.shift {
                    let needed = format!("at most {}", lookup.shift - 1);
                    let hint = "take its message part first";
                    return Err(
                        TfheError::OutOfRoom { what: "the largest first operand", found: x.max, needed, hint }.into()
                    );
                }
                self.combine(&[(x, 1), (y, lookup.shift)], 0)
            });
            let packed = packed.collect::<Result<Vec<_>>>()?;
            self.lookup_each(&packed.iter().collect::<Vec<_>>(), &lookup.lookup)
        })
    }

    /// The results for all items, each of `lookups` lookups at once, part by part: what they look up has a bound in memory.
    pub(crate) fn in_parts<T, R>(
        &self,
        items: &[T],
        lookups: usize,
        mut work: impl FnMut(&[T]) -> Result<Vec<R>>,
    ) -> Result<Vec<R>> {
        let sample = size_of::<u64>() * (self.context.parameters().torus().dimension() + 1);
        let least = elements_that_fill(self.context.server().capacity(), lookups, 1);
        let progress = Steps::new(items.len());
        let mut results = Vec::with_capacity(items.len());
        for part in parts(items.len(), lookups * sample, WORKING_SET, least) {
            let count = part.len();
            results.extend(work(&items[part])?);
            progress.advance(count);
        }
        Ok(results)
    }

    /// Bootstraps samples.
    pub(crate) fn bootstrap(&self, jobs: &[(&Lwe, &Table)]) -> Result<Vec<Vec<Lwe>>> {
        self.bootstrap_failing(jobs, self.context.parameters().failure().log2)
    }

    /// Bootstraps samples, each of which is decided wrong with probability `2^log2_failure` at most.
    pub(crate) fn bootstrap_failing(&self, jobs: &[(&Lwe, &Table)], log2_failure: f64) -> Result<Vec<Vec<Lwe>>> {
        self.failures.spend(jobs.len(), log2_failure)?;
        let results = self.context.server().bootstrap(self.keys.bootstrap(), jobs);
        self.keys.check_file()?;
        Ok(results)
    }

    /// The keys of the bootstrap.
    pub(crate) fn keys(&self) -> &ServerKeys {
        &self.keys
    }

    /// The keys of circuit bootstrapping, if there are any.
    pub(crate) fn circuit(&self) -> Option<&CircuitKeys> {
        self.circuit.as_deref()
    }

    /// The owner of results.
    pub(crate) const fn owner(&self) -> &Owner {
        &self.owner
    }

    pub(crate) fn check_noise(&self, found: f64, what: &'static str) -> Result<()> {
        /// Sums of square roots are rounded.
        const SLACK: f64 = 1e-9;
        let needed = self.context.parameters().max_noise();
        if found <= needed + SLACK { Ok(()) } else { Err(TfheError::NoisyCombination { what, found, needed }.into()) }
    }

    fn check_room(&self, found: u64, what: &'static str) -> Result<()> {
        let most = self.context.parameters().encoding().size() - 1;
        if found <= most {
            return Ok(());
        }
        let hint = "bootstrap to split off carries, or use parameters with more carry bits";
        Err(TfheError::OutOfRoom { what, found, needed: format!("at most {most}"), hint }.into())
    }
}

fn pairs<'a>(xs: &[&'a Ciphertext], lookup: &'a Lookup) -> Vec<(&'a Ciphertext, &'a Lookup)> {
    xs.iter().map(|&x| (x, lookup)).collect()
}
