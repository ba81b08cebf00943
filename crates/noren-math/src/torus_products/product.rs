//! Products of torus polynomials with matrices of them, by digits: external products and the steps of a blind rotation.

use crate::kernels::kernels;
use crate::kernels::torus::operands::{PAIR_TERMS, QUAD, TorusProducts, Turns, key_place};
use crate::machine::aligned::AlignedVec;
use crate::roots::monomial::Monomials;
use crate::roots::torus::{BLOCK, GROUP, GROUP_WORDS, TorusFft};
use crate::torus::gadget::Gadget;
use crate::torus::word::Torus;

/// Words between rows of spectra that are read side by side, besides the row: a power of two alone would put the same places
/// of all rows into one set of the nearest cache.
pub(crate) const PADDING: usize = 3 * GROUP_WORDS;

/// The shape of a matrix of spectra: `columns` polynomials for each of the `columns * levels` digits of as many polynomials.
///
/// Row `i * levels + j` belongs to digit `j + 1` of polynomial `i`. For a GGSW ciphertext, `columns` is `k + 1`.
///
/// For two bits there are three such matrices, of the first bit, of the second and of their product: of digit r they have the
/// rows `3r`, `3r + 1` and `3r + 2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyShape {
    /// How many polynomials go in, and come out.
    pub columns: usize,
    /// The digits of those that go in.
    pub gadget: Gadget,
    /// How many bits a step of a blind rotation takes.
    pub grouping: Grouping,
}

/// How many bits of a secret a step of a blind rotation takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grouping {
    /// One: a CMUX.
    Single,
    /// Two with one external product: half the transforms, for half as many matrices more (Zhou et al., "Faster bootstrapping
    /// with multiple addends", 2018).
    Pair,
}

/// The order of points in a matrix: points of a block, groups of all rows that lie together, points of a group. Files of
/// matrices hold these numbers, so that one of another order is refused.
pub const KEY_LAYOUT: [u64; 3] = [BLOCK as u64, QUAD as u64, GROUP as u64];

impl KeyShape {
    /// How many digits there are.
    #[must_use]
    pub const fn digits(&self) -> usize {
        self.columns * self.gadget.levels()
    }

    /// How many rows the matrices have together.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.digits() * self.grouping.matrices()
    }
}

impl Grouping {
    /// How many bits.
    #[must_use]
    pub const fn bits(self) -> usize {
        match self {
            Self::Single => 1,
            Self::Pair => 2,
        }
    }

    /// How many matrices a number of bits has.
    #[must_use]
    pub const fn matrices(self) -> usize {
        match self {
            Self::Single => 1,
            Self::Pair => PAIR_TERMS,
        }
    }
}

/// A matrix of torus spectra.
#[derive(Debug, Clone, Copy)]
pub struct FourierKey<'a> {
    /// Its shape.
    pub shape: KeyShape,
    /// As [`TorusFft::write_key`] has written them.
    pub words: &'a [f64],
    /// The matrix that is used next, if it is known, or a part of it: it is called into a cache while this one is used.
    pub next: Option<&'a [f64]>,
}

/// Room for products, one for each thread.
///
/// It holds digits of ciphertexts and sums, no secrets.
#[derive(Debug)]
pub struct TorusScratch<T> {
    shifted: Vec<T>,
    digits: AlignedVec<f64>,
    sums: AlignedVec<f64>,
}

impl<T: Torus> TorusScratch<T> {
    /// Room for products with matrices of one shape.
    #[must_use]
    pub fn new(fft: &TorusFft, shape: &KeyShape) -> Self {
        let n = fft.degree();
        Self {
            shifted: vec![T::default(); n],
            digits: AlignedVec::zeroed(shape.digits() * (n + PADDING)),
            sums: AlignedVec::zeroed(shape.columns * n),
        }
    }
}

