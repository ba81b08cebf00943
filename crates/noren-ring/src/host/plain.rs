//! Matrices in rings whose index is not a power of two, whose automorphisms do not map blocks to blocks: step by step.

use crate::decompose::Decomposer;
use crate::device::{Change, Operation};
use crate::host::source::Source;
use crate::host::sums::{Moved, Sums};
use crate::host::switch::only;
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
            sum
        });
        let rotate = |sum: Pair, i: usize| match matrix.giants[i].rotation {
            Some((key, psi)) => {
                let [first, second] = sum;
                let second = matrix.mod_down.apply_all(vec![second]).remove(0);
                let switched = self.decompose(ring_q, &second).inner_product(ring, key);
                let [mut left, right] = switched;
                ring.change(left.as_limbs_mut(), Change::Add(first.as_limbs()));
                [left, right].map(|part| Poly::from_limbs(ring.compute(Operation::Image(part.as_limbs(), psi))))
            }
            None => sum,
        };
        let sums = sums.enumerate().collect::<Vec<_>>().into_iter();
        let total = match matrix.order {
            Order::Separate => sums.fold(zero(ring), |total, (i, sum)| added(ring, total, &rotate(sum, i))),
            Order::InTurn => sums.rev().fold(zero(ring), |inner, (i, sum)| rotate(added(ring, sum, &inner), i)),
        };
        let mut results = matrix.divide.apply_all(total.into()).into_iter();
        std::array::from_fn(|_| results.next().expect("both parts are divided"))
    }

    /// `P c` over the limbs of `ring`, of which c may lack the special ones.
    fn special_multiple(&self, ring: &Window, c: &Poly<Eval>) -> Poly<Eval> {
        let kernels = ring.engine().kernels();
        ring.build_pointwise(c.is_secret(), |limb, range, row| match self.special_factor(limb) {
            Some(special) => kernels.mul_scalar(row, &c.limb(limb)[range], special, ring.basis().modulus(limb)),
            None => row.fill(0),
        })
    }
}

fn zero(ring: &Window) -> Pair {
    [(); 2].map(|()| ring.build(false, |_, row| row.fill(0)))
}

fn added(ring: &Window, mut a: Pair, b: &Pair) -> Pair {
    a.iter_mut().zip(b).for_each(|(a, b)| ring.change(a.as_limbs_mut(), Change::Add(b.as_limbs())));
    a
}
