//! External products, CMUX, and chains of them: blind rotation.

use noren_math::kernels::aligned::AlignedVec;
use noren_math::kernels::mapped::MappedRow;
use noren_math::torus::fft::TorusFft;
use noren_math::torus::gadget::Gadget;
use noren_math::torus::product::{FourierKey, KeyShape, TorusScratch};

use crate::engine::Engine;
use crate::storage::Storage;
use crate::torus::exact::ExactProduct;
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
    shape: GlweShape,
    gadget: Gadget,
    steps: usize,
    key: Key,
}

/// The rows of all bits, bit after bit, with what they were transformed by.
#[derive(Debug)]
enum Key {
    /// `[steps, rows, k + 1, primes, N]`.
    Exact(ExactProduct, AlignedVec<u64>),
    /// `[steps, ...]`, each in the order of [`TorusFft::write_key`].
    Fourier(TorusFft, Storage<f64>),
}

/// Memory that external products need; what is found there does not matter.
#[derive(Debug)]
pub struct Scratch(Memory);

#[derive(Debug)]
enum Memory {
    Exact { input: AlignedVec<u64>, digits: Vec<i64>, rows: AlignedVec<u64>, sum: AlignedVec<u64> },
    Fourier(TorusScratch<u64>),
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
        product: &TorusProduct,
        (shape, gadget): (GlweShape, Gadget),
        steps: usize,
        write: impl Fn(usize, usize, &mut [u64]) + Send + Sync,
    ) -> Self {
        assert_eq!(product.degree(), shape.degree, "products of the degree of the samples");
        let key = match product.transforms() {
            (_, Some(fft)) => fourier_key(engine, fft, key_shape(shape, gadget), steps, write),
            (exact, None) => exact_key(engine, exact, (shape, gadget), steps, write),
        };
        Self { shape, gadget, steps, key }
    }

    /// The key that lies in a file as [`BlindRotation::numbers`] gave it; `None` if there are not as many numbers, or products
    /// are exact: what they need has no such form.
    ///
    /// The numbers are not looked at: others than those of a key lead to wrong results, and to nothing worse.
    ///
    /// # Panics
    /// If the degree of the products is another one.
    #[must_use]
    pub fn mapped(
        product: &TorusProduct,
        (shape, gadget): (GlweShape, Gadget),
        steps: usize,
        row: MappedRow,
    ) -> Option<Self> {
        assert_eq!(product.degree(), shape.degree, "products of the degree of the samples");
        let (_, fft) = product.transforms();
        let fits = row.len() == Self::number_count((shape, gadget), steps)?;
        let key = Key::Fourier(fft?.clone(), Storage::Mapped(row));
        fits.then_some(Self { shape, gadget, steps, key })
    }

    /// How many numbers a transformed key has; `None` if they are more than the address space holds.
    #[must_use]
    pub fn number_count((shape, gadget): (GlweShape, Gadget), steps: usize) -> Option<usize> {
        rows(shape, gadget).checked_mul(shape.words())?.checked_mul(steps)
    }

    /// All numbers of the key, `[steps, ...]`, each step in the order of [`TorusFft::write_key`]; `None` where products are exact.
    #[must_use]
    pub fn numbers(&self) -> Option<&[f64]> {
        match &self.key {
            Key::Exact(..) => None,
            Key::Fourier(_, values) => Some(values),
        }
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
        let words = match &self.key {
            Key::Exact(_, values) => values.len(),
            Key::Fourier(_, values) => values.len(),
        };
        size_of::<u64>() * words
    }

    /// Memory for external products.
    #[must_use]
    pub fn scratch(&self) -> Scratch {
        Scratch(match &self.key {
            Key::Exact(exact, _) => Memory::Exact {
                input: AlignedVec::zeroed(self.shape.words()),
                digits: vec![0; self.gadget.levels() * self.shape.degree],
                rows: AlignedVec::zeroed(rows(self.shape, self.gadget) * exact.words()),
                sum: AlignedVec::zeroed(exact.words()),
            },
            Key::Fourier(fft, _) => Memory::Fourier(TorusScratch::new(fft, &key_shape(self.shape, self.gadget))),
        })
    }

    /// `acc <- acc + GGSW(s_step) [.] (X^rotation acc - acc)`: the CMUX that rotates if the bit is set.
    ///
    /// # Panics
    /// If a length is wrong, there is no such bit, the rotation is not below 2N, or the memory is that of another key.
    pub fn rotate_if(&self, step: usize, acc: &mut [u64], rotation: usize, scratch: &mut Scratch) {
        self.rotate_each_if(step, acc, &[rotation], scratch);
    }

    /// [`BlindRotation::rotate_if`] of several accumulators, shape `[batch, k + 1, N]`, with a rotation each.
    fn rotate_each_if(&self, step: usize, accumulators: &mut [u64], rotations: &[usize], scratch: &mut Scratch) {
        assert!(step < self.steps, "bit {step} of {}", self.steps);
        assert_eq!(accumulators.len(), rotations.len() * self.shape.words(), "samples of the shape");
        match (&self.key, &mut scratch.0) {
            (Key::Exact(exact, values), Memory::Exact { input, digits, rows, sum }) => {
                let n = self.shape.degree;
                let words = values.len() / self.steps;
                let key = &values[step * words..][..words];
                for (acc, &rotation) in accumulators.chunks_exact_mut(self.shape.words()).zip(rotations) {
                    for (input, acc) in input.chunks_exact_mut(n).zip(acc.chunks_exact(n)) {
                        rotate_sub(input, acc, rotation);
                    }
                    exact_product_add(exact, self.gadget, acc, (input, key), (digits, rows, sum));
                }
            }
            (Key::Fourier(fft, values), Memory::Fourier(scratch)) => {
                let shape = key_shape(self.shape, self.gadget);
                let mut keys = values[step * fft.key_words(&shape)..].chunks_exact(fft.key_words(&shape));
                let words = keys.next().unwrap_or_default();
                fft.rotate_cmux_batch(accumulators, rotations, FourierKey { shape, words, next: keys.next() }, scratch);
            }
            _ => panic!("memory of another key"),
        }
    }

    /// `acc <- acc + GGSW(s_step) [.] (other - acc)`: the CMUX that takes the other sample if the bit is set. `other` is used up.
    ///
    /// # Panics
    /// If a length is wrong, there is no such bit, or the memory is that of another key.
    pub fn choose(&self, step: usize, acc: &mut [u64], other: &mut [u64], scratch: &mut Scratch) {
        assert!(step < self.steps, "bit {step} of {}", self.steps);
        assert!([acc.len(), other.len()] == [self.shape.words(); 2], "samples of the shape");
        other.iter_mut().zip(&*acc).for_each(|(x, y)| *x = x.wrapping_sub(*y));
        match (&self.key, &mut scratch.0) {
            (Key::Exact(exact, values), Memory::Exact { digits, rows, sum, .. }) => {
                let words = values.len() / self.steps;
                let key = &values[step * words..][..words];
                exact_product_add(exact, self.gadget, acc, (other, key), (digits, rows, sum));
            }
            (Key::Fourier(fft, values), Memory::Fourier(scratch)) => {
                let shape = key_shape(self.shape, self.gadget);
                let words = &values[step * fft.key_words(&shape)..][..fft.key_words(&shape)];
                fft.external_product_add(acc, other, FourierKey { shape, words, next: None }, scratch);
            }
            _ => panic!("memory of another key"),
        }
    }

    /// Rotates each of the accumulators, shape `[batch, k + 1, N]`, by `sum_i mask_i s_i` for its own mask of n exponents; each
    /// part of the key is read once.
    ///
    /// # Panics
    /// If a length is wrong, an exponent is not below 2N, or the memory is that of another key.
    pub fn rotate(&self, accumulators: &mut [u64], masks: &[&[u32]], scratch: &mut Scratch) {
        assert_eq!(accumulators.len(), masks.len() * self.shape.words(), "an accumulator for each mask");
        assert!(masks.iter().all(|mask| mask.len() == self.steps), "an exponent for each bit");
        let mut rotations = vec![0; masks.len()];
        for step in 0..self.steps {
            rotations.iter_mut().zip(masks).for_each(|(rotation, mask)| *rotation = mask[step] as usize);
            self.rotate_each_if(step, accumulators, &rotations, scratch);
        }
    }
}

