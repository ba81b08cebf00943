//! Inner products of digits with keys, moved and added block by block.

use std::ops::Range;

use noren_math::kernels::MAX_TERMS;

use crate::automorphism::Automorphism;
use crate::decompose::Decomposer;
use crate::key::{BLOCK, KeyPairs};
use crate::poly::{Eval, Poly};
use crate::ring::Ring;
use crate::rows::{LimbRow, Rows};
use crate::source::{DigitRow, Source};

/// A key with the automorphism that is applied to the inner product of the digits with it.
#[derive(Debug, Clone, Copy)]
pub struct Term<'a> {
    /// The pairs `(k_j0, k_j1)`, over the special primes and the element's limbs or more. There may be more pairs than
    /// digits: a key for a high level serves all lower ones.
    pub key: &'a KeyPairs,
    /// `X -> X^k`; the identity if it is missing.
    pub automorphism: Option<&'a Automorphism>,
}

/// `sum_k psi_k(P m + sum_j d_j k_j0)` and `sum_k psi_k(sum_j d_j k_j1)` over terms with the keys `k_j` and the
/// automorphisms `psi_k`.
pub(crate) struct Sums<'a> {
    /// The limbs of the sums.
    pub(crate) ring: Ring,
    source: Source<'a>,
    terms: &'a [Term<'a>],
    /// m, and who knows P.
    moved: Option<(&'a Poly<Eval>, &'a Decomposer)>,
}

/// The sums at one limb, to be made.
pub(crate) struct LimbSums<'b> {
    sums: &'b Sums<'b>,
    pub(crate) limb: usize,
    digits: Vec<DigitRow<'b>>,
    blocks: &'b mut Rows,
}

/// Memory of a task.
struct Scratch {
    digits: Rows,
    /// Blocks of a row that are written and read again at once.
    blocks: Rows,
}

/// How many blocks a task needs.
const BLOCKS: usize = 6;

/// Writes rows of both results in coefficient form.
type Begin<'a> = dyn Fn([&mut [LimbRow]; 2]) + Send + Sync + 'a;

impl<'a> Sums<'a> {
    /// # Panics
    /// If there is no term, a key has too few pairs, an operand lacks a limb, or an automorphism is one of another index.
    pub(crate) fn new(
        ring: Ring,
        source: Source<'a>,
        terms: &'a [Term<'a>],
        moved: Option<(&'a Poly<Eval>, &'a Decomposer)>,
    ) -> Self {
        let digits = source.digits();
        if let Source::Made(digits) = &source {
            digits.polys().iter().for_each(|digit| ring.check_covers(digit));
        }
        assert!(!terms.is_empty(), "a sum needs a term");
        for Term { key, automorphism } in terms {
            key.check_covers(&ring, digits);
            automorphism.iter().for_each(|automorphism| ring.check_index(automorphism));
        }
        Self { ring, source, terms, moved }
    }

    pub(crate) fn is_secret(&self) -> bool {
        self.source.is_secret() || self.moved.is_some_and(|(m, _)| m.is_secret())
    }

    /// Both sums, written.
    pub(crate) fn write(&self) -> [Poly<Eval>; 2] {
        let secret = self.is_secret();
        let mut sums: [Poly<Eval>; 2] = std::array::from_fn(|_| self.ring.unset(secret));
        let rows = sums.each_mut().map(|sum| sum.limbs_mut().collect());
        self.for_each_limb(rows, None, |limb, rows| limb.write(Some(rows), |_, _, _| {}));
        sums
    }

    /// Adds both sums to `acc`.
    pub(crate) fn add_to(&self, acc: &mut [Poly<Eval>; 2]) {
        let (kernels, secret) = (self.ring.engine().kernels(), self.is_secret());
        acc.iter_mut().for_each(|acc| acc.rows.mark(secret));
        let rows = acc.each_mut().map(|acc| acc.limbs_mut().collect());
        self.for_each_limb(rows, None, |limb, mut rows| {
            let q = self.ring.basis().modulus(limb.limb);
            limb.write(None, |range, sums, _| {
                for (row, sum) in rows.iter_mut().zip(sums) {
                    kernels.add_assign(&mut row[range.clone()], sum, q);
                }
            });
        });
    }

    /// Runs `finish` on the rows of both results at each limb.
    ///
    /// If there is a `begin`, it writes the rows of some limbs in coefficient form, and they are brought to evaluation form
    /// one after another with those of the digits, which need the same roots.
    pub(crate) fn for_each_limb(
        &self,
        [mut first, mut second]: [Vec<LimbRow>; 2],
        begin: Option<&Begin>,
        finish: impl Fn(LimbSums, [&mut [u64]; 2]) + Send + Sync,
    ) {
        let (engine, limbs) = (self.ring.engine(), first.len());
        let group = engine.group(limbs, self.source.places());
        let tasks = first.chunks_mut(group).zip(second.chunks_mut(group));
        let words = self.terms.len() * self.source.digits() * limbs * self.ring.degree();
        engine.run_with(
            words,
            tasks,
            || self.scratch(),
            |scratch, (first, second)| {
                self.source.begin(first.iter().map(|&(limb, _)| limb), &mut scratch.digits);
                begin.iter().for_each(|begin| begin([&mut *first, &mut *second]));
                for (place, ((limb, first), (_, second))) in first.iter_mut().zip(second).enumerate() {
                    let begun = self.source.begun(*limb, place, &mut scratch.digits);
                    let rows = begin.map(|_| [&mut **first, &mut **second]).into_iter().flatten();
                    let table = self.ring.basis().table(*limb);
                    begun.chain(rows).for_each(|row| engine.kernels().ntt_forward(row, table));
                    finish(self.at(*limb, place, scratch), [first, second]);
                }
            },
        );
    }

    /// The sums at a limb, the one at `place` of those that were begun together.
    fn at<'b>(&'b self, limb: usize, place: usize, scratch: &'b mut Scratch) -> LimbSums<'b> {
        let Scratch { digits, blocks } = scratch;
        let row = |j| self.source.row(j, limb, place, digits);
        LimbSums { sums: self, limb, digits: (0..self.source.digits()).map(row).collect(), blocks }
    }

    fn scratch(&self) -> Scratch {
        let (engine, secret, degree) = (self.ring.engine(), self.is_secret(), self.ring.degree());
        let unset = |rows, degree| {
            let mut rows = engine.unset_rows(rows, degree);
            rows.mark(secret);
            rows
        };
        Scratch { digits: unset(self.source.scratch_rows(), degree), blocks: unset(BLOCKS, BLOCK.min(degree)) }
    }
}

