//! Re-encryption: what is encrypted under an old key decrypts under a new one, in every scheme.

use noren::schemes::integers::{Ciphertext, Encryptor, Evaluator, Scheme};
use noren::wire::{Form, Object};
use noren::{Cover, Error, ReceiverKey, ReencryptionKey, Result, Security, Seed, bfv, bgv, ckks};

fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

fn integers(log_n: u32, security: Security, log_q: Vec<u32>) -> Result<bfv::Context> {
    let (plaintext_modulus, log_p) = (65537, vec![50]);
    let spec = bfv::ParametersSpec { log_n, plaintext_modulus, log_q, log_p, security, ..Default::default() };
    bfv::Context::new(spec.build()?)
}

/// Two owners' keys of the same parameters, and the key from the one to the other.
fn rotation(context: &bfv::Context) -> Result<(bfv::Keys, bfv::Keys, ReencryptionKey)> {
    let request = bfv::KeyRequest { relinearization: true, rotations: vec![1], ..Default::default() };
    let [old, new] = [1, 2].map(|byte| context.generate_keys(seed(byte), &request));
    let (old, new) = (old?, new?);
    let key = context.reencryption_key(&old.secret, &new.secret, seed(3))?;
    Ok((old, new, key))
}

fn exact<S: Scheme>(context: &bfv::Context, limbs: usize) -> Result<()> {
    let (old, new, key) = rotation(context)?;
    let encoder = bfv::Encoder::new(context);
    let values: Vec<i64> = (0..context.parameters().slots() as i64).map(|i| i * i % 65537).collect();
    let encryptor = Encryptor::<S>::public(context, &old.public, seed(4))?;
    let fresh = encryptor.encrypt_at(&encoder.encode(&values)?, limbs)?.with_length(Some(values.len()))?;
    let made = context.reencrypt(&fresh, &key)?;
    assert_eq!((made.key_id(), made.limbs(), made.content()), (new.secret.owner().key, limbs, fresh.content()));
    let decryptor = bfv::Decryptor::new(context, &new.secret)?;
    assert_eq!(encoder.decode(&decryptor.decrypt(&made)?)?, values);
    let measured = libm::log2(decryptor.measure_noise(&made)?.std) - made.noise().log2_std();
    assert!((-0.5..0.1).contains(&measured), "2^{measured} of what is predicted");
    assert!(made.noise().log2_std() >= fresh.noise().log2_std());

    // It is computed with under the keys of the new secret, and under no others.
    let evaluator = Evaluator::<S>::new(context, new.evaluation.clone())?;
    let product = evaluator.mul(&made, &made)?;
    let squares: Vec<i64> = values.iter().map(|x| x * x % 65537).collect();
    assert_eq!(encoder.decode(&decryptor.decrypt(&product)?)?, squares);
    let before = Evaluator::<S>::new(context, old.evaluation.clone())?;
    assert!(matches!(before.mul(&made, &made), Err(Error::KeyMismatch { .. })));
    let tensor = before.mul_no_relinearize(&fresh, &fresh)?;
    assert!(matches!(context.reencrypt(&tensor, &key), Err(Error::DegreeTooHigh { found: 2, .. })));
    assert!(matches!(context.reencrypt(&made, &key), Err(Error::KeyMismatch { .. })), "it has the new key already");

    let many = context.reencrypt_many(&[fresh.clone(), fresh.clone()], &key)?;
    for again in &many {
        assert_eq!(again.to_bytes(context, Form::Packed), made.to_bytes(context, Form::Packed));
    }
    Ok(())
}

#[test]
fn integers_re_encrypt_exactly() -> Result<()> {
    let context = integers(10, Security::None, vec![45; 4])?;
    for limbs in [4, 3] {
        exact::<bfv::Bfv>(&context, limbs)?;
        exact::<bgv::Bgv>(&context, limbs)?;
    }
    Ok(())
}

