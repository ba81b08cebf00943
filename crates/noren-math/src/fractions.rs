//! Sums of fractions of polynomials modulo a power of a prime.

use std::ops::Range;

use crate::cyclotomic::Cyclotomic;
use crate::error::Error;
use crate::kernels::kernels;
use crate::machine::aligned::AlignedVec;
use crate::modulus::{MAX_MODULUS_BITS, Modulus, ShoupFactor};
use crate::polynomials::product;
use crate::prime::primes_below;
use crate::prime_power::PrimePower;
use crate::roots::ntt::NttTable;
use crate::scratch::with_scratch;

/// The least mean degree of groups of denominators that transforms combine; smaller ones are multiplied as they are written.
const LEAST_GROUP: usize = 16;

/// The same where sums of products are right modulo `2^64`, which is faster; with at most so many denominators, whose cofactors
/// take memory.
const LEAST_GROUP_IN_WORDS: usize = 128;
const MOST_IN_WORDS: usize = 8;

/// The denominators `F_t` of fractions, all of degree d and with the constant 1, and their products: from pairs of small
/// groups to all of them.
///
/// `N_0/F_0 + N_1/F_1 + ..` has the numerator `N_0 F_1 + N_1 F_0` for two groups, and so on up to all l of them, in `O(n log^2
/// n)` steps for `n = l d`. Products are those of integers, exact modulo one prime or several.
///
/// Source: von zur Gathen and Gerhard, "Modern Computer Algebra", chapter 10; the transposed algorithm is that of Bostan,
/// Lecerf and Schost, "Tellegen's principle into practice", 2003.
#[derive(Debug, Clone)]
pub(crate) struct Fractions {
    numbers: PrimePower,
    degree: usize,
    count: usize,
    /// The product of the other denominators of the group of each one, with d zeros before and after it, one after the other
    /// for each group.
    cofactors: Vec<Vec<u64>>,
    /// From the smallest groups up.
    levels: Vec<Level>,
    primes: Vec<Modulus>,
    /// Of prime i its inverse modulo each later one.
    inverses: Vec<Vec<ShoupFactor>>,
}

/// Groups, each of which consists of two of the level below.
#[derive(Debug, Clone)]
struct Level {
    /// The transforms of each prime.
    tables: Vec<NttTable>,
    /// The transforms of products of denominators. Shape: `[group, half, prime, word]`.
    halves: AlignedVec<u64>,
}

impl Fractions {
    /// Multiplies the denominators, of `degree + 1` coefficients each.
    ///
    /// # Errors
    /// [`Error::Index`] if all together have a degree of `2^17` or more.
    pub(crate) fn new(denominators: &[Vec<u64>], degree: usize, numbers: PrimePower) -> Result<Self, Error> {
        let count = denominators.len();
        let whole = count * degree;
        let least = match numbers.sums_in_words(2 * LEAST_GROUP_IN_WORDS) {
            true => (MOST_IN_WORDS * degree).clamp(LEAST_GROUP, LEAST_GROUP_IN_WORDS),
            false => LEAST_GROUP,
        };
        let levels = (1..=count.ilog2() as usize).rev().find(|&k| whole >> k >= least).unwrap_or(0);
        let mut fractions = Self {
            primes: primes_of_products(whole, &numbers),
            numbers,
            degree,
            count,
            cofactors: Vec::with_capacity(count),
            levels: Vec::new(),
            inverses: Vec::new(),
        };
        for (i, of) in fractions.primes.iter().enumerate() {
            let inverse = |q: &Modulus| q.shoup(q.inv(q.reduce(of.value())));
            fractions.inverses.push(fractions.primes[i + 1..].iter().map(inverse).collect());
        }
        let mut products = Vec::new();
        for group in fractions.groups(levels) {
            let all = |without: Option<usize>| {
                let others = group.clone().filter(|&t| Some(t) != without);
                others.fold(vec![1], |all, t| product(&all, &denominators[t], &numbers))
            };
            let zeros = vec![0; degree];
            fractions
                .cofactors
                .push(group.clone().flat_map(|t| [&zeros[..], &all(Some(t)), &zeros].concat()).collect());
            products.push(all(None));
        }
        for _ in 0..levels {
            let level = fractions.level(&products)?;
            products = fractions.products(&level, &products);
            fractions.levels.push(level);
        }
        Ok(fractions)
    }

    /// The fractions of each of `2^k` groups.
    fn groups(&self, k: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let count = self.count;
        (0..1usize << k).map(move |i| ((i * count) >> k)..(((i + 1) * count) >> k))
    }

    /// The coefficients of the numerator of each of `2^k` groups, and how many of them its first half has.
    fn numerators(&self, k: usize) -> impl Iterator<Item = (Range<usize>, usize)> + use<> {
        let (d, halves) = (self.degree, self.groups(k + 1).step_by(2));
        self.groups(k).zip(halves).map(move |(group, half)| (group.start * d..group.end * d, half.len() * d))
    }

