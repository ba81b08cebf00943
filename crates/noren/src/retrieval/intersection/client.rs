//! The half of an intersection that asks.

use std::collections::BTreeSet;
use std::sync::Arc;

use noren_math::random::Seed;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::writer::Form;

use crate::backends::{IntersectionReplies, IntersectionRequests, Parcel, SecretKey, ServerKeys, part};
use crate::retrieval::intersection::bins::{CHECKS, Item, in_bins};
use crate::retrieval::intersection::plan::{NUMBER_BYTES, Plan};
use crate::retrieval::records::to_bytes;
use crate::retrieval::secret::Secret;
use crate::schemes::bfv::{Bfv, Decryptor, Encoder, Encryptor, KeyFile};
use crate::schemes::integers::Ciphertexts;

/// The half of an intersection that asks: it has the secret key.
///
/// # Examples
/// ```
/// use noren::retrieval::Rows;
/// use noren::retrieval::intersection::{Client, Database, Options, Plan};
/// use noren::{Security, Seed};
///
/// let rows: [(&[u8], &[u8]); 3] = [(b"Bern", b"134 794"), (b"Chur", b"37 998"), (b"Genf", b"203 840")];
/// let options = Options { asked: 10, security: Security::None, ..Options::default() };
/// let database = Database::new(Rows::Named(&rows), &options, &Seed::random()?)?;
///
/// let plan = Plan::from_bytes(&database.plan().to_bytes())?;
/// let client = Client::generate(plan, &Seed::random()?)?;
/// let keys = client.server_keys(&Seed::random()?)?;
///
/// let asked: [&[u8]; 2] = [b"Chur", b"Olten"];
/// let request = client.encrypt(&asked, Seed::random()?)?;
/// let reply = database.answer(&request, &keys, &Seed::random()?)?;
/// assert_eq!(client.decrypt(&reply, &asked)?, [Some(b"37 998".to_vec()), None]);
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

    /// Makes the public key, with which the server randomises replies; nothing in it decrypts.
    ///
    /// # Errors
    /// What [`KeyGenerator::public`](noren_rlwe::keygen::KeyGenerator::public) refuses.
    pub fn server_keys(&self, seed: &Seed) -> Result<ServerKeys> {
        let KeyFile { context, key } = self.secret.file()?;
        let key = context.public_key(key, seed.derive("noren intersection server keys"))?;
        Ok(ServerKeys::of(vec![part(KeyFile { context: context.clone(), key })]))
    }

    /// Encrypts keywords: the server learns nothing of them, nor how many there are.
    ///
    /// # Errors
    /// More different keywords than the plan is for; keywords that do not fit into bins, in one of `2^40` cases.
    pub fn encrypt(&self, keywords: &[&[u8]], seed: Seed) -> Result<Vec<u8>> {
        let KeyFile { context, key } = self.secret.file()?;
        let (encoder, encryptor) = (Encoder::new(context), Encryptor::symmetric(context, key, seed)?);
        let (modulus, slots) = (self.plan.parameters().modulus(), self.plan.parameters().degree());
        let (_, items) = self.items(keywords)?;
        // Bins without a keyword hold 0, of which the reply tells nothing either.
        let values: Vec<u64> =
            in_bins(&items, self.plan.bins())?.iter().map(|item| item.map_or(0, |at| items[at].value)).collect();
        let mut powers = Vec::with_capacity(self.plan.ciphertexts()[0]);
        for values in values.chunks(slots) {
            let mut power = values.to_vec();
            for at in 1..=self.plan.degree() {
                let numbers: Vec<i64> = power.iter().map(|&x| x.cast_signed()).collect();
                powers.push(encryptor.encrypt(&encoder.encode(&numbers)?)?);
                if at < self.plan.degree() {
                    power.iter_mut().zip(values).for_each(|(power, &x)| *power = modulus.mul(*power, x));
                }
            }
        }
        let bytes = Ciphertexts(powers).to_bytes(context, Form::Packed);
        Ok(Parcel::<IntersectionRequests>::new(self.plan.digest(), vec![bytes]).to_bytes(&(), Form::Packed))
    }

    /// Decrypts the reply to a request for these keywords: their rows, `None` for those that the table does not have.
    ///
    /// A keyword that the table does not have is found with a probability of at most `2^`[`Plan::log2_false_match`].
    ///
    /// # Errors
    /// Replies of another table; what the decryptor refuses.
    pub fn decrypt(&self, reply: &[u8], keywords: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>> {
        self.decrypt_parcel(&Parcel::from_bytes(&(), reply)?, keywords)
    }

    /// Decrypts a reply in a container.
    ///
    /// # Errors
    /// As [`Client::decrypt`].
    pub fn decrypt_parcel(
        &self,
        reply: &Parcel<IntersectionReplies>,
        keywords: &[&[u8]],
    ) -> Result<Vec<Option<Vec<u8>>>> {
        self.plan.description().check_message(reply, "table")?;
        let KeyFile { context, key } = self.secret.file()?;
        let (encoder, decryptor) = (Encoder::new(context), Decryptor::new(context, key)?);
        let Ciphertexts::<Bfv>(ciphertexts) = Ciphertexts::from_bytes(context, reply.single()?)?;
        let [_, needed] = self.plan.ciphertexts();
        if ciphertexts.len() != needed {
            return Err(Error::Length {
                what: "numbers of a reply",
                found: ciphertexts.len(),
                needed: needed.to_string(),
            });
        }
        let decrypt = |ciphertext| encoder.decode(&decryptor.decrypt(&ciphertext)?);
        let numbers = decryptor.engine().map(ciphertexts, decrypt).into_iter().collect::<Result<Vec<_>>>()?;
        let (sorted, items) = self.items(keywords)?;
        let mut rows = vec![None; items.len()];
        for (bin, item) in in_bins(&items, self.plan.bins())?.into_iter().enumerate() {
            if let Some(item) = item {
                rows[item] = self.row(&numbers, bin, &items[item])?;
            }
        }
        let row = |keyword: &&[u8]| rows[sorted.binary_search(keyword).expect("all keywords were sorted")].clone();
        Ok(keywords.iter().map(row).collect())
    }

    /// The row in a bin that has the checks of an item.
    fn row(&self, numbers: &[Vec<i64>], bin: usize, item: &Item) -> Result<Option<Vec<u8>>> {
        let (slots, count) = (self.plan.parameters().degree(), self.plan.numbers());
        let (block, slot) = (bin / slots, bin % slots);
        for part in 0..self.plan.parts() {
            let first = (block * self.plan.parts() + part) * count;
            let found = numbers[first..first + count].iter().map(|slots| slots[slot]);
            let (checks, payload): (Vec<i64>, Vec<i64>) =
                (found.clone().take(CHECKS).collect(), found.skip(CHECKS).collect());
            if checks.iter().zip(item.checks).all(|(&found, needed)| found.cast_unsigned() == needed) {
                let bytes = to_bytes(&payload, NUMBER_BYTES)?;
                return self.plan.sizes().payload(&bytes).map(Some);
            }
        }
        Ok(None)
    }

    /// The different keywords, sorted, and what stands for each.
    fn items<'a>(&self, keywords: &[&'a [u8]]) -> Result<(Vec<&'a [u8]>, Vec<Item>)> {
        let sorted: Vec<&[u8]> = keywords.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        if sorted.len() > self.plan.asked() {
            let needed = format!("at most {} in a request", self.plan.asked());
            return Err(Error::Length { what: "keywords", found: sorted.len(), needed });
        }
        let modulus = self.plan.parameters().modulus();
        let items = sorted.iter().map(|keyword| Item::of(keyword, self.plan.bins(), modulus)).collect();
        Ok((sorted, items))
    }
}
