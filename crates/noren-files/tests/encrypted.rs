//! Keys under a passphrase, as an attacker or an accident leaves them.

mod place;

use std::io::Read;

use age::secrecy::SecretString;
use noren_files::encrypted::{self, MOST_BYTES};
use noren_files::error::{Error, Reason};
use noren_files::passphrase::{Passphrase, Work};
use noren_math::random::Seed;
use noren_rlwe::context::Context;
use noren_rlwe::error::Error as LibraryError;
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::keys::{PublicKey, SecretKey};
use noren_rlwe::parameters::ParametersSpec;
use noren_rlwe::security::Security;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::publish::{Destination, Existing};
use noren_rlwe::wire::reader::Limits;
use noren_rlwe::wire::writer::Form;
use place::Place;

fn context() -> Context {
    let spec =
        ParametersSpec { index: 2 << 6, q: vec![257, 769], security: Security::None, ..ParametersSpec::default() };
    Context::new(spec.build().expect("valid")).expect("small")
}

fn secret(context: &Context) -> SecretKey {
    KeyGenerator::new(context, Seed::from_bytes([1; 32])).secret()
}

fn right() -> Passphrase {
    Passphrase::new("correct horse battery staple").expect("not empty")
}

fn reason(error: Error) -> Reason {
    match error {
        Error::File { reason, .. } => reason,
        other => panic!("{other}"),
    }
}