impl TorusFft {
    /// The length of a matrix of spectra: rows times columns times the degree.
    #[must_use]
    pub fn key_words(&self, shape: &KeyShape) -> usize {
        shape.rows() * shape.columns * self.degree()
    }

    /// Writes the torus spectrum of `a` to its place in a matrix. The scratch has as many numbers as `a` words, and is left
    /// with that spectrum.
    ///
    /// # Panics
    /// If a length does not fit the degree and the shape, or there is no such row or column.
    pub fn write_key<T: Torus>(
        &self,
        key: &mut [f64],
        shape: &KeyShape,
        (row, column): (usize, usize),
        a: &[T],
        scratch: &mut [f64],
    ) {
        assert_eq!(key.len(), self.key_words(shape), "the length of a matrix of spectra");
        assert!(row < shape.rows() && column < shape.columns, "row {row}, column {column} of {shape:?}");
        self.forward_torus(scratch, a);
        for (group, words) in scratch.as_chunks::<GROUP_WORDS>().0.iter().enumerate() {
            let at = key_place(self.points(), (shape.rows(), shape.columns), (row, column), group);
            key[at..at + GROUP_WORDS].copy_from_slice(words);
        }
    }

    /// The external product, added: `acc_c += sum_r d_r key_(r, c)` with the digits `d_r` of `input`.
    ///
    /// Shapes: `acc` and `input` are `[columns, N]`. The error is that of [`TorusFft::error_bound`].
    ///
    /// # Panics
    /// If a length does not fit the degree and the shape.
    pub fn external_product_add<T: Torus>(
        &self,
        acc: &mut [T],
        input: &[T],
        key: FourierKey<'_>,
        scratch: &mut TorusScratch<T>,
    ) {
        let offset = key.shape.gadget.offset::<T>();
        self.product_of(acc, key, None, scratch, |shifted, _, i| {
            let n = shifted.len();
            for (shifted, &x) in shifted.iter_mut().zip(&input[i * n..][..n]) {
                *shifted = x.wrapping_add(offset);
            }
        });
    }

    /// The step of a blind rotation: `acc += key (X^rotation acc - acc)` by the external product; nothing if the rotation is
    /// 0. Range: rotation in `[0, 2N)`.
    ///
    /// Shapes: `acc` is `[columns, N]`.
    ///
    /// # Panics
    /// If a length does not fit the degree and the shape, or the rotation is out of range.
    pub fn rotate_cmux<T: Torus>(
        &self,
        acc: &mut [T],
        rotation: usize,
        key: FourierKey<'_>,
        scratch: &mut TorusScratch<T>,
    ) {
        if rotation == 0 {
            return;
        }
        let offset = key.shape.gadget.offset::<T>();
        self.product_of(acc, key, None, scratch, |shifted, acc, i| {
            let n = shifted.len();
            kernels().torus_rotate_difference(shifted, &acc[i * n..][..n], rotation, offset);
        });
    }

