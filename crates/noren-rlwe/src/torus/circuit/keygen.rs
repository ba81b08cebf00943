//! Keys of circuit bootstrapping from a secret and a seed.

use noren_math::random::Seed;
use noren_ring::engine::Engine;
use noren_ring::torus::product::TorusProduct;

use crate::error::Result;
use crate::owner::Owner;
use crate::streams::Purpose;
use crate::torus::circuit::keys::{Bodies, CompactCircuitKeys, Part};
use crate::torus::circuit::parameters::CircuitParameters;
use crate::torus::glwe_rows::GlweRows;
use crate::torus::secret::TorusSecret;

impl CompactCircuitKeys {
    /// The keys of this secret.
    ///
    /// Each row has uniform masks `A` and the body `sum_r A_r S_r + e + m`, with for m: `s_t 2^64 / B^j`, or `-s_t S_i 2^64 / B^j`
    /// for `i < k`, in the blind rotation; `-S_i(X^d) 2^64 / B^j` in the step of the trace of exponent d; `S_i S_r 2^64 / B^j`
    /// for products with `S_r`. Rows are numbered `i l + j - 1`.
    ///
    /// The seed is as secret as the keys. Other parameters, and other secrets, draw other bytes from the same seed: no mask and no
    /// error is used twice.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`](crate::error::Error::ParameterMismatch) for a secret of other parameters.
    ///
    /// # Panics
    /// If the products are of another degree.
    pub fn generate(
        engine: &Engine,
        product: &TorusProduct,
        parameters: &CircuitParameters,
        secret: &TorusSecret,
        seed: &Seed,
    ) -> Result<Self> {
        let owner = secret.owner();
        Owner { fingerprint: parameters.torus().fingerprint(), ..owner }.check(&owner, "the secret key")?;
        let seed = Purpose::CircuitKeys.seed_of(seed, &Owner { fingerprint: parameters.fingerprint(), ..owner });
        let public = seed.derive("uniform");
        let rows = GlweRows::new(product, secret.polynomials(), &seed, public.clone());
        let label = |part: Part| move |item, row| part.label(item, row);
        let size = Part::Rotation.size(parameters);
        let rotation = rows.bodies(engine, size, &label(Part::Rotation), &|step, row, body| {
            rows.add_bit(parameters.rotation(), row, secret.short_bits()[step], body);
        });
        let (steps, _) = Part::Trace.size(parameters);
        let trace = rows.trace(engine, (steps, parameters.trace()), &label(Part::Trace));
        let square = rows.squares(engine, parameters.square(), &label(Part::Square));
        let bodies = Bodies { rotation, trace, square };
        Ok(Self { parameters: parameters.clone(), key: owner.key, seed: public, bodies })
    }
}
