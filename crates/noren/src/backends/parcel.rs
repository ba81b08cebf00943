//! Bytes that halves of a function exchange, in one container: kinds, digest, and any number of items.

use std::fmt;
use std::marker::PhantomData;

use noren_rlwe::error::{Error, Result};
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::owners;
use noren_rlwe::wire::reader::{Limits, Reader};
use noren_rlwe::wire::writer::Writer;
use serde::Serialize;
use zeroize::Zeroize;

/// The bytes of an item; each has items of their own of the container.
const BYTES: u16 = 0x01;

/// The use of a [`Parcel`].
pub trait Purpose {
    /// The kind in its header.
    const KIND: Kind;
}

/// The purposes of parcels.
macro_rules! purposes {
    ($($(#[$documentation:meta])+ $purpose:ident = $kind:ident;)+) => {$(
        $(#[$documentation])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $purpose;

        impl Purpose for $purpose {
            const KIND: Kind = Kind::$kind;
        }
    )+};
}

purposes! {
    /// A compiled function: its JSON. The fingerprint is the BLAKE3 digest of the JSON.
    Function = FUNCTION;
    /// Encrypted inputs of a function; the fingerprint is that of the function, as of the others.
    Inputs = FUNCTION_INPUTS;
    /// Encrypted outputs of a function.
    Outputs = FUNCTION_OUTPUTS;
    /// The objects that the keys of a server consist of, where there are several; the fingerprint is that of their parameters.
    KeysOfServer = FUNCTION_SERVER_KEYS;
    /// The objects that a secret key consists of, where there are several.
    Secrets = FUNCTION_SECRET_KEYS;
    /// What both halves of a private retrieval know: JSON, and parameters. The fingerprint is a digest of both.
    Retrieval = RETRIEVAL;
    /// Encrypted requests of a private retrieval; the fingerprint is that of its description, as of the replies.
    Requests = RETRIEVAL_REQUESTS;
    /// Encrypted replies of a private retrieval, one for each request.
    Replies = RETRIEVAL_REPLIES;
    /// What both halves of a private set intersection know, as of a private retrieval.
    Intersection = INTERSECTION;
    /// Encrypted keywords of a private set intersection.
    IntersectionRequests = INTERSECTION_REQUESTS;
    /// The encrypted reply of a private set intersection.
    IntersectionReplies = INTERSECTION_REPLIES;
    /// The session of a joint secret: JSON, and parameters. The fingerprint is a digest of both.
    JointSession = JOINT_SESSION;
    /// The message of a party in one round; the fingerprint is that of the session, as of the others.
    JointMessage = JOINT_MESSAGE;
    /// The shares of a party in decryptions.
    JointOpening = JOINT_OPENING;
    /// The secret of a party.
    JointParty = JOINT_PARTY;
    /// The second parts of ciphertexts that parties are asked to open.
    JointRequest = JOINT_REQUEST;
}

/// Items of bytes, such as containers of ciphertexts, for one purpose, of what a fingerprint names.
pub struct Parcel<P: Purpose> {
    /// The fingerprint.
    pub fingerprint: [u8; 32],
    /// The items: at least one.
    pub items: Vec<Vec<u8>>,
    purpose: PhantomData<P>,
}

impl<P: Purpose> Parcel<P> {
    /// The parcel of these items.
    #[must_use]
    pub const fn new(fingerprint: [u8; 32], items: Vec<Vec<u8>>) -> Self {
        Self { fingerprint, items, purpose: PhantomData }
    }

    /// The fingerprint of the parcel in these bytes, and its items, where they stand.
    ///
    /// # Errors
    /// As [`Object::from_bytes`].
    pub(crate) fn borrowed(bytes: &[u8]) -> Result<([u8; 32], Vec<&[u8]>)> {
        let mut reader = Reader::open(bytes, P::KIND, &Limits::default())?;
        let fingerprint = reader.header().fingerprint;
        let items = borrowed_items(&mut reader)?;
        reader.finish()?;
        Ok((fingerprint, items))
    }

    /// The only item.
    ///
    /// # Errors
    /// [`Error::Length`] for another number of items.
    pub fn single(&self) -> Result<&[u8]> {
        single(&self.items)
    }
}

impl Parcel<Inputs> {
    /// The inputs of several parcels, each of which is in one of them.
    ///
    /// # Errors
    /// [`Error::WrongKind`] for inputs of different functions, [`Error::Length`] for none, [`Error::Parameters`] for an input that is in
    /// two.
    pub fn joined(parcels: &[Self]) -> Result<Self> {
        let first = parcels.first().ok_or_else(|| Error::Length {
            what: "requests of a run",
            found: 0,
            needed: "at least 1".to_owned(),
        })?;
        let mut joined = Self::new(first.fingerprint, first.items.clone());
        for parcel in &parcels[1..] {
            if parcel.fingerprint != joined.fingerprint || parcel.items.len() != joined.items.len() {
                let needed = "one compiled function for all requests of a run".to_owned();
                return Err(Error::WrongKind { found: "inputs of different compiled functions".to_owned(), needed });
            }
            for (all, item) in joined.items.iter_mut().zip(&parcel.items).filter(|(_, item)| !item.is_empty()) {
                if !all.is_empty() {
                    return Err(Error::parameter("inputs of a run", "one in two requests", "each in one"));
                }
                all.clone_from(item);
            }
        }
        Ok(joined)
    }
}

/// The containers of some inputs, from their ciphertexts; empty for those that have none.
pub(super) fn containers<C>(inputs: Vec<Vec<C>>, write: impl Fn(Vec<C>) -> Vec<u8>) -> Vec<Vec<u8>> {
    let container = |ciphertexts: Vec<C>| if ciphertexts.is_empty() { Vec::new() } else { write(ciphertexts) };
    inputs.into_iter().map(container).collect()
}

/// The ciphertexts of each input, from their containers.
///
/// # Errors
/// What reading refuses.
pub(super) fn ciphertexts<C>(items: &[Vec<u8>], read: impl Fn(&[u8]) -> Result<Vec<C>>) -> Result<Vec<Vec<C>>> {
    items.iter().map(|item| if item.is_empty() { Ok(Vec::new()) } else { read(item) }).collect()
}

/// The fault of a text that was to be JSON of some shape, in words for its reader.
pub(crate) fn fault_of_json(error: &serde_json::Error) -> String {
    let what = if error.is_data() { "values that are not known here" } else { "no JSON" };
    match error.line() {
        0 => what.to_owned(),
        line => format!("{what}, line {line}, column {}", error.column()),
    }
}

/// An object among the items of a parcel, as its own container says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Content {
    /// The name of its kind.
    pub kind: &'static str,
    /// The bytes of its container.
    pub bytes: u64,
    /// The identity of the secret key that it belongs to, if it says so.
    pub owner: Option<String>,
}

impl Content {
    /// The objects in a parcel of any purpose but a function's, without parameters or keys.
    ///
    /// # Errors
    /// [`Error::Wire`] for an item that is damaged or no container.
    pub fn all(reader: &mut Reader<'_>) -> Result<Vec<Self>> {
        let mut all: Vec<Self> = Self::of(reader.take(BYTES)?.bytes()?)?.into_iter().collect();
        while reader.next_item()? {
            all.extend(Self::of(reader.take(BYTES)?.bytes()?)?);
        }
        Ok(all)
    }

    /// The object of an item; `None` for one that is empty.
    fn of(item: &[u8]) -> Result<Option<Self>> {
        if item.is_empty() {
            return Ok(None);
        }
        let reader = Reader::open_any(item, &Limits::default())?;
        let kind = reader.header().kind;
        let owner = owners::of_sections(kind, reader.sections()).map(|key| key.to_string());
        Ok(Some(Self { kind: kind.name(), bytes: item.len() as u64, owner }))
    }
}

/// The only item of several.
///
/// # Errors
/// [`Error::Length`] for another number of items.
pub(super) fn single(items: &[Vec<u8>]) -> Result<&[u8]> {
    match items {
        [item] => Ok(item),
        _ => Err(Error::Length { what: "containers", found: items.len(), needed: "1".to_owned() }),
    }
}

/// The containers of each of `count` runs, the same number of them for each, and one at least.
///
/// # Errors
/// [`Error::Length`] for another number of items.
pub(super) fn in_runs(items: &[Vec<u8>], count: usize) -> Result<impl Iterator<Item = &[Vec<u8>]>> {
    if items.is_empty() || !items.len().is_multiple_of(count) {
        let needed = format!("a multiple of {count}");
        return Err(Error::Length { what: "containers", found: items.len(), needed });
    }
    Ok(items.chunks(items.len() / count))
}

impl<P: Purpose> fmt::Debug for Parcel<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Parcel({}, {} items)", P::KIND, self.items.len())
    }
}

