//! Keys of bootstrapping and their plan, as users meet them.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use noren_math::kernels::is_fastest;

use crate::sandbox::{Sandbox, table};

/// Keys of the preset without security, in `keys`.
fn toy(name: &str) -> Sandbox {
    let sandbox = Sandbox::new(name);
    let seed = "5".repeat(64);
    sandbox.done(&["keygen", "--out", "keys", "--bootstrap", "toy", "--rotations=3,-1", "--seed", &seed]);
    sandbox
}

/// Runs a program whose keys lack rotations, and adds what the refusals ask for until it is done.
pub fn follow(sandbox: &Sandbox, eval: &[&str], directory: &str) {
    for added in 0..32 {
        let output = sandbox.run(eval);
        if output.status.success() {
            assert!(added > 0, "nothing was missing");
            return;
        }
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        let call = message.split_once("noren ").map(|(_, call)| call.trim()).expect("a call");
        let begin = format!("keygen --add --out {directory} --rotations ");
        assert!(message.contains(&format!("{directory}/bootstrap.keys: ")) && call.starts_with(&begin), "{message}");
        sandbox.done(&call.split(' ').collect::<Vec<_>>());
    }
    panic!("{eval:?} lacks more and more");
}

#[test]
fn plans_are_told_before_anything_is_made() {
    let sandbox = Sandbox::new("bootstrap-plan");
    let plan = sandbox.json(&["plan", "--bootstrap", "n16"]);
    assert_eq!((&plan["levels_left"], &plan["security_bits"], &plan["log_n"]), (&12.into(), &128.into(), &16.into()));
    assert!(plan["log2_failure"]["hundred"].as_f64().expect("a number") < -64.0);
    assert!(plan["precision_bits"].as_f64().expect("a number") > 20.0);
    let bytes = |name: &str| plan[name].as_u64().expect("bytes");
    assert!(bytes("disk_bytes") < 4 << 30 && bytes("peak_bytes") < 12 << 30 && bytes("keygen_bytes") < 1 << 30);
    let classes = plan["keys"].as_array().expect("a list");
    assert!(classes.len() > 5 && classes.iter().all(|class| class["reached_bits"].as_u64() >= Some(128)));
    let seconds = plan["times"].as_array().expect("a list").iter().map(|time| time["seconds"].as_f64());
    assert!(seconds.into_iter().all(|time| time.is_some_and(|time| (0.01..100.0).contains(&time))));
    assert_eq!(plan["times"][0]["threads"], 1);
    let real = sandbox.json(&["plan", "--bootstrap", "n16", "--mode", "real"]);
    let of = |plan: &serde_json::Value, name: &str| plan[name].as_f64().expect("a number");
    assert!(real["mode"] == "real" && of(&real, "precision_bits") > of(&plan, "precision_bits"));
    assert!(of(&real, "systematic_error") < of(&plan, "systematic_error"));
    // Of two iterations both count.
    let precise = sandbox.json(&["plan", "--bootstrap", "n16-precise"]);
    assert!(of(&precise, "systematic_error") < 2f64.powi(-35) && of(&precise, "precision_bits") > 30.0);
    let few = sandbox.json(&["plan", "--bootstrap", "n16", "--slots", "512", "--mode", "paired"]);
    assert!(few["slots"] == 512 && of(&few, "precision_bits") > of(&plan, "precision_bits"));
    sandbox.refused(&["plan", "--bootstrap", "n16", "--mode", "paired"], &["mode", "at most half the slots"]);
    let only = ["keygen", "--out", "keys", "--bootstrap", "n16", "--plan-only"];
    assert_eq!(sandbox.json(&only)["fingerprint"], plan["fingerprint"]);
    assert!(!sandbox.exists("keys"));
    assert!(sandbox.done(&["plan", "--bootstrap", "toy"]).contains("NONE was asked for"));
}

