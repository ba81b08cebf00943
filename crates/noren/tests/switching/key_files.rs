//! Files of scheme switching keys: they give all parameters again, and other bytes are refused by name.

use noren::bootstrapping::Preset;
use noren::error::Error;
use noren::switching::{Context, KeyFile, Parameters};
use noren::tfhe;
use noren::wire::{Form, Kind, Object, Reason};
use noren::{ckks, switching};

use crate::world::seed;

/// Keys of the toy parameters.
fn toy() -> KeyFile {
    let bootstrapping = Preset::Toy.parameters().expect("parameters");
    let tfhe = tfhe::Preset::named("TOY_SWITCH").and_then(tfhe::Preset::parameters).expect("a set");
    let parameters = Parameters::new(&bootstrapping, &tfhe).expect("parameters that suit each other");
    let ckks = ckks::Context::with_threads(parameters.ckks().clone(), Some(1)).expect("rings");
    let torus = tfhe::Context::with_threads(tfhe, Some(1)).expect("transforms");
    let context = Context::new(&parameters, &ckks, &torus).expect("a context");
    let keys = ckks.generate_keys(seed(1), &ckks::KeyRequest::default()).expect("keys");
    KeyFile::generate(&context, &keys.secret, &torus.secret_key(&seed(3)), &seed(4)).expect("keys")
}

/// Where the fingerprint and the digest are in a container.
const FINGERPRINT: usize = 32;
const DIGEST: std::ops::Range<usize> = 64..96;

/// The same file with the digest of what it holds.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&bytes[..DIGEST.start]).update(&bytes[DIGEST.end..]);
    bytes[DIGEST].copy_from_slice(hasher.finalize().as_bytes());
    bytes
}

#[test]
fn a_file_gives_keys_and_all_parameters_again() {
    let file = toy();
    for form in [Form::Raw, Form::Packed] {
        let bytes = file.to_bytes(&(), form);
        let again = KeyFile::from_bytes(&(), &bytes).expect("the same bytes");
        assert_eq!(again.parameters.bootstrapping(), file.parameters.bootstrapping());
        assert_eq!(again.parameters.tfhe().spec(), file.parameters.tfhe().spec());
        assert_eq!(again.parameters.switch().spec(), file.parameters.switch().spec());
        assert_eq!(again.parameters.fingerprint(), file.parameters.fingerprint());
        assert_eq!(again.keys.torus_owner(), file.keys.torus_owner());
        assert_eq!(again.keys.rlwe_owner(), file.keys.rlwe_owner());
        assert_eq!(again.to_bytes(&(), form), bytes);
    }
}

#[test]
fn damaged_and_shortened_bytes_are_refused() {
    let bytes = toy().to_bytes(&(), Form::Packed);
    for length in (0..200).chain((200..bytes.len()).step_by(bytes.len() / 50)) {
        assert!(KeyFile::from_bytes(&(), &bytes[..length]).is_err(), "{length} bytes");
    }
    for place in (0..400).chain((400..bytes.len()).step_by(bytes.len() / 50)) {
        let mut changed = bytes.clone();
        changed[place] ^= 1;
        assert!(KeyFile::from_bytes(&(), &changed).is_err(), "byte {place}");
    }
    // With the right digest, some changes give other keys, which fit the parameters; none panics.
    for place in (8..DIGEST.start).chain(DIGEST.end..2000) {
        let mut changed = bytes.clone();
        changed[place] ^= 1;
        let _ = KeyFile::from_bytes(&(), &sealed(changed));
    }
}

#[test]
fn other_kinds_and_foreign_parameters_are_named() {
    let file = toy();
    let refused = |bytes: &[u8]| KeyFile::from_bytes(&(), bytes).err().expect("other bytes");
    let both = (file.context.rlwe().clone(), file.parameters.tfhe().torus().clone());
    assert!(matches!(refused(&file.keys.to_bytes(&both, Form::Raw)), Error::WrongKind { .. }));

    // Parameters of TFHE that the keys are not of.
    let other = tfhe::Preset::named("TOY_2_2").and_then(tfhe::Preset::parameters).expect("a set");
    assert!(Parameters::new(file.parameters.bootstrapping(), &other).is_err(), "several polynomials in the mask");
    let spec = file.parameters.tfhe().spec().clone();
    let torus = tfhe::TorusSpec { n: spec.torus.n + 2, ..spec.torus };
    let other = tfhe::ParametersSpec { torus, ..spec }.build().expect("a set");
    let parameters = switching::Parameters::new(file.parameters.bootstrapping(), &other).expect("they suit each other");
    let foreign = KeyFile { parameters, ..toy() }.to_bytes(&(), Form::Raw);
    assert!(matches!(refused(&foreign), Error::ParameterMismatch { .. }));

    // Parameters of bootstrapping for other slots have the same ciphertexts: the keys serve them.
    let few = Preset::Toy.spec_for(4).and_then(|spec| spec.build()).expect("slots");
    let parameters = Parameters::new(&few, file.parameters.tfhe()).expect("parameters");
    let again = KeyFile::from_bytes(&(), &KeyFile { parameters, ..file }.to_bytes(&(), Form::Raw)).expect("its own");
    assert_eq!(again.parameters.bootstrapping().slots(), 16);

    // A fingerprint that is not that of what follows.
    let mut bytes = again.to_bytes(&(), Form::Raw);
    bytes[FINGERPRINT] ^= 1;
    let error = refused(&sealed(bytes));
    assert!(matches!(error, Error::Wire { reason: Reason::Fingerprint, .. }), "{error}");
    assert_eq!(KeyFile::KIND, Kind::SWITCHING_KEYS);
}
