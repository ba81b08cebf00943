//! The keys that bootstrapping evaluates with, as they are asked for.

use noren_rlwe::error::Result;
use noren_rlwe::key_request::KeyRequest as RlweRequest;
use noren_rlwe::shape::KeyShape;

use crate::bootstrapping::dft::Direction;
use crate::bootstrapping::key_classes::rotation_shape;
use crate::bootstrapping::matrix::places;
use crate::bootstrapping::parameters::Parameters;
use crate::bootstrapping::slots::projection;
use crate::schemes::ckks::Context;

/// The evaluation keys, each for as many limbs as it is used at: the keys of the usual shape, and the rotations of slot to
/// coefficient.
pub(super) fn requests(context: &Context, parameters: &Parameters) -> Result<[(KeyShape, RlweRequest); 2]> {
    let limbs = parameters.slots_level() + 1;
    let set = |direction| -> Result<(KeyShape, RlweRequest)> {
        let mut galois = Vec::new();
        for place in places(parameters, direction) {
            let steps = place.group.steps(parameters.slots(), place.below, parameters.transform(direction).giants);
            let exponents = steps.keys.into_iter().map(|rotation| context.rotation_exponent(rotation as isize));
            galois.extend(exponents.map(|exponent| (exponent, place.level + 1)));
        }
        let (shape, _) = rotation_shape(parameters, direction)?;
        Ok((shape, RlweRequest { relinearization: None, galois }))
    };
    let (usual, mut request) = set(Direction::CoeffToSlot)?;
    request.relinearization = Some(limbs);
    request.galois.push((context.conjugation_exponent(), limbs));
    let all = parameters.max_level() + 1;
    request.galois.extend(projection(parameters).rotations().into_iter().map(|r| (context.rotation_exponent(r), all)));
    Ok([(usual, request), set(Direction::SlotToCoeff)?])
}
