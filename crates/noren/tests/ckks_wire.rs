//! CKKS objects come back from their bytes, and other bytes are refused.

mod world;

use noren::ckks::{Ciphertext, Ciphertexts, Decryptor, Parameters, ParametersSpec, Plaintext};
use noren::wire::{Form, Kind, Limits, Object, Reader, Writer};
use noren::{Complex64, Error, SecretDistribution};
use world::{World, real, toy, uniform};

/// The tag of the sections that CKKS adds first.
const MEANING: u16 = 0x01;
const SOURCES: u16 = 0x02;

#[test]
fn parameters_come_back() {
    for spec in [
        toy(),
        ParametersSpec { log_p: vec![], ..toy() },
        ParametersSpec { restarts: vec![(3, 35), (0, 42)], ..toy() },
        ParametersSpec { dnum: 3, secret: SecretDistribution::SparseTernary(32), log_scale: 39, ..toy() },
        ParametersSpec {
            log_n: 13,
            log_q: vec![50, 40, 40],
            log_p: vec![50],
            security: noren::Security::Bits128,
            ..toy()
        },
    ] {
        let parameters = spec.build().expect("parameters");
        let bytes = parameters.to_bytes(&(), Form::Packed);
        let back = Parameters::from_bytes(&(), &bytes).expect("its own bytes");
        assert_eq!(back, parameters);
        assert_eq!(back.spec(), parameters.spec());
        assert_eq!(back.to_bytes(&(), Form::Packed), bytes);
    }
}

#[test]
fn plaintexts_and_ciphertexts_come_back() {
    let world = World::new(toy(), 1, &[1]);
    let x = world.encrypt(&real(&uniform(1, 512)), 2);
    let few = world.encrypt_symmetric(&real(&uniform(2, 16)), 3);
    let y = world.square(&world.add(&x, &world.rotate(&x, 1)));
    for form in [Form::Raw, Form::Packed] {
        for twin in [&x, &y, &few] {
            let bytes = twin.ciphertext.to_bytes(&world.context, form);
            let back = Ciphertext::from_bytes(&world.context, &bytes).expect("its own bytes");
            assert_eq!(back.to_bytes(&world.context, form), bytes);
            assert_eq!(back.estimate(), twin.ciphertext.estimate());
            assert_eq!(
                (back.scale(), back.slots(), back.level()),
                (twin.ciphertext.scale(), twin.ciphertext.slots(), twin.ciphertext.level())
            );
            assert_eq!(world.decrypt(&back), world.decrypt(&twin.ciphertext));
        }
        let plain = world.encode(&x.values, 2).plaintext;
        let bytes = plain.to_bytes(&world.context, form);
        let back = Plaintext::from_bytes(&world.context, &bytes).expect("its own bytes");
        assert_eq!(back.to_bytes(&world.context, form), bytes);
        assert_eq!(world.encoder.decode_complex(&back).ok(), world.encoder.decode_complex(&plain).ok());
        let all = Ciphertexts([&x, &y, &few].map(|twin| twin.ciphertext.clone()).to_vec());
        let bytes = all.to_bytes(&world.context, form);
        let back = Ciphertexts::from_bytes(&world.context, &bytes).expect("its own bytes");
        assert_eq!(back.0.len(), 3);
        assert_eq!(back.to_bytes(&world.context, form), bytes);
    }
    // A symmetric ciphertext travels with the seed of its second part.
    let half = few.ciphertext.to_bytes(&world.context, Form::Raw).len();
    let whole = x.ciphertext.to_bytes(&world.context, Form::Raw).len();
    assert!(half * 10 < whole * 6, "{half} {whole}");
}

#[test]
fn other_parameters_and_kinds_are_refused() {
    let world = World::new(toy(), 4, &[]);
    let other = World::new(ParametersSpec { log_scale: 39, ..toy() }, 4, &[]);
    let bytes = world.encrypt(&real(&uniform(1, 512)), 5).ciphertext.to_bytes(&world.context, Form::Packed);
    assert!(matches!(Ciphertext::from_bytes(&other.context, &bytes), Err(Error::ParameterMismatch { .. })));
    assert!(matches!(Plaintext::from_bytes(&world.context, &bytes), Err(Error::WrongKind { .. })));
}

#[test]
fn damaged_bytes_are_refused_without_panic() {
    let spec = ParametersSpec { log_n: 4, log_q: vec![30, 25], log_p: vec![30], log_scale: 25, ..toy() };
    let world = World::new(spec, 6, &[]);
    let x = world.encrypt(&real(&uniform(1, 8)), 7).ciphertext;
    let bytes = x.to_bytes(&world.context, Form::Packed);
    let loose = Limits { check_digest: false, ..Limits::default() };
    let decryptor = Decryptor::new(&world.context, &world.keys.secret).expect("decryptor").allow_unbounded();
    for at in 0..bytes.len() {
        for bit in [0, 7] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            assert!(Ciphertext::from_bytes(&world.context, &damaged).is_err(), "byte {at}");
            // Behind the digest: it may be read as another ciphertext, whose bound then has some value, or as one of another
            // secret key.
            if let Ok(read) = Ciphertext::from_bytes_within(&world.context, &damaged, &loose) {
                assert!(read.error_bound() >= 0.0);
                match decryptor.decrypt_complex(&read) {
                    Ok(slots) => assert_eq!(slots.len(), read.slots()),
                    Err(error) => assert!(matches!(error, Error::KeyMismatch { .. }), "byte {at}: {error}"),
                }
            }
        }
        assert!(Ciphertext::from_bytes(&world.context, &bytes[..at]).is_err());
    }
    let spec = world.context.parameters().spec().clone();
    for spec in [spec.clone(), ParametersSpec { restarts: vec![(0, 22)], ..spec }] {
        let parameters = spec.build().expect("parameters").to_bytes(&(), Form::Packed);
        for at in 0..parameters.len() {
            let mut damaged = parameters.clone();
            damaged[at] ^= 1;
            let read = Parameters::from_bytes_within(&(), &damaged, &loose);
            let digest = damaged[64..96] != parameters[64..96];
            assert!(read.is_err() || digest, "byte {at} of the parameters is not checked");
        }
    }
}

