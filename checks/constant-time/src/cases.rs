//! Test cases: computations on secrets whose memory can be marked as undefined.

use std::rc::Rc;

use noren::bgv::{Context, Decryptor, Encoder, KeyRequest, ParametersSpec};
use noren::programs::columns::{Column, Element};
use noren::radix::Integer;
use noren::schemes::integers::{Ciphertext, Encryptor, Scheme};
use noren::tfhe::{self, Preset};
use noren::{Security, Seed, bfv, bgv};
use noren_math::{sample, torus_sample};

use crate::valgrind::{mark_secret, result};

/// A computation on secrets.
pub struct Case {
    pub name: &'static str,
    /// Of how many secret numbers.
    pub items: usize,
    /// Marks the secrets, and what they are mixed with.
    pub mark: Box<dyn Fn()>,
    pub run: Box<dyn Fn()>,
}

/// How many ciphertexts of TFHE a case decrypts.
const SAMPLES: usize = 64;

pub fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

/// All cases.
pub fn cases() -> Vec<Case> {
    vec![
        // Six primes of which two are kept, one of which one is kept, and a modulus that is even and no prime.
        of_integers::<bfv::Bfv>("BFV, slots", 12_289, vec![30; 6]),
        of_integers::<bgv::Bgv>("BGV, slots", 65_537, vec![45]),
        of_integers::<bgv::Bgv>("BGV, coefficients", 1 << 45, vec![40; 6]),
        digits(),
        bits(),
        integers(),
        columns(),
        samplers(),
    ]
}

/// The context of a small ring.
pub fn context(plaintext_modulus: u64, log_q: Vec<u32>) -> Context {
    let spec = ParametersSpec {
        log_n: 10,
        plaintext_modulus,
        log_q,
        log_p: vec![48],
        security: Security::None,
        ..ParametersSpec::default()
    };
    Context::with_threads(spec.build().expect("supported"), Some(1)).expect("rings")
}

/// The phase depends on the ciphertext as it does on the secret: marked words of the ciphertext mark all that follows from it,
/// products with the secret first.
fn of_integers<S: Scheme>(name: &'static str, plaintext_modulus: u64, log_q: Vec<u32>) -> Case {
    let context = context(plaintext_modulus, log_q);
    let keys = context.generate_keys(seed(1), &KeyRequest::default()).expect("keys");
    let n = context.parameters().degree();
    let values: Vec<i64> = (0..n as i64).map(|x| x * 4_093 % plaintext_modulus.cast_signed()).collect();
    let plaintext = Encoder::new(&context).encode_coefficients(&values).expect("in range");
    let encryptor = Encryptor::<S>::symmetric(&context, &keys.secret, seed(2)).expect("one context");
    let mut slots = encryptor.encrypt(&plaintext).expect("one context");
    let coefficients = slots.clone();
    if context.parameters().has_slots() {
        let plaintext = Encoder::new(&context).encode(&values).expect("in range");
        slots = encryptor.encrypt(&plaintext).expect("one context");
    }
    let ring = context.rlwe().ring_q(slots.limbs());
    // One memory for both: a clone has its own.
    let marked: Rc<[Ciphertext<S>; 2]> = Rc::new([slots, coefficients]);
    let ciphertexts = Rc::clone(&marked);
    let mark = move || {
        for part in marked.iter().flat_map(|ciphertext| ciphertext.rlwe().parts()) {
            ring.rows(part).for_each(mark_secret);
        }
    };
    let run = move || {
        let [slots, coefficients] = &*ciphertexts;
        let decryptor = Decryptor::new(&context, &keys.secret).expect("one context");
        let encoder = Encoder::new(&context);
        let plaintext = decryptor.decrypt(coefficients).expect("noise left");
        result(&encoder.decode_coefficients(&plaintext).expect("one context"));
        result(&encoder.decode_coefficients_signed(&plaintext).expect("one context"));
        if context.parameters().has_slots() {
            let plaintext = decryptor.decrypt(slots).expect("noise left");
            result(&encoder.decode(&plaintext).expect("one context"));
            result(&encoder.decode_signed(&plaintext).expect("one context"));
        }
    };
    Case { name, items: n, mark: Box::new(mark), run: Box::new(run) }
}

