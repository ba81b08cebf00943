//! Keys in the memory of a device, as handles.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use noren_math::machine::mapped::MappedFile;

/// A key, or encrypted bits that choose as a key does, in the memory of a device. The device makes it, and finds its own type
/// again by [`KeyHandle::get`].
pub trait DeviceKey: Any + fmt::Debug + Send + Sync {
    /// How many bytes it takes.
    fn bytes(&self) -> usize;

    /// The file, if it lies in one.
    fn file(&self) -> Option<&Arc<MappedFile>> {
        None
    }
}

/// A handle of a key in the memory of a device. A clone is cheap, and of the same key.
#[derive(Debug, Clone)]
pub struct KeyHandle(Arc<dyn DeviceKey>);

impl KeyHandle {
    /// The handle of a key.
    #[must_use]
    pub fn new(key: impl DeviceKey) -> Self {
        Self(Arc::new(key))
    }

    /// The key, if it is of a device with keys of type `K`.
    #[must_use]
    #[inline]
    pub fn get<K: DeviceKey>(&self) -> Option<&K> {
        (&*self.0 as &dyn Any).downcast_ref()
    }

    /// The key to be written, if it is of a device with keys of type `K`, and there is no other handle of it.
    #[must_use]
    pub fn get_mut<K: DeviceKey>(&mut self) -> Option<&mut K> {
        (Arc::get_mut(&mut self.0)? as &mut dyn Any).downcast_mut()
    }

    /// How many bytes it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// The file, if the key lies in one.
    #[must_use]
    pub fn file(&self) -> Option<&Arc<MappedFile>> {
        self.0.file()
    }
}