#[test]
fn integers_of_128_bits_re_encrypt() -> Result<()> {
    exact::<bfv::Bfv>(&integers(13, Security::Bits128, vec![40; 4])?, 4)
}

#[test]
fn slots_of_any_index_re_encrypt() -> Result<()> {
    let (log_q, log_p, security) = (vec![40, 40], vec![45], Security::None);
    let spec =
        bfv::ParametersSpec { log_n: 0, index: 21, plaintext_modulus: 4, log_q, log_p, security, ..Default::default() };
    let context = bfv::Context::new(spec.build()?)?;
    let [old, new] = [1, 2].map(|byte| context.generate_keys(seed(byte), &bfv::KeyRequest::default()));
    let (old, new) = (old?, new?);
    let key = context.reencryption_key(&old.secret, &new.secret, seed(3))?;
    let encoder = bfv::Encoder::new(&context);
    let values: Vec<i64> = (0..context.parameters().slots() as i64).map(|i| i % 4).collect();
    let fresh = bfv::Encryptor::public(&context, &old.public, seed(4))?.encrypt(&encoder.encode(&values)?)?;
    let made = context.reencrypt(&fresh, &key)?;
    assert_eq!(encoder.decode(&bfv::Decryptor::new(&context, &new.secret)?.decrypt(&made)?)?, values);
    Ok(())
}

#[test]
fn reals_re_encrypt_within_their_bound() -> Result<()> {
    let (log_q, log_p, security) = (vec![50, 40, 40], vec![50], Security::None);
    let spec = ckks::ParametersSpec { log_n: 11, log_q, log_p, log_scale: 40, security, ..Default::default() };
    let context = ckks::Context::new(spec.build()?)?;
    let request = ckks::KeyRequest { relinearization: true, ..Default::default() };
    let [old, new] = [1, 2].map(|byte| context.generate_keys(seed(byte), &request));
    let (old, new) = (old?, new?);
    let key = context.reencryption_key(&old.secret, &new.secret, seed(3))?;
    let (encoder, decryptor) = (ckks::Encoder::new(&context), ckks::Decryptor::new(&context, &new.secret)?);
    let values: Vec<f64> = (0..1024).map(|i| f64::from(i) / 1024.0 - 0.5).collect();
    for level in 0..=2 {
        let fresh = ckks::Encryptor::symmetric(&context, &old.secret, seed(4))?
            .encrypt(&encoder.encode(&values, 1024, level)?)?;
        let made = context.reencrypt(&fresh, &key)?;
        assert_eq!((made.key_id(), made.level(), made.slots()), (new.secret.owner().key, level, 1024));
        let bound = made.error_bound();
        assert!(bound > fresh.error_bound() && bound < 1e-6, "{bound}");
        let found = decryptor.decrypt_real(&made)?;
        let error = found.iter().zip(&values).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        assert!((bound / 50.0..bound).contains(&error), "{error} within {bound}");
    }
    let evaluator = ckks::Evaluator::new(&context, new.evaluation.clone())?;
    let fresh = ckks::Encryptor::public(&context, &old.public, seed(5))?.encrypt(&encoder.encode(&values, 1024, 2)?)?;
    let square = evaluator.square(&context.reencrypt(&fresh, &key)?)?;
    let found = decryptor.decrypt_real(&square)?;
    assert!(found.iter().zip(&values).all(|(x, y)| (x - y * y).abs() < square.error_bound()));
    Ok(())
}

#[test]
fn keys_travel_with_their_parameters() -> Result<()> {
    let context = integers(10, Security::None, vec![45; 2])?;
    let (.., key) = rotation(&context)?;
    let bytes = bfv::KeyFile { context: context.clone(), key }.to_bytes(&(), Form::Packed);
    let again = bfv::KeyFile::<ReencryptionKey>::from_bytes(&(), &bytes)?;
    assert!(again.context.parameters() == context.parameters());
    assert_eq!(again.to_bytes(&(), Form::Packed), bytes);
    assert!(matches!(ckks::KeyFile::<ReencryptionKey>::from_bytes(&(), &bytes), Err(Error::WrongKind { .. })));
    Ok(())
}

