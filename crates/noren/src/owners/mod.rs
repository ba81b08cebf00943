//! Several owners of one secret: keys that they make together, and results that only all of them can open.
//!
//! The parties agree on a [`Session`]: parameters, names, the keys that they want, how many results they will open and how well their
//! shares hide the noise of these. Then each sends one message a round: a commitment to a random string, the string, a commitment to its
//! share of the keys, the share, and, where products are wanted, a second share. Anybody who has all messages makes the keys
//! ([`Transcript`]), which are ordinary ones: everything evaluates under them. A result is opened by a message of each party, or
//! of as many as the session says.
//!
//! The protocols hold against parties that follow them, of which all but one may work together and with the server: see
//! [`noren_rlwe::joint`]. They do not make sure that a party's share is one of keys.
//!
//! | file | what it holds |
//! |---|---|
//! | `session` | [`Session`]: what the parties agree on |
//! | `message` | messages of parties, as bytes |
//! | `channel` | seeds that two parties have and nobody else |
//! | `parts` | parts of all secrets for each party, of which some suffice |
//! | `outline` | what messages and shares say of themselves |
//! | `request` | [`Request`]: what parties are asked to open |
//! | `opening` | results from the shares of all parties |
//! | `transcript` | [`Transcript`]: the messages of all rounds, and the keys that follow from them |
//! | `folder` | [`Folder`]: the state of a party on disk |
//! | `party` | [`Party`]: the messages that one party sends, and what it has opened |

mod channel;
mod folder;
mod message;
mod opening;
mod outline;
mod parts;
mod party;
mod request;
mod session;
mod transcript;

pub use folder::Folder;
pub use message::Round;
pub(crate) use message::outline;
pub use party::Party;
pub use request::Request;
pub use session::{JointKeys, Session};
pub use transcript::Transcript;

#[cfg(test)]
mod tests;
