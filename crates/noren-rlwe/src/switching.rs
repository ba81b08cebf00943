//! The converters that switch with keys of one shape.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use noren_ring::decompose::Decomposer;
use noren_ring::divide::DivideRound;
use noren_ring::product_switch::SwitchedProduct;
use noren_ring::ring::Ring;

use crate::error::Result;
use crate::parameters::Parameters;
use crate::shape::KeyShape;

/// The converters that switch with keys of one shape, made at their first use.
#[derive(Debug)]
pub struct Switching {
    shape: KeyShape,
    parameters: Parameters,
    whole: Ring,
    decomposer: Decomposer,
    /// From i + 1 limbs to j + 1 of them at index i, j.
    mod_down: Vec<Vec<OnceLock<Box<DivideRound>>>>,
    /// By limbs, the limbs that are kept, and t.
    products: RwLock<HashMap<(usize, usize, u64), Arc<SwitchedProduct>>>,
}

impl Switching {
    /// The converters of a shape, over the ring of all primes.
    ///
    /// # Errors
    /// As [`Parameters::gadget_of`].
    pub(crate) fn new(parameters: &Parameters, ring: &Ring, shape: KeyShape) -> Result<Self> {
        let to_fewer = |limbs| (0..limbs).map(|_| OnceLock::new()).collect();
        Ok(Self {
            decomposer: Decomposer::new(ring, parameters.gadget_of(shape)?),
            shape,
            parameters: parameters.clone(),
            whole: ring.whole(),
            mod_down: (1..=shape.limbs).map(to_fewer).collect(),
            products: RwLock::default(),
        })
    }

    /// The shape.
    #[must_use]
    pub fn shape(&self) -> KeyShape {
        self.shape
    }

    /// Cuts polynomials into digits.
    #[must_use]
    pub fn decomposer(&self) -> &Decomposer {
        &self.decomposer
    }

    /// The ring of ciphertexts of `limbs` limbs: modulo `q_0 ... q_{limbs-1}`.
    ///
    /// # Panics
    /// If there are no limbs, or more than the shape has.
    #[must_use]
    pub fn ring_q(&self, limbs: usize) -> Ring {
        let first = self.first();
        self.whole.window(first..first + self.check_limbs(limbs))
    }

    /// The ring of keys for `limbs` limbs: modulo `P q_0 ... q_{limbs-1}`.
    ///
    /// # Panics
    /// If there are no limbs, or more than the shape has.
    #[must_use]
    pub fn ring_qp(&self, limbs: usize) -> Ring {
        self.ring_q(limbs).ring_qp(&self.decomposer)
    }

    /// Divides by P, from `limbs` limbs and the special ones to `limbs` limbs (ModDown).
    ///
    /// # Panics
    /// If there are no limbs, or more than the shape has.
    #[must_use]
    pub fn mod_down(&self, limbs: usize) -> &DivideRound {
        self.mod_down_to(limbs, limbs)
    }

    /// Divides by P and the last of `limbs` limbs at once, from `limbs` limbs and the special ones to `limbs - 1`.
    ///
    /// # Panics
    /// If there are fewer than two limbs, or more than the shape has.
    #[must_use]
    pub fn mod_down_rescale(&self, limbs: usize) -> &DivideRound {
        assert!(limbs >= 2, "the last limb cannot be dropped");
        self.mod_down_to(limbs, limbs - 1)
    }

    /// Divides by P and all but the first `kept` of `limbs` limbs at once.
    ///
    /// # Panics
    /// If no limbs are kept, or more than there are, or there are more than the shape has.
    #[must_use]
    pub fn mod_down_to(&self, limbs: usize, kept: usize) -> &DivideRound {
        assert!((1..=self.check_limbs(limbs)).contains(&kept), "{kept} limbs of {limbs} cannot be kept");
        self.mod_down[limbs - 1][kept - 1].get_or_init(|| self.divide(limbs, kept).into())
    }

    /// Multiplies ciphertexts of `limbs` limbs with a message times `Q/t`, relinearises, and keeps the first `kept` limbs.
    ///
    /// # Errors
    /// As [`Parameters::auxiliary_limbs`].
    ///
    /// # Panics
    /// As [`Switching::mod_down_to`], or if t is a multiple of a prime.
    pub(crate) fn scaled_product(&self, limbs: usize, kept: usize, t: u64) -> Result<Arc<SwitchedProduct>> {
        if let Some(known) = self.products.read().unwrap_or_else(PoisonError::into_inner).get(&(limbs, kept, t)) {
            return Ok(known.clone());
        }
        let auxiliary = self.parameters.auxiliary_limbs(limbs, self.shape.special)?;
        let q = self.ring_q(limbs).range();
        let made = Arc::new(SwitchedProduct::new(&self.decomposer, q, auxiliary, kept, t));
        let mut cache = self.products.write().unwrap_or_else(PoisonError::into_inner);
        Ok(cache.entry((limbs, kept, t)).or_insert(made).clone())
    }

    /// P modulo each of the first `limbs` primes q.
    pub(crate) fn special_residues(&self, limbs: usize) -> Vec<u64> {
        let ring = self.ring_q(limbs);
        let special = self.whole.window(self.decomposer.gadget().skipped()..self.first());
        let product = |q: &noren_math::modulus::Modulus| {
            special.moduli().fold(1, |product, p| q.mul(product, q.reduce(p.value())))
        };
        ring.moduli().map(product).collect()
    }

    /// The position of q_0 in the whole ring.
    fn first(&self) -> usize {
        self.decomposer.gadget().special()
    }

    fn check_limbs(&self, limbs: usize) -> usize {
        let most = self.shape.limbs;
        assert!((1..=most).contains(&limbs), "{limbs} limbs of 1 to {most}");
        limbs
    }

    /// From `limbs` limbs and the special primes in use to the first `kept` limbs.
    fn divide(&self, limbs: usize, kept: usize) -> DivideRound {
        let (first, skipped) = (self.first(), self.decomposer.gadget().skipped());
        let dropped: Vec<usize> = (skipped..first).chain(first + kept..first + limbs).collect();
        DivideRound::new(&self.whole, &dropped, first..first + kept)
    }
}
