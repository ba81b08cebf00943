//! Keys of a plan: the objects of its scheme, whatever they are.

use std::any::Any;
use std::marker::PhantomData;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use noren_rlwe::error::{Error, Result};
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::publish::Destination;
use noren_rlwe::wire::reader::Limits;
use noren_rlwe::wire::writer::Form;

use crate::backends::parcel::{KeysOfServer, Parcel, Purpose, Secrets};

/// An [`Object`] of a scheme that stands for itself, of any type.
pub trait Part: Any + Send + Sync {
    /// The kind in its header.
    fn kind(&self) -> Kind;
    /// The fingerprint of its parameters.
    fn fingerprint(&self) -> [u8; 32];
    /// Its bytes: [`Object::to_bytes`].
    fn to_bytes(&self) -> Vec<u8>;
    /// Its file: [`Object::write_file`].
    ///
    /// # Errors
    /// As [`Object::write_file`].
    fn write_file(&self, to: Destination<'_>) -> Result<()>;
}

/// An object as a part.
struct Of<T>(T);

/// An object as a part of a key.
pub fn part<T: Object<Context = ()> + Any + Send + Sync>(object: T) -> Arc<dyn Part> {
    Arc::new(Of(object))
}

impl<T: Object<Context = ()> + Any + Send + Sync> Part for Of<T> {
    fn kind(&self) -> Kind {
        T::KIND
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.0.fingerprint(&())
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.0.to_bytes(&(), Form::Packed)
    }

    fn write_file(&self, to: Destination<'_>) -> Result<()> {
        self.0.write_file(&(), Form::Packed, to)
    }
}

/// An object that keys consist of: its kind, the parameters that it belongs to, and how it is read.
pub struct PartKind {
    kind: Kind,
    fingerprint: [u8; 32],
    read: fn(&[u8]) -> Result<Arc<dyn Part>>,
    open: fn(&Path) -> Result<Arc<dyn Part>>,
}

impl PartKind {
    /// Objects of a type that belong to the parameters with this fingerprint.
    #[must_use]
    pub fn of<T: Object<Context = ()> + Any + Send + Sync>(fingerprint: [u8; 32]) -> Self {
        Self {
            kind: T::KIND,
            fingerprint,
            read: |bytes| Ok(part(T::from_bytes(&(), bytes)?)),
            open: |path| Ok(part(T::read_file(&(), path, &Limits::default())?)),
        }
    }

    /// The same, whose files are of several kinds, such as keys that are mapped.
    #[must_use]
    pub fn opened_by(self, open: fn(&Path) -> Result<Arc<dyn Part>>) -> Self {
        Self { open, ..self }
    }

    fn check(&self, part: &dyn Part) -> Result<()> {
        if part.kind() != self.kind {
            return Err(Error::WrongKind { found: part.kind().to_string(), needed: self.kind.to_string() });
        }
        if part.fingerprint() != self.fingerprint {
            return Err(Error::mismatch(&self.fingerprint, &part.fingerprint(), self.kind.name()));
        }
        Ok(())
    }
}

/// A key of a plan: the objects that it consists of.
///
/// A key of one object travels as this object does, so that all tools take its files; one of several travels as a [`Parcel`].
#[derive(Clone)]
pub struct Key<P> {
    parts: Vec<Arc<dyn Part>>,
    purpose: PhantomData<P>,
}

/// The secret key of a plan. Its bytes are as secret as the key: the caller has to wipe them.
pub type SecretKey = Key<Secrets>;
/// The keys of the server of a plan; nothing in them decrypts.
pub type ServerKeys = Key<KeysOfServer>;

impl<P: Purpose> Key<P> {
    /// The key of these objects, in the order of the plan.
    #[must_use]
    pub const fn of(parts: Vec<Arc<dyn Part>>) -> Self {
        Self { parts, purpose: PhantomData }
    }

    /// The same with one object more.
    pub(super) fn with(mut self, part: Arc<dyn Part>) -> Self {
        self.parts.push(part);
        self
    }

