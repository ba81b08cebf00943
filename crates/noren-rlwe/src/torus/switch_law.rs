//! How much noise key switches of GLWE samples add: variances in units of the circle, for binary secrets.
//!
//! Where noise is multiplied by uniform digits, what counts is the sum of the variances of all coefficients: its *energy*.

use noren_math::torus::gadget::Gadget;
use noren_math::torus_products::matrix::{Precision, SwitchShape};

use crate::torus::spec::TorusSpec;

/// `2^64`.
pub(crate) const CIRCLE: f64 = 18_446_744_073_709_551_616.0;

/// Key switches of GLWE samples of a shape, with rows of its noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct GlweSwitchLaw {
    /// k.
    pub(crate) polynomials: f64,
    /// N.
    pub(crate) degree: f64,
    /// `sigma^2` of a row.
    pub(crate) variance: f64,
    /// How products are made.
    pub(crate) precision: Precision,
}

impl GlweSwitchLaw {
    /// That of exact switches.
    pub(crate) fn of(spec: &TorusSpec) -> Self {
        let degree = libm::exp2(f64::from(spec.log_degree));
        let (polynomials, variance) = (spec.k as f64, spec.glwe_noise.variance());
        Self { polynomials, degree, variance, precision: Precision::Exact }
    }

    /// kN.
    pub(crate) fn dimension(&self) -> f64 {
        self.polynomials * self.degree
    }

    /// The variance that an automorphism adds to each coefficient, `V = kN [l (B^2 + 2)/12 sigma^2 + 1/(24 B^2l)]`, and that of
    /// [rounded products](GlweSwitchLaw::transform); less where the first bits `empty_bits` of words are those of the sign, which leave
    /// no digits.
    pub(crate) fn automorphism(&self, gadget: Gadget, empty_bits: u32) -> f64 {
        let (digits, cut) = (squared_short_digits(gadget, empty_bits), 1.0 / (24.0 * squared_cut(gadget)));
        self.dimension() * (digits * self.variance + cut) + self.transform(gadget, digits)
    }

    /// The variance that products in `f64` add to the phase, `(1 + kN/2) delta^2` with the
    /// [deviation](SwitchShape::error_deviation) delta of a coefficient, for digits of so large a sum of mean squares.
    fn transform(&self, gadget: Gadget, squared_digits: f64) -> f64 {
        if self.precision == Precision::Exact {
            return 0.0;
        }
        let inputs = self.polynomials as usize;
        let shape = SwitchShape { inputs, columns: inputs + 1, gadget, precision: self.precision };
        let error = shape.error_deviation(self.degree as usize) / CIRCLE;
        let part = squared_digits / (gadget.levels() as f64 * squared_digit(gadget));
        (1.0 + self.dimension() / 2.0) * error * error * part
    }

    /// The variance at coefficient 0 that division of words by a power of two, and the steps of a trace that undo it, leave.
    pub(crate) fn division(&self, divisor: f64) -> f64 {
        divisor * divisor * (1.0 + self.dimension() / 2.0) / 12.0 / (CIRCLE * CIRCLE)
    }

    /// The variance at coefficient 0, or at one that a sample is packed to, that division by `2^t` and t steps of a trace leave:
    /// `4^(t-1) V_1 + (4^(t-1) - 1)/3 V`, with `V_1` that of the first step, whose words have t bits less, and what
    /// [division](GlweSwitchLaw::division) leaves.
    pub(crate) fn trace(&self, gadget: Gadget, steps: u32) -> f64 {
        let (automorphism, first) = (self.automorphism(gadget, 0), self.automorphism(gadget, steps));
        let divisor = libm::exp2(f64::from(steps));
        // 4^(t-1).
        let doubled = divisor * divisor / 4.0;
        self.division(divisor) + doubled * first + (doubled - 1.0) / 3.0 * automorphism
    }

    /// The variance that the switch that replaces products of secrets `S_i S_r` adds to each coefficient,
    /// `kN l (B^2 + 2)/12 sigma^2 + k |S S|^2 / (12 B^2l)`, `|S S|^2 = N^3/48 + 3 N^2/16`, twice the last term for the square of
    /// one: coefficient j of a product of binary secrets has the mean `(2j + 2 - N)/4`.
    pub(crate) fn square(&self, gadget: Gadget) -> f64 {
        let (k, degree) = (self.polynomials, self.degree);
        let rows = self.dimension() * gadget.levels() as f64 * squared_digit(gadget) * self.variance;
        let products = (k + 1.0) * 3.0 / 16.0 * degree * degree + k * degree * degree * degree / 48.0;
        rows + products / (12.0 * squared_cut(gadget))
    }

    /// The energy of all rows of one level of a GGSW sample, from that of the row that is not multiplied by a secret: a product
    /// with a secret has half of it at each coefficient, besides the variance of the switch.
    pub(crate) fn level_energy(&self, body: f64, square: f64) -> f64 {
        body + self.dimension() * (body / 2.0 + square)
    }
}

/// The mean square of a digit, `(B^2 + 2) / 12`.
pub(crate) fn squared_digit(gadget: Gadget) -> f64 {
    (libm::exp2(f64::from(2 * gadget.log_base())) + 2.0) / 12.0
}

/// `B^2l`: digits leave an error of variance `1 / (12 B^2l)`.
pub(crate) fn squared_cut(gadget: Gadget) -> f64 {
    libm::exp2(f64::from(2 * gadget.log_base()) * gadget.levels() as f64)
}

/// The sum of the mean squares of the digits of words whose first `empty_bits` bits are those of the sign.
fn squared_short_digits(gadget: Gadget, empty_bits: u32) -> f64 {
    let bits = (gadget.log_base() * gadget.levels() as u32).saturating_sub(empty_bits);
    let (whole, rest) = (bits / gadget.log_base(), bits % gadget.log_base());
    let rest = if rest == 0 { 0.0 } else { (libm::exp2(f64::from(2 * rest)) + 2.0) / 12.0 };
    f64::from(whole) * squared_digit(gadget) + rest
}
