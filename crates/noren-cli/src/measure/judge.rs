//! Right or wrong: results are decrypted and compared before they are timed.

use std::hint::black_box;

use noren::ckks::{Ciphertext, Decryptor};
use noren::{Complex64, Seed};

use crate::failure::Failure;
use crate::measure::run::Run;

/// Decrypts and compares.
pub struct Judge<'a> {
    /// Where it warns.
    pub run: &'a Run<'a>,
    /// Of the secret of all results.
    pub decryptor: &'a Decryptor<'a>,
}

impl Judge<'_> {
    /// Whether every slot is as near to what it should hold as the result says itself; warns if not.
    pub fn is_right(
        &self,
        op: &str,
        result: &Ciphertext,
        expected: impl Fn(usize) -> Complex64,
    ) -> Result<bool, Failure> {
        let found = self.decryptor.decrypt_complex(result)?;
        let distances = found.iter().enumerate().map(|(j, x)| (x - expected(j)).norm());
        let (error, bound) = (distances.fold(0.0, f64::max), result.error_bound());
        if error <= bound {
            return Ok(true);
        }
        self.run.warn(&format!("{op}: the result is off by {error:e}, its bound is {bound:e}"));
        Ok(false)
    }
}

/// Measurements use the same keys each time.
pub fn seed(number: u8) -> Seed {
    Seed::from_bytes([number; 32])
}

/// Numbers of absolute value 1 for all slots.
pub fn values(slots: usize) -> Vec<Complex64> {
    (0..slots).map(|j| Complex64::cis(j as f64)).collect()
}

/// The end of a result, which belongs to the time of making it: memory goes back to where the next result takes it.
pub fn drop_result<T>(result: T) {
    drop(black_box(result));
}
