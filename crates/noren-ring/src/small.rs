//! Many polynomials with small coefficients, in two bytes each, and sums of their products.

use crate::engine::Engine;
use crate::key::{BLOCK, KeyPairs};
use crate::poly::{Eval, Poly};
use crate::ring::Ring;
use crate::rows::Rows;

/// The largest absolute value of a coefficient: `(t - 1)/2` for `t = 2^16 + 1`.
const LARGEST: i64 = 1 << 15;

/// So many pairs are multiplied with the polynomials of all sums before the next ones: at 2^15 coefficients a limb of them is
/// 4 MiB, which stays in the last cache.
const NEAR_PAIRS: usize = 8;

/// So many polynomials are transformed before they are multiplied: a sum is read and written once for all of them.
const GROUP: usize = 4;

/// A list of polynomials with coefficients in `[-2^15, 2^15]`, such as those of plaintexts modulo `t <= 2^16 + 1`.
///
/// They are too many to be held in evaluation form, which takes four times as many bytes for each limb: each is transformed
/// when it is used.
#[derive(Debug, Clone)]
pub struct SmallPolys {
    degree: usize,
    /// Shape `[polynomial, degree]`; what is `2^15` is held as `-2^15`.
    words: Vec<i16>,
    /// For each polynomial the places of its coefficients that are `2^15`.
    largest: Vec<Vec<u32>>,
}

impl SmallPolys {
    /// So many polynomials of a degree, from their values modulo a prime t: `write` fills the row of polynomial i, in the order
    /// of [`Eval`], and they are interpolated. Range: values in `[0, t)`.
    ///
    /// The coefficients are the representatives in `(-t/2, t/2)`. `ring_t` has the one prime t. The polynomials are shared out
    /// to the threads of its engine.
    ///
    /// # Panics
    /// If `ring_t` has several primes, or one above `2^16 + 1`.
    #[must_use]
    pub fn interpolate(ring_t: &Ring, count: usize, write: impl Fn(usize, &mut [u64]) + Send + Sync) -> Self {
        let (engine, degree, limb) = (ring_t.engine(), ring_t.degree(), ring_t.range().start);
        let (table, t) = (ring_t.basis().table(limb), ring_t.basis().modulus(limb));
        let small = ring_t.limbs() == 1 && t.value() as i64 / 2 <= LARGEST;
        assert!(
            small,
            "{} primes, the first {}: small coefficients need one, of at most 17 bits",
            ring_t.limbs(),
            t.value()
        );
        let mut polys = Self { degree, words: vec![0; count * degree], largest: vec![Vec::new(); count] };
        let tasks = polys.words.chunks_exact_mut(degree).zip(&mut polys.largest).enumerate();
        engine.run_with(
            count * degree,
            tasks,
            || engine.unset_rows(1, degree),
            |scratch, (i, (words, largest))| {
                let [row] = scratch.first_rows_mut();
                write(i, row);
                engine.kernels().ntt_inverse(row, table);
                for (place, (word, &x)) in words.iter_mut().zip(&*row).enumerate() {
                    let x = t.center(x);
                    // 2^15 wraps to -2^15.
                    *word = x as i16;
                    if x == LARGEST {
                        largest.push(place as u32);
                    }
                }
            },
        );
        polys
    }

    /// How many polynomials there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.largest.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.largest.is_empty()
    }

    /// How many bytes they take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.words)
            + self.largest.iter().map(|places| size_of_val(places) + size_of_val(&**places)).sum::<usize>()
    }

    /// Polynomial `i` over a ring.
    ///
    /// # Panics
    /// If there is no such polynomial, the ring has another degree, or a prime that is not above `2^15`.
    #[must_use]
    pub fn element(&self, ring: &Ring, i: usize) -> Poly<Eval> {
        self.check(ring);
        ring.build(false, |limb, row| self.write(ring, i, limb, row))
    }

    /// Writes the row of polynomial `i` at a limb, in evaluation form.
    fn write(&self, ring: &Ring, i: usize, limb: usize, row: &mut [u64]) {
        let (kernels, table) = (ring.engine().kernels(), ring.basis().table(limb));
        kernels.reduce_short(row, &self.words[i * self.degree..][..self.degree], table.modulus());
        self.largest[i].iter().for_each(|&place| row[place as usize] = LARGEST as u64);
        kernels.ntt_forward(row, table);
    }

    fn check(&self, ring: &Ring) {
        assert_eq!(self.degree, ring.degree(), "the polynomials are of another ring");
        let least = ring.moduli().map(|q| q.value()).min().unwrap_or(0);
        assert!(least as i64 > LARGEST, "coefficients up to 2^15 are no residues modulo {least}");
    }
}

