//! Small rings with keys, and integers of a fixed stream.

use noren::bgv::{Context, Decryptor, Encoder, KeyRequest, Keys, ParametersSpec, Plaintext};
use noren::schemes::integers::{Ciphertext, Encryptor, Evaluator, Scheme};
use noren::{Security, Seed};

/// A context with its keys.
pub struct Setup {
    pub context: Context,
    pub keys: Keys,
}

impl Setup {
    pub fn new(spec: ParametersSpec, request: &KeyRequest) -> Self {
        let context = Context::new(spec.build().expect("supported")).expect("rings");
        let keys = context.generate_keys(seed(1), request).expect("keys");
        Self { context, keys }
    }

    pub fn encoder(&self) -> Encoder {
        Encoder::new(&self.context)
    }

    pub fn evaluator<S: Scheme>(&self) -> Evaluator<S> {
        Evaluator::new(&self.context, self.keys.evaluation.clone()).expect("one context")
    }

    pub fn decryptor(&self) -> Decryptor<'_> {
        Decryptor::new(&self.context, &self.keys.secret).expect("one context")
    }

    pub fn t(&self) -> i64 {
        self.context.parameters().modulus().value().cast_signed()
    }

    /// Integers modulo t, for all slots.
    pub fn values(&self, stream: u64) -> Vec<i64> {
        integers(self.context.parameters().degree(), self.t(), stream)
    }

    pub fn encode(&self, values: &[i64]) -> Plaintext {
        self.encoder().encode(values).expect("in range")
    }

    /// An encryption with the public key.
    pub fn encrypt<S: Scheme>(&self, values: &[i64], stream: u8) -> Ciphertext<S> {
        let encryptor = Encryptor::public(&self.context, &self.keys.public, seed(stream)).expect("one context");
        encryptor.encrypt(&self.encode(values)).expect("one context")
    }

    pub fn decrypt<S: Scheme>(&self, ciphertext: &Ciphertext<S>) -> Vec<i64> {
        self.encoder().decode(&self.decryptor().decrypt(ciphertext).expect("noise left")).expect("one context")
    }

    /// The decryption must be exact, and the noise as predicted: not above by half a bit (the predictions are averages), and
    /// not below by more than `slack` bits.
    #[track_caller]
    pub fn check<S: Scheme>(&self, ciphertext: &Ciphertext<S>, expected: &[i64], slack: f64, what: &str) {
        let what = format!("{} {what}", S::NAME);
        assert_eq!(self.decrypt(ciphertext), expected, "{what}");
        let measured = self.decryptor().measure_noise(ciphertext).expect("one context");
        let (found, predicted) = (measured.std.log2(), ciphertext.noise().log2_std());
        println!("{what}: {found:.2} bits, predicted {predicted:.2}, limbs {}", ciphertext.limbs());
        assert!(found <= predicted + 0.5, "{what}: 2^{found:.2} is more than 2^{predicted:.2}");
        assert!(found >= predicted - slack, "{what}: 2^{found:.2} is far less than 2^{predicted:.2}");
        let bound = -1.0 - ciphertext.noise_budget();
        assert!(measured.max.log2() <= bound, "{what}: 2^{:.2} above the bound 2^{bound:.2}", measured.max.log2());
    }
}

/// Degree 2^10, t = 65537 and primes of 36 bits: a level of BGV each.
pub fn spec(limbs: usize) -> ParametersSpec {
    ParametersSpec {
        log_n: 10,
        plaintext_modulus: 65537,
        log_q: vec![36; limbs],
        log_p: vec![48; 2],
        security: Security::None,
        ..ParametersSpec::default()
    }
}

pub fn seed(n: u8) -> Seed {
    Seed::from_bytes([n; 32])
}

/// Integers modulo t, by a linear congruence.
pub fn integers(count: usize, t: i64, stream: u64) -> Vec<i64> {
    let mut state = stream.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(state) * t as u128) >> 64) as i64
    };
    (0..count).map(|_| next()).collect()
}

/// `op` slot by slot, modulo t.
pub fn zip(t: i64, a: &[i64], b: &[i64], op: impl Fn(i128, i128) -> i128) -> Vec<i64> {
    a.iter().zip(b).map(|(&a, &b)| op(a.into(), b.into()).rem_euclid(t.into()) as i64).collect()
}

/// Both rows rotated to the left.
pub fn rotated(values: &[i64], steps: isize) -> Vec<i64> {
    let half = values.len() / 2;
    let shift = steps.rem_euclid(half as isize) as usize;
    (0..values.len()).map(|j| values[j / half * half + (j % half + shift) % half]).collect()
}
