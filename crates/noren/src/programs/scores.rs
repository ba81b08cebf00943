//! One number for each row from all its columns: linear and logistic models.

use noren_rlwe::error::Result;

use crate::circuits::trace;
use crate::programs::error::ProgramError;
use crate::programs::evaluator::Table;
use crate::programs::evaluator::TableEvaluator;
use crate::programs::evaluator::side_by_side;
use crate::programs::layout::{Guarantee, TableLayout, exponent_above};
use crate::programs::model::{Affine, LinearModel, LogisticModel};
use crate::programs::table::{EncryptedTable, Layout};

/// `y_k = bias_k + sum_c weights_kc x_c` for each row; one level.
pub(super) fn linear<E: TableEvaluator>(ev: &E, table: &Table<E>, model: &LinearModel) -> Result<Table<E>> {
    let layout = table.columns()?;
    let mut affine = model.resolve(layout, "score")?;
    // The largest score that entries of at most 2^exponent can have; divided by it, scores are at most 1.
    let exponents: Vec<i32> = affine.largest(layout).into_iter().map(exponent_above).collect();
    affine.scale_by(|k| libm::ldexp(1.0, -exponents[k]));
    let scores = weighted_columns(ev, layout, table.ciphertexts(), &affine)?;
    let layout = score_layout(layout, affine.names, true)?.with_exponents(exponents)?;
    EncryptedTable::new(Layout::Table(layout), scores)
}

/// `1 / (1 + e^-y)` of the scores of a linear model; one level and those of the polynomial.
pub(super) fn logistic<E: TableEvaluator>(ev: &E, table: &Table<E>, model: &LogisticModel) -> Result<Table<E>> {
    let layout = table.columns()?;
    let approximation = model.approximation()?;
    let mut affine = model.linear.resolve(layout, "probability")?;
    // The bounds of the table decide whether the scores are known to lie in the interval, or go along to be compared with it.
    let largest = affine.largest(layout);
    let proven = affine.outside(layout, model.interval).is_none();
    let exponents: Vec<i32> = largest.into_iter().map(exponent_above).collect();
    let exponent = exponents.iter().copied().max().unwrap_or(0);
    affine.scale_by(|_| 1.0 / model.interval);
    let scores = weighted_columns(ev, layout, table.ciphertexts(), &affine)?;
    let results = side_by_side(ev, scores, |_, score| {
        // No score exceeds the interval, or decryption finds out.
        let inside = ev.with_range(score.clone(), [-1.0, 1.0]);
        let value = approximation.polynomial().evaluate(ev, &inside)?;
        let value = ev.with_magnitude(value, 1.0 + approximation.error());
        if proven {
            return Ok((value, None));
        }
        let argument = ev.weighted_sum(&[(&score, libm::ldexp(model.interval, -exponent))], 0.0)?;
        let argument = ev.at_level(&ev.with_range(argument, [-1.0, 1.0]), ev.level(&value))?;
        Ok((value, Some(argument)))
    })?;
    let (mut probabilities, arguments): (Vec<_>, Vec<_>) = results.into_iter().unzip();
    probabilities.extend(arguments.into_iter().flatten());
    let outputs = affine.names.len();
    let layout = score_layout(layout, affine.names, false)?.with_guarantee(Guarantee {
        function: "1 / (1 + exp(-score))".to_owned(),
        interval: approximation.interval(),
        error: approximation.error(),
        range: [0.0, 1.0],
        arguments: (!proven).then(|| vec![exponent; outputs]),
        chosen: None,
    });
    EncryptedTable::new(Layout::Table(layout), probabilities)
}

/// Refuses columns whose bounds allow scores outside the interval.
pub(super) fn check_interval(layout: &TableLayout, model: &LogisticModel) -> Result<()> {
    let affine = model.linear.resolve(layout, "score")?;
    let Some((name, reach, bias)) = affine.outside(layout, model.interval) else {
        return Ok(());
    };
    Err(ProgramError::UnprovenInterval {
        program: "logistic",
        what: format!("the score of {name:?}"),
        low: bias - reach,
        high: bias + reach,
        interval: [-model.interval, model.interval],
    }
    .into())
}

impl Affine {
    /// The first output that may leave `[-interval, interval]`: its name, by how much its weighted sum reaches, and its bias.
    fn outside(&self, layout: &TableLayout, interval: f64) -> Option<(&str, f64, f64)> {
        let outputs = self.largest(layout).into_iter().zip(&self.bias).zip(&self.names);
        let mut outputs =
            outputs.map(|((largest, bias), name)| (largest, (name.as_str(), largest - bias.abs(), *bias)));
        outputs.find(|(largest, _)| *largest > interval).map(|(_, output)| output)
    }