    /// The length of the longest transform.
    fn longest(&self) -> usize {
        self.levels.last().map_or(0, Level::length)
    }

    /// The transforms of groups, by the products of denominators of the level below.
    fn level(&self, products: &[Vec<u64>]) -> Result<Level, Error> {
        let most = products.chunks_exact(2).map(|pair| pair[0].len() + pair[1].len() - 1).max().unwrap_or(0);
        let ring = Cyclotomic::power_of_two(most.next_power_of_two().max(8))?;
        let tables = self.primes.iter().map(|q| NttTable::new(*q, &ring)).collect::<Result<Vec<_>, Error>>()?;
        let mut halves = AlignedVec::zeroed(products.len() * tables.len() * ring.degree());
        let rows = halves.chunks_exact_mut(ring.degree());
        for (i, row) in rows.enumerate() {
            self.transform(row, &products[i / tables.len()], &tables[i % tables.len()]);
        }
        Ok(Level { tables, halves })
    }

    /// The products of denominators of the groups of a level.
    fn products(&self, level: &Level, parts: &[Vec<u64>]) -> Vec<Vec<u64>> {
        let mut rows = AlignedVec::zeroed(self.primes.len() * level.length());
        let mut other = AlignedVec::zeroed(level.length());
        let product = |(pair, [first, second]): (&[Vec<u64>], [&[u64]; 2])| {
            let rows_of = rows.chunks_exact_mut(level.length()).zip(&level.tables).enumerate();
            for (i, (row, table)) in rows_of {
                let at = i * level.length()..(i + 1) * level.length();
                kernels().mul(row, &first[at.clone()], &second[at], table.modulus());
                kernels().ntt_inverse(row, table);
            }
            let mut product = vec![0; pair[0].len() + pair[1].len() - 1];
            self.reconstruct(&mut product, &mut rows, &mut other);
            product
        };
        parts.chunks_exact(2).zip(level.pairs()).map(product).collect()
    }

    /// The transform of a polynomial modulo a prime.
    fn transform(&self, row: &mut [u64], a: &[u64], table: &NttTable) {
        let q = table.modulus();
        let (low, high) = row.split_at_mut(a.len());
        if self.numbers.value() <= q.value() {
            low.copy_from_slice(a);
        } else {
            let signed: Vec<i64> = a.iter().map(|&x| x.cast_signed()).collect();
            kernels().reduce_signed(low, &signed, q);
        }
        high.fill(0);
        kernels().ntt_forward(row, table);
    }

    /// The residues modulo `p^r` of integers that are given modulo each prime, the first of each row; `other` is a row.
    fn reconstruct(&self, out: &mut [u64], rows: &mut [u64], other: &mut [u64]) {
        let (kernels, z, length) = (kernels(), &self.numbers, other.len());
        let reduced = &mut other[..out.len()];
        // Mixed radix (Garner): x = y_0 + q_0 (y_1 + q_1 (y_2 + ..)).
        for (i, inverses) in self.inverses.iter().enumerate() {
            let (done, rest) = rows.split_at_mut((i + 1) * length);
            let later = rest.chunks_exact_mut(length).zip(&self.primes[i + 1..]).zip(inverses);
            for ((row, q), &inverse) in later {
                kernels.reduce(reduced, &done[i * length..][..out.len()], q);
                kernels.sub_mul_scalar_assign(&mut row[..out.len()], reduced, inverse, q);
            }
        }
        let mut rows = rows.chunks_exact(length).zip(&self.primes).rev();
        let (last, _) = rows.next().expect("a prime");
        out.iter_mut().zip(last).for_each(|(sum, &y)| *sum = z.reduce(y));
        for (row, q) in rows {
            let q = z.reduce(q.value());
            out.iter_mut().zip(row).for_each(|(sum, &y)| *sum = z.add(z.mul(*sum, q), z.reduce(y)));
        }
    }

    /// The numerator of the sum of fractions, from their numerators of d coefficients each, in place.
    ///
    /// # Panics
    /// If there are not n coefficients.
    pub(crate) fn add(&self, a: &mut [u64]) {
        with_scratch((self.primes.len() + 1) * self.longest(), |scratch| self.add_in(a, scratch));
    }

