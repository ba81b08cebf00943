//! Keys that bring their parameters along: one file that needs no other.

use noren_rlwe::context::Context as RlweContext;
use noren_rlwe::error::Result;
use noren_rlwe::keys::{EvaluationKeys, PublicKey, SecretKey};
use noren_rlwe::reencryption::{ReceiverKey, ReencryptionKey};
use noren_rlwe::wire::key_file::{self, ExpandedFileKey, FileContext, FileKey};
use noren_rlwe::wire::kind::Kind;

use crate::schemes::ckks::context::Context;
use crate::schemes::ckks::parameters::Parameters;

/// A key with the context of its parameters, as a container holds them: the parameters in item 0, the key from item 1
/// on.
///
/// # Examples
/// ```
/// use noren::ckks::{Context, KeyFile, KeyRequest, ParametersSpec};
/// use noren::wire::{Form, Object};
/// use noren::{PublicKey, Security, Seed};
///
/// let spec = ParametersSpec {
///     log_n: 10,
///     log_q: vec![40],
///     log_scale: 30,
///     security: Security::None,
///     ..ParametersSpec::default()
/// };
/// let context = Context::new(spec.build()?)?;
/// let keys = context.generate_keys(Seed::random()?, &KeyRequest::default())?;
/// let bytes = KeyFile { context: context.clone(), key: keys.public }.to_bytes(&(), Form::Packed);
///
/// let again = KeyFile::<PublicKey>::from_bytes(&(), &bytes)?;
/// assert!(again.context.parameters() == context.parameters());
/// # Ok::<(), noren::Error>(())
/// ```
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
    const FILE_KIND: Kind = Kind::CKKS_SECRET_KEY;
}

impl FileKey<Context> for PublicKey {
    const FILE_KIND: Kind = Kind::CKKS_PUBLIC_KEY;
}

impl FileKey<Context> for EvaluationKeys {
    const FILE_KIND: Kind = Kind::CKKS_EVALUATION_KEYS;
}

impl FileKey<Context> for ReencryptionKey {
    const FILE_KIND: Kind = Kind::CKKS_REENCRYPTION_KEY;
}

impl FileKey<Context> for ReceiverKey {
    const FILE_KIND: Kind = Kind::CKKS_RECEIVER_KEY;
}

impl ExpandedFileKey<Context> for EvaluationKeys {
    const EXPANDED_KIND: Kind = Kind::EXPANDED_CKKS_EVALUATION_KEYS;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schemes::ckks::keys::KeyRequest;
    use crate::schemes::ckks::parameters::ParametersSpec;
    use noren_math::random::Seed;
    use noren_rlwe::error::Error;
    use noren_rlwe::security::Security;
    use noren_rlwe::wire::object::Object;
    use noren_rlwe::wire::writer::Form;

    fn context(log_scale: u32) -> Context {
        let (log_q, log_p, security) = (vec![45, 35], vec![45], Security::None);
        let spec = ParametersSpec { log_n: 5, log_q, log_p, log_scale, security, ..ParametersSpec::default() };
        Context::new(spec.build().expect("supported")).expect("rings")
    }

    /// Reads what was written, and writes it again.
    fn rewritten<K: FileKey<Context>>(context: &Context, key: K) -> Vec<u8> {
        let bytes = KeyFile { context: context.clone(), key }.to_bytes(&(), Form::Packed);
        let again = KeyFile::<K>::from_bytes(&(), &bytes).expect("just written");
        assert!(again.context.parameters() == context.parameters());
        assert_eq!(again.to_bytes(&(), Form::Packed), bytes);
        bytes
    }

    #[test]
    fn keys_come_back_with_their_parameters() {
        let context = context(35);
        let request = KeyRequest { relinearization: true, rotations: vec![1, 2], ..KeyRequest::default() };
        let keys = context.generate_keys(Seed::from_bytes([3; 32]), &request).expect("keys");
        let public = rewritten(&context, keys.public);
        rewritten(&context, (*keys.evaluation).clone());
        rewritten(&context, EvaluationKeys::new(context.parameters().rlwe(), keys.secret.owner().key));
        let secret = rewritten(&context, keys.secret);
        let refused = KeyFile::<EvaluationKeys>::from_bytes(&(), &secret).err();
        assert!(matches!(refused, Some(Error::WrongKind { found, .. }) if found.starts_with("secret key")));
        // Nor is it a key without parameters.
        assert!(PublicKey::from_bytes(context.rlwe(), &public).is_err());
    }

    #[test]
    fn secret_files_count_as_secret() {
        assert!(KeyFile::<SecretKey>::KIND.is_secret());
        assert!(!KeyFile::<PublicKey>::KIND.is_secret() && !KeyFile::<EvaluationKeys>::KIND.is_secret());
    }
}
