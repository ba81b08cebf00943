//! The ways to share out loops that are asked for by `--parallel`.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use noren::Parallel;
use noren_cli::measure::Record;

/// A way that is asked for by name, or the usual one, which records do not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sharing(Option<Parallel>);

impl Sharing {
    /// The ways that are asked for, or the usual one.
    pub(crate) fn of(asked: &[Parallel]) -> Vec<Self> {
        if asked.is_empty() { vec![Self(None)] } else { asked.iter().map(|&way| Self(Some(way))).collect() }
    }

    /// The way.
    pub(crate) fn way(self) -> Parallel {
        self.0.unwrap_or_default()
    }

    /// A record with the name of a way that was asked for.
    pub(crate) fn name(self, record: Record) -> Record {
        match self.0 {
            Some(way) => record.with("parallel", way.name()),
            None => record,
        }
    }
}

/// Reads the name of a way.
pub(crate) fn parser() -> impl TypedValueParser<Value = Parallel> {
    let named = |name: String| Parallel::ALL.into_iter().find(|way| way.name() == name).expect("one of the names");
    PossibleValuesParser::new(Parallel::ALL.map(Parallel::name)).map(named)
}
