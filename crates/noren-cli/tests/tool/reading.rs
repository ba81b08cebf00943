//! Tables as others write them: separators, decimal commas, columns of text, missing numbers.

use crate::sandbox::Sandbox;

/// Encrypts, decrypts, and gives the numbers.
fn round_trip(sandbox: &Sandbox, arguments: &[&str]) -> (String, Vec<Vec<f64>>) {
    let encrypt = ["encrypt", "--key", "keys/secret.key", "-o", "table.ct", "--force"];
    sandbox.done(&[&encrypt[..], arguments].concat());
    sandbox.done(&["decrypt", "--key", "keys/secret.key", "table.ct", "-o", "out.csv", "--force"]);
    let titles = sandbox.text("out.csv").lines().next().unwrap_or_default().to_owned();
    (titles, sandbox.numbers("out.csv", 0))
}

fn near(found: &[Vec<f64>], expected: &[&[f64]]) {
    let alike = |found: &Vec<f64>, expected: &&[f64]| {
        found.len() == expected.len() && found.iter().zip(*expected).all(|(x, y)| (x - y).abs() < 1e-6)
    };
    let same = found.len() == expected.len() && found.iter().zip(expected).all(|(x, y)| alike(x, y));
    assert!(same, "{found:?} where {expected:?} is needed");
}

#[test]
fn separators_and_decimal_commas_are_named() {
    let sandbox = Sandbox::with_keys("separators", "mean");
    let expected: &[&[f64]] = &[&[1.5, 2.0], &[-0.25, 4.0]];
    sandbox.write("t.tsv", b"a\tb\n1.5\t2\n-.25\t4\n");
    sandbox.write("german.csv", b"a;b\n1,5;2\n-0,25;4\n");
    sandbox.write("pipes.txt", b"a|b\n1.5|2\n-0.25|4\n");
    sandbox.write("german.tsv", b"a\tb\n1,5\t2\n-0,25\t4\n");
    for arguments in [
        &["t.tsv"][..],
        &["german.csv", "--decimal-comma"],
        &["pipes.txt", "--format", "csv", "--separator", "|"],
        &["german.tsv", "--decimal-comma", "--separator", "tab"],
    ] {
        let (titles, found) = round_trip(&sandbox, arguments);
        assert_eq!(titles, "a,b", "{arguments:?}");
        near(&found, expected);
    }
    let encrypt = |more: &[&'static str]| [&["encrypt", "--key", "keys/secret.key", "-o", "out.ct"], more].concat();
    sandbox.refused(&encrypt(&["german.csv"]), &["--decimal-comma"]);
    sandbox.refused(&encrypt(&["german.csv", "--decimal-comma", "--separator", ","]), &["--separator", "a comma"]);
    sandbox.refused(&encrypt(&["pipes.txt"]), &[".csv, .tsv, .npy, .parquet, .arrow or .feather"]);
    sandbox.write("grid.npy", b"");
    sandbox.refused(&encrypt(&["grid.npy", "--decimal-comma"]), &["--decimal-comma", "NPY"]);
    sandbox.write("grid.parquet", b"PAR1");
    sandbox.refused(&encrypt(&["grid.parquet", "--no-header"]), &["--no-header", "a Parquet file"]);
    let needed = if cfg!(feature = "parquet") { "whole" } else { "--features parquet" };
    sandbox.refused(&encrypt(&["grid.parquet"]), &["a Parquet file", needed]);
}

#[test]
fn columns_are_chosen_and_others_may_be_text() {
    let sandbox = Sandbox::with_keys("chosen", "mean");
    sandbox.write("people.csv", b"name,age,bmi\nAda,36,22.5\nMax,41,\n");
    let (titles, found) = round_trip(&sandbox, &["people.csv", "--columns", "age"]);
    assert_eq!(titles, "age");
    near(&found, &[&[36.0], &[41.0]]);
    let encrypt =
        |more: &[&'static str]| [&["encrypt", "--key", "keys/secret.key", "-o", "out.ct", "people.csv"], more].concat();
    sandbox.refused(&encrypt(&[]), &["row 1, column 1 (\"name\")", "\"Ada\"", "--columns"]);
    sandbox.refused(&encrypt(&["--columns", "height"]), &["--columns", "\"height\"", "name, age, bmi"]);
    sandbox.refused(&encrypt(&["--columns", "age,1"]), &["--columns", "\"1\" once more"]);
}

#[test]
fn missing_numbers_are_refused_unless_a_policy_is_named() {
    let sandbox = Sandbox::with_keys("missing-numbers", "mean");
    sandbox.write("gaps.csv", b"a,b\n1,10\n,20\n3,NA\n5,30\n");
    let encrypt = |more: &[&'static str]| [&["encrypt", "--key", "keys/secret.key", "-o", "out.ct"], more].concat();
    let needed = ["row 2, column 1 (\"a\") (line 3)", "found nothing", "--missing drop", "--missing mean"];
    sandbox.refused(&encrypt(&["gaps.csv"]), &needed);
    let (_, found) = round_trip(&sandbox, &["gaps.csv", "--missing", "drop"]);
    near(&found, &[&[1.0, 10.0], &[5.0, 30.0]]);
    let (_, found) = round_trip(&sandbox, &["gaps.csv", "--missing", "mean"]);
    near(&found, &[&[1.0, 10.0], &[3.0, 20.0], &[3.0, 20.0], &[5.0, 30.0]]);
    let output = sandbox.run(&encrypt(&["gaps.csv", "--missing", "drop"]));
    assert!(String::from_utf8_lossy(&output.stderr).contains("gaps.csv: 2 rows with missing numbers left out"));
    std::fs::remove_file(sandbox.path("out.ct")).expect("made");
    // Text is no missing number, and infinity none either.
    sandbox.write("text.csv", b"a,b\n1,x\n");
    sandbox.refused(&encrypt(&["text.csv", "--missing", "drop"]), &["\"x\"", "a number"]);
    sandbox.write("none.csv", b"a,b\n1,\n2,\n");
    sandbox.refused(&encrypt(&["none.csv", "--missing", "drop"]), &["no row without missing numbers"]);
    sandbox.refused(&encrypt(&["none.csv", "--missing", "mean"]), &["column 2 (\"b\")", "a column of missing numbers"]);
    // Columns that are not read may have gaps.
    let (_, found) = round_trip(&sandbox, &["none.csv", "--columns", "a"]);
    near(&found, &[&[1.0], &[2.0]]);
}
