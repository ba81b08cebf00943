//! Chebyshev sums on ciphertexts, at any level and scale.

use std::collections::BTreeMap;

use noren_rlwe::error::Result;
use num_complex::Complex64;

use crate::schemes::ckks::evaluator::exact::Product;
use crate::schemes::ckks::{Ciphertext, Estimate, Evaluator, Parameters, Scale};
use crate::schemes::slots::SlotEvaluator;

/// Shorter sums are not divided.
const SHORT: usize = 4;

/// `sum a_k i^k T_k(u)` for u real in `[-1, 1]` and real `a_k`, by the division of Paterson and Stockmeyer:
/// `a = q T_g + r` with the largest power of two g up to the degree, again and again, until the pieces are short or their
/// powers too low.
///
/// The powers are `v_k = i^k T_k(u)`, with `v_{j+k} = 2 v_j v_k - (-1)^k v_{j-k}`. So an exponential of an imaginary number
/// has real coefficients in them, and nothing but `v_1 = i u` is ever multiplied by i.
///
/// Every piece arrives at a scale that makes its product with `v_g` fit exactly, so that all products and terms of a piece
/// are rescaled together, and no scale is rounded. As many levels as `log2(degree + 1)`, rounded up, are used.
pub(super) struct ChebyshevSum<'a> {
    evaluator: &'a Evaluator,
    /// `v_k`: `v_1`, `v_2`, `v_3` and those of powers of two; without their errors.
    powers: BTreeMap<usize, Ciphertext>,
    /// The error that each power adds.
    errors: BTreeMap<usize, Estimate>,
    /// The level of `v_1`.
    top: usize,
}

impl<'a> ChebyshevSum<'a> {
    /// The powers for sums of degree up to `degree`, from `v_1 = i u`.
    ///
    /// # Errors
    /// As [`Evaluator::mul`].
    pub(super) fn new(evaluator: &'a Evaluator, first: Ciphertext, degree: usize) -> Result<Self> {
        let top = first.level();
        let mut sum = Self { evaluator, powers: BTreeMap::from([(1, first)]), errors: BTreeMap::new(), top };
        for k in indices(degree).skip(1) {
            let (power, error) = evaluator.split_error(sum.power(k)?);
            sum.powers.insert(k, power);
            sum.errors.insert(k, error);
        }
        Ok(sum)
    }

    /// At what scale `i u` must stand at a level for the highest power to stand at this scale.
    ///
    /// A square of the scale S is twice the message at the scale `S / 2`, so that `v_{2k}` stands at `S_k^2 / 2q`, and from the
    /// highest power every scale is a geometric mean of the one after it and the double of its prime.
    pub(super) fn first_scale(parameters: &Parameters, level: usize, degree: usize, highest: Scale) -> Scale {
        let doublings = degree.ilog2() as usize;
        let primes = (level + 1 - doublings..=level).map(|level| parameters.prime(level));
        primes.fold(highest, |scale, prime| scale.mul_u64(2 * prime).sqrt())
    }

    /// The sum at this level and exactly this scale.
    ///
    /// The error of a power reaches the sum times the derivative of the sum by that power, which is taken at its
    /// largest over all u.
    ///
    /// # Errors
    /// [`Error::LevelExhausted`](noren_rlwe::error::Error::LevelExhausted) for a level that is too high; as
    /// [`Evaluator::dot_combine`].
    pub(super) fn at(&self, coefficients: &[f64], level: usize, target: &Scale) -> Result<Ciphertext> {
        let sum = self.piece(coefficients, level, target)?;
        let depth = self.top - level;
        let gains: Vec<_> = self.errors.iter().map(|(&k, error)| (error, gain(coefficients, depth, k))).collect();
        Ok(self.evaluator.with_errors(sum, &gains, 0.0))
    }

