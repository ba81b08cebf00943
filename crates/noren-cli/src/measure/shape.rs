//! The parameters of CKKS that are measured: the same for every library.

use noren::Security;
use noren::ckks::{Parameters, ParametersSpec};

use crate::failure::Failure;

/// A parameter set: sizes of primes in bits, and how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The base-two logarithm of the degree.
    pub log_n: u32,
    first: u32,
    scale: u32,
    /// The number of primes that are not special.
    pub limbs: usize,
    special_bits: u32,
    /// The number of special primes.
    pub special: usize,
    security: Security,
}

/// The sets of the suite `client`: about as many primes as the degree allows.
const CLIENT: [Shape; 4] =
    [Shape::new(13, 40, 33, 5, 40, 1), Shape::new(14, 48, 42, 9, 45, 1), Shape::new(15, 48, 44, 18, 48, 1), Shape::N16];

impl Shape {
    /// The set of 2^16 coefficients: digits of eight primes.
    pub const N16: Self = Self::new(16, 48, 45, 24, 48, 8);

    /// A set of 128-bit security: the degree, the bits of the first prime, the bits of the others, the bits and the
    /// number of special primes.
    pub const fn new(log_n: u32, first: u32, scale: u32, limbs: usize, special_bits: u32, special: usize) -> Self {
        Self { log_n, first, scale, limbs, special_bits, special, security: Security::Bits128 }
    }

    /// The set without a promise of security.
    #[must_use]
    pub const fn without_security(self) -> Self {
        Self { security: Security::None, ..self }
    }

    /// The sets of the suite `client` of these degrees, or all.
    pub(crate) fn of_client(degrees: &[u32]) -> Result<Vec<Self>, Failure> {
        choose(&CLIENT, degrees, |shape| shape.log_n, "--log-n")
    }

    /// The set of the suite `chain` for products of this depth: three digits.
    pub(super) fn of_chain(depth: usize) -> Self {
        let limbs = depth + 1;
        Self::new(16, 48, 45, limbs, 48, limbs.div_ceil(3))
    }

    /// The set of the suite `product` for trees of this depth, 1 to 7: 20 bits of the product of as many numbers as the depth allows,
    /// the smallest degree that is secure, and the special primes that were fastest.
    pub(super) fn of_product(depth: usize) -> Self {
        let (log_n, special) = match depth {
            ..=2 => (13, 1),
            3..=5 => (14, 3),
            _ => (14, 2),
        };
        Self::new(log_n, 46, 40, depth + 1, 48, special)
    }

    /// The set of the suite `product` for this many products in a row, up to 19: numbers in all slots of the degree that the
    /// comparison has, 2^13 for one product and 2^16 for more.
    pub(super) fn of_product_chain(depth: usize) -> Self {
        let limbs = depth + 1;
        if depth == 1 {
            Self::new(13, 50, 45, limbs, 48, 1)
        } else {
            Self::new(16, 48, 45, limbs, 48, limbs.div_ceil(3))
        }
    }

    /// The set of the suite `inner-product`: 20 bits of the inner product of vectors of up to 128 numbers from -1 to 1.
    pub(super) fn of_inner_product() -> Self {
        Self::new(13, 50, 40, 2, 48, 1)
    }

    /// The parameters.
    pub fn parameters(&self) -> Result<Parameters, Failure> {
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
pub fn choose<K: Copy + PartialEq + ToString>(
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
    fn every_set_of_a_client_is_what_it_says_and_has_its_digits() {
        for (shape, digits) in CLIENT.iter().zip([5, 9, 18, 3]) {
            let parameters = shape.parameters().expect("primes, and 128-bit security");
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
            Shape::of_client(wanted).map(|all| all.iter().map(|shape| shape.log_n).collect::<Vec<_>>())
        };
        assert_eq!(degrees(&[16, 14]).expect("there are"), [16, 14]);
        assert_eq!(degrees(&[]).expect("there are"), [13, 14, 15, 16]);
        assert!(degrees(&[12]).is_err_and(|error| error.to_string().contains("13, 14, 15, 16")));
    }
}
