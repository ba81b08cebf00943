//! The roots that the transform of one prime in one ring multiplies by.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::cyclotomic::Cyclotomic;
use crate::error::Error;
use crate::machine::aligned::{AlignedVec, Word};
use crate::modulus::{Modulus, ShoupFactor};
use crate::prime::primitive_root_of_order;

/// The negacyclic transform modulo one prime: `a -> (a(psi^(2 brv(j) + 1)))_j` with psi a primitive
/// 2n-th root of unity and brv the reversal of `log2 n` bits.
///
/// The forward transform takes coefficients in natural order and runs layers `m = 1, 2, 4, .. n/2`
/// of `m` blocks each (Cooley and Tukey; the twist by psi is merged into the roots: eprint
/// 2016/504); block `i` of layer `m` multiplies by root `m + i`, which is `psi^brv(m + i)`. The
/// inverse runs the layers backwards (Gentleman and Sande) with the inverses of the roots, and its
/// last layer carries the factor `1/n`. No reordering pass is ever made.
///
/// # One table for both directions
/// Blocks `i` and `m-1-i` of layer `m` have `brv(m + i) + brv(m + (m-1-i)) = n`: the leading bits,
/// reversed, sum to `n/m`, and the others, which are complements, to `n - n/m`. As `psi^n = -1`, the
/// inverse of root `m + i` is minus root `m + (m-1-i)`: the inverse reads the same table backwards
/// within each layer, and takes `(b - a) w` in place of `(a - b) w^-1`.
#[derive(Clone)]
pub struct NttTable {
    modulus: Modulus,
    degree: usize,
    /// The roots of all primes that were prepared together.
    roots: Arc<AllRoots>,
    /// Which of these primes this is.
    place: usize,
    /// `psi^brv(1)`, the root of the only block of layer 1.
    last_root: u64,
    /// `1/n` alone.
    unit: InverseScale,
}

/// A factor that the inverse transform multiplies its results by, at no cost: its last layer has `1/n` to multiply by
/// anyway. [`NttTable::inverse_scale`] makes it.
#[derive(Debug, Clone, Copy)]
pub struct InverseScale {
    /// `s`.
    factor: ShoupFactor,
    /// `s/n`.
    sum: ShoupFactor,
    /// `s psi^brv(1) / n`.
    difference: ShoupFactor,
}

impl InverseScale {
    /// The factor itself, for rows that are in coefficient form already.
    #[must_use]
    pub const fn factor(&self) -> ShoupFactor {
        self.factor
    }

    /// The factor of the sums of the last layer.
    pub(crate) const fn sum(&self) -> ShoupFactor {
        self.sum
    }

    /// The factor of the differences `b - a` of the last layer.
    pub(crate) const fn difference(&self) -> ShoupFactor {
        self.difference
    }
}

/// The roots of primes that take turns, in the layouts that were asked for: kernels of an instruction set read one of them.
struct AllRoots {
    /// Each prime with its primitive root psi.
    primes: Vec<(Modulus, u64)>,
    degree: usize,
    /// Of each prime the upper roots, then the blocks, as in [`Roots`].
    words: OnceLock<AlignedVec<u64>>,
    /// Of each prime the early roots, then the late ones, as in [`NumberRoots`].
    numbers: OnceLock<AlignedVec<f64>>,
}

impl AllRoots {
    /// The roots of all primes, `count` words each, which `write` makes of a prime and its roots in bit-reversed order.
    fn write<T: Word>(&self, count: usize, write: fn(&Modulus, &[ShoupFactor], &mut [T])) -> AlignedVec<T> {
        let mut roots = AlignedVec::zeroed(count * self.primes.len());
        for (roots, (q, psi)) in roots.chunks_exact_mut(count).zip(&self.primes) {
            write(q, &powers(q, *psi, self.degree), roots);
        }
        roots
    }
}

/// The roots in the order in which the layers read them.
///
/// Of the roots below n/8, each with its quotient, those of the last three layers below there lie in
/// the blocks, and the others, `upper`, are few.
#[derive(Clone, Copy)]
pub(crate) struct Roots<'a> {
    /// Each root with its quotient; entry 0 is not used.
    pub(crate) upper: &'a [[u64; 2]],
    /// One for each 64 consecutive words of a row; the only one of a shorter row is partly unused.
    pub(crate) blocks: &'a [BlockRoots],
}

/// How many groups of eight words a block of 64 words has.
pub(crate) const LANES: usize = 8;

