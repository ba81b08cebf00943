//! Matrices times elements, by baby steps and giant steps: nothing is divided before its time, or written down before it is
//! complete.

use std::ops::Range;

use noren_math::kernels::places::{GROUP, Place};
use noren_math::kernels::{KeyRows, MAX_TERMS, MovedProducts};

use crate::automorphism::Automorphism;
use crate::decompose::Decomposer;
use crate::divide::DivideRound;
use crate::giants::{Rotation, pair_rows};
use crate::key::{KeyPairs, NEAR};
use crate::poly::{Eval, Poly};
use crate::ring::Ring;
use crate::source::{DigitRow, Source};
use crate::sums::Term;

/// A matrix as it acts on an element `(c_0, c_1)`: sums of products with the images
/// `y_a = psi_a(P c_0 + sum_j d_j k_j0, sum_j d_j k_j1)`, where the `d_j` are the digits of c_1.
#[derive(Debug, Clone, Copy)]
pub struct Matrix<'a> {
    /// The automorphisms `psi_a` of the images with their keys, or nothing for `(P c_0, P c_1)`.
    pub images: &'a [Option<Term<'a>>],
    /// The sums `S_b` with their automorphisms, at least one.
    pub giants: &'a [GiantStep<'a>],
    /// What the sums come to.
    pub order: Order,
    /// The division by the special primes' product P.
    pub mod_down: &'a DivideRound,
    /// The division at the end: by P, or by P and the last limbs.
    pub divide: &'a DivideRound,
}

/// A sum `S = sum_i f_i y_i` of products with images, and what becomes of it.
#[derive(Debug, Clone)]
pub struct GiantStep<'a> {
    /// The automorphism of the sum, with its key; the identity if it is missing.
    pub rotation: Option<(&'a KeyPairs, &'a Automorphism)>,
    /// The positions of images, each with the factor, over the limbs of the keys or more. A factor in a
    /// [subring](Ring::subring) whose words stand for 8 words and more may be given as its element.
    pub terms: Vec<(usize, &'a Poly<Eval>)>,
}

/// What the sums of giant steps come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// `sum_b psi_b(S_b)`.
    Separate,
    /// `S_0 + psi_1(S_1 + psi_2(S_2 + ..))`.
    InTurn,
}

/// Where the sums of a giant step go, among the elements that are made.
#[derive(Clone, Copy)]
enum Goal<'a> {
    /// Written to the two from this on.
    Pair(usize),
    /// Added to the first two.
    Total,
    /// The first is moved, and added to the first of all; the second is written to this one.
    Moved(usize, &'a Automorphism),
}

impl<'a> Matrix<'a> {
    /// Where the sums go, and how many elements that makes.
    fn goals(&self) -> (Vec<Goal<'a>>, usize) {
        if self.order == Order::InTurn {
            return ((0..self.giants.len()).map(|i| Goal::Pair(2 * i)).collect(), 2 * self.giants.len());
        }
        let mut count = 2;
        let goals = self.giants.iter().map(|giant| match giant.rotation {
            None => Goal::Total,
            Some((_, psi)) => {
                count += 1;
                Goal::Moved(count - 1, psi)
            }
        });
        (goals.collect(), count)
    }

    /// The rows of the key that are read after those of image `i` for block `j` at a limb, unless the limb is done.
    fn next_rows(&self, i: usize, limb: usize, j: usize, width: usize, degree: usize) -> Option<KeyRows<'a>> {
        let rows = |j: usize| {
            move |image: &'a Option<Term>| {
                let Term { key, automorphism } = image.as_ref()?;
                Some(key.rows(limb, automorphism.map_or(j, |psi| psi.source(j, width)), width))
            }
        };
        let wrapped = || self.images.iter().find_map(rows(j + 1));
        self.images[i + 1..].iter().find_map(rows(j)).or_else(|| (j + 1 < degree / width).then(wrapped)?)
    }

    /// The elements that are divided as soon as they are made.
    fn divided(&self, count: usize) -> Range<usize> {
        match self.order {
            Order::Separate => 2..count,
            Order::InTurn if count == 2 => 0..0,
            Order::InTurn => count - 1..count,
        }
    }
}

