//! Files are replaced as a whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use noren_rlwe::ciphertext::Ciphertext;
use noren_rlwe::error::Error;
use noren_rlwe::keys::{EvaluationKeys, SecretKey};
use noren_rlwe::security::SecretDistribution;
use noren_rlwe::wire::file::{self, Access};
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::reader::Limits;
use noren_rlwe::wire::writer::Form;

use crate::samples::{FORMS, objects};
use crate::scratch::Scratch;

#[test]
fn files_come_back_and_hold_the_same_bytes() {
    let scratch = Scratch::new("round");
    let objects = objects(SecretDistribution::Ternary);
    for form in FORMS {
        let path = scratch.path("keys");
        objects.evaluation.write_file(&objects.context, form, &path).expect("writable");
        let bytes = objects.evaluation.to_bytes(&objects.context, form);
        assert_eq!(fs::read(&path).expect("written"), bytes);
        let again = EvaluationKeys::read_file(&objects.context, &path, &Limits::default()).expect("written");
        assert_eq!(again.to_bytes(&objects.context, form), bytes);
        let small = Limits { max_bytes: bytes.len() as u64 - 1, ..Limits::default() };
        let error = EvaluationKeys::read_file(&objects.context, &path, &small).expect_err("too large");
        assert!(error.to_string().contains("keys: ") && error.to_string().contains("at most"), "{error}");
    }
    assert_eq!(scratch.names(), ["keys"]);
}

#[cfg(unix)]
#[test]
fn secret_files_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new("mode");
    let objects = objects(SecretDistribution::Ternary);
    let path = scratch.path("secret");
    let mode = |path: &Path| fs::metadata(path).expect("written").permissions().mode() & 0o777;
    // Also where a file that everybody may read was there before.
    fs::write(&path, b"old").expect("writable");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).expect("own file");
    objects.secret.write_file(&objects.context, Form::Packed, &path).expect("writable");
    assert_eq!(mode(&path), 0o600);
    let again = SecretKey::read_file(&objects.context, &path, &Limits::default()).expect("written");
    let bytes = objects.secret.to_bytes(&objects.context, Form::Packed);
    assert!(again.to_bytes(&objects.context, Form::Packed) == bytes);
    // From its first moment on.
    file::write_atomically(&path, Access::Owner, |_| {
        let names = scratch.names();
        let temporary = names.iter().find(|name| name.ends_with(".tmp")).expect("being written");
        assert_eq!(mode(&scratch.path(temporary)), 0o600);
        Ok(())
    })
    .expect("writable");
}

