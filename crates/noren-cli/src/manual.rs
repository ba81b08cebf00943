//! `noren man` and `noren completions`: pages and scripts that are made from the definition of the arguments.

use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use serde::Serialize;

use crate::console::Console;
use crate::failure::Failure;
use crate::output_set::OutputSet;
use crate::outputs::{Content, Force, Output};
use crate::streams::STANDARD;

/// Writes manual pages: noren.1, and one for each verb
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  noren man --out ~/.local/share/man/man1\n  noren man --out pages --force")]
pub(crate) struct Pages {
    /// The directory for the pages
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    force: Force,
}

/// Prints a script with which a shell completes verbs and options
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  noren completions bash > ~/.local/share/bash-completion/completions/noren\n  \
        noren completions zsh > ~/.zfunc/_noren\n  noren completions fish > ~/.config/fish/completions/noren.fish")]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Serialize)]
struct ManualReport {
    directory: PathBuf,
    pages: usize,
}

/// The name of the program.
const NAME: &str = "noren";

impl Pages {
    /// Writes the pages of a command and of all commands below it; they appear together.
    pub(crate) fn run(&self, command: Command, console: &Console) -> Result<(), Failure> {
        let mut pages = Vec::new();
        // Options of all verbs stand in each page once they are passed on.
        let mut command = command.disable_help_subcommand(true);
        command.build();
        render(&command, NAME, &mut pages).map_err(|source| Failure::Io { path: self.out.clone(), source })?;
        let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
        let outputs = OutputSet::new(&self.out, &names, &self.force)?;
        for (name, page) in &pages {
            let write =
                |path: &Path| fs::write(path, page).map_err(|source| Failure::Io { path: path.to_owned(), source });
            outputs.write_with(name, write)?;
        }
        outputs.finish(&names)?;
        console.report(&ManualReport { directory: self.out.clone(), pages: pages.len() })
    }
}

/// The page of a command, and those of all below it.
fn render(command: &Command, name: &str, pages: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    let mut page = Vec::new();
    Man::new(command.clone()).title(name.to_ascii_uppercase()).render(&mut page)?;
    pages.push((format!("{name}.1"), page));
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        render(below, &format!("{name}-{}", below.get_name()), pages)?;
    }
    Ok(())
}

impl Completions {
    /// Prints the script.
    pub(crate) fn run(&self, command: &Command, console: &Console) -> Result<(), Failure> {
        // Scripts would name verbs that the help does not list.
        let listed = command.get_subcommands().filter(|below| !below.is_hide_set());
        let mut listed = Command::new(NAME).args(command.get_arguments()).subcommands(listed);
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut listed, NAME, &mut script);
        let output = Output::or_standard(Path::new(STANDARD), &Force { force: false }, Content::Text, console)?;
        output.print(&script)
    }
}

impl fmt::Display for ManualReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wrote {} pages to {}", self.pages, self.directory.display())
    }
}
