//! The digits of circuit bootstrapping: a specification is checked into an immutable value.

use std::fmt;
use std::sync::Arc;

use noren_math::torus::gadget::Gadget;

use crate::error::Result;
use crate::torus::circuit::law::CircuitLaw;
use crate::torus::circuit::spec::CircuitSpec;
use crate::torus::digits::{MAX_DIGIT_BITS, check_digits};
use crate::torus::parameters::TorusParameters;

/// Checked parameters. Immutable, and cheap to clone.
#[derive(Debug, Clone)]
pub struct CircuitParameters(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    spec: CircuitSpec,
    torus: TorusParameters,
    law: CircuitLaw,
    fingerprint: [u8; 32],
}

impl CircuitSpec {
    /// Checks the specification for samples of these parameters: all keys are GLWE samples of their noise.
    ///
    /// # Errors
    /// [`Error::Parameters`](crate::error::Error::Parameters) names digits that are outside the supported range.
    pub fn build(self, torus: &TorusParameters) -> Result<CircuitParameters> {
        for (names, digits) in [
            (["rotation.log_base", "rotation.levels"], self.rotation),
            (["control.log_base", "control.levels"], self.control),
        ] {
            check_digits(names, digits.log_base, digits.levels, MAX_DIGIT_BITS)?;
        }
        self.trace.check_switch(["trace.log_base", "trace.levels"], torus.shape())?;
        self.square.check_switch(["square.log_base", "square.levels"], torus.shape())?;
        let law = CircuitLaw::of(torus, &self);
        let fingerprint = fingerprint(torus, &self);
        Ok(CircuitParameters(Arc::new(Inner { spec: self, torus: torus.clone(), law, fingerprint })))
    }
}

impl CircuitParameters {
    /// The specification that gives these parameters again.
    #[must_use]
    pub fn spec(&self) -> &CircuitSpec {
        &self.0.spec
    }

    /// The parameters of the samples.
    #[must_use]
    pub fn torus(&self) -> &TorusParameters {
        &self.0.torus
    }

    /// How much noise the parts add.
    #[must_use]
    pub fn law(&self) -> CircuitLaw {
        self.0.law
    }

    /// Digits of the blind rotation.
    #[must_use]
    pub fn rotation(&self) -> Gadget {
        self.0.spec.rotation.gadget()
    }

    /// Digits of the trace.
    #[must_use]
    pub fn trace(&self) -> Gadget {
        self.0.spec.trace.gadget()
    }

    /// Digits of the switch to products with secrets.
    #[must_use]
    pub fn square(&self) -> Gadget {
        self.0.spec.square.gadget()
    }

    /// Digits of the GGSW samples that are made.
    #[must_use]
    pub fn control(&self) -> Gadget {
        self.0.spec.control.gadget()
    }

    /// The BLAKE3 digest of the text `noren-circuit-parameters-v1`, the fingerprint of the torus parameters, and words of 64 bits,
    /// little-endian: `log2 B` and digits of the blind rotation, the trace, products with secrets and GGSW samples.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 32] {
        self.0.fingerprint
    }
}

impl fmt::Display for CircuitParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CircuitSpec { rotation, trace, square, control } = self.spec();
        write!(f, "circuit bootstrapping: rotation {rotation}, trace {trace}, products {square}, controls {control}")
    }
}

fn fingerprint(torus: &TorusParameters, spec: &CircuitSpec) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"noren-circuit-parameters-v1");
    hasher.update(&torus.fingerprint());
    for word in spec.words() {
        hasher.update(&word.to_le_bytes());
    }
    hasher.finalize().into()
}
