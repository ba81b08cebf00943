//! Signs of real numbers, by polynomials one after the other.

use std::sync::{Arc, Mutex, PoisonError};

use noren_rlwe::error::{Error, Result};

use crate::bootstrapping::minimax;
use crate::circuits::approx::interpolate;
use crate::circuits::polynomial::Polynomial;
use crate::lowering::error::NotNear;

/// Polynomials whose composition is near to the sign of `x` for `delta <= |x| <= 1`, and within `[-1, 1]` below. Those of products
/// are near beyond 1 too, by [`Signs::SLACK`], so that errors of `x` lead nowhere else.
///
/// Each is the best odd polynomial of its degree for the sign on the interval that the one before leaves, scaled so that
/// results stay within `[-1, 1]` (Lee, Lee, No, Kim, "Minimax approximation of sign function by composite polynomial for
/// homomorphic comparison", eprint 2020/834). The interval is wider than the results by a slack at both ends: whatever the
/// errors of a result within it are, what follows is as near to the sign, and slopes do not enlarge them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Signs {
    stages: Vec<Stage>,
    /// The largest distance of results from the sign, from `delta` on; of products that of `x s(x)` from `|x|`, for all `|x|`.
    error: f64,
}

/// A polynomial of signs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stage {
    pub(crate) polynomial: Polynomial,
    /// The smallest result for `delta` and above.
    least: f64,
    /// The largest error of its results that the next polynomial allows for.
    pub(crate) slack: f64,
}

/// Polynomials one after the other, and where the results of the last begin, less its slack.
#[derive(Clone)]
struct Chain {
    stages: Vec<Stage>,
    from: f64,
}

/// The depth of a polynomial, and the largest odd degree that has it.
const DEGREES: [(usize, usize); 4] = [(2, 3), (3, 7), (4, 15), (5, 31)];

/// Intervals from here on are for polynomials of all degrees, those that begin nearer to zero for the last two: these gain more for
/// each level, and what is left over is made up later.
const ALL_DEGREES: f64 = 1.0 / 64.0;

/// The most levels: `delta` is above `2^-40` then.
const MOST_LEVELS: usize = 72;

/// The slack of a polynomial, in the smallest results of it.
const SLACK_OF_STAGES: f64 = 1.0 / 16.0;

/// The `delta` that is tried first for products, in errors: they are seldom within the error for a larger one.
const FIRST_TRIED: f64 = 4.0;

/// The fewest and the most points on which a polynomial is fitted and measured, more for intervals that begin near zero: there
/// polynomials are off by nearly 1, and what is allowed between points must not lead beyond.
const FEWEST_POINTS: usize = 256;
const MOST_POINTS: usize = 1 << 15;

/// The least number on which products are measured, in `delta`, and the points from there on.
const LEAST_PRODUCT: f64 = 1.0 / 4096.0;
const PRODUCT_POINTS: usize = 1 << 11;

/// Polynomials are fitted from here on at least: on a shorter interval they would not be determined to double precision.
const LATEST_START: f64 = 0.9;

/// The distance below which rounding hides what a polynomial reaches.
const LEAST_DISTANCE: f64 = 1e-11;

/// Polynomials by what they are for, and the error: the latest first.
type Known = Vec<(Wanted, f64, Arc<Signs>)>;

/// What signs are for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Wanted {
    /// Numbers from `delta` on, with errors of up to a slack.
    From { delta: f64, slack: f64 },
    /// Products.
    Products,
}

/// Those of the latest searches and runs, which need the same again and again.
static KNOWN: Mutex<Known> = Mutex::new(Vec::new());
const MOST_KNOWN: usize = 64;

impl Signs {
    /// Those of [`Signs::new`] for a `delta`, or else those of [`Signs::of_products`].
    ///
    /// # Errors
    /// [`NotNear`] with the reason of these.
    pub(crate) fn known(delta: Option<f64>, error: f64) -> Result<Arc<Self>> {
        match delta {
            Some(delta) => Self::allowing(delta, Self::slack(delta), error),
            None => Self::wanted(Wanted::Products, error),
        }
    }

