//! Every key is checked with its own modulus and its own secret.

use noren_math::prime::primes_below;
use noren_rlwe::ciphertext::Plaintext;
use noren_rlwe::encrypt::Encryptor;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::key_request::KeyRequest;
use noren_rlwe::parameters::ParametersSpec;
use noren_rlwe::security::{SecretDistribution, Security};

use crate::small::{Setup, seed};

/// Degree 2^12, which carries 106 bits under a dense secret and 58 under one of weight 64: two primes of 30 bits, and a
/// special one of 28.
fn spec(security: Security) -> ParametersSpec {
    let step = 1 << 13;
    ParametersSpec {
        index: 2 << 12,
        q: primes_below(1 << 30, step).take(2).collect(),
        p: primes_below(1 << 28, step).take(1).collect(),
        security,
        ..ParametersSpec::default()
    }
}

/// Which object is refused, and how large it would be.
fn refusal<T>(result: Result<T>) -> (&'static str, f64) {
    match result {
        Err(Error::Insecure { key, log_qp, bound: 58.0, n: 4096, level: Security::Bits128, .. }) => {
            (key, log_qp.round())
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("this is not secure"),
    }
}

#[test]
fn every_kind_of_key_is_refused_where_its_secret_does_not_carry_it() {
    let setup = Setup::new(spec(Security::Bits128));
    let generator = &setup.generator;
    let sparse = generator.ephemeral_secret("sparse", SecretDistribution::SparseTernary(64)).expect("supported");
    assert_eq!(refusal(generator.public(&sparse)), ("public key", 60.0));
    assert_eq!(refusal(generator.relinearization(&sparse, None)), ("relinearisation key", 88.0));
    assert_eq!(refusal(generator.galois(&sparse, 5, None)), ("Galois key", 88.0));
    assert_eq!(refusal(generator.switching(&setup.secret, &sparse, None)), ("key switching key", 88.0));
    let request = KeyRequest { relinearization: None, galois: vec![(5, 1), (25, 2)] };
    assert_eq!(refusal(generator.evaluation_keys(&sparse, &request, None)), ("Galois key", 88.0));
    let encryptor = Encryptor::symmetric(&setup.context, &sparse, seed(30)).expect("one context");
    let message = |limbs| Plaintext { poly: setup.context.ring_q(limbs).zero() };
    assert_eq!(refusal(encryptor.encrypt(&message(2))), ("ciphertext", 60.0));

    // Cut to one limb they are 58 bits, which the secret carries.
    assert!(generator.relinearization(&sparse, Some(1)).is_ok());
    assert!(generator.galois(&sparse, 5, Some(1)).is_ok());
    assert!(generator.switching(&setup.secret, &sparse, Some(1)).is_ok());
    assert!(encryptor.encrypt(&message(1)).is_ok());
    // The other direction is an encryption under the dense secret.
    assert!(generator.switching(&sparse, &setup.secret, None).is_ok());
}

#[test]
fn dense_secrets_carry_what_the_parameters_promise() {
    let setup = Setup::new(spec(Security::Bits128));
    assert!(setup.generator.public(&setup.secret).is_ok());
    assert!(setup.generator.relinearization(&setup.secret, None).is_ok());
    assert!(setup.generator.galois(&setup.secret, 5, None).is_ok());
}

#[test]
fn parameters_are_refused_at_a_level_that_they_do_not_reach() {
    for level in [Security::Bits192, Security::Bits256] {
        assert!(matches!(spec(level).build(), Err(Error::Insecure { key: "parameters", level: l, .. }) if l == level));
    }
    let sparse = ParametersSpec { secret: SecretDistribution::SparseTernary(64), ..spec(Security::Bits128) };
    let error = sparse.build().expect_err("88 bits are more than 58").to_string();
    for part in ["88.0 bits", "128-bit", "weight 64", "4096", "at most 58 bits", "security to none"] {
        assert!(error.contains(part), "{part} is missing in: {error}");
    }
}

#[test]
fn no_security_is_had_only_by_writing_it_out() {
    assert_eq!(ParametersSpec::default().security, Security::Bits128);
    let setup = Setup::new(spec(Security::None));
    let sparse = setup.generator.ephemeral_secret("sparse", SecretDistribution::SparseTernary(1)).expect("supported");
    assert!(setup.generator.public(&sparse).is_ok());
    assert!(setup.generator.relinearization(&sparse, None).is_ok());
    assert!(setup.generator.galois(&sparse, 5, None).is_ok());
}
