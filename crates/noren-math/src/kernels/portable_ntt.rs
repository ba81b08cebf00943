//! The reference of the transforms.

use super::portable::{mul_scalar_assign, subtract_if_not_below};
use crate::modulus::{Modulus, ShoupFactor};
use crate::ntt::table::{LANES, LATE, NttTable, Roots, mirror, value_of_quotient};

/// Layers whose stride is at least eight words run over the whole row, two at a time; the last
/// three run inside groups of eight words. Values stay in `[0, 4q)` (Harvey, arXiv 1205.2926).
pub(super) fn ntt_forward(row: &mut [u64], table: &NttTable) {
    let q = table.modulus();
    let roots = table.roots();
    let groups = row.len() / 8;
    let mut blocks = 1;
    if groups.trailing_zeros() % 2 == 1 {
        let (left, right) = row.split_at_mut(row.len() / 2);
        for (x, y) in left.iter_mut().zip(right) {
            (*x, *y) = forward_butterfly(*x, *y, roots.root(1), q);
        }
        blocks = 2;
    }
    while blocks < groups {
        for (i, block) in row.chunks_exact_mut(row.len() / blocks).enumerate() {
            let first = roots.root(blocks + i);
            let second = [roots.root(2 * (blocks + i)), roots.root(2 * (blocks + i) + 1)];
            for [a, b, c, d] in quarters(block) {
                let (a1, c1) = forward_butterfly(*a, *c, first, q);
                let (b1, d1) = forward_butterfly(*b, *d, first, q);
                (*a, *b) = forward_butterfly(a1, b1, second[0], q);
                (*c, *d) = forward_butterfly(c1, d1, second[1], q);
            }
        }
        blocks *= 4;
    }
    for (number, group) in row.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let root = |entry| late_root(roots, number, entry, q);
        let mut x = *group;
        late_layer::<4>(&mut x, root, |a, b, w| forward_butterfly(a, b, w, q));
        late_layer::<2>(&mut x, |block| root(1 + block), |a, b, w| forward_butterfly(a, b, w, q));
        late_layer::<1>(&mut x, |block| root(3 + block), |a, b, w| forward_butterfly(a, b, w, q));
        *group = x.map(|x| normalize(x, q));
    }
}

/// The mirror of [`ntt_forward`]. Values stay in `[0, 2q)`; the last layer carries the factor
/// `1/n`.
pub(super) fn ntt_inverse(row: &mut [u64], table: &NttTable) {
    let q = table.modulus();
    let roots = table.roots();
    let groups = row.len() / 8;
    for (number, group) in row.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        // The opposite group, and there the opposite entry of each layer.
        let root = |entry| late_root(roots, groups - 1 - number, entry, q);
        let mut x = *group;
        late_layer::<1>(&mut x, |block| root(6 - block), |a, b, w| inverse_butterfly(a, b, w, q));
        late_layer::<2>(&mut x, |block| root(2 - block), |a, b, w| inverse_butterfly(a, b, w, q));
        late_layer::<4>(&mut x, |_| root(0), |a, b, w| inverse_butterfly(a, b, w, q));
        *group = x;
    }
    let mut blocks = groups;
    if blocks == 1 {
        // Degree 8 has no layer left to carry the factor.
        return mul_scalar_assign(row, table.scale(), q);
    }
    while blocks > 4 {
        blocks /= 4;
        for (i, block) in row.chunks_exact_mut(row.len() / blocks).enumerate() {
            let index = mirror(blocks + i);
            let (first, second) = (roots.root(index), [roots.root(2 * index + 1), roots.root(2 * index)]);
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
                (*x, *y) = inverse_butterfly(*x, *y, roots.root(mirror(2 + i)), q);
            }
        }
    }
    let (left, right) = row.split_at_mut(row.len() / 2);
    for (x, y) in left.iter_mut().zip(right) {
        (*x, *y) = last_butterfly(*x, *y, table.scale(), table.scaled_root(), q);
    }
}

/// One of the last three layers of a group: butterflies of words `STRIDE` apart; `root(i)` is that of block `i`.
#[inline(always)]
fn late_layer<const STRIDE: usize>(
    x: &mut [u64; 8],
    root: impl Fn(usize) -> ShoupFactor,
    butterfly: impl Fn(u64, u64, ShoupFactor) -> (u64, u64),
) {
    for block in 0..4 / STRIDE {
        let w = root(block);
        for left in 2 * STRIDE * block..2 * STRIDE * block + STRIDE {
            (x[left], x[left + STRIDE]) = butterfly(x[left], x[left + STRIDE], w);
        }
    }
}

/// Entry `entry` of the last three layers' roots for group `number`.
#[inline(always)]
fn late_root(roots: Roots, number: usize, entry: usize, q: &Modulus) -> ShoupFactor {
    let quotient = roots.blocks[number / LANES][LATE + entry][number % LANES];
    ShoupFactor { value: value_of_quotient(quotient, q.value()), quotient }
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

/// `(x + y, w (y - x))`. Range: in `[0, 2q)`, out `[0, 2q)`.
#[inline(always)]
fn inverse_butterfly(x: u64, y: u64, w: ShoupFactor, q: &Modulus) -> (u64, u64) {
    let twice = 2 * q.value();
    (subtract_if_not_below(x + y, twice), q.mul_shoup_lazy(y + twice - x, w))
}

/// `(s (x + y), w (y - x))`. Range: in `[0, 2q)`, out `[0, q)`.
#[inline(always)]
fn last_butterfly(x: u64, y: u64, s: ShoupFactor, w: ShoupFactor, q: &Modulus) -> (u64, u64) {
    (q.mul_shoup(x + y, s), q.mul_shoup(y + 2 * q.value() - x, w))
}

/// Range: in `[0, 4q)`, out `[0, q)`.
#[inline(always)]
fn normalize(x: u64, q: &Modulus) -> u64 {
    subtract_if_not_below(subtract_if_not_below(x, 2 * q.value()), q.value())
}
