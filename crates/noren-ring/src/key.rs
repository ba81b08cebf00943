//! The pairs of a switching key, in the order in which a switch reads them.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use noren_math::kernels::KeyRows;
use noren_math::kernels::aligned::AlignedVec;
use noren_math::kernels::mapped::{MappedFile, MappedRow};

use crate::poly::{Eval, Poly};
use crate::storage::Storage;
use crate::window::Window;

/// How many words of a row lie together: 128 KiB.
///
/// A switch adds all products of a block before it begins the next, so that the sums stay in the second cache. Shorter
/// blocks stay nearer, but memory is read fastest in few long streams. With blocks of 2^15 words, on Zen 4, one sum of
/// rotations takes about as long, but eight rotations of one element take 4 to 7 % longer. To interleave all halves in one
/// stream is slower: the prefetcher is not far enough ahead.
pub const BLOCK: usize = 1 << 14;

/// How many words of a row are worked on together where what is made of them is used at once: 16 KiB. A few rows of that
/// length stay in the second cache, with those of the key that are called in for the next.
pub(crate) const NEAR: usize = 1 << 11;

/// The pairs `(k_j0, k_j1)` of a switching key, one for each digit j.
///
/// A switch goes limb by limb, and through a limb in blocks that automorphisms map to each other. So the words have the shape
/// `[limb, block, digit, half, word]` with blocks of 2^14 words, all in one piece. A key for a high level serves all
/// lower ones: limbs and digits that are not needed are passed over.
///
/// A key is public: what hides the secret in it is its error.
#[derive(Clone)]
pub struct KeyPairs {
    ring: Window,
    digits: usize,
    words: Storage,
}

impl KeyPairs {
    /// Pairs of zeros over `ring` for `digits` digits, to be set by [`Ring::set_key_pair`](crate::ring::Ring::set_key_pair).
    #[must_use]
    pub fn zero(ring: &Window, digits: usize) -> Self {
        let words = AlignedVec::zeroed(Self::word_count(ring, digits));
        Self { ring: ring.clone(), digits, words: Storage::Own(words) }
    }

    /// The pairs that lie in a file as [`KeyPairs::words`] gave them; `None` if there are not as many words as pairs over
    /// `ring` have.
    ///
    /// Residues are not looked at: one that is not below its prime leads to wrong numbers, in release builds, and to nothing
    /// worse.
    #[must_use]
    pub fn mapped(ring: &Window, digits: usize, words: MappedRow) -> Option<Self> {
        let fits = words.len() == Self::word_count(ring, digits);
        fits.then(|| Self { ring: ring.clone(), digits, words: Storage::Mapped(words) })
    }

    /// The number of words of pairs for `digits` digits over `ring`.
    #[must_use]
    pub fn word_count(ring: &Window, digits: usize) -> usize {
        ring.limbs() * limb_words(ring, digits)
    }

    /// All words, shape `[limb, block, digit, half, word]`.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The file, if the pairs lie in one.
    #[must_use]
    pub fn file(&self) -> Option<&Arc<MappedFile>> {
        self.words.file()
    }

    /// The first limb, by the position of its prime in the whole list, with a residue that is not below its prime.
    #[must_use]
    pub fn find_out_of_range(&self) -> Option<usize> {
        let limbs = self.words.chunks_exact(limb_words(&self.ring, self.digits));
        let mut limbs = limbs.zip(self.ring.moduli()).zip(self.ring.range());
        let within = |words: &[u64], bound| words.iter().fold(true, |all, &word| all & (word < bound));
        limbs.find_map(|((words, q), limb)| (!within(words, q.value())).then_some(limb))
    }

