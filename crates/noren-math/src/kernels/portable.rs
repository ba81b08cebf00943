//! The reference: what each kernel means, in plain Rust that runs everywhere.

use super::portable_fft::{fft_forward, fft_inverse};
use super::table::Kernels;
use crate::modulus::{Modulus, ShoupFactor};
use crate::ntt::table::{LANES, LateRoots, NttTable};

pub(super) const TABLE: Kernels = Kernels {
    name: "portable",
    supported: || true,
    add,
    add_assign,
    sub,
    sub_assign,
    neg,
    neg_assign,
    mul,
    mul_assign,
    mul_add_assign,
    mul_scalar,
    mul_scalar_assign,
    mul_scalar_add_assign,
    sub_mul_scalar_assign,
    add_scalar_assign,
    inner_product,
    weighted_sum,
    quotients,
    reduce,
    reduce_signed,
    permute,
    ntt_forward,
    ntt_inverse,
    fft_forward,
    fft_inverse,
};

pub(super) fn add(out: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = q.add(a, b);
    }
}

pub(super) fn add_assign(a: &mut [u64], b: &[u64], q: &Modulus) {
    for (a, &b) in a.iter_mut().zip(b) {
        *a = q.add(*a, b);
    }
}

pub(super) fn sub(out: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = q.sub(a, b);
    }
}

pub(super) fn sub_assign(a: &mut [u64], b: &[u64], q: &Modulus) {
    for (a, &b) in a.iter_mut().zip(b) {
        *a = q.sub(*a, b);
    }
}

pub(super) fn neg(out: &mut [u64], a: &[u64], q: &Modulus) {
    for (out, &a) in out.iter_mut().zip(a) {
        *out = q.neg(a);
    }
}

pub(super) fn neg_assign(a: &mut [u64], q: &Modulus) {
    for a in a {
        *a = q.neg(*a);
    }
}

pub(super) fn mul(out: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = q.mul(a, b);
    }
}

pub(super) fn mul_assign(a: &mut [u64], b: &[u64], q: &Modulus) {
    for (a, &b) in a.iter_mut().zip(b) {
        *a = q.mul(*a, b);
    }
}

pub(super) fn mul_add_assign(acc: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
    for ((acc, &a), &b) in acc.iter_mut().zip(a).zip(b) {
        *acc = q.add(*acc, q.mul(a, b));
    }
}

pub(super) fn mul_scalar(out: &mut [u64], a: &[u64], w: ShoupFactor, q: &Modulus) {
    for (out, &a) in out.iter_mut().zip(a) {
        *out = q.mul_shoup(a, w);
    }
}

pub(super) fn mul_scalar_assign(a: &mut [u64], w: ShoupFactor, q: &Modulus) {
    for a in a {
        *a = q.mul_shoup(*a, w);
    }
}

pub(super) fn mul_scalar_add_assign(acc: &mut [u64], a: &[u64], w: ShoupFactor, q: &Modulus) {
    for (acc, &a) in acc.iter_mut().zip(a) {
        *acc = q.add(*acc, q.mul_shoup(a, w));
    }
}

pub(super) fn sub_mul_scalar_assign(a: &mut [u64], b: &[u64], w: ShoupFactor, q: &Modulus) {
    for (a, &b) in a.iter_mut().zip(b) {
        *a = q.mul_shoup(*a + q.value() - b, w);
    }
}

pub(super) fn add_scalar_assign(a: &mut [u64], c: u64, q: &Modulus) {
    for a in a {
        *a = q.add(*a, c);
    }
}

pub(super) fn inner_product(out: &mut [u64], pairs: &[(&[u64], &[u64])], q: &Modulus) {
    inner_product_from(0, out, pairs, q);
}

/// [`inner_product`] of the words from `start` on, for tables that did the words before.
pub(super) fn inner_product_from(start: usize, out: &mut [u64], pairs: &[(&[u64], &[u64])], q: &Modulus) {
    let reduction = WideReduction::new(q);
    for (j, out) in out.iter_mut().enumerate().skip(start) {
        // At most 64 products below 2^100 each.
        let sum = pairs.iter().map(|(a, b)| u128::from(a[j]) * u128::from(b[j])).sum();
        *out = reduction.reduce(sum);
    }
}

pub(super) fn weighted_sum(out: &mut [u64], rows: &[&[u64]], weights: &[u64], q: &Modulus) {
    weighted_sum_from(0, out, rows, weights, q);
}

/// [`weighted_sum`] of the words from `start` on, for tables that did the words before.
pub(super) fn weighted_sum_from(start: usize, out: &mut [u64], rows: &[&[u64]], weights: &[u64], q: &Modulus) {
    let reduction = WideReduction::new(q);
    for (j, out) in out.iter_mut().enumerate().skip(start) {
        let sum = rows.iter().zip(weights).map(|(row, &w)| u128::from(row[j]) * u128::from(w)).sum();
        *out = reduction.reduce(sum);
    }
}

pub(super) fn quotients(out: &mut [u64], rows: &[&[u64]], inverses: &[f64]) {
    quotients_from(0, out, rows, inverses);
}

