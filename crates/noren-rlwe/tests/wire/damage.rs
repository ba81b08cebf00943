//! Damaged bytes are refused, and bytes have one meaning.

use noren_rlwe::error::Error;
use noren_rlwe::security::SecretDistribution;
use noren_rlwe::wire::header::HEADER_BYTES;
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::reader::Limits;
use noren_rlwe::wire::reason::Reason;
use noren_rlwe::wire::writer::Form;

use crate::samples::{
    DIGEST_AT, FORMS, LENGTH_AT, UNCHECKED, objects, patched, reason_of, samples, sealed, without_digest,
};

#[test]
fn every_truncation_and_every_tail_is_refused() {
    let objects = objects(SecretDistribution::Ternary);
    for sample in samples(&objects, Form::Packed) {
        for length in 0..sample.bytes.len() {
            let cut = &sample.bytes[..length];
            let limits = if length % 2 == 0 { Limits::default() } else { UNCHECKED };
            let error = (sample.rewrite)(cut, &limits).expect_err("truncated");
            assert!(matches!(error, Error::Wire { .. }), "{} cut to {length}: {error}", sample.name);
        }
        for tail in [1, 63, 64, 4096] {
            let longer = [sample.bytes.as_slice(), &vec![0; tail]].concat();
            let found = longer.len() as u64;
            let needed = Reason::Length { found, needed: sample.bytes.len() as u64 };
            assert_eq!(reason_of(&sample, &sealed(longer.clone())), needed, "{} with {tail} more", sample.name);
            // A header that admits to the tail is refused too.
            let honest = patched(&longer, LENGTH_AT, &found.to_le_bytes());
            assert!(matches!(reason_of(&sample, &honest), Reason::Length { .. }), "{}", sample.name);
        }
    }
}

#[test]
fn every_flipped_bit_is_refused() {
    let objects = objects(SecretDistribution::Ternary);
    for form in FORMS {
        for sample in samples(&objects, form) {
            let mut bytes = sample.bytes.clone();
            for at in 0..bytes.len() {
                for bit in 0..8 {
                    bytes[at] ^= 1 << bit;
                    assert!((sample.rewrite)(&bytes, &Limits::default()).is_err(), "{} bit {bit} of {at}", sample.name);
                    bytes[at] ^= 1 << bit;
                }
            }
        }
    }
}

#[test]
fn bytes_have_one_meaning_and_meanings_one_encoding() {
    // Behind the digest: whatever is still accepted after a flip is written as exactly those bytes.
    let objects = objects(SecretDistribution::Ternary);
    for form in FORMS {
        for sample in samples(&objects, form) {
            let (mut bytes, mut accepted) = (sample.bytes.clone(), 0);
            for at in (0..DIGEST_AT).chain(HEADER_BYTES..bytes.len()) {
                for bit in 0..8 {
                    bytes[at] ^= 1 << bit;
                    if let Ok(again) = (sample.rewrite)(&bytes, &UNCHECKED) {
                        accepted += 1;
                        assert!(without_digest(&again) == without_digest(&bytes), "{} bit {bit} of {at}", sample.name);
                    }
                    bytes[at] ^= 1 << bit;
                }
            }
            assert!(
                accepted > 0 || sample.kind == Kind::PARAMETERS,
                "{}: some flips stay below the prime",
                sample.name
            );
        }
    }
}
