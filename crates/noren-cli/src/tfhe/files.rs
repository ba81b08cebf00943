//! Files of keys: those of a server in the forms in which they lie there, and all others.

use std::path::Path;
use std::sync::Arc;

use noren::tfhe::{CompactKeys, Context, FileKey, KeyFile, LightKeys, SecretKey, ServerKeyFile, ServerKeys};
use noren::wire::{Kind, Limits};
use noren::{Owner, Seed};

use crate::console::Console;
use crate::failure::Failure;
use crate::files::{admit_security, read_perhaps_decrypted};
use crate::output_set::OutputSet;
use crate::takes::Takes;

/// Server keys of one of the kinds that there are.
pub(crate) enum ServerKeyForm {
    Compact(CompactKeys),
    Light(LightKeys),
    Mapped(Arc<ServerKeys>),
}

impl ServerKeyForm {
    /// Whether files of this kind hold server keys.
    pub(crate) fn is(kind: Kind) -> bool {
        matches!(kind, Kind::TFHE_SERVER_KEYS | Kind::TFHE_KEYS | Kind::TFHE_LIGHT_KEYS)
    }

    /// The keys in a file, with a context of their parameters; what has to be expanded is not yet.
    pub(crate) fn open(path: &Path, takes: &Takes, console: &Console) -> Result<(Context, Self), Failure> {
        match console.inputs().kind(path, takes)? {
            Kind::TFHE_SERVER_KEYS => {
                let ServerKeyFile { context, keys } = map_server_keys(path, takes, console)?;
                Ok((context, Self::Mapped(keys)))
            }
            Kind::TFHE_LIGHT_KEYS => {
                let KeyFile { parameters, key } = read_key(path, takes, console)?;
                Ok((Context::new(parameters)?, Self::Light(key)))
            }
            _ => {
                let KeyFile { parameters, key } = read_key(path, takes, console)?;
                Ok((Context::new(parameters)?, Self::Compact(key)))
            }
        }
    }

    /// Whose keys they are.
    pub(crate) fn owner(&self) -> Owner {
        match self {
            Self::Compact(keys) => keys.owner(),
            Self::Light(keys) => keys.owner(),
            Self::Mapped(keys) => *keys.owner(),
        }
    }

    /// The keys, ready for use.
    pub(crate) fn expanded(self, context: &Context) -> Result<Arc<ServerKeys>, Failure> {
        match self {
            Self::Compact(keys) => Ok(Arc::new(context.expand(&keys)?)),
            Self::Light(keys) => Ok(Arc::new(context.expand_light(&keys)?)),
            Self::Mapped(keys) => Ok(keys),
        }
    }
}

/// Writes the keys of a seed and of its secret as one of several files, in the form that their parameters have; gives their bytes.
pub(crate) fn write_server_keys(
    outputs: &OutputSet,
    name: &str,
    context: &Context,
    seed: &Seed,
    secret: &SecretKey,
) -> Result<u64, Failure> {
    let parameters = context.parameters();
    if parameters.torus().spec().light.is_some() {
        let key = context.light_keys(seed, secret)?;
        return outputs.write(name, &(), &KeyFile { parameters: parameters.clone(), key });
    }
    // Larger ones go to their file while they are made.
    outputs.write_with(name, |path| context.write_compact_keys(seed, secret, path))
}

/// Reads a key with its parameters; refuses those that promise too little security.
pub(super) fn read_key<K: FileKey>(path: &Path, takes: &Takes, console: &Console) -> Result<KeyFile<K>, Failure> {
    let file: KeyFile<K> = read_perhaps_decrypted(path, takes, console)?;
    admit_security(file.parameters.spec().torus.security, path, console)?;
    Ok(file)
}

/// Maps expanded server keys; refuses those whose parameters promise too little security.
fn map_server_keys(path: &Path, takes: &Takes, console: &Console) -> Result<ServerKeyFile, Failure> {
    console.inputs().verify(path, takes)?;
    let file = ServerKeyFile::map(path, &Limits::default(), None).map_err(Failure::file(path))?;
    admit_security(file.context.parameters().spec().torus.security, path, console)?;
    Ok(file)
}