#[test]
fn failed_writes_leave_the_old_file_and_nothing_else() {
    let scratch = Scratch::new("failed");
    let path = scratch.path("file");
    fs::write(&path, b"old").expect("writable");
    let full = |file: &mut File| {
        file.write_all(b"part of the new")?;
        Err(io::Error::from(io::ErrorKind::StorageFull))
    };
    let Err(Error::Io { path: named, source }) = file::write_atomically(&path, Access::Default, full) else {
        panic!("the failure was passed over")
    };
    assert_eq!((named.as_path(), source.kind()), (path.as_path(), io::ErrorKind::StorageFull));
    let panicked = std::panic::catch_unwind(|| {
        file::write_atomically(&path, Access::Default, |_| panic!("in the middle")).expect("never reached");
    });
    assert!(panicked.is_err());
    assert_eq!((fs::read(&path).expect("kept"), scratch.names()), (b"old".to_vec(), vec!["file".to_owned()]));
    // Directories cannot be replaced, and a missing one is not made.
    fs::create_dir(scratch.path("directory")).expect("writable");
    for target in [scratch.path("directory"), scratch.path("missing/file"), scratch.path("..")] {
        let refused = file::write_atomically(&target, Access::Default, |_| Ok(()));
        assert!(matches!(refused, Err(Error::Io { path, .. }) if path == target));
    }
    assert_eq!(scratch.names(), ["directory", "file"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_of_the_operating_system() {
    let scratch = Scratch::new("full");
    let objects = objects(SecretDistribution::Ternary);
    let path = scratch.path("file");
    fs::write(&path, b"old").expect("writable");
    let refused = file::write_atomically(&path, Access::Default, |_| {
        let mut full = File::options().write(true).open("/dev/full")?;
        objects.evaluation.writer(&objects.context, Form::Raw).write_to(&mut full)
    });
    assert!(matches!(refused, Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::StorageFull));
    assert_eq!((fs::read(&path).expect("kept"), scratch.names()), (b"old".to_vec(), vec!["file".to_owned()]));
    // A device is never replaced by a file.
    let refused = objects.evaluation.write_file(&objects.context, Form::Raw, Path::new("/dev/null"));
    assert!(matches!(refused, Err(Error::Io { .. })));
    assert!(!fs::metadata("/dev/null").expect("still there").is_file());
}

#[cfg(unix)]
#[test]
fn what_a_killed_writer_left_is_removed_and_nothing_else() {
    let scratch = Scratch::new("left");
    let path = scratch.path("keys");
    let others = [".keys.4-0.tmp.txt", ".keys.4.new.tmp", ".other.4-0.tmp", "keys", "keys.4-0.tmp"];
    for name in others.into_iter().chain([".keys.4-0.tmp", ".keys.77-12.tmp"]) {
        fs::write(scratch.path(name), b"half").expect("writable");
    }
    file::write_atomically(&path, Access::Default, |half| {
        file::remove_leftovers(&path);
        half.write_all(b"whole")
    })
    .expect("what is being written stays");
    assert_eq!(
        (fs::read(&path).expect("written"), scratch.names()),
        (b"whole".to_vec(), others.map(String::from).into())
    );
}

#[cfg(unix)]
#[test]
fn the_longest_names_are_written_and_cleared_up_too() {
    for length in [100, 101, 200, 254, 255] {
        let scratch = Scratch::new(&format!("long-{length}"));
        // Two names that differ at the end alone.
        let [own, other] = ["a", "b"].map(|end| "n".repeat(length - 1) + end);
        let path = scratch.path(&own);
        let mut hidden = String::new();
        file::write_atomically(&path, Access::Default, |half| {
            hidden = scratch.names().into_iter().find(|name| name.ends_with(".tmp")).expect("being written");
            file::remove_leftovers(&path);
            half.write_all(b"whole")
        })
        .expect("a name that the file system takes");
        assert_eq!((fs::read(&path).expect("written"), scratch.names()), (b"whole".to_vec(), vec![own]));
        // As a killed process leaves it.
        fs::write(scratch.path(&hidden), b"half").expect("writable");
        file::remove_leftovers(&scratch.path(&other));
        assert_eq!(scratch.names().len(), 2);
        file::remove_leftovers(&path);
        assert_eq!(scratch.names().len(), 1);
    }
}

#[test]
fn links_stay_and_what_they_point_to_is_replaced() {
    let scratch = Scratch::new("links");
    fs::write(scratch.path("file"), b"old").expect("writable");
    std::os::unix::fs::symlink("file", scratch.path("link")).expect("writable");
    file::write_atomically(&scratch.path("link"), Access::Default, |file| file.write_all(b"new")).expect("writable");
    assert_eq!(fs::read(scratch.path("file")).expect("there"), b"new");
    assert!(fs::symlink_metadata(scratch.path("link")).expect("there").is_symlink());
}

#[test]
fn unreadable_files_are_named() {
    let scratch = Scratch::new("unreadable");
    let context = objects(SecretDistribution::Ternary).context;
    for path in [scratch.path("missing"), scratch.path(".")] {
        match Ciphertext::read_file(&context, &path, &Limits::default()) {
            Err(Error::Io { path: named, .. }) => assert_eq!(named, path),
            _ => panic!("{} was read", path.display()),
        }
    }
}

/// As `/dev/stdout` in a pipe: a link to a link to an end of a pipe, which no path leads to.
#[cfg(target_os = "linux")]
#[test]
fn a_pipe_behind_links_is_refused_and_the_links_stay() {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::symlink;

    let scratch = Scratch::new("pipe");
    let (_reader, writer) = io::pipe().expect("a pipe");
    let (first, second) = (scratch.path("first"), scratch.path("second"));
    symlink(format!("/proc/self/fd/{}", writer.as_raw_fd()), &first).expect("a link");
    symlink(&first, &second).expect("a link to it");
    for path in [&first, &second] {
        let refused = file::write_atomically(path, Access::Default, |_| Ok(()));
        let Err(Error::Io { source, .. }) = refused else { panic!("{refused:?}") };
        assert!(source.to_string().contains("not a regular file"), "{source}");
        assert!(path.is_symlink(), "{} was replaced", path.display());
    }
}
