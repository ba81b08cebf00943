//! The wire format: what is written is read, byte for byte, and nothing else is.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use noren_math::prime::primes_below;
use noren_math::random::Seed;
use noren_rlwe::ciphertext::{Ciphertext, Plaintext};
use noren_rlwe::context::Context;
use noren_rlwe::decrypt::decrypt;
use noren_rlwe::encrypt::Encryptor;
use noren_rlwe::error::Error;
use noren_rlwe::keygen::{KeyGenerator, KeyRequest};
use noren_rlwe::keys::{EvaluationKeys, KeySwitchKey, PublicKey, SecretKey};
use noren_rlwe::multiply::tensor;
use noren_rlwe::parameters::{Parameters, ParametersSpec};
use noren_rlwe::security::{SecretDistribution, Security};
use noren_rlwe::wire::file::{self, Access};
use noren_rlwe::wire::header::{ENTRY_BYTES, HEADER_BYTES, Header, MAX_SECTIONS};
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::reader::{Limits, Reader};
use noren_rlwe::wire::reason::Reason;
use noren_rlwe::wire::writer::{Form, Writer};

const FORMS: [Form; 2] = [Form::Raw, Form::Packed];
const UNCHECKED: Limits = Limits {
    max_bytes: 1 << 30,
    check_digest: false,
};

/// Where fields stand in the header.
const VERSION_AT: usize = 8;
const KIND_AT: usize = 10;
const FLAGS_AT: usize = 12;
const LENGTH_AT: usize = 16;
const SECTIONS_AT: usize = 24;
const RESERVED_AT: usize = 28;
const FINGERPRINT_AT: usize = 32;
const DIGEST_AT: usize = 64;
/// Where fields stand in an entry of the table of contents.
const ITEM: usize = 0;
const TAG: usize = 4;
const ENCODING: usize = 6;
const OFFSET: usize = 8;
const LENGTH: usize = 16;
const DETAIL: usize = 24;

/// One object of each kind, of the smallest ring that has two digits.
struct Objects {
    context: Context,
    secret: SecretKey,
    public: PublicKey,
    switching: KeySwitchKey,
    evaluation: EvaluationKeys,
    plaintext: Plaintext,
    /// Fresh under the secret key: with a seed.
    seeded: Ciphertext,
    /// Fresh under the public key.
    fresh: Ciphertext,
    /// Of degree 2, at a lower level.
    product: Ciphertext,
}

fn parameters(secret: SecretDistribution) -> Parameters {
    let (q, p) = (
        primes_below(1 << 30, 32).take(2).collect(),
        primes_below(1 << 31, 32).take(1).collect(),
    );
    let spec = ParametersSpec {
        log_n: 4,
        q,
        p,
        secret,
        security: Security::None,
        ..ParametersSpec::default()
    };
    spec.build().expect("a tiny ring without security")
}

fn objects(distribution: SecretDistribution) -> Objects {
    let context = Context::with_threads(parameters(distribution), Some(1)).expect("a tiny ring");
    let generator = KeyGenerator::new(&context, Seed::from_bytes([1; 32]));
    let secret = generator.secret();
    let public = generator.public(&secret).expect("no security");
    let other = generator
        .ephemeral_secret("other", SecretDistribution::SparseTernary(4))
        .expect("4 of 16");
    let switching = generator
        .switching(&other, &secret, Some(1))
        .expect("no security");
    let request = KeyRequest {
        relinearization: Some(2),
        galois: vec![(5, 1), (31, 2)],
    };
    let evaluation = generator
        .evaluation_keys(&secret, &request, None)
        .expect("no security");
    let coefficients: Vec<i64> = (0..16).map(|i| (i - 8) << 20).collect();
    let encode = |limbs| {
        let ring = context.ring_q(limbs);
        Plaintext {
            poly: ring.ntt(ring.from_signed(&coefficients)),
        }
    };
    let encrypt = |encryptor: Result<Encryptor<'_>, Error>, limbs| {
        encryptor
            .and_then(|encryptor| encryptor.encrypt(&encode(limbs)))
            .expect("no security")
    };
    let seeded = encrypt(
        Encryptor::symmetric(&context, &secret, Seed::from_bytes([2; 32])),
        2,
    );
    let fresh = encrypt(
        Encryptor::public(&context, &public, Seed::from_bytes([3; 32])),
        2,
    );
    let low = encrypt(
        Encryptor::public(&context, &public, Seed::from_bytes([4; 32])),
        1,
    );
    let product = tensor(&context, &low, &low).expect("same level");
    let plaintext = encode(2);
    Objects {
        context,
        secret,
        public,
        switching,
        evaluation,
        plaintext,
        seeded,
        fresh,
        product,
    }
}

