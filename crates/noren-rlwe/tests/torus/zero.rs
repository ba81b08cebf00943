//! Secrets that hide nothing are refused, and are never drawn.

use noren_rlwe::error::Error;
use noren_rlwe::torus::keygen::TorusKeyGenerator;
use noren_rlwe::torus::secret::TorusSecret;
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::writer::{Form, Writer};

use crate::world::{seed, small};

/// The bytes of a secret with these bits, as somebody else could write them: `docs/wire.md` has the tags.
fn forged(parameters: &<TorusSecret as Object>::Context, short: &[i8], long: &[i8]) -> Vec<u8> {
    let mut writer = Writer::new(Kind::TORUS_SECRET, parameters.fingerprint(), Form::Packed);
    writer.bytes(0x0101, vec![7; 16]);
    writer.small(0x0102, short, 2);
    writer.small(0x0103, long, 2);
    writer.to_bytes()
}

#[test]
fn secrets_that_are_zero_are_refused() {
    let parameters = small().build().expect("parameters");
    let secret = TorusKeyGenerator::new(&parameters, &seed(1)).secret();
    let (short, long) = (secret.short_bits(), secret.long_bits());
    assert!(short.contains(&1) && long.contains(&1));
    let (no_short, no_long) = (vec![0; short.len()], vec![0; long.len()]);
    let read = |short: &[i8], long: &[i8]| TorusSecret::from_bytes(&parameters, &forged(&parameters, short, long));
    assert!(read(short, long).is_ok());
    for (short, long, needed) in [
        (&no_short[..], long, "short secret"),
        (short, &no_long[..], "long secret"),
        (&no_short, &no_long, "short secret"),
    ] {
        let refused = read(short, long);
        let Err(Error::ZeroKey { key }) = refused else { panic!("{needed}: {:?}", refused.err()) };
        assert!(key.contains(needed), "{key}");
    }
}
