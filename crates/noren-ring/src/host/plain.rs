//! Matrices in rings whose index is not a power of two, whose automorphisms do not map blocks to blocks: step by step.

use noren_math::kernels::MAX_TERMS;

use crate::automorphism::Automorphism;
use crate::decompose::Decomposer;
use crate::device::{Change, Operation};
use crate::host::source::Source;
use crate::host::sums::{Moved, Sums};
use crate::host::switch::only;
use crate::key::KeyPairs;
use crate::matrix::{GiantStep, Matrix, Order};
use crate::poly::{Eval, Poly};
use crate::window::Window;

/// The giant steps whose sums are made together, and held until they are rotated.
const SUMS: usize = 8;

/// The words of a row that are multiplied for all sums before the next: those of some dozens of images stay in the second cache.
const WIDTH: usize = 512;

type Pair = [Poly<Eval>; 2];

impl Decomposer {
    /// The matrix times an element over the limbs of `ring_q` or more: images, their sums with factors, and those of
    /// giant steps.
    pub(super) fn multiply_matrix_in_steps(
        &self,
        ring_q: &Window,
        [c0, c1]: [&Poly<Eval>; 2],
        matrix: &Matrix,
    ) -> [Poly<Eval>; 2] {
        let ring = &self.ring_qp(ring_q);
        let digits = self.decompose(ring_q, c1);
        // Images, and rotations of sums, do not depend on each other: threads that have nothing to do in one take another.
        let images: Vec<Pair> = ring.engine().map(matrix.images.iter().collect(), |image| match image {
            Some(term) => {
                let (terms, moved) = ([*term], Moved::Divided(c0, self));
                only(Sums::new(ring.clone(), Source::Made(&digits), vec![&terms], Some(moved)).write())
            }
            None => [c0, c1].map(|c| self.special_multiple(ring, c)),
        });
        let rotate = |([first, second], rotation): (Pair, Option<(&KeyPairs, &Automorphism)>)| {
            let Some((key, psi)) = rotation else { return [first, second] };
            let second = matrix.mod_down.apply_all(vec![second]).remove(0);
            let [mut left, right] = self.decompose(ring_q, &second).inner_product(ring, key);
            ring.change(left.as_limbs_mut(), Change::Add(first.as_limbs()));
            [left, right].map(|part| Poly::from_limbs(ring.compute(Operation::Image(part.as_limbs(), psi))))
        };
        let total = match matrix.order {
            Order::Separate => {
                let chunks = matrix.giants.chunks(SUMS);
                let rotated = chunks.flat_map(|giants| ring.engine().map(sums(ring, &images, giants), rotate));
                rotated.fold(zero(ring), |total, sum| added(ring, total, &sum))
            }
            Order::InTurn => {
                let chunks = matrix.giants.chunks(SUMS);
                let all: Vec<_> = chunks.flat_map(|giants| sums(ring, &images, giants)).collect();
                all.into_iter().rev().fold(zero(ring), |inner, (sum, psi)| rotate((added(ring, sum, &inner), psi)))
            }
        };
        let mut results = matrix.divide.apply_all(total.into()).into_iter();
        std::array::from_fn(|_| results.next().expect("both parts are divided"))
    }
}

/// The sums of some giant steps, each with its rotation.
fn sums<'a>(
    ring: &Window,
    images: &[Pair],
    giants: &[GiantStep<'a>],
) -> Vec<(Pair, Option<(&'a KeyPairs, &'a Automorphism)>)> {
    sums_of_products(ring, images, giants).into_iter().zip(giants.iter().map(|giant| giant.rotation)).collect()
}

/// The sums `sum_i f_i y_i` of some giant steps: the images of a block are copied next to each other once, and each sum reads
/// them and its factors in one pass.
fn sums_of_products(ring: &Window, images: &[Pair], giants: &[GiantStep]) -> Vec<Pair> {
    let (engine, degree) = (ring.engine(), ring.degree());
    let terms = || giants.iter().flat_map(|giant| &giant.terms);
    let secret = images.iter().flatten().any(Poly::is_secret) || terms().any(|(_, factor)| factor.is_secret());
    let mut results: Vec<Pair> = giants.iter().map(|_| [(); 2].map(|()| ring.unset(secret))).collect();
    let mut limbs: Vec<(usize, Vec<&mut [u64]>)> = ring.range().map(|limb| (limb, Vec::new())).collect();
    for part in results.iter_mut().flatten() {
        limbs.iter_mut().zip(part.limbs_mut()).for_each(|((_, rows), (_, row))| rows.push(row));
    }
    let words = ring.limbs() * degree * (images.len() + terms().count());
    let scratch = || {
        let mut rows = engine.unset_rows(1, 2 * (images.len() + 1) * WIDTH);
        rows.mark(secret);
        rows
    };
    engine.walk(words, limbs.into_iter(), scratch, |engine, scratch, (limb, mut rows)| {
        let (kernels, q) = (engine.kernels(), ring.basis().modulus(limb));
        let [scratch] = scratch.first_rows_mut();
        let (more, blocks) = scratch.split_at_mut(2 * WIDTH);
        for start in (0..degree).step_by(WIDTH) {
            let range = start..degree.min(start + WIDTH);
            let width = range.len();
            for (block, part) in blocks.chunks_exact_mut(width).zip(images.iter().flatten()) {
                block.copy_from_slice(&part.limb(limb)[range.clone()]);
            }
            for (giant, rows) in giants.iter().zip(rows.as_chunks_mut::<2>().0) {
                let [first, second] = rows.each_mut().map(|row| &mut row[range.clone()]);
                let follow = |a: &(usize, &Poly<Eval>), b: &(usize, &Poly<Eval>)| a.0 + 1 == b.0;
                let mut is_first = true;
                for run in giant.terms.chunk_by(follow).flat_map(|run| run.chunks(MAX_TERMS)) {
                    let factors: Vec<&[u64]> = run.iter().map(|(_, f)| &f.limb(limb)[range.clone()]).collect();
                    let key = &blocks[2 * run[0].0 * width..];
                    if is_first {
                        kernels.inner_product_pair([&mut *first, &mut *second], &factors, key, q);
                    } else {
                        let (left, right) = more.split_at_mut(WIDTH);
                        let [left, right] = [left, right].map(|row| &mut row[..width]);
                        kernels.inner_product_pair([&mut *left, &mut *right], &factors, key, q);
                        kernels.add_assign(first, left, q);
                        kernels.add_assign(second, right, q);
                    }
                    is_first = false;
                }
                if is_first {
                    first.fill(0);
                    second.fill(0);
                }
            }
        }
    });
    results
}

fn zero(ring: &Window) -> Pair {
    [(); 2].map(|()| ring.build(false, |_, row| row.fill(0)))
}

fn added(ring: &Window, mut a: Pair, b: &Pair) -> Pair {
    a.iter_mut().zip(b).for_each(|(a, b)| ring.change(a.as_limbs_mut(), Change::Add(b.as_limbs())));
    a
}
