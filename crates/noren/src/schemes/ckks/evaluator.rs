//! Operations on ciphertexts.

pub(crate) mod exact;
mod levels;
mod matrices;
pub(crate) mod operands;
mod products;
pub(super) mod rotations;
mod sums;

use std::borrow::Cow;
use std::sync::Arc;

use noren_ring::ring::Ring;
use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::keys::EvaluationKeys;

use crate::schemes::ckks::content::Content;
use crate::schemes::ckks::context::Context;
use crate::schemes::ckks::encoder::Plaintext;
use crate::schemes::ckks::encryption::Ciphertext;
use crate::schemes::ckks::error::CkksError;
use crate::schemes::ckks::estimate::Estimate;
use crate::schemes::ckks::scale::Scale;

/// Scales that differ by less than this part are taken for equal; the difference counts as an error.
const SCALE_TOLERANCE: f64 = 1.0 / (1u64 << 30) as f64;

/// Evaluates on ciphertexts, with keys that decrypt nothing. Cheap to clone, and shared between threads.
///
/// - **Levels.** Every product uses one level. Operands at different levels are brought to the lower one.
/// - **Scales.** Ciphertexts at the canonical scale of their level,
///   [`Parameters::scale_at`](crate::schemes::ckks::parameters::Parameters::scale_at), give results at the canonical
///   scale, within a stage where there are [several](crate::schemes::ckks::parameters::ParametersSpec::restarts). Scales
///   are tracked exactly, and unequal ones are never added: [`CkksError::ScaleMismatch`], see [`Evaluator::align`].
///   [`Evaluator::combine`] and [`Evaluator::dot_combine`] lead to any scale.
/// - **Errors.** Every result carries a bound on its error, [`Ciphertext::error_bound`].
///
/// Every operation refuses ciphertexts of other parameters with [`Error::ParameterMismatch`], those of another secret key than
/// that of the keys with [`Error::KeyMismatch`], and operands of different numbers of slots with [`Error::Length`].
#[derive(Clone)]
pub struct Evaluator {
    context: Context,
    keys: Arc<EvaluationKeys>,
}

impl Evaluator {
    /// The evaluator of these keys.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if the keys were made with other parameters.
    pub fn new(context: &Context, keys: Arc<EvaluationKeys>) -> Result<Self> {
        context.parameters().rlwe().check_fingerprint(&keys.parameters().fingerprint(), "the evaluation keys")?;
        Ok(Self { context: context.clone(), keys })
    }

    /// The context.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The keys.
    #[must_use]
    pub fn keys(&self) -> &Arc<EvaluationKeys> {
        &self.keys
    }

    /// The ring of the ciphertexts of a level.
    fn ring(&self, level: usize) -> Ring {
        self.context.rlwe().ring_q(level + 1)
    }

    /// Refuses a ciphertext of other parameters or of another secret key.
    pub(crate) fn check(&self, a: &Ciphertext) -> Result<()> {
        self.context.check(a.parameters(), "the ciphertext")?;
        self.keys.check_ciphertext(a.rlwe())
    }

    fn check_pair(&self, a: &Ciphertext, b: &Ciphertext) -> Result<()> {
        self.check(a)?;
        self.check(b)?;
        check_slots(b.slots(), a.slots())
    }

    fn check_plain(&self, a: &Ciphertext, p: &Plaintext) -> Result<()> {
        self.check(a)?;
        self.context.check(p.parameters(), "the plaintext")?;
        check_slots(p.slots(), a.slots())?;
        if p.level() == a.level() {
            return Ok(());
        }
        Err(Error::LevelMismatch { left: a.level(), right: p.level() })
    }

    /// Both at the lower of their levels, for a product: the higher at the canonical scale of that level.
    fn level_pair<'a>(&self, a: &'a Ciphertext, b: &'a Ciphertext) -> Result<[Cow<'a, Ciphertext>; 2]> {
        self.check_pair(a, b)?;
        let level = a.level().min(b.level());
        Ok([self.lowered(a, level)?, self.lowered(b, level)?])
    }

    /// The ciphertext at a level, copied only where it is higher.
    fn lowered<'a>(&self, a: &'a Ciphertext, level: usize) -> Result<Cow<'a, Ciphertext>> {
        if a.level() == level { Ok(Cow::Borrowed(a)) } else { Ok(Cow::Owned(self.at_level(a, level)?)) }
    }

    /// A result.
    fn result(&self, inner: rlwe::Ciphertext, scale: Scale, content: Content) -> Ciphertext {
        Ciphertext::new(inner, scale, content, self.context.parameters().clone())
    }

    /// The result of an operation on one vector that leaves slots where they are.
    fn of_one(&self, a: &Ciphertext, inner: rlwe::Ciphertext, scale: Scale, estimate: Estimate) -> Ciphertext {
        self.result(inner, scale, Content::slot_by_slot(a.content(), [], estimate))
    }
}

/// Refuses an operation that uses more levels than are left.
fn check_levels(needed: usize, left: usize) -> Result<()> {
    if needed <= left { Ok(()) } else { Err(Error::LevelExhausted { needed, left }) }
}

fn check_slots(found: usize, needed: usize) -> Result<()> {
    if found == needed {
        return Ok(());
    }
    Err(Error::Length { what: "slots of the second operand", found, needed: needed.to_string() })
}

/// Refuses scales that differ; gives by what part they still do.
fn check_scales(left: &Scale, right: &Scale) -> Result<f64> {
    let deviation = right.deviation_from(left).abs();
    if deviation <= SCALE_TOLERANCE {
        return Ok(deviation);
    }
    Err(CkksError::ScaleMismatch { left_log2: left.log2(), right_log2: right.log2() }.into())
}

/// Refuses an empty sum; gives its first term.
fn first<'a, T>(what: &'static str, terms: &'a [T]) -> Result<&'a T> {
    terms.first().ok_or_else(|| Error::Length { what, found: 0, needed: "at least 1".into() })
}
