//! `noren keygen --bootstrap`: the keys of an owner, with those that bootstrapping evaluates with.

use std::fmt;
use std::path::{Path, PathBuf};

use noren::bootstrapping::{BootstrapKeyFile, Demand, Parameters, Progress};
use noren::ckks::{Context, KeyFile, KeyRequest, Keys};
use noren::{PublicKey, Resources, SecretKey, Seed};
use serde::Serialize;

use crate::bootstrap::plan::{Report as PlanReport, Wanted};
use crate::console::Console;
use crate::describe::bytes;
use crate::failure::Failure;
use crate::files::{Force, OutputSet};
use crate::progress;

const SECRET: &str = "secret.key";
const PUBLIC: &str = "public.key";
const BOOTSTRAP: &str = "bootstrap.keys";
const NAMES: [&str; 3] = [SECRET, PUBLIC, BOOTSTRAP];

/// What keys are made, and how.
pub(crate) struct Job<'a> {
    pub(crate) wanted: Wanted,
    /// The rotations of the application.
    pub(crate) rotations: &'a [isize],
    pub(crate) out: &'a Path,
    pub(crate) seed: Option<Seed>,
    pub(crate) plan_only: bool,
    pub(crate) force: &'a Force,
}

#[derive(Serialize)]
struct Report {
    plan: PlanReport,
    keys: usize,
    files: Vec<Written>,
}

#[derive(Serialize)]
struct Written {
    path: PathBuf,
    bytes: u64,
}

/// Makes `secret.key`, `public.key` and `bootstrap.keys`, which appear together.
pub(crate) fn run(job: Job<'_>, console: &Console) -> Result<(), Failure> {
    let parameters = job.wanted.parameters()?;
    // A directory that is to be made lies in one that is there.
    let existing = job.out.ancestors().find(|path| path.is_dir()).unwrap_or(Path::new("."));
    let plan = PlanReport::new(&job.wanted, &parameters, existing)?;
    if job.plan_only {
        return console.report(&plan);
    }
    let demand = Demand::generate(&parameters)?;
    demand.check(&Resources::of_machine(existing))?;
    let outputs = OutputSet::new(job.out, &NAMES, job.force)?;
    console.text(&plan)?;
    warn(&parameters, demand, existing, console);
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
    let bootstrap = outputs.write_with(BOOTSTRAP, |path| {
        let seed = seed.derive("bootstrapping");
        BootstrapKeyFile::generate(path, &context, &parameters, &secret, seed, &application, &mut heard)
    })?;
    drop(shown);
    let secret = KeyFile::<SecretKey> { context: context.clone(), key: secret };
    let public = KeyFile::<PublicKey> { context, key: public };
    let sizes = [outputs.write(SECRET, &(), &secret)?, outputs.write(PUBLIC, &(), &public)?, bootstrap];
    let places = outputs.finish(&NAMES)?;
    let files = places.into_iter().zip(sizes).map(|(path, bytes)| Written { path, bytes }).collect();
    console.report(&Report { plan, keys, files })
}

/// Says what the keys cannot be used for on this machine, and that they promise nothing where they do not.
fn warn(parameters: &Parameters, made: Demand, directory: &Path, console: &Console) {
    if parameters.spec().security == noren::Security::None {
        console.warn("these parameters promise no security");
    }
    let rest = Resources { disk: None, ..Resources::of_machine(directory) };
    if let Ok(demand) = Demand::bootstrap(parameters)
        && demand.memory > made.memory
        && let Err(error) = (Demand { disk: 0, ..demand }).check(&rest)
    {
        console.warn(format_args!("the keys can be made here, but not used: {error}"));
    }
}

/// The plan was shown before there were files.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |file: &Written| format!("wrote {}, {}", file.path.display(), bytes(file.bytes as f64));
        f.write_str(&self.files.iter().map(line).collect::<Vec<_>>().join("\n"))
    }
}
