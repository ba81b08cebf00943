//! External products, CMUX, and chains of them: blind rotation.

use std::sync::Arc;

use noren_math::machine::aligned::AlignedVec;
use noren_math::machine::mapped::{MappedFile, MappedRow};
use noren_math::roots::monomial::Monomials;
use noren_math::roots::torus::TorusFft;
use noren_math::torus::gadget::Gadget;
use noren_math::torus_products::product::{FourierKey, Grouping, KeyShape, TorusScratch};

use crate::engine::Engine;
use crate::interrupt::Steps;
use crate::storage::Storage;
use crate::torus::exact::ExactProduct;
use crate::torus::polynomial::rotate_sub;
use crate::torus::product::TorusProduct;
use crate::torus::shape::{GlweShape, RotationShape};

/// The bits `s_0, ..., s_{n-1}` of a short secret, each encrypted as GGSW under the secret of GLWE samples, transformed.
///
/// The GGSW of s has the rows (i, j), `i = 0..=k` and `j = 1..=l`: a GLWE sample of 0 plus `s 2^64 / B^j` in polynomial i.
/// The external product with a GLWE sample is the sum of its digits times the rows, and a sample of s times its message.
///
/// In pairs, the bits s and t have GGSW samples of s, t and `st`, whose rows take turns, and one step rotates by both: by
/// the external product with the sum of the three times `X^a - 1`, `X^b - 1` and their product, which is one of
/// `X^(as + bt) - 1`.
#[derive(Debug)]
pub struct BlindRotation {
    shape: RotationShape,
    bits: usize,
    key: Key,
}

/// The rows of all steps, step after step, with what they were transformed by.
#[derive(Debug)]
enum Key {
    /// `[steps, rows, k + 1, primes, N]`.
    Exact(ExactProduct, AlignedVec<u64>),
    /// `[steps, ...]`, each in the order of [`TorusFft::write_key`]; the monomials of pairs.
    Fourier(TorusFft, Option<Monomials>, Storage<f64>),
}

/// Memory that external products need; what is found there does not matter.
#[derive(Debug)]
pub struct Scratch(Memory);

#[derive(Debug)]
enum Memory {
    Exact {
        input: AlignedVec<u64>,
        product: AlignedVec<u64>,
        digits: Vec<i64>,
        rows: AlignedVec<u64>,
        sum: AlignedVec<u64>,
    },
    Fourier(TorusScratch<u64>),
}

impl BlindRotation {
    /// The key for `bits` secret bits, whose rows `write` writes: it is given the number of the step, the number of the row, and the
    /// words of the sample, `[k + 1, N]`, which hold anything. Row `i l + j - 1` is (i, j) of a bit; of a pair, three times that
    /// is of the first bit, one more of the second, and two more of their product.
    ///
    /// # Panics
    /// If the degree of the products is another one, sums of products are too large for them, or bits are left over.
    pub fn from_fn(
        engine: &Engine,
        product: &TorusProduct,
        shape: RotationShape,
        bits: usize,
        write: impl Fn(usize, usize, &mut [u64]) + Send + Sync,
    ) -> Self {
        assert_eq!(product.degree(), shape.samples.degree, "products of the degree of the samples");
        let key = match product.transforms() {
            (_, Some(fft)) => fourier_key(engine, fft, shape, shape.steps(bits), write),
            (exact, None) => exact_key(engine, exact, shape, shape.steps(bits), write),
        };
        Self { shape, bits, key }
    }

    /// The key that lies in a file as [`BlindRotation::numbers`] gave it; `None` if products are exact: what they need has no such
    /// form.
    ///
    /// The numbers are not looked at: others than those of a key lead to wrong results, and to nothing worse.
    ///
    /// # Panics
    /// If the degree of the products is another one.
    #[must_use]
    pub fn mapped(product: &TorusProduct, shape: RotationShape, bits: usize, row: MappedRow) -> Option<Self> {
        assert_eq!(product.degree(), shape.samples.degree, "products of the degree of the samples");
        let (_, fft) = product.transforms();
        let key = Key::Fourier(fft?.clone(), monomials(shape), Storage::Mapped(row));
        Some(Self { shape, bits, key })
    }