    fn add_in(&self, a: &mut [u64], scratch: &mut [u64]) {
        let (d, z) = (self.degree, &self.numbers);
        assert_eq!(a.len(), self.count * d, "a numerator for each denominator");
        let mut sum = vec![0; self.groups(self.levels.len()).map(|group| group.len() * d).max().unwrap_or(0)];
        for (group, cofactors) in self.multiplied() {
            let numerators = &mut a[group.start * d..group.end * d];
            // Coefficient j of a product is sum_i N_i C_(j - i): the cofactor is read from d - i on, counted with its zeros.
            let sum = &mut sum[..numerators.len()];
            let stride = sum.len() + d + 1;
            let starts = (0..group.len()).flat_map(|t| (1..=d).rev().map(move |i| (t * stride + i) as u32));
            z.window_combination(sum, numerators, cofactors, &starts.collect::<Vec<_>>());
            numerators.copy_from_slice(sum);
        }
        for (k, level) in self.levels.iter().enumerate() {
            let length = level.length();
            let (other, rows) = scratch[..(self.primes.len() + 1) * length].split_at_mut(length);
            for ((range, middle), [first, second]) in self.numerators(self.levels.len() - 1 - k).zip(level.pairs()) {
                let a = &mut a[range];
                for (i, table) in level.tables.iter().enumerate() {
                    let (at, q) = (i * length..(i + 1) * length, table.modulus());
                    let row = &mut rows[at.clone()];
                    self.transform(row, &a[..middle], table);
                    self.transform(other, &a[middle..], table);
                    kernels().mul_assign(row, &second[at.clone()], q);
                    kernels().mul_add_assign(row, other, &first[at], q);
                    kernels().ntt_inverse(row, table);
                }
                self.reconstruct(a, rows, other);
            }
        }
    }

    /// The transposed map of [`Fractions::add`], in place, on coefficients in the opposite order: of those of all fractions
    /// together, and of those of each of them.
    ///
    /// # Panics
    /// If there are not n coefficients.
    pub(crate) fn split(&self, a: &mut [u64]) {
        with_scratch((2 * self.primes.len() + 1) * self.longest(), |scratch| self.split_in(a, scratch));
    }

    fn split_in(&self, a: &mut [u64], scratch: &mut [u64]) {
        let (d, z) = (self.degree, &self.numbers);
        assert_eq!(a.len(), self.count * d, "a coefficient for each of the numerator");
        for (k, level) in self.levels.iter().rev().enumerate() {
            let length = level.length();
            let size = self.primes.len() * length;
            let (whole, halves) = scratch[..2 * size + length].split_at_mut(length);
            let (left, right) = halves.split_at_mut(size);
            for ((range, middle), [first, second]) in self.numerators(k).zip(level.pairs()) {
                let a = &mut a[range];
                for (i, table) in level.tables.iter().enumerate() {
                    self.transform(whole, a, table);
                    // Coefficient i of a part is that of X^i in its order, and the last ones of a product with the other
                    // denominator: none of them wraps around.
                    for (rows, factor) in [(&mut *left, second), (&mut *right, first)] {
                        let at = i * length..(i + 1) * length;
                        let row = &mut rows[at.clone()];
                        kernels().mul(row, whole, &factor[at], table.modulus());
                        kernels().ntt_inverse(row, table);
                    }
                }
                let size = a.len();
                let (low, high) = a.split_at_mut(middle);
                for (out, rows) in [(low, &mut *left), (high, &mut *right)] {
                    rows.chunks_exact_mut(length).for_each(|row| row.copy_within(size - out.len()..size, 0));
                    self.reconstruct(out, rows, whole);
                }
            }
        }
        for (group, cofactors) in self.multiplied() {
            let whole = a[group.start * d..group.end * d].to_vec();
            // The last d coefficients of the product with each cofactor.
            let starts: Vec<u32> = (0..=(whole.len() - d) as u32).rev().collect();
            for (t, cofactor) in group.zip(cofactors.chunks_exact(whole.len() + d + 1)) {
                let cofactor = &cofactor[d..][..starts.len()];
                z.window_combination(&mut a[t * d..][..d], cofactor, &whole, &starts);
            }
        }
    }

    /// The smallest groups, of several denominators each, with their cofactors.
    fn multiplied(&self) -> impl Iterator<Item = (Range<usize>, &[u64])> {
        let groups = self.groups(self.levels.len()).zip(&self.cofactors);
        groups.filter(|(group, _)| group.len() > 1).map(|(group, cofactors)| (group, &cofactors[..]))
    }
}

impl Level {
    fn length(&self) -> usize {
        self.tables[0].degree()
    }

    /// The transforms of both halves of each group.
    fn pairs(&self) -> impl Iterator<Item = [&[u64]; 2]> {
        let size = self.tables.len() * self.length();
        self.halves.chunks_exact(2 * size).map(move |pair| [&pair[..size], &pair[size..]])
    }
}

/// Primes whose product is above twice all coefficients of products.
fn primes_of_products(degree: usize, numbers: &PrimePower) -> Vec<Modulus> {
    let order = 2 * (degree + 1).next_power_of_two().max(8) as u64;
    let bits = 2.0 * (numbers.value() as f64).log2() + (degree as f64 + 2.0).log2();
    let mut left = bits;
    primes_below(1 << MAX_MODULUS_BITS, order)
        .take_while(|&q| {
            let more = left > -0.5;
            left -= (q as f64).log2();
            more
        })
        .map(|q| Modulus::new(q).expect("a prime below 2^50"))
        .collect()
}
