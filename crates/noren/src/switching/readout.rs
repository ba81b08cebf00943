//! How results of bootstraps are read as numbers.

/// How results of bootstraps are read as numbers v from -1 to 1: each is `sin(2 pi x)` of a phase x, so that tables hold
/// `arcsin(v) / 2 pi`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readout {
    /// v is 1 or -1, a quarter of the circle to either side, where the derivative of the sine vanishes: an error e of the phase
    /// becomes `(2 pi e)^2 / 2`.
    Bits,
    /// Any v: an error e of the phase becomes at most `2 pi e`.
    Real,
}

impl Readout {
    /// The error of v that one of the phase makes.
    pub(crate) fn error(self, phase: f64) -> f64 {
        let angle = std::f64::consts::TAU * phase;
        match self {
            Self::Bits => angle * angle / 2.0,
            Self::Real => angle,
        }
    }
}