/// A way to read bytes as one kind of object, and to write it again in the form that it had.
type Rewrite = Box<dyn Fn(&[u8], &Limits) -> Result<Vec<u8>, Error>>;

/// The bytes of one object, and how to read them.
struct Sample {
    name: &'static str,
    kind: Kind,
    bytes: Vec<u8>,
    rewrite: Rewrite,
}

fn sample<T: Object>(name: &'static str, context: T::Context, object: &T, form: Form) -> Sample
where
    T::Context: 'static,
{
    let bytes = object.to_bytes(&context, form);
    let rewrite: Rewrite = Box::new(move |bytes, limits| {
        let object = T::from_bytes_within(&context, bytes, limits)?;
        let form = Reader::open(bytes, T::KIND, limits)?
            .form()
            .unwrap_or_default();
        Ok(object.to_bytes(&context, form))
    });
    Sample {
        name,
        kind: T::KIND,
        bytes,
        rewrite,
    }
}

fn samples(objects: &Objects, form: Form) -> Vec<Sample> {
    let context = || objects.context.clone();
    vec![
        sample("parameters", (), objects.context.parameters(), form),
        sample("secret_key", context(), &objects.secret, form),
        sample("public_key", context(), &objects.public, form),
        sample("key_switch_key", context(), &objects.switching, form),
        sample("evaluation_keys", context(), &objects.evaluation, form),
        sample("plaintext", context(), &objects.plaintext, form),
        sample("ciphertext_seeded", context(), &objects.seeded, form),
        sample("ciphertext_fresh", context(), &objects.fresh, form),
        sample("ciphertext_product", context(), &objects.product, form),
    ]
}

/// The bytes with some of them replaced and the digest made right again.
fn patched(bytes: &[u8], at: usize, new: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at..at + new.len()].copy_from_slice(new);
    sealed(bytes)
}

fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut hasher = blake3::Hasher::new();
    hasher
        .update(&bytes[..DIGEST_AT])
        .update(&bytes[HEADER_BYTES..]);
    bytes[DIGEST_AT..HEADER_BYTES].copy_from_slice(hasher.finalize().as_bytes());
    bytes
}

fn without_digest(bytes: &[u8]) -> Vec<u8> {
    [&bytes[..DIGEST_AT], &bytes[HEADER_BYTES..]].concat()
}

/// Why a sample with replaced bytes is refused.
fn reason(sample: &Sample, at: usize, new: &[u8]) -> Reason {
    reason_of(sample, &patched(&sample.bytes, at, new))
}

fn reason_of(sample: &Sample, bytes: &[u8]) -> Reason {
    match (sample.rewrite)(bytes, &Limits::default()) {
        Err(Error::Wire { reason, .. }) => reason,
        Err(other) => panic!("{}: {other}", sample.name),
        Ok(_) => panic!("{}: accepted", sample.name),
    }
}

/// Where a field of the n-th entry of the table of contents stands.
fn entry(n: usize, field: usize) -> usize {
    HEADER_BYTES + n * ENTRY_BYTES + field
}

/// Where the n-th section begins.
fn section(bytes: &[u8], n: usize) -> usize {
    let at = entry(n, OFFSET);
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes")) as usize
}

fn find<'a>(samples: &'a [Sample], name: &str) -> &'a Sample {
    samples
        .iter()
        .find(|sample| sample.name == name)
        .expect("a known name")
}

#[test]
fn every_object_comes_back_byte_for_byte() {
    let sparse = SecretDistribution::SparseTernary(5);
    for distribution in [
        SecretDistribution::Ternary,
        sparse,
        SecretDistribution::Gaussian,
    ] {
        let objects = objects(distribution);
        for form in FORMS {
            for sample in samples(&objects, form) {
                let again = (sample.rewrite)(&sample.bytes, &Limits::default());
                assert_eq!(
                    again.expect("just written"),
                    sample.bytes,
                    "{} {form:?} {distribution}",
                    sample.name
                );
                assert!(sample.bytes.len().is_multiple_of(64));
                let header = Header::parse(&sample.bytes).expect("just written");
                assert_eq!(
                    (header.kind, header.length),
                    (sample.kind, sample.bytes.len() as u64)
                );
                assert_eq!(
                    header.fingerprint,
                    objects.context.parameters().fingerprint()
                );
            }
        }
    }
}

