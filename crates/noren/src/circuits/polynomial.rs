//! Polynomials of every slot, in minimal depth.

use noren_rlwe::error::{Error, Result};
use num_complex::Complex64;

pub use crate::circuits::basis::Basis;
use crate::circuits::grid;
pub use crate::circuits::paterson_stockmeyer::Cost;
use crate::circuits::paterson_stockmeyer::EvaluationTree;
use crate::schemes::error::SlotError;
use crate::schemes::range::Range;
use crate::schemes::slots::{Scalar, SlotEvaluator};

/// A polynomial `sum c_k B_k(x)` with real coefficients, or with integers modulo t.
///
/// # Examples
/// ```
/// use noren::circuits::polynomial::Polynomial;
/// use noren::schemes::clear::{ClearEvaluator, ClearVector};
///
/// let square_minus_one = Polynomial::power(vec![-1.0, 0.0, 1.0])?;
/// let x = ClearVector::new(vec![0.5, -2.0], square_minus_one.depth())?;
/// let y = square_minus_one.evaluate(&ClearEvaluator, &x)?;
/// assert_eq!(y.values(), [-0.75, 3.0]);
/// # Ok::<(), noren::error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Polynomial<T = f64> {
    basis: Basis,
    coefficients: Vec<T>,
}

impl<T: Scalar> Polynomial<T> {
    /// The polynomial with these coefficients, lowest first; zeros at the end are dropped.
    ///
    /// # Errors
    /// No coefficient; one that is not finite.
    pub fn new(basis: Basis, mut coefficients: Vec<T>) -> Result<Self> {
        if coefficients.is_empty() {
            return Err(Error::Length {
                what: "coefficients of a polynomial",
                found: 0,
                needed: "at least 1".to_owned(),
            });
        }
        T::check(&coefficients)?;
        let degree = coefficients.iter().rposition(|&c| c != T::ZERO).unwrap_or(0);
        coefficients.truncate(degree + 1);
        Ok(Self { basis, coefficients })
    }

    /// `sum c_k x^k`.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn power(coefficients: Vec<T>) -> Result<Self> {
        Self::new(Basis::Power, coefficients)
    }

    /// `sum c_k T_k(x)`.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn chebyshev(coefficients: Vec<T>) -> Result<Self> {
        Self::new(Basis::Chebyshev, coefficients)
    }

    /// The basis of the coefficients.
    #[must_use]
    pub const fn basis(&self) -> Basis {
        self.basis
    }

    /// The coefficients, lowest first; the last is not zero unless it is the only one.
    #[must_use]
    pub fn coefficients(&self) -> &[T] {
        &self.coefficients
    }

    /// The degree; that of the zero polynomial is 0.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.coefficients.len() - 1
    }

    /// The levels that [`evaluate`](Self::evaluate) uses: `ceil(log2(degree + 1))`, which no circuit can better.
    #[must_use]
    pub fn depth(&self) -> usize {
        (self.degree() + 1).next_power_of_two().ilog2() as usize
    }

    /// The operations that [`evaluate`](Self::evaluate) does.
    #[must_use]
    pub fn cost(&self) -> Cost {
        EvaluationTree::new(self.basis, &self.coefficients).cost()
    }

    /// The polynomial of every slot; [`depth`](Self::depth) levels, [`cost`](Self::cost) operations.
    ///
    /// The method is that of Paterson and Stockmeyer, as a recursion on the degree with the number of levels as its
    /// budget. Even and odd polynomials never make the powers that they skip.
    ///
    /// In the Chebyshev basis real slots must lie in `[-1, 1]`, or the values explode: what the evaluator does not know to
    /// lie there is refused. The error estimate of the result holds for all messages in the range that is known of `x`,
    /// complex ones included. It takes every error along the way times the largest derivative of the result with respect to
    /// the step that it arises in.
    ///
    /// Needs the relinearisation key, from degree 2.
    ///
    /// # Errors
    /// Fewer levels left than the depth; a missing key; [`SlotError::OutsideInterval`].
    pub fn evaluate<E: SlotEvaluator<Scalar = T>>(&self, ev: &E, x: &E::Ciphertext) -> Result<E::Ciphertext> {
        let x = match self.basis {
            Basis::Chebyshev if ev.bounds(x).is_some_and(|bounds| bounds.range.interval().is_some()) => {
                known_inside(ev, x, [-1.0, 1.0], self.depth())?
            }
            _ => ev.with_levels(x, self.depth())?,
        };
        EvaluationTree::new(self.basis, &self.coefficients).run(ev, x)
    }
}