    /// A sum without the errors of the powers.
    fn piece(&self, coefficients: &[f64], level: usize, target: &Scale) -> Result<Ciphertext> {
        let before = target.mul_u64(self.evaluator.context().parameters().prime(level + 1));
        let Piece { products, terms, constant } = Piece::of(coefficients, self.top - level);
        let product = |(quotient, g): &(Vec<f64>, usize)| {
            let power = &self.powers[g];
            Ok((self.piece(quotient, level + 1, &before.div(power.scale()))?, power))
        };
        let products: Vec<(Ciphertext, &Ciphertext)> = products.iter().map(product).collect::<Result<_>>()?;
        let terms: Vec<_> = terms.iter().map(|&(k, a)| (&self.powers[&k], Complex64::from(a))).collect();
        if products.is_empty() {
            return self.evaluator.combine(&terms, constant.into(), level, target);
        }
        let products: Vec<_> = products.iter().map(|(q, power)| Product { a: q, b: power, weight: 1 }).collect();
        self.evaluator.dot_combine_weighted(&products, &terms, constant.into(), level, target)
    }

    /// `v_{a+b} = 2 v_a v_b - (-1)^b v_{a-b}`, with a and b nearly equal.
    fn power(&self, k: usize) -> Result<Ciphertext> {
        let (a, b) = (k.div_ceil(2), k / 2);
        let (x, y) = (&self.powers[&a], &self.powers[&b]);
        let level = x.level().min(y.level()) - 1;
        let target = x.scale().mul(y.scale()).div_u64(2 * self.evaluator.context().parameters().prime(level + 1));
        let products = [Product { a: x, b: y, weight: 2 }];
        let sign = Complex64::from(-alternating(b));
        let power = match a - b {
            0 => self.evaluator.dot_combine_weighted(&products, &[], sign, level, &target)?,
            rest => {
                let terms = [(&self.powers[&rest], sign)];
                self.evaluator.dot_combine_weighted(&products, &terms, Complex64::ZERO, level, &target)?
            }
        };
        Ok(power.with_magnitude(1.0))
    }
}

/// The levels of the products in a [`ChebyshevSum`] with `v_1` at the level `top` and the sum at `level`, those that make the
/// powers included: one relinearisation each, before the division.
pub(super) fn product_levels(coefficients: &[f64], top: usize, level: usize) -> Vec<usize> {
    fn pieces(coefficients: &[f64], depth: usize, level: usize, levels: &mut Vec<usize>) {
        let products = Piece::of(coefficients, depth).products;
        levels.extend((!products.is_empty()).then_some(level + 1));
        products.iter().for_each(|(quotient, _)| pieces(quotient, depth - 1, level + 1, levels));
    }
    let above = |k: usize| top + 1 - k.next_power_of_two().ilog2() as usize;
    let mut levels: Vec<usize> = indices(coefficients.len() - 1).skip(1).map(above).collect();
    pieces(coefficients, top - level, level, &mut levels);
    levels
}

/// `sum q_g v_g + sum a_k v_k + a_0`: a sum that was divided.
struct Piece {
    /// Quotients, with the indices g.
    products: Vec<(Vec<f64>, usize)>,
    /// The indices k, with `a_k`.
    terms: Vec<(usize, f64)>,
    constant: f64,
}

impl Piece {
    /// Divides a sum that is to stand `depth` levels below `v_1`.
    fn of(coefficients: &[f64], depth: usize) -> Self {
        let (mut products, mut terms) = (Vec::new(), Vec::new());
        let mut rest = coefficients.to_vec();
        loop {
            let degree = rest.iter().rposition(|&a| a != 0.0).unwrap_or(0);
            rest.truncate(degree + 1);
            // v_k uses as many levels as log2 k, rounded up.
            let ready = |k: usize| rest[k] == 0.0 || (k.next_power_of_two().ilog2() as usize) < depth;
            if degree < SHORT && (1..=degree).all(ready) {
                break;
            }
            let g = 1 << degree.ilog2();
            let (quotient, remainder) = divide(&rest, g);
            if let [constant] = quotient[..] {
                terms.push((g, constant));
            } else {
                products.push((quotient, g));
            }
            rest = remainder;
        }
        terms.extend(rest.iter().copied().enumerate().skip(1).filter(|&(_, a)| a != 0.0));
        Self { products, terms, constant: rest.first().copied().unwrap_or_default() }
    }

