//! Functions of two columns of encrypted integers, as users meet them.

use crate::sandbox::Sandbox;

/// A sandbox with keys for functions of such numbers, modulo 97 in a ring of degree 16, in `keys`.
pub fn with_keys(name: &str, domain: &str) -> Sandbox {
    let sandbox = Sandbox::new(name);
    sandbox.integers("small.params", 4, 97, 12);
    let keygen = ["keygen", "--out", "keys", "--lookup", domain, "--params", "small.params"];
    sandbox.done(&[&keygen[..], &["--seed", &"6".repeat(64)]].concat());
    sandbox
}

/// Encrypts pairs of numbers for functions of this domain.
pub fn encrypt(sandbox: &Sandbox, domain: &str, pairs: &[[u64; 2]]) {
    let lines: String = pairs.iter().map(|[x, y]| format!("{x},{y}\n")).collect();
    sandbox.write("pairs.csv", format!("x,y\n{lines}").as_bytes());
    let encrypt = ["encrypt", "--key", "keys/public.key", "pairs.csv", "-o", "pairs.ct", "--force"];
    sandbox.done(&[&encrypt[..], &["--domain", domain]].concat());
}

/// Looks the pairs up in `f.prepared`, and decrypts.
fn look_up(sandbox: &Sandbox) -> Vec<u64> {
    let eval = ["eval", "lookup", "--keys", "keys/lookup.keys", "--function", "f.prepared", "pairs.ct"];
    let report = sandbox.json(&[&eval[..], &["-o", "results.ct", "--force"]].concat());
    assert!(report["noise_budget"].as_f64() > Some(0.0) && report["seconds"].as_f64() > Some(0.0), "{report}");
    sandbox.done(&["decrypt", "--key", "keys/secret.key", "results.ct", "-o", "out.csv", "--force"]);
    let text = sandbox.text("out.csv");
    assert!(text.starts_with("result\n"), "{text}");
    text.lines().skip(1).map(|line| line.parse().expect("a whole number")).collect()
}

fn prepare(sandbox: &Sandbox, arguments: &[&str]) {
    let prepare = ["prepare", "--params", "keys/public.key", "-o", "f.prepared", "--force"];
    sandbox.done(&[&prepare[..], arguments].concat());
}

#[test]
fn every_formula_is_exact_on_every_pair() {
    let sandbox = with_keys("formulas", "5");
    let pairs: Vec<[u64; 2]> = (0..25).map(|i| [i / 5, i % 5]).collect();
    encrypt(&sandbox, "5", &pairs);
    let gcd = |x: u64, y: u64| (1..=4).rev().find(|d| x.is_multiple_of(*d) && y.is_multiple_of(*d)).unwrap_or(0);
    for (name, undefined, value) in [
        ("div", Some("96"), &(|x: u64, y| x.checked_div(y).unwrap_or(96)) as &dyn Fn(u64, u64) -> u64),
        ("mod", Some("7"), &|x: u64, y| x.checked_rem(y).unwrap_or(7)),
        ("max", None, &u64::max),
        ("min", None, &u64::min),
        ("distance", None, &u64::abs_diff),
        ("gcd", None, &|x, y| if x == 0 && y == 0 { 0 } else { gcd(x, y) }),
        ("less", None, &|x, y| u64::from(x < y)),
        ("equal", None, &|x, y| u64::from(x == y)),
    ] {
        let undefined = undefined.map(|value| ["--undefined", value]).unwrap_or_default();
        let undefined: Vec<&str> = undefined.into_iter().filter(|text| !text.is_empty()).collect();
        prepare(&sandbox, &[&["--function", name, "--domain", "5"], &undefined[..]].concat());
        let expected: Vec<u64> = pairs.iter().map(|&[x, y]| value(x, y)).collect();
        assert_eq!(look_up(&sandbox), expected, "{name}");
    }
}

