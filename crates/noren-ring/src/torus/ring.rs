//! The ring of polynomials over the torus, with what the host computes in it by.

use crate::engine::Engine;
use crate::torus::product::TorusProduct;

/// Polynomials of degree N over the torus: the threads of the host, and how it multiplies them. Rows of keys are made
/// by these, whatever device holds them.
#[derive(Debug)]
pub struct TorusRing {
    engine: Engine,
    product: TorusProduct,
}

impl TorusRing {
    /// The ring of the products' degree.
    #[must_use]
    pub const fn new(engine: Engine, product: TorusProduct) -> Self {
        Self { engine, product }
    }

    /// The threads of the host.
    #[must_use]
    pub const fn engine(&self) -> &Engine {
        &self.engine
    }

    /// How the host multiplies polynomials.
    #[must_use]
    pub const fn product(&self) -> &TorusProduct {
        &self.product
    }
}
