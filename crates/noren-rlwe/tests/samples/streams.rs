//! One seed for several purposes: what was found in an attack on keys and ciphertexts of repeated seeds must not work.

use std::collections::HashSet;

use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;
use noren_rlwe::ciphertext::{Ciphertext, Plaintext};
use noren_rlwe::context::Context;
use noren_rlwe::decrypt::decrypt;
use noren_rlwe::encrypt::Encryptor;
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::parameters::ParametersSpec;
use noren_rlwe::security::SecretDistribution;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::writer::Form;

use crate::small::{Setup, seed, spec, words};

/// The limbs that all sets have in common.
const LIMBS: usize = 2;
/// The bits of the smaller of the first two primes: differences of unrelated polynomials fill them.
const BITS: u32 = 40;

/// Sets over the same first primes, each with something else.
fn sets() -> Vec<ParametersSpec> {
    let base = spec(6, 4, 2, 2);
    vec![
        base.clone(),
        spec(6, 4, 3, 2),
        spec(6, 4, 2, 4),
        spec(6, 3, 2, 2),
        ParametersSpec { secret: SecretDistribution::Gaussian, ..base.clone() },
        ParametersSpec { secret: SecretDistribution::SparseTernary(16), ..base },
    ]
}

/// The random bytes of all public objects of a set: every run of 32 bytes in which 16 or more differ.
fn random_runs(Setup { context, generator, secret, .. }: &Setup) -> HashSet<Vec<u8>> {
    let public = generator.public(secret).expect("no security asked").to_bytes(context, Form::Raw);
    let keys = [generator.galois(secret, 5, None), generator.relinearization(secret, None)];
    let keys = keys.into_iter().flat_map(|key| key.expect("no security asked").to_bytes(context, Form::Raw));
    let bytes: Vec<u8> = public.into_iter().chain(keys).collect();
    let random = bytes.windows(32).filter(|run| run.iter().collect::<HashSet<_>>().len() >= 16);
    random.map(<[u8]>::to_vec).collect()
}

/// The bits of the largest coefficient of a polynomial over the first limbs, reduced to between -q/2 and q/2 by its second prime.
fn bits(ring: &Ring, poly: &Poly<Eval>) -> u32 {
    let coefficients = ring.intt(poly.clone());
    let q = ring.moduli().nth(1).expect("two limbs").value();
    ring.rows(&coefficients)
        .nth(1)
        .expect("two limbs")
        .iter()
        .map(|&x| u64::BITS - x.min(q - x).leading_zeros())
        .max()
        .expect("coefficients")
}

fn difference(ring: &Ring, a: &Poly<Eval>, b: &Poly<Eval>) -> Poly<Eval> {
    let mut difference = a.clone();
    ring.sub_assign(&mut difference, b);
    difference
}

fn message(context: &Context, constant: i64) -> Plaintext {
    let ring = context.ring_q(LIMBS);
    let mut coefficients = vec![0; ring.degree()];
    coefficients[0] = constant << 30;
    Plaintext { poly: ring.ntt(ring.from_signed(&coefficients)) }
}

#[test]
fn keys_of_one_seed_and_two_sets_have_nothing_in_common() {
    let setups: Vec<Setup> = sets().into_iter().map(Setup::new).collect();
    let runs: Vec<HashSet<Vec<u8>>> = setups.iter().map(random_runs).collect();
    for (i, one) in setups.iter().enumerate() {
        for (j, other) in setups.iter().enumerate().skip(i + 1) {
            // Equal masks, or bodies.
            assert!(runs[i].len() > 10_000 && runs[i].is_disjoint(&runs[j]), "keys of sets {i} and {j}");
            // A ciphertext with another name on it: an equal secret decrypts it.
            let ring = other.context.ring_q(LIMBS);
            let encryptor = Encryptor::symmetric(&one.context, &one.secret, seed(7)).expect("one context");
            let ciphertext = encryptor.encrypt(&message(&one.context, 1)).expect("no security asked");
            let renamed = |part| ring.from_words(&words(&one.context, part)).expect("the same primes");
            let renamed = Ciphertext::new(ciphertext.parts().iter().map(renamed).collect(), other.secret.owner().key);
            let found = decrypt(&other.context, &other.secret, &renamed).expect("named so");
            let sent = message(&other.context, 1);
            assert!(
                bits(&ring, &difference(&ring, &found.poly, &sent.poly)) >= BITS - 3,
                "secrets of sets {i} and {j}"
            );
        }
    }
}

#[test]
fn ciphertexts_of_one_seed_have_nothing_in_common() {
    let Setup { context, generator, secret } = Setup::new(spec(6, 4, 2, 2));
    let ring = context.ring_q(LIMBS);
    let later = KeyGenerator::new(&context, seed(9));
    let (other, public) = (later.secret(), generator.public(&secret).expect("no security asked"));
    let other_public = later.public(&other).expect("no security asked");
    let publicly = |key, constant| {
        let encryptor = Encryptor::public(&context, key, seed(7)).expect("one context");
        encryptor.encrypt(&message(&context, constant)).expect("no security asked")
    };
    let secretly = |key, constant| {
        let encryptor = Encryptor::symmetric(&context, key, seed(7)).expect("one context");
        encryptor.encrypt(&message(&context, constant)).expect("no security asked")
    };
    let all = [
        publicly(&public, 1),
        publicly(&public, 2),
        publicly(&other_public, 1),
        secretly(&secret, 1),
        secretly(&secret, 2),
        secretly(&other, 1),
    ];
    for (i, one) in all.iter().enumerate() {
        for (j, two) in all.iter().enumerate().skip(i + 1) {
            // Equal masks: the difference of the second parts is 0, or small.
            let rest = bits(&ring, &difference(&ring, &one.parts()[1], &two.parts()[1]));
            assert!(rest >= BITS - 3, "{i} and {j}: {rest} bits");
        }
    }
    // The same once more: one seed gives the same bytes.
    let again = publicly(&public, 1);
    assert_eq!(bits(&ring, &difference(&ring, &again.parts()[0], &all[0].parts()[0])), 0);
}
