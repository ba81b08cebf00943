//! Bytes for files and for the network: one container for every object.
//!
//! `docs/wire.md` describes every byte. What matters to callers:
//!
//! * Equal objects give equal bytes, and what is read and written again comes out unchanged: there is one encoding.
//! * Bytes from outside never panic and never allocate by a length that they claim; everything is checked, down to each
//!   residue, before an object is made of it.
//! * The digest finds damage, not forgery: whoever can change a file can change its digest. Where that matters, sign
//!   or authenticate the file.
//! * Uniform halves of keys and of fresh symmetric ciphertexts are written as the seed that they are expanded from.
//! * A file is replaced as a whole or not at all, and the file of a secret is never readable by others.
//!
//! | room | what it holds |
//! |---|---|
//! | [`object`] | [`Object`](object::Object): `to_bytes`, `from_bytes`, `write_file`, `read_file` of everything |
//! | [`writer`], [`reader`] | containers from sections, sections from containers: for objects of the layers above |
//! | [`stream`] | [`Stream`](stream::Stream): containers written part by part |
//! | [`items`] | [`Items`](items::Items): containers read from files item by item |
//! | [`expanded`] | [`MappedContainer`](expanded::MappedContainer): keys used where they lie in a file |
//! | [`section`] | [`Section`](section::Section): what one section says |
//! | [`header`] | the first bytes of a container, and its limits |
//! | [`key_file`] | [`KeyFile`](key_file::KeyFile): keys with the parameters of their scheme |
//! | [`kind`] | [`Kind`](kind::Kind): the registry of what a container holds |
//! | [`owners`] | whose an object is, as its container says |
//! | [`reason`] | [`Reason`](reason::Reason): why bytes are refused |
//! | [`words`] | [`Words`](words::Words): words where they lie in a file |
//! | [`file`](mod@file) | atomic writes, bounded reads |
//! | [`publish`](mod@publish) | [`Destination`](publish::Destination): whether a file may be replaced |
//! | [`regular`] | files that are opened for reading: regular ones alone |

pub mod expanded;
pub mod file;
pub mod header;
pub mod items;
pub mod key_file;
pub mod kind;
pub mod list;
pub mod object;
pub mod owners;
pub mod publish;
pub mod reader;
pub mod reason;
pub mod regular;
pub mod section;
pub mod stream;
pub mod words;
pub mod writer;

mod joint;
mod keys;
mod pack;
mod parameters;
mod pieces;
mod reencryption;
mod samples;
