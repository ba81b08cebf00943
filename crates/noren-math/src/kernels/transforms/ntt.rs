//! The number-theoretic transform in plain Rust.
//!
//! A quotient is a high word of 64 bits, so values may grow to 2^64: primes below 2^50 leave 14 bits of
//! room, and almost all the reductions of Harvey's butterflies (arXiv 1205.2926) can go.
//! - Forward, a layer adds a product, which grows slowly: see [`product_bound`]. Nothing is reduced before
//!   the end, where values are below 420q in the largest ring.
//! - Inverse, a layer doubles the sums. Of each four values of two layers only the sum of all needs a
//!   reduction, and only in the last passes of a long row.

use crate::kernels::rows::wide_reduction::subtract_if_not_below;
use crate::modulus::ShoupFactor;
use crate::roots::ntt::{BlockRoots, InverseScale, LANES, LATE, NttTable, Roots, mirror, value_of_quotient};

/// Layers whose stride is at least eight words run over the whole row, two at a time; the last
/// three run inside groups of eight words.
pub(in crate::kernels) fn ntt_forward(row: &mut [u64], table: &NttTable) {
    let q = table.modulus().value();
    let roots = table.roots();
    let root = |index| Factor::from(roots.root(index));
    let groups = row.len() / 8;
    let mut blocks = 1;
    let mut bound = FORWARD_BOUND;
    if groups.trailing_zeros() % 2 == 1 {
        let (w, reach) = (root(1), q * product_bound(bound));
        for [x, y] in halves(row) {
            for i in 0..2 {
                (x[i], y[i]) = forward_butterfly(x[i], y[i], w, reach, q);
            }
        }
        bound += product_bound(bound);
        blocks = 2;
    }
    while blocks < groups {
        let reach = [product_bound(bound), product_bound(bound + product_bound(bound))];
        bound += reach[0] + reach[1];
        let reach = reach.map(|reach| q * reach);
        for (i, block) in row.chunks_exact_mut(row.len() / blocks).enumerate() {
            let first = root(blocks + i);
            let second = [root(2 * (blocks + i)), root(2 * (blocks + i) + 1)];
            for [a, b, c, d] in quarters(block) {
                for i in 0..2 {
                    let (a1, c1) = forward_butterfly(a[i], c[i], first, reach[0], q);
                    let (b1, d1) = forward_butterfly(b[i], d[i], first, reach[0], q);
                    (a[i], b[i]) = forward_butterfly(a1, b1, second[0], reach[1], q);
                    (c[i], d[i]) = forward_butterfly(c1, d1, second[1], reach[1], q);
                }
            }
        }
        blocks *= 4;
    }
    let reach = [(); 3].map(|()| {
        let reach = product_bound(bound);
        bound += reach;
        q * reach
    });
    // 2^64 is no multiple of q, which is odd.
    let inverse = u64::MAX / q;
    for (words, block) in row.chunks_mut(8 * LANES).zip(roots.blocks) {
        for (lane, group) in words.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            let root = |entry| late_root(block, lane, entry, q);
            let mut x = *group;
            late_layer::<4>(&mut x, root, |a, b, w| forward_butterfly(a, b, w, reach[0], q));
            late_layer::<2>(&mut x, |block| root(1 + block), |a, b, w| forward_butterfly(a, b, w, reach[1], q));
            late_layer::<1>(&mut x, |block| root(3 + block), |a, b, w| forward_butterfly(a, b, w, reach[2], q));
            *group = x;
        }
        // In a loop of its own: at the end of each group it would wait for the last products.
        for pair in pairs(words) {
            *pair = pair.map(|x| normalize(x, inverse, q));
        }
    }
}

