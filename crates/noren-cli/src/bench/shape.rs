//! The parameters that are measured: the same for every library.

use clap::ValueEnum;
use noren::Security;
use noren::ckks::{Parameters, ParametersSpec};

use crate::failure::Failure;

/// A family of parameter sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Family {
    /// Digits of several primes, 128-bit security: the sets for 2^14, 2^15 and 2^16
    Hybrid,
    /// One special prime, a digit for each prime, degree 2^15: what SEAL does; without 128-bit security
    Seal,
}

/// A parameter set: sizes of primes in bits, and how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(super) log_n: u32,
    first: u32,
    scale: u32,
    pub(super) limbs: usize,
    special_bits: u32,
    pub(super) special: usize,
    security: Security,
}

const fn shape(log_n: u32, first: u32, scale: u32, limbs: usize, special_bits: u32, special: usize) -> Shape {
    Shape { log_n, first, scale, limbs, special_bits, special, security: Security::Bits128 }
}

/// The sets of the suite `ckks`.
const HYBRID: [Shape; 3] = [shape(14, 48, 45, 7, 48, 2), shape(15, 48, 45, 11, 48, 4), shape(16, 48, 45, 24, 48, 8)];

/// Its modulus of 928 bits is 60 more than 128-bit security allows: it is measured because others measured it.
const SEAL: [Shape; 1] = [Shape { security: Security::None, ..shape(15, 44, 44, 20, 48, 1) }];

/// The sets of the suite `client`: about as many primes as the degree allows.
const CLIENT: [Shape; 4] =
    [shape(13, 40, 33, 5, 40, 1), shape(14, 48, 42, 9, 45, 1), shape(15, 48, 44, 18, 48, 1), HYBRID[2]];

/// The sets of the suite `trace`: 10, 2 and 1 digits. The special primes are as long together as a digit, at least.
const TRACE: [Shape; 3] = [shape(15, 48, 40, 10, 48, 1), shape(15, 48, 40, 10, 48, 5), shape(15, 48, 40, 10, 45, 10)];

/// The set of the suite `parallel`, at every degree: the levels of Akimoto and Sakuma. Its modulus of 2016 bits is more than 128-bit
/// security allows even for 2^16 coefficients.
const PARALLEL: [Shape; 4] = [insecure(16), insecure(15), insecure(14), insecure(13)];

const fn insecure(log_n: u32) -> Shape {
    Shape { security: Security::None, ..shape(log_n, 48, 45, 33, 48, 11) }
}

impl Shape {
    /// The sets of the suite `ckks` in a family: those of these degrees, or all.
    pub(super) fn of_ckks(family: Family, degrees: &[u32]) -> Result<Vec<Self>, Failure> {
        match family {
            Family::Hybrid => choose(&HYBRID, degrees, |shape| shape.log_n, "--log-n"),
            Family::Seal => choose(&SEAL, degrees, |shape| shape.log_n, "--log-n"),
        }
    }

    /// The sets of the suite `client` of these degrees, or all.
    pub(crate) fn of_client(degrees: &[u32]) -> Result<Vec<Self>, Failure> {
        choose(&CLIENT, degrees, |shape| shape.log_n, "--log-n")
    }

    /// The sets of the suite `parallel` of these degrees, or the largest.
    pub(super) fn of_parallel(degrees: &[u32]) -> Result<Vec<Self>, Failure> {
        let degrees = if degrees.is_empty() { &[16] } else { degrees };
        choose(&PARALLEL, degrees, |shape| shape.log_n, "--log-n")
    }

    /// The sets of the suite `trace` with these numbers of special primes, or all.
    pub(super) fn of_trace(special: &[usize]) -> Result<Vec<Self>, Failure> {
        choose(&TRACE, special, |shape| shape.special, "--special")
    }

    /// The set of the suite `chain` for products of this depth: three digits.
    pub(super) fn of_chain(depth: usize) -> Self {
        let limbs = depth + 1;
        shape(16, 48, 45, limbs, 48, limbs.div_ceil(3))
    }