impl Decomposer {
    /// The matrix times an element over the limbs of `ring_q` or more.
    ///
    /// Of a sum that is moved only the second part is divided by P, so that it can be decomposed; all else adds up
    /// undivided. A few limbs at a time
    /// - the digits of c_1 are made, and block by block all images, all products with factors and their sums: automorphisms
    ///   map blocks to blocks, so that neither digits nor images go through memory, and keys and factors do once;
    /// - the second parts are divided and at once taken out of the evaluation form;
    /// - their digits are made, multiplied and moved, the sum of all is divided, and the next limbs follow.
    ///
    /// # Panics
    /// If a key has fewer pairs than there are digits, a term names an image that there is not, an automorphism is one of
    /// another index, an operand lacks a limb, or there is no giant step; in turn, if the first sum has an automorphism or a
    /// later one has none.
    #[must_use]
    pub fn multiply_matrix(&self, ring_q: &Ring, element: [&Poly<Eval>; 2], matrix: &Matrix) -> [Poly<Eval>; 2] {
        let ring = self.ring_qp(ring_q);
        self.check_matrix(ring_q, element, matrix);
        let mut sums = self.image_sums(ring_q, element, matrix);
        let steps: Vec<_> = matrix.giants.iter().filter_map(|giant| giant.rotation).collect();
        if matrix.order == Order::Separate {
            let divided = self.divide_and_lift(ring_q, sums.split_off(2), matrix.mod_down).into_iter();
            let rotation =
                |((element, lift), (key, automorphism))| Rotation { element, lift, key, automorphism, moved: None };
            let rotations: Vec<_> = divided.zip(steps).map(rotation).collect();
            return self.divide_rotations(&ring, last_pair(&mut sums), &rotations, matrix.divide);
        }
        let mut sum = last_pair(&mut sums);
        for (i, (key, automorphism)) in steps.into_iter().enumerate().rev() {
            let [first, second] = sum;
            let (element, lift) = self.divide_and_lift(ring_q, vec![second], matrix.mod_down).remove(0);
            let rotation = [Rotation { element, lift, key, automorphism, moved: Some(first) }];
            sum = last_pair(&mut sums);
            if i == 0 {
                return self.divide_rotations(&ring, sum, &rotation, matrix.divide);
            }
            let special = self.gadget().special();
            self.for_each_limb(&ring, pair_rows(&mut sum).collect(), &rotation, |limb, [_, second]| {
                if limb < special {
                    matrix.mod_down.lift(limb, second);
                }
            });
        }
        self.divide_rotations(&ring, sum, &[], matrix.divide)
    }

    fn check_matrix(&self, ring_q: &Ring, element: [&Poly<Eval>; 2], matrix: &Matrix) {
        let (ring, digits) = (self.ring_qp(ring_q), self.gadget().digits_at(ring_q.limbs()).len());
        element.iter().for_each(|part| ring_q.check_covers(part));
        for term in matrix.images.iter().flatten() {
            term.key.check_covers(&ring, digits);
            term.automorphism.iter().for_each(|automorphism| ring.check_index(automorphism));
        }
        assert!(!matrix.giants.is_empty(), "a matrix needs a giant step");
        for (i, giant) in matrix.giants.iter().enumerate() {
            for &(image, factor) in &giant.terms {
                assert!(image < matrix.images.len(), "there is no image {image} of {}", matrix.images.len());
                ring.check_factor(factor);
            }
            if let Some((key, automorphism)) = giant.rotation {
                key.check_covers(&ring, digits);
                ring.check_index(automorphism);
            }
            let fits = matrix.order == Order::Separate || giant.rotation.is_some() == (i > 0);
            assert!(fits, "in turn all sums but the first are moved");
        }
    }

