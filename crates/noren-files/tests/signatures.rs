//! Signed files, as a server or a stranger changes them.

mod place;

use std::fs;
use std::io::Cursor;
use std::path::Path;

use minisign::{KeyPair, PublicKeyBox, SecretKeyBox, SignatureBox};
use noren_files::error::{Error, Reason, Result};
use noren_files::passphrase::{Passphrase, Work};
use noren_files::signature::{Requirements, Signature, path_of, sign_file, verify_bytes, verify_file};
use noren_files::signer::Signer;
use noren_files::signing_key::SigningKey;
use noren_rlwe::error::Error as LibraryError;
use noren_rlwe::owner::KeyId;
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::publish::Existing;
use noren_rlwe::wire::writer::{Form, Writer};
use place::Place;

/// More than the pieces in which files are read.
const LONG: usize = (1 << 21) + 12_345;

fn content() -> Vec<u8> {
    (0..LONG as u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn key() -> SigningKey {
    SigningKey::generate().expect("randomness")
}

fn reason<T>(result: Result<T>) -> Reason {
    match result.err().expect("refused") {
        Error::File { reason, .. } => reason,
        other => panic!("{other}"),
    }
}

/// Both ways to verify, which must agree.
fn verify(path: &Path, signer: &Signer) -> Result<Signature> {
    let [of_file, of_bytes] = [
        verify_file(path, signer, &Requirements::default()),
        verify_bytes(path, &fs::read(path).expect("there"), signer, &Requirements::default()),
    ];
    assert_eq!(
        of_file.as_ref().map(|_| ()).map_err(ToString::to_string),
        of_bytes.map(|_| ()).map_err(|e| e.to_string())
    );
    of_file
}

#[test]
fn signed_files_are_verified_until_a_bit_of_them_changes() {
    let (place, key) = (Place::new("flip"), key());
    let path = place.path("table.ct");
    for content in [Vec::new(), vec![7], content()] {
        fs::write(&path, &content).expect("writable");
        sign_file(&path, &key, Existing::Replace, None).expect("signed");
        let signature = verify(&path, &key.signer()).expect("unchanged");
        assert_eq!(signature.name(), Some("table.ct"));
        for at in (0..content.len()).step_by(content.len() / 7 + 1).chain(content.len().checked_sub(1)) {
            let mut changed = content.clone();
            changed[at] ^= 0x10;
            fs::write(&path, &changed).expect("writable");
            assert_eq!(reason(verify(&path, &key.signer())), Reason::WrongSignature, "byte {at}");
        }
        fs::write(&path, [&content[..], b"x"].concat()).expect("writable");
        assert_eq!(reason(verify(&path, &key.signer())), Reason::WrongSignature);
        if !content.is_empty() {
            fs::write(&path, &content[1..]).expect("writable");
            assert_eq!(reason(verify(&path, &key.signer())), Reason::WrongSignature);
            fs::write(&path, &content[..content.len() - 1]).expect("writable");
            assert_eq!(reason(verify(&path, &key.signer())), Reason::WrongSignature);
        }
    }
}

#[test]
fn no_changed_signature_is_verified_nor_one_of_another_file_name_or_signer() {
    let (place, key) = (Place::new("swap"), key());
    let [path, other] = ["a.ct", "b.ct"].map(|name| place.path(name));
    fs::write(&path, b"first").expect("writable");
    fs::write(&other, b"second").expect("writable");
    for path in [&path, &other] {
        sign_file(path, &key, Existing::Keep, None).expect("signed");
    }
    let signature = fs::read(path_of(&path)).expect("there");
    let text = String::from_utf8(signature.clone()).expect("text");
    let signed = text.lines().next().expect("a comment").len() + 1;
    for at in signed..signature.len() {
        let mut changed = signature.clone();
        changed[at] ^= 1 << (at % 7);
        fs::write(path_of(&path), &changed).expect("writable");
        let refused = verify(&path, &key.signer());
        // The end of a line may become another, and base64 has no other form of the same bytes.
        assert!(refused.is_err() || changed[at] == b'\r' || signature[at] == b'\n', "byte {at}");
    }
    for length in 0..signature.len() - 1 {
        fs::write(path_of(&path), &signature[..length]).expect("writable");
        assert!(verify(&path, &key.signer()).is_err(), "{length} bytes");
    }
    // The untrusted comment is not signed, and may be anything.
    fs::write(path_of(&path), text.replacen("signature by key", "Signed by", 1)).expect("writable");
    verify(&path, &key.signer()).expect("the same signature");
    // The signature of another file, and another file with its signature.
    fs::copy(path_of(&other), path_of(&path)).expect("writable");
    assert_eq!(reason(verify(&path, &key.signer())), Reason::WrongSignature);
    fs::copy(&other, &path).expect("writable");
    let refused = reason(verify(&path, &key.signer()));
    assert_eq!(refused, Reason::Name { found: "\"b.ct\"".to_owned(), needed: "\"a.ct\"".to_owned() });
    verify_file(&path, &key.signer(), &Requirements { any_name: true, ..Requirements::default() }).expect("asked for");
    // The same content signed by somebody else.
    sign_file(&path, &self::key(), Existing::Replace, None).expect("signed");
    assert!(matches!(reason(verify(&path, &key.signer())), Reason::OtherSigner { .. }));
    // By somebody else under the identity of the signer, who chooses it.
    let forger = Signature::from_text(&fs::read_to_string(path_of(&path)).expect("text")).expect("a signature");
    let mut stolen = forger.to_text().into_bytes();
    let [id, ours] = [&stolen, &signature].map(|text| text.iter().position(|&byte| byte == b'\n').expect("a line") + 1);
    stolen[id..id + 12].copy_from_slice(&signature[ours..ours + 12]);
    fs::write(path_of(&path), stolen).expect("writable");
    assert!(verify(&path, &key.signer()).is_err());
}

#[test]
fn a_signature_that_is_missing_huge_or_no_file_is_refused() {
    let (place, key) = (Place::new("missing"), key());
    let path = place.path("a.ct");
    fs::write(&path, b"first").expect("writable");
    assert!(matches!(reason(verify(&path, &key.signer())), Reason::NoSignature { .. }));
    let signature = fs::File::create(path_of(&path)).expect("writable");
    signature.set_len(1 << 40).expect("a sparse file");
    let refused = verify(&path, &key.signer());
    assert!(matches!(refused, Err(Error::Library(LibraryError::Io { .. }))));
    fs::remove_file(path_of(&path)).expect("own file");
    fs::create_dir(path_of(&path)).expect("writable");
    assert!(verify(&path, &key.signer()).is_err());
    #[cfg(unix)]
    {
        fs::remove_dir(path_of(&path)).expect("own directory");
        let made = std::process::Command::new("mkfifo").arg(path_of(&path)).status().expect("mkfifo is there");
        assert!(made.success());
        let refused = verify(&path, &key.signer()).expect_err("refused").to_string();
        assert!(refused.contains("a FIFO"), "{refused}");
        assert!(sign_file(&path, &key, Existing::Replace, None).is_err());
        assert!(verify_file(&path_of(&path), &key.signer(), &Requirements::default()).is_err());
    }
}

#[test]
fn signatures_replace_nothing_unless_that_is_asked_for_and_names_are_plain() {
    let (place, key) = (Place::new("keep"), key());
    let path = place.path("a.ct");
    fs::write(&path, b"first").expect("writable");
    sign_file(&path, &key, Existing::Keep, None).expect("signed");
    let before = fs::read(path_of(&path)).expect("there");
    let refused = sign_file(&path, &key, Existing::Keep, None);
    assert!(matches!(refused, Err(Error::Library(LibraryError::Exists { .. }))));
    assert!(fs::read(path_of(&path)).expect("there") == before);
    for name in ["a\nb", "a\tfile:b", " a", "a "] {
        let path = place.path(name);
        fs::write(&path, b"first").expect("writable");
        assert!(matches!(reason(sign_file(&path, &key, Existing::Keep, None)), Reason::Unnameable { .. }), "{name:?}");
        assert!(!path_of(&path).exists());
    }
    assert!(sign_file(&place.path("missing"), &key, Existing::Keep, None).is_err());
    assert_eq!(place.names(), [" a", "a\tfile:b", "a\nb", "a ", "a.ct", "a.ct.minisig"]);
}

#[test]
fn signing_keys_come_back_and_are_refused_when_changed() {
    let (place, key) = (Place::new("key"), key());
    let passphrase = Passphrase::new("of the signer").expect("not empty");
    let path = place.path("signing.key");
    for protection in [None, Some((&passphrase, Work::LEAST))] {
        key.write(&path, protection).expect("written");
        assert_eq!(SigningKey::needs_passphrase(&path).expect("a key"), protection.is_some());
        let back = SigningKey::read(&path, Some(&passphrase)).expect("a key");
        assert_eq!(back.signer(), key.signer());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
        }
        let text = fs::read(&path).expect("there");
        let start = text.iter().position(|&byte| byte == b'\n').expect("a comment") + 1;
        for at in start..text.len() - 1 {
            let mut changed = text.clone();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).expect("text");
            if let Ok(found) = SigningKey::from_text(&changed, Some(&passphrase)) {
                // A salt that is not used, and limits that give the same N.
                assert!(found.signer() == key.signer(), "byte {at}");
            }
        }
    }
    assert_eq!(reason(SigningKey::read(&path, None)), Reason::PassphraseNeeded);
    let wrong = Passphrase::new("of another").expect("not empty");
    assert_eq!(reason(SigningKey::read(&path, Some(&wrong))), Reason::WrongPassphrase);
    let text = fs::read_to_string(&path).expect("text");
    let clear = key.to_text(None).expect("randomness");
    let secret = &clear.lines().nth(1).expect("a key")[84..168];
    assert!(!text.contains(secret));
}