/// The roots of the last six layers for 64 words, in lines of a cache: they are most of the table, and
/// each is read once in a transform.
///
/// Lines [`VALUES`] and [`QUOTIENTS`] hold the roots of the first three of the
/// six layers: one of stride 32, two of stride 16, four of stride 8, in entries 0, 1..3 and 3..7;
/// entry 7 is not used.
///
/// The lines from [`LATE`] on hold the roots of the last three layers, 7/8 of all, as
/// quotients alone; [`value_of_quotient`] gives the values. Each group of eight words is a transform
/// of its own, with one root of stride 4, two of stride 2 and four of stride 1: lines 0, 1..3 and
/// 3..7. Lane `g` of a line belongs to group `g`. A vector kernel transposes the 8 x 8 words, so that
/// lane `g` of each vector is in group `g`, and then needs no shuffles within vectors.
pub(crate) type BlockRoots = [[u64; LANES]; 9];

/// The line of the first three layers' roots.
pub(crate) const VALUES: usize = 0;
/// The line of the quotients of [`VALUES`].
pub(crate) const QUOTIENTS: usize = 1;
/// The first of the seven lines of the last three layers' quotients.
pub(crate) const LATE: usize = 2;

/// The roots for kernels that multiply numbers in `f64`, centred: in `[-(q-1)/2, (q-1)/2]`.
#[derive(Clone, Copy)]
pub(crate) struct NumberRoots<'a> {
    /// Root `index` for index in `[1, n/8)`, and `root / q`, rounded once; entry 0 is not used.
    pub(crate) early: &'a [[f64; 2]],
    /// The roots of the last three layers for each four groups of eight consecutive words: in each group one root of stride 4,
    /// two of stride 2 and four of stride 1. Lane `g` belongs to group `g`.
    pub(crate) late: &'a [[[f64; NUMBER_LANES]; GROUP_ROOTS]],
}

/// How many groups of eight words share a line of late roots as numbers.
const NUMBER_LANES: usize = 4;
/// How many roots the last three layers have in a group of eight words.
const GROUP_ROOTS: usize = 7;

/// How many words a block's roots are.
const BLOCK_WORDS: usize = size_of::<BlockRoots>() / size_of::<u64>();

/// How many words of a row a block serves.
const BLOCK: usize = 8 * LANES;

impl NttTable {
    /// Computes the roots.
    ///
    /// # Errors
    /// [`Error::NoRoot`] unless the prime is 1 modulo the ring's index, [`Error::Index`] if that is not a power of two.
    pub fn new(modulus: Modulus, ring: &Cyclotomic) -> Result<Self, Error> {
        Ok(Self::of_primes(&[modulus], ring)?.remove(0))
    }

    /// The tables of several primes that take turns: their roots lie together, so that large pages hold them, and the
    /// CPU finds them without searching page tables.
    ///
    /// # Errors
    /// As [`NttTable::new`], for any of the primes.
    pub fn of_primes(moduli: &[Modulus], ring: &Cyclotomic) -> Result<Vec<Self>, Error> {
        if !ring.is_power_of_two() {
            return Err(Error::Index { found: ring.index(), reason: "the transform needs a power of two" });
        }
        let degree = ring.degree();
        let psis = moduli.iter().map(|modulus| primitive_root_of_order(modulus, u64::from(ring.index())));
        let psis = psis.collect::<Result<Vec<u64>, _>>()?;
        let primes = moduli.iter().copied().zip(psis.iter().copied()).collect();
        let roots = Arc::new(AllRoots { primes, degree, words: OnceLock::new(), numbers: OnceLock::new() });
        let table = |(place, (&modulus, &psi)): (usize, (&Modulus, &u64))| {
            // brv(1) = n/2.
            let last_root = modulus.pow(psi, degree as u64 / 2);
            let unit = inverse_scale(&modulus, degree, last_root, 1);
            Self { modulus, degree, roots: Arc::clone(&roots), place, last_root, unit }
        };
        Ok(moduli.iter().zip(&psis).enumerate().map(table).collect())
    }

    /// The prime.
    #[must_use]
    pub const fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    /// The degree `n`: the length of a row.
    #[must_use]
    pub const fn degree(&self) -> usize {
        self.degree
    }

