//! What messages and shares say of themselves.

use noren_rlwe::error::Result;
use noren_rlwe::wire::object::Object;

use crate::backends::parcel::{JointOpening, Parcel};
use crate::owners::message::{Message, Round, Shares};
use crate::owners::request::Request;
use crate::owners::session::Session;

impl Session {
    /// The name of the party that sent a message of key generation, and the round.
    ///
    /// # Errors
    /// A message of another session; a party or a round that there is not.
    pub fn sender(&self, message: &[u8]) -> Result<(&str, Round)> {
        let (party, round, _) = Message::outline(self, message)?;
        Ok((&self.names()[party], round))
    }

    /// The name of the party whose shares in the decryption of what is requested a message holds.
    ///
    /// # Errors
    /// Shares of another session or of other ciphertexts.
    pub fn sharer(&self, request: &Request, message: &[u8]) -> Result<&str> {
        let parcel = Parcel::<JointOpening>::from_bytes(&(), message)?;
        self.check_message(&parcel)?;
        let Shares { party, .. } = Shares::read(self, &parcel, request)?;
        Ok(&self.names()[party])
    }
}
