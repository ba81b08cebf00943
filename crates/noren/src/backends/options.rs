//! Options of the compiler.

use noren_rlwe::error::{Error, Result};
use noren_rlwe::security::Security;

use crate::cost::Machine;
use crate::graph::dag::Graph;

/// The precision without one that is asked for, relative to the largest result.
const USUAL_PRECISION: f64 = 1e-3;

/// Choices of a compilation.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The name of a [backend](crate::backends); the compiler chooses without one.
    pub scheme: Option<String>,
    /// The absolute error that results of real numbers may have; a thousandth of the largest result, or of 1 if results are
    /// smaller, without one.
    pub precision: Option<f64>,
    /// Real numbers that are closer than this may compare either way; comparisons of them are refused without it.
    pub dead_zone: Option<f64>,
    /// The security of keys and ciphertexts.
    pub security: Security,
    /// Whether a refusal of the precision names the nearest that is possible, which is found by trying several.
    pub nearest: bool,
    /// The machine of the server; this one, without.
    pub machine: Option<Machine>,
    /// Whether a plan may need more memory than the machine of the server has, or an hour of it, as prices predict.
    pub unlimited: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            scheme: None,
            precision: None,
            dead_zone: None,
            security: Security::Bits128,
            nearest: true,
            machine: None,
            unlimited: false,
        }
    }
}

impl Options {
    /// The usual ones for the backend of this name.
    #[must_use]
    pub fn on(scheme: &str) -> Self {
        Self { scheme: Some(scheme.to_owned()), ..Self::default() }
    }

    /// Refuses numbers that are not positive.
    ///
    /// # Errors
    /// [`Error::Parameters`] names the option.
    pub(crate) fn check(&self) -> Result<()> {
        for (name, value) in [("precision", self.precision), ("dead_zone", self.dead_zone)] {
            if let Some(value) = value.filter(|value| !(*value > 0.0 && value.is_finite())) {
                return Err(Error::parameter(name, value, "finite, and above 0"));
            }
        }
        Ok(())
    }

    /// The absolute error that outputs of a graph may have.
    #[must_use]
    pub fn precision_of(&self, graph: &Graph) -> f64 {
        let largest = graph.outputs().iter().map(|&at| graph.node(at).range.magnitude()).fold(1.0, f64::max);
        self.precision.unwrap_or(USUAL_PRECISION * largest)
    }
}
