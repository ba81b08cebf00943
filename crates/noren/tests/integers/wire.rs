//! Bytes of parameters, plaintexts, ciphertexts and keys.

use noren::bfv::Bfv;
use noren::bgv::{Bgv, KeyFile, KeyRequest, Parameters, Plaintext};
use noren::error::Error;
use noren::schemes::integers::{Ciphertext, Encryptor, Scheme};
use noren::wire::{Form, Object};
use noren::{EvaluationKeys, PublicKey, SecretKey};

use crate::small::{Setup, seed, spec};

fn setup() -> Setup {
    Setup::new(spec(3), &KeyRequest { relinearization: true, rotations: vec![1], ..KeyRequest::default() })
}

#[test]
fn parameters_come_back_with_their_primes() {
    let setup = setup();
    let parameters = setup.context.parameters();
    let bytes = parameters.to_bytes(&(), Form::Packed);
    let again = Parameters::from_bytes(&(), &bytes).unwrap();
    assert_eq!(&again, parameters);
    assert_eq!(again.rlwe(), parameters.rlwe(), "auxiliary primes included");
    assert_eq!(again.to_bytes(&(), Form::Packed), bytes);
}

fn ciphertexts<S: Scheme>() {
    let setup = setup();
    let (x, ev) = (setup.values(1), setup.evaluator::<S>());
    let fresh = setup.encrypt::<S>(&x, 2);
    let symmetric: Ciphertext<S> =
        Encryptor::symmetric(&setup.context, &setup.keys.secret, seed(3)).unwrap().encrypt(&setup.encode(&x)).unwrap();
    let lazy = ev.mul_no_relinearize(&fresh, &fresh).unwrap();
    for a in [fresh.clone(), symmetric.clone(), ev.square(&fresh).unwrap(), lazy] {
        let bytes = a.to_bytes(&setup.context, Form::Packed);
        let again = Ciphertext::<S>::from_bytes(&setup.context, &bytes).unwrap();
        assert_eq!((again.factor(), again.noise(), again.limbs()), (a.factor(), a.noise(), a.limbs()));
        assert_eq!(setup.decrypt(&again), setup.decrypt(&a));
        assert_eq!(again.to_bytes(&setup.context, Form::Packed), bytes);
    }
    let size = |a: &Ciphertext<S>| a.to_bytes(&setup.context, Form::Packed).len();
    assert!(size(&symmetric) < size(&fresh) * 6 / 10, "the second part travels as a seed");
}

#[test]
fn ciphertexts_come_back_with_factor_and_noise() {
    ciphertexts::<Bgv>();
    ciphertexts::<Bfv>();
    let setup = setup();
    let a = setup.encrypt::<Bgv>(&setup.values(1), 2);
    let bytes = a.to_bytes(&setup.context, Form::Packed);
    let refused = Ciphertext::<Bfv>::from_bytes(&setup.context, &bytes).err();
    assert!(matches!(refused, Some(Error::WrongKind { found, .. }) if found.starts_with("BGV")));
}

#[test]
fn plaintexts_come_back() {
    let setup = setup();
    let plaintext = setup.encode(&setup.values(1));
    let bytes = plaintext.to_bytes(&setup.context, Form::Packed);
    let again = Plaintext::from_bytes(&setup.context, &bytes).unwrap();
    assert_eq!(setup.encoder().decode(&again).unwrap(), setup.values(1));
}

#[test]
fn key_files_bring_their_parameters() {
    let setup = setup();
    let secret_bytes;
    let context = setup.context.clone();
    {
        let file = KeyFile { context: context.clone(), key: setup.keys.public.clone() };
        let bytes = file.to_bytes(&(), Form::Packed);
        let again = KeyFile::<PublicKey>::from_bytes(&(), &bytes).unwrap();
        assert_eq!(again.context.parameters(), context.parameters());
        let file = KeyFile { context: context.clone(), key: (*setup.keys.evaluation).clone() };
        let bytes = file.to_bytes(&(), Form::Packed);
        let again = KeyFile::<EvaluationKeys>::from_bytes(&(), &bytes).unwrap();
        // The keys that were read evaluate in the context that was read.
        let a = setup.encrypt::<Bgv>(&setup.values(1), 2).to_bytes(&context, Form::Packed);
        let a = Ciphertext::<Bgv>::from_bytes(&again.context, &a).unwrap();
        let ev = noren::bgv::Evaluator::new(&again.context, again.key.into()).unwrap();
        let y = ev.rotate(&a, 1).unwrap().to_bytes(&again.context, Form::Raw);
        let y = Ciphertext::<Bgv>::from_bytes(&context, &y).unwrap();
        assert_eq!(setup.decrypt(&y), crate::small::rotated(&setup.values(1), 1));
        secret_bytes = KeyFile { context: context.clone(), key: setup.keys.secret }.to_bytes(&(), Form::Packed);
    }
    assert!(KeyFile::<SecretKey>::from_bytes(&(), &secret_bytes).is_ok());
    assert!(KeyFile::<SecretKey>::KIND.is_secret());
    assert!(matches!(KeyFile::<PublicKey>::from_bytes(&(), &secret_bytes), Err(Error::WrongKind { .. })));
}

#[test]
fn damaged_and_impossible_bytes_are_refused() {
    let setup = setup();
    let mut a = setup.encrypt::<Bfv>(&setup.values(1), 2).to_bytes(&setup.context, Form::Packed);
    let read = |bytes: &[u8]| Ciphertext::<Bfv>::from_bytes(&setup.context, bytes).err();
    assert!(matches!(read(&a[..a.len() - 64]), Some(Error::Wire { .. })));
    let middle = a.len() / 2;
    a[middle] ^= 1;
    assert!(matches!(read(&a), Some(Error::Wire { .. })));
    let mut other = spec(3);
    other.plaintext_modulus = 12289;
    let other = noren::bgv::Context::new(other.build().unwrap()).unwrap();
    a[middle] ^= 1;
    let refused = Ciphertext::<Bfv>::from_bytes(&other, &a).err();
    assert!(matches!(refused, Some(Error::ParameterMismatch { .. })));
}