    /// All numbers of the key, `[steps, ...]`, each step in the order of [`TorusFft::write_key`]; `None` where products are exact.
    #[must_use]
    pub fn numbers(&self) -> Option<&[f64]> {
        match &self.key {
            Key::Exact(..) => None,
            Key::Fourier(_, _, values) => Some(values),
        }
    }

    /// The file, if the key lies in one.
    #[must_use]
    pub fn file(&self) -> Option<&Arc<MappedFile>> {
        match &self.key {
            Key::Exact(..) => None,
            Key::Fourier(_, _, values) => values.file(),
        }
    }

    /// The shape of the samples.
    #[must_use]
    pub const fn shape(&self) -> GlweShape {
        self.shape.samples
    }

    /// How many bits the short secret has.
    #[must_use]
    pub const fn bits(&self) -> usize {
        self.bits
    }

    /// How many bytes the key takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let words = match &self.key {
            Key::Exact(_, values) => values.len(),
            Key::Fourier(_, _, values) => values.len(),
        };
        size_of::<u64>() * words
    }

    /// Memory for external products.
    #[must_use]
    pub fn scratch(&self) -> Scratch {
        let key = self.shape.key();
        Scratch(match &self.key {
            Key::Exact(exact, _) => Memory::Exact {
                input: AlignedVec::zeroed(self.shape().words()),
                product: AlignedVec::zeroed(self.shape().words()),
                digits: vec![0; self.shape.gadget.levels() * self.shape().degree],
                rows: AlignedVec::zeroed(key.digits() * exact.words()),
                sum: AlignedVec::zeroed(exact.words()),
            },
            Key::Fourier(fft, ..) => Memory::Fourier(TorusScratch::new(fft, &key)),
        })
    }

    /// `acc <- acc + GGSW(s) [.] (X^rotation acc - acc)` for bit s: the CMUX that rotates if the bit is set.
    ///
    /// # Panics
    /// If a length is wrong, there is no such bit, bits come in pairs, the rotation is not below 2N, or the memory is that of
    /// another key.
    pub fn rotate_if(&self, bit: usize, acc: &mut [u64], rotation: usize, scratch: &mut Scratch) {
        assert_eq!(acc.len(), self.shape().words(), "a sample of the shape");
        self.step_of_one(bit, acc, &[rotation], scratch);
    }

    /// `acc <- acc + GGSW(s) [.] (other - acc)` for bit s: the CMUX that takes the other sample if the bit is set. `other` is used
    /// up.
    ///
    /// # Panics
    /// If a length is wrong, there is no such bit, bits come in pairs, or the memory is that of another key.
    pub fn choose(&self, bit: usize, acc: &mut [u64], other: &mut [u64], scratch: &mut Scratch) {
        assert!(bit < self.bits && self.shape.grouping == Grouping::Single, "bit {bit} of {} single ones", self.bits);
        assert!([acc.len(), other.len()] == [self.shape().words(); 2], "samples of the shape");
        other.iter_mut().zip(&*acc).for_each(|(x, y)| *x = x.wrapping_sub(*y));
        match (&self.key, &mut scratch.0) {
            (Key::Exact(exact, values), Memory::Exact { digits, rows, sum, .. }) => {
                let key = ExactKey::of(values, (bit, self.bits));
                exact_product_add(exact, self.shape.gadget, acc, (other, key), (digits, rows, sum));
            }
            (Key::Fourier(fft, _, values), Memory::Fourier(scratch)) => {
                let shape = self.shape.key();
                let words = &values[bit * fft.key_words(&shape)..][..fft.key_words(&shape)];
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
        assert_eq!(accumulators.len(), masks.len() * self.shape().words(), "an accumulator for each mask");
        assert!(masks.iter().all(|mask| mask.len() == self.bits), "an exponent for each bit");
        match self.shape.grouping {
            Grouping::Single => {
                let mut rotations = vec![0; masks.len()];
                for bit in 0..self.bits {
                    rotations.iter_mut().zip(masks).for_each(|(rotation, mask)| *rotation = mask[bit] as usize);
                    self.step_of_one(bit, accumulators, &rotations, scratch);
                }
            }
            Grouping::Pair => {
                let mut rotations = vec![[0; 2]; masks.len()];
                for step in 0..self.shape.steps(self.bits) {
                    for (rotations, mask) in rotations.iter_mut().zip(masks) {
                        *rotations = [mask[2 * step] as usize, mask[2 * step + 1] as usize];
                    }
                    self.step_of_two(step, accumulators, &rotations, scratch);
                }
            }
        }
    }

    /// [`BlindRotation::rotate_if`] of several accumulators, shape `[batch, k + 1, N]`, with a rotation each.
    fn step_of_one(&self, bit: usize, accumulators: &mut [u64], rotations: &[usize], scratch: &mut Scratch) {
        assert!(bit < self.bits && self.shape.grouping == Grouping::Single, "bit {bit} of {} single ones", self.bits);
        match (&self.key, &mut scratch.0) {
            (Key::Exact(exact, values), Memory::Exact { input, digits, rows, sum, .. }) => {
                let (n, key) = (self.shape().degree, ExactKey::of(values, (bit, self.bits)));
                for (acc, &rotation) in accumulators.chunks_exact_mut(self.shape().words()).zip(rotations) {
                    for (input, acc) in input.chunks_exact_mut(n).zip(acc.chunks_exact(n)) {
                        rotate_sub(input, acc, rotation);
                    }
                    exact_product_add(exact, self.shape.gadget, acc, (input, key), (digits, rows, sum));
                }
            }
            (Key::Fourier(fft, _, values), Memory::Fourier(scratch)) => {
                let key = fourier_step(fft, values, self.shape.key(), bit);
                fft.rotate_cmux_batch(accumulators, rotations, key, scratch);
            }
            _ => panic!("memory of another key"),
        }
    }

    /// The step with two bits, of several accumulators, shape `[batch, k + 1, N]`, with two rotations each.
    fn step_of_two(&self, step: usize, accumulators: &mut [u64], rotations: &[[usize; 2]], scratch: &mut Scratch) {
        match (&self.key, &mut scratch.0) {
            (Key::Exact(exact, values), Memory::Exact { input, product, digits, rows, sum }) => {
                let (n, steps) = (self.shape().degree, self.shape.steps(self.bits));
                let matrices = self.shape.grouping.matrices();
                for (acc, pair) in accumulators.chunks_exact_mut(self.shape().words()).zip(rotations) {
                    let start = acc.to_vec();
                    for matrix in 0..matrices {
                        let key = ExactKey { matrix, matrices, ..ExactKey::of(values, (step, steps)) };
                        product.fill(0);
                        exact_product_add(exact, self.shape.gadget, product, (&start, key), (digits, rows, sum));
                        // The first one turns by the first rotation, the second by the second, the third by both.
                        for (_, &rotation) in (0..2).zip(pair).filter(|&(bit, _)| matrix == bit || matrix == 2) {
                            for (input, product) in input.chunks_exact_mut(n).zip(product.chunks_exact(n)) {
                                rotate_sub(input, product, rotation);
                            }
                            product.copy_from_slice(input);
                        }
                        acc.iter_mut().zip(&**product).for_each(|(x, y)| *x = x.wrapping_add(*y));
                    }
                }
            }
            (Key::Fourier(fft, monomials, values), Memory::Fourier(scratch)) => {
                let monomials = monomials.as_ref().expect("there are some for pairs");
                let key = fourier_step(fft, values, self.shape.key(), step);
                fft.rotate_pair_batch(accumulators, rotations, (key, monomials), scratch);
            }
            _ => panic!("memory of another key"),
        }
    }
}

/// The matrices of one step, and those of the next, which are called into a cache meanwhile.
fn fourier_step<'a>(fft: &TorusFft, values: &'a [f64], shape: KeyShape, step: usize) -> FourierKey<'a> {
    let mut keys = values[step * fft.key_words(&shape)..].chunks_exact(fft.key_words(&shape));
    let words = keys.next().unwrap_or_default();
    FourierKey { shape, words, next: keys.next() }
}

