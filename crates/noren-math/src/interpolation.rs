//! Polynomials through values at 0, 1, 2, .. modulo a prime.

use crate::cyclotomic::Cyclotomic;
use crate::error::Error;
use crate::kernels::kernels;
use crate::modulus::Modulus;
use crate::roots::ntt::NttTable;

/// The number of falling powers in a block, which a matrix turns into powers.
const BASE: usize = 32;
/// The size of primes: sums of `BASE` products of residues stay below `2^64`.
const PRIME_BITS: u32 = 29;

/// The coefficients of the polynomial of degree below X that has given values at `0, 1, .., X - 1`, in `O(X log^2 X)` steps.
///
/// In falling powers `(x)_k = x (x - 1) .. (x - k + 1)` it is `sum_k d_k (x)_k` with
/// `d_k = sum_{i <= k} f(i)/i! (-1)^(k - i)/(k - i)!`, one product of polynomials. A block of `2 h` falling powers from s on is
/// `low + (x - s)_h high`, in which both halves are such blocks: from small blocks up, each pair takes one product with
/// `(x - s)_h`, whose transform is known. All products are shorter than the negacyclic transform they are made with.
///
/// Source: Gerhard, "Modular algorithms in symbolic summation and symbolic integration", 2004, section 3.
pub struct Interpolation {
    modulus: Modulus,
    points: usize,
    /// `1/i!`.
    inverse_factorials: Vec<u64>,
    /// `(-1)^j/j!`: themselves if there is one block, otherwise the transforms of their first and second half.
    signed: Vec<u64>,
    /// For each block the coefficients of its falling powers, shape `[block, power, coefficient]`.
    blocks: Vec<u32>,
    levels: Vec<Level>,
}

/// The products that make blocks twice as long.
struct Level {
    table: NttTable,
    /// The transforms of `(x - s)_h`, a row for each pair of blocks.
    nodes: Vec<u64>,
}

impl Interpolation {
    /// Prepares for `points` points, at least one.
    ///
    /// # Errors
    /// [`Error::NoRoot`] unless the prime is 1 modulo twice their number, rounded up to a power of two; up to 32 points do
    /// without roots.
    ///
    /// # Panics
    /// If there is no point, the prime is above `2^29`, or there are more points, rounded up so, than numbers modulo it.
    pub fn new(modulus: Modulus, points: usize) -> Result<Self, Error> {
        assert!(points > 0, "a polynomial goes through a point at least");
        assert!(modulus.bits() <= PRIME_BITS, "sums of {BASE} products stay below 2^64");
        let size = points.next_power_of_two();
        assert!(size as u64 <= modulus.value(), "factorials have inverses");
        let base = BASE.min(size);
        let factorials = (1..size as u64).scan(1, |product, i| {
            *product = modulus.mul(*product, i);
            Some(*product)
        });
        let inverse_factorials: Vec<u64> =
            std::iter::once(1).chain(factorials).map(|product| modulus.inv(product)).collect();
        let signed = inverse_factorials.iter().enumerate();
        let mut signed: Vec<u64> = signed.map(|(j, &x)| if j % 2 == 0 { x } else { modulus.neg(x) }).collect();

        // The falling powers of each block; of the last, which the next block starts with, all but the leading 1.
        let mut blocks = Vec::with_capacity(size * base);
        let mut nodes: Vec<Vec<u64>> = Vec::new();
        for start in (0..size).step_by(base) {
            let mut power = vec![0; base];
            power[0] = 1;
            for k in 0..base {
                blocks.extend(power.iter().map(|&x| x as u32));
                // Times (X - x); the leading 1 of the last falls off.
                let x = (start + k) as u64;
                for i in (0..base).rev() {
                    let below = if i > 0 { power[i - 1] } else { 0 };
                    power[i] = modulus.sub(below, modulus.mul(power[i], x));
                }
            }
            nodes.push(power);
        }
        let mut levels = Vec::new();
        while nodes.len() > 1 {
            let table = NttTable::new(modulus, &Cyclotomic::power_of_two(2 * nodes[0].len())?)?;
            let pairs = nodes.chunks_exact(2);
            levels.push(Level {
                nodes: pairs.clone().flat_map(|pair| transformed_node(&table, &pair[0])).collect(),
                table,
            });
            let level = levels.last().expect("one was pushed");
            nodes = pairs.map(|pair| product_of_nodes(&level.table, &pair[0], &pair[1])).collect();
        }
        if let Some(Level { table, .. }) = levels.last() {
            let halves = signed.chunks_exact(size / 2).flat_map(|half| transformed(table, half)).collect();
            signed = halves;
        }
        Ok(Self { modulus, points, inverse_factorials, signed, blocks, levels })
    }

