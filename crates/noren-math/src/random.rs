//! Deterministic byte streams: one for each pair of a seed and a label.
//!
//! All randomness of noren flows from a [`Seed`] through a labelled [`Xof`], so the same seed gives
//! the same bytes on every machine, and two purposes with different labels never share a byte.
//!
//! ```text
//! stream(seed, label) = ChaCha20(key = BLAKE3-keyed(seed, "noren-xof-v1/" || label), nonce 0, counter 0)
//! child(seed, label)  = BLAKE3-keyed(seed, "noren-seed-v1/" || label)
//! ```
//!
//! ChaCha20 is D. J. Bernstein's, with a 64-bit nonce and a 64-bit block counter; for the first 2^32
//! blocks it equals RFC 8439 with a zero nonce. Labels are UTF-8, without a terminator.

use std::fmt;

use zeroize::{Zeroize, ZeroizeOnDrop, optimization_barrier};

use crate::error::Error;
use crate::kernels::kernels;
use crate::kernels::random::chacha::BLOCK_WORDS;

/// Bytes of a seed and of a ChaCha20 key.
pub const SEED_BYTES: usize = 32;

const STREAM_DOMAIN: &[u8] = b"noren-xof-v1/";
const CHILD_DOMAIN: &[u8] = b"noren-seed-v1/";

/// Bytes that BLAKE3 hashes at a time.
const CHUNK_BYTES: usize = 1024;

/// Words that are kept for short reads: four ChaCha blocks.
const KEPT_WORDS: usize = 4 * BLOCK_WORDS;
const KEPT_BYTES: usize = WORD_BYTES * KEPT_WORDS;
/// Bytes of the words that [`Xof::next_u64`] reads.
const WORD_BYTES: usize = 8;

/// 32 secret or public bytes from which streams are drawn; wiped on drop.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Seed([u8; SEED_BYTES]);

impl Seed {
    /// Takes the bytes as they are.
    // Where rustc 1.95 sees that two seeds have the same constant bytes, it may pass the memory of the first one for the
    // second, although the first was moved and has been wiped since. It does not look through calls.
    #[inline(never)]
    #[must_use]
    pub const fn from_bytes(bytes: [u8; SEED_BYTES]) -> Self {
        Self(bytes)
    }

    /// Draws a seed from the operating system.
    ///
    /// # Errors
    /// [`Error::Entropy`] if the operating system refuses.
    pub fn random() -> Result<Self, Error> {
        let mut seed = Self([0; SEED_BYTES]);
        getrandom::fill(&mut seed.0).map_err(|e| Error::Entropy(e.to_string()))?;
        Ok(seed)
    }

    /// The bytes of the seed.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; SEED_BYTES] {
        &self.0
    }

    /// The stream of this seed for one purpose, from its first byte.
    #[must_use]
    pub fn xof(&self, label: &str) -> Xof {
        let key = self.keyed_hash(STREAM_DOMAIN, label, &[]);
        let mut words = [0; SEED_BYTES / size_of::<u32>()];
        for (word, bytes) in words.iter_mut().zip(key.0.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        Xof { key: words, counter: 0, kept: [0; KEPT_WORDS], used: KEPT_BYTES }
    }

    /// A seed for one purpose that tells nothing of this seed or of its other children.
    #[must_use]
    pub fn derive(&self, label: &str) -> Self {
        self.keyed_hash(CHILD_DOMAIN, label, &[])
    }

    /// A seed for one purpose and some words: other words, another seed. The time depends on the label and the number of
    /// words alone.
    ///
    /// ```text
    /// child(seed, label, words) = BLAKE3-keyed(seed, "noren-seed-v1/" || label || 0x00 || words, little-endian)
    /// ```
    #[must_use]
    pub fn derive_for(&self, label: &str, words: &[&[u64]]) -> Self {
        // No label holds a zero byte, so that words cannot be taken for a part of it.
        self.keyed_hash(CHILD_DOMAIN, &format!("{label}\0"), words)
    }

    fn keyed_hash(&self, domain: &[u8], label: &str, words: &[&[u64]]) -> Self {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(domain);
        hasher.update(label.as_bytes());
        for part in words {
            if cfg!(target_endian = "little") {
                hasher.update(bytemuck::cast_slice(part));
            } else {
                for word in *part {
                    hasher.update(&word.to_le_bytes());
                }
            }
        }
        let mut digest = hasher.finalize();
        let out = Self(*digest.as_bytes());
        digest.zeroize();
        if domain.len() + label.len() + words.iter().map(|part| size_of_val(*part)).sum::<usize>() <= CHUNK_BYTES {
            // Most of a hasher has room for the hashes of earlier chunks, and nothing has been written there.
            hasher = blake3::Hasher::new();
            optimization_barrier(&hasher);
        } else {
            hasher.zeroize();
        }
        out
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(..)")
    }
}

/// A stream of bytes that [`Seed::xof`] opens; wiped on drop.
///
/// The stream is a plain sequence of bytes: how the reads are cut does not change what is read.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Xof {
    key: [u32; SEED_BYTES / size_of::<u32>()],
    /// The next block.
    counter: u64,
    kept: [u64; KEPT_WORDS],
    /// Bytes of `kept` that have been given out.
    used: usize,
}

impl Xof {
    /// Reads the next bytes.
    pub fn fill(&mut self, out: &mut [u8]) {
        let mut filled = 0;
        while filled < out.len() {
            if self.used == KEPT_BYTES {
                self.refill();
            }
            let count = (KEPT_BYTES - self.used).min(out.len() - filled);
            for (byte, at) in out[filled..filled + count].iter_mut().zip(self.used..) {
                *byte = self.kept[at / WORD_BYTES].to_le_bytes()[at % WORD_BYTES];
            }
            self.used += count;
            filled += count;
        }
    }

    /// Reads the next words, 8 bytes each, little-endian.
    pub fn fill_u64(&mut self, out: &mut [u64]) {
        if !self.used.is_multiple_of(WORD_BYTES) {
            for word in out {
                let mut bytes = [0; WORD_BYTES];
                self.fill(&mut bytes);
                *word = u64::from_le_bytes(bytes);
            }
            return;
        }
        let (first, rest) = out.split_at_mut(out.len().min((KEPT_BYTES - self.used) / WORD_BYTES));
        self.take(first);
        // Whole pieces need not be kept first.
        let (whole, last) = rest.split_at_mut(rest.len() / KEPT_WORDS * KEPT_WORDS);
        self.generate(whole);
        if !last.is_empty() {
            self.refill();
            self.take(last);
        }
    }

    /// Reads the next word, 8 bytes, little-endian.
    #[must_use]
    pub fn next_u64(&mut self) -> u64 {
        let mut word = [0];
        self.fill_u64(&mut word);
        word[0]
    }

    /// Words of those that are kept: at most as many as there are.
    fn take(&mut self, out: &mut [u64]) {
        let start = self.used / WORD_BYTES;
        out.copy_from_slice(&self.kept[start..start + out.len()]);
        self.used += WORD_BYTES * out.len();
    }

    fn refill(&mut self) {
        kernels().chacha20(&mut self.kept, &self.key, self.counter);
        self.counter = self.counter.wrapping_add((KEPT_WORDS / BLOCK_WORDS) as u64);
        self.used = 0;
    }

    /// The next blocks.
    fn generate(&mut self, out: &mut [u64]) {
        kernels().chacha20(out, &self.key, self.counter);
        self.counter = self.counter.wrapping_add((out.len() / BLOCK_WORDS) as u64);
    }
}

impl fmt::Debug for Xof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Xof(..)")
    }
}
