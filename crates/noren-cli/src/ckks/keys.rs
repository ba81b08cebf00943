//! `noren keygen` for programs on numbers: the keys of an owner.

use std::path::Path;
use std::sync::Arc;

use noren::ckks::{Context, KeyFile};
use noren::programs::Program;
use noren::programs::{ProgramPlan, Shape};

use crate::console::Console;
use crate::failure::Failure;
use crate::files;
use crate::key_files::{EVALUATION, KeyFiles, KeyFilesReport, NewKeys};
use crate::takes;
use crate::{programs, progress};

/// The programs that keys are for.
pub(crate) struct KeyOptions<'a> {
    pub(crate) programs: Vec<Program>,
    /// The file of the parameters; without one they are chosen.
    pub(crate) parameters: Option<&'a Path>,
    /// Bits of the results, where parameters are chosen.
    pub(crate) precision: f64,
}

/// Makes `secret.key`, `public.key` and `eval.keys`, which appear together; `shape` gives the tables that programs run on.
pub(crate) fn run(
    options: &KeyOptions<'_>,
    keys: &NewKeys<'_>,
    shape: impl FnOnce() -> Result<Shape, Failure>,
    console: &Console,
) -> Result<(), Failure> {
    let given =
        options.parameters.map(|path| files::read_parameters(path, &takes::CKKS_PARAMS, console)).transpose()?;
    let shape = shape()?;
    let plan = match given {
        Some(parameters) => ProgramPlan::with_parameters(&options.programs, &shape, parameters)?,
        None => ProgramPlan::for_precision(&options.programs, &shape, options.precision)?,
    };
    let report = programs::PlanReport::new(&options.programs, &plan)?;
    if keys.plan_only {
        return console.plan_alone(&report);
    }
    let files = KeyFiles::new(keys, &[EVALUATION])?;
    console.plan(&report)?;
    let seed = keys.seed()?;
    let request = plan.key_request()?;
    let context = Context::new(plan.parameters)?;
    let shown = progress::bar("making evaluation keys", 1);
    let progress = |done, total| shown.set(done, total);
    let made = context.generate_keys_with_progress(seed, &request, Some(&progress))?;
    drop(shown);

    let shown = progress::spinner("writing keys".to_owned());
    let evaluation = KeyFile { context: context.clone(), key: Arc::unwrap_or_clone(made.evaluation) };
    let bytes = files.outputs().write(EVALUATION, &(), &evaluation)?;
    let files = files.finish(&context, made.secret, made.public, &[bytes])?;
    drop(shown);
    console.report(&KeyFilesReport { plan: report, keys: None, files })
}
