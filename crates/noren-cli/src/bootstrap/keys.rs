//! `noren keygen --bootstrap`: the keys of an owner, with those that bootstrapping and switching evaluate with.

use std::path::Path;

use noren::Resources;
use noren::bootstrapping::{BootstrapKeyFile, Footprint, Parameters, Progress};
use noren::ckks::{Context, KeyRequest, Keys};

use crate::bootstrap::plan::{PlanOptions, PlanReport};
use crate::console::Console;
use crate::failure::Failure;
use crate::key_files::{KeyFiles, KeyFilesReport, NewKeys, existing};
use crate::progress;
use crate::switching::keys::{FILES, write};

/// The name of the file of what evaluates.
pub(crate) const BOOTSTRAP: &str = "bootstrap.keys";

/// Makes `secret.key`, `public.key`, `bootstrap.keys` and, if switching is wanted, `server.keys` and `switching.keys`, which
/// appear together.
pub(crate) fn run(
    options: &PlanOptions,
    rotations: &[isize],
    keys: &NewKeys<'_>,
    console: &Console,
) -> Result<(), Failure> {
    let parameters = options.parameters()?;
    let place = existing(keys.out);
    let plan = PlanReport::new(options, &parameters, place)?;
    if keys.plan_only {
        return console.plan_alone(&plan);
    }
    let footprint = Footprint::generate(&parameters)?;
    footprint.check(&Resources::of_machine(place))?;
    let more = if options.switching.is_some() { &FILES[..] } else { &[] };
    let files = KeyFiles::new(keys, &[&[BOOTSTRAP], more].concat())?;
    console.plan(&plan)?;
    warn(&parameters, footprint, place, console);
    let seed = keys.seed()?;

    let context = Context::new(parameters.ckks()?)?;
    let Keys { secret, public, .. } = context.generate_keys(seed.derive("owner"), &KeyRequest::default())?;
    let mut rotations = rotations.to_vec();
    if let Some(switching) = &options.switching {
        rotations.extend(switching.rotations(&parameters)?);
        rotations.sort_unstable();
        rotations.dedup();
    }
    let application = KeyRequest { rotations, ..KeyRequest::default() };
    let shown = progress::bar("making bootstrapping keys", 1);
    let mut keys = 0;
    let mut heard = |Progress { done, of, .. }: Progress| {
        shown.set(done, of);
        keys = done;
    };
    let bytes = files.outputs().write_with(BOOTSTRAP, |path| {
        let seed = seed.derive("bootstrapping");
        BootstrapKeyFile::generate(path, &context, &parameters, &secret, seed, &application, &mut heard)
    })?;
    drop(shown);
    let mut bytes = vec![bytes];
    if let Some(switching) = &options.switching {
        let _shown = progress::spinner("making switching keys".to_owned());
        bytes.extend(write(files.outputs(), &switching.parameters(&parameters)?, &context, &secret, &seed)?);
    }
    let files = files.finish(&context, secret, public, &bytes)?;
    console.report(&KeyFilesReport { plan, keys: Some(keys), files })
}

/// Says what the keys cannot be used for on this machine, and that they promise nothing where they do not.
fn warn(parameters: &Parameters, made: Footprint, directory: &Path, console: &Console) {
    if parameters.spec().security == noren::Security::None {
        console.warn("these parameters promise no security");
    }
    let rest = Resources { disk: None, ..Resources::of_machine(directory) };
    if let Ok(footprint) = Footprint::bootstrap(parameters)
        && footprint.memory > made.memory
        && let Err(error) = (Footprint { disk: 0, ..footprint }).check(&rest)
    {
        console.warn(format_args!("the keys can be made here, but not used: {error}"));
    }
}