impl Ring {
    /// `sum_j p_ij x_j` for each of so many i, and both halves of pairs `x_j`: `term(i, j)` says which polynomial of the list
    /// `p_ij` is, or that it is 0.
    ///
    /// Each polynomial is transformed once for each limb. The pairs are taken a few at a time, so that they are read from
    /// near for all sums, and the sums are shared out to threads.
    ///
    /// # Panics
    /// If a limb of this ring is missing in the pairs, the polynomials are of another degree, a prime is not above `2^15`, or
    /// there is no such polynomial.
    #[must_use]
    pub fn sum_small_products(
        &self,
        pairs: &KeyPairs,
        small: &SmallPolys,
        sums: usize,
        term: impl Fn(usize, usize) -> Option<usize> + Send + Sync,
    ) -> Vec<[Poly<Eval>; 2]> {
        small.check(self);
        pairs.check_covers(self, pairs.digits());
        let (engine, degree) = (self.engine(), self.degree());
        let mut results: Vec<[Poly<Eval>; 2]> = (0..sums).map(|_| [self.zero(), self.zero()]).collect();
        for limb in self.range() {
            let i = limb - self.range().start;
            let mut rows: Vec<[&mut [u64]; 2]> = results.iter_mut().map(|pair| limb_rows(pair, i)).collect();
            for first in (0..pairs.digits()).step_by(NEAR_PAIRS) {
                let near = first..pairs.digits().min(first + NEAR_PAIRS);
                engine.walk(
                    sums * near.len() * degree,
                    rows.iter_mut().enumerate(),
                    || engine.unset_rows(GROUP, degree),
                    |engine, scratch, (i, sum)| {
                        let terms: Vec<(usize, usize)> = near.clone().filter_map(|j| Some((j, term(i, j)?))).collect();
                        for run in terms.chunk_by(|(j, _), (next, _)| j + 1 == *next) {
                            for terms in run.chunks(GROUP) {
                                self.add_small_products(engine, limb, pairs, small, terms, sum, scratch);
                            }
                        }
                    },
                );
            }
        }
        results
    }

    /// Adds the products of pairs that follow one another with the polynomials of the list to both rows of a sum.
    #[allow(clippy::too_many_arguments, reason = "the parts of one step of a loop")]
    fn add_small_products(
        &self,
        engine: &Engine,
        limb: usize,
        pairs: &KeyPairs,
        small: &SmallPolys,
        terms: &[(usize, usize)],
        [left, right]: &mut [&mut [u64]; 2],
        scratch: &mut Rows,
    ) {
        let (degree, q) = (self.degree(), self.basis().modulus(limb));
        let transforms = scratch.rows_mut().zip(terms);
        engine.rows(terms.len() * degree, transforms, |(row, &(_, i))| small.write(self, i, limb, row));
        let width = BLOCK.min(degree);
        let blocks = left.chunks_exact_mut(width).zip(right.chunks_exact_mut(width)).enumerate();
        engine.run(terms.len() * degree, blocks, |(block, (left, right))| {
            let mut rows: [&[u64]; GROUP] = [&[]; GROUP];
            rows.iter_mut().zip(scratch.rows()).for_each(|(row, words)| *row = &words[block * width..][..width]);
            let key = &pairs.block(limb, block)[2 * terms[0].0 * width..];
            engine.kernels().inner_product_pair_add_assign([left, right], &rows[..terms.len()], key, q);
        });
    }
}

/// The rows of both halves at limb `i` of their ring.
fn limb_rows([first, second]: &mut [Poly<Eval>; 2], i: usize) -> [&mut [u64]; 2] {
    [first, second].map(|half| half.rows.rows_mut().nth(i).expect("the limb is one of the ring"))
}
