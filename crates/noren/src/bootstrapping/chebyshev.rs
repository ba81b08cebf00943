//! Chebyshev sums on ciphertexts, at any level and scale.

use std::collections::BTreeMap;

use noren_rlwe::error::Result;
use num_complex::Complex64;

use crate::schemes::ckks::evaluator::exact::Product;
use crate::schemes::ckks::{Ciphertext, Evaluator, Parameters, Scale};

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
    /// `v_k`: `v_1`, `v_2`, `v_3` and those of powers of two.
    powers: BTreeMap<usize, Ciphertext>,
}

impl<'a> ChebyshevSum<'a> {
    /// The powers for sums of degree up to `degree`, from `v_1 = i u`.
    ///
    /// # Errors
    /// As [`Evaluator::mul`].
    pub(super) fn new(evaluator: &'a Evaluator, first: Ciphertext, degree: usize) -> Result<Self> {
        let mut sum = Self { evaluator, powers: BTreeMap::from([(1, first)]) };
        let doubled = std::iter::successors(Some(SHORT), |k| Some(2 * k));
        for k in (2..SHORT).chain(doubled).take_while(|&k| k <= degree) {
            let power = sum.power(k)?;
            sum.powers.insert(k, power);
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
    /// # Errors
    /// [`Error::LevelExhausted`](noren_rlwe::error::Error::LevelExhausted) for a level that is too high; as
    /// [`Evaluator::dot_combine`].
    pub(super) fn at(&self, coefficients: &[f64], level: usize, target: &Scale) -> Result<Ciphertext> {
        let before = target.mul_u64(self.evaluator.context().parameters().prime(level + 1));
        let (mut products, mut terms) = (Vec::new(), Vec::new());
        let mut rest = coefficients.to_vec();
        loop {
            let degree = rest.iter().rposition(|&c| c != 0.0).unwrap_or(0);
            rest.truncate(degree + 1);
            let ready = |k: usize| rest[k] == 0.0 || self.powers[&k].level() > level;
            if degree < SHORT && (1..=degree).all(ready) {
                break;
            }
            let g = 1 << degree.ilog2();
            let power = &self.powers[&g];
            let (quotient, remainder) = divide(&rest, g);
            if let [constant] = quotient[..] {
                terms.push((power, constant.into()));
            } else {
                products.push((self.at(&quotient, level + 1, &before.div(power.scale()))?, power));
            }
            rest = remainder;
        }
        let constant = rest.first().copied().unwrap_or_default().into();
        let short = rest.iter().enumerate().skip(1).filter(|&(_, &c)| c != 0.0);
        terms.extend(short.map(|(k, &c)| (&self.powers[&k], c.into())));
        if products.is_empty() {
            return self.evaluator.combine(&terms, constant, level, target);
        }
        let products: Vec<_> = products.iter().map(|(q, power)| Product { a: q, b: power, weight: 1 }).collect();
        self.evaluator.dot_combine_weighted(&products, &terms, constant, level, target)
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
