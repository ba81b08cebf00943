//! The polynomials of a bin: one that is zero at its values, and one for each number of its rows.

use crate::schemes::bfv::PlaintextModulus;

/// The polynomials of some values, by coefficients from the constant one up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Polynomials {
    /// `prod (x - x_k)`, of one coefficient more than there are values.
    pub zero: Vec<u64>,
    /// For each number of rows the polynomial that is number k at `x_k`.
    pub numbers: Vec<Vec<u64>>,
}

impl Polynomials {
    /// Of different values modulo a prime t with the numbers of each.
    ///
    /// With `P_k = P/(x - x_k)` the number y is interpolated by `sum y_k P_k(x)/P_k(x_k)` (Lagrange).
    pub fn new(values: &[(u64, &[u64])], numbers: usize, modulus: PlaintextModulus) -> Self {
        let times = |a, b| modulus.mul(a, b);
        let mut zero = vec![1];
        for &(x, _) in values {
            // Times x - x_k, from the highest coefficient down.
            zero.push(0);
            for at in (0..zero.len()).rev() {
                let below = if at == 0 { 0 } else { zero[at - 1] };
                zero[at] = modulus.add(below, modulus.neg(times(x, zero[at])));
            }
        }
        let mut all = vec![vec![0; values.len()]; numbers];
        let mut quotient = vec![0; values.len()];
        for &(x, row) in values {
            // Horner's rule gives the quotient, and once more its value.
            let (mut carry, mut at_x) = (0, 0);
            for at in (0..values.len()).rev() {
                carry = modulus.add(zero[at + 1], times(x, carry));
                quotient[at] = carry;
            }
            for &coefficient in quotient.iter().rev() {
                at_x = modulus.add(coefficient, times(x, at_x));
            }
            let inverse = modulus.inv(at_x);
            for (polynomial, &number) in all.iter_mut().zip(row) {
                let factor = times(number, inverse);
                for (sum, &coefficient) in polynomial.iter_mut().zip(&quotient) {
                    *sum = modulus.add(*sum, times(factor, coefficient));
                }
            }
        }
        Self { zero, numbers: all }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_are_zero_and_interpolate_at_all_values() {
        for t in [97, 65537, (1 << 48) + 21] {
            let modulus = PlaintextModulus::new(t).expect("a modulus");
            for count in [0, 1, 2, 7, 40] {
                let values: Vec<u64> = (0..count).map(|k| (k * k * 7 + k + 3) % t).collect();
                let rows: Vec<[u64; 2]> = (0..count).map(|k| [k * 11 % t, (t - 1 - k) % t]).collect();
                let mut pairs: Vec<(u64, &[u64])> =
                    values.iter().copied().zip(rows.iter().map(|row| &row[..])).collect();
                pairs.sort_unstable();
                pairs.dedup_by_key(|pair| pair.0);
                let found = Polynomials::new(&pairs, 2, modulus);
                // By powers, as the definition says.
                let value = |polynomial: &[u64], x: u64| {
                    let power = |at: usize| (0..at).fold(1, |power, _| modulus.mul(power, x));
                    polynomial.iter().enumerate().fold(0, |sum, (at, &c)| modulus.add(sum, modulus.mul(c, power(at))))
                };
                for &(x, row) in &pairs {
                    assert_eq!(value(&found.zero, x), 0);
                    assert_eq!([value(&found.numbers[0], x), value(&found.numbers[1], x)], row, "{x} modulo {t}");
                }
                assert_eq!((found.zero.len(), found.zero.last()), (pairs.len() + 1, Some(&1)));
            }
        }
    }
}
