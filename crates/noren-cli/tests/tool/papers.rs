//! Every command of `docs/papers.md` is one that the tool accepts.

use std::fs;
use std::path::Path;

use crate::sandbox::Sandbox;

/// The words of each command of `noren` in the page: between backticks, or a line of a block.
fn commands(page: &str) -> Vec<Vec<&str>> {
    let inline = page.split('`').skip(1).step_by(2);
    let lines = page.lines().map(|line| line.split('#').next().expect("a part").trim());
    let found = inline.chain(lines).map(|text| text.strip_prefix("NOREN_ISA=portable ").unwrap_or(text));
    let found = found.filter(|text| text.starts_with("noren ") && !text.contains('`'));
    found.map(|text| text.split_whitespace().skip(1).collect()).filter(|words: &Vec<_>| is_command(words)).collect()
}

/// Whether these words follow the name of the tool, and not that of the project in a sentence.
fn is_command(words: &[&str]) -> bool {
    words.first().is_some_and(|verb| ["bench", "compare", "info", "params"].contains(verb))
}

#[test]
fn commands_of_the_page_of_publications_are_accepted() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/papers.md");
    let page = fs::read_to_string(path).expect("the page");
    let commands = commands(&page);
    assert!(commands.len() > 30, "{commands:?}");
    let sandbox = Sandbox::new("papers");
    for words in commands {
        // Words are read in their order, and help is shown once all before it are known.
        let output = sandbox.run(&[&words[..], &["--help"]].concat());
        assert_eq!(output.status.code(), Some(0), "noren {}", words.join(" "));
    }
    // So a word that there is not is refused.
    let output = sandbox.run(&["bench", "lookup", "--method", "none", "--help"]);
    assert_eq!(output.status.code(), Some(2));
}
