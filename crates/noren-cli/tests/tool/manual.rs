//! Manual pages and completions name every verb.

use crate::sandbox::Sandbox;

/// The verbs that the help lists.
fn verbs(sandbox: &Sandbox) -> Vec<String> {
    let help = sandbox.done(&["--help"]);
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let verbs: Vec<String> = lines.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect();
    assert!(verbs.len() > 18 && verbs.iter().any(|verb| verb == "keygen"), "{help}");
    verbs.into_iter().filter(|verb| verb != "help").collect()
}

#[test]
fn every_verb_has_a_page() {
    let sandbox = Sandbox::new("man");
    let report = sandbox.json(&["man", "--out", "share/man"]);
    let first = sandbox.text("share/man/noren.1");
    for verb in verbs(&sandbox) {
        let page = sandbox.text(&format!("share/man/noren-{verb}.1"));
        assert!(
            page.contains(".TH") && page.contains(&format!("noren {}", verb.replace('-', "\\-"))),
            "{verb}: {page}"
        );
        assert!(first.contains(&format!("noren\\-{}", verb.replace('-', "\\-"))), "{verb}: {first}");
    }
    assert!(sandbox.exists("share/man/noren-params-choose.1"));
    assert!(report["pages"].as_u64() > Some(20), "{report}");
    // `compare` alone calls it.
    assert!(!sandbox.exists("share/man/noren-measure.1"));
    sandbox.refused(&["man", "--out", "share/man"], &["exists", "--force"]);
}

#[test]
fn completions_name_every_verb() {
    let sandbox = Sandbox::new("completions");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = sandbox.done(&["completions", shell]);
        for verb in verbs(&sandbox) {
            assert!(script.contains(&verb), "{verb} is not completed by {shell}");
        }
        assert!(script.contains("min-security") && !script.contains("weak-client"), "{shell}");
    }
}