#[test]
fn limits_of_signing_keys_are_bounded() {
    let passphrase = Passphrase::new("of the signer").expect("not empty");
    let text = key().to_text(Some((&passphrase, Work::LEAST))).expect("randomness");
    let (comment, line) = text.split_once('\n').expect("two lines");
    let bytes = base64_bytes(line.trim_end());
    let begun = std::time::Instant::now();
    for (operations, memory) in [
        (u64::MAX, u64::MAX),
        (u64::MAX, 1 << 20),
        (1 << 58, u64::MAX),
        (u64::MAX, 0),
        (1 << 40, 1 << 40),
        (1 << 27, 1 << 31),
        (1 << 30, 1 << 30),
    ] {
        let mut forged = bytes.clone();
        forged[38..46].copy_from_slice(&operations.to_le_bytes());
        forged[46..54].copy_from_slice(&memory.to_le_bytes());
        let forged = format!("{comment}\n{}\n", base64_text(&forged));
        let refused = SigningKey::from_text(&forged, Some(&passphrase)).err().expect("refused");
        assert!(!refused.to_string().is_empty());
    }
    assert!(begun.elapsed() < std::time::Duration::from_secs(1));
}

fn base64_bytes(text: &str) -> Vec<u8> {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.decode(text).expect("base64")
}

