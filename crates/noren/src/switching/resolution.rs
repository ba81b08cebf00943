//! How near to 0 the sign of a value is known: in one bootstrap, or in three.

use crate::switching::law::{SwitchingLaw, margin};

/// In how many bootstraps a sign is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Steps {
    /// One: the noise of its decision is the dead zone.
    #[default]
    One,
    /// Three: two of them take off what is below the cells of a grid, with their edge at 0, whose cells the third tells apart. The
    /// dead zone is as much smaller as the cells are than the circle.
    Three,
}

/// How the sign of a value is decided.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resolution {
    /// `-log2` of the cells of the grid, of three steps.
    pub bits: u32,
    /// Up to this phase, in units of the circle, a sign may be either.
    pub dead_zone: f64,
    /// `log2` of how likely one bootstrap of a value may be wrong.
    pub log2_failure: f64,
}

impl Resolution {
    /// The resolution where a value is decided wrong outside the dead zone with probability `2^log2_failure`.
    ///
    /// In three steps cells of `2^-b` need room for the last decision, whose margin is half a cell less what the two before leave:
    /// they see `2^b` times the phase with the noise of a decision, and the second one that of a bootstrap besides, `2^b` times;
    /// where that leaves the quarter of the circle in which it takes off what it sees, it takes off as much less, and leaves twice
    /// the difference. b is the largest number for which there is room; without any, one step is as good.
    pub(super) fn new(law: &SwitchingLaw, steps: Steps, log2_failure: f64) -> Self {
        /// Decisions that may fail, each with a share of the probability.
        const SHARES: f64 = 2.0;
        /// Of a value in three steps.
        const BOOTSTRAPS: f64 = 3.0;
        let noise = margin(law.decision, log2_failure);
        let one = Self { bits: 0, dead_zone: noise, log2_failure };
        if steps == Steps::One {
            return one;
        }
        let each = log2_failure - SHARES;
        let has_room = |bits: &u32| {
            let cell = libm::exp2(-f64::from(*bits));
            let seen = law.decision.hypot(law.bootstrap / cell);
            let left = 2.0 * cell * margin(seen, each);
            let last = margin(law.decision.hypot(law.bootstrap).hypot(cell * law.decision), each);
            last + left <= cell / 2.0
        };
        match (1..u32::BITS).take_while(has_room).last() {
            Some(bits) => Self {
                bits,
                dead_zone: libm::exp2(-f64::from(bits)) * margin(law.decision, each),
                log2_failure: log2_failure - libm::log2(BOOTSTRAPS),
            },
            None => one,
        }
    }
}
