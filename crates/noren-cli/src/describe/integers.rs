//! Parameters of exact integers in words and numbers: the plaintext modulus and the noise besides what all schemes have.

use std::fmt;

use noren::bfv::Bfv;
use noren::bfv::Parameters;
use noren::bgv::{Bgv, Dimension, Hypercube};
use noren::security::max_log_qp;
use noren::{SecretDistribution, Security};
use serde::Serialize;

use crate::describe::ring::Ring;
use crate::describe::words::count;

/// The description of parameters of BGV and BFV.
#[derive(Debug, Serialize)]
pub(crate) struct Integers {
    #[serde(flatten)]
    ring: Ring,
    plaintext_modulus: u64,
    /// 0 where the plaintext modulus has no slots.
    slots: usize,
    /// The slots of a ring whose index is not a power of two.
    #[serde(skip_serializing_if = "Option::is_none")]
    grid: Option<Grid>,
    limbs: usize,
    /// Bits that the noise of a public encryption may grow.
    budget_fresh: f64,
    /// How many squarings may follow one another.
    depth_bfv: usize,
    depth_bgv: usize,
}

/// The slots of a ring whose index is not a power of two.
#[derive(Debug, Serialize)]
pub(crate) struct Grid {
    index: u32,
    n: usize,
    prime: u64,
    /// The order of the prime modulo the index.
    degree: usize,
    slots: usize,
    dimensions: Vec<Axis>,
}

/// A dimension of slots.
#[derive(Debug, Serialize)]
struct Axis {
    generator: u32,
    size: usize,
    native: bool,
}

impl Grid {
    pub(crate) fn new(cube: &Hypercube) -> Self {
        let axis = |&Dimension { generator, size, is_native }: &Dimension| Axis { generator, size, native: is_native };
        Self {
            index: cube.ring().index(),
            n: cube.ring().degree(),
            prime: cube.p(),
            degree: cube.degree(),
            slots: cube.slots(),
            dimensions: cube.dimensions().iter().map(axis).collect(),
        }
    }

    fn write_dimensions(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, Axis { generator, size, native }) in self.dimensions.iter().enumerate() {
            let kind = if *native { "native" } else { "not native: rotations take two automorphisms" };
            writeln!(f, "  dimension {i:<12}size {size}, generator {generator}, {kind}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, n, prime, degree, slots, .. } = self;
        writeln!(f, "ring           m = {index}, n = phi(m) = {n}")?;
        writeln!(
            f,
            "slots          {slots}, each of degree {degree} (the order of {prime} modulo m): GR({prime}^r, {degree})"
        )?;
        self.write_dimensions(f)?;
        write!(f, "security       that of n = {n}: at 128 bits a modulus of at most {} bits", bound(*n))
    }
}

/// The largest modulus in bits at 128 bits of security.
fn bound(n: usize) -> f64 {
    max_log_qp(n, SecretDistribution::Ternary, Security::Bits128).unwrap_or(0.0)
}

impl Integers {
    pub(crate) fn new(parameters: &Parameters) -> Self {
        let (rlwe, spec) = (parameters.rlwe(), parameters.spec());
        let has_keys = !rlwe.p().is_empty();
        Self {
            ring: Ring::new(rlwe, &parameters.fingerprint(), &spec.log_q, &spec.log_p),
            plaintext_modulus: parameters.modulus().value(),
            slots: if parameters.has_slots() { parameters.slots() } else { 0 },
            grid: parameters.hypercube().map(Grid::new),
            limbs: parameters.max_limbs(),
            budget_fresh: parameters.laws().budget(&parameters.fresh_noise()),
            depth_bfv: if has_keys { parameters.depth::<Bfv>() } else { 0 },
            depth_bgv: if has_keys { parameters.depth::<Bgv>() } else { 0 },
        }
    }
}

impl fmt::Display for Integers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slots = match (self.slots, &self.grid) {
            (0, _) => "coefficients, no slots".to_owned(),
            (slots, None) => format!("{slots} slots in two rows"),
            (slots, Some(grid)) => format!("{slots} slots of degree {}", grid.degree),
        };
        self.ring.write_primes(f, &slots, &count(self.limbs, "limb"))?;
        writeln!(f, "plaintexts     integers modulo t = {}", self.plaintext_modulus)?;
        if let Some(grid) = &self.grid {
            grid.write_dimensions(f)?;
        }
        self.ring.write_security(f)?;
        let (budget, bfv, bgv) = (self.budget_fresh, self.depth_bfv, self.depth_bgv);
        writeln!(f, "noise          budget of {budget:.1} bits; {} in BFV, {bgv} in BGV", count(bfv, "squaring"))?;
        writeln!(f, "               (public encryption; fails with probability below 2^-128)")?;
        self.ring.write_sizes(f)
    }
}