    /// Those for numbers from `delta` to 1 in absolute value that may have errors of up to `slack`.
    ///
    /// # Errors
    /// [`NotNear`] with the reason of [`Signs::new`].
    pub(crate) fn allowing(delta: f64, slack: f64, error: f64) -> Result<Arc<Self>> {
        Self::wanted(Wanted::From { delta, slack }, error)
    }

    fn wanted(wanted: Wanted, error: f64) -> Result<Arc<Self>> {
        let lock = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, _, signs)) = lock().iter().find(|(of, within, _)| (*of, *within) == (wanted, error)) {
            return Ok(signs.clone());
        }
        let found = match wanted {
            Wanted::From { delta, slack } => Self::new(delta, slack, error),
            Wanted::Products => Self::of_products(error),
        };
        let signs = Arc::new(found.map_err(NotNear::of)?);
        let mut known = lock();
        known.insert(0, (wanted, error, signs.clone()));
        known.truncate(MOST_KNOWN);
        Ok(signs)
    }

    /// The polynomials for numbers from `delta` to 1 in absolute value, within `error`, where the numbers may have errors of up to
    /// `slack`.
    ///
    /// # Errors
    /// A `delta` that is not between 0 and 1, or not above the slack, an error that is not positive, and what 72 levels do not
    /// reach.
    fn new(delta: f64, slack: f64, error: f64) -> Result<Self> {
        if !(delta > slack && delta > 0.0 && delta < 1.0 && error > 0.0) {
            let found = format!("{delta} with an error of {error}");
            return Err(Error::parameter("dead zone", found, "between 0 and the largest difference; a positive error"));
        }
        Self::between(delta - slack, 1.0 + slack, error)
    }

    /// The largest errors of numbers from `delta` on that their signs allow for.
    pub(crate) fn slack(delta: f64) -> f64 {
        delta * SLACK_OF_STAGES
    }

    /// The chain of the fewest levels for numbers from here to there, whose results are within an error.
    ///
    /// The start of the interval that a polynomial leaves increases with the start of its own: of the chains of equal depth, the one
    /// with the largest start is optimal, and the only one that is extended.
    fn between(from: f64, reach: f64, error: f64) -> Result<Self> {
        let mut chains = vec![Some(Chain { stages: Vec::new(), from: from / reach })];
        let mut nearest: Option<f64> = None;
        for levels in 1..=MOST_LEVELS {
            let mut best: Option<Chain> = None;
            for (depth, degree) in DEGREES {
                let Some(Some(before)) = levels.checked_sub(depth).map(|before| &chains[before]) else { continue };
                if before.from < ALL_DEGREES && depth < 4 {
                    continue;
                }
                let Ok((polynomial, distance)) = Self::fitted(before.from, degree) else { continue };
                let least = (1.0 - distance) / (1.0 + distance);
                nearest = Some(nearest.map_or(least, |nearest| nearest.max(least)));
                let polynomial = if before.stages.is_empty() { stretched(polynomial, reach)? } else { polynomial };
                let mut stages = before.stages.clone();
                if 1.0 - least <= error {
                    stages.push(Stage { polynomial, least, slack: 0.0 });
                    return Ok(Self { stages, error: 1.0 - least });
                }
                // Within [-1, 1] with its errors too.
                let slack = least * SLACK_OF_STAGES;
                let polynomial = affine(&polynomial, 1.0 - slack, 0.0)?;
                let least = least * (1.0 - slack);
                if best.as_ref().is_none_or(|best| best.from < least - slack) {
                    stages.push(Stage { polynomial, least, slack });
                    best = Some(Chain { stages, from: least - slack });
                }
            }
            chains.push(best);
        }
        Err(nearest.map_or_else(
            || Error::parameter("smallest of the numbers with signs", from, "larger, for double precision"),
            |nearest| {
                let needed = format!("at least {:.1e}, which {MOST_LEVELS} levels reach", 1.0 - nearest);
                Error::parameter("error of signs", error, needed)
            },
        ))
    }

    /// By how much more than 1 numbers may be that signs are multiplied with: their errors.
    pub(crate) const SLACK: f64 = 1.0 / 32.0;

    /// The polynomials for `x sign(x)` and for the larger of two, whose error is at most `error` for all `|x| <= 1 + SLACK`.
    ///
    /// # Errors
    /// As [`Signs::new`].
    pub(crate) fn of_products(error: f64) -> Result<Self> {
        // Below delta an absolute value is off by less than delta, and at most by about a third of it.
        let mut delta = (FIRST_TRIED * error).min(0.5);
        loop {
            let reach = 1.0 + Self::SLACK;
            let signs = Self::between(delta, reach, error / 2.0)?;
            let signs = Self { error: signs.product_error(delta, reach), ..signs };
            if signs.error <= error || delta < error {
                return Ok(signs);
            }
            delta /= 1.25;
        }
    }

    /// The polynomials, the first first.
    pub(crate) fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// The largest error of results, or of products.
    pub(crate) const fn error(&self) -> f64 {
        self.error
    }

    /// The levels of all polynomials.
    #[cfg(test)]
    fn depth(&self) -> usize {
        self.stages.iter().map(|stage| stage.polynomial.depth()).sum()
    }

    /// The least result for a positive number, whatever errors within their slacks the results of polynomials have.
    ///
    /// Up to where its interval begins, a polynomial increases: all extrema that its degree allows lie within the interval.
    fn at_least(&self, x: f64) -> f64 {
        let result = |x: f64, stage: &Stage| match x {
            0.0.. => stage.polynomial.at(x).min(stage.least) - stage.slack,
            _ => -1.0,
        };
        self.stages.iter().fold(x, result)
    }

    /// A bound on the distance of `x s(x)` from `|x|` up to `reach`, whatever errors within their slacks there are, for signs from
    /// `from` on.
    fn product_error(&self, from: f64, reach: f64) -> f64 {
        // The distance is at most that of the larger end of a piece, if the sign of the smaller one is taken there.
        let point = |k: usize| from * libm::pow(LEAST_PRODUCT, 1.0 - k as f64 / PRODUCT_POINTS as f64);
        let below = |k: usize| point(k + 1) * (1.0 - self.at_least(point(k)));
        (0..PRODUCT_POINTS).map(below).fold((reach * self.error).max(2.0 * point(0)), f64::max)
    }

    /// The best odd polynomial of a degree from here to 1, scaled, and the distance that it was scaled by.
    fn fitted(from: f64, degree: usize) -> Result<(Polynomial, f64)> {
        let terms = degree.div_ceil(2);
        let from = from.min(LATEST_START);
        let row = |x: f64| -> Vec<f64> {
            // T_1, T_3, ...: `T_(k + 2) = 2 T_2 T_k - T_(k - 2)`.
            let twice = 2.0 * (2.0 * x * x - 1.0);
            std::iter::successors(Some([x, x]), |[last, own]| Some([*own, twice * own - last]))
                .map(|[_, own]| own)
                .take(terms)
                .collect()
        };
        // The Chebyshev points of the interval, in ascending order.
        let (middle, half) = (f64::midpoint(from, 1.0), (1.0 - from) / 2.0);
        let count = (8.0 * (degree as f64 / from).sqrt()) as usize;
        let count = count.clamp(FEWEST_POINTS, MOST_POINTS);
        let angle = |k: usize| std::f64::consts::PI * k as f64 / count as f64;
        let points: Vec<f64> = (0..=count).map(|k| (middle - half * libm::cos(angle(k))).clamp(from, 1.0)).collect();
        let rows: Vec<Vec<f64>> = points.iter().map(|&x| row(x)).collect();
        let refused = || Error::parameter("dead zone", from, "far enough from 0 and from 1 for double precision");
        let (coefficients, distance) = minimax::best(&rows, &vec![1.0; rows.len()]).ok_or_else(refused)?;
        // Between the points it is at most so much larger (Ehlich and Zeller, "Schwankung von Polynomen zwischen
        // Gitterpunkten", 1964).
        let between = libm::cos(angle(1) * degree as f64 / 2.0);
        let distance = (distance / between).max(LEAST_DISTANCE);
        if distance >= 1.0 {
            return Err(refused());
        }
        let mut all = vec![0.0; degree + 1];
        coefficients.iter().enumerate().for_each(|(k, c)| all[2 * k + 1] = c / (1.0 + distance));
        Ok((Polynomial::chebyshev(all)?, distance))
    }
}

