//! The suite `kernels`: the arithmetic on one row, for each instruction set.

use std::convert::Infallible;
use std::hint::black_box;

use noren_math::cyclotomic::Cyclotomic;
use noren_math::fft::FftTable;
use noren_math::kernels::aligned::AlignedVec;
use noren_math::kernels::{Kernels, available};
use noren_math::modulus::{Modulus, ShoupFactor};
use noren_math::ntt::table::NttTable;
use noren_math::prime::primes_below;

use crate::bench::measure;
use crate::bench::record::Record;
use crate::bench::suite::Run;
use crate::failure::Failure;

/// The degrees that are measured.
pub(super) const DEGREES: [u32; 5] = [12, 13, 14, 15, 16];

/// The degrees that can be measured.
const ALLOWED: std::ops::RangeInclusive<u32> = 3..=17;
/// The products of an inner product, and the primes on each side of a basis conversion.
const TERMS: usize = 8;
/// Coefficients that are converted together, so that their rows stay in a near cache.
const BLOCK: usize = 1 << 10;
/// The size of the primes.
const PRIME_BITS: u32 = 50;

/// Refuses degrees that there are not.
pub(super) fn check(degrees: &[u32]) -> Result<(), Failure> {
    match degrees.iter().find(|log_n| !ALLOWED.contains(log_n)) {
        Some(log_n) => Err(Failure::Unsuitable {
            what: "--log-n",
            found: log_n.to_string(),
            needed: format!("{} to {}", ALLOWED.start(), ALLOWED.end()),
        }),
        None => Ok(()),
    }
}

/// Measures all kernels of all instruction sets of this machine.
pub(super) fn run(run: &Run<'_>, degrees: &[u32]) -> Result<(), Failure> {
    for &log_n in degrees {
        let mut rows = Rows::new(1 << log_n)?;
        for table in available() {
            rows.measure(run, table)?;
        }
    }
    Ok(())
}

/// Rows of one length and the constants of their primes.
struct Rows {
    n: usize,
    q: Modulus,
    ntt: NttTable,
    fft: FftTable,
    out: AlignedVec<u64>,
    many: Vec<AlignedVec<u64>>,
    /// The slots of the transform that CKKS encodes through: half the degree.
    re: Vec<f64>,
    im: Vec<f64>,
    conversion: Conversion,
}

/// An exact basis conversion, from so many primes to as many others.
struct Conversion {
    sources: Vec<Modulus>,
    targets: Vec<Modulus>,
    scales: Vec<ShoupFactor>,
    inverses: Vec<f64>,
    /// For each target a weight for each source, and one for the quotient.
    weights: Vec<Vec<u64>>,
    scaled: Vec<AlignedVec<u64>>,
    quotients: AlignedVec<u64>,
    out: Vec<AlignedVec<u64>>,
}

impl Rows {
    fn new(n: usize) -> Result<Self, Failure> {
        let ring = Cyclotomic::power_of_two(n).map_err(noren::Error::from)?;
        let primes: Result<Vec<Modulus>, _> =
            primes_below(1 << PRIME_BITS, 2 * n as u64).take(2 * TERMS).map(Modulus::new).collect();
        let primes = primes.map_err(noren::Error::from)?;
        let q = primes[0];
        Ok(Self {
            n,
            q,
            ntt: NttTable::new(q, &ring).map_err(noren::Error::from)?,
            fft: FftTable::new(n / 2),
            out: row(n, q.value()),
            many: primes.iter().map(|p| row(n, p.value())).collect(),
            re: vec![0.25; n / 2],
            im: vec![-0.5; n / 2],
            conversion: Conversion::new(n, &primes),
        })
    }

