//! The description of light keys.

use std::fmt;

use noren_ring::torus::shape::GlweShape;
use noren_ring::torus::trace;

use crate::error::{Error, Result};
use crate::torus::digits::Digits;

/// How the keys of blind rotation are packed; a part of [`TorusSpec`](crate::torus::spec::TorusSpec).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LightSpec {
    /// `log2` of how many messages a sample holds, 1 to `log2 N`: as many steps of the trace unpack them. Each more halves the
    /// samples, and doubles the variance of what is made of them.
    pub log_count: u32,
    /// Digits of the automorphisms of the trace.
    pub trace: Digits,
    /// Digits of the switch from masks to products with secrets.
    pub square: Digits,
}

impl LightSpec {
    /// How many messages a sample holds.
    #[must_use]
    pub const fn count(&self) -> usize {
        1 << self.log_count
    }

    /// Refuses what is outside the supported range for samples of this shape.
    pub(crate) fn check(&self, shape: GlweShape) -> Result<()> {
        let most = trace::steps(shape.degree);
        if !(1..=most).contains(&(self.log_count as usize)) {
            return Err(Error::parameter("light.log_count", self.log_count, format!("1 to {most}")));
        }
        self.trace.check_switch(["light.trace.log_base", "light.trace.levels"], shape)?;
        self.square.check_switch(["light.square.log_base", "light.square.levels"], shape)
    }

    /// The numbers as they are hashed and written.
    pub(crate) fn words(&self) -> [u64; 5] {
        let ([a, b], [c, d]) = (self.trace.words(), self.square.words());
        [u64::from(self.log_count), a, b, c, d]
    }

    /// The numbers of [`LightSpec::words`], not checked.
    pub(crate) fn from_words([log_count, a, b, c, d]: [u64; 5]) -> Self {
        let log_count = u32::try_from(log_count).unwrap_or(u32::MAX);
        Self { log_count, trace: Digits::from_words([a, b]), square: Digits::from_words([c, d]) }
    }
}

impl fmt::Display for LightSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} messages a sample, trace {}, products {}", self.count(), self.trace, self.square)
    }
}
