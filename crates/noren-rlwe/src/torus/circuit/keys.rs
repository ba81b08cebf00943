//! Keys of circuit bootstrapping: for transport, and for use.

use noren_math::random::Seed;
use noren_ring::engine::Engine;
use noren_ring::torus::blind_rotation::{BlindRotation, RotationShape};
use noren_ring::torus::circuit_bootstrap::CircuitBootstrap;
use noren_ring::torus::glwe_switch::GlweSwitch;
use noren_ring::torus::product::TorusProduct;
use noren_ring::torus::trace::{self, Trace};

use crate::owner::{KeyId, Owner};
use crate::torus::circuit::parameters::CircuitParameters;
use crate::torus::glwe_rows::write_row;

/// The keys as they travel: a public seed, from which all masks are drawn, and the bodies of all rows.
///
/// Shapes: of the blind rotation `[n, (k+1) l, N]`, of the trace `[log2 N, k l, N]`, of products with secrets `[k, k l, N]`, each
/// with its own l.
#[derive(Debug, Clone)]
pub struct CompactCircuitKeys {
    pub(crate) parameters: CircuitParameters,
    pub(crate) key: KeyId,
    pub(crate) seed: Seed,
    pub(crate) bodies: Bodies,
}

/// The bodies of the three parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bodies {
    pub(crate) rotation: Vec<u64>,
    pub(crate) trace: Vec<u64>,
    pub(crate) square: Vec<u64>,
}

/// The keys as they are used: nothing in them decrypts.
#[derive(Debug)]
pub struct CircuitKeys {
    parameters: CircuitParameters,
    owner: Owner,
    bootstrap: CircuitBootstrap,
}

/// Which rows: what their masks and errors are labelled with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    Rotation,
    Trace,
    Square,
}

impl Part {
    /// The name of a row of an item: a bit of the short secret, a step of the trace, or a polynomial of the secret.
    pub(crate) fn label(self, item: usize, row: usize) -> String {
        let part = match self {
            Self::Rotation => "rotation",
            Self::Trace => "trace",
            Self::Square => "square",
        };
        format!("circuit/{part}/{item}/{row}")
    }

    /// How many items there are, and how many rows each has.
    pub(crate) fn size(self, parameters: &CircuitParameters) -> (usize, usize) {
        let shape = parameters.torus().shape();
        let k = shape.dimension;
        match self {
            Self::Rotation => (parameters.torus().short_dimension(), (k + 1) * parameters.rotation().levels()),
            Self::Trace => (trace::steps(shape.degree), k * parameters.trace().levels()),
            Self::Square => (k, k * parameters.square().levels()),
        }
    }
}

impl CompactCircuitKeys {
    /// The parameters.
    #[must_use]
    pub const fn parameters(&self) -> &CircuitParameters {
        &self.parameters
    }

    /// The owner of the keys: the same as the keys of the bootstrap.
    #[must_use]
    pub fn owner(&self) -> Owner {
        Owner { fingerprint: self.parameters.torus().fingerprint(), key: self.key }
    }

    /// The public seed, from which masks are drawn.
    #[must_use]
    pub const fn seed(&self) -> &Seed {
        &self.seed
    }

    /// The bodies of the blind rotation, `[n, (k+1) l, N]`.
    #[must_use]
    pub fn rotation_bodies(&self) -> &[u64] {
        &self.bodies.rotation
    }

    /// The bodies of the trace, `[log2 N, k l, N]`.
    #[must_use]
    pub fn trace_bodies(&self) -> &[u64] {
        &self.bodies.trace
    }

    /// The bodies of products with secrets, `[k, k l, N]`.
    #[must_use]
    pub fn square_bodies(&self) -> &[u64] {
        &self.bodies.square
    }

    /// How many bytes the bodies take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let Bodies { rotation, trace, square } = &self.bodies;
        [rotation, trace, square].map(|bodies| size_of_val(&bodies[..])).iter().sum()
    }

    /// Draws the masks and transforms the samples.
    ///
    /// # Panics
    /// If the products are of another degree.
    #[must_use]
    pub fn expand(&self, engine: &Engine, product: &TorusProduct) -> CircuitKeys {
        let parameters = &self.parameters;
        let shape = parameters.torus().shape();
        let write = |part: Part, bodies: &[u64], item: usize, row: usize, out: &mut [u64]| {
            let place = item * part.size(parameters).1 + row;
            write_row(&self.seed, &part.label(item, row), (bodies, place), shape.degree, out);
        };
        let Bodies { rotation, trace, square } = &self.bodies;
        let steps = parameters.torus().short_dimension();
        let rotation_shape = RotationShape::single(shape, parameters.rotation());
        let rotation = BlindRotation::from_fn(engine, product, rotation_shape, steps, |step, row, out| {
            write(Part::Rotation, rotation, step, row, out);
        });
        let (count, _) = Part::Trace.size(parameters);
        let trace = Trace::from_fn(engine, product, (shape, parameters.trace(), count), |step, row, out| {
            write(Part::Trace, trace, step, row, out);
        });
        let square_switch = |r| {
            GlweSwitch::from_fn(product, (shape, parameters.square()), |row, out| {
                write(Part::Square, square, r, row, out);
            })
        };
        let squares = (0..shape.dimension).map(square_switch).collect();
        let bootstrap = CircuitBootstrap::new(rotation, trace, squares);
        CircuitKeys { parameters: parameters.clone(), owner: self.owner(), bootstrap }
    }
}

impl CircuitKeys {
    /// The parameters.
    #[must_use]
    pub const fn parameters(&self) -> &CircuitParameters {
        &self.parameters
    }

    /// The owner of the keys: the same as the keys of the bootstrap.
    #[must_use]
    pub const fn owner(&self) -> &Owner {
        &self.owner
    }

    /// The keys as arithmetic.
    #[must_use]
    pub const fn bootstrap(&self) -> &CircuitBootstrap {
        &self.bootstrap
    }

    /// How many bytes they take in memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bootstrap.bytes()
    }
}
