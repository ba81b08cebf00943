//! Re-encryption: the same message under another secret, with the noise of one key switch.

use noren_rlwe::ciphertext::{Ciphertext, Plaintext};
use noren_rlwe::context::Context;
use noren_rlwe::decrypt::decrypt;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::keys::SecretKey;
use noren_rlwe::keyswitch::switch_key;
use noren_rlwe::noise;
use noren_rlwe::parameters::ParametersSpec;
use noren_rlwe::reencryption::ReencryptionKey;
use noren_rlwe::security::Security;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::writer::Form;

use crate::small::{Setup, assert_std, ciphertext_words, seed, spec, words};

/// An old secret beside the one of the set-up, and the key from the old one to that.
fn rotation(setup: &Setup) -> Result<(SecretKey, ReencryptionKey)> {
    let old = KeyGenerator::new(&setup.context, seed(77)).secret();
    let key = setup.generator.reencryption(&old, &setup.secret, None)?;
    Ok((old, key))
}

fn phase(setup: &Setup, secret: &SecretKey, ciphertext: &Ciphertext) -> Result<Plaintext> {
    decrypt(&setup.context, secret, ciphertext)
}

#[test]
fn phases_are_those_under_the_old_secret_with_the_noise_of_a_key_switch() -> Result<()> {
    for (limbs, special, dnum) in [(1, 1, 1), (4, 1, 4), (4, 2, 2), (5, 2, 3)] {
        let setup = Setup::new(spec(12, limbs, special, dnum));
        let (old, key) = rotation(&setup)?;
        assert_eq!((key.from(), key.owner().key, key.limbs()), (old.owner().key, setup.key(), limbs));
        for at in 1..=limbs {
            let stored = setup.arbitrary_under(&old, at, 1, "stored");
            let made = key.reencrypt(&setup.context, &stored)?;
            assert_eq!((made.key_id(), made.limbs(), made.degree()), (setup.key(), at, 1));
            let law = noise::key_switch(setup.parameters(), at);
            let what = format!("{limbs} limbs, {special} special primes, {dnum} digits, at {at}");
            setup.assert_noise(&made, &phase(&setup, &old, &stored)?, law, &what);
            // Word for word: the switch of the second part, and the first one added.
            let [mut c0, c1] = switch_key(&setup.context, &stored.parts()[1], &switching(&setup, &old)?)?;
            let ring = setup.context.ring_q(at);
            ring.add_assign(&mut c0, &stored.parts()[0]);
            let parts = [&c0, &c1].map(|part| words(&setup.context, part)).concat();
            assert_eq!(ciphertext_words(&setup.context, &made), parts, "{what}");
        }
    }
    Ok(())
}

/// The key switching key of the same seed.
fn switching(setup: &Setup, old: &SecretKey) -> Result<noren_rlwe::keys::KeySwitchKey> {
    setup.generator.switching(old, &setup.secret, None)
}

#[test]
fn keys_under_a_public_key_add_the_noise_of_their_law() -> Result<()> {
    for (limbs, special, dnum) in [(1, 1, 1), (4, 1, 4), (4, 2, 2), (5, 2, 3)] {
        let setup = Setup::new(spec(12, limbs, special, dnum));
        let giver = KeyGenerator::new(&setup.context, seed(77)).secret();
        let public = setup.generator.receiver(&setup.secret)?;
        let key = setup.generator.reencryption_for(&giver, &public, None)?;
        for at in 1..=limbs {
            let stored = setup.arbitrary_under(&giver, at, 1, "stored");
            let made = key.reencrypt(&setup.context, &stored)?;
            let law = noise::public_key_switch(setup.parameters(), at);
            let what = format!("{limbs} limbs, {special} special primes, {dnum} digits, at {at}");
            let exact = phase(&setup, &giver, &stored)?;
            setup.assert_noise(&made, &exact, law, &what);
            // An encryption of zero under the same public key adds its own, and a flood of 2^60 what is uniform.
            let covered = key.cover(&setup.context, made.clone(), None, &seed(8))?;
            let fresh = noise::fresh_public(setup.parameters());
            setup.assert_noise(&covered, &exact, (law * law + fresh * fresh).sqrt(), &what);
            if at > 1 {
                let flooded = key.cover(&setup.context, made, Some(60), &seed(8))?;
                setup.assert_noise(&flooded, &exact, 2f64.powi(60) / 3f64.sqrt(), &what);
            }
        }
    }
    Ok(())
}

#[test]
fn rings_of_any_index_re_encrypt() -> Result<()> {
    // 1 modulo 21 * 2 * 64, as transforms of index 21 need them.
    let primes = |bits: u32, count| noren_math::prime::primes_below(1 << bits, 21 * 128).take(count).collect();
    let (q, p) = (primes(40, 3), primes(48, 1));
    let setup = Setup::new(ParametersSpec { index: 21, q, p, security: Security::None, ..ParametersSpec::default() });
    let (old, key) = rotation(&setup)?;
    let stored = setup.arbitrary_under(&old, 3, 1, "stored");
    let made = key.reencrypt(&setup.context, &stored)?;
    let measured = noise::measure(&setup.context, &setup.secret, &made, &phase(&setup, &old, &stored)?)?;
    // Of 12 coefficients a deviation is known to a factor.
    assert!(measured.max < 20.0 * noise::key_switch(setup.parameters(), 3), "{measured:?}");
    Ok(())
}

