//! Files that others have a hand in: names that are taken meanwhile, and entries of directories that are no regular files.
#![cfg(unix)]

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::sync::Barrier;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use noren_rlwe::error::Error;
use noren_rlwe::keys::{EvaluationKeys, SecretKey};
use noren_rlwe::security::SecretDistribution;
use noren_rlwe::wire::expanded::MappedContainer;
use noren_rlwe::wire::file::{self, Access};
use noren_rlwe::wire::items::Items;
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::publish::Destination;
use noren_rlwe::wire::reader::Limits;
use noren_rlwe::wire::writer::Form;

use crate::samples::objects;
use crate::scratch::Scratch;

fn fifo(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().expect("mkfifo is there");
    assert!(made.success());
}

/// The result of a function, which must not wait for others.
fn ends<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(work()));
    receiver.recv_timeout(Duration::from_secs(60)).expect("it waits for something that does not come")
}

#[test]
fn a_file_that_is_kept_is_refused_before_and_after_the_work() {
    let scratch = Scratch::new("kept");
    let path = scratch.path("secret.key");
    // Another run makes the file while this one works.
    let late = file::write_atomically(Destination::keeping(&path), Access::Owner, |file| {
        fs::write(&path, b"of another run")?;
        file.write_all(b"of this run")
    });
    assert!(matches!(late, Err(Error::Exists { path: ref named }) if *named == path), "{late:?}");
    let early = file::write_atomically(Destination::keeping(&path), Access::Owner, |_| panic!("no work is done"));
    let message = early.expect_err("it is there").to_string();
    assert!(message.contains("secret.key exists") && message.contains("choose another name"), "{message}");
    assert_eq!(
        (fs::read(&path).expect("kept"), scratch.names()),
        (b"of another run".to_vec(), vec!["secret.key".into()])
    );
    let objects = objects(SecretDistribution::Ternary);
    let refused = objects.secret.write_file(&objects.context, Form::Packed, Destination::keeping(&path));
    assert!(matches!(refused, Err(Error::Exists { .. })));
    // A link that leads nowhere is a file too: what it names is not made.
    symlink("elsewhere", scratch.path("link")).expect("writable");
    let link = scratch.path("link");
    let refused = file::write_atomically(Destination::keeping(&link), Access::Default, |_| Ok(()));
    assert!(matches!(refused, Err(Error::Exists { .. })));
    assert_eq!(scratch.names(), ["link", "secret.key"]);
    file::write_atomically(&path, Access::Owner, |file| file.write_all(b"new"))
        .expect("replaced where that is asked for");
    assert_eq!(fs::read(&path).expect("there"), b"new");
}

#[test]
fn of_writers_at_once_one_wins_where_files_are_kept() {
    const WRITERS: usize = 8;
    let scratch = Scratch::new("race");
    for round in 0..20 {
        let path = scratch.path(&format!("file-{round}"));
        let barrier = Barrier::new(WRITERS);
        let write = |writer: usize| {
            barrier.wait();
            file::write_atomically(Destination::keeping(&path), Access::Owner, |file| write!(file, "{writer}"))
        };
        let won: Vec<bool> = thread::scope(|scope| {
            let writers: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(move || write(writer))).collect();
            let ended = writers.into_iter().map(|writer| writer.join().expect("no panic"));
            ended
                .map(|done| done.map_err(|error| assert!(matches!(error, Error::Exists { .. }), "{error}")).is_ok())
                .collect()
        });
        assert_eq!(won.iter().filter(|won| **won).count(), 1);
        let winner = won.iter().position(|won| *won).expect("one");
        assert_eq!(fs::read_to_string(&path).expect("there"), winner.to_string());
    }
}

#[test]
fn what_is_no_regular_file_is_refused_by_its_type() {
    let scratch = Scratch::new("types");
    fifo(&scratch.path("fifo"));
    let _socket = UnixListener::bind(scratch.path("socket")).expect("writable");
    symlink("/dev/zero", scratch.path("zero")).expect("writable");
    symlink("fifo", scratch.path("link")).expect("writable");
    fs::create_dir(scratch.path("directory")).expect("writable");
    let cases = [
        ("fifo", "a FIFO where a regular file is needed"),
        ("link", "a FIFO"),
        ("socket", "a socket"),
        ("zero", "a device"),
        ("directory", "a directory"),
    ];
    for (name, needed) in cases {
        let path = scratch.path(name);
        let messages = ends(move || {
            let (context, limits) = (objects(SecretDistribution::Ternary).context, Limits::default());
            let io = |error: Error| match error {
                Error::Io { path: named, source } if named == path => source.to_string(),
                other => panic!("{other}"),
            };
            [
                io(file::read(&path, 1 << 20).expect_err("no file")),
                io(file::kind(&path).expect_err("no file")),
                io(SecretKey::read_file(&context, &path, &limits).err().expect("no file")),
                io(EvaluationKeys::read_file(&context, &path, &limits).expect_err("no file")),
                io(Items::open(&path, Kind::BOOTSTRAP_KEYS, &limits).expect_err("no file")),
                io(MappedContainer::open(&path).expect_err("no file")),
            ]
        });
        messages.iter().for_each(|message| assert!(message.contains(needed), "{name}: {message}"));
    }
}

#[test]
fn what_is_no_file_under_the_name_of_a_leftover_stays_and_nothing_waits_for_it() {
    let scratch = Scratch::new("traps");
    let path = scratch.path("keys");
    fifo(&scratch.path(".keys.4-0.tmp"));
    fs::write(scratch.path("dear"), b"dear").expect("writable");
    symlink("dear", scratch.path(".keys.4-1.tmp")).expect("writable");
    symlink("/dev/zero", scratch.path(".keys.4-2.tmp")).expect("writable");
    fs::write(scratch.path(".keys.4-3.tmp"), b"half").expect("writable");
    let before = path.clone();
    ends(move || file::remove_leftovers(&before));
    assert_eq!(scratch.names(), [".keys.4-0.tmp", ".keys.4-1.tmp", ".keys.4-2.tmp", "dear"]);
    assert_eq!(fs::read(scratch.path("dear")).expect("there"), b"dear");
    // Nor is a lock of such a link taken.
    assert!(File::open(scratch.path("dear")).expect("there").try_lock().is_ok());
    // Names of temporary files that others have taken lead nowhere.
    let process = std::process::id();
    for count in 0..40 {
        symlink("dear", scratch.path(&format!(".keys.{process}-{count}.tmp"))).expect("writable");
    }
    file::write_atomically(&path, Access::Owner, |file| file.write_all(b"new")).expect("another name is found");
    assert_eq!(
        (fs::read(&path).expect("there"), fs::read(scratch.path("dear")).expect("there")),
        (b"new".to_vec(), b"dear".to_vec())
    );
}
