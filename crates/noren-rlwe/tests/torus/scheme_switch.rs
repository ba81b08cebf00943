//! Scheme switching: slices are exact, each way adds the noise of its law, and what does not go together is refused.

use noren_math::prime::primes_below;
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
use noren_rlwe::parameters::ParametersSpec;
use noren_rlwe::security::Security;
use noren_rlwe::torus::digits::Digits;
use noren_rlwe::torus::keygen::TorusKeyGenerator;
use noren_rlwe::torus::noise::TorusNoise;
use noren_rlwe::torus::scheme_switch::keys::{CompactSwitchKeys, SwitchKeys};
use noren_rlwe::torus::scheme_switch::slices::{Slice, SlicedSample};
use noren_rlwe::torus::scheme_switch::spec::SwitchSpec;
use noren_rlwe::torus::scheme_switch::switch::{down, pack, up};
use noren_rlwe::torus::secret::TorusSecret;
use noren_rlwe::torus::spec::TorusSpec;

use crate::world::{cases, centred, glwe_phase, seed, server, small};

/// How far a measured variance may be from its law.
const TOLERANCE: f64 = 0.1;

/// Errors of keys dominate everywhere.
const ERRORS: SwitchSpec = SwitchSpec { down: Digits::new(8, 5), packing: Digits::new(3, 15) };
/// Roundings of the transforms of packing dominate where errors are as small as in [`quiet`].
const TRANSFORMS: SwitchSpec = SwitchSpec { packing: Digits::new(20, 3), ..ERRORS };
/// The part that digits cut off dominates.
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

/// The same with errors that are far below those of transforms.
fn quiet(log_degree: u32) -> TorusSpec {
    TorusSpec { glwe_noise: TorusNoise::Gaussian(2f64.powi(-60)), ..torus(log_degree) }
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

    /// The plaintext of a ciphertext of one limb, over `q_0`.
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
    assert_between(what, measured, law, 1.0 - TOLERANCE);
}

fn assert_between(what: &str, measured: f64, law: f64, least: f64) {
    let ratio = measured / law;
    assert!(least < ratio && ratio < 1.0 + TOLERANCE, "{what}: {measured:e} measured, {law:e} by law: {ratio:.3}");
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
    assert_eq!(spec, SwitchSpec { down: Digits::new(8, 4), packing: Digits::new(12, 3) });
    for spec in cases([spec]) {
        let world = World::of(ring(16), torus.clone(), spec, 1);
        let ciphertext = world.zero(1, "zero");
        let sample = down(&world.context, &ciphertext, &world.keys, &world.large).expect("its own");
        let noise = world.phases(&sample).into_iter().zip(world.decrypted(&ciphertext));
        let noise = mean_square(noise.map(|(phase, before)| wrapped(centred(phase) - before)));
        assert_near("down", noise, world.keys.parameters().law().down);
        assert!(noise.sqrt() < 2f64.powi(-22));
    }
}

#[test]
fn packing_adds_the_noise_of_its_law() {
    let chosen: [fn(usize) -> bool; 3] = [|_| true, |i| i % 4 == 1, |i| i > 5];
    // All steps; without the last one; where digits cut off most, and where transforms round most.
    for (spec, torus, left_out, log_count, is_there) in cases([
        (ERRORS, torus(7), 1, 3, chosen[1]),
        (ERRORS, torus(7), 0, 3, chosen[0]),
        (ERRORS, torus(7), 1, 6, chosen[2]),
        (CUTS, torus(7), 0, 0, chosen[0]),
        (TRANSFORMS, quiet(7), 0, 3, chosen[0]),
        (TRANSFORMS, quiet(7), 1, 6, chosen[2]),
    ]) {
        let (mut present, mut missing, mut law) = (Vec::new(), Vec::new(), 0.0);
        let (steps, count) = (7 - left_out, 1 << log_count);
        for byte in 0..32 {
            let world = World::of(ring(7), torus.clone(), spec, byte);
            law = world.keys.parameters().law().packing(steps as u32);
            for call in 0..64 {
                let sample =
                    |i| is_there(i).then(|| world.torus_secret.encrypt(&seed(62).derive(&format!("{call}/{i}")), 0));
                let samples: Vec<Option<Lwe>> = (0..count).map(sample).collect();
                let group = samples.iter().map(Option::as_ref).collect();
                let packed = pack(steps, vec![(0, group)], &world.keys, &world.small).expect("samples").remove(0);
                let product = world.small.ring().product();
                let phases = glwe_phase(&world.torus_secret, product, &packed.words);
                for (i, &phase) in phases[..1 << steps].iter().step_by((1 << steps) / count).enumerate() {
                    let of_sample =
                        samples[i].as_ref().map_or(0, |sample| world.torus_secret.phase(sample).expect("its own"));
                    let noise = centred(phase.wrapping_sub(of_sample));
                    if is_there(i) { present.push(noise) } else { missing.push(noise) }
                }
            }
        }
        // The law of transforms takes 0.5 where 0.45 to 0.51 are measured (`noren_math::torus_products::bound`).
        let least = if spec == TRANSFORMS { 0.9 * (1.0 - TOLERANCE) } else { 1.0 - TOLERANCE };
        assert_between("packing", mean_square(present), law, least);
        assert!(missing.is_empty() || mean_square(missing) < (1.0 + TOLERANCE) * law, "where samples are missing");
    }
}

