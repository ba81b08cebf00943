//! The option `--scheme`.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use noren::advisor::Scheme;

/// Reads the name of one of the schemes of a suite.
pub(super) fn parser(schemes: &[Scheme]) -> impl TypedValueParser<Value = Scheme> {
    let names: Vec<&'static str> = schemes.iter().map(|scheme| scheme.name()).collect();
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Scheme>())
}
