//! Many sums of products with images of one element, a block of coefficients at a time.

use noren_math::kernels::places::GROUP;
use noren_math::kernels::{MAX_TERMS, MovedProducts};

use crate::decompose::{Decomposer, Digits};
use crate::engine::Engine;
use crate::key::BLOCK;
use crate::poly::{Eval, Poly};
use crate::ring::Ring;
use crate::source::Source;
use crate::sums::{Sums, Term};

impl Decomposer {
    /// `sum_i f_i y_{a_i}` for each list of terms `(a_i, f_i)`, over the limbs of `ring_qp`, for the images
    /// `y_a = psi_a(P c_0 + sum_j d_j k_j0, sum_j d_j k_j1)` of an element `(c_0, c_1)`, where the `d_j` are the digits of
    /// c_1: `images` are the keys and automorphisms, or nothing for `(P c_0, P c_1)`.
    ///
    /// An automorphism maps blocks to blocks. So one block of every image is made, multiplied with that block of every
    /// factor, and forgotten: the images never go through memory, and the keys and factors do once.
    ///
    /// # Panics
    /// If a key has fewer pairs than there are digits, a term names an image that there is not, an automorphism is one of
    /// another index, or an operand lacks a limb.
    #[must_use]
    pub fn sums_of_images(
        &self,
        ring_qp: &Ring,
        element: [&Poly<Eval>; 2],
        digits: &Digits,
        images: &[Option<Term>],
        sums: &[Vec<(usize, &Poly<Eval>)>],
    ) -> Vec<[Poly<Eval>; 2]> {
        let ring_q = ring_qp.window(self.gadget().special()..ring_qp.range().end);
        element.iter().for_each(|part| ring_q.check_covers(part));
        digits.polys().iter().for_each(|digit| ring_qp.check_covers(digit));
        for term in images.iter().flatten() {
            term.key.check_covers(ring_qp, digits.polys().len());
            term.automorphism.iter().for_each(|automorphism| ring_qp.check_index(automorphism));
        }
        for &(image, factor) in sums.iter().flatten() {
            assert!(image < images.len(), "there is no image {image} of {}", images.len());
            ring_qp.check_covers(factor);
        }
        let secret = element.iter().any(|part| part.is_secret())
            || digits.polys().iter().any(Poly::is_secret)
            || sums.iter().flatten().any(|(_, factor)| factor.is_secret());
        let mut results: Vec<[Poly<Eval>; 2]> = sums.iter().map(|_| [0, 1].map(|_| ring_qp.unset(secret))).collect();
        let mut rows: Vec<Vec<[&mut [u64]; 2]>> = ring_qp.range().map(|_| Vec::with_capacity(sums.len())).collect();
        for [first, second] in &mut results {
            for (rows, ((_, first), (_, second))) in rows.iter_mut().zip(first.limbs_mut().zip(second.limbs_mut())) {
                rows.push([first, second]);
            }
        }
        let (engine, degree) = (ring_qp.engine(), ring_qp.degree());
        let width = BLOCK.min(degree);
        let words = ring_qp.limbs() * degree * (images.len() + sums.iter().map(Vec::len).sum::<usize>());
        let scratch = || {
            // Two blocks for each image.
            let mut blocks = engine.unset_rows(2 * images.len(), width);
            blocks.mark(secret);
            blocks
        };
        let make = |engine: &Engine, (): &mut (), (limb, rows): (usize, Vec<[&mut [u64]; 2]>)| {
            let mut cut: Vec<_> = rows.into_iter().map(|pair| pair.map(|row| row.chunks_exact_mut(width))).collect();
            let mut block =
                || cut.iter_mut().map(|pair| pair.each_mut().map(|rows| rows.next().expect("as long"))).collect();
            let tasks = (0..degree / width).map(|j| (j, block()));
            engine.run_with(
                words / ring_qp.limbs(),
                tasks,
                scratch,
                |blocks, (j, mut rows): (usize, Vec<[&mut [u64]; 2]>)| {
                    let range = j * width..(j + 1) * width;
                    {
                        let mut free = blocks.rows_mut();
                        let mut pair = || [(); 2].map(|()| free.next().expect("there are two blocks for each image"));
                        for image in images {
                            self.write_image(ring_qp, (limb, j), (element, digits), image.as_ref(), pair());
                        }
                    }
                    for (terms, out) in sums.iter().zip(&mut rows) {
                        for (side, out) in out.iter_mut().enumerate() {
                            let terms = terms.iter().map(|&(image, factor)| {
                                (blocks.row(2 * image + side), &factor.limb(limb)[range.clone()])
                            });
                            ring_qp.add_products(limb, out, terms);
                        }
                    }
                },
            );
        };
        engine.walk(words, ring_qp.range().zip(rows), || (), make);
        results
    }

    /// `acc_i += psi(sum_j d_j k_ji)` for the digits of `c`, an element over the limbs of `ring_q` or more: over the special
    /// primes and those limbs, not divided.
    ///
    /// # Panics
    /// As [`Decomposer::switch`], and if `acc` is not of that ring or the automorphism one of another index.
    pub fn inner_product_add_assign(&self, ring_q: &Ring, c: &Poly<Eval>, term: Term, acc: &mut [Poly<Eval>; 2]) {
        let lift = self.lift(ring_q, c.into());
        let ring_qp = self.ring_qp(ring_q);
        acc.iter().for_each(|acc| ring_qp.check(acc));
        let source = Source::Lifted { lift: &lift, element: c.into() };
        Sums::new(ring_qp, source, vec![&[term]], None).add_to(std::slice::from_mut(acc));
    }

    /// Writes block `j` of an image at a limb.
    fn write_image(
        &self,
        ring: &Ring,
        (limb, j): (usize, usize),
        (element, digits): ([&Poly<Eval>; 2], &Digits),
        image: Option<&Term>,
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
        rows.iter_mut().zip(digits.polys()).for_each(|(row, digit)| *row = &digit.limb(limb)[range.clone()]);
        let rows = &rows[..digits.polys().len()];
        let (key, [first, second]) = (key.block(limb, source), out);
        let m = special.map(|special| (&element[0].limb(limb)[range], special));
        match automorphism {
            Some(psi) => {
                let plus = m.map(|(m, special)| (m, special.value));
                let (places, start) = (psi.places(source, width), j * width / GROUP);
                let products = MovedProducts { rows, key, plus, places, first: start };
                kernels.add_moved_products([first, second], &products, false, q);
            }
            None => {
                kernels.inner_product_pair([&mut *first, second], rows, key, q);
                m.iter().for_each(|(m, special)| kernels.mul_scalar_add_assign(first, m, *special, q));
            }
        }
    }
}
