//! Keys that bring their parameters along: one file that needs no other.

use noren_rlwe::context::Context as RlweContext;
use noren_rlwe::error::Result;
use noren_rlwe::keys::{EvaluationKeys, PublicKey, SecretKey};
use noren_rlwe::reencryption::{ReceiverKey, ReencryptionKey};
use noren_rlwe::wire::key_file::{self, ExpandedFileKey, FileContext, FileKey};
use noren_rlwe::wire::kind::Kind;

use crate::schemes::integers::context::Context;
use crate::schemes::integers::parameters::Parameters;

/// A key with the context of its parameters, as a container holds them: the parameters in item 0, the key from item 1 on.
pub type KeyFile<K> = key_file::KeyFile<Context, K>;

impl FileContext for Context {
    type Parameters = Parameters;

    fn of(parameters: Parameters) -> Result<Self> {
        Self::new(parameters)
    }

    fn parameters(&self) -> &Parameters {
        Self::parameters(self)
    }

    fn rlwe(&self) -> &RlweContext {
        Self::rlwe(self)
    }
}

impl FileKey<Context> for SecretKey {
    const FILE_KIND: Kind = Kind::INTEGER_SECRET_KEY;
}

impl FileKey<Context> for PublicKey {
    const FILE_KIND: Kind = Kind::INTEGER_PUBLIC_KEY;
}

impl FileKey<Context> for EvaluationKeys {
    const FILE_KIND: Kind = Kind::INTEGER_EVALUATION_KEYS;
}

impl FileKey<Context> for ReencryptionKey {
    const FILE_KIND: Kind = Kind::INTEGER_REENCRYPTION_KEY;
}

impl FileKey<Context> for ReceiverKey {
    const FILE_KIND: Kind = Kind::INTEGER_RECEIVER_KEY;
}

impl ExpandedFileKey<Context> for EvaluationKeys {
    const EXPANDED_KIND: Kind = Kind::EXPANDED_INTEGER_EVALUATION_KEYS;
}
