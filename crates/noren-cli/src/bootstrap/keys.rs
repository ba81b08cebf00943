//! `noren keygen --bootstrap`: the keys of an owner, with those that bootstrapping and switching evaluate with, and more of them.

use std::path::Path;
use std::sync::Arc;

use clap::Args;
use noren::bootstrapping::{BootstrapKeyFile, BootstrapKeys, Footprint, Mode, Parameters, Preset, Progress};
use noren::ckks::{Context, KeyRequest, Keys};
use noren::wire::{Form, Limits, Object};
use noren::{Resources, SecretKey};
use noren_rlwe::key_request::KeyRequest as Automorphisms;

use crate::additions::{KeyAddition, KeyAdditionReport, check_owner, check_public, made, replaced};
use crate::bootstrap::plan::{PlanOptions, PlanReport, parse_mode, parse_preset};
use crate::console::Console;
use crate::failure::Failure;
use crate::files;
use crate::given::CHOSEN;
use crate::key_files::{KeyFiles, KeyFilesReport, NewKeys, existing};
use crate::progress;
use crate::switching::keys::{FILES, SwitchingOption, write};
use crate::switching::plan as switching;
use crate::takes;

/// The name of the file of what evaluates.
pub(crate) const BOOTSTRAP: &str = "bootstrap.keys";

/// Its own options of `keygen`.
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct BootstrapOptions {
    /// Make keys for bootstrapping with these parameters instead; see `noren plan`
    #[arg(long, value_name = "PRESET", value_parser = parse_preset)]
    bootstrap: Option<Preset>,
    /// The number of complex slots that are bootstrapped, a power of two [default: all of the ring]
    #[arg(long, value_name = "COUNT")]
    slots: Option<usize>,
    /// Plan for messages of this kind, as noren plan has it; the keys are the same
    #[arg(long, value_name = "MODE", default_value = "complex", value_parser = parse_mode)]
    mode: Mode,
}

/// The plan that the options ask for.
fn options(keys: &NewKeys<'_>) -> Result<PlanOptions, Failure> {
    let BootstrapOptions { bootstrap, slots, mode } = keys.given.own();
    let SwitchingOption { switching } = keys.given.own();
    let refuse = |what, found: &str, needed: &str| {
        Err(Failure::Unsuitable { what, found: found.to_owned(), needed: needed.to_owned() })
    };
    let tables = match (switching, keys.options.rows, keys.options.columns()) {
        (_, None, None) => None,
        (None, ..) => {
            return refuse("--rows and --columns", "--bootstrap", "--switching too: name --rotations otherwise");
        }
        (_, None, Some(columns)) => {
            return refuse("--columns", &columns.to_string(), "--rows too: how many entries columns have");
        }
        (_, Some(rows), columns) => Some([rows as usize, columns.unwrap_or(1)]),
    };
    let switching = switching.map(|set| switching::PlanOptions { set, tables });
    Ok(PlanOptions { preset: bootstrap.expect(CHOSEN), slots, mode, switching })
}

/// Makes `secret.key`, `public.key`, `bootstrap.keys` and, if switching is wanted, `server.keys` and `switching.keys`, which
/// appear together.
pub(super) fn run(keys: &NewKeys<'_>, console: &Console) -> Result<(), Failure> {
    let options = options(keys)?;
    let parameters = options.parameters()?;
    let place = existing(keys.out);
    let plan = PlanReport::new(&options, &parameters, place)?;
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
    let mut rotations = keys.options.rotations.clone();
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

/// Adds rotations to `bootstrap.keys`: those of a `request` for a context and the level of results.
pub(crate) fn add(
    addition: &KeyAddition<'_>,
    console: &Console,
    request: impl FnOnce(&Context, usize) -> Result<Automorphisms, Failure>,
) -> Result<(), Failure> {
    let path = addition.keys.out.join(BOOTSTRAP);
    if !addition.programs.is_empty() {
        let needed = "--rotations: name those that the program needs";
        return Err(Failure::input(&path, "--program", "keys of bootstrapping", needed));
    }
    let secret = files::read_key::<Context, SecretKey>(addition.secret, &takes::ADD_SECRET, console)?.key;
    check_public::<Context>(addition.keys.out, &secret, console)?;
    console.inputs().verify(&path, &takes::ADD_BOOTSTRAP)?;
    let shown = progress::bar("reading bootstrapping keys", 1);
    let mut heard = |Progress { done, of, .. }: Progress| shown.set(done, of);
    let file = BootstrapKeyFile::open(&path, &Limits::default(), &Resources::of_machine(&path), &mut heard);
    let BootstrapKeyFile { context, parameters, keys } = file.map_err(Failure::file(&path))?;
    drop(shown);
    check_owner(&secret, &keys.evaluation, &path)?;
    let request = request(&context, parameters.output_level())?;
    let lacking = keys.evaluation.lacking(&request);
    let Some(made) = made(addition.keys, context.rlwe(), &secret, &lacking)? else {
        return console.report(&KeyAdditionReport::new(&keys.evaluation, &lacking, None));
    };
    let mut evaluation = (*keys.evaluation).clone();
    evaluation.merge(made).map_err(Failure::file(&path))?;
    let mut report = KeyAdditionReport::new(&evaluation, &lacking, None);
    let keys = Arc::new(BootstrapKeys { evaluation: Arc::new(evaluation), ..(*keys).clone() });
    let file = BootstrapKeyFile { context, parameters, keys };
    report.file = Some(replaced(addition.keys.out, BOOTSTRAP, |path| file.write_file(&(), Form::Packed, path))?);
    console.report(&report)
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
