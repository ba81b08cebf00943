//! Rows of residues in plain Rust: what the kernels mean.

use crate::kernels::rows::operands::{HALVES, MAX_TERMS, MovedProducts, WeightedRows, WeightedSum};
use crate::kernels::rows::places::GROUP;
use crate::kernels::rows::wide_reduction::WideReduction;
use crate::modulus::{Modulus, ShoupFactor};

pub(in crate::kernels) fn add(out: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = q.add(a, b);
    }
}

pub(in crate::kernels) fn add_assign(a: &mut [u64], b: &[u64], q: &Modulus) {
    for (a, &b) in a.iter_mut().zip(b) {
        *a = q.add(*a, b);
    }
}

pub(in crate::kernels) fn sub(out: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = q.sub(a, b);
    }
}

pub(in crate::kernels) fn sub_assign(a: &mut [u64], b: &[u64], q: &Modulus) {
    for (a, &b) in a.iter_mut().zip(b) {
        *a = q.sub(*a, b);
    }
}

pub(in crate::kernels) fn neg(out: &mut [u64], a: &[u64], q: &Modulus) {
    for (out, &a) in out.iter_mut().zip(a) {
        *out = q.neg(a);
    }
}

pub(in crate::kernels) fn neg_assign(a: &mut [u64], q: &Modulus) {
    for a in a {
        *a = q.neg(*a);
    }
}

pub(in crate::kernels) fn mul(out: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = q.mul(a, b);
    }
}

pub(in crate::kernels) fn mul_assign(a: &mut [u64], b: &[u64], q: &Modulus) {
    for (a, &b) in a.iter_mut().zip(b) {
        *a = q.mul(*a, b);
    }
}

pub(in crate::kernels) fn mul_add_assign(acc: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
    for ((acc, &a), &b) in acc.iter_mut().zip(a).zip(b) {
        *acc = q.add(*acc, q.mul(a, b));
    }
}

pub(in crate::kernels) fn mul_scalar(out: &mut [u64], a: &[u64], w: ShoupFactor, q: &Modulus) {
    for (out, &a) in out.iter_mut().zip(a) {
        *out = q.mul_shoup(a, w);
    }
}

pub(in crate::kernels) fn mul_scalar_assign(a: &mut [u64], w: ShoupFactor, q: &Modulus) {
    for a in a {
        *a = q.mul_shoup(*a, w);
    }
}

pub(in crate::kernels) fn mul_scalar_add_assign(acc: &mut [u64], a: &[u64], w: ShoupFactor, q: &Modulus) {
    for (acc, &a) in acc.iter_mut().zip(a) {
        *acc = q.add(*acc, q.mul_shoup(a, w));
    }
}

pub(in crate::kernels) fn sub_mul_scalar_assign(a: &mut [u64], b: &[u64], w: ShoupFactor, q: &Modulus) {
    for (a, &b) in a.iter_mut().zip(b) {
        *a = q.mul_shoup(*a + q.value() - b, w);
    }
}

pub(in crate::kernels) fn add_scalar_assign(a: &mut [u64], c: u64, q: &Modulus) {
    for a in a {
        *a = q.add(*a, c);
    }
}

pub(in crate::kernels) fn inner_product(out: &mut [u64], pairs: &[(&[u64], &[u64])], q: &Modulus) {
    inner_product_from(0, out, pairs, q);
}

/// [`inner_product`] of the words from `start` on, for tables that did the words before.
pub(in crate::kernels) fn inner_product_from(start: usize, out: &mut [u64], pairs: &[(&[u64], &[u64])], q: &Modulus) {
    let reduction = WideReduction::new(q);
    for (j, out) in out.iter_mut().enumerate().skip(start) {
        // At most 64 products below 2^100 each.
        let sum = pairs.iter().map(|(a, b)| u128::from(a[j]) * u128::from(b[j])).sum();
        *out = reduction.reduce(sum);
    }
}

pub(in crate::kernels) fn inner_product_pair(out: [&mut [u64]; 2], rows: &[&[u64]], key: &[u64], q: &Modulus) {
    inner_product_pair_from(0, out, rows, key, q);
}

