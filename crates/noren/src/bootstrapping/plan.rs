//! Costs and risks of bootstrapping, before any key exists.

use noren_rlwe::error::Result;

use crate::bootstrapping::cost::Time;
use crate::bootstrapping::dft::Direction;
use crate::bootstrapping::failure::log2_failure;
use crate::bootstrapping::key_classes::{KeyClass, key_classes, rotation_shape};
use crate::bootstrapping::mode::Mode;
use crate::bootstrapping::parameters::Parameters;
use crate::bootstrapping::precision::{expected_error, systematic_error};
use crate::cost::Party;
use crate::schemes::ckks::factor::row_words;

/// See [`BootstrapPlan::working_bytes`].
const WORKING_POLYNOMIALS: u64 = 40;

/// The keys, the memory and the time that bootstrapping takes, how precise it is, and how likely it fails.
///
/// # Examples
/// ```
/// use noren::bootstrapping::{Mode, BootstrapPlan, Preset};
///
/// let plan = BootstrapPlan::new(&Preset::N16.parameters()?)?;
/// assert!(plan.log2_failure(100) < -64.0);
/// assert!(plan.key_bytes() < 5 << 30);
/// assert!(plan.precision_bits(Mode::Real) > 21.0);
/// # Ok::<(), noren::error::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct BootstrapPlan {
    parameters: Parameters,
    keys: Vec<KeyClass>,
    factor_bytes: u64,
}

impl BootstrapPlan {
    /// The plan of these parameters.
    ///
    /// # Errors
    /// None for parameters that were built; the digits of keys of few limbs are cut anew.
    pub fn new(parameters: &Parameters) -> Result<Self> {
        let keys = key_classes(parameters)?;
        let mut words = 0;
        for direction in [Direction::SlotToCoeff, Direction::CoeffToSlot] {
            let (shape, _) = rotation_shape(parameters, direction)?;
            words += factor_words(parameters, direction, shape.limbs, shape.special);
        }
        let factor_bytes = (words * size_of::<u64>()) as u64;
        Ok(Self { parameters: parameters.clone(), keys, factor_bytes })
    }

    /// The parameters.
    #[must_use]
    pub const fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The keys, by use and size.
    #[must_use]
    pub fn keys(&self) -> &[KeyClass] {
        &self.keys
    }

    /// The bytes of all keys in memory.
    #[must_use]
    pub fn key_bytes(&self) -> u64 {
        self.keys.iter().map(KeyClass::bytes).sum()
    }

    /// About the bytes of all keys in files.
    #[must_use]
    pub fn disk_bytes(&self) -> u64 {
        self.keys.iter().map(KeyClass::disk_bytes).sum()
    }

    /// The bytes of the encoded matrices: `(limbs + special)` rows for each diagonal. Diagonals repeat after as many slots as the
    /// layers of their matrix reach over, and a row has two words for each of those, or n.
    #[must_use]
    pub const fn factor_bytes(&self) -> u64 {
        self.factor_bytes
    }

    /// About the bytes of everything else while a ciphertext is bootstrapped: 40 polynomials over all primes. A ring keeps 24
    /// for later, and 16 stand for what else lives: the results of the stages, the powers of the exponential, digits.
    #[must_use]
    pub fn working_bytes(&self) -> u64 {
        let primes = self.parameters.max_level() + 1 + self.parameters.spec().special.count;
        WORKING_POLYNOMIALS * (primes * self.parameters.degree() * size_of::<u64>()) as u64
    }

    /// About the most memory that a program has at once which bootstraps: keys, encoded matrices, and
    /// [what else lives](Self::working_bytes).
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.key_bytes() + self.factor_bytes() + self.working_bytes()
    }

    /// How many bits of a message of size 1 are expected to be right in the worst slot, to about one: `-log2` of the largest
    /// error. A model of the noise where most of it arises; every result has a bound of its own.
    #[must_use]
    pub fn precision_bits(&self, mode: Mode) -> f64 {
        -libm::log2(expected_error(&self.parameters, mode))
    }

    /// The largest error of a message of size 1 that exact arithmetic leaves, all iterations together. Of a second one it is
    /// an estimate: it rests on the bound on the error of the first.
    #[must_use]
    pub fn systematic_error(&self, mode: Mode) -> f64 {
        systematic_error(&self.parameters, mode)
    }

    /// About the seconds of one bootstrap by a party.
    ///
    /// # Errors
    /// A number of threads that its machine was not measured with.
    pub fn seconds(&self, mode: Mode, party: &Party) -> Result<f64> {
        Ok(Time::new(&self.parameters, mode, party)?.seconds())
    }

    /// `log2` of a bound on the probability that any of `bootstraps` results is wrong in some slot because a coefficient
    /// left the interval, see [`log2_failure`](crate::bootstrapping::log2_failure). Each iteration counts.
    #[must_use]
    pub fn log2_failure(&self, bootstraps: u64) -> f64 {
        let spec = self.parameters.spec();
        let ratio = self.parameters.series().ratio();
        let raised = bootstraps.saturating_mul(spec.iterations as u64);
        let coefficients = 2 * self.parameters.slots();
        log2_failure(spec.ephemeral_weight, spec.eval_mod.interval, ratio, coefficients, raised)
    }
}

/// The words of all diagonals of a transform whose first matrix takes `limbs` limbs.
fn factor_words(parameters: &Parameters, direction: Direction, limbs: usize, special: usize) -> usize {
    let groups = &parameters.transform(direction).groups;
    let below = direction.below(groups).into_iter();
    let matrices = groups.iter().zip(below).enumerate().filter(|(_, (group, _))| group.layers > 0);
    let words = matrices.map(|(i, (group, below))| {
        let diagonals = group.offsets(parameters.slots(), below).len();
        diagonals * (limbs - i + special) * row_words(parameters.degree(), 1 << (below + group.layers))
    });
    words.sum()
}