    /// Its value and its derivative, from those of the powers.
    fn with_slope(&self, powers: &BTreeMap<usize, [Complex64; 2]>, depth: usize) -> [Complex64; 2] {
        let products = self.products.iter().map(|(quotient, g)| {
            let [q, dq] = Self::of(quotient, depth - 1).with_slope(powers, depth - 1);
            let [v, dv] = powers[g];
            [q * v, dq * v + q * dv]
        });
        let terms = self.terms.iter().map(|(k, a)| powers[k].map(|v| v * a));
        products
            .chain(terms)
            .fold([self.constant.into(), Complex64::ZERO], |sum, term| [sum[0] + term[0], sum[1] + term[1]])
    }
}

/// A bound on how the sum changes with `v_k`, on which higher powers depend too, over all u in `[-1, 1]`.
///
/// It is a polynomial in u of at most the degree d of the sum. Between the N zeros of `T_N` such a polynomial is at most
/// `1 / cos(d pi / 2N)` times as large as at them. Source: Ehlich and Zeller, Schwankung von Polynomen zwischen
/// Gitterpunkten, 1964.
fn gain(coefficients: &[f64], depth: usize, k: usize) -> f64 {
    /// Four for each degree: 1 / cos(pi / 8) is 1.08.
    const POINTS_PER_DEGREE: usize = 4;
    let degree = coefficients.len() - 1;
    let points = POINTS_PER_DEGREE * coefficients.len();
    let angle = |part: f64| std::f64::consts::PI * part / (2 * points) as f64;
    let piece = Piece::of(coefficients, depth);
    let slope = |i: usize| {
        let u = libm::cos(angle((2 * i + 1) as f64));
        let mut powers = BTreeMap::from([(1, [Complex64::new(0.0, u), Complex64::ZERO])]);
        for j in indices(degree).skip(1) {
            let (a, b) = (j.div_ceil(2), j / 2);
            let ([x, dx], [y, dy]) = (powers[&a], powers[&b]);
            let [rest, slope] = if a == b { [Complex64::ONE, Complex64::ZERO] } else { powers[&(a - b)] };
            let own = if j == k { 1.0 } else { 0.0 };
            let sign = alternating(b);
            powers.insert(j, [x * y * 2.0 - rest * sign, (dx * y + x * dy) * 2.0 - slope * sign + own]);
        }
        let [_, slope] = piece.with_slope(&powers, depth);
        (slope.re * slope.re + slope.im * slope.im).sqrt()
    };
    (0..points).map(slope).fold(0.0, f64::max) / libm::cos(angle(degree as f64))
}

/// The indices of the powers for sums of a degree: 1, 2, 3 and the powers of two.
fn indices(degree: usize) -> impl Iterator<Item = usize> {
    let doubled = std::iter::successors(Some(SHORT), |k| Some(2 * k));
    (1..SHORT).chain(doubled).take_while(move |&k| k <= degree)
}

/// `a = q v_g + r` for a degree below `2 g`, since `v_{g+k} = 2 v_g v_k - (-1)^k v_{g-k}`.
fn divide(a: &[f64], g: usize) -> (Vec<f64>, Vec<f64>) {
    let mut remainder = a[..g].to_vec();
    let mut quotient = vec![a[g]];
    for (k, &high) in a[g..].iter().enumerate().skip(1) {
        quotient.push(high * 2.0);
        remainder[g - k] -= alternating(k) * high;
    }
    (quotient, remainder)
}

/// `(-1)^k`.
fn alternating(k: usize) -> f64 {
    if k.is_multiple_of(2) { 1.0 } else { -1.0 }
}
