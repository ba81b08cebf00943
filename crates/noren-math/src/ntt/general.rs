//! The transform of one prime in a ring whose index is not a power of two, by Bluestein's algorithm.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::cyclotomic::{Cyclotomic, remainder};
use crate::error::Error;
use crate::kernels::Kernels;
use crate::machine::aligned::AlignedVec;
use crate::modulus::Modulus;
use crate::prime::primitive_root_of_order;
use crate::roots::ntt::NttTable;
use crate::scratch::with_scratch;

/// The fewest words of a row that a division by a binomial adds at a time.
const BLOCK: usize = 64;

/// The largest length of a convolution: the largest degree of an [`NttTable`].
const MAX_LENGTH: u32 = 1 << 17;

/// The transform `a -> (a(omega^e))_e` over the units e modulo m in ascending order, with omega a primitive m-th root
/// of unity modulo one prime.
///
/// With nu a square root of omega, `2ik = i^2 + k^2 - (k - i)^2` gives
/// `a(omega^k) = nu^(k^2) sum_i (a_i nu^(i^2)) nu^(-(k - i)^2)`: a convolution with a chirp, by transforms of a power of two.
/// A length L from `n + w - 1` on gives w values: the n words are transformed once, and for each piece of w values there is a
/// product with a part of the chirp and an inverse transform. Two pieces of a short length may cost less than one of a length
/// above `n + m - 1`.
///
/// The inverse sets the values at the other powers of omega to zero, takes the inverse transform of length m by a convolution
/// of a length `M >= 2m - 1`, and reduces the result modulo `Phi_m`, which changes no value at a primitive root.
///
/// Source: Bluestein, "A linear filtering approach to the computation of discrete Fourier transform", 1970.
#[derive(Clone)]
pub struct GeneralTable(Arc<Inner>);

struct Inner {
    modulus: Modulus,
    ring: Cyclotomic,
    units: Vec<u32>,
    /// `nu^(i^2)` for i below the degree.
    twists: AlignedVec<u64>,
    /// `nu^(e^2)` for the units e.
    unit_twists: AlignedVec<u64>,
    /// The transforms of length L.
    forward: NttTable,
    pieces: Vec<Piece>,
    /// `nu^(-e^2) / m` for the units e.
    inverse_unit_twists: AlignedVec<u64>,
    /// The transforms of length M.
    inverse: NttTable,
    /// The transform of `nu^((t - m + 1)^2)` for t below `2m - 1`.
    inverse_chirp: AlignedVec<u64>,
    /// `nu^(-i^2)` for i below m.
    inverse_twists: AlignedVec<u64>,
    /// Those of `Phi_m`.
    binomials: Vec<(usize, bool)>,
}

/// A part of the forward convolution.
struct Piece {
    /// The units whose values it gives.
    units: Range<usize>,
    /// The exponent of its first value.
    first: usize,
    /// The transform of `nu^(-(t + first - n + 1)^2)` for t below `n + w - 1`.
    chirp: AlignedVec<u64>,
}

/// The length L and the number w of values of a piece, for the fewest butterflies: those of the least power of two that has
/// room for all m values in a piece, or of a smaller one.
fn shape(n: usize, m: usize) -> (usize, usize) {
    let whole = (m + n - 1).next_power_of_two().max(8);
    let lengths =
        std::iter::successors(Some(whole), |length| Some(length / 2)).take_while(|&length| length >= n.max(8));
    let shapes = lengths.map(|length| (length, (length - n + 1).min(m)));
    let cost = |&(length, width): &(usize, usize)| (1 + m.div_ceil(width)) * length * length.ilog2() as usize;
    shapes.min_by_key(cost).expect("one piece is always a shape")
}

/// The length M of the inverse convolution of index m. Range: m at most 2^18.
const fn length(m: u32) -> u32 {
    let length = (2 * m - 1).next_power_of_two();
    // The smallest degree of an `NttTable`.
    if length < 8 { 8 } else { length }
}

