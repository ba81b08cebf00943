//! The order in which the words of the pairs of a switching key lie in files of expanded keys and on the host.

use std::ops::Range;

use crate::window::Window;

/// How many words of a row lie together: 128 KiB.
///
/// A switch adds all products of a block before it begins the next, so that the sums stay in the second cache. Shorter
/// blocks stay nearer, but memory is read fastest in few long streams. With blocks of 2^15 words, on Zen 4, one sum of
/// rotations takes about as long, but eight rotations of one element take 4 to 7 % longer. To interleave all halves in one
/// stream is slower: the prefetcher is not far enough ahead.
pub const BLOCK: usize = 1 << 14;

/// The places of the words of the pairs `(k_j0, k_j1)`: the shape is `[limb, block, digit, half, word]`, with blocks of [`BLOCK`]
/// words, or of whole rows where they are shorter or the index is not a power of two.
///
/// So a switch, which goes limb by limb, and through a limb in blocks that automorphisms map to each other, reads in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyLayout {
    range: Range<usize>,
    degree: usize,
    block: usize,
    digits: usize,
}

impl KeyLayout {
    /// The places of pairs over `ring` for `digits` digits.
    #[must_use]
    pub fn new(ring: &Window, digits: usize) -> Self {
        Self { range: ring.range(), degree: ring.degree(), block: ring.piece(BLOCK), digits }
    }

    /// How many words there are.
    #[must_use]
    pub fn words(&self) -> usize {
        self.range.len() * self.limb_words()
    }

    /// How many words the pairs of a limb have.
    pub(crate) fn limb_words(&self) -> usize {
        2 * self.digits * self.degree
    }

    /// Where all pairs at a limb are.
    ///
    /// # Panics
    /// If there is no such limb.
    pub(crate) fn limb(&self, limb: usize) -> Range<usize> {
        assert!(self.range.contains(&limb), "limb {limb} is not one of {:?}", self.range);
        let start = (limb - self.range.start) * self.limb_words();
        start..start + self.limb_words()
    }

    /// Copies the row of half 0 or 1 of a digit at a limb out of all words.
    ///
    /// # Panics
    /// If there is no such limb, or a row has another length.
    pub(crate) fn read(&self, words: &[u64], (digit, half, limb): (usize, usize, usize), row: &mut [u64]) {
        assert_eq!(row.len(), self.degree, "a row has one word for each coefficient");
        let words = &words[self.limb(limb)];
        for (j, out) in row.chunks_mut(self.block).enumerate() {
            out.copy_from_slice(&words[self.place(digit, half, j)]);
        }
    }

    /// Copies the row of half 0 or 1 of a digit to the words of its limb.
    pub(crate) fn write(&self, words: &mut [u64], digit: usize, half: usize, row: &[u64]) {
        for (j, source) in row.chunks(self.block).enumerate() {
            words[self.place(digit, half, j)].copy_from_slice(source);
        }
    }

    /// Where block `j` of a digit's half is among the words of a limb.
    fn place(&self, digit: usize, half: usize, j: usize) -> Range<usize> {
        let start = (2 * self.digits * j + 2 * digit + half) * self.block;
        start..start + self.block
    }

    /// The first limb, by the position of its prime in the whole list, with a residue that is not below its prime.
    #[must_use]
    pub fn find_out_of_range(&self, ring: &Window, words: &[u64]) -> Option<usize> {
        let mut limbs = words.chunks_exact(self.limb_words()).zip(ring.moduli()).zip(ring.range());
        let within = |words: &[u64], bound| words.iter().fold(true, |all, &word| all & (word < bound));
        limbs.find_map(|((words, q), limb)| (!within(words, q.value())).then_some(limb))
    }
}
