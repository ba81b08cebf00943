//! Chebyshev sums with complex coefficients on ciphertexts, at any level and scale.

use std::collections::BTreeMap;

use noren_rlwe::error::Result;
use num_complex::Complex64;

use crate::schemes::ckks::{Ciphertext, Evaluator, Scale};

/// Shorter sums are not divided.
const SHORT: usize = 4;

/// `sum c_k T_k(u)` for u real in `[-1, 1]`, by the division of Paterson and Stockmeyer: `c = q T_g + r` with the largest
/// power of two g up to the degree, again and again, until the pieces are short or their powers too low.
///
/// Every piece arrives at a scale that makes its product with `T_g` fit exactly, so that all products and terms of a piece
/// are rescaled together, and no scale is rounded. As many levels as `log2(degree + 1)`, rounded up, are used.
pub(super) struct ChebyshevSum<'a> {
    evaluator: &'a Evaluator,
    /// `T_k(u)`: `T_1`, `T_2`, `T_3` and those of powers of two.
    powers: BTreeMap<usize, Ciphertext>,
}

impl<'a> ChebyshevSum<'a> {
    /// The powers of u for sums of degree up to `degree`.
    ///
    /// # Errors
    /// As [`Evaluator::mul`].
    pub(super) fn new(evaluator: &'a Evaluator, u: Ciphertext, degree: usize) -> Result<Self> {
        let mut sum = Self { evaluator, powers: BTreeMap::from([(1, u)]) };
        let doubled = std::iter::successors(Some(SHORT), |k| Some(2 * k));
        for k in (2..SHORT).chain(doubled).take_while(|&k| k <= degree) {
            let power = sum.power(k)?;
            sum.powers.insert(k, power);
        }
        Ok(sum)
    }

    /// The sum at this level and exactly this scale.
    ///
    /// # Errors
    /// [`Error::LevelExhausted`](noren_rlwe::error::Error::LevelExhausted) for a level that is too high; as
    /// [`Evaluator::dot_combine`].
    pub(super) fn at(&self, coefficients: &[Complex64], level: usize, target: &Scale) -> Result<Ciphertext> {
        let before = target.mul_u64(self.evaluator.context().parameters().prime(level + 1));
        let (mut products, mut terms) = (Vec::new(), Vec::new());
        let mut rest = coefficients.to_vec();
        loop {
            let degree = rest.iter().rposition(|&c| c != Complex64::ZERO).unwrap_or(0);
            rest.truncate(degree + 1);
            let ready = |k: usize| rest[k] == Complex64::ZERO || self.powers[&k].level() > level;
            if degree < SHORT && (1..=degree).all(ready) {
                break;
            }
            let g = 1 << degree.ilog2();
            let power = &self.powers[&g];
            let (quotient, remainder) = divide(&rest, g);
            if let [constant] = quotient[..] {
                terms.push((power, constant));
            } else {
                products.push((self.at(&quotient, level + 1, &before.div(power.scale()))?, power));
            }
            rest = remainder;
        }
        let constant = rest.first().copied().unwrap_or_default();
        let short = rest.iter().enumerate().skip(1).filter(|(_, c)| **c != Complex64::ZERO);
        terms.extend(short.map(|(k, &c)| (&self.powers[&k], c)));
        if products.is_empty() {
            return self.evaluator.combine(&terms, constant, level, target);
        }
        let products: Vec<(&Ciphertext, &Ciphertext)> = products.iter().map(|(q, power)| (q, *power)).collect();
        self.evaluator.dot_combine(&products, &terms, constant, level, target)
    }

    /// `T_{a+b} = 2 T_a T_b - T_{a-b}`, with a and b nearly equal.
    fn power(&self, k: usize) -> Result<Ciphertext> {
        let (a, b) = (k.div_ceil(2), k / 2);
        let (x, y) = (&self.powers[&a], &self.powers[&b]);
        let level = x.level().min(y.level()) - 1;
        let target = x.scale().mul(y.scale()).div_u64(self.evaluator.context().parameters().prime(level + 1));
        // At half its scale it is twice the message; an integer 2 brings the product to its scale.
        let half = Scale::from_log2(0).div_u64(2);
        let double = self.evaluator.reread(x.clone(), &half)?;
        let one = Complex64::from(-1.0);
        let products = [(&double, y)];
        let power = match a - b {
            0 => self.evaluator.dot_combine(&products, &[], one, level, &target)?,
            rest => {
                let terms = [(&self.powers[&rest], one)];
                self.evaluator.dot_combine(&products, &terms, Complex64::ZERO, level, &target)?
            }
        };
        Ok(power.with_magnitude(1.0))
    }
}

/// `c = q T_g + r` for a degree below `2 g`, since `T_{g+k} = 2 T_g T_k - T_{g-k}`.
fn divide(c: &[Complex64], g: usize) -> (Vec<Complex64>, Vec<Complex64>) {
    let mut remainder = c[..g].to_vec();
    let mut quotient = vec![c[g]];
    for (k, &high) in c[g..].iter().enumerate().skip(1) {
        quotient.push(high * 2.0);
        remainder[g - k] -= high;
    }
    (quotient, remainder)
}
