//! Joint keys beside the sum of all secrets, which nobody has.

use std::sync::Arc;

use noren_math::prime::primes_below;
use noren_math::random::Seed;
use noren_math::sample::GAUSSIAN_SIGMA;
use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;
use zeroize::Zeroizing;

use crate::ciphertext::{Ciphertext, Plaintext};
use crate::context::Context;
use crate::encrypt::Encryptor;
use crate::error::{Error, Result};
use crate::galois::apply_automorphism;
use crate::joint::combine::{evaluation_keys, public_key};
use crate::joint::generator::ShareGenerator;
use crate::joint::opening::{self, Opener, SecondPart};
use crate::joint::share::{Extent, KeyShare, RELINEARIZATION, Round};
use crate::key_request::KeyRequest;
use crate::keygen::{KeyGenerator, secret_key};
use crate::keys::{EvaluationKeys, PublicKey, SecretKey};
use crate::multiply::multiply_relinearize;
use crate::noise;
use crate::parameters::ParametersSpec;
use crate::security::{SecretDistribution, Security};
use crate::wire::object::Object;
use crate::wire::writer::Form;

pub(super) const N: usize = 1 << 9;

fn context(parties: usize) -> Context {
    let index = 2 * N as u32;
    let primes = |bits: u32, count| primes_below(1 << bits, index.into()).take(count).collect();
    let spec = ParametersSpec {
        index,
        q: primes(45, 4),
        p: primes(48, 2),
        secret: SecretDistribution::Joint(parties),
        security: Security::None,
        ..ParametersSpec::default()
    };
    Context::new(spec.build().expect("supported")).expect("supported")
}

/// Parties with their keys, and the secret that nobody has: the sum of theirs.
pub(super) struct World {
    pub(super) context: Context,
    pub(super) secrets: Vec<SecretKey>,
    pub(super) public: PublicKey,
    pub(super) keys: Arc<EvaluationKeys>,
    pub(super) joint: SecretKey,
    pub(super) first: KeyShare,
}

pub(super) fn seed(at: usize) -> Seed {
    Seed::from_bytes([at as u8; 32])
}

pub(super) fn common() -> Seed {
    Seed::from_bytes([200; 32])
}

fn request() -> KeyRequest {
    KeyRequest { relinearization: Some(4), galois: vec![(5, 4), (2 * N as u32 - 1, 2), (5, 3)] }
}

fn sum(context: &Context, shares: impl Iterator<Item = Result<KeyShare>>) -> Result<KeyShare> {
    let mut shares = shares.collect::<Result<Vec<_>>>()?.into_iter();
    let first = shares.next().expect("a party");
    shares.try_fold(first, |mut sum, share| {
        sum.add_assign(context, &share)?;
        Ok(sum)
    })
}

impl World {
    pub(super) fn new(parties: usize) -> Result<Self> {
        let context = context(parties);
        let secret = |at| KeyGenerator::new(&context, seed(at)).ephemeral_secret("party", SecretDistribution::Ternary);
        let secrets = (0..parties).map(secret).collect::<Result<Vec<_>>>()?;
        let generator = |at: usize| ShareGenerator::new(&context, &secrets[at], &seed(at), &common());
        let first = sum(&context, (0..parties).map(|at| generator(at)?.first(&request())))?;
        let second = sum(&context, (0..parties).map(|at| generator(at)?.second(&request(), &first)))?;
        let public = public_key(&context, &common(), &first)?;
        let keys = Arc::new(evaluation_keys(&context, &common(), &public, [&first, &second])?);
        let total = |i: usize| secrets.iter().map(|secret| secret.coefficients[i]).sum();
        let total = Zeroizing::new((0..N).map(total).collect::<Vec<i8>>());
        let mut joint = secret_key(&context, total, SecretDistribution::Joint(parties));
        joint.owner = public.owner;
        Ok(Self { context, secrets, public, keys, joint, first })
    }

