//! The pairs of switching keys in the memory of the host, in the order in which a switch reads them.

use std::sync::Arc;

use noren_math::kernels::KeyRows;
use noren_math::machine::aligned::AlignedVec;
use noren_math::machine::mapped::{MappedFile, MappedRow};

use crate::handle::{DeviceKey, KeyHandle};
use crate::key::KeyPairs;
use crate::key_layout::{BLOCK, KeyLayout};
use crate::poly::{Eval, Poly};
use crate::storage::Storage;
use crate::window::Window;

/// How many words of a row are worked on together where what is made of them is used at once: 16 KiB. A few rows of that
/// length stay in the second cache, with those of the key that are called in for the next.
pub(super) const NEAR: usize = 1 << 11;

/// The words of all pairs, in the order of [`KeyLayout`].
#[derive(Debug)]
pub(super) struct HostKey {
    layout: KeyLayout,
    words: Storage,
}

impl DeviceKey for HostKey {
    fn bytes(&self) -> usize {
        size_of_val(&self.words[..])
    }

    fn file(&self) -> Option<&Arc<MappedFile>> {
        self.words.file()
    }
}

impl HostKey {
    pub(super) fn zero(ring: &Window, digits: usize) -> KeyHandle {
        let layout = KeyLayout::new(ring, digits);
        let words = Storage::Own(AlignedVec::zeroed(layout.words()));
        KeyHandle::new(Self { layout, words })
    }

    pub(super) fn mapped(ring: &Window, digits: usize, words: MappedRow) -> KeyHandle {
        KeyHandle::new(Self { layout: KeyLayout::new(ring, digits), words: Storage::Mapped(words) })
    }
}

impl KeyPairs {
    /// # Panics
    /// If another device holds the key.
    #[inline]
    fn on_host(&self) -> &HostKey {
        self.handle().get().unwrap_or_else(|| panic!("{FOREIGN}"))
    }

    pub(super) fn words(&self) -> &[u64] {
        &self.on_host().words
    }

    pub(super) fn set(&mut self, digit: usize, pair: [&Poly<Eval>; 2]) {
        let ring = self.ring().clone();
        let HostKey { layout, words } = self.handle_mut().get_mut().unwrap_or_else(|| panic!("{SHARED}"));
        let Storage::Own(words) = words else { panic!("{SHARED}") };
        let limbs = words.chunks_exact_mut(layout.limb_words()).zip(ring.range());
        ring.engine().run(2 * ring.limbs() * ring.degree(), limbs, |(words, limb)| {
            for (half, poly) in pair.into_iter().enumerate() {
                layout.write(words, digit, half, poly.limb(limb));
            }
        });
    }

    /// Copies the row of half 0 or 1 of a digit at the prime at position `limb` of the whole list.
    pub(super) fn copy_row(&self, digit: usize, half: usize, limb: usize, row: &mut [u64]) {
        let HostKey { layout, words } = self.on_host();
        layout.read(words, (digit, half, limb), row);
    }

    /// The pairs for block `j` of a limb, shape `[digit, half, word]`.
    ///
    /// # Panics
    /// If there is no such limb or block.
    #[inline]
    pub(super) fn block(&self, limb: usize, j: usize) -> &[u64] {
        let HostKey { layout, words } = self.on_host();
        let block = 2 * self.digits() * self.ring().piece(BLOCK);
        &words[layout.limb(limb)][j * block..][..block]
    }

    /// Block `j` of `width` words of all pairs at a limb, for a width that divides those of the blocks that lie together.
    ///
    /// # Panics
    /// If there is no such limb or block.
    #[inline]
    pub(super) fn rows(&self, limb: usize, j: usize, width: usize) -> KeyRows<'_> {
        let stride = self.ring().piece(BLOCK);
        let parts = stride / width;
        KeyRows { words: &self.block(limb, j / parts)[j % parts * width..], stride }
    }
}

/// A mixture of devices is a bug.
const FOREIGN: &str = "a key of another device has no words in the memory of the host";

/// So is a change of a key in use.
const SHARED: &str = "a key is set on its own device, in its memory, before there is another handle of it";