impl LimbSums<'_> {
    /// Makes the sums, in `out` if it is there, and runs `finish` on each block of both as soon as it is complete: with its
    /// place in the row, and with memory for one more block.
    pub(crate) fn write(
        self,
        mut out: Option<[&mut [u64]; 2]>,
        mut finish: impl FnMut(Range<usize>, [&mut [u64]; 2], &mut [u64]),
    ) {
        let Self { sums: Sums { ring, terms, moved, .. }, limb, ref digits, blocks } = self;
        let (kernels, q) = (ring.engine().kernels(), ring.basis().modulus(limb));
        let moved = moved.and_then(|(m, by)| by.special_factor(limb).map(|special| (m.limb(limb), special)));
        let width = BLOCK.min(ring.degree());
        let [first, second, first_product, second_product, own, spare] = blocks.first_rows_mut::<BLOCKS>();
        for j in 0..ring.degree() / width {
            let words = j * width..(j + 1) * width;
            let mut sums = match &mut out {
                None => [&mut *first, &mut *second],
                Some([first, second]) => [&mut first[words.clone()], &mut second[words.clone()]],
            };
            for (i, Term { key, automorphism }) in terms.iter().enumerate() {
                let source = automorphism.map_or(j, |psi| psi.source(j, width));
                let range = source * width..(source + 1) * width;
                // One digit at most has this limb as its own.
                if let Some(element) = digits.iter().find_map(DigitRow::own) {
                    element.write(ring, limb, range.start, own);
                }
                let mut rows: [&[u64]; MAX_TERMS] = [&[]; MAX_TERMS];
                rows.iter_mut().zip(digits).for_each(|(row, digit)| *row = digit.words(range.clone(), own));
                let multiply = |[product, other]: [&mut [u64]; 2]| {
                    let (rows, pairs) = (&rows[..digits.len()], key.block(limb, source));
                    kernels.inner_product_pair([&mut *product, other], rows, pairs, q);
                    if let Some((m, special)) = moved {
                        kernels.mul_scalar_add_assign(product, &m[range.clone()], special, q);
                    }
                };
                // What is not moved is made where it belongs, if nothing is there yet.
                if i == 0 && automorphism.is_none() {
                    multiply(sums.each_mut().map(|sum| &mut **sum));
                    continue;
                }
                multiply([&mut *first_product, &mut *second_product]);
                for (sum, product) in sums.iter_mut().zip([&*first_product, &*second_product]) {
                    match automorphism {
                        None => kernels.add_assign(sum, product, q),
                        Some(psi) => psi.for_each_piece(j, width, |words, source, within| {
                            if i == 0 {
                                kernels.permute(&mut sum[words], &product[source], within);
                            } else {
                                kernels.permute_add_assign(&mut sum[words], &product[source], within, q);
                            }
                        }),
                    }
                }
            }
            finish(words, sums, spare);
        }
    }
}
