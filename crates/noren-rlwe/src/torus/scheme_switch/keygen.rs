//! Keys of scheme switching from two secrets and a seed.

use noren_math::random::Seed;
use noren_ring::torus::ring::TorusRing;
use zeroize::Zeroizing;

use crate::context::Context;
use crate::error::Result;
use crate::keygen::{KeyGenerator, secret_key};
use crate::keys::SecretKey;
use crate::owner::Owner;
use crate::security::SecretDistribution;
use crate::streams::{Purpose, hex};
use crate::torus::glwe_rows::GlweRows;
use crate::torus::scheme_switch::keys::{Bodies, CompactSwitchKeys, Part};
use crate::torus::scheme_switch::law::UP_SHAPE;
use crate::torus::scheme_switch::parameters::SwitchParameters;
use crate::torus::secret::TorusSecret;

impl CompactSwitchKeys {
    /// The keys between a secret s of the ring of ciphertexts and the long secret z over the torus. Rows are made by the rings over the
    /// torus of degree N and `N'`.
    ///
    /// Each row has a uniform mask A and the body `A Z + e + m` with `m = -s 2^64 / B^j` for row j - 1 of the way down; `A z + e + m`
    /// with `m = -z(X^d) 2^64 / B^j` in the step of exponent d of packing. The key switching key from Z to s has one digit, and the
    /// modulus `q_0 p` of the last special prime p; it is made from the child `up` of the seed.
    ///
    /// The seed is as secret as the keys. Other parameters, and other secrets on either side, draw other bytes from the same seed: no
    /// mask and no error is used twice.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`](crate::error::Error::ParameterMismatch) for a context or a secret of other parameters,
    /// [`Error::Insecure`](crate::error::Error::Insecure) if s does not carry the modulus `q_0 p`,
    /// [`Error::Memory`](crate::error::Error::Memory) if there is not memory for the key under it.
    ///
    /// # Panics
    /// If products are of another degree.
    pub fn generate(
        context: &Context,
        (large, small): (&TorusRing, &TorusRing),
        parameters: &SwitchParameters,
        (secret, torus_secret): (&SecretKey, &TorusSecret),
        seed: &Seed,
    ) -> Result<Self> {
        let rlwe = parameters.rlwe();
        rlwe.check_fingerprint(&context.parameters().fingerprint(), "the context")?;
        rlwe.check_fingerprint(secret.fingerprint(), "the secret key of the ciphertexts")?;
        let owner = torus_secret.owner();
        Owner { fingerprint: parameters.torus().fingerprint(), ..owner }
            .check(&owner, "the secret key over the torus")?;
        let spread = spread(parameters, torus_secret);
        // The identity of Z follows from its coefficients; keys under it are made over the torus alone.
        let spread_key = secret_key(context, spread.clone(), SecretDistribution::Ternary);
        let own = Owner { fingerprint: parameters.fingerprint(), key: secret.owner.key };
        let seed = Purpose::SwitchKeys.seed_of(seed, &own).derive(&hex(&spread_key.owner.key.0));
        let generator = KeyGenerator::new(context, seed.derive("up")).shaped(UP_SHAPE)?;
        let up = generator.switching(&spread_key, secret, None)?;

        let public = seed.derive("uniform");
        let label = |part: Part| move |item, row| part.label(item, row);
        let (bits, noise) = torus_secret.polynomials();
        let rows = GlweRows::new(large.product(), (&spread, noise), &seed, public.clone());
        let negated =
            Zeroizing::new(secret.coefficients.iter().map(|&s| (s as u64).wrapping_neg()).collect::<Vec<_>>());
        let down = rows.switch(large.engine(), (&negated, parameters.down()), &label(Part::Down));
        let rows = GlweRows::new(small.product(), (bits, noise), &seed, public.clone());
        let (steps, ..) = Part::Packing.size(parameters);
        let packing = rows.trace(small.engine(), (steps, parameters.packing()), &label(Part::Packing));
        let bodies = Bodies { down, packing };
        Ok(Self { parameters: parameters.clone(), key: owner.key, seed: public, bodies, up })
    }
}

/// The coefficients of `Z = z(X^g)`.
fn spread(parameters: &SwitchParameters, secret: &TorusSecret) -> Zeroizing<Vec<i8>> {
    let mut spread = Zeroizing::new(vec![0; parameters.sliced().degree]);
    for (place, &bit) in spread.iter_mut().step_by(parameters.slices()).zip(secret.long_bits()) {
        *place = bit;
    }
    spread
}
