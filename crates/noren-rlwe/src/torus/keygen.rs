//! All keys over the torus from one seed.

use std::io::{Seek, Write};
use std::path::Path;

use noren_math::machine::memory;
use noren_math::random::{Seed, Xof};
use noren_math::torus_sample;
use noren_ring::engine::Engine;
use noren_ring::interrupt::Steps;
use noren_ring::torus::product::TorusProduct;
use noren_ring::torus::server::TorusServer;
use noren_ring::torus::shape::RotationShape;
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::owner::{KeyId, Owner};
use crate::streams::Purpose;
use crate::torus::glwe_rows::{GlweRows, log_weight};
use crate::torus::keys::{CompactKeys, ServerKeys};
use crate::torus::parameters::TorusParameters;
use crate::torus::secret::{TorusSecret, secret_bits, short_inner_product};
use crate::torus::streams::{rotation_label, switch_masks};
use crate::torus::wire;
use crate::wire::stream::Stream;

/// Words of the bodies that are made at a time where they are not held: 1 MiB, or more if a bit has more.
const PIECE_WORDS: usize = 1 << 17;

/// Makes keys from one seed: the same seed gives the same bytes on every machine, for any number of threads and any way of
/// products.
///
/// Masks come from a seed of their own, derived one-way, which becomes public with the keys; secrets and errors come from
/// other streams. All streams are bound to the [parameters](Purpose::TorusKeys).
pub struct TorusKeyGenerator {
    pub(super) parameters: TorusParameters,
    pub(super) seed: Seed,
    /// The identity of the secret that keys are for.
    pub(super) key: KeyId,
}

impl TorusKeyGenerator {
    /// The generator of this seed. The seed is as secret as the keys that are made from it, and is used for nothing else.
    #[must_use]
    pub fn new(parameters: &TorusParameters, seed: &Seed) -> Self {
        let seed = Purpose::TorusKeys.seed(seed, &parameters.fingerprint());
        let mut key = [0; 16];
        key.copy_from_slice(&seed.derive("key").as_bytes()[..16]);
        Self { parameters: parameters.clone(), seed, key: KeyId(key) }
    }

    /// The generator of keys for a secret that there is. Of another seed than the secret's, its streams are bound to the secret, so
    /// that keys for two secrets share none.
    #[must_use]
    pub fn of_secret(parameters: &TorusParameters, seed: &Seed, secret: &TorusSecret) -> Self {
        let own = Self::new(parameters, seed);
        let key = secret.owner().key;
        if own.key == key {
            return own;
        }
        let words = u128::from_le_bytes(key.0);
        Self { seed: own.seed.derive_for("secret", &[&[words as u64, (words >> 64) as u64]]), key, ..own }
    }

    /// The secret: uniform bits.
    #[must_use]
    pub fn secret(&self) -> TorusSecret {
        TorusSecret {
            short: secret_bits(self.seed.xof("secret/short"), self.parameters.short_dimension()),
            long: secret_bits(self.seed.xof("secret/long"), self.parameters.dimension()),
            parameters: self.parameters.clone(),
            key: self.key,
        }
    }

    /// The keys of a bootstrap for this secret, which is that of this generator, ready for use: those of
    /// [`TorusKeyGenerator::compact`], with masks drawn once.
    ///
    /// # Errors
    /// As [`TorusKeyGenerator::compact`].
    ///
    /// # Panics
    /// As [`TorusKeyGenerator::compact`].
    pub fn server(&self, server: &TorusServer, secret: &TorusSecret) -> Result<ServerKeys> {
        self.parameters.check_compact()?;
        let owner = self.owner(secret)?;
        let maker = RowMaker::new(self, server.ring().product(), secret);
        let (long, short) = (self.parameters.dimension(), self.parameters.short_dimension());
        let rotation = |step: usize, row: usize, out: &mut [u64]| {
            let (mask, body) = out.split_at_mut(long);
            maker.write_rotation(step, row, mask, body);
        };
        let switch = |i: usize, rows: &mut [&mut [u32]]| {
            let mut maker = maker.switch(i);
            for row in rows {
                let (mask, body) = row.split_at_mut(short);
                body[0] = maker.next_body(mask);
            }
        };
        let rows = self.parameters.bootstrap_rows(&rotation, &switch);
        Ok(ServerKeys { owner, bootstrap: server.bootstrap_key(&rows) })
    }