    /// How many coefficients there are: the points, rounded up to a power of two. Those past the points are 0.
    #[must_use]
    pub fn coefficients(&self) -> usize {
        self.inverse_factorials.len()
    }

    /// Replaces values, one for each point, by coefficients. Range: `[0, t)`.
    ///
    /// # Panics
    /// If there is not one place for each coefficient.
    pub fn interpolate(&self, row: &mut [u64]) {
        assert_eq!(row.len(), self.coefficients(), "one place for each coefficient");
        row[self.points..].fill(0);
        kernels().mul_assign(row, &self.inverse_factorials, &self.modulus);
        self.differences(row);
        // Falling powers past the points would give a polynomial of a higher degree.
        row[self.points..].fill(0);
        let base = BASE.min(row.len());
        for (block, powers) in row.chunks_exact_mut(base).zip(self.blocks.chunks_exact(base * base)) {
            let mut sums = [0; BASE];
            for (&difference, power) in block.iter().zip(powers.chunks_exact(base)) {
                sums.iter_mut().zip(power).for_each(|(sum, &x)| *sum += difference * u64::from(x));
            }
            block.iter_mut().zip(sums).for_each(|(out, sum)| *out = self.modulus.reduce(sum));
        }
        let mut product = vec![0; row.len()];
        for Level { table, nodes } in &self.levels {
            let size = table.degree();
            let product = &mut product[..size];
            for (pair, node) in row.chunks_exact_mut(size).zip(nodes.chunks_exact(size)) {
                let (low, high) = pair.split_at(size / 2);
                product[..size / 2].copy_from_slice(high);
                product[size / 2..].fill(0);
                multiply(table, product, node);
                kernels().add_assign(&mut product[..size / 2], low, &self.modulus);
                pair.copy_from_slice(product);
            }
        }
    }

    /// The product with `(-1)^j/j!`, as far as the row goes.
    fn differences(&self, row: &mut [u64]) {
        let (size, kernels, modulus) = (row.len(), kernels(), &self.modulus);
        let Some(Level { table, .. }) = self.levels.last() else {
            let sum = |k: usize| (0..=k).map(|i| modulus.mul(row[i], self.signed[k - i])).sum();
            let sums: Vec<u64> = (0..size).map(|k| modulus.reduce(sum(k))).collect();
            return row.copy_from_slice(&sums);
        };
        let [low, high] = [0, 1].map(|i| transformed(table, &row[i * size / 2..][..size / 2]));
        let (first, second) = self.signed.split_at(size);
        let mut cross = vec![0; size];
        kernels.mul(&mut cross, &low, second, modulus);
        kernels.mul_add_assign(&mut cross, &high, first, modulus);
        kernels.ntt_inverse(&mut cross, table);
        kernels.mul(row, &low, first, modulus);
        kernels.ntt_inverse(row, table);
        kernels.add_assign(&mut row[size / 2..], &cross[..size / 2], modulus);
    }
}

/// The transform of a polynomial that fills half of it.
fn transformed(table: &NttTable, half: &[u64]) -> Vec<u64> {
    let mut row = half.to_vec();
    row.resize(table.degree(), 0);
    kernels().ntt_forward(&mut row, table);
    row
}

