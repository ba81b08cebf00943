//! What parties are asked to open.

use noren_rlwe::ciphertext::Plaintext as Row;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::joint::opening::SecondPart;
use noren_rlwe::owner::KeyId;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::writer::Form;
use serde_json::{Value, json};

use crate::backends::backend::Record;
use crate::backends::parcel::{JointRequest, Parcel};
use crate::owners::session::Session;
use crate::schemes::integers::{Ciphertext, Noise, Scheme};

/// Ciphertexts that parties are asked to open, without their constant parts, which no share depends on: half of the bytes.
///
/// It has the hash of each whole ciphertext, as whoever asks says: shares name it, so that they open no other.
pub struct Request {
    parts: Vec<Part>,
}

/// What is asked of one ciphertext.
pub(super) struct Part {
    pub second: SecondPart,
    /// The noise budget that the ciphertext says to have left.
    pub noise_budget: f64,
    /// The hash of the head and the second part.
    pub hash: [u8; 32],
    head: Vec<u8>,
    row: Vec<u8>,
}

const HASH: usize = 32;

impl Request {
    /// The request to open ciphertexts.
    ///
    /// # Errors
    /// [`Error::DegreeTooHigh`](noren_rlwe::error::Error::DegreeTooHigh) for products that were not relinearised.
    pub fn new<S: Scheme>(session: &Session, ciphertexts: &[&Ciphertext<S>]) -> Result<Self> {
        let part = |ciphertext: &&Ciphertext<S>| {
            let second = SecondPart::of(ciphertext.rlwe())?;
            let hash = blake3::hash(&ciphertext.to_bytes(session.context(), Form::Packed));
            let noise = ciphertext.noise().variances().iter().flat_map(|x| x.to_bits().to_le_bytes());
            let head = hash.as_bytes().iter().copied().chain(ciphertext.key_id().0).chain(noise).collect();
            let row = Row { poly: second.poly().clone() }.to_bytes(session.context().rlwe(), Form::Packed);
            Ok(Part::new(second, ciphertext.noise_budget(), head, row))
        };
        Ok(Self { parts: ciphertexts.iter().map(part).collect::<Result<_>>()? })
    }

    /// The request in these bytes.
    ///
    /// # Errors
    /// Bytes of no request, or of one in another session.
    pub fn from_bytes(session: &Session, bytes: &[u8]) -> Result<Self> {
        let parcel = Parcel::<JointRequest>::from_bytes(&(), bytes)?;
        session.check_message(&parcel)?;
        let (pairs, rest) = parcel.items.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(damaged());
        }
        let part = |[head, row]: &[Vec<u8>; 2]| {
            let (_, named) = head.split_at_checked(HASH).ok_or_else(damaged)?;
            let (key, noise) = named.split_at_checked(KeyId::BYTES).ok_or_else(damaged)?;
            let (words, rest) = noise.as_chunks::<{ size_of::<u64>() }>();
            let variances = words.iter().map(|word| f64::from_bits(u64::from_le_bytes(*word))).collect();
            let noise = Noise::from_variances(variances).filter(|_| rest.is_empty()).ok_or_else(damaged)?;
            let key = KeyId(key.try_into().map_err(|_| damaged())?);
            let second = SecondPart::new(Row::from_bytes(session.context().rlwe(), row)?.poly, key);
            Ok(Part::new(second, session.parameters().laws().budget(&noise), head.clone(), row.clone()))
        };
        Ok(Self { parts: pairs.iter().map(part).collect::<Result<_>>()? })
    }

    /// Its bytes.
    #[must_use]
    pub fn to_bytes(&self, session: &Session) -> Vec<u8> {
        let items = self.parts.iter().flat_map(|part| [part.head.clone(), part.row.clone()]).collect();
        Parcel::<JointRequest>::new(session.digest(), items).to_bytes(&(), Form::Packed)
    }

    /// What a request says without a session.
    pub(crate) fn outline(parcel: &Parcel<JointRequest>) -> Value {
        json!({ "session": Record::hexadecimal(&parcel.fingerprint), "ciphertexts": parcel.items.len() / 2 })
    }

    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The digest by which shares name the ciphertexts: parties compare it before they open these.
    #[must_use]
    pub fn digest(&self, session: &Session) -> [u8; 32] {
        let hashes: Vec<_> = self.parts.iter().map(|part| part.hash).collect();
        digest(session, &[], &hashes)
    }
}

impl Part {
    fn new(second: SecondPart, noise_budget: f64, head: Vec<u8>, row: Vec<u8>) -> Self {
        let hash = blake3::Hasher::new().update(&head).update(&row).finalize().into();
        Self { second, noise_budget, hash, head, row }
    }
}

/// The context of digests of ciphertexts.
const DIGEST: &str = "noren joint decryption of ciphertexts, version 1";

/// Names ciphertexts of these hashes in a session, opened by these parties, or by whichever.
pub(super) fn digest(session: &Session, among: &[usize], hashes: &[[u8; 32]]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key(DIGEST);
    hasher.update(&session.digest());
    for word in std::iter::once(among.len()).chain(among.iter().copied()) {
        hasher.update(&(word as u64).to_le_bytes());
    }
    for hash in hashes {
        hasher.update(hash);
    }
    hasher.finalize().into()
}

fn damaged() -> Error {
    Error::parameter("request of a joint decryption", "damaged", "one that was made in this session")
}
