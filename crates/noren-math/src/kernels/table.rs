//! The verbs on rows: one private function pointer each, behind a safe method that checks lengths.

use std::fmt;

use crate::fft::FftTable;
use crate::kernels::chacha::Chacha20;
use crate::kernels::multiples::SubMultiples;
use crate::kernels::normal::{InsideCircle, Normal};
use crate::kernels::panels::PanelKernels;
use crate::kernels::places::{GROUP, Place};
use crate::kernels::torus::TorusKernels;
use crate::modulus::{Modulus, ShoupFactor};
use crate::ntt::table::{InverseScale, NttTable};

/// How many terms [`Kernels::inner_product`] and [`Kernels::weighted_sums`] may add.
pub const MAX_TERMS: usize = 64;

/// How many digits the tables of vectors let [`Kernels::inner_product_pair`] read at a time: three streams of memory
/// each, and the hardware follows about 16.
pub(super) const KEY_GROUP: usize = 4;

/// How many words of each row they read before they turn to the next digits: the sums so far stay near.
pub(super) const KEY_TILE: usize = 1 << 13;

/// How many numbers of 16 bits a word holds.
pub(super) const HALVES: usize = 4;

type Map1 = unsafe fn(&mut [u64], &[u64], &Modulus);
type Map1Assign = unsafe fn(&mut [u64], &Modulus);
type Map2 = unsafe fn(&mut [u64], &[u64], &[u64], &Modulus);
type Map2Assign = unsafe fn(&mut [u64], &[u64], &Modulus);
type ScalarMap1 = unsafe fn(&mut [u64], &[u64], ShoupFactor, &Modulus);
type InnerProduct = unsafe fn(&mut [u64], &[(&[u64], &[u64])], &Modulus);
type InnerProductPair = unsafe fn([&mut [u64]; 2], &[&[u64]], &[u64], &Modulus);
type AddMovedProducts = unsafe fn([&mut [u64]; 2], &MovedProducts, bool, &Modulus);
type WeightedSums = unsafe fn(&mut [WeightedSum], &[&[u64]], Option<&[u64]>);
type NttForward = unsafe fn(&mut [u64], &NttTable);
type NttInverse = unsafe fn(&mut [u64], &NttTable, &InverseScale);
type Fft = unsafe fn(&mut [f64], &mut [f64], &FftTable);

/// One sum of [`Kernels::weighted_sums`].
#[derive(Debug)]
pub struct WeightedSum<'a> {
    /// Where the sum is written.
    pub out: &'a mut [u64],
    /// One for each row, and then one for the counts if there are any. Range: in `[0, q)`.
    pub weights: &'a [u64],
    /// The prime q of this sum.
    pub modulus: &'a Modulus,
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
    pub(super) fn pairs(self, n: usize) -> impl Iterator<Item = [&'a [u64]; 2]> {
        (0..).map(move |digit| [0, 1].map(|half| &self.words[(2 * digit + half) * self.stride..][..n]))
    }

    /// Those of all digits but the first ones.
    fn after_digits(self, digits: usize) -> Self {
        Self { words: &self.words[(2 * digits * self.stride).min(self.words.len())..], ..self }
    }

    /// Whether so many digits have rows of `n` words here.
    pub(super) fn covers(self, digits: usize, n: usize) -> bool {
        digits == 0 || (n <= self.stride && (2 * digits - 1) * self.stride + n <= self.words.len())
    }
}

