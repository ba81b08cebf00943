//! The half of a retrieval that asks.

use std::sync::Arc;

use noren_math::random::Seed;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::writer::Form;

use crate::backends::{Parcel, Replies, Requests, SecretKey, ServerKeys, part};
use crate::retrieval::plan::Plan;
use crate::retrieval::records::{BUCKET_BYTES, Digest, Find, Key, to_bytes};
use crate::retrieval::secret::Secret;
use crate::schemes::bfv::{Bfv, Decryptor, Encoder, Encryptor, KeyFile};
use crate::schemes::integers::{Ciphertexts, expansion_steps};

/// The half of a retrieval that asks: it has the secret key.
///
/// # Examples
/// ```
/// use noren::retrieval::{Client, Database, Key, Plan, Rows};
/// use noren::{Security, Seed};
///
/// let rows: [(&[u8], &[u8]); 3] = [(b"Bern", b"134 794"), (b"Chur", b"37 998"), (b"Genf", b"203 840")];
/// let database = Database::new(Rows::Named(&rows), Security::None)?;
///
/// let plan = Plan::from_bytes(&database.plan().to_bytes())?;
/// let client = Client::generate(plan, &Seed::random()?)?;
/// let keys = client.server_keys(&Seed::random()?)?;
///
/// let asked = [Key::Keyword(b"Chur".into()), Key::Keyword(b"Olten".into())];
/// let replies = database.answer(&client.encrypt(&asked, Seed::random()?)?, &keys)?;
/// assert_eq!(client.decrypt(&replies, &asked)?, [Some(b"37 998".to_vec()), None]);
/// # Ok::<(), noren::error::Error>(())
/// ```
pub struct Client {
    plan: Plan,
    secret: Secret,
}

impl Client {
    /// A client with a secret key of its own. The seed is as secret as the key; that of [`Client::server_keys`] may be the same.
    ///
    /// # Errors
    /// As [`Context::generate_keys`](crate::bfv::Context::generate_keys).
    pub fn generate(plan: Plan, seed: &Seed) -> Result<Self> {
        Ok(Self { secret: Secret::generate(plan.parameters(), seed)?, plan })
    }

    /// The client of this secret key.
    ///
    /// # Errors
    /// A key of other parameters.
    pub fn new(plan: Plan, secret: Arc<SecretKey>) -> Result<Self> {
        Ok(Self { secret: Secret::new(plan.parameters(), secret)?, plan })
    }

    /// What both halves know.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The secret key.
    #[must_use]
    pub const fn secret(&self) -> &Arc<SecretKey> {
        self.secret.shared()
    }

    /// Makes the keys of the server; nothing in them decrypts.
    ///
    /// # Errors
    /// As [`Context::evaluation_keys`](crate::bfv::Context::evaluation_keys).
    pub fn server_keys(&self, seed: &Seed) -> Result<ServerKeys> {
        let KeyFile { context, key } = self.secret.file()?;
        let request = self.plan.key_request(context)?;
        let key = context.evaluation_keys(key, seed.derive("noren retrieval server keys"), &request, None)?;
        Ok(ServerKeys::of(vec![part(KeyFile { context: context.clone(), key })]))
    }

    /// Encrypts requests for rows: the server learns how many there are, and nothing else.
    ///
    /// # Errors
    /// Keys that the table does not have: numbers beyond its rows, numbers for keywords, and none at all.
    pub fn encrypt(&self, keys: &[Key<'_>], seed: Seed) -> Result<Vec<u8>> {
        let KeyFile { context, key } = self.secret.file()?;
        let (encoder, encryptor) = (Encoder::new(context), Encryptor::symmetric(context, key, seed)?);
        let (matrix, modulus) = (self.plan.matrix(), self.plan.parameters().modulus());
        // The factor that selectors get by the expansion is divided out.
        let one = modulus.inv(1 << expansion_steps(matrix.selectors())).cast_signed();
        let request = |key: &Key<'_>| {
            let (bucket, _) = self.place(key)?;
            let mut selected = vec![0; matrix.selectors()];
            selected[bucket / matrix.columns] = one;
            selected[matrix.rows() + bucket % matrix.columns] = one;
            let ciphertext = encryptor.encrypt(&encoder.encode_coefficients(&selected)?)?;
            Ok(ciphertext.to_bytes(context, Form::Packed))
        };
        let items = keys.iter().map(request).collect::<Result<Vec<_>>>()?;
        if items.is_empty() {
            return Err(Error::Length { what: "rows that are asked for", found: 0, needed: "at least 1".to_owned() });
        }
        Ok(Parcel::<Requests>::new(self.plan.digest(), items).to_bytes(&(), Form::Packed))
    }

