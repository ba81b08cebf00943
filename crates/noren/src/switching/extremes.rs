//! The smallest and the largest of the slots of a ciphertext, by a tournament.

use std::borrow::Cow;

use noren_rlwe::error::{Error, Result};

use crate::bootstrapping::bootstrapper::MAX_MAGNITUDE;
use crate::schemes::ckks::{Ciphertext, Scale};
use crate::schemes::failures::log2_sum;
use crate::schemes::slots::SlotEvaluator;
use crate::switching::switch::SchemeSwitch;

/// The smallest or the largest of several slots.
#[derive(Clone)]
pub struct Extreme {
    /// Its value: one, in slot 0. The error bound counts the dead zones of all rounds.
    pub value: Ciphertext,
    /// Its number: one, in slot 0. Of numbers that are nearer to each other than the dead zone it may be any.
    pub index: Ciphertext,
    /// By how much the slot that was found may be worse than the best one.
    pub dead_zone: f64,
    /// `log2` of a bound on how likely it is worse by more.
    pub log2_failure: f64,
}

impl SchemeSwitch {
    /// The rotations that [`argmin`](Self::argmin) and [`argmax`](Self::argmax) of so many slots need, whose keys
    /// [`BootstrapKeys::generate_for`](crate::bootstrapping::BootstrapKeys::generate_for) makes for an application: all powers of
    /// two below the count.
    #[must_use]
    pub fn rotations_of_extremes(count: usize) -> Vec<isize> {
        (0..usize::BITS).map(|log| 1 << log).take_while(|&step: &isize| (step as usize) < count).collect()
    }

    /// The smallest of the first `count` slots, and its number: a tournament of `log2 count` rounds, each of which compares the
    /// halves of what is left. Values that run out of levels are bootstrapped.
    ///
    /// # Errors
    /// As [`SchemeSwitch::less`]; [`Error::Length`] for no slots, or more than there are; [`Error::MissingKey`] names rotations
    /// without keys.
    pub fn argmin(&self, x: &Ciphertext, count: usize) -> Result<Extreme> {
        if !(1..=x.slots()).contains(&count) {
            let needed = format!("1 to {}", x.slots());
            return Err(Error::Length { what: "slots of a tournament", found: count, needed });
        }
        let ckks = self.ckks();
        let [low, high] = self.interval(x)?;
        self.check_rotations(&Self::rotations_of_extremes(count))?;
        // Keys for rotations serve up to the level of results.
        let highest = self.bootstrapper().output_level();
        let mut value = if x.level() > highest { Cow::Owned(ckks.at_level(x, highest)?) } else { Cow::Borrowed(x) };
        let (mut index, mut left): (Option<Ciphertext>, usize) = (None, count);
        let (mut dead_zone, mut log2_failure) = (0.0, f64::NEG_INFINITY);
        while left > 1 {
            let half = left.next_power_of_two() / 2;
            // The choice takes a level, and what is left has to go down once more, or to be bootstrapped.
            let spent = |a: &Ciphertext| half > 1 && a.level() <= self.bootstrapper().parameters().input_level();
            if spent(&value) {
                value = Cow::Owned(self.renewed(&value)?);
                log2_failure = log2_sum(log2_failure, self.bootstrapper().sine_failure());
            }
            if let Some(number) = index.as_ref().filter(|index| spent(index)) {
                index = Some(self.renewed(number)?);
                log2_failure = log2_sum(log2_failure, self.bootstrapper().sine_failure());
            }
            let step = half.cast_signed();
            let other = SlotEvaluator::rotate(ckks, &value, step)?.with_range(low, high);
            // Slots without another one win.
            let pairs = |a: Ciphertext| a.with_length(Some(left - half));
            let difference = pairs(SlotEvaluator::sub(ckks, &other, &value)?)?;
            let decision = self.is_positive_or_absent(&difference)?;
            let wins = decision.result.with_length(None)?;
            let next = self.ckks().select(&wins, &value.clone().into_owned().with_length(None)?, &other)?;
            let further = match &index {
                None => None,
                Some(index) => Some(SlotEvaluator::rotate(ckks, index, step)?),
            };
            // Where the other one wins its number is its own, and the step besides.
            let lost = ckks.add_const(&SlotEvaluator::neg(ckks, &wins)?, 1.0.into())?;
            let number = match (index, further) {
                (Some(index), Some(further)) => {
                    let further = ckks.add_const(&further, (half as f64).into())?;
                    self.ckks().select(&wins, &index, &further)?
                }
                _ => ckks.mul_integer(&lost, step as i64)?,
            };
            index = Some(number.with_range(0.0, (count - 1) as f64));
            dead_zone += decision.dead_zone;
            log2_failure = log2_sum(log2_failure, decision.log2_failure);
            // The candidates left are entries, with their own errors: later rounds are no wider for an entry that this one may
            // have missed.
            value = Cow::Owned(next.with_range(low, high));
            left = half;
        }
        let index = match index {
            Some(index) => index,
            None => ckks.sub(&value, &value)?,
        };
        let index = index.with_range(0.0, (count - 1) as f64).with_length(Some(1))?;
        let value = ckks.with_errors(value.into_owned(), &[], dead_zone).with_length(Some(1))?;
        Ok(Extreme { value, index, dead_zone, log2_failure })
    }

    /// The same message at the level of results; one that is too large is divided by a power of two on its way.
    fn renewed(&self, a: &Ciphertext) -> Result<Ciphertext> {
        let excess = libm::ceil(libm::log2((a.magnitude() + a.error_bound()) / MAX_MAGNITUDE));
        if !(1.0..f64::from(i64::BITS - 1)).contains(&excess) {
            return self.bootstrapper().bootstrap(a);
        }
        let small = self.ckks().reinterpret(a.clone(), &Scale::from_log2(excess as u32))?;
        self.ckks().mul_integer(&self.bootstrapper().bootstrap(&small)?, 1 << excess as u32)
    }

    /// The largest of the first `count` slots; as [`SchemeSwitch::argmin`].
    ///
    /// # Errors
    /// As [`SchemeSwitch::argmin`].
    pub fn argmax(&self, x: &Ciphertext, count: usize) -> Result<Extreme> {
        let found = self.argmin(&SlotEvaluator::neg(self.ckks(), x)?, count)?;
        Ok(Extreme { value: SlotEvaluator::neg(self.ckks(), &found.value)?, ..found })
    }
}