    fn plaintext(&self, limbs: usize) -> Plaintext {
        let ring = self.context.ring_q(limbs);
        let numbers: Vec<i64> = (0..N as i64).map(|i| ((i * i) % 1000) << 20).collect();
        Plaintext { poly: ring.ntt(ring.from_signed(&numbers)) }
    }

    pub(super) fn encrypted(&self, limbs: usize) -> Result<Ciphertext> {
        Encryptor::public(&self.context, &self.public, seed(99))?.encrypt(&self.plaintext(limbs))
    }

    /// The measured noise is that of the law, within the spread of a sample of `N` coefficients.
    fn assert_noise(&self, ciphertext: &Ciphertext, expected: &Plaintext, law: f64, what: &str) {
        let measured = noise::measure(&self.context, &self.joint, ciphertext, expected).expect("of this secret").std;
        assert!((0.7..1.3).contains(&(measured / law)), "{what}: {measured} for {law}");
    }
}

fn deviation(ring: &Ring, a: Poly<Eval>) -> f64 {
    let coefficients = ring.to_centered_f64(&ring.intt(a));
    (coefficients.iter().map(|x| x * x).sum::<f64>() / coefficients.len() as f64).sqrt()
}

/// Whether two elements are equal.
pub(super) fn equal(ring: &Ring, a: &Poly<Eval>, b: &Poly<Eval>) -> bool {
    let mut difference = a.clone();
    ring.sub_assign(&mut difference, b);
    deviation(ring, difference) == 0.0
}

#[test]
fn joint_keys_are_those_of_the_sum_of_all_secrets() -> Result<()> {
    for parties in [2, 3, 8, 32] {
        let world = World::new(parties)?;
        let (context, parameters) = (&world.context, world.context.parameters());
        let what = |key: &str| format!("{key} of {parties} parties");

        let ring = context.ring_q(4);
        let mut e = ring.mul(&world.public.a, &world.joint.over(&ring));
        ring.add_assign(&mut e, &world.public.b);
        let law = GAUSSIAN_SIGMA * (parties as f64).sqrt();
        assert!((0.8..1.2).contains(&(deviation(&ring, e) / law)), "{}", what("error of the public key"));

        let fresh = world.encrypted(4)?;
        let plain = world.plaintext(4);
        world.assert_noise(&fresh, &plain, noise::fresh_public(parameters), &what("encryption"));

        for (k, limbs) in [(5, 4), (2 * N as u32 - 1, 2)] {
            let fresh = world.encrypted(limbs)?;
            let ring = context.ring_q(limbs);
            let exact = ring.automorphism(&phase(&world, &fresh), &*context.automorphism(k)?);
            let image = apply_automorphism(context, &fresh, k, &world.keys)?;
            let law = noise::key_switch(parameters, limbs);
            world.assert_noise(&image, &Plaintext { poly: exact }, law, &what("automorphism"));
        }

        // The error of the key itself, which the rounding of a product would hide.
        let key = world.keys.relinearization(4)?;
        let ring = context.ring_qp(4);
        let s = world.joint.over(&ring);
        let [b, a] = ring.key_pair(&key.pairs, 1);
        let mut e = ring.mul(&a, &s);
        ring.add_assign(&mut e, &b);
        let switching = context.switching(parameters.shape())?;
        let digits = crate::keygen::Digits::new(&switching, 4);
        let zero = ring.ntt(ring.from_signed(&vec![0; N]));
        let square = ring.mul(&s, &s);
        ring.sub_assign(&mut e, &digits.hidden(1, zero.clone(), &zero, [&square, &zero]));
        let law = GAUSSIAN_SIGMA * (parties as f64 * noise::relinearization_growth(parameters)).sqrt();
        assert!((0.8..1.2).contains(&(deviation(&ring, e) / law)), "{}", what("error of relinearisation"));

        let ring = context.ring_q(4);
        let exact = phase(&world, &fresh);
        let product = multiply_relinearize(context, &fresh, &fresh, &world.keys)?;
        let digits = noise::key_switch(parameters, 4).powi(2) - noise::rounding(parameters).powi(2);
        let law = (noise::relinearization_growth(parameters) * digits + noise::rounding(parameters).powi(2)).sqrt();
        world.assert_noise(&product, &Plaintext { poly: ring.mul(&exact, &exact) }, law, &what("product"));
    }
    Ok(())
}

