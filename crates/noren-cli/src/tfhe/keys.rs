//! `noren keygen --tfhe`: the keys of an owner for integers and truth values that are encrypted one by one.

use clap::Args;
use noren::tfhe::{Context, KeyFile, Preset};

use crate::console::Console;
use crate::failure::Failure;
use crate::given::CHOSEN;
use crate::key_files::{KeyFilesReport, NewKeys, SECRET, Written};
use crate::output_set::OutputSet;
use crate::progress;
use crate::tfhe::files::write_server_keys;
use crate::tfhe::plan::{PlanReport, parse_set};

/// The name of the keys of a server.
pub(crate) const SERVER: &str = "server.keys";
/// The name of the keys of circuit bootstrapping.
pub(crate) const CIRCUIT: &str = "circuit.keys";

/// Its own options of `keygen`.
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct SetOptions {
    /// Make keys for integers and truth values that are encrypted one by one, with this set of docs/tfhe.md
    #[arg(long, value_name = "SET", value_parser = parse_set)]
    tfhe: Option<&'static Preset>,
    /// Also circuit.keys, for any function of one byte or of two
    #[arg(long)]
    circuit: bool,
}

/// Makes `secret.key`, `server.keys` and, if it is asked for, `circuit.keys`, which appear together.
pub(super) fn run(keys: &NewKeys<'_>, console: &Console) -> Result<(), Failure> {
    let SetOptions { tfhe, circuit: with_circuit } = keys.given.own();
    let preset = tfhe.expect(CHOSEN);
    let parameters = preset.parameters()?;
    let plan = PlanReport::new(preset, &parameters)?;
    let context = Context::new(parameters.clone())?;
    if with_circuit {
        // Not all parameters have circuit bootstrapping.
        context.circuit()?;
    }
    if keys.plan_only {
        return console.plan_alone(&plan);
    }
    let names = [SECRET, SERVER].into_iter().chain(with_circuit.then_some(CIRCUIT)).collect::<Vec<_>>();
    let outputs = OutputSet::new(keys.out, &names, keys.force)?;
    console.plan(&plan)?;
    if parameters.spec().torus.security == noren::Security::None {
        console.warn(format_args!("{}: these parameters promise no security", preset.name));
    }
    let seed = keys.seed()?;
    let shown = progress::spinner("making keys".to_owned());
    let secret = context.secret_key(&seed);
    let server = write_server_keys(&outputs, SERVER, &context, &seed, &secret)?;
    let circuit = with_circuit.then(|| {
        let key = context.circuit_keys(&seed, &secret)?;
        outputs.write(CIRCUIT, &(), &KeyFile { parameters: parameters.clone(), key })
    });
    let circuit = circuit.transpose()?;
    let of_secret = outputs.write_secret(SECRET, &KeyFile { parameters, key: secret }, keys.passphrase)?;
    let sizes = [of_secret, server].into_iter().chain(circuit);
    let places = outputs.finish(&names)?;
    drop(shown);
    let files = places.into_iter().zip(sizes).map(|(path, bytes)| Written { path, bytes }).collect();
    console.report(&KeyFilesReport { plan, keys: None, files })
}