#[test]
fn ciphertexts_keep_their_parts_and_seeds() {
    let objects = objects(SecretDistribution::Ternary);
    let context = &objects.context;
    for form in FORMS {
        for ciphertext in [&objects.seeded, &objects.fresh, &objects.product] {
            let bytes = ciphertext.to_bytes(context, form);
            let again = Ciphertext::from_bytes(context, &bytes).expect("just written");
            let ring = context.ring_q(ciphertext.limbs());
            assert_eq!(again.parts().len(), ciphertext.parts().len());
            for (left, right) in again.parts().iter().zip(ciphertext.parts()) {
                assert_eq!(ring.to_words(left), ring.to_words(right));
            }
            assert_eq!(
                again.seed().map(Seed::as_bytes),
                ciphertext.seed().map(Seed::as_bytes)
            );
        }
        // A section of 64 bytes with the seed stands for 2 limbs of 16 residues, of 64 or of 30 bits.
        let part = if form == Form::Raw {
            2 * 16 * 8
        } else {
            2 * 64
        };
        let (seeded, fresh) = (
            objects.seeded.to_bytes(context, form),
            objects.fresh.to_bytes(context, form),
        );
        assert_eq!(fresh.len() - seeded.len(), part - 64);
    }
}

#[test]
fn keys_that_were_read_decrypt_and_encrypt() {
    let objects = objects(SecretDistribution::Ternary);
    let context = &objects.context;
    let secret = SecretKey::from_bytes(context, &objects.secret.to_bytes(context, Form::Packed))
        .expect("just written");
    let public = PublicKey::from_bytes(context, &objects.public.to_bytes(context, Form::Packed))
        .expect("just written");
    let words = |ciphertext: &Ciphertext, key: &SecretKey| {
        context
            .ring_q(2)
            .to_words(&decrypt(context, key, ciphertext).expect("degree 1").poly)
    };
    assert_eq!(
        words(&objects.fresh, &secret),
        words(&objects.fresh, &objects.secret)
    );
    let encryptor =
        Encryptor::public(context, &public, Seed::from_bytes([3; 32])).expect("same parameters");
    let again = encryptor.encrypt(&objects.plaintext).expect("no security");
    assert_eq!(
        again.to_bytes(context, Form::Raw),
        objects.fresh.to_bytes(context, Form::Raw)
    );
}

#[test]
fn golden_bytes_are_unchanged() {
    // NOREN_REGENERATE_GOLDEN=1 cargo test -p noren-rlwe --test wire golden
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/wire");
    let objects = objects(SecretDistribution::Ternary);
    let regenerate = std::env::var_os("NOREN_REGENERATE_GOLDEN").is_some_and(|value| value == "1");
    for (form, suffix) in [(Form::Raw, "raw"), (Form::Packed, "packed")] {
        for sample in samples(&objects, form) {
            let path = directory.join(format!("{}.{suffix}.noren", sample.name));
            if regenerate {
                fs::create_dir_all(&directory).expect("a writable checkout");
                fs::write(&path, &sample.bytes).expect("a writable checkout");
            }
            let golden =
                fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert!(
                golden == sample.bytes,
                "{} has changed: old files can no longer be read",
                path.display()
            );
        }
    }
}