/// The mirror of [`ntt_forward`]; the last layer carries the factors of `scale`.
pub(in crate::kernels) fn ntt_inverse(row: &mut [u64], table: &NttTable, scale: &InverseScale) {
    let q = table.modulus().value();
    let roots = table.roots();
    for (words, block) in row.chunks_mut(8 * LANES).zip(roots.blocks.iter().rev()) {
        let last = words.len() / 8 - 1;
        for (lane, group) in words.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            // The opposite group, and there the opposite entry of each layer.
            let root = |entry| late_root(block, last - lane, entry, q);
            let mut x = *group;
            late_layer::<1>(
                &mut x,
                |block| root(6 - block),
                |a, b, w| inverse_butterfly(a, b, w, INVERSE_BOUND * q, q),
            );
            late_layer::<2>(
                &mut x,
                |block| root(2 - block),
                |a, b, w| inverse_butterfly(a, b, w, 2 * INVERSE_BOUND * q, q),
            );
            late_layer::<4>(&mut x, |_| root(0), |a, b, w| inverse_butterfly(a, b, w, 4 * INVERSE_BOUND * q, q));
            // The sum of all eight is below 16q, the others are below 8q.
            x[0] = subtract_if_not_below(x[0], LATE_BOUND * q);
            *group = x;
        }
    }
    let mut bound = LATE_BOUND;
    let mut blocks = row.len() / 8;
    while blocks > 4 {
        blocks /= 4;
        let passed = bound_after_pass(bound);
        if passed == 4 * bound {
            inverse_pass(row, blocks, roots, bound * q, q, |sum| sum);
        } else {
            let [once, twice] = [bound * q, 2 * bound * q];
            inverse_pass(row, blocks, roots, once, q, |sum| {
                subtract_if_not_below(subtract_if_not_below(sum, twice), once)
            });
        }
        bound = passed;
    }
    last_pass(row, blocks, table, scale, bound * q);
}

/// Two layers of the inverse, the second of `blocks` blocks; `reduce` is done to the sums of four.
/// Range: in `[0, reach)`, out as [`bound_after_pass`] says.
#[inline(always)]
fn inverse_pass(row: &mut [u64], blocks: usize, roots: Roots, reach: u64, q: u64, reduce: impl Fn(u64) -> u64) {
    for (i, block) in row.chunks_exact_mut(row.len() / blocks).enumerate() {
        let index = mirror(blocks + i);
        let first = Factor::from(roots.root(index));
        let second = [roots.root(2 * index + 1), roots.root(2 * index)].map(Factor::from);
        for [a, b, c, d] in quarters(block) {
            for i in 0..2 {
                let (a1, b1) = inverse_butterfly(a[i], b[i], second[0], reach, q);
                let (c1, d1) = inverse_butterfly(c[i], d[i], second[1], reach, q);
                let (a2, c2) = inverse_butterfly(a1, c1, first, 2 * reach, q);
                (a[i], c[i]) = (reduce(a2), c2);
                (b[i], d[i]) = inverse_butterfly(b1, d1, first, 2 * reach, q);
            }
        }
    }
}

/// The layers of the inverse from `blocks` blocks on, two at most, the last with the factors of
/// `scale`. Range: in `[0, reach)`, out `[0, q)`.
fn last_pass(row: &mut [u64], blocks: usize, table: &NttTable, scale: &InverseScale, reach: u64) {
    let q = table.modulus().value();
    let [sum, difference] = [scale.sum(), scale.difference()].map(|w| Factor::exact(w.value, q));
    let last = |x, y, reach| (sum.canonical_product(x + y, q), difference.canonical_product(y + reach - x, q));
    match blocks {
        1 => row.iter_mut().for_each(|x| *x = sum.canonical_product(*x, q)),
        2 => {
            for [x, y] in halves(row) {
                for i in 0..2 {
                    (x[i], y[i]) = last(x[i], y[i], reach);
                }
            }
        }
        _ => {
            let second = [table.roots().root(3), table.roots().root(2)].map(Factor::from);
            for [a, b, c, d] in quarters(row) {
                for i in 0..2 {
                    let (a1, b1) = inverse_butterfly(a[i], b[i], second[0], reach, q);
                    let (c1, d1) = inverse_butterfly(c[i], d[i], second[1], reach, q);
                    (a[i], c[i]) = last(a1, c1, 2 * reach);
                    (b[i], d[i]) = last(b1, d1, 2 * reach);
                }
            }
        }
    }
}

