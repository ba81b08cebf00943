//! Mistakes in functions, their tables and their keys are refused with their values, and no file changes.

use crate::lookup::{encrypt, with_keys};
use crate::sandbox::{Sandbox, tool};

fn eval<'a>(keys: &'a str, function: &'a str, input: &'a str) -> [&'a str; 9] {
    ["eval", "lookup", "--keys", keys, "--function", function, input, "-o", "out.ct"]
}

fn prepare<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [&["prepare", "--params", "small.params", "-o", "bad.prepared"], arguments].concat()
}

/// Keys for numbers below 8, three pairs, and their maximum prepared.
fn prepared(name: &str) -> Sandbox {
    let sandbox = with_keys(name, "8");
    encrypt(&sandbox, "8", &[[1, 2], [7, 0], [3, 3]]);
    sandbox.done(&["prepare", "--params", "small.params", "--function", "max", "--domain", "8", "-o", "max.prepared"]);
    sandbox
}

#[test]
fn functions_without_a_value_are_refused_by_the_point() {
    let sandbox = prepared("undefined");
    for name in ["div", "mod"] {
        let arguments = prepare(&["--function", name, "--domain", "8"]);
        sandbox.refused(&arguments, &["no value at x = 0, y = 0", "--undefined VALUE"]);
    }
    let large = prepare(&["--function", "div", "--domain", "8", "--undefined", "97"]);
    sandbox.refused(&large, &["--undefined: found 97", "below the plaintext modulus 97"]);
}

#[test]
fn tables_of_the_wrong_shape_or_values_are_refused() {
    let sandbox = prepared("shapes");
    sandbox.write("table.csv", b"a,b,c\n1,2,3\n4,5,6\n");
    let needed = ["table.csv: the shape", "found 2 rows (x) and 3 columns (y)", "needed 3 rows (x) and 2 columns (y)"];
    sandbox.refused(&prepare(&["--table", "table.csv", "--domain", "3,2"]), &needed);
    for (text, needed) in [
        ("a,b\n1,2\n3,97\n", &["table.csv: row 2, column 2 (\"b\")", "found 97", "from 0 to 96"][..]),
        ("a,b\n1,-1\n", &["row 1, column 2", "found -1"]),
        ("a,b\n1,0.5\n", &["row 1, column 2", "found 0.5", "a whole number"]),
        ("a,b\n1,\n", &["row 1, column 2 (\"b\")", "found nothing"]),
        ("a,b\n1,2\n3\n", &["row 2 (line 3)", "1 field"]),
    ] {
        sandbox.write("table.csv", text.as_bytes());
        sandbox.refused(&prepare(&["--table", "table.csv"]), needed);
    }
    let rows = "1\n".repeat(98);
    sandbox.write("table.csv", format!("a\n{rows}").as_bytes());
    sandbox.refused(&prepare(&["--table", "table.csv"]), &["domain is 98", "from 1 to the plaintext modulus 97"]);
}

#[test]
fn keys_for_fewer_numbers_than_the_function_has_are_refused() {
    let sandbox = with_keys("few", "2");
    sandbox.done(&[
        "prepare",
        "--params",
        "small.params",
        "--function",
        "max",
        "--domain",
        "16",
        "-o",
        "large.prepared",
    ]);
    encrypt(&sandbox, "16", &[[1, 2]]);
    sandbox.refused(&eval("keys/lookup.keys", "large.prepared", "pairs.ct"), &["keys/lookup.keys", "no key for"]);
}

