//! Comparisons of real numbers that are decided, where an evaluator has that, in place of polynomials of signs.

use noren_rlwe::error::Result;

use crate::lowering::error::CompileError;
use crate::lowering::lowering::{Lowering, Shared};
use crate::lowering::number::Number;

/// Whether numbers are above 0, decided: exact but in a zone about 0.
pub(crate) trait Decide<C>: Sync {
    /// 1 where a number is above 0 and 0 where it is below, with new levels.
    ///
    /// # Errors
    /// A vector whose errors leave nothing to decide.
    fn is_positive(&self, x: &C) -> Result<Decided<C>>;
}

/// What was decided.
pub(crate) struct Decided<C> {
    /// 1 or 0.
    pub(crate) result: C,
    /// Up to this distance from 0 it may be either.
    pub(crate) dead_zone: f64,
}

impl<E: Shared> Lowering<'_, E> {
    /// Whether numbers are above 0, with the dead zone that was stated.
    ///
    /// # Errors
    /// [`CompileError::DeadZone`] if numbers outside of it may be decided either way.
    pub(super) fn stepped(
        &self,
        at: usize,
        decider: &dyn Decide<E::Ciphertext>,
        x: &E::Ciphertext,
    ) -> Result<E::Ciphertext> {
        let Decided { result, dead_zone: least } = decider.is_positive(x)?;
        let stated = self.dead_zone(at)?;
        // Written so that what is not a number is refused.
        if least <= stated {
            return Ok(result);
        }
        Err(CompileError::DeadZone { place: self.graph.node(at).place.clone(), stated, least }.into())
    }

    /// What is 1 or 0 as 1 or -1: `2 x - 1`, which takes no level.
    pub(super) fn as_sign(&self, x: &E::Ciphertext) -> Result<E::Ciphertext> {
        self.ev.add_scalar(&self.ev.add(x, x)?, E::Scalar::number(-1.0))
    }

    /// `x [x > 0]`. Numbers in the dead zone may become 0 or stay, which the error bound counts.
    pub(super) fn excess_decided(
        &self,
        decider: &dyn Decide<E::Ciphertext>,
        x: &E::Ciphertext,
    ) -> Result<E::Ciphertext> {
        let Decided { result, dead_zone } = decider.is_positive(x)?;
        Ok(self.ev.with_errors(self.ev.mul(x, &result)?, &[], dead_zone))
    }

    /// `|x|`. Numbers in the dead zone may become `-|x|`, which the error bound counts.
    pub(super) fn magnitude_decided(
        &self,
        decider: &dyn Decide<E::Ciphertext>,
        x: &E::Ciphertext,
    ) -> Result<E::Ciphertext> {
        let Decided { result, dead_zone } = decider.is_positive(x)?;
        Ok(self.ev.with_errors(self.ev.mul(x, &self.as_sign(&result)?)?, &[], 2.0 * dead_zone))
    }
}
