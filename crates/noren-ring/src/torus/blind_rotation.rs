//! External products, CMUX, and chains of them: blind rotation.

use noren_math::kernels::aligned::AlignedVec;

use crate::engine::Engine;
use crate::torus::exact::ExactProduct;
use crate::torus::gadget::TorusGadget;
use crate::torus::polynomial::rotate_sub;
use crate::torus::product::TorusProduct;

/// The shape of GLWE samples: k polynomials of the mask, and a body, of degree N.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GlweShape {
    /// k.
    pub dimension: usize,
    /// N.
    pub degree: usize,
}

/// The bits `s_0, ..., s_{n-1}` of a short secret, each encrypted as GGSW under the secret of GLWE samples, transformed.
///
/// The GGSW of s has the rows (i, j), `i = 0..=k` and `j = 1..=l`: a GLWE sample of 0 plus `s 2^64 / B^j` in polynomial i.
/// The external product with a GLWE sample is the sum of its digits times the rows, and a sample of s times its message.
#[derive(Debug)]
pub struct BlindRotation {
    product: TorusProduct,
    shape: GlweShape,
    gadget: TorusGadget,
    steps: usize,
    values: AlignedVec<u64>,
}

/// Memory that external products need; what is found there does not matter.
#[derive(Debug)]
pub struct Scratch {
    input: AlignedVec<u64>,
    digits: Vec<i64>,
    rows: AlignedVec<u64>,
    sum: AlignedVec<u64>,
}

impl GlweShape {
    /// How many words a sample has: `[k + 1, N]`.
    #[must_use]
    pub const fn words(&self) -> usize {
        (self.dimension + 1) * self.degree
    }

    /// The dimension kN of the LWE samples that are extracted.
    #[must_use]
    pub const fn extracted(&self) -> usize {
        self.dimension * self.degree
    }
}

impl BlindRotation {
    /// The key whose rows `write` writes: it is given the number of the bit, the row `i l + j - 1`, and the words of the
    /// sample, `[k + 1, N]`, which hold anything.
    ///
    /// # Panics
    /// If the degree of the products is another one, or sums of products are too large for them.
    pub fn from_fn(
        engine: &Engine,
        product: TorusProduct,
        (shape, gadget): (GlweShape, TorusGadget),
        steps: usize,
        write: impl Fn(usize, usize, &mut [u64]) + Send + Sync,
    ) -> Self {
        let TorusProduct::Exact(exact) = &product;
        assert_eq!(product.degree(), shape.degree, "products of the degree of the samples");
        let rows = (shape.dimension + 1) * gadget.levels();
        assert!(exact.holds(rows, gadget.log_base() - 1), "sums of these products are too large");
        let row_words = (shape.dimension + 1) * exact.words();
        let mut values = AlignedVec::zeroed(steps * rows * row_words);
        let tasks = values.chunks_exact_mut(rows * row_words).enumerate();
        let sample = || AlignedVec::<u64>::zeroed(shape.words());
        engine.run_with(steps * rows * row_words, tasks, sample, |sample, (step, values): (usize, &mut [u64])| {
            for (row, values) in values.chunks_exact_mut(row_words).enumerate() {
                write(step, row, sample);
                for (values, words) in values.chunks_exact_mut(exact.words()).zip(sample.chunks_exact(shape.degree)) {
                    exact.forward(values, words);
                }
            }
        });
        Self { product, shape, gadget, steps, values }
    }

    /// The shape of the samples.
    #[must_use]
    pub const fn shape(&self) -> GlweShape {
        self.shape
    }

    /// How many bits the short secret has.
    #[must_use]
    pub const fn steps(&self) -> usize {
        self.steps
    }

    /// How many bytes the key takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of::<u64>() * self.values.len()
    }

    /// Memory for external products.
    #[must_use]
    pub fn scratch(&self) -> Scratch {
        let exact = self.exact();
        let rows = self.rows();
        Scratch {
            input: AlignedVec::zeroed(self.shape.words()),
            digits: vec![0; self.gadget.levels() * self.shape.degree],
            rows: AlignedVec::zeroed(rows * exact.words()),
            sum: AlignedVec::zeroed(exact.words()),
        }
    }

    /// `acc += GGSW(s_step) [.] input`: the external product, added.
    ///
    /// # Panics
    /// If a length is wrong, or there is no such bit.
    pub fn external_product_add(&self, step: usize, acc: &mut [u64], input: &[u64], scratch: &mut Scratch) {
        assert_eq!(input.len(), self.shape.words(), "a sample of the shape");
        scratch.input.copy_from_slice(input);
        self.add_input(step, acc, scratch);
    }

    /// `acc <- acc + GGSW(s_step) [.] (X^rotation acc - acc)`: the CMUX that rotates if the bit is set.
    ///
    /// # Panics
    /// If a length is wrong, there is no such bit, or the rotation is not below 2N.
    pub fn rotate_if(&self, step: usize, acc: &mut [u64], rotation: usize, scratch: &mut Scratch) {
        if rotation == 0 {
            return;
        }
        assert_eq!(acc.len(), self.shape.words(), "a sample of the shape");
        let n = self.shape.degree;
        for (input, acc) in scratch.input.chunks_exact_mut(n).zip(acc.chunks_exact(n)) {
            rotate_sub(input, acc, rotation);
        }
        self.add_input(step, acc, scratch);
    }

    /// Rotates each of the accumulators, shape `[batch, k + 1, N]`, by `sum_i mask_i s_i` for its own mask of n exponents; each
    /// part of the key is read once.
    ///
    /// # Panics
    /// If a length is wrong, or an exponent is not below 2N.
    pub fn rotate(&self, accumulators: &mut [u64], masks: &[&[u32]], scratch: &mut Scratch) {
        assert_eq!(accumulators.len(), masks.len() * self.shape.words(), "an accumulator for each mask");
        assert!(masks.iter().all(|mask| mask.len() == self.steps), "an exponent for each bit");
        for step in 0..self.steps {
            for (acc, mask) in accumulators.chunks_exact_mut(self.shape.words()).zip(masks) {
                self.rotate_if(step, acc, mask[step] as usize, scratch);
            }
        }
    }

    /// Adds the external product with what lies in the scratch memory.
    fn add_input(&self, step: usize, acc: &mut [u64], scratch: &mut Scratch) {
        assert!(step < self.steps, "bit {step} of {}", self.steps);
        let exact = self.exact();
        let (n, words, levels) = (self.shape.degree, exact.words(), self.gadget.levels());
        for (polynomial, rows) in scratch.input.chunks_exact(n).zip(scratch.rows.chunks_exact_mut(levels * words)) {
            self.gadget.rows(polynomial, &mut scratch.digits);
            for (digits, row) in scratch.digits.chunks_exact(n).zip(rows.chunks_exact_mut(words)) {
                exact.forward_small(row, digits);
            }
        }
        let row_words = (self.shape.dimension + 1) * words;
        let key = &self.values[step * self.rows() * row_words..][..self.rows() * row_words];
        for (column, acc) in acc.chunks_exact_mut(n).enumerate() {
            exact.add_products(acc, &scratch.rows, &key[column * words..], row_words, &mut scratch.sum);
        }
    }

    const fn exact(&self) -> &ExactProduct {
        let TorusProduct::Exact(exact) = &self.product;
        exact
    }

    const fn rows(&self) -> usize {
        (self.shape.dimension + 1) * self.gadget.levels()
    }
}
