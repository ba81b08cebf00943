//! A small world for tests of CKKS: keys, and vectors that are carried both encrypted and in clear.

#![allow(dead_code, reason = "every test file uses its own part")]

use noren::ckks::{
    Ciphertext, Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, Keys, ParametersSpec, Plaintext,
};
use noren::{Complex64, Result, Security, Seed};

/// A context with keys.
pub struct World {
    pub context: Context,
    pub encoder: Encoder,
    pub evaluator: Evaluator,
    pub keys: Keys,
}

/// A ciphertext, and what it should hold by plain arithmetic.
#[derive(Clone)]
pub struct Twin {
    pub ciphertext: Ciphertext,
    pub values: Vec<Complex64>,
}

/// A plaintext, and what it should hold.
pub struct PlainTwin {
    pub plaintext: Plaintext,
    pub values: Vec<Complex64>,
}

/// A seed from a number.
pub fn seed(number: u64) -> Seed {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    Seed::from_bytes(bytes)
}

/// Numbers in [-1, 1), the same for the same seed.
pub fn uniform(number: u64, count: usize) -> Vec<f64> {
    let mut xof = seed(number).xof("test/uniform");
    (0..count).map(|_| (xof.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0).collect()
}

/// Parameters of a toy ring with four multiplications.
pub fn toy() -> ParametersSpec {
    ParametersSpec {
        log_n: 10,
        log_q: vec![50, 40, 40, 40, 40],
        log_p: vec![50, 50],
        log_scale: 40,
        security: Security::None,
        ..ParametersSpec::default()
    }
}

pub fn real(values: &[f64]) -> Vec<Complex64> {
    values.iter().copied().map(Complex64::from).collect()
}

/// The largest distance of two vectors.
pub fn worst(a: &[Complex64], b: &[Complex64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

impl World {
    /// The world of these parameters, with keys for the given rotations, for products and for conjugation.
    pub fn new(spec: ParametersSpec, number: u64, rotations: &[isize]) -> Self {
        let context = Context::new(spec.build().expect("parameters")).expect("context");
        let request = KeyRequest {
            relinearization: true,
            conjugation: true,
            rotations: rotations.to_vec(),
            ..Default::default()
        };
        let keys = context.generate_keys(seed(number), &request).expect("keys");
        let evaluator = Evaluator::new(&context, keys.evaluation.clone()).expect("evaluator");
        Self { encoder: Encoder::new(&context), context, evaluator, keys }
    }

    pub fn max_level(&self) -> usize {
        self.context.parameters().max_level()
    }

    pub fn encode(&self, values: &[Complex64], level: usize) -> PlainTwin {
        let scale = self.context.parameters().scale_at(level);
        let reals: Vec<f64> = values.iter().map(|z| z.re).collect();
        let plaintext = if values.iter().all(|z| z.im == 0.0) {
            self.encoder.encode_real(&reals, values.len(), level, scale)
        } else {
            self.encoder.encode_complex(values, values.len(), level, scale)
        };
        let plaintext = plaintext.expect("encode");
        PlainTwin { plaintext, values: values.to_vec() }
    }

    /// Encrypts with the public key.
    pub fn encrypt(&self, values: &[Complex64], number: u64) -> Twin {
        let encryptor = Encryptor::public(&self.context, &self.keys.public, seed(number)).expect("encryptor");
        let plain = self.encode(values, self.max_level());
        Twin { ciphertext: encryptor.encrypt(&plain.plaintext).expect("encrypt"), values: plain.values }
    }

    /// Encrypts with the secret key.
    pub fn encrypt_symmetric(&self, values: &[Complex64], number: u64) -> Twin {
        let encryptor = Encryptor::symmetric(&self.context, &self.keys.secret, seed(number)).expect("encryptor");
        let plain = self.encode(values, self.max_level());
        Twin { ciphertext: encryptor.encrypt(&plain.plaintext).expect("encrypt"), values: plain.values }
    }

    pub fn decrypt(&self, ciphertext: &Ciphertext) -> Vec<Complex64> {
        let decryptor = Decryptor::new(&self.context, &self.keys.secret).expect("decryptor");
        decryptor.decrypt_complex(ciphertext).expect("decrypt")
    }

    /// The worst error of a twin, which its bound must hold for.
    pub fn error(&self, twin: &Twin) -> f64 {
        let error = worst(&self.decrypt(&twin.ciphertext), &twin.values);
        let bound = twin.ciphertext.error_bound();
        assert!(error <= bound, "an error of {error:e} exceeds its bound of {bound:e}");
        error
    }

    /// The result of an operation on the operands: by the evaluator, and slot by slot.
    pub fn apply<const COUNT: usize>(
        &self,
        operands: [&Twin; COUNT],
        encrypted: impl FnOnce(&Evaluator, [&Ciphertext; COUNT]) -> Result<Ciphertext>,
        clear: impl Fn([Complex64; COUNT]) -> Complex64,
    ) -> Twin {
        let ciphertext = encrypted(&self.evaluator, operands.map(|x| &x.ciphertext)).expect("the operation is allowed");
        let slots = operands[0].values.len();
        let values = (0..slots).map(|j| clear(operands.map(|x| x.values[j]))).collect();
        Twin { ciphertext, values }
    }

    pub fn add(&self, a: &Twin, b: &Twin) -> Twin {
        self.apply([a, b], |ev, [a, b]| ev.add(a, b), |[a, b]| a + b)
    }

    pub fn sub(&self, a: &Twin, b: &Twin) -> Twin {
        self.apply([a, b], |ev, [a, b]| ev.sub(a, b), |[a, b]| a - b)
    }

    pub fn mul(&self, a: &Twin, b: &Twin) -> Twin {
        self.apply([a, b], |ev, [a, b]| ev.mul(a, b), |[a, b]| a * b)
    }

    pub fn square(&self, a: &Twin) -> Twin {
        self.apply([a], |ev, [a]| ev.square(a), |[a]| a * a)
    }

    pub fn rotate(&self, a: &Twin, steps: isize) -> Twin {
        let ciphertext = self.evaluator.rotate(&a.ciphertext, steps).expect("the rotation is allowed");
        Twin { ciphertext, values: rotated(&a.values, steps) }
    }
}

/// Slot j is slot `j + steps`.
pub fn rotated(values: &[Complex64], steps: isize) -> Vec<Complex64> {
    let slots = values.len() as isize;
    (0..slots).map(|j| values[(j + steps).rem_euclid(slots) as usize]).collect()
}
