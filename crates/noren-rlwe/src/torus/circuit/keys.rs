//! Keys of circuit bootstrapping: for transport, and for use.

use noren_math::random::Seed;
use noren_ring::torus::keys::{CircuitKey, CircuitRows, GgswRows, GlweSwitchRows};
use noren_ring::torus::server::TorusServer;
use noren_ring::torus::shape::RotationShape;
use noren_ring::torus::trace;

use crate::owner::{KeyId, Owner};
use crate::torus::circuit::parameters::CircuitParameters;
use crate::torus::glwe_rows::write_row;

/// The keys as they travel: a public seed, from which all masks are drawn, and the bodies of all rows.
///
/// Shapes: of the blind rotation `[n, (k+1) l, N]`, of the trace `[log2 N, k l, N]`, of products with secrets
/// `[k, k l, N]`, each with its own l.
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
    bootstrap: CircuitKey,
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

    /// Draws the masks, and has the samples held by the device.
    ///
    /// # Panics
    /// If the products are of another degree.
    #[must_use]
    pub fn expand(&self, server: &TorusServer) -> CircuitKeys {
        let parameters = &self.parameters;
        let shape = parameters.torus().shape();
        let writer = |part: Part, bodies| {
            move |item: usize, row: usize, out: &mut [u64]| {
                let place = item * part.size(parameters).1 + row;
                write_row(&self.seed, &part.label(item, row), (bodies, place), shape.degree, out);
            }
        };
        let rotation = writer(Part::Rotation, &self.bodies.rotation[..]);
        let trace = writer(Part::Trace, &self.bodies.trace[..]);
        let square = writer(Part::Square, &self.bodies.square[..]);
        let rows = CircuitRows {
            rotation: GgswRows {
                shape: RotationShape::single(shape, parameters.rotation()),
                bits: parameters.torus().short_dimension(),
                write: &rotation,
            },
            trace: GlweSwitchRows { gadget: parameters.trace(), write: &trace },
            square: GlweSwitchRows { gadget: parameters.square(), write: &square },
        };
        CircuitKeys { parameters: parameters.clone(), owner: self.owner(), bootstrap: server.circuit_key(&rows) }
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

    /// The keys on their device.
    #[must_use]
    pub const fn bootstrap(&self) -> &CircuitKey {
        &self.bootstrap
    }

    /// How many bytes they take in the memory of the device.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bootstrap.held().bytes()
    }
}