#[test]
fn every_truncation_and_every_tail_is_refused() {
    let objects = objects(SecretDistribution::Ternary);
    for sample in samples(&objects, Form::Packed) {
        for length in 0..sample.bytes.len() {
            let cut = &sample.bytes[..length];
            let limits = if length % 2 == 0 {
                Limits::default()
            } else {
                UNCHECKED
            };
            let error = (sample.rewrite)(cut, &limits).expect_err("truncated");
            assert!(
                matches!(error, Error::Wire { .. }),
                "{} cut to {length}: {error}",
                sample.name
            );
        }
        for tail in [1, 63, 64, 4096] {
            let longer = [sample.bytes.as_slice(), &vec![0; tail]].concat();
            let found = longer.len() as u64;
            let needed = Reason::Length {
                found,
                needed: sample.bytes.len() as u64,
            };
            assert_eq!(
                reason_of(&sample, &sealed(longer.clone())),
                needed,
                "{} with {tail} more",
                sample.name
            );
            // A header that admits to the tail is refused too.
            let honest = patched(&longer, LENGTH_AT, &found.to_le_bytes());
            assert!(
                matches!(reason_of(&sample, &honest), Reason::Length { .. }),
                "{}",
                sample.name
            );
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
                    assert!(
                        (sample.rewrite)(&bytes, &Limits::default()).is_err(),
                        "{} bit {bit} of {at}",
                        sample.name
                    );
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
                        assert!(
                            without_digest(&again) == without_digest(&bytes),
                            "{} bit {bit} of {at}",
                            sample.name
                        );
                    }
                    bytes[at] ^= 1 << bit;
                }
            }
            assert!(
                accepted > 0 || sample.kind == Kind::Parameters,
                "{}: some flips stay below the prime",
                sample.name
            );
        }
    }
}

#[test]
fn wrong_kinds_are_named() {
    let objects = objects(SecretDistribution::Ternary);
    let samples = samples(&objects, Form::Packed);
    for offered in &samples {
        for reader in samples.iter().filter(|reader| reader.kind != offered.kind) {
            match (reader.rewrite)(&offered.bytes, &Limits::default()) {
                Err(Error::WrongKind { found, needed }) => {
                    assert_eq!(
                        (found.as_str(), needed.as_str()),
                        (offered.kind.name(), reader.kind.name())
                    );
                }
                other => panic!("{} read as {}: {other:?}", offered.name, reader.name),
            }
        }
    }
    let error =
        EvaluationKeys::from_bytes(&objects.context, &find(&samples, "secret_key").bytes).err();
    let text = error.expect("not evaluation keys").to_string();
    assert!(
        text.contains("found secret key, needed evaluation keys"),
        "{text}"
    );
}

#[test]
fn kinds_have_distinct_numbers_and_names() {
    for (i, kind) in Kind::ALL.into_iter().enumerate() {
        assert_eq!(Kind::from_code(kind.code()), Some(kind));
        assert!(
            Kind::ALL[..i]
                .iter()
                .all(|other| other.code() < kind.code() && other.name() != kind.name())
        );
    }
    assert_eq!(Kind::from_code(0), None);
    assert!(
        Kind::ALL
            .into_iter()
            .all(|kind| kind.is_secret() == (kind == Kind::SecretKey))
    );
}

