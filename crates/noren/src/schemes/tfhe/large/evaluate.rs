//! Large lookups on encrypted digits.

use noren_ring::torus::control_table::ControlTable;
use noren_ring::torus::lwe::Lwe;
use noren_ring::torus::packed_tables::PackedTables;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::torus::circuit::keys::CircuitKeys;

use crate::schemes::tfhe::ciphertext::Ciphertext;
use crate::schemes::tfhe::error::TfheError;
use crate::schemes::tfhe::evaluator::Evaluator;
use crate::schemes::tfhe::large::digits::scale;
use crate::schemes::tfhe::large::lookup::{LargeLookup, Method};
use crate::schemes::tfhe::lookup::{Lookup, Range};

/// How many inputs have their control bits in memory at a time: 3 MB each for 16 bits.
const INPUTS: usize = 16;

impl Evaluator {
    /// The digits of `f(x)`, the lowest first, for the digits of x, the lowest first.
    ///
    /// # Errors
    /// [`Error::Length`] for another number of digits than the lookup has; [`TfheError::OutOfRoom`] for a digit that
    /// may be no message: then take its message part first; [`TfheError::NoisyCombination`] for one with more noise
    /// than [`LargeLookup::max_noise`]; [`Error::MissingKey`] if the lookup needs circuit keys and there are none;
    /// [`Error::ParameterMismatch`] and [`Error::KeyMismatch`] for ciphertexts and lookups of others.
    pub fn lookup_large(&self, digits: &[&Ciphertext], lookup: &LargeLookup) -> Result<Vec<Ciphertext>> {
        Ok(self.lookup_large_each(&[digits], lookup)?.remove(0))
    }

    /// `f(x)` for the digits of each x. Keys are read once for several digits; work is shared out to threads.
    ///
    /// # Errors
    /// As [`Evaluator::lookup_large`].
    pub fn lookup_large_each(&self, inputs: &[&[&Ciphertext]], lookup: &LargeLookup) -> Result<Vec<Vec<Ciphertext>>> {
        self.context().check_fingerprint(&lookup.fingerprint, "the large lookup")?;
        for digits in inputs {
            self.check_digits(digits, lookup)?;
        }
        match &lookup.method {
            Method::Direct(tables) => self.lookup_directly(inputs, tables),
            Method::Circuit { control, tables } => {
                let keys = self.circuit().ok_or_else(|| Error::MissingKey {
                    kind: "circuit bootstrapping".into(),
                    available: "those of bootstraps".into(),
                    keys: Vec::new(),
                })?;
                // With the largest noise that `check_digits` lets pass, a lookup fails as often as the parameters allow.
                let log2_failure =
                    self.context().parameters().spec().max_failure_log2 - libm::log2(lookup.digits as f64);
                self.failures().spend(inputs.len() * lookup.digits, log2_failure)?;
                let results = inputs.chunks(INPUTS).flat_map(|inputs| self.choose(inputs, keys, control, tables));
                let results: Vec<_> = results.collect();
                self.keys().check_file()?;
                let result = |(sample, range): (Lwe, &Range)| Ciphertext {
                    sample,
                    owner: *self.owner(),
                    max: range.max,
                    noise: lookup.noise,
                };
                Ok(results
                    .into_iter()
                    .map(|samples| samples.into_iter().zip(&lookup.ranges).map(result).collect())
                    .collect())
            }
        }
    }

    fn check_digits(&self, digits: &[&Ciphertext], lookup: &LargeLookup) -> Result<()> {
        if digits.len() != lookup.digits {
            let needed = lookup.digits.to_string();
            return Err(Error::Length { what: "digits of a large lookup", found: digits.len(), needed });
        }
        let most = self.context().parameters().message_size() - 1;
        for digit in digits {
            self.owner().check(&digit.owner, "the ciphertext")?;
            if digit.max > most {
                let (what, needed) = ("the largest value of a digit", format!("at most {most}"));
                let hint = "take its message part first";
                return Err(TfheError::OutOfRoom { what, found: digit.max, needed, hint }.into());
            }
            if digit.noise > lookup.max_noise {
                let (what, needed) = ("a digit of a large lookup", lookup.max_noise);
                return Err(TfheError::NoisyCombination { what, found: digit.noise, needed }.into());
            }
        }
        Ok(())
    }

    fn lookup_directly(&self, inputs: &[&[&Ciphertext]], tables: &[Lookup]) -> Result<Vec<Vec<Ciphertext>>> {
        let message_size = self.context().parameters().message_size();
        self.in_parts(inputs, tables.len(), |inputs| {
            let packed = inputs.iter().map(|digits| {
                let factors = std::iter::successors(Some(1), |factor| Some(factor * message_size));
                self.combine(&digits.iter().copied().zip(factors).collect::<Vec<_>>(), 0)
            });
            let packed = packed.collect::<Result<Vec<_>>>()?;
            let pairs: Vec<_> = packed.iter().flat_map(|x| tables.iter().map(move |table| (x, table))).collect();
            Ok(self.lookup_pairs(&pairs)?.chunks(tables.len()).map(<[_]>::concat).collect())
        })
    }

    /// The samples that the control bits of each input choose.
    fn choose(
        &self,
        inputs: &[&[&Ciphertext]],
        keys: &CircuitKeys,
        control: &ControlTable,
        tables: &PackedTables,
    ) -> Vec<Vec<Lwe>> {
        let context = self.context();
        let factor = scale(context.parameters().encoding(), control.bits());
        let scaled = |digit: &&Ciphertext| {
            let mut sample = digit.sample.clone();
            sample.mul_assign(factor.cast_signed());
            sample
        };
        let samples: Vec<Lwe> = inputs.iter().flat_map(|digits| digits.iter().map(scaled)).collect();
        let samples: Vec<&Lwe> = samples.iter().collect();
        let server = context.server();
        let controls = server.circuit_bootstrap((self.keys().bootstrap(), keys.bootstrap()), control, &samples);
        server.lookup(tables, &controls)
    }
}