#[test]
fn a_key_comes_back_under_its_passphrase_and_lies_nowhere_in_clear() {
    let (place, context) = (Place::new("roundtrip"), context());
    let (secret, path) = (secret(&context), place.path("secret.key"));
    encrypted::write(&secret, &context, Destination::keeping(&path), &right(), Work::LEAST).expect("written");
    let back: SecretKey = encrypted::read(&context, &path, &Limits::default(), Some(&right())).expect("opened");
    let clear = secret.to_bytes(&context, Form::Packed);
    assert!(back.to_bytes(&context, Form::Packed) == clear);
    assert_eq!(back.owner().key, secret.owner().key);
    let bytes = std::fs::read(&path).expect("there");
    assert!(encrypted::is_encrypted(&bytes));
    // No 16 bytes of the container that are not padding are in the file.
    for window in clear.windows(16).filter(|window| window.iter().any(|&byte| byte != window[0])) {
        assert!(!bytes.windows(16).any(|found| found == window), "a part of the key is in clear");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(place.names(), ["secret.key"]);
    // A file that exists is kept.
    let again = encrypted::write(&secret, &context, Destination::keeping(&path), &right(), Work::LEAST);
    assert!(matches!(again, Err(Error::Library(LibraryError::Exists { .. }))));
    assert!(std::fs::read(&path).expect("there") == bytes);
}

#[test]
fn keys_in_clear_are_read_with_and_without_a_passphrase() {
    let (place, context) = (Place::new("clear"), context());
    let (secret, path) = (secret(&context), place.path("secret.key"));
    secret.write_file(&context, Form::Packed, &path).expect("written");
    for passphrase in [None, Some(&right())] {
        encrypted::read::<SecretKey>(&context, &path, &Limits::default(), passphrase).expect("needs none");
    }
}

#[test]
fn secrets_that_are_bytes_come_back_with_and_without_a_passphrase() {
    let place = Place::new("bytes");
    let path = place.path("secret");
    for passphrase in [None, Some(right())] {
        encrypted::write_secret(
            b"a secret",
            Destination { path: &path, existing: Existing::Replace },
            passphrase.as_ref(),
        )
        .expect("written");
        assert_eq!(encrypted::is_encrypted_file(&path).expect("a file"), passphrase.is_some());
        assert_eq!(encrypted::read_secret(&path, Some(&right())).expect("read").as_slice(), b"a secret");
    }
    let refused = encrypted::read_secret(&path, None).map(drop).expect_err("under a passphrase");
    assert_eq!(reason(refused), Reason::PassphraseNeeded);
}

#[test]
fn other_passphrases_other_kinds_and_no_passphrase_are_refused() {
    let (place, context) = (Place::new("wrong"), context());
    let path = place.path("secret.key");
    encrypted::write(&secret(&context), &context, &path, &right(), Work::LEAST).expect("written");
    let read = |passphrase: Option<&str>| {
        let passphrase = passphrase.map(|text| Passphrase::new(text).expect("not empty"));
        let read = encrypted::read::<SecretKey>(&context, &path, &Limits::default(), passphrase.as_ref());
        reason(read.err().expect("refused"))
    };
    assert_eq!(read(None), Reason::PassphraseNeeded);
    for wrong in ["correct horse battery staple ", "Correct horse battery staple", "x"] {
        assert_eq!(read(Some(wrong)), Reason::WrongPassphrase);
    }
    let other = encrypted::read::<PublicKey>(&context, &path, &Limits::default(), Some(&right()));
    assert!(matches!(other, Err(Error::Library(LibraryError::WrongKind { .. }))));
}

#[test]
fn no_changed_or_shortened_file_gives_a_key() {
    let context = context();
    let clear = secret(&context).to_bytes(&context, Form::Packed);
    let bytes = encrypted::encrypt(&clear, &right(), Work::LEAST).expect("randomness");
    let header = bytes.windows(5).position(|window| window == b"\n--- ").expect("a header");
    // The header all over; of the rest, the nonce, the chunk's edges and some places in between.
    let places = (0..header + 100).chain((header + 100..bytes.len()).step_by(97)).chain(bytes.len() - 20..bytes.len());
    for at in places {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        assert!(encrypted::decrypt(&changed, &right()).is_err(), "byte {at}");
    }
    for length in (0..bytes.len()).step_by(13).chain(bytes.len() - 20..bytes.len()) {
        assert!(encrypted::decrypt(&bytes[..length], &right()).is_err(), "{length} bytes");
    }
    assert!(encrypted::decrypt(&[&bytes[..], b"x"].concat(), &right()).is_err());
    assert!(*encrypted::decrypt(&bytes, &right()).expect("unchanged") == clear);
}

#[test]
fn work_without_bound_is_refused_at_once() {
    let bytes = encrypted::encrypt(b"key", &right(), Work::LEAST).expect("randomness");
    let text = String::from_utf8_lossy(&bytes[..80]).into_owned();
    let line = text.lines().nth(1).expect("a stanza").to_owned();
    let begun = std::time::Instant::now();
    for log_n in ["21", "25", "63", "64", "255", "256", "99999999999999999999", "-1", "0", "010"] {
        let forged = line.strip_suffix("10").expect("the least work").to_owned() + log_n;
        let forged = [text.lines().next().expect("a version"), &forged].join("\n").into_bytes();
        let forged = [&forged[..], &bytes[22 + line.len()..]].concat();
        let refused = encrypted::decrypt(&forged, &right()).expect_err("refused");
        if let Ok(found @ 21..=255) = log_n.parse() {
            assert_eq!(refused, Reason::Work { found, limit: 20 });
        }
        assert!(!refused.to_string().is_empty());
    }
    assert!(begun.elapsed() < std::time::Duration::from_secs(2));
    assert_eq!((Work::new(9), Work::new(21)), (None, None));
}

#[test]
fn what_is_encrypted_to_keys_armored_or_too_large_is_refused() {
    let identity = age::x25519::Identity::generate();
    let bytes = age::encrypt(&identity.to_public(), b"key").expect("memory");
    assert!(matches!(encrypted::decrypt(&bytes, &right()), Err(Reason::Recipient { .. })));
    let armored = b"-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n-----END AGE ENCRYPTED FILE-----\n";
    assert!(encrypted::is_encrypted(armored));
    assert!(matches!(encrypted::decrypt(armored, &right()), Err(Reason::Recipient { .. })));
    let place = Place::new("large");
    let path = place.path("large.key");
    std::fs::write(&path, b"age-encryption.org/v1\n").expect("writable");
    let file = std::fs::File::options().write(true).open(&path).expect("own file");
    file.set_len(MOST_BYTES + 1).expect("a sparse file");
    let refused = encrypted::read_bytes(&path, Some(&right()));
    assert!(matches!(refused, Err(Error::Library(LibraryError::Io { .. }))));
}

#[test]
fn age_opens_what_is_written_and_what_age_writes_is_opened() {
    let bytes = encrypted::encrypt(b"some key", &right(), Work::LEAST).expect("randomness");
    let passphrase = || SecretString::from("correct horse battery staple");
    let identity = age::scrypt::Identity::new(passphrase());
    assert_eq!(age::decrypt(&identity, &bytes).expect("opened"), b"some key");
    let mut recipient = age::scrypt::Recipient::new(passphrase());
    recipient.set_work_factor(11);
    let bytes = age::encrypt(&recipient, b"some key").expect("memory");
    assert_eq!(*encrypted::decrypt(&bytes, &right()).expect("opened"), b"some key");
    // As `age -d` streams it.
    let mut content = Vec::new();
    let decryptor = age::Decryptor::new(&bytes[..]).expect("a header");
    let mut reader = decryptor.decrypt(std::iter::once(&identity as _)).expect("opened");
    reader.read_to_end(&mut content).expect("whole");
    assert_eq!(content, b"some key");
}

#[test]
fn passphrases_are_first_lines_and_not_empty() {
    let place = Place::new("passphrase");
    let read = |content: &[u8]| {
        std::fs::write(place.path("file"), content).expect("writable");
        Passphrase::from_file(&place.path("file"))
    };
    for content in
        [&b"correct horse battery staple"[..], b"correct horse battery staple\n", b"correct horse battery staple\r\nx"]
    {
        assert!(read(content).expect("a passphrase") == right());
    }
    assert!(read(b"other").expect("a passphrase") != right());
    assert_eq!(read(b"\nsecond line").map_err(reason).err(), Some(Reason::EmptyPassphrase));
    assert!(matches!(read(b"\xff").map_err(reason).err(), Some(Reason::Malformed { .. })));
    assert!(matches!(read(&[b'a'; 1025]).map_err(reason).err(), Some(Reason::LongPassphrase { found: 1025, .. })));
    assert!(matches!(read(&[b'a'; 1 << 17]), Err(Error::Library(LibraryError::Io { .. }))));
}
