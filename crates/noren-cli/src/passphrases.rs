//! Where passphrases come from: a file, a variable of the environment, or the terminal.

use std::env;
use std::io::{self, IsTerminal};
use std::path::Path;

use noren_files::error::Reason;
use noren_files::passphrase::Passphrase;
use zeroize::Zeroizing;

use crate::failure::Failure;

/// A passphrase that is asked for, and where it can come from.
#[derive(Clone, Copy)]
pub(crate) struct Question<'a> {
    /// The file that is opened or made.
    pub(crate) key: &'a Path,
    /// The file whose first line it is, if one was named.
    pub(crate) file: Option<&'a Path>,
    /// The option that names that file.
    pub(crate) option: &'static str,
    /// The variable that holds it otherwise.
    pub(crate) variable: &'static str,
}

/// The option that names a file with the passphrase of a key.
const OPTION: &str = "--passphrase-file";
/// The variable with that passphrase.
pub(crate) const VARIABLE: &str = "NOREN_PASSPHRASE";

impl<'a> Question<'a> {
    /// The passphrase of a key, that there is or that is to be.
    pub(crate) const fn of(key: &'a Path, file: Option<&'a Path>) -> Self {
        Self { key, file, option: OPTION, variable: VARIABLE }
    }

    /// The passphrase that takes the place of another.
    pub(crate) const fn replacing(key: &'a Path, file: Option<&'a Path>) -> Self {
        Self { key, file, option: "--new-passphrase-file", variable: "NOREN_NEW_PASSPHRASE" }
    }

    /// The passphrase of a key that there is.
    pub(crate) fn ask(self) -> Result<Passphrase, Failure> {
        match self.silent()? {
            Some(passphrase) => Ok(passphrase),
            None => self.prompt("Passphrase of"),
        }
    }

    /// The passphrase of a key that is to be; on the terminal it is asked for twice.
    pub(crate) fn ask_twice(self) -> Result<Passphrase, Failure> {
        if let Some(passphrase) = self.silent()? {
            return Ok(passphrase);
        }
        let passphrase = self.prompt("New passphrase of")?;
        if self.prompt("The same again, for")? == passphrase {
            return Ok(passphrase);
        }
        Err(Failure::input(self.key, "the passphrase", "two that differ", "the same twice"))
    }

    /// From where nobody has to be asked.
    fn silent(self) -> Result<Option<Passphrase>, Failure> {
        if let Some(file) = self.file {
            return Ok(Some(Passphrase::from_file(file)?));
        }
        let Some(value) = env::var_os(self.variable) else { return Ok(None) };
        let refused = |reason: Reason| Failure::Variable { name: self.variable, reason };
        let text = value.into_string().map_err(|_| Failure::Unsuitable {
            what: self.variable,
            found: "bytes that are no UTF-8".to_owned(),
            needed: "text".to_owned(),
        })?;
        Passphrase::new(text).map(Some).map_err(refused)
    }

    fn prompt(self, words: &str) -> Result<Passphrase, Failure> {
        // Where nobody sits, the terminal may be that of somebody else.
        if !io::stdin().is_terminal() {
            let Self { option, variable, .. } = self;
            return Err(Failure::NoTerminal { path: self.key.to_owned(), option, variable });
        }
        let text = rpassword::prompt_password(format!("{words} {}: ", self.key.display()));
        let text = Zeroizing::new(text.map_err(|source| Failure::Io { path: "/dev/tty".into(), source })?);
        Passphrase::new(text.as_str()).map_err(|reason| Failure::Guarded { path: self.key.to_owned(), reason })
    }
}
