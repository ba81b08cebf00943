//! A context: parameters of exact integers with their rings and transforms.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use noren_math::cyclotomic::Cyclotomic;
use noren_math::galois_ring::GaloisRing;
use noren_math::modulus::MAX_MODULUS_BITS;
use noren_math::modulus::Modulus;
use noren_math::powerful::PowerfulBasis;
use noren_math::prime::prime_power;
use noren_math::roots::ntt::NttTable;
use noren_ring::device::Device;
use noren_ring::host::Host;
use noren_ring::parallel::Parallel;
use noren_rlwe::context as rlwe;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::galois;

use crate::schemes::integers::grid::{RotationKeys, SlotGrid};
use crate::schemes::integers::parameters::Parameters;
use crate::schemes::integers::plaintext::Plaintext;

/// Parameters with their rings and transforms. Cheap to clone, and shared between threads; one context serves BGV and BFV.
#[derive(Clone)]
pub struct Context(Arc<Inner>);

struct Inner {
    parameters: Parameters,
    rlwe: rlwe::Context,
    slots: Slots,
    /// That of a ring whose index is not a power of two.
    powerful: Option<PowerfulBasis>,
    /// The last plaintexts that operations needed, with the values in their slots.
    kept: Mutex<VecDeque<(Vec<i64>, Arc<Plaintext>)>>,
}

/// How many plaintexts are kept: the masks of both parts of a rotation for a matrix of 16 steps.
const KEPT_PLAINTEXTS: usize = 32;

/// The transform between slots and coefficients modulo t.
enum Slots {
    None,
    Rows(RowTransform),
    Grid(Box<SlotGrid>),
}

