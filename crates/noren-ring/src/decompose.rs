//! How elements are taken apart into digits (ModUp).

use std::sync::OnceLock;

use noren_math::modulus::ShoupFactor;

use crate::convert::BaseConversion;
use crate::gadget::Gadget;
use crate::window::Window;

/// Takes elements modulo Q apart into the digits of a [`Gadget`], each extended to all primes of `Q P`.
///
/// Digit `d_j` is the representative of c modulo D_j in `(-D_j/2, D_j/2)`. An approximate conversion would do, but its
/// digits reach to `alpha D_j` for alpha primes in the digit, and so would the noise of a key switch: the quotients cost
/// one more row in `alpha`, the shorter digits save about `log2 alpha + 1` bits of P.
///
/// The numbers of a conversion are made when they are first used, and kept.
#[derive(Debug)]
pub struct Decomposer {
    whole: Window,
    gadget: Gadget,
    /// P modulo each q.
    special_factors: Vec<ShoupFactor>,
    /// For each digit and each number of its primes that are alive, less one.
    conversions: Vec<Vec<OnceLock<BaseConversion>>>,
}

impl Decomposer {
    /// A decomposer for a list of primes `[p_0 .. p_{k-1}, q_0 .. q_L]`, of which the gadget may use fewer.
    ///
    /// # Panics
    /// If the gadget is one of more primes.
    #[must_use]
    pub fn new(ring: &Window, gadget: Gadget) -> Self {
        let whole = ring.whole();
        let end = gadget.special() + gadget.limbs();
        assert!(end <= whole.limbs(), "a gadget of {end} primes does not cut a ring of {}", whole.limbs());
        let conversions =
            gadget.digits().iter().map(|digit| digit.clone().map(|_| OnceLock::new()).collect()).collect();
        let basis = whole.basis();
        let special_factor = |limb| {
            let q = basis.modulus(limb);
            q.shoup(basis.product_mod(gadget.skipped()..gadget.special(), q))
        };
        let special_factors = (gadget.special()..end).map(special_factor).collect();
        Self { whole, gadget, special_factors, conversions }
    }

    /// The gadget.
    #[must_use]
    pub fn gadget(&self) -> &Gadget {
        &self.gadget
    }

    /// The ring over all primes.
    #[must_use]
    pub fn ring(&self) -> &Window {
        &self.whole
    }

    /// The ring of the digits of elements of `ring_q`, the window of `Q_l`: that of `P Q_l`.
    #[must_use]
    pub fn ring_qp(&self, ring_q: &Window) -> Window {
        ring_q.window(self.gadget.skipped()..ring_q.range().end)
    }

    /// # Panics
    /// If no elements of `ring_q` have digits: it does not start at q_0, or has more limbs than the gadget cuts.
    pub(crate) fn check(&self, ring_q: &Window) {
        assert_eq!(ring_q.range().start, self.gadget.special(), "digits are taken from q_0 on");
        let (limbs, most) = (ring_q.limbs(), self.gadget.limbs());
        assert!(limbs <= most, "{limbs} limbs have no digits in a gadget of {most}");
    }

    /// P modulo the prime of `limb`, unless that is a special prime, modulo which it is 0.
    pub(crate) fn special_factor(&self, limb: usize) -> Option<ShoupFactor> {
        Some(self.special_factors[limb.checked_sub(self.gadget.special())?])
    }

    /// The conversion of digit `j` with `alive` primes to all other primes that can be alive at the same time.
    pub(crate) fn conversion(&self, j: usize, alive: usize) -> &BaseConversion {
        self.conversions[j][alive - 1].get_or_init(|| {
            let (special, digit) = (self.gadget.special(), &self.gadget.digits()[j]);
            let sources: Vec<usize> = (special + digit.start..).take(alive).collect();
            let last = if alive == digit.len() { special + self.gadget.limbs() } else { special + digit.start };
            BaseConversion::new(self.whole.basis(), &sources, self.gadget.skipped()..last)
        })
    }
}
