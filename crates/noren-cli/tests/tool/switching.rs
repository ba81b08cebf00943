//! Programs that compare the entries of tables of numbers, as users meet them.

use noren_math::kernels::is_fastest;

use crate::bootstrap::follow;
use crate::sandbox::Sandbox;

const TABLE: &str =
    "age,bmi,dose\n34,21.5,0.25\n71,30.25,-0.5\n50,27,0.75\n19,18.5,-0.875\n66,24.75,0.125\n42,33,-0.0625\n";
const COLUMNS: [&str; 3] = ["age", "bmi", "dose"];

/// Keys without security in a directory, with switching or without.
fn keygen(sandbox: &Sandbox, directory: &str, seed: char, more: &[&str]) {
    let seed = seed.to_string().repeat(64);
    let all = ["keygen", "--out", directory, "--bootstrap", "toy", "--slots", "64", "--seed", &seed];
    sandbox.done(&[&all[..], more].concat());
}

/// A sandbox with keys and the encrypted table.
fn with_table(name: &str) -> Sandbox {
    let sandbox = Sandbox::new(name);
    keygen(&sandbox, "keys", '5', &["--switching", "TOY_SWITCH", "--rows", "6", "--columns", "3"]);
    sandbox.write("table.csv", TABLE.as_bytes());
    sandbox.done(&["encrypt", "--key", "keys/public.key", "table.csv", "-o", "table.ct"]);
    sandbox
}

fn eval<'a>(program: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let all = ["eval", program, "--keys", "keys/bootstrap.keys", "table.ct", "-o", "out.ct"];
    all.into_iter().chain(more.iter().copied()).collect()
}

/// Runs a program, and decrypts its result: the report, and the numbers.
fn result(sandbox: &Sandbox, program: &str, more: &[&str], skip: usize) -> (serde_json::Value, Vec<Vec<f64>>) {
    let report = sandbox.json(&eval(program, &[more, &["--force"]].concat()));
    sandbox.done(&["decrypt", "--key", "keys/secret.key", "out.ct", "-o", "out.csv", "--digits", "full", "--force"]);
    (report, sandbox.numbers("out.csv", skip))
}

/// The entries of a column.
fn column(sandbox: &Sandbox, name: &str) -> Vec<f64> {
    let place = COLUMNS.iter().position(|column| *column == name).expect("a column");
    sandbox.numbers("table.csv", 0).iter().map(|row| row[place]).collect()
}

#[test]
fn entries_are_compared_with_thresholds_of_their_columns() {
    let sandbox = with_table("switching-threshold");
    for (number, chosen, more) in [
        ("25.5", &COLUMNS[..], &[][..]),
        ("0.0", &["dose"], &["--columns", "dose", "--failure-budget=-60"]),
        ("40", &["bmi", "age"], &["--columns", "1,age", "--steps", "3", "--last"]),
    ] {
        let (report, found) = result(&sandbox, "threshold", &[&["--number", number], more].concat(), 0);
        let names = sandbox.text("out.csv").lines().next().map(str::to_owned);
        assert_eq!(names, Some(chosen.join(",")));
        let zones = report["dead_zones"].as_array().expect("a list");
        assert!(zones.len() == chosen.len() && report["bootstraps"].as_u64() >= Some(6), "{report}");
        assert!(report["log2_failure"].as_f64().is_some_and(|log2| (-65.0..-60.0).contains(&log2)), "{report}");
        for (place, name) in chosen.iter().enumerate() {
            assert_eq!(zones[place]["column"], *name);
            let dead_zone = zones[place]["dead_zone"].as_f64().expect("a number");
            let number: f64 = number.parse().expect("a number");
            for (row, entry) in column(&sandbox, name).iter().enumerate() {
                let expected = f64::from(u8::from(*entry > number));
                let near = (found[row][place] - expected).abs() < 1e-3;
                assert!(near || (entry - number).abs() < dead_zone, "{name}: {entry}, {}", found[row][place]);
            }
        }
    }
    let text = sandbox.done(&eval("threshold", &["--number", "30", "--columns", "bmi", "--force"]));
    assert!(text.contains("dead zone") && text.contains(" in bmi: ") && text.contains("7 bootstraps"), "{text}");
    // Three steps see more.
    let zone = |steps| {
        let report = sandbox.json(&eval("threshold", &["--number", "30", "--steps", steps, "--force"]));
        report["dead_zones"][0]["dead_zone"].as_f64().expect("a number")
    };
    assert!(zone("3") < zone("1") / 15.0);
    // A result is a table for other programs.
    sandbox.done(&["eval", "mean", "--keys", "keys/bootstrap.keys", "out.ct", "-o", "share.ct"]);
    sandbox.done(&["decrypt", "--key", "keys/secret.key", "share.ct", "-o", "share.csv"]);
    let ages = column(&sandbox, "age").iter().filter(|age| **age > 30.0).count();
    assert!((sandbox.numbers("share.csv", 1)[0][0] - ages as f64 / 6.0).abs() < 1e-2);
}