#[test]
fn numbers_outside_the_domain_are_refused_by_their_place() {
    let sandbox = prepared("outside");
    for (text, needed) in [
        (
            "x,y\n1,2\n8,0\n",
            &["bad.csv: row 2, column 1 (\"x\")", "found 8", "from 0 to 7, the domain of its column"][..],
        ),
        ("x,y\n1,-1\n", &["row 1, column 2 (\"y\")", "found -1"]),
        ("x,y\n1,1.5\n", &["found 1.5", "a whole number"]),
    ] {
        sandbox.write("bad.csv", text.as_bytes());
        let encrypt = ["encrypt", "--key", "keys/public.key", "bad.csv", "--domain", "8", "-o", "bad.ct"];
        sandbox.refused(&encrypt, needed);
    }
    sandbox.write("good.csv", b"x,y\n1,2\n");
    let encrypt = ["encrypt", "--key", "keys/public.key", "good.csv", "-o"];
    for (output, domain, needed) in [
        ("packed.ct", None, &["column 1 (\"x\")", "numbers of any size", "numbers below 8", "--domain"][..]),
        ("wide.ct", Some("9,8"), &["column 1 (\"x\")", "numbers below 9", "numbers below 8"]),
        ("narrow.ct", Some("4"), &["numbers in 4 slots each", "needed 8 slots", "encrypt with --domain 8"]),
    ] {
        let domain: Vec<&str> = domain.into_iter().flat_map(|domain| ["--domain", domain]).collect();
        sandbox.done(&[&encrypt[..], &[output], &domain].concat());
        sandbox.refused(&eval("keys/lookup.keys", "max.prepared", output), needed);
    }
    sandbox.write("one.csv", b"x\n1\n");
    sandbox.done(&["encrypt", "--key", "keys/public.key", "one.csv", "--domain", "8", "-o", "one.ct"]);
    sandbox.refused(&eval("keys/lookup.keys", "max.prepared", "one.ct"), &["one.ct", "found 1 column"]);
    let columns =
        |columns| [&eval("keys/lookup.keys", "max.prepared", "pairs.ct")[..], &["--columns", columns]].concat();
    sandbox.refused(&columns("x,z"), &["--columns", "\"z\"", "a name (x, y) or a position from 0 to 1"]);
    sandbox.refused(&columns("x"), &["--columns", "1 column"]);
    // Two tables of different lengths.
    sandbox.write("long.csv", b"y\n1\n2\n3\n4\n");
    sandbox.done(&["encrypt", "--key", "keys/public.key", "long.csv", "--domain", "8", "-o", "long.ct"]);
    let two = [&eval("keys/lookup.keys", "max.prepared", "pairs.ct")[..], &["long.ct"]].concat();
    sandbox.refused(&two, &["long.ct: the table", "found 4 rows", "needed 3 rows, as pairs.ct has"]);
}

#[test]
fn parameters_that_do_not_carry_lookups_are_refused() {
    let sandbox = Sandbox::new("lookup-parameters");
    sandbox.integers("short.params", 4, 97, 2);
    let plan = |file| ["plan", "--lookup", "8", "--params", file];
    sandbox.refused(&plan("short.params"), &["short.params", "a lookup", "bits of noise budget are missing"]);
    sandbox.integers("composite.params", 4, 96, 12);
    let needed = ["composite.params", "plaintext_modulus is 96", "a prime up to 65537 that is 1 modulo 32"];
    sandbox.refused(&plan("composite.params"), &needed);
    sandbox.refused(&["plan", "--lookup", "70000"], &["domain is 70000", "to the plaintext modulus 65537"]);
    sandbox.parameters("ckks.params", 10);
    sandbox.refused(&plan("ckks.params"), &["ckks.params: found CKKS parameters", "needed integer parameters"]);
    let sizes = ["--log-n", "13", "--log-q", &["50"; 13].join(","), "--log-p", "50,50", "--modulus", "65537"];
    sandbox.refused(&[&["params", "check"], &sizes[..]].concat(), &["750.0 bits", "128-bit"]);
    let keygen = ["keygen", "--out", "keys", "--lookup", "8", "--params", "short.params"];
    sandbox.refused(&keygen, &["a lookup"]);
    assert!(!sandbox.exists("keys"));
}

#[test]
fn files_that_do_not_belong_together_are_refused_by_name() {
    let sandbox = prepared("lookup-kinds");
    let (keys, function) = ("keys/lookup.keys", "max.prepared");
    sandbox
        .refused(&eval("keys/secret.key", function, "pairs.ct"), &["keys/secret.key: found secret key", "lookup keys"]);
    sandbox
        .refused(&eval(keys, "pairs.ct", "pairs.ct"), &["pairs.ct: found encrypted table", "needed prepared function"]);
    sandbox.refused(
        &eval(keys, function, "keys/public.key"),
        &["keys/public.key: found public key", "needed encrypted table"],
    );
    sandbox.refused(&eval(keys, "missing.prepared", "pairs.ct"), &["missing.prepared", "No such file"]);
    let model = [&eval(keys, function, "pairs.ct")[..], &["--model", "small.params"]].concat();
    sandbox.refused(&model, &["small.params", "--model", "lookup takes none"]);
    let mean = ["eval", "mean", "--keys", keys, "--function", function, "pairs.ct", "-o", "out.ct"];
    sandbox.refused(&mean, &["max.prepared", "mean takes none"]);
    let mean = ["eval", "mean", "--keys", keys, "pairs.ct", "-o", "out.ct"];
    sandbox.refused(&mean, &["keys/lookup.keys: found lookup keys", "needed evaluation keys with CKKS parameters"]);
    // Of other parameters.
    sandbox.integers("other.params", 4, 97, 13);
    sandbox.done(&[
        "prepare",
        "--params",
        "other.params",
        "--function",
        "max",
        "--domain",
        "8",
        "-o",
        "other.prepared",
    ]);
    sandbox.refused(&eval(keys, "other.prepared", "pairs.ct"), &["other.prepared", "belongs to parameters"]);
    sandbox.done(&["keygen", "--out", "other", "--lookup", "8", "--params", "other.params"]);
    sandbox.refused(&eval("other/lookup.keys", function, "pairs.ct"), &["pairs.ct", "belongs to parameters"]);
}