#[test]
fn a_part_alone_and_a_seeded_ciphertext_re_encrypt() -> Result<()> {
    let setup = Setup::new(spec(10, 2, 1, 2));
    let (old, key) = rotation(&setup)?;
    let clear = setup.arbitrary_under(&old, 2, 0, "clear");
    let made = key.reencrypt(&setup.context, &clear)?;
    let (found, needed) = (phase(&setup, &setup.secret, &made)?, phase(&setup, &old, &clear)?);
    assert_eq!(words(&setup.context, &found.poly), words(&setup.context, &needed.poly));
    let encryptor = noren_rlwe::encrypt::Encryptor::symmetric(&setup.context, &old, seed(5))?;
    let fresh = encryptor.encrypt(&setup.plaintext(2, "message"))?;
    let made = key.reencrypt(&setup.context, &fresh)?;
    assert!(fresh.seed().is_some() && made.seed().is_none());
    let law =
        (noise::key_switch(setup.parameters(), 2).powi(2) + noise::fresh_symmetric(setup.parameters()).powi(2)).sqrt();
    let measured = noise::measure(&setup.context, &setup.secret, &made, &setup.plaintext(2, "message"))?;
    assert_std(measured.std, law, 1 << 10, "a fresh ciphertext");
    Ok(())
}

#[test]
fn what_is_not_re_encrypted_is_named() -> Result<()> {
    let setup = Setup::new(spec(10, 3, 1, 3));
    let (old, key) = rotation(&setup)?;
    let refused = |ciphertext: &Ciphertext| key.reencrypt(&setup.context, ciphertext).err();
    let product = setup.arbitrary_under(&old, 3, 2, "product");
    assert!(matches!(refused(&product), Some(Error::DegreeTooHigh { found: 2, needed: 1 })));
    let foreign = setup.arbitrary(3, 1, "under the new key already");
    let text = refused(&foreign).expect("another secret").to_string();
    assert!(
        text.contains(&format!("the ciphertext belongs to key {}, in use is key {}", setup.key(), key.from())),
        "{text}"
    );
    let short = setup.generator.reencryption(&old, &setup.secret, Some(2))?;
    let long = short.reencrypt(&setup.context, &setup.arbitrary_under(&old, 3, 1, "long")).err();
    assert!(matches!(long, Some(Error::KeyLevel { found: 2, needed: 3, .. })));

    let same = setup.generator.reencryption(&setup.secret, &setup.secret, None).err();
    assert!(matches!(same, Some(Error::Parameters { name: "new secret key", .. })));
    let other = Setup::new(spec(10, 2, 1, 2));
    for (from, to) in [(&other.secret, &setup.secret), (&old, &other.secret)] {
        assert!(matches!(setup.generator.reencryption(from, to, None).err(), Some(Error::ParameterMismatch { .. })));
    }
    let foreign = key.reencrypt(&other.context, &other.arbitrary(2, 1, "foreign")).err();
    assert!(matches!(foreign, Some(Error::ParameterMismatch { .. })));
    let plain = Setup::new(spec(10, 2, 0, 0));
    let another = KeyGenerator::new(&plain.context, seed(9)).secret();
    let text = plain.generator.reencryption(&plain.secret, &another, None).expect_err("no special primes").to_string();
    assert!(text.contains("decrypt and encrypt anew, with parameters that have some (log_p)"), "{text}");
    Ok(())
}

#[test]
fn keys_come_back_from_bytes_and_others_are_refused() -> Result<()> {
    let setup = Setup::new(spec(10, 3, 1, 3));
    let (old, key) = rotation(&setup)?;
    let context: &Context = &setup.context;
    for form in [Form::Raw, Form::Packed] {
        let bytes = key.to_bytes(context, form);
        let again = ReencryptionKey::from_bytes(context, &bytes)?;
        assert_eq!(again.to_bytes(context, form), bytes);
        let stored = setup.arbitrary_under(&old, 3, 1, "stored");
        let made =
            [&key, &again].map(|key| key.reencrypt(context, &stored).map(|made| ciphertext_words(context, &made)));
        let [left, right] = made;
        assert_eq!(left?, right?);
    }
    // A key of relinearisation has the sections of one that leads from a secret to itself.
    let bytes = setup.generator.relinearization(&setup.secret, None)?.to_bytes(context, Form::Packed);
    let (kind, digest) = (8 + 2..8 + 4, 64..96);
    let mut other = bytes.clone();
    other[kind].copy_from_slice(&noren_rlwe::wire::kind::Kind::REENCRYPTION_KEY.code().to_le_bytes());
    let limits = noren_rlwe::wire::reader::Limits { check_digest: false, ..Default::default() };
    other[digest].fill(0);
    let refused = ReencryptionKey::from_bytes_within(context, &other, &limits).err();
    assert!(matches!(refused, Some(Error::Parameters { .. })), "{refused:?}");
    Ok(())
}
