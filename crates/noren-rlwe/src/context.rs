//! A context: parameters with their rings and converters.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use noren_math::cyclotomic::Cyclotomic;
use noren_ring::automorphism::Automorphism;
use noren_ring::decompose::Decomposer;
use noren_ring::divide::DivideRound;
use noren_ring::ring::Ring;

use crate::error::{Error, Result};
use crate::parameters::Parameters;

/// Parameters with their rings and converters. Cheap to clone, and shared between threads.
///
/// The primes of the whole ring are `[p_0 ... p_{k-1}, q_0 ... q_L]`, so the ring of any level, with or without the
/// special primes, is a window of it. Converters are made at their first use.
#[derive(Clone)]
pub struct Context(Arc<Inner>);

struct Inner {
    parameters: Parameters,
    ring: Ring,
    decomposer: Option<Decomposer>,
    /// Index i is for i + 1 limbs, in all three.
    rescale: Vec<OnceLock<DivideRound>>,
    mod_down: Vec<OnceLock<DivideRound>>,
    mod_down_rescale: Vec<OnceLock<DivideRound>>,
    automorphisms: RwLock<HashMap<u32, Arc<Automorphism>>>,
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
        let index = Cyclotomic::power_of_two(parameters.degree())?;
        let moduli: Vec<u64> = parameters.p().iter().chain(parameters.q()).copied().collect();
        let ring = Ring::new(index, &moduli, threads)?;
        let decomposer = parameters.gadget().map(|gadget| Decomposer::new(&ring, gadget.clone()));
        let per_level = || (0..parameters.max_limbs()).map(|_| OnceLock::new()).collect();
        let (rescale, mod_down, mod_down_rescale) = (per_level(), per_level(), per_level());
        let automorphisms = RwLock::default();
        Ok(Self(Arc::new(Inner { parameters, ring, decomposer, rescale, mod_down, mod_down_rescale, automorphisms })))
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.0.parameters
    }

    /// The ring over all primes, special ones first.
    #[must_use]
    pub fn ring(&self) -> &Ring {
        &self.0.ring
    }

    /// The ring of ciphertexts of so many limbs: modulo `q_0 ... q_{limbs-1}`.
    ///
    /// # Panics
    /// If there are no limbs, or more than the parameters have.
    #[must_use]
    pub fn ring_q(&self, limbs: usize) -> Ring {
        let special = self.special();
        self.ring().window(special..special + self.check_limbs(limbs))
    }

    /// The ring of keys for so many limbs: modulo `P q_0 ... q_{limbs-1}`.
    ///
    /// # Panics
    /// If there are no limbs, or more than the parameters have.
    #[must_use]
    pub fn ring_qp(&self, limbs: usize) -> Ring {
        self.ring().window(0..self.special() + self.check_limbs(limbs))
    }

    /// Cuts polynomials into digits.
    ///
    /// # Panics
    /// If the parameters have no special primes, so that no key switching key can exist.
    #[must_use]
    pub fn decomposer(&self) -> &Decomposer {
        let Some(decomposer) = &self.0.decomposer else { panic!("key switching without special primes") };
        decomposer
    }

    /// Divides by the special modulus P, from `limbs` limbs and the special ones to `limbs` limbs (ModDown).
    ///
    /// # Panics
    /// If there are no special primes, no limbs, or more limbs than the parameters have.
    #[must_use]
    pub fn mod_down(&self, limbs: usize) -> &DivideRound {
        assert!(self.special() > 0, "there is no special modulus to divide by");
        let special = self.special();
        self.0.mod_down[self.check_limbs(limbs) - 1].get_or_init(|| self.divide(0..special, limbs, limbs))
    }

    /// Divides by P and the last of `limbs` limbs at once, from `limbs` limbs and the special ones to `limbs - 1`.
    ///
    /// # Panics
    /// If there are no special primes, fewer than two limbs, or more limbs than the parameters have.
    #[must_use]
    pub fn mod_down_rescale(&self, limbs: usize) -> &DivideRound {
        assert!(self.special() > 0, "there is no special modulus to divide by");
        assert!(limbs >= 2, "the last limb cannot be dropped");
        let special = self.special();
        self.0.mod_down_rescale[self.check_limbs(limbs) - 1].get_or_init(|| self.divide(0..special, limbs, limbs - 1))
    }

    /// Divides by the last of `limbs` limbs.
    ///
    /// # Panics
    /// If there are fewer than two limbs, or more than the parameters have.
    #[must_use]
    pub fn rescale(&self, limbs: usize) -> &DivideRound {
        assert!(limbs >= 2, "the last limb cannot be dropped");
        self.0.rescale[self.check_limbs(limbs) - 1].get_or_init(|| self.divide(0..0, limbs, limbs - 1))
    }

    /// The automorphism `X -> X^k`, made once.
    ///
    /// # Errors
    /// [`Error::NotAnAutomorphism`] unless k is odd and below 2n.
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
    /// [`Error::NotAnAutomorphism`] unless k is odd and below 2n.
    pub fn check_automorphism(&self, k: u32) -> Result<()> {
        let n = self.parameters().degree();
        if k % 2 == 1 && (k as usize) < 2 * n { Ok(()) } else { Err(Error::NotAnAutomorphism { found: k, n }) }
    }

    /// `P` modulo each of the first `limbs` primes q.
    pub(crate) fn special_residues(&self, limbs: usize) -> Vec<u64> {
        let special = self.parameters().p();
        let product =
            |q: &noren_math::modulus::Modulus| special.iter().fold(1, |product, &p| q.mul(product, q.reduce(p)));
        self.ring_q(limbs).moduli().map(product).collect()
    }

    /// How many special primes there are: the position of q_0 in the whole ring.
    fn special(&self) -> usize {
        self.parameters().p().len()
    }

    fn check_limbs(&self, limbs: usize) -> usize {
        let most = self.parameters().max_limbs();
        assert!((1..=most).contains(&limbs), "{limbs} limbs of 1 to {most}");
        limbs
    }

    /// From `limbs` limbs, and the special primes in `special`, to the first `kept` limbs.
    fn divide(&self, special: Range<usize>, limbs: usize, kept: usize) -> DivideRound {
        let first = self.special();
        let dropped: Vec<usize> = special.chain(first + kept..first + limbs).collect();
        DivideRound::new(self.ring(), &dropped, first..first + kept)
    }
}
