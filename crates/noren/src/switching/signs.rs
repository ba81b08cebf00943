//! Signs of samples: in one bootstrap, or in three that tell nearer values apart.

use noren_ring::torus::lwe::Lwe;
use noren_ring::torus::table::Table;
use noren_rlwe::error::Result;

use crate::bootstrapping::ends::Affine;
use crate::switching::law::{SwitchingLaw, margin};
use crate::switching::samples::Samples;
use crate::switching::switch::SchemeSwitch;
use crate::switching::tables::Function;

/// The part of the circle that a sign is.
const QUARTER_PART: f64 = 0.25;

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
    bits: u32,
    /// Up to this phase, in units of the circle, a sign may be either.
    pub dead_zone: f64,
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
        let noise = margin(law.decision, log2_failure);
        if steps == Steps::One {
            return Self { bits: 0, dead_zone: noise };
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
            Some(bits) => Self { bits, dead_zone: libm::exp2(-f64::from(bits)) * margin(law.decision, each) },
            None => Self { bits: 0, dead_zone: noise },
        }
    }

    /// How many bootstraps a value takes.
    pub(super) const fn bootstraps(&self) -> u32 {
        if self.bits == 0 { 1 } else { 3 }
    }
}

impl SchemeSwitch {
    /// The signs of values between the schemes, as samples whose [readout](crate::switching::Readout::Bits) is 1 or -1, by one
    /// bootstrap each.
    ///
    /// A value whose phase is nearer to 0 than [`SwitchingLaw::decision`] allows may have either sign.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`](noren_rlwe::error::Error::ParameterMismatch) and
    /// [`Error::KeyMismatch`](noren_rlwe::error::Error::KeyMismatch) for samples of others;
    /// [`FailureBudgetExceeded`](crate::schemes::error::FailureBudgetExceeded) beyond a budget of the evaluator.
    pub fn signs(&self, samples: &Samples) -> Result<Samples> {
        self.check_samples(samples)?;
        let log2_failure = self.evaluator().context().parameters().failure().log2;
        let resolution = Resolution::new(self.law(), Steps::One, log2_failure);
        let values = self.decide_each(samples.values.clone(), resolution, log2_failure)?;
        Ok(Samples { values, owner: samples.owner, part: QUARTER_PART, error: 0.0, deviation: self.law().bootstrap })
    }

    /// A quarter of the circle with the sign of each phase.
    pub(super) fn decide_each(
        &self,
        mut samples: Vec<Lwe>,
        resolution: Resolution,
        log2_failure: f64,
    ) -> Result<Vec<Lwe>> {
        let degree = self.table_degree();
        if resolution.bits > 0 {
            let cell: u64 = 1 << (u64::BITS - resolution.bits);
            // The edge of two cells comes to 0.
            samples.iter_mut().for_each(|sample| sample.add_constant((cell / 2).wrapping_neg()));
            // A quarter of a cell to either side, and then what is left of it, both negative beyond the half of the circle.
            let quarters = Table::from_fn(degree, |_| cell / 4, &[0]);
            let rest = Table::from_fn(degree, |place| triangle(place, degree) * (cell / 4 / degree as u64), &[0]);
            for table in [quarters, rest] {
                let seen: Vec<Lwe> = samples.iter().map(|sample| times(sample, 1 << resolution.bits)).collect();
                let taken = self.look_up(&seen, &table, log2_failure)?;
                samples.iter_mut().zip(&taken).for_each(|(sample, taken)| sample.add_multiple(taken, -1));
            }
            samples.iter_mut().for_each(|sample| sample.add_constant(cell / 2));
        }
        let function = Function::sign(degree, Affine { factor: 1.0, constant: 0.0 });
        self.look_up(&samples, &function.table, log2_failure)
    }
}

/// The phase in the middle of a place of a table, in units of `1/4N`, up to a quarter of the circle, and from there on back to 0.
const fn triangle(place: usize, degree: usize) -> u64 {
    (if place < degree / 2 { 2 * place + 1 } else { 2 * (degree - place) - 1 }) as u64
}

fn times(sample: &Lwe, factor: i64) -> Lwe {
    let mut product = sample.clone();
    product.mul_assign(factor);
    product
}