#[test]
fn restarts_that_are_never_written_are_refused() {
    let parameters = ParametersSpec { restarts: vec![(1, 35)], ..toy() }.build().expect("parameters");
    let written = |restarts: &[u64]| {
        let mut writer = Writer::new(Kind::CKKS_PARAMETERS, parameters.fingerprint(), Form::Raw);
        writer.words(0x01, vec![40]);
        writer.words(0x02, vec![50, 40, 40, 40, 40]);
        writer.words(0x03, vec![50, 50]);
        writer.words(0x04, restarts.to_vec());
        parameters.rlwe().write(&(), &mut writer);
        Parameters::from_bytes(&(), &writer.to_bytes())
    };
    assert_eq!(written(&[1, 35]).expect("what is written"), parameters);
    for refused in [&[][..], &[1], &[1, 35, 0], &[1, 35].repeat(129), &[1, u64::MAX]] {
        assert!(matches!(written(refused), Err(Error::Wire { .. })), "{refused:?}");
    }
    for refused in [&[u64::MAX, 35][..], &[4, 35], &[1, 35, 1, 35], &[1, 51]] {
        assert!(matches!(written(refused), Err(Error::Parameters { name: "restarts", .. })), "{refused:?}");
    }
}

#[test]
fn meanings_that_are_never_written_are_refused() {
    let world = World::new(toy(), 8, &[]);
    let x = world.encrypt(&real(&uniform(1, 512)), 9).ciphertext;
    let bytes = x.to_bytes(&world.context, Form::Raw);
    let words = |tag| {
        let mut reader = Reader::open(&bytes, Kind::CKKS_CIPHERTEXT, &Limits::default()).expect("its own bytes");
        let meaning: Vec<u64> = reader.take(MEANING).and_then(|s| s.words()).expect("words").iter().collect();
        let sources: Vec<u64> = reader.take(SOURCES).and_then(|s| s.words()).expect("words").iter().collect();
        if tag == MEANING { meaning } else { sources }
    };
    let written = |meaning: Vec<u64>, sources: Vec<u64>| {
        let mut writer = Writer::new(Kind::CKKS_CIPHERTEXT, world.context.parameters().fingerprint(), Form::Raw);
        writer.words(MEANING, meaning);
        writer.words(SOURCES, sources);
        x.rlwe().write(world.context.rlwe(), &mut writer);
        Ciphertext::from_bytes(&world.context, &writer.to_bytes())
    };
    let (meaning, sources) = (words(MEANING), words(SOURCES));
    assert!(written(meaning.clone(), sources.clone()).is_ok());
    let with = |words: &[u64], at: usize, value: u64| {
        let mut words = words.to_vec();
        words[at] = value;
        words
    };
    let (negative, no_number) = ((-1.0f64).to_bits(), f64::NAN.to_bits());
    for (at, value) in [
        (0, 0),
        (0, 3),
        (0, 1024),
        (1, 0),
        (1, negative),
        (1, no_number),
        (2, 1.0f64.to_bits()),
        (3, 2),
        (4, no_number),
        (5, (-2.0f64).to_bits()),
        (5, no_number),
        (6, negative),
        (6, no_number),
        (8, 513),
        (9, 0),
        (9, 3),
        (9, 1024),
    ] {
        let refused = written(with(&meaning, at, value), sources.clone());
        assert!(matches!(refused, Err(Error::Wire { .. })), "word {at} of the meaning");
    }
    for (at, value) in [(0, 3 << 16), (0, 64 << 8), (0, u64::MAX), (3, negative), (3, no_number)] {
        let refused = written(meaning.clone(), with(&sources, at, value));
        assert!(matches!(refused, Err(Error::Wire { .. })), "word {at} of the sources");
    }
    let reversed: Vec<u64> = sources.rchunks(4).flatten().copied().collect();
    assert!(written(meaning.clone(), reversed).is_err());
    assert!(written(meaning, sources[..sources.len() - 1].to_vec()).is_err());
}

#[test]
fn a_disc_of_radius_zero_has_one_encoding() {
    let world = World::new(toy(), 1, &[]);
    let x = world.encrypt(&uniform(1, 512).iter().map(|&x| Complex64::new(0.0, x)).collect::<Vec<_>>(), 2).ciphertext;
    let bytes = x.with_magnitude(0.0).to_bytes(&world.context, Form::Raw);
    // That it is a disc, and its ends.
    let disc = [0.0f64, -0.0, 0.0].map(f64::to_le_bytes).concat();
    let at = bytes.windows(disc.len()).position(|window| window == disc).expect("a disc");
    assert!(Ciphertext::from_bytes(&world.context, &bytes).is_ok());
    let mut other = bytes;
    other[at + 15] = 0;
    let digest = blake3::Hasher::new().update(&other[..64]).update(&other[96..]).finalize();
    other[64..96].copy_from_slice(digest.as_bytes());
    let refused = Ciphertext::from_bytes(&world.context, &other).map(drop);
    assert!(matches!(refused, Err(Error::Wire { .. })), "{refused:?}");
}
