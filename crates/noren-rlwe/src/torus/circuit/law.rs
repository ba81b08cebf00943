//! How much noise circuit bootstrapping adds, and a lookup by the bits that it makes.
//!
//! Variances in units of the circle, for binary secrets, and energies as for key switches: an automorphism adds V to each
//! coefficient, a switch to products with a secret `V_S`. With `N = 2^L`:
//!
//! The first automorphism of a trace adds less, `V_1`, as the first L bits of the words that were divided by N leave no digits.
//! The trace multiplies what a step adds by 2 in each later one at coefficient 0, and lets it spread to others: together
//! `4^(L-1) V_1 + (4^(L-1) - 1)/3 V` at coefficient 0, and `N (N/2 V_1 + (N/2 - 1) V)` in energy. Noise of the blind rotation
//! stays at coefficient 0: the others vanish exactly. The division by N before rounds words, `N^2 (1 + kN/2) / (12 q^2)` at
//! coefficient 0.
//!
//! A CMUX multiplies uniform digits by rows, `l (B^2 + 2)/12` times their energy, and leaves the rounding of digits under a bit
//! that is set: `(1 + kN/2) / (12 B^2l)`. Digits have the mean -1/2, which meets the mean 1/2 of secrets in the rows that are
//! multiplied by them: `k l N^2/48` times the energy before, and at the ends of polynomials, from where most choices of an index
//! of ones take their noise, three times as much of what is at coefficient 0.

use noren_math::torus_products::product::Grouping;

use crate::torus::circuit::spec::CircuitSpec;
use crate::torus::law::{fresh_rows, rotation, transform};
use crate::torus::parameters::TorusParameters;
use crate::torus::switch_law::{GlweSwitchLaw, squared_cut, squared_digit};

/// The variances of the parts; see the [module](self).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CircuitLaw {
    /// Of the output of the blind rotation, transforms included.
    pub rotation: f64,
    /// The variance that an automorphism adds to each coefficient.
    pub automorphism: f64,
    /// The variance that division and trace add at coefficient 0.
    pub trace: f64,
    /// The variance that they add to all coefficients together.
    pub trace_energy: f64,
    /// The variance that a switch to products with a secret adds to each coefficient.
    pub square: f64,
    /// All coefficients of the rows of one level of a GGSW sample together.
    pub control_energy: f64,
    /// The variance that a CMUX adds, for a bit that is set.
    pub choice: f64,
}

impl CircuitLaw {
    /// The law of checked digits.
    pub(crate) fn of(torus: &TorusParameters, spec: &CircuitSpec) -> Self {
        let switch = GlweSwitchLaw::of(torus.spec());
        let (k, degree, dimension) = (switch.polynomials, switch.degree, switch.dimension());
        let gadget = spec.rotation.gadget();
        let (turned, transformed) =
            rotation(torus.spec(), (gadget, Grouping::Single), fresh_rows(torus.spec(), gadget));

        let gadget = spec.trace.gadget();
        let automorphism = switch.automorphism(gadget, 0);
        let first = switch.automorphism(gadget, torus.spec().log_degree);
        let division = switch.division(degree);
        let trace_energy = division + degree * (degree / 2.0 * first + (degree / 2.0 - 1.0) * automorphism);

        let square = switch.square(spec.square.gadget());

        let gadget = spec.control.gadget();
        let body = turned + transformed + trace_energy;
        let control_energy = switch.level_energy(body, square);
        let rounding = (1.0 + dimension / 2.0) / (12.0 * squared_cut(gadget));
        let trace = switch.trace(spec.trace.gadget(), torus.spec().log_degree);
        let constant = turned + transformed + trace;
        let means = k * degree * degree * (constant / 16.0 + (body - constant) / 48.0);
        let products = gadget.levels() as f64 * (squared_digit(gadget) * control_energy + means);
        let transformed_choice = (1.0 + dimension / 2.0) * transform(torus.spec(), gadget, Grouping::Single);
        Self {
            rotation: turned + transformed,
            automorphism,
            trace,
            trace_energy,
            square,
            control_energy,
            choice: products + rounding + transformed_choice,
        }
    }

    /// The variance of a result that `bits` bits choose from tables without noise: the first choice among those adds next to
    /// nothing, as they have no masks and no digits that are cut.
    #[must_use]
    pub fn lookup(&self, bits: usize) -> f64 {
        bits.saturating_sub(1) as f64 * self.choice
    }

    /// The variance of the constant coefficient of a row that is not multiplied by a secret.
    #[must_use]
    pub fn row(&self) -> f64 {
        self.rotation + self.trace
    }
}
