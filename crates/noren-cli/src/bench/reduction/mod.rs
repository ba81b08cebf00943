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

use noren::advisor::Scheme;

pub(super) use crate::bench::reduction::case::{Case, Reduction, Way};
use crate::bench::reduction::task::Task;
use crate::bench::run::Run;
use crate::failure::Failure;

/// The numbers of values of the comparison.
pub(super) const COUNTS: [usize; 6] = [2, 20, 40, 60, 80, 100];
/// The most values: trees of as many have parameters.
pub(super) const MOST: u32 = 128;
/// The schemes of both suites.
pub(super) const SCHEMES: [Scheme; 2] = [Scheme::Ckks, Scheme::Tfhe];
/// The width of integers in TFHE.
pub(super) const BITS: usize = 16;
/// The longest chain of products that goes without bootstrapping.
const LONGEST_CHAIN: usize = 19;

/// Measures a reduction with each number of threads.
pub(super) fn run(run: &Run<'_>, case: &Case) -> Result<(), Failure> {
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