fn base64_text(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

#[test]
fn weak_and_other_public_keys_are_refused() {
    let signer = key().signer();
    assert_eq!(Signer::from_text(&signer.to_text()).expect("a key"), signer);
    let mut bytes = base64_bytes(&signer.to_string());
    for key in [[0; 32], std::array::from_fn(|index| u8::from(index == 0))] {
        bytes[10..].copy_from_slice(&key);
        let text = format!("untrusted comment: weak\n{}\n", base64_text(&bytes));
        assert!(Signer::from_text(&text).is_err(), "{key:?}");
    }
    let text = signer.to_text();
    for text in [text.replace("untrusted", "trusted"), text.clone() + "more", text[..40].to_owned(), String::new()] {
        assert!(Signer::from_text(&text).is_err());
    }
}

/// A container of this kind, with the identity of an owner if it has one.
fn container(kind: Kind, owner: Option<[u8; KeyId::BYTES]>) -> Vec<u8> {
    let mut writer = Writer::new(kind, [7; 32], Form::Packed);
    writer.bytes(0x0001, b"more".to_vec());
    if let Some(owner) = owner {
        writer.bytes(0x0103, owner.to_vec());
    }
    writer.to_bytes()
}

#[test]
fn a_signature_says_what_a_container_is_for() {
    let (place, key) = (Place::new("purpose"), key());
    let path = place.path("a.ct");
    let [ours, theirs] = [[5; KeyId::BYTES], [6; KeyId::BYTES]].map(KeyId);
    fs::write(&path, container(Kind::CKKS_CIPHERTEXT, Some(ours.0))).expect("writable");
    sign_file(&path, &key, Existing::Keep, None).expect("signed");
    let found = verify(&path, &key.signer()).expect("unchanged");
    assert!(found.comment().ends_with(&format!("\tkind:CKKS ciphertext\towner:{}", "05".repeat(16))), "{found:?}");
    let kinds = [Kind::TABLE, Kind::CKKS_CIPHERTEXT];
    let check = |requirements: Requirements<'_>| verify_file(&path, &key.signer(), &requirements);
    check(Requirements { kinds: &kinds, owner: Some(ours), any_name: false }).expect("as it was signed");
    let refused = reason(check(Requirements { kinds: &kinds[..1], ..Requirements::default() }));
    assert!(
        matches!(&refused, Reason::Purpose { what: "kind", needed, .. } if needed == "encrypted table"),
        "{refused}"
    );
    let refused = reason(check(Requirements { owner: Some(theirs), any_name: true, kinds: &[] }));
    assert!(
        matches!(&refused, Reason::Purpose { what: "owner", needed, .. } if *needed == theirs.to_hex()),
        "{refused}"
    );
    // Objects without an owner serve all owners, but for secret keys; files that are no containers have no kind.
    for (content, serves) in [
        (container(Kind::CKKS_PARAMETERS, None), true),
        (container(Kind::CKKS_SECRET_KEY, None), false),
        (b"a table in clear".to_vec(), true),
    ] {
        fs::write(&path, content).expect("writable");
        sign_file(&path, &key, Existing::Replace, None).expect("signed");
        assert_eq!(check(Requirements { owner: Some(ours), ..Requirements::default() }).is_ok(), serves);
        assert!(check(Requirements { kinds: &kinds, ..Requirements::default() }).is_err());
    }
}

#[test]
fn a_signature_that_does_not_say_what_a_container_is_for_is_refused() {
    let (place, key) = (Place::new("purposeless"), key());
    let path = place.path("a.ct");
    let content = container(Kind::CKKS_CIPHERTEXT, Some([5; KeyId::BYTES]));
    fs::write(&path, &content).expect("writable");
    let clear = SecretKeyBox::from(key.to_text(None).expect("a key").to_string()).into_unencrypted_secret_key();
    let secret = clear.expect("a key");
    let owner = "05".repeat(16);
    for (more, needed) in [
        // minisign, and early versions of noren.
        (String::new(), "sign it again"),
        ("\tkind:CKKS ciphertext".to_owned(), "sign it again"),
        (format!("\towner:{owner}"), "sign it again"),
        (
            format!("\tkind:encrypted table\towner:{owner}"),
            "another kind: found encrypted table, needed: CKKS ciphertext",
        ),
    ] {
        let comment = format!("timestamp:1\tfile:a.ct\thashed{more}");
        let made = minisign::sign(None, &secret, Cursor::new(&content), Some(&comment), None);
        fs::write(path_of(&path), made.expect("signed").to_bytes()).expect("writable");
        let refused = reason(verify(&path, &key.signer())).to_string();
        assert!(refused.contains(needed), "{comment}: {refused}");
    }
    let comment = format!("timestamp:1\tfile:a.ct\thashed\tkind:CKKS ciphertext\towner:{owner}");
    let made = minisign::sign(None, &secret, Cursor::new(&content), Some(&comment), None);
    fs::write(path_of(&path), made.expect("signed").to_bytes()).expect("writable");
    verify(&path, &key.signer()).expect("all is said");
    // A kind of what is no container.
    fs::write(&path, b"text").expect("writable");
    let made = minisign::sign(None, &secret, Cursor::new(b"text"), Some(&comment), None);
    fs::write(path_of(&path), made.expect("signed").to_bytes()).expect("writable");
    assert!(matches!(reason(verify(&path, &key.signer())), Reason::Purpose { what: "kind", .. }));
}

#[test]
fn another_implementation_verifies_and_signs_the_same_way() {
    let (place, key) = (Place::new("interop"), key());
    let path = place.path("a.ct");
    fs::write(&path, content()).expect("writable");
    // Signed here, verified there.
    sign_file(&path, &key, Existing::Keep, None).expect("signed");
    let signature = SignatureBox::from_file(path_of(&path)).expect("a signature");
    let public = PublicKeyBox::from(key.signer().to_text()).into_public_key().expect("a key");
    minisign::verify(&public, &signature, Cursor::new(content()), true, false, false).expect("verified");
    // Signed there, by a key from here, and by one from there.
    let passphrase = Passphrase::new("of the signer").expect("not empty");
    let ours = key.to_text(Some((&passphrase, Work::LEAST))).expect("randomness");
    let ours = SecretKeyBox::from(ours.to_string()).into_secret_key(Some("of the signer".to_owned())).expect("a key");
    let clear = SecretKeyBox::from(key.to_text(None).expect("a key").to_string()).into_unencrypted_secret_key();
    let theirs = KeyPair::generate_encrypted_keypair(Some("of the signer".to_owned())).expect("randomness");
    for secret in [ours, clear.expect("a key")] {
        let made = minisign::sign(None, &secret, Cursor::new(content()), Some("timestamp:1\tfile:a.ct\thashed"), None);
        fs::write(path_of(&path), made.expect("signed").to_bytes()).expect("writable");
        verify(&path, &key.signer()).expect("verified");
    }
    let text = theirs.sk.to_box(None).expect("text").to_string();
    let back = SigningKey::from_text(&text, Some(&passphrase)).expect("a key");
    let public = Signer::from_text(&theirs.pk.to_box().expect("text").to_string()).expect("a key");
    assert_eq!(back.signer(), public);
}
