//! Right or wrong: results are decrypted and compared before they are timed.

use std::hint::black_box;

use noren::Complex64;
use noren::ckks::{Ciphertext, Decryptor};

use crate::bench::run::Run;
use crate::failure::Failure;

/// Decrypts and compares.
pub(super) struct Judge<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) decryptor: &'a Decryptor<'a>,
}

impl Judge<'_> {
    /// Whether every slot is as near to what it should hold as the result says itself; warns if not.
    pub(super) fn is_right(
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

/// Numbers of absolute value 1 for all slots.
pub(super) fn values(slots: usize) -> Vec<Complex64> {
    (0..slots).map(|j| Complex64::cis(j as f64)).collect()
}

/// The end of a result, which belongs to the time of making it: memory goes back to where the next result takes it.
pub(super) fn drop_result<T>(result: T) {
    drop(black_box(result));
}
