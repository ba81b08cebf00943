//! How much noise the rows of unpacked GGSW samples have.
//!
//! Variances in units of the circle, energies as for key switches: an automorphism adds V to each coefficient, the first one
//! `V_1`, as the words that were divided by `M = 2^i` have i bits less. Unpacking M messages leaves fresh noise at multiples of M
//! alone, where division and i steps undo each other, and each step doubles the energy that there was: `N/M sigma^2` and
//! `N [M/2 V_1 + (M/2 - 1) V]`, with the roundings of division at multiples of M.
//!
//! In rows that are multiplied by secrets, digits of the mean -1/2 meet their means of 1/2: `k^2 N^2/48` times the energy
//! before, and less where two messages of one step of the trace are of one step of blind rotation, as that adds its noise to one
//! and takes it from the other. For digits of more than a few bits it does not count.

use noren_math::torus::gadget::Gadget;

use crate::torus::light::spec::LightSpec;
use crate::torus::spec::TorusSpec;
use crate::torus::switch_law::{GlweSwitchLaw, squared_digit};

/// The energies of the rows of one level; see the [module](self).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LightLaw {
    /// Of the row that is not multiplied by a secret.
    pub row: f64,
    /// Of all rows together.
    pub level: f64,
    /// The largest variance that means of digits add.
    pub means: f64,
}

impl LightLaw {
    /// The law of digits and dimensions that were checked.
    #[must_use]
    pub fn of(spec: &TorusSpec, light: &LightSpec) -> Self {
        let switch = GlweSwitchLaw::of(spec);
        let (k, degree, count) = (switch.polynomials, switch.degree, light.count() as f64);
        let gadget = light.trace.gadget();
        let (first, automorphism) = (switch.automorphism(gadget, light.log_count), switch.automorphism(gadget, 0));
        let fresh = degree / count * (switch.variance + switch.division(count));
        let row = fresh + degree * (count / 2.0 * first + (count / 2.0 - 1.0) * automorphism);
        let level = switch.level_energy(row, switch.square(light.square.gadget()));
        Self { row, level, means: k * k * degree * degree / 48.0 * row }
    }

    /// The variance that an external product with such a GGSW sample adds to each coefficient, besides the rounding of digits:
    /// `l [(B^2 + 2)/12 level + means]`.
    #[must_use]
    pub fn rows(&self, gadget: Gadget) -> f64 {
        gadget.levels() as f64 * (squared_digit(gadget) * self.level + self.means)
    }
}