#[test]
fn the_way_up_adds_the_noise_of_its_law() {
    let (mut squares, mut fewer, mut law) = (Vec::new(), Vec::new(), 0.0);
    for byte in 0..16 {
        let world = World::new((9, 7), ERRORS, byte);
        law = world.keys.parameters().law().up;
        let slices: Vec<(Slice, Vec<u64>)> = (0..4)
            .map(|number| {
                let mut phase = vec![0; 128];
                seed(byte).xof(&format!("phase/{number}")).fill_u64(&mut phase);
                (Slice { number, words: world.exact(&format!("{byte}/{number}"), &phase) }, phase)
            })
            .collect();
        for (numbers, squares) in [(&[2, 0, 3, 1][..], &mut squares), (&[2], &mut fewer)] {
            let given: Vec<Slice> = numbers.iter().map(|&j: &usize| slices[j].0.clone()).collect();
            let ciphertext = up(&world.context, &given, &world.keys).expect("slices");
            assert_eq!((ciphertext.limbs(), ciphertext.key_id()), (1, world.secret.owner().key));
            for (c, found) in world.decrypted(&ciphertext).into_iter().enumerate() {
                let phase = if numbers.contains(&(c % 4)) { centred(slices[c % 4].1[c / 4]) } else { 0.0 };
                squares.push(wrapped(found - phase));
            }
        }
    }
    assert_near("up", mean_square(squares), law);
    assert!(mean_square(fewer) < law, "with fewer slices");
}

#[test]
fn down_packed_and_up_again_is_the_same_message() {
    let world = World::new((8, 6), ERRORS, 1);
    let (q, ring) = (world.q(), world.context.ring_q(1));
    let message: Vec<i64> = (0..256).map(|c| (c % 16 - 8) * (q / 16) as i64).collect();
    let plaintext = Plaintext { poly: ring.ntt(ring.from_signed(&message)) };
    let encryptor = Encryptor::symmetric(&world.context, &world.secret, seed(3)).expect("its own");
    let ciphertext = encryptor.encrypt(&plaintext).expect("its own");
    let sample = down(&world.context, &ciphertext, &world.keys, &world.large).expect("its own");
    let coefficients: Vec<Lwe> = (0..256).map(|c| sample.coefficient(c)).collect();
    let group = |j: usize| (j, coefficients.iter().skip(j).step_by(4).map(Some).collect());
    let slices = pack(6, (0..4).map(group).collect(), &world.keys, &world.small).expect("samples");
    let again = up(&world.context, &slices, &world.keys).expect("slices");
    for (found, message) in world.decrypted(&again).into_iter().zip(message) {
        assert!(wrapped(found - message as f64 / q as f64).abs() < 1e-6, "{found} for {message}");
    }
}

