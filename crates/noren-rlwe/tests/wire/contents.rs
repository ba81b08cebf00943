//! Sections that say what no object says are refused.

use noren_rlwe::error::Error;
use noren_rlwe::security::SecretDistribution;
use noren_rlwe::wire::reader::Limits;
use noren_rlwe::wire::reason::Reason;
use noren_rlwe::wire::writer::Form;

use crate::samples::{FORMS, find, objects, patched, reason, samples, section, section_bytes};

#[test]
fn residues_that_are_not_below_their_prime_are_refused() {
    let objects = objects(SecretDistribution::Ternary);
    let q = objects.context.parameters().q().to_vec();
    let raw = samples(&objects, Form::Raw);
    let plaintext = find(&raw, "plaintext");
    let at = section(&plaintext.bytes, 0);
    for (limb, prime) in q.iter().copied().enumerate() {
        for value in [prime, prime + 1, u64::MAX] {
            let row = at + 16 * 8 * limb;
            let found = reason(plaintext, row + 8 * 3, &value.to_le_bytes());
            let Reason::Residue { limb: named, index: 3, value: shown, prime: bound, .. } = found else {
                panic!("{found}")
            };
            // The whole ring has one special prime first.
            assert_eq!((named, shown, bound), (limb + 1, value, prime));
        }
        let largest = patched(&plaintext.bytes, at + 16 * 8 * limb, &(prime - 1).to_le_bytes());
        assert_eq!((plaintext.rewrite)(&largest, &Limits::default()).expect("below the prime"), largest);
    }
    // All ones are 2^30 - 1 in each field of 30 bits, and no prime is that large.
    let packed = samples(&objects, Form::Packed);
    let plaintext = find(&packed, "plaintext");
    let found = reason(plaintext, section(&plaintext.bytes, 0), &[0xff; 8]);
    assert!(matches!(found, Reason::Residue { limb: 1, index: 0, .. }), "{found}");
    // 16 * 30 bits end at bit 32 of the eighth word.
    let found = reason(plaintext, section(&plaintext.bytes, 0) + 60, &[1]);
    assert!(matches!(found, Reason::Bits { .. }), "{found}");
}

#[test]
fn secret_coefficients_outside_their_distribution_are_refused() {
    for distribution in
        [SecretDistribution::Ternary, SecretDistribution::SparseTernary(5), SecretDistribution::Gaussian]
    {
        let objects = objects(distribution);
        let all = samples(&objects, Form::Packed);
        let key = find(&all, "secret_key");
        let coefficients = section(&key.bytes, 1);
        // -2 in two bits; -64 in seven.
        let (lowest, bits) = if distribution == SecretDistribution::Gaussian { (0x40, 7) } else { (0b10, 2) };
        let first = key.bytes[coefficients] & !((1u8 << bits) - 1);
        assert!(matches!(reason(key, coefficients, &[first | lowest]), Reason::Value { .. }), "{distribution}");
        // Another distribution has another width, or another weight.
        let own = match distribution {
            SecretDistribution::Ternary => [0, 0],
            SecretDistribution::SparseTernary(weight) => [1, weight as u64],
            SecretDistribution::Gaussian => [2, 0],
            SecretDistribution::Joint(parties) => [3, parties as u64],
        };
        for other in [[0u64, 0], [1, 1], [1, 6], [2, 0], [0, 5], [2, 5], [3, 0], [1, u64::MAX]] {
            let words: Vec<u8> = other.iter().flat_map(|word| word.to_le_bytes()).collect();
            let bytes = patched(&key.bytes, section(&key.bytes, 0), &words);
            match (key.rewrite)(&bytes, &Limits::default()) {
                // A sparse secret is also one of all ternary ones.
                Ok(again) => assert!(again == bytes && (other == own || other == [0, 0])),
                Err(Error::Wire { reason, .. }) => {
                    assert!(matches!(reason, Reason::Value { .. }), "{reason}")
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
}

#[test]
fn keys_that_hide_nothing_are_refused() {
    let zero = |error: Result<Vec<u8>, Error>| match error {
        Err(Error::ZeroKey { key }) => key,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("accepted"),
    };
    for distribution in [SecretDistribution::Ternary, SecretDistribution::Gaussian] {
        let objects = objects(distribution);
        let all = samples(&objects, Form::Packed);
        let key = find(&all, "secret_key");
        let bytes = patched(&key.bytes, section(&key.bytes, 1), &vec![0; section_bytes(&key.bytes, 1)]);
        assert_eq!(zero((key.rewrite)(&bytes, &Limits::default())), "secret key", "{distribution}");
    }
    let objects = objects(SecretDistribution::Ternary);
    for form in FORMS {
        let all = samples(&objects, form);
        let key = find(&all, "public_key");
        let (at, length) = (section(&key.bytes, 2), section_bytes(&key.bytes, 2));
        // All of b, and its first limb alone: modulo that prime, messages would be in clear.
        for zeros in [length, length / 2] {
            let bytes = patched(&key.bytes, at, &vec![0; zeros]);
            assert!(zero((key.rewrite)(&bytes, &Limits::default())).contains("half b of the public key"));
        }
        // A single zero is a value like any other.
        let bytes = patched(&key.bytes, at, &[0; 4]);
        assert!((key.rewrite)(&bytes, &Limits::default()).is_ok());
    }
}

#[test]
fn parameters_are_checked_again() {
    let objects = objects(SecretDistribution::Ternary);
    let all = samples(&objects, Form::Packed);
    let sample = find(&all, "parameters");
    let shape = section(&sample.bytes, 0);
    // log n, digits (0 would leave them open), secret, weight, security.
    for (word, value) in [(0, 18), (0, 64), (0, u64::MAX), (1, 0), (2, 3), (3, 1), (4, 1), (4, 129)] {
        let bytes = patched(&sample.bytes, shape + 8 * word, &u64::to_le_bytes(value));
        assert!((sample.rewrite)(&bytes, &Limits::default()).is_err(), "word {word} = {value}");
    }
    // 2^30 - 1 is no prime; 128-bit security does not hold for degree 16.
    let bytes = patched(&sample.bytes, section(&sample.bytes, 1), &((1u64 << 30) - 1).to_le_bytes());
    assert!(matches!((sample.rewrite)(&bytes, &Limits::default()), Err(Error::Math(_))));
    let bytes = patched(&sample.bytes, shape + 8 * 4, &128u64.to_le_bytes());
    assert!(matches!((sample.rewrite)(&bytes, &Limits::default()), Err(Error::Insecure { .. })));
}