/// A context of TFHE of a toy set with a secret, which lives as long as the program.
pub fn torus(set: &str) -> (&'static tfhe::Context, &'static tfhe::SecretKey) {
    let parameters = Preset::named(set).and_then(Preset::parameters).expect("a toy set");
    let context: &_ = Box::leak(Box::new(tfhe::Context::new(parameters).expect("a context")));
    (context, Box::leak(Box::new(context.secret_key(&seed(1)))))
}

/// The toy set of integers.
pub const DIGITS: &str = "TOY_2_2";

/// A case of TFHE: `encrypt` makes what `decrypt` is called with.
fn of_samples<T: 'static>(
    (name, set): (&'static str, &str),
    encrypt: impl Fn(&tfhe::Encryptor<'_>) -> T,
    decrypt: impl Fn(&T, &tfhe::Decryptor<'_>) + 'static,
) -> Case {
    let (context, secret) = torus(set);
    let encryptor = tfhe::Encryptor::new(context, secret, seed(2)).expect("its own keys");
    let encrypted = encrypt(&encryptor);
    let mark = move || {
        mark_secret(secret.long_bits());
        mark_secret(secret.short_bits());
    };
    let run = move || {
        let decryptor = tfhe::Decryptor::new(context, secret).expect("its own keys");
        decrypt(&encrypted, &decryptor);
    };
    Case { name, items: SAMPLES, mark: Box::new(mark), run: Box::new(run) }
}

fn digits() -> Case {
    let encrypt = |encryptor: &tfhe::Encryptor<'_>| -> Vec<_> {
        (0..SAMPLES as u64).map(|x| encryptor.encrypt(x % 4).expect("in range")).collect()
    };
    of_samples(("TFHE, integers", DIGITS), encrypt, |samples, decryptor| {
        samples.iter().for_each(|x| result(&[decryptor.decrypt(x).expect("its own keys")]));
    })
}

fn bits() -> Case {
    let encrypt = |encryptor: &tfhe::Encryptor<'_>| -> Vec<_> {
        (0..SAMPLES).map(|x| encryptor.encrypt_bit(x % 3 == 0).expect("a bit")).collect()
    };
    of_samples(("TFHE, bits", "TOY_BOOL"), encrypt, |samples, decryptor| {
        samples.iter().for_each(|x| result(&[decryptor.decrypt_bit(x).expect("its own keys")]));
    })
}

fn integers() -> Case {
    let encrypt = |encryptor: &tfhe::Encryptor<'_>| Integer::encrypt_signed(encryptor, -77, 64).expect("in range");
    of_samples(("TFHE, integers of 64 bits", DIGITS), encrypt, |x, decryptor| {
        for _ in 0..2 {
            result(&[x.decrypt(decryptor).expect("its own keys")]);
            result(&[x.decrypt_signed(decryptor).expect("its own keys")]);
        }
    })
}

fn columns() -> Case {
    let encrypt = |encryptor: &tfhe::Encryptor<'_>| {
        let values: Vec<i128> = (0..SAMPLES as i128).map(|x| x - 32).collect();
        // Joined, so that the samples are not those of a seed, which are expanded when they are read.
        let column = Column::encrypt(encryptor, Element::Signed(8), &values).expect("in range");
        Column::concatenate(column.split().iter()).expect("one element")
    };
    of_samples(("TFHE, columns", DIGITS), encrypt, |x: &Column, decryptor| {
        result(&x.decrypt(decryptor).expect("its own keys"));
    })
}

/// The samplers that reject nothing. What the others reject is public by design, and they are free of branches beside that.
fn samplers() -> Case {
    const COUNT: usize = 1 << 10;
    let secret: &'static Seed = Box::leak(Box::new(seed(7)));
    let run = move || {
        let mut xof = secret.xof("sampler");
        let (mut errors, mut bits, mut words) = ([0; COUNT], [0; COUNT], [0; COUNT]);
        sample::gaussian(&mut xof, &mut errors);
        torus_sample::binary(&mut xof, &mut bits);
        torus_sample::tuniform(&mut xof, 40, &mut words);
        result(&errors);
        result(&bits);
        result(&words);
    };
    Case { name: "samplers", items: COUNT, mark: Box::new(move || mark_secret(secret.as_bytes())), run: Box::new(run) }
}
