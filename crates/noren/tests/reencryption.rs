//! Re-encryption: what is encrypted under an old key decrypts under a new one, in every scheme.

use noren::schemes::integers::{Encryptor, Evaluator, Scheme};
use noren::wire::{Form, Object};
use noren::{Error, ReencryptionKey, Result, Security, Seed, bfv, bgv, ckks};

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
