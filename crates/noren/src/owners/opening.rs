//! Results from the shares of all parties.

use noren_rlwe::ciphertext::Plaintext as Row;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::wire::object::Object;

use crate::backends::parcel::{JointOpening, Parcel};
use crate::owners::message::Shares;
use crate::owners::session::Session;
use crate::schemes::integers::{Ciphertext, Plaintext, Scheme};

impl Session {
    /// The messages of ciphertexts, from what each party sent for them by [`Party::open`](crate::owners::Party::open).
    ///
    /// # Errors
    /// [`Error::Length`] names parties that are missing; shares of another session or of other ciphertexts, and two of one party.
    pub fn opened<S: Scheme>(&self, ciphertexts: &[&Ciphertext<S>], messages: &[Vec<u8>]) -> Result<Vec<Plaintext>> {
        let mut all: Vec<Option<Vec<Row>>> = self.names().iter().map(|_| None).collect();
        let digest = Shares::digest(self, &Shares::hashes(self, ciphertexts));
        for message in messages {
            let parcel = Parcel::<JointOpening>::from_bytes(&(), message)?;
            self.check_message(&parcel)?;
            let Shares { party, shares } = Shares::read(self, &parcel, &digest, ciphertexts.len())?;
            if all[party].replace(shares).is_some() {
                let found = format!("two of {:?}", self.names()[party]);
                return Err(Error::parameter("shares of a decryption", found, "one of each party"));
            }
        }
        let missing = self.names_of(|party| all[party].is_none());
        if !missing.is_empty() {
            let needed = format!("{}, one of each party: those of {missing} are missing", self.names().len());
            return Err(Error::Length { what: "shares of a decryption", found: messages.len(), needed });
        }
        let message = |(at, ciphertext): (usize, &&Ciphertext<S>)| {
            let shares: Vec<_> = all.iter().flatten().map(|shares| &shares[at].poly).collect();
            self.opening().message(self.context(), ciphertext, &shares)
        };
        ciphertexts.iter().enumerate().map(message).collect()
    }
}
