//! Frames that nobody writes are refused: headers, tables of contents, lengths, padding.

use noren_rlwe::ciphertext::{Ciphertext, Plaintext};
use noren_rlwe::context::Context;
use noren_rlwe::error::Error;
use noren_rlwe::keys::EvaluationKeys;
use noren_rlwe::parameters::Parameters;
use noren_rlwe::security::SecretDistribution;
use noren_rlwe::wire::header::MAX_SECTIONS;
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::reader::{Limits, Reader};
use noren_rlwe::wire::reason::Reason;
use noren_rlwe::wire::writer::{Form, Writer};

use crate::samples::{
    DETAIL, ENCODING, FINGERPRINT_AT, FLAGS_AT, ITEM, KIND_AT, LENGTH, LENGTH_AT, OFFSET, RESERVED_AT, SECTIONS_AT,
    TAG, VERSION_AT, entry, find, objects, parameters, reason, samples, section, section_count,
};

#[test]
fn kinds_have_distinct_numbers_and_names() {
    for (i, kind) in Kind::ALL.into_iter().enumerate() {
        assert_eq!(Kind::from_code(kind.code()), Some(kind));
        assert!(Kind::ALL[..i].iter().all(|other| other.code() < kind.code() && other.name() != kind.name()));
    }
    assert_eq!([0, 0x0b01, 0x7fff].map(Kind::from_code), [None; 3]);
    assert!(Kind::ALL.into_iter().all(|kind| kind.is_secret() == kind.name().starts_with("secret key")));
}

/// An object of another library: a number.
#[derive(Debug, PartialEq)]
struct Elsewhere<const SECRET: bool>(u64);

impl<const SECRET: bool> Object for Elsewhere<SECRET> {
    type Context = ();

    const KIND: Kind = if SECRET { Kind::secret_elsewhere(3) } else { Kind::elsewhere(3) };

    fn needed_fingerprint((): &()) -> Option<[u8; 32]> {
        Some([5; 32])
    }

    fn fingerprint(&self, (): &()) -> [u8; 32] {
        [5; 32]
    }

    fn write<'a>(&'a self, (): &'a (), writer: &mut Writer<'a>) {
        writer.words(1, vec![self.0]);
    }

    fn read((): &(), reader: &mut Reader<'_>) -> noren_rlwe::error::Result<Self> {
        Ok(Self(reader.take(1)?.word_array::<1>()?[0]))
    }
}

#[test]
fn objects_of_other_libraries_travel_too() {
    let (open, secret) = (Elsewhere::<false>(7), Elsewhere::<true>(8));
    let bytes = open.to_bytes(&(), Form::Packed);
    assert_eq!(bytes[KIND_AT..KIND_AT + 2], [0x03, 0x80]);
    assert_eq!(Elsewhere::from_bytes(&(), &bytes).expect("its own bytes"), open);
    let of_secret = secret.to_bytes(&(), Form::Packed);
    assert_eq!(of_secret[KIND_AT..KIND_AT + 2], [0x03, 0xc0]);
    assert_eq!(Elsewhere::from_bytes(&(), &of_secret).expect("its own bytes"), secret);
    assert!(Elsewhere::<true>::KIND.is_secret() && !Elsewhere::<false>::KIND.is_secret());

    let refused = Elsewhere::<true>::from_bytes(&(), &bytes).expect_err("another kind").to_string();
    for part in ["found object of another library (kind 0x8003)", "needed secret key of another library (kind 0xc003)"]
    {
        assert!(refused.contains(part), "{refused}");
    }
    let refused = Parameters::from_bytes(&(), &bytes).expect_err("another kind").to_string();
    assert!(refused.contains("found object of another library (kind 0x8003), needed parameters"), "{refused}");
}