/// The phase of a ciphertext: its message with the noise.
pub(super) fn phase(world: &World, ciphertext: &Ciphertext) -> Poly<Eval> {
    crate::decrypt::decrypt(&world.context, &world.joint, ciphertext).expect("of this secret").poly
}

/// A party that opens without masks.
fn alone<'a>(secret: &'a SecretKey, seed: &'a Seed) -> Opener<'a> {
    Opener { secret, part: None, seed, masks: &[] }
}

#[test]
fn shares_of_all_parties_open_a_ciphertext() -> Result<()> {
    let world = World::new(3)?;
    let (context, bits) = (&world.context, 70);
    let seeds = [0, 1, 2].map(seed);
    let fresh = world.encrypted(4)?;
    let second = SecondPart::of(&fresh)?;
    for kept in [4, 2] {
        let ring = context.ring_q(kept);
        let mut sum = opening::divided(context, fresh.parts()[0].clone(), 4, kept);
        for (at, secret) in world.secrets.iter().enumerate() {
            let opener = alone(secret, &seeds[at]);
            let share = opening::share(context, &opener, (world.public.owner.key, &common()), &second, (bits, kept))?;
            ring.add_assign(&mut sum, &share);
        }
        ring.sub_assign(&mut sum, &opening::divided(context, phase(&world, &fresh), 4, kept));
        let dropped: f64 = context.parameters().q()[kept..4].iter().map(|&q| q as f64).product();
        let coefficients = ring.to_centered_f64(&ring.intt(sum));
        let largest = coefficients.iter().fold(0.0, |max: f64, x| max.max(x.abs()));
        let bound = 3.0 * libm::exp2(f64::from(bits)) / dropped + 4.0;
        // Floods that are divided are smaller than roundings.
        let least = if kept == 4 { bound / 4.0 } else { 0.0 };
        assert!((least..=bound).contains(&largest), "{largest} of {bound}, {kept} limbs");
    }
    Ok(())
}

#[test]
fn a_second_share_is_the_first_one_and_no_two_sessions_have_one() -> Result<()> {
    let world = World::new(2)?;
    let (context, ring, key) = (&world.context, world.context.ring_q(4), world.public.owner.key);
    let fresh = world.encrypted(4)?;
    let share = |session: &Seed, ciphertext: &Ciphertext, bits| {
        opening::share(
            context,
            &alone(&world.secrets[0], &seed(0)),
            (key, session),
            &SecondPart::of(ciphertext)?,
            (bits, 4),
        )
    };
    let known = share(&common(), &fresh, 70)?;
    assert!(equal(&ring, &known, &share(&common(), &fresh, 70)?));
    assert!(!equal(&ring, &known, &share(&seed(5), &fresh, 70)?), "another session");
    assert!(!equal(&ring, &known, &share(&common(), &fresh, 71)?), "another flood");

    let generator =
        |common: &Seed| ShareGenerator::new(context, &world.secrets[0], &seed(0), common)?.first(&request());
    let [one, again, other] = [generator(&common())?, generator(&common())?, generator(&seed(5))?];
    let public = |share: &KeyShare| share.to_bytes(context, Form::Packed);
    assert_eq!(public(&one), public(&again));
    assert_ne!(public(&one), public(&other));
    Ok(())
}

