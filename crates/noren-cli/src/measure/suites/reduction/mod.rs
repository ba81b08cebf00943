//! The suites `product` and `inner-product`: n encrypted numbers become one, in CKKS and in TFHE.
//!
//! The numbers of values are those of Tsuji and Oguchi's comparison of libraries. Each reduction is computed in the way of the
//! comparison, and in that of noren:
//!
//! | reduction | scheme | `paper` | `tree` |
//! |---|---|---|---|
//! | product | CKKS | n - 1 rotations and products in a row, bootstrapped where levels end | a rotate-and-multiply tree |
//! | product | TFHE | n - 1 products in a row | the products of each layer of a tree together |
//! | inner product | CKKS | one product, a rotation and an addition for each doubling | one product, several doublings at a time |
//! | inner product | TFHE | n products and additions in a row | all products together, and one sum |

mod bootstrapped;
mod case;
mod leveled;
mod radix;
mod task;
mod values;

use clap::{Args, ValueEnum};
use noren::advisor::Scheme;

use crate::failure::Failure;
use crate::measure::run::{After, Run};
pub(in crate::measure) use crate::measure::suites::reduction::case::Reduction;
use crate::measure::suites::reduction::case::{Case, Way};
use crate::measure::suites::reduction::task::Task;
use crate::measure::suites::schemes;

/// The numbers of values of the comparison.
const COUNTS: [u32; 6] = [2, 20, 40, 60, 80, 100];
/// The most values: trees of as many have parameters.
const MOST: u32 = 128;
/// The schemes of both suites.
const SCHEMES: [Scheme; 2] = [Scheme::Ckks, Scheme::Tfhe];
/// The longest chain of products that goes without bootstrapping.
const LONGEST_CHAIN: usize = 19;

/// The options of both suites.
#[derive(Debug, Args)]
pub struct Options {
    /// Only these schemes [default: all]
    #[arg(long, value_name = "SCHEME,...", value_delimiter = ',', value_parser = schemes::parser(&SCHEMES))]
    scheme: Vec<Scheme>,
    /// How many numbers become one [default: 2,20,40,60,80,100]
    #[arg(long, value_name = "COUNT,...", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(2..=i64::from(MOST)))]
    count: Vec<u32>,
    /// In which order [default: both]
    #[arg(long, value_enum, value_name = "WAY,...", value_delimiter = ',')]
    way: Vec<Way>,
    /// The width of integers of TFHE in bits
    #[arg(long, value_name = "BITS", default_value_t = 16, value_parser = parse_width)]
    bits: usize,
}

impl Options {
    /// Measures one suite of both, and says after each step which it was.
    pub(in crate::measure) fn run(
        &self,
        reduction: Reduction,
        run: &Run<'_>,
        after: &mut After<'_>,
    ) -> Result<(), Failure> {
        let schemes = if self.scheme.is_empty() { &SCHEMES } else { &self.scheme[..] };
        let ways = if self.way.is_empty() { Way::value_variants() } else { &self.way[..] };
        let counts = if self.count.is_empty() { &COUNTS } else { &self.count[..] };
        for &scheme in schemes {
            for &count in counts {
                for &way in ways {
                    measure(run, &Case { reduction, scheme, way, count: count as usize, bits: self.bits })?;
                    let (count, bits) = (count.to_string(), self.bits.to_string());
                    let step = [("--suite", reduction.suite()), ("--scheme", scheme.name()), ("--way", way.name())];
                    after(&[&step[..], &[("--count", &count), ("--bits", &bits)]].concat())?;
                }
            }
        }
        Ok(())
    }
}

fn parse_width(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(bits) if (2..=64).contains(&bits) && bits % 2 == 0 => Ok(bits),
        _ => Err("an even number of bits from 2 to 64 is needed".to_owned()),
    }
}

/// Measures a reduction with each number of threads.
fn measure(run: &Run<'_>, case: &Case) -> Result<(), Failure> {
    for &threads in run.threads {
        let task = Task { run, case, threads };
        match (case.scheme, case.reduction, case.way) {
            (Scheme::Tfhe, ..) => radix::run(&task)?,
            (_, Reduction::Product, Way::Paper) if case.count - 1 > LONGEST_CHAIN => bootstrapped::run(&task)?,
            _ => leveled::run(&task)?,
        }
    }
    Ok(())
}