    /// The key of the objects of several, one after the other.
    pub(super) fn joined(keys: Vec<Self>) -> Self {
        Self::of(keys.into_iter().flat_map(|key| key.parts).collect())
    }

    /// Some of its objects, of a key that was [checked](Self::check).
    pub(super) fn some_of(&self, objects: Range<usize>) -> Self {
        Self::of(self.parts.get(objects).unwrap_or_default().to_vec())
    }

    /// The kinds of its objects.
    #[must_use]
    pub fn kinds(&self) -> Vec<Kind> {
        self.parts.iter().map(|part| part.kind()).collect()
    }

    /// One of its objects.
    ///
    /// # Errors
    /// A key that has no object of this type there.
    pub fn get<T: Any>(&self, at: usize) -> Result<&T> {
        let part = self.parts.get(at).and_then(|part| (&**part as &dyn Any).downcast_ref::<Of<T>>());
        part.map(|part| &part.0).ok_or_else(|| Error::WrongKind {
            found: Kind::any_of(&self.kinds()),
            needed: "a key of this plan".to_owned(),
        })
    }

    /// Refuses a key of other objects, or of other parameters.
    ///
    /// # Errors
    /// [`Error::WrongKind`], [`Error::ParameterMismatch`].
    pub fn check(&self, needed: &[PartKind]) -> Result<()> {
        if self.parts.len() != needed.len() {
            let kinds: Vec<&str> = needed.iter().map(|kind| kind.kind.name()).collect();
            return Err(Error::WrongKind { found: Kind::any_of(&self.kinds()), needed: kinds.join(", and ") });
        }
        self.parts.iter().zip(needed).try_for_each(|(part, kind)| kind.check(&**part))
    }

    /// The bytes: those of the object, or of a [`Parcel`] of several.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        match &self.parts[..] {
            [part] => part.to_bytes(),
            _ => self.parcel().to_bytes(&(), Form::Packed),
        }
    }

    /// Writes a file, as a whole or not at all; that of a secret key has mode 0600.
    ///
    /// # Errors
    /// As [`Object::write_file`].
    pub fn write_file(&self, to: Destination<'_>) -> Result<()> {
        match &self.parts[..] {
            [part] => part.write_file(to),
            _ => self.parcel().write_file(&(), Form::Packed, to),
        }
    }

    /// The key of these bytes.
    ///
    /// # Errors
    /// As [`Object::from_bytes`]; a key of other parameters.
    pub fn from_bytes(needed: &[PartKind], bytes: &[u8]) -> Result<Self> {
        match needed {
            [kind] => Self::checked(needed, vec![(kind.read)(bytes)?]),
            _ => Self::unpacked(needed, &Parcel::from_bytes(&(), bytes)?),
        }
    }

    /// The key in a file; what can be mapped is.
    ///
    /// # Errors
    /// As [`Object::read_file`]; a key of other parameters.
    pub fn open(needed: &[PartKind], path: &Path) -> Result<Self> {
        match needed {
            [kind] => Self::checked(needed, vec![(kind.open)(path)?]),
            _ => Self::unpacked(needed, &Parcel::read_file(&(), path, &Limits::default())?),
        }
    }

    fn parcel(&self) -> Parcel<P> {
        Parcel::new(self.parts[0].fingerprint(), self.parts.iter().map(|part| part.to_bytes()).collect())
    }

    fn unpacked(needed: &[PartKind], parcel: &Parcel<P>) -> Result<Self> {
        let count = parcel.items.len();
        if count != needed.len() {
            return Err(Error::Length { what: "objects of a key", found: count, needed: needed.len().to_string() });
        }
        let parts = needed.iter().zip(&parcel.items).map(|(kind, bytes)| (kind.read)(bytes));
        Self::checked(needed, parts.collect::<Result<_>>()?)
    }

    fn checked(needed: &[PartKind], parts: Vec<Arc<dyn Part>>) -> Result<Self> {
        let key = Self::of(parts);
        key.check(needed)?;
        Ok(key)
    }
}