/// One of the last three layers of a group: butterflies of words `STRIDE` apart; `root(i)` is that of block `i`.
#[inline(always)]
fn late_layer<const STRIDE: usize>(
    x: &mut [u64; 8],
    root: impl Fn(usize) -> Factor,
    butterfly: impl Fn(u64, u64, Factor) -> (u64, u64),
) {
    for block in 0..4 / STRIDE {
        let w = root(block);
        for left in 2 * STRIDE * block..2 * STRIDE * block + STRIDE {
            (x[left], x[left + STRIDE]) = butterfly(x[left], x[left + STRIDE], w);
        }
    }
}

/// Entry `entry` of the last three layers' roots for the group of a lane.
#[inline(always)]
fn late_root(block: &BlockRoots, lane: usize, entry: usize, q: u64) -> Factor {
    let quotient = block[LATE + entry][lane];
    ShoupFactor { value: value_of_quotient(quotient, q), quotient }.into()
}

/// Pairs of words: a round of a loop with two keeps the multiplier busier than two rounds.
#[inline(always)]
fn pairs(words: &mut [u64]) -> impl Iterator<Item = &mut [u64; 2]> {
    words.as_chunks_mut().0.iter_mut()
}

/// The pairs of words at equal places of the halves of a block.
#[inline(always)]
fn halves(block: &mut [u64]) -> impl Iterator<Item = [&mut [u64; 2]; 2]> {
    let (left, right) = block.split_at_mut(block.len() / 2);
    pairs(left).zip(pairs(right)).map(|(x, y)| [x, y])
}

/// The pairs of words at equal places of the four quarters of a block.
#[inline(always)]
fn quarters(block: &mut [u64]) -> impl Iterator<Item = [&mut [u64; 2]; 4]> {
    let (left, right) = block.split_at_mut(block.len() / 2);
    halves(left).zip(halves(right)).map(|([a, b], [c, d])| [a, b, c, d])
}

/// The forward transform is given a row in `[0, 4q)`. This and the other bounds are multiples of q.
const FORWARD_BOUND: u64 = 4;

/// The inverse transform is given a row in `[0, 2q)`.
const INVERSE_BOUND: u64 = 2;

/// The bound of the values of a group after the last three layers' inverse.
const LATE_BOUND: u64 = 4 * INVERSE_BOUND;

/// The bound of the values before two more layers of the inverse, so that sums of four stay below 2^64.
const BOUND_LIMIT: u64 = 1 << 12;

/// From what bound on a pass of the inverse reduces: below the limit by the 2 that each such pass adds, for
/// more passes than any ring has.
const REDUCING_BOUND: u64 = BOUND_LIMIT - 64;

/// A product of `y < bound q` with a [`Factor`] is below this: `1 + bound/4` or the next integer, as
/// `q < 2^50`.
const fn product_bound(bound: u64) -> u64 {
    1 + bound.div_ceil(4)
}

/// The bound after two layers of the inverse.
///
/// Unreduced, the sum of four is below 4 times the bound, and the others are smaller. Else the sum is
/// brought below the bound; the products are below `1 + bound/2` after the first layer and below `1 + bound`
/// after the second, and the sum of two products is below `2 + bound`.
const fn bound_after_pass(bound: u64) -> u64 {
    if 4 * bound <= REDUCING_BOUND { 4 * bound } else { bound + 2 }
}

/// A constant factor `w` in `[0, q)` with its quotient for words of 64 bits.
#[derive(Clone, Copy)]
struct Factor {
    value: u64,
    /// `floor(w 2^52 / q) 2^12`, or exactly `floor(w 2^64 / q)`.
    quotient: u64,
}

impl From<ShoupFactor> for Factor {
    #[inline(always)]
    fn from(w: ShoupFactor) -> Self {
        Self { value: w.value, quotient: w.quotient << 12 }
    }
}

impl Factor {
    /// The factor with an exact quotient. Range: in `[0, q)`.
    fn exact(value: u64, q: u64) -> Self {
        Self { value, quotient: ((u128::from(value) << 64) / u128::from(q)) as u64 }
    }