/// [`quotients`] of the words from `start` on, for tables that did the words before.
pub(super) fn quotients_from(start: usize, out: &mut [u64], rows: &[&[u64]], inverses: &[f64]) {
    for (j, out) in out.iter_mut().enumerate().skip(start) {
        let sum = rows.iter().zip(inverses).fold(0.5, |sum, (row, &inverse)| sum + row[j] as f64 * inverse);
        // The sum is not negative, so the cast is the floor.
        *out = sum as u64;
    }
}

pub(super) fn reduce(out: &mut [u64], a: &[u64], q: &Modulus) {
    let reduction = WideReduction::new(q);
    for (out, &a) in out.iter_mut().zip(a) {
        *out = reduction.reduce_word(a);
    }
}

pub(super) fn reduce_signed(out: &mut [u64], a: &[i64], q: &Modulus) {
    let reduction = WideReduction::new(q);
    let offset = signed_offset(q);
    for (out, &a) in out.iter_mut().zip(a) {
        *out = reduction.reduce_word(offset.wrapping_add_signed(a));
    }
}

/// The multiple of q that makes words in `(-2^62, 2^62)` positive, so that the sign of a secret word
/// decides nothing.
pub(super) fn signed_offset(q: &Modulus) -> u64 {
    (1u64 << 62).next_multiple_of(q.value())
}

pub(super) fn permute(out: &mut [u64], a: &[u64], perm: &[u32]) {
    for (out, &source) in out.iter_mut().zip(perm) {
        *out = a[source as usize];
    }
}

/// Constants that reduce sums of products.
struct WideReduction {
    q: u64,
    /// `floor(2^64 / q)`.
    inverse: u64,
    /// `2^52 mod q`.
    high: ShoupFactor,
}

impl WideReduction {
    fn new(q: &Modulus) -> Self {
        Self { q: q.value(), inverse: u64::MAX / q.value(), high: q.shoup(q.reduce(1 << 52)) }
    }

    /// Range: in `[0, 2^64)`, out `[0, q)`.
    #[inline(always)]
    fn reduce_word(&self, x: u64) -> u64 {
        // The quotient is at most 1 short, since x < 2^64.
        let quotient = ((u128::from(x) * u128::from(self.inverse)) >> 64) as u64;
        subtract_if_not_below(x - quotient * self.q, self.q)
    }

    /// Range: in `[0, 2^108)`, out `[0, q)`.
    #[inline(always)]
    fn reduce(&self, x: u128) -> u64 {
        let (high, low) = ((x >> 52) as u64, x as u64 & ((1 << 52) - 1));
        // Shoup's product is below (1 + high / 2^52) q: at most 17q < 2^55.
        let quotient = ((u128::from(high) * u128::from(self.high.quotient)) >> 52) as u64;
        let folded = high.wrapping_mul(self.high.value).wrapping_sub(quotient.wrapping_mul(self.q));
        self.reduce_word(folded + low)
    }
}

/// Layers whose stride is at least eight words run over the whole row, two at a time; the last
/// three run inside groups of eight words. Values stay in `[0, 4q)` (Harvey, arXiv 1205.2926).
pub(super) fn ntt_forward(row: &mut [u64], table: &NttTable) {
    let q = table.modulus();
    let roots = table.forward_roots();
    let mut blocks = 1;
    if roots.groups().trailing_zeros() % 2 == 1 {
        let (left, right) = row.split_at_mut(row.len() / 2);
        for (x, y) in left.iter_mut().zip(right) {
            (*x, *y) = forward_butterfly(*x, *y, roots.early(1), q);
        }
        blocks = 2;
    }
    while blocks < roots.groups() {
        for (i, block) in row.chunks_exact_mut(row.len() / blocks).enumerate() {
            let first = roots.early(blocks + i);
            let second = [roots.early(2 * (blocks + i)), roots.early(2 * (blocks + i) + 1)];
            for [a, b, c, d] in quarters(block) {
                let (a1, c1) = forward_butterfly(*a, *c, first, q);
                let (b1, d1) = forward_butterfly(*b, *d, first, q);
                (*a, *b) = forward_butterfly(a1, b1, second[0], q);
                (*c, *d) = forward_butterfly(c1, d1, second[1], q);
            }
        }
        blocks *= 4;
    }
    for (words, late) in row.chunks_mut(8 * LANES).zip(roots.late) {
        for (lane, group) in words.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            let mut x = *group;
            late_layer::<4>(&mut x, late, lane, |a, b, w| forward_butterfly(a, b, w, q));
            late_layer::<2>(&mut x, late, lane, |a, b, w| forward_butterfly(a, b, w, q));
            late_layer::<1>(&mut x, late, lane, |a, b, w| forward_butterfly(a, b, w, q));
            *group = x.map(|x| normalize(x, q));
        }
    }
}

