//! Results from the shares of all parties that open them.

use noren_rlwe::ciphertext::Plaintext as Row;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::wire::object::Object;

use crate::backends::parcel::{JointOpening, Parcel};
use crate::owners::message::Shares;
use crate::owners::request::Request;
use crate::owners::session::Session;
use crate::schemes::integers::{Ciphertext, Plaintext, Scheme};

impl Session {
    /// The messages of ciphertexts, from what each party sent for them by [`Party::open`](crate::owners::Party::open).
    ///
    /// # Errors
    /// [`Error::Length`] names parties that are missing; shares of another session, of other ciphertexts, or for other parties that
    /// open together, and two of one party.
    pub fn opened<S: Scheme>(&self, ciphertexts: &[&Ciphertext<S>], messages: &[Vec<u8>]) -> Result<Vec<Plaintext>> {
        let mut all: Vec<Option<Vec<Row>>> = self.names().iter().map(|_| None).collect();
        let request = Request::new(self, ciphertexts)?;
        let mut together: Option<Vec<usize>> = None;
        for message in messages {
            let parcel = Parcel::<JointOpening>::from_bytes(&(), message)?;
            self.check_message(&parcel)?;
            let Shares { party, among, shares } = Shares::read(self, &parcel, &request)?;
            let first = together.get_or_insert_with(|| among.clone());
            if *first != among {
                let names = |among: &[usize]| self.names_of(|party| among.contains(&party));
                let needed = format!("those of {}", names(first));
                return Err(Error::parameter("shares of a decryption", format!("by {}", names(&among)), needed));
            }
            if all[party].replace(shares).is_some() {
                let found = format!("two of {:?}", self.names()[party]);
                return Err(Error::parameter("shares of a decryption", found, "one of each party"));
            }
        }
        // Without any share those of all parties are missing, of which some suffice.
        let openers = together.unwrap_or_else(|| (0..all.len()).collect());
        let missing = self.names_of(|party| openers.contains(&party) && all[party].is_none());
        if !missing.is_empty() {
            let needed = format!("{}, one of each party: those of {missing} are missing", openers.len());
            return Err(Error::Length { what: "shares of a decryption", found: messages.len(), needed });
        }
        let message = |(at, ciphertext): (usize, &&Ciphertext<S>)| {
            let shares: Vec<_> = all.iter().flatten().map(|shares| &shares[at].poly).collect();
            self.opening().message(self.context(), ciphertext, &shares)
        };
        ciphertexts.iter().enumerate().map(message).collect()
    }
}