    /// The same keys in the form in which they travel.
    ///
    /// Row (i, j) of the GGSW sample of a bit s has the uniform masks `A` and the body `sum_r A_r S_r + e - s S_i 2^64 / B^j`, or
    /// `... + s 2^64 / B^j` for i = k: then the phase is that of `s 2^64 / B^j` in polynomial i.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] and [`Error::KeyMismatch`] for the secret of another generator, [`Error::Parameters`] for
    /// parameters of [light keys](TorusKeyGenerator::light).
    ///
    /// # Panics
    /// If the products are of another degree.
    pub fn compact(&self, engine: &Engine, product: &TorusProduct, secret: &TorusSecret) -> Result<CompactKeys> {
        self.parameters.check_compact()?;
        let owner = self.owner(secret)?;
        let maker = RowMaker::new(self, product, secret);
        let mut rotation = memory::zeros(self.parameters.rotation_bodies());
        maker.rotation_bodies(engine, 0, &mut rotation);
        let switch = maker.switch_bodies(engine);
        Ok(CompactKeys {
            parameters: self.parameters.clone(),
            key: owner.key,
            seed: maker.rows.public().clone(),
            rotation,
            switch,
        })
    }

    /// Writes the sections of the keys of [`TorusKeyGenerator::compact`] into a container in which they were announced
    /// ([`CompactKeys::announce`]), piece by piece: they are never held as a whole.
    ///
    /// # Errors
    /// As [`TorusKeyGenerator::compact`]; [`Error::Io`] with the path, which is that of the container.
    ///
    /// # Panics
    /// As [`TorusKeyGenerator::compact`]; if the sections were not announced.
    pub fn stream_compact<W: Write + Seek>(
        &self,
        engine: &Engine,
        product: &TorusProduct,
        secret: &TorusSecret,
        (stream, path): (&mut Stream<'_, W>, &Path),
    ) -> Result<()> {
        self.parameters.check_compact()?;
        let owner = self.owner(secret)?;
        let failed = |source| Error::Io { path: path.to_owned(), source };
        let maker = RowMaker::new(self, product, secret);
        let (of_step, all) = (self.parameters.step_bodies(), self.parameters.rotation_bodies());
        // Threads share the work of a piece.
        let mut piece = vec![0; (PIECE_WORDS / of_step).max(engine.threads()) * of_step];
        let switch = maker.switch_bodies(engine);
        wire::put_names(stream, &self.parameters, owner.key, maker.rows.public()).map_err(failed)?;
        for first in (0..all).step_by(piece.len()) {
            let words = piece.len().min(all - first);
            maker.rotation_bodies(engine, first / of_step, &mut piece[..words]);
            wire::put_rotation(stream, &piece[..words]).map_err(failed)?;
        }
        wire::put_switch(stream, &switch).map_err(failed)
    }

    /// The owner of keys of this secret, if it is that of this generator.
    pub(super) fn owner(&self, secret: &TorusSecret) -> Result<Owner> {
        let owner = Owner { fingerprint: self.parameters.fingerprint(), key: self.key };
        owner.check(&secret.owner(), "the secret key")?;
        Ok(owner)
    }
}

/// The generator of rows of keys.
pub(super) struct RowMaker<'a> {
    generator: &'a TorusKeyGenerator,
    secret: &'a TorusSecret,
    rows: GlweRows<'a>,
}