/// [`inner_product_pair`] of the words from `start` on, for tables that did the words before.
pub(in crate::kernels) fn inner_product_pair_from(
    start: usize,
    out: [&mut [u64]; 2],
    rows: &[&[u64]],
    key: &[u64],
    q: &Modulus,
) {
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

pub(in crate::kernels) fn add_moved_products(acc: [&mut [u64]; 2], products: &MovedProducts, add: bool, q: &Modulus) {
    add_moved_products_from(0, acc, products, add, q);
}

/// [`add_moved_products`] of the groups from `start` on, for tables that did the groups before.
pub(in crate::kernels) fn add_moved_products_from(
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

pub(in crate::kernels) fn weighted_sums(sums: &mut [WeightedSum], rows: &WeightedRows) {
    weighted_sums_from(0, sums, rows);
}

/// [`weighted_sums`] of the words from `start` on, for tables that did the words before.
pub(in crate::kernels) fn weighted_sums_from(start: usize, sums: &mut [WeightedSum], rows: &WeightedRows) {
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

pub(in crate::kernels) fn quotients(out: &mut [u64], rows: &[&[u64]], inverses: &[f64]) {
    quotients_from(0, out, rows, inverses);
}

/// [`quotients`] of the words from `start` on, for tables that did the words before.
pub(in crate::kernels) fn quotients_from(start: usize, out: &mut [u64], rows: &[&[u64]], inverses: &[f64]) {
    for (j, out) in out.iter_mut().enumerate().skip(start) {
        let sum = rows.iter().zip(inverses).fold(0.5, |sum, (row, &inverse)| sum + row[j] as f64 * inverse);
        // The sum is not negative, so the cast is the floor.
        *out = sum as u64;
    }
}

pub(in crate::kernels) fn reduce(out: &mut [u64], a: &[u64], q: &Modulus) {
    let reduction = WideReduction::new(q);
    for (out, &a) in out.iter_mut().zip(a) {
        *out = reduction.reduce_word(a);
    }
}

pub(in crate::kernels) fn reduce_centred(out: &mut [u64], a: &[u64], from: &Modulus, q: &Modulus) {
    let (reduction, centring) = (WideReduction::new(q), Centring::new(from, q));
    let raise = |a: u64| a.wrapping_add(centring.offset & u64::from(a > centring.half).wrapping_neg());
    for (out, &a) in out.iter_mut().zip(a) {
        *out = if centring.is_reduced { raise(a) } else { reduction.reduce_word(raise(a)) };
    }
}

/// How words in `[0, D)` are raised to numbers that are not negative and congruent modulo q to those in `(-D/2, D/2)`.
pub(in crate::kernels) struct Centring {
    /// `(D - 1) / 2`: only larger words change.
    pub(in crate::kernels) half: u64,
    /// The summand that raises them, modulo 2^64: `m q - D` for the least m with `m q >= half`. Range: raised words are below
    /// `max(D / 2, m q) < 2^51`.
    pub(in crate::kernels) offset: u64,
    /// Whether raised words are below q.
    pub(in crate::kernels) is_reduced: bool,
}

impl Centring {
    pub(in crate::kernels) fn new(from: &Modulus, q: &Modulus) -> Self {
        let half = from.value() / 2;
        let multiple = half.next_multiple_of(q.value());
        Self { half, offset: multiple.wrapping_sub(from.value()), is_reduced: half < q.value() }
    }
}

pub(in crate::kernels) fn reduce_signed(out: &mut [u64], a: &[i64], q: &Modulus) {
    let reduction = WideReduction::new(q);
    let offset = signed_offset(q);
    for (out, &a) in out.iter_mut().zip(a) {
        *out = reduction.reduce_word(offset.wrapping_add_signed(a));
    }
}

pub(in crate::kernels) fn unpack_halves(out: &mut [u64], packed: &[u64], q: &Modulus) {
    for (out, word) in out.as_chunks_mut::<HALVES>().0.iter_mut().zip(packed) {
        for (i, out) in out.iter_mut().enumerate() {
            let half = (word >> (16 * i)) as u16;
            *out = q.value().wrapping_add_signed(half.cast_signed().into());
        }
    }
}

/// The multiple of q that makes words in `(-2^62, 2^62)` positive, so that the sign of a secret word
/// decides nothing.
pub(in crate::kernels) fn signed_offset(q: &Modulus) -> u64 {
    (1u64 << 62).next_multiple_of(q.value())
}

pub(in crate::kernels) fn permute(out: &mut [u64], a: &[u64], perm: &[u32]) {
    for (out, &source) in out.iter_mut().zip(perm) {
        *out = a[source as usize];
    }
}

pub(in crate::kernels) fn permute_add_assign(acc: &mut [u64], a: &[u64], perm: &[u32], q: &Modulus) {
    for (acc, &source) in acc.iter_mut().zip(perm) {
        *acc = q.add(*acc, a[source as usize]);
    }
}
