//! Operands of the verbs that take several rows.

use crate::kernels::rows::places::Place;
use crate::modulus::Modulus;

/// How many terms [`Kernels::inner_product`](crate::kernels::Kernels::inner_product) and [`Kernels::weighted_sums`](crate::kernels::Kernels::weighted_sums) may add.
pub const MAX_TERMS: usize = 64;

/// How many digits the tables of vectors let [`Kernels::inner_product_pair`](crate::kernels::Kernels::inner_product_pair) read at a time: three streams of memory
/// each, and the hardware follows about 16.
pub(in crate::kernels) const KEY_GROUP: usize = 4;

/// How many words of each row they read before they turn to the next digits: the sums so far stay near.
pub(in crate::kernels) const KEY_TILE: usize = 1 << 13;

/// How many numbers of 16 bits a word holds.
pub(in crate::kernels) const HALVES: usize = 4;

/// One sum of [`Kernels::weighted_sums`](crate::kernels::Kernels::weighted_sums).
#[derive(Debug)]
pub struct WeightedSum<'a> {
    /// Where the sum is written.
    pub out: &'a mut [u64],
    /// One for each row, and then one for the counts if there are any. Range: in `[0, q)`.
    pub weights: &'a [u64],
    /// The prime q of this sum.
    pub modulus: &'a Modulus,
}

/// The rows that [`Kernels::weighted_sums`](crate::kernels::Kernels::weighted_sums) adds, with a bound on their words.
#[derive(Debug, Clone, Copy)]
pub struct WeightedRows<'a> {
    /// The rows, which may be residues of other primes.
    pub rows: &'a [&'a [u64]],
    /// A number above all words of the rows: the smaller it is, the less often a sum is reduced. Range: up to `2^50`.
    pub below: u64,
    /// Small numbers, one row more. Range: in `[0, n]` for n rows.
    pub counts: Option<&'a [u64]>,
}

impl<'a> WeightedRows<'a> {
    /// The rows, and the counts as one row more.
    pub(in crate::kernels) fn terms<'b>(&self, memory: &'b mut [&'a [u64]; MAX_TERMS]) -> &'b [&'a [u64]] {
        let terms = &mut memory[..self.rows.len() + usize::from(self.counts.is_some())];
        terms.iter_mut().zip(self.rows.iter().copied().chain(self.counts)).for_each(|(term, row)| *term = row);
        terms
    }
}

/// Rows `[digit, half, word]` of a key, or of what is multiplied as one, or a part of each.
#[derive(Debug, Clone, Copy)]
pub struct KeyRows<'a> {
    /// From the first word of the first row on, to the last word of the last one or further.
    pub words: &'a [u64],
    /// How many words lie from the start of a row to that of the next one.
    pub stride: usize,
}

impl<'a> KeyRows<'a> {
    /// The first `n` words of both halves of each digit.
    pub(in crate::kernels) fn pairs(self, n: usize) -> impl Iterator<Item = [&'a [u64]; 2]> {
        (0..).map(move |digit| [0, 1].map(|half| &self.words[(2 * digit + half) * self.stride..][..n]))
    }

    /// Those of all digits but the first ones.
    fn after_digits(self, digits: usize) -> Self {
        Self { words: &self.words[(2 * digits * self.stride).min(self.words.len())..], ..self }
    }

    /// Whether `digits` digits have rows of `n` words here.
    pub(in crate::kernels) fn covers(self, digits: usize, n: usize) -> bool {
        digits == 0 || (n <= self.stride && (2 * digits - 1) * self.stride + n <= self.words.len())
    }
}

/// The operands of [`Kernels::add_moved_products`](crate::kernels::Kernels::add_moved_products).
#[derive(Debug, Clone, Copy)]
pub struct MovedProducts<'a> {
    /// The digits' rows.
    pub rows: &'a [&'a [u64]],
    /// The rows of the key that they are multiplied with.
    pub key: KeyRows<'a>,
    /// Those that are multiplied next, if they are known: they may be called into a cache while these are multiplied.
    pub next: Option<KeyRows<'a>>,
    /// A row and a number: their product is added to the first half. Range: in `[0, 2^50)`.
    pub plus: Option<(&'a [u64], u64)>,
    /// Where each eight words of the sums go.
    pub places: &'a [Place],
    /// The group that places call the first of the result.
    pub first: usize,
}

impl<'a> MovedProducts<'a> {
    /// The same in groups of digits of about one size, none larger than the accumulators allow; at least one. The first group
    /// has the row and number of `plus`.
    pub(in crate::kernels) fn groups(&self) -> impl Iterator<Item = Self> {
        let whole = *self;
        let count = whole.rows.len().div_ceil(KEY_GROUP).max(1);
        let size = whole.rows.len().div_ceil(count);
        (0..count).map(move |i| {
            let rows = &whole.rows[i * size..whole.rows.len().min((i + 1) * size)];
            let [key, next] = [Some(whole.key), whole.next].map(|key| key.map(|key| key.after_digits(i * size)));
            Self { rows, key: key.unwrap_or(whole.key), next, plus: whole.plus.filter(|_| i == 0), ..whole }
        })
    }
}
