//! Scheme switching: slices are exact, each way adds the noise of its law, and what does not go together is refused.

use noren_math::prime::primes_below;
use noren_math::random::Seed;
use noren_ring::torus::lwe::Lwe;
use noren_ring::torus::product::TorusProduct;
use noren_ring::torus::server::TorusServer;
use noren_rlwe::ciphertext::{Ciphertext, Plaintext};
use noren_rlwe::context::Context;
use noren_rlwe::decrypt::decrypt;
use noren_rlwe::encrypt::Encryptor;
use noren_rlwe::error::Error;
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::keys::SecretKey;
use noren_rlwe::parameters::{Parameters, ParametersSpec};
use noren_rlwe::security::Security;
use noren_rlwe::torus::digits::Digits;
use noren_rlwe::torus::keygen::TorusKeyGenerator;
use noren_rlwe::torus::noise::TorusNoise;
use noren_rlwe::torus::parameters::TorusParameters;
use noren_rlwe::torus::scheme_switch::keys::{CompactSwitchKeys, SwitchKeys};
use noren_rlwe::torus::scheme_switch::slices::{Slice, SlicedSample};
use noren_rlwe::torus::scheme_switch::spec::SwitchSpec;
use noren_rlwe::torus::scheme_switch::switch::{down, pack, up};
use noren_rlwe::torus::secret::TorusSecret;
use noren_rlwe::torus::spec::TorusSpec;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::writer::Form;

use crate::world::{cases, centred, glwe_phase, seed, server, small};

/// How far a measured variance may be from its law.
const TOLERANCE: f64 = 0.1;

/// Errors of keys dominate everywhere.
const ERRORS: SwitchSpec = SwitchSpec { down: Digits::new(8, 5), packing: Digits::new(3, 15) };
/// What digits cut off dominates.
const CUTS: SwitchSpec = SwitchSpec { down: Digits::new(7, 3), packing: Digits::new(5, 5) };

/// Two limbs and a special prime.
fn ring(log_n: u32) -> ParametersSpec {
    let index = 2 << log_n;
    let mut primes = primes_below(1 << 49, u64::from(index));
    let (q, p) = (primes.by_ref().take(2).collect(), primes.take(1).collect());
    ParametersSpec { index, q, p, security: Security::None, ..ParametersSpec::default() }
}

fn torus(log_degree: u32) -> TorusSpec {
    TorusSpec { n: 16, log_degree, glwe_noise: TorusNoise::Gaussian(1e-13), ..small() }
}

struct World {
    context: Context,
    secret: SecretKey,
    torus_secret: TorusSecret,
    large: TorusServer,
    small: TorusServer,
    compact: CompactSwitchKeys,
    keys: SwitchKeys,
}

impl World {
    fn new((log_n, log_degree): (u32, u32), spec: SwitchSpec, byte: u8) -> Self {
        Self::of(ring(log_n), torus(log_degree), spec, byte)
    }

    fn of(ring: ParametersSpec, torus: TorusSpec, spec: SwitchSpec, byte: u8) -> Self {
        let (parameters, torus) = (ring.build().expect("parameters"), torus.build().expect("parameters"));
        let [large, small] = [parameters.degree(), torus.shape().degree]
            .map(|degree| server(1, TorusProduct::new(degree).expect("transforms")));
        let context = Context::with_threads(parameters, Some(1)).expect("rings");
        let secret = KeyGenerator::new(&context, seed(byte)).secret();
        let torus_secret = TorusKeyGenerator::new(&torus, &seed(byte)).secret();
        let parameters = spec.build(&torus, context.parameters()).expect("digits");
        let (rings, secrets) = ((large.ring(), small.ring()), (&secret, &torus_secret));
        let compact = CompactSwitchKeys::generate(&context, rings, &parameters, secrets, &seed(byte)).expect("keys");
        let keys = compact.expand(&large, &small);
        Self { context, secret, torus_secret, large, small, compact, keys }
    }

    fn q(&self) -> u64 {
        self.context.parameters().q()[0]
    }

    /// A fresh ciphertext of zero, of so many limbs.
    fn zero(&self, limbs: usize, label: &str) -> Ciphertext {
        let poly = self.context.ring_q(limbs).zero();
        let encryptor = Encryptor::symmetric(&self.context, &self.secret, seed(60).derive(label)).expect("its own");
        encryptor.encrypt(&Plaintext { poly }).expect("its own")
    }

    /// What a ciphertext of one limb decrypts to, over `q_0`.
    fn decrypted(&self, ciphertext: &Ciphertext) -> Vec<f64> {
        let (ring, plaintext) = (self.context.ring_q(1), decrypt(&self.context, &self.secret, ciphertext));
        let coefficients = ring.to_centered_f64(&ring.intt(plaintext.expect("its own").poly));
        coefficients.iter().map(|x| x / self.q() as f64).collect()
    }

