//! Server keys of TFHE, and the keys between the secrets of CKKS and TFHE.

use clap::Args;
use noren::ckks::Context;
use noren::switching::{self, KeyFile, Parameters};
use noren::{SecretKey, Seed, tfhe};

use crate::failure::Failure;
use crate::output_set::OutputSet;
use crate::tfhe::files::write_server_keys;
use crate::tfhe::keys::SERVER;
use crate::tfhe::plan::parse_set;

/// Its own option of `keygen`.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct SwitchingOption {
    /// Also server.keys and switching.keys, for programs that compare entries by switching to TFHE with this set of docs/tfhe.md
    #[arg(long, value_name = "SET", value_parser = parse_set, conflicts_with = "program")]
    pub(crate) switching: Option<&'static tfhe::Preset>,
}

/// The name of the file of keys between the secrets.
pub(crate) const SWITCHING: &str = "switching.keys";

/// The names of the files that [`write`] writes.
pub(crate) const FILES: [&str; 2] = [SERVER, SWITCHING];

/// Makes both files; gives their bytes. The secret of TFHE is made for them alone, and dropped: results come back to CKKS.
pub(crate) fn write(
    outputs: &OutputSet,
    parameters: &Parameters,
    ckks: &Context,
    secret: &SecretKey,
    seed: &Seed,
) -> Result<[u64; FILES.len()], Failure> {
    let context = tfhe::Context::new(parameters.tfhe().clone())?;
    let of_samples = seed.derive("tfhe");
    let samples = context.secret_key(&of_samples);
    let server = write_server_keys(outputs, SERVER, &context, &of_samples, &samples)?;
    let both = switching::Context::new(parameters, ckks, &context)?;
    let keys = KeyFile::generate(&both, secret, &samples, &seed.derive("switching"))?;
    Ok([server, outputs.write(SWITCHING, &(), &keys)?])
}
