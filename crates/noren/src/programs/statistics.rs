//! Sums over the rows of a table: sum, mean, variance.

use noren_rlwe::error::Result;

use crate::circuits::trace;
use crate::programs::evaluator::Table;
use crate::programs::evaluator::TableEvaluator;
use crate::programs::evaluator::side_by_side;
use crate::programs::layout::{TableLayout, exponent_above};
use crate::programs::masks::{SumFactor, sum_magnitude};
use crate::programs::model::SpreadModel;
use crate::programs::table::{EncryptedTable, Layout};

/// `sum_r x_rc` for each column; one level, or [two](SumFactor).
pub(super) fn sum<E: TableEvaluator>(ev: &E, table: &Table<E>) -> Result<Table<E>> {
    let layout = table.columns()?;
    // Divided by a power of two, the sums are at most 1 again.
    let exponent = exponent_above(layout.rows() as f64);
    let sums = weighted_sums(ev, layout, table.ciphertexts(), libm::ldexp(1.0, -exponent))?;
    let exponents = layout.exponents().iter().map(|e| e + exponent).collect();
    one_row(&layout.clone().without_guarantee(), "sum", exponents, sums)
}

/// `(1 / n) sum_r x_rc` for each column; one level, or [two](SumFactor).
pub(super) fn mean<E: TableEvaluator>(ev: &E, table: &Table<E>) -> Result<Table<E>> {
    let layout = table.columns()?;
    let sums = weighted_sums(ev, layout, table.ciphertexts(), 1.0 / layout.rows() as f64)?;
    one_row(layout, "mean", layout.exponents().to_vec(), sums)
}

/// `(1 / (n - ddof)) sum_r (x_rc - mean_c)^2` for each column; two levels, or [three](SumFactor).
///
/// Computed as `(1 / (n - ddof)) (sum x^2 - (sum x) mean)`. Errors of a scheme with a fixed scale are absolute, so
/// that nothing is lost by the difference: an error `e_r` of `x_r` changes either form by `2 (x_r - mean) e_r` in all.
pub(super) fn variance<E: TableEvaluator>(ev: &E, table: &Table<E>, model: &SpreadModel) -> Result<Table<E>> {
    let layout = table.columns()?;
    let divisor = model.divisor(layout)?;
    let factor = SumFactor::new(layout, 1.0 / divisor);
    let variances = side_by_side(ev, table.ciphertexts().chunks(layout.groups()), |block, groups| {
        let pairs: Vec<_> = groups.iter().map(|x| (x, x)).collect();
        let squares = sum_products(ev, layout, &pairs)?;
        let mask = |factor| layout.first_rows(block, |_| factor);
        let squares = factor.mask(ev, &squares, mask)?;
        let sum = sum_rows(ev, layout, groups)?;
        // Sums over the rows are at most n, and mean square deviations of numbers in [-1, 1] at most 1.
        let magnitude = layout.rows() as f64 / divisor;
        let masked = ev.with_magnitude(factor.mask(ev, &sum, mask)?, magnitude);
        let variance = ev.sub(&squares, &ev.mul(&masked, &mean_of(ev, layout, &sum)?)?)?;
        Ok(ev.with_magnitude(variance, magnitude))
    })?;
    let exponents = layout.exponents().iter().map(|e| 2 * e).collect();
    one_row(&layout.clone().without_guarantee(), "variance", exponents, variances)
}

/// The mean of each column from its sum, in its first row; the other rows hold what was in them.
pub(super) fn mean_of<E: TableEvaluator>(ev: &E, layout: &TableLayout, sum: &E::Ciphertext) -> Result<E::Ciphertext> {
    let factor = 1.0 / layout.rows() as f64;
    // 1 in the first rows, up to 2 in the others.
    let mean = SumFactor::new(layout, factor).multiply(ev, sum)?;
    Ok(ev.with_magnitude(mean, factor * sum_magnitude(layout)))
}

/// `sum_r a_rc b_rc` over all rows, in the first row of each column: one product for each row group.
///
/// The other rows hold sums that nobody asked for: to be masked before they leave.
pub(super) fn sum_products<E: TableEvaluator>(
    ev: &E,
    layout: &TableLayout,
    groups: &[(&E::Ciphertext, &E::Ciphertext)],
) -> Result<E::Ciphertext> {
    sum_groups(ev, layout, groups, |groups| match *groups {
        [(a, b)] if std::ptr::eq(a, b) => ev.square(a),
        _ => ev.dot(groups),
    })
}

/// `factor sum_r x_rc` for each column, alone in its first row: one ciphertext for each block; one level, or
/// [two](SumFactor).
///
/// The result must be at most 1 for entries of at most 1.
fn weighted_sums<E: TableEvaluator>(
    ev: &E,
    layout: &TableLayout,
    ciphertexts: &[E::Ciphertext],
    factor: f64,
) -> Result<Vec<E::Ciphertext>> {
    let factor = SumFactor::new(layout, factor);
    side_by_side(ev, ciphertexts.chunks(layout.groups()), |block, groups| {
        let total = sum_rows(ev, layout, groups)?;
        let masked = factor.mask(ev, &total, |factor| layout.first_rows(block, |_| factor))?;
        Ok(ev.with_magnitude(masked, 1.0))
    })
}

/// `sum_r x_rc`, in the first row of each column.
///
/// The other rows hold sums that nobody asked for: to be masked before they leave.
pub(super) fn sum_rows<E: TableEvaluator>(
    ev: &E,
    layout: &TableLayout,
    groups: &[E::Ciphertext],
) -> Result<E::Ciphertext> {
    sum_groups(ev, layout, groups, |groups| {
        groups[1..].iter().try_fold(groups[0].clone(), |total, group| ev.add(&total, group))
    })
}

/// The sum over the rows of the `total` of row groups. Padding that may not be zero is kept out: it lies in the last.
fn sum_groups<E: TableEvaluator, T>(
    ev: &E,
    layout: &TableLayout,
    groups: &[T],
    total: impl Fn(&[T]) -> Result<E::Ciphertext>,
) -> Result<E::Ciphertext> {
    let sum = |groups: &[T], rows: usize| trace::sum(ev, &total(groups)?, rows, 1);
    let (full, last) = groups.split_at(layout.groups() - 1);
    let rows = layout.rows_of_group(full.len());
    let sum = if layout.zero_padding() || rows == layout.height() {
        sum(groups, layout.height())?
    } else if full.is_empty() {
        sum(last, rows)?
    } else {
        ev.add(&sum(full, layout.height())?, &sum(last, rows)?)?
    };
    Ok(ev.with_magnitude(sum, sum_magnitude(layout)))
}

fn one_row<C>(layout: &TableLayout, name: &str, exponents: Vec<i32>, ciphertexts: Vec<C>) -> Result<EncryptedTable<C>> {
    let layout = layout.summary(name).with_exponents(exponents)?;
    EncryptedTable::new(Layout::Table(layout), ciphertexts)
}
