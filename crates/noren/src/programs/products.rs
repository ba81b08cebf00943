//! Sums over the rows of products of two columns: covariance, inner products.

use std::collections::{BTreeMap, BTreeSet};

use noren_rlwe::error::Result;
use rayon::prelude::*;

use crate::programs::layout::{TableLayout, exponent_above};
use crate::programs::model::{PairsModel, SpreadModel};
use crate::programs::pairs::{PairLayout, Unit};
use crate::programs::program::TableEvaluator;
use crate::programs::statistics::{centre, sum_products};
use crate::programs::table::{EncryptedTable, Layout};

/// `(1 / (n - ddof)) sum_r (x_ri - mean_i) (x_rj - mean_j)` for all pairs of columns; three levels.
pub(super) fn covariance<E: TableEvaluator>(
    ev: &E,
    table: &EncryptedTable<E::Ciphertext>,
    model: &SpreadModel,
) -> Result<EncryptedTable<E::Ciphertext>> {
    let layout = table.columns()?;
    let divisor = model.divisor(layout)?;
    let centred = centre(ev, layout, table.ciphertexts())?;
    let results = PairLayout::square(layout.clone().without_guarantee(), 0);
    // By Cauchy and Schwarz no covariance is larger than the variances, which are at most n / (n - ddof).
    let magnitude = layout.rows() as f64 / divisor;
    for_pairs(ev, layout, &centred, results, 1.0 / divisor, magnitude)
}

/// `sum_r x_ri x_rj` for pairs of columns; two levels.
pub(super) fn inner_products<E: TableEvaluator>(
    ev: &E,
    table: &EncryptedTable<E::Ciphertext>,
    model: &PairsModel,
) -> Result<EncryptedTable<E::Ciphertext>> {
    let layout = table.columns()?;
    let plain = layout.clone().without_guarantee();
    // Divided by a power of two, the sums are at most 1 again.
    let exponent = exponent_above(layout.rows() as f64);
    let results = match &model.pairs {
        None => PairLayout::square(plain, exponent),
        Some(pairs) => {
            let pairs = pairs
                .iter()
                .map(|(i, j)| Ok((i.resolve(layout)?, j.resolve(layout)?)))
                .collect::<Result<_>>()?;
            PairLayout::list(plain, pairs, exponent)?
        }
    };
    for_pairs(ev, layout, table.ciphertexts(), results, libm::ldexp(1.0, -exponent), 1.0)
}

/// `factor sum_r x_ri x_rj` for the pairs of `results`, each at most `magnitude`; two levels.
fn for_pairs<E: TableEvaluator>(
    ev: &E,
    layout: &TableLayout,
    ciphertexts: &[E::Ciphertext],
    results: PairLayout,
    factor: f64,
    magnitude: f64,
) -> Result<EncryptedTable<E::Ciphertext>> {
    let wanted: Vec<(Unit, BTreeSet<usize>)> = results.wanted().into_iter().collect();
    let mut masked = Vec::with_capacity(wanted.len());
    // Units come in the order of their right blocks, so that the rotations of one block are held at a time.
    for units in wanted.chunk_by(|(a, _), (b, _)| a.right == b.right) {
        let rotated = rotate_block(ev, layout, ciphertexts, units)?;
        let found: Vec<E::Ciphertext> = units
            .par_iter()
            .map(|(unit, positions)| {
                let left = block(layout, ciphertexts, unit.left);
                let right = match unit.rotation {
                    0 => block(layout, ciphertexts, unit.right),
                    rotation => &rotated[&rotation],
                };
                let pairs: Vec<_> = left.iter().zip(right).collect();
                let total = sum_products(ev, layout, &pairs)?;
                let mut mask = vec![0.0; layout.slots()];
                for position in positions {
                    mask[position * layout.height()] = factor;
                }
                let mask = ev.encode_for(&mask, &total)?;
                Ok(ev.with_magnitude(ev.mul_plain(&total, &mask)?, magnitude))
            })
            .collect::<Result<_>>()?;
        masked.extend(found);
    }
    let packed =
        masked.par_chunks(layout.height()).map(|units| pack(ev, units, magnitude)).collect::<Result<_>>()?;
    EncryptedTable::new(Layout::Pairs(results), packed)
}

/// The row groups of one block of columns.
fn block<'a, C>(layout: &TableLayout, ciphertexts: &'a [C], block: usize) -> &'a [C] {
    &ciphertexts[block * layout.groups()..(block + 1) * layout.groups()]
}

/// All rotations of the right block of these units, by rotation in columns: each row group is decomposed once.
fn rotate_block<E: TableEvaluator>(
    ev: &E,
    layout: &TableLayout,
    ciphertexts: &[E::Ciphertext],
    units: &[(Unit, BTreeSet<usize>)],
) -> Result<BTreeMap<usize, Vec<E::Ciphertext>>> {
    let rotations: BTreeSet<usize> = units.iter().map(|(unit, _)| unit.rotation).filter(|&r| r != 0).collect();
    let steps: Vec<isize> = rotations.iter().map(|r| (r * layout.height()).cast_signed()).collect();
    let mut rotated: BTreeMap<usize, Vec<E::Ciphertext>> = rotations.iter().map(|&r| (r, Vec::new())).collect();
    for group in block(layout, ciphertexts, units[0].0.right) {
        for (of_rotation, x) in rotated.values_mut().zip(ev.rotate_many(group, &steps)?) {
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
