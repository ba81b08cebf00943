//! `noren keygen --tfhe`: the keys of an owner for integers and truth values that are encrypted one by one.

use std::fmt;
use std::path::{Path, PathBuf};

use noren::Seed;
use noren::tfhe::{Context, KeyFile, Preset};
use noren_files::passphrase::Passphrase;
use serde::Serialize;

use crate::console::Console;
use crate::describe::words::bytes;
use crate::failure::Failure;
use crate::output_set::OutputSet;
use crate::outputs::Force;
use crate::progress;
use crate::seeds::random;
use crate::tfhe::plan::Plan;

const SECRET: &str = "secret.key";
const SERVER: &str = "server.keys";
const CIRCUIT: &str = "circuit.keys";

/// The keys to make, and how.
pub(crate) struct Job<'a> {
    pub(crate) preset: &'static Preset,
    /// Whether there are keys of circuit bootstrapping.
    pub(crate) circuit: bool,
    pub(crate) out: &'a Path,
    pub(crate) seed: Option<Seed>,
    pub(crate) plan_only: bool,
    pub(crate) force: &'a Force,
    /// That of the secret key.
    pub(crate) passphrase: Option<&'a Passphrase>,
}

#[derive(Serialize)]
struct Report {
    plan: Plan,
    files: Vec<Written>,
}

#[derive(Serialize)]
struct Written {
    path: PathBuf,
    bytes: u64,
}

/// Makes `secret.key`, `server.keys` and, if it is asked for, `circuit.keys`, which appear together.
pub(crate) fn run(job: Job<'_>, console: &Console) -> Result<(), Failure> {
    let parameters = job.preset.parameters()?;
    let plan = Plan::new(job.preset, &parameters)?;
    let context = Context::new(parameters.clone())?;
    if job.circuit {
        // Not all parameters have circuit bootstrapping.
        context.circuit()?;
    }
    if job.plan_only {
        return console.report(&plan);
    }
    let names = [SECRET, SERVER].into_iter().chain(job.circuit.then_some(CIRCUIT)).collect::<Vec<_>>();
    let outputs = OutputSet::new(job.out, &names, job.force)?;
    console.text(&plan)?;
    if parameters.spec().torus.security == noren::Security::None {
        console.warn(format_args!("{}: these parameters promise no security", job.preset.name));
    }
    let seed = job.seed.map_or_else(random, Ok)?;
    let shown = progress::spinner("making keys".to_owned());
    let secret = context.secret_key(&seed);
    let server = if parameters.torus().spec().light.is_some() {
        let key = context.light_keys(&seed, &secret)?;
        outputs.write(SERVER, &(), &KeyFile { parameters: parameters.clone(), key })?
    } else {
        // Larger ones go to their file while they are made.
        outputs.write_with(SERVER, |path| context.write_compact_keys(&seed, &secret, path))?
    };
    let circuit = job.circuit.then(|| {
        let key = context.circuit_keys(&seed, &secret)?;
        outputs.write(CIRCUIT, &(), &KeyFile { parameters: parameters.clone(), key })
    });
    let circuit = circuit.transpose()?;
    let of_secret = outputs.write_secret(SECRET, &KeyFile { parameters, key: secret }, job.passphrase)?;
    let sizes = [of_secret, server].into_iter().chain(circuit);
    let places = outputs.finish(&names)?;
    drop(shown);
    let files = places.into_iter().zip(sizes).map(|(path, bytes)| Written { path, bytes }).collect();
    console.report(&Report { plan, files })
}

/// The plan was shown before there were files.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |file: &Written| format!("wrote {}, {}", file.path.display(), bytes(file.bytes as f64));
        f.write_str(&self.files.iter().map(line).collect::<Vec<_>>().join("\n"))
    }
}
