//! A context: CKKS parameters with their rings and transforms.

use std::sync::{Arc, OnceLock};

use noren_math::roots::fft::FftTable;
use noren_ring::device::Device;
use noren_ring::host::Host;
use noren_ring::parallel::Parallel;
use noren_ring::poly::{Eval, Poly};
use noren_rlwe::context as rlwe;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::galois;

use crate::schemes::ckks::parameters::Parameters;

/// Parameters with their rings and transforms. Cheap to clone, and shared between threads.
#[derive(Clone)]
pub struct Context(Arc<Inner>);

struct Inner {
    parameters: Parameters,
    rlwe: rlwe::Context,
    /// Index k is for 2^k slots.
    transforms: Vec<OnceLock<FftTable>>,
    /// `X^{n/2}`, which is i in every slot.
    imaginary_unit: OnceLock<Poly<Eval>>,
}

impl Context {
    /// The context of these parameters, on the thread pool that is current where it is used.
    ///
    /// # Errors
    /// [`Error::Ring`] if the rings cannot be made.
    pub fn new(parameters: Parameters) -> Result<Self> {
        Self::with_threads(parameters, None)
    }

    /// The context of these parameters with its own threads: `Some(1)` starts none, `None` is as [`Context::new`].
    /// Results do not depend on it.
    ///
    /// # Errors
    /// [`Error::Ring`] if the rings or the threads cannot be made.
    pub fn with_threads(parameters: Parameters, threads: Option<usize>) -> Result<Self> {
        Self::with_parallel(parameters, threads, Parallel::default())
    }

    /// [`Context::with_threads`] with another way to share out loops. Results do not depend on it either.
    ///
    /// # Errors
    /// As [`Context::with_threads`].
    pub fn with_parallel(parameters: Parameters, threads: Option<usize>, parallel: Parallel) -> Result<Self> {
        Self::on_device(parameters, threads, parallel, Arc::new(Host))
    }

    /// [`Context::with_parallel`] on a device: elements and keys lie in its memory, and it computes on them. Results do not depend on
    /// it either.
    ///
    /// # Errors
    /// As [`Context::with_threads`]; [`Error::Ring`] also for a ring that the device does not take.
    pub fn on_device(
        parameters: Parameters,
        threads: Option<usize>,
        parallel: Parallel,
        device: Arc<dyn Device>,
    ) -> Result<Self> {
        let rlwe = rlwe::Context::on_device(parameters.rlwe().clone(), threads, parallel, device)?;
        let transforms = (0..parameters.rlwe().log_n()?).map(|_| OnceLock::new()).collect();
        Ok(Self(Arc::new(Inner { parameters, rlwe, transforms, imaginary_unit: OnceLock::new() })))
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.0.parameters
    }

    /// The rings and converters.
    #[must_use]
    pub fn rlwe(&self) -> &rlwe::Context {
        &self.0.rlwe
    }

    /// The exponent k of the automorphism `X -> X^k` that rotates by `steps`: `5^steps mod 2n`, where steps count
    /// modulo n/2.
    #[must_use]
    pub fn rotation_exponent(&self, steps: isize) -> u32 {
        galois::rotation_exponent(self.parameters().degree(), steps)
    }

    /// The exponent of the automorphism that conjugates every slot: `2n - 1`.
    #[must_use]
    pub fn conjugation_exponent(&self) -> u32 {
        galois::conjugation_exponent(self.parameters().degree())
    }

    /// The transform of `slots` slots.
    ///
    /// # Errors
    /// [`Error::Length`] unless the number is a power of two up to [`Parameters::max_slots`].
    pub(crate) fn transform(&self, slots: usize) -> Result<&FftTable> {
        let most = self.parameters().max_slots();
        if !slots.is_power_of_two() || slots > most {
            let needed = format!("a power of two up to {most}");
            return Err(Error::Length { what: "slots", found: slots, needed });
        }
        Ok(self.0.transforms[slots.ilog2() as usize].get_or_init(|| FftTable::new(slots)))
    }

    /// The polynomial that is i in every slot, over all primes.
    pub(crate) fn imaginary_unit(&self) -> &Poly<Eval> {
        self.0.imaginary_unit.get_or_init(|| self.rlwe().ring().monomial(self.parameters().max_slots()))
    }

    /// Refuses a thing of other parameters.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] with both fingerprints.
    pub(crate) fn check(&self, found: &Parameters, what: &'static str) -> Result<()> {
        if found == self.parameters() {
            return Ok(());
        }
        Err(Error::mismatch(&self.parameters().fingerprint(), &found.fingerprint(), what))
    }

    /// Refuses levels that there are not.
    ///
    /// # Errors
    /// [`Error::LevelExhausted`].
    pub(crate) fn check_level(&self, level: usize) -> Result<()> {
        let left = self.parameters().max_level();
        if level <= left { Ok(()) } else { Err(Error::LevelExhausted { needed: level, left }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schemes::ckks::parameters::ParametersSpec;
    use noren_rlwe::security::Security;

    #[test]
    fn rotation_exponents_are_powers_of_five() {
        let spec =
            ParametersSpec { log_n: 4, log_q: vec![40], log_scale: 30, security: Security::None, ..Default::default() };
        let context = Context::new(spec.build().expect("supported")).expect("rings");
        let exponents: Vec<u32> = (0..9).map(|steps| context.rotation_exponent(steps)).collect();
        assert_eq!(exponents, [1, 5, 25, 29, 17, 21, 9, 13, 1]);
        assert_eq!(context.rotation_exponent(-1), 13);
        assert_eq!(context.conjugation_exponent(), 31);
        assert!(matches!(context.transform(12), Err(Error::Length { found: 12, .. })));
        assert!(matches!(context.transform(16), Err(Error::Length { found: 16, .. })));
    }
}
