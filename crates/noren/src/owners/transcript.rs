//! The messages of all rounds, and the keys that follow from them.

use std::sync::Arc;

use noren_math::random::Seed;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::joint::combine::{evaluation_keys, public_key};
use noren_rlwe::joint::share::{Extent, KeyShare};
use noren_rlwe::keys::PublicKey;

use crate::owners::channel::{KEY_BYTES, SEALED_BYTES, is_key};
use crate::owners::message::{Message, Round};
use crate::owners::session::{JointKeys, Session};

/// The messages of a session, checked against one another as they come. Anybody may hold it: it has no secret.
pub struct Transcript {
    session: Session,
    /// Of each round the messages of all parties that have sent one.
    rounds: Vec<Vec<Option<Message>>>,
}

/// The bytes of strings and commitments.
pub(super) const BYTES: usize = 32;
const COMMITMENT: &str = "noren joint commitment, version 1";
const COMMON: &str = "noren joint common seed, version 1";

impl Transcript {
    /// Without a message.
    #[must_use]
    pub fn new(session: &Session) -> Self {
        let rounds = Round::ALL.map(|_| session.names().iter().map(|_| None).collect()).into();
        Self { session: session.clone(), rounds }
    }

    /// The session.
    #[must_use]
    pub const fn session(&self) -> &Session {
        &self.session
    }