    /// Prepares [`Kernels::ntt_inverse_scaled`](crate::kernels::Kernels::ntt_inverse_scaled) by a factor. Range: in
    /// `[0, q)`.
    #[must_use]
    pub fn inverse_scale(&self, factor: u64) -> InverseScale {
        inverse_scale(&self.modulus, self.degree, self.last_root, factor)
    }

    /// The roots as words; the first call makes those of all primes that were prepared together.
    pub(crate) fn roots(&self) -> Roots<'_> {
        let count = words(self.degree);
        let roots =
            &self.roots.words.get_or_init(|| self.roots.write(count, write_roots))[self.place * count..][..count];
        let (upper, blocks) = roots.split_at(2 * blocks(self.degree));
        Roots { upper: upper.as_chunks().0, blocks: blocks.as_chunks().0.as_chunks().0 }
    }

    /// The roots as numbers; the first call makes those of all primes that were prepared together.
    ///
    /// # Panics
    /// If the degree is below 32.
    pub(crate) fn number_roots(&self) -> NumberRoots<'_> {
        let (early, late) = number_counts(self.degree);
        let count = early + late;
        let roots = self.roots.numbers.get_or_init(|| self.roots.write(count, write_number_roots));
        let (early, late) = roots[self.place * count..][..count].split_at(early);
        NumberRoots { early: early.as_chunks().0, late: late.as_chunks().0.as_chunks().0 }
    }

    /// The factor of the plain inverse transform, 1.
    pub(crate) const fn unit(&self) -> &InverseScale {
        &self.unit
    }
}

impl fmt::Debug for NttTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NttTable").field("modulus", &self.modulus).field("degree", &self.degree).finish_non_exhaustive()
    }
}

impl Roots<'_> {
    /// Root `index`, of those of the blocks too. Range: index in `[1, n/8)`.
    #[inline]
    pub(crate) fn root(self, index: usize) -> ShoupFactor {
        let Some(depth) = index.ilog2().checked_sub(self.upper.len().trailing_zeros()) else {
            return self.upper(index);
        };
        // Block `b` of 64 words is entry `upper.len() + b` of the first layer that the blocks hold.
        let (parent, place) = (index >> depth, index & ((1 << depth) - 1));
        let block = &self.blocks[parent - self.upper.len()];
        let entry = (1 << depth) - 1 + place;
        ShoupFactor { value: block[VALUES][entry], quotient: block[QUOTIENTS][entry] }
    }

    /// Root `index` of a layer whose blocks are longer than 64 words.
    #[inline(always)]
    pub(crate) fn upper(self, index: usize) -> ShoupFactor {
        let [value, quotient] = self.upper[index];
        ShoupFactor { value, quotient }
    }
}

/// The index of minus the inverse of root `index`: the opposite block of the same layer. Range: index
/// not 0.
#[inline(always)]
pub(crate) const fn mirror(index: usize) -> usize {
    index ^ ((1 << index.ilog2()) - 1)
}

/// A root `w` from its quotient `w' = floor(w 2^52 / q)`: `w = floor(w' q / 2^52) + 1`.
///
/// For `w 2^52 = w' q + r` with `0 <= r < q`, and r is not 0, as q is odd and does not divide w. So
/// `w' q / 2^52 = w - r / 2^52` lies between `w - 1` and `w`, closer than 1/4 to the latter.
///
/// Range: the quotient of `w` in `[1, q)`.
#[inline(always)]
pub(crate) const fn value_of_quotient(quotient: u64, q: u64) -> u64 {
    // As in `Modulus::mul_shoup_lazy`, only a high word is needed.
    (((quotient << 12) as u128 * q as u128) >> 64) as u64 + 1
}

/// The factor `s` with what the last layer multiplies by.
fn inverse_scale(q: &Modulus, degree: usize, last_root: u64, factor: u64) -> InverseScale {
    let sum = q.mul(factor, q.inv(q.reduce(degree as u64)));
    InverseScale { factor: q.shoup(factor), sum: q.shoup(sum), difference: q.shoup(q.mul(sum, last_root)) }
}

/// How many blocks of 64 words a row has, the only one of a shorter row included.
const fn blocks(degree: usize) -> usize {
    degree.div_ceil(BLOCK)
}

/// How many words the roots of one prime take.
const fn words(degree: usize) -> usize {
    (2 + BLOCK_WORDS) * blocks(degree)
}

/// How many numbers the early and the late roots of one prime are.
const fn number_counts(degree: usize) -> (usize, usize) {
    (degree / 8 * 2, degree / 8 * GROUP_ROOTS)
}