fn monomials(shape: RotationShape) -> Option<Monomials> {
    (shape.grouping == Grouping::Pair).then(|| Monomials::new(shape.samples.degree))
}

fn fourier_key(
    engine: &Engine,
    fft: &TorusFft,
    shape: RotationShape,
    steps: usize,
    write: impl Fn(usize, usize, &mut [u64]) + Send + Sync,
) -> Key {
    let (n, key_shape) = (fft.degree(), shape.key());
    let words = fft.key_words(&key_shape);
    let mut values = AlignedVec::zeroed(steps * words);
    let total = values.len();
    let memory = || (AlignedVec::<u64>::zeroed(shape.samples.words()), AlignedVec::<f64>::zeroed(n));
    let tasks = values.chunks_exact_mut(words).enumerate();
    let progress = Steps::new(steps);
    engine.run_with(total, tasks, memory, |(sample, scratch), (step, key): (usize, &mut [f64])| {
        progress.advance(1);
        for row in 0..shape.rows() {
            write(step, row, sample);
            for (column, polynomial) in sample.chunks_exact(n).enumerate() {
                fft.write_key(key, &key_shape, (row, column), polynomial, scratch);
            }
        }
    });
    Key::Fourier(fft.clone(), monomials(shape), Storage::Own(values))
}

