//! Other libraries: the drivers in a directory such as `bench/peers`, and the suites that they have.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;

/// The directory of the drivers, where the tool runs in noren's repository.
const DIRECTORY: &str = "bench/peers";

/// A library with a driver.
pub(super) struct Peer {
    pub(super) name: &'static str,
    /// The program and its first arguments, below the directory.
    command: &'static [&'static str],
    suites: &'static [&'static str],
    directory: PathBuf,
}

/// Every driver that there could be.
const DRIVERS: [(&str, &[&str], &[&str]); 4] = [
    ("openfhe", &["openfhe/build/openfhe"], &["chain", "tfhe", "product", "inner-product", "client"]),
    ("lattigo", &["lattigo/lattigo"], &["chain", "client"]),
    ("tenseal", &["tenseal/venv/bin/python", "tenseal/main.py"], &["chain", "client"]),
    ("tfhe-rs", &["tfhe-rs/target/release/bench-tfhe-rs"], &["tfhe", "product", "inner-product"]),
];

/// The libraries of a directory, built or not; without one those of `bench/peers`.
pub(super) fn peers(directory: Option<&Path>) -> Result<Vec<Peer>, Failure> {
    if let Some(found) = directory.filter(|directory| !directory.is_dir()) {
        return Err(Failure::input(
            found,
            "--peers",
            "no directory",
            "the directory of the drivers of other libraries",
        ));
    }
    let directory = directory.unwrap_or(Path::new(DIRECTORY));
    let each = DRIVERS.iter();
    Ok(each.map(|&(name, command, suites)| Peer { name, command, suites, directory: directory.to_owned() }).collect())
}

impl Peer {
    /// Whether all files of the driver are there.
    pub(super) fn is_built(&self) -> bool {
        self.command.iter().all(|file| self.directory.join(file).is_file())
    }

    /// Whether it measures a suite.
    pub(super) fn has(&self, suite: &str) -> bool {
        self.suites.contains(&suite)
    }

    /// The driver.
    pub(super) fn command(&self) -> Command {
        let mut files = self.command.iter().map(|file| self.directory.join(file));
        let mut command = Command::new(files.next().unwrap_or_default());
        command.args(files);
        command
    }
}
