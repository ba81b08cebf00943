//! How long a bootstrap takes: counts of transforms, conversions and words, times what they take on a machine.

use noren_ring::gadget::Gadget;
use noren_rlwe::error::Result;
use noren_rlwe::security::Security;

use crate::bootstrapping::chebyshev::product_levels;
use crate::bootstrapping::dft::Direction;
use crate::bootstrapping::key_classes::rotation_shape;
use crate::bootstrapping::matrix::places;
use crate::bootstrapping::mode::Mode;
use crate::bootstrapping::parameters::{Parameters, sizes};
use crate::bootstrapping::slots::projection;
use crate::schemes::ckks::{Context, CostModel, ParametersSpec};
use crate::schemes::costs::RotationCosts;

/// The nanoseconds of one bootstrap, all iterations together, by what they are for. A model.
///
/// A switch of a key decomposes, reads the key, and divides two parts; the units are those of [`CostModel`]. What is counted:
///
/// - for a matrix: one decomposition, and a key for each baby step; for each giant step that is not 0 a decomposition, a key
///   and one division; the words of its diagonals, read and multiplied twice; and the division of both parts at the end;
/// - for raising: two switches of one digit and one special prime, and the trace of the
///   [projection](crate::circuits::trace::Unrolling::cost);
/// - for each of the one or two exponentials and series: a switch for each product at its level, and the words of both
///   factors; and two conjugations.
///
/// Sums, products with integers, and what threads wait for each other are left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Time {
    /// Slot to coefficient.
    pub slot_to_coeff: f64,
    /// To the ephemeral secret and back, and the projection of fewer slots.
    pub raise: f64,
    /// Coefficient to slot.
    pub coeff_to_slot: f64,
    /// Parts, exponentials and series.
    pub reduction: f64,
}

impl Time {
    /// That of a bootstrap on a machine of this speed.
    ///
    /// # Errors
    /// None for parameters that were built.
    pub fn new(parameters: &Parameters, mode: Mode, model: &CostModel) -> Result<Self> {
        let counts = Counts { parameters, model };
        let iterations = parameters.spec().iterations as f64;
        let [slot_to_coeff, coeff_to_slot] =
            [counts.matrices(Direction::SlotToCoeff)?, counts.matrices(Direction::CoeffToSlot)?];
        let (raise, reduction) = (counts.raise()?, counts.reduction(mode)?);
        let [slot_to_coeff, raise, coeff_to_slot, reduction] =
            [slot_to_coeff, raise, coeff_to_slot, reduction].map(|time| time * iterations);
        Ok(Self { slot_to_coeff, raise, coeff_to_slot, reduction })
    }

    /// All of it in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        (self.slot_to_coeff + self.raise + self.coeff_to_slot + self.reduction) * 1e-9
    }
}

/// The speed of this machine in a ring of this degree, with `threads` threads: those of the machine for `None`.
///
/// It is measured with two digits, each of as many limbs as there are special primes, which decides what a conversion costs by
/// the term. That takes a fraction of the time of a context for bootstrapping.
///
/// # Errors
/// None for parameters that were built.
pub fn measure(parameters: &Parameters, threads: Option<usize>) -> Result<CostModel> {
    const DIGITS: usize = 2;
    let spec = parameters.spec();
    let limbs = DIGITS * spec.special.count;
    let stand_in = ParametersSpec {
        log_n: spec.log_n,
        log_q: vec![spec.eval_mod.bits; limbs],
        log_p: vec![spec.special.bits; spec.special.count],
        log_scale: spec.eval_mod.bits,
        dnum: DIGITS,
        // Nothing is encrypted.
        security: Security::None,
        ..ParametersSpec::default()
    };
    CostModel::measure(&Context::with_threads(stand_in.build()?, threads)?, limbs - 1)
}

struct Counts<'a> {
    parameters: &'a Parameters,
    model: &'a CostModel,
}

