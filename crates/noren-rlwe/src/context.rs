//! A context: parameters with their rings and converters.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use noren_math::machine::memory;
use noren_ring::automorphism::Automorphism;
use noren_ring::device::Device;
use noren_ring::divide::DivideRound;
use noren_ring::host::Host;
use noren_ring::parallel::Parallel;
use noren_ring::product::ScaledProduct;
use noren_ring::ring::Ring;
use noren_ring::window::Window;

use crate::error::{Error, Result};
use crate::parameters::Parameters;
use crate::shape::KeyShape;
use crate::switching::Switching;

/// Parameters with their rings and converters. Cheap to clone, and shared between threads.
///
/// The primes of the whole ring are the auxiliary ones, if there are any, and `[p_0 ... p_{k-1}, q_0 ... q_L]`, so the ring
/// of any level, with or without the special primes, is a window of it. Converters are made at their first use.
#[derive(Clone)]
pub struct Context(Arc<Inner>);

struct Inner {
    parameters: Parameters,
    ring: Ring,
    /// The usual converters, if there are special primes, and those of other shapes that were asked for.
    usual: Option<Arc<Switching>>,
    shaped: RwLock<HashMap<KeyShape, Arc<Switching>>>,
    /// Index i is for i + 1 limbs.
    rescale: Vec<OnceLock<DivideRound>>,
    /// Divisions by several limbs, by the limbs before and after.
    mod_switch: RwLock<HashMap<(usize, usize), Arc<DivideRound>>>,
    /// By limbs and t.
    scaled_products: RwLock<HashMap<(usize, u64), Arc<ScaledProduct>>>,
    automorphisms: RwLock<HashMap<u32, Arc<Automorphism>>>,
    /// Index k is for degree 2^k.
    subrings: Vec<OnceLock<Ring>>,
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
    /// [`Error::Ring`] if the rings or the threads cannot be made, [`Error::Memory`] if there is not memory for their tables.
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

    /// [`Context::with_parallel`] on a device: elements lie in its memory, and it computes on them. Results do not depend on it.
    ///
    /// # Errors
    /// As [`Context::with_threads`].
    pub fn on_device(
        parameters: Parameters,
        threads: Option<usize>,
        parallel: Parallel,
        device: Arc<dyn Device>,
    ) -> Result<Self> {
        let index = *parameters.index();
        let moduli: Vec<u64> = parameters.primes().collect();
        let window = memory::refusing(|| Window::new(index, &moduli, threads, parallel))??;
        let ring = Ring::on(device, window)?;
        let shape = parameters.shape();
        let switching = || memory::refusing(|| Switching::new(&parameters, &ring, shape))?.map(Arc::new);
        let usual = (shape.digits > 0).then(switching).transpose()?;
        let rescale = (0..parameters.max_limbs()).map(|_| OnceLock::new()).collect();
        let caches = (RwLock::default(), RwLock::default(), RwLock::default(), RwLock::default());
        let (shaped, mod_switch, scaled_products, automorphisms) = caches;
        let subrings = (0..=parameters.log_n().unwrap_or(0)).map(|_| OnceLock::new()).collect();
        let inner =
            Inner { parameters, ring, usual, shaped, rescale, mod_switch, scaled_products, automorphisms, subrings };
        Ok(Self(Arc::new(inner)))
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.0.parameters
    }

    /// Whether both are clones of one context, which share rings and threads.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The ring over all primes, those of ciphertexts last.
    #[must_use]
    pub fn ring(&self) -> &Ring {
        &self.0.ring
    }

    /// The [subring](Ring::subring) of a smaller degree over all primes, made once.
    ///
    /// # Panics
    /// As [`Ring::subring`], and if the index is not a power of two.
    #[must_use]
    pub fn subring(&self, degree: usize) -> &Ring {
        let known = self.0.subrings.get(degree.ilog2() as usize).filter(|_| degree.is_power_of_two());
        let known = known.unwrap_or_else(|| panic!("there is no subring of degree {degree}"));
        known.get_or_init(|| self.ring().subring(degree))
    }

    /// The ring of ciphertexts of `limbs` limbs: modulo `q_0 ... q_{limbs-1}`.
    ///
    /// # Panics
    /// If there are no limbs, or more than the parameters have.
    #[must_use]
    pub fn ring_q(&self, limbs: usize) -> Ring {
        let first = self.parameters().first_limb();
        self.ring().window(first..first + self.check_limbs(limbs))
    }

    /// The ring of keys for `limbs` limbs: modulo `P q_0 ... q_{limbs-1}`.
    ///
    /// # Panics
    /// If there are no limbs, or more than the parameters have.
    #[must_use]
    pub fn ring_qp(&self, limbs: usize) -> Ring {
        let parameters = self.parameters();
        self.ring().window(parameters.auxiliary().len()..parameters.first_limb() + self.check_limbs(limbs))
    }

