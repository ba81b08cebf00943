//! Light keys from one seed.

use noren_ring::engine::Engine;
use noren_ring::torus::product::TorusProduct;

use crate::error::Result;
use crate::streams::Purpose;
use crate::torus::glwe_rows::{GlweRows, log_weight};
use crate::torus::keygen::{RowMaker, TorusKeyGenerator};
use crate::torus::light::keys::{Bodies, LightKeys, Part};
use crate::torus::secret::TorusSecret;

impl TorusKeyGenerator {
    /// The light keys for this secret, which is that of this generator.
    ///
    /// Each row has uniform masks `A` and the body `sum_r A_r S_r + e + m`, with for m: the messages of the packed sample, `s
    /// 2^64 / B^j` each, one a coefficient; `-S_i(X^d) 2^64 / B^j` in the step of the trace of exponent d; `S_i S_r 2^64 / B^j` for
    /// products with `S_r`. The messages are those of step 0, then of step 1, ...; of a step with bits in pairs those of the first
    /// bit, of the second, and of their product; of each the levels j = 1, 2, .... The key switch is that of compact keys.
    ///
    /// Parameters that differ in anything draw other bytes from the same seed.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`](crate::error::Error::ParameterMismatch) and
    /// [`Error::KeyMismatch`](crate::error::Error::KeyMismatch) for the secret of another generator,
    /// [`Error::Parameters`](crate::error::Error::Parameters) for parameters that are not of light keys.
    ///
    /// # Panics
    /// If the products are of another degree.
    pub fn light(&self, engine: &Engine, product: &TorusProduct, secret: &TorusSecret) -> Result<LightKeys> {
        let spec = self.parameters.light()?;
        let owner = self.owner(secret)?;
        let parameters = self.parameters.clone();
        let seed = Purpose::LightKeys.seed(&self.seed, &parameters.fingerprint());
        let own = Self { parameters: parameters.clone(), seed, key: self.key };
        let public = own.seed.derive("uniform");
        let rows = GlweRows::new(product, secret.polynomials(), &own.seed, public.clone());
        let label = |part: Part| move |item, row| part.label(item, row);
        let (gadget, matrices) = (parameters.gadget(), parameters.rotation().grouping.matrices());
        let messages = Part::messages(&parameters);
        let packed =
            rows.bodies(engine, Part::Packed.size(&parameters, &spec), &label(Part::Packed), &|sample, _, body| {
                let first = sample * spec.count();
                for (number, word) in (first..messages.min(first + spec.count())).zip(body) {
                    let (of_matrix, level) = (number / gadget.levels(), number % gadget.levels());
                    let bit = secret.rotated_bit(of_matrix / matrices, of_matrix % matrices);
                    *word = word.wrapping_add((bit as u64) << log_weight(gadget, level + 1));
                }
            });
        let (steps, _) = Part::Trace.size(&parameters, &spec);
        let trace = rows.trace(engine, (steps, spec.trace.gadget()), &label(Part::Trace));
        let square = rows.squares(engine, spec.square.gadget(), &label(Part::Square));
        let switch = RowMaker::new(&own, product, secret).switch_bodies(engine);
        Ok(LightKeys { parameters, key: owner.key, seed: public, bodies: Bodies { packed, trace, square }, switch })
    }
}
