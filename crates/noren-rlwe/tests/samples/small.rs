//! Small parameter sets, arbitrary ciphertexts, and how far a measured standard deviation may be off.

use noren_math::prime::primes_below;
use noren_math::random::Seed;
use noren_ring::poly::{Coeff, Eval, Poly};
use noren_rlwe::ciphertext::{Ciphertext, Plaintext};
use noren_rlwe::context::Context;
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::keys::SecretKey;
use noren_rlwe::noise::measure;
use noren_rlwe::owner::KeyId;
use noren_rlwe::parameters::{Parameters, ParametersSpec};
use noren_rlwe::security::Security;

/// A context with a secret, and the generator that it comes from.
pub struct Setup {
    pub context: Context,
    pub generator: KeyGenerator,
    pub secret: SecretKey,
}

impl Setup {
    pub fn new(spec: ParametersSpec) -> Self {
        let context = Context::new(spec.build().expect("supported")).expect("supported");
        let generator = KeyGenerator::new(&context, seed(1));
        let secret = generator.secret();
        Self { context, generator, secret }
    }

    pub fn parameters(&self) -> &Parameters {
        self.context.parameters()
    }

    /// A ciphertext of uniform parts: an encryption of whatever it decrypts to.
    pub fn arbitrary(&self, limbs: usize, degree: usize, label: &str) -> Ciphertext {
        self.arbitrary_under(&self.secret, limbs, degree, label)
    }

    /// [`Setup::arbitrary`] under another secret.
    pub fn arbitrary_under(&self, secret: &SecretKey, limbs: usize, degree: usize, label: &str) -> Ciphertext {
        let ring = self.context.ring_q(limbs);
        let parts = (0..=degree).map(|i| ring.uniform(&seed(2), &format!("{label}/{i}"))).collect();
        Ciphertext::new(parts, secret.owner().key)
    }

    /// The identity of the secret.
    pub fn key(&self) -> KeyId {
        self.secret.owner().key
    }

    /// A uniform plaintext.
    pub fn plaintext(&self, limbs: usize, label: &str) -> Plaintext {
        Plaintext { poly: self.context.ring_q(limbs).uniform(&seed(3), label) }
    }

    /// The difference between the ciphertext and the expected message must have this standard deviation.
    #[track_caller]
    pub fn assert_noise(&self, ciphertext: &Ciphertext, expected: &Plaintext, predicted: f64, what: &str) {
        let measured = measure(&self.context, &self.secret, ciphertext, expected).expect("one context");
        assert_std(measured.std, predicted, self.parameters().degree(), what);
    }
}

/// Degree `2^log_n`; q_0 of 49 bits and the other limbs of 40, special primes of 50 bits; no security.
pub fn spec(log_n: u32, limbs: usize, special: usize, dnum: usize) -> ParametersSpec {
    let step = 2 << log_n;
    let first = primes_below(1 << 49, step).take(1);
    ParametersSpec {
        index: 2 << log_n,
        q: first.chain(primes_below(1 << 40, step)).take(limbs).collect(),
        p: primes_below(1 << 50, step).take(special).collect(),
        dnum,
        security: Security::None,
        ..ParametersSpec::default()
    }
}

pub fn seed(n: u8) -> Seed {
    Seed::from_bytes([n; 32])
}

/// The words of a polynomial, limb after limb, of the ring that it is over.
pub fn words(context: &Context, poly: &Poly<Eval>) -> Vec<u64> {
    context.ring().window(poly.window()).to_words(poly)
}

/// The words of all parts.
pub fn ciphertext_words(context: &Context, ciphertext: &Ciphertext) -> Vec<u64> {
    ciphertext.parts().iter().flat_map(|part| words(context, part)).collect()
}

/// The coefficients of a polynomial over the first limbs.
pub fn coefficients(context: &Context, poly: &Poly<Eval>) -> Poly<Coeff> {
    context.ring().window(poly.window()).intt(poly.clone())
}

/// Compares a standard deviation that was measured over the n coefficients of one noise polynomial.
///
/// The noise is a sum of products of two random polynomials (digit and error, mask and error, rounding and secret). At
/// each of the n/2 pairs of conjugate points a product of two Gaussian polynomials has a square that is the product of
/// two exponential variables, whose variance is 3 times its squared mean. So the measured variance is off by a relative
/// sqrt(6/n) for one product, and less for sums of several; the standard deviation by half of that. Five times this is
/// allowed.
#[track_caller]
pub fn assert_std(measured: f64, predicted: f64, n: usize, what: &str) {
    let tolerance = 5.0 * (6.0 / n as f64).sqrt() / 2.0;
    let ratio = measured / predicted;
    assert!(
        (ratio - 1.0).abs() < tolerance,
        "{what}: {measured:e} measured, {predicted:e} predicted, ratio {ratio:.4}"
    );
}
