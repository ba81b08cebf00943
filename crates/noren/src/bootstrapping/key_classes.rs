//! The keys of bootstrapping: what they are for, what they cover, and how large they are.

use std::collections::BTreeMap;

use noren_ring::gadget::Gadget;
use noren_rlwe::error::Result;
use noren_rlwe::parameters::DIGIT_MARGIN_BITS;
use noren_rlwe::security::SecretDistribution;
use noren_rlwe::shape::KeyShape;

use crate::bootstrapping::dft::Direction;
use crate::bootstrapping::parameters::{Parameters, sizes};
use crate::bootstrapping::slots::projection;

/// The use of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Encryption by anybody.
    Public,
    /// Products, in the exponential and after it.
    Relinearization,
    /// Real and imaginary parts.
    Conjugation,
    /// Rotations in the projection onto the subring of fewer slots.
    Projection,
    /// Rotations in the matrices of coefficient to slot.
    CoeffToSlot,
    /// Rotations in the matrices of slot to coefficient.
    SlotToCoeff,
    /// From the main secret to the ephemeral one, modulo `q_0` times one special prime.
    ToEphemeral,
    /// From the ephemeral secret back to the main one, of the raised ciphertext.
    FromEphemeral,
}

impl Role {
    /// The name of the key in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Public => "public key",
            Self::Relinearization => "relinearisation key",
            Self::Conjugation => "conjugation key",
            Self::Projection => "rotation keys of the projection",
            Self::CoeffToSlot => "rotation keys of coefficient to slot",
            Self::SlotToCoeff => "rotation keys of slot to coefficient",
            Self::ToEphemeral => "key to the ephemeral secret",
            Self::FromEphemeral => "key from the ephemeral secret",
        }
    }
}

/// Keys of bootstrapping of one use and one size. The size of their modulus comes from the sizes of primes that were asked
/// for: the primes themselves, nearest to these sizes, change it by less than 0.01 bits in the presets.
pub type KeyClass = noren_rlwe::key_class::KeyClass<Role>;

/// The shape of the rotation keys of a direction, and how it cuts the primes.
///
/// Those of coefficient to slot are of the usual shape, as all keys of the ring. Those of slot to coefficient cover few
/// limbs: they have the fewest digits, and for these the fewest special primes, that switch without more noise than a
/// rounding.
pub(super) fn rotation_shape(parameters: &Parameters, direction: Direction) -> Result<(KeyShape, Gadget)> {
    if direction == Direction::CoeffToSlot {
        let gadget = parameters.gadget();
        let (limbs, special) = (parameters.max_level() + 1, parameters.spec().special.count);
        return Ok((KeyShape { limbs, special, digits: gadget.digits().len() }, gadget.clone()));
    }
    let limbs = parameters.input_level() + 1;
    let special = parameters.spec().special;
    let bits = sizes(&parameters.log_q()[..limbs]);
    let mut digits = 1;
    loop {
        let gadget = Gadget::new(&bits, special.count, digits)?;
        let size = |digit: &std::ops::Range<usize>| bits[digit.clone()].iter().sum::<f64>();
        let largest = gadget.digits().iter().map(size).fold(0.0, f64::max);
        let needed = libm::ceil((largest + DIGIT_MARGIN_BITS) / f64::from(special.bits)) as usize;
        if needed <= special.count || digits == limbs {
            let special = needed.min(special.count);
            return Ok((KeyShape { limbs, special, digits }, gadget));
        }
        digits += 1;
    }
}

/// All keys, each in one class.
pub(super) fn key_classes(parameters: &Parameters) -> Result<Vec<KeyClass>> {
    let spec = parameters.spec();
    let class = |role, count, limbs: usize, special: usize, digits| {
        let q: u32 = parameters.log_q()[..limbs].iter().sum();
        let log_qp = f64::from(q) + (special * spec.special.bits as usize) as f64;
        KeyClass { role, count, limbs, special, digits, secret: spec.secret, log_qp, degree: parameters.degree() }
    };
    let alive = |limbs| parameters.gadget().digits_at(limbs).len();
    let all = parameters.max_level() + 1;
    let slots = parameters.slots_level() + 1;
    let base = class(Role::ToEphemeral, 1, 1, 1, 1);
    let ephemeral = SecretDistribution::SparseTernary(spec.ephemeral_weight as usize);
    let mut classes = vec![
        class(Role::Public, 1, all, 0, 1),
        class(Role::Relinearization, 1, slots, spec.special.count, alive(slots)),
        class(Role::Conjugation, 1, slots, spec.special.count, alive(slots)),
        KeyClass { secret: ephemeral, ..base },
        class(Role::FromEphemeral, 1, all, 1, 1),
    ];
    let projection = projection(parameters).rotations().len();
    if projection > 0 {
        classes.push(class(Role::Projection, projection, all, spec.special.count, alive(all)));
    }
    for (direction, role) in [(Direction::CoeffToSlot, Role::CoeffToSlot), (Direction::SlotToCoeff, Role::SlotToCoeff)]
    {
        let (shape, gadget) = rotation_shape(parameters, direction)?;
        for (limbs, count) in rotations(parameters, direction, shape.limbs) {
            classes.push(class(role, count, limbs, shape.special, gadget.digits_at(limbs).len()));
        }
    }
    Ok(classes)
}

/// The number of rotations for each number of limbs of their keys, where the first matrix takes `limbs` limbs. A rotation in several
/// matrices has one key, for the first.
fn rotations(parameters: &Parameters, direction: Direction, limbs: usize) -> BTreeMap<usize, usize> {
    let transform = parameters.transform(direction);
    let groups = transform.groups.iter().zip(direction.below(&transform.groups));
    let mut highest = BTreeMap::new();
    for (i, (group, below)) in groups.enumerate() {
        for key in group.steps(parameters.slots(), below, transform.giants).keys {
            highest.entry(key).or_insert(limbs - i);
        }
    }
    let mut counts = BTreeMap::new();
    for limbs in highest.into_values() {
        *counts.entry(limbs).or_default() += 1;
    }
    counts
}