/// The order of the roots of unity that the transforms of a ring use: its primes must be 1 modulo this order.
///
/// For an index m that is a power of two this is m; else `lcm(2m, 2M)` with M the length of convolutions (m for 2m if m
/// is odd).
#[must_use]
pub fn order_of_roots(ring: &Cyclotomic) -> u64 {
    let m = ring.index();
    if ring.is_power_of_two() {
        return m.into();
    }
    // 2M is a power of two above 2m.
    let odd = m >> m.trailing_zeros();
    u64::from(odd) * 2 * u64::from(length(m))
}

impl GeneralTable {
    /// Computes the roots and the transforms of chirps.
    ///
    /// # Errors
    /// [`Error::NoRoot`] unless the prime is 1 modulo [`order_of_roots`], [`Error::Index`] for an index above 2^16.
    pub fn new(modulus: Modulus, ring: &Cyclotomic) -> Result<Self, Error> {
        let (m, n) = (ring.index() as usize, ring.degree());
        let length = length(ring.index());
        if length > MAX_LENGTH {
            return Err(Error::Index { found: ring.index(), reason: "the transform needs an index of at most 2^16" });
        }
        let table = |length: usize| NttTable::new(modulus, &Cyclotomic::power_of_two(length)?);
        let (short, width) = shape(n, m);
        let inverse_table = table(length as usize)?;
        let forward_table = if short == length as usize { inverse_table.clone() } else { table(short)? };
        // Of an odd index, the square root of omega with the order m: nu^2 = omega either way.
        let even = m.is_multiple_of(2);
        let order = if even { 2 * m } else { m } as u64;
        let omega = primitive_root_of_order(&modulus, m as u64)?;
        let nu = if even { square_root(&modulus, omega, order)? } else { modulus.pow(omega, order.div_ceil(2)) };
        let squares = |root: u64| -> Vec<u64> { (0..m as u64).map(|i| modulus.pow(root, i * i % order)).collect() };
        let (forward, backward) = (squares(nu), squares(modulus.inv(nu)));
        let units = ring.points();
        let of_m = modulus.inv(modulus.reduce(m as u64));
        let at_units = |squares: &[u64], factor: u64| -> Vec<u64> {
            units.iter().map(|&e| modulus.mul(squares[e as usize], factor)).collect()
        };
        let transform = |table: &NttTable, words: usize, word: &dyn Fn(usize) -> u64| {
            let mut row = AlignedVec::zeroed(table.degree());
            row[..words].iter_mut().enumerate().for_each(|(t, out)| *out = word(t));
            table.forward(&mut row);
            row
        };
        let piece = |first: usize| {
            let of_unit = |end: usize| units.partition_point(|&e| (e as usize) < end);
            // The square of a distance counts modulo its order: past m, as that of its remainder.
            let word = |t: usize| backward[(t + first).abs_diff(n - 1) % m];
            let chirp = transform(&forward_table, n + width - 1, &word);
            Piece { units: of_unit(first)..of_unit(first + width), first, chirp }
        };
        let inner = Inner {
            twists: AlignedVec::from_slice(&forward[..n]),
            unit_twists: AlignedVec::from_slice(&at_units(&forward, 1)),
            pieces: (0..m).step_by(width).map(piece).collect(),
            inverse_unit_twists: AlignedVec::from_slice(&at_units(&backward, of_m)),
            inverse_chirp: transform(&inverse_table, 2 * m - 1, &|t| forward[t.abs_diff(m - 1)]),
            inverse_twists: AlignedVec::from_slice(&backward),
            modulus,
            ring: *ring,
            forward: forward_table,
            inverse: inverse_table,
            units,
            binomials: ring.binomials(),
        };
        Ok(Self(Arc::new(inner)))
    }

    /// The prime.
    #[must_use]
    pub fn modulus(&self) -> &Modulus {
        &self.0.modulus
    }