#[test]
fn headers_with_unknown_fields_are_refused() {
    let objects = objects(SecretDistribution::Ternary);
    for sample in samples(&objects, Form::Packed) {
        assert_eq!(reason(&sample, 0, b"\x88"), Reason::Magic);
        // What a text filter makes of the signature.
        assert_eq!(reason(&sample, 6, b"\n\n"), Reason::Magic);
        for version in [0, 2, u16::MAX] {
            let needed = Reason::Version {
                found: version,
                needed: 1,
            };
            assert_eq!(reason(&sample, VERSION_AT, &version.to_le_bytes()), needed);
        }
        for code in [0, 0x00ff, u16::MAX] {
            assert_eq!(
                reason(&sample, KIND_AT, &code.to_le_bytes()),
                Reason::UnknownKind { found: code }
            );
        }
        for (field, at) in [
            ("the word of flags", FLAGS_AT),
            ("the reserved word", RESERVED_AT),
        ] {
            for bit in 0..32 {
                let found = 1u64 << bit;
                assert_eq!(
                    reason(&sample, at, &(found as u32).to_le_bytes()),
                    Reason::Field {
                        field,
                        found,
                        needed: 0
                    }
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
    let Err(Error::ParameterMismatch { left, right, what }) =
        Ciphertext::from_bytes(&other, &bytes)
    else {
        panic!("a ciphertext of other parameters was accepted")
    };
    let hex = |parameters: &Parameters| {
        format!(
            "{:02x}{:02x}",
            parameters.fingerprint()[0],
            parameters.fingerprint()[1]
        )
    };
    assert!(
        left.starts_with(&hex(&sparse)) && right.starts_with(&hex(objects.context.parameters()))
    );
    assert_eq!(what, "ciphertext");
    // Parameters bring their own fingerprint, which must be right.
    let all = samples(&objects, Form::Packed);
    assert_eq!(
        reason(find(&all, "parameters"), FINGERPRINT_AT, &[0]),
        Reason::Fingerprint
    );
}

#[test]
fn lengths_that_are_only_claimed_are_refused() {
    let objects = objects(SecretDistribution::Ternary);
    for sample in samples(&objects, Form::Raw) {
        for claim in [0, 1 << 60, u64::MAX, u64::MAX - 63] {
            let needed = Reason::Length {
                found: sample.bytes.len() as u64,
                needed: claim,
            };
            assert_eq!(reason(&sample, LENGTH_AT, &claim.to_le_bytes()), needed);
            assert!(matches!(
                reason(&sample, entry(0, OFFSET), &claim.to_le_bytes()),
                Reason::Offset { .. }
            ));
        }
        for claim in [1 << 60, u64::MAX, u64::MAX - 63, i64::MAX as u64] {
            assert!(matches!(
                reason(&sample, entry(0, LENGTH), &claim.to_le_bytes()),
                Reason::Limit { .. }
            ));
        }
        for claim in [MAX_SECTIONS + 1, u32::MAX] {
            let needed = Reason::Limit {
                what: "sections",
                found: claim.into(),
                limit: MAX_SECTIONS.into(),
            };
            assert_eq!(reason(&sample, SECTIONS_AT, &claim.to_le_bytes()), needed);
        }
        // A table of contents that is longer than the whole.
        assert!(matches!(
            reason(&sample, SECTIONS_AT, &MAX_SECTIONS.to_le_bytes()),
            Reason::Length { .. }
        ));
    }
    let all = samples(&objects, Form::Raw);
    let plaintext = find(&all, "plaintext");
    for (first, limbs) in [
        (1u64, 0u64),
        (0, 129),
        (1, 128),
        (u32::MAX.into(), u32::MAX.into()),
        (1, 1 << 31),
    ] {
        let detail = first | limbs << 32;
        assert!(matches!(
            reason(plaintext, entry(0, DETAIL), &detail.to_le_bytes()),
            Reason::Value { .. }
        ));
    }
    // Within the limits of the format, but not limbs of these parameters, or more than there are bytes.
    for (first, limbs) in [(0u64, 2u64), (1, 3), (2, 1), (1, 1)] {
        let detail = first | limbs << 32;
        let found = reason(plaintext, entry(0, DETAIL), &detail.to_le_bytes());
        assert!(
            matches!(found, Reason::Value { .. } | Reason::SectionLength { .. }),
            "{found}"
        );
    }
}

#[test]
fn sections_that_are_not_where_they_must_be_are_refused() {
    let objects = objects(SecretDistribution::Ternary);
    let all = samples(&objects, Form::Raw);
    let keys = find(&all, "evaluation_keys");
    assert!(
        matches!(reason(keys, entry(0, ITEM), &[1]), Reason::Order { .. }),
        "items begin at 0"
    );
    assert!(
        matches!(reason(keys, entry(2, TAG), &[0]), Reason::Order { .. }),
        "tags ascend"
    );
    let twice = keys.bytes[entry(0, 0)..entry(0, ENCODING)].to_vec();
    assert!(
        matches!(reason(keys, entry(1, 0), &twice), Reason::Order { .. }),
        "no section twice"
    );
    let last = (section_count(&keys.bytes) - 1) as usize;
    assert!(
        matches!(reason(keys, entry(last, ITEM), &[9]), Reason::Order { .. }),
        "items have no gap"
    );
    let overlapping = section(&keys.bytes, 1) as u64 - 64;
    assert!(
        matches!(
            reason(keys, entry(1, OFFSET), &overlapping.to_le_bytes()),
            Reason::Offset { .. }
        ),
        "no overlap"
    );
    assert!(
        matches!(
            reason(keys, entry(0, ENCODING), &[5, 0]),
            Reason::Encoding { .. }
        ),
        "unknown encoding"
    );
    assert!(
        matches!(
            reason(keys, entry(0, ENCODING), &[0, 0]),
            Reason::Encoding { .. }
        ),
        "bytes for words"
    );
    assert!(
        matches!(
            reason(keys, entry(2, ENCODING), &[3, 0]),
            Reason::Encoding { .. }
        ),
        "mixed forms"
    );
    assert!(
        matches!(reason(keys, entry(1, DETAIL), &[1]), Reason::Value { .. }),
        "bytes have no detail"
    );
    assert!(
        matches!(reason(keys, entry(1, TAG), &[0x11]), Reason::Missing { .. }),
        "a seed is needed"
    );
    assert!(
        matches!(
            reason(keys, entry(0, LENGTH), &[16]),
            Reason::SectionLength { .. }
        ),
        "one word"
    );
    // Behind the 8 bytes of the first section, and behind a table of contents with an even number of entries.
    let at = section(&keys.bytes, 0);
    assert_eq!(
        reason(keys, at + 8, &[1]),
        Reason::Padding { at: at as u64 + 8 }
    );
    let secret = find(&all, "secret_key");
    assert_eq!(section_count(&secret.bytes), 2);
    let end = entry(2, 0);
    assert_eq!(
        reason(secret, end, &[1]),
        Reason::Padding { at: end as u64 }
    );
}

fn section_count(bytes: &[u8]) -> u32 {
    Header::parse(bytes).expect("a sample").sections
}

#[test]
fn sections_that_nobody_takes_are_refused() {
    let objects = objects(SecretDistribution::Ternary);
    let mut writer = Writer::new(
        Kind::Plaintext,
        objects.context.parameters().fingerprint(),
        Form::Packed,
    );
    objects.plaintext.write(&objects.context, &mut writer);
    writer.bytes(0x7000, b"more".as_slice());
    let Err(Error::Wire { reason, .. }) =
        Plaintext::from_bytes(&objects.context, &writer.to_bytes())
    else {
        panic!("a section without meaning was accepted")
    };
    assert!(matches!(reason, Reason::Unexpected { .. }));
}

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
            let Reason::Residue {
                limb: named,
                index: 3,
                value: shown,
                prime: bound,
                ..
            } = found
            else {
                panic!("{found}")
            };
            // The whole ring has one special prime first.
            assert_eq!((named, shown, bound), (limb + 1, value, prime));
        }
        let largest = patched(
            &plaintext.bytes,
            at + 16 * 8 * limb,
            &(prime - 1).to_le_bytes(),
        );
        assert_eq!(
            (plaintext.rewrite)(&largest, &Limits::default()).expect("below the prime"),
            largest
        );
    }
    // All ones are 2^30 - 1 in each field of 30 bits, and no prime is that large.
    let packed = samples(&objects, Form::Packed);
    let plaintext = find(&packed, "plaintext");
    let found = reason(plaintext, section(&plaintext.bytes, 0), &[0xff; 8]);
    assert!(
        matches!(
            found,
            Reason::Residue {
                limb: 1,
                index: 0,
                ..
            }
        ),
        "{found}"
    );
    // 16 * 30 bits end at bit 32 of the eighth word.
    let found = reason(plaintext, section(&plaintext.bytes, 0) + 60, &[1]);
    assert!(matches!(found, Reason::Bits { .. }), "{found}");
}

#[test]
fn secret_coefficients_outside_their_distribution_are_refused() {
    for distribution in [
        SecretDistribution::Ternary,
        SecretDistribution::SparseTernary(5),
        SecretDistribution::Gaussian,
    ] {
        let objects = objects(distribution);
        let all = samples(&objects, Form::Packed);
        let key = find(&all, "secret_key");
        let coefficients = section(&key.bytes, 1);
        // -2 in two bits; -64 in seven.
        let (lowest, bits) = if distribution == SecretDistribution::Gaussian {
            (0x40, 7)
        } else {
            (0b10, 2)
        };
        let first = key.bytes[coefficients] & !((1u8 << bits) - 1);
        assert!(
            matches!(
                reason(key, coefficients, &[first | lowest]),
                Reason::Value { .. }
            ),
            "{distribution}"
        );
        // Another distribution has another width, or another weight.
        let own = match distribution {
            SecretDistribution::Ternary => [0, 0],
            SecretDistribution::SparseTernary(weight) => [1, weight as u64],
            SecretDistribution::Gaussian => [2, 0],
        };
        for other in [
            [0u64, 0],
            [1, 1],
            [1, 6],
            [2, 0],
            [0, 5],
            [2, 5],
            [3, 0],
            [1, u64::MAX],
        ] {
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
fn parameters_are_checked_again() {
    let objects = objects(SecretDistribution::Ternary);
    let all = samples(&objects, Form::Packed);
    let sample = find(&all, "parameters");
    let shape = section(&sample.bytes, 0);
    // log n, digits (0 would leave them open), secret, weight, security.
    for (word, value) in [
        (0, 18),
        (0, 64),
        (0, u64::MAX),
        (1, 0),
        (2, 3),
        (3, 1),
        (4, 1),
        (4, 129),
    ] {
        let bytes = patched(&sample.bytes, shape + 8 * word, &u64::to_le_bytes(value));
        assert!(
            (sample.rewrite)(&bytes, &Limits::default()).is_err(),
            "word {word} = {value}"
        );
    }
    // 2^30 - 1 is no prime; 128-bit security does not hold for degree 16.
    let bytes = patched(
        &sample.bytes,
        section(&sample.bytes, 1),
        &((1u64 << 30) - 1).to_le_bytes(),
    );
    assert!(matches!(
        (sample.rewrite)(&bytes, &Limits::default()),
        Err(Error::Math(_))
    ));
    let bytes = patched(&sample.bytes, shape + 8 * 4, &128u64.to_le_bytes());
    assert!(matches!(
        (sample.rewrite)(&bytes, &Limits::default()),
        Err(Error::Insecure { .. })
    ));
}

#[test]
fn containers_can_be_listed_without_knowing_their_kind() {
    let objects = objects(SecretDistribution::Ternary);
    let bytes = objects.evaluation.to_bytes(&objects.context, Form::Packed);
    let reader = Reader::open_any(&bytes, &Limits::default()).expect("just written");
    assert_eq!(
        (reader.header().kind, reader.form()),
        (Kind::EvaluationKeys, Some(Form::Packed))
    );
    // Relinearisation, X -> X^5 and X -> X^31, each with its exponent, seed and digits.
    assert_eq!(
        reader.sections().last().map(|section| section.place().item),
        Some(2)
    );
    let elements: Vec<u64> = reader
        .sections()
        .iter()
        .filter_map(|section| section.words().ok())
        .flat_map(|w| w.iter())
        .collect();
    assert_eq!(elements, [0, 5, 31]);
    assert!(
        !format!("{reader:?}").contains("bytes: ["),
        "contents are not shown"
    );
}

#[test]
fn an_empty_set_of_keys_comes_back() {
    let context = objects(SecretDistribution::Ternary).context;
    let empty = EvaluationKeys::new(context.parameters());
    let bytes = empty.to_bytes(&context, Form::Packed);
    let again = EvaluationKeys::from_bytes(&context, &bytes).expect("just written");
    assert!(!again.has_relinearization() && again.automorphisms().len() == 0);
    assert_eq!(bytes.len(), 128, "a header, filled up");
}

/// A directory of its own for each test, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("noren-wire-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a writable temporary directory");
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0)
            .expect("it exists")
            .map(|entry| entry.expect("readable").file_name());
        let mut names: Vec<String> = entries
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).expect("still there");
    }
}

