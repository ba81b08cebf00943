//! `noren retrieval` and `noren intersection`: rows of a table of another, by encrypted numbers and keywords.
//!
//! | room | what it holds |
//! |---|---|
//! | `command` | the arguments of both verbs |
//! | `protocol` | the interface of a protocol, and its two implementations |
//! | `holder` | the verbs of the holder of the table: `describe`, `answer` |
//! | `asker` | the verbs of the client: `keygen`, `encrypt`, `decrypt` |
//! | `records` | rows of a table as bytes, and back |
//! | `asked` | the keys of a request: numbers, keywords |

mod asked;
mod asker;
mod command;
mod holder;
mod protocol;
mod records;

pub(crate) use command::{Intersection, Retrieval};
