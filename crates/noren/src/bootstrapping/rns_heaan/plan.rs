//! Costs and risks of the baseline, before any key exists.

use crate::bootstrapping::dft::Direction;
use crate::bootstrapping::failure::log2_failure;
use crate::bootstrapping::rns_heaan::parameters::{Parameters, Place, limb_level};
use crate::schemes::ckks::factor::row_words;

/// The keys and the memory that the baseline takes, and how likely it fails.
///
/// # Examples
/// ```
/// use noren::bootstrapping::rns_heaan::{ParametersSpec, RnsHeaanPlan};
///
/// let plan = RnsHeaanPlan::new(&ParametersSpec::published().build()?);
/// assert!(plan.log2_failure(1) < -40.0);
/// // Far from secure by the tables of today.
/// let parameters = plan.parameters();
/// assert!(parameters.secure_log_qp().is_some_and(|bound| bound < parameters.log_qp() / 3.0));
/// # Ok::<(), noren::error::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct RnsHeaanPlan {
    parameters: Parameters,
}

impl RnsHeaanPlan {
    /// The plan of these parameters, for all slots of the ring.
    #[must_use]
    pub fn new(parameters: &Parameters) -> Self {
        Self { parameters: parameters.clone() }
    }

    /// The parameters.
    #[must_use]
    pub const fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// How many evaluation keys there are: relinearisation, conjugation and rotations.
    #[must_use]
    pub fn keys(&self) -> usize {
        2 + self.parameters.rotations().len()
    }

    /// The bytes of all evaluation keys in memory: `2 digits (limbs + special) N` words each.
    #[must_use]
    pub fn key_bytes(&self) -> u64 {
        let rlwe = self.parameters.ckks().rlwe();
        let bytes = |level: usize| {
            let limbs = limb_level(level) + 1;
            let digits = rlwe.gadget().map_or(0, |gadget| gadget.digits_at(limbs).len());
            2 * digits as u64 * self.row_bytes(level)
        };
        let rotations: u64 = self.parameters.rotations().into_values().map(bytes).sum();
        rotations + 2 * bytes(self.parameters.slots_level())
    }

    /// The bytes of the encoded matrices: `(limbs + special) N` words for each diagonal, fewer where it repeats.
    #[must_use]
    pub fn factor_bytes(&self) -> u64 {
        let slots = self.parameters.slots();
        let directions = [Direction::CoeffToSlot, Direction::SlotToCoeff];
        let places = directions.into_iter().flat_map(|direction| self.parameters.places(direction));
        let degree = self.parameters.ckks().degree();
        let bytes = |Place { group, below, level, .. }: Place| {
            let stretch = degree / row_words(degree, 1 << (below + group.layers));
            group.offsets(slots, below).len() as u64 * self.row_bytes(level) / stretch as u64
        };
        places.map(bytes).sum()
    }

    /// `log2` of a bound on the probability that any of `bootstraps` results is worse than stated because a coefficient left the
    /// interval, see [`log2_failure`](crate::bootstrapping::log2_failure).
    #[must_use]
    pub fn log2_failure(&self, bootstraps: u64) -> f64 {
        let spec = self.parameters.spec();
        log2_failure(spec.weight, spec.interval, self.parameters.ratio(), self.parameters.ckks().degree(), bootstraps)
    }

    /// The bytes of one polynomial modulo the special primes and those of a double level.
    fn row_bytes(&self, level: usize) -> u64 {
        let rlwe = self.parameters.ckks().rlwe();
        ((limb_level(level) + 1 + rlwe.p().len()) * rlwe.degree() * size_of::<u64>()) as u64
    }
}
