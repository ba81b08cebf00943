//! Keys of lookups in files: they come back as they were made, and nothing else is taken for them.

use noren::bfv::{Context, KeyRequest, ParametersSpec};
use noren::error::Error;
use noren::lookup::{LookupKeyFile, LookupPlan, Role};
use noren::wire::{Form, Limits, Object};
use noren::{Resources, SecretKey, Security};

use crate::small::seed;

fn spec() -> ParametersSpec {
    ParametersSpec {
        log_n: 5,
        plaintext_modulus: 193,
        log_q: vec![40; 13],
        log_p: vec![40; 2],
        security: Security::None,
        ..ParametersSpec::default()
    }
}

fn setup() -> (Context, SecretKey) {
    let context = Context::new(spec().build().expect("supported")).expect("rings");
    let secret = context.generate_keys(seed(1), &KeyRequest::default()).expect("keys").secret;
    (context, secret)
}

fn keys(domain: [usize; 2]) -> LookupKeyFile {
    let (context, secret) = setup();
    let plan = LookupPlan::new(context.parameters(), domain).expect("room for it");
    LookupKeyFile::generate(&context, &plan, &secret, seed(2), None).expect("no security asked for")
}

#[test]
fn keys_of_lookups_come_back_as_they_were_made() {
    for domain in [[4, 4], [16, 3], [32, 32], [193, 40]] {
        let file = keys(domain);
        for form in [Form::Raw, Form::Packed] {
            let bytes = file.to_bytes(&(), form);
            let again = LookupKeyFile::from_bytes(&(), &bytes).unwrap();
            assert_eq!(again.plan.layout(), file.plan.layout());
            assert_eq!(again.keys.bytes(), file.keys.bytes());
            assert!(again.to_bytes(&(), form) == bytes);
            // Their own plan is served; so are functions of fewer numbers with the same layout.
            again.check(&file.plan).unwrap();
        }
        let parameters = file.context.parameters();
        let sizes = file.plan.keys();
        let evaluation = sizes.iter().filter(|class| !matches!(class.role, Role::Public | Role::Relinearization));
        assert_eq!(evaluation.map(|class| class.bytes()).sum::<u64>(), file.keys.bytes(), "{domain:?}");
        assert!(parameters.rlwe().p().len() == 2 && file.plan.key_bytes() > file.keys.bytes());
        let (planned, found) = (file.plan.key_disk_bytes(), file.to_bytes(&(), Form::Packed).len() as u64);
        // Frames of sections outweigh keys of degree 32: 95 bytes each, at most 15 of a key.
        let keys = sizes.iter().map(|class| class.count as u64).sum::<u64>();
        assert!(planned <= found && found <= planned + 95 * 16 * (keys + 2), "{planned}, {found}");
    }
}

#[test]
fn functions_of_other_plans_are_refused_by_name() {
    let small = keys([2, 2]);
    let large = LookupPlan::new(small.context.parameters(), [32, 32]).unwrap();
    let message = small.check(&large).unwrap_err().to_string();
    assert!(message.contains("rotation by") || message.contains("shape"), "{message}");
    let linear = LookupPlan::linear(small.context.parameters(), [4, 4]).unwrap();
    let (context, secret) = setup();
    let refused = LookupKeyFile::generate(&context, &linear, &secret, seed(2), None).err();
    assert!(matches!(refused, Some(Error::Parameters { name: "method", .. })));
}

#[test]
fn bytes_that_are_no_keys_of_lookups_are_refused() {
    let file = keys([2, 2]);
    let bytes = file.to_bytes(&(), Form::Packed);
    for length in (0..bytes.len()).step_by(997) {
        assert!(LookupKeyFile::from_bytes(&(), &bytes[..length]).is_err(), "{length} bytes");
    }
    let limits = Limits { check_digest: false, ..Limits::default() };
    // The words of the domain, behind those of the parameters.
    let words: Vec<u8> = [2u64, 2, file.plan.layout().babies() as u64].iter().flat_map(|x| x.to_le_bytes()).collect();
    let at = bytes.windows(words.len()).position(|window| window == words).expect("the domain is written");
    for (index, value) in [(0, 0), (0, 194), (1, u64::MAX), (2, 0), (2, 3), (0, 32)] {
        let mut changed = bytes.clone();
        changed[at + 8 * index..][..8].copy_from_slice(&u64::to_le_bytes(value));
        assert!(LookupKeyFile::from_bytes_within(&(), &changed, &limits).is_err(), "word {index} is {value}");
    }
    let (context, secret) = setup();
    let other = noren::bfv::KeyFile { context, key: secret }.to_bytes(&(), Form::Packed);
    assert!(matches!(LookupKeyFile::from_bytes(&(), &other), Err(Error::WrongKind { .. })));
}

#[test]
fn changed_bytes_are_refused_or_are_those_of_other_keys() {
    /// Where the digest of a container stands.
    const DIGEST: std::ops::Range<usize> = 64..96;
    let bytes = keys([2, 2]).to_bytes(&(), Form::Packed);
    let limits = Limits { check_digest: false, ..Limits::default() };
    let mut read = 0;
    for at in (0..bytes.len()).step_by(127).chain(0..1024).filter(|at| !DIGEST.contains(at)) {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        if let Ok(other) = LookupKeyFile::from_bytes_within(&(), &changed, &limits) {
            read += 1;
            let again = other.to_bytes(&(), Form::Packed);
            assert!(again[..DIGEST.start] == changed[..DIGEST.start] && again[DIGEST.end..] == changed[DIGEST.end..]);
        }
    }
    // Residues and seeds are only numbers.
    assert!(read > 0);
}

#[test]
fn lookups_without_memory_are_refused_with_both_numbers() {
    let (context, _) = setup();
    let plan = LookupPlan::new(context.parameters(), [32, 32]).unwrap();
    let needed = plan.key_bytes() + plan.working_bytes(3);
    assert_eq!(plan.working_bytes(3), 3 * plan.working_bytes(1));
    let check = |memory| plan.check_evaluation(3, &Resources { memory: Some(memory), disk: None });
    assert!(check(needed).is_ok());
    assert!(matches!(check(needed - 1), Err(Error::Resources { needed: found, .. }) if found == needed));
}

#[test]
fn keys_of_two_secrets_are_refused() {
    let own = keys([4, 4]);
    let stranger = own.context.generate_keys(seed(3), &KeyRequest::default()).expect("keys").secret;
    let other = LookupKeyFile::generate(&own.context, &own.plan, &stranger, seed(2), None).expect("no security");
    assert_ne!(own.owner(), other.owner());
    let mixed = LookupKeyFile { evaluation: other.evaluation.clone(), ..own };
    let refused = LookupKeyFile::from_bytes(&(), &mixed.to_bytes(&(), Form::Packed));
    assert!(matches!(refused, Err(Error::KeyMismatch { .. })));
}