    /// The set of the suite `product` for trees of this depth, 1 to 7: 20 bits of the product of as many numbers as the depth allows,
    /// the smallest degree that is secure, and the special primes that were fastest.
    pub(super) fn of_product(depth: usize) -> Self {
        let (log_n, special) = match depth {
            ..=2 => (13, 1),
            3..=5 => (14, 3),
            _ => (14, 2),
        };
        shape(log_n, 46, 40, depth + 1, 48, special)
    }

    /// The set of the suite `product` for this many products in a row, up to 19: numbers in all slots of the degree that the
    /// comparison has, 2^13 for one product and 2^16 for more.
    pub(super) fn of_product_chain(depth: usize) -> Self {
        let limbs = depth + 1;
        if depth == 1 { shape(13, 50, 45, limbs, 48, 1) } else { shape(16, 48, 45, limbs, 48, limbs.div_ceil(3)) }
    }

    /// The set of the suite `inner-product`: 20 bits of the inner product of vectors of up to 128 numbers from -1 to 1.
    pub(super) fn of_inner_product() -> Self {
        shape(13, 50, 40, 2, 48, 1)
    }

    /// The parameters.
    pub(crate) fn parameters(&self) -> Result<Parameters, Failure> {
        let further = std::iter::repeat_n(self.scale, self.limbs - 1);
        let spec = ParametersSpec {
            log_n: self.log_n,
            log_q: std::iter::once(self.first).chain(further).collect(),
            log_p: vec![self.special_bits; self.special],
            log_scale: self.scale,
            dnum: self.limbs.div_ceil(self.special),
            security: self.security,
            ..ParametersSpec::default()
        };
        Ok(spec.build()?)
    }
}

/// The sets of these keys in their order, or all; a key without a set is refused.
fn choose<K: Copy + PartialEq + ToString>(
    shapes: &[Shape],
    wanted: &[K],
    key: impl Fn(&Shape) -> K,
    what: &'static str,
) -> Result<Vec<Shape>, Failure> {
    if wanted.is_empty() {
        return Ok(shapes.to_vec());
    }
    let find = |&wanted: &K| {
        shapes.iter().copied().find(|shape| key(shape) == wanted).ok_or_else(|| {
            let all: Vec<String> = shapes.iter().map(|shape| key(shape).to_string()).collect();
            Failure::Unsuitable { what, found: wanted.to_string(), needed: format!("one of {}", all.join(", ")) }
        })
    };
    wanted.iter().map(find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_is_what_it_says_and_has_its_digits() {
        let all = HYBRID.iter().chain(&SEAL).chain(&CLIENT).chain(&TRACE).chain(&PARALLEL);
        for (shape, digits) in all.zip([4, 3, 3, 20, 5, 9, 18, 3, 10, 2, 1, 3, 3, 3, 3]) {
            let parameters = shape.parameters().expect("primes, and the security that it names");
            assert_eq!((parameters.rlwe().max_limbs(), parameters.rlwe().dnum()), (shape.limbs, digits));
            assert!(parameters.rlwe().q().iter().chain(parameters.rlwe().p()).all(|&q| q < 1 << 48));
        }
    }

    #[test]
    fn reductions_are_secure_in_the_degrees_of_their_sets() {
        let degrees: Vec<u32> = (1..=7).map(|depth| Shape::of_product(depth).log_n).collect();
        assert_eq!(degrees, [13, 13, 14, 14, 14, 14, 14]);
        let all = (1..=7).map(Shape::of_product).chain((1..=19).map(Shape::of_product_chain));
        for shape in all.chain([Shape::of_inner_product()]) {
            let parameters = shape.parameters().expect("128-bit security");
            assert_eq!(parameters.rlwe().security(), Security::Bits128);
        }
    }

    #[test]
    fn shapes_are_chosen_in_the_order_that_is_asked_for() {
        let degrees = |wanted: &[u32]| {
            Shape::of_ckks(Family::Hybrid, wanted).map(|all| all.iter().map(|shape| shape.log_n).collect::<Vec<_>>())
        };
        assert_eq!(degrees(&[16, 14]).expect("there are"), [16, 14]);
        assert_eq!(degrees(&[]).expect("there are"), [14, 15, 16]);
        assert!(degrees(&[13]).is_err());
        assert!(Shape::of_trace(&[2]).is_err_and(|error| error.to_string().contains("1, 5, 10")));
    }
}
