//! What a party promises beside its share of keys: a seed for each other party, and, where some parties open results, parts of its secret.
//!
//! | bytes | what they are |
//! |---|---|
//! | 32 | the commitment to its share of keys |
//! | 1088 for each other party, in their order | a seed, encapsulated to it |
//! | of a threshold t a container of a plaintext for each party but the t - 1 that follow | a part, covered by what follows from that seed |
//!
//! The t - 1 parties that follow, the first one after the last, take what follows from their seed as their part.

use noren_math::random::Seed;
use noren_ring::poly::{Eval, Poly};
use noren_rlwe::ciphertext::Plaintext as Row;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::joint::threshold::{add_part, dealt, drawn, hidden, shown};
use noren_rlwe::keys::SecretKey;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::writer::Form;

use crate::owners::channel::{Mailbox, SEALED_BYTES, seal};
use crate::owners::session::Session;
use crate::owners::transcript::BYTES;

/// The seeds that a party gives to each other one.
pub(super) struct Given {
    own: usize,
    seeds: Vec<Option<Seed>>,
    /// All of them, encapsulated.
    sealed: Vec<u8>,
}

/// The seeds that a party has with each other one: those that it gave, and those that it was given.
pub(super) struct Pairs {
    given: Given,
    taken: Vec<Option<Seed>>,
}

/// The number of a promise's part for a party, among those that travel.
fn place(session: &Session, from: usize, to: usize) -> Option<usize> {
    let threshold = session.threshold()?;
    let travels = |to: usize| to != from && !follows(session, threshold, from, to);
    travels(to).then(|| (0..to).filter(|&other| travels(other)).count())
}

/// Whether a party is one of the t - 1 that follow another.
fn follows(session: &Session, threshold: usize, from: usize, to: usize) -> bool {
    let count = session.names().len();
    (1..threshold).contains(&((to + count - from) % count))
}

/// Of a promise the seed that is encapsulated to a party.
fn sealed<'a>(session: &Session, promise: &'a [u8], from: usize, to: usize) -> Result<&'a [u8]> {
    let start = BYTES + SEALED_BYTES * (to - usize::from(from < to));
    promise.get(start..start + SEALED_BYTES).ok_or_else(|| damaged(session, from))
}

/// Of a promise the container of the part of a party.
fn covered<'a>(session: &Session, promise: &'a [u8], from: usize, place: usize) -> Result<&'a [u8]> {
    let count = session.names().len();
    let rows = promise.get(BYTES + SEALED_BYTES * (count - 1)..).ok_or_else(|| damaged(session, from))?;
    let length = rows.len() / (count - session.threshold().unwrap_or(count)).max(1);
    rows.get(place * length..(place + 1) * length).ok_or_else(|| damaged(session, from))
}

fn damaged(session: &Session, from: usize) -> Error {
    let found = format!("one of {:?} that is cut short", session.names()[from]);
    Error::parameter("message of a party", found, "seeds and parts for all other parties: begin a new session")
}

impl Given {
    /// Seeds for all others, which follow from a secret one. `keys` are those that the others encapsulate to.
    ///
    /// # Errors
    /// [`Error::Parameters`] names a party whose key is none.
    pub fn new(session: &Session, own: usize, seed: &Seed, keys: &[&[u8]]) -> Result<Self> {
        let (mut seeds, mut all) = (vec![None; keys.len()], Vec::new());
        for (to, key) in keys.iter().enumerate().filter(|&(to, _)| to != own) {
            let (sealed, pair) = seal(key, &seed.derive(&to.to_string())).ok_or_else(|| damaged(session, to))?;
            all.extend(sealed);
            seeds[to] = Some(pair);
        }
        Ok(Self { own, seeds, sealed: all })
    }

    /// What the party promises beside its commitment.
    ///
    /// # Errors
    /// As [`dealt`].
    pub fn promise(&self, session: &Session, secret: &SecretKey) -> Result<Vec<u8>> {
        let (rlwe, drawn) = (session.context().rlwe(), self.drawn(session));
        let mut bytes = self.sealed.clone();
        let others = self.seeds.iter().enumerate().filter(|&(to, _)| place(session, self.own, to).is_some());
        for (to, seed) in others.filter_map(|(to, seed)| Some((to, seed.as_ref()?))) {
            let part = dealt(rlwe, secret, &drawn, to)?;
            bytes.extend(Row { poly: hidden(rlwe, &part, &seed.derive(PART)) }.to_bytes(rlwe, Form::Packed));
        }
        Ok(bytes)
    }

    /// The parts of those that follow; with the secret they fix those of all others. None, if all parties open results.
    fn drawn(&self, session: &Session) -> Vec<(usize, Poly<Eval>)> {
        let of = |(to, seed): (usize, &Option<Seed>)| {
            let seed =
                seed.as_ref().filter(|_| session.threshold().is_some_and(|t| follows(session, t, self.own, to)))?;
            Some((to, drawn(session.context().rlwe(), &seed.derive(PART))))
        };
        self.seeds.iter().enumerate().filter_map(of).collect()
    }
}

impl Pairs {
    /// The seeds that all parties have with this one, from the promises of all.
    ///
    /// # Errors
    /// [`Error::Parameters`] names a party whose promise is cut short.
    pub fn read(session: &Session, mailbox: &Mailbox, given: Given, promises: &[&[u8]]) -> Result<Self> {
        let own = given.own;
        let of = |(from, promise): (usize, &&[u8])| {
            let sealed = (from != own).then(|| sealed(session, promise, from, own)).transpose()?;
            sealed.map(|sealed| mailbox.unseal(sealed).ok_or_else(|| damaged(session, from))).transpose()
        };
        let taken = promises.iter().enumerate().map(of).collect::<Result<_>>()?;
        Ok(Self { given, taken })
    }

    /// The part of the joint secret that the party has: of each secret one.
    ///
    /// # Errors
    /// [`Error::Parameters`] names a party whose promise is cut short.
    pub fn part(&self, session: &Session, secret: &SecretKey, promises: &[&[u8]]) -> Result<Poly<Eval>> {
        let (rlwe, own) = (session.context().rlwe(), self.given.own);
        let mut sum = dealt(rlwe, secret, &self.given.drawn(session), own)?;
        for (from, seed) in self.taken.iter().enumerate() {
            let Some(seed) = seed.as_ref().map(|seed| seed.derive(PART)) else { continue };
            let part = match place(session, from, own) {
                None => drawn(rlwe, &seed),
                Some(place) => {
                    let row = Row::from_bytes(rlwe, covered(session, promises[from], from, place)?);
                    let row = row.map_err(|_| damaged(session, from))?;
                    if row.poly.limbs() != rlwe.parameters().max_limbs() {
                        return Err(damaged(session, from));
                    }
                    shown(rlwe, &row.poly, &seed)
                }
            };
            add_part(rlwe, &mut sum, &part);
        }
        Ok(sum)
    }

    /// The seeds of masks of shares, and whether this party adds them: that which the first of two gave to the second.
    pub fn masks(&self, among: &[usize]) -> Vec<(Seed, bool)> {
        let others = among.iter().filter(|&&other| other != self.given.own);
        let mask = |&other: &usize| {
            let first = self.given.own < other;
            let seed = if first { &self.given.seeds[other] } else { &self.taken[other] };
            seed.as_ref().map(|seed| (seed.derive(MASK), first))
        };
        others.filter_map(mask).collect()
    }
}

/// The child of a seed that parts follow from.
const PART: &str = "part";
/// The child that masks of shares follow from.
const MASK: &str = "mask";