    /// The phases of all coefficients, in their order.
    fn phases(&self, sample: &SlicedSample) -> Vec<u64> {
        let mut phases = vec![0; sample.words().len() / 2];
        for j in 0..sample.slices() {
            let slice = glwe_phase(&self.torus_secret, self.small.ring().product(), &sample.slice(j).words);
            phases[j..].iter_mut().step_by(sample.slices()).zip(slice).for_each(|(x, phase)| *x = phase);
        }
        phases
    }

    /// A GLWE sample under z with this phase and no error.
    fn exact(&self, label: &str, phase: &[u64]) -> Vec<u64> {
        let mut words = vec![0; 2 * phase.len()];
        seed(61).xof(label).fill_u64(&mut words[..phase.len()]);
        let hidden = glwe_phase(&self.torus_secret, self.small.ring().product(), &words);
        let body = hidden.iter().zip(phase).map(|(hidden, phase)| phase.wrapping_sub(*hidden));
        [words[..phase.len()].to_vec(), body.collect()].concat()
    }
}

fn mean_square(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values.into_iter().fold((0.0, 0), |(sum, count), x| (sum + x * x, count + 1));
    sum / f64::from(count)
}

/// A difference on the circle.
fn wrapped(x: f64) -> f64 {
    x - x.round()
}

fn assert_near(what: &str, measured: f64, law: f64) {
    let ratio = measured / law;
    assert!((ratio - 1.0).abs() < TOLERANCE, "{what}: {measured:e} measured, {law:e} by law: {ratio:.3}");
}

#[test]
fn slices_have_the_coefficients_of_the_sample() {
    for (log_n, log_degree) in [(6, 4), (5, 5)] {
        let world = World::new((log_n, log_degree), ERRORS, 1);
        let (n, slices) = (1 << log_n, 1 << (log_n - log_degree));
        let mut words = vec![0; 2 * n];
        seed(2).xof("sample").fill_u64(&mut words);
        let sample = SlicedSample::from_words(words, slices);
        // b - a Z, term by term.
        let (mask, body) = sample.words().split_at(n);
        let mut expected = body.to_vec();
        for (i, _) in world.torus_secret.long_bits().iter().enumerate().filter(|(_, bit)| **bit == 1) {
            for (c, &a) in mask.iter().enumerate() {
                let place = c + slices * i;
                let out = &mut expected[place % n];
                *out = if place < n { out.wrapping_sub(a) } else { out.wrapping_add(a) };
            }
        }
        assert_eq!(world.phases(&sample), expected);
        let phase = |c| world.torus_secret.phase(&sample.coefficient(c)).expect("its dimension");
        assert_eq!((0..n).map(phase).collect::<Vec<_>>(), expected);
        let joined: Vec<Slice> = (0..slices).rev().map(|j| sample.slice(j)).collect();
        assert_eq!(SlicedSample::join(&joined, (slices, n / slices)).expect("slices"), sample);
    }
}

#[test]
fn the_way_down_adds_the_noise_of_its_law() {
    for spec in cases([ERRORS, CUTS]) {
        let (mut squares, mut law) = (Vec::new(), 0.0);
        for byte in 0..8 {
            let world = World::new((9, 7), spec, byte);
            law = world.keys.parameters().law().down;
            for call in 0..8 {
                let ciphertext = world.zero(1, &call.to_string());
                let sample = down(&world.context, &ciphertext, &world.keys, &world.large).expect("its own");
                let noise = world.phases(&sample).into_iter().zip(world.decrypted(&ciphertext));
                squares.extend(noise.map(|(phase, before)| wrapped(centred(phase) - before)));
            }
        }
        assert_near("down", mean_square(squares), law);
    }
}

#[test]
fn the_way_down_of_the_largest_ring_adds_the_noise_of_its_law() {
    // The noise of samples of dimension 2048, and digits as they are chosen.
    let torus = TorusSpec { glwe_noise: TorusNoise::Gaussian(2f64.powf(-48.3)), ..torus(11) };
    let spec = SwitchSpec::choose(&torus.clone().build().expect("parameters"), &ring(16).build().expect("parameters"));
    let spec = spec.expect("digits");
    assert_eq!(spec, SwitchSpec { down: Digits::new(8, 4), packing: Digits::new(10, 4) });
    for spec in cases([spec]) {
        let world = World::of(ring(16), torus.clone(), spec, 1);
        let ciphertext = world.zero(1, "zero");
        let start = std::time::Instant::now();
        let sample = down(&world.context, &ciphertext, &world.keys, &world.large).expect("its own");
        println!("down {:?}", start.elapsed());
        let noise = world.phases(&sample).into_iter().zip(world.decrypted(&ciphertext));
        let noise = mean_square(noise.map(|(phase, before)| wrapped(centred(phase) - before)));
        assert_near("down", noise, world.keys.parameters().law().down);
        assert!(noise.sqrt() < 2f64.powi(-22));
    }
}
