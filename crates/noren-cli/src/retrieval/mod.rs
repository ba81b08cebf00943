//! `noren retrieval` and `noren intersection`: rows of a table of another, by encrypted numbers and keywords.
//!
//! | room | what it holds |
//! |---|---|
//! | `command` | the arguments of both verbs |
//! | `protocol` | what both protocols have, and each of them |
//! | `holder` | the verbs of whoever has the table: `describe`, `answer` |
//! | `asker` | the verbs of whoever asks: `keygen`, `encrypt`, `decrypt` |
//! | `records` | rows of a table as bytes, and back |
//! | `asked` | numbers and keywords that are asked for |

mod asked;
mod asker;
mod command;
mod holder;
mod protocol;
mod records;

pub(crate) use command::{Intersection, Retrieval};
