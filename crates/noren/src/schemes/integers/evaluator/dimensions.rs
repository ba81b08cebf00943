//! Rotations along the dimensions of slots, and the Frobenius automorphism in each of them.

use noren_rlwe::error::{Error, Result};
use noren_rlwe::galois::{apply_automorphisms, available_product};

use crate::schemes::extent::Extent;
use crate::schemes::integers::content::{Content, Encoding};
use crate::schemes::integers::encoder::Encoder;
use crate::schemes::integers::encryption::Ciphertext;
use crate::schemes::integers::evaluator::Evaluator;
use crate::schemes::integers::scheme::Scheme;
use crate::schemes::integers::slot_matrix::SlotMatrix;

impl<S: Scheme> Evaluator<S> {
    /// Slot `(e_1, e_2, ..)` of the result is slot `(e_1 + s_1, e_2 + s_2, ..)` of `a`, each coordinate modulo the size of
    /// its [dimension](noren_math::hypercube::Dimension): one number of steps for each dimension of the slots.
    ///
    /// Along native dimensions it is one automorphism. A rotation along another one is two, each times the mask of the slots
    /// that it fills, and so costs a product with a plaintext. An automorphism without a key is taken as the fewest that have
    /// one. Keys: see [`Context::rotation_along`](crate::schemes::integers::Context::rotation_along) and
    /// [`Context::automorphisms_of_rotations`](crate::schemes::integers::Context::automorphisms_of_rotations).
    ///
    /// # Errors
    /// [`Error::Length`](noren_rlwe::error::Error::Length) unless there is a number of steps for each dimension,
    /// [`Error::Parameters`](noren_rlwe::error::Error::Parameters) in a ring without such slots, missing keys as for
    /// [`Evaluator::rotate_many`], and
    /// [`IntegerError::NoiseExhausted`](crate::schemes::integers::IntegerError::NoiseExhausted) where masks would leave
    /// no budget.
    pub fn rotate_along(&self, a: &Ciphertext<S>, steps: &[isize]) -> Result<Ciphertext<S>> {
        let moves = self.context.grid()?.rotation(steps)?;
        let exponents: Vec<u32> = moves.iter().map(|part| part.exponent).collect();
        let mut images = self.images(a, &exponents)?;
        let moved = a.content().moved();
        if moves.len() == 1 {
            let content = if exponents == [1] { a.content() } else { moved };
            return Ok(images.remove(0).holding(content));
        }
        let (encoder, limbs) = (Encoder::new(&self.context), self.context.parameters().max_limbs());
        let mask = |slots: &[usize]| {
            let mut mask = vec![0; self.context.parameters().slots()];
            slots.iter().for_each(|&slot| mask[slot] = 1);
            self.context.kept(mask, |mask| encoder.prepare(encoder.encode(mask)?, limbs))
        };
        let masks = moves.iter().map(|part| mask(&part.slots)).collect::<Result<Vec<_>>>()?;
        let pairs: Vec<_> = images.iter().zip(masks.iter().map(|mask| &**mask)).collect();
        Ok(self.dot_plain(&pairs)?.holding(moved))
    }

    /// `sigma^i` of the value of each slot, for the Frobenius automorphism sigma of the Galois ring, which maps Y to `Y^p`;
    /// i counts modulo d. Numbers stay what they are.
    ///
    /// # Errors
    /// As [`Evaluator::rotate_along`].
    pub fn frobenius(&self, a: &Ciphertext<S>, i: usize) -> Result<Ciphertext<S>> {
        let exponent = self.context.grid()?.frobenius(i);
        Ok(self.images(a, &[exponent])?.remove(0))
    }

    /// The matrix times the slots of `a`; slots after the rows hold 0.
    ///
    /// Keys are needed for [`SlotMatrix::automorphisms`]. Products with several vectors use the same factors.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] for a matrix of other parameters, [`Error::Length`] for a vector that has another length
    /// than the columns,
    /// [`IntegerError::NoiseExhausted`](crate::schemes::integers::IntegerError::NoiseExhausted) if the result may be
    /// wrong, [`Error::MissingKey`] names all keys that are missing, [`Error::FileChanged`] for a mapped matrix whose file
    /// has changed.
    pub fn multiply_matrix(&self, matrix: &SlotMatrix, a: &Ciphertext<S>) -> Result<Ciphertext<S>> {
        self.check(a)?;
        self.context.check(matrix.parameters(), "the matrix")?;
        let (slots, [rows, columns]) = (self.context.grid()?.slots(), matrix.shape());
        if let Some(found) = a.content().extent().length().filter(|&length| length != columns) {
            return Err(Error::Length {
                what: "values of the vector",
                found,
                needed: format!("{columns}, one a column"),
            });
        }
        let giants: Vec<_> = matrix.giants.iter().map(|giant| (giant.exponent, &giant.terms[..])).collect();
        let product = match giants.is_empty() {
            true => self.mul_scalar(a, 0)?,
            false => self.sum_giant_automorphisms(a, Content::slots(slots), &matrix.babies, &giants)?,
        };
        matrix.check_file()?;
        Ok(product.holding(Content::new(Encoding::Slots, Extent::of_values(rows, slots))))
    }

    /// The images under some automorphisms: if there is a key for each of them, the digits are made only once, and otherwise
    /// each is as many automorphisms as it takes.
    fn images(&self, a: &Ciphertext<S>, exponents: &[u32]) -> Result<Vec<Ciphertext<S>>> {
        self.check_linear(a)?;
        a.content().check_slots()?;
        if let Err(missing) = self.check_exponents(a, exponents) {
            let index = self.context.parameters().rlwe().index().index();
            let product = |&k: &u32| available_product(index, k, a.limbs(), &self.keys);
            let Some(products) = exponents.iter().map(product).collect::<Option<Vec<_>>>() else { return Err(missing) };
            let image = |steps: Vec<u32>| steps.into_iter().try_fold(a.clone(), |a, k| self.image(&a, k));
            return products.into_iter().map(image).collect();
        }
        let images = apply_automorphisms(self.context.rlwe(), &a.inner, exponents, &self.keys)?;
        self.keys.check_files()?;
        let state = self.growth().switched(a.state());
        let image = |(inner, &k)| match k {
            1 => a.clone(),
            _ => self.result(inner, state.clone(), a.content()),
        };
        Ok(images.into_iter().zip(exponents).map(image).collect())
    }
}
