//! From long samples of wide words to short samples of 32 bits, and on to the modulus 2N.

use std::sync::Arc;

use noren_math::kernels::kernels;
use noren_math::machine::aligned::AlignedVec;
use noren_math::machine::mapped::{MappedFile, MappedRow};
use noren_math::torus::gadget::Gadget;

use crate::engine::Engine;
use crate::storage::Storage;
use crate::torus::expanded::stride;
use crate::torus::lwe::Lwe;

/// For how many coefficients of a long sample digits are made at a time.
const COEFFICIENTS: usize = 16;

/// How many long samples are switched with one reading of the key.
const BLOCK: usize = 16;

/// A key that takes samples of dimension d, of words of 64 bits, to samples of dimension n, of words of 32 bits.
///
/// Row (i, j) is a sample of `S_i 2^32 / B^j` under the short secret, for coefficient i of the long one and `j = 1..=l`.
/// With the digits `d_ij` of `a_i`, the result is `(0, b) - sum_ij d_ij row_ij`. Words of 32 bits suffice for the short
/// sample: its noise is far above `2^-32`.
#[derive(Debug)]
pub struct LweSwitch {
    from: usize,
    to: usize,
    gadget: Gadget,
    rows: Storage<u32>,
}

/// A sample modulo 2N: exponents of X. Its phase is `body - sum_i mask_i s_i` modulo 2N.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exponents {
    /// `a_i` in `[0, 2N)`.
    pub mask: Vec<u32>,
    /// `b` in `[0, 2N)`.
    pub body: u32,
}

impl LweSwitch {
    /// The key whose rows `write` writes: it is given i and the rows (i, 1) to (i, l), of `to + 1` words each, which are 0.
    pub fn from_fn(
        engine: &Engine,
        (from, to): (usize, usize),
        gadget: Gadget,
        write: impl Fn(usize, &mut [&mut [u32]]) + Send + Sync,
    ) -> Self {
        let stride = stride(to);
        let mut rows = AlignedVec::zeroed(from * gadget.levels() * stride);
        let tasks = rows.chunks_exact_mut(gadget.levels() * stride).enumerate();
        engine.run(from * gadget.levels() * stride, tasks, |(i, rows): (usize, &mut [u32])| {
            let mut rows: Vec<&mut [u32]> = rows.chunks_exact_mut(stride).map(|row| &mut row[..=to]).collect();
            write(i, &mut rows);
        });
        Self { from, to, gadget, rows: Storage::Own(rows) }
    }

    /// The key that lies in a file as [`LweSwitch::words`] gave it.
    ///
    /// The words are not looked at: others than those of a key lead to wrong results, and to nothing worse.
    #[must_use]
    pub fn mapped((from, to): (usize, usize), gadget: Gadget, row: MappedRow) -> Self {
        Self { from, to, gadget, rows: Storage::Mapped(row) }
    }

    /// All words of the key: rows (i, j) one after the other, each filled up to whole cache lines.
    #[must_use]
    pub fn words(&self) -> &[u32] {
        &self.rows
    }

    /// The file, if the key lies in one.
    #[must_use]
    pub fn file(&self) -> Option<&Arc<MappedFile>> {
        self.rows.file()
    }

    /// The dimension of long samples.
    #[must_use]
    pub const fn from(&self) -> usize {
        self.from
    }

    /// The dimension of short samples.
    #[must_use]
    pub const fn to(&self) -> usize {
        self.to
    }

    /// How words are cut into digits.
    #[must_use]
    pub const fn gadget(&self) -> Gadget {
        self.gadget
    }

    /// The words of row (i, j), j from 1.
    #[must_use]
    pub fn row(&self, i: usize, j: usize) -> &[u32] {
        let stride = stride(self.to);
        &self.rows[(i * self.gadget.levels() + j - 1) * stride..][..=self.to]
    }

    /// How many bytes the key takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of::<u32>() * self.rows.len()
    }

    /// Switches samples, each row of the key read once for all of a block.
    ///
    /// # Panics
    /// If a sample has another dimension.
    #[must_use]
    pub fn switch(&self, samples: &[&Lwe]) -> Vec<Vec<u32>> {
        samples.chunks(BLOCK).flat_map(|block| self.switch_block(block)).collect()
    }

    fn switch_block(&self, samples: &[&Lwe]) -> Vec<Vec<u32>> {
        assert!(samples.iter().all(|sample| sample.dimension() == self.from), "samples of dimension {}", self.from);
        let (levels, stride) = (self.gadget.levels(), stride(self.to));
        let mut outs = vec![0; samples.len() * stride];
        let mut digits = vec![0; samples.len() * COEFFICIENTS * levels];
        for (group, rows) in self.rows.chunks(COEFFICIENTS * levels * stride).enumerate() {
            let count = rows.len() / stride;
            for (sample, digits) in samples.iter().zip(digits.chunks_exact_mut(count)) {
                let coefficients = &sample.mask()[group * COEFFICIENTS..][..count / levels];
                for (digits, &coefficient) in digits.chunks_exact_mut(levels).zip(coefficients) {
                    digits.iter_mut().zip(self.gadget.digits(coefficient)).for_each(|(x, digit)| *x = digit as u32);
                }
            }
            kernels().sub_multiples(&mut outs, &digits[..samples.len() * count], rows, stride);
        }
        let finish = |(sample, out): (&&Lwe, &[u32])| {
            let mut out = out[..=self.to].to_vec();
            // Halves up, to the nearest word.
            let body = (sample.body().wrapping_add(1 << (u32::BITS - 1)) >> u32::BITS) as u32;
            out[self.to] = out[self.to].wrapping_add(body);
            out
        };
        samples.iter().zip(outs.chunks_exact(stride)).map(finish).collect()
    }
}

impl Exponents {
    /// Takes a sample of words of 32 bits to the modulus `2N = 2^log`.
    ///
    /// Entries of the mask are rounded to the nearest. The roundings `delta_i` are known, and `sum_i delta_i s_i` has the mean
    /// `sum_i delta_i / 2` over binary secrets: the body is corrected by it, which halves the variance of what is left, to
    /// `n/48`, in units of the new modulus (centred-mean correction).
    ///
    /// The body is rounded down, and not to the nearest: a box of a table is `[x, x + w)` for whole x, and a whole number is
    /// in there just if the number that it was rounded down from is. So the rounding of the body costs no failures.
    ///
    /// # Panics
    /// If there is no word, or log is not in `1..32`.
    #[must_use]
    pub fn of(words: &[u32], log: u32) -> Self {
        assert!((1..u32::BITS).contains(&log), "a modulus of 2 to 2^31");
        let (mask, body) = words.split_at(words.len() - 1);
        let dropped = u32::BITS - log;
        let mut error = 0;
        let round = |&a: &u32| {
            let rounded = a.wrapping_add(1 << (dropped - 1)) >> dropped;
            error += i64::from((a.wrapping_sub(rounded << dropped)).cast_signed());
            rounded
        };
        let mask = mask.iter().map(round).collect();
        // To the nearest word of 32 bits: far below a unit of the new modulus.
        let corrected = i64::from(body[0]) - (error >> 1);
        Self { mask, body: corrected as u32 >> dropped }
    }
}
