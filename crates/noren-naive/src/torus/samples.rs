//! Samples and keys as vectors of words.

use noren_math::torus::gadget::Gadget;
use noren_ring::torus::keys::{GgswRows, GlweSwitchRows, LweSwitchRows};
use noren_ring::torus::lwe::Lwe;
use noren_ring::torus::shape::{GlweShape, RotationShape};

use crate::torus::polynomial::{alternated, automorphism, difference, product, shifted, sum};

/// The polynomials of the mask, and the body.
#[derive(Debug, Clone)]
pub(super) struct Glwe(pub(super) Vec<Vec<u64>>);

/// The rows of the GGSW samples of bits, as they were written.
#[derive(Debug)]
pub(super) struct Ggsw {
    pub(super) shape: RotationShape,
    rows: Vec<Glwe>,
}

/// A key switch of LWE samples: rows (i, j).
#[derive(Debug)]
pub(super) struct LweSwitch {
    to: usize,
    gadget: Gadget,
    rows: Vec<Vec<u32>>,
}

/// A key switch of GLWE samples: rows (i, j).
#[derive(Debug)]
pub(super) struct GlweSwitch {
    shape: GlweShape,
    gadget: Gadget,
    rows: Vec<Glwe>,
}

impl Glwe {
    fn zero(shape: GlweShape) -> Self {
        Self(vec![vec![0; shape.degree]; shape.dimension + 1])
    }

    /// `(0, ..., 0, body)`.
    pub(super) fn trivial(shape: GlweShape, body: Vec<u64>) -> Self {
        let mut sample = Self::zero(shape);
        sample.0[shape.dimension] = body;
        sample
    }

    fn written(shape: GlweShape, write: impl Fn(&mut [u64])) -> Self {
        let mut words = vec![0; shape.words()];
        write(&mut words);
        Self(words.chunks_exact(shape.degree).map(<[u64]>::to_vec).collect())
    }

    /// The sample from which an LWE sample is extracted at coefficient 0: its masks are `A(1/X)` for
    /// `A = sum_j a_j X^j`.
    pub(super) fn embed(shape: GlweShape, sample: &Lwe) -> Self {
        let n = shape.degree;
        let mut embedded = Self::zero(shape);
        for (out, mask) in embedded.0.iter_mut().zip(sample.mask().chunks_exact(n)) {
            *out = automorphism(mask, 2 * n - 1);
        }
        embedded.0[shape.dimension][0] = sample.body();
        embedded
    }

    /// Coefficient h as an LWE sample: that at 0 of `X^(-h)` times the sample.
    pub(super) fn extract(&self, h: usize) -> Lwe {
        let n = self.0[0].len();
        let moved = self.shift(2 * n - h);
        let (body, masks) = moved.0.split_last().expect("a sample has a body");
        let mask = masks.iter().flat_map(|mask| automorphism(mask, 2 * n - 1));
        Lwe::from_words(mask.chain([body[0]]).collect())
    }

    pub(super) fn add(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| sum(a, b)).collect())
    }

    pub(super) fn sub(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| difference(a, b)).collect())
    }

    /// `X^rotation` times the sample.
    pub(super) fn shift(&self, rotation: usize) -> Self {
        Self(self.0.iter().map(|a| shifted(a, rotation)).collect())
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.iter().map(|a| size_of_val(&a[..])).sum()
    }

    /// `sum_ij d_ij row_ij` for digits `d_ij` of polynomial i.
    fn of_digits(shape: GlweShape, digits: &[Vec<i64>], rows: &[&Self]) -> Self {
        digits.iter().zip(rows).fold(Self::zero(shape), |acc, (digit, row)| {
            acc.add(&Self(row.0.iter().map(|a| product(a, digit)).collect()))
        })
    }
}

impl Ggsw {
    pub(super) fn new(rows: &GgswRows) -> Self {
        let (shape, samples) = (rows.shape, rows.shape.samples);
        let places = (0..shape.steps(rows.bits)).flat_map(|step| (0..shape.rows()).map(move |row| (step, row)));
        let row = |(step, row)| Glwe::written(samples, |out| (rows.write)(step, row, out));
        Self { shape, rows: places.map(row).collect() }
    }

    pub(super) const fn of_bits(shape: RotationShape, rows: Vec<Glwe>) -> Self {
        Self { shape, rows }
    }

    /// The external product of a bit, whose rows are all of a step, and a sample.
    pub(super) fn product(&self, bit: usize, c: &Glwe) -> Glwe {
        self.part(bit, 0, c)
    }

    /// The external product of one of the GGSW samples of a step and a sample.
    fn part(&self, step: usize, matrix: usize, c: &Glwe) -> Glwe {
        let (rows, parts) = (self.shape.rows(), self.shape.grouping.matrices());
        let rows: Vec<&Glwe> = self.rows[step * rows..][..rows].iter().skip(matrix).step_by(parts).collect();
        let digits: Vec<Vec<i64>> = c.0.iter().flat_map(|a| digits(self.shape.gadget, a)).collect();
        Glwe::of_digits(self.shape.samples, &digits, &rows)
    }

