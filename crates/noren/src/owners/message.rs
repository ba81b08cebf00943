//! Messages of parties, as bytes.

use std::fmt;
use std::ops::Range;

use noren_rlwe::ciphertext::Plaintext as Row;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::writer::Form;
use serde_json::{Value, json};

use crate::backends::backend::Record;
use crate::backends::parcel::{JointMessage, JointOpening, Parcel, Purpose};
use crate::owners::request::Request;
use crate::owners::session::Session;

/// The rounds of key generation, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Round {
    /// Each party commits to a random string: none chooses the uniform halves of keys alone.
    Commit,
    /// Each shows its string.
    Reveal,
    /// Each commits to its share of the keys: none chooses it after it has seen the others'.
    Promise,
    /// Each sends its share.
    Share,
    /// Each sends its second share of the relinearisation key.
    Relinearize,
}

impl Round {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Commit, Self::Reveal, Self::Promise, Self::Share, Self::Relinearize];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Reveal => "reveal",
            Self::Promise => "promise",
            Self::Share => "share",
            Self::Relinearize => "relinearize",
        }
    }

    pub(super) const fn number(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The message of a party in a round.
pub(super) struct Message {
    pub party: usize,
    pub round: Round,
    bytes: Vec<u8>,
    body: Range<usize>,
}

impl Message {
    /// The message in these bytes.
    ///
    /// # Errors
    /// Another session; a party or a round that there is not.
    pub fn read(session: &Session, bytes: Vec<u8>) -> Result<Self> {
        let (party, round, body) = Self::outline(session, &bytes)?;
        Ok(Self { party, round, bytes, body })
    }

    /// The party and the round of a message, and where its body stands: those of shares are as large as keys.
    ///
    /// # Errors
    /// As [`Message::read`].
    pub fn outline(session: &Session, bytes: &[u8]) -> Result<(usize, Round, Range<usize>)> {
        let (fingerprint, items) = Parcel::<JointMessage>::borrowed(bytes)?;
        session.check_fingerprint::<JointMessage>(&fingerprint)?;
        let (head, body) = match items[..] {
            [head, body] => (head.try_into().unwrap_or([u8::MAX; 2 * WORD]), body),
            _ => ([u8::MAX; 2 * WORD], &[][..]),
        };
        let (party, round) = words(head);
        let round = usize::try_from(round).ok().and_then(|round| Round::ALL.get(round).copied());
        let (Some(party), Some(round)) = (checked(session, party), round) else {
            let found = "a party or a round that there is not";
            return Err(Error::parameter("message of a party", found, "one of the session"));
        };
        let start = body.as_ptr().addr() - bytes.as_ptr().addr();
        Ok((party, round, start..start + body.len()))
    }

    /// The message of a party with this body.
    pub fn new(session: &Session, party: usize, round: Round, body: Vec<u8>) -> Self {
        let head = [party as u64, round.number() as u64].map(u64::to_le_bytes).concat();
        let bytes = Parcel::<JointMessage>::new(session.digest(), vec![head, body]).to_bytes(&(), Form::Packed);
        Self::read(session, bytes).expect("a message that was just made")
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn body(&self) -> &[u8] {
        &self.bytes[self.body.clone()]
    }
}

/// The shares of a party in the decryption of some ciphertexts.
pub(super) struct Shares {
    pub party: usize,
    /// The parties that open the ciphertexts together.
    pub among: Vec<usize>,
    /// One for each ciphertext.
    pub shares: Vec<Row>,
}

impl Shares {
    /// # Errors
    /// Shares of other ciphertexts, or a party that there is not.
    pub fn read(session: &Session, parcel: &Parcel<JointOpening>, request: &Request) -> Result<Self> {
        let digest = request.digest(session);
        let Some((head, rows)) = parcel.items.split_first() else { return Err(other_ciphertexts()) };
        let number = |word: &[u8]| checked(session, u64::from_le_bytes(word.try_into().ok()?));
        let (party, rest) = head.split_at_checked(WORD).ok_or_else(other_ciphertexts)?;
        let (named, among) = rest.split_at_checked(digest.len()).ok_or_else(other_ciphertexts)?;
        let party = number(party)
            .filter(|_| *named == digest && rows.len() == request.parts().len())
            .ok_or_else(other_ciphertexts)?;
        let among: Option<Vec<usize>> = among.chunks(WORD).map(number).collect();
        let among = session.checked_openers(among.ok_or_else(other_ciphertexts)?)?;
        if !among.contains(&party) {
            return Err(other_ciphertexts());
        }
        let rlwe = session.context().rlwe();
        Ok(Self { party, among, shares: rows.iter().map(|row| Row::from_bytes(rlwe, row)).collect::<Result<_>>()? })
    }

    pub fn to_bytes(&self, session: &Session, digest: &[u8; 32]) -> Vec<u8> {
        let word = |party: usize| (party as u64).to_le_bytes();
        let among = self.among.iter().flat_map(|&party| word(party));
        let head = word(self.party).into_iter().chain(*digest).chain(among).collect();
        let rlwe = session.context().rlwe();
        let rows = self.shares.iter().map(|row| row.to_bytes(rlwe, Form::Packed));
        let items = std::iter::once(head).chain(rows).collect();
        Parcel::<JointOpening>::new(session.digest(), items).to_bytes(&(), Form::Packed)
    }
}

/// What a message, shares or the secret of a party say without a session: the number of the party, the round of a message, and of
/// shares the digest of the ciphertexts with the numbers of the parties that open them.
pub(crate) fn outline<P: Purpose>(parcel: &Parcel<P>) -> Value {
    let head = parcel.items.first().map_or(&[][..], |head| &head[..]);
    let words = |at: usize| head.get(at..at + WORD).and_then(|word| word.try_into().ok()).map(u64::from_le_bytes);
    let round = words(WORD).and_then(|round| usize::try_from(round).ok()).and_then(|round| Round::ALL.get(round));
    let round = round.filter(|_| head.len() == 2 * WORD).map(|round| round.name());
    let (digest, among) = (head.get(WORD..WORD + 32), head.get(WORD + 32..).unwrap_or_default());
    let digest = digest.filter(|_| !among.is_empty()).and_then(|digest| <[u8; 32]>::try_from(digest).ok());
    let mut outline = json!({ "party": words(0), "session": Record::hexadecimal(&parcel.fingerprint) });
    if let Some(round) = round {
        outline["round"] = round.into();
    }
    if let Some(digest) = digest {
        outline["ciphertexts"] = Record::hexadecimal(&digest).into();
        outline["among"] = (WORD + 32..head.len()).step_by(WORD).map(words).collect();
    }
    outline
}

const WORD: usize = size_of::<u64>();

/// Two words, the first one in the first bytes.
fn words(bytes: [u8; 2 * WORD]) -> (u64, u64) {
    let both = u128::from_le_bytes(bytes);
    (both as u64, (both >> u64::BITS) as u64)
}

fn checked(session: &Session, party: u64) -> Option<usize> {
    usize::try_from(party).ok().filter(|&party| party < session.names().len())
}

fn other_ciphertexts() -> Error {
    let needed = "shares of the ciphertexts that are opened, in their order";
    Error::parameter("shares of a decryption", "those of other ciphertexts", needed)
}