    /// The converters that switch with keys of this shape, made once.
    ///
    /// # Errors
    /// [`Error::Parameters`] if the parameters have fewer primes than the shape, or the shape not one for each digit.
    pub fn switching(&self, shape: KeyShape) -> Result<Arc<Switching>> {
        if let Some(usual) = self.0.usual.as_ref().filter(|usual| usual.shape() == shape) {
            return Ok(usual.clone());
        }
        if let Some(known) = self.0.shaped.read().unwrap_or_else(PoisonError::into_inner).get(&shape) {
            return Ok(known.clone());
        }
        let made = Arc::new(Switching::new(self.parameters(), self.ring(), shape)?);
        let mut cache = self.0.shaped.write().unwrap_or_else(PoisonError::into_inner);
        Ok(cache.entry(shape).or_insert(made).clone())
    }

    /// Divides by the last of `limbs` limbs.
    ///
    /// # Panics
    /// If there are fewer than two limbs, or more than the parameters have.
    #[must_use]
    pub fn rescale(&self, limbs: usize) -> &DivideRound {
        assert!(limbs >= 2, "the last limb cannot be dropped");
        self.0.rescale[self.check_limbs(limbs) - 1].get_or_init(|| {
            let first = self.parameters().first_limb();
            let last = first + limbs - 1;
            DivideRound::new(self.ring(), &[last], first..last)
        })
    }

    /// Divides by all but the first `kept` of `limbs` limbs, made once.
    ///
    /// # Panics
    /// Unless `1 <= kept < limbs`, and the parameters have `limbs` limbs.
    #[must_use]
    pub fn mod_switch(&self, limbs: usize, kept: usize) -> Arc<DivideRound> {
        assert!((1..limbs).contains(&kept), "{kept} of {limbs} limbs cannot be kept");
        if let Some(known) = self.0.mod_switch.read().unwrap_or_else(PoisonError::into_inner).get(&(limbs, kept)) {
            return known.clone();
        }
        let first = self.parameters().first_limb();
        let dropped: Vec<usize> = (first + kept..first + self.check_limbs(limbs)).collect();
        let made = Arc::new(DivideRound::new(self.ring(), &dropped, first..first + kept));
        let mut cache = self.0.mod_switch.write().unwrap_or_else(PoisonError::into_inner);
        cache.entry((limbs, kept)).or_insert(made).clone()
    }

    /// Multiplies ciphertexts of `limbs` limbs with a message times `Q/t`; made once.
    ///
    /// # Errors
    /// [`Error::Parameters`] if there are too few auxiliary primes.
    ///
    /// # Panics
    /// If there are no limbs, or more than the parameters have, or t is a multiple of a prime.
    pub(crate) fn scaled_product(&self, limbs: usize, t: u64) -> Result<Arc<ScaledProduct>> {
        if let Some(known) = self.0.scaled_products.read().unwrap_or_else(PoisonError::into_inner).get(&(limbs, t)) {
            return Ok(known.clone());
        }
        let auxiliary = self.parameters().auxiliary_limbs(self.check_limbs(limbs), 1)?;
        let made = Arc::new(ScaledProduct::new(self.ring(), self.ring_q(limbs).range(), auxiliary, t));
        let mut cache = self.0.scaled_products.write().unwrap_or_else(PoisonError::into_inner);
        Ok(cache.entry((limbs, t)).or_insert(made).clone())
    }

    /// The automorphism `X -> X^k`, made once.
    ///
    /// # Errors
    /// [`Error::NotAnAutomorphism`] unless k is below the index and a unit modulo it.
    pub fn automorphism(&self, k: u32) -> Result<Arc<Automorphism>> {
        if let Some(known) = self.0.automorphisms.read().unwrap_or_else(PoisonError::into_inner).get(&k) {
            return Ok(known.clone());
        }
        self.check_automorphism(k)?;
        let made = Arc::new(Automorphism::new(self.ring().index(), k)?);
        let mut cache = self.0.automorphisms.write().unwrap_or_else(PoisonError::into_inner);
        Ok(cache.entry(k).or_insert(made).clone())
    }

    /// Refuses exponents that are not those of an automorphism.
    ///
    /// # Errors
    /// [`Error::NotAnAutomorphism`] unless k is below the index and a unit modulo it.
    pub fn check_automorphism(&self, k: u32) -> Result<()> {
        let ring = self.parameters().index();
        let fits = k < ring.index() && ring.is_unit(k);
        if fits { Ok(()) } else { Err(Error::NotAnAutomorphism { found: k, index: ring.index() }) }
    }

    fn check_limbs(&self, limbs: usize) -> usize {
        let most = self.parameters().max_limbs();
        assert!((1..=most).contains(&limbs), "{limbs} limbs of 1 to {most}");
        limbs
    }
}
