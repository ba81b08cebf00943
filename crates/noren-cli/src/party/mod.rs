//! `noren party`: several owners of one secret, who exchange messages as files.
//!
//! | room | what it holds |
//! |---|---|
//! | `command` | the verbs, and which follows which |
//! | `session` | `session`: what the parties agree on; its file |
//! | `folder` | `init`: the folder of a party, with its part of the secret |
//! | `join` | `join`: the message of a party in each round |
//! | `combine` | `combine`: the keys, from all messages |
//! | `share` | `share`: the shares of a party in the decryption of a table, once it was asked |
//! | `open` | `open`: the numbers of a table, from the shares of all parties |

mod combine;
mod command;
mod folder;
mod join;
mod open;
mod session;
mod share;

pub(crate) use command::Party;