/// A giver and a receiver of the same parameters, the receiver's public key for re-encryption, and the key under it.
fn handover(context: &bfv::Context) -> Result<(bfv::Keys, bfv::Keys, ReencryptionKey)> {
    let request = bfv::KeyRequest { relinearization: true, ..Default::default() };
    let [giver, receiver] = [1, 2].map(|byte| context.generate_keys(seed(byte), &request));
    let (giver, receiver) = (giver?, receiver?);
    let public = context.receiver_key(&receiver.secret, seed(3))?;
    let key = context.reencryption_key_for(&giver.secret, &public, seed(4))?;
    Ok((giver, receiver, key))
}

fn given<S: Scheme>(context: &bfv::Context) -> Result<()> {
    let (giver, receiver, key) = handover(context)?;
    let encoder = bfv::Encoder::new(context);
    let values: Vec<i64> = (0..context.parameters().slots() as i64).map(|i| i * i % 65537).collect();
    let encryptor = Encryptor::<S>::public(context, &giver.public, seed(5))?;
    let (decryptor, limbs) = (bfv::Decryptor::new(context, &receiver.secret)?, context.parameters().max_limbs());
    let fresh = encryptor.encrypt(&encoder.encode(&values)?)?;
    for (cover, flooded) in
        [(Cover::default(), true), (Cover::Flood { results: 1, distance: 40 }, true), (Cover::NoFlood, false)]
    {
        let made = context.reencrypt_for(&fresh, &key, cover, &seed(6))?;
        assert_eq!((made.key_id(), made.limbs()), (receiver.secret.owner().key, limbs));
        assert_eq!(encoder.decode(&decryptor.decrypt(&made)?)?, values);
        let measured = libm::log2(decryptor.measure_noise(&made)?.std) - made.noise().log2_std();
        assert!((-0.6..0.1).contains(&measured), "{cover:?}: 2^{measured} of what is predicted");
        if let Cover::Flood { results, distance } = cover {
            // Wider than what it floods by what was asked for.
            let wider = made.noise().log2_std() - fresh.noise().log2_std();
            let asked = f64::from(distance) + libm::log2(results as f64 * 1024.0);
            assert!(flooded && wider > asked, "2^{wider} for 2^{asked}");
        }
        // Another seed is another ciphertext, the same one is the same again, and no two ciphertexts share what covers them.
        let bytes = |made: Ciphertext<S>| made.to_bytes(context, Form::Packed);
        let made = bytes(made);
        assert_eq!(made, bytes(context.reencrypt_for(&fresh, &key, cover, &seed(6))?));
        assert_ne!(made, bytes(context.reencrypt_for(&fresh, &key, cover, &seed(7))?));
        let many = context.reencrypt_many_for(&[fresh.clone(), fresh.clone()], &key, cover, &seed(6))?;
        let [left, right] = &many[..] else { panic!("two") };
        assert_ne!(bytes(left.clone()), bytes(right.clone()));
    }
    // What is left of the budget counts: noise that leaves no room for the flood is refused, and says how much is missing.
    let narrow = encryptor.encrypt_at(&encoder.encode(&values)?, 2)?;
    let text = context.reencrypt_for(&narrow, &key, Cover::default(), &seed(6)).err().expect("no room").to_string();
    assert!(text.contains("a flood") && text.contains("bits"), "{text}");
    context.reencrypt_for(&narrow, &key, Cover::NoFlood, &seed(6))?;

    let evaluator = Evaluator::<S>::new(context, giver.evaluation.clone())?;
    let tensor = evaluator.mul_no_relinearize(&fresh, &fresh)?;
    let refused = context.reencrypt_for(&tensor, &key, Cover::NoFlood, &seed(6));
    assert!(matches!(refused, Err(Error::DegreeTooHigh { .. })));
    assert!(context.reencrypt(&fresh, &key).err().is_some_and(|error| error.to_string().contains("reencrypt_for")));
    let own = context.reencryption_key(&giver.secret, &receiver.secret, seed(8))?;
    let refused = context.reencrypt_for(&fresh, &own, Cover::default(), &seed(6));
    assert!(matches!(refused, Err(Error::Parameters { .. })));
    Ok(())
}

