//! The suite `fused`: `a b + c` over rows of many moduli in one pass and in two, from the first cache to beyond the last.
//!
//! The figure of Inoue, Suzuki and Yamana: N of 2^10 to 2^15 and up to 15 moduli, so up to 491,520 words in each of three vectors.
//! A modulus is one prime of 50 bits; or two of 30 bits with a row each, which together are as long as the published ones of 60.

use std::convert::Infallible;
use std::hint::black_box;

use clap::Args;
use noren_cli::measure::{Failure, Record, Run, time};
use noren_math::kernels::{Kernels, kernels};
use noren_math::machine::aligned::AlignedVec;
use noren_math::modulus::Modulus;

use crate::kernels::{degrees, largest_primes, row};

/// The most moduli.
const MOST: u32 = 15;
/// The numbers of moduli that are measured if none are named.
const LIMBS: [u32; 9] = [1, 2, 3, 4, 6, 8, 10, 12, MOST];
/// The degrees that are measured if none are named, and that can be.
const DEGREES: std::ops::RangeInclusive<u32> = 10..=15;
/// The bits of a modulus, of the primes that make it, and how many of them.
const MODULI: [(u32, u32, usize); 2] = [(50, 50, 1), (60, 30, 2)];

/// The options of the suite.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Base-two logarithms of the degrees of rings [default: 10 to 15]
    #[arg(long, value_name = "BITS,...", value_delimiter = ',')]
    log_n: Vec<u32>,
    /// Numbers of rows, each with a modulus of its own [default: 1 to 15]
    #[arg(long, value_name = "COUNT,...", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST)))]
    limbs: Vec<u32>,
}

impl Options {
    /// Measures the suite.
    pub(crate) fn run(&self, run: &Run<'_>) -> Result<(), Failure> {
        measure(run, &degrees(&self.log_n, DEGREES, DEGREES)?, &self.limbs)
    }
}

/// The operands of a walk: three vectors of rows, and the modulus of each row.
struct Walk {
    moduli: Vec<Modulus>,
    a: Vec<AlignedVec<u64>>,
    b: Vec<AlignedVec<u64>>,
    c: Vec<AlignedVec<u64>>,
}

/// A way to compute `a b + c`, and the vector that has the result.
type Way = fn(&mut Walk, &Kernels);
type Found = fn(&Walk) -> &[AlignedVec<u64>];

/// Both ways, with the vector that has the result.
const WAYS: [(&str, Way, Found); 2] =
    [("mul_then_add_rows", Walk::in_two_passes, |walk| &walk.a), ("mul_add_rows", Walk::in_one_pass, |walk| &walk.c)];

impl Walk {
    fn new(n: usize, bits: u32, rows: usize) -> Result<Self, Failure> {
        let moduli = largest_primes(bits, n, rows)?;
        let vector = |less: u64| moduli.iter().map(|q| row(n, q.value() - less)).collect();
        Ok(Self { a: vector(0), b: vector(1), c: vector(2), moduli })
    }

    /// `a <- a b`, then `a <- a + c`.
    fn in_two_passes(&mut self, table: &Kernels) {
        let Self { moduli, a, b, c } = self;
        a.iter_mut().zip(&*b).zip(&*moduli).for_each(|((a, b), q)| table.mul_assign(a, b, q));
        a.iter_mut().zip(&*c).zip(&*moduli).for_each(|((a, c), q)| table.add_assign(a, c, q));
    }

    /// `c <- c + a b`.
    fn in_one_pass(&mut self, table: &Kernels) {
        let Self { moduli, a, b, c } = self;
        c.iter_mut().zip(a.iter().zip(&*b)).zip(&*moduli).for_each(|((c, (a, b)), q)| table.mul_add_assign(c, a, b, q));
    }

    /// `a b + c`, word by word.
    fn expected(&self) -> Vec<Vec<u64>> {
        let words = |i: usize| self.a[i].iter().zip(&*self.b[i]).zip(&*self.c[i]);
        let rows = self.moduli.iter().enumerate();
        rows.map(|(i, q)| words(i).map(|((&a, &b), &c)| q.add(q.mul(a, b), c)).collect()).collect()
    }
}

/// Measures both ways at these degrees and numbers of moduli, by the kernels in use.
fn measure(run: &Run<'_>, degrees: &[u32], limbs: &[u32]) -> Result<(), Failure> {
    let (table, limbs) = (kernels(), if limbs.is_empty() { &LIMBS } else { limbs });
    for (bits, prime_bits, primes) in MODULI {
        for &log_n in degrees {
            for &count in limbs {
                let (n, count) = (1 << log_n, count as usize);
                for (op, way, result) in WAYS {
                    let mut walk = Walk::new(n, prime_bits, count * primes)?;
                    let expected = walk.expected();
                    way(&mut walk, table);
                    let is_right = result(&walk).iter().zip(&expected).all(|(found, row)| found[..] == row[..]);
                    let timing = is_right.then(|| {
                        let Ok(timing) = time(run.seconds, 1.0, || {
                            way(black_box(&mut walk), table);
                            Ok::<_, Infallible>(())
                        });
                        timing
                    });
                    let log_q = walk.moduli.iter().map(|q| (q.value() as f64).log2()).sum();
                    let record = Record::of_kernel(op, n, log_q, table.name(), timing);
                    let words = n * count;
                    let record = Record { suite: "fused".into(), limbs: count * primes, ..record }
                        .with("prime_bits", prime_bits)
                        .with("modulus_bits", bits)
                        .with("words", words)
                        // Three vectors and the moduli, as the figure counts them.
                        .with("input_bytes", size_of::<u64>() * (3 * words + count) * primes);
                    run.report(&record)?;
                }
            }
        }
    }
    Ok(())
}
