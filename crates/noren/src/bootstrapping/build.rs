//! Specifications of bootstrapping are checked into parameters.

use std::sync::{Arc, OnceLock};

use noren_ring::gadget::Gadget;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::parameters::MAX_PRIMES;
use noren_rlwe::security;

use crate::bootstrapping::exponential::Exponential;
use crate::bootstrapping::group::Group;
use crate::bootstrapping::key_classes::key_classes;
use crate::bootstrapping::parameters::{EvalMod, Inner, Parameters, ParametersSpec, Transform, sizes};
use crate::bootstrapping::series::SineSeries;

/// The sizes of primes in bits.
const PRIME_BITS: std::ops::RangeInclusive<u32> = 20..=50;

/// The heaviest ephemeral secret: up to it the tail of the failure probability is computed without loss.
const MAX_WEIGHT: u32 = 64;

/// The largest `|I|` that can be asked for: more than a secret of the largest weight gives.
const MAX_INTERVAL: u32 = 32;

impl ParametersSpec {
    /// Checks the parameters.
    ///
    /// # Errors
    /// Whatever is outside its range or does not suit the ring, by name; a key that is easier to break than asked for; that
    /// there are too few primes of a size.
    pub fn build(self) -> Result<Parameters> {
        self.check_sizes()?;
        self.check_transform("slot_to_coeff", &self.slot_to_coeff)?;
        self.check_transform("coeff_to_slot", &self.coeff_to_slot)?;
        let EvalMod { log_ratio, interval, doublings, degree, .. } = self.eval_mod;
        check("interval", interval, (1..=MAX_INTERVAL).contains(&interval), "1 to 32")?;
        check("eval_mod.degree", degree, degree > 0, "at least 1")?;
        let series = SineSeries::fit(libm::exp2(log_ratio))?;
        // Errors of a message are small beside the message: twice the largest one leaves them room.
        let room = 2.0 / series.ratio();
        let exponential = Exponential::near_integers(interval, room, doublings, degree)?;
        let eval_levels = exponential.depth() + SineSeries::DEPTH;

        let mut log_q = vec![self.log_base];
        let parts = [
            (self.slot_to_coeff.groups.len(), self.slot_to_coeff.bits),
            (self.application.count, self.application.bits),
            (eval_levels, self.eval_mod.bits),
            (self.coeff_to_slot.groups.len(), self.coeff_to_slot.bits),
        ];
        log_q.extend(parts.into_iter().flat_map(|(count, bits)| std::iter::repeat_n(bits, count)));
        let all = log_q.len() + self.special.count;
        check("number of primes", all, all <= MAX_PRIMES, "at most 128, special primes included")?;
        let gadget = Gadget::new(&sizes(&log_q), self.special.count, self.dnum)?;
        let ckks = OnceLock::new();
        let parameters = Parameters(Arc::new(Inner { spec: self, log_q, gadget, exponential, series, ckks }));
        for key in key_classes(&parameters)? {
            let degree = parameters.degree();
            security::check(key.role.name(), degree, key.secret, key.log_qp, parameters.spec().security)?;
        }
        parameters.ckks()?;
        Ok(parameters)
    }

    fn check_sizes(&self) -> Result<()> {
        check("log_n", self.log_n, (4..=17).contains(&self.log_n), "4 to 17")?;
        check("log_slots", self.log_slots, self.log_slots < self.log_n, "below log_n")?;
        for (name, bits) in [
            ("log_base", self.log_base),
            ("slot_to_coeff.bits", self.slot_to_coeff.bits),
            ("application.bits", self.application.bits),
            ("eval_mod.bits", self.eval_mod.bits),
            ("coeff_to_slot.bits", self.coeff_to_slot.bits),
            ("special.bits", self.special.bits),
        ] {
            check(name, bits, PRIME_BITS.contains(&bits), "20 to 50 bits")?;
        }
        let weight = self.ephemeral_weight;
        check("ephemeral_weight", weight, (1..=MAX_WEIGHT).contains(&weight), "1 to 64")?;
        check("iterations", self.iterations, (1..=2).contains(&self.iterations), "1 or 2")?;
        let application = self.application.count;
        check("application.count", application, (1..=MAX_PRIMES).contains(&application), "1 to 128")?;
        check("special.count", self.special.count, (1..=MAX_PRIMES).contains(&self.special.count), "1 to 128")
    }

    fn check_transform(&self, name: &'static str, transform: &Transform) -> Result<()> {
        let layers: u32 = transform.groups.iter().fold(0, |sum, group| sum.saturating_add(group.layers));
        let matrices = transform.groups.len();
        check(name, format!("{matrices} matrices"), matrices > 0, "at least 1")?;
        let needed = format!("{} layers, log_slots", self.log_slots);
        check(name, format!("{layers} layers"), layers == self.log_slots, &needed)?;
        let steps = |group: &Group| group.baby_steps.is_power_of_two() && group.baby_steps <= 2 << group.layers;
        let good = transform.groups.iter().all(steps);
        check(name, "baby steps", good, "powers of two up to 2^(layers + 1)")
    }
}

fn check(name: &'static str, found: impl ToString, holds: bool, needed: &str) -> Result<()> {
    if holds {
        return Ok(());
    }
    Err(Error::parameter(name, found, needed))
}
