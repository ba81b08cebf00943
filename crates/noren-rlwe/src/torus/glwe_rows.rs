//! Rows of keys that are GLWE samples: uniform masks of a public seed, errors of a secret one, under the same labels.

use noren_math::machine::memory;
use noren_math::random::Seed;
use noren_math::torus::gadget::Gadget;
use noren_ring::engine::Engine;
use noren_ring::interrupt::Steps;
use noren_ring::torus::polynomial::automorphism;
use noren_ring::torus::product::{SmallFactor, TorusProduct};
use noren_ring::torus::trace;
use zeroize::Zeroizing;

use crate::torus::noise::TorusNoise;

/// The generator of bodies `sum_r A_r S_r + e + m` for messages m.
pub(crate) struct GlweRows<'a> {
    product: &'a TorusProduct,
    noise: TorusNoise,
    /// The polynomials `S_0 ... S_{k-1}`, as words and ready for products.
    words: Vec<Zeroizing<Vec<u64>>>,
    factors: Vec<SmallFactor>,
    /// All of them together.
    factor: SmallFactor,
    seed: &'a Seed,
    public: Seed,
}

impl<'a> GlweRows<'a> {
    /// For secret polynomials of these bits, `[k, N]`, and errors of this noise. Errors come from streams of `seed`, masks from those
    /// of `public`.
    pub(crate) fn new(
        product: &'a TorusProduct,
        (secret, noise): (&[i8], TorusNoise),
        seed: &'a Seed,
        public: Seed,
    ) -> Self {
        let polynomials = || secret.chunks_exact(product.degree());
        let words = polynomials().map(|bits| Zeroizing::new(bits.iter().map(|&s| s as u64).collect())).collect();
        let small = |bits: &[i8]| Zeroizing::new(bits.iter().map(|&s| i64::from(s)).collect::<Vec<_>>());
        let factors = polynomials().map(|bits| product.small_factor(&small(bits))).collect();
        let factor = product.small_factor(&small(secret));
        Self { product, noise, words, factors, factor, seed, public }
    }

    /// The public seed of all masks.
    pub(crate) const fn public(&self) -> &Seed {
        &self.public
    }

    /// Masks, `[k, N]`, and a body without message, `sum_r A_r S_r + e`; what was there does not matter.
    pub(crate) fn write(&self, label: &str, mask: &mut [u64], body: &mut [u64]) {
        self.noise.sample(&mut self.seed.xof(&format!("error/{label}")), body);
        self.public.xof(label).fill_u64(mask);
        self.product.mul_small_add(body, mask, &self.factor);
    }

    /// Adds the message of row `i l + j - 1` of the GGSW sample of a bit s to its body: `-s S_i 2^64 / B^j`, or `s 2^64 / B^j` for
    /// i = k.
    pub(crate) fn add_bit(&self, gadget: Gadget, row: usize, bit: i8, body: &mut [u64]) {
        let (i, weight) = weight(gadget, row);
        let weight = weight * bit as u64;
        match self.words.get(i) {
            Some(words) => add_multiple(body, words, weight.wrapping_neg()),
            None => body[0] = body[0].wrapping_add(weight),
        }
    }

    /// All bodies, `[items, rows, N]`; `message` is given item, row and the body to add to.
    pub(crate) fn bodies(
        &self,
        engine: &Engine,
        (items, rows): (usize, usize),
        label: &(dyn Fn(usize, usize) -> String + Sync),
        message: &(dyn Fn(usize, usize, &mut [u64]) + Sync),
    ) -> Vec<u64> {
        let n = self.product.degree();
        let mut bodies = memory::zeros(items * rows * n);
        let mask = || vec![0; self.words.len() * n];
        let progress = Steps::new(items * rows);
        engine.run_with(bodies.len(), bodies.chunks_exact_mut(n).enumerate(), mask, |mask, (place, body)| {
            let (item, row) = (place / rows, place % rows);
            self.write(&label(item, row), mask, body);
            message(item, row, body);
            progress.advance(1);
        });
        bodies
    }

    /// The bodies of the first steps of the trace, `[steps, k l, N]`: `-S_r(X^d) 2^64 / B^j` for row `r l + j - 1`.
    pub(crate) fn trace(
        &self,
        engine: &Engine,
        (steps, gadget): (usize, Gadget),
        label: &(dyn Fn(usize, usize) -> String + Sync),
    ) -> Vec<u64> {
        self.bodies(engine, (steps, self.words.len() * gadget.levels()), label, &|step, row, body| {
            let (r, weight) = weight(gadget, row);
            let mut moved = Zeroizing::new(vec![0; body.len()]);
            automorphism(&mut moved, &self.words[r], trace::exponent(body.len(), step));
            add_multiple(body, &moved, weight.wrapping_neg());
        })
    }

    /// The bodies of a key switch from one polynomial T, given as words: `[l, N]`, of `T 2^64 / B^j` for row j - 1. Of their
    /// labels the item is 0.
    pub(crate) fn switch(
        &self,
        engine: &Engine,
        (from, gadget): (&[u64], Gadget),
        label: &(dyn Fn(usize, usize) -> String + Sync),
    ) -> Vec<u64> {
        self.bodies(engine, (1, gadget.levels()), label, &|_, row, body| {
            add_multiple(body, from, weight(gadget, row).1);
        })
    }

    /// The bodies of products with secrets, `[k, k l, N]`: `S_i S_r 2^64 / B^j` for row `i l + j - 1` of item r.
    pub(crate) fn squares(
        &self,
        engine: &Engine,
        gadget: Gadget,
        label: &(dyn Fn(usize, usize) -> String + Sync),
    ) -> Vec<u64> {
        let k = self.words.len();
        self.bodies(engine, (k, k * gadget.levels()), label, &|r, row, body| {
            let (i, weight) = weight(gadget, row);
            let mut square = Zeroizing::new(vec![0; body.len()]);
            self.product.mul_small_add(&mut square, &self.words[i], &self.factors[r]);
            add_multiple(body, &square, weight);
        })
    }
}

/// Writes the sample of a row: masks of the public seed under the label, and the body that is at this place among all.
pub(crate) fn write_row(public: &Seed, label: &str, (bodies, place): (&[u64], usize), degree: usize, out: &mut [u64]) {
    let (mask, body) = out.split_at_mut(out.len() - degree);
    public.xof(label).fill_u64(mask);
    body.copy_from_slice(&bodies[place * degree..][..degree]);
}

/// `out += factor a`.
fn add_multiple(out: &mut [u64], a: &[u64], factor: u64) {
    out.iter_mut().zip(a).for_each(|(x, y)| *x = x.wrapping_add(y.wrapping_mul(factor)));
}

/// The polynomial i of row `i l + j - 1`, and `2^64 / B^j`.
fn weight(gadget: Gadget, row: usize) -> (usize, u64) {
    (row / gadget.levels(), 1 << log_weight(gadget, row % gadget.levels() + 1))
}

/// `log2` of what digit j counts, `2^64 / B^j`, for j from 1.
pub(crate) fn log_weight(gadget: Gadget, j: usize) -> u32 {
    u64::BITS - gadget.log_base() * j as u32
}
