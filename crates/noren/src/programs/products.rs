//! Sums over the rows of products of two columns: covariance, inner products.

use std::collections::{BTreeMap, BTreeSet};

use noren_rlwe::error::Result;

use crate::programs::evaluator::Table;
use crate::programs::evaluator::TableEvaluator;
use crate::programs::evaluator::side_by_side;
use crate::programs::layout::{TableLayout, exponent_above};
use crate::programs::masks::SumFactor;
use crate::programs::model::{PairsModel, SpreadModel};
use crate::programs::pairs::{PairLayout, Unit};
use crate::programs::statistics::{mean_of, sum_products, sum_rows};
use crate::programs::table::{EncryptedTable, Layout};

/// `(1 / (n - ddof)) sum_r (x_ri - mean_i) (x_rj - mean_j)` for all pairs of columns; two levels, or
/// [three](SumFactor).
///
/// Computed as `(1 / (n - ddof)) (sum x_i x_j - (sum x_i) mean_j)`: see [`variance`](super::statistics::variance).
pub(super) fn covariance<E: TableEvaluator>(ev: &E, table: &Table<E>, model: &SpreadModel) -> Result<Table<E>> {
    let layout = table.columns()?;
    let divisor = model.divisor(layout)?;
    let sums = side_by_side(ev, table.ciphertexts().chunks(layout.groups()), |_, groups| sum_rows(ev, layout, groups))?;
    let means = side_by_side(ev, &sums, |_, sum| mean_of(ev, layout, sum))?;
    let results = PairLayout::square(layout.clone().without_guarantee(), 0)?;
    // By Cauchy and Schwarz no covariance is larger than the variances, which are at most n / (n - ddof).
    let magnitude = layout.rows() as f64 / divisor;
    let centre = Some(Centre { sums, means });
    for_pairs(ev, table, results, &Work { factor: SumFactor::new(layout, 1.0 / divisor), magnitude, centre })
}

/// `sum_r x_ri x_rj` for pairs of columns; two levels, or [three](SumFactor).
pub(super) fn inner_products<E: TableEvaluator>(ev: &E, table: &Table<E>, model: &PairsModel) -> Result<Table<E>> {
    let layout = table.columns()?;
    let plain = layout.clone().without_guarantee();
    // Divided by a power of two, the sums are at most 1 again.
    let exponent = exponent_above(layout.rows() as f64);
    let results = match &model.pairs {
        None => PairLayout::square(plain, exponent)?,
        Some(pairs) => {
            let pairs =
                pairs.iter().map(|(i, j)| Ok((i.resolve(layout)?, j.resolve(layout)?))).collect::<Result<_>>()?;
            PairLayout::list(plain, pairs, exponent)?
        }
    };
    let factor = SumFactor::new(layout, libm::ldexp(1.0, -exponent));
    for_pairs(ev, table, results, &Work { factor, magnitude: 1.0, centre: None })
}

/// The formula for each pair: `factor (sum_r x_ri x_rj - sum_i mean_j)`.
struct Work<C> {
    factor: SumFactor,
    /// The largest result.
    magnitude: f64,
    /// Sums and means, where they are subtracted.
    centre: Option<Centre<C>>,
}

/// Sums and means of columns, in their first rows: one ciphertext for each block of columns.
struct Centre<C> {
    sums: Vec<C>,
    means: Vec<C>,
}

/// The work for the pairs of `results`; two levels, or [three](SumFactor).
fn for_pairs<E: TableEvaluator>(
    ev: &E,
    table: &Table<E>,
    results: PairLayout,
    work: &Work<E::Ciphertext>,
) -> Result<Table<E>> {
    let layout = table.columns()?;
    let wanted: Vec<(Unit, BTreeSet<usize>)> = results.wanted().into_iter().collect();
    let mut masked = Vec::with_capacity(wanted.len());
    // Units come in the order of their right blocks, so that the rotations of one block are held at a time.
    for units in wanted.chunk_by(|(a, _), (b, _)| a.right == b.right) {
        let right = units[0].0.right;
        let columns = rotate_columns(ev, layout, block(layout, table.ciphertexts(), right), units)?;
        let means = match &work.centre {
            Some(centre) => rotate_columns(ev, layout, &centre.means[right..=right], units)?,
            None => BTreeMap::new(),
        };
        let found = side_by_side(ev, units, |_, (unit, positions)| {
            let mask = |factor| {
                let mut mask = vec![0.0; layout.slots()];
                positions.iter().for_each(|position| mask[position * layout.height()] = factor);
                mask
            };
            let pick = |x: &E::Ciphertext| work.factor.mask(ev, x, mask);
            let left = block(layout, table.ciphertexts(), unit.left);
            let pairs: Vec<_> = left.iter().zip(&columns[&unit.rotation]).collect();
            let mut result = pick(&sum_products(ev, layout, &pairs)?)?;
            if let Some(centre) = &work.centre {
                // The mask on the sums, which are at most n, keeps products of means that nobody asked for from leaving.
                let sums = ev.with_magnitude(pick(&centre.sums[unit.left])?, work.magnitude);
                let product = ev.mul(&sums, &means[&unit.rotation][0])?;
                result = ev.sub(&result, &product)?;
            }
            Ok(ev.with_magnitude(result, work.magnitude))
        })?;
        masked.extend(found);
    }
    let packed = side_by_side(ev, masked.chunks(layout.height()), |_, units| pack(ev, units, work.magnitude))?;
    EncryptedTable::new(Layout::Pairs(results), packed)
}

/// The row groups of one block of columns.
fn block<'a, C>(layout: &TableLayout, ciphertexts: &'a [C], block: usize) -> &'a [C] {
    &ciphertexts[block * layout.groups()..(block + 1) * layout.groups()]
}

/// All rotations that these units need, by rotation in columns: each ciphertext is decomposed once.
fn rotate_columns<E: TableEvaluator>(
    ev: &E,
    layout: &TableLayout,
    ciphertexts: &[E::Ciphertext],
    units: &[(Unit, BTreeSet<usize>)],
) -> Result<BTreeMap<usize, Vec<E::Ciphertext>>> {
    let rotations: BTreeSet<usize> = units.iter().map(|(unit, _)| unit.rotation).collect();
    let steps: Vec<isize> = rotations.iter().map(|r| (r * layout.height()).cast_signed()).collect();
    let mut rotated: BTreeMap<usize, Vec<E::Ciphertext>> = rotations.iter().map(|&r| (r, Vec::new())).collect();
    for x in ciphertexts {
        for (of_rotation, x) in rotated.values_mut().zip(ev.rotate_many(x, &steps)?) {
            of_rotation.push(x);
        }
    }
    Ok(rotated)
}

/// Unit `u` to row `u`: each unit has numbers in the first rows alone, so that one key, for a rotation by one row,
/// is enough.
fn pack<E: TableEvaluator>(ev: &E, units: &[E::Ciphertext], magnitude: f64) -> Result<E::Ciphertext> {
    let (last, others) = units.split_last().expect("chunks are not empty");
    others.iter().rev().try_fold(last.clone(), |packed, unit| {
        Ok(ev.with_magnitude(ev.add(&ev.rotate(&packed, -1)?, unit)?, magnitude))
    })
}