#[test]
fn rows_of_the_smallest_and_the_largest_are_found() {
    let sandbox = with_table("switching-extremes");
    let (report, found) = result(&sandbox, "argmin", &["--steps", "3"], 1);
    assert_eq!((found.len(), found[0].len(), &report["program"]), (1, 6, &"argmin".into()));
    let titles = sandbox.text("out.csv").lines().next().map(str::to_owned);
    assert_eq!(titles.as_deref(), Some("row,age row,age value,bmi row,bmi value,dose row,dose value"));
    for (place, (row, value)) in [(3.0, 19.0), (3.0, 18.5), (3.0, -0.875)].into_iter().enumerate() {
        assert!(
            (found[0][2 * place] - row).abs() < 1e-3 && (found[0][2 * place + 1] - value).abs() < 1e-2,
            "{found:?}"
        );
    }
    let (report, found) = result(&sandbox, "argmax", &["--columns", "dose,0"], 1);
    let zones = report["dead_zones"].as_array().expect("a list");
    assert!(zones.len() == 2 && zones[0]["dead_zone"].as_f64() < Some(0.25), "{report}");
    // The two largest doses are further apart than the dead zone.
    assert!((found[0][0] - 2.0).abs() < 1e-3 && (found[0][1] - 0.75).abs() < 1e-2, "{found:?}");
}

