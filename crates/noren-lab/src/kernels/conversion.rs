//! The exact basis conversion that the suite `kernels` measures.

use noren_math::kernels::Kernels;
use noren_math::machine::aligned::AlignedVec;
use noren_math::modulus::{Modulus, ShoupFactor};

/// Coefficients that are converted together, so that their rows stay in a near cache.
const BLOCK: usize = 1 << 10;

/// An exact basis conversion, from the first half of some primes to the second.
pub(super) struct Conversion {
    pub(super) sources: Vec<Modulus>,
    pub(super) targets: Vec<Modulus>,
    scales: Vec<ShoupFactor>,
    inverses: Vec<f64>,
    /// For each target a weight for each source, and one for the quotient.
    weights: Vec<Vec<u64>>,
    scaled: Vec<AlignedVec<u64>>,
    quotients: AlignedVec<u64>,
    pub(super) out: Vec<AlignedVec<u64>>,
}

impl Conversion {
    pub(super) fn new(n: usize, primes: &[Modulus]) -> Self {
        let (sources, targets) = primes.split_at(primes.len() / 2);
        // The product of all sources but one, or of all, modulo a prime.
        let product = |skipped: Option<usize>, modulus: &Modulus| {
            let factors = sources.iter().enumerate().filter(|(i, _)| Some(*i) != skipped);
            factors.fold(1, |product, (_, q)| modulus.mul(product, q.value() % modulus.value()))
        };
        let scale = |(i, q): (usize, &Modulus)| q.shoup(q.inv(product(Some(i), q)));
        let weights = |target: &Modulus| {
            let minus_whole = target.value() - product(None, target);
            (0..sources.len()).map(|i| product(Some(i), target)).chain([minus_whole]).collect()
        };
        let zeros = || (0..sources.len()).map(|_| AlignedVec::zeroed(n)).collect();
        Self {
            scales: sources.iter().enumerate().map(scale).collect(),
            inverses: sources.iter().map(|q| 1.0 / q.value() as f64).collect(),
            weights: targets.iter().map(weights).collect(),
            sources: sources.to_vec(),
            targets: targets.to_vec(),
            scaled: zeros(),
            quotients: AlignedVec::zeroed(n),
            out: zeros(),
        }
    }

    /// Converts the first rows, one of each source, to one row of each target.
    pub(super) fn apply(&mut self, table: &Kernels, rows: &[AlignedVec<u64>]) {
        let Self { sources, targets, scales, inverses, weights, scaled, quotients, out } = self;
        for start in (0..quotients.len()).step_by(BLOCK) {
            let block = start..(start + BLOCK).min(quotients.len());
            for (i, q) in sources.iter().enumerate() {
                table.mul_scalar(&mut scaled[i][block.clone()], &rows[i][block.clone()], scales[i], q);
            }
            let mut terms: Vec<&[u64]> = scaled.iter().map(|row| &row[block.clone()]).collect();
            let quotients = &mut quotients[block.clone()];
            table.quotients(quotients, &terms, inverses);
            terms.push(quotients);
            for (i, q) in targets.iter().enumerate() {
                table.weighted_sum(&mut out[i][block.clone()], &terms, &weights[i], q);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use noren_math::kernels::available;
    use noren_math::prime::primes_below;

    use super::*;

    #[test]
    fn the_conversion_that_is_measured_converts() {
        let n = 2 * BLOCK;
        let primes: Result<Vec<Modulus>, _> = primes_below(1 << 48, 2 * n as u64).take(16).map(Modulus::new).collect();
        let primes = primes.expect("there are primes");
        let mut conversion = Conversion::new(n, &primes);
        // Small numbers of both signs: the same number modulo every prime.
        let number = |j: usize| j as i64 - 1000;
        for table in available() {
            let residue = |j, q: &Modulus| number(j).rem_euclid(q.value().cast_signed()).cast_unsigned();
            let row = |q| AlignedVec::from_slice(&(0..n).map(|j| residue(j, q)).collect::<Vec<_>>());
            let rows: Vec<AlignedVec<u64>> = conversion.sources.iter().map(row).collect();
            conversion.apply(table, &rows);
            for (row, q) in conversion.out.iter().zip(&conversion.targets) {
                assert!(row.iter().enumerate().all(|(j, &x)| x == residue(j, q)), "{}", table.name());
            }
        }
    }
}