    /// The rounds of the session: without the last where there are no products.
    #[must_use]
    pub fn rounds(&self) -> &'static [Round] {
        let count = Round::ALL.len() - usize::from(self.session.request().relinearization.is_none());
        &Round::ALL[..count]
    }

    /// Takes a message of a party, and says of which round it is. One that is known already changes nothing.
    ///
    /// # Errors
    /// A message of another session or round, another message of the same party and round than the one that is known, a string or a
    /// share that is not the one that was committed to.
    pub fn add(&mut self, message: &[u8]) -> Result<Round> {
        let message = Message::read(&self.session, message.to_vec())?;
        let round = message.round;
        self.insert(message)?;
        Ok(round)
    }

    pub(super) fn insert(&mut self, message: Message) -> Result<()> {
        let (party, round, body) = (message.party, message.round, message.body());
        let name = &self.session.names()[party];
        if !self.rounds().contains(&round) {
            return Err(Error::parameter("round", round, "one of a session with products"));
        }
        if let Some(known) = &self.rounds[round.number()][party] {
            if known.body() == body {
                return Ok(());
            }
            let found = format!("a second one of {name:?} in round {round}");
            return Err(Error::parameter(
                "message of a party",
                found,
                "the one that was sent first: begin a new session",
            ));
        }
        let committed = match round {
            Round::Reveal => Some(Round::Commit),
            Round::Share => Some(Round::Promise),
            _ => None,
        };
        if let Some(before) = committed {
            let known = self.body(before, party)?;
            if known[..BYTES] != commitment(&self.session, party, before, body) {
                let found = format!("another one than {name:?} committed to in round {before}");
                return Err(Error::parameter("message of a party", found, "what it committed to"));
            }
        }
        let (least, most) = match round {
            Round::Commit => (BYTES, BYTES),
            Round::Reveal => (BYTES + KEY_BYTES, BYTES + KEY_BYTES),
            Round::Promise => {
                let seeds = BYTES + SEALED_BYTES * (self.session.names().len() - 1);
                (seeds, self.session.threshold().map_or(seeds, |_| usize::MAX))
            }
            Round::Share | Round::Relinearize => (0, usize::MAX),
        };
        if !(least..=most).contains(&body.len()) {
            let found = format!("one of {name:?} in round {round} with {} bytes", body.len());
            return Err(Error::parameter("message of a party", found, format!("{least} bytes")));
        }
        if round == Round::Reveal && !is_key(&body[BYTES..]) {
            let found = format!("one of {name:?} whose key is none of ML-KEM-768");
            return Err(Error::parameter("message of a party", found, "a key that seeds are encapsulated to"));
        }
        self.rounds[round.number()][party] = Some(message);
        Ok(())
    }

    /// The names of the parties whose messages of a round are missing.
    #[must_use]
    pub fn missing(&self, round: Round) -> Vec<&str> {
        let names = self.session.names().iter().zip(&self.rounds[round.number()]);
        names.filter(|(_, body)| body.is_none()).map(|(name, _)| name.as_str()).collect()
    }

    /// The public key, once all shares of keys are there.
    ///
    /// # Errors
    /// [`Error::Length`] names parties whose messages are missing; shares of other keys.
    pub fn public_key(&self) -> Result<PublicKey> {
        public_key(self.session.context().rlwe(), &self.common()?, &self.sum(Round::Share, Extent::Public)?)
    }

    /// The keys, once all messages are there.
    ///
    /// # Errors
    /// [`Error::Length`] names parties whose messages are missing; shares of other keys.
    pub fn keys(&self) -> Result<JointKeys> {
        let context = self.session.context();
        let (common, first) = (self.common()?, self.sum(Round::Share, Extent::Whole)?);
        let public = public_key(context.rlwe(), &common, &first)?;
        let second = match self.session.request().relinearization {
            Some(_) => self.sum(Round::Relinearize, Extent::Whole)?,
            None => KeyShare::empty_second(),
        };
        let evaluation = evaluation_keys(context.rlwe(), &common, &public, [&first, &second])?;
        Ok(JointKeys { public, evaluation: Arc::new(evaluation) })
    }

    /// Whether the message of a party in a round is there.
    pub(super) fn has(&self, party: usize, round: Round) -> bool {
        self.rounds[round.number()][party].is_some()
    }

    /// The message of a party in a round, if it is there.
    #[must_use]
    pub fn message(&self, party: usize, round: Round) -> Option<&[u8]> {
        self.rounds[round.number()].get(party)?.as_ref().map(Message::bytes)
    }

    /// The seed that all parties have in common: a hash of their strings.
    pub(super) fn common(&self) -> Result<Seed> {
        let mut hasher = blake3::Hasher::new_derive_key(COMMON);
        hasher.update(&self.session.digest());
        for string in self.bodies(Round::Reveal)? {
            hasher.update(string);
        }
        Ok(Seed::from_bytes(hasher.finalize().into()))
    }

    /// The keys that parties encapsulate seeds to, in their order.
    pub(super) fn mailboxes(&self) -> Result<Vec<&[u8]>> {
        Ok(self.bodies(Round::Reveal)?.into_iter().map(|body| &body[BYTES..]).collect())
    }

    /// What all parties have sent in a round, in their order.
    pub(super) fn bodies(&self, round: Round) -> Result<Vec<&[u8]>> {
        self.complete(round)?;
        Ok(self.rounds[round.number()].iter().flatten().map(Message::body).collect())
    }

    /// The sum of all shares of a round, as far as it is wanted.
    pub(super) fn sum(&self, round: Round, extent: Extent) -> Result<KeyShare> {
        let rlwe = self.session.context().rlwe();
        let mut shares = self.bodies(round)?.into_iter().map(|body| KeyShare::extent_from_bytes(rlwe, body, extent));
        let mut sum = shares.next().expect("a session has parties")?;
        for share in shares {
            sum.add_assign(rlwe, &share?)?;
        }
        sum.check_request(rlwe, self.session.request())?;
        Ok(sum)
    }

    /// Refuses a round in which messages are missing.
    pub(super) fn complete(&self, round: Round) -> Result<()> {
        let bodies = &self.rounds[round.number()];
        let missing = self.session.names_of(|party| bodies[party].is_none());
        if missing.is_empty() {
            return Ok(());
        }
        let (found, count) = (bodies.iter().flatten().count(), bodies.len());
        let needed = format!("{count} of round {round}: those of {missing} are missing");
        Err(Error::Length { what: "messages of parties", found, needed })
    }

    fn body(&self, round: Round, party: usize) -> Result<&[u8]> {
        self.rounds[round.number()][party].as_ref().map(Message::body).ok_or_else(|| {
            let found = format!("one of {:?} before that of round {round}", self.session.names()[party]);
            Error::parameter("message of a party", found, "messages in the order of the rounds")
        })
    }
}

/// The commitment of a party to what it sends in the round after.
pub(super) fn commitment(session: &Session, party: usize, round: Round, body: &[u8]) -> [u8; BYTES] {
    let mut hasher = blake3::Hasher::new_derive_key(COMMITMENT);
    hasher.update(&session.digest());
    for word in [party, round.number()] {
        hasher.update(&(word as u64).to_le_bytes());
    }
    hasher.update(body);
    hasher.finalize().into()
}