#[test]
fn wrong_kinds_are_named() {
    let objects = objects(SecretDistribution::Ternary);
    let samples = samples(&objects, Form::Packed);
    for offered in &samples {
        for reader in samples.iter().filter(|reader| reader.kind != offered.kind) {
            match (reader.rewrite)(&offered.bytes, &Limits::default()) {
                Err(Error::WrongKind { found, needed }) => {
                    assert_eq!((found.as_str(), needed.as_str()), (offered.kind.name(), reader.kind.name()));
                }
                other => panic!("{} read as {}: {other:?}", offered.name, reader.name),
            }
        }
    }
    let error = EvaluationKeys::from_bytes(&objects.context, &find(&samples, "secret_key").bytes).err();
    let text = error.expect("not evaluation keys").to_string();
    assert!(text.contains("found secret key, needed evaluation keys"), "{text}");
}

#[test]
fn headers_with_unknown_fields_are_refused() {
    let objects = objects(SecretDistribution::Ternary);
    for sample in samples(&objects, Form::Packed) {
        assert_eq!(reason(&sample, 0, b"\x88"), Reason::Magic);
        // The signature after a text filter.
        assert_eq!(reason(&sample, 6, b"\n\n"), Reason::Magic);
        for version in [0, 3, u16::MAX] {
            let needed = Reason::Version { found: version, needed: 2 };
            assert_eq!(reason(&sample, VERSION_AT, &version.to_le_bytes()), needed);
        }
        for code in [0, 0x00ff, 0x7fff_u16] {
            assert_eq!(reason(&sample, KIND_AT, &code.to_le_bytes()), Reason::UnknownKind { found: code });
        }
        for (field, at) in [("the word of flags", FLAGS_AT), ("the reserved word", RESERVED_AT)] {
            for bit in 0..32 {
                let found = 1u64 << bit;
                assert_eq!(
                    reason(&sample, at, &(found as u32).to_le_bytes()),
                    Reason::Field { field, found, needed: 0 }
                );
            }
        }
    }
}

#[test]
fn other_parameters_are_named_by_their_fingerprints() {
    let objects = objects(SecretDistribution::Ternary);
    let sparse = parameters(SecretDistribution::SparseTernary(3));
    let other = Context::with_threads(sparse.clone(), Some(1)).expect("a tiny ring");
    let bytes = objects.fresh.to_bytes(&objects.context, Form::Packed);
    let Err(Error::ParameterMismatch { left, right, what }) = Ciphertext::from_bytes(&other, &bytes) else {
        panic!("a ciphertext of other parameters was accepted")
    };
    let hex =
        |parameters: &Parameters| format!("{:02x}{:02x}", parameters.fingerprint()[0], parameters.fingerprint()[1]);
    assert!(left.starts_with(&hex(&sparse)) && right.starts_with(&hex(objects.context.parameters())));
    assert_eq!(what, "ciphertext");
    // Parameters bring their own fingerprint, which must be right.
    let all = samples(&objects, Form::Packed);
    assert_eq!(reason(find(&all, "parameters"), FINGERPRINT_AT, &[0]), Reason::Fingerprint);
}

#[test]
fn lengths_that_are_only_claimed_are_refused() {
    let objects = objects(SecretDistribution::Ternary);
    for sample in samples(&objects, Form::Raw) {
        for claim in [0, 1 << 60, u64::MAX, u64::MAX - 63] {
            let needed = Reason::Length { found: sample.bytes.len() as u64, needed: claim };
            assert_eq!(reason(&sample, LENGTH_AT, &claim.to_le_bytes()), needed);
            assert!(matches!(reason(&sample, entry(0, OFFSET), &claim.to_le_bytes()), Reason::Offset { .. }));
        }
        for claim in [1 << 60, u64::MAX, u64::MAX - 63, i64::MAX as u64] {
            assert!(matches!(reason(&sample, entry(0, LENGTH), &claim.to_le_bytes()), Reason::Limit { .. }));
        }
        for claim in [MAX_SECTIONS + 1, u32::MAX] {
            let needed = Reason::Limit { what: "sections", found: claim.into(), limit: MAX_SECTIONS.into() };
            assert_eq!(reason(&sample, SECTIONS_AT, &claim.to_le_bytes()), needed);
        }
        // A table of contents that is longer than the whole.
        assert!(matches!(reason(&sample, SECTIONS_AT, &MAX_SECTIONS.to_le_bytes()), Reason::Length { .. }));
    }
    let all = samples(&objects, Form::Raw);
    let plaintext = find(&all, "plaintext");
    for (first, limbs) in [(1u64, 0u64), (0, 129), (1, 128), (u32::MAX.into(), u32::MAX.into()), (1, 1 << 31)] {
        let detail = first | limbs << 32;
        assert!(matches!(reason(plaintext, entry(0, DETAIL), &detail.to_le_bytes()), Reason::Value { .. }));
    }
    // Within the limits of the format, but not limbs of these parameters, or more than there are bytes.
    for (first, limbs) in [(0u64, 2u64), (1, 3), (2, 1), (1, 1)] {
        let detail = first | limbs << 32;
        let found = reason(plaintext, entry(0, DETAIL), &detail.to_le_bytes());
        assert!(matches!(found, Reason::Value { .. } | Reason::SectionLength { .. }), "{found}");
    }
}