    /// `w y` modulo q, not normalised.
    ///
    /// With `w 2^52 = w' q + r` and `0 <= r < q`, the quotient is `w' 2^12`, and
    /// `h = floor(w' y / 2^52) > y (w - r / 2^52) / q - 1`. So `w y - h q < q + y r / 2^52`. An exact quotient
    /// has 2^64 in place of 2^52.
    ///
    /// Range: any `y`, out `[0, q (1 + y / 2^52))`; with an exact quotient `[0, 2q)`.
    #[inline(always)]
    fn product(self, y: u64, q: u64) -> u64 {
        y.wrapping_mul(self.value).wrapping_sub(high_word(y, self.quotient).wrapping_mul(q))
    }

    /// `w y mod q` by an exact quotient. Range: any `y`, out `[0, q)`.
    #[inline(always)]
    fn canonical_product(self, y: u64, q: u64) -> u64 {
        subtract_if_not_below(self.product(y, q), q)
    }
}

/// `(x + w y, x - w y)`. Range: `reach` a multiple of q that the product stays below; out below `x + reach`.
#[inline(always)]
fn forward_butterfly(x: u64, y: u64, w: Factor, reach: u64, q: u64) -> (u64, u64) {
    let y = w.product(y, q);
    (x + y, x + reach - y)
}

/// `(x + y, w (y - x))`. Range: in `[0, reach)`, `reach` a multiple of q below 2^63; the product as
/// [`Factor::product`] for words below `y + reach`.
#[inline(always)]
fn inverse_butterfly(x: u64, y: u64, w: Factor, reach: u64, q: u64) -> (u64, u64) {
    (x + y, w.product(y + reach - x, q))
}

/// `x mod q`, with `inverse = floor(2^64 / q)`. Range: any `x`, out `[0, q)`.
#[inline(always)]
fn normalize(x: u64, inverse: u64, q: u64) -> u64 {
    // The quotient is short by less than x / 2^64 before the cut, so by 1 at most.
    subtract_if_not_below(x - high_word(x, inverse) * q, q)
}

/// `floor(a * b / 2^64)`.
#[inline(always)]
fn high_word(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modulus::{MAX_MODULUS_BITS, Modulus};
    use crate::prime::primes_below;

    /// The layers of the largest ring, and more.
    const LAYERS: usize = 20;

    #[test]
    fn products_stay_below_their_bound() {
        for bits in [8, 30, 48, 50] {
            let q = Modulus::new(primes_below(1 << bits, 2).next().expect("there are some")).expect("a prime");
            for w in [1, 2, q.value() / 3, q.value() - 2, q.value() - 1] {
                let factors = [q.shoup(w).into(), Factor::exact(w, q.value())];
                for y in [0, 1, q.value() - 1, 2 * q.value(), (1 << 52) - 1, 1 << 60, u64::MAX - 1, u64::MAX] {
                    let expected = u128::from(w) * u128::from(y) % u128::from(q.value());
                    let [product, exact] = factors.map(|factor| factor.product(y, q.value()));
                    assert_eq!(u128::from(product % q.value()), expected);
                    assert!(product / q.value() < product_bound(y / q.value() + 1));
                    assert_eq!(u128::from(exact % q.value()), expected);
                    assert!(exact < 2 * q.value());
                    assert_eq!(normalize(y, u64::MAX / q.value(), q.value()), y % q.value());
                }
            }
        }
    }

    #[test]
    fn values_fit_a_word_in_the_largest_ring() {
        let forward = (0..LAYERS).fold(FORWARD_BOUND, |bound, _| bound + product_bound(bound));
        assert!(forward <= 1 << (u64::BITS - MAX_MODULUS_BITS));
        let inverse = (0..LAYERS / 2).fold(LATE_BOUND, |bound, _| bound_after_pass(bound));
        assert!(inverse <= BOUND_LIMIT);
        const { assert!(4 * BOUND_LIMIT <= 1 << (u64::BITS - MAX_MODULUS_BITS)) };
    }
}
