//! `noren keygen --lookup`: the keys of an owner, with those that lookups evaluate with.

use std::path::Path;

use noren::bfv::{Context, KeyRequest, Keys};
use noren::lookup::LookupKeyFile;
use noren::{Resources, Seed};
use noren_files::passphrase::Passphrase;

use crate::console::Console;
use crate::failure::Failure;
use crate::key_files::{KeyFiles, Report, existing};
use crate::lookup::plan::{self, Wanted};
use crate::outputs::Force;
use crate::progress;

/// The name of the file of what evaluates.
const LOOKUP: &str = "lookup.keys";

/// The keys to make, and how.
pub(crate) struct Job<'a> {
    pub(crate) wanted: Wanted<'a>,
    pub(crate) out: &'a Path,
    pub(crate) seed: Option<Seed>,
    pub(crate) plan_only: bool,
    pub(crate) force: &'a Force,
    /// That of the secret key.
    pub(crate) passphrase: Option<&'a Passphrase>,
}

/// Makes `secret.key`, `public.key` and `lookup.keys`, which appear together.
pub(crate) fn run(job: Job<'_>, console: &Console) -> Result<(), Failure> {
    let plan = job.wanted.plan(console)?;
    let place = existing(job.out);
    let report = plan::Report::new(&plan, place);
    if job.plan_only {
        return console.report(&report);
    }
    let resources = Resources::of_machine(place);
    let advice = "close other programs, or raise the limit of the process or container";
    resources.check_memory(plan.key_bytes(), "memory for the keys of lookups", advice)?;
    resources.check_disk(
        plan.key_disk_bytes(),
        "disk for the keys of lookups",
        "make room, or choose another place",
    )?;
    let files = KeyFiles::new(job.out, LOOKUP, job.force, job.passphrase)?;
    console.text(&report)?;
    let seed = match job.seed {
        Some(seed) => seed,
        None => Seed::random().map_err(noren::Error::from)?,
    };
    let context = Context::new(plan.parameters().clone())?;
    let Keys { secret, public, .. } = context.generate_keys(seed.derive("owner"), &KeyRequest::default())?;
    let shown = progress::bar("making keys of lookups", 1);
    let heard = |done, total| shown.set(done, total);
    let keys = LookupKeyFile::generate(&context, &plan, &secret, seed.derive("lookup"), Some(&heard))?;
    drop(shown);
    let shown = progress::spinner("writing keys".to_owned());
    let bytes = files.write(&keys)?;
    drop(keys);
    let files = files.finish(&context, secret, public, bytes)?;
    drop(shown);
    let count = plan.evaluation_keys().map(|class| class.count).sum();
    console.report(&Report { plan: report, keys: Some(count), files })
}