#[test]
fn all_domains_are_looked_up() {
    // Several numbers in a ciphertext, one in each, and two ciphertexts for the one-hot vector of one.
    for (domain, most, step) in [("8", 8, 1), ("16", 16, 7), ("97,20", 97, 41)] {
        let sandbox = with_keys(&format!("domain-{most}"), domain);
        let other = if most == 97 { 20 } else { most };
        let pairs: Vec<[u64; 2]> = (0..most * other).step_by(step).map(|i| [i / other, i % other]).collect();
        encrypt(&sandbox, domain, &pairs);
        prepare(&sandbox, &["--function", "div", "--domain", domain, "--undefined", "0"]);
        let expected: Vec<u64> = pairs.iter().map(|&[x, y]| x.checked_div(y).unwrap_or(0)).collect();
        assert_eq!(look_up(&sandbox), expected, "{domain}");
    }
}

#[test]
fn tables_from_files_are_looked_up() {
    let sandbox = with_keys("table", "6,3");
    let value = |x: u64, y: u64| (x * x * 11 + y * 29 + 5) % 97;
    let pairs: Vec<[u64; 2]> = (0..18).map(|i| [i / 3, i % 3]).collect();
    let expected: Vec<u64> = pairs.iter().map(|&[x, y]| value(x, y)).collect();
    let rows: String =
        (0..6).map(|x| (0..3).map(|y| value(x, y).to_string()).collect::<Vec<_>>().join(",") + "\n").collect();
    sandbox.write("bare.csv", rows.as_bytes());
    sandbox.write("named.csv", format!("low,middle,high\n{rows}").as_bytes());
    let text = format!("{:117}\n", "{'descr': '|u1', 'fortran_order': False, 'shape': (6, 3), }");
    let length = u16::try_from(text.len()).expect("short").to_le_bytes();
    let numbers: Vec<u8> = expected.iter().map(|&value| value as u8).collect();
    sandbox.write("table.npy", &[b"\x93NUMPY\x01\0", &length[..], text.as_bytes(), &numbers].concat());
    encrypt(&sandbox, "6,3", &pairs);
    for arguments in [&["--table", "named.csv"][..], &["--table", "bare.csv", "--no-header"], &["--table", "table.npy"]]
    {
        prepare(&sandbox, arguments);
        assert_eq!(look_up(&sandbox), expected, "{arguments:?}");
    }
    // Columns by name and by position, from a table with more of them.
    sandbox.write("wide.csv", b"y,note,x\n2,5,4\n0,5,3\n");
    sandbox.done(&["encrypt", "--key", "keys/secret.key", "wide.csv", "--domain", "3,6,6", "-o", "wide.ct"]);
    for columns in ["x,y", "2,0"] {
        let eval = ["eval", "lookup", "--keys", "keys/lookup.keys", "--function", "f.prepared", "wide.ct"];
        sandbox.done(&[&eval[..], &["--columns", columns, "-o", "results.ct", "--force"]].concat());
        sandbox.done(&["decrypt", "--key", "keys/secret.key", "results.ct", "-o", "out.csv", "--force"]);
        assert_eq!(sandbox.text("out.csv"), format!("result\n{}\n{}\n", value(4, 2), value(3, 0)), "{columns}");
    }
}