    /// Sets the pair of a digit; both elements may have more limbs than the ring.
    ///
    /// # Panics
    /// If there is no such digit, an element lacks a limb of the ring, or one is secret.
    pub(crate) fn set(&mut self, digit: usize, pair: [&Poly<Eval>; 2]) {
        self.check_digit(digit);
        for poly in pair {
            self.ring.check_covers(poly);
            assert!(!poly.is_secret(), "a key is public, and what goes into it must be declared so");
        }
        let Self { ring, digits, words } = self;
        if let Storage::Mapped(mapped) = words {
            *words = Storage::Own(AlignedVec::from_slice(mapped));
        }
        let Storage::Own(words) = words else { unreachable!("mapped words were copied") };
        let (start, degree, block, digits) = (ring.range().start, ring.degree(), ring.piece(BLOCK), *digits);
        let limbs = words.chunks_exact_mut(limb_words(ring, digits)).zip(start..);
        ring.engine().run(2 * ring.limbs() * degree, limbs, |(words, limb)| {
            for (half, poly) in pair.into_iter().enumerate() {
                for (j, source) in poly.limb(limb).chunks(block).enumerate() {
                    words[place(digits, digit, half, j, source.len())].copy_from_slice(source);
                }
            }
        });
    }

    /// Copies the row of half 0 or 1 of a digit at the prime at position `limb` of the whole list.
    ///
    /// # Panics
    /// If there is no such digit, half or limb, or the row has not one word for each coefficient.
    pub fn copy_row(&self, digit: usize, half: usize, limb: usize, row: &mut [u64]) {
        self.check_digit(digit);
        assert!(half < 2, "a pair has no half {half}");
        assert_eq!(row.len(), self.ring.degree(), "a row has one word for each coefficient");
        let words = self.limb(limb);
        for (j, out) in row.chunks_mut(self.ring.piece(BLOCK)).enumerate() {
            out.copy_from_slice(&words[place(self.digits, digit, half, j, out.len())]);
        }
    }

    /// How many digits there are pairs for.
    #[must_use]
    pub fn digits(&self) -> usize {
        self.digits
    }

    /// The ring of the pairs.
    #[must_use]
    pub fn ring(&self) -> &Window {
        &self.ring
    }

    /// The pairs for block `j` of a limb, shape `[digit, half, word]`.
    ///
    /// # Panics
    /// If there is no such limb or block.
    pub(crate) fn block(&self, limb: usize, j: usize) -> &[u64] {
        let words = 2 * self.digits * self.ring.piece(BLOCK);
        &self.limb(limb)[j * words..][..words]
    }

    /// Block `j` of `width` words of all pairs at a limb, for a width that divides those of the blocks that lie together.
    ///
    /// # Panics
    /// If there is no such limb or block.
    pub(crate) fn rows(&self, limb: usize, j: usize, width: usize) -> KeyRows<'_> {
        let stride = self.ring.piece(BLOCK);
        let parts = stride / width;
        KeyRows { words: &self.block(limb, j / parts)[j % parts * width..], stride }
    }

    /// All pairs at a limb.
    ///
    /// # Panics
    /// If there is no such limb.
    fn limb(&self, limb: usize) -> &[u64] {
        let range = self.ring.range();
        assert!(range.contains(&limb), "limb {limb} is not one of {range:?}");
        let words = limb_words(&self.ring, self.digits);
        &self.words[(limb - range.start) * words..][..words]
    }

    /// # Panics
    /// If there are fewer pairs than `digits`, or not over all limbs of the ring.
    pub(crate) fn check_covers(&self, ring: &Window, digits: usize) {
        let (found, needed) = (self.ring.range(), ring.range());
        assert_eq!(self.ring.index(), ring.index(), "the key must be of this ring");
        assert!(self.digits >= digits, "{digits} digits need as many pairs in the key, not {}", self.digits);
        assert!(
            found.start <= needed.start && needed.end <= found.end,
            "a key over limbs {found:?} does not cover limbs {needed:?}"
        );
    }

    fn check_digit(&self, digit: usize) {
        assert!(digit < self.digits, "digit {digit} of {} does not exist", self.digits);
    }
}

impl fmt::Debug for KeyPairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (window, degree) = (self.ring.range(), self.ring.degree());
        f.debug_struct("KeyPairs")
            .field("window", &window)
            .field("degree", &degree)
            .field("digits", &self.digits)
            .finish_non_exhaustive()
    }
}

/// How many words the pairs of a limb have.
fn limb_words(ring: &Window, digits: usize) -> usize {
    2 * digits * ring.degree()
}

/// Where block `j` of a digit's half, of `width` words as all blocks, is among the words of a limb.
fn place(digits: usize, digit: usize, half: usize, j: usize, width: usize) -> Range<usize> {
    let start = (2 * digits * j + 2 * digit + half) * width;
    start..start + width
}
