//! Plaintexts of the model of noise.

use noren_rlwe::error::Result;

use crate::schemes::ckks::encoder::transform_error;
use crate::schemes::ckks::error::CkksError;
use crate::schemes::ckks::estimate::{Estimate, Nature, mix};
use crate::schemes::ckks::message::room;
use crate::schemes::ckks::parameters::Parameters;
use crate::schemes::ckks::scale::Scale;
use crate::schemes::range::Range;
use crate::schemes::slots::{Repeated, Scalar, check_values};

/// A plain operand with the estimate of an encoding.
#[derive(Debug, Clone)]
pub struct ModelPlaintext {
    /// None beside vectors without values.
    pub(super) values: Vec<f64>,
    pub(super) slots: usize,
    pub(super) level: usize,
    pub(super) estimate: Estimate,
}

/// How many slots tell a plaintext from others.
const NAMING: usize = 256;

impl ModelPlaintext {
    /// The encoding of values, zeros after them, for a level; the values are kept if that is asked for.
    pub(super) fn new(
        parameters: &Parameters,
        values: &[f64],
        (slots, level): (usize, usize),
        keep: bool,
    ) -> Result<Self> {
        check_values(values.len(), slots)?;
        f64::check(values)?;
        let padded = || values.iter().copied().chain(std::iter::repeat_n(0.0, slots - values.len()));
        let mean = values.iter().map(|x| x.abs()).sum::<f64>() / slots as f64;
        let plaintext =
            Self::told(parameters, (slots, level), (values, values.len() < slots), mean, padded().take(NAMING))?;
        Ok(if keep { Self { values: padded().collect(), ..plaintext } } else { plaintext })
    }

    /// The encoding of a vector that is told by entries, without its values.
    pub(super) fn repeated(
        parameters: &Parameters,
        values: &Repeated<'_, f64>,
        (slots, level): (usize, usize),
    ) -> Result<Self> {
        check_values(values.period(), slots)?;
        f64::check(values.entries)?;
        let mean = values.entries.iter().map(|x| x.abs()).sum::<f64>() * values.spread as f64 / values.period() as f64;
        let names = (0..slots.min(NAMING)).map(|slot| values.at(slot));
        Self::told(parameters, (slots, level), (values.entries, values.has_zeros()), mean, names)
    }

    /// The encoding of numbers, and perhaps zeros, by the mean of their absolute values and the first slots.
    fn told(
        parameters: &Parameters,
        (slots, level): (usize, usize),
        (numbers, has_zeros): (&[f64], bool),
        mean: f64,
        names: impl Iterator<Item = f64>,
    ) -> Result<Self> {
        let zero = if has_zeros { [0.0; 2] } else { [f64::INFINITY, f64::NEG_INFINITY] };
        let [low, high] = numbers.iter().fold(zero, |[low, high], &x| [low.min(x), high.max(x)]);
        let scale = parameters.scale_at(level);
        // No coefficient is larger than the mean of the absolute values.
        check_fits(parameters, mean, level + 1, scale)?;
        let variance = parameters.degree() as f64 / 12.0 / (scale.to_f64() * scale.to_f64());
        let range = Range::real(low, high);
        let tag = names.fold(slots as u64, |tag, x| mix(tag, x.to_bits()));
        let estimate = Estimate::exact(range, tag)
            .with_source(Nature::Plain, variance, 0)
            .with_bias(range.magnitude() * transform_error(slots));
        Ok(Self { values: Vec::new(), slots, level, estimate })
    }
}

/// Refuses a constant that overflows the modulus of `limbs` limbs at a scale, as the scheme does.
pub(super) fn check_fits(parameters: &Parameters, value: f64, limbs: usize, scale: &Scale) -> Result<()> {
    let limit = room(parameters, limbs, scale);
    if value.abs() < limit && scale.round_multiple(value).is_some() {
        return Ok(());
    }
    Err(CkksError::Overflow { index: 0, value, limit, scale_log2: scale.log2() }.into())
}

#[cfg(test)]
mod tests {
    use noren_rlwe::security::Security;

    use super::*;
    use crate::schemes::ckks::ParametersSpec;

    #[test]
    fn entries_tell_as_much_as_all_slots() {
        let (log_q, log_p, log_scale) = (vec![40; 2], vec![40], 40);
        let spec = ParametersSpec { log_n: 11, log_q, log_p, log_scale, dnum: 2, ..ParametersSpec::default() };
        let spec = ParametersSpec { security: Security::None, ..spec };
        let parameters = spec.build().expect("parameters");
        let entries: Vec<f64> = (0..8).map(|k| f64::from(k * 5 % 7) - 2.5).collect();
        for (count, spread, period) in [(8, 1, 8), (8, 4, 32), (5, 4, 32), (8, 128, 1024), (3, 1, 512), (1, 1, 1)] {
            for rotation in [0, 1, 7, 200].map(|rotation| rotation % period) {
                let told = Repeated { entries: &entries[..count], spread, period, rotation };
                let all = told.all(1024);
                assert!((0..1024).all(|slot| all[slot] == told.at(slot)), "{told:?}");
                let mut first: Vec<f64> =
                    (0..period).map(|slot| entries[..count].get(slot / spread).copied().unwrap_or_default()).collect();
                first.rotate_left(rotation);
                assert_eq!(all[..period], first, "{told:?}");
                let [told, all] = [
                    ModelPlaintext::repeated(&parameters, &told, (1024, 1)).expect("a plaintext"),
                    ModelPlaintext::new(&parameters, &all, (1024, 1), true).expect("a plaintext"),
                ];
                assert_eq!(format!("{:?}", told.estimate), format!("{:?}", all.estimate));
            }
        }
    }
}