#[test]
fn files_come_back_and_hold_the_same_bytes() {
    let scratch = Scratch::new("round");
    let objects = objects(SecretDistribution::Ternary);
    for form in FORMS {
        let path = scratch.path("keys");
        objects
            .evaluation
            .write_file(&objects.context, form, &path)
            .expect("writable");
        let bytes = objects.evaluation.to_bytes(&objects.context, form);
        assert_eq!(fs::read(&path).expect("written"), bytes);
        let again = EvaluationKeys::read_file(&objects.context, &path, &Limits::default())
            .expect("written");
        assert_eq!(again.to_bytes(&objects.context, form), bytes);
        let small = Limits {
            max_bytes: bytes.len() as u64 - 1,
            ..Limits::default()
        };
        let error = EvaluationKeys::read_file(&objects.context, &path, &small)
            .err()
            .expect("too large");
        assert!(
            error.to_string().contains("keys: ") && error.to_string().contains("at most"),
            "{error}"
        );
    }
    assert_eq!(scratch.names(), ["keys"]);
}

#[cfg(unix)]
#[test]
fn secret_files_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new("mode");
    let objects = objects(SecretDistribution::Ternary);
    let path = scratch.path("secret");
    let mode = |path: &Path| fs::metadata(path).expect("written").permissions().mode() & 0o777;
    // Also where a file that everybody may read was there before.
    fs::write(&path, b"old").expect("writable");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).expect("own file");
    objects
        .secret
        .write_file(&objects.context, Form::Packed, &path)
        .expect("writable");
    assert_eq!(mode(&path), 0o600);
    let again = SecretKey::read_file(&objects.context, &path, &Limits::default()).expect("written");
    let bytes = objects.secret.to_bytes(&objects.context, Form::Packed);
    assert!(again.to_bytes(&objects.context, Form::Packed) == bytes);
    // From its first moment on.
    file::write_atomically(&path, Access::Owner, |_| {
        let names = scratch.names();
        let temporary = names
            .iter()
            .find(|name| name.ends_with(".tmp"))
            .expect("being written");
        assert_eq!(mode(&scratch.path(temporary)), 0o600);
        Ok(())
    })
    .expect("writable");
}

