//! All keys over the torus from one seed.

use std::io::{Seek, Write};
use std::path::Path;

use noren_math::random::Seed;
use noren_math::torus::gadget::Gadget;
use noren_math::torus_sample;
use noren_ring::engine::Engine;
use noren_ring::torus::product::{SmallFactor, TorusProduct};
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::torus::keys::CompactKeys;
use crate::torus::parameters::TorusParameters;
use crate::torus::secret::{KeyId, Owner, TorusSecret, secret_bits, short_inner_product};
use crate::torus::wire;
use crate::wire::stream::Stream;

/// Words of the bodies that are made at a time where they are not held: 1 MiB, or more if a bit has more.
const PIECE_WORDS: usize = 1 << 17;

/// Makes keys from one seed: the same seed gives the same bytes on every machine, for any number of threads and any way of
/// products.
///
/// Masks come from a seed of their own, derived one-way, which becomes public with the keys; secrets and errors come from
/// other streams.
pub struct TorusKeyGenerator {
    parameters: TorusParameters,
    seed: Seed,
}

impl TorusKeyGenerator {
    /// The generator of this seed. The seed is as secret as the keys that are made from it, and is used for nothing else.
    #[must_use]
    pub fn new(parameters: &TorusParameters, seed: &Seed) -> Self {
        Self { parameters: parameters.clone(), seed: seed.derive("torus/keygen") }
    }

    /// The secret: uniform bits.
    #[must_use]
    pub fn secret(&self) -> TorusSecret {
        TorusSecret {
            short: secret_bits(self.seed.xof("secret/short"), self.parameters.short_dimension()),
            long: secret_bits(self.seed.xof("secret/long"), self.parameters.dimension()),
            parameters: self.parameters.clone(),
            key: self.key(),
        }
    }

    /// The keys of a bootstrap for this secret, which this generator made.
    ///
    /// Row (i, j) of the GGSW sample of a bit s has the uniform masks `A` and the body `sum_r A_r S_r + e - s S_i 2^64 / B^j`, or
    /// `... + s 2^64 / B^j` for i = k: then the phase is that of `s 2^64 / B^j` in polynomial i.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] and
    /// [`Error::KeyMismatch`] for the secret of another generator.
    ///
    /// # Panics
    /// If the products are of another degree.
    pub fn compact(&self, engine: &Engine, product: &TorusProduct, secret: &TorusSecret) -> Result<CompactKeys> {
        let owner = Owner { fingerprint: self.parameters.fingerprint(), key: self.key() };
        owner.check(&secret.owner(), "the secret key")?;
        let maker = RotationMaker::new(self, product, secret);
        let mut rotation = vec![0; self.parameters.rotation_bodies()];
        maker.write_bodies(engine, 0, &mut rotation);
        let switch = self.switch_bodies(engine, secret, &maker.uniform);
        Ok(CompactKeys { parameters: self.parameters.clone(), key: owner.key, seed: maker.uniform, rotation, switch })
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
        let owner = Owner { fingerprint: self.parameters.fingerprint(), key: self.key() };
        owner.check(&secret.owner(), "the secret key")?;
        let failed = |source| Error::Io { path: path.to_owned(), source };
        let maker = RotationMaker::new(self, product, secret);
        let of_step = self.parameters.rotation_bodies() / self.parameters.short_dimension();
        // Threads share the work of a piece.
        let steps = (PIECE_WORDS / of_step).max(engine.threads());
        let mut piece = vec![0; steps * of_step];
        let switch = self.switch_bodies(engine, secret, &maker.uniform);
        wire::put_names(stream, &self.parameters, owner.key, &maker.uniform).map_err(failed)?;
        for first in (0..self.parameters.short_dimension()).step_by(steps) {
            let piece = &mut piece[..steps.min(self.parameters.short_dimension() - first) * of_step];
            maker.write_bodies(engine, first, piece);
            wire::put_rotation(stream, piece).map_err(failed)?;
        }
        wire::put_switch(stream, &switch).map_err(failed)
    }

