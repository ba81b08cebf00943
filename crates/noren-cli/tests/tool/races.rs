//! Runs at the same time never overwrite each other's files, and sets of files are whole or absent.

use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::sandbox::Sandbox;

/// Runs at once: more than there are cores, so that they are cut off everywhere.
const RUNS: usize = 8;

fn start(sandbox: &Sandbox, arguments: &[&str]) -> Child {
    let mut command = sandbox.command(arguments);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the tool starts")
}

/// Which of the runs did the thing; the others must say that the file exists.
fn winners(runs: Vec<Child>, exists: &str) -> Vec<usize> {
    let mut winners = Vec::new();
    for (index, run) in runs.into_iter().enumerate() {
        let output = run.wait_with_output().expect("it ends");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        match output.status.code() {
            Some(0) => winners.push(index),
            Some(1) => assert!(message.contains(exists) && message.contains("--force"), "{message}"),
            code => panic!("{code:?}: {message}"),
        }
    }
    winners
}

#[test]
fn of_runs_at_once_one_writes_the_file() {
    let sandbox = Sandbox::new("race");
    for round in 0..12 {
        let name = format!("{round}.params");
        let run = |index: usize| {
            let scale = (30 + index).to_string();
            let sizes = ["--log-n", "10", "--log-q", "50,40", "--log-p", "50", "--security", "none"];
            start(&sandbox, &[&["params", "check"], &sizes[..], &["--log-scale", &scale, "-o", &name]].concat())
        };
        let winners = winners((0..RUNS).map(run).collect(), &format!("{name} exists"));
        assert_eq!(winners.len(), 1, "runs {winners:?} all wrote {name}");
        let shown = sandbox.done(&["params", "show", &name]);
        assert!(shown.contains(&format!("scale          2^{}", 30 + winners[0])), "{shown}");
    }
    assert_eq!(hidden(&sandbox, "."), Vec::<String>::new());
}

#[test]
fn of_runs_at_once_one_writes_all_keys() {
    let sandbox = Sandbox::with_table("race-keys");
    for index in 0..RUNS {
        sandbox.keygen(&format!("alone-{index}"), "small.params", "sum", digit(index));
    }
    for round in 0..5 {
        let out = format!("keys-{round}");
        let run = |index: usize| {
            let seed = digit(index).to_string().repeat(64);
            let shape = ["--program", "sum", "--rows", "12", "--columns", "age,bmi,bp", "--params", "small.params"];
            start(&sandbox, &[&["keygen", "--out", &out, "--seed", &seed], &shape[..]].concat())
        };
        let winners = winners((0..RUNS).map(run).collect(), "exists");
        assert_eq!(winners.len(), 1, "runs {winners:?} all wrote {out}");
        for name in ["secret.key", "public.key", "eval.keys"] {
            let alone = sandbox.read(&format!("alone-{}/{name}", winners[0]));
            assert!(sandbox.read(&format!("{out}/{name}")) == alone, "{name} is not of the run that won");
        }
        assert_eq!(hidden(&sandbox, &out), Vec::<String>::new());
    }
}

