//! Rings whose index is not a power of two: keys, encryption, products and automorphisms against polynomials modulo
//! `Phi_m`.

use std::sync::Arc;

use noren_math::cyclotomic::Cyclotomic;
use noren_math::ntt::general::order_of_roots;
use noren_math::prime::primes_below;
use noren_naive::Naive;
use noren_ring::parallel::Parallel;
use noren_rlwe::ciphertext::{Ciphertext, Plaintext};
use noren_rlwe::context::Context;
use noren_rlwe::decrypt::decrypt;
use noren_rlwe::encrypt::Encryptor;
use noren_rlwe::error::Error;
use noren_rlwe::galois::apply_automorphism;
use noren_rlwe::key_request::KeyRequest;
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::multiply::{relinearize, tensor};
use noren_rlwe::parameters::{Parameters, ParametersSpec};
use noren_rlwe::security::{SecretDistribution, Security};
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::writer::Form;

use crate::small::{ciphertext_words, seed};

/// Two primes, a prime power, one that is even, three primes, and one prime.
const INDICES: [u32; 5] = [21, 27, 28, 105, 127];
const LIMBS: usize = 3;
/// Messages are multiples of it.
const SCALE: i64 = 1 << 40;

fn parameters(index: u32) -> Parameters {
    let order = order_of_roots(&Cyclotomic::new(index).expect("an index"));
    ParametersSpec {
        index,
        q: primes_below(1 << 45, order).take(LIMBS).collect(),
        p: primes_below(1 << 50, order).take(2).collect(),
        dnum: 2,
        security: Security::None,
        ..ParametersSpec::default()
    }
    .build()
    .expect("supported")
}

/// Keys for products and one automorphism, and encryptions with both keys of two messages.
struct World {
    context: Context,
    generator: KeyGenerator,
    k: u32,
    messages: [Vec<i64>; 2],
}

impl World {
    fn new(context: Context) -> Self {
        let (ring, n) = (*context.parameters().index(), context.parameters().degree() as i64);
        let k = (2..ring.index()).find(|&k| ring.is_unit(k)).expect("a unit");
        let message = |factor: i64| (0..n).map(|i| factor * i * i % 31 - 15).collect();
        Self { generator: KeyGenerator::new(&context, seed(1)), context, k, messages: [3, 5].map(message) }
    }

    fn all(index: u32) -> [Self; 2] {
        let on_naive = Context::on_device(parameters(index), Some(1), Parallel::default(), Arc::new(Naive));
        [Context::new(parameters(index)), on_naive].map(|context| Self::new(context.expect("rings")))
    }

    /// Encryptions of both messages, their product and the image of the first.
    fn results(&self) -> [Ciphertext; 4] {
        let (context, secret) = (&self.context, self.generator.secret());
        let public = self.generator.public(&secret).expect("no security asked");
        let request = KeyRequest { relinearization: Some(LIMBS), galois: vec![(self.k, LIMBS)] };
        let keys = self.generator.evaluation_keys(&secret, &request, None).expect("no security asked");
        let ring = context.ring_q(LIMBS);
        let plain = self.messages.each_ref().map(|message| {
            let scaled: Vec<i64> = message.iter().map(|x| SCALE * x).collect();
            Plaintext { poly: ring.ntt(ring.from_signed(&scaled)) }
        });
        let encryptors = [
            Encryptor::public(context, &public, seed(2)).expect("one context"),
            Encryptor::symmetric(context, &secret, seed(3)).expect("one context"),
        ];
        let [a, b] = [0, 1].map(|i| encryptors[i].encrypt(&plain[i]).expect("fits"));
        let product = tensor(context, &a, &b).expect("one level");
        let product = relinearize(context, &product, &keys).expect("a key");
        let image = apply_automorphism(context, &a, self.k, &keys).expect("a key");
        [a, b, product, image]
    }

    /// The coefficients of a decryption divided by a scale, which is far above the noise.
    fn decrypted(&self, ciphertext: &Ciphertext, scale: f64) -> Vec<i64> {
        let ring = self.context.ring_q(LIMBS);
        let plain = decrypt(&self.context, &self.generator.secret(), ciphertext).expect("one context");
        let found = ring.to_centered_f64(&ring.intt(plain.poly));
        found
            .iter()
            .map(|x| {
                let rounded = (x / scale).round();
                assert!((x / scale - rounded).abs() < 2f64.powi(-10), "noise of {}", x / scale - rounded);
                rounded as i64
            })
            .collect()
    }
}

/// The remainder of a polynomial of any degree modulo `Phi_m`, by long division.
fn reduced(mut a: Vec<i64>, ring: &Cyclotomic) -> Vec<i64> {
    let (n, phi) = (ring.degree(), ring.polynomial());
    for top in (n..a.len()).rev() {
        let lead = a[top];
        a[top - n..=top].iter_mut().zip(&phi).for_each(|(x, c)| *x -= lead * c);
    }
    a.truncate(n);
    a
}