#[test]
fn keys_are_made_inspected_and_expanded() {
    let sandbox = toy("bootstrap-keys");
    let keys = sandbox.json(&["inspect", "keys/bootstrap.keys"]);
    assert_eq!((&keys["kind"], &keys["digest"]), (&"bootstrapping keys".into(), &"ok".into()));
    assert!(keys["bootstrapping"].as_str().is_some_and(|name| name.starts_with("toy for 512 slots (")));
    let list = keys["evaluation_keys"].as_array().expect("a list");
    for kind in ["the switch from the ephemeral secret", "relinearisation", "conjugation", "rotation by -1 ("] {
        assert!(list.iter().any(|key| key["kind"].as_str().is_some_and(|found| found.starts_with(kind))), "{kind}");
    }
    assert!(list.iter().any(|key| key["kind"].as_str().is_some_and(|kind| kind.ends_with("of slot to coefficient"))));
    // Files that a killed run has left are removed.
    let left = sandbox.path("keys/.bootstrap.mapped.1-0.tmp");
    fs::write(&left, "half").expect("writable");
    sandbox.done(&["expand", "keys/bootstrap.keys", "-o", "keys/bootstrap.mapped"]);
    assert!(!left.exists());
    let mapped = sandbox.json(&["inspect", "keys/bootstrap.mapped"]);
    assert_eq!((&mapped["kind"], &mapped["form"]), (&"expanded bootstrapping keys".into(), &"expanded".into()));
    assert_eq!(mapped["evaluation_keys"], keys["evaluation_keys"]);
    assert!(sandbox.read("keys/bootstrap.mapped").len() > 2 * sandbox.read("keys/bootstrap.keys").len());
    // The other two serve as those of programs do.
    sandbox.write("table.csv", b"a,b\n1,2\n3,4\n");
    sandbox.done(&["encrypt", "--key", "keys/public.key", "table.csv", "-o", "table.ct"]);
    sandbox.done(&["decrypt", "--key", "keys/secret.key", "table.ct", "-o", "out.csv"]);
    // The same seed, the same bytes, whatever the threads.
    let seed = "5".repeat(64);
    let again =
        ["keygen", "--out", "again", "--bootstrap", "toy", "--rotations=3,-1", "--seed", &seed, "--threads", "3"];
    sandbox.done(&again);
    for name in ["secret.key", "public.key", "bootstrap.keys"] {
        assert!(sandbox.read(&format!("keys/{name}")) == sandbox.read(&format!("again/{name}")), "{name}");
    }
}