    /// The sums of products with images, where they go. What is divided next is out of the evaluation form already at the
    /// special primes.
    fn image_sums(&self, ring_q: &Ring, element: [&Poly<Eval>; 2], matrix: &Matrix) -> Vec<Poly<Eval>> {
        let ring = &self.ring_qp(ring_q);
        let (goals, count) = matrix.goals();
        let (engine, degree, special) = (ring.engine(), ring.degree(), self.gadget().special());
        let mut factors = matrix.giants.iter().flat_map(|giant| &giant.terms);
        let secret =
            element.iter().any(|part| part.is_secret()) || factors.clone().any(|(_, factor)| factor.is_secret());
        let mut results: Vec<Poly<Eval>> = (0..count).map(|_| ring.unset(secret)).collect();
        let mut limbs: Vec<(usize, Vec<&mut [u64]>)> =
            ring.range().map(|limb| (limb, Vec::with_capacity(count))).collect();
        for result in &mut results {
            limbs.iter_mut().zip(result.limbs_mut()).for_each(|((_, rows), (_, row))| rows.push(row));
        }

        let lift = self.lift(ring_q, element[1].into());
        let source = Source::Lifted { lift: &lift, element: element[1].into() };
        let width = NEAR.min(degree);
        let unset = |rows, words| {
            let mut rows = engine.unset_rows(rows, words);
            rows.mark(secret);
            rows
        };
        // All images of a block stand next to each other, as the pairs of a key do.
        let blocks = (2 * matrix.images.len() * width).max(1);
        let scratch = || (unset(source.scratch_rows(), degree), unset(1, blocks), unset(SPARE, width));
        let words = ring.limbs() * degree * (matrix.images.len() + factors.by_ref().count());
        let group = engine.group(limbs.len(), source.places());
        let added = goals.iter().any(|goal| !matches!(goal, Goal::Pair(_)));
        engine.walk(words, limbs.chunks_mut(group), scratch, |engine, (digits, images, spare), limbs| {
            source.begin(engine, limbs.iter().map(|&(limb, _)| limb), digits);
            for (place, (limb, rows)) in limbs.iter_mut().enumerate() {
                let (limb, kernels, q) = (*limb, engine.kernels(), ring.basis().modulus(*limb));
                let begun = source.begun(limb, place, digits);
                engine.rows(source.digits() * degree, begun, |row| {
                    kernels.ntt_forward(row, ring.basis().table(limb));
                });
                let digits: Vec<DigitRow> = (0..source.digits()).map(|j| source.row(j, limb, place, digits)).collect();
                if added {
                    rows[..2].iter_mut().for_each(|row| row.fill(0));
                }
                let [blocks] = images.first_rows_mut();
                let [first_sum, second_sum, mut spare @ ..] = spare.first_rows_mut::<SPARE>();
                for j in 0..degree / width {
                    let range = j * width..(j + 1) * width;
                    for (i, out) in blocks.chunks_exact_mut(2 * width).enumerate() {
                        let next = matrix.next_rows(i, limb, j, width, degree);
                        let (first, second) = out.split_at_mut(width);
                        let image = (matrix.images[i].as_ref(), next);
                        self.write_image(ring, (limb, j), (element, &digits), image, [first, second]);
                    }
                    for (giant, goal) in matrix.giants.iter().zip(&goals) {
                        let terms =
                            giant.terms.iter().map(|&(image, f)| (image, block_words(f.limb(limb), degree, &range)));
                        let terms: Vec<(usize, &[u64])> = terms.collect();
                        let mut sum =
                            |out| write_sum(ring, limb, (&terms, blocks), out, spare.each_mut().map(|row| &mut **row));
                        match *goal {
                            Goal::Pair(i) => {
                                let [first, second] = rows.get_disjoint_mut([i, i + 1]).expect("two different rows");
                                sum([&mut first[range.clone()], &mut second[range.clone()]]);
                            }
                            Goal::Total => {
                                sum([&mut *first_sum, &mut *second_sum]);
                                kernels.add_assign(&mut rows[0][range.clone()], first_sum, q);
                                kernels.add_assign(&mut rows[1][range.clone()], second_sum, q);
                            }
                            Goal::Moved(i, psi) => {
                                sum([&mut *first_sum, &mut rows[i][range.clone()]]);
                                psi.add_words(kernels, q, range.start, first_sum, rows[0]);
                            }
                        }
                    }
                }
                if limb < special {
                    let rows = rows[matrix.divided(count)].iter_mut();
                    engine.rows(rows.len() * degree, rows, |row| matrix.mod_down.lift(limb, row));
                }
            }
        });
        results
    }

