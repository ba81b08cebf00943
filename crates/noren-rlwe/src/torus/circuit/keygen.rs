//! Keys of circuit bootstrapping from a secret and a seed.

use noren_math::random::Seed;
use noren_math::torus::gadget::Gadget;
use noren_ring::engine::Engine;
use noren_ring::torus::polynomial::automorphism;
use noren_ring::torus::product::{SmallFactor, TorusProduct};
use noren_ring::torus::trace;
use zeroize::Zeroizing;

use crate::error::Result;
use crate::torus::circuit::keys::{Bodies, CompactCircuitKeys, Part};
use crate::torus::circuit::parameters::CircuitParameters;
use crate::torus::keygen::log_weight;
use crate::torus::secret::{Owner, TorusSecret};

/// The polynomials `S_0 ... S_{k-1}` of a secret, as words and ready for products.
struct Secrets<'a> {
    product: &'a TorusProduct,
    words: Vec<Zeroizing<Vec<u64>>>,
    factors: Vec<SmallFactor>,
}

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
        let seed = seed.derive(&format!("torus/circuit/{}/{}", hex(&parameters.fingerprint()), hex(&owner.key.0)));
        let public = seed.derive("uniform");
        let secrets = Secrets::new(product, secret);
        let rows = |part: Part, message: &(dyn Fn(usize, usize, &mut [u64]) + Sync)| {
            let (items, rows) = part.size(parameters);
            let n = parameters.torus().shape().degree;
            let mut bodies = vec![0; items * rows * n];
            let mask = || vec![0; parameters.torus().dimension()];
            engine.run_with(bodies.len(), bodies.chunks_exact_mut(n).enumerate(), mask, |mask, (place, body)| {
                let (item, row) = (place / rows, place % rows);
                let label = format!("error/{}", part.label(item, row));
                parameters.torus().spec().glwe_noise.sample(&mut seed.xof(&label), body);
                row_mask(&public, part, (item, row), mask);
                secrets.add_inner_product(body, mask);
                message(item, row, body);
            });
            bodies
        };
        let rotation = rows(Part::Rotation, &|step, row, body| {
            let (i, weight) = weight(parameters.rotation(), row);
            let weight = weight * secret.short_bits()[step] as u64;
            match secrets.words.get(i) {
                Some(words) => add_multiple(body, words, weight.wrapping_neg()),
                None => body[0] = body[0].wrapping_add(weight),
            }
        });
        let trace = rows(Part::Trace, &|step, row, body| {
            let (i, weight) = weight(parameters.trace(), row);
            let mut moved = Zeroizing::new(vec![0; body.len()]);
            automorphism(&mut moved, &secrets.words[i], trace::exponent(body.len(), step));
            add_multiple(body, &moved, weight.wrapping_neg());
        });
        let square = rows(Part::Square, &|r, row, body| {
            let (i, weight) = weight(parameters.square(), row);
            add_multiple(body, &secrets.product_of(i, r), weight);
        });
        let bodies = Bodies { rotation, trace, square };
        Ok(Self { parameters: parameters.clone(), key: owner.key, seed: public, bodies })
    }
}

impl<'a> Secrets<'a> {
    fn new(product: &'a TorusProduct, secret: &TorusSecret) -> Self {
        let polynomials = || secret.long_bits().chunks_exact(product.degree());
        let words = polynomials().map(|bits| Zeroizing::new(bits.iter().map(|&s| s as u64).collect())).collect();
        let small = |bits: &[i8]| Zeroizing::new(bits.iter().map(|&s| i64::from(s)).collect::<Vec<_>>());
        let factors = polynomials().map(|bits| product.small_factor(&small(bits))).collect();
        Self { product, words, factors }
    }

    /// `out += sum_r A_r S_r`.
    fn add_inner_product(&self, out: &mut [u64], masks: &[u64]) {
        for (mask, factor) in masks.chunks_exact(out.len()).zip(&self.factors) {
            self.product.mul_small_add(out, mask, factor);
        }
    }

    /// `S_i S_r`.
    fn product_of(&self, i: usize, r: usize) -> Zeroizing<Vec<u64>> {
        let mut out = Zeroizing::new(vec![0; self.words[i].len()]);
        self.product.mul_small_add(&mut out, &self.words[i], &self.factors[r]);
        out
    }
}

/// `out += factor a`.
fn add_multiple(out: &mut [u64], a: &[u64], factor: u64) {
    out.iter_mut().zip(a).for_each(|(x, y)| *x = x.wrapping_add(y.wrapping_mul(factor)));
}

/// The polynomial i of row `i l + j - 1`, and `2^64 / B^j`.
fn weight(gadget: Gadget, row: usize) -> (usize, u64) {
    (row / gadget.levels(), 1 << log_weight(gadget, row % gadget.levels() + 1))
}

/// The masks of a row, `[k, N]`, from the public seed.
pub(crate) fn row_mask(seed: &Seed, part: Part, (item, row): (usize, usize), out: &mut [u64]) {
    seed.xof(&part.label(item, row)).fill_u64(out);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
