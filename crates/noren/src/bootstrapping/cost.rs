//! How long a bootstrap takes: counts of transforms, conversions and words, times what they take on a machine.

use noren_ring::gadget::Gadget;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::shape::KeyShape;

use crate::bootstrapping::chebyshev::product_levels;
use crate::bootstrapping::dft::Direction;
use crate::bootstrapping::key_classes::rotation_shape;
use crate::bootstrapping::matrix::places;
use crate::bootstrapping::mode::Mode;
use crate::bootstrapping::parameters::Parameters;
use crate::bootstrapping::slots::projection;
use crate::cost::{Party, RingMeter, Work};
use crate::schemes::costs::RotationCosts;

/// The nanoseconds of one bootstrap, all iterations together, by what they are for. A model.
///
/// A switch of a key decomposes, reads the key, and divides two parts; the units are those of [`RingMeter`]. What is counted:
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
    /// That of a bootstrap by a party.
    ///
    /// # Errors
    /// As [`Party::seconds`].
    pub fn new(parameters: &Parameters, mode: Mode, party: &Party) -> Result<Self> {
        let counts = Counts { parameters, party };
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

struct Counts<'a> {
    parameters: &'a Parameters,
    party: &'a Party,
}

impl Counts<'_> {
    fn matrices(&self, direction: Direction) -> Result<f64> {
        let parameters = self.parameters;
        let meter = self.meter(rotation_shape(parameters, direction)?);
        let mut time = 0.0;
        // A matrix of no layers is a number.
        for place in places(parameters, direction).into_iter().filter(|place| place.group.layers > 0) {
            let switch = self.switch(&meter, place.level + 1)?;
            let steps = place.group.steps(parameters.slots(), place.below, parameters.transform(direction).giants);
            let babies = steps.babies.iter().filter(|&&step| step != 0).count() as f64;
            let giants = steps.giants.iter().filter(|&&step| step != 0).count() as f64;
            let diagonals = place.group.offsets(parameters.slots(), place.below).len() as f64;
            let diagonal = self.nanoseconds(&meter.streamed(2, place.level + 1))?;
            time += switch.decompose + babies * switch.key + giants * (switch.decompose + switch.key + switch.divide);
            time += diagonals * diagonal + 2.0 * switch.divide;
        }
        Ok(time)
    }

    fn raise(&self) -> Result<f64> {
        let parameters = self.parameters;
        // One digit of one limb, which reaches all limbs on the way back.
        let one = self.meter((KeyShape { limbs: 1, special: 1, digits: 1 }, Gadget::new(&[1.0], 1, 1)?));
        let (there, back) = (self.switch(&one, 1)?, self.switch(&one, parameters.max_level() + 1)?);
        let all = self.switch(&self.usual()?, parameters.max_level() + 1)?.costs;
        Ok(there.whole() + back.whole() + projection(parameters).cost(&all))
    }

    fn reduction(&self, mode: Mode) -> Result<f64> {
        let parameters = self.parameters;
        let (slots, reduced) = (parameters.slots_level(), parameters.reduced_level());
        let meter = self.usual()?;
        let whole = |level: usize| Ok::<_, Error>(self.switch(&meter, level + 1)?.whole());
        let product = |level: usize| Ok::<_, Error>(whole(level)? + self.nanoseconds(&meter.streamed(4, level + 1))?);
        let end = reduced + 1 + parameters.spec().eval_mod.doublings as usize;
        let powers = product_levels(&parameters.exponential().turned_coefficients(), slots, end);
        let squares = reduced + 2..=end;
        // The series is one product more.
        let part = powers.into_iter().chain(squares).chain([reduced + 1]).map(product).sum::<Result<f64>>()?;
        let parts = match mode {
            Mode::Complex => 2.0,
            Mode::Real | Mode::Paired => 1.0,
        };
        Ok(whole(slots)? + parts * part + whole(reduced)?)
    }

    fn meter(&self, (shape, gadget): (KeyShape, Gadget)) -> RingMeter {
        let Party { machine, threads } = self.party;
        RingMeter::of(self.parameters.spec().log_n, shape.special, gadget, machine.caches, *threads)
    }

    /// That of keys of the usual shape.
    fn usual(&self) -> Result<RingMeter> {
        Ok(self.meter(rotation_shape(self.parameters, Direction::CoeffToSlot)?))
    }

    fn switch(&self, meter: &RingMeter, limbs: usize) -> Result<Switch> {
        Ok(Switch::of(&self.party.switches(meter, limbs)?))
    }

    fn nanoseconds(&self, work: &Work) -> Result<f64> {
        Ok(self.party.seconds(work)? * 1e9)
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
            Time::new(&parameters, mode, &Party::reference()).expect("levels").seconds()
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