#[test]
fn integers_go_to_another_owner_under_a_flood() -> Result<()> {
    let context = integers(10, Security::None, vec![45; 4])?;
    given::<bfv::Bfv>(&context)?;
    given::<bgv::Bgv>(&context)
}

#[test]
fn integers_of_128_bits_go_to_another_owner() -> Result<()> {
    let context = integers(13, Security::Bits128, vec![40; 4])?;
    let (giver, receiver, key) = handover(&context)?;
    let encoder = bfv::Encoder::new(&context);
    let values: Vec<i64> = (0..8192).map(|i| i * i % 65537).collect();
    let fresh = bfv::Encryptor::public(&context, &giver.public, seed(5))?.encrypt(&encoder.encode(&values)?)?;
    let made = context.reencrypt_for(&fresh, &key, Cover::default(), &seed(6))?;
    assert_eq!(encoder.decode(&bfv::Decryptor::new(&context, &receiver.secret)?.decrypt(&made)?)?, values);
    Ok(())
}

#[test]
fn whoever_has_the_key_and_the_secret_of_the_receiver_alone_reads_on() -> Result<()> {
    let context = integers(10, Security::None, vec![45; 4])?;
    let (giver, receiver, key) = handover(&context)?;
    let stranger = context.generate_keys(seed(9), &bfv::KeyRequest::default())?;
    let encoder = bfv::Encoder::new(&context);
    let fresh = bfv::Encryptor::public(&context, &giver.public, seed(5))?.encrypt(&encoder.encode(&[1, 2, 3])?)?;
    let made = context.reencrypt_for(&fresh, &key, Cover::default(), &seed(6))?;
    for other in [&giver.secret, &stranger.secret] {
        assert!(matches!(bfv::Decryptor::new(&context, other)?.decrypt(&made), Err(Error::KeyMismatch { .. })));
    }
    let own = context.receiver_key(&giver.secret, seed(3))?;
    assert!(matches!(context.reencryption_key_for(&giver.secret, &own, seed(4)), Err(Error::Parameters { .. })));
    let other = integers(10, Security::None, vec![45; 3])?;
    let foreign = other.generate_keys(seed(2), &bfv::KeyRequest::default())?;
    let foreign = other.receiver_key(&foreign.secret, seed(3))?;
    let refused = context.reencryption_key_for(&giver.secret, &foreign, seed(4));
    assert!(matches!(refused, Err(Error::ParameterMismatch { .. })));
    // Files of both keys come back.
    let public = context.receiver_key(&receiver.secret, seed(3))?;
    let bytes = bfv::KeyFile { context: context.clone(), key: public }.to_bytes(&(), Form::Packed);
    let again = bfv::KeyFile::<ReceiverKey>::from_bytes(&(), &bytes)?;
    assert_eq!(again.to_bytes(&(), Form::Packed), bytes);
    assert_eq!(again.key.owner(), receiver.secret.owner());
    let bytes = bfv::KeyFile { context: context.clone(), key }.to_bytes(&(), Form::Packed);
    let again = bfv::KeyFile::<ReencryptionKey>::from_bytes(&(), &bytes)?;
    assert_eq!(again.to_bytes(&(), Form::Packed), bytes);
    let [left, right] = [(&again.key, 6), (&again.key, 6)]
        .map(|(key, byte)| context.reencrypt_for(&fresh, key, Cover::default(), &seed(byte)));
    let made = made.to_bytes(&context, Form::Packed);
    assert!(left?.to_bytes(&context, Form::Packed) == made && right?.to_bytes(&context, Form::Packed) == made);
    Ok(())
}

