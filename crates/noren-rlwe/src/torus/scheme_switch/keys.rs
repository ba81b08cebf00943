//! Keys of scheme switching: for transport, and for use.

use noren_math::random::Seed;
use noren_ring::torus::keys::{GlweSwitchKey, GlweSwitchRows, PackingKey};
use noren_ring::torus::server::TorusServer;
use noren_ring::torus::trace;

use crate::keys::KeySwitchKey;
use crate::owner::{KeyId, Owner};
use crate::torus::glwe_rows::write_row;
use crate::torus::scheme_switch::parameters::SwitchParameters;

/// The keys as they travel: a public seed, from which all masks over the torus are drawn, the bodies of all rows, and the key
/// switching key of the way up.
///
/// Shapes: of the key switch from s to Z `[l, N]`, of packing `[log2 N', l, N']`, each with its own l.
#[derive(Debug, Clone)]
pub struct CompactSwitchKeys {
    pub(crate) parameters: SwitchParameters,
    /// Of z.
    pub(crate) key: KeyId,
    pub(crate) seed: Seed,
    pub(crate) bodies: Bodies,
    /// From Z to s.
    pub(crate) up: KeySwitchKey,
}

/// The bodies of the two parts over the torus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bodies {
    pub(crate) down: Vec<u64>,
    pub(crate) packing: Vec<u64>,
}

/// The keys as they are used: nothing in them decrypts.
#[derive(Debug)]
pub struct SwitchKeys {
    parameters: SwitchParameters,
    torus_owner: Owner,
    down: GlweSwitchKey,
    packing: PackingKey,
    up: KeySwitchKey,
}

/// Which rows: what their masks and errors are labelled with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    Down,
    Packing,
}

impl Part {
    /// The name of a row of an item: of the one key switch, or a step of the trace.
    pub(crate) fn label(self, item: usize, row: usize) -> String {
        let part = match self {
            Self::Down => "down",
            Self::Packing => "packing",
        };
        format!("switch/{part}/{item}/{row}")
    }

    /// How many items there are, how many rows each has, and the degree of these.
    pub(crate) fn size(self, parameters: &SwitchParameters) -> (usize, usize, usize) {
        let (large, small) = (parameters.sliced().degree, parameters.torus().shape().degree);
        match self {
            Self::Down => (1, parameters.down().levels(), large),
            Self::Packing => (trace::steps(small), parameters.packing().levels(), small),
        }
    }
}

impl CompactSwitchKeys {
    /// The parameters.
    #[must_use]
    pub const fn parameters(&self) -> &SwitchParameters {
        &self.parameters
    }

    /// The owner of samples over the torus.
    #[must_use]
    pub fn torus_owner(&self) -> Owner {
        Owner { fingerprint: self.parameters.torus().fingerprint(), key: self.key }
    }

    /// The owner of ciphertexts.
    #[must_use]
    pub const fn rlwe_owner(&self) -> Owner {
        self.up.owner()
    }

    /// The public seed, from which masks over the torus are drawn.
    #[must_use]
    pub const fn seed(&self) -> &Seed {
        &self.seed
    }

    /// The bodies of the key switch from s to Z, `[l, N]`.
    #[must_use]
    pub fn down_bodies(&self) -> &[u64] {
        &self.bodies.down
    }

    /// The bodies of packing, `[log2 N', l, N']`.
    #[must_use]
    pub fn packing_bodies(&self) -> &[u64] {
        &self.bodies.packing
    }

    /// The key switching key from Z to s.
    #[must_use]
    pub const fn up(&self) -> &KeySwitchKey {
        &self.up
    }

    /// How many bytes the bodies take, and the key of the way up.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let Bodies { down, packing } = &self.bodies;
        [down, packing].map(|bodies| size_of_val(&bodies[..])).iter().sum::<usize>() + self.up.bytes() as usize
    }

    /// Draws the masks, and has the samples held: those of degree N by the server of the ring of ciphertexts, those of degree `N'` by
    /// that of bootstrapping.
    ///
    /// # Panics
    /// If the products of a server are of another degree.
    #[must_use]
    pub fn expand(&self, large: &TorusServer, small: &TorusServer) -> SwitchKeys {
        let parameters = &self.parameters;
        let writer = |part: Part, bodies| {
            move |item: usize, row: usize, out: &mut [u64]| {
                let (_, rows, degree) = part.size(parameters);
                write_row(&self.seed, &part.label(item, row), (bodies, item * rows + row), degree, out);
            }
        };
        let down = writer(Part::Down, &self.bodies.down[..]);
        let packing = writer(Part::Packing, &self.bodies.packing[..]);
        let down = GlweSwitchRows { gadget: parameters.down(), write: &down };
        let packing = GlweSwitchRows { gadget: parameters.packing(), write: &packing };
        SwitchKeys {
            parameters: parameters.clone(),
            torus_owner: self.torus_owner(),
            down: large.glwe_switch_key(parameters.sliced(), &down),
            packing: small.packing_key(parameters.torus().shape(), &packing),
            up: self.up.clone(),
        }
    }
}

impl SwitchKeys {
    /// The parameters.
    #[must_use]
    pub const fn parameters(&self) -> &SwitchParameters {
        &self.parameters
    }

    /// The owner of samples over the torus.
    #[must_use]
    pub const fn torus_owner(&self) -> &Owner {
        &self.torus_owner
    }

    /// The owner of ciphertexts.
    #[must_use]
    pub const fn rlwe_owner(&self) -> Owner {
        self.up.owner()
    }

    /// The key switch from s to Z, on its device.
    #[must_use]
    pub const fn down(&self) -> &GlweSwitchKey {
        &self.down
    }

    /// The automorphisms of packing, on their device.
    #[must_use]
    pub const fn packing(&self) -> &PackingKey {
        &self.packing
    }

    /// The key switching key from Z to s.
    #[must_use]
    pub const fn up(&self) -> &KeySwitchKey {
        &self.up
    }

    /// How many bytes they take in memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.down.held().bytes() + self.packing.held().bytes() + self.up.bytes() as usize
    }
}
