//! The verbs on rows.

use crate::kernels::call::{assert_lengths, call};
use crate::kernels::rows::operands::{HALVES, MAX_TERMS, MovedProducts, WeightedRows, WeightedSum};
use crate::kernels::rows::places::GROUP;
use crate::kernels::table::Kernels;
use crate::modulus::{Modulus, ShoupFactor};

impl Kernels {
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

    /// `out = sum_j rows_j * weights_j`; see [`Kernels::weighted_sums`]. Range: rows in `[0, 2^50)`.
    ///
    /// # Panics
    /// As [`Kernels::weighted_sums`].
    pub fn weighted_sum(&self, out: &mut [u64], rows: &[&[u64]], weights: &[u64], q: &Modulus) {
        let rows = WeightedRows { rows, below: 1 << 50, counts: None };
        self.weighted_sums(&mut [WeightedSum { out, weights, modulus: q }], &rows);
    }

    /// `out = sum_j rows_j * weights_j + counts * weight` for each of several sums, which are reduced once and read the
    /// rows together: these are target rows of a basis conversion. Range: weights in `[0, q)`, out `[0, q)`.
    ///
    /// # Panics
    /// If the rows differ in length, a sum has not as many weights as there are rows and counts, there are more than
    /// [`MAX_TERMS`] of them, or words may be `2^50` or more.
    pub fn weighted_sums(&self, sums: &mut [WeightedSum], rows: &WeightedRows) {
        let &WeightedRows { rows: terms, below, counts } = rows;
        assert!(below <= 1 << 50, "words below {below} are added up, at most 2^50 is possible");
        debug_assert!(terms.iter().copied().flatten().all(|&word| word < below), "a word is not below {below}");
        let count = terms.len() + usize::from(counts.is_some());
        assert!(count <= MAX_TERMS, "{count} rows are too many: add at most {MAX_TERMS} at once");
        for sum in &*sums {
            assert_eq!(count, sum.weights.len(), "each row needs one weight");
            for row in terms.iter().copied().chain(counts) {
                assert_lengths(sum.out.len(), &[row.len()]);
            }
        }
        call!(self.weighted_sums(sums, rows));
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

    /// `out += a b` for polynomials over GF(2) with a coefficient to a bit, words from the constant coefficient up.
    ///
    /// # Panics
    /// If the product has not as many words as both factors together.
    pub fn add_binary_product(&self, out: &mut [u64], a: &[u64], b: &[u64]) {
        assert_lengths(out.len(), &[a.len() + b.len()]);
        call!(self.add_binary_product(out, a, b));
    }

    /// `out_j = sum_i a_i table_(starts_i + j)` modulo `2^64`.
    ///
    /// # Panics
    /// If there are not as many starts as factors, or a window leaves the table.
    pub fn window_combination(&self, out: &mut [u64], a: &[u64], table: &[u64], starts: &[u32]) {
        assert_lengths(starts.len(), &[a.len()]);
        call!(self.window_combination(out, a, table, starts));
    }

    /// `out_k = sum_i a_i table_(starts_k + i)` modulo `2^64`.
    ///
    /// # Panics
    /// If there are not as many starts as sums, or a window leaves the table.
    pub fn window_dots(&self, out: &mut [u64], a: &[u64], table: &[u64], starts: &[u32]) {
        assert_lengths(starts.len(), &[out.len()]);
        call!(self.window_dots(out, a, table, starts));
    }
}