#[test]
fn ranks_and_the_largest_are_marked() {
    let sandbox = with_table("switching-ranks");
    let (report, found) = result(&sandbox, "rank", &["--steps", "3", "--columns", "bmi,dose"], 0);
    // Three for each pair, and what brings the pairs back.
    assert_eq!(report["bootstraps"], 2 * (3 * 15 + 1));
    for (place, name) in ["bmi", "dose"].into_iter().enumerate() {
        let entries = column(&sandbox, name);
        for (row, entry) in entries.iter().enumerate() {
            let rank = entries.iter().filter(|other| *other < entry).count() as f64;
            assert!((found[row][place] - rank).abs() < 0.01, "{name}: {found:?}");
        }
    }
    let (_, found) = result(&sandbox, "top", &["--steps", "3", "--count", "2", "--columns", "bmi"], 0);
    let marked: Vec<f64> = found.iter().map(|row| row[0].round()).collect();
    assert_eq!(marked, [0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn keys_of_switching_are_planned_made_added_and_inspected() {
    let sandbox = Sandbox::new("switching-keys");
    let plan = sandbox.json(&["plan", "--bootstrap", "n16", "--switching", "2_2"]);
    let switching = &plan["switching"];
    assert_eq!((&switching["set"], &switching["security_bits"]), (&"2_2".into(), &128.into()));
    assert!(switching["dead_zone"].as_f64().is_some_and(|zone| (0.02..0.03).contains(&zone)), "{switching}");
    assert!(switching["dead_zone_three_steps"].as_f64() < Some(0.001), "{switching}");
    keygen(&sandbox, "all", '6', &["--switching", "TOY_SWITCH"]);
    keygen(&sandbox, "grown", '6', &[]);
    let add = ["keygen", "--add", "--out", "grown", "--switching", "TOY_SWITCH", "--seed", &"6".repeat(64)];
    sandbox.json(&[&add[..], &["--plan-only"]].concat());
    assert!(!sandbox.exists("grown/switching.keys"));
    let report = sandbox.json(&add);
    assert_eq!(report["files"].as_array().map(Vec::len), Some(2), "{report}");
    // From the same seed they are the same.
    for name in ["secret.key", "server.keys", "switching.keys"] {
        assert!(sandbox.read(&format!("all/{name}")) == sandbox.read(&format!("grown/{name}")), "{name}");
    }
    let keys = sandbox.json(&["inspect", "all/switching.keys"]);
    assert_eq!(keys["kind"], "scheme switching keys with parameters of both schemes");
    assert!(keys["bootstrapping"].as_str().is_some_and(|name| name.starts_with("toy for 64 slots")));
    let secret = sandbox.json(&["inspect", "all/secret.key"]);
    assert_eq!(keys["owner"], secret["owner"]);
    let told = report["plan"]["server_disk_bytes"].as_u64();
    assert_eq!(told, Some(sandbox.read("all/server.keys").len() as u64));

    sandbox.refused(&add, &["grown/server.keys exists"]);
    sandbox.refused(&[&add[..], &["--rotations", "3"]].concat(), &["--add", "by a run of its own"]);
    let all = ["keygen", "--bootstrap", "toy", "--out", "all", "--switching", "TOY_SWITCH"];
    sandbox.refused(&all, &["all/secret.key exists", "--force"]);
    std::fs::remove_file(sandbox.path("grown/server.keys")).expect("a file");
    sandbox.refused(&add, &["grown/switching.keys exists"]);
    std::fs::remove_file(sandbox.path("grown/switching.keys")).expect("a file");
    let foreign = sandbox.read("all/secret.key");
    keygen(&sandbox, "stranger", '7', &[]);
    sandbox.write("stranger/secret.key", &foreign);
    let strange = ["keygen", "--add", "--out", "stranger", "--switching", "TOY_SWITCH"];
    sandbox.refused(&strange, &["stranger/bootstrap.keys", "belongs to key"]);
    sandbox.done(&["keygen", "--out", "bits", "--tfhe", "TOY_SWITCH"]);
    sandbox.refused(
        &["keygen", "--add", "--out", "bits", "--switching", "TOY_SWITCH"],
        &["bits/bootstrap.keys", "no file"],
    );
    // Parameters that do not suit each other.
    let two = ["keygen", "--out", "two", "--bootstrap", "toy", "--switching", "TOY_2_2"];
    sandbox.refused(&two, &["parameter k is 2", "one polynomial"]);
    let weak = ["keygen", "--out", "two", "--bootstrap", "n16", "--switching", "TOY_SWITCH"];
    sandbox.refused(&weak, &["keys of scheme switching", "128-bit security"]);
    let rows = ["keygen", "--out", "two", "--bootstrap", "toy", "--rows", "6"];
    sandbox.refused(&rows, &["--rows", "--switching too"]);
    for arguments in [
        &["keygen", "--out", "two", "--switching", "TOY_SWITCH"][..],
        &["keygen", "--out", "two", "--tfhe", "TOY_SWITCH", "--switching", "TOY_SWITCH"],
        &["keygen", "--out", "two", "--tfhe", "TOY_SWITCH", "--rows", "6"],
        &["plan", "--switching", "TOY_SWITCH"],
        &["keygen", "--out", "two", "--bootstrap", "toy", "--switching", "NO_SET"],
    ] {
        assert_eq!(sandbox.run(arguments).status.code(), Some(2), "{arguments:?}");
    }
    assert!(!sandbox.exists("two"));
}

#[test]
fn keys_of_others_and_missing_ones_are_refused() {
    if !is_fastest() {
        return;
    }
    let sandbox = with_table("switching-owners");
    keygen(&sandbox, "other", '8', &["--switching", "TOY_SWITCH"]);
    let argmin = |more: &[&'static str]| eval("argmin", more);
    for (more, needed) in [
        (&["--switching-keys", "other/switching.keys"][..], ["other/switching.keys", "belongs to key"]),
        (&["--server-keys", "other/server.keys"], ["other/server.keys", "belongs to key"]),
        (&["--server-keys", "keys/switching.keys"], ["keys/switching.keys", "needed bootstrapping keys with TFHE"]),
        (&["--switching-keys", "keys/server.keys"], ["keys/server.keys", "needed scheme switching keys"]),
        (&["--switching-keys", "none.keys"], ["none.keys", "noren keygen --add --out keys --switching 2_2"]),
        (&["--server-keys", "none.keys"], ["none.keys", "--server-keys"]),
    ] {
        sandbox.refused(&argmin(more), &needed);
    }
    let other = ["eval", "argmin", "--keys", "other/bootstrap.keys", "table.ct", "-o", "out.ct"];
    sandbox.refused(&other, &["other/switching.keys", "belongs to key"]);
    // Rotations that the keys lack are added to where they lie.
    let far = ["keygen", "--out", "far", "--bootstrap", "toy", "--slots", "256", "--switching", "TOY_SWITCH"];
    sandbox.done(&[&far[..], &["--seed", &"9".repeat(64)]].concat());
    let rows: String = (0..20).map(|row| format!("{}\n", row * 7 % 20)).collect();
    sandbox.write("far.csv", format!("a\n{rows}").as_bytes());
    sandbox.done(&["encrypt", "--key", "far/public.key", "far.csv", "-o", "far.ct"]);
    follow(&sandbox, &["eval", "rank", "--keys", "far/bootstrap.keys", "far.ct", "-o", "rank.ct"], "far");
    let own = ["--switching-keys", "keys/switching.keys", "--server-keys", "keys/server.keys"];
    sandbox.refused(&[&other[..], &own].concat(), &["table.ct", "belongs to key"]);
    // Keys that are where they are not looked for.
    for name in ["switching.keys", "server.keys"] {
        std::fs::rename(sandbox.path(&format!("keys/{name}")), sandbox.path(name)).expect("a file");
    }
    sandbox.refused(&argmin(&[]), &["keys/switching.keys", "--switching-keys", "keygen --add"]);
    sandbox.done(&argmin(&["--switching-keys", "switching.keys", "--server-keys", "server.keys"]));
    // Those of other numbers of slots.
    sandbox.done(&["keygen", "--out", "wide", "--bootstrap", "toy", "--switching", "TOY_SWITCH"]);
    let wide = ["--switching-keys", "wide/switching.keys", "--server-keys", "wide/server.keys", "--force"];
    sandbox.refused(&argmin(&wide), &["wide/switching.keys", "toy for 512 slots", "toy for 64 slots"]);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let sandbox = with_table("switching-refusals");
    for (program, more, needed) in [
        ("threshold", &[][..], ["--number", "none"]),
        ("argmin", &["--number", "3"], ["--number", "argmin takes none"]),
        ("argmax", &["--columns", "weight"], ["--columns", "age, bmi, dose"]),
        ("argmax", &["--columns", "3"], ["--columns", "0 to 2"]),
        ("argmax", &["--columns", "bmi,age,bmi"], ["--columns", "\"bmi\" once more"]),
        ("argmax", &["--model", "model.json"], ["--model", "argmax"]),
        ("argmax", &["--type", "uint8", "--function", "gcd"], ["--function", "argmax takes none"]),
        ("argmin", &["--failure-budget=-64"], ["budget is 2^-64", "bootstraps"]),
        ("argmin", &["--count", "3"], ["--count", "argmin takes none"]),
        ("top", &[], ["--count", "none"]),
        ("top", &["--count", "6"], ["largest", "1 to 5"]),
        ("top", &["--count", "2", "--number", "1"], ["--number", "top takes none"]),
        ("mean", &["--steps", "3"], ["--steps", "threshold, argmin, argmax"]),
        ("bootstrap", &["--switching-keys", "keys/switching.keys"], ["--switching-keys", "bootstrap"]),
    ] {
        sandbox.refused(&eval(program, more), &needed);
    }
    for more in [&["--steps", "2"][..], &["--number", "many"], &["--number", "inf"]] {
        assert_eq!(sandbox.run(&eval("threshold", more)).status.code(), Some(2), "{more:?}");
    }
    // Keys and tables of other kinds.
    let with = |keys, table| ["eval", "threshold", "--keys", keys, table, "-o", "out.ct", "--number", "1"];
    sandbox.refused(&with("keys/server.keys", "table.ct"), &["table.ct", "needed columns of TFHE"]);
    sandbox.refused(
        &with("keys/public.key", "table.ct"),
        &["keys/public.key: found public key", "bootstrapping keys", "for --keys"],
    );
    sandbox.refused(&with("keys/bootstrap.keys", "keys/public.key"), &["needed encrypted table"]);
    let real = ["eval", "threshold", "--keys", "keys/server.keys", "table.ct", "-o", "out.ct", "--number", "1.5"];
    sandbox.refused(&real, &["--number", "a whole number"]);
    sandbox.done(&["keygen", "--out", "bits", "--tfhe", "TOY_2_2"]);
    sandbox.write("whole.csv", b"a\n1\n2\n");
    sandbox.done(&["encrypt", "--key", "bits/secret.key", "--type", "uint8", "whole.csv", "-o", "whole.ct"]);
    sandbox
        .refused(&with("keys/bootstrap.keys", "whole.ct"), &["whole.ct", "columns of TFHE", "needed encrypted table"]);
    // Tables with pairs of columns, with too few levels, or with more rows than slots.
    sandbox.write("pairs.json", br#"{"pairs": [[0, 0]]}"#);
    let pairs = ["eval", "inner-product", "--keys", "keys/bootstrap.keys", "--model", "pairs.json", "table.ct"];
    sandbox.done(&[&pairs[..], &["-o", "pairs.ct"]].concat());
    sandbox.refused(&with("keys/bootstrap.keys", "pairs.ct"), &["pairs.ct", "pairs of columns"]);
    sandbox.done(&["eval", "mean", "--last", "--keys", "keys/bootstrap.keys", "table.ct", "-o", "low.ct"]);
    sandbox.refused(&with("keys/bootstrap.keys", "low.ct"), &["low.ct", "at least 3"]);
    let rows: String = (0..600).map(|row| format!("{row}\n")).collect();
    sandbox.write("long.csv", format!("a\n{rows}").as_bytes());
    sandbox.done(&["encrypt", "--key", "keys/public.key", "long.csv", "-o", "long.ct"]);
    let long = ["eval", "argmin", "--keys", "keys/bootstrap.keys", "long.ct", "-o", "out.ct"];
    sandbox.refused(&long, &["long.ct", "512 slots", "at most 64"]);
    let rows = rows.lines().take(70).collect::<Vec<_>>().join("\n");
    sandbox.write("long.csv", format!("a\n{rows}\n").as_bytes());
    sandbox.done(&["encrypt", "--key", "keys/public.key", "long.csv", "-o", "long.ct", "--force"]);
    sandbox.refused(&long, &["long.ct", "128 slots", "noren keygen --bootstrap"]);
}
