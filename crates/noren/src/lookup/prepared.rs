//! A function, ready to be looked up.

use std::path::Path;

use noren_math::machine::memory;
use noren_rlwe::error::Result;
use noren_rlwe::mapped::check_unchanged;
use noren_rlwe::resources::Resources;

use crate::lookup::function::Function;
use crate::lookup::keys::LookupKeys;
use crate::lookup::line::{Line, LineLookup};
use crate::lookup::matrix::Matrix;
use crate::lookup::plan::LookupPlan;
use crate::lookup::sparse::{Entries, leave};
use crate::lookup::step::Step;
use crate::schemes::bfv::{Ciphertext, Context, Evaluator};

/// A function, prepared to be looked up: without a matrix where it depends on one number, `x + y` or `x - y` alone, by all
/// factors of its matrix otherwise.
///
/// A factor takes `2 n` bytes, and there are as many as slots for a function of n numbers: 2.1 GB at n = 2^15. Without a
/// matrix it is `8 n` bytes for each block of the one number.
pub struct Lookup {
    plan: LookupPlan,
    pub(super) form: Form,
}

/// How a function is prepared.
pub(super) enum Form {
    Matrix(Matrix),
    Line(LineLookup),
}

impl Lookup {
    /// Prepares a function; `progress` hears how many factors of its matrix are made, of how many, from any thread.
    ///
    /// # Errors
    /// [`LookupError::Undefined`](crate::lookup::LookupError::Undefined) and
    /// [`LookupError::NotInRange`](crate::lookup::LookupError::NotInRange) name the first point that needs a value
    /// below t, [`Error::Length`](noren_rlwe::error::Error::Length) if the domain is another one than the plan's,
    /// [`Error::Resources`](noren_rlwe::error::Error::Resources) before any work if the matrix does not fit into the
    /// memory that the process can have, [`Error::Memory`](noren_rlwe::error::Error::Memory) if the system does not
    /// give it.
    pub fn prepare(
        context: &Context,
        plan: &LookupPlan,
        function: &Function,
        progress: Option<&(dyn Fn(usize, usize) + Sync)>,
    ) -> Result<Self> {
        context.check(plan.parameters(), "the plan")?;
        plan.check_domain(function)?;
        let form = match Line::modulo(function, plan.parameters().modulus().value()) {
            Some(line) => Form::Line(LineLookup::prepare(context, plan, function, line)?),
            None => {
                plan.check(&Resources { disk: None, ..Resources::of_machine(Path::new(".")) })?;
                Form::Matrix(memory::refusing(|| Matrix::build(context, plan, function, progress))??)
            }
        };
        Ok(Self::new(plan.clone(), form))
    }

    pub(super) fn new(plan: LookupPlan, form: Form) -> Self {
        Self { plan, form }
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &LookupPlan {
        &self.plan
    }

    /// On what the function depends, if no matrix was needed.
    #[must_use]
    pub fn line(&self) -> Option<Line> {
        match &self.form {
            Form::Matrix(_) => None,
            Form::Line(line) => Some(line.line()),
        }
    }

    /// Refuses results of factors that lie in a file that has changed.
    pub(super) fn check_file(&self) -> Result<()> {
        match &self.form {
            Form::Matrix(matrix) => check_unchanged(matrix.factors.file(), "a prepared function"),
            // Tables are read into memory.
            Form::Line(_) => Ok(()),
        }
    }

    /// How many bytes the factors take, or the tables if there is no matrix.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match &self.form {
            Form::Matrix(matrix) => size_of_val(matrix.factors.words()) as u64,
            Form::Line(line) => line.bytes(),
        }
    }

    /// `f(x, y)` for each query of a pair of ciphertexts.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`](noren_rlwe::error::Error::ParameterMismatch) for ciphertexts or keys of other
    /// parameters, [`Error::MissingKey`](noren_rlwe::error::Error::MissingKey) if the evaluator has no relinearisation
    /// key, [`Error::Parameters`](noren_rlwe::error::Error::Parameters) for numbers that are coefficients,
    /// [`LookupError::NotSpread`](crate::lookup::LookupError::NotSpread) for numbers that are not known to be
    /// [spread](crate::lookup::Layout::encode) for the domain of the plan,
    /// [`Error::FileChanged`](noren_rlwe::error::Error::FileChanged) for a mapped function or mapped keys whose file has changed,
    /// [`IntegerError::NoiseExhausted`](crate::schemes::integers::IntegerError::NoiseExhausted) if the numbers carry
    /// too much noise already.
    pub fn evaluate(
        &self,
        evaluator: &Evaluator,
        keys: &LookupKeys,
        x: &Ciphertext,
        y: &Ciphertext,
    ) -> Result<Ciphertext> {
        Ok(self.evaluate_many(evaluator, keys, &[[x, y]], &|_| {})?.remove(0))
    }

    /// [`Lookup::evaluate`] for several pairs: each factor is transformed once for all of them. `watch` hears of each step when
    /// it is done.
    ///
    /// A pair takes `2 (A + 2 B) l n` words while the matrix is multiplied, for A baby steps, B giant steps and l limbs: 0.4 GB
    /// at n = 2^15. Several pairs share the memory of 1024 transformed factors for each thread, 0.27 GB.
    ///
    /// # Errors
    /// As [`Lookup::evaluate`].
    pub fn evaluate_many(
        &self,
        evaluator: &Evaluator,
        keys: &LookupKeys,
        pairs: &[[&Ciphertext; 2]],
        watch: &dyn Fn(Step),
    ) -> Result<Vec<Ciphertext>> {
        let (context, plan) = (evaluator.context(), &self.plan);
        context.check(plan.parameters(), "the prepared function")?;
        pairs.iter().flatten().try_for_each(|x| {
            context.check(x.parameters(), "the ciphertext")?;
            plan.layout().check(x.content())
        })?;
        let matrix = match &self.form {
            Form::Matrix(matrix) => matrix,
            Form::Line(line) => {
                return pairs.iter().map(|[x, y]| line.evaluate_watched(evaluator, keys, [x, y], watch)).collect();
            }
        };
        let blocks = plan.layout().blocks();
        let enter = |pair: &[&Ciphertext; 2]| {
            let [x, y] = [0, 1].map(|i| Entries::of(evaluator, (plan, keys), pair[i], blocks[i]));
            Ok([x?, y?])
        };
        let entries = pairs.iter().map(enter).collect::<Result<Vec<_>>>()?;
        watch(Step::OneHot);
        let numbers: Vec<&Entries> = entries.iter().map(|[x, _]| x).collect();
        let rows = matrix.rows(context, (plan, keys), &numbers, watch)?;
        watch(Step::Giants);
        let select = |(entries, rows): (&[Entries; 2], &Vec<_>)| {
            let [x, y] = entries;
            let sum = matrix.product(context, (plan, keys), [x, y], rows)?;
            let noise = plan.predict([&x.noise, &y.noise], matrix.log2_norm);
            let factor = context.parameters().modulus().mul(x.factor, y.factor);
            let result = leave(context, (plan, keys), &sum, factor, noise)?;
            if matrix.rest.offset == 0 { Ok(result) } else { evaluator.add_scalar(&result, matrix.rest.offset) }
        };
        let results = entries.iter().zip(&rows).map(select).collect::<Result<_>>()?;
        self.check_file()?;
        keys.check_files()?;
        watch(Step::Select);
        Ok(results)
    }
}
