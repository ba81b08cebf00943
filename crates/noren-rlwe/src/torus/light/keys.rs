//! Light keys, and the keys of a bootstrap that are made of them.

use noren_math::random::Seed;
use noren_math::torus_products::matrix::Precision;
use noren_ring::engine::Engine;
use noren_ring::host::torus::glwe_switch::GlweSwitch;
use noren_ring::host::torus::trace::Trace;
use noren_ring::host::torus::unpacking::unpack;
use noren_ring::torus::product::TorusProduct;
use noren_ring::torus::server::TorusServer;
use noren_ring::torus::shape::RotationShape;

use crate::owner::{KeyId, Owner};
use crate::torus::glwe_rows::write_row;
use crate::torus::keys::{ServerKeys, write_switch};
use crate::torus::light::spec::LightSpec;
use crate::torus::parameters::TorusParameters;

/// The keys as they travel: a public seed, from which all masks are drawn, and the bodies of all rows.
///
/// Shapes: of packed samples `[samples, N]`, of the trace `[log_count, k l, N]`, of products with secrets
/// `[k, k l, N]`, each with its own l; of the key switch `[kN, l]`.
#[derive(Debug, Clone)]
pub struct LightKeys {
    pub(crate) parameters: TorusParameters,
    pub(crate) key: KeyId,
    pub(crate) seed: Seed,
    pub(crate) bodies: Bodies,
    pub(crate) switch: Vec<u32>,
}

/// All messages, a sample each, and what makes rows of them.
#[derive(Debug)]
pub struct LightRows {
    rotation: RotationShape,
    /// `[steps, matrices, levels, k + 1, N]`.
    samples: Vec<u64>,
    squares: Vec<GlweSwitch>,
}

/// The bodies of the three parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bodies {
    pub(crate) packed: Vec<u64>,
    pub(crate) trace: Vec<u64>,
    pub(crate) square: Vec<u64>,
}

/// Which rows: what their masks and errors are labelled with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    Packed,
    Trace,
    Square,
}

impl Part {
    /// The name of a row of an item: a packed sample, a step of the trace, or a polynomial of the secret.
    pub(crate) fn label(self, item: usize, row: usize) -> String {
        let part = match self {
            Self::Packed => "packed",
            Self::Trace => "trace",
            Self::Square => "square",
        };
        format!("light/{part}/{item}/{row}")
    }

    /// How many items there are, and how many rows each has.
    pub(crate) fn size(self, parameters: &TorusParameters, spec: &LightSpec) -> (usize, usize) {
        let k = parameters.shape().dimension;
        match self {
            Self::Packed => (Self::messages(parameters).div_ceil(spec.count()), 1),
            Self::Trace => (spec.log_count as usize, k * spec.trace.levels),
            Self::Square => (k, k * spec.square.levels),
        }
    }

    /// How many messages are packed: for each step and each GGSW sample of it, those of all levels.
    pub(crate) fn messages(parameters: &TorusParameters) -> usize {
        let rotation = parameters.rotation();
        let steps = rotation.steps(parameters.short_dimension());
        steps * rotation.grouping.matrices() * rotation.gadget.levels()
    }
}

impl LightKeys {
    /// The parameters.
    #[must_use]
    pub const fn parameters(&self) -> &TorusParameters {
        &self.parameters
    }

    /// The owner of the keys.
    #[must_use]
    pub fn owner(&self) -> Owner {
        Owner { fingerprint: self.parameters.fingerprint(), key: self.key }
    }

    /// The public seed, from which masks are drawn.
    #[must_use]
    pub const fn seed(&self) -> &Seed {
        &self.seed
    }

    /// The bodies of packed samples, of the trace, and of products with secrets.
    #[must_use]
    pub fn bodies(&self) -> [&[u64]; 3] {
        [&self.bodies.packed, &self.bodies.trace, &self.bodies.square]
    }

    /// The bodies of the key switch, `[kN, l]`.
    #[must_use]
    pub fn switch_bodies(&self) -> &[u32] {
        &self.switch
    }

    /// How many bytes the bodies take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bodies().map(size_of_val::<[u64]>).iter().sum::<usize>() + size_of_val(&self.switch[..])
    }

    /// Draws the masks and unpacks all messages.
    ///
    /// # Panics
    /// If the products are of another degree.
    #[must_use]
    pub fn unpack(&self, engine: &Engine, product: &TorusProduct) -> LightRows {
        let parameters = &self.parameters;
        let spec = parameters.light().expect("keys are made and read for parameters of light keys alone");
        let rotation = parameters.rotation();
        let shape = rotation.samples;
        let write = |part: Part, bodies: &[u64], item: usize, row: usize, out: &mut [u64]| {
            let place = item * part.size(parameters, &spec).1 + row;
            write_row(&self.seed, &part.label(item, row), (bodies, place), shape.degree, out);
        };
        let steps = (shape, spec.trace.gadget(), spec.log_count as usize);
        let trace = Trace::from_fn(engine, product, steps, Precision::Exact, |step, row, out| {
            write(Part::Trace, &self.bodies.trace, step, row, out);
        });
        let square = |r| {
            GlweSwitch::from_fn(product, (shape, spec.square.gadget(), Precision::Exact), |row, out| {
                write(Part::Square, &self.bodies.square, r, row, out);
            })
        };
        let squares = (0..shape.dimension).map(square).collect();
        let mut samples = vec![0; Part::messages(parameters) * shape.words()];
        let words = samples.len();
        let tasks = samples.chunks_mut(spec.count() * shape.words()).enumerate();
        engine.run_with(
            words,
            tasks,
            || trace.scratch(),
            |scratch, (number, samples): (usize, &mut [u64])| {
                write(Part::Packed, &self.bodies.packed, number, 0, &mut samples[..shape.words()]);
                unpack(&trace, samples, scratch);
            },
        );
        LightRows { rotation, samples, squares }
    }

    /// Makes the keys of a bootstrap: all messages unpacked, with products with secrets of them.
    ///
    /// # Panics
    /// If the products are of another degree.
    #[must_use]
    pub fn expand(&self, server: &TorusServer) -> ServerKeys {
        let rows = self.unpack(server.ring().engine(), server.ring().product());
        let rotation = |step: usize, row: usize, out: &mut [u64]| rows.write(step, row, out);
        let switch = write_switch(&self.parameters, &self.seed, &self.switch);
        let rows = self.parameters.bootstrap_rows(&rotation, &switch);
        ServerKeys { owner: self.owner(), bootstrap: server.bootstrap_key(&rows) }
    }
}

impl LightRows {
    /// Writes row `row` of the GGSW samples of a step, `[k + 1, N]`, in the order of
    /// [`GgswRows`](noren_ring::torus::keys::GgswRows).
    ///
    /// # Panics
    /// If there is no such row, or a length is wrong.
    pub fn write(&self, step: usize, row: usize, out: &mut [u64]) {
        let (levels, matrices) = (self.rotation.gadget.levels(), self.rotation.grouping.matrices());
        let (i, level, matrix) = (row / matrices / levels, row / matrices % levels, row % matrices);
        let message = (step * matrices + matrix) * levels + level;
        let words = self.rotation.samples.words();
        let sample = &self.samples[message * words..][..words];
        match self.squares.get(i) {
            Some(square) => square.times_secret(i, out, sample, &mut square.scratch()),
            None => out.copy_from_slice(sample),
        }
    }
}
