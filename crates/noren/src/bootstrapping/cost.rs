//! How long a bootstrap takes, by counts of transforms, conversions and words of keys.

use noren_rlwe::error::Result;

use crate::bootstrapping::bootstrapper::Mode;
use crate::bootstrapping::dft::Direction;
use crate::bootstrapping::matrix::places;
use crate::bootstrapping::parameters::Parameters;
use crate::bootstrapping::slots::projection;
use crate::circuits::polynomial::Polynomial;
use crate::schemes::ckks::{CostModel, parameters as ckks};
use crate::schemes::costs::RotationCosts;

/// The nanoseconds of one bootstrap on a machine of this speed.
///
/// A switch of a key decomposes, reads the key, and divides two parts: the units are those of [`CostModel`], and the counts
///
/// - for a matrix: one decomposition and a key for each baby step; for each giant step that is not 0 a decomposition, a key
///   and one division; the words of its diagonals, read and multiplied twice; and the division of both parts at the end;
/// - for the exponential, in each of the one or two parts: the relinearisations of a dense polynomial of its degree, evenly
///   over its levels, and one for each squaring and for the series;
/// - two conjugations; the trace of the projection, as [its plan](crate::circuits::trace::Plan::cost) counts it;
/// - where there are more iterations, all of it so many times.
///
/// It is a model. What it leaves out, sums and rescaling, and what it counts too high, the special primes of the keys of slot
/// to coefficient, are a few percent each.
///
/// # Errors
/// None for parameters that were built.
pub fn nanoseconds(parameters: &Parameters, mode: Mode, model: &CostModel) -> Result<f64> {
    let ckks = parameters.ckks()?;
    let at = |level: usize| Switches::new(&ckks, level, model);
    let mut time = 0.0;
    for direction in [Direction::SlotToCoeff, Direction::CoeffToSlot] {
        // A matrix of no layers is a number.
        for place in places(parameters, direction).into_iter().filter(|place| place.group.layers > 0) {
            let switches = at(place.level)?;
            let giants = parameters.transform(direction).giants;
            let steps = place.group.steps(parameters.slots(), place.below, giants);
            let babies = steps.babies.iter().filter(|&&step| step != 0).count() as f64;
            let giants = steps.giants.iter().filter(|&&step| step != 0).count() as f64;
            let diagonals = place.group.offsets(parameters.slots(), place.below).len() as f64;
            let each = switches.decompose + switches.key + switches.divide;
            time += switches.decompose + babies * switches.key + giants * each;
            time += diagonals * switches.row_pairs + 2.0 * switches.divide;
        }
    }
    time += projection(parameters).cost(&model.rotations(&ckks, parameters.max_level())?);

    let exponential = parameters.exponential();
    let degree = exponential.coefficients().len() - 1;
    let polynomial = Polynomial::chebyshev(vec![1.0; degree + 1])?;
    let (relinearizations, depth) = (polynomial.cost().relinearizations, polynomial.depth());
    let mut reduction = 0.0;
    for i in 0..relinearizations {
        reduction += at(parameters.slots_level() - i * depth / relinearizations)?.whole();
    }
    let squarings = parameters.reduced_level() + 1..=parameters.slots_level() - depth;
    for level in squarings {
        reduction += at(level)?.whole();
    }
    let parts = match mode {
        Mode::Complex => 2.0,
        Mode::Real | Mode::Paired => 1.0,
    };
    time += parts * reduction + at(parameters.slots_level())?.whole() + at(parameters.reduced_level())?.whole();
    Ok(time * parameters.spec().iterations as f64)
}

/// What switching keys costs at a level.
struct Switches {
    decompose: f64,
    key: f64,
    /// The division of one part.
    divide: f64,
    /// One diagonal: its words, multiplied with both parts.
    row_pairs: f64,
}

impl Switches {
    fn new(parameters: &ckks::Parameters, level: usize, model: &CostModel) -> Result<Self> {
        let RotationCosts { shared, end, streamed, .. } = model.rotations(parameters, level)?;
        let rows = level + 1 + parameters.rlwe().p().len();
        let row_pairs = 2.0 * (rows * parameters.degree()) as f64 * model.streamed;
        Ok(Self { decompose: shared - end, key: streamed, divide: end, row_pairs })
    }

    /// A switch by itself, such as after a product.
    fn whole(&self) -> f64 {
        self.decompose + self.key + 2.0 * self.divide
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrapping::preset::Preset;

    #[test]
    fn real_messages_fewer_slots_and_one_iteration_are_faster() {
        let time = |spec: crate::bootstrapping::parameters::ParametersSpec, mode| {
            let parameters = spec.build().expect("a preset");
            nanoseconds(&parameters, mode, &CostModel::default()).expect("levels")
        };
        let whole = time(Preset::N16.spec(), Mode::Complex);
        // One core of a few GHz: more than a tenth of a second, and less than ten.
        assert!((1e8..1e10).contains(&whole), "{whole}");
        let real = time(Preset::N16.spec(), Mode::Real);
        let few = time(Preset::N16.spec_for(9).expect("fewer slots"), Mode::Complex);
        let precise = time(Preset::N16Precise.spec(), Mode::Complex);
        assert!(real < 0.9 * whole && few < 0.9 * whole && precise > 1.8 * whole, "{whole} {real} {few} {precise}");
    }
}
