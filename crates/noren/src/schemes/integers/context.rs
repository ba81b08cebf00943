//! A context: parameters of exact integers with their rings and transforms.

use std::sync::Arc;

use noren_math::cyclotomic::Cyclotomic;
use noren_math::modulus::Modulus;
use noren_math::ntt::table::NttTable;
use noren_ring::parallel::Parallel;
use noren_rlwe::context as rlwe;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::galois;

use crate::schemes::integers::parameters::Parameters;

/// Parameters with their rings and transforms. Cheap to clone, and shared between threads; one context serves BGV and BFV.
#[derive(Clone)]
pub struct Context(Arc<Inner>);

struct Inner {
    parameters: Parameters,
    rlwe: rlwe::Context,
    slots: Option<SlotTransform>,
}

/// The transform between slots and coefficients modulo t.
pub(crate) struct SlotTransform {
    pub(crate) table: NttTable,
    /// The position of each slot among the values of the transform, the first row first.
    pub(crate) positions: Vec<u32>,
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
        let rlwe = rlwe::Context::with_parallel(parameters.rlwe().clone(), threads, Parallel::default())?;
        let slots = if parameters.has_slots() { Some(SlotTransform::new(&parameters)?) } else { None };
        Ok(Self(Arc::new(Inner { parameters, rlwe, slots })))
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

    /// The exponent k of the automorphism `X -> X^k` that rotates both rows by `steps`: `5^steps mod 2n`, where steps count
    /// modulo n/2.
    #[must_use]
    pub fn rotation_exponent(&self, steps: isize) -> u32 {
        galois::rotation_exponent(self.parameters().degree(), steps)
    }

    /// The exponent of the automorphism that swaps the rows: `2n - 1`.
    #[must_use]
    pub fn swap_exponent(&self) -> u32 {
        galois::conjugation_exponent(self.parameters().degree())
    }

    /// The transform of slots.
    ///
    /// # Errors
    /// [`Error::Parameters`] unless t is a prime that is 1 modulo 2n.
    pub(crate) fn slots(&self) -> Result<&SlotTransform> {
        self.0.slots.as_ref().ok_or_else(|| {
            let index = 2 * self.parameters().degree();
            let needed =
                format!("a prime that is 1 modulo {index} for slots: encode coefficients, or use such a prime");
            Error::parameter("plaintext_modulus", self.parameters().modulus().value(), needed)
        })
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
}

impl SlotTransform {
    fn new(parameters: &Parameters) -> Result<Self> {
        let n = parameters.degree();
        let ring = Cyclotomic::power_of_two(n)?;
        let table = NttTable::new(Modulus::new(parameters.modulus().value())?, &ring)?;
        // Value j of the transform is that at the root to the power 2 brv(j) + 1.
        let shift = u32::BITS - n.trailing_zeros();
        let position = |exponent: u32| (exponent / 2).reverse_bits() >> shift;
        let mask = 2 * n as u32 - 1;
        let powers = std::iter::successors(Some(1u32), |power| Some(power.wrapping_mul(5) & mask)).take(n / 2);
        let first: Vec<u32> = powers.collect();
        let second = first.iter().map(|power| position(power.wrapping_neg() & mask));
        let positions = first.iter().map(|&power| position(power)).chain(second).collect();
        Ok(Self { table, positions })
    }
}
