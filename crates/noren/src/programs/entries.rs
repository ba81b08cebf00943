//! The same polynomial of every entry of a table.

use noren_rlwe::error::{Error, Result};

use crate::circuits::approx::interpolate;
use crate::circuits::polynomial::{Polynomial, to_unit};
use crate::programs::error::ProgramError;
use crate::programs::evaluator::Table;
use crate::programs::evaluator::TableEvaluator;
use crate::programs::evaluator::side_by_side;
use crate::programs::layout::{Guarantee, TableLayout, exponent_above};
use crate::programs::model::{BasisName, PolynomialModel};
use crate::programs::table::{EncryptedTable, Layout, names};

/// The largest degree: bounds and changes of the basis take time by its square.
const LARGEST_DEGREE: usize = (1 << 13) - 1;

/// `p(x)` of every entry; the levels of the polynomial, and one more unless the columns already span the interval.
pub(super) fn polynomial<E: TableEvaluator>(ev: &E, table: &Table<E>, model: &PolynomialModel) -> Result<Table<E>> {
    let layout = table.columns()?;
    // Before any work on the coefficients, which may be many: the levels of the polynomial.
    let needed = model.given()?.depth();
    if let Some(left) = table.ciphertexts().iter().map(|x| ev.level(x)).min().filter(|&left| left < needed) {
        return Err(Error::LevelExhausted { needed, left });
    }
    let task = Task::new(layout, model)?;
    let mut values = side_by_side(ev, table.ciphertexts(), |index, x| {
        let unit = task.to_unit(ev, layout, index, x)?;
        Ok(ev.with_magnitude(task.polynomial.evaluate(ev, &unit)?, 1.0))
    })?;
    // The bounds of the columns decide whether the entries are known to lie in the interval, or go along to be compared with it.
    let proven = task.outside(layout).is_none();
    let arguments = (!proven).then(|| layout.exponents().to_vec());
    if !proven {
        let lowered = table.ciphertexts().iter().zip(&values).map(|(x, value)| ev.at_level(x, ev.level(value)));
        let lowered: Vec<_> = lowered.collect::<Result<_>>()?;
        values.extend(lowered);
    }
    let mut result = layout
        .clone()
        .without_guarantee()
        .with_exponents(vec![task.exponent; layout.columns()])?
        .with_zero_padding(false);
    if model.interval.is_some() || !proven {
        let largest = libm::ldexp(task.polynomial.max_abs(), task.exponent);
        result = result.with_guarantee(Guarantee {
            function: format!("a polynomial of degree {}", task.polynomial.degree()),
            interval: task.interval,
            error: 0.0,
            range: [-largest, largest],
            arguments,
            chosen: None,
        });
    }
    EncryptedTable::new(Layout::Table(result), values)
}

/// Refuses columns whose bounds allow entries outside the interval.
pub(super) fn check_interval(layout: &TableLayout, model: &PolynomialModel) -> Result<()> {
    let task = Task::new(layout, model)?;
    let Some(column) = task.outside(layout) else {
        return Ok(());
    };
    let most = libm::ldexp(1.0, layout.exponents()[column]);
    let names = names(layout.column_names(), layout.columns());
    let what = format!("entries of column {:?}", names[column]);
    Err(ProgramError::UnprovenInterval { program: "polynomial", what, low: -most, high: most, interval: task.interval }
        .into())
}

/// `2^exponent polynomial(factor_c x + shift)`, for encoded entries `x` of column `c`.
struct Task {
    polynomial: Polynomial,
    exponent: i32,
    interval: [f64; 2],
    factors: Vec<f64>,
    shift: f64,
}

impl PolynomialModel {
    /// The polynomial as it is given.
    fn given(&self) -> Result<Polynomial> {
        Polynomial::new(self.basis.into(), self.coefficients.clone())
    }
}

impl Task {
    fn new(layout: &TableLayout, model: &PolynomialModel) -> Result<Self> {
        let largest = layout.exponents().iter().max().map_or(1.0, |&e| libm::ldexp(1.0, e));
        let interval = model.interval.unwrap_or(match model.basis {
            BasisName::Power => [-largest, largest],
            BasisName::Chebyshev => [-1.0, 1.0],
        });
        let (factor, shift) = to_unit(interval)?;
        let given = model.given()?;
        if given.degree() > LARGEST_DEGREE {
            let needed = format!(
                "at most {LARGEST_DEGREE}: take a polynomial of fewer terms, or several on parts of the interval"
            );
            return Err(Error::parameter("degree", given.degree(), needed));
        }
        let polynomial = match model.basis {
            BasisName::Chebyshev => given,
            // The same polynomial in the basis that is stable on the interval: it is its own interpolant.
            BasisName::Power => Polynomial::chebyshev(interpolate(&|x| given.at(x), interval, given.degree() + 1)?)?,
        };
        // Divided by a power of two, results are at most 1.
        let exponent = exponent_above(polynomial.max_abs());
        let scaled = polynomial.coefficients().iter().map(|&c| libm::ldexp(c, -exponent)).collect();
        let factors = layout.exponents().iter().map(|&e| libm::ldexp(factor, e)).collect();
        Ok(Self { polynomial: Polynomial::chebyshev(scaled)?, exponent, interval, factors, shift })
    }

    /// The first column whose entries may lie outside the interval.
    fn outside(&self, layout: &TableLayout) -> Option<usize> {
        let [low, high] = self.interval;
        let inside = |&exponent: &i32| low <= -libm::ldexp(1.0, exponent) && libm::ldexp(1.0, exponent) <= high;
        layout.exponents().iter().position(|exponent| !inside(exponent))
    }

    /// Brings the entries of a ciphertext to `[-1, 1]`: for nothing if they are there already.
    ///
    /// The padding must not leave `[-1, 1]` either: a polynomial far outside would overflow the modulus, which spoils
    /// all slots. So it is made zero where it is not known to stay inside.
    fn to_unit<E: TableEvaluator>(
        &self,
        ev: &E,
        layout: &TableLayout,
        index: usize,
        x: &E::Ciphertext,
    ) -> Result<E::Ciphertext> {
        let first = self.factors[0];
        let alike = self.factors.iter().all(|&factor| factor == first);
        let unit = if alike && layout.zero_padding() && self.shift.abs() <= 1.0 {
            if first == 1.0 && self.shift == 0.0 { x.clone() } else { ev.weighted_sum(&[(x, first)], self.shift)? }
        } else {
            let (block, group) = (index / layout.groups(), index % layout.groups());
            let column = |slot_block: usize| block * layout.columns_per_ciphertext() + slot_block;
            let factor = |slot_block: usize| self.factors.get(column(slot_block)).copied();
            let shift = |slot_block: usize| factor(slot_block).map(|_| self.shift);
            let scaled = ev.mul_plain(x, &ev.encode_for(&layout.constant_blocks(group, factor), x)?)?;
            ev.add_plain(&scaled, &ev.encode_addend(&layout.constant_blocks(group, shift), &scaled)?)?
        };
        // No entry leaves the interval, or decryption finds out.
        Ok(ev.with_range(unit, [-1.0, 1.0]))
    }
}