    /// For each output the largest absolute value that the table allows.
    fn largest(&self, layout: &TableLayout) -> Vec<f64> {
        let of_row = |weights: &[f64]| -> f64 {
            weights.iter().zip(layout.exponents()).map(|(w, &e)| libm::ldexp(w.abs(), e)).sum()
        };
        self.weights.iter().zip(&self.bias).map(|(weights, bias)| of_row(weights) + bias.abs()).collect()
    }

    /// Multiplies each output by a factor.
    fn scale_by(&mut self, factor: impl Fn(usize) -> f64) {
        for (k, (weights, bias)) in self.weights.iter_mut().zip(&mut self.bias).enumerate() {
            weights.iter_mut().for_each(|w| *w *= factor(k));
            *bias *= factor(k);
        }
    }
}

/// How many outputs are computed side by side: a power of two, of which each ciphertext holds one or more copies.
fn outputs_per_ciphertext(layout: &TableLayout, outputs: usize) -> usize {
    outputs.next_power_of_two().min(layout.columns_per_ciphertext())
}

/// The weighted sums, arranged as a table with a column for each output; one level.
///
/// With `k` outputs side by side, the columns are rotated by `0 ... k - 1` blocks and multiplied so that block `j`
/// collects, for output `j mod k`, every column that lies `d` modulo `k` away; a sum over the blocks `k` apart
/// completes it ("Gazelle", Juvekar, Vaikuntanathan, Chandrakasan, 2018, for `k` outputs; for one output, products and
/// a sum over all blocks). All blocks hold complete sums then, so that no partial sum leaves.
fn weighted_columns<E: TableEvaluator>(
    ev: &E,
    layout: &TableLayout,
    ciphertexts: &[E::Ciphertext],
    affine: &Affine,
) -> Result<Vec<E::Ciphertext>> {
    let per = layout.columns_per_ciphertext();
    let side = outputs_per_ciphertext(layout, affine.weights.len());
    let rotations: Vec<isize> = (0..side).map(|d| (d * layout.height()).cast_signed()).collect();
    // Of every output the sum over any columns, with the bias or without, is at most this.
    let largest: Vec<f64> = affine.largest(layout);
    let by_group: Vec<Vec<E::Ciphertext>> = side_by_side(ev, 0..layout.groups(), |_, group| {
        let rotated = ciphertexts
            .chunks(layout.groups())
            .map(|groups| ev.rotate_many(&groups[group], &rotations))
            .collect::<Result<Vec<_>>>()?;
        (0..affine.weights.len().div_ceil(per))
            .map(|chunk| {
                let largest = largest.iter().skip(chunk * per).take(per).copied().fold(0.0, f64::max);
                let mut pairs = Vec::new();
                for (block, rotated) in rotated.iter().enumerate() {
                    for (d, x) in rotated.iter().enumerate() {
                        let weight = |slot_block: usize| {
                            let column = block * per + (slot_block + d) % per;
                            let weights = affine.weights.get(chunk * per + slot_block % side)?;
                            weights.get(column).map(|w| libm::ldexp(*w, layout.exponents()[column]))
                        };
                        pairs.push((x, ev.encode_for(&layout.constant_blocks(group, weight), x)?));
                    }
                }
                let pairs: Vec<_> = pairs.iter().map(|(x, plain)| (*x, plain)).collect();
                // Bounds from the ranges of columns do not know which weight meets which column.
                let partial = ev.with_magnitude(ev.dot_plain(&pairs)?, largest);
                let sums = trace::sum(ev, &partial, per / side, (side * layout.height()).cast_signed())?;
                let sums = ev.with_magnitude(sums, largest);
                let bias = |slot_block: usize| affine.bias.get(chunk * per + slot_block % side).copied();
                let scores = ev.add_plain(&sums, &ev.encode_addend(&layout.constant_blocks(group, bias), &sums)?)?;
                Ok(ev.with_magnitude(scores, largest))
            })
            .collect()
    })?;
    // From group by group to the order of the layout: chunk by chunk.
    let chunks = by_group[0].len();
    Ok((0..chunks).flat_map(|chunk| by_group.iter().map(move |group| group[chunk].clone())).collect())
}

/// The layout of outputs: the rows of the table, a column for each output.
fn score_layout(layout: &TableLayout, names: Vec<String>, zero_padding: bool) -> Result<TableLayout> {
    TableLayout::with_geometry(layout.rows(), names.len(), layout.slots(), layout.height())?
        .with_row_names(layout.row_names().to_vec())?
        .with_column_names(names)
        .map(|layout| layout.with_zero_padding(zero_padding))
}
