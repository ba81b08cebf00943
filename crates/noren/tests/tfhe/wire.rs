//! Bytes of parameters, ciphertexts and keys.

use noren::error::Error;
use noren::tfhe::preset::PRESETS;
use noren::tfhe::{Bits, Ciphertexts, CompactKeys, Encoding, Evaluator, Gate, KeyFile, Parameters, SecretKey};
use noren::wire::{Form, Object};

use crate::world::{INTEGERS_1_1, INTEGERS_2_2, World, seed};

#[test]
fn parameters_come_back() {
    for preset in &PRESETS {
        let parameters = preset.parameters().expect("a set");
        let bytes = parameters.to_bytes(&(), Form::Packed);
        let again = Parameters::from_bytes(&(), &bytes).expect("its own bytes");
        assert_eq!(again.spec(), parameters.spec());
        assert_eq!(again.to_bytes(&(), Form::Packed), bytes);
    }
}

#[test]
fn ciphertexts_come_back_with_what_they_know() {
    let world = World::small(INTEGERS_2_2);
    let (encryptor, evaluator) = (world.encryptor(), world.evaluator());
    let fresh = encryptor.encrypt(3).expect("a message");
    let sum = evaluator.combine(&[(&fresh, 3)], 1).expect("room");
    let list = Ciphertexts(vec![fresh, sum, evaluator.trivial(5).expect("a value")]);
    let parameters = world.context.parameters();
    let bytes = list.to_bytes(parameters, Form::Packed);
    assert_eq!(Ciphertexts::from_bytes(parameters, &bytes).expect("its own bytes"), list);
    let refused = Bits::from_bytes(parameters, &bytes);
    assert!(matches!(refused, Err(Error::WrongKind { .. })));
    let other = World::small(INTEGERS_1_1);
    let refused = Ciphertexts::from_bytes(other.context.parameters(), &bytes);
    assert!(matches!(refused, Err(Error::ParameterMismatch { .. })));
}

#[test]
fn keys_that_travelled_evaluate() {
    let world = World::small(Encoding::Bits);
    let parameters = world.context.parameters();
    let secret = world.context.secret_key(&seed(1));
    let keys = world.context.compact_keys(&seed(1), &secret).expect("its own secret");
    let file = KeyFile { parameters: parameters.clone(), key: keys };
    let bytes = file.to_bytes(&(), Form::Packed);
    let again = KeyFile::<CompactKeys>::from_bytes(&(), &bytes).expect("its own bytes");
    assert_eq!(again.to_bytes(&(), Form::Packed), bytes);

    let secret = KeyFile { parameters: parameters.clone(), key: secret }.to_bytes(&(), Form::Packed);
    let secret = KeyFile::<SecretKey>::from_bytes(&(), &secret).expect("its own bytes");
    assert!(KeyFile::<SecretKey>::KIND.is_secret());
    assert_eq!(secret.key.long_bits(), world.keys.secret.long_bits());
    assert_eq!(secret.key.owner(), world.keys.secret.owner());

    let encryptor = world.encryptor();
    let bits = Bits([true, false].map(|value| encryptor.encrypt_bit(value).expect("a bit")).to_vec());
    let bits = Bits::from_bytes(parameters, &bits.to_bytes(parameters, Form::Packed)).expect("its own bytes");
    let server = world.context.expand(&again.key).expect("the same parameters");
    let evaluator = Evaluator::new(&world.context, server.into()).expect("the same parameters");
    let or = evaluator.gate(Gate::Or, &bits.0[0], &bits.0[1]).expect("a gate");
    assert!(world.decryptor().decrypt_bit(&or).expect("a bit"));
}

#[test]
fn damaged_and_cut_bytes_are_refused() {
    let world = World::small(INTEGERS_2_2);
    let parameters = world.context.parameters();
    let secret = world.context.secret_key(&seed(1));
    let keys = world.context.compact_keys(&seed(1), &secret).expect("its own secret");
    let list = Ciphertexts(vec![world.encryptor().encrypt(3).expect("a message")]).to_bytes(parameters, Form::Packed);
    let keys = KeyFile { parameters: parameters.clone(), key: keys }.to_bytes(&(), Form::Packed);
    let secret = KeyFile { parameters: parameters.clone(), key: secret }.to_bytes(&(), Form::Packed);
    let read_list = |bytes: &[u8]| Ciphertexts::from_bytes(parameters, bytes).map(drop);
    let read_keys = |bytes: &[u8]| KeyFile::<CompactKeys>::from_bytes(&(), bytes).map(drop);
    let read_secret = |bytes: &[u8]| KeyFile::<SecretKey>::from_bytes(&(), bytes).map(drop);
    type Reader<'a> = &'a dyn Fn(&[u8]) -> noren::Result<()>;
    let readers: [(&[u8], Reader<'_>); 3] = [(&list, &read_list), (&keys, &read_keys), (&secret, &read_secret)];
    for (bytes, read) in readers {
        read(bytes).expect("its own bytes");
        for cut in [0, 40, 95, 200, bytes.len() / 2, bytes.len() - 64, bytes.len() - 1] {
            assert!(matches!(read(&bytes[..cut]), Err(Error::Wire { .. })), "cut to {cut} of {}", bytes.len());
        }
        for at in (0..bytes.len()).step_by(bytes.len() / 50) {
            let mut damaged = bytes.to_vec();
            damaged[at] ^= 1;
            assert!(read(&damaged).is_err(), "byte {at} of {}", bytes.len());
        }
    }
}
