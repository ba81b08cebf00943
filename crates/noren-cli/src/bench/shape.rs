//! The parameters that are measured: the same for every library.

use noren::ckks::{Parameters, ParametersSpec};

use crate::failure::Failure;

/// A parameter set: `q_0` of 50 bits, further primes of 45, special primes of 50.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) log_n: u32,
    pub(super) limbs: usize,
    pub(super) special: usize,
}

const FIRST_BITS: u32 = 50;
const SCALE_BITS: u32 = 45;
const SPECIAL_BITS: u32 = 50;

/// The parameter sets that are measured.
const SHAPES: [Shape; 3] = [
    Shape { log_n: 14, limbs: 7, special: 2 },
    Shape { log_n: 15, limbs: 11, special: 4 },
    Shape { log_n: 16, limbs: 24, special: 8 },
];

impl Shape {
    /// The shape of this degree.
    pub(super) fn of(log_n: u32) -> Result<Self, Failure> {
        SHAPES.into_iter().find(|shape| shape.log_n == log_n).ok_or_else(|| Failure::Unsuitable {
            what: "--log-n",
            found: log_n.to_string(),
            needed: "14, 15 or 16, which have a parameter set".to_owned(),
        })
    }

    /// All degrees.
    pub(super) fn degrees() -> Vec<u32> {
        SHAPES.iter().map(|shape| shape.log_n).collect()
    }

    /// The parameters, at 128-bit security.
    pub(super) fn parameters(&self) -> Result<Parameters, Failure> {
        let further = std::iter::repeat_n(SCALE_BITS, self.limbs - 1);
        let spec = ParametersSpec {
            log_n: self.log_n,
            log_q: std::iter::once(FIRST_BITS).chain(further).collect(),
            log_p: vec![SPECIAL_BITS; self.special],
            log_scale: SCALE_BITS,
            dnum: self.limbs.div_ceil(self.special),
            ..ParametersSpec::default()
        };
        Ok(spec.build()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_is_secure_and_has_its_digits() {
        for (shape, digits) in SHAPES.into_iter().zip([4, 3, 3]) {
            let parameters = shape.parameters().expect("128-bit security");
            assert_eq!((parameters.rlwe().max_limbs(), parameters.rlwe().dnum()), (shape.limbs, digits));
        }
    }
}