    /// `X^(a s)` or `X^(a s + b t)` times a sample, for the bits s and t of a step: `c + s (X^a - 1) c`, or
    /// `c + (s (X^a - 1) + t (X^b - 1) + st (X^a - 1) (X^b - 1)) c`.
    pub(super) fn rotate(&self, step: usize, c: &Glwe, exponents: &[usize]) -> Glwe {
        let turned = |c: Glwe, exponent: usize| c.shift(exponent).sub(&c);
        match *exponents {
            [a, b] => {
                let parts = [0, 1, 2].map(|matrix| self.part(step, matrix, c));
                let [s, t, st] = parts;
                c.add(&turned(s, a)).add(&turned(t, b)).add(&turned(turned(st, a), b))
            }
            [a] => c.add(&self.product(step, &turned(c.clone(), a))),
            _ => unreachable!("steps have one bit or two"),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.rows.iter().map(Glwe::bytes).sum()
    }
}

impl LweSwitch {
    pub(super) fn new(rows: &LweSwitchRows) -> Self {
        let coefficient = |i| {
            let mut written = vec![vec![0; rows.to + 1]; rows.gadget.levels()];
            (rows.write)(i, &mut written.iter_mut().map(|row| &mut row[..]).collect::<Vec<_>>());
            written
        };
        Self { to: rows.to, gadget: rows.gadget, rows: (0..rows.from).flat_map(coefficient).collect() }
    }

    /// `(0, b) - sum_ij d_ij row_ij` for digits `d_ij` of `a_i`, where b is rounded to a word of 32 bits.
    pub(super) fn switch(&self, sample: &Lwe) -> Vec<u32> {
        let mut out = vec![0; self.to + 1];
        out[self.to] = (sample.body().wrapping_add(1 << 31) >> 32) as u32;
        let digits = sample.mask().iter().flat_map(|&a| word_digits(self.gadget, a));
        for (digit, row) in digits.zip(&self.rows) {
            out.iter_mut().zip(row).for_each(|(x, y)| *x = x.wrapping_sub(y.wrapping_mul(digit as u32)));
        }
        out
    }

    pub(super) fn bytes(&self) -> usize {
        self.rows.iter().map(|row| size_of_val(&row[..])).sum()
    }
}

impl GlweSwitch {
    pub(super) fn new(shape: GlweShape, rows: &GlweSwitchRows, number: usize) -> Self {
        let row = |row| Glwe::written(shape, |out| (rows.write)(number, row, out));
        Self { shape, gadget: rows.gadget, rows: (0..shape.dimension * rows.gadget.levels()).map(row).collect() }
    }

    /// `sum_ij d_ij row_ij`, where `d_ij(-X)` are the digits of `a_i(-X)`.
    pub(super) fn switch(&self, mask: &[Vec<u64>]) -> Glwe {
        let digits_of = |a: &Vec<u64>| {
            let digits = digits(self.gadget, &alternated(a, u64::wrapping_neg));
            digits.into_iter().map(|digit| alternated(&digit, |d| -d))
        };
        let digits: Vec<Vec<i64>> = mask.iter().flat_map(digits_of).collect();
        Glwe::of_digits(self.shape, &digits, &self.rows.iter().collect::<Vec<_>>())
    }

    pub(super) fn bytes(&self) -> usize {
        self.rows.iter().map(Glwe::bytes).sum()
    }
}

/// All words, as signed numbers, divided by a power of two and rounded, halves up.
pub(super) fn divided(sample: Glwe, divisor: usize) -> Glwe {
    let divide = |&x: &u64| {
        let doubled = 2 * i128::from(x.cast_signed()) + divisor as i128;
        doubled.div_euclid(2 * divisor as i128) as u64
    };
    Glwe(sample.0.iter().map(|a| a.iter().map(divide).collect()).collect())
}

/// A sample of words of 32 bits modulo 2N: the mask is rounded to the nearest, halves up; half of what that adds,
/// rounded down, is taken from the body, which is rounded down.
pub(super) fn exponents(words: &[u32], modulus: usize) -> (Vec<usize>, usize) {
    let unit = (1 << 32) / modulus as i64;
    let (body, mask) = words.split_last().expect("a sample has a body");
    let rounded = |a: &u32| (i64::from(*a) + unit / 2).div_euclid(unit);
    let added: i64 = mask.iter().map(|a| i64::from(*a) - rounded(a) * unit).sum();
    let body = (i64::from(*body) - added.div_euclid(2)).rem_euclid(1 << 32) / unit;
    let place = |a: &u32| rounded(a) as usize % modulus;
    (mask.iter().map(place).collect(), body as usize)
}

/// The digits of all words of a polynomial, the most significant first.
fn digits(gadget: Gadget, a: &[u64]) -> Vec<Vec<i64>> {
    let words: Vec<Vec<i64>> = a.iter().map(|&word| word_digits(gadget, word)).collect();
    (0..gadget.levels()).map(|level| words.iter().map(|digits| digits[level]).collect()).collect()
}

/// The digits in `[-B/2, B/2)` of a word, the most significant first: the word is rounded to a multiple of
/// `2^64 / B^l`, halves up, and digits above B/2 carry.
fn word_digits(gadget: Gadget, word: u64) -> Vec<i64> {
    let (base, levels) = (1i128 << gadget.log_base(), gadget.levels());
    let unit = (1i128 << 64) / base.pow(levels as u32);
    let mut rest = (i128::from(word) + unit / 2).div_euclid(unit);
    let mut digits: Vec<i64> = (0..levels)
        .map(|_| {
            let digit = (rest + base / 2).rem_euclid(base) - base / 2;
            rest = (rest - digit) / base;
            digit as i64
        })
        .collect();
    digits.reverse();
    digits
}
