//! Programs with their models from files.

use std::path::Path;

use noren::programs::Program;

use crate::failure::Failure;
use crate::files::read_text;

/// The most bytes that are read of a model.
const MAX_BYTES: u64 = 1 << 28;

/// The programs of these names with their models: each is `PROGRAM=FILE`, or just a file for the next program in the
/// list that cannot do without one.
pub(crate) fn programs(names: &[String], models: &[String]) -> Result<Vec<Program>, Failure> {
    let mut files: Vec<Option<&str>> = vec![None; names.len()];
    for model in models {
        let named = model.split_once('=').filter(|(name, _)| Program::NAMES.contains(name));
        let place = match named {
            Some((name, _)) => names.iter().zip(&files).position(|(own, file)| own == name && file.is_none()),
            None => names.iter().zip(&files).position(|(own, file)| needs_model(own) && file.is_none()),
        };
        let Some(place) = place else {
            return Err(Failure::Unsuitable {
                what: "--model",
                found: format!("{model}, which belongs to none of the programs {}", names.join(", ")),
                needed: "one model for each program that takes one; write PROGRAM=FILE to say for which".to_owned(),
            });
        };
        files[place] = Some(named.map_or(model.as_str(), |(_, file)| file));
    }
    names.iter().zip(files).map(|(name, file)| program(name, file.map(Path::new))).collect()
}

/// The program of this name with the model in a file.
pub(crate) fn program(name: &str, model: Option<&Path>) -> Result<Program, Failure> {
    let Some(path) = model else { return Ok(Program::parse(name, None)?) };
    let json = read_text(path, MAX_BYTES, "a model as JSON")?;
    Program::parse(name, Some(&json)).map_err(Failure::file(path))
}

/// Whether a program cannot be without a model.
fn needs_model(name: &str) -> bool {
    matches!(name, "linear" | "logistic" | "polynomial")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn models_find_their_programs() {
        let missing =
            |names: &[&str], models: &[&str]| programs(&named(names), &named(models)).expect_err("no such file");
        // The file is looked for only once it has a program.
        for models in [["logistic=/no/such.json"], ["/no/such.json"]] {
            let message = missing(&["mean", "covariance", "logistic"], &models).to_string();
            assert!(message.starts_with("/no/such.json:"), "{message}");
        }
        let message = missing(&["mean"], &["/no/such.json"]).to_string();
        assert!(message.contains("belongs to none of the programs mean"), "{message}");
        let message = missing(&["logistic"], &[]).to_string();
        assert!(message.contains("interval"), "{message}");
    }
}
