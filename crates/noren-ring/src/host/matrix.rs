//! Matrices times elements, by baby steps and giant steps: nothing is divided before its time, or written down before it is
//! complete.

use std::ops::Range;

use noren_math::kernels::rows::places::{GROUP, Place};
use noren_math::kernels::{KeyRows, MAX_TERMS, MovedProducts};

use crate::automorphism::Automorphism;
use crate::decompose::Decomposer;
use crate::host::giants::{Rotation, pair_rows};
use crate::host::image_sets::PADDING;
use crate::host::key::NEAR;
use crate::host::source::{DigitRow, Source};
use crate::matrix::{GiantStep, Matrix, Order};
use crate::poly::{Eval, Poly};
use crate::switch::Term;
use crate::window::Window;

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
    pub(super) fn multiply_matrix(
        &self,
        ring_q: &Window,
        element: [&Poly<Eval>; 2],
        matrix: &Matrix,
    ) -> [Poly<Eval>; 2] {
        let ring = self.ring_qp(ring_q);
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

    /// The sums of products with images, where they go. What is divided next is out of the evaluation form already at the
    /// special primes.
    fn image_sums(&self, ring_q: &Window, element: [&Poly<Eval>; 2], matrix: &Matrix) -> Vec<Poly<Eval>> {
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
        let source = Source::lifted(&lift, element[1].into());
        let width = NEAR.min(degree);
        let unset = |rows, words| {
            let mut rows = engine.unset_rows(rows, words);
            rows.mark(secret);
            rows
        };
        let form = Form::of(factors.clone().all(|(_, factor)| factor.degree() < degree), width, matrix.giants.len());
        // All images of a block stand next to each other, as the pairs of a key do.
        let blocks = (2 * matrix.images.len() * form.stride).max(1);
        let scratch = || (unset(source.scratch_rows(), degree), unset(1, blocks), unset(form.rows(), width));
        let words = ring.limbs() * degree * (matrix.images.len() + factors.by_ref().count());
        let group = engine.group(limbs.len(), source.places());
        let added = goals.iter().any(|goal| !matches!(goal, Goal::Pair(_)));
        engine.walk(words, limbs.chunks_mut(group), scratch, |engine, (digits, images, spare), limbs| {
            source.begin(engine, limbs.iter().map(|&(limb, _)| limb), digits);
            for (place, (limb, rows)) in limbs.iter_mut().enumerate() {
                let (limb, kernels, q) = (*limb, engine.kernels(), ring.basis().modulus(*limb));
                let begun = source.begun(limb, place, digits);
                engine.rows(source.digits() * degree, begun, |row| {
                    ring.basis().transform(limb).forward(kernels, row);
                });
                let digits: Vec<DigitRow> = (0..source.digits()).map(|j| source.row(j, limb, place, digits)).collect();
                if added {
                    rows[..2].iter_mut().for_each(|row| row.fill(0));
                }
                let [blocks] = images.first_rows_mut();
                let mut sums: Vec<&mut [u64]> = spare.rows_mut().collect();
                for j in 0..degree / width {
                    let range = j * width..(j + 1) * width;
                    for (i, out) in blocks.chunks_exact_mut(2 * form.stride).enumerate() {
                        let next = matrix.next_rows(i, limb, j, width, degree);
                        let (first, second) = out.split_at_mut(form.stride);
                        let (image, out) = (matrix.images[i].as_ref(), [first, second].map(|row| &mut row[..width]));
                        self.write_image(ring, (limb, j), (element, &digits), (image, next), out);
                    }
                    for (giants, goals) in matrix.giants.chunks(form.giants).zip(goals.chunks(form.giants)) {
                        write_sums(ring, limb, giants, (blocks, &form), &range, &mut sums);
                        for (goal, sums) in goals.iter().zip(sums.as_chunks::<2>().0) {
                            match *goal {
                                Goal::Pair(i) => {
                                    (0..2).for_each(|half| rows[i + half][range.clone()].copy_from_slice(sums[half]))
                                }
                                Goal::Total => (0..2).for_each(|half| {
                                    kernels.add_assign(&mut rows[half][range.clone()], sums[half], q);
                                }),
                                Goal::Moved(i, psi) => {
                                    psi.add_words(kernels, q, range.start, sums[0], rows[0]);
                                    rows[i][range.clone()].copy_from_slice(sums[1]);
                                }
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
        ring: &Window,
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

/// The layout of the images and sums of a block.
struct Form {
    /// Words from one image's half to the next.
    stride: usize,
    /// The number of giant steps that are worked on together.
    giants: usize,
    /// The number of words of them at a time.
    part: usize,
}

impl Form {
    /// The words of all images that are multiplied for all sums before the next, where factors are short.
    const PART: usize = 1 << 8;
    /// How many sums share what they read of images.
    const SUMS: usize = 4;

    /// Short factors are near: then what takes time is to read images, which several sums share, in parts that stay in the second
    /// cache. Long ones come from memory, which is fastest in long streams.
    fn of(short: bool, width: usize, giants: usize) -> Self {
        if short {
            Self { stride: width + PADDING, giants, part: Self::PART.min(width) }
        } else {
            Self { stride: width, giants: 1, part: width }
        }
    }

    /// Rows of memory for the sums, and for what is added to them.
    fn rows(&self) -> usize {
        2 * self.giants + 2 * Self::SUMS
    }
}

/// The words of a factor's row that stand for a range of a row of `degree` words.
fn block_words<'a>(row: &'a [u64], degree: usize, range: &Range<usize>) -> &'a [u64] {
    let stretch = degree / row.len();
    &row[range.start / stretch..range.end.div_ceil(stretch)]
}

/// Writes `sum_i f_i y_i` for both parts of a block of images, which stand in `blocks` in pairs, and for some giant steps: two
/// of the rows for each. Images that follow each other are multiplied in one pass, and giant steps with the same images read
/// them together.
fn write_sums(
    ring: &Window,
    limb: usize,
    giants: &[GiantStep],
    (blocks, form): (&[u64], &Form),
    range: &Range<usize>,
    rows: &mut [&mut [u64]],
) {
    let (kernels, q, degree) = (ring.engine().kernels(), ring.basis().modulus(limb), ring.degree());
    let products = |out: &mut [[&mut [u64]; 2]], factors: &[&[u64]], images: KeyRows| {
        if factors[0].len() < form.part {
            return kernels.stretched_products(out, factors, images, q);
        }
        let terms = factors.len() / out.len();
        for (out, factors) in out.iter_mut().zip(factors.chunks(terms)) {
            kernels.inner_product_pair(out.each_mut().map(|row| &mut **row), factors, images.words, q);
        }
    };
    let alike = |a: &(usize, &Poly<Eval>), b: &(usize, &Poly<Eval>)| a.0 == b.0 && a.1.degree() == b.1.degree();
    let same = |a: &GiantStep, b: &GiantStep| {
        a.terms.len() == b.terms.len() && a.terms.iter().zip(&b.terms).all(|(a, b)| alike(a, b))
    };
    let follow = |a: &(usize, &Poly<Eval>), b: &(usize, &Poly<Eval>)| alike(&(a.0 + 1, a.1), b);
    let (sums, spare) = rows.split_at_mut(2 * form.giants);
    for start in (0..range.len()).step_by(form.part) {
        let place = range.start + start..range.start + start + form.part;
        let mut sums = sums.as_chunks_mut::<2>().0.iter_mut();
        for giants in giants.chunk_by(same).flat_map(|giants| giants.chunks(Form::SUMS)) {
            let words = start..start + form.part;
            let mut out: Vec<_> = sums.by_ref().take(giants.len()).map(|pair| words_of(pair, &words)).collect();
            let mut done = 0;
            for run in giants[0].terms.chunk_by(follow).flat_map(|run| run.chunks(MAX_TERMS)) {
                let terms = giants.iter().flat_map(|giant| &giant.terms[done..done + run.len()]);
                let factors: Vec<_> = terms.map(|(_, factor)| block_words(factor.limb(limb), degree, &place)).collect();
                let images = KeyRows { words: &blocks[2 * run[0].0 * form.stride + start..], stride: form.stride };
                if done == 0 {
                    products(&mut out, &factors, images);
                } else {
                    let spare = spare.as_chunks_mut::<2>().0.iter_mut().take(giants.len());
                    let mut more: Vec<_> = spare.map(|pair| words_of(pair, &words)).collect();
                    products(&mut more, &factors, images);
                    let pairs = out.as_flattened_mut().iter_mut().zip(more.as_flattened());
                    pairs.for_each(|(sum, more)| kernels.add_assign(sum, more, q));
                }
                done += run.len();
            }
            if done == 0 {
                out.as_flattened_mut().iter_mut().for_each(|row| row.fill(0));
            }
        }
    }
}

/// A range of both rows.
fn words_of<'a>(pair: &'a mut [&mut [u64]; 2], range: &Range<usize>) -> [&'a mut [u64]; 2] {
    pair.each_mut().map(|row| &mut row[range.clone()])
}

/// Takes the last two elements.
fn last_pair(elements: &mut Vec<Poly<Eval>>) -> [Poly<Eval>; 2] {
    let last = elements.split_off(elements.len() - 2);
    last.try_into().unwrap_or_else(|_| unreachable!("two elements are a pair"))
}
