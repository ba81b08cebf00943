//! `noren keygen --add`: keys that grow, of the same secret.

use crate::sandbox::{NAMES, ROWS, Sandbox, entry};

/// Adds keys for a program on the usual table.
fn addition(program: &str) -> Vec<String> {
    let (rows, columns) = (ROWS.to_string(), NAMES.join(","));
    let words = ["keygen", "--add", "--out", "keys", "--program", program, "--rows", &rows, "--columns", &columns];
    words.map(str::to_owned).to_vec()
}

fn words(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

#[test]
fn keys_for_another_program_are_added() {
    let sandbox = Sandbox::with_keys("add", "mean");
    sandbox.done(&["encrypt", "--key", "keys/public.key", "table.csv", "-o", "table.ct"]);
    sandbox.done(&["eval", "mean", "--keys", "keys/eval.keys", "table.ct", "-o", "mean.ct"]);
    let products = ["eval", "inner-product", "--keys", "keys/eval.keys", "table.ct", "-o", "products.ct"];
    let call = format!("noren keygen --add --out keys --program inner-product --rows {ROWS} --columns age,bmi,bp");
    sandbox.refused(&products, &["relinearisation", &call]);

    let before = ["secret.key", "public.key", "eval.keys"].map(|name| sandbox.read(&format!("keys/{name}")));
    let addition = addition("inner-product");
    let planned = sandbox.json(&[&words(&addition)[..], &["--plan-only"]].concat());
    assert!(planned["added"][0] == "relinearisation" && planned["file"].is_null(), "{planned}");
    assert_eq!(sandbox.read("keys/eval.keys"), before[2]);
    let added = sandbox.json(&words(&addition));
    assert_eq!(added["added"], planned["added"]);
    for (name, before) in ["secret.key", "public.key"].iter().zip(&before) {
        assert_eq!(&sandbox.read(&format!("keys/{name}")), before);
    }
    // The old keys and the new compute with tables that were encrypted before.
    sandbox.done(&products);
    sandbox.done(&["eval", "mean", "--keys", "keys/eval.keys", "table.ct", "-o", "again.ct"]);
    for (file, row, expected) in [
        ("products.ct", 1, (0..ROWS).map(|r| entry(r, 0) * entry(r, 1)).sum::<f64>()),
        ("mean.ct", 0, (0..ROWS).map(|r| entry(r, 1)).sum::<f64>() / ROWS as f64),
        ("again.ct", 0, (0..ROWS).map(|r| entry(r, 1)).sum::<f64>() / ROWS as f64),
    ] {
        sandbox.done(&["decrypt", "--key", "keys/secret.key", file, "-o", "out.csv", "--force"]);
        let column = usize::from(row == 0);
        let found = sandbox.numbers("out.csv", 1)[row][column];
        assert!((found - expected).abs() < 1e-2, "{file}: {found} for {expected}");
    }

    // A second time there is nothing to do.
    let grown = sandbox.read("keys/eval.keys");
    let text = sandbox.done(&words(&addition));
    assert!(text.starts_with("nothing to add"), "{text}");
    assert_eq!(sandbox.read("keys/eval.keys"), grown);
    assert_eq!(std::fs::read_dir(sandbox.path("keys")).expect("a directory").count(), 3, "nothing is left behind");
}

#[test]
fn keys_for_a_model_that_names_columns_are_added_as_the_refusal_says() {
    let sandbox = Sandbox::with_table("add-names");
    // Keys without rotations.
    sandbox.write("line.json", br#"{"coefficients": [0, 0.5]}"#);
    let keygen = ["keygen", "--out", "keys", "--program", "polynomial", "--model", "line.json"];
    sandbox.done(&[&keygen[..], &["--rows", "12", "--columns", "3", "--params", "small.params"]].concat());
    sandbox.done(&["encrypt", "--key", "keys/public.key", "table.csv", "-o", "table.ct"]);
    sandbox.write("named.json", br#"{"weights": [1, 2], "columns": ["bp", "age"]}"#);
    let eval = ["eval", "linear", "--keys", "keys/eval.keys", "--model", "named.json", "table.ct", "-o", "out.ct"];
    let call = "keygen --add --out keys --program linear --model named.json --rows 12 --columns age,bmi,bp";
    sandbox.refused(&eval, &[&format!("noren {call}\n")]);
    sandbox.done(&call.split(' ').collect::<Vec<_>>());
    sandbox.done(&eval);
}

#[test]
fn rotations_are_added_to_keys_of_vectors_integers_and_bootstrapping() {
    let sandbox = Sandbox::with_keys("add-rotations", "mean");
    sandbox.integers("small.integers", 10, 65537, 3);
    sandbox.done(&["keygen", "--out", "whole", "--integers", "small.integers", "--rotations", "1"]);
    for (directory, more) in [("keys", &[][..]), ("whole", &["--swap-rows"])] {
        let arguments = [&["keygen", "--add", "--out", directory, "--rotations", "7,-3"], more].concat();
        let report = sandbox.json(&arguments);
        let added: Vec<&str> =
            report["added"].as_array().expect("a list").iter().filter_map(|name| name.as_str()).collect();
        for name in ["rotation by 7 ", "rotation by -3 "] {
            assert!(added.iter().any(|found| found.starts_with(name)), "{directory}: {added:?}");
        }
        assert_eq!(added.len(), 2 + more.len(), "{directory}: {added:?}");
        let listed = sandbox.done(&["inspect", &format!("{directory}/eval.keys")]);
        assert!(listed.contains("rotation by 7") && listed.contains("rotation by -3"), "{listed}");
    }
    sandbox.done(&["keygen", "--out", "boot", "--bootstrap", "toy", "--rotations", "1"]);
    let secret = sandbox.read("boot/secret.key");
    let report = sandbox.json(&["keygen", "--add", "--out", "boot", "--rotations", "1,77"]);
    assert_eq!(report["added"].as_array().map(Vec::len), Some(1), "{report}");
    assert!(sandbox.done(&["inspect", "boot/bootstrap.keys"]).contains("rotation by 77"));
    assert_eq!(sandbox.read("boot/secret.key"), secret);
    assert!(!sandbox.exists("boot/eval.keys"));
}

#[test]
fn additions_that_cannot_be_are_refused_and_change_nothing() {
    let sandbox = Sandbox::with_keys("add-refusals", "mean");
    let add = ["keygen", "--add", "--out"];
    sandbox.refused(&[&add[..], &["nowhere", "--rotations", "1"]].concat(), &["secret.key"]);
    sandbox.refused(&[&add[..], &["keys"]].concat(), &["--program, --rotations or --swap-rows"]);
    sandbox.refused(&[&add[..], &["keys", "--swap-rows"]].concat(), &["--swap-rows", "CKKS"]);
    assert_eq!(sandbox.run(&[&add[..], &["keys", "--program", "sum"]].concat()).status.code(), Some(2));
    assert_eq!(sandbox.run(&["keygen", "--add", "--out", "keys", "--bootstrap", "toy"]).status.code(), Some(2));

    sandbox.parameters("other.params", 11);
    sandbox.keygen("other", "other.params", "mean", '1');
    sandbox.keygen("stranger", "small.params", "mean", '2');
    let foreign = [("other", "belongs to parameters"), ("stranger", "belongs to key")];
    for (name, (from, needed)) in ["public.key", "eval.keys"].into_iter().flat_map(|name| foreign.map(|f| (name, f))) {
        let (own, foreign) = (sandbox.read(&format!("keys/{name}")), sandbox.read(&format!("{from}/{name}")));
        sandbox.write(&format!("keys/{name}"), &foreign);
        sandbox.refused(&[&add[..], &["keys", "--rotations", "5"]].concat(), &[name, needed]);
        sandbox.write(&format!("keys/{name}"), &own);
    }
    sandbox.integers("small.integers", 10, 65537, 3);
    sandbox.done(&["keygen", "--out", "whole", "--integers", "small.integers"]);
    sandbox.refused(
        &[&add[..], &["whole", "--program", "mean", "--rows", "3", "--columns", "2"]].concat(),
        &["secret.key", "exact integers"],
    );
    sandbox.done(&["keygen", "--out", "bits", "--tfhe", "TOY_2_2"]);
    sandbox.refused(&[&add[..], &["bits", "--rotations", "1"]].concat(), &["secret.key", "CKKS, or of exact integers"]);
}