    fn measure(&mut self, run: &Run<'_>, table: &'static Kernels) -> Result<(), Failure> {
        let Self { n, q, ntt, fft, out, many, re, im, conversion } = self;
        let q = &*q;
        let row_bytes = (*n * size_of::<u64>()) as f64;
        let log_q = (q.value() as f64).log2();
        // `rows` counts the rows that are read and written for one row of results.
        let time = |op, per: usize, rows: f64, call: &mut dyn FnMut()| {
            let Ok(timing) = measure::time(run.seconds, per as f64, || {
                call();
                Ok::<_, Infallible>(())
            });
            let mut record = Record::of_kernel(op, *n, log_q, table.name(), timing);
            record.more.insert("gb_per_s".to_owned(), (rows * row_bytes / timing.median_ns).into());
            run.report(&record)
        };
        let (a, b) = (&many[0], &many[1]);
        time("ntt_forward", 1, 2.0, &mut || table.ntt_forward(black_box(out), ntt))?;
        time("ntt_inverse", 1, 2.0, &mut || table.ntt_inverse(black_box(out), ntt))?;
        time("add", 1, 3.0, &mut || table.add(black_box(out), a, b, q))?;
        time("mul", 1, 3.0, &mut || table.mul(black_box(out), a, b, q))?;
        time("mul_add", 1, 4.0, &mut || table.mul_add_assign(black_box(out), a, b, q))?;
        time("mul_then_add", 1, 6.0, &mut || {
            let product = &mut *conversion.quotients;
            table.mul(black_box(product), a, b, q);
            table.add_assign(black_box(out), product, q);
        })?;
        let pairs: Vec<(&[u64], &[u64])> = (0..TERMS).map(|i| (&*many[i], &*many[i + TERMS])).collect();
        time("inner_product", 1, 2.0 * TERMS as f64 + 1.0, &mut || table.inner_product(black_box(out), &pairs, q))?;
        // Sources are read and written once when they are scaled, and read for each target from a near cache.
        time("basis_convert", TERMS, 3.0, &mut || conversion.apply(table, black_box(many)))?;
        // There and back, so that the numbers stay of one size: the mean of both directions.
        time("fft", 2, 2.0, &mut || {
            table.fft_forward(black_box(re), black_box(im), fft);
            table.fft_inverse(black_box(re), black_box(im), fft);
        })
    }
}

impl Conversion {
    fn new(n: usize, primes: &[Modulus]) -> Self {
        let (sources, targets) = primes.split_at(TERMS);
        // The product of all sources but one, or of all, modulo a prime.
        let product = |skipped: Option<usize>, modulus: &Modulus| {
            let factors = sources.iter().enumerate().filter(|(i, _)| Some(*i) != skipped);
            factors.fold(1, |product, (_, q)| modulus.mul(product, q.value() % modulus.value()))
        };
        let scale = |(i, q): (usize, &Modulus)| q.shoup(q.inv(product(Some(i), q)));
        let weights = |target: &Modulus| {
            let minus_whole = target.value() - product(None, target);
            (0..TERMS).map(|i| product(Some(i), target)).chain([minus_whole]).collect()
        };
        let zeros = || (0..TERMS).map(|_| AlignedVec::zeroed(n)).collect();
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
    fn apply(&mut self, table: &Kernels, rows: &[AlignedVec<u64>]) {
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

/// A row of words below `bound`, each different.
fn row(n: usize, bound: u64) -> AlignedVec<u64> {
    let mut row = AlignedVec::zeroed(n);
    row.iter_mut().enumerate().for_each(|(i, x)| *x = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) % bound);
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_conversion_that_is_measured_converts() {
        let n = 2 * BLOCK;
        let mut rows = Rows::new(n).expect("there are primes");
        // Small numbers of both signs: the same number modulo every prime.
        let number = |j: usize| j as i64 - 1000;
        for table in available() {
            let Rows { many, conversion, .. } = &mut rows;
            for (row, q) in many.iter_mut().zip(&conversion.sources) {
                let residue = |j| number(j).rem_euclid(q.value().cast_signed()).cast_unsigned();
                row.iter_mut().enumerate().for_each(|(j, x)| *x = residue(j));
            }
            conversion.apply(table, many);
            for (row, q) in conversion.out.iter().zip(&conversion.targets) {
                let right = |(j, x): (usize, &u64)| number(j).rem_euclid(q.value().cast_signed()).cast_unsigned() == *x;
                assert!(row.iter().enumerate().all(right), "{}", table.name());
            }
        }
    }

    #[test]
    fn degrees_out_of_range_are_refused() {
        assert!(check(&[3, 17]).is_ok());
        assert!(check(&[14, 18]).is_err());
    }
}