#[test]
fn what_cannot_be_planned_or_made_is_refused() {
    let sandbox = toy("bootstrap-refused");
    let slots = ["plan", "--bootstrap", "toy", "--slots"];
    sandbox.refused(&[&slots[..], &["100"]].concat(), &["--slots", "100", "a power of two"]);
    sandbox.refused(&[&slots[..], &["1024"]].concat(), &["log_slots", "10", "at most 9"]);
    let keygen = ["keygen", "--out", "keys", "--bootstrap", "toy"];
    sandbox.refused(&keygen, &["keys/secret.key exists", "--force"]);
    let whole = sandbox.read("keys/bootstrap.keys");
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    for (name, content, needed) in [
        ("cut.keys", &whole[..whole.len() - 64], "truncated"),
        ("short.keys", &whole[..40], "cannot be read"),
        ("flipped.keys", &flipped, "the digest does not match"),
        ("tail.keys", &[&whole[..], b"more"].concat(), "has a tail"),
    ] {
        sandbox.write(name, content);
        for arguments in [&["inspect", name][..], &["expand", name, "-o", "out.mapped"]] {
            sandbox.refused(arguments, &[name, needed]);
        }
    }
    let expand = ["expand", "keys/secret.key", "-o", "out.mapped"];
    sandbox.refused(
        &expand,
        &[
            "keys/secret.key: found secret key with CKKS parameters",
            "needed evaluation keys, lookup keys, bootstrapping keys",
        ],
    );
    let eval = ["eval", "bootstrap", "--keys", "cut.keys", "keys/public.key", "-o", "out.ct"];
    sandbox.refused(&eval, &["cut.keys", "truncated"]);
    let eval = ["eval", "mean", "--keys", "keys/bootstrap.keys", "keys/bootstrap.keys", "-o", "out.ct"];
    sandbox.refused(&eval, &["keys/bootstrap.keys: found bootstrapping keys", "needed encrypted table"]);
    assert!(!sandbox.exists("out.mapped"));
    for (arguments, needed) in [
        (&["plan", "--bootstrap", "n17"][..], "one of n16"),
        (&["plan"], "--bootstrap"),
        (&["keygen", "--out", "k", "--bootstrap", "toy", "--program", "sum"], "--program"),
        (&["keygen", "--out", "k", "--program", "sum", "--rows", "1", "--columns", "1", "--slots", "2"], "--slots"),
    ] {
        let output = sandbox.run(arguments);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && message.contains(needed), "{arguments:?}: {message}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_run_leaves_no_keys_and_the_next_one_clears_up() {
    if !is_fastest() {
        return;
    }
    let sandbox = Sandbox::new("bootstrap-killed");
    let keygen = ["keygen", "--out", "keys", "--bootstrap", "n15"];
    let names = |directory: &str| -> Vec<String> {
        let entries = fs::read_dir(sandbox.path(directory)).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    };
    let mut child = sandbox.command(&keygen).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
    let deadline = Instant::now() + Duration::from_secs(60);
    let half_written = || {
        let hidden = names(".").into_iter().find(|name| name.starts_with(".noren-"))?;
        let entries = fs::read_dir(sandbox.path(&hidden).join("new")).ok()?.flatten();
        entries.map(|entry| entry.path()).find(|path| path.to_string_lossy().ends_with(".tmp"))
    };
    let half = loop {
        match half_written() {
            Some(path) => break path,
            None => assert!(Instant::now() < deadline, "nothing was begun"),
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    child.kill().expect("it runs");
    child.wait().expect("it was started");
    // There are no keys, and what is there is taken for none.
    assert!(names(".").iter().all(|name| name.starts_with(".noren-")), "{:?}", names("."));
    let half = half.to_string_lossy().into_owned();
    if fs::metadata(&half).is_ok() {
        sandbox.refused(&["inspect", &half], &["cannot be read"]);
    }
    sandbox.done(&["keygen", "--out", "keys", "--bootstrap", "toy"]);
    let mut keys = names("keys");
    keys.sort();
    assert_eq!(
        (keys, names(".")),
        (["bootstrap.keys", "public.key", "secret.key"].map(str::to_owned).into(), vec!["keys".into()])
    );
}

#[test]
fn tables_get_new_levels_and_programs_bootstrap_by_themselves() {
    let sandbox = toy("bootstrap-eval");
    sandbox.write("table.csv", b"a\n1\n3\n-2\n0.5\n");
    sandbox.write("quartic.json", br#"{"coefficients": [0.1, 0.2, -0.3, 0.4, 0.05], "interval": [-4, 4]}"#);
    sandbox.write("line.json", br#"{"coefficients": [0, 0.5]}"#);
    sandbox.done(&["encrypt", "--key", "keys/public.key", "table.csv", "-o", "table.ct"]);
    fn eval<'a>(verb: &[&'a str], files: [&'a str; 3]) -> Vec<&'a str> {
        [&["eval"], verb, &["--keys", "keys/bootstrap.keys"], &files[..]].concat()
    }

    // Deeper than the two levels of the preset.
    let report = sandbox.json(&eval(&["polynomial", "--model", "quartic.json"], ["table.ct", "-o", "deep.ct"]));
    assert!(report["bootstraps"].as_u64() > Some(0) && report["log2_failure"].as_f64() < Some(-64.0), "{report}");
    let decrypt = |name: &str| {
        sandbox.done(&["decrypt", "--key", "keys/secret.key", name, "-o", "out.csv", "--force"]);
        sandbox.numbers("out.csv", 0)
    };
    let values = [1.0, 3.0, -2.0, 0.5];
    let expected = values.map(|x: f64| 0.1 + 0.2 * x - 0.3 * x * x + 0.4 * x.powi(3) + 0.05 * x.powi(4));
    let within = |found: &[Vec<f64>], expected: &[f64]| {
        found.len() == expected.len() && found.iter().zip(expected).all(|(x, y)| (x[0] - y).abs() < 1e-3)
    };
    assert!(within(&decrypt("deep.ct"), &expected));

    let deep = |budget| {
        [&eval(&["polynomial", "--model", "quartic.json"], ["table.ct", "-o", "no.ct"])[..], &[budget]].concat()
    };
    sandbox.refused(&deep("--failure-budget=-5000"), &["budget is 2^-5000"]);

    // A level is used up, and there again.
    sandbox.done(&eval(&["polynomial", "--model", "line.json"], ["table.ct", "-o", "half.ct"]));
    let renew = [&eval(&["bootstrap"], ["half.ct", "-o", "no.ct"])[..], &["--failure-budget=-5000"]].concat();
    sandbox.refused(&renew, &["1 bootstraps", "budget is 2^-5000"]);
    assert!(!sandbox.exists("no.ct"));
    let report = sandbox.json(&eval(&["bootstrap"], ["half.ct", "-o", "renewed.ct"]));
    assert_eq!((&report["levels_left"], &report["bootstraps"]), (&2.into(), &1.into()), "{report}");
    let stages = report["stages"].as_array().expect("a list");
    assert!(stages.len() == 6 && stages.iter().all(|stage| stage["seconds"].as_f64() > Some(0.0)), "{report}");
    assert!(within(&decrypt("renewed.ct"), &values.map(|x| 0.5 * x)));
    sandbox.done(&["expand", "keys/bootstrap.keys", "-o", "keys/bootstrap.mapped"]);
    let mapped = ["eval", "bootstrap", "--keys", "keys/bootstrap.mapped", "half.ct", "-o", "mapped.ct"];
    assert!(sandbox.done(&mapped).contains("2 levels left before the next bootstrap"));
    assert_eq!(sandbox.read("mapped.ct"), sandbox.read("renewed.ct"));

    // Fresh tables, and results of bootstrapping, have all levels.
    sandbox.refused(&eval(&["bootstrap"], ["table.ct", "-o", "no.ct"]), &["table.ct", "found level", "needed 3 to 4"]);
    sandbox.refused(&eval(&["bootstrap"], ["renewed.ct", "-o", "no.ct"]), &["found level 5", "needed 3 to 4"]);
    sandbox.done(&eval(&["polynomial", "--model", "line.json", "--last"], ["table.ct", "-o", "last.ct"]));
    sandbox.refused(&eval(&["mean"], ["last.ct", "-o", "no.ct"]), &["last.ct", "at least 3"]);
    // The rotations of bootstrapping serve the program too.
    sandbox.done(&eval(&["mean"], ["table.ct", "-o", "mean.ct"]));
    sandbox.done(&["decrypt", "--key", "keys/secret.key", "mean.ct", "-o", "mean.csv"]);
    assert!(within(&sandbox.numbers("mean.csv", 1), &[0.625]));
    // Missing keys are added to the directory of the others.
    std::fs::rename(sandbox.path("keys"), sandbox.path("far")).expect("a directory");
    sandbox.write("wide.csv", table().as_bytes());
    sandbox.done(&["encrypt", "--key", "far/public.key", "wide.csv", "-o", "wide.ct"]);
    let covariance = ["eval", "covariance", "--keys", "far/bootstrap.keys", "wide.ct", "-o", "covariance.ct"];
    follow(&sandbox, &covariance, "far");
    std::fs::rename(sandbox.path("far"), sandbox.path("keys")).expect("a directory");
    let model = eval(&["bootstrap", "--model", "line.json"], ["half.ct", "-o", "no.ct"]);
    sandbox.refused(&model, &["line.json", "bootstrap takes none"]);
    let number = eval(&["bootstrap", "--number", "1"], ["half.ct", "-o", "no.ct"]);
    sandbox.refused(&number, &["--number: found 1, needed none", "keys/bootstrap.keys has bootstrapping keys"]);
    let wrong = ["eval", "bootstrap", "--keys", "keys/public.key", "half.ct", "-o", "no.ct"];
    sandbox.refused(&wrong, &["keys/public.key", "bootstrapping keys"]);
    sandbox.refused(&eval(&["bootstrap"], ["keys/public.key", "-o", "no.ct"]), &["keys/public.key", "public key"]);

    // Keys of other parameters.
    sandbox.done(&["keygen", "--out", "other", "--program", "mean", "--rows", "4", "--columns", "1"]);
    sandbox.done(&["encrypt", "--key", "other/public.key", "table.csv", "-o", "other.ct"]);
    sandbox.refused(&eval(&["bootstrap"], ["other.ct", "-o", "no.ct"]), &["other.ct", "belongs to parameters"]);
    let mut bytes = sandbox.read("keys/bootstrap.keys");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    sandbox.write("damaged.keys", &bytes);
    let damaged = ["eval", "bootstrap", "--keys", "damaged.keys", "half.ct", "-o", "no.ct"];
    sandbox.refused(&damaged, &["damaged.keys", "cannot be read"]);
}
