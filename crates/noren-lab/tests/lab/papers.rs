//! Every command of `docs/papers.md` is one that the programs accept.

use std::fs;
use std::path::Path;

use crate::program::Lab;

/// The words of each command in the page: between backticks, or a line of a block.
fn commands(page: &str) -> Vec<Vec<&str>> {
    let inline = page.split('`').skip(1).step_by(2);
    let lines = page.lines().map(|line| line.split('#').next().expect("a part").trim());
    let found = inline.chain(lines).map(|text| text.strip_prefix("NOREN_ISA=portable ").unwrap_or(text));
    let found = found.filter(|text| text.starts_with("noren") && !text.contains('`'));
    found.map(|text| text.split_whitespace().collect()).filter(|words: &Vec<_>| is_command(words)).collect()
}

/// Whether these words are a command, and not the name of the project in a sentence.
fn is_command(words: &[&str]) -> bool {
    match words {
        ["noren-lab", ..] => true,
        ["noren", verb, ..] => ["bench", "compare", "info", "measure", "params"].contains(verb),
        _ => false,
    }
}

#[test]
fn commands_of_the_page_of_publications_are_accepted() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/papers.md");
    let page = fs::read_to_string(path).expect("the page");
    let commands = commands(&page);
    assert!(commands.len() > 30, "{commands:?}");
    let lab = Lab::new("papers");
    for words in commands {
        // Words are read in their order, and help is shown once all before it are known.
        let asked = [&words[..], &["--help"]].concat();
        let code = match asked[0] {
            "noren-lab" => lab.run(&asked[1..]).status.code(),
            _ => Some(noren_cli::run(asked.iter().map(Into::into)).into()),
        };
        assert_eq!(code, Some(0), "{}", words.join(" "));
    }
    // So a word that there is not is refused.
    lab.refused(2, &["lookup", "--method", "none", "--help"], &["none"]);
}
