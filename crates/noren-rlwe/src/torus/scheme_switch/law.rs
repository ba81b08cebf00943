//! How much noise scheme switching adds: variances in units of the circle.

use noren_math::torus::gadget::Gadget;
use noren_math::torus_products::matrix::Precision;

use crate::error::Result;
use crate::noise::{key_switch_shaped, secret_square_norm};
use crate::parameters::Parameters;
use crate::shape::KeyShape;
use crate::torus::parameters::TorusParameters;
use crate::torus::scheme_switch::spec::SwitchSpec;
use crate::torus::switch_law::{CIRCLE, GlweSwitchLaw, squared_cut, squared_digit};

/// The shape of the key switching key from Z to s: modulo `q_0` and one special prime.
pub(crate) const UP_SHAPE: KeyShape = KeyShape { limbs: 1, special: 1, digits: 1 };

/// The variances of the parts; see the [module](self).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SwitchLaw {
    /// The variance that the way down adds to each coefficient: `N l (B^2 + 2)/12 sigma^2 + |s|^2 / (12 B^2l)` of the key switch, with
    /// sigma of the rows and the square norm `|s|^2 = 2N/3` of a ternary secret, and `(1 + |s|^2) / (12 2^128)` of the words.
    pub down: f64,
    /// The variance that the way up adds to each coefficient: `(1 + N'/2) / (12 q_0^2)` for the rounding to `q_0`, and that of
    /// the [key switch](key_switch_shaped), over `q_0^2`; less where slices are missing.
    pub up: f64,
    /// The variance that an automorphism of packing adds to each coefficient.
    pub automorphism: f64,
    glwe: GlweSwitchLaw,
    packing: Gadget,
}

impl SwitchLaw {
    /// The law of checked digits.
    ///
    /// # Errors
    /// [`Error::Parameters`](crate::error::Error::Parameters) if there are no keys of the shape of the way up.
    pub(crate) fn of(torus: &TorusParameters, rlwe: &Parameters, spec: &SwitchSpec) -> Result<Self> {
        let (glwe, packing) = (automorphisms(torus), spec.packing.gadget());
        let q = rlwe.q()[0] as f64;
        let switch = key_switch_shaped(rlwe, 1, UP_SHAPE)?;
        let rounding = (1.0 + glwe.dimension() / 2.0) / 12.0;
        let up = (rounding + switch * switch) / (q * q);
        let automorphism = glwe.automorphism(packing, 0);
        Ok(Self { down: down(torus, rlwe, spec.down.gadget()), up, automorphism, glwe, packing })
    }

    /// The variance that packing with t steps adds to each coefficient that a sample is packed to:
    /// `4^(t-1) V_1 + (4^(t-1) - 1)/3 V`, with the variance V of an automorphism and `V_1` of the first, whose words have t bits less,
    /// and `4^t (1 + N'/2) / (12 2^128)` for the division by `2^t`.
    #[must_use]
    pub fn packing(&self, steps: u32) -> f64 {
        self.glwe.trace(self.packing, steps)
    }
}

/// [`SwitchLaw::down`] with these digits.
pub(crate) fn down(torus: &TorusParameters, rlwe: &Parameters, gadget: Gadget) -> f64 {
    let (degree, norm) = (rlwe.degree() as f64, secret_square_norm(rlwe));
    let rows = degree * gadget.levels() as f64 * squared_digit(gadget) * torus.spec().glwe_noise.variance();
    rows + norm / (12.0 * squared_cut(gadget)) + (1.0 + norm) / 12.0 / (CIRCLE * CIRCLE)
}

/// [`SwitchLaw::packing`] with these digits and all steps.
pub(crate) fn packing(torus: &TorusParameters, gadget: Gadget) -> f64 {
    automorphisms(torus).trace(gadget, torus.spec().log_degree)
}

/// Key switches of packing, which are made in `f64`.
fn automorphisms(torus: &TorusParameters) -> GlweSwitchLaw {
    GlweSwitchLaw { precision: Precision::Rounded, ..GlweSwitchLaw::of(torus.spec()) }
}