/// All roots, in the order of their indices.
fn powers(q: &Modulus, psi: u64, degree: usize) -> Vec<ShoupFactor> {
    let shift = usize::BITS - degree.trailing_zeros();
    let mut powers = vec![ShoupFactor { value: 0, quotient: 0 }; degree];
    let step = q.shoup(psi);
    let mut power = 1;
    for exponent in 0..degree {
        powers[exponent.reverse_bits() >> shift] = q.shoup(power);
        power = q.mul_shoup(power, step);
    }
    powers
}

/// Writes roots as [`NttTable::roots`] reads them.
fn write_roots(_: &Modulus, powers: &[ShoupFactor], roots: &mut [u64]) {
    let degree = powers.len();
    let count = blocks(degree);
    let (upper, blocks) = roots.split_at_mut(2 * count);
    for (upper, power) in upper.as_chunks_mut().0.iter_mut().zip(powers) {
        *upper = [power.value, power.quotient];
    }
    let blocks: &mut [BlockRoots] = blocks.as_chunks_mut().0.as_chunks_mut().0;
    // Shorter rows have fewer groups, and fewer layers before the last three.
    let groups = (degree / 8).min(LANES);
    for (number, block) in blocks.iter_mut().enumerate() {
        for entry in 0..groups - 1 {
            let power = powers[child(count + number, entry)];
            (block[VALUES][entry], block[QUOTIENTS][entry]) = (power.value, power.quotient);
        }
        for group in 0..groups {
            for (entry, line) in block[LATE..].iter_mut().enumerate() {
                line[group] = powers[child(degree / 8 + number * LANES + group, entry)].quotient;
            }
        }
    }
}

/// Writes roots as [`NttTable::number_roots`] reads them.
fn write_number_roots(q: &Modulus, powers: &[ShoupFactor], roots: &mut [f64]) {
    let degree = powers.len();
    let number = |index: usize| q.center(powers[index].value) as f64;
    let (early, late) = roots.split_at_mut(number_counts(degree).0);
    for (index, root) in early.as_chunks_mut().0.iter_mut().enumerate() {
        *root = [number(index), number(index) / q.value() as f64];
    }
    let late: &mut [[[f64; NUMBER_LANES]; GROUP_ROOTS]] = late.as_chunks_mut().0.as_chunks_mut().0;
    for (i, lines) in late.iter_mut().enumerate() {
        for (entry, line) in lines.iter_mut().enumerate() {
            for (lane, root) in line.iter_mut().enumerate() {
                *root = number(child(degree / 8 + i * NUMBER_LANES + lane, entry));
            }
        }
    }
}

/// The index of entry `entry`, in layer order, of the three layers that begin with the block of root
/// `index`: of it, its two halves and its four quarters.
const fn child(index: usize, entry: usize) -> usize {
    let layer = (entry + 1).ilog2();
    (index << layer) + entry + 1 - (1 << layer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prime::primes_below;

    #[test]
    fn the_inverse_of_a_root_is_minus_its_mirror() {
        for log in [3, 5, 6, 7, 10] {
            let ring = Cyclotomic::power_of_two(1 << log).expect("a degree");
            let prime = primes_below(1 << 48, ring.index().into()).next().expect("there are some");
            let q = Modulus::new(prime).expect("a prime");
            let table = NttTable::new(q, &ring).expect("q = 1 mod m");
            let roots = table.roots();
            for index in 1..ring.degree() / 8 {
                let (root, mirrored) = (roots.root(index), roots.root(mirror(index)));
                assert_eq!(q.mul(root.value, mirrored.value), prime - 1, "root {index} of 2^{log}");
                assert_eq!(root, q.shoup(root.value));
            }
        }
    }

    #[test]
    fn a_quotient_gives_its_value() {
        for bits in 2..=50 {
            let primes = [primes_below(1 << bits, 2).next(), primes_below(1 << bits, 2).nth(20)];
            for prime in primes.into_iter().flatten() {
                let q = Modulus::new(prime).expect("a prime");
                let step = (prime / 1009).max(1) as usize;
                let values = (1..prime).step_by(step).chain([prime / 2, prime / 2 + 1, prime - 2, prime - 1]);
                for value in values.filter(|&value| value > 0) {
                    assert_eq!(value_of_quotient(q.shoup(value).quotient, prime), value, "modulo {prime}");
                }
            }
        }
    }
}
