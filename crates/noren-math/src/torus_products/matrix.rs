//! Products of torus polynomials with matrices of them, by digits: key switches.
//!
//! For exact ones, words of 64 bits are cut into halves, `w = h 2^32 + l` with signed h and l of 32 bits. The sum of digits times
//! either is an integer that the transform knows to far less than one half, so that it is rounded to the right one: the result is
//! that of integers, on every instruction set. It costs twice the products and inverse transforms of one in `f64` alone.

use crate::kernels::kernels;
use crate::kernels::torus::operands::{TorusProducts, key_place};
use crate::machine::aligned::AlignedVec;
use crate::roots::torus::{GROUP_WORDS, TorusFft};
use crate::torus::gadget::Gadget;
use crate::torus_products::bound::deviation;
use crate::torus_products::product::{Grouping, PADDING};

/// How many deviations of the transform's error one half of a step must be: more than 16 are met with a probability below
/// 2^-186.
const DEVIATIONS: f64 = 16.0;

/// How near products of a matrix come to those of integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// They are equal.
    Exact,
    /// As near as those of external products: [`SwitchShape::error_deviation`]. Roundings depend on the instruction set.
    Rounded,
}

/// The shape of a matrix: `columns` polynomials for each of the `inputs * levels` digits of `inputs` polynomials.
///
/// Row `i * levels + j` belongs to digit `j + 1` of polynomial `i`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SwitchShape {
    /// How many polynomials go in.
    pub inputs: usize,
    /// How many come out.
    pub columns: usize,
    /// The digits of those that go in.
    pub gadget: Gadget,
    /// How products are made.
    pub precision: Precision,
}

/// Room for products, one for each thread.
///
/// It holds digits of ciphertexts and sums, no secrets.
#[derive(Debug)]
pub struct SwitchScratch {
    shifted: Vec<u64>,
    digits: AlignedVec<f64>,
    sums: AlignedVec<f64>,
    /// Of exact products.
    halves: AlignedVec<u64>,
}

impl SwitchShape {
    /// How many rows the matrix has.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.inputs * self.gadget.levels()
    }

    /// Parts that a word is cut into.
    const fn parts(&self) -> usize {
        match self.precision {
            Precision::Exact => 2,
            Precision::Rounded => 1,
        }
    }

    /// Whether exact products of this shape are: half of a step is 16 [deviations](deviation) of the transform's error or more.
    #[must_use]
    pub fn is_exact(&self, degree: usize) -> bool {
        // Low halves are smaller than words by 2^32, and so are their steps.
        let half_step = f64::from(u32::BITS - 1).exp2();
        DEVIATIONS * self.error_deviation(degree) < half_step
    }

    /// The standard deviation of the error of a coefficient of rounded products, in words; see [`deviation`].
    #[must_use]
    pub fn error_deviation(&self, degree: usize) -> f64 {
        deviation(degree, (self.rows(), Grouping::Single), u64::BITS + self.gadget.log_base())
    }
}

impl SwitchScratch {
    /// Room for products with matrices of one shape.
    #[must_use]
    pub fn new(fft: &TorusFft, shape: &SwitchShape) -> Self {
        let n = fft.degree();
        let sums = shape.parts() * shape.columns * n;
        Self {
            shifted: vec![0; n],
            digits: AlignedVec::zeroed(shape.rows() * (n + PADDING)),
            sums: AlignedVec::zeroed(sums),
            halves: AlignedVec::zeroed(if shape.precision == Precision::Exact { sums } else { 0 }),
        }
    }
}

impl TorusFft {
    /// The length of a matrix: rows times columns times the degree, twice for exact products.
    #[must_use]
    pub fn switch_words(&self, shape: &SwitchShape) -> usize {
        shape.parts() * shape.rows() * shape.columns * self.degree()
    }

    /// Writes a polynomial to its place in a matrix. The scratch has as many numbers as `a` words; what is in it does not
    /// matter.
    ///
    /// # Panics
    /// If a length does not fit the degree and the shape, or there is no such row or column.
    pub fn write_switch(
        &self,
        matrix: &mut [f64],
        shape: &SwitchShape,
        (row, column): (usize, usize),
        a: &[u64],
        scratch: &mut [f64],
    ) {
        assert_eq!(matrix.len(), self.switch_words(shape), "the length of a matrix");
        assert!(row < shape.rows() && column < shape.columns, "row {row}, column {column} of {shape:?}");
        let size = (shape.rows(), shape.parts() * shape.columns);
        let mut write = |column, words: &[u64]| {
            self.forward_torus(scratch, words);
            for (group, numbers) in scratch.as_chunks::<GROUP_WORDS>().0.iter().enumerate() {
                let at = key_place(self.points(), size, (row, column), group);
                matrix[at..at + GROUP_WORDS].copy_from_slice(numbers);
            }
        };
        match shape.precision {
            Precision::Exact => {
                let low: Vec<u64> = a.iter().map(|&word| i64::from(word as i32).cast_unsigned()).collect();
                let high: Vec<u64> = a.iter().zip(&low).map(|(word, low)| word.wrapping_sub(*low)).collect();
                write(column, &high);
                write(shape.columns + column, &low);
            }
            Precision::Rounded => write(column, a),
        }
    }

    /// `acc_c += sum_r d_r matrix_(r, c)` modulo `2^64` and `X^N + 1`, with the digits `d_r` of `input`.
    ///
    /// Shapes: `acc` is `[columns, N]`, `input` is `[inputs, N]`.
    ///
    /// # Panics
    /// If a length does not fit the degree and the shape.
    pub fn switch_add(
        &self,
        acc: &mut [u64],
        input: &[u64],
        (shape, matrix): (&SwitchShape, &[f64]),
        scratch: &mut SwitchScratch,
    ) {
        let (n, gadget) = (self.degree(), shape.gadget);
        assert_eq!([acc.len(), input.len()], [shape.columns * n, shape.inputs * n], "polynomials of degree {n}");
        let SwitchScratch { shifted, digits, sums, halves } = scratch;
        let offset = gadget.offset::<u64>();
        let rows = digits.chunks_exact_mut(n + PADDING);
        assert_eq!(rows.len(), shape.rows(), "the scratch is that of another shape");
        for (row, spectrum) in rows.enumerate() {
            let (i, level) = (row / gadget.levels(), row % gadget.levels());
            if level == 0 {
                shifted.iter_mut().zip(&input[i * n..]).for_each(|(x, word)| *x = word.wrapping_add(offset));
            }
            kernels().torus_forward_digits(&mut spectrum[..n], shifted, &gadget, level, self, &[]);
        }
        let products = TorusProducts {
            digits,
            stride: n + PADDING,
            rows: shape.rows(),
            columns: shape.parts() * shape.columns,
            key: matrix,
            turns: None,
            ahead: &[],
        };
        if shape.precision == Precision::Rounded {
            return kernels().torus_products_add(acc, &products, sums, self);
        }
        halves.fill(0);
        kernels().torus_products_add(halves, &products, sums, self);
        let (high, low) = halves.split_at(shape.columns * n);
        for (acc, (high, low)) in acc.iter_mut().zip(high.iter().zip(low)) {
            // To the nearest multiple of 2^32.
            let high = high.wrapping_add(1 << (u32::BITS - 1)) & !u64::from(u32::MAX);
            *acc = acc.wrapping_add(high).wrapping_add(*low);
        }
    }
}
