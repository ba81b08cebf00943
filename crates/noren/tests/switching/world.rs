//! Keys of both schemes that the tests share.

use std::sync::Arc;

use noren::bootstrapping::{self, BootstrapKeys, Bootstrapper, Mode, Preset};
use noren::ckks::{self, Ciphertext, Decryptor, Encoder, Encryptor, KeyRequest, Scale};
use noren::switching::{Context, Parameters, SchemeSwitch};
use noren::tfhe::{self, Evaluator};
use noren::{Complex64, Seed};

/// A seed from a number.
pub fn seed(number: u8) -> Seed {
    Seed::from_bytes([number; 32])
}

/// Numbers in [-1, 1), the same for the same seed.
pub fn uniform(number: u8, count: usize) -> Vec<f64> {
    let mut xof = seed(number).xof("test/uniform");
    (0..count).map(|_| (xof.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0).collect()
}

/// Keys of one owner, and what switches with them.
pub struct World {
    pub keys: ckks::Keys,
    pub tfhe: tfhe::Keys,
    pub context: Context,
    pub switch: SchemeSwitch,
}

impl World {
    /// The toy ring with this many slots, for messages of this kind.
    pub fn toy(log_slots: u32, mode: Mode) -> Self {
        Self::toy_with(log_slots, mode, Vec::new())
    }

    /// As [`World::toy`], with keys for these rotations.
    pub fn toy_with(log_slots: u32, mode: Mode, rotations: Vec<isize>) -> Self {
        let bootstrapping = Preset::Toy.spec_for(log_slots).expect("slots").build().expect("parameters");
        Self::new(
            &bootstrapping,
            &tfhe::Preset::named("TOY_SWITCH").expect("a set").parameters().expect("parameters"),
            mode,
            None,
            rotations,
        )
    }

    pub fn new(
        bootstrapping: &bootstrapping::Parameters,
        tfhe: &tfhe::Parameters,
        mode: Mode,
        threads: Option<usize>,
        rotations: Vec<isize>,
    ) -> Self {
        let parameters = Parameters::new(bootstrapping, tfhe).expect("parameters that suit each other");
        let ckks = ckks::Context::with_threads(bootstrapping.ckks().expect("primes"), threads).expect("rings");
        let torus = tfhe::Context::with_threads(tfhe.clone(), threads).expect("transforms");
        let context = Context::new(&parameters, &ckks, &torus).expect("a context");
        let request = KeyRequest { rotations, ..KeyRequest::default() };
        let keys = ckks.generate_keys(seed(1), &KeyRequest::default()).expect("keys");
        let bootstrap = BootstrapKeys::generate_for(&ckks, bootstrapping, &keys.secret, seed(2), &request, None);
        let bootstrap = bootstrap.expect("keys");
        let bootstrapper = Bootstrapper::new(&ckks, bootstrapping, Arc::new(bootstrap), mode).expect("its keys");
        let tfhe = torus.generate_keys(seed(3)).expect("keys");
        let compact = context.generate_keys(&keys.secret, &tfhe.secret, &seed(4)).expect("keys");
        let between = Arc::new(context.expand(&compact).expect("memory"));
        let evaluator = Evaluator::new(&torus, tfhe.server.clone()).expect("its keys");
        let switch =
            SchemeSwitch::new(&context, Arc::new(bootstrapper), &evaluator, between).expect("keys of one owner");
        Self { keys, tfhe, context, switch }
    }

    /// Real numbers, in `slots` slots at the lowest level that switches, of which everybody may know their magnitude.
    pub fn encrypt(&self, values: &[f64], slots: usize, magnitude: f64) -> Ciphertext {
        let level = self.context.parameters().bootstrapping().input_level();
        self.encrypt_at(values, slots, level).with_range(-magnitude, magnitude)
    }

    /// The same at any level.
    pub fn encrypt_at(&self, values: &[f64], slots: usize, level: usize) -> Ciphertext {
        let complex: Vec<Complex64> = values.iter().copied().map(Complex64::from).collect();
        let context = self.context.ckks();
        let scale: &Scale = context.parameters().scale_at(level);
        let plaintext = Encoder::new(context).encode_complex(&complex, slots, level, scale).expect("slots");
        let encryptor = Encryptor::symmetric(context, &self.keys.secret, seed(5)).expect("its secret");
        encryptor.encrypt(&plaintext).expect("room")
    }

    pub fn decrypt(&self, ciphertext: &Ciphertext) -> Vec<f64> {
        let decryptor = Decryptor::new(self.context.ckks(), &self.keys.secret).expect("its secret");
        decryptor.decrypt_real(ciphertext).expect("its context")
    }

    /// The phases of samples, in units of the circle, from -1/2 to 1/2.
    pub fn phases(&self, samples: &noren::switching::Samples) -> Vec<f64> {
        let phase = |sample| self.tfhe.secret.phase(sample).expect("a sample").cast_signed() as f64 / 2f64.powi(64);
        samples.values().iter().map(phase).collect()
    }
}

/// The root of the mean square.
pub fn rms(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values.into_iter().fold((0.0, 0.0), |(sum, count), x| (sum + x * x, count + 1.0));
    f64::sqrt(sum / count)
}
