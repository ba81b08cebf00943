//! Kernels on rows that lie in a cache if they fit one.

use std::convert::Infallible;
use std::hint::black_box;

use noren_cli::measure::{Failure, Record, Run, time};
use noren_math::cyclotomic::Cyclotomic;
use noren_math::kernels::{Kernels, by_name};
use noren_math::machine::aligned::AlignedVec;
use noren_math::modulus::Modulus;
use noren_math::prime::primes_below;
use noren_math::roots::fft::FftTable;
use noren_math::roots::ntt::NttTable;

use crate::kernels::clock;
use crate::kernels::conversion::Conversion;

/// The products of an inner product, and the primes on each side of a basis conversion.
const TERMS: usize = 8;
/// The size of the primes of parameter sets.
pub(super) const PRIME_BITS: u32 = 48;
/// Transforms are measured for the largest size that there is too.
pub(super) const LARGE_PRIME_BITS: u32 = 50;
/// Transforms and conversions are measured from this degree on: smaller rings are not used.
const LEAST_LOG_N: u32 = 10;

/// Rows of one length and the constants of their primes.
pub(super) struct Rows {
    log_n: u32,
    cycles_per_ns: f64,
    /// For the size of each prime in bits, its transform.
    transforms: Vec<(u32, NttTable)>,
    fft: FftTable,
    /// Results are here, in the conversion, or in `re` and `im`.
    out: AlignedVec<u64>,
    second: AlignedVec<u64>,
    many: Vec<AlignedVec<u64>>,
    /// The slots of the transform that CKKS encodes through: half the degree.
    re: Vec<f64>,
    im: Vec<f64>,
    conversion: Conversion,
}

/// A measurement.
struct Op {
    name: &'static str,
    /// The transform that is used, and with it the prime.
    transform: usize,
    /// The rows of results.
    per: usize,
    /// The rows that are read and written for one row of results.
    traffic: f64,
    /// Whether it has `n/2 log2 n` butterflies.
    is_ntt: bool,
    run: fn(&mut Rows, usize, &Kernels),
}

impl Rows {
    pub(super) fn new(log_n: u32) -> Result<Self, Failure> {
        let n = 1 << log_n;
        let ring = Cyclotomic::power_of_two(n).map_err(noren::Error::from)?;
        let primes = largest_primes(PRIME_BITS, n, 2 * TERMS)?;
        let large = largest_primes(LARGE_PRIME_BITS, n, 1)?[0];
        let table = |q| NttTable::new(q, &ring).map_err(noren::Error::from);
        let mut rows = Self {
            log_n,
            cycles_per_ns: clock::cycles_per_ns(),
            transforms: vec![(PRIME_BITS, table(primes[0])?), (LARGE_PRIME_BITS, table(large)?)],
            fft: FftTable::new(n / 2),
            out: AlignedVec::zeroed(n),
            second: AlignedVec::zeroed(n),
            many: primes.iter().map(|p| row(n, p.value())).collect(),
            re: vec![0.0; n / 2],
            im: vec![0.0; n / 2],
            conversion: Conversion::new(n, &primes),
        };
        rows.reset();
        Ok(rows)
    }

    /// Checks and measures every kernel of a table.
    pub(super) fn measure(&mut self, run: &Run<'_>, table: &'static Kernels) -> Result<(), Failure> {
        let n = 1usize << self.log_n;
        for op in ops(self.log_n) {
            let (prime_bits, transform) = &self.transforms[op.transform];
            let (prime_bits, log_q) = (*prime_bits, (transform.modulus().value() as f64).log2());
            let timing = self.is_right(&op, table)?.then(|| {
                let Ok(timing) = time(run.seconds, op.per as f64, || {
                    (op.run)(black_box(self), op.transform, table);
                    Ok::<_, Infallible>(())
                });
                timing
            });
            let mut record = Record::of_kernel(op.name, n, log_q, table.name(), timing).with("prime_bits", prime_bits);
            if let Some(timing) = timing {
                let bytes = op.traffic * (n * size_of::<u64>()) as f64;
                record = record.with("gb_per_s", bytes / timing.median_ns);
                if op.is_ntt {
                    let butterflies = f64::from(self.log_n) * n as f64 / 2.0;
                    let cycles = timing.median_ns * self.cycles_per_ns;
                    record = record.with("butterflies_per_cycle", butterflies / cycles);
                }
            }
            run.report(&record)?;
        }
        Ok(())
    }

    /// Whether a table gives what the portable one gives, bit for bit.
    fn is_right(&mut self, op: &Op, table: &Kernels) -> Result<bool, Failure> {
        let portable = by_name("portable").map_err(noren::Error::from)?;
        let [expected, found] = [portable, table].map(|table| {
            self.reset();
            (op.run)(self, op.transform, table);
            self.results()
        });
        Ok(expected == found)
    }

