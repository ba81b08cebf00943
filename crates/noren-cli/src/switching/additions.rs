//! `noren keygen --add --switching`: server keys of TFHE and switching keys beside those of bootstrapping.

use std::path::Path;

use noren::bootstrapping::BootstrapKeyFile;
use noren::ckks::Context;
use noren::wire::Limits;
use noren::{Owner, SecretKey, Seed};
use noren_rlwe::wire::key_file::KeyFile;

use crate::additions::lock;
use crate::bootstrap::keys::BOOTSTRAP;
use crate::console::Console;
use crate::failure::Failure;
use crate::files;
use crate::key_files::{KeyFilesReport, SECRET, Written};
use crate::output_set::OutputSet;
use crate::outputs::Force;
use crate::progress;
use crate::seeds::random;
use crate::switching::keys::{FILES, write};
use crate::switching::plan::{PlanOptions, PlanReport};
use crate::takes;

/// An addition of switching keys to those in a directory.
pub(crate) struct KeyAddition<'a> {
    /// The directory of the keys.
    pub(crate) out: &'a Path,
    pub(crate) options: PlanOptions,
    pub(crate) seed: Option<Seed>,
    pub(crate) plan_only: bool,
}

/// Makes `server.keys` and `switching.keys`, which appear together, for the secret in the directory.
pub(crate) fn run(addition: &KeyAddition<'_>, console: &Console) -> Result<(), Failure> {
    let secret = addition.out.join(SECRET);
    let _lock = lock(&secret)?;
    let bootstrap = addition.out.join(BOOTSTRAP);
    if !bootstrap.exists() {
        let needed = "the keys of noren keygen --bootstrap, which switching takes too";
        return Err(Failure::input(&bootstrap, "--switching", "no file", needed));
    }
    console.inputs().verify(&bootstrap, &takes::ADD_BOOTSTRAP)?;
    let parameters =
        BootstrapKeyFile::read_parameters(&bootstrap, &Limits::default()).map_err(Failure::file(&bootstrap))?;
    let plan = PlanReport::new(&addition.options, &parameters)?;
    if addition.plan_only {
        return console.plan_alone(&plan);
    }
    let outputs = OutputSet::new(addition.out, &FILES, &Force { force: false })?;
    let KeyFile { context, key: secret } = files::read_key::<Context, SecretKey>(&secret, &takes::ADD_SECRET, console)?;
    let shown = progress::spinner("reading bootstrapping keys".to_owned());
    let found = BootstrapKeyFile::contents(&bootstrap, &Limits::default()).map_err(Failure::file(&bootstrap))?;
    if let Some(key) = found.owner {
        let owner = Owner { fingerprint: parameters.ckks()?.rlwe().fingerprint(), key };
        secret.owner().check(&owner, "the set of bootstrapping keys").map_err(Failure::file(&bootstrap))?;
    }
    shown.say("making switching keys");
    let seed = addition.seed.clone().map_or_else(random, Ok)?;
    let sizes = write(&outputs, &addition.options.parameters(&parameters)?, &context, &secret, &seed)?;
    let places = outputs.finish(&FILES)?;
    drop(shown);
    let files = places.into_iter().zip(sizes).map(|(path, bytes)| Written { path, bytes }).collect();
    console.text(&plan)?;
    console.report(&KeyFilesReport { plan, keys: None, files })
}
