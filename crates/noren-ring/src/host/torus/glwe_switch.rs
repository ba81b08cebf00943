//! Key switches of GLWE samples: automorphisms, products with secrets.

use noren_math::machine::aligned::AlignedVec;
use noren_math::roots::torus::TorusFft;
use noren_math::torus::gadget::Gadget;
use noren_math::torus_products::matrix::{Precision, SwitchScratch, SwitchShape};

use crate::host::torus::blind_rotation::{ExactKey, exact_product_add};
use crate::torus::exact::ExactProduct;
use crate::torus::polynomial::alternate;
use crate::torus::product::TorusProduct;
use crate::torus::shape::GlweShape;

/// A key that takes polynomials `a_0 ... a_{k-1}` to a GLWE sample of `sum_i a_i T_i`, for secret polynomials `T_i`.
///
/// Row (i, j) is a GLWE sample of `T_i 2^64 / B^j`, `j = 1..=l`; the result is the sum of digits times rows. Sums are exact,
/// whatever the way of external products, or as near as those are: [`Precision`].
///
/// Digits in `[-B/2, B/2)` have the mean -1/2, and a polynomial whose coefficients are all the same adds up where it meets another
/// one, as a binary secret nearly is. So digits of coefficients of odd powers of X are those of the negated word, negated, of
/// mean 1/2: all is done with `-X` in place of X, and the rows are kept so.
#[derive(Debug)]
pub struct GlweSwitch {
    shape: GlweShape,
    gadget: Gadget,
    precision: Precision,
    key: Key,
}

#[derive(Debug)]
enum Key {
    /// `[rows, k + 1, primes, N]`.
    Exact(ExactProduct, AlignedVec<u64>),
    /// As [`TorusFft::write_switch`] has written it.
    Fourier(TorusFft, AlignedVec<f64>),
}

/// Memory that switches need; what is found there does not matter.
#[derive(Debug)]
pub struct GlweScratch(Memory);

#[derive(Debug)]
enum Memory {
    Exact { digits: Vec<i64>, rows: AlignedVec<u64>, sum: AlignedVec<u64> },
    Fourier(SwitchScratch),
}

impl GlweSwitch {
    /// The key whose rows `write` writes: it is given the row `i l + j - 1` and the words of the sample, `[k + 1, N]`, which
    /// hold anything.
    ///
    /// # Panics
    /// If the degree of the products is another one, or sums of products that shall be exact are too large for it.
    pub fn from_fn(
        product: &TorusProduct,
        (shape, gadget, precision): (GlweShape, Gadget, Precision),
        write: impl Fn(usize, &mut [u64]),
    ) -> Self {
        assert_eq!(product.degree(), shape.degree, "products of the degree of the samples");
        let (n, rows) = (shape.degree, shape.dimension * gadget.levels());
        let mut sample = AlignedVec::<u64>::zeroed(shape.words());
        let write = |row, sample: &mut [u64]| {
            write(row, sample);
            alternate(sample);
        };
        let key = match product.transforms() {
            (_, Some(fft)) => {
                let shape = switch_shape(shape, gadget, precision);
                assert!(precision == Precision::Rounded || shape.is_exact(n), "digits of {gadget:?} are too large");
                let (mut values, mut scratch) =
                    (AlignedVec::zeroed(fft.switch_words(&shape)), AlignedVec::<f64>::zeroed(n));
                for row in 0..rows {
                    write(row, &mut sample);
                    for (column, polynomial) in sample.chunks_exact(n).enumerate() {
                        fft.write_switch(&mut values, &shape, (row, column), polynomial, &mut scratch);
                    }
                }
                Key::Fourier(fft.clone(), values)
            }
            (exact, None) => {
                assert!(exact.holds(rows, gadget.log_base() - 1), "sums of these products are too large");
                let mut values = AlignedVec::zeroed(rows * (shape.dimension + 1) * exact.words());
                for (row, values) in values.chunks_exact_mut((shape.dimension + 1) * exact.words()).enumerate() {
                    write(row, &mut sample);
                    for (values, words) in values.chunks_exact_mut(exact.words()).zip(sample.chunks_exact(n)) {
                        exact.forward(values, words);
                    }
                }
                Key::Exact(exact.clone(), values)
            }
        };
        Self { shape, gadget, precision, key }
    }

    /// The shape of the samples.
    #[must_use]
    pub const fn shape(&self) -> GlweShape {
        self.shape
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

    /// Memory for switches of this shape and these digits.
    #[must_use]
    pub fn scratch(&self) -> GlweScratch {
        let rows = self.shape.dimension * self.gadget.levels();
        GlweScratch(match &self.key {
            Key::Exact(exact, _) => Memory::Exact {
                digits: vec![0; self.gadget.levels() * self.shape.degree],
                rows: AlignedVec::zeroed(rows * exact.words()),
                sum: AlignedVec::zeroed(exact.words()),
            },
            Key::Fourier(fft, _) => Memory::Fourier(SwitchScratch::new(fft, &self.switch_shape())),
        })
    }

    /// `acc += sum_ij d_ij row_ij` for the digits `d_ij` of polynomial i of the input, `[k, N]`, which is used up: adds a
    /// sample of `sum_i a_i T_i`.
    ///
    /// # Panics
    /// If a length is wrong, or the memory is that of another shape.
    pub fn add(&self, acc: &mut [u64], input: &mut [u64], scratch: &mut GlweScratch) {
        alternate(acc);
        alternate(input);
        self.add_alternate(acc, input, scratch);
        alternate(acc);
    }

    /// [`GlweSwitch::add`] where both are given with `-X` in place of X, and the sum is left so: `acc(-X)`, `a_i(-X)`.
    ///
    /// # Panics
    /// As [`GlweSwitch::add`].
    pub fn add_alternate(&self, acc: &mut [u64], input: &[u64], scratch: &mut GlweScratch) {
        assert_eq!(acc.len(), self.shape.words(), "a sample of the shape");
        assert_eq!(input.len(), self.shape.extracted(), "polynomials of the shape's mask");
        match (&self.key, &mut scratch.0) {
            (Key::Exact(exact, values), Memory::Exact { digits, rows, sum }) => {
                let key = ExactKey::of(values, (0, 1));
                exact_product_add(exact, self.gadget, acc, (input, key), (digits, rows, sum));
            }
            (Key::Fourier(fft, values), Memory::Fourier(scratch)) => {
                fft.switch_add(acc, input, (&self.switch_shape(), values), scratch);
            }
            _ => panic!("memory of another key"),
        }
    }

    /// The sample of `-S_r m` for that of m, if this is the key of the products `T_i = S_i S_r`: the body in mask r, and a switch of
    /// the masks.
    ///
    /// # Panics
    /// As [`GlweSwitch::add`]; if there is no mask r.
    pub fn times_secret(&self, r: usize, out: &mut [u64], sample: &[u64], scratch: &mut GlweScratch) {
        let (mask, body) = sample.split_at(self.shape.extracted());
        out.fill(0);
        out[..self.shape.extracted()][r * self.shape.degree..][..self.shape.degree].copy_from_slice(body);
        self.add(out, &mut mask.to_vec(), scratch);
    }

    const fn switch_shape(&self) -> SwitchShape {
        switch_shape(self.shape, self.gadget, self.precision)
    }
}

const fn switch_shape(shape: GlweShape, gadget: Gadget, precision: Precision) -> SwitchShape {
    SwitchShape { inputs: shape.dimension, columns: shape.dimension + 1, gadget, precision }
}
