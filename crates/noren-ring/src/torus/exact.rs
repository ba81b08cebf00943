//! Products of polynomials over the torus, exact: modulo three primes, joined by the Chinese remainder theorem.

use noren_math::cyclotomic::Cyclotomic;
use noren_math::kernels::kernels;
use noren_math::modulus::{Modulus, ShoupFactor};
use noren_math::prime::primes_below;
use noren_math::roots::ntt::NttTable;

use crate::error::Error;

/// How many primes the product of all digits and words is known modulo.
const PRIMES: usize = 3;

/// Primes of this size are transformed fastest.
const PRIME_BITS: u32 = 48;

/// The largest that the coefficients of a product may be, in bits: half of the product of the primes, which is close to
/// `2^144`, with a margin.
const RESULT_BITS: u32 = 142;

/// Products of degree N by transforms modulo three primes of 48 bits.
///
/// A sum of products of words, as signed numbers of 64 bits, and of small numbers is known as an integer, and then reduced
/// modulo `2^64`. It is the meaning of all other ways to make products, and their oracle in tests.
#[derive(Debug, Clone)]
pub struct ExactProduct {
    degree: usize,
    tables: Vec<NttTable>,
    /// `p_0^-1` modulo `p_1`.
    first_inverse: ShoupFactor,
    /// `p_0^-1` and `p_1^-1` modulo `p_2`.
    second_inverses: [ShoupFactor; 2],
}

impl ExactProduct {
    /// The transforms of degree N.
    ///
    /// # Errors
    /// [`Error::Math`] if N is not a degree that the transforms support.
    pub fn new(degree: usize) -> Result<Self, Error> {
        let ring = Cyclotomic::power_of_two(degree)?;
        let step = u64::from(ring.index());
        let primes = primes_below(1 << PRIME_BITS, step).take(PRIMES);
        let moduli = primes.map(Modulus::new).collect::<Result<Vec<_>, _>>()?;
        if moduli.len() < PRIMES {
            return Err(noren_math::error::Error::PrimesExhausted { bits: PRIME_BITS, step }.into());
        }
        let tables = NttTable::of_primes(&moduli, &ring)?;
        let inverse = |of: usize, modulo: usize| {
            let q = &moduli[modulo];
            q.shoup(q.inv(q.reduce(moduli[of].value())))
        };
        let second_inverses = [inverse(0, 2), inverse(1, 2)];
        Ok(Self { degree, tables, first_inverse: inverse(0, 1), second_inverses })
    }

    /// The degree N.
    #[must_use]
    pub const fn degree(&self) -> usize {
        self.degree
    }

    /// How many words a transformed polynomial has: `[primes, N]`.
    #[must_use]
    pub const fn words(&self) -> usize {
        PRIMES * self.degree
    }

    /// Whether a sum of `products` products of a word and a number of at most `small_bits` bits and a sign is known exactly.
    #[must_use]
    pub const fn holds(&self, products: usize, small_bits: u32) -> bool {
        let terms = (products * self.degree).next_power_of_two().trailing_zeros();
        u64::BITS - 1 + small_bits + terms <= RESULT_BITS
    }

    /// The transform of words as signed numbers of 64 bits.
    ///
    /// # Panics
    /// If a length is wrong.
    pub fn forward(&self, out: &mut [u64], words: &[u64]) {
        assert_eq!(words.len(), self.degree, "a polynomial of the degree");
        for (row, table) in self.rows_mut(out) {
            let q = table.modulus();
            row.iter_mut().zip(words).for_each(|(x, &word)| *x = q.reduce_signed(word.cast_signed()));
            table.forward(row);
        }
    }

    /// The transform of small numbers. Range: in `(-2^62, 2^62)`.
    ///
    /// # Panics
    /// If a length is wrong.
    pub fn forward_small(&self, out: &mut [u64], numbers: &[i64]) {
        assert_eq!(numbers.len(), self.degree, "a polynomial of the degree");
        for (row, table) in self.rows_mut(out) {
            kernels().reduce_signed(row, numbers, table.modulus());
            table.forward(row);
        }
    }

    /// `acc += sum_r a_r b_r` modulo `2^64` and `X^N + 1`, for transformed polynomials; those of `b` are `stride` words
    /// apart. `scratch` has [`ExactProduct::words`] words.
    ///
    /// # Panics
    /// If a length is wrong.
    pub fn add_products(&self, acc: &mut [u64], a: &[u64], b: &[u64], stride: usize, scratch: &mut [u64]) {
        let (n, words) = (self.degree, self.words());
        assert_eq!(acc.len(), n, "a polynomial of the degree");
        for (limb, (row, table)) in self.rows_mut(scratch).enumerate() {
            let at = limb * n..(limb + 1) * n;
            let factors = a.chunks_exact(words).zip(b.chunks(stride));
            let pairs: Vec<(&[u64], &[u64])> = factors.map(|(a, b)| (&a[at.clone()], &b[at.clone()])).collect();
            kernels().inner_product(row, &pairs, table.modulus());
            table.inverse(row);
        }
        let (first, rest) = scratch.split_at(n);
        let (second, third) = rest.split_at(n);
        for (((acc, &x), &y), &z) in acc.iter_mut().zip(first).zip(second).zip(third) {
            *acc = acc.wrapping_add(self.join([x, y, z]));
        }
    }

    /// The integer nearest to 0 with these residues, modulo `2^64` (Garner's mixed radix).
    fn join(&self, [x, y, z]: [u64; PRIMES]) -> u64 {
        let [p, q, r] = [0, 1, 2].map(|i: usize| self.tables[i].modulus());
        let y = q.mul_shoup(q.sub(y, q.reduce(x)), self.first_inverse);
        let z = r.mul_shoup(r.sub(z, r.reduce(x)), self.second_inverses[0]);
        let z = r.mul_shoup(r.sub(z, r.reduce(y)), self.second_inverses[1]);
        // The number is x + p (y + q z), and p q r less if that is above the half, as it is where z is.
        let z = r.center(z).cast_unsigned();
        x.wrapping_add(p.value().wrapping_mul(y.wrapping_add(q.value().wrapping_mul(z))))
    }

    fn rows_mut<'a>(&'a self, out: &'a mut [u64]) -> impl Iterator<Item = (&'a mut [u64], &'a NttTable)> {
        assert_eq!(out.len(), self.words(), "a row for each prime");
        out.chunks_exact_mut(self.degree).zip(&self.tables)
    }
}
