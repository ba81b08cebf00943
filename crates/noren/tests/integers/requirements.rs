//! Parameters that are found from what is wanted.

use noren::Security;
use noren::bfv::Bfv;
use noren::bgv::{Bgv, KeyRequest, Requirements};
use noren::error::Error;
use noren::schemes::integers::Scheme;
use noren::security::{SecretDistribution, max_log_qp};

use crate::small::{Setup, zip};

fn are_met<S: Scheme>() {
    for (depth, plaintext_modulus, terms, plain_products) in
        [(0, 65537, 1, 0), (1, 65537, 1, 0), (3, 65537, 16, 2), (2, 2, 1, 0), (4, 1 << 20, 4, 1)]
    {
        let sum = terms;
        let requirements =
            Requirements { depth, plaintext_modulus, terms, sum, plain_products, ..Requirements::default() };
        let parameters = requirements.choose::<S>().unwrap();
        let budget =
            |requirements: &Requirements| requirements.predicted_noise::<S>(&parameters).budget(parameters.degree());
        assert!(budget(&requirements) >= 0.0, "{} {requirements:?}", S::NAME);
        // Not by much more: so many operations again are too many.
        let more = Requirements { depth: 2 * depth + 3, ..requirements.clone() };
        assert!(budget(&more) < 0.0, "{} {requirements:?}: {:?}", S::NAME, parameters.spec());
        let most = max_log_qp(parameters.degree(), SecretDistribution::Ternary, Security::Bits128).unwrap();
        assert!(parameters.rlwe().log_qp() <= most);
    }
}

#[test]
fn requirements_are_met_and_not_by_much_more() {
    are_met::<Bgv>();
    are_met::<Bfv>();
}

#[test]
fn an_index_is_found_for_slots_and_their_degree() {
    for (plaintext_modulus, slots, slot_degree, depth, security) in
        [(2, 100, 8, 2, Security::Bits128), (2, 600, 1, 1, Security::None), (81, 30, 3, 1, Security::Bits128)]
    {
        let requirements = Requirements { depth, plaintext_modulus, slots, security, ..Requirements::default() };
        let parameters = requirements.choose_index::<Bgv>(slot_degree).unwrap();
        let cube = parameters.hypercube().unwrap();
        assert!(cube.degree().is_multiple_of(slot_degree) && parameters.slots() >= slots, "{cube:?}");
        assert!(parameters.laws().budget(&requirements.predicted_noise::<Bgv>(&parameters)) >= 0.0);
        if security == Security::Bits128 {
            let most = max_log_qp(parameters.degree(), SecretDistribution::Ternary, Security::Bits128).unwrap();
            assert!(parameters.rlwe().log_qp() <= most);
        }
    }
    let requirements = Requirements { plaintext_modulus: 2, slots: 40_000, ..Requirements::default() };
    for (requirements, slot_degree, part) in [
        (Requirements { plaintext_modulus: 6, ..Requirements::default() }, 1, "a power of a prime"),
        (Requirements { plaintext_modulus: 2, ..Requirements::default() }, 0, "at least 1"),
        (requirements.clone(), 1, "fewer slots"),
        (Requirements { slots: 1, depth: 100, ..requirements }, 1, "does not carry"),
    ] {
        let message = requirements.choose_index::<Bgv>(slot_degree).map(|_| ()).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
}

fn run<S: Scheme>() {
    let requirements = Requirements { depth: 2, terms: 4, sum: 4, security: Security::None, ..Requirements::default() };
    let parameters = requirements.choose::<S>().unwrap();
    let request = KeyRequest { relinearization: true, rotations: vec![1], ..KeyRequest::default() };
    let setup = Setup::new(parameters.spec().clone(), &request);
    let (t, ev) = (setup.t(), setup.evaluator::<S>());
    let mut x = setup.values(1);
    let mut a = setup.encrypt::<S>(&x, 2);
    // The worst case that was asked for: four equal terms before every squaring, and in the end.
    for step in 0..3 {
        a = ev.mul_scalar(&a, 4).unwrap();
        x = zip(t, &x, &x, |x, _| 4 * x);
        if step < 2 {
            a = ev.square(&a).unwrap();
            x = zip(t, &x, &x, |x, y| x * y);
        }
    }
    assert!(a.noise_budget() >= 0.0, "{}: {}", S::NAME, a.noise_budget());
    assert_eq!(setup.decrypt(&a), x);
}

#[test]
fn what_was_asked_for_runs() {
    run::<Bgv>();
    run::<Bfv>();
}

#[test]
fn what_cannot_be_met_is_named() {
    let name = |requirements: Requirements| match requirements.choose::<Bfv>() {
        Err(Error::Parameters { name, .. }) => name,
        other => panic!("{other:?} was not expected"),
    };
    for depth in [500, 1 << 33, usize::MAX / 2, usize::MAX] {
        assert_eq!(name(Requirements { depth, ..Requirements::default() }), "depth");
        let plain = Requirements { plain_products: depth, ..Requirements::default() };
        assert_eq!(name(plain.clone()), "plain_products");
        // Without room even for the multiplications, these are what is too much.
        assert_eq!(name(Requirements { depth, ..plain }), "depth");
        // In the smallest rings operations hardly raise noise.
        let small = Requirements { depth, plaintext_modulus: 2, security: Security::None, ..Requirements::default() };
        let plain = Requirements { depth: 0, plain_products: depth, ..small.clone() };
        for requirements in [small, plain].into_iter().filter(|_| depth > 500) {
            assert!(requirements.choose_index::<Bgv>(1).is_err(), "{requirements:?}");
        }
    }
    assert_eq!(name(Requirements { plaintext_modulus: 1, ..Requirements::default() }), "plaintext_modulus");
    assert_eq!(name(Requirements { slots: 1 << 18, ..Requirements::default() }), "slots");
}

#[test]
fn a_modulus_whose_slots_cannot_be_computed_has_coefficients() {
    // A prime that is 1 modulo 2^14, so that rings up to degree 2^13 have slots modulo it.
    let plaintext_modulus = 1_152_921_504_606_830_593;
    let requirements =
        Requirements { depth: 0, plaintext_modulus, security: Security::None, ..Requirements::default() };
    for slots in [1, 1 << 13] {
        let parameters = Requirements { slots, ..requirements.clone() }.choose::<Bfv>().unwrap();
        assert!(!parameters.has_slots());
    }
    // Coefficients may be of any modulus.
    let requirements = Requirements { plaintext_modulus: plaintext_modulus - 2, ..requirements };
    assert!(!requirements.choose::<Bfv>().unwrap().has_slots());
}
