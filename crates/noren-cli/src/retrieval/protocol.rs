//! The interface of a protocol, and its two implementations: private retrieval, private set intersection.

use std::path::Path;
use std::sync::Arc;

use noren::backends::{
    self, IntersectionReplies, IntersectionRequests, Parcel, PartKind, Purpose, Replies, Requests, SecretKey,
    ServerKeys,
};
use noren::retrieval::{self, Key, Rows, intersection};
use noren::{Result, Seed, bfv};
use serde_json::Value;

use crate::console::Console;
use crate::describe::words::count;
use crate::failure::Failure;
use crate::files;
use crate::takes::{self, Takes};

/// A protocol, by its plan: what both halves know of a table.
pub(super) trait Protocol: Sized + PartialEq {
    /// The purposes of its files.
    type Description: Purpose;
    type Requests: Purpose;
    type Replies: Purpose;
    /// The half that asks.
    type Client;
    /// The half that has the table.
    type Database;

    /// Its files.
    const DESCRIPTION: Takes;
    const KEYS: Takes;
    const REQUESTS: Takes;
    const REPLIES: Takes;

    fn of(description: &Parcel<Self::Description>) -> Result<Self>;
    fn parameters(&self) -> &bfv::Parameters;
    fn to_bytes(&self) -> Vec<u8>;
    fn to_json(&self) -> Value;
    /// How many rows there are, and the bytes of the longest.
    fn sizes(&self) -> [usize; 2];
    /// Whether rows are asked for by keywords, not by numbers.
    fn by_keyword(&self) -> bool;
    /// The rest of the plan in words: kinds of keys, sizes of messages, probabilities.
    fn words(&self) -> String;