    /// The degree `n = phi(m)`: the length of a row.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.0.ring.degree()
    }

    /// From coefficients to evaluations, in place. Range: in `[0, 4q)`, out `[0, q)`.
    ///
    /// # Panics
    /// If the row's length is not the degree.
    pub fn forward(&self, kernels: &Kernels, row: &mut [u64]) {
        let table = &*self.0;
        let (q, n) = (&table.modulus, self.degree());
        assert_eq!(row.len(), n, "a row has one word for each coefficient");
        let length = table.forward.degree();
        let rows = if table.pieces.len() > 1 { 2 } else { 1 };
        with_scratch(rows * length, |scratch| {
            let (transform, product) = scratch.split_at_mut(length);
            kernels.reduce(&mut transform[..n], row, q);
            kernels.mul_assign(&mut transform[..n], &table.twists, q);
            kernels.ntt_forward(transform, &table.forward);
            for piece in &table.pieces {
                let values = if product.is_empty() {
                    kernels.mul_assign(transform, &piece.chirp, q);
                    &mut *transform
                } else {
                    kernels.mul(product, transform, &piece.chirp, q);
                    &mut *product
                };
                kernels.ntt_inverse(values, &table.forward);
                let values = &values[n - 1..];
                let places = row[piece.units.clone()].iter_mut().zip(&table.units[piece.units.clone()]);
                places.for_each(|(out, &e)| *out = values[e as usize - piece.first]);
            }
        });
        kernels.mul_assign(row, &table.unit_twists, q);
    }

    /// From evaluations to coefficients, in place. Range: in `[0, 2q)`, out `[0, q)`.
    ///
    /// # Panics
    /// If the row's length is not the degree.
    pub fn inverse(&self, kernels: &Kernels, row: &mut [u64]) {
        let table = &*self.0;
        let (q, n, m) = (&table.modulus, self.degree(), table.ring.index() as usize);
        assert_eq!(row.len(), n, "a row has one word for each value");
        with_scratch(table.inverse.degree(), |scratch| {
            row.iter_mut().for_each(|value| *value = (*value).min(value.wrapping_sub(q.value())));
            kernels.mul_assign(row, &table.inverse_unit_twists, q);
            row.iter().zip(&table.units).for_each(|(&value, &e)| scratch[e as usize] = value);
            // The products that are read do not wrap around.
            kernels.ntt_forward(scratch, &table.inverse);
            kernels.mul_assign(scratch, &table.inverse_chirp, q);
            kernels.ntt_inverse(scratch, &table.inverse);
            let (copy, rest) = scratch.split_at_mut(m - 1);
            let a = &mut rest[..m];
            kernels.mul_assign(a, &table.inverse_twists, q);
            let times = |series: &mut [u64], step, multiply| times_binomial(kernels, q, series, step, multiply, copy);
            remainder(&table.binomials, a, row, times, |a, b| q.sub(a, b));
        });
    }
}

/// Multiplies a power series by `1 - X^step`, or divides it, as [`cyclotomic::times_binomial`](crate::cyclotomic) does, by
/// verbs on rows; `copy` has room for the series.
///
/// A division by a short step takes `1/(1 - X^s) = (1 + X^s)/(1 - X^(2s))` until the step is a block of some length.
fn times_binomial(
    kernels: &Kernels,
    q: &Modulus,
    series: &mut [u64],
    mut step: usize,
    multiply: bool,
    copy: &mut [u64],
) {
    let length = series.len();
    let mut shifted = |series: &mut [u64], step: usize, verb: fn(&Kernels, &mut [u64], &[u64], &Modulus)| {
        let Some(words) = length.checked_sub(step) else { return };
        copy[..words].copy_from_slice(&series[..words]);
        verb(kernels, &mut series[step..], &copy[..words], q);
    };
    if multiply {
        return shifted(series, step, Kernels::sub_assign);
    }
    while step < BLOCK {
        shifted(series, step, Kernels::add_assign);
        step *= 2;
    }
    for start in (step..length).step_by(step) {
        let (before, block) = series.split_at_mut(start);
        let words = step.min(block.len());
        kernels.add_assign(&mut block[..words], &before[start - step..][..words], q);
    }
}

/// A square root of omega of this order: a power of any root of unity of the order whose square has that of omega.
fn square_root(q: &Modulus, omega: u64, order: u64) -> Result<u64, Error> {
    let root = primitive_root_of_order(q, order)?;
    let square = q.mul(root, root);
    // omega is a power of it with an odd exponent, as both generate the same group.
    let (mut power, mut exponent) = (square, 1);
    while power != omega {
        power = q.mul(power, square);
        exponent += 1;
    }
    Ok(q.pow(root, exponent))
}

impl fmt::Debug for GeneralTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GeneralTable")
            .field("modulus", self.modulus())
            .field("index", &self.0.ring.index())
            .finish_non_exhaustive()
    }
}