/// `factor p(x) + shift`, of the Chebyshev basis.
pub(crate) fn affine(polynomial: &Polynomial, factor: f64, shift: f64) -> Result<Polynomial> {
    let mut coefficients: Vec<f64> = polynomial.coefficients().iter().map(|c| c * factor).collect();
    coefficients[0] += shift;
    Polynomial::chebyshev(coefficients)
}

/// `p(x / reach)` for an odd polynomial.
fn stretched(polynomial: Polynomial, reach: f64) -> Result<Polynomial> {
    if reach == 1.0 {
        return Ok(polynomial);
    }
    let mut coefficients = interpolate(&|x: f64| polynomial.at(x / reach), [-1.0, 1.0], polynomial.degree() + 1)?;
    coefficients.iter_mut().step_by(2).for_each(|c| *c = 0.0);
    Polynomial::chebyshev(coefficients)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result for a number in clear, where every result of a polynomial but the last is off by its slack times these.
    fn disturbed(signs: &Signs, x: f64, errors: &[f64]) -> f64 {
        let result = |x: f64, (stage, error): (&Stage, &f64)| stage.polynomial.at(x) + stage.slack * error;
        signs.stages.iter().zip(errors.iter().cycle()).fold(x, result)
    }

    const ERRORS: [&[f64]; 5] = [&[0.0], &[1.0], &[-1.0], &[1.0, -1.0], &[-1.0, 0.5, 1.0]];

    #[test]
    fn signs_are_within_their_error_and_never_leave_the_interval() {
        for (delta, error) in [(0.1, 1e-3), (1.0 / 128.0, 1e-6), (1e-3, 1e-2), (2e-5, 1e-2)] {
            let signs = Signs::new(delta, Signs::slack(delta), error).expect("signs");
            assert!(signs.error() <= error && signs.depth() <= 24, "{}", signs.depth());
            let slack = Signs::slack(delta);
            for (k, errors) in (0..=10_000).flat_map(|k| ERRORS.map(|errors| (k, errors))) {
                let x = f64::from(k) / 10_000.0;
                for off in [-slack, 0.0, slack] {
                    let y = disturbed(&signs, x + off, errors);
                    assert!(y.abs() <= 1.0 + 1e-9, "{x}: {y}");
                    assert!(x < delta || (1.0 - y).abs() <= signs.error() + 1e-9, "{x}: {y}");
                }
                assert_eq!(disturbed(&signs, -x, &[0.0]), -disturbed(&signs, x, &[0.0]));
            }
        }
    }

    #[test]
    fn absolute_values_are_within_their_error_everywhere() {
        for error in [0.05, 1e-2, 1e-3] {
            let signs = Signs::of_products(error).expect("signs");
            let largest = signs.error();
            assert!(largest <= error, "{error}: {largest}");
            for (k, errors) in (0..=20_000).flat_map(|k| ERRORS.map(|errors| (k, errors))) {
                let x = (1.0 + Signs::SLACK) * f64::from(k) / 20_000.0;
                assert!((x - x * disturbed(&signs, x, errors)).abs() <= largest, "{error} at {x}");
            }
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert!(
            [(0.0, 0.0, 0.1), (1.0, 0.0, 0.1), (0.1, 0.1, 0.1), (0.1, 0.0, 0.0)]
                .into_iter()
                .all(|(delta, slack, error)| Signs::new(delta, slack, error).is_err())
        );
    }
}