#[test]
fn keys_depend_on_both_secrets_and_both_parameters_and_on_nothing_else() {
    let world = World::new((7, 5), ERRORS, 1);
    let generate = |context: &Context, spec: SwitchSpec, secret: &SecretKey, torus_secret: &TorusSecret, exact| {
        let degrees = [context.parameters().degree(), torus_secret.parameters().shape().degree];
        let [large, small] = degrees.map(|degree| {
            let product = if exact { TorusProduct::exact(degree) } else { TorusProduct::new(degree) };
            server(1 + usize::from(exact), product.expect("transforms"))
        });
        let parameters = spec.build(torus_secret.parameters(), context.parameters()).expect("digits");
        let rings = (large.ring(), small.ring());
        CompactSwitchKeys::generate(context, rings, &parameters, (secret, torus_secret), &seed(1)).expect("keys")
    };
    let same = generate(&world.context, ERRORS, &world.secret, &world.torus_secret, true);
    let keys = &world.compact;
    assert_eq!((keys.down_bodies(), keys.packing_bodies()), (same.down_bodies(), same.packing_bodies()));
    let words = |keys: &CompactSwitchKeys| world.context.ring().key_words(keys.up().pairs()).into_owned();
    assert!(words(keys) == words(&same), "the same pairs");
    assert_eq!((keys.rlwe_owner(), keys.torus_owner()), (world.secret.owner(), world.torus_secret.owner()));
    let other_secret = KeyGenerator::new(&world.context, seed(2)).secret();
    let other_torus = TorusKeyGenerator::new(world.torus_secret.parameters(), &seed(2)).secret();
    for other in [
        generate(&world.context, SwitchSpec { down: CUTS.down, ..ERRORS }, &world.secret, &world.torus_secret, false),
        generate(&world.context, ERRORS, &other_secret, &world.torus_secret, false),
        generate(&world.context, ERRORS, &world.secret, &other_torus, false),
    ] {
        assert_ne!(keys.seed().as_bytes(), other.seed().as_bytes(), "masks are never used twice");
        let seeds = [keys, &other].map(|keys| keys.up().seed().map(|seed| *seed.as_bytes()));
        assert_ne!(seeds[0], seeds[1], "uniform halves are never used twice");
    }
}

#[test]
fn secrets_contexts_and_ciphertexts_of_others_are_refused() {
    let world = World::new((7, 5), ERRORS, 1);
    let (parameters, rings) = (world.keys.parameters(), (world.large.ring(), world.small.ring()));
    let generate = |context: &Context, secret: &SecretKey, torus_secret: &TorusSecret| {
        CompactSwitchKeys::generate(context, rings, parameters, (secret, torus_secret), &seed(1)).err()
    };
    let mut spec = ring(7);
    spec.q.truncate(1);
    let context = Context::with_threads(spec.build().expect("parameters"), Some(1)).expect("rings");
    let secret = KeyGenerator::new(&context, seed(1)).secret();
    let spec = TorusSpec { n: 17, ..torus(5) };
    let torus_secret = TorusKeyGenerator::new(&spec.build().expect("parameters"), &seed(1)).secret();
    for refused in [
        generate(&context, &world.secret, &world.torus_secret),
        generate(&world.context, &secret, &world.torus_secret),
        generate(&world.context, &world.secret, &torus_secret),
    ] {
        assert!(matches!(refused, Some(Error::ParameterMismatch { .. })), "{refused:?}");
    }

    let down = |context: &Context, ciphertext: &Ciphertext| down(context, ciphertext, &world.keys, &world.large).err();
    let zero = world.zero(1, "zero");
    assert!(matches!(down(&context, &zero), Some(Error::ParameterMismatch { .. })));
    let two = world.zero(2, "two");
    assert!(matches!(down(&world.context, &two), Some(Error::Parameters { name: "limbs", .. })));
    let other = KeyGenerator::new(&world.context, seed(9)).secret();
    let other = Ciphertext::new(zero.parts().to_vec(), other.owner().key);
    assert!(matches!(down(&world.context, &other), Some(Error::KeyMismatch { .. })));
    let parts = [zero.parts(), &zero.parts()[..1]].concat();
    let product = Ciphertext::new(parts, zero.key_id());
    assert!(matches!(down(&world.context, &product), Some(Error::DegreeTooHigh { found: 2, .. })));
    assert!(matches!(up(&context, &[], &world.keys), Err(Error::ParameterMismatch { .. })));
}

