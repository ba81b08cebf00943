//! Parameters of exact integers in words and numbers: the plaintext modulus and the noise besides what all schemes have.

use std::fmt;

use noren::bfv::Bfv;
use noren::bfv::Parameters;
use noren::bgv::Bgv;
use serde::Serialize;

use crate::describe::ring::Ring;
use crate::describe::words::count;

/// The description of parameters of BGV and BFV.
#[derive(Debug, Serialize)]
pub(crate) struct Integers {
    #[serde(flatten)]
    ring: Ring,
    plaintext_modulus: u64,
    /// 0 where the plaintext modulus has no slots.
    slots: usize,
    limbs: usize,
    /// Bits that the noise of a public encryption may grow.
    budget_fresh: f64,
    /// How many squarings may follow one another.
    depth_bfv: usize,
    depth_bgv: usize,
}

impl Integers {
    pub(crate) fn new(parameters: &Parameters) -> Self {
        let (rlwe, spec) = (parameters.rlwe(), parameters.spec());
        let has_keys = !rlwe.p().is_empty();
        Self {
            ring: Ring::new(rlwe, &parameters.fingerprint(), &spec.log_q, &spec.log_p),
            plaintext_modulus: parameters.modulus().value(),
            slots: if parameters.has_slots() { parameters.degree() } else { 0 },
            limbs: parameters.max_limbs(),
            budget_fresh: parameters.fresh_noise().budget(parameters.degree()),
            depth_bfv: if has_keys { parameters.depth::<Bfv>() } else { 0 },
            depth_bgv: if has_keys { parameters.depth::<Bgv>() } else { 0 },
        }
    }
}

impl fmt::Display for Integers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slots = match self.slots {
            0 => "coefficients, no slots".to_owned(),
            slots => format!("{slots} slots in two rows"),
        };
        self.ring.write_primes(f, &slots, &count(self.limbs, "limb"))?;
        writeln!(f, "plaintexts     integers modulo t = {}", self.plaintext_modulus)?;
        self.ring.write_security(f)?;
        let (budget, bfv, bgv) = (self.budget_fresh, self.depth_bfv, self.depth_bgv);
        writeln!(f, "noise          budget of {budget:.1} bits; {} in BFV, {bgv} in BGV", count(bfv, "squaring"))?;
        writeln!(f, "               (public encryption; fails with probability below 2^-128)")?;
        self.ring.write_sizes(f)
    }
}