/// What [`Kernels::add_moved_products`] adds.
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
    pub(super) fn groups(&self) -> impl Iterator<Item = Self> {
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

/// The row kernels of one instruction set.
///
/// A row is a slice of residues modulo one prime. All rows of a call have one length, which may be
/// 0. Every result is canonical, in `[0, q)`, so that all tables agree bit for bit. A value outside a
/// stated range gives an unspecified result or a panic, never undefined behaviour.
#[derive(Clone, Copy)]
pub struct Kernels {
    pub(super) name: &'static str,
    pub(super) supported: fn() -> bool,
    pub(super) add: Map2,
    pub(super) add_streamed: Map2,
    pub(super) add_assign: Map2Assign,
    pub(super) sub: Map2,
    pub(super) sub_streamed: Map2,
    pub(super) sub_assign: Map2Assign,
    pub(super) neg: Map1,
    pub(super) neg_assign: Map1Assign,
    pub(super) mul: Map2,
    pub(super) mul_streamed: Map2,
    pub(super) mul_assign: Map2Assign,
    pub(super) mul_add_assign: Map2,
    pub(super) mul_scalar: ScalarMap1,
    pub(super) mul_scalar_assign: unsafe fn(&mut [u64], ShoupFactor, &Modulus),
    pub(super) mul_scalar_add_assign: ScalarMap1,
    pub(super) sub_mul_scalar_assign: ScalarMap1,
    pub(super) add_scalar_assign: unsafe fn(&mut [u64], u64, &Modulus),
    pub(super) inner_product: InnerProduct,
    pub(super) inner_product_pair: InnerProductPair,
    pub(super) add_moved_products: AddMovedProducts,
    pub(super) weighted_sums: WeightedSums,
    pub(super) quotients: unsafe fn(&mut [u64], &[&[u64]], &[f64]),
    pub(super) reduce: Map1,
    pub(super) reduce_centred: unsafe fn(&mut [u64], &[u64], &Modulus, &Modulus),
    pub(super) reduce_signed: unsafe fn(&mut [u64], &[i64], &Modulus),
    pub(super) unpack_halves: Map1,
    pub(super) gaussian: unsafe fn(&mut [i64], &[u64]),
    pub(super) permute: unsafe fn(&mut [u64], &[u64], &[u32]),
    pub(super) permute_add_assign: unsafe fn(&mut [u64], &[u64], &[u32], &Modulus),
    pub(super) ntt_forward: NttForward,
    pub(super) ntt_inverse: NttInverse,
    pub(super) fft_forward: Fft,
    pub(super) fft_inverse: Fft,
    pub(super) chacha20: Chacha20,
    pub(super) normal: Normal,
    pub(super) inside_circle: InsideCircle,
    pub(super) sub_multiples: SubMultiples,
    pub(crate) torus32: TorusKernels<u32>,
    pub(crate) torus64: TorusKernels<u64>,
    pub(super) panels: PanelKernels,
}

/// Calls a kernel: the one place where a table's functions are called.
macro_rules! call {
    ($table:ident.$($kernel:ident).+($($argument:expr),*)) => {{
        let _mode = $crate::kernels::float_mode::StandardMode::enter();
        // SAFETY: the functions of a table need nothing but a CPU with the instructions that its
        // `supported` looks for, and a table leaves `kernels` only through `available`, after
        // `supported` said yes.
        unsafe { ($table.$($kernel).+)($($argument),*) }
    }};
}

pub(super) use call;

impl Kernels {
    /// The name by which `NOREN_ISA` asks for this table.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn is_supported(&self) -> bool {
        (self.supported)()
    }

    /// `out = a + b`. Range: in `[0, q)`, out `[0, q)`.
    ///
    /// # Panics
    /// If the rows differ in length.
    pub fn add(&self, out: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
        assert_lengths(out.len(), &[a.len(), b.len()]);
        call!(self.add(out, a, b, q));
    }

    /// `out = a + b`, written past the caches; see [`Kernels::add`].
    ///
    /// Faster where the rows of a whole loop do not fit the caches, as memory then need not be read before it is
    /// written; slower where they fit, or the result is read again soon.
    ///
    /// # Panics
    /// If the rows differ in length.
    pub fn add_streamed(&self, out: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
        assert_lengths(out.len(), &[a.len(), b.len()]);
        call!(self.add_streamed(out, a, b, q));
    }

    /// `a += b`; see [`Kernels::add`].
    ///
    /// # Panics
    /// If the rows differ in length.
    pub fn add_assign(&self, a: &mut [u64], b: &[u64], q: &Modulus) {
        assert_lengths(a.len(), &[b.len()]);
        call!(self.add_assign(a, b, q));
    }

    /// `out = a - b`. Range: in `[0, q)`, out `[0, q)`.
    ///
    /// # Panics
    /// If the rows differ in length.
    pub fn sub(&self, out: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
        assert_lengths(out.len(), &[a.len(), b.len()]);
        call!(self.sub(out, a, b, q));
    }

    /// `out = a - b` past the caches; see [`Kernels::sub`] and [`Kernels::add_streamed`].
    ///
    /// # Panics
    /// If the rows differ in length.
    pub fn sub_streamed(&self, out: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
        assert_lengths(out.len(), &[a.len(), b.len()]);
        call!(self.sub_streamed(out, a, b, q));
    }

    /// `a -= b`; see [`Kernels::sub`].
    ///
    /// # Panics
    /// If the rows differ in length.
    pub fn sub_assign(&self, a: &mut [u64], b: &[u64], q: &Modulus) {
        assert_lengths(a.len(), &[b.len()]);
        call!(self.sub_assign(a, b, q));
    }

    /// `out = -a`. Range: in `[0, q)`, out `[0, q)`.
    ///
    /// # Panics
    /// If the rows differ in length.
    pub fn neg(&self, out: &mut [u64], a: &[u64], q: &Modulus) {
        assert_lengths(out.len(), &[a.len()]);
        call!(self.neg(out, a, q));
    }

    /// `a = -a`; see [`Kernels::neg`].
    pub fn neg_assign(&self, a: &mut [u64], q: &Modulus) {
        call!(self.neg_assign(a, q));
    }

    /// `out = a * b`, word by word. Range: in `[0, q)`, out `[0, q)`.
    ///
    /// # Panics
    /// If the rows differ in length.
    pub fn mul(&self, out: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
        assert_lengths(out.len(), &[a.len(), b.len()]);
        call!(self.mul(out, a, b, q));
    }

    /// `out = a * b` past the caches; see [`Kernels::mul`] and [`Kernels::add_streamed`].
    ///
    /// # Panics
    /// If the rows differ in length.
    pub fn mul_streamed(&self, out: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
        assert_lengths(out.len(), &[a.len(), b.len()]);
        call!(self.mul_streamed(out, a, b, q));
    }

    /// `a *= b`, word by word; see [`Kernels::mul`].
    ///
    /// # Panics
    /// If the rows differ in length.
    pub fn mul_assign(&self, a: &mut [u64], b: &[u64], q: &Modulus) {
        assert_lengths(a.len(), &[b.len()]);
        call!(self.mul_assign(a, b, q));
    }

    /// `acc += a * b`, word by word. Range: in `[0, q)`, out `[0, q)`.
    ///
    /// For a sum of many products use [`Kernels::inner_product`], which reduces once.
    ///
    /// # Panics
    /// If the rows differ in length.
    pub fn mul_add_assign(&self, acc: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
        assert_lengths(acc.len(), &[a.len(), b.len()]);
        call!(self.mul_add_assign(acc, a, b, q));
    }

    /// `out = a * w`. Range: in `[0, 2^52)`, out `[0, q)`.
    ///
    /// # Panics
    /// If the rows differ in length.
    pub fn mul_scalar(&self, out: &mut [u64], a: &[u64], w: ShoupFactor, q: &Modulus) {
        assert_lengths(out.len(), &[a.len()]);
        call!(self.mul_scalar(out, a, w, q));
    }

    /// `a *= w`; see [`Kernels::mul_scalar`].
    pub fn mul_scalar_assign(&self, a: &mut [u64], w: ShoupFactor, q: &Modulus) {
        call!(self.mul_scalar_assign(a, w, q));
    }

    /// `acc += a * w`. Range: in `[0, q)`, out `[0, q)`.
    ///
    /// # Panics
    /// If the rows differ in length.
    pub fn mul_scalar_add_assign(&self, acc: &mut [u64], a: &[u64], w: ShoupFactor, q: &Modulus) {
        assert_lengths(acc.len(), &[a.len()]);
        call!(self.mul_scalar_add_assign(acc, a, w, q));
    }

    /// `a = (a - b) * w`: the end of ModDown and of rescale. Range: in `[0, q)`, out `[0, q)`.
    ///
    /// # Panics
    /// If the rows differ in length.
    pub fn sub_mul_scalar_assign(&self, a: &mut [u64], b: &[u64], w: ShoupFactor, q: &Modulus) {
        assert_lengths(a.len(), &[b.len()]);
        call!(self.sub_mul_scalar_assign(a, b, w, q));
    }

    /// `a += c` for a constant. Range: in `[0, q)`, out `[0, q)`.
    pub fn add_scalar_assign(&self, a: &mut [u64], c: u64, q: &Modulus) {
        call!(self.add_scalar_assign(a, c, q));
    }

    /// `out = sum_j a_j * b_j`, word by word, over the pairs `(a_j, b_j)`; the sum is reduced once.
    /// Range: in `[0, 2^50)`, out `[0, q)`.
    ///
    /// # Panics
    /// If the rows differ in length, or there are more than [`MAX_TERMS`] pairs.
    pub fn inner_product(&self, out: &mut [u64], pairs: &[(&[u64], &[u64])], q: &Modulus) {
        assert!(pairs.len() <= MAX_TERMS, "{} products are too many: add at most {MAX_TERMS} at once", pairs.len());
        for (a, b) in pairs {
            assert_lengths(out.len(), &[a.len(), b.len()]);
        }
        call!(self.inner_product(out, pairs, q));
    }

    /// `out_i = sum_j rows_j * key_{j,i}` for the halves `i = 0, 1` of a key, word by word. Range: in `[0, 2^50)`, out
    /// `[0, q)`.
    ///
    /// The key holds rows `[digit, half, word]`; digits past those of `rows` are not read.
    ///
    /// # Panics
    /// If the rows differ in length, the key has fewer than two rows for each of them, or there are more than
    /// [`MAX_TERMS`].
    pub fn inner_product_pair(&self, out: [&mut [u64]; 2], rows: &[&[u64]], key: &[u64], q: &Modulus) {
        let n = out[0].len();
        assert!(rows.len() <= MAX_TERMS, "{} products are too many: add at most {MAX_TERMS} at once", rows.len());
        assert_lengths(n, &[out[1].len()]);
        for row in rows {
            assert_lengths(n, &[row.len()]);
        }
        let needed = 2 * rows.len() * n;
        assert!(needed <= key.len(), "{} digits need {needed} words of the key, which has {}", rows.len(), key.len());
        call!(self.inner_product_pair(out, rows, key, q));
    }

    /// `acc_i[p] += s_i` for the sums `s_i` of [`Kernels::inner_product_pair`], with `plus` added to the first, and the place
    /// p of each word; if not `add`, `acc` may hold anything and is written. Range: rows, key and plus in `[0, 2^50)`, acc in
    /// `[0, q)`, out `[0, q)`.
    ///
    /// The key is read in its order, which memory is fast at; what is near is read and written in the order of the places.
    /// If two groups have one place, the result is unspecified.
    ///
    /// # Panics
    /// If the rows differ in length or have no whole groups, the key or the next one has fewer than two rows for each of them,
    /// there is not one place for each group, or a place is not one of the result's.
    pub fn add_moved_products(&self, acc: [&mut [u64]; 2], products: &MovedProducts, add: bool, q: &Modulus) {
        let MovedProducts { rows, key, next, plus, places, .. } = products;
        let n = acc[0].len();
        assert_lengths(n, &[acc[1].len(), places.len() * GROUP]);
        for row in rows.iter().copied().chain(plus.map(|(row, _)| row)) {
            assert_lengths(n, &[row.len()]);
        }
        assert!(rows.len() <= MAX_TERMS, "{} products are too many: add at most {MAX_TERMS} at once", rows.len());
        for key in [Some(key), next.as_ref()].into_iter().flatten() {
            assert!(key.covers(rows.len(), n), "the key has no {n} words for both halves of {} digits", rows.len());
        }
        call!(self.add_moved_products(acc, products, add, q));
    }

    /// `out = sum_j rows_j * weights_j`; see [`Kernels::weighted_sums`].
    ///
    /// # Panics
    /// As [`Kernels::weighted_sums`].
    pub fn weighted_sum(&self, out: &mut [u64], rows: &[&[u64]], weights: &[u64], q: &Modulus) {
        self.weighted_sums(&mut [WeightedSum { out, weights, modulus: q }], rows, None);
    }

    /// `out = sum_j rows_j * weights_j + counts * weight` for each of several sums, which are reduced once and read the
    /// rows together. The rows may be residues of other primes: these are target rows of a basis conversion. Range: rows
    /// in `[0, 2^50)`, counts in `[0, n]` for n rows, weights in `[0, q)`, out `[0, q)`.
    ///
    /// # Panics
    /// If the rows differ in length, a sum has not as many weights as there are rows and counts, or there are more than
    /// [`MAX_TERMS`] of them.
    pub fn weighted_sums(&self, sums: &mut [WeightedSum], rows: &[&[u64]], counts: Option<&[u64]>) {
        let terms = rows.len() + usize::from(counts.is_some());
        assert!(terms <= MAX_TERMS, "{terms} rows are too many: add at most {MAX_TERMS} at once");
        for sum in &*sums {
            assert_eq!(terms, sum.weights.len(), "each row needs one weight");
            for row in rows.iter().copied().chain(counts) {
                assert_lengths(sum.out.len(), &[row.len()]);
            }
        }
        call!(self.weighted_sums(sums, rows, counts));
    }

    /// `out = floor(0.5 + sum_j rows_j * inverses_j)` in `f64`: how often the modulus fits into the
    /// sum that a basis conversion forms.
    ///
    /// The additions start at 0.5 and run in index order, and no product is fused with its
    /// addition, so that all tables round alike. Range: rows in `[0, 2^52)`, inverses not negative,
    /// sum below 2^52.
    ///
    /// # Panics
    /// If the rows differ in length, or there are not as many inverses as rows.
    pub fn quotients(&self, out: &mut [u64], rows: &[&[u64]], inverses: &[f64]) {
        assert_eq!(rows.len(), inverses.len(), "each row needs one inverse");
        for row in rows {
            assert_lengths(out.len(), &[row.len()]);
        }
        call!(self.quotients(out, rows, inverses));
    }

    /// `out = a mod q`. Range: in `[0, 2^52)`, out `[0, q)`.
    ///
    /// # Panics
    /// If the rows differ in length.
    pub fn reduce(&self, out: &mut [u64], a: &[u64], q: &Modulus) {
        assert_lengths(out.len(), &[a.len()]);
        call!(self.reduce(out, a, q));
    }

    /// `out = a mod q`, where a stands for the number congruent to it modulo `from`, a prime D, in `(-D/2, D/2)`: an exact
    /// basis conversion from a single prime. Range: in `[0, D)`, out `[0, q)`.
    ///
    /// # Panics
    /// If the rows differ in length.
    pub fn reduce_centred(&self, out: &mut [u64], a: &[u64], from: &Modulus, q: &Modulus) {
        assert_lengths(out.len(), &[a.len()]);
        call!(self.reduce_centred(out, a, from, q));
    }

    /// `out = a mod q` for signed words. Range: in `(-2^62, 2^62)`, out `[0, q)`.
    ///
    /// # Panics
    /// If the rows differ in length.
    pub fn reduce_signed(&self, out: &mut [u64], a: &[i64], q: &Modulus) {
        assert_lengths(out.len(), &[a.len()]);
        call!(self.reduce_signed(out, a, q));
    }

    /// `out = x + q` for numbers x of 16 bits in two's complement, four to a word of `packed`, the first in the lowest bits.
    /// Range: q above 2^15, out `[q - 2^15, q + 2^15)`, which [`Kernels::ntt_forward`] takes.
    ///
    /// # Panics
    /// If there are not four words of `out` to one of `packed`, or q is smaller.
    pub fn unpack_halves(&self, out: &mut [u64], packed: &[u64], q: &Modulus) {
        assert_eq!(out.len(), HALVES * packed.len(), "a word holds {HALVES} numbers");
        assert!(q.value() > 1 << 15, "numbers of 16 bits need a prime above 2^15, not {}", q.value());
        call!(self.unpack_halves(out, packed, q));
    }

    /// The samples of [`gaussian`](crate::sample::gaussian) for which words `2j` and `2j + 1` are drawn. Range: in any,
    /// out `[-32, 32]`.
    ///
    /// # Panics
    /// If there are not two words for each sample.
    pub fn gaussian(&self, out: &mut [i64], words: &[u64]) {
        assert_eq!(words.len(), 2 * out.len(), "a sample is made of two words");
        call!(self.gaussian(out, words));
    }

    /// `out[j] = a[perm[j]]`. Fast where each eight consecutive entries stay within eight
    /// consecutive words, as those of
    /// [`Cyclotomic::permutation`](crate::cyclotomic::Cyclotomic::permutation) do.
    ///
    /// # Panics
    /// If the rows and the permutation differ in length, or an entry is not below that length.
    pub fn permute(&self, out: &mut [u64], a: &[u64], perm: &[u32]) {
        assert_lengths(out.len(), &[a.len(), perm.len()]);
        call!(self.permute(out, a, perm));
    }

    /// `acc[j] += a[perm[j]]`; see [`Kernels::permute`]. Range: rows in `[0, q)`, out `[0, q)`; each eight entries from
    /// a multiple of eight on stay within eight words from a multiple of eight on.
    ///
    /// # Panics
    /// As [`Kernels::permute`].
    pub fn permute_add_assign(&self, acc: &mut [u64], a: &[u64], perm: &[u32], q: &Modulus) {
        assert_lengths(acc.len(), &[a.len(), perm.len()]);
        call!(self.permute_add_assign(acc, a, perm, q));
    }

    /// From coefficients to evaluations, a row in `[0, 4q)`; see [`NttTable::forward`].
    ///
    /// # Panics
    /// If the row's length is not the table's degree.
    pub fn ntt_forward(&self, row: &mut [u64], table: &NttTable) {
        assert_lengths(table.degree(), &[row.len()]);
        call!(self.ntt_forward(row, table));
    }

    /// From evaluations to coefficients, a row in `[0, 2q)`; see [`NttTable::inverse`].
    ///
    /// # Panics
    /// If the row's length is not the table's degree.
    pub fn ntt_inverse(&self, row: &mut [u64], table: &NttTable) {
        self.ntt_inverse_scaled(row, table, table.unit());
    }

    /// From evaluations to coefficients times the factor of `scale`, which must be one of this table; otherwise as
    /// [`Kernels::ntt_inverse`], and as fast.
    ///
    /// # Panics
    /// If the row's length is not the table's degree.
    pub fn ntt_inverse_scaled(&self, row: &mut [u64], table: &NttTable, scale: &InverseScale) {
        assert_lengths(table.degree(), &[row.len()]);
        call!(self.ntt_inverse(row, table, scale));
    }

    /// From packed coefficients to slot values; see [`FftTable::forward`]. All tables round alike.
    ///
    /// # Panics
    /// If a row's length is not the table's number of slots.
    pub fn fft_forward(&self, re: &mut [f64], im: &mut [f64], table: &FftTable) {
        assert_lengths(table.slots(), &[re.len(), im.len()]);
        call!(self.fft_forward(re, im, table));
    }

    /// From slot values to packed coefficients; see [`FftTable::inverse`]. All tables round alike.
    ///
    /// # Panics
    /// If a row's length is not the table's number of slots.
    pub fn fft_inverse(&self, re: &mut [f64], im: &mut [f64], table: &FftTable) {
        assert_lengths(table.slots(), &[re.len(), im.len()]);
        call!(self.fft_inverse(re, im, table));
    }
}

impl fmt::Debug for Kernels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kernels").field(&self.name).finish()
    }
}

#[track_caller]
pub(super) fn assert_lengths(expected: usize, found: &[usize]) {
    for &len in found {
        assert_eq!(len, expected, "the rows of one call need one length");
    }
}