    fn secret_parts(&self) -> Vec<PartKind>;
    fn server_parts(&self) -> Vec<PartKind>;
    /// A new secret key, and the keys for the other half.
    fn generate(self, seed: &Seed) -> Result<(Arc<SecretKey>, ServerKeys)>;
    fn client(self, secret: Arc<SecretKey>) -> Result<Self::Client>;
    fn encrypt(client: &Self::Client, keys: &[Key<'_>], seed: Seed) -> Result<Vec<u8>>;
    fn decrypt(client: &Self::Client, reply: &Parcel<Self::Replies>, keys: &[Key<'_>]) -> Result<Vec<Option<Vec<u8>>>>;

    /// The table of this plan, if its rows are those of it; the seed is secret.
    fn database(&self, rows: Rows<'_>, seed: &Seed) -> Result<Self::Database>;
    fn of_database(database: &Self::Database) -> &Self;
    /// Answers a request; the seed is for this answer alone.
    fn answer(
        database: &Self::Database,
        request: &Parcel<Self::Requests>,
        keys: &ServerKeys,
        seed: &Seed,
    ) -> Result<Parcel<Self::Replies>>;
}

/// Reads a description; refuses one whose parameters promise too little security.
pub(super) fn read<P: Protocol>(path: &Path, console: &Console) -> std::result::Result<P, Failure> {
    let parcel: Parcel<P::Description> = console.inputs().read(&(), path, &P::DESCRIPTION)?;
    let plan = P::of(&parcel).map_err(Failure::file(path))?;
    files::admit(plan.parameters(), path, console)?;
    Ok(plan)
}

impl Protocol for retrieval::Plan {
    type Description = backends::Retrieval;
    type Requests = Requests;
    type Replies = Replies;
    type Client = retrieval::Client;
    type Database = retrieval::Database;

    const DESCRIPTION: Takes = takes::RETRIEVAL;
    const KEYS: Takes = takes::RETRIEVAL_KEYS;
    const REQUESTS: Takes = takes::RETRIEVAL_REQUESTS;
    const REPLIES: Takes = takes::RETRIEVAL_REPLIES;

    fn of(description: &Parcel<Self::Description>) -> Result<Self> {
        Self::read(description)
    }

    fn parameters(&self) -> &bfv::Parameters {
        self.parameters()
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.to_bytes()
    }

    fn to_json(&self) -> Value {
        self.to_json()
    }

    fn sizes(&self) -> [usize; 2] {
        [self.rows(), self.longest()]
    }

    fn by_keyword(&self) -> bool {
        self.by_keyword()
    }

    fn words(&self) -> String {
        let by = if self.by_keyword() { "keywords" } else { "numbers" };
        format!("asked for by {by}; a reply holds up to {}", count(self.capacity(), "row"))
    }

    fn secret_parts(&self) -> Vec<PartKind> {
        self.secret_parts()
    }

    fn server_parts(&self) -> Vec<PartKind> {
        self.server_parts()
    }

    fn generate(self, seed: &Seed) -> Result<(Arc<SecretKey>, ServerKeys)> {
        let client = retrieval::Client::generate(self, seed)?;
        Ok((Arc::clone(client.secret()), client.server_keys(seed)?))
    }

    fn client(self, secret: Arc<SecretKey>) -> Result<Self::Client> {
        retrieval::Client::new(self, secret)
    }

    fn encrypt(client: &Self::Client, keys: &[Key<'_>], seed: Seed) -> Result<Vec<u8>> {
        client.encrypt(keys, seed)
    }

    fn decrypt(client: &Self::Client, reply: &Parcel<Self::Replies>, keys: &[Key<'_>]) -> Result<Vec<Option<Vec<u8>>>> {
        client.decrypt_parcel(reply, keys)
    }

    fn database(&self, rows: Rows<'_>, _: &Seed) -> Result<Self::Database> {
        retrieval::Database::new(rows, self.parameters().rlwe().security())
    }

    fn of_database(database: &Self::Database) -> &Self {
        database.plan()
    }

    fn answer(
        database: &Self::Database,
        request: &Parcel<Self::Requests>,
        keys: &ServerKeys,
        _: &Seed,
    ) -> Result<Parcel<Self::Replies>> {
        database.answer_parcel(request, keys)
    }
}

impl Protocol for intersection::Plan {
    type Description = backends::Intersection;
    type Requests = IntersectionRequests;
    type Replies = IntersectionReplies;
    type Client = intersection::Client;
    type Database = intersection::Database;

    const DESCRIPTION: Takes = takes::INTERSECTION;
    const KEYS: Takes = takes::INTERSECTION_KEYS;
    const REQUESTS: Takes = takes::INTERSECTION_REQUESTS;
    const REPLIES: Takes = takes::INTERSECTION_REPLIES;

    fn of(description: &Parcel<Self::Description>) -> Result<Self> {
        Self::read(description)
    }

    fn parameters(&self) -> &bfv::Parameters {
        self.parameters()
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.to_bytes()
    }

    fn to_json(&self) -> Value {
        self.to_json()
    }

    fn sizes(&self) -> [usize; 2] {
        [self.rows(), self.longest()]
    }

    fn by_keyword(&self) -> bool {
        true
    }

    fn words(&self) -> String {
        let intersection::Options { asked, distance, .. } = self.options();
        let [request, reply] = self.ciphertexts().map(|number| count(number, "ciphertext"));
        let log2 = self.log2_false_match();
        format!(
            "asked for by up to {}; a keyword without a row is found with a probability of at most 2^{log2:.0}\na request has {request}, a reply \
             {reply}, which tell of other rows at most as much as a statistical distance of 2^-{distance} does",
            count(asked, "keyword")
        )
    }

    fn secret_parts(&self) -> Vec<PartKind> {
        self.secret_parts()
    }

    fn server_parts(&self) -> Vec<PartKind> {
        self.server_parts()
    }

    fn generate(self, seed: &Seed) -> Result<(Arc<SecretKey>, ServerKeys)> {
        let client = intersection::Client::generate(self, seed)?;
        Ok((Arc::clone(client.secret()), client.server_keys(seed)?))
    }

    fn client(self, secret: Arc<SecretKey>) -> Result<Self::Client> {
        intersection::Client::new(self, secret)
    }

    fn encrypt(client: &Self::Client, keys: &[Key<'_>], seed: Seed) -> Result<Vec<u8>> {
        client.encrypt(&keywords(keys), seed)
    }

    fn decrypt(client: &Self::Client, reply: &Parcel<Self::Replies>, keys: &[Key<'_>]) -> Result<Vec<Option<Vec<u8>>>> {
        client.decrypt_parcel(reply, &keywords(keys))
    }

    fn database(&self, rows: Rows<'_>, seed: &Seed) -> Result<Self::Database> {
        intersection::Database::new(rows, &self.options(), seed)
    }

    fn of_database(database: &Self::Database) -> &Self {
        database.plan()
    }

    fn answer(
        database: &Self::Database,
        request: &Parcel<Self::Requests>,
        keys: &ServerKeys,
        seed: &Seed,
    ) -> Result<Parcel<Self::Replies>> {
        database.answer_parcel(request, keys, seed)
    }
}

/// The keywords among keys, which have no numbers where rows have none.
fn keywords<'a>(keys: &'a [Key<'_>]) -> Vec<&'a [u8]> {
    let keyword = |key: &'a Key<'_>| match key {
        Key::Keyword(keyword) => Some(&**keyword),
        Key::Number(_) => None,
    };
    keys.iter().filter_map(keyword).collect()
}