#[test]
fn failed_writes_leave_the_old_file_and_nothing_else() {
    let scratch = Scratch::new("failed");
    let path = scratch.path("file");
    fs::write(&path, b"old").expect("writable");
    let full = |file: &mut File| {
        file.write_all(b"part of the new")?;
        Err(io::Error::from(io::ErrorKind::StorageFull))
    };
    let Err(Error::Io {
        path: named,
        source,
    }) = file::write_atomically(&path, Access::Default, full)
    else {
        panic!("the failure was passed over")
    };
    assert_eq!(
        (named.as_path(), source.kind()),
        (path.as_path(), io::ErrorKind::StorageFull)
    );
    let panicked = std::panic::catch_unwind(|| {
        file::write_atomically(&path, Access::Default, |_| panic!("in the middle"))
            .expect("never reached");
    });
    assert!(panicked.is_err());
    assert_eq!(
        (fs::read(&path).expect("kept"), scratch.names()),
        (b"old".to_vec(), vec!["file".to_owned()])
    );
    // Directories cannot be replaced, and a missing one is not made.
    fs::create_dir(scratch.path("directory")).expect("writable");
    for target in [
        scratch.path("directory"),
        scratch.path("missing/file"),
        scratch.path(".."),
    ] {
        let refused = file::write_atomically(&target, Access::Default, |_| Ok(()));
        assert!(matches!(refused, Err(Error::Io { path, .. }) if path == target));
    }
    assert_eq!(scratch.names(), ["directory", "file"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_of_the_operating_system() {
    let scratch = Scratch::new("full");
    let objects = objects(SecretDistribution::Ternary);
    let path = scratch.path("file");
    fs::write(&path, b"old").expect("writable");
    let refused = file::write_atomically(&path, Access::Default, |_| {
        let mut full = File::options().write(true).open("/dev/full")?;
        objects
            .evaluation
            .writer(&objects.context, Form::Raw)
            .write_to(&mut full)
    });
    assert!(
        matches!(refused, Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::StorageFull)
    );
    assert_eq!(
        (fs::read(&path).expect("kept"), scratch.names()),
        (b"old".to_vec(), vec!["file".to_owned()])
    );
    // A device is never replaced by a file.
    let refused =
        objects
            .evaluation
            .write_file(&objects.context, Form::Raw, Path::new("/dev/null"));
    assert!(matches!(refused, Err(Error::Io { .. })));
    assert!(!fs::metadata("/dev/null").expect("still there").is_file());
}

#[cfg(unix)]
#[test]
fn links_stay_and_what_they_point_to_is_replaced() {
    let scratch = Scratch::new("links");
    fs::write(scratch.path("file"), b"old").expect("writable");
    std::os::unix::fs::symlink("file", scratch.path("link")).expect("writable");
    file::write_atomically(&scratch.path("link"), Access::Default, |file| {
        file.write_all(b"new")
    })
    .expect("writable");
    assert_eq!(fs::read(scratch.path("file")).expect("there"), b"new");
    assert!(
        fs::symlink_metadata(scratch.path("link"))
            .expect("there")
            .is_symlink()
    );
}

#[test]
fn unreadable_files_are_named() {
    let scratch = Scratch::new("unreadable");
    let context = objects(SecretDistribution::Ternary).context;
    for path in [scratch.path("missing"), scratch.0.clone()] {
        match Ciphertext::read_file(&context, &path, &Limits::default()) {
            Err(Error::Io { path: named, .. }) => assert_eq!(named, path),
            _ => panic!("{} was read", path.display()),
        }
    }
}
