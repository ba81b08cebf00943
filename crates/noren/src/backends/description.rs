//! What both halves know, as bytes: JSON, and parameters.

use noren_rlwe::error::{Error, Result};
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::writer::Form;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::backends::parcel::fault_of_json;
use crate::backends::parcel::{Parcel, Purpose};
use crate::schemes::bfv::Parameters;

/// A text that is written as JSON, parameters, and a digest of both by which messages name them.
#[derive(Debug, Clone)]
pub(crate) struct Description<T> {
    pub text: T,
    pub parameters: Parameters,
    digest: [u8; 32],
}

/// The context of digests.
const DIGEST: &str = "noren description v1";

impl<T: Serialize + DeserializeOwned> Description<T> {
    pub fn new(text: T, parameters: Parameters) -> Self {
        let digest = digest_of(&Self::items(&text, &parameters));
        Self { text, parameters, digest }
    }

    fn items(text: &T, parameters: &Parameters) -> [Vec<u8>; 2] {
        [serde_json::to_vec(text).expect("numbers are JSON"), parameters.to_bytes(&(), Form::Packed)]
    }

    pub const fn digest(&self) -> [u8; 32] {
        self.digest
    }

    pub fn to_bytes<P: Purpose>(&self) -> Vec<u8> {
        Parcel::<P>::new(self.digest, Self::items(&self.text, &self.parameters).into()).to_bytes(&(), Form::Packed)
    }

    /// The description in a container, whose text is not looked at.
    ///
    /// # Errors
    /// Another number of items, another text, other parameters than the digest tells of.
    pub fn read<P: Purpose>(parcel: &Parcel<P>) -> Result<Self> {
        let [json, parameters] = &parcel.items[..] else {
            return Err(refused::<P>(format!("{} items for 2", parcel.items.len())));
        };
        let text = serde_json::from_slice(json).map_err(|error| refused::<P>(fault_of_json(&error)))?;
        let read = Self::new(text, Parameters::from_bytes(&(), parameters)?);
        if read.digest == parcel.fingerprint {
            Ok(read)
        } else {
            Err(refused::<P>("a fingerprint of another one".to_owned()))
        }
    }

    /// Refuses a message about another thing of this name, such as a table.
    ///
    /// # Errors
    /// [`Error::WrongKind`].
    pub fn check_message<P: Purpose>(&self, message: &Parcel<P>, name: &str) -> Result<()> {
        self.check_fingerprint::<P>(&message.fingerprint, name)
    }

    /// The same for the fingerprint of a message.
    ///
    /// # Errors
    /// As [`Description::check_message`].
    pub fn check_fingerprint<P: Purpose>(&self, fingerprint: &[u8; 32], name: &str) -> Result<()> {
        if *fingerprint == self.digest {
            return Ok(());
        }
        let found = format!("{} of another {name}", P::KIND);
        Err(Error::WrongKind { found, needed: format!("that of this {name}: load the same description") })
    }
}

/// The error about a description that is none of this purpose.
pub(crate) fn refused<P: Purpose>(reason: String) -> Error {
    Error::parameter("description", format!("refused ({reason})"), format!("a {}", P::KIND))
}

fn digest_of(items: &[Vec<u8>; 2]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key(DIGEST);
    for item in items {
        hasher.update(&(item.len() as u64).to_le_bytes()).update(item);
    }
    hasher.finalize().into()
}
