//! `noren keygen --add --switching`: server keys of TFHE and switching keys beside those of bootstrapping.

use noren::bootstrapping::BootstrapKeyFile;
use noren::ckks::Context;
use noren::wire::Limits;
use noren::{Owner, SecretKey};
use noren_rlwe::wire::key_file::KeyFile;

use crate::additions::lock;
use crate::bootstrap::keys::BOOTSTRAP;
use crate::console::Console;
use crate::failure::Failure;
use crate::files;
use crate::given::CHOSEN;
use crate::key_files::{KeyFilesReport, NewKeys, SECRET, Written};
use crate::output_set::OutputSet;
use crate::outputs::Force;
use crate::progress;
use crate::switching::keys::{FILES, SwitchingOption, write};
use crate::switching::plan::{PlanOptions, PlanReport};
use crate::takes;

/// Makes `server.keys` and `switching.keys`, which appear together, for the secret in the directory.
pub(super) fn run(keys: &NewKeys<'_>, console: &Console) -> Result<(), Failure> {
    let asked = keys.options;
    if !asked.rotations.is_empty() || asked.rows.is_some() || asked.columns().is_some() || asked.swap_rows {
        let found = "--switching and more".to_owned();
        let needed = "--switching alone: add rotations by a run of its own".to_owned();
        return Err(Failure::Unsuitable { what: "--add", found, needed });
    }
    let SwitchingOption { switching } = keys.given.own();
    let options = PlanOptions { set: switching.expect(CHOSEN), tables: None };
    let secret = keys.out.join(SECRET);
    let _lock = lock(&secret)?;
    let bootstrap = keys.out.join(BOOTSTRAP);
    if !bootstrap.exists() {
        let needed = "the keys of noren keygen --bootstrap, which switching takes too";
        return Err(Failure::input(&bootstrap, "--switching", "no file", needed));
    }
    console.inputs().verify(&bootstrap, &takes::ADD_BOOTSTRAP)?;
    let parameters =
        BootstrapKeyFile::read_parameters(&bootstrap, &Limits::default()).map_err(Failure::file(&bootstrap))?;
    let plan = PlanReport::new(&options, &parameters)?;
    if keys.plan_only {
        return console.plan_alone(&plan);
    }
    let outputs = OutputSet::new(keys.out, &FILES, &Force { force: false })?;
    let KeyFile { context, key: secret } = files::read_key::<Context, SecretKey>(&secret, &takes::ADD_SECRET, console)?;
    let shown = progress::spinner("reading bootstrapping keys".to_owned());
    let found = BootstrapKeyFile::contents(&bootstrap, &Limits::default()).map_err(Failure::file(&bootstrap))?;
    if let Some(key) = found.owner {
        let owner = Owner { fingerprint: parameters.ckks()?.rlwe().fingerprint(), key };
        secret.owner().check(&owner, "the set of bootstrapping keys").map_err(Failure::file(&bootstrap))?;
    }
    shown.say("making switching keys");
    let seed = keys.seed()?;
    let sizes = write(&outputs, &options.parameters(&parameters)?, &context, &secret, &seed)?;
    let places = outputs.finish(&FILES)?;
    drop(shown);
    let files = places.into_iter().zip(sizes).map(|(path, bytes)| Written { path, bytes }).collect();
    console.text(&plan)?;
    console.report(&KeyFilesReport { plan, keys: None, files })
}