#[test]
fn runs_at_once_that_may_replace_leave_the_keys_of_one() {
    let sandbox = Sandbox::with_table("race-force");
    let keygen = |seed: char| {
        let seed = seed.to_string().repeat(64);
        let shape = ["--program", "sum", "--rows", "12", "--columns", "age,bmi,bp", "--params", "small.params"];
        start(&sandbox, &[&["keygen", "--out", "keys", "--force", "--seed", &seed], &shape[..]].concat())
    };
    for index in 0..RUNS {
        sandbox.keygen(&format!("alone-{index}"), "small.params", "sum", digit(index));
    }
    for _ in 0..5 {
        let runs: Vec<Child> = (0..RUNS).map(|index| keygen(digit(index))).collect();
        for run in runs {
            let output = run.wait_with_output().expect("it ends");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        let is_of =
            |index: &usize| sandbox.read("keys/secret.key") == sandbox.read(&format!("alone-{index}/secret.key"));
        let last = (0..RUNS).find(is_of).expect("of one of the runs");
        for name in ["public.key", "eval.keys"] {
            assert!(sandbox.read(&format!("keys/{name}")) == sandbox.read(&format!("alone-{last}/{name}")), "{name}");
        }
    }
}

/// An attack: a run that replaces keys is stopped at any moment. What anybody can see at that moment is what would be left.
#[test]
fn keys_of_two_sets_never_lie_beside_each_other() {
    const ROUNDS: usize = 12;
    let sandbox = Sandbox::with_table("race-mixture");
    let sets: Vec<[Vec<u8>; 2]> = (0..2)
        .map(|index| {
            sandbox.keygen(&format!("alone-{index}"), "small.params", "sum", digit(index));
            ["secret.key", "public.key"].map(|name| sandbox.read(&format!("alone-{index}/{name}")))
        })
        .collect();
    sandbox.keygen("keys", "small.params", "sum", digit(1));
    let owner = |name: usize| {
        let found = fs::read(sandbox.path(&format!("keys/{}", ["secret.key", "public.key"][name]))).ok()?;
        sets.iter().position(|set| set[name] == found)
    };
    for round in 0..ROUNDS {
        let seed = digit(round % 2).to_string().repeat(64);
        let shape = ["--program", "sum", "--rows", "12", "--columns", "age,bmi,bp", "--params", "small.params"];
        let mut run = start(&sandbox, &[&["keygen", "--out", "keys", "--force", "--seed", &seed], &shape[..]].concat());
        while run.try_wait().expect("a child").is_none() {
            for [first, second] in [[0, 1], [1, 0]] {
                // The first was there before and after the second: they were there together.
                let seen = [owner(first), owner(second), owner(first)];
                let [Some(before), Some(between), Some(after)] = seen else { continue };
                assert!(before != after || before == between, "files of sets {before} and {between} at once");
            }
        }
        assert!(run.wait().expect("a child").success());
        assert_eq!([0, 1].map(owner), [Some(round % 2); 2]);
    }
    assert_eq!([hidden(&sandbox, "keys"), hidden(&sandbox, ".")].concat(), Vec::<String>::new());
}

#[test]
fn a_set_that_cannot_be_whole_is_taken_back() {
    for (force, dear) in [(false, false), (true, true)] {
        let sandbox = Sandbox::new(&format!("taken-back-{force}"));
        sandbox.parameters("large.params", 13);
        if dear {
            fs::create_dir(sandbox.path("keys")).expect("writable");
            sandbox.write("keys/secret.key", b"something dear");
        }
        let keygen = ["keygen", "--out", "keys", "--program", "sum", "--rows", "12", "--columns", "3"];
        let force_option: &[&str] = if force { &["--force"] } else { &[] };
        let run = start(&sandbox, &[&keygen[..], &["--params", "large.params"], force_option].concat());
        // While keys are made, somebody takes the name of the second file: with a directory, which no file replaces.
        let begun = Instant::now();
        while hidden(&sandbox, if dear { "keys" } else { "." }).is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(60), "no hidden directory");
            thread::sleep(Duration::from_millis(1));
        }
        fs::create_dir_all(sandbox.path("keys/public.key")).expect("nobody has it");
        let output = run.wait_with_output().expect("it ends");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains("keys/public.key"), "{message}");
        let names = names(&sandbox, "keys");
        if dear {
            assert_eq!(names, ["public.key", "secret.key"]);
            assert_eq!(sandbox.read("keys/secret.key"), b"something dear");
        } else {
            assert_eq!(names, ["public.key"]);
        }
    }
}

fn digit(index: usize) -> char {
    char::from_digit(index as u32 + 1, 16).expect("few runs")
}

fn names(sandbox: &Sandbox, directory: &str) -> Vec<String> {
    let entries = fs::read_dir(sandbox.path(directory)).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn hidden(sandbox: &Sandbox, directory: &str) -> Vec<String> {
    names(sandbox, directory).into_iter().filter(|name| name.starts_with('.')).collect()
}