/// The transform of a polynomial with leading coefficient 1, given without it.
fn transformed_node(table: &NttTable, node: &[u64]) -> Vec<u64> {
    let mut row = node.to_vec();
    row.push(1);
    row.resize(table.degree(), 0);
    kernels().ntt_forward(&mut row, table);
    row
}

/// The product of two polynomials with leading coefficients 1, all without them.
fn product_of_nodes(table: &NttTable, a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut product = a.to_vec();
    product.resize(table.degree(), 0);
    multiply(table, &mut product, &transformed(table, b));
    for leading in [a, b] {
        kernels().add_assign(&mut product[a.len()..], leading, table.modulus());
    }
    product
}

/// A product with a transformed polynomial.
fn multiply(table: &NttTable, row: &mut [u64], by: &[u64]) {
    kernels().ntt_forward(row, table);
    kernels().mul_assign(row, by, table.modulus());
    kernels().ntt_inverse(row, table);
}

/// The coefficients, lowest first and in `(-t/2, t/2]`, of the polynomial modulo a prime t that has these values from `first` on:
/// fewer values than t, in quadratically many steps, by Newton's divided differences.
#[must_use]
pub fn through(modulus: &Modulus, first: i64, values: &[i64]) -> Vec<i64> {
    let residue = |x: i64| modulus.reduce_signed(x);
    let mut differences: Vec<u64> = values.iter().map(|&value| residue(value)).collect();
    for order in 1..differences.len() {
        // Points are 1 apart, so those of an order are `order` apart.
        let inverse = modulus.inv(order as u64);
        for at in (order..differences.len()).rev() {
            differences[at] = modulus.mul(modulus.sub(differences[at], differences[at - 1]), inverse);
        }
    }
    let mut coefficients = vec![0; values.len()];
    for (at, &difference) in differences.iter().enumerate().rev() {
        // The polynomial so far times `x - point`, plus the difference.
        let point = residue(first + at as i64);
        for k in (0..coefficients.len()).rev() {
            let lower = if k == 0 { difference } else { coefficients[k - 1] };
            coefficients[k] = modulus.sub(lower, modulus.mul(point, coefficients[k]));
        }
    }
    coefficients.into_iter().map(|c| modulus.center(c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_have_the_values_they_are_made_from() -> Result<(), Error> {
        for (t, points) in
            [(97, 1), (97, 2), (97, 13), (97, 16), (7681, 100), (7681, 256), (65537, 1000), (65537, 4096)]
        {
            let modulus = Modulus::new(t)?;
            let interpolation = Interpolation::new(modulus, points)?;
            for seed in [1, 2, 77] {
                let value = |x: usize| modulus.reduce((x as u64 + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20);
                let mut row: Vec<u64> = (0..interpolation.coefficients()).map(value).collect();
                interpolation.interpolate(&mut row);
                assert!(row[points..].iter().all(|&x| x == 0), "a degree below the number of points");
                for x in (0..points).step_by(1 + points / 50) {
                    let horner = |sum, &c: &u64| modulus.add(modulus.mul(sum, x as u64), c);
                    assert_eq!(row.iter().rev().fold(0, horner), value(x), "at {x} of {points} modulo {t}");
                }
            }
        }
        Ok(())
    }

    #[test]
    fn polynomials_go_through_values_from_any_point_on() {
        for (t, first) in [(257, 0), (65537, -7), (429_497_516_033, 1_000_000), (257, -128)] {
            let modulus = Modulus::new(t).expect("a prime");
            let values: Vec<i64> = (0..20).map(|k| k * k % 7 - 3).collect();
            let coefficients = through(&modulus, first, &values);
            for (at, &value) in values.iter().enumerate() {
                let x = i128::from(first) + at as i128;
                let t = i128::from(t);
                let found = coefficients.iter().rev().fold(0, |sum, &c| (sum * x + i128::from(c)).rem_euclid(t));
                assert_eq!(found, i128::from(value).rem_euclid(t), "{at} modulo {t}");
            }
        }
    }
}