#[test]
fn x_and_y_may_come_in_two_tables_and_x_alone() {
    let sandbox = with_keys("two", "8");
    for (name, numbers) in [("x", [7, 5, 6]), ("y", [2, 0, 6])] {
        let lines: String = numbers.iter().map(|number| format!("{number}\n")).collect();
        sandbox.write(&format!("{name}.csv"), format!("{name}\n{lines}").as_bytes());
        let (input, output) = (format!("{name}.csv"), format!("{name}.ct"));
        sandbox.done(&["encrypt", "--key", "keys/public.key", &input, "--domain", "8", "-o", &output]);
    }
    let eval =
        ["eval", "lookup", "--keys", "keys/lookup.keys", "--function", "f.prepared", "-o", "results.ct", "--force"];
    let look_up = |inputs: &[&str]| {
        sandbox.done(&[&eval[..], inputs].concat());
        sandbox.done(&["decrypt", "--key", "keys/secret.key", "results.ct", "-o", "out.csv", "--force"]);
        sandbox.text("out.csv")
    };
    prepare(&sandbox, &["--function", "mod", "--domain", "8", "--undefined", "50"]);
    assert_eq!(look_up(&["x.ct", "y.ct"]), "result\n1\n50\n0\n");
    assert_eq!(look_up(&["y.ct", "x.ct", "--columns", "y,x"]), "result\n2\n0\n0\n");
    let inspected = sandbox.json(&["inspect", "f.prepared"]);
    assert_eq!((&inspected["function"]["domain"][1], &inspected["function"]["has_matrix"]), (&8.into(), &true.into()));
    // A table with one column is a function of x.
    sandbox.write("squares.csv", b"square\n0\n1\n4\n9\n16\n25\n36\n49\n");
    sandbox
        .refused(&["prepare", "--table", "squares.csv", "--domain", "8", "-o", "no"], &["8 rows (x) and 1 column (y)"]);
    prepare(&sandbox, &["--table", "squares.csv"]);
    assert_eq!(look_up(&["x.ct"]), "result\n49\n25\n36\n");
    assert_eq!(sandbox.json(&["inspect", "f.prepared"])["function"]["has_matrix"], false);
    let difference =
        ["prepare", "--params", "small.params", "--function", "distance", "--domain", "8", "-o", "no", "--dry-run"];
    assert_eq!(sandbox.json(&difference)["depends_on"], "x - y");
    assert!(sandbox.done(&difference).contains("depends on x - y alone"));
}

#[test]
fn x_and_y_of_two_tables_may_have_domains_of_their_own() {
    let sandbox = with_keys("unlike", "16,7");
    prepare(&sandbox, &["--function", "div", "--domain", "16,7", "--undefined", "0"]);
    sandbox.write("x.csv", b"x\n15\n9\n14\n");
    sandbox.write("y.csv", b"note,y\n1,2\n1,0\n1,6\n");
    let encrypt = |input: &str, output: &str, options: &str| {
        let encrypt = ["encrypt", "--key", "keys/public.key", input, "-o", output, "--force"];
        sandbox.done(&encrypt.into_iter().chain(options.split(' ')).collect::<Vec<_>>());
    };
    let eval = ["eval", "lookup", "--keys", "keys/lookup.keys", "--function", "f.prepared", "x.ct", "y.ct"];
    let eval = [&eval[..], &["-o", "results.ct"]].concat();
    let advice = "encrypt with --domain 7 --beside 16\n";
    encrypt("x.csv", "x.ct", "--domain 16");
    encrypt("y.csv", "y.ct", "--columns y --domain 7");
    sandbox.refused(&eval, &["y.ct: column 1", "numbers in 8 slots each", "needed 16 slots", advice]);
    encrypt("y.csv", "y.ct", "--columns y --domain 16");
    sandbox.refused(&eval, &["y.ct: column 1", "numbers below 16", "needed numbers below 7", advice]);
    encrypt("y.csv", "y.ct", "--domain 16");
    let second = [&eval[..], &["--columns", "x,y"]].concat();
    sandbox.refused(&second, &["encrypt with --columns y --domain 7 --beside 16\n"]);
    encrypt("x.csv", "x.ct", "--domain 17");
    sandbox.refused(&eval, &["x.ct: column 1", "encrypt with --domain 16\n"]);
    // The options of the advice.
    encrypt("x.csv", "x.ct", "--domain 16");
    encrypt("y.csv", "y.ct", "--columns y --domain 7 --beside 16");
    sandbox.done(&eval);
    sandbox.done(&["decrypt", "--key", "keys/secret.key", "results.ct", "-o", "out.csv"]);
    assert_eq!(sandbox.text("out.csv"), "result\n7\n0\n2\n");
    // Both in one table, in another order, among others.
    sandbox.write("wide.csv", b"y,note,x\n2,5,15\n6,5,14\n");
    let one = ["eval", "lookup", "--keys", "keys/lookup.keys", "--function", "f.prepared", "wide.ct", "-o", "one.ct"];
    let one = [&one[..], &["--columns", "x,y"]].concat();
    encrypt("wide.csv", "wide.ct", "--domain 16");
    sandbox.refused(&one, &["wide.ct: column 1 (\"y\")", "encrypt with --columns y,x --domain 7,16\n"]);
    encrypt("wide.csv", "wide.ct", "--columns y,x --domain 7,16");
    sandbox.done(&one);
    let alone = ["encrypt", "--key", "keys/public.key", "x.csv", "--beside", "16", "-o", "no.ct"];
    assert_eq!(sandbox.run(&alone).status.code(), Some(2));
    let large = ["encrypt", "--key", "keys/public.key", "x.csv", "--domain", "16", "--beside", "98", "-o", "no.ct"];
    sandbox.refused(&large, &["98", "the plaintext modulus 97"]);
}

