//! The same seed gives the same bytes, for any number of threads and under every instruction set.

use std::process::Command;
use std::sync::Arc;

use noren_math::kernels;
use noren_naive::Naive;
use noren_ring::device::Device;
use noren_ring::host::Host;
use noren_ring::parallel::Parallel;
use noren_rlwe::ciphertext::Plaintext;
use noren_rlwe::context::Context;
use noren_rlwe::decrypt::decrypt;
use noren_rlwe::encrypt::Encryptor;
use noren_rlwe::galois::sum_automorphisms;
use noren_rlwe::key_request::KeyRequest;
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::multiply::{relinearize_rescale, tensor};
use noren_rlwe::security::SecretDistribution;

use crate::small::{Setup, ciphertext_words, seed, spec, words};

/// With this set, a run of this binary prints the digest and does nothing else.
const DIGEST_ONLY: &str = "NOREN_TEST_DIGEST_ONLY";

/// The digest of keys, ciphertexts and results of one of everything.
fn digest(threads: Option<usize>) -> String {
    // Large enough that the work is shared between threads.
    let parameters = spec(12, 4, 2, 2).build().expect("supported");
    digest_in(&Context::with_threads(parameters, threads).expect("supported"))
}

fn digest_in(context: &Context) -> String {
    let generator = KeyGenerator::new(context, seed(40));
    let secret = generator.secret();
    let public = generator.public(&secret).expect("no security asked");
    let request = KeyRequest { relinearization: Some(4), galois: vec![(5, 3), (31, 3)] };
    let keys = generator.evaluation_keys(&secret, &request, None).expect("no security asked");

    let mut hasher = blake3::Hasher::new();
    let mut take = |words: Vec<u64>| {
        for word in words {
            hasher.update(&word.to_le_bytes());
        }
    };
    let relinearization = keys.relinearization(4).expect("made");
    for key in keys.automorphisms().map(|(_, key)| key).chain([relinearization]) {
        let halves = (0..key.pairs().digits()).flat_map(|digit| context.ring().key_pair(key.pairs(), digit));
        halves.for_each(|half| take(words(context, &half)));
    }
    let message = Plaintext { poly: context.ring_q(4).uniform(&seed(41), "message") };
    let encryptors = [
        Encryptor::public(context, &public, seed(42)).expect("one context"),
        Encryptor::symmetric(context, &secret, seed(43)).expect("one context"),
    ];
    let [a, b] = encryptors.map(|encryptor| encryptor.encrypt(&message).expect("fits"));
    let product = tensor(context, &a, &b).expect("same level");
    let product = relinearize_rescale(context, &product, &keys).expect("keys there");
    let sum = sum_automorphisms(context, &product, &[5, 31], &keys).expect("keys there");
    for ciphertext in [&a, &b, &product, &sum] {
        take(ciphertext_words(context, ciphertext));
    }
    take(words(context, &decrypt(context, &secret, &sum).expect("one context").poly));
    hasher.finalize().to_hex().to_string()
}

#[test]
fn bytes_do_not_depend_on_the_device() {
    let digest = |device: Arc<dyn Device>| {
        let parameters = spec(5, 4, 2, 2).build().expect("supported");
        digest_in(&Context::on_device(parameters, Some(1), Parallel::default(), device).expect("supported"))
    };
    assert_eq!(digest(Arc::new(Naive)), digest(Arc::new(Host)));
}

#[test]
fn bytes_do_not_depend_on_threads() {
    let plain = digest(Some(1));
    for threads in [None, Some(2), Some(3)] {
        assert_eq!(digest(threads), plain, "{threads:?}");
    }
}

#[test]
fn bytes_do_not_depend_on_the_instruction_set() {
    if std::env::var_os(DIGEST_ONLY).is_some() {
        println!("digest={}", digest(Some(1)));
        return;
    }
    let program = std::env::current_exe().expect("a test has a path");
    let digests: Vec<String> = kernels::available()
        .map(|table| {
            let run = Command::new(&program)
                .args(["--exact", "determinism::bytes_do_not_depend_on_the_instruction_set", "--nocapture"])
                .env(DIGEST_ONLY, "1")
                .env("NOREN_ISA", table.name())
                .output()
                .expect("a test can run itself");
            let text = String::from_utf8_lossy(&run.stdout).into_owned();
            let digest = text.lines().find_map(|line| line.split_once("digest=").map(|(_, digest)| digest.to_owned()));
            digest.unwrap_or_else(|| panic!("{}: {text}", table.name()))
        })
        .collect();
    assert!(digests.iter().all(|digest| *digest == digests[0] && digest.len() == 64), "{digests:?}");
}

#[test]
fn keys_of_two_secrets_share_no_randomness() {
    let setup = Setup::new(spec(6, 2, 1, 0));
    let other = setup.generator.ephemeral_secret("other", SecretDistribution::Ternary).expect("supported");
    let seeds = |secret| {
        let relinearization = setup.generator.relinearization(secret, None).expect("no security asked");
        let galois = setup.generator.galois(secret, 5, None).expect("no security asked");
        [relinearization, galois].map(|key| *key.seed().expect("of one owner").as_bytes())
    };
    let mut all = [seeds(&setup.secret), seeds(&other)].concat();
    assert_eq!(seeds(&setup.secret), all[..2], "the same seed and secret give the same key");
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 4);
}