#[test]
fn samples_and_slices_that_do_not_fit_are_refused() {
    let world = World::new((7, 5), ERRORS, 1);
    let (sample, short) = (Lwe::trivial(32, 1), Lwe::trivial(31, 1));
    let pack = |steps, samples| pack(steps, vec![(0, samples)], &world.keys, &world.small).err();
    for steps in [0, 6] {
        assert!(matches!(pack(steps, vec![Some(&sample)]), Some(Error::Parameters { name: "steps", .. })));
    }
    for count in [0, 3, 32] {
        let refused = pack(4, vec![Some(&sample); count]);
        assert!(matches!(refused, Some(Error::Length { what: "samples of a slice", found, .. }) if found == count));
    }
    let refused = pack(4, vec![None, Some(&short)]);
    assert!(matches!(refused, Some(Error::Length { what: "dimension of the sample", found: 31, .. })));
    let slice = |number| Slice { number, words: vec![0; 64] };
    let up = |slices: &[Slice]| up(&world.context, slices, &world.keys).err();
    assert!(up(&[]).is_none() && up(&[slice(3), slice(0)]).is_none());
    for slices in [[slice(0), slice(4)], [slice(2), slice(2)]] {
        assert!(matches!(up(&slices), Some(Error::Parameters { name: "slice", .. })));
    }
    let long = Slice { number: 0, words: vec![0; 66] };
    assert!(matches!(up(&[long]), Some(Error::Length { what: "words of a slice", found: 66, .. })));
}

#[test]
fn sets_that_do_not_go_together_are_refused() {
    let build = |torus: TorusSpec, ring: ParametersSpec, spec: SwitchSpec| {
        let (torus, ring) = (torus.build().expect("parameters"), ring.build().expect("parameters"));
        let chosen = SwitchSpec::choose(&torus, &ring);
        (spec.build(&torus, &ring).map(|parameters| parameters.to_string()), chosen)
    };
    let both = |torus, ring, name: &str| {
        let (built, chosen) = build(torus, ring, ERRORS);
        assert!(matches!(built, Err(Error::Parameters { name: found, .. }) if found == name), "{built:?} for {name}");
        assert!(matches!(chosen, Err(Error::Parameters { name: found, .. }) if found == name), "{chosen:?} for {name}");
    };
    both(TorusSpec { k: 2, ..torus(5) }, ring(7), "k");
    both(torus(8), ring(7), "log_degree");
    both(torus(5), ParametersSpec { p: Vec::new(), ..ring(7) }, "shape");
    let primes: Vec<u64> = primes_below(1 << 49, 11_520).take(2).collect();
    let general = ParametersSpec { index: 45, q: primes[..1].into(), p: primes[1..].into(), ..ring(7) };
    both(torus(4), general, "index");
    let loud = TorusSpec { glwe_noise: TorusNoise::Gaussian(1e-4), ..torus(5) };
    let (built, chosen) = build(loud, ring(7), ERRORS);
    assert!(built.is_ok() && matches!(chosen, Err(Error::Parameters { name: "down", .. })));

    let long = SwitchSpec { down: Digits::new(12, 3), ..ERRORS };
    assert!(matches!(build(torus(5), ring(16), long).0, Err(Error::Parameters { name: "down.log_base", .. })));
    // Those of packing need not be exact.
    for (packing, name) in [(Digits::new(32, 1), "packing.log_base"), (Digits::new(20, 4), "packing.levels")] {
        let (built, _) = build(torus(5), ring(7), SwitchSpec { packing, ..ERRORS });
        assert!(matches!(built, Err(Error::Parameters { name: found, .. }) if found == name), "{built:?}");
    }
    assert!(build(torus(5), ring(7), TRANSFORMS).0.is_ok());
}

#[test]
fn noise_that_is_too_small_for_the_stronger_set_is_refused() {
    let build = |torus: TorusSpec, level| {
        let torus = torus.build().expect("parameters");
        ERRORS.build(&torus, &ParametersSpec { security: level, ..ring(13) }.build().expect("parameters"))
    };
    // Samples of dimension 512 would need 2^-10; without security they may have less, but not with a ring that has some.
    assert!(build(torus(9), Security::None).is_ok());
    assert!(matches!(build(torus(9), Security::Bits128), Err(Error::WeakNoise { dimension: 512, .. })));
    let enough = TorusSpec { glwe_noise: TorusNoise::Gaussian(2f64.powf(-48.3)), ..torus(11) };
    assert!(build(enough.clone(), Security::Bits128).is_ok());
    assert!(matches!(build(enough, Security::Bits192), Err(Error::Parameters { name: "security", .. })));
}
