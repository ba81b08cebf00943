//! Sets of evaluation keys: what is in them, and both of two.

use std::collections::BTreeMap;

use noren::{EvaluationKeys, KeyNeed, KeyUse};
use noren_rlwe::context::Context;
use noren_rlwe::key_request::KeyRequest;
use noren_rlwe::owner::KeyId;
use pyo3::prelude::*;

use crate::errors::raise;
use crate::evaluators::Match;

/// All keys of two sets of one secret.
pub(crate) fn merged(left: &EvaluationKeys, right: &EvaluationKeys) -> PyResult<EvaluationKeys> {
    let mut merged = left.clone();
    merged.merge(right.clone()).map_err(raise)?;
    Ok(merged)
}

/// The rotations that there are keys for, by the shorter way round, each with the most limbs that its key serves.
pub(crate) fn rotations(keys: &EvaluationKeys) -> BTreeMap<isize, usize> {
    let rotation = |need: KeyNeed| match need.usage {
        KeyUse::Rotation { steps, .. } => Some((steps, need.limbs)),
        _ => None,
    };
    keys.uses().filter_map(rotation).collect()
}

/// Whether there is a key for conjugation, or the swap of rows.
pub(crate) fn has_conjugation(keys: &EvaluationKeys) -> bool {
    keys.uses().any(|need| need.usage == KeyUse::Conjugation)
}

/// How keys in a context serve a ciphertext of a secret key in another context.
pub(crate) fn serves(context: &Context, keys: &EvaluationKeys, other: &Context, key: KeyId) -> Match {
    let same_parameters = context.parameters().fingerprint() == other.parameters().fingerprint();
    match (same_parameters, keys.owner().key == key) {
        (false, _) => Match::Foreign,
        (true, false) => Match::OtherKey,
        (true, true) if context.is(other) => Match::Context,
        (true, true) => Match::Parameters,
    }
}

/// Whether a set has all keys of another, for as many limbs.
pub(crate) fn covers(keys: &EvaluationKeys, other: &EvaluationKeys) -> bool {
    keys.lacking(&other.request()) == KeyRequest::default()
}
