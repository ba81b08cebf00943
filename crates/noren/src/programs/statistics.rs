//! Sums over the rows of a table: sum, mean, variance.

use noren_rlwe::error::Result;
use rayon::prelude::*;

use crate::circuits::trace;
use crate::programs::layout::{TableLayout, exponent_above};
use crate::programs::model::SpreadModel;
use crate::programs::program::TableEvaluator;
use crate::programs::table::{EncryptedTable, Layout};

/// `sum_r x_rc` for each column; one level.
pub(super) fn sum<E: TableEvaluator>(
    ev: &E,
    table: &EncryptedTable<E::Ciphertext>,
) -> Result<EncryptedTable<E::Ciphertext>> {
    let layout = table.columns()?;
    // Divided by a power of two, the sums are at most 1 again.
    let exponent = exponent_above(layout.rows() as f64);
    let sums = weighted_sums(ev, layout, table.ciphertexts(), libm::ldexp(1.0, -exponent))?;
    let exponents = layout.exponents().iter().map(|e| e + exponent).collect();
    one_row(&layout.clone().without_guarantee(), "sum", exponents, sums)
}

/// `(1 / n) sum_r x_rc` for each column; one level.
pub(super) fn mean<E: TableEvaluator>(
    ev: &E,
    table: &EncryptedTable<E::Ciphertext>,
) -> Result<EncryptedTable<E::Ciphertext>> {
    let layout = table.columns()?;
    let sums = weighted_sums(ev, layout, table.ciphertexts(), 1.0 / layout.rows() as f64)?;
    one_row(layout, "mean", layout.exponents().to_vec(), sums)
}

/// `(1 / (n - ddof)) sum_r (x_rc - mean_c)^2` for each column; three levels.
pub(super) fn variance<E: TableEvaluator>(
    ev: &E,
    table: &EncryptedTable<E::Ciphertext>,
    model: &SpreadModel,
) -> Result<EncryptedTable<E::Ciphertext>> {
    let layout = table.columns()?;
    let divisor = model.divisor(layout)?;
    let centred = centre(ev, layout, table.ciphertexts())?;
    let variances = centred
        .par_chunks(layout.groups())
        .enumerate()
        .map(|(block, groups)| {
            let pairs: Vec<_> = groups.iter().map(|x| (x, x)).collect();
            let total = sum_products(ev, layout, &pairs)?;
            let mask = ev.encode_for(&layout.first_rows(block, |_| 1.0 / divisor), &total)?;
            // Numbers in [-1, 1] have mean square deviations up to 1.
            Ok(ev.with_magnitude(ev.mul_plain(&total, &mask)?, layout.rows() as f64 / divisor))
        })
        .collect::<Result<_>>()?;
    let exponents = layout.exponents().iter().map(|e| 2 * e).collect();
    one_row(&layout.clone().without_guarantee(), "variance", exponents, variances)
}

/// The columns less their means, zero in the padding; one level.
///
/// The mean of a column is masked, so that nothing but it is left, and copied to as many rows as the column has.
pub(super) fn centre<E: TableEvaluator>(
    ev: &E,
    layout: &TableLayout,
    ciphertexts: &[E::Ciphertext],
) -> Result<Vec<E::Ciphertext>> {
    let means = weighted_sums(ev, layout, ciphertexts, 1.0 / layout.rows() as f64)?;
    let centred: Vec<Vec<E::Ciphertext>> = means
        .par_iter()
        .zip(ciphertexts.par_chunks(layout.groups()))
        .map(|(mean, groups)| {
            let last = layout.groups() - 1;
            let copies = trace::replicate(ev, mean, layout.rows_of_group(last), 1)?;
            let full = if last > 0 { Some(trace::replicate(ev, mean, layout.height(), 1)?) } else { None };
            groups
                .iter()
                .enumerate()
                .map(|(group, x)| {
                    let mean = full.as_ref().filter(|_| group < last).unwrap_or(&copies);
                    // Numbers in [-1, 1] are at most 2 from their mean.
                    Ok(ev.with_magnitude(ev.sub(x, mean)?, 2.0))
                })
                .collect()
        })
        .collect::<Result<_>>()?;
    Ok(centred.into_iter().flatten().collect())
}

/// `sum_r a_rc b_rc` over all rows, in the first row of each column: one product for each row group.
///
/// The other rows hold sums that nobody asked for: to be masked before they leave.
pub(super) fn sum_products<E: TableEvaluator>(
    ev: &E,
    layout: &TableLayout,
    groups: &[(&E::Ciphertext, &E::Ciphertext)],
) -> Result<E::Ciphertext> {
    let product = |pairs: &[(&E::Ciphertext, &E::Ciphertext)]| match *pairs {
        [(a, b)] if std::ptr::eq(a, b) => ev.square(a),
        _ => ev.dot(pairs),
    };
    let last = layout.groups() - 1;
    if layout.zero_padding() || layout.rows_of_group(last) == layout.height() {
        return trace::sum(ev, &product(groups)?, layout.height(), 1);
    }
    let rest = trace::sum(ev, &product(&groups[last..])?, layout.rows_of_group(last), 1)?;
    if last == 0 {
        return Ok(rest);
    }
    ev.add(&trace::sum(ev, &product(&groups[..last])?, layout.height(), 1)?, &rest)
}

/// `factor sum_r x_rc` for each column, alone in its first row: one ciphertext for each block; one level.
///
/// The result must be at most 1 for entries of at most 1.
fn weighted_sums<E: TableEvaluator>(
    ev: &E,
    layout: &TableLayout,
    ciphertexts: &[E::Ciphertext],
    factor: f64,
) -> Result<Vec<E::Ciphertext>> {
    ciphertexts
        .par_chunks(layout.groups())
        .enumerate()
        .map(|(block, groups)| {
            let total = sum_rows(ev, layout, groups)?;
            let mask = ev.encode_for(&layout.first_rows(block, |_| factor), &total)?;
            Ok(ev.with_magnitude(ev.mul_plain(&total, &mask)?, 1.0))
        })
        .collect()
}

/// `sum_r x_rc`, in the first row of each column.
fn sum_rows<E: TableEvaluator>(ev: &E, layout: &TableLayout, groups: &[E::Ciphertext]) -> Result<E::Ciphertext> {
    let add_all = |groups: &[E::Ciphertext]| {
        groups[1..].iter().try_fold(groups[0].clone(), |total, group| ev.add(&total, group))
    };
    let last = layout.groups() - 1;
    if layout.zero_padding() || layout.rows_of_group(last) == layout.height() {
        return trace::sum(ev, &add_all(groups)?, layout.height(), 1);
    }
    let rest = trace::sum(ev, &groups[last], layout.rows_of_group(last), 1)?;
    if last == 0 {
        return Ok(rest);
    }
    ev.add(&trace::sum(ev, &add_all(&groups[..last])?, layout.height(), 1)?, &rest)
}

fn one_row<C>(
    layout: &TableLayout,
    name: &str,
    exponents: Vec<i32>,
    ciphertexts: Vec<C>,
) -> Result<EncryptedTable<C>> {
    let layout = layout.summary(name).with_exponents(exponents)?;
    EncryptedTable::new(Layout::Table(layout), ciphertexts)
}
