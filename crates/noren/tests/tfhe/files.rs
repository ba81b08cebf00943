//! Files of keys: written while keys are made, used where they lie; and what is refused of them.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use noren::Seed;
use noren::error::Error;
use noren::tfhe::{CompactKeys, Context, Decryptor, Encoding, Encryptor, Evaluator, Gate, KeyFile, ServerKeyFile};
use noren::wire::{Form, Limits, Object};
use noren_math::kernels::is_fastest;

use crate::world::{INTEGERS_2_2, World, seed, small_spec};

/// A path of this process, whose file is removed at the end.
pub struct Place(pub PathBuf);

impl Place {
    pub fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("noren-tfhe-{}-{name}", std::process::id())))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn keys_that_are_written_while_they_are_made_are_those_of_the_whole() {
    // More bodies than a piece has: some pieces, the last one shorter.
    let mut spec = small_spec(Encoding::Bits);
    spec.torus.n = 101;
    let place = Place::new("compact");
    for threads in [1, 3] {
        let context =
            Context::with_threads(spec.clone().build().expect("parameters"), Some(threads)).expect("a context");
        let secret = context.secret_key(&seed(7));
        let key = context.compact_keys(&seed(7), &secret).expect("its own secret");
        let whole = KeyFile { parameters: context.parameters().clone(), key }.to_bytes(&(), Form::Packed);
        let written = context.write_compact_keys(&seed(7), &secret, &place.0).expect("a file");
        assert_eq!(written, whole.len() as u64);
        assert!(fs::read(&place.0).expect("the file") == whole, "{threads} threads");
        KeyFile::<CompactKeys>::read_file(&(), &place.0, &Limits::default()).expect("its own bytes");

        let other = Context::new(small_spec(Encoding::Bits).build().expect("parameters")).expect("a context");
        let refused = context.write_compact_keys(&seed(7), &other.secret_key(&seed(7)), &place.0);
        assert!(matches!(refused, Err(Error::ParameterMismatch { .. })));
        assert!(fs::read(&place.0).expect("the file") == whole, "a refusal leaves the file as it was");
    }
}

#[test]
fn keys_of_another_seed_are_for_the_secret_and_share_no_mask_with_those_of_another() {
    let context = Context::new(small_spec(Encoding::Bits).build().expect("parameters")).expect("a context");
    let [secret, other] = [7, 8].map(|byte| context.secret_key(&seed(byte)));
    let keys = |secret| context.compact_keys(&seed(9), secret).expect("keys");
    let masks = |keys: &CompactKeys| keys.to_bytes(context.parameters().torus(), Form::Packed);
    assert!(masks(&keys(&secret)) != masks(&keys(&other)));
    let server = Arc::new(context.expand(&keys(&secret)).expect("its own keys"));
    assert_eq!(*server.owner(), secret.owner());
    let encryptor = Encryptor::new(&context, &secret, seed(1)).expect("its own key");
    let [x, y] = [true, false].map(|bit| encryptor.encrypt_bit(bit).expect("a bit"));
    let found = Evaluator::new(&context, server).and_then(|ev| ev.gate(Gate::Nand, &x, &y)).expect("a gate");
    assert!(Decryptor::new(&context, &secret).and_then(|own| own.decrypt_bit(&found)).expect("its own key"));
}

#[test]
fn keys_that_are_mapped_give_the_same_bytes() {
    let world = World::small(Encoding::Bits);
    let place = Place::new("server");
    let bytes = ServerKeyFile::write(&place.0, &world.context, &world.keys.server).expect("a file");
    assert_eq!(bytes, fs::metadata(&place.0).expect("the file").len());
    let encryptor = world.encryptor();
    let [a, b] = [true, false].map(|value| encryptor.encrypt_bit(value).expect("a bit"));
    let expected = world.evaluator().gate(Gate::Nand, &a, &b).expect("a gate");
    for check_digest in [true, false] {
        let limits = Limits { check_digest, ..Limits::default() };
        let file = ServerKeyFile::map(&place.0, &limits, Some(1)).expect("its own bytes");
        assert_eq!(file.context.parameters().spec(), world.context.parameters().spec());
        let evaluator = Evaluator::new(&file.context, file.keys).expect("the same parameters");
        assert_eq!(evaluator.gate(Gate::Nand, &a, &b).expect("a gate"), expected);
        assert!(world.decryptor().decrypt_bit(&expected).expect("a bit"));
    }
}

