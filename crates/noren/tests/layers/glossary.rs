//! Names of the code in the glossary, and of its files in all pages.

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

/// The files of code named in the pages that there are not, each with its page.
pub fn missing_files(sources: &[Source]) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = fs::read_dir(root.join("docs")).expect("the pages").map(|entry| entry.expect("a page").path());
    let others = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "bench/README.md", "bench/suites.md"];
    let pages =
        docs.chain(others.map(|page| root.join(page))).filter(|path| path.extension().is_some_and(|x| x == "md"));
    let is_there = |name: &str| {
        let end = format!("/{name}");
        let is_source = sources.iter().any(|source| format!("crates/{}", source.path).ends_with(&end));
        is_source || ["", "crates", "python", "bench"].iter().any(|folder| root.join(folder).join(name).is_file())
    };
    let (mut named, mut missing) = (0, Vec::new());
    for page in pages {
        let text = fs::read_to_string(&page).expect("a page");
        let is_file = |name: &&str| [".rs", ".py", ".sh"].iter().any(|end| name.ends_with(end));
        let quoted = text.split('`').skip(1).step_by(2).filter(|name| name.contains('/') && !name.contains(['*', ' ']));
        for name in quoted.filter(is_file) {
            named += 1;
            if !is_there(name) {
                missing.push(format!("{}: {name}", page.display()));
            }
        }
    }
    assert!(named > 60, "the {named} files of the pages were not read");
    missing
}

/// Whether the text has one of the definitions, as whole words.
fn defines(text: &str, definitions: &[String]) -> bool {
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    definitions.iter().any(|definition| {
        text.match_indices(definition.as_str()).any(|(start, found)| ends(&text[start + found.len()..]))
    })
}
