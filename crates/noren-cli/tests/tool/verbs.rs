//! Each verb does what it says.

use std::fs;

use serde_json::Value;

use crate::sandbox::{NAMES, ROWS, Sandbox, entry};

fn column(column: usize) -> Vec<f64> {
    (0..ROWS).map(|row| entry(row, column)).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn covariance(a: &[f64], b: &[f64]) -> f64 {
    let (mean_a, mean_b) = (mean(a), mean(b));
    a.iter().zip(b).map(|(x, y)| (x - mean_a) * (y - mean_b)).sum::<f64>() / (a.len() - 1) as f64
}

/// Encrypts the usual table, runs a program and decrypts; gives the numbers and the error bound that was printed.
fn compute(sandbox: &Sandbox, key: &str, program: &[&str], skip: usize) -> (Vec<Vec<f64>>, f64) {
    sandbox.done(&["encrypt", "--key", key, "table.csv", "-o", "table.ct", "--force"]);
    sandbox.done(&[&["eval"], program, &["--keys", "keys/eval.keys", "table.ct", "-o", "out.ct", "--force"]].concat());
    let report = sandbox.json(&["decrypt", "--key", "keys/secret.key", "out.ct", "-o", "out.csv", "--force"]);
    (sandbox.numbers("out.csv", skip), report["error_bound"].as_f64().expect("a bound"))
}

#[test]
fn statistics_are_within_the_bound_that_is_printed() {
    let sandbox = Sandbox::with_keys("statistics", "sum,mean,variance,covariance,inner-product");
    for key in ["keys/public.key", "keys/secret.key"] {
        for (program, expected) in [
            ("sum", &(|values: &[f64]| values.iter().sum()) as &dyn Fn(&[f64]) -> f64),
            ("mean", &mean),
            ("variance", &|values| covariance(values, values)),
        ] {
            let (found, bound) = compute(&sandbox, key, &[program], 1);
            assert_eq!((found.len(), found[0].len()), (1, NAMES.len()));
            for (c, value) in found[0].iter().enumerate() {
                let error = (value - expected(&column(c))).abs();
                assert!(error <= bound && bound < 1e-3, "{program} of column {c}: {error:e}, bound {bound:e}");
            }
        }
        for (program, expected) in [
            ("covariance", &covariance as &dyn Fn(&[f64], &[f64]) -> f64),
            ("inner-product", &|a, b| a.iter().zip(b).map(|(x, y)| x * y).sum()),
        ] {
            let (found, bound) = compute(&sandbox, key, &[program], 1);
            for (i, row) in found.iter().enumerate() {
                for (j, value) in row.iter().enumerate() {
                    let error = (value - expected(&column(i), &column(j))).abs();
                    assert!(error <= bound && bound < 1e-2, "{program} {i} {j}: {error:e}, bound {bound:e}");
                }
            }
        }
    }
    assert!(sandbox.text("out.csv").starts_with("row,age,bmi,bp\nage,"));
}

#[test]
fn models_are_read_from_files() {
    let sandbox = Sandbox::with_table("models");
    sandbox.write("risk.json", br#"{"weights": [0.05, -0.03, 0.02], "bias": -0.5, "interval": 8, "degree": 7}"#);
    sandbox.write("score.json", br#"{"weights": [2, 1], "columns": ["bp", "age"], "outputs": ["score"]}"#);
    sandbox.write("cubic.json", br#"{"coefficients": [1, 0, 0.001], "interval": [-40, 40]}"#);
    let models = ["--model", "risk.json", "--model", "linear=score.json", "--model", "polynomial=cubic.json"];
    let programs = ["--program", "logistic,linear,polynomial", "--params", "small.params"];
    let shape = ["--rows", "12", "--columns", "age,bmi,bp"];
    sandbox.done(&[&["keygen", "--out", "keys"], &programs[..], &shape, &models].concat());

    let key = "keys/public.key";
    let (found, bound) = compute(&sandbox, key, &["logistic", "--model", "risk.json"], 0);
    for (r, row) in found.iter().enumerate() {
        let score = 0.05 * entry(r, 0) - 0.03 * entry(r, 1) + 0.02 * entry(r, 2) - 0.5;
        let error = (row[0] - 1.0 / (1.0 + (-score).exp())).abs();
        assert!(row.len() == 1 && error <= bound, "row {r}: {error:e}, bound {bound:e}");
    }
    assert!(sandbox.text("out.csv").starts_with("probability\n"));
    let (found, bound) = compute(&sandbox, key, &["linear", "--model", "score.json"], 0);
    for (r, row) in found.iter().enumerate() {
        let error = (row[0] - 2.0 * entry(r, 2) - entry(r, 0)).abs();
        assert!(error <= bound && bound < 1e-3, "row {r}: {error:e}, bound {bound:e}");
    }
    let (found, bound) = compute(&sandbox, key, &["polynomial", "--model", "cubic.json"], 0);
    for (r, row) in found.iter().enumerate() {
        for (c, value) in row.iter().enumerate() {
            let error = (value - 1.0 - 0.001 * entry(r, c).powi(2)).abs();
            assert!(error <= bound && bound < 1e-3, "row {r}, column {c}: {error:e}, bound {bound:e}");
        }
    }
}

#[test]
fn unproven_intervals_are_planned_where_that_is_asked_for() {
    let sandbox = Sandbox::with_table("unproven");
    sandbox.write("risk.json", br#"{"weights": [1, 1, 1], "interval": 8, "degree": 7, "outputs": ["risk"]}"#);
    sandbox.write("wide.json", b"4");
    sandbox.write("narrow.json", b"2");
    let model = ["keygen", "--out", "keys", "--program", "logistic", "--model", "risk.json", "--plan-only"];
    let shape = ["--rows", "12", "--columns", "age,bmi,bp", "--params", "small.params", "--bounds"];
    let wide = [&model[..], &shape, &["wide.json"]].concat();
    sandbox.refused(&wide, &["logistic", "\"risk\"", "from -12 to 12", "[-8, 8]", "--unproven-interval"]);
    sandbox.done(&[&wide[..], &["--unproven-interval"]].concat());
    sandbox.done(&[&model[..], &shape, &["narrow.json"]].concat());
}

#[test]
fn the_whole_path_at_128_bits() {
    let sandbox = Sandbox::new("secure");
    sandbox.write("table.csv", crate::sandbox::table().as_bytes());
    let plan = ["keygen", "--out", "keys", "--program", "mean", "--rows", "12", "--columns", "3"];
    let report = sandbox.json(&plan);
    let parameters = &report["plan"]["parameters"];
    assert_eq!(parameters["security_bits"], 128);
    for key in parameters["keys"].as_array().expect("keys") {
        assert!(key["log_modulus"].as_f64() <= key["bound"].as_f64() && key["reached_bits"].as_u64() >= Some(128));
    }
    let (found, bound) = compute(&sandbox, "keys/public.key", &["mean"], 1);
    for (c, value) in found[0].iter().enumerate() {
        let error = (value - mean(&column(c))).abs();
        // 20 bits of the largest number that the power of two of a column allows, 32, and some for the sum.
        assert!(error <= bound && bound < 32.0 * f64::exp2(-17.0), "column {c}: {error:e}, bound {bound:e}");
    }
}

#[cfg(unix)]
#[test]
fn secret_keys_are_for_their_owner() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::with_keys("modes", "sum");
    let mode = fs::metadata(sandbox.path("keys/secret.key")).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let entries = fs::read_dir(sandbox.path("keys")).expect("a directory").count();
    assert_eq!(entries, 3, "nothing is left behind");
}

#[test]
fn a_plan_writes_nothing_and_tells_the_bytes_of_the_keys() {
    let sandbox = Sandbox::with_table("plan");
    let arguments = ["keygen", "--out", "keys", "--program", "covariance", "--rows", "12", "--columns", "3"];
    let arguments = [&arguments[..], &["--params", "small.params"]].concat();
    let plan = sandbox.json(&[&arguments[..], &["--plan-only"]].concat());
    assert!(!sandbox.exists("keys"));
    assert!((1..=5).contains(&plan["depth"].as_u64().expect("levels")));
    sandbox.done(&arguments);
    let (planned, found) =
        (plan["evaluation_key_bytes"].as_u64().expect("bytes"), sandbox.read("keys/eval.keys").len() as u64);
    // Headers, tables of contents and padding: at most 127 bytes for each of at most 5 sections of a key, and once more.
    let sections = 5 * (1 + plan["evaluation_keys"].as_u64().expect("keys"));
    assert!(planned <= found && found <= planned + 127 * (sections + 2), "{planned}, {found}");
}

#[test]
fn equal_seeds_make_equal_keys_on_any_threads() {
    let sandbox = Sandbox::with_table("seeds");
    let seed = "5a".repeat(32);
    for (directory, threads) in [("one", "1"), ("two", "2")] {
        let shape = ["--rows", "12", "--columns", "3", "--params", "small.params", "--seed", &seed];
        let arguments = ["keygen", "--threads", threads, "--out", directory, "--program", "variance"];
        sandbox.done(&[&arguments[..], &shape].concat());
    }
    for name in ["secret.key", "public.key", "eval.keys"] {
        assert!(sandbox.read(&format!("one/{name}")) == sandbox.read(&format!("two/{name}")), "{name}");
    }
}

#[test]
fn released_numbers_are_multiples_of_their_unit() {
    let sandbox = Sandbox::with_keys("release", "mean");
    sandbox.done(&["encrypt", "--key", "keys/secret.key", "table.csv", "-o", "table.ct"]);
    let decrypt = ["decrypt", "--key", "keys/secret.key", "table.ct", "-o", "out.csv", "--force"];
    let release = |options: &[&'static str]| [&decrypt[..], options].concat();
    let report = sandbox.json(&release(&["--release", "4", "--statistical-security", "8"]));
    assert_eq!((&report["planned_releases"], &report["statistical_security"]), (&1.into(), &8.into()));
    let exponents = [3, 4, 5]; // of the largest numbers: 6, 16, 26
    for (r, row) in sandbox.numbers("out.csv", 0).iter().enumerate() {
        for (c, value) in row.iter().enumerate() {
            let unit = f64::exp2(f64::from(exponents[c] - 4));
            assert_eq!(value / unit, (value / unit).round(), "row {r}, column {c}: {value}");
            let bound = report["error_bounds"][c].as_f64().expect("a bound");
            assert!(
                (value - entry(r, c)).abs() <= bound && bound < 3.0 * unit,
                "row {r}, column {c}: {value}, {bound}"
            );
        }
    }
    let first = sandbox.read("out.csv");
    sandbox.done(&release(&["--release", "4", "--statistical-security", "8"]));
    assert_eq!(sandbox.read("out.csv"), first, "the same release again");
    for (options, reason) in [
        (&["--release", "40"][..], "planned releases: 1, statistical security: 40 bits"),
        (&["--release", "4", "--releases", "1000000000000"], "at most"),
        (&["--release", "4", "--releases", "0"], "at least 1"),
        (&["--release", "4", "--statistical-security", "81"], "1 to 80"),
    ] {
        sandbox.refused(&release(options), &[reason]);
    }
}

#[test]
fn last_results_drop_their_levels_and_keep_their_numbers() {
    let sandbox = Sandbox::with_keys("last", "mean");
    let (long, bound) = compute(&sandbox, "keys/public.key", &["mean"], 1);
    let bytes = sandbox.read("out.ct").len();
    sandbox.done(&["eval", "mean", "--keys", "keys/eval.keys", "table.ct", "-o", "out.ct", "--force", "--last"]);
    assert_eq!(sandbox.json(&["inspect", "out.ct"])["ciphertexts"]["level"], 0);
    // One prime of 50 bits where there were five, the others of 40 bits.
    assert!(sandbox.read("out.ct").len() * 3 < bytes);
    let report = sandbox.json(&["decrypt", "--key", "keys/secret.key", "out.ct", "-o", "out.csv", "--force"]);
    assert_eq!(report["error_bound"].as_f64(), Some(bound));
    // The same integers modulo fewer primes, so the same numbers but for the last digit of floating point.
    for (a, b) in long[0].iter().zip(&sandbox.numbers("out.csv", 1)[0]) {
        assert!((a - b).abs() <= a.abs() * f64::EPSILON, "{a}, {b}");
    }
}

#[test]
fn bounds_decide_the_scaling() {
    let sandbox = Sandbox::with_keys("bounds", "mean");
    sandbox.write("all.json", b"100");
    sandbox.write("list.json", b"[10, 60, 1000]");
    sandbox.write("named.json", br#"{"bp": 1000, "age": 10, "bmi": 60}"#);
    for (file, exponents) in [("all.json", [7, 7, 7]), ("list.json", [4, 6, 10]), ("named.json", [4, 6, 10])] {
        let arguments =
            ["encrypt", "--key", "keys/public.key", "table.csv", "-o", "table.ct", "--force", "--bounds", file];
        let report = sandbox.json(&arguments);
        assert_eq!(report["exponents"], Value::from(exponents.to_vec()), "{file}");
        assert_eq!(report["bounds_from_data"], false);
    }
}

#[test]
fn inspect_tells_what_is_in_every_file() {
    let sandbox = Sandbox::with_keys("inspect", "covariance");
    sandbox.done(&["encrypt", "--key", "keys/secret.key", "table.csv", "-o", "table.ct"]);
    sandbox.done(&["eval", "covariance", "--keys", "keys/eval.keys", "table.ct", "-o", "out.ct"]);
    for (file, kind) in [
        ("small.params", "CKKS parameters"),
        ("keys/secret.key", "secret key with CKKS parameters"),
        ("keys/public.key", "public key with CKKS parameters"),
        ("keys/eval.keys", "evaluation keys with CKKS parameters"),
        ("table.ct", "encrypted table"),
        ("out.ct", "encrypted table"),
    ] {
        let report = sandbox.json(&["inspect", file]);
        assert_eq!((&report["kind"], &report["digest"]), (&kind.into(), &"ok".into()), "{file}");
        assert_eq!(report["bytes"], sandbox.read(file).len(), "{file}");
        assert_eq!(report["parameters"].is_null(), file.ends_with(".ct"), "{file}");
        assert!(sandbox.done(&["inspect", file]).contains("digest ok"));
    }
    let keys = sandbox.json(&["inspect", "keys/eval.keys"]);
    let keys = keys["evaluation_keys"].as_array().expect("a list");
    assert_eq!(keys[0]["kind"], "relinearisation");
    assert!(keys.iter().any(|key| key["kind"].as_str().is_some_and(|kind| kind.starts_with("rotation by 1 "))));
    let fresh = sandbox.json(&["inspect", "table.ct"]);
    assert_eq!((&fresh["ciphertexts"]["level"], &fresh["ciphertexts"]["seeded"]), (&5.into(), &1.into()));
    assert_eq!((&fresh["layout"]["rows"], &fresh["layout"]["column_names"][1]), (&ROWS.into(), &"bmi".into()));
    let result = sandbox.json(&["inspect", "out.ct"]);
    let shape = ["--rows", "12", "--columns", "3", "--params", "small.params"];
    let plan = ["keygen", "--out", "none", "--program", "covariance", "--plan-only"];
    let depth = sandbox.json(&[&plan[..], &shape].concat())["depth"].as_u64().expect("levels");
    let expected = (Some(5 - depth), Some(0));
    assert_eq!((result["ciphertexts"]["level"].as_u64(), result["ciphertexts"]["seeded"].as_u64()), expected);
}

#[test]
fn parameters_are_chosen_checked_and_shown() {
    let sandbox = Sandbox::new("params");
    let chosen = sandbox.json(&["params", "choose", "--depth", "3", "--precision", "18", "-o", "ckks.params"]);
    assert_eq!((&chosen["max_level"], &chosen["security_bits"]), (&3.into(), &128.into()));
    assert!(chosen["error_at_depth"].as_f64().expect("a number") <= f64::exp2(-18.0));
    let shown = sandbox.json(&["params", "show", "ckks.params"]);
    assert_eq!(shown["fingerprint"], chosen["fingerprint"]);
    assert_eq!(sandbox.json(&["params", "check", "ckks.params"])["primes_q"], chosen["primes_q"]);
    let sizes = ["--log-n", "14", "--log-q", "50,45,45", "--log-p", "50", "--secret", "gaussian", "--security", "192"];
    let checked = sandbox.json(&[&["params", "check"], &sizes[..]].concat());
    assert_eq!((&checked["secret"], &checked["log_scale"]), (&"Gaussian".into(), &45.into()));
    let staged =
        ["params", "check", "--log-n", "14", "--log-q", "50,45,40", "--log-p", "50", "--restarts", "1:40,0:38"];
    let staged = sandbox.json(&[&staged[..], &["-o", "staged.params"]].concat());
    assert_eq!((&staged["log_scales"][1], &staged["log_scales"][0]), (&40.0.into(), &38.0.into()));
    assert_eq!(sandbox.json(&["params", "show", "staged.params"])["log_scales"], staged["log_scales"]);
}

#[test]
fn info_tells_the_machine() {
    let sandbox = Sandbox::new("info");
    let info = sandbox.json(&["info", "--threads", "1"]);
    assert_eq!((&info["version"], &info["threads"]), (&env!("CARGO_PKG_VERSION").into(), &1.into()));
    let tables = info["isa_available"].as_array().expect("a list");
    assert!(tables.contains(&info["isa"]) && tables.contains(&"portable".into()));
    let portable = sandbox.command(&["info", "--json"]).env("NOREN_ISA", "portable").output().expect("runs");
    assert!(String::from_utf8_lossy(&portable.stdout).contains("\"isa\":\"portable\""));
}

#[cfg(unix)]
#[test]
fn demo_runs_the_module_in_the_interpreter_that_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new("demo");
    sandbox.write("python", b"#!/bin/sh\necho \"$@\" > called\n");
    fs::set_permissions(sandbox.path("python"), fs::Permissions::from_mode(0o755)).expect("allowed");
    let output = sandbox.command(&["demo", "--out", "there"]).env("NOREN_PYTHON", sandbox.path("python")).output();
    assert_eq!(output.expect("runs").status.code(), Some(0));
    assert_eq!(sandbox.text("called"), "-m noren.demo --out there\n");
    for python in ["/no/such/python", "false"] {
        let output = sandbox.command(&["demo"]).env("NOREN_PYTHON", python).output().expect("runs");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1));
        assert!(message.contains("pip install scikit-learn matplotlib"), "{message}");
    }
}
