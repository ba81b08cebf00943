//! Keys that bootstrap: for transport, and for use.

use noren_math::random::Seed;
use noren_math::torus_sample;
use noren_ring::torus::keys::{BootstrapKey, BootstrapRows, GgswRows, LweSwitchRows, WriteGlwe, WriteLwe};
use noren_ring::torus::server::TorusServer;

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
    pub(crate) bootstrap: BootstrapKey,
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

    /// Draws the masks, and has the samples held by the device.
    ///
    /// # Panics
    /// If the products are of another degree.
    #[must_use]
    pub fn expand(&self, server: &TorusServer) -> ServerKeys {
        let shape = self.parameters.rotation();
        let rotation = |step: usize, row: usize, out: &mut [u64]| {
            let bodies = (&self.rotation[..], step * shape.rows() + row);
            write_row(&self.seed, &rotation_label(step, row), bodies, shape.samples.degree, out);
        };
        let switch = write_switch(&self.parameters, &self.seed, &self.switch);
        let rows = self.parameters.bootstrap_rows(&rotation, &switch);
        ServerKeys { owner: self.owner(), bootstrap: server.bootstrap_key(&rows) }
    }
}

impl ServerKeys {
    /// The owner of the keys.
    #[must_use]
    pub const fn owner(&self) -> &Owner {
        &self.owner
    }

    /// The keys on their device.
    #[must_use]
    pub const fn bootstrap(&self) -> &BootstrapKey {
        &self.bootstrap
    }

    /// How many bytes they take in the memory of the device.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bootstrap.held().bytes()
    }
}

impl TorusParameters {
    /// The rows of the keys of a bootstrap with these parameters.
    pub(super) fn bootstrap_rows<'a>(
        &self,
        rotation: &'a WriteGlwe<'a>,
        switch: &'a WriteLwe<'a>,
    ) -> BootstrapRows<'a> {
        let (bits, gadget) = (self.short_dimension(), self.switch_gadget());
        BootstrapRows {
            rotation: GgswRows { shape: self.rotation(), bits, write: rotation },
            switch: LweSwitchRows { from: self.dimension(), to: bits, gadget, write: switch },
        }
    }
}

/// Writes the rows of the key switch with these bodies, `[kN, l]`, and masks of the public seed.
pub(super) fn write_switch(
    parameters: &TorusParameters,
    seed: &Seed,
    bodies: &[u32],
) -> impl Fn(usize, &mut [&mut [u32]]) + Send + Sync {
    let (bits, gadget) = (parameters.short_dimension(), parameters.switch_gadget());
    move |i, rows| {
        let mut masks = switch_masks(seed, i);
        for (row, body) in rows.iter_mut().zip(&bodies[i * gadget.levels()..]) {
            let (mask, place) = row.split_at_mut(bits);
            torus_sample::uniform_halves(&mut masks, mask);
            place[0] = *body;
        }
    }
}
