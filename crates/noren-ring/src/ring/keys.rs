//! Switching keys: made of elements, read as elements, and as words for files of expanded keys.

use std::borrow::Cow;

use noren_math::machine::mapped::MappedRow;

use crate::key::KeyPairs;
use crate::key_layout::KeyLayout;
use crate::poly::{Eval, Poly};
use crate::ring::Ring;

impl Ring {
    /// A key over this ring with these pairs, one for each digit; each element may have more limbs.
    ///
    /// # Panics
    /// As [`Ring::set_key_pair`].
    #[must_use]
    pub fn key(&self, pairs: &[[Poly<Eval>; 2]]) -> KeyPairs {
        let mut key = self.zero_key(pairs.len());
        pairs.iter().enumerate().for_each(|(digit, pair)| self.set_key_pair(&mut key, digit, pair.each_ref()));
        key
    }

    /// A key over this ring with pairs of zeros for `digits` digits, to be set by [`Ring::set_key_pair`].
    #[must_use]
    pub fn zero_key(&self, digits: usize) -> KeyPairs {
        KeyPairs::new(self, digits, self.device().key(self, digits))
    }

    /// The key over this ring whose words lie in a file, in the order of [`KeyLayout`], and stay there where the device can read
    /// them; `None` if there are not as many.
    ///
    /// Residues are not looked at: one that is not below its prime leads to wrong numbers, in release builds, and to nothing
    /// worse.
    #[must_use]
    pub fn map_key(&self, digits: usize, words: MappedRow) -> Option<KeyPairs> {
        let fits = words.len() == KeyLayout::new(self, digits).words();
        fits.then(|| KeyPairs::new(self, digits, self.device().map_key(self, digits, words)))
    }

    /// Sets the pair of a digit of a key; both elements may have more limbs than the key.
    ///
    /// # Panics
    /// If there is no such digit, an element lacks a limb of the key, or one is secret; if there is a clone of the key, or it lies in
    /// a file.
    pub fn set_key_pair(&self, key: &mut KeyPairs, digit: usize, pair: [&Poly<Eval>; 2]) {
        key.check_digit(digit);
        for half in pair {
            key.ring().check_covers(half);
            assert!(!half.is_secret(), "a key is public, and what goes into it must be declared so");
        }
        self.device().set_key_pair(key, digit, pair);
    }

    /// A copy of the pair of a digit of a key, over all of its limbs.
    ///
    /// # Panics
    /// If there is no such digit.
    #[must_use]
    pub fn key_pair(&self, key: &KeyPairs, digit: usize) -> [Poly<Eval>; 2] {
        [0, 1].map(|half| self.key_half(key, digit, half))
    }

    /// A copy of half 0 or 1 of the pair of a digit of a key, over all of its limbs.
    ///
    /// # Panics
    /// If there is no such digit or half.
    #[must_use]
    pub fn key_half(&self, key: &KeyPairs, digit: usize, half: usize) -> Poly<Eval> {
        key.check_digit(digit);
        assert!(half < 2, "a pair has no half {half}");
        self.device().key_half(key.ring(), key, digit, half)
    }

    /// All words of a key, in the order of [`KeyLayout`]: those that the device has, or a copy.
    #[must_use]
    pub fn key_words<'a>(&self, key: &'a KeyPairs) -> Cow<'a, [u64]> {
        if let Some(words) = self.device().key_words(key) {
            return Cow::Borrowed(words);
        }
        let (ring, layout) = (self.window(key.ring().range()), KeyLayout::new(key.ring(), key.digits()));
        let mut words = vec![0; layout.words()];
        for digit in 0..key.digits() {
            for half in [0, 1] {
                let poly = ring.key_half(key, digit, half);
                let (poly, limbs) = (ring.on_host(&poly), words.chunks_exact_mut(layout.limb_words()));
                ring.rows(&poly).zip(limbs).for_each(|(row, words)| layout.write(words, digit, half, row));
            }
        }
        Cow::Owned(words)
    }
}
