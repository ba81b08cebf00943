//! `noren keygen` for programs on numbers: the keys of an owner, and more of them.

use std::path::PathBuf;
use std::sync::Arc;

use noren::ckks::{Context, KeyFile, KeyRequest};
use noren::programs::ProgramPlan;
use noren_rlwe::key_request::KeyRequest as Automorphisms;

use crate::additions::{self, KeyAddition};
use crate::bootstrap::keys::{self as bootstrap, BOOTSTRAP};
use crate::ckks::plan::PlanReport;
use crate::console::Console;
use crate::failure::Failure;
use crate::files;
use crate::key_files::{EVALUATION, KeyFiles, KeyFilesReport, NewKeys};
use crate::progress;
use crate::takes;

/// Makes `secret.key`, `public.key` and `eval.keys`, which appear together.
pub(super) fn run(keys: &NewKeys<'_>, console: &Console) -> Result<(), Failure> {
    let options = keys.options;
    let programs = options.programs()?;
    let read = |path: &PathBuf| files::read_parameters(path, &takes::CKKS_PARAMS, console);
    let given = options.params.as_ref().map(read).transpose()?;
    let shape = options.shape()?;
    let plan = match given {
        Some(parameters) => ProgramPlan::with_parameters(&programs, &shape, parameters)?,
        None => ProgramPlan::for_precision(&programs, &shape, options.precision)?,
    };
    let report = PlanReport::new(&programs, &plan)?;
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

/// Adds to the evaluation keys of programs, or to those of bootstrapping where there are no others.
pub(super) fn add(addition: &KeyAddition<'_>, console: &Console) -> Result<(), Failure> {
    let has = |name| addition.keys.out.join(name).exists();
    if has(BOOTSTRAP) && !has(EVALUATION) {
        return bootstrap::add(addition, console, |context, level| request(addition, context, Some(level)));
    }
    additions::add(addition, console, |context| request(addition, context, None))
}

/// The keys that programs or rotations need; rotations up to a level, or all.
fn request(addition: &KeyAddition<'_>, context: &Context, level: Option<usize>) -> Result<Automorphisms, Failure> {
    let options = addition.keys.options;
    if options.swap_rows {
        let needed = "keys of exact integers: the slots of CKKS have no rows".to_owned();
        return Err(Failure::Unsuitable { what: "--swap-rows", found: "a secret key of CKKS".to_owned(), needed });
    }
    let request = match &addition.programs[..] {
        [] => KeyRequest { rotations: options.rotations.clone(), level, ..KeyRequest::default() },
        programs => {
            ProgramPlan::with_parameters(programs, &addition.shape, context.parameters().clone())?.key_request()?
        }
    };
    Ok(context.automorphisms_of(&request)?)
}
