//! The keys of a server in the forms in which they lie in files.

use std::path::Path;
use std::sync::Arc;

use noren::tfhe::{CompactKeys, Context, KeyFile, LightKeys, ServerKeyFile, ServerKeys};
use noren::wire::Kind;

use crate::console::Console;
use crate::failure::Failure;
use crate::files;

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
    pub(crate) fn open(path: &Path, console: &Console) -> Result<(Context, Self), Failure> {
        match files::kind(path)? {
            Kind::TFHE_SERVER_KEYS => {
                let ServerKeyFile { context, keys } = files::map_tfhe_keys(path, console)?;
                Ok((context, Self::Mapped(keys)))
            }
            Kind::TFHE_LIGHT_KEYS => {
                let KeyFile { parameters, key } = files::read_tfhe_key(path, console)?;
                Ok((Context::new(parameters)?, Self::Light(key)))
            }
            _ => {
                let KeyFile { parameters, key } = files::read_tfhe_key(path, console)?;
                Ok((Context::new(parameters)?, Self::Compact(key)))
            }
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