fn exact_key(
    engine: &Engine,
    exact: &ExactProduct,
    shape: RotationShape,
    steps: usize,
    write: impl Fn(usize, usize, &mut [u64]) + Send + Sync,
) -> Key {
    let (rows, samples) = (shape.rows(), shape.samples);
    let held = exact.holds(shape.key().digits(), shape.gadget.log_base() - 1);
    assert!(held, "sums of these products are too large");
    let row_words = (samples.dimension + 1) * exact.words();
    let mut values = AlignedVec::zeroed(steps * rows * row_words);
    let total = values.len();
    let sample = || AlignedVec::<u64>::zeroed(samples.words());
    let tasks = values.chunks_exact_mut(rows * row_words).enumerate();
    engine.run_with(total, tasks, sample, |sample, (step, key): (usize, &mut [u64])| {
        for (row, values) in key.chunks_exact_mut(row_words).enumerate() {
            write(step, row, sample);
            for (values, words) in values.chunks_exact_mut(exact.words()).zip(sample.chunks_exact(samples.degree)) {
                exact.forward(values, words);
            }
        }
    });
    Key::Exact(exact.clone(), values)
}

/// One of the matrices of a step, whose rows take turns.
#[derive(Clone, Copy)]
pub(crate) struct ExactKey<'a> {
    words: &'a [u64],
    matrix: usize,
    matrices: usize,
}

impl<'a> ExactKey<'a> {
    /// The GGSW sample of step `step` of `steps`, where each step has one.
    pub(crate) fn of(values: &'a [u64], (step, steps): (usize, usize)) -> Self {
        let words = values.len() / steps;
        Self { words: &values[step * words..][..words], matrix: 0, matrices: 1 }
    }
}

/// `acc += key [.] input`, for memory of digits, of their transforms and of a sum.
pub(crate) fn exact_product_add(
    exact: &ExactProduct,
    gadget: Gadget,
    acc: &mut [u64],
    (input, key): (&[u64], ExactKey<'_>),
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
        let first = key.matrix * row_words + column * words;
        exact.add_products(acc, rows, &key.words[first..], key.matrices * row_words, sum);
    }
}