#[test]
fn a_product_a_zero_and_a_stranger_are_not_opened() -> Result<()> {
    let world = World::new(2)?;
    let (context, ring, key) = (&world.context, world.context.ring_q(4), world.public.owner.key);
    let open = |ciphertext: &Ciphertext| {
        let share =
            |part| opening::share(context, &alone(&world.secrets[0], &seed(0)), (key, &common()), &part, (70, 2));
        SecondPart::of(ciphertext).and_then(share).err()
    };
    let fresh = world.encrypted(4)?;
    let zero = ring.ntt(ring.from_signed(&vec![0; N]));
    let [c0, c1] = fresh.parts() else { panic!("two parts") };
    let with = |parts: Vec<Poly<Eval>>, key| Ciphertext::new(parts, key);
    assert!(matches!(open(&with(vec![c0.clone(), zero], key)), Some(Error::ZeroKey { .. })));
    let product = with(vec![c0.clone(), c1.clone(), c1.clone()], key);
    assert!(matches!(open(&product), Some(Error::DegreeTooHigh { .. })));
    let foreign = with(fresh.parts().to_vec(), world.secrets[1].owner.key);
    assert!(matches!(open(&foreign), Some(Error::KeyMismatch { .. })));
    Ok(())
}

#[test]
fn shares_come_back_from_bytes_and_no_part_of_one_is_left_out() -> Result<()> {
    let world = World::new(2)?;
    let context = &world.context;
    let generator = ShareGenerator::new(context, &world.secrets[0], &seed(0), &common())?;
    for share in [generator.first(&request())?, generator.second(&request(), &world.first)?] {
        let bytes = share.to_bytes(context, Form::Packed);
        let again = KeyShare::from_bytes(context, &bytes)?;
        assert_eq!(again.to_bytes(context, Form::Packed), bytes);
        again.check_request(context, &request())?;
        // What is not read has the same outline, and no rows.
        for (extent, wanted) in [(Extent::Public, 0), (Extent::Relinearization, 1)] {
            let part = KeyShare::extent_from_bytes(context, &bytes, extent)?;
            part.check_request(context, &request())?;
            assert_eq!(part.switches.values().filter(|rows| !rows.rows.is_empty()).count(), wanted);
            assert_eq!(part.public.is_some(), share.public.is_some());
        }
        for end in (0..bytes.len()).step_by(bytes.len() / 40) {
            assert!(KeyShare::from_bytes(context, &bytes[..end]).is_err(), "{end} of {} bytes", bytes.len());
        }
    }
    Ok(())
}

#[test]
fn keys_of_joint_secrets_come_back_from_bytes() -> Result<()> {
    let world = World::new(2)?;
    let context = &world.context;
    let bytes = world.keys.to_bytes(context, Form::Packed);
    let again = EvaluationKeys::from_bytes(context, &bytes)?;
    assert_eq!(again.to_bytes(context, Form::Packed), bytes);
    assert!(again.relinearization(4)?.seed().is_none());
    let public = PublicKey::from_bytes(context, &world.public.to_bytes(context, Form::Packed))?;
    assert_eq!(public.owner, world.public.owner);
    Ok(())
}

#[test]
fn shares_of_other_rounds_and_keys_are_refused() -> Result<()> {
    let world = World::new(2)?;
    let context = &world.context;
    let generator = ShareGenerator::new(context, &world.secrets[0], &seed(0), &common())?;
    let few = KeyRequest { relinearization: None, galois: vec![(5, 4)] };
    let mut first = generator.first(&few)?;
    assert!(first.add_assign(context, &world.first).is_err(), "other keys");
    assert!(generator.second(&request(), &first).is_err(), "other keys");
    let second = generator.second(&request(), &world.first)?;
    assert_eq!((second.round(), second.switches[&RELINEARIZATION].rows.len()), (Round::Second, 2));
    assert!(first.add_assign(context, &second).is_err(), "another round");
    assert!(public_key(context, &common(), &second).is_err());
    assert!(evaluation_keys(context, &common(), &world.public, [&first, &second]).is_err());
    let owner = KeyGenerator::new(context, seed(1)).secret();
    assert!(ShareGenerator::new(context, &owner, &seed(0), &common()).is_err(), "a secret that is a sum");
    Ok(())
}