    fn switch_bodies(&self, engine: &Engine, secret: &TorusSecret, seed: &Seed) -> Vec<u32> {
        let (gadget, n) = (self.parameters.switch_gadget(), self.parameters.short_dimension());
        let mut bodies = vec![0; self.parameters.switch_bodies()];
        let work = bodies.len() * n;
        let mask = || vec![0; n];
        let tasks = bodies.chunks_exact_mut(gadget.levels()).enumerate();
        engine.run_with(work, tasks, mask, |mask, (i, bodies): (usize, &mut [u32])| {
            let mut errors = Zeroizing::new(vec![0; bodies.len()]);
            self.parameters.spec().lwe_noise.sample(&mut self.seed.xof(&format!("error/switch/{i}")), &mut errors);
            for ((body, error), j) in bodies.iter_mut().zip(&*errors).zip(1..) {
                switch_mask(seed, i, j, mask);
                let weight = (secret.long[i] as u64) << log_weight(gadget, j);
                // To the nearest word of 32 bits.
                let message = (weight.wrapping_add(*error).wrapping_add(1 << (u32::BITS - 1)) >> u32::BITS) as u32;
                *body = message.wrapping_add(short_inner_product(mask, &secret.short));
            }
        });
        bodies
    }

    fn key(&self) -> KeyId {
        let mut key = [0; 16];
        key.copy_from_slice(&self.seed.derive("key").as_bytes()[..16]);
        KeyId(key)
    }
}

/// What makes the bodies of the GGSW samples.
struct RotationMaker<'a> {
    generator: &'a TorusKeyGenerator,
    product: &'a TorusProduct,
    secret: &'a TorusSecret,
    factor: SmallFactor,
    /// The public seed of all masks.
    uniform: Seed,
}

impl<'a> RotationMaker<'a> {
    fn new(generator: &'a TorusKeyGenerator, product: &'a TorusProduct, secret: &'a TorusSecret) -> Self {
        let bits: Zeroizing<Vec<i64>> = Zeroizing::new(secret.long.iter().map(|&s| s.into()).collect());
        let (factor, uniform) = (product.small_factor(&bits), generator.seed.derive("uniform"));
        Self { generator, product, secret, factor, uniform }
    }

    /// The bodies of the samples of bits from `first` on, `[bits, (k+1) l, N]`; what was there does not matter.
    fn write_bodies(&self, engine: &Engine, first: usize, bodies: &mut [u64]) {
        let (parameters, seed) = (&self.generator.parameters, &self.generator.seed);
        let (shape, gadget) = (parameters.shape(), parameters.gadget());
        let (k, n, levels) = (shape.dimension, shape.degree, gadget.levels());
        let rows = (k + 1) * levels;
        let mask = || vec![0; k * n];
        engine.run_with(bodies.len(), bodies.chunks_exact_mut(n).enumerate(), mask, |mask, (place, body)| {
            let (step, row) = (first + place / rows, place % rows);
            let (i, j) = (row / levels, row % levels + 1);
            parameters.spec().glwe_noise.sample(&mut seed.xof(&format!("error/rotation/{step}/{row}")), body);
            rotation_mask(&self.uniform, step, row, mask);
            self.product.mul_small_add(body, mask, &self.factor);
            let weight = (self.secret.short[step] as u64) << log_weight(gadget, j);
            match self.secret.long.chunks_exact(n).nth(i) {
                Some(bits) => {
                    body.iter_mut().zip(bits).for_each(|(b, &s)| *b = b.wrapping_sub(weight * s as u64));
                }
                None => body[0] = body[0].wrapping_add(weight),
            }
        });
    }
}

/// `log2` of what digit j counts, `2^64 / B^j`, for j from 1.
pub(crate) fn log_weight(gadget: Gadget, j: usize) -> u32 {
    u64::BITS - gadget.log_base() * j as u32
}

/// The masks of a row of a GGSW sample, `[k, N]`, from the public seed.
pub(crate) fn rotation_mask(seed: &Seed, step: usize, row: usize, out: &mut [u64]) {
    seed.xof(&format!("rotation/{step}/{row}")).fill_u64(out);
}

/// The mask of row (i, j) of the key switch, from the public seed.
pub(crate) fn switch_mask(seed: &Seed, i: usize, j: usize, out: &mut [u32]) {
    torus_sample::uniform_halves(&mut seed.xof(&format!("switch/{i}/{j}")), out);
}
