//! `noren keygen --bootstrap`: the keys of an owner, with those that bootstrapping evaluates with.

use std::path::Path;

use noren::bootstrapping::{BootstrapKeyFile, Footprint, Parameters, Progress};
use noren::ckks::{Context, KeyRequest, Keys};
use noren::{Resources, Seed};
use noren_files::passphrase::Passphrase;

use crate::bootstrap::plan::{Report as PlanReport, Wanted};
use crate::console::Console;
use crate::failure::Failure;
use crate::key_files::{KeyFiles, Report, existing};
use crate::outputs::Force;
use crate::progress;

/// The name of the file of what evaluates.
pub(crate) const BOOTSTRAP: &str = "bootstrap.keys";

/// The keys to make, and how.
pub(crate) struct Job<'a> {
    pub(crate) wanted: Wanted,
    /// The rotations of the application.
    pub(crate) rotations: &'a [isize],
    pub(crate) out: &'a Path,
    pub(crate) seed: Option<Seed>,
    pub(crate) plan_only: bool,
    pub(crate) force: &'a Force,
    /// That of the secret key.
    pub(crate) passphrase: Option<&'a Passphrase>,
}

/// Makes `secret.key`, `public.key` and `bootstrap.keys`, which appear together.
pub(crate) fn run(job: Job<'_>, console: &Console) -> Result<(), Failure> {
    let parameters = job.wanted.parameters()?;
    let place = existing(job.out);
    let plan = PlanReport::new(&job.wanted, &parameters, place)?;
    if job.plan_only {
        return console.report(&plan);
    }
    let footprint = Footprint::generate(&parameters)?;
    footprint.check(&Resources::of_machine(place))?;
    let files = KeyFiles::new(job.out, BOOTSTRAP, job.force, job.passphrase)?;
    console.text(&plan)?;
    warn(&parameters, footprint, place, console);
    let seed = match job.seed {
        Some(seed) => seed,
        None => Seed::random().map_err(noren::Error::from)?,
    };

    let context = Context::new(parameters.ckks()?)?;
    let Keys { secret, public, .. } = context.generate_keys(seed.derive("owner"), &KeyRequest::default())?;
    let application = KeyRequest { rotations: job.rotations.to_vec(), ..KeyRequest::default() };
    let shown = progress::bar("making bootstrapping keys", 1);
    let mut keys = 0;
    let mut heard = |Progress { done, of, .. }: Progress| {
        shown.set(done, of);
        keys = done;
    };
    let bytes = files.write_with(|path| {
        let seed = seed.derive("bootstrapping");
        BootstrapKeyFile::generate(path, &context, &parameters, &secret, seed, &application, &mut heard)
    })?;
    drop(shown);
    let files = files.finish(&context, secret, public, bytes)?;
    console.report(&Report { plan, keys: Some(keys), files })
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
