//! The parameters of CKKS that suites measure: the same for every library.

use clap::ValueEnum;
use noren_cli::measure::{Failure, Shape, choose};

/// A family of parameter sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Family {
    /// Digits of several primes, 128-bit security: the sets for 2^14, 2^15 and 2^16
    Hybrid,
    /// One special prime, a digit for each prime, degree 2^15: what SEAL does; without 128-bit security
    Seal,
}

/// The sets of the suite `ckks`.
const HYBRID: [Shape; 3] = [Shape::new(14, 48, 45, 7, 48, 2), Shape::new(15, 48, 45, 11, 48, 4), Shape::N16];

/// Its modulus of 928 bits is 60 more than 128-bit security allows: it is measured because others measured it.
const SEAL: [Shape; 1] = [Shape::new(15, 44, 44, 20, 48, 1).without_security()];

/// The sets of the suite `trace`: 10, 2 and 1 digits. The special primes are as long together as a digit, at least.
const TRACE: [Shape; 3] =
    [Shape::new(15, 48, 40, 10, 48, 1), Shape::new(15, 48, 40, 10, 48, 5), Shape::new(15, 48, 40, 10, 45, 10)];

/// The set of the suite `parallel`, at every degree: the levels of Akimoto and Sakuma. Its modulus of 2016 bits is more than 128-bit
/// security allows even for 2^16 coefficients.
const PARALLEL: [Shape; 4] = [insecure(16), insecure(15), insecure(14), insecure(13)];

const fn insecure(log_n: u32) -> Shape {
    Shape::new(log_n, 48, 45, 33, 48, 11).without_security()
}

/// The sets of the suite `ckks` in a family: those of these degrees, or all.
pub(crate) fn of_ckks(family: Family, degrees: &[u32]) -> Result<Vec<Shape>, Failure> {
    match family {
        Family::Hybrid => choose(&HYBRID, degrees, |shape| shape.log_n, "--log-n"),
        Family::Seal => choose(&SEAL, degrees, |shape| shape.log_n, "--log-n"),
    }
}

/// The sets of the suite `parallel` of these degrees, or the largest.
pub(crate) fn of_parallel(degrees: &[u32]) -> Result<Vec<Shape>, Failure> {
    let degrees = if degrees.is_empty() { &[16] } else { degrees };
    choose(&PARALLEL, degrees, |shape| shape.log_n, "--log-n")
}

/// The sets of the suite `trace` with these numbers of special primes, or all.
pub(crate) fn of_trace(special: &[usize]) -> Result<Vec<Shape>, Failure> {
    choose(&TRACE, special, |shape| shape.special, "--special")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_is_what_it_says_and_has_its_digits() {
        let all = HYBRID.iter().chain(&SEAL).chain(&TRACE).chain(&PARALLEL);
        for (shape, digits) in all.zip([4, 3, 3, 20, 10, 2, 1, 3, 3, 3, 3]) {
            let parameters = shape.parameters().expect("primes, and the security that it names");
            assert_eq!((parameters.rlwe().max_limbs(), parameters.rlwe().dnum()), (shape.limbs, digits));
            assert!(parameters.rlwe().q().iter().chain(parameters.rlwe().p()).all(|&q| q < 1 << 48));
        }
    }

    #[test]
    fn sets_that_there_are_not_are_refused() {
        assert!(of_ckks(Family::Hybrid, &[13]).is_err());
        assert!(of_trace(&[2]).is_err_and(|error| error.to_string().contains("1, 5, 10")));
    }
}
