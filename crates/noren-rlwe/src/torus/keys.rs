//! Keys that bootstrap: for transport, and for use.

use noren_math::random::Seed;
use noren_math::torus_sample;
use noren_ring::engine::Engine;
use noren_ring::torus::blind_rotation::BlindRotation;
use noren_ring::torus::bootstrap::Bootstrap;
use noren_ring::torus::key_switch::LweSwitch;
use noren_ring::torus::product::TorusProduct;

use crate::owner::{KeyId, Owner};
use crate::torus::glwe_rows::write_row;
use crate::torus::parameters::TorusParameters;
use crate::torus::streams::{rotation_label, switch_masks};

/// The keys of a bootstrap as they travel: a public seed, from which all masks are drawn, and the bodies.
///
/// Bodies of the GGSW samples have the shape `[steps, rows, N]`, those of the key switch `[kN, l]`.
#[derive(Debug, Clone)]
pub struct CompactKeys {
    pub(crate) parameters: TorusParameters,
    pub(crate) key: KeyId,
    pub(crate) seed: Seed,
    pub(crate) rotation: Vec<u64>,
    pub(crate) switch: Vec<u32>,
}

/// The keys of a bootstrap as they are used: nothing in them decrypts.
#[derive(Debug)]
pub struct ServerKeys {
    pub(crate) owner: Owner,
    pub(crate) bootstrap: Bootstrap,
}

impl CompactKeys {
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

    /// The bodies of the GGSW samples, `[steps, rows, N]`.
    #[must_use]
    pub fn rotation_bodies(&self) -> &[u64] {
        &self.rotation
    }

    /// The bodies of the key switch, `[kN, l]`.
    #[must_use]
    pub fn switch_bodies(&self) -> &[u32] {
        &self.switch
    }

    /// How many bytes the bodies take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&self.rotation[..]) + size_of_val(&self.switch[..])
    }

    /// Draws the masks and transforms the samples.
    ///
    /// # Panics
    /// If the products are of another degree.
    #[must_use]
    pub fn expand(&self, engine: &Engine, product: &TorusProduct) -> ServerKeys {
        let (shape, bits) = (self.parameters.rotation(), self.parameters.short_dimension());
        let rotation = BlindRotation::from_fn(engine, product, shape, bits, |step, row, out| {
            let bodies = (&self.rotation[..], step * shape.rows() + row);
            write_row(&self.seed, &rotation_label(step, row), bodies, shape.samples.degree, out);
        });
        let switch = expand_switch(engine, &self.parameters, &self.seed, &self.switch);
        ServerKeys { owner: self.owner(), bootstrap: Bootstrap::new(switch, rotation) }
    }
}

impl ServerKeys {
    /// The owner of the keys.
    #[must_use]
    pub const fn owner(&self) -> &Owner {
        &self.owner
    }

    /// The keys as arithmetic.
    #[must_use]
    pub const fn bootstrap(&self) -> &Bootstrap {
        &self.bootstrap
    }

    /// How many bytes they take in memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bootstrap.rotation().bytes() + self.bootstrap.switch().bytes()
    }
}

/// The key switch of these bodies, `[kN, l]`, with masks of the public seed.
pub(super) fn expand_switch(engine: &Engine, parameters: &TorusParameters, seed: &Seed, bodies: &[u32]) -> LweSwitch {
    let (bits, gadget) = (parameters.short_dimension(), parameters.switch_gadget());
    LweSwitch::from_fn(engine, (parameters.dimension(), bits), gadget, |i, rows| {
        let mut masks = switch_masks(seed, i);
        for (row, body) in rows.iter_mut().zip(&bodies[i * gadget.levels()..]) {
            let (mask, place) = row.split_at_mut(bits);
            torus_sample::uniform_halves(&mut masks, mask);
            place[0] = *body;
        }
    })
}
