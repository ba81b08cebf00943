//! Costs of key switching, which circuits and bootstraps choose their plans by.

use noren_rlwe::error::{Error, Result};
use noren_rlwe::parameters::Parameters;

use crate::cost::price::Party;
use crate::cost::ring::RingMeter;
use crate::cost::work::{Residence, Work};
use crate::schemes::costs::RotationCosts;

impl Party {
    /// The costs of rotations of ciphertexts of `limbs` limbs.
    ///
    /// # Errors
    /// [`Error::LevelExhausted`] for more limbs than there are, [`Error::Parameters`] without special primes; as
    /// [`Party::meter`] and [`Party::seconds`].
    ///
    /// # Examples
    /// ```
    /// use noren::circuits::trace::Unrolling;
    /// use noren::ckks::ParametersSpec;
    /// use noren::cost::Party;
    ///
    /// let spec = ParametersSpec { log_n: 14, log_q: vec![48, 40, 40], log_p: vec![48], log_scale: 40, ..Default::default() };
    /// let costs = Party::reference().rotations(spec.build()?.rlwe(), 3)?;
    /// let plan = Unrolling::fastest(128, 1, &costs, 256 << 20)?;
    /// assert!(plan.cost(&costs) < Unrolling::unrolled(128, 1, 7)?.cost(&costs));
    /// # Ok::<(), noren::Error>(())
    /// ```
    pub fn rotations(&self, parameters: &Parameters, limbs: usize) -> Result<RotationCosts> {
        if !(1..=parameters.max_limbs()).contains(&limbs) {
            let (needed, left) = (limbs.saturating_sub(1), parameters.max_limbs() - 1);
            return Err(Error::LevelExhausted { needed, left });
        }
        if parameters.p().is_empty() {
            let needed = "at least one special prime, which key switching divides by";
            return Err(Error::parameter("log_p", "empty", needed));
        }
        self.switches(&self.meter(parameters)?, limbs)
    }

    /// The same in the ring of a meter, with keys of its shape.
    pub(crate) fn switches(&self, meter: &RingMeter, limbs: usize) -> Result<RotationCosts> {
        let nanoseconds = |work: Work| self.seconds(&work).map(|seconds| seconds * 1e9);
        let end = nanoseconds(meter.division(limbs))?;
        let cached = nanoseconds(meter.rotation(limbs, Residence::Cache))?;
        Ok(RotationCosts {
            shared: nanoseconds(meter.decomposition(limbs))? + end,
            end,
            cached,
            streamed: nanoseconds(meter.rotation(limbs, Residence::Memory))?.max(cached),
            key_bytes: meter.key_bytes(limbs),
            cache_bytes: self.machine.caches.last,
        })
    }
}

#[cfg(test)]
mod tests {
    use noren_rlwe::security::Security;

    use super::*;
    use crate::cost::work::Unit;
    use crate::schemes::ckks;

    fn parameters(special: usize, dnum: usize) -> Parameters {
        let (log_q, log_p) = (vec![40; 10], vec![40; special]);
        let spec =
            ckks::ParametersSpec { log_n: 10, log_q, log_p, log_scale: 40, dnum, ..ckks::ParametersSpec::default() };
        ckks::ParametersSpec { security: Security::None, ..spec }.build().expect("supported").rlwe().clone()
    }

    #[test]
    fn costs_count_what_a_key_switch_does() {
        let n = 1024.0;
        // 10 limbs, 5 special primes, 2 digits of 5 limbs.
        let meter = Party::reference().meter(&parameters(5, 2)).expect("a ring");
        let amounts = |work: Work| [Unit::Transform(10), Unit::Conversion].map(|unit| work.amount(unit));
        assert_eq!(amounts(meter.decomposition(10)), [10.0 * n * 2.0 * 15.0, n * 2.0 * 5.0 * 10.0]);
        assert_eq!(amounts(meter.division(10)), [10.0 * n * 15.0, n * 5.0 * 10.0]);
        let rotation = meter.rotation(10, Residence::Memory);
        assert_eq!([Unit::Key(Residence::Memory), Unit::Image].map(|unit| rotation.amount(unit)), [n * 60.0, n * 45.0]);
        assert_eq!(meter.key_bytes(10), 2 * 2 * 15 * 1024 * 8);
        // 5 limbs are one digit.
        assert_eq!(meter.key_bytes(5), 2 * 10 * 1024 * 8);
        let costs = Party::reference().rotations(&parameters(5, 2), 10).expect("there are limbs");
        assert!(costs.shared > costs.end && costs.streamed >= costs.cached && costs.cached > 0.0, "{costs:?}");
    }

    #[test]
    fn what_has_no_costs_is_refused() {
        let refused = |parameters: &Parameters, limbs| Party::reference().rotations(parameters, limbs);
        let most = refused(&parameters(1, 10), 11);
        assert!(matches!(most, Err(Error::LevelExhausted { needed: 10, left: 9 })), "{most:?}");
        assert!(matches!(refused(&parameters(0, 0), 2), Err(Error::Parameters { name: "log_p", .. })));
    }
}
