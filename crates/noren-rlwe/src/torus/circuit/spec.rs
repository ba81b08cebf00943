//! The digits of circuit bootstrapping as they are asked for.

use crate::torus::digits::Digits;

/// The description of keys of circuit bootstrapping; [`CircuitSpec::build`] checks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CircuitSpec {
    /// Digits of its blind rotation, finer than those of a bootstrap.
    pub rotation: Digits,
    /// Digits of the automorphisms of the trace: the finest, as the trace multiplies their noise by N.
    pub trace: Digits,
    /// Digits of the switch from masks to products with secrets.
    pub square: Digits,
    /// Digits of the GGSW samples that are made.
    pub control: Digits,
}

impl CircuitSpec {
    /// The four pairs `log2 B`, digits: of the blind rotation, the trace, products with secrets and GGSW samples.
    pub(crate) fn words(&self) -> [u64; 8] {
        let [a, b, c, d] = [self.rotation, self.trace, self.square, self.control].map(Digits::words);
        [a[0], a[1], b[0], b[1], c[0], c[1], d[0], d[1]]
    }
}