    /// Decrypts replies to requests for these keys: their rows, `None` for keywords that the table does not have.
    ///
    /// Another row is found for a keyword with a probability below `2^-96` for a table of up to `2^32` rows.
    ///
    /// # Errors
    /// Replies of another table, or to other requests; what the decryptor refuses.
    pub fn decrypt(&self, replies: &[u8], keys: &[Key<'_>]) -> Result<Vec<Option<Vec<u8>>>> {
        self.decrypt_parcel(&Parcel::from_bytes(&(), replies)?, keys)
    }

    /// Decrypts replies in a container.
    ///
    /// # Errors
    /// As [`Client::decrypt`].
    pub fn decrypt_parcel(&self, replies: &Parcel<Replies>, keys: &[Key<'_>]) -> Result<Vec<Option<Vec<u8>>>> {
        self.plan.description().check_message(replies, "table")?;
        if replies.items.len() != keys.len() {
            let needed = format!("{}, one for each key", keys.len());
            return Err(Error::Length { what: "replies", found: replies.items.len(), needed });
        }
        let KeyFile { context, key } = self.secret.file()?;
        let (encoder, decryptor) = (Encoder::new(context), Decryptor::new(context, key)?);
        let row = |(reply, key): (&Vec<u8>, &Key<'_>)| {
            let Ciphertexts::<Bfv>(pieces) = Ciphertexts::from_bytes(context, reply)?;
            let needed = self.plan.matrix().pieces;
            if pieces.len() != needed {
                return Err(Error::Length {
                    what: "pieces of a reply",
                    found: pieces.len(),
                    needed: needed.to_string(),
                });
            }
            let mut bucket = Vec::with_capacity(needed * self.plan.piece_bytes());
            for piece in &pieces {
                let coefficients = encoder.decode_coefficients(&decryptor.decrypt(piece)?)?;
                bucket.extend(to_bytes(&coefficients, self.plan.coefficient_bytes())?);
            }
            let (place, find) = self.place(key)?;
            let (number, records) = bucket.split_at(BUCKET_BYTES);
            if number != (place as u64).to_le_bytes() {
                let needed = "the reply to a request for this row: give the keys of the request, in its order";
                return Err(Error::parameter("a reply", "one with other rows", needed));
            }
            self.plan.sizes().read(records, find)
        };
        replies.items.iter().zip(keys).map(row).collect()
    }

    /// The bucket of a row, and what it is found by there.
    fn place(&self, key: &Key<'_>) -> Result<(usize, Find)> {
        let refused = |found: String, needed: String| Err(Error::parameter("a key", found, needed));
        match (key, self.plan.by_keyword()) {
            (&Key::Number(at), false) if at < self.plan.rows() => {
                let capacity = self.plan.capacity();
                Ok((at / capacity, Find::Place(at % capacity)))
            }
            (&Key::Number(at), false) => refused(at.to_string(), format!("0 to {}", self.plan.rows() - 1)),
            (Key::Keyword(keyword), true) => {
                let digest = Digest::of(keyword);
                Ok((digest.bucket(self.plan.matrix().buckets), Find::Digest(digest)))
            }
            (Key::Number(at), true) => refused(format!("number {at}"), "a keyword: rows were named".to_owned()),
            (Key::Keyword(_), false) => refused("a keyword".to_owned(), "a number: rows have no names".to_owned()),
        }
    }
}