impl Counts<'_> {
    fn matrices(&self, direction: Direction) -> Result<f64> {
        let parameters = self.parameters;
        let (shape, gadget) = rotation_shape(parameters, direction)?;
        let mut time = 0.0;
        // A matrix of no layers is a number.
        for place in places(parameters, direction).into_iter().filter(|place| place.group.layers > 0) {
            let switch = self.switch(place.level, shape.special, &gadget);
            let steps = place.group.steps(parameters.slots(), place.below, parameters.transform(direction).giants);
            let babies = steps.babies.iter().filter(|&&step| step != 0).count() as f64;
            let giants = steps.giants.iter().filter(|&&step| step != 0).count() as f64;
            let diagonals = place.group.offsets(parameters.slots(), place.below).len() as f64;
            let words = 2.0 * self.words(place.level + 1 + shape.special);
            time += switch.decompose + babies * switch.key + giants * (switch.decompose + switch.key + switch.divide);
            time += diagonals * words * self.model.streamed + 2.0 * switch.divide;
        }
        Ok(time)
    }

    fn raise(&self) -> Result<f64> {
        let parameters = self.parameters;
        // One digit of one limb, which reaches all limbs on the way back.
        let one = Gadget::new(&sizes(&parameters.log_q()[..1]), 1, 1)?;
        let limbs = parameters.max_level() + 1;
        let log_n = parameters.spec().log_n;
        let there = Switch::of(&self.model.rotations_shaped(log_n, 1, 1, &one));
        let back = Switch::of(&self.model.rotations_shaped(log_n, limbs, 1, &one));
        let all = self.switch(parameters.max_level(), parameters.spec().special.count, parameters.gadget()).costs;
        Ok(there.whole() + back.whole() + projection(parameters).cost(&all))
    }

    fn reduction(&self, mode: Mode) -> Result<f64> {
        let parameters = self.parameters;
        let (slots, reduced) = (parameters.slots_level(), parameters.reduced_level());
        let whole = |level: usize| self.switch(level, parameters.spec().special.count, parameters.gadget()).whole();
        let product = |level: usize| whole(level) + 4.0 * self.words(level + 1) * self.model.streamed;
        let end = reduced + 1 + parameters.spec().eval_mod.doublings as usize;
        let powers = product_levels(&parameters.exponential().turned_coefficients(), slots, end);
        let squares = reduced + 2..=end;
        // The series is one product more.
        let part: f64 = powers.into_iter().chain(squares).chain([reduced + 1]).map(product).sum();
        let parts = match mode {
            Mode::Complex => 2.0,
            Mode::Real | Mode::Paired => 1.0,
        };
        Ok(whole(slots) + parts * part + whole(reduced))
    }

    fn switch(&self, level: usize, special: usize, gadget: &Gadget) -> Switch {
        Switch::of(&self.model.rotations_shaped(self.parameters.spec().log_n, level + 1, special, gadget))
    }

    /// The words of `rows` rows.
    fn words(&self, rows: usize) -> f64 {
        (rows * self.parameters.degree()) as f64
    }
}

/// The cost of a key switch.
struct Switch {
    decompose: f64,
    key: f64,
    /// The division of one part.
    divide: f64,
    costs: RotationCosts,
}

impl Switch {
    fn of(costs: &RotationCosts) -> Self {
        let &RotationCosts { shared, end, streamed, .. } = costs;
        Self { decompose: shared - end, key: streamed, divide: end, costs: *costs }
    }

    /// A switch by itself, such as after a product.
    fn whole(&self) -> f64 {
        self.decompose + self.key + 2.0 * self.divide
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrapping::parameters::ParametersSpec;
    use crate::bootstrapping::preset::Preset;

    #[test]
    fn real_messages_fewer_slots_and_one_iteration_are_faster() {
        let time = |spec: ParametersSpec, mode| {
            let parameters = spec.build().expect("a preset");
            Time::new(&parameters, mode, &CostModel::default()).expect("levels").seconds()
        };
        let whole = time(Preset::N16.spec(), Mode::Complex);
        // One core of a few GHz: more than a tenth of a second, and less than ten.
        assert!((0.1..10.0).contains(&whole), "{whole}");
        let real = time(Preset::N16.spec(), Mode::Real);
        let few = time(Preset::N16.spec_for(9).expect("fewer slots"), Mode::Complex);
        let precise = time(Preset::N16Precise.spec(), Mode::Complex);
        assert!(real < 0.9 * whole && few < 0.9 * whole && precise > 1.8 * whole, "{whole} {real} {few} {precise}");
    }
}