/// The transform between two rows of slots and coefficients, for a prime t that is 1 modulo 2n.
pub(crate) struct RowTransform {
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
        Self::on_device(parameters, threads, Arc::new(Host))
    }

    /// [`Context::with_threads`] on a device: elements and keys lie in its memory, and it computes on them. Results do not depend on
    /// it either.
    ///
    /// # Errors
    /// As [`Context::with_threads`]; [`Error::Ring`] also for a ring that the device does not take.
    pub fn on_device(parameters: Parameters, threads: Option<usize>, device: Arc<dyn Device>) -> Result<Self> {
        let rlwe = rlwe::Context::on_device(parameters.rlwe().clone(), threads, Parallel::default(), device)?;
        let slots = match parameters.hypercube() {
            Some(cube) => {
                let (_, r) =
                    prime_power(parameters.modulus().value()).expect("slots are those modulo a power of a prime");
                Slots::Grid(Box::new(SlotGrid::new(cube, r)))
            }
            None if parameters.has_slots() => Slots::Rows(RowTransform::new(&parameters)?),
            None => Slots::None,
        };
        let powerful = (!parameters.has_rows()).then(|| PowerfulBasis::new(parameters.rlwe().index()));
        Ok(Self(Arc::new(Inner { parameters, rlwe, slots, powerful, kept: Mutex::default() })))
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

    /// The plaintext of values that an operation needs whenever it runs, such as masks. It is made by `make`, unless it was kept.
    pub(crate) fn kept(
        &self,
        values: Vec<i64>,
        make: impl FnOnce(&[i64]) -> Result<Plaintext>,
    ) -> Result<Arc<Plaintext>> {
        let find = |kept: &VecDeque<(Vec<i64>, Arc<Plaintext>)>| {
            kept.iter().find(|(known, _)| *known == values).map(|(_, plaintext)| plaintext.clone())
        };
        let lock = || self.0.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = find(&lock()) {
            return Ok(known);
        }
        let made = Arc::new(make(&values)?);
        let mut kept = lock();
        kept.truncate(KEPT_PLAINTEXTS - 1);
        kept.push_front((values, made.clone()));
        Ok(made)
    }

    /// The basis in which coefficients of elements are small; `None` if it is that of powers of X.
    pub(crate) fn powerful(&self) -> Option<&PowerfulBasis> {
        self.0.powerful.as_ref()
    }

    /// The exponent k of the automorphism `X -> X^k` that rotates both rows by `steps`: `5^steps mod 2n`, where steps count
    /// modulo n/2.
    ///
    /// # Errors
    /// [`Error::Parameters`] in a ring without [rows](Parameters::has_rows).
    pub fn rotation_exponent(&self, steps: isize) -> Result<u32> {
        self.parameters().check_rows()?;
        Ok(galois::rotation_exponent(self.parameters().degree(), steps))
    }

    /// The exponents of several rotations: see [`Context::rotation_exponent`].
    pub(crate) fn rotation_exponents(&self, steps: &[isize]) -> Result<Vec<u32>> {
        steps.iter().map(|&steps| self.rotation_exponent(steps)).collect()
    }

    /// The exponent of the automorphism that swaps the rows: `2n - 1`.
    ///
    /// # Errors
    /// As [`Context::rotation_exponent`].
    pub fn swap_exponent(&self) -> Result<u32> {
        self.parameters().check_rows()?;
        Ok(galois::conjugation_exponent(self.parameters().degree()))
    }

    /// The transform of rows of slots.
    ///
    /// # Errors
    /// [`Error::Parameters`] unless t is a prime that is 1 modulo 2n.
    pub(crate) fn rows(&self) -> Result<&RowTransform> {
        self.parameters().check_rows()?;
        match &self.0.slots {
            Slots::Rows(rows) => Ok(rows),
            _ => {
                let index = 2 * self.parameters().degree();
                Err(self.no_slots(format!("a prime below 2^{MAX_MODULUS_BITS} that is 1 modulo {index}")))
            }
        }
    }

    /// The slots of a ring whose index is not a power of two.
    ///
    /// # Errors
    /// [`Error::Parameters`] for powers of two, whose slots stand in rows, and if there are no slots.
    pub(crate) fn grid(&self) -> Result<&SlotGrid> {
        match &self.0.slots {
            Slots::Grid(grid) => Ok(grid),
            _ if self.parameters().has_rows() => {
                let found = format!("degree {}", self.parameters().degree());
                let needed = "an index that is not a power of two: here slots are numbers in two rows";
                Err(Error::parameter("ring", found, needed))
            }
            _ => {
                let index = self.parameters().rlwe().index().index();
                Err(self.no_slots(format!("a power of a prime that does not divide {index}")))
            }
        }
    }

    /// The Galois ring `GR(p^r, d) = Z_(p^r)[Y]/G(Y)` whose elements the slots are, in a ring whose index is not a power of
    /// two.
    ///
    /// # Errors
    /// [`Error::Parameters`] in a ring without such slots.
    pub fn galois_ring(&self) -> Result<&GaloisRing> {
        Ok(self.grid()?.transform().values())
    }

    /// The exponents of the automorphisms that rotate slots along their dimensions by these steps, one number for each
    /// dimension: one where all that move are native, and up to `2^b` where b are not. See
    /// [`Evaluator::rotate_along`](crate::schemes::integers::Evaluator::rotate_along).
    ///
    /// # Errors
    /// [`Error::Length`] unless there is a number for each dimension, [`Error::Parameters`] in a ring without such slots.
    pub fn rotation_along(&self, steps: &[isize]) -> Result<Vec<u32>> {
        Ok(self.grid()?.rotation(steps)?.into_iter().map(|part| part.exponent).collect())
    }

    /// The exponents of the automorphisms of a set of keys for rotations along dimensions and powers of the Frobenius
    /// automorphism. [`Evaluator::rotate_along`](crate::schemes::integers::Evaluator::rotate_along) and `frobenius` take the
    /// fewest automorphisms whose keys there are.
    ///
    /// # Errors
    /// [`Error::Parameters`] in a ring without such slots.
    pub fn automorphisms_of_rotations(&self, set: RotationKeys) -> Result<Vec<u32>> {
        Ok(self.grid()?.rotations_of(set))
    }

    /// The exponent of the Frobenius automorphism to the power i in each slot: `p^i mod m`.
    ///
    /// # Errors
    /// [`Error::Parameters`] in a ring without such slots.
    pub fn frobenius_exponent(&self, i: usize) -> Result<u32> {
        Ok(self.grid()?.frobenius(i))
    }

    fn no_slots(&self, modulus: String) -> Error {
        let needed = format!("{modulus} for slots: encode coefficients, or use such a modulus");
        Error::parameter("plaintext_modulus", self.parameters().modulus().value(), needed)
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

impl RowTransform {
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