    /// The step of a blind rotation with two bits s and t: `acc += key acc` by the external product with the matrix
    /// `u K_s + v K_t + u v K_st`, `u = X^a - 1` and `v = X^b - 1` for the rotations a and b; nothing if both are 0. Its
    /// message is `X^(a s + b t) - 1`. Range: rotations in `[0, 2N)`.
    ///
    /// Shapes: `acc` is `[columns, N]`.
    ///
    /// # Panics
    /// If a length does not fit the degree and the shape, or a rotation is out of range.
    pub fn rotate_pair<T: Torus>(
        &self,
        acc: &mut [T],
        rotations: [usize; 2],
        (key, monomials): (FourierKey<'_>, &Monomials),
        scratch: &mut TorusScratch<T>,
    ) {
        if rotations == [0, 0] {
            return;
        }
        let (offset, turns) = (key.shape.gadget.offset::<T>(), Turns { monomials, exponents: rotations });
        self.product_of(acc, key, Some(turns), scratch, |shifted, acc, i| {
            let n = shifted.len();
            shifted.iter_mut().zip(&acc[i * n..]).for_each(|(x, word)| *x = word.wrapping_add(offset));
        });
    }

    /// [`TorusFft::rotate_cmux`] for several ciphertexts, with a rotation each: the matrix comes from memory once.
    ///
    /// Shapes: `accs` is `[rotations.len(), columns, N]`.
    ///
    /// # Panics
    /// As [`TorusFft::rotate_cmux`].
    pub fn rotate_cmux_batch<T: Torus>(
        &self,
        accs: &mut [T],
        rotations: &[usize],
        key: FourierKey<'_>,
        scratch: &mut TorusScratch<T>,
    ) {
        self.batch(accs, rotations, key, |acc, &rotation, key| self.rotate_cmux(acc, rotation, key, scratch));
    }

    /// [`TorusFft::rotate_pair`] for several ciphertexts, with two rotations each: the matrices come from memory once.
    ///
    /// Shapes: `accs` is `[rotations.len(), columns, N]`.
    ///
    /// # Panics
    /// As [`TorusFft::rotate_pair`].
    pub fn rotate_pair_batch<T: Torus>(
        &self,
        accs: &mut [T],
        rotations: &[[usize; 2]],
        (key, monomials): (FourierKey<'_>, &Monomials),
        scratch: &mut TorusScratch<T>,
    ) {
        self.batch(accs, rotations, key, |acc, &pair, key| self.rotate_pair(acc, pair, (key, monomials), scratch));
    }

    /// Does a step for each ciphertext. Each calls for a share of the next matrix, so that none waits for all of it.
    fn batch<T, R>(
        &self,
        accs: &mut [T],
        rotations: &[R],
        key: FourierKey<'_>,
        mut step: impl FnMut(&mut [T], &R, FourierKey<'_>),
    ) {
        let len = key.shape.columns * self.degree();
        assert_eq!(accs.len(), rotations.len() * len, "ciphertexts of {len} words");
        let next = key.next.unwrap_or_default();
        let share = next.len().div_ceil(rotations.len().max(1)).max(1);
        let mut shares = next.chunks(share);
        for (acc, rotation) in accs.chunks_exact_mut(len).zip(rotations) {
            step(acc, rotation, FourierKey { next: shares.next(), ..key });
        }
    }

    /// Adds the products with what `shift` writes for polynomial `i`, the gadget's offset included.
    fn product_of<T: Torus>(
        &self,
        acc: &mut [T],
        key: FourierKey<'_>,
        turns: Option<Turns<'_>>,
        scratch: &mut TorusScratch<T>,
        shift: impl Fn(&mut [T], &[T], usize),
    ) {
        let (gadget, stride) = (key.shape.gadget, self.degree() + PADDING);
        let rows = scratch.digits.chunks_exact_mut(stride);
        assert_eq!(rows.len(), key.shape.digits(), "the scratch is that of another shape");
        assert_eq!(
            turns.is_some(),
            key.shape.grouping == Grouping::Pair,
            "a step of as many bits as the matrices are for"
        );
        // The digits take about a third of the time.
        let next = key.next.unwrap_or_default();
        let (first, rest) = next.split_at(next.len() / 3);
        let mut first = first.chunks(first.len().div_ceil(key.shape.digits()).max(1));
        for (row, spectrum) in rows.enumerate() {
            let (i, level) = (row / gadget.levels(), row % gadget.levels());
            if level == 0 {
                shift(&mut scratch.shifted, acc, i);
            }
            let spectrum = &mut spectrum[..self.degree()];
            let ahead = first.next().unwrap_or_default();
            kernels().torus_forward_digits(spectrum, &scratch.shifted, &gadget, level, self, ahead);
        }
        let products = TorusProducts {
            digits: &scratch.digits,
            stride,
            rows: key.shape.digits(),
            columns: key.shape.columns,
            key: key.words,
            turns,
            ahead: rest,
        };
        kernels().torus_products_add(acc, &products, &mut scratch.sums, self);
    }
}