impl<P: Purpose> PartialEq for Parcel<P> {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint == other.fingerprint && self.items == other.items
    }
}

impl<P: Purpose> Drop for Parcel<P> {
    fn drop(&mut self) {
        if P::KIND.is_secret() {
            self.items.zeroize();
        }
    }
}

impl<P: Purpose> Object for Parcel<P> {
    type Context = ();
    const KIND: Kind = P::KIND;

    fn needed_fingerprint((): &()) -> Option<[u8; 32]> {
        None
    }

    fn fingerprint(&self, (): &()) -> [u8; 32] {
        self.fingerprint
    }

    /// # Panics
    /// If there is no item.
    fn write<'a>(&'a self, (): &'a (), writer: &mut Writer<'a>) {
        assert!(!self.items.is_empty(), "a parcel has an item");
        for (at, item) in self.items.iter().enumerate() {
            if at > 0 {
                writer.next_item();
            }
            writer.bytes(BYTES, item.as_slice());
        }
    }

    fn read((): &(), reader: &mut Reader<'_>) -> Result<Self> {
        let items = borrowed_items(reader)?.into_iter().map(<[u8]>::to_vec).collect();
        Ok(Self::new(reader.header().fingerprint, items))
    }
}

fn borrowed_items<'a>(reader: &mut Reader<'a>) -> Result<Vec<&'a [u8]>> {
    let mut items = vec![reader.take(BYTES)?.bytes()?];
    while reader.next_item()? {
        items.push(reader.take(BYTES)?.bytes()?);
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_has_as_many_containers() {
        let items = vec![vec![0u8]; 6];
        let counts = |count| Ok::<_, Error>(in_runs(&items, count)?.map(<[_]>::len).collect::<Vec<_>>());
        assert_eq!(counts(3).expect("runs"), [2, 2, 2]);
        assert!(counts(4).is_err() && in_runs(&[], 3).is_err());
    }
}
