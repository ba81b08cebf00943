//! `noren keygen --lookup`: the keys of an owner, with those that lookups evaluate with.

use clap::Args;
use noren::Resources;
use noren::bfv::{Context, KeyRequest, Keys};
use noren::lookup::LookupKeyFile;

use crate::console::Console;
use crate::failure::Failure;
use crate::given::CHOSEN;
use crate::key_files::{KeyFiles, KeyFilesReport, NewKeys, existing};
use crate::lookup::plan::{self, PlanOptions, parse_domain};
use crate::progress;

/// The name of the file of what evaluates.
const LOOKUP: &str = "lookup.keys";

/// Its own option of `keygen`.
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct LookupOption {
    /// Make keys for functions of x and y below these numbers instead, or both below one; --params brings parameters of exact
    /// integers [default: modulo 65537]
    #[arg(long, value_name = "X[,Y]", value_parser = parse_domain)]
    lookup: Option<[usize; 2]>,
}

/// Makes `secret.key`, `public.key` and `lookup.keys`, which appear together.
pub(super) fn run(keys: &NewKeys<'_>, console: &Console) -> Result<(), Failure> {
    let LookupOption { lookup } = keys.given.own();
    let options = PlanOptions { domain: lookup.expect(CHOSEN), parameters: keys.options.params.as_deref() };
    let plan = options.plan(console)?;
    let place = existing(keys.out);
    let report = plan::PlanReport::new(&plan, place);
    if keys.plan_only {
        return console.plan_alone(&report);
    }
    let resources = Resources::of_machine(place);
    let advice = "close other programs, or raise the limit of the process or container";
    resources.check_memory(plan.key_bytes(), "memory for the keys of lookups", advice)?;
    resources.check_disk(
        plan.key_disk_bytes(),
        "disk for the keys of lookups",
        "make room, or choose another place",
    )?;
    let files = KeyFiles::new(keys, &[LOOKUP])?;
    console.plan(&report)?;
    let seed = keys.seed()?;
    let context = Context::new(plan.parameters().clone())?;
    let Keys { secret, public, .. } = context.generate_keys(seed.derive("owner"), &KeyRequest::default())?;
    let shown = progress::bar("making keys of lookups", 1);
    let heard = |done, total| shown.set(done, total);
    let keys = LookupKeyFile::generate(&context, &plan, &secret, seed.derive("lookup"), Some(&heard))?;
    drop(shown);
    let shown = progress::spinner("writing keys".to_owned());
    let bytes = files.outputs().write(LOOKUP, &(), &keys)?;
    drop(keys);
    let files = files.finish(&context, secret, public, &[bytes])?;
    drop(shown);
    let count = plan.evaluation_keys().map(|class| class.count).sum();
    console.report(&KeyFilesReport { plan: report, keys: Some(count), files })
}