impl Polynomial {
    /// The value at a number in clear, by the schemes of Horner and Clenshaw.
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        match self.basis {
            Basis::Power => self.coefficients.iter().rev().fold(0.0, |value, c| value * x + c),
            Basis::Chebyshev => {
                let (first, rest) = self.coefficients.split_first().unwrap_or((&0.0, &[]));
                let (b1, b2) = rest.iter().rev().fold((0.0, 0.0), |(b1, b2), c| (c + 2.0 * x * b1 - b2, b1));
                first + x * b1 - b2
            }
        }
    }

    /// A bound on `|p(x)|` over `[-1, 1]`, at most 2 % above the true maximum.
    ///
    /// It is the largest value on a grid, and what Ehlich and Zeller ("Schwankung von Polynomen zwischen
    /// Gitterpunkten", 1964) allow between its points.
    #[must_use]
    pub fn max_abs(&self) -> f64 {
        if let [constant] = self.coefficients[..] {
            return constant.abs();
        }
        let points = grid::points(self.degree(), Range::symmetric(1.0)).into_iter();
        let values: Vec<Complex64> = points.map(|x| Complex64::from(self.at(x.re))).collect();
        grid::bound(&values)
    }

    /// The polynomial of `(2 x - a - b) / (b - a)` for slots in the interval `[a, b]`; one level more.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate); an interval that is empty or not finite; [`SlotError::OutsideInterval`] for
    /// slots that are not known to lie in it, [`SlotError::NotReal`] for complex ones.
    pub fn evaluate_on<E: SlotEvaluator<Scalar = f64>>(
        &self,
        ev: &E,
        x: &E::Ciphertext,
        interval: [f64; 2],
    ) -> Result<E::Ciphertext> {
        let (factor, shift) = to_unit(interval)?;
        let x = known_inside(ev, x, interval, self.depth() + 1)?;
        let unit = ev.weighted_sum(&[(&x, factor)], shift)?;
        self.evaluate(ev, &ev.with_range(unit, [-1.0, 1.0]))
    }
}

/// By what part of its width an interval may be exceeded: ranges are rounded. A polynomial of degree d, of at most 1 in the
/// interval, is at most `1 + 2 d^2` times this part larger there, which is nothing beside what bounds allow.
const ROUNDING: f64 = 1.0 / (1u64 << 40) as f64;

/// The vector for a circuit of so many levels, of which it is known that its slots lie in the interval. It has the levels before
/// that is stated: the vector itself may be used elsewhere, and is not renewed twice.
///
/// # Errors
/// Fewer levels left; [`SlotError::OutsideInterval`] and [`SlotError::NotReal`] where the evaluator knows the range of the slots, and it
/// is wider.
fn known_inside<E: SlotEvaluator>(
    ev: &E,
    x: &E::Ciphertext,
    interval: [f64; 2],
    levels: usize,
) -> Result<E::Ciphertext> {
    let Some(bounds) = ev.bounds(x) else {
        return ev.with_levels(x, levels);
    };
    let Some([low, high]) = bounds.range.interval() else {
        let remedy =
            "use a polynomial without an interval, or state the range (with_range) if the numbers are known to be real";
        return Err(SlotError::NotReal { what: "the argument of a polynomial on an interval", remedy }.into());
    };
    let [a, b] = interval;
    let allowed = ROUNDING * (b - a);
    if a - allowed <= low && high <= b + allowed {
        return Ok(ev.with_range(ev.with_levels(x, levels)?, interval));
    }
    Err(SlotError::OutsideInterval { low, high, interval }.into())
}

/// Factor and shift of the map that takes `[a, b]` to `[-1, 1]`: `x -> factor x + shift`.
///
/// # Errors
/// An interval that is empty or not finite.
pub fn to_unit([a, b]: [f64; 2]) -> Result<(f64, f64)> {
    let (factor, shift) = (2.0 / (b - a), -(a + b) / (b - a));
    if a < b && factor.is_finite() && factor > 0.0 && shift.is_finite() {
        return Ok((factor, shift));
    }
    Err(Error::parameter("interval", format!("[{a}, {b}]"), "two finite numbers, the smaller first"))
}
