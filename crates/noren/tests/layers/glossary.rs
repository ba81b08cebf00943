//! Names of the code in the glossary and in the page on its architecture.

use std::fs;
use std::path::Path;

use crate::source::Source;

/// The column of the tables that names types, functions and modules.
const IN_THE_CODE: usize = 3;

/// The names in the glossary that nothing in the sources defines.
pub fn missing(sources: &[Source]) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/glossary.md");
    let glossary = fs::read_to_string(path).expect("the glossary");
    let cells = glossary.lines().filter_map(|line| line.split('|').nth(IN_THE_CODE));
    let names: Vec<&str> = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    assert!(names.len() > 30, "the tables of the glossary were not read");
    let missing = names.into_iter().filter(|name| {
        let last = name.rsplit("::").next().expect("a name");
        let definitions = ["struct", "enum", "trait", "type", "fn", "mod"].map(|word| format!("{word} {last}"));
        !sources.iter().filter(|source| source.path.contains("/src/")).any(|source| defines(&source.text, &definitions))
    });
    missing.map(str::to_owned).collect()
}

/// The Rust files and folders named in the page on the architecture that there are not.
pub fn missing_files() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/architecture.md")).expect("the page");
    let quoted = page.split('`').skip(1).step_by(2);
    let files: Vec<&str> =
        quoted.filter(|name| name.contains('/') && name.ends_with(".rs") && !name.contains('*')).collect();
    assert!(files.len() > 20, "the files of the page were not read");
    let places = [
        "crates",
        "crates/noren-math/src",
        "crates/noren-math/src/kernels",
        "crates/noren/src",
        "crates/noren/src/schemes",
    ];
    let exists = |file: &str| places.iter().any(|place| root.join(place).join(file).is_file());
    files.into_iter().filter(|file| !exists(file)).map(str::to_owned).collect()
}

/// Whether the text has one of the definitions, as whole words.
fn defines(text: &str, definitions: &[String]) -> bool {
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    definitions.iter().any(|definition| {
        text.match_indices(definition.as_str()).any(|(start, found)| ends(&text[start + found.len()..]))
    })
}
