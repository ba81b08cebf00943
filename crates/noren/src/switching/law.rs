//! How much noise decisions and results have, and where a decision may be either.

use noren_rlwe::torus::law::{Failure, NoiseLaw};
use noren_rlwe::torus::scheme_switch::law::SwitchLaw;

/// `log2` of how likely any value of a result is wrong outside dead zones, unless the caller asks for another probability.
pub(super) const LOG2_FAILURE: f64 = -64.0;

/// `-log2` of the probability that a bound on all errors of a result does not hold, as bounds of CKKS have it.
const BOUND_LOG2: f64 = -40.0;

/// Steps of bisections: more than an `f64` has bits.
const STEPS: u32 = 64;

/// The deviations of a switch, in units of the circle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SwitchingLaw {
    /// Of what the way down adds to a value: the switch to the secret of the subring.
    pub down: f64,
    /// Of the noise where a bootstrap decides: that of the way down, its key switch and its modulus switch.
    pub decision: f64,
    /// Of the result of a bootstrap.
    pub bootstrap: f64,
    /// Of what the way up adds: packing, and the switch to the secret of CKKS.
    pub up: f64,
}

impl SwitchingLaw {
    /// The law of bootstraps and of switches, where samples are packed by so many steps.
    pub(super) fn new(torus: &NoiseLaw, switch: &SwitchLaw, steps: usize) -> Self {
        let up = switch.packing(steps as u32) + switch.up;
        Self {
            down: switch.down.sqrt(),
            decision: (switch.down + torus.key_switch + torus.modulus_switch).sqrt(),
            bootstrap: torus.bootstrap().sqrt(),
            up: up.sqrt(),
        }
    }

    /// The deviation of the values that sines are taken of.
    #[must_use]
    pub fn result(&self) -> f64 {
        self.bootstrap.hypot(self.up)
    }

    /// The bound that none of `values` errors of this deviation exceeds, but with the probability of other bounds, `2^-40`.
    pub(crate) fn bound(deviation: f64, values: usize) -> f64 {
        margin(deviation, BOUND_LOG2 - libm::log2(values as f64))
    }
}

/// The margin that noise of this deviation exceeds with the probability `2^log2`.
pub(super) fn margin(deviation: f64, log2: f64) -> f64 {
    // In deviations: 40 of them are exceeded with a probability of 2^-1159.
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..STEPS {
        let middle = (low + high) / 2.0;
        if Failure::of(1.0, middle).log2 > log2 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high * deviation
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_are_those_of_the_normal_distribution() {
        // erfc(k / sqrt 2) for k = 6 and k = 9.1: 2^-28.9 and 2^-63.3.
        for (deviations, log2) in [(6.0, -28.9), (9.1, -63.3), (13.1, -127.7)] {
            let found = margin(0.5, log2);
            assert!((found - 0.5 * deviations).abs() < 0.05, "{found} for {log2}");
        }
    }
}
