//! The options that were given to a verb, those that schemes add among them.

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches, Id};

/// Why the option is there that a row was chosen by.
pub(crate) const CHOSEN: &str = "the option that chose the row";

/// All options that were given to a verb: each scheme reads its own. It stands before all others in the arguments of a verb:
/// reading takes options out.
#[derive(Debug)]
pub(crate) struct Given(pub(crate) ArgMatches);

impl Given {
    /// The options of a scheme, which it adds to the verb.
    pub(crate) fn own<T: FromArgMatches>(&self) -> T {
        T::from_arg_matches(&self.0)
            .unwrap_or_else(|error| panic!("options were checked where they were read: {error}"))
    }

    /// Whether an option was given, and not by its default.
    pub(crate) fn has(&self, option: &str) -> bool {
        self.0.value_source(option) == Some(ValueSource::CommandLine)
    }

    /// The names of the options that were given, with `_` for `-`.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.ids().map(Id::as_str).filter(|name| self.has(name))
    }
}

impl Args for Given {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

impl FromArgMatches for Given {
    fn from_arg_matches(given: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(given.clone()))
    }

    fn update_from_arg_matches(&mut self, given: &ArgMatches) -> Result<(), clap::Error> {
        self.0 = given.clone();
        Ok(())
    }
}