#[test]
fn plans_are_told_before_anything_is_made() {
    let sandbox = Sandbox::new("lookup-plan");
    let plan = sandbox.json(&["plan", "--lookup", "32768"]);
    let parameters = &plan["parameters"];
    assert_eq!((&parameters["log_n"], &parameters["security_bits"]), (&15.into(), &128.into()));
    let classes = plan["keys"].as_array().expect("a list");
    assert!(classes.len() == 5 && classes.iter().all(|class| class["reached_bits"].as_u64() >= Some(128)), "{plan}");
    let bytes = |name: &str| plan[name].as_u64().expect("bytes");
    assert_eq!(bytes("matrix_bytes"), 1 << 31);
    assert!(bytes("key_bytes") <= 1_500_000_000 && bytes("working_bytes") < 1 << 29);
    assert!(plan["noise_budget"].as_f64() > Some(0.0));
    let only = ["keygen", "--out", "keys", "--lookup", "32768", "--plan-only"];
    assert_eq!(sandbox.json(&only)["parameters"]["fingerprint"], parameters["fingerprint"]);
    let dry = ["prepare", "--function", "max", "--domain", "32768", "-o", "max.prepared", "--dry-run"];
    assert_eq!(sandbox.json(&dry)["matrix_bytes"], plan["matrix_bytes"]);
    assert!(!sandbox.exists("keys") && !sandbox.exists("max.prepared"));
    let text = sandbox.done(&["plan", "--lookup", "8,300"]);
    assert!(text.contains("x below 8 and y below 300, 64 pairs") && text.contains("keys of the matrix"), "{text}");
}

#[test]
fn keys_of_equal_seeds_are_equal_and_their_bytes_planned() {
    let sandbox = with_keys("lookup-seeds", "16");
    let keygen = ["keygen", "--out", "again", "--lookup", "16", "--params", "keys/public.key", "--threads", "3"];
    let report = sandbox.json(&[&keygen[..], &["--seed", &"6".repeat(64)]].concat());
    for name in ["secret.key", "public.key", "lookup.keys"] {
        assert!(sandbox.read(&format!("keys/{name}")) == sandbox.read(&format!("again/{name}")), "{name}");
    }
    let planned = report["plan"]["key_disk_bytes"].as_u64().expect("bytes");
    assert!(planned <= sandbox.read("keys/lookup.keys").len() as u64);
    let keys = sandbox.json(&["inspect", "keys/lookup.keys"]);
    assert_eq!((&keys["kind"], &keys["parameters"]["plaintext_modulus"]), (&"lookup keys".into(), &97.into()));
    let list = keys["evaluation_keys"].as_array().expect("a list");
    // The public key is in a file of its own.
    assert_eq!(report["keys"].as_u64(), Some(list.len() as u64));
    for kind in
        ["the switch to the sparse secret", "relinearisation of one-hot vectors", "relinearisation of the matrix"]
    {
        assert!(list.iter().any(|key| key["kind"] == kind), "{kind}: {keys}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(sandbox.path("keys/secret.key")).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert_eq!(std::fs::read_dir(sandbox.path("keys")).expect("a directory").count(), 3, "nothing is left behind");
    encrypt(&sandbox, "16", &[[1, 2]]);
    prepare(&sandbox, &["--function", "max", "--domain", "16"]);
    let prepared = sandbox.json(&["inspect", "f.prepared"]);
    assert_eq!((&prepared["kind"], &prepared["digest"]), (&"prepared function".into(), &"ok".into()));
    let pairs = sandbox.json(&["inspect", "pairs.ct"]);
    assert_eq!((&pairs["layout"]["stretch"], &pairs["layout"]["sizes"][1]), (&16.into(), &16.into()));
}