#[test]
fn damaged_functions_and_keys_are_refused() {
    let sandbox = prepared("lookup-damage");
    for (name, function) in [("max.prepared", true), ("keys/lookup.keys", false)] {
        let whole = sandbox.read(name);
        let mut flipped = whole.clone();
        flipped[whole.len() / 2] ^= 1;
        for (content, needed) in [
            (&whole[..whole.len() - 64], "truncated"),
            (&whole[..64], "cannot be read"),
            (&flipped, "the digest does not match"),
            (&[&whole[..], &[0; 64]].concat(), "has a tail"),
        ] {
            sandbox.write("bad", content);
            let files = if function { ["keys/lookup.keys", "bad"] } else { ["bad", "max.prepared"] };
            sandbox.refused(&eval(files[0], files[1], "pairs.ct"), &["bad", needed]);
            sandbox.refused(&["inspect", "bad"], &["bad", needed]);
        }
    }
}

#[test]
fn outputs_that_exist_are_replaced_only_by_force() {
    let sandbox = prepared("lookup-exists");
    sandbox.write("out.ct", b"something dear");
    sandbox.refused(&eval("keys/lookup.keys", "max.prepared", "pairs.ct"), &["out.ct exists", "--force"]);
    let again = ["prepare", "--params", "small.params", "--function", "min", "--domain", "8", "-o", "max.prepared"];
    sandbox.refused(&again, &["max.prepared exists", "--force"]);
    let keygen = ["keygen", "--out", "keys", "--lookup", "8", "--params", "small.params"];
    sandbox.refused(&keygen, &["keys/secret.key exists", "--force"]);
    sandbox.done(&[&eval("keys/lookup.keys", "max.prepared", "pairs.ct")[..], &["--force"]].concat());
    assert!(sandbox.read("out.ct") != b"something dear");
}

/// Runs the tool with a limit of the shell.
#[cfg(target_os = "linux")]
fn limited(sandbox: &Sandbox, limit: &str, arguments: &[&str]) -> String {
    let before = std::fs::read_dir(sandbox.path(".")).expect("a directory").count();
    let script = format!("{limit}; exec \"$0\" \"$@\"");
    let mut command = std::process::Command::new("sh");
    command
        .args(["-c", &script])
        .arg(tool())
        .args(arguments)
        .args(["--min-security", "none"])
        .current_dir(sandbox.path("."));
    let output = command.output().expect("a shell");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {message}");
    assert_eq!(std::fs::read_dir(sandbox.path(".")).expect("a directory").count(), before, "{arguments:?}");
    message
}

#[cfg(target_os = "linux")]
#[test]
fn too_little_memory_is_refused_before_any_work() {
    let sandbox = Sandbox::new("lookup-memory");
    // Kibibytes of address space: less than the two gigabytes of a matrix, and than one of keys.
    let prepare = ["prepare", "--function", "max", "--domain", "32768", "-o", "max.prepared", "--threads", "1"];
    let message = limited(&sandbox, "ulimit -v 2000000", &prepare);
    assert!(message.contains("memory for the matrix of a function") && message.contains("2.0 GiB needed"), "{message}");
    let keygen = ["keygen", "--out", "keys", "--lookup", "32768", "--threads", "1"];
    let message = limited(&sandbox, "ulimit -v 1000000", &keygen);
    assert!(message.contains("memory for the keys of lookups") && message.contains("raise the limit"), "{message}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full_leaves_nothing_behind() {
    let sandbox = with_keys("lookup-disk", "16");
    // Files of at most a few blocks of 512 bytes: what is written next fails as it does on a disk without room.
    let prepare = ["prepare", "--params", "small.params", "--function", "max", "--domain", "16", "-o", "max.prepared"];
    let message = limited(&sandbox, "trap '' XFSZ; ulimit -f 1", &prepare);
    assert!(message.contains("max.prepared") && message.contains("too large"), "{message}");
    let keygen = ["keygen", "--out", "new", "--lookup", "16", "--params", "small.params"];
    let message = limited(&sandbox, "trap '' XFSZ; ulimit -f 1", &keygen);
    assert!(message.contains("new/lookup.keys") && message.contains("too large"), "{message}");
}