impl<'a> RowMaker<'a> {
    pub(super) fn new(generator: &'a TorusKeyGenerator, product: &'a TorusProduct, secret: &'a TorusSecret) -> Self {
        let rows = GlweRows::new(product, secret.polynomials(), &generator.seed, generator.seed.derive("uniform"));
        Self { generator, secret, rows }
    }

    /// The bodies of the GGSW samples of steps from `first` on, `[steps, rows, N]`; what was there does not matter.
    fn rotation_bodies(&self, engine: &Engine, first: usize, bodies: &mut [u64]) {
        let shape = self.generator.parameters.rotation();
        let (n, rows) = (shape.samples.degree, shape.rows());
        let mask = || vec![0; shape.samples.extracted()];
        let steps = Steps::new(bodies.len() / n);
        engine.run_with(bodies.len(), bodies.chunks_exact_mut(n).enumerate(), mask, |mask, (place, body)| {
            steps.advance(1);
            self.write_rotation(first + place / rows, place % rows, mask, body);
        });
    }

    /// Row `row` of the GGSW samples of a step: masks, `[k, N]`, and body; what was there does not matter.
    fn write_rotation(&self, step: usize, row: usize, mask: &mut [u64], body: &mut [u64]) {
        let RotationShape { gadget, grouping, .. } = self.generator.parameters.rotation();
        let bit = self.secret.rotated_bit(step, row % grouping.matrices());
        self.rows.write(&rotation_label(step, row), mask, body);
        self.rows.add_bit(gadget, row / grouping.matrices(), bit, body);
    }

    /// The generator of the rows (i, 1) to (i, l) of the key switch.
    fn switch(&self, i: usize) -> SwitchRows<'_> {
        let parameters = &self.generator.parameters;
        let mut errors = Zeroizing::new(vec![0; parameters.switch_gadget().levels()]);
        let mut xof = self.generator.seed.xof(&format!("error/switch/{i}"));
        parameters.spec().lwe_noise.sample(&mut xof, &mut errors);
        SwitchRows {
            maker: self,
            bit: self.secret.long[i] as u64,
            errors,
            masks: switch_masks(self.rows.public(), i),
            j: 0,
        }
    }

    /// All bodies of the key switch, `[kN, l]`.
    pub(super) fn switch_bodies(&self, engine: &Engine) -> Vec<u32> {
        let parameters = &self.generator.parameters;
        let (levels, n) = (parameters.switch_gadget().levels(), parameters.short_dimension());
        let mut bodies = memory::zeros(parameters.switch_bodies());
        let work = bodies.len() * n;
        let tasks = bodies.chunks_exact_mut(levels).enumerate();
        engine.run_with(
            work,
            tasks,
            || vec![0; n],
            |mask, (i, bodies): (usize, &mut [u32])| {
                let mut rows = self.switch(i);
                bodies.iter_mut().for_each(|body| *body = rows.next_body(mask));
            },
        );
        bodies
    }
}

/// The rows of the key switch for one bit of the long secret.
struct SwitchRows<'a> {
    maker: &'a RowMaker<'a>,
    bit: u64,
    errors: Zeroizing<Vec<u64>>,
    masks: Xof,
    /// How many rows were made.
    j: usize,
}

impl SwitchRows<'_> {
    /// Draws the mask of the next row, and gives its body.
    fn next_body(&mut self, mask: &mut [u32]) -> u32 {
        torus_sample::uniform_halves(&mut self.masks, mask);
        let error = self.errors[self.j];
        self.j += 1;
        let weight = self.bit << log_weight(self.maker.generator.parameters.switch_gadget(), self.j);
        // To the nearest word of 32 bits.
        let message = (weight.wrapping_add(error).wrapping_add(1 << (u32::BITS - 1)) >> u32::BITS) as u32;
        message.wrapping_add(short_inner_product(mask, &self.maker.secret.short))
    }
}
