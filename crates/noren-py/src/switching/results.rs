//! `Decision`, `Extreme`, `Samples`: what a switch gives besides ciphertexts.

use noren::switching::Samples;
use pyo3::prelude::*;

use crate::ckks::classes::PyCiphertext;

/// The result of a comparison.
#[pyclass(frozen, name = "Decision", module = "noren.switching")]
pub(crate) struct PyDecision {
    /// The encrypted result. In the dead zone it may be either.
    #[pyo3(get)]
    pub(crate) result: Py<PyCiphertext>,
    /// Up to this distance from where the result changes it may be either.
    #[pyo3(get)]
    pub(crate) dead_zone: f64,
    /// The base-two logarithm of a bound on how likely any value outside the dead zone is decided wrong.
    #[pyo3(get)]
    pub(crate) log2_failure: f64,
}

#[pymethods]
impl PyDecision {
    fn __repr__(&self) -> String {
        format!("Decision(dead_zone={:.2e}, log2_failure={:.1})", self.dead_zone, self.log2_failure)
    }
}

/// The smallest or the largest of several slots.
#[pyclass(frozen, name = "Extreme", module = "noren.switching")]
pub(crate) struct PyExtreme {
    /// Its value, encrypted in slot 0.
    #[pyo3(get)]
    pub(crate) value: Py<PyCiphertext>,
    /// Its number, encrypted in slot 0. Of numbers that are nearer to each other than the dead zone it may be any.
    #[pyo3(get)]
    pub(crate) index: Py<PyCiphertext>,
    /// By how much the slot that was found may be worse than the best one.
    #[pyo3(get)]
    pub(crate) dead_zone: f64,
    /// The base-two logarithm of a bound on how likely it is worse by more.
    #[pyo3(get)]
    pub(crate) log2_failure: f64,
}

#[pymethods]
impl PyExtreme {
    fn __repr__(&self) -> String {
        format!("Extreme(dead_zone={:.2e}, log2_failure={:.1})", self.dead_zone, self.log2_failure)
    }
}

/// The values of a ciphertext as samples of TFHE, one each; see ``Switch.down``. len(samples) is their number.
#[pyclass(frozen, name = "Samples", module = "noren.switching")]
pub(crate) struct PySamples(pub(crate) Samples);

#[pymethods]
impl PySamples {
    /// The part of the circle that a value of 1 is.
    #[getter]
    fn part(&self) -> f64 {
        self.0.part()
    }

    /// A bound on the error that the ciphertext had, as a part of the circle.
    #[getter]
    fn error(&self) -> f64 {
        self.0.error()
    }

    /// The standard deviation of their noise, in units of the circle.
    #[getter]
    fn deviation(&self) -> f64 {
        self.0.deviation()
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __repr__(&self) -> String {
        format!("Samples({}, part={}, deviation={:.2e})", self.0.len(), self.part(), self.deviation())
    }
}