#[test]
fn samples_of_any_index_are_encryptions() {
    for index in INDICES {
        let [host, naive] = World::all(index);
        let results = host.results();
        let (ring, [a, b], n) = (*host.context.parameters().index(), &host.messages, host.messages[0].len());
        for (message, ciphertext) in [a, b].into_iter().zip(&results) {
            assert_eq!(host.decrypted(ciphertext, SCALE as f64), *message, "index {index}");
        }
        let mut product = vec![0; 2 * n - 1];
        a.iter().enumerate().for_each(|(i, x)| b.iter().enumerate().for_each(|(j, y)| product[i + j] += x * y));
        let scale = (SCALE as f64).powi(2);
        assert_eq!(host.decrypted(&results[2], scale), reduced(product, &ring), "product, index {index}");
        let mut image = vec![0; index as usize];
        a.iter().enumerate().for_each(|(i, x)| image[i * host.k as usize % index as usize] += x);
        assert_eq!(host.decrypted(&results[3], SCALE as f64), reduced(image, &ring), "image, index {index}");

        if n <= 48 {
            for (found, expected) in results.iter().zip(&naive.results()) {
                let [found, expected] =
                    [(&host, found), (&naive, expected)].map(|(w, c)| ciphertext_words(&w.context, c));
                assert!(found == expected, "two devices, index {index}");
            }
        }
    }
}

#[test]
fn errors_have_one_variance_at_all_roots() {
    // Of m coefficients of variance 3.19^2, reduced: the values at all primitive roots have the variance 3.19^2 m.
    for index in [105, 127] {
        let context = Context::new(parameters(index)).expect("rings");
        let (n, m) = (context.parameters().degree(), f64::from(index));
        let generator = KeyGenerator::new(&context, seed(4));
        let secret = generator.secret();
        let zero = Plaintext { poly: context.ring_q(1).zero() };
        let encryptor = Encryptor::symmetric(&context, &secret, seed(5)).expect("one context");
        let points = context.parameters().index().points();
        let mut squares = vec![0.0; n];
        const SAMPLES: usize = 400;
        for _ in 0..SAMPLES {
            let fresh = encryptor.encrypt(&zero).expect("fits");
            let ring = context.ring_q(1);
            let error = ring.to_centered_f64(&ring.intt(decrypt(&context, &secret, &fresh).expect("one key").poly));
            for (square, &e) in squares.iter_mut().zip(&points) {
                let (mut re, mut im) = (0.0, 0.0);
                for (i, x) in error.iter().enumerate() {
                    let angle = std::f64::consts::TAU * ((i * e as usize) % index as usize) as f64 / m;
                    re += x * angle.cos();
                    im += x * angle.sin();
                }
                *square += re * re + im * im;
            }
        }
        let expected = 3.19f64.powi(2) * m;
        for (square, e) in squares.into_iter().zip(points) {
            // The square at a root is exponential, so that a mean of 400 is off by a relative 1/20: five times that is
            // allowed.
            let ratio = square / SAMPLES as f64 / expected;
            assert!((ratio - 1.0).abs() < 0.25, "index {index}, root {e}: {ratio}");
        }
    }
}

#[test]
fn parameters_of_any_index_travel() {
    let [found, power] = [parameters(105), parameters(128)];
    for parameters in [&found, &power] {
        let bytes = parameters.to_bytes(&(), Form::Packed);
        let read = Parameters::from_bytes(&(), &bytes).expect("its own bytes");
        assert_eq!((&read, read.index()), (parameters, parameters.index()));
        assert_eq!(read.fingerprint(), parameters.fingerprint());
    }
    assert_eq!((found.degree(), power.degree()), (48, 64));
    assert_eq!(power.log_n().expect("a power of two"), 6);
    assert!(matches!(found.log_n(), Err(Error::Parameters { name: "index", .. })));
    // The primes of 105 have the roots of its divisors.
    let with = |index| ParametersSpec { index, ..found.to_spec() };
    let prints = [105, 35, 15].map(|index| with(index).build().expect("roots of a larger order").fingerprint());
    assert!(prints[0] != prints[1] && prints[1] != prints[2] && prints[0] == found.fingerprint());
    let secret = SecretDistribution::SparseTernary(49);
    assert!(ParametersSpec { secret, ..with(105) }.build().is_err());
}

#[test]
fn exponents_are_units() {
    let world = World::new(Context::new(parameters(105)).expect("rings"));
    let secret = world.generator.secret();
    for k in [0, 3, 5, 7, 106, 210] {
        let refused = world.generator.galois(&secret, k, None).expect_err("no unit below 105");
        assert!(matches!(refused, Error::NotAnAutomorphism { found, index: 105 } if found == k), "{refused}");
    }
    let keys = KeyRequest { relinearization: None, galois: vec![(2, 1)] };
    let keys = world.generator.evaluation_keys(&secret, &keys, None).expect("no security asked");
    let Err(error) = keys.galois(4, 1) else { panic!("there is no such key") };
    let text = error.to_string();
    assert!(text.contains("no key for X -> X^4") && text.contains("X -> X^2"), "{text}");
}
