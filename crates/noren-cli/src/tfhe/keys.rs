//! `noren keygen --tfhe`: the keys of an owner for integers and truth values that are encrypted one by one.

use noren::tfhe::{Context, KeyFile, Preset};

use crate::console::Console;
use crate::failure::Failure;
use crate::key_files::{KeyFilesReport, NewKeys, SECRET, Written};
use crate::output_set::OutputSet;
use crate::progress;
use crate::tfhe::files::write_server_keys;
use crate::tfhe::plan::PlanReport;

/// The name of the keys of a server.
pub(crate) const SERVER: &str = "server.keys";
/// The name of the keys of circuit bootstrapping.
pub(crate) const CIRCUIT: &str = "circuit.keys";

/// Makes `secret.key`, `server.keys` and, if it is asked for, `circuit.keys`, which appear together.
pub(crate) fn run(
    preset: &'static Preset,
    with_circuit: bool,
    keys: &NewKeys<'_>,
    console: &Console,
) -> Result<(), Failure> {
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