#[test]
fn sections_that_are_not_where_they_must_be_are_refused() {
    let objects = objects(SecretDistribution::Ternary);
    let all = samples(&objects, Form::Raw);
    let keys = find(&all, "evaluation_keys");
    assert!(matches!(reason(keys, entry(0, ITEM), &[1]), Reason::Order { .. }), "items begin at 0");
    assert!(matches!(reason(keys, entry(2, TAG), &[0]), Reason::Order { .. }), "tags ascend");
    let twice = keys.bytes[entry(0, 0)..entry(0, ENCODING)].to_vec();
    assert!(matches!(reason(keys, entry(1, 0), &twice), Reason::Order { .. }), "no section twice");
    let last = (section_count(&keys.bytes) - 1) as usize;
    assert!(matches!(reason(keys, entry(last, ITEM), &[9]), Reason::Order { .. }), "items have no gap");
    let overlapping = section(&keys.bytes, 1) as u64 - 64;
    assert!(matches!(reason(keys, entry(1, OFFSET), &overlapping.to_le_bytes()), Reason::Offset { .. }), "no overlap");
    assert!(matches!(reason(keys, entry(0, ENCODING), &[5, 0]), Reason::Encoding { .. }), "unknown encoding");
    assert!(matches!(reason(keys, entry(1, ENCODING), &[0, 0]), Reason::Encoding { .. }), "bytes for words");
    assert!(matches!(reason(keys, entry(4, ENCODING), &[3, 0]), Reason::Encoding { .. }), "mixed forms");
    assert!(matches!(reason(keys, entry(0, DETAIL), &[1]), Reason::Value { .. }), "bytes have no detail");
    assert!(matches!(reason(keys, entry(3, TAG), &[0x11]), Reason::Missing { .. }), "a seed is needed");
    assert!(matches!(reason(keys, entry(1, LENGTH), &[16]), Reason::SectionLength { .. }), "one word");
    // Behind the 8 bytes of an exponent, and behind a table of contents with an even number of entries.
    let at = section(&keys.bytes, 1);
    assert_eq!(reason(keys, at + 8, &[1]), Reason::Padding { at: at as u64 + 8 });
    let secret = find(&all, "secret_key");
    assert_eq!(section_count(&secret.bytes), 2);
    let end = entry(2, 0);
    assert_eq!(reason(secret, end, &[1]), Reason::Padding { at: end as u64 });
}

#[test]
fn sections_that_nobody_takes_are_refused() {
    let objects = objects(SecretDistribution::Ternary);
    let mut writer = Writer::new(Kind::PLAINTEXT, objects.context.parameters().fingerprint(), Form::Packed);
    objects.plaintext.write(&objects.context, &mut writer);
    writer.bytes(0x7000, b"more".as_slice());
    let Err(Error::Wire { reason, .. }) = Plaintext::from_bytes(&objects.context, &writer.to_bytes()) else {
        panic!("a section without meaning was accepted")
    };
    assert!(matches!(reason, Reason::Unexpected { .. }));
}