#[test]
fn reals_go_to_another_owner_by_name_alone() -> Result<()> {
    let (log_q, log_p, security) = (vec![50, 40, 40], vec![50], Security::None);
    let spec = ckks::ParametersSpec { log_n: 11, log_q, log_p, log_scale: 40, security, ..Default::default() };
    let context = ckks::Context::new(spec.build()?)?;
    let [giver, receiver] = [1, 2].map(|byte| context.generate_keys(seed(byte), &ckks::KeyRequest::default()));
    let (giver, receiver) = (giver?, receiver?);
    let public = context.receiver_key(&receiver.secret, seed(3))?;
    let key = context.reencryption_key_for(&giver.secret, &public, seed(4))?;
    let (encoder, decryptor) = (ckks::Encoder::new(&context), ckks::Decryptor::new(&context, &receiver.secret)?);
    let values: Vec<f64> = (0..1024).map(|i| f64::from(i) / 1024.0 - 0.5).collect();
    let fresh =
        ckks::Encryptor::symmetric(&context, &giver.secret, seed(5))?.encrypt(&encoder.encode(&values, 1024, 2)?)?;
    let text = context.reencrypt_for(&fresh, &key, Cover::default(), &seed(6)).err().expect("a flood").to_string();
    assert!(text.contains("Cover::NoFlood") && text.contains("integers of BFV or BGV"), "{text}");
    let made = context.reencrypt_for(&fresh, &key, Cover::NoFlood, &seed(6))?;
    let (bound, found) = (made.error_bound(), decryptor.decrypt_real(&made)?);
    let error = found.iter().zip(&values).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    // Digits as large as P: errors of sigma sqrt(n/12) sqrt(4 n/3) = 2^11 in a coefficient, sqrt(n) times that in a slot at 2^40.
    assert!((bound / 50.0..bound).contains(&error) && bound < libm::exp2(-18.0), "{error} within {bound}");
    Ok(())
}

/// `cargo test -p noren --test reencryption -- --ignored --nocapture`: one core, all limbs.
#[test]
#[ignore = "a measurement, which prints"]
fn gigabytes_of_ciphertext_a_second() -> Result<()> {
    const COUNT: usize = 64;
    for (log_n, log_q, log_p) in [(13, vec![40; 4], vec![50]), (14, vec![45; 7], vec![50, 50])] {
        let spec = bfv::ParametersSpec { log_n, plaintext_modulus: 65537, log_q, log_p, ..Default::default() };
        let context = bfv::Context::with_threads(spec.build()?, Some(1))?;
        let [old, new] = [1, 2].map(|byte| context.generate_keys(seed(byte), &bfv::KeyRequest::default()));
        let (old, new) = (old?, new?);
        let public = context.receiver_key(&new.secret, seed(3))?;
        let keys = [
            context.reencryption_key(&old.secret, &new.secret, seed(3))?,
            context.reencryption_key_for(&old.secret, &public, seed(3))?,
        ];
        let encryptor = bfv::Encryptor::public(&context, &old.public, seed(4))?;
        let fresh = encryptor.encrypt(&bfv::Encoder::new(&context).encode(&[1, 2, 3])?)?;
        let bytes = fresh.to_bytes(&context, Form::Packed).len();
        let stored = vec![fresh; COUNT];
        for (what, key) in ["rotation", "handover"].iter().zip(&keys) {
            let run = || match key.is_for_another_owner() {
                true => context.reencrypt_many_for(&stored, key, Cover::default(), &seed(5)),
                false => context.reencrypt_many(&stored, key),
            };
            run()?;
            let start = std::time::Instant::now();
            run()?;
            let seconds = start.elapsed().as_secs_f64();
            let (each, speed) = (1e3 * seconds / COUNT as f64, (bytes * COUNT) as f64 / seconds / 1e9);
            println!("{what}, n = 2^{log_n}, {bytes} bytes: {each:.2} ms, {speed:.3} GB/s");
        }
    }
    Ok(())
}
