//! Bytes of parameters, ciphertexts and keys.

use noren::error::{Error, cause};
use noren::tfhe::{
    Bits, Ciphertexts, CompactKeys, Encoding, Evaluator, Gate, KeyFile, Lookup, Parameters, SecretKey,
    SeededCiphertexts,
};
use noren::tfhe::{PRESETS, TfheError};
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
fn seeded_ciphertexts_come_back_with_their_masks() {
    let world = World::small(INTEGERS_2_2);
    let (context, parameters) = (&world.context, world.context.parameters());
    let values = [0, 3, 1, 2, 3];
    let seeded = world.encryptor().encrypt_seeded(&values).expect("messages");
    let bytes = seeded.to_bytes(parameters, Form::Packed);
    assert!(bytes.len() < 512, "{} bytes", bytes.len());
    let again = SeededCiphertexts::from_bytes(parameters, &bytes).expect("its own bytes");
    assert_eq!(again.to_bytes(parameters, Form::Packed), bytes);
    let ciphertexts = again.expand(context).expect("the same parameters");
    assert_eq!(ciphertexts, seeded.expand(context).expect("the same parameters"));
    for (i, (x, value)) in ciphertexts.iter().zip(values).enumerate() {
        assert_eq!(world.decryptor().decrypt(x).expect("a value"), value);
        assert!(ciphertexts[..i].iter().all(|y| y.sample().mask() != x.sample().mask()), "masks of their own");
    }
    let next = world.evaluator().lookup(&ciphertexts[1], &Lookup::new(context, |x| (x + 2) % 4).expect("a table"));
    assert_eq!(world.decryptor().decrypt(&next.expect("a lookup")).expect("a value"), 1);

    let refused = world.encryptor().encrypt_seeded(&[1, 4]).map(drop);
    assert!(matches!(cause(&refused), Some(TfheError::OutOfRoom { found: 4, .. })), "{refused:?}");
    let refused = again.expand_bits(context).map(drop);
    assert!(matches!(refused, Err(Error::Parameters { .. })), "{refused:?}");
    let other = World::small(INTEGERS_1_1);
    assert!(matches!(again.expand(&other.context), Err(Error::ParameterMismatch { .. })));

    let world = World::small(Encoding::Bits);
    let seeded = world.encryptor().encrypt_bits_seeded(&[true, false]).expect("bits");
    let bits = seeded.expand_bits(&world.context).expect("the same parameters");
    assert_eq!(
        bits.iter().map(|bit| world.decryptor().decrypt_bit(bit).expect("a bit")).collect::<Vec<_>>(),
        [true, false]
    );
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
    let seeded = world.encryptor().encrypt_seeded(&[1, 2]).expect("messages").to_bytes(parameters, Form::Packed);
    let read_seeded = |bytes: &[u8]| SeededCiphertexts::from_bytes(parameters, bytes).map(drop);
    let readers: [(&[u8], Reader<'_>); 4] =
        [(&list, &read_list), (&keys, &read_keys), (&secret, &read_secret), (&seeded, &read_seeded)];
    for (bytes, read) in readers {
        read(bytes).expect("its own bytes");
        for cut in [0, 40, 95, 200, bytes.len() / 2, bytes.len() - 64, bytes.len() - 1] {
            assert!(matches!(read(&bytes[..cut]), Err(Error::Wire { .. })), "cut to {cut} of {}", bytes.len());
        }
        for at in (0..bytes.len()).step_by((bytes.len() / 50).max(1)) {
            let mut damaged = bytes.to_vec();
            damaged[at] ^= 1;
            assert!(read(&damaged).is_err(), "byte {at} of {}", bytes.len());
        }
    }
}