    fn reset(&mut self) {
        let n = self.out.len();
        // Below every prime that is used.
        for (start, row) in [&mut self.out, &mut self.second].into_iter().enumerate() {
            row.iter_mut().enumerate().for_each(|(i, x)| *x = word(i + start * n, 1 << (PRIME_BITS - 1)));
        }
        for (j, (re, im)) in self.re.iter_mut().zip(&mut self.im).enumerate() {
            (*re, *im) = ((j as f64).cos(), (j as f64).sin());
        }
    }

    fn results(&self) -> Vec<u64> {
        let converted = self.conversion.out.iter().flat_map(|row| row.iter().copied());
        let floats = self.re.iter().chain(&self.im).map(|x| x.to_bits());
        self.out.iter().chain(&*self.second).copied().chain(floats).chain(converted).collect()
    }

    /// A row of results, two of operands, and their modulus.
    fn operands(&mut self) -> (&mut [u64], &[u64], &[u64], &Modulus) {
        let Self { out, many, transforms, .. } = self;
        (out, &many[0], &many[1], transforms[0].1.modulus())
    }
}

/// Kernels on rows of words, and from [`LEAST_LOG_N`] on also transforms and conversions.
fn ops(log_n: u32) -> Vec<Op> {
    let op = |name, per, traffic, run| Op { name, transform: 0, per, traffic, is_ntt: false, run };
    let elementwise = [
        op("add", 1, 3.0, |rows, _, table| {
            let (out, a, b, q) = rows.operands();
            table.add(out, a, b, q);
        }),
        op("mul", 1, 3.0, |rows, _, table| {
            let (out, a, b, q) = rows.operands();
            table.mul(out, a, b, q);
        }),
        op("mul_add", 1, 4.0, |rows, _, table| {
            let (out, a, b, q) = rows.operands();
            table.mul_add_assign(out, a, b, q);
        }),
        op("mul_then_add", 1, 6.0, |rows, _, table| {
            let Rows { out, second, many, transforms, .. } = rows;
            let q = transforms[0].1.modulus();
            table.mul(black_box(second), &many[0], &many[1], q);
            table.add_assign(out, second, q);
        }),
    ];
    if log_n < LEAST_LOG_N {
        return elementwise.into();
    }
    let transforms = [0, 1].into_iter().flat_map(|transform| {
        let ntt = |name, run| Op { transform, is_ntt: true, ..op(name, 1, 2.0, run) };
        [
            ntt("ntt_forward", |rows, i, table| table.ntt_forward(&mut rows.out, &rows.transforms[i].1)),
            ntt("ntt_inverse", |rows, i, table| table.ntt_inverse(&mut rows.out, &rows.transforms[i].1)),
        ]
    });
    let others = [
        op("inner_product", 1, 2.0 * TERMS as f64 + 1.0, |rows, _, table| {
            let Rows { out, many, transforms, .. } = rows;
            let pairs: [(&[u64], &[u64]); TERMS] = std::array::from_fn(|j| (&*many[j], &*many[j + TERMS]));
            table.inner_product(out, &pairs, transforms[0].1.modulus());
        }),
        // Sources are read and written once when they are scaled, and read for each target from a near cache.
        op("basis_convert", TERMS, 3.0, |rows, _, table| rows.conversion.apply(table, &rows.many)),
        // There and back, so that the numbers stay of one size: the mean of both directions.
        op("fft", 2, 2.0, |rows, _, table| {
            table.fft_forward(&mut rows.re, &mut rows.im, &rows.fft);
            table.fft_inverse(&mut rows.re, &mut rows.im, &rows.fft);
        }),
    ];
    transforms.chain(elementwise).chain(others).collect()
}

/// The largest primes of `bits` bits for a ring of this degree.
pub(crate) fn largest_primes(bits: u32, n: usize, count: usize) -> Result<Vec<Modulus>, Failure> {
    let primes: Result<Vec<Modulus>, _> = primes_below(1 << bits, 2 * n as u64).take(count).map(Modulus::new).collect();
    Ok(primes.map_err(noren::Error::from)?)
}

/// A row of words below `bound`, each different.
pub(crate) fn row(n: usize, bound: u64) -> AlignedVec<u64> {
    let mut row = AlignedVec::zeroed(n);
    row.iter_mut().enumerate().for_each(|(i, x)| *x = word(i, bound));
    row
}

/// Word i of many that look random.
fn word(i: usize, bound: u64) -> u64 {
    (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) % bound
}

#[cfg(test)]
mod tests {
    use noren_math::kernels::available;

    use super::*;

    #[test]
    fn every_kernel_that_is_measured_is_right() {
        for log_n in [6, LEAST_LOG_N] {
            let mut rows = Rows::new(log_n).expect("there are primes");
            for table in available() {
                for op in ops(log_n) {
                    assert!(rows.is_right(&op, table).expect("a table"), "{} {}", table.name(), op.name);
                }
            }
        }
    }
}