/// An attack: the file is written to, or cut short, while it is in use.
#[test]
fn results_of_mapped_keys_that_change_are_refused() {
    type Change = fn(&fs::File) -> std::io::Result<()>;
    let zero: Change = |file| std::io::Write::write_all(&mut &*file, &[0; 64]);
    let changes: [Change; 3] = [zero, |file| file.set_len(4096), |file| file.set_len(0)];
    let world = World::small(Encoding::Bits);
    let encryptor = world.encryptor();
    let [a, b] = [true, false].map(|value| encryptor.encrypt_bit(value).expect("a bit"));
    for (index, change) in changes.into_iter().enumerate() {
        let (place, copy) = (Place::new(&format!("changed-{index}")), Place::new(&format!("copy-{index}")));
        ServerKeyFile::write(&place.0, &world.context, &world.keys.server).expect("a file");
        let file = ServerKeyFile::map(&place.0, &Limits::default(), Some(2)).expect("its own bytes");
        let keys = file.keys.clone();
        let evaluator = Evaluator::new(&file.context, file.keys).expect("the same parameters");
        evaluator.gate(Gate::Nand, &a, &b).expect("a gate");
        // Times of files have a resolution of some milliseconds.
        std::thread::sleep(std::time::Duration::from_millis(20));
        change(&fs::File::options().write(true).open(&place.0).expect("a file")).expect("changed");
        let refused = evaluator.gate(Gate::Nand, &a, &b);
        assert!(matches!(refused, Err(Error::FileChanged { .. })), "change {index}: {refused:?}");
        let refused = ServerKeyFile::write(&copy.0, &file.context, &keys);
        assert!(matches!(refused, Err(Error::FileChanged { .. })) && !copy.0.exists(), "change {index}: {refused:?}");
    }
}

#[test]
fn files_that_hold_no_server_keys_are_refused() {
    if !is_fastest() {
        return;
    }
    let world = World::small(Encoding::Bits);
    let place = Place::new("hostile");
    let map = |bytes: &[u8], check_digest| {
        fs::write(&place.0, bytes).expect("a file");
        ServerKeyFile::map(&place.0, &Limits { check_digest, ..Limits::default() }, Some(1)).map(drop)
    };
    ServerKeyFile::write(&place.0, &world.context, &world.keys.server).expect("a file");
    let bytes = fs::read(&place.0).expect("the file");
    for cut in [0, 8, 95, 96, 200, 512, bytes.len() / 2, bytes.len() - 64, bytes.len() - 8, bytes.len() - 1] {
        for check_digest in [true, false] {
            let refused = map(&bytes[..cut], check_digest);
            assert!(matches!(refused, Err(Error::Wire { .. } | Error::Io { .. })), "cut to {cut}: {refused:?}");
        }
    }
    for at in (0..bytes.len()).step_by(bytes.len() / 40) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        assert!(map(&damaged, true).is_err(), "byte {at} of {}", bytes.len());
        // Bytes outside of frames and parameters are not checked.
        let _ = map(&damaged, false);
    }
    // Compact keys, and keys of other parameters under the parameters of these.
    let secret = world.context.secret_key(&seed(1));
    world.context.write_compact_keys(&seed(1), &secret, &place.0).expect("a file");
    let refused = ServerKeyFile::map(&place.0, &Limits::default(), Some(1)).map(drop);
    assert!(matches!(refused, Err(Error::WrongKind { .. })), "{refused:?}");
    let other = World::small(INTEGERS_2_2);
    let refused = ServerKeyFile::write(&place.0, &other.context, &World::preset("1_1").keys.server);
    assert!(matches!(refused, Err(Error::ParameterMismatch { .. })), "{refused:?}");
    let exact = Context::exact(world.context.parameters().clone(), Some(1)).expect("a context");
    let keys = exact.generate_keys(seed(1)).expect("keys");
    let refused = ServerKeyFile::write(&place.0, &exact, &keys.server);
    assert!(matches!(refused, Err(Error::Parameters { name: "products", .. })), "{refused:?}");
}

/// The most memory that this process ever held, in bytes.
#[cfg(target_os = "linux")]
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line of the peak");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number of KiB") << 10
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "the peak of a whole process: run it alone"]
fn clients_make_keys_within_64_mib() {
    const MOST: u64 = 64 << 20;
    for name in ["BOOL", "1_1", "2_2"] {
        let preset = noren::tfhe::Preset::named(name).expect("a preset");
        let context = Context::with_threads(preset.parameters().expect("a set"), Some(1)).expect("a context");
        let seed = Seed::from_bytes([1; 32]);
        let place = Place::new(name);
        let secret = context.secret_key(&seed);
        let bytes = context.write_compact_keys(&seed, &secret, &place.0).expect("a file");
        println!("{name}: {bytes} bytes of keys, {} bytes at most in memory", peak());
        assert!(peak() <= MOST, "{name}: {} bytes", peak());
    }
}
