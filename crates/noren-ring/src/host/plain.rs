//! Matrices in rings whose index is not a power of two, whose automorphisms do not map blocks to blocks: step by step.

use crate::automorphism::Automorphism;
use crate::decompose::Decomposer;
use crate::device::{Change, Operation};
use crate::host::source::Source;
use crate::host::sums::{Moved, Sums};
use crate::host::switch::only;
use crate::key::KeyPairs;
use crate::matrix::{Matrix, Order};
use crate::poly::{Eval, Poly};
use crate::window::Window;

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
        let images: Vec<Pair> = matrix
            .images
            .iter()
            .map(|image| match image {
                Some(term) => {
                    let (terms, moved) = ([*term], Moved::Divided(c0, self));
                    only(Sums::new(ring.clone(), Source::Made(&digits), vec![&terms], Some(moved)).write())
                }
                None => [c0, c1].map(|c| self.special_multiple(ring, c)),
            })
            .collect();
        let sums = matrix.giants.iter().map(|giant| {
            let mut sum = zero(ring);
            for &(i, factor) in &giant.terms {
                let parts = sum.iter_mut().zip(&images[i]);
                parts.for_each(|(sum, x)| {
                    ring.change(sum.as_limbs_mut(), Change::AddProduct(x.as_limbs(), factor.as_limbs()))
                });
            }
            (sum, giant.rotation)
        });
        let rotate = |[first, second]: Pair, rotation: Option<(&KeyPairs, &Automorphism)>| {
            let Some((key, psi)) = rotation else { return [first, second] };
            let second = matrix.mod_down.apply_all(vec![second]).remove(0);
            let [mut left, right] = self.decompose(ring_q, &second).inner_product(ring, key);
            ring.change(left.as_limbs_mut(), Change::Add(first.as_limbs()));
            [left, right].map(|part| Poly::from_limbs(ring.compute(Operation::Image(part.as_limbs(), psi))))
        };
        let total = match matrix.order {
            Order::Separate => sums.fold(zero(ring), |total, (sum, psi)| added(ring, total, &rotate(sum, psi))),
            Order::InTurn => sums.rev().fold(zero(ring), |inner, (sum, psi)| rotate(added(ring, sum, &inner), psi)),
        };
        let mut results = matrix.divide.apply_all(total.into()).into_iter();
        std::array::from_fn(|_| results.next().expect("both parts are divided"))
    }
}

fn zero(ring: &Window) -> Pair {
    [(); 2].map(|()| ring.build(false, |_, row| row.fill(0)))
}

fn added(ring: &Window, mut a: Pair, b: &Pair) -> Pair {
    a.iter_mut().zip(b).for_each(|(a, b)| ring.change(a.as_limbs_mut(), Change::Add(b.as_limbs())));
    a
}
