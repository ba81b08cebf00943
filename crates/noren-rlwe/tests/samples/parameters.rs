//! Specifications: which are accepted, how digits are chosen, what the fingerprint covers.

use std::ops::Range;

use noren_math::prime::primes_below;
use noren_rlwe::error::Error;
use noren_rlwe::parameters::{MAX_PRIMES, ParametersSpec};
use noren_rlwe::security::{SecretDistribution, Security};

/// Degree 2^10 with primes of 40 bits for q and of 49 bits for p.
fn spec(limbs: usize, special: usize) -> ParametersSpec {
    ParametersSpec {
        index: 2 << 10,
        q: primes_below(1 << 40, 1 << 11).take(limbs).collect(),
        p: primes_below(1 << 49, 1 << 11).take(special).collect(),
        security: Security::None,
        ..ParametersSpec::default()
    }
}

#[test]
fn digits_are_chosen_with_a_margin_below_the_special_modulus() {
    for (limbs, special, dnum) in [
        // 80 bits stay 6 below 98, 120 do not.
        (6, 2, 3),
        (5, 2, 3),
        // 120 bits stay below 147 - 6.
        (6, 3, 2),
        (1, 1, 1),
        (4, 1, 4),
        // 160 bits stay below 196 - 6.
        (4, 4, 1),
    ] {
        let parameters = spec(limbs, special).build().expect("supported");
        assert_eq!(parameters.dnum(), dnum, "{limbs} limbs, {special} special primes");
        assert_eq!(parameters.digits().iter().map(Range::len).sum::<usize>(), limbs);
    }
}

#[test]
fn digits_without_margin_come_as_near_as_they_can() {
    let mut near = spec(4, 0);
    // 41 bits: even one prime of 40 bits does not stay 6 bits below.
    near.p = primes_below(1 << 41, 1 << 11).take(1).collect();
    assert_eq!(near.build().expect("supported").dnum(), 4);
}

#[test]
fn unsupported_specifications_are_named() {
    let name_of = |spec: ParametersSpec| match spec.build() {
        Err(Error::Parameters { name, .. }) => name,
        Err(Error::Math(_)) => "math",
        other => panic!("{other:?} was not expected"),
    };
    for index in [0, 8, 90, 4 << 17] {
        assert_eq!(name_of(ParametersSpec { index, ..spec(2, 1) }), "math");
    }
    assert_eq!(name_of(ParametersSpec { index: (1 << 16) + 1, ..spec(2, 1) }), "index");
    for index in [2 << 17, 2047] {
        assert_eq!(name_of(ParametersSpec { index, ..spec(2, 1) }), "q");
    }
    assert_eq!(name_of(spec(0, 1)), "q");
    assert_eq!(name_of(ParametersSpec { dnum: 3, ..spec(2, 1) }), "dnum");
    assert_eq!(name_of(ParametersSpec { dnum: 1, ..spec(2, 0) }), "dnum");
    assert_eq!(name_of(ParametersSpec { p: spec(1, 0).q, ..spec(2, 0) }), "q and p");
    assert_eq!(name_of(spec(MAX_PRIMES, 1)), "q and p");
    assert_eq!(name_of(ParametersSpec { q: vec![(1 << 20) + 1], ..spec(1, 0) }), "math");
    for weight in [0, 1025] {
        let secret = SecretDistribution::SparseTernary(weight);
        assert_eq!(name_of(ParametersSpec { secret, ..spec(1, 0) }), "secret");
    }
}

#[test]
fn security_counts_the_special_primes() {
    // Degree 2^13 carries 214 bits: four primes of 40 bits fit alone, and with one of 49, but not with two.
    let secure = |special| ParametersSpec {
        index: 2 << 13,
        q: primes_below(1 << 40, 1 << 14).take(4).collect(),
        p: primes_below(1 << 49, 1 << 14).take(special).collect(),
        ..ParametersSpec::default()
    };
    assert!(secure(0).build().is_ok());
    assert!(secure(1).build().is_ok());
    assert!(matches!(secure(2).build(), Err(Error::Insecure { bound: 214.0, .. })));
    assert!(ParametersSpec { security: Security::None, ..secure(2) }.build().is_ok());
}

#[test]
fn fingerprint_covers_what_changes_bytes() {
    let base = spec(4, 2).build().expect("supported");
    let same = ParametersSpec { dnum: base.dnum(), security: Security::None, ..spec(4, 2) };
    assert_eq!(same.build().expect("supported"), base);
    assert_eq!(base.to_spec().build().expect("supported").fingerprint(), base.fingerprint());
    for other in [
        spec(3, 2),
        spec(4, 1),
        ParametersSpec { dnum: 4, ..spec(4, 2) },
        ParametersSpec { secret: SecretDistribution::Gaussian, ..spec(4, 2) },
        ParametersSpec { secret: SecretDistribution::SparseTernary(64), ..spec(4, 2) },
    ] {
        let other = other.build().expect("supported");
        assert_ne!(other.fingerprint(), base.fingerprint());
        let refused = base.check_fingerprint(&other.fingerprint(), "the key");
        assert!(matches!(refused, Err(Error::ParameterMismatch { what: "the key", .. })));
    }
}