    /// Writes block `j` of an image at a limb.
    fn write_image(
        &self,
        ring: &Ring,
        (limb, j): (usize, usize),
        (element, digits): ([&Poly<Eval>; 2], &[DigitRow]),
        (image, next): (Option<&Term>, Option<KeyRows>),
        out: [&mut [u64]; 2],
    ) {
        let (kernels, q, special) = (ring.engine().kernels(), ring.basis().modulus(limb), self.special_factor(limb));
        let width = out[0].len();
        let Some(Term { key, automorphism }) = image else {
            for (out, part) in out.into_iter().zip(element) {
                match special {
                    Some(special) => kernels.mul_scalar(out, &part.limb(limb)[j * width..][..width], special, q),
                    None => out.fill(0),
                }
            }
            return;
        };
        let source = automorphism.map_or(j, |psi| psi.source(j, width));
        let range = source * width..(source + 1) * width;
        let mut rows: [&[u64]; MAX_TERMS] = [&[]; MAX_TERMS];
        // The digits of an element that is written down are rows.
        rows.iter_mut().zip(digits).for_each(|(row, digit)| *row = digit.words(range.clone(), &[]));
        let rows = &rows[..digits.len()];
        let plus = special.map(|special| (&element[0].limb(limb)[range], special.value));
        let first = j * width / GROUP;
        let add = |places: &[Place]| {
            let key = key.rows(limb, source, width);
            kernels.add_moved_products(out, &MovedProducts { rows, key, next, plus, places, first }, false, q);
        };
        match automorphism {
            Some(psi) => add(psi.places(source, width)),
            None => add(&(first..first + width / GROUP).map(Place::identity).collect::<Vec<_>>()),
        }
    }
}

/// How many blocks of memory the sums of a block need.
const SPARE: usize = 4;

/// The words of a factor's row that stand for a range of a row of `degree` words.
fn block_words<'a>(row: &'a [u64], degree: usize, range: &Range<usize>) -> &'a [u64] {
    let stretch = degree / row.len();
    &row[range.start / stretch..range.end.div_ceil(stretch)]
}

/// Writes `sum_i f_i y_i` for both parts of a block of images, which stand in `blocks` in pairs. Images that follow each other
/// are multiplied in one pass, which reads every factor once.
fn write_sum(
    ring: &Ring,
    limb: usize,
    (terms, blocks): (&[(usize, &[u64])], &[u64]),
    [first, second]: [&mut [u64]; 2],
    [first_spare, second_spare]: [&mut [u64]; 2],
) {
    let (kernels, q, width) = (ring.engine().kernels(), ring.basis().modulus(limb), first.len());
    let follow = |(a, f): &(usize, &[u64]), (b, g): &(usize, &[u64])| *b == a + 1 && f.len() == g.len();
    let runs = terms.chunk_by(follow).flat_map(|run| run.chunks(MAX_TERMS));
    let products = |out: [&mut [u64]; 2], factors: &[&[u64]], images: &[u64]| {
        if factors[0].len() == width {
            kernels.inner_product_pair(out, factors, images, q);
        } else {
            kernels.stretched_product_pair(out, factors, images, q);
        }
    };
    let mut some = false;
    for run in runs {
        let mut factors: [&[u64]; MAX_TERMS] = [&[]; MAX_TERMS];
        factors.iter_mut().zip(run).for_each(|(factor, term)| *factor = term.1);
        let (factors, images) = (&factors[..run.len()], &blocks[2 * run[0].0 * width..]);
        if !some {
            products([&mut *first, &mut *second], factors, images);
            some = true;
            continue;
        }
        products([&mut *first_spare, &mut *second_spare], factors, images);
        kernels.add_assign(first, first_spare, q);
        kernels.add_assign(second, second_spare, q);
    }
    if !some {
        first.fill(0);
        second.fill(0);
    }
}

/// Takes the last two elements.
fn last_pair(elements: &mut Vec<Poly<Eval>>) -> [Poly<Eval>; 2] {
    let last = elements.split_off(elements.len() - 2);
    last.try_into().unwrap_or_else(|_| unreachable!("two elements are a pair"))
}
