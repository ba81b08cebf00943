//! The reference: what each kernel means, in plain Rust that runs everywhere.

use super::chacha::chacha20;
use super::gaussian::gaussian;
use super::multiples::sub_multiples;
use super::normal::{inside_circle, normal};
use super::operands::{HALVES, MAX_TERMS, MovedProducts, WeightedRows, WeightedSum};
use super::places::GROUP;
use super::portable_binary::add_binary_product;
use super::portable_fft::{fft_forward, fft_inverse};
use super::portable_horner::horner;
use super::portable_ntt::{ntt_forward, ntt_inverse};
use super::portable_windows::{window_combination, window_dots};
use super::table::Kernels;
use super::wide_reduction::WideReduction;
use super::{portable_panels, portable_torus};
use crate::modulus::{Modulus, ShoupFactor};

pub(super) const TABLE: Kernels = Kernels {
    name: "portable",
    supported: || true,
    add,
    add_streamed: add,
    add_assign,
    sub,
    sub_streamed: sub,
    sub_assign,
    neg,
    neg_assign,
    mul,
    mul_streamed: mul,
    mul_assign,
    mul_add_assign,
    mul_scalar,
    mul_scalar_assign,
    mul_scalar_add_assign,
    sub_mul_scalar_assign,
    add_scalar_assign,
    inner_product,
    inner_product_pair,
    add_moved_products,
    weighted_sums,
    quotients,
    reduce,
    reduce_centred,
    reduce_signed,
    unpack_halves,
    gaussian,
    permute,
    permute_add_assign,
    ntt_forward,
    ntt_inverse,
    fft_forward,
    fft_inverse,
    horner,
    add_binary_product,
    window_combination,
    window_dots,
    chacha20: chacha20::<4>,
    normal,
    inside_circle,
    sub_multiples,
    torus32: portable_torus::table(),
    torus64: portable_torus::table(),
    panels: portable_panels::TABLE,
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

pub(super) fn inner_product_pair(out: [&mut [u64]; 2], rows: &[&[u64]], key: &[u64], q: &Modulus) {
    inner_product_pair_from(0, out, rows, key, q);
}

/// [`inner_product_pair`] of the words from `start` on, for tables that did the words before.
pub(super) fn inner_product_pair_from(start: usize, out: [&mut [u64]; 2], rows: &[&[u64]], key: &[u64], q: &Modulus) {
    let reduction = WideReduction::new(q);
    let n = out[0].len();
    for (half, out) in out.into_iter().enumerate() {
        for (i, out) in out.iter_mut().enumerate().skip(start) {
            let digits = rows.iter().zip(key.chunks_exact(2 * n));
            let sum = digits.map(|(row, pair)| u128::from(row[i]) * u128::from(pair[half * n + i])).sum();
            *out = reduction.reduce(sum);
        }
    }
}

pub(super) fn add_moved_products(acc: [&mut [u64]; 2], products: &MovedProducts, add: bool, q: &Modulus) {
    add_moved_products_from(0, acc, products, add, q);
}

/// [`add_moved_products`] of the groups from `start` on, for tables that did the groups before.
pub(super) fn add_moved_products_from(
    start: usize,
    acc: [&mut [u64]; 2],
    products: &MovedProducts,
    add: bool,
    q: &Modulus,
) {
    let MovedProducts { rows, key, plus, places, first, .. } = *products;
    let (reduction, n) = (WideReduction::new(q), acc[0].len());
    for (half, acc) in acc.into_iter().enumerate() {
        let plus = plus.filter(|_| half == 0);
        let groups = acc.as_chunks_mut::<GROUP>().0;
        for (j, place) in places.iter().enumerate().skip(start) {
            let sums: [u64; GROUP] = std::array::from_fn(|lane| {
                let i = j * GROUP + lane;
                let digits = rows.iter().zip(key.pairs(n));
                let sum: u128 = digits.map(|(row, pair)| u128::from(row[i]) * u128::from(pair[half][i])).sum();
                reduction.reduce(plus.map_or(sum, |(row, factor)| sum + u128::from(row[i]) * u128::from(factor)))
            });
            for (lane, acc) in groups[place.group() - first].iter_mut().enumerate() {
                let sum = sums[place.lane(lane)];
                *acc = if add { q.add(*acc, sum) } else { sum };
            }
        }
    }
}

pub(super) fn weighted_sums(sums: &mut [WeightedSum], rows: &WeightedRows) {
    weighted_sums_from(0, sums, rows);
}

/// [`weighted_sums`] of the words from `start` on, for tables that did the words before.
pub(super) fn weighted_sums_from(start: usize, sums: &mut [WeightedSum], rows: &WeightedRows) {
    let mut terms: [&[u64]; MAX_TERMS] = [&[]; MAX_TERMS];
    let terms = rows.terms(&mut terms);
    for WeightedSum { out, weights, modulus } in sums {
        let reduction = WideReduction::new(modulus);
        for (j, out) in out.iter_mut().enumerate().skip(start) {
            let sum = terms.iter().zip(*weights).map(|(row, &w)| u128::from(row[j]) * u128::from(w)).sum();
            *out = reduction.reduce(sum);
        }
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

pub(super) fn reduce_centred(out: &mut [u64], a: &[u64], from: &Modulus, q: &Modulus) {
    let (reduction, centring) = (WideReduction::new(q), Centring::new(from, q));
    let raise = |a: u64| a.wrapping_add(centring.offset & u64::from(a > centring.half).wrapping_neg());
    for (out, &a) in out.iter_mut().zip(a) {
        *out = if centring.is_reduced { raise(a) } else { reduction.reduce_word(raise(a)) };
    }
}

/// How words in `[0, D)` are raised to numbers that are not negative and congruent modulo q to those in `(-D/2, D/2)`.
pub(super) struct Centring {
    /// `(D - 1) / 2`: only larger words change.
    pub(super) half: u64,
    /// The summand that raises them, modulo 2^64: `m q - D` for the least m with `m q >= half`. Range: raised words are below
    /// `max(D / 2, m q) < 2^51`.
    pub(super) offset: u64,
    /// Whether raised words are below q.
    pub(super) is_reduced: bool,
}

impl Centring {
    pub(super) fn new(from: &Modulus, q: &Modulus) -> Self {
        let half = from.value() / 2;
        let multiple = half.next_multiple_of(q.value());
        Self { half, offset: multiple.wrapping_sub(from.value()), is_reduced: half < q.value() }
    }
}

pub(super) fn reduce_signed(out: &mut [u64], a: &[i64], q: &Modulus) {
    let reduction = WideReduction::new(q);
    let offset = signed_offset(q);
    for (out, &a) in out.iter_mut().zip(a) {
        *out = reduction.reduce_word(offset.wrapping_add_signed(a));
    }
}

pub(super) fn unpack_halves(out: &mut [u64], packed: &[u64], q: &Modulus) {
    for (out, word) in out.as_chunks_mut::<HALVES>().0.iter_mut().zip(packed) {
        for (i, out) in out.iter_mut().enumerate() {
            let half = (word >> (16 * i)) as u16;
            *out = q.value().wrapping_add_signed(half.cast_signed().into());
        }
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

pub(super) fn permute_add_assign(acc: &mut [u64], a: &[u64], perm: &[u32], q: &Modulus) {
    for (acc, &source) in acc.iter_mut().zip(perm) {
        *acc = q.add(*acc, a[source as usize]);
    }
}