/// The mirror of [`ntt_forward`]. Values stay in `[0, 2q)`; the last layer carries the factor
/// `1/n`.
pub(super) fn ntt_inverse(row: &mut [u64], table: &NttTable) {
    let q = table.modulus();
    let roots = table.inverse_roots();
    for (words, late) in row.chunks_mut(8 * LANES).zip(roots.late) {
        for (lane, group) in words.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            let mut x = *group;
            late_layer::<1>(&mut x, late, lane, |a, b, w| inverse_butterfly(a, b, w, q));
            late_layer::<2>(&mut x, late, lane, |a, b, w| inverse_butterfly(a, b, w, q));
            late_layer::<4>(&mut x, late, lane, |a, b, w| inverse_butterfly(a, b, w, q));
            *group = x;
        }
    }
    let mut blocks = roots.groups();
    if blocks == 1 {
        // Degree 8 has no layer left to carry the factor.
        return mul_scalar_assign(row, table.scale(), q);
    }
    while blocks > 4 {
        blocks /= 4;
        for (i, block) in row.chunks_exact_mut(row.len() / blocks).enumerate() {
            let first = roots.early(blocks + i);
            let second = [roots.early(2 * (blocks + i)), roots.early(2 * (blocks + i) + 1)];
            for [a, b, c, d] in quarters(block) {
                let (a1, b1) = inverse_butterfly(*a, *b, second[0], q);
                let (c1, d1) = inverse_butterfly(*c, *d, second[1], q);
                (*a, *c) = inverse_butterfly(a1, c1, first, q);
                (*b, *d) = inverse_butterfly(b1, d1, first, q);
            }
        }
    }
    if blocks == 4 {
        for (i, block) in row.chunks_exact_mut(row.len() / 2).enumerate() {
            let (left, right) = block.split_at_mut(block.len() / 2);
            for (x, y) in left.iter_mut().zip(right) {
                (*x, *y) = inverse_butterfly(*x, *y, roots.early(2 + i), q);
            }
        }
    }
    let (left, right) = row.split_at_mut(row.len() / 2);
    for (x, y) in left.iter_mut().zip(right) {
        (*x, *y) = last_butterfly(*x, *y, table.scale(), table.scaled_root(), q);
    }
}

/// One of the last three layers in the group `lane`: butterflies of words `STRIDE` apart.
#[inline(always)]
fn late_layer<const STRIDE: usize>(
    x: &mut [u64; 8],
    late: &LateRoots,
    lane: usize,
    butterfly: impl Fn(u64, u64, ShoupFactor) -> (u64, u64),
) {
    for i in 0..4 {
        let (block, place) = (i / STRIDE, i % STRIDE);
        let left = 2 * STRIDE * block + place;
        // The entries of a layer follow those of the layers before it: 1, then 2, then 4.
        let [value, quotient] = &late[4 / STRIDE - 1 + block];
        let w = ShoupFactor { value: value[lane], quotient: quotient[lane] };
        (x[left], x[left + STRIDE]) = butterfly(x[left], x[left + STRIDE], w);
    }
}

/// The words at equal places of the four quarters of a block.
fn quarters(block: &mut [u64]) -> impl Iterator<Item = [&mut u64; 4]> {
    let (left, right) = block.split_at_mut(block.len() / 2);
    let (a, b) = left.split_at_mut(left.len() / 2);
    let (c, d) = right.split_at_mut(right.len() / 2);
    a.iter_mut().zip(b).zip(c).zip(d).map(|(((a, b), c), d)| [a, b, c, d])
}

/// `(x + w y, x - w y)`. Range: in `[0, 4q)`, out `[0, 4q)`.
#[inline(always)]
fn forward_butterfly(x: u64, y: u64, w: ShoupFactor, q: &Modulus) -> (u64, u64) {
    let twice = 2 * q.value();
    let x = subtract_if_not_below(x, twice);
    let y = q.mul_shoup_lazy(y, w);
    (x + y, x + twice - y)
}

/// `(x + y, w (x - y))`. Range: in `[0, 2q)`, out `[0, 2q)`.
#[inline(always)]
fn inverse_butterfly(x: u64, y: u64, w: ShoupFactor, q: &Modulus) -> (u64, u64) {
    let twice = 2 * q.value();
    (subtract_if_not_below(x + y, twice), q.mul_shoup_lazy(x + twice - y, w))
}

/// `(s (x + y), w (x - y))`. Range: in `[0, 2q)`, out `[0, q)`.
#[inline(always)]
fn last_butterfly(x: u64, y: u64, s: ShoupFactor, w: ShoupFactor, q: &Modulus) -> (u64, u64) {
    (q.mul_shoup(x + y, s), q.mul_shoup(x + 2 * q.value() - y, w))
}

/// Range: in `[0, 4q)`, out `[0, q)`.
#[inline(always)]
fn normalize(x: u64, q: &Modulus) -> u64 {
    subtract_if_not_below(subtract_if_not_below(x, 2 * q.value()), q.value())
}

/// Range: in `[0, 2 bound)`, out `[0, bound)`.
#[inline(always)]
fn subtract_if_not_below(x: u64, bound: u64) -> u64 {
    // The wrapped difference is the larger one exactly if x < bound.
    x.min(x.wrapping_sub(bound))
}