const fn rows(shape: GlweShape, gadget: Gadget) -> usize {
    (shape.dimension + 1) * gadget.levels()
}

const fn key_shape(shape: GlweShape, gadget: Gadget) -> KeyShape {
    KeyShape { columns: shape.dimension + 1, gadget }
}

fn fourier_key(
    engine: &Engine,
    fft: &TorusFft,
    shape: KeyShape,
    steps: usize,
    write: impl Fn(usize, usize, &mut [u64]) + Send + Sync,
) -> Key {
    let (n, words) = (fft.degree(), fft.key_words(&shape));
    let mut values = AlignedVec::zeroed(steps * words);
    let total = values.len();
    let memory = || (AlignedVec::<u64>::zeroed(shape.columns * n), AlignedVec::<f64>::zeroed(n));
    let tasks = values.chunks_exact_mut(words).enumerate();
    engine.run_with(total, tasks, memory, |(sample, scratch), (step, key): (usize, &mut [f64])| {
        for row in 0..shape.rows() {
            write(step, row, sample);
            for (column, polynomial) in sample.chunks_exact(n).enumerate() {
                fft.write_key(key, &shape, (row, column), polynomial, scratch);
            }
        }
    });
    Key::Fourier(fft.clone(), Storage::Own(values))
}

fn exact_key(
    engine: &Engine,
    exact: &ExactProduct,
    (shape, gadget): (GlweShape, Gadget),
    steps: usize,
    write: impl Fn(usize, usize, &mut [u64]) + Send + Sync,
) -> Key {
    let rows = rows(shape, gadget);
    assert!(exact.holds(rows, gadget.log_base() - 1), "sums of these products are too large");
    let row_words = (shape.dimension + 1) * exact.words();
    let mut values = AlignedVec::zeroed(steps * rows * row_words);
    let total = values.len();
    let sample = || AlignedVec::<u64>::zeroed(shape.words());
    let tasks = values.chunks_exact_mut(rows * row_words).enumerate();
    engine.run_with(total, tasks, sample, |sample, (step, key): (usize, &mut [u64])| {
        for (row, values) in key.chunks_exact_mut(row_words).enumerate() {
            write(step, row, sample);
            for (values, words) in values.chunks_exact_mut(exact.words()).zip(sample.chunks_exact(shape.degree)) {
                exact.forward(values, words);
            }
        }
    });
    Key::Exact(exact.clone(), values)
}

/// `acc += key [.] input`, for memory of digits, of their transforms and of a sum.
pub(crate) fn exact_product_add(
    exact: &ExactProduct,
    gadget: Gadget,
    acc: &mut [u64],
    (input, key): (&[u64], &[u64]),
    (digits, rows, sum): (&mut [i64], &mut [u64], &mut [u64]),
) {
    let (n, words) = (exact.degree(), exact.words());
    for (polynomial, rows) in input.chunks_exact(n).zip(rows.chunks_exact_mut(gadget.levels() * words)) {
        for (place, &word) in polynomial.iter().enumerate() {
            gadget.digits(word).enumerate().for_each(|(level, digit)| digits[level * n + place] = digit);
        }
        for (digits, row) in digits.chunks_exact(n).zip(rows.chunks_exact_mut(words)) {
            exact.forward_small(row, digits);
        }
    }
    let row_words = acc.len() / n * words;
    for (column, acc) in acc.chunks_exact_mut(n).enumerate() {
        exact.add_products(acc, rows, &key[column * words..], row_words, sum);
    }
}
