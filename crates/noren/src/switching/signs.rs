//! Signs of samples.

use noren_ring::torus::lwe::Lwe;
use noren_ring::torus::table::Table;
use noren_rlwe::error::Result;

use crate::switching::resolution::Resolution;
use crate::switching::samples::Samples;
use crate::switching::switch::SchemeSwitch;
use crate::switching::tables::{self, check_finite};

/// The part of the circle that a sign is.
const QUARTER_PART: f64 = 0.25;

impl SchemeSwitch {
    /// The signs of values between the schemes, as samples whose [readout](crate::switching::Readout::Bits) is 1 or -1, by one
    /// bootstrap each.
    ///
    /// A value whose phase is nearer to 0 than [`SwitchingLaw::decision`](crate::switching::SwitchingLaw::decision) allows may have either sign.
    ///
    /// # Errors
    /// As [`SchemeSwitch::bootstrap`].
    pub fn signs(&self, samples: &Samples) -> Result<Samples> {
        let signs = self.bootstrap_all(samples, &tables::signs(self.table_degree()))?;
        Ok(Samples { part: QUARTER_PART, ..signs })
    }

    /// Any function of the phases of samples from 0 to half of the circle, with values that are phases, in units of the circle. It is
    /// asked for the phases `(c + 1/2) / 2N`, c from 0 to N - 1; phases half a circle further give the negative values.
    ///
    /// A phase counts but for the noise of a [decision](crate::switching::SwitchingLaw::decision). The [part](Samples::part) of the
    /// result is 1.
    ///
    /// # Errors
    /// [`SlotError::NotFinite`](crate::schemes::error::SlotError::NotFinite) for a value that is not a number;
    /// [`Error::ParameterMismatch`](noren_rlwe::error::Error::ParameterMismatch) and
    /// [`Error::KeyMismatch`](noren_rlwe::error::Error::KeyMismatch) for samples of others;
    /// [`FailureBudgetExceeded`](crate::schemes::error::FailureBudgetExceeded) beyond a budget of the evaluator.
    pub fn bootstrap(&self, samples: &Samples, function: impl Fn(f64) -> f64) -> Result<Samples> {
        let degree = self.table_degree();
        let values: Vec<f64> = (0..degree).map(|c| function((c as f64 + 0.5) / (2 * degree) as f64)).collect();
        check_finite(&values)?;
        self.bootstrap_all(samples, &Table::from_fn(degree, |place| tables::word(values[place]), &[0]))
    }

    fn bootstrap_all(&self, samples: &Samples, table: &Table) -> Result<Samples> {
        self.check_samples(samples)?;
        let log2_failure = self.evaluator().context().parameters().failure().log2;
        let values = self.look_up(&samples.values, table, log2_failure)?;
        Ok(Samples { values, owner: samples.owner, part: 1.0, error: 0.0, deviation: self.law().bootstrap })
    }

    /// A quarter of the circle with the sign of each phase.
    pub(super) fn decide_each(&self, mut samples: Vec<Lwe>, resolution: Resolution) -> Result<Vec<Lwe>> {
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
                let taken = self.look_up(&seen, &table, resolution.log2_failure)?;
                samples.iter_mut().zip(&taken).for_each(|(sample, taken)| sample.add_multiple(taken, -1));
            }
            samples.iter_mut().for_each(|sample| sample.add_constant(cell / 2));
        }
        self.look_up(&samples, &tables::signs(degree), resolution.log2_failure)
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
