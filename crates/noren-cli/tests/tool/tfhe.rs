//! Integers and truth values of TFHE, as users meet them.

use noren_math::kernels::is_fastest;

use crate::sandbox::Sandbox;

const TABLE: &str = "a,b,c\n200,9,1\n7,250,0\n90,90,1\n255,1,0\n";
const A: [i64; 4] = [200, 7, 90, 255];
const B: [i64; 4] = [9, 250, 90, 1];

/// A sandbox with keys without security, and an encrypted table of two columns of bytes and one of truth values.
fn with_table(name: &str) -> Sandbox {
    let sandbox = Sandbox::new(name);
    keygen(&sandbox, "keys", '5');
    sandbox.write("table.csv", TABLE.as_bytes());
    sandbox.done(&encrypt("keys/secret.key", "uint8,uint8,bool", "table.csv"));
    sandbox
}

fn keygen(sandbox: &Sandbox, directory: &str, seed: char) {
    sandbox.done(&["keygen", "--out", directory, "--tfhe", "TOY_2_2", "--seed", &seed.to_string().repeat(64)]);
}

fn encrypt<'a>(key: &'a str, types: &'a str, input: &'a str) -> [&'a str; 8] {
    ["encrypt", "--key", key, "--type", types, input, "-o", "table.ct"]
}

fn eval<'a>(program: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let all = ["eval", program, "--keys", "keys/server.keys", "table.ct", "-o", "out.ct"];
    all.into_iter().chain(more.iter().copied()).collect()
}

/// Runs a program and decrypts its result.
fn result(sandbox: &Sandbox, program: &str, more: &[&str]) -> String {
    sandbox.done(&eval(program, &[more, &["--force"]].concat()));
    sandbox.done(&["decrypt", "--key", "keys/secret.key", "out.ct", "-o", "out.csv", "--force"]);
    sandbox.text("out.csv")
}

fn column(values: impl IntoIterator<Item = i64>) -> String {
    let lines = values.into_iter().map(|value| format!("{value}\n"));
    std::iter::once("result\n".to_owned()).chain(lines).collect()
}

#[test]
fn tables_come_back() {
    let sandbox = with_table("tfhe-tables");
    sandbox.done(&["decrypt", "--key", "keys/secret.key", "table.ct", "-o", "out.csv"]);
    assert_eq!(sandbox.text("out.csv"), TABLE);
    // 36 digits of 8 bytes, and what stands around them.
    assert!(sandbox.read("table.ct").len() < 36 * 8 + 1024);
    sandbox.write("signed.csv", b"x\n-128\n127\n0\n");
    let report = sandbox.json(&[&encrypt("keys/secret.key", "int8", "signed.csv")[..], &["--force"]].concat());
    assert_eq!((&report["rows"], &report["ciphertexts"], &report["types"][0]), (&3.into(), &12.into(), &"int8".into()));
    sandbox.done(&["decrypt", "--key", "keys/secret.key", "table.ct", "-o", "out.npy"]);
    let bytes = sandbox.read("out.npy");
    let found = bytes[bytes.len() - 24..].as_chunks::<8>().0.iter().map(|word| i64::from_le_bytes(*word));
    assert_eq!(found.collect::<Vec<_>>(), [-128, 127, 0]);
}

#[test]
fn programs_of_columns_are_those_of_numbers() {
    if !is_fastest() {
        return;
    }
    let sandbox = with_table("tfhe-programs");
    let pairs = || A.into_iter().zip(B);
    for (program, expected) in [
        ("add", column(pairs().map(|(a, b)| (a + b) % 256))),
        ("sub", column(pairs().map(|(a, b)| (a - b).rem_euclid(256)))),
        ("mul", column(pairs().map(|(a, b)| a * b % 256))),
        ("div", column(pairs().map(|(a, b)| a / b))),
        ("rem", column(pairs().map(|(a, b)| a % b))),
        ("min", column(pairs().map(|(a, b)| a.min(b)))),
        ("max", column(pairs().map(|(a, b)| a.max(b)))),
        ("xor", column(pairs().map(|(a, b)| a ^ b))),
        ("less", column(pairs().map(|(a, b)| i64::from(a < b)))),
        ("equal", column(pairs().map(|(a, b)| i64::from(a == b)))),
    ] {
        assert_eq!(result(&sandbox, program, &[]), expected, "{program}");
    }
    for (program, columns, number, expected) in [
        ("threshold", "a", "90", column(A.map(|a| i64::from(a >= 90)))),
        ("div", "b", "10", column(B.map(|b| b / 10))),
        ("add", "1", "2.55e2", column(B.map(|b| (b + 255) % 256))),
        ("shift-left", "a", "3", column(A.map(|a| (a << 3) % 256))),
    ] {
        assert_eq!(result(&sandbox, program, &["--columns", columns, "--number", number]), expected, "{program}");
    }
    let select = pairs().zip([1, 0, 1, 0]).map(|((a, b), c)| if c == 1 { a } else { b });
    assert_eq!(result(&sandbox, "select", &["--columns", "c,a,b"]), column(select));
    assert_eq!(result(&sandbox, "not", &["--columns", "c"]), column([0, 1, 0, 1]));
}

#[test]
fn programs_of_rows_give_one_row() {
    let sandbox = with_table("tfhe-rows");
    let ab = ["--columns", "a,b"];
    assert_eq!(result(&sandbox, "argmax", &ab), "a,b\n3,1\n");
    assert_eq!(result(&sandbox, "largest", &ab), "a,b\n255,250\n");
    assert_eq!(result(&sandbox, "smallest", &ab), "a,b\n7,1\n");
    assert_eq!(
        result(&sandbox, "sum", &ab),
        // Wider than the columns: nothing wraps.
        format!("a,b\n{},{}\n", 200 + 7 + 90 + 255, 9 + 250 + 90 + 1)
    );
    // Results are tables for the next program.
    sandbox.done(&eval("sum", &["--columns", "a,b", "--force"]));
    sandbox.done(&["eval", "less", "--keys", "keys/server.keys", "out.ct", "-o", "again.ct"]);
    sandbox.done(&["decrypt", "--key", "keys/secret.key", "again.ct", "-o", "again.csv"]);
    assert_eq!(sandbox.text("again.csv"), column([i64::from(200 + 7 + 90 + 255 < 9 + 250 + 90 + 1)]));
}

/// A sandbox with circuit keys too, and an encrypted table.
fn with_circuit_keys(name: &str, types: &str) -> Sandbox {
    let sandbox = Sandbox::new(name);
    let seed = "5".repeat(64);
    sandbox.done(&["keygen", "--out", "keys", "--tfhe", "TOY_2_2", "--circuit", "--seed", &seed]);
    sandbox.write("table.csv", TABLE.as_bytes());
    sandbox.done(&encrypt("keys/secret.key", types, "table.csv"));
    sandbox
}

const CIRCUIT: [&str; 2] = ["--circuit", "keys/circuit.keys"];

#[test]
fn any_function_of_bytes_is_looked_up() {
    if !is_fastest() {
        return;
    }
    let sandbox = with_circuit_keys("tfhe-lookup", "uint8,uint8,bool");
    let pairs = || A.into_iter().zip(B);
    let look_up = |more: &[&str]| result(&sandbox, "lookup", &[&CIRCUIT, more].concat());
    let distance = column(pairs().map(|(a, b)| (a - b).abs()));
    assert_eq!(look_up(&["--function", "distance"]), distance);
    let quotients = column(pairs().map(|(a, b)| b.checked_div(a - 7).unwrap_or(255)));
    // The number by which is divided is 0 in one row.
    sandbox.write("shifted.csv", b"b,a\n9,193\n250,0\n90,83\n1,248\n");
    sandbox.done(&[&encrypt("keys/secret.key", "uint8", "shifted.csv")[..], &["--force"]].concat());
    assert_eq!(look_up(&["--function", "div", "--undefined", "255"]), quotients);
    // A table of both, with names in its first line, and one of one byte without; values of other types.
    sandbox.done(&[&encrypt("keys/secret.key", "uint8,uint8,bool", "table.csv")[..], &["--force"]].concat());
    let value = |x: i64, y: i64| (x * 257 + y * y) % 65536;
    let names: Vec<String> = (0..256).map(|y| format!("y{y}")).collect();
    let row = |x: i64| (0..256).map(|y| value(x, y).to_string()).collect::<Vec<_>>().join(",") + "\n";
    sandbox.write("both.csv", (names.join(",") + "\n" + &(0..256).map(row).collect::<String>()).as_bytes());
    let expected = column(pairs().map(|(a, b)| value(a, b)));
    assert_eq!(look_up(&["--function", "both.csv", "--type", "uint16"]), expected);
    let square = |x: i64| x * x % 251;
    sandbox.write("one.csv", (0..256).map(|x| format!("{}\n", square(x))).collect::<String>().as_bytes());
    assert_eq!(look_up(&["--function", "one.csv", "--no-header", "--columns", "b"]), column(B.map(square)));
    let less = column(pairs().map(|(a, b)| i64::from(a < b)));
    assert_eq!(look_up(&["--function", "less", "--type", "bool"]), less);
}

#[test]
fn functions_of_single_digits_need_no_circuit_keys() {
    let sandbox = Sandbox::new("tfhe-digits");
    keygen(&sandbox, "keys", '5');
    sandbox.write("table.csv", b"x,y\n0,3\n1,2\n2,2\n3,0\n");
    sandbox.done(&encrypt("keys/secret.key", "digit", "table.csv"));
    assert_eq!(result(&sandbox, "lookup", &["--function", "gcd"]), column([3, 1, 2, 3]));
    // A digit may hold carries: the table has a row for each of its sums.
    let thirds: String = (0..16).map(|x| format!("{}\n", x / 3 % 4)).collect();
    sandbox.write("thirds.csv", format!("third\n{thirds}").as_bytes());
    sandbox.done(&eval("add", &["--force"]));
    let again =
        ["eval", "lookup", "--keys", "keys/server.keys", "--function", "thirds.csv", "out.ct", "-o", "third.ct"];
    sandbox.done(&again);
    sandbox.done(&["decrypt", "--key", "keys/secret.key", "third.ct", "-o", "third.csv"]);
    assert_eq!(sandbox.text("third.csv"), column([1, 1, 1, 1]));
}

#[test]
fn light_keys_serve_as_others_do() {
    if !is_fastest() {
        return;
    }
    let sandbox = Sandbox::new("tfhe-light");
    sandbox.done(&["keygen", "--out", "keys", "--tfhe", "BOOL_LIGHT", "--seed", &"7".repeat(64)]);
    assert!(sandbox.read("keys/server.keys").len() < 2 << 20);
    let found = sandbox.json(&["inspect", "keys/server.keys"]);
    assert_eq!(found["kind"], "light keys with TFHE parameters");
    sandbox.write("bits.csv", b"x,y\n0,1\n1,1\n1,0\n");
    sandbox.done(&encrypt("keys/secret.key", "bool", "bits.csv"));
    assert_eq!(result(&sandbox, "and", &[]), column([0, 1, 0]));
    sandbox.done(&["expand", "keys/server.keys", "-o", "keys/mapped.keys"]);
    sandbox.done(&["eval", "xor", "--keys", "keys/mapped.keys", "table.ct", "-o", "out.ct", "--force"]);
    sandbox.done(&["decrypt", "--key", "keys/secret.key", "out.ct", "-o", "out.csv", "--force"]);
    assert_eq!(sandbox.text("out.csv"), column([1, 0, 1]));
}

#[test]
fn lookups_that_no_keys_or_tables_allow_are_refused() {
    let sandbox = with_circuit_keys("tfhe-lookup-refusals", "uint8,uint16,int8");
    let look_up = |more: &[&'static str]| eval("lookup", more);
    let with = |more: &[&'static str]| look_up(&[&CIRCUIT, more].concat());
    let with_keys = |keys| vec!["eval", "lookup", "--keys", keys, "--function", "max", "table.ct", "-o", "out.ct"];
    sandbox.write("ones.csv", b"y\n1\n");
    sandbox.write("bytes.csv", format!("y\n{}", "7\n".repeat(256)).as_bytes());
    sandbox.write("large.csv", format!("y\n{}256\n", "7\n".repeat(255)).as_bytes());
    sandbox.done(&["keygen", "--out", "other", "--tfhe", "TOY_2_2", "--circuit", "--seed", &"6".repeat(64)]);
    for (arguments, needed) in [
        (
            look_up(&["--function", "bytes.csv"]),
            &[
                "--circuit",
                "found none",
                "circuit.keys, for functions of inputs this wide: --circuit keys/circuit.keys\n",
            ][..],
        ),
        (with(&["--function", "root"]), &["--function", "\"root\"", "div, mod, max", ".csv or .npy"]),
        (with(&["--function", "table.txt"]), &["table.txt", ".csv, .tsv, .npy, .parquet, .arrow or .feather"]),
        (with(&["--function", "div", "--columns", "a,a"]), &["no value at x = 0, y = 0", "--undefined"]),
        (with(&["--function", "bytes.csv", "--undefined", "1"]), &["--undefined", "a table has a value everywhere"]),
        (with(&["--function", "ones.csv"]), &["ones.csv", "1 row", "256 rows (x) and 1 column (y), for uint8"]),
        (with(&["--function", "large.csv"]), &["large.csv", "row 256", "found 256", "0 to 255"]),
        (with(&["--function", "max"]), &["found 24", "at most 16 bits"]),
        (with(&["--function", "max", "--columns", "a"]), &["--columns", "1 column", "2 columns for lookup"]),
        (with(&["--function", "max", "--columns", "a,c"]), &["int8", "unsigned", "Python"]),
        (
            with(&["--function", "distance", "--columns", "a,a", "--type", "bool"]),
            &["value of the function is 2, ", "at most 1 for bool"],
        ),
        (
            with(&["--function", "div", "--columns", "a,a", "--undefined", "256"]),
            &["--undefined: found 256, needed at most 255"],
        ),
        (eval("sum", &["--columns", "b,a,b"]), &["--columns", "\"b\" once more", "each column once"]),
        (eval("largest", &["--columns", "a,0"]), &["--columns", "\"0\" once more"]),
        (eval("add", &["--columns", "a", "--number", "5.5"]), &["--number: found 5.5, needed a whole number"]),
        (eval("add", &["--columns", "a", "--number", "1e20"]), &["--number: found 1e20", "all its digits"]),
        (with(&["--function", "max", "--number", "3"]), &["--number", "lookup takes none"]),
        (eval("add", &["--circuit", "keys/circuit.keys"]), &["--circuit", "add takes none"]),
        (eval("add", &["--function", "max"]), &["--function", "add takes none"]),
        (with_keys("keys/circuit.keys"), &["found circuit bootstrapping keys", "(server.keys), for --keys"]),
        (look_up(&["--function", "bytes.csv", "--circuit", "keys/server.keys"]), &["keys/server.keys", "circuit"]),
        (look_up(&["--function", "bytes.csv", "--circuit", "other/circuit.keys"]), &["other/circuit.keys", "key"]),
    ] {
        sandbox.refused(&arguments, needed);
    }
    // Without circuit keys there is a call that makes new ones, for tables that are encrypted again.
    std::fs::remove_file(sandbox.path("keys/circuit.keys")).expect("a file");
    let call = "keygen --out keys-circuit --tfhe TOY_2_2 --circuit";
    let needed = ["made together with the secret key", &format!("noren {call}, and encrypts the table again")];
    sandbox.refused(&look_up(&["--function", "bytes.csv"]), &needed);
    sandbox.done(&call.split(' ').collect::<Vec<_>>());
    assert!(sandbox.exists("keys-circuit/circuit.keys"));
    sandbox.refused(&["keygen", "--out", "bits", "--tfhe", "TOY_BOOL", "--circuit"], &["integers"]);
    assert!(!sandbox.exists("bits"));
}

#[test]
fn expanded_keys_give_the_same_bytes() {
    let sandbox = with_table("tfhe-expand");
    let report = sandbox.json(&["expand", "keys/server.keys", "-o", "server.mapped"]);
    assert_eq!(report["bytes"], sandbox.read("server.mapped").len());
    sandbox.done(&eval("mul", &[]));
    let mapped = ["eval", "mul", "--keys", "server.mapped", "table.ct", "-o", "mapped.ct"];
    sandbox.done(&mapped);
    assert!(sandbox.read("out.ct") == sandbox.read("mapped.ct"));
    assert_eq!(sandbox.json(&["inspect", "server.mapped"])["parameters"]["message_bits"], 2);
    sandbox.refused(&["expand", "keys/server.keys", "-o", "server.mapped"], &["server.mapped exists"]);
    sandbox.refused(
        &["expand", "keys/secret.key", "-o", "other.mapped"],
        &["keys/secret.key", "secret key", "bootstrapping keys with TFHE"],
    );
    // One bit of a number that is used.
    let mut bytes = sandbox.read("server.mapped");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    sandbox.write("server.mapped", &bytes);
    let again = ["eval", "mul", "--keys", "server.mapped", "table.ct", "-o", "again.ct"];
    sandbox.refused(&again, &["server.mapped", "digest"]);
}

#[test]
fn sets_of_bits_hold_truth_values() {
    let sandbox = Sandbox::new("tfhe-bits");
    sandbox.done(&["keygen", "--out", "keys", "--tfhe", "TOY_BOOL"]);
    sandbox.write("table.csv", b"a,b\n1,1\n1,0\n0,1\n0,0\n");
    sandbox.done(&["encrypt", "--key", "keys/secret.key", "table.csv", "-o", "table.ct"]);
    assert_eq!(result(&sandbox, "and", &[]), column([1, 0, 0, 0]));
    assert_eq!(result(&sandbox, "xor", &[]), column([0, 1, 1, 0]));
    assert_eq!(result(&sandbox, "or", &["--columns", "a", "--number", "0"]), column([1, 1, 0, 0]));
    sandbox.refused(&[&eval("add", &[])[..], &["--force"]].concat(), &["table.ct", "add", "bool"]);
    sandbox.refused(&encrypt("keys/secret.key", "uint8", "table.csv"), &["exists", "--force"]);
    let forced = [&encrypt("keys/secret.key", "uint8", "table.csv")[..], &["--force"]].concat();
    sandbox.refused(&forced, &["uint8", "bits"]);
}

#[test]
fn failures_are_counted_printed_and_refused_beyond_their_budget() {
    let sandbox = with_table("tfhe-budget");
    let each = sandbox.json(&["plan", "--tfhe", "TOY_2_2"])["parameters"]["log2_failure"].as_f64().expect("a number");
    let report = sandbox.json(&eval("add", &[]));
    let bootstraps = report["bootstraps"].as_u64().expect("a number");
    // Four sums of integers of four digits.
    assert_eq!(bootstraps, 4 * 4, "{report}");
    assert!((report["log2_failure"].as_f64().expect("a number") - each - 4.0).abs() < 1e-6, "{report}");
    assert!(sandbox.done(&eval("add", &["--force"])).contains("16 bootstraps, all right but with a probability"));
    let budget = |log2: f64| format!("--failure-budget={log2}");
    sandbox.done(&eval("add", &["--force", &budget(each + 4.1)]));
    std::fs::remove_file(sandbox.path("out.ct")).expect("there");
    sandbox.refused(&eval("add", &[&budget(each + 3.9)]), &["16 bootstraps", "budget", "fail less often"]);
    assert!(!sandbox.exists("out.ct"));
    for wrong in ["--failure-budget=0", "--failure-budget=nan", "--failure-budget=x"] {
        assert_eq!(sandbox.run(&eval("add", &[wrong])).status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn plans_and_files_say_security_and_failures() {
    let sandbox = with_table("tfhe-plan");
    let plan = sandbox.json(&["plan", "--tfhe", "2_2"]);
    assert_eq!((&plan["set"], &plan["parameters"]["security"]), (&"2_2".into(), &128.into()));
    assert!(plan["parameters"]["log2_failure"].as_f64() < Some(-128.0));
    assert_eq!(plan["costs"][0]["bootstraps"].as_array().map(Vec::len), Some(3));
    assert!(sandbox.done(&["plan", "--tfhe", "BOOL"]).contains("failure        2^-64"));
    sandbox.json(&["keygen", "--out", "none", "--tfhe", "TOY_2_2", "--plan-only"]);
    assert!(!sandbox.exists("none"));
    for file in ["keys/secret.key", "keys/server.keys"] {
        let report = sandbox.json(&["inspect", file]);
        assert_eq!((&report["parameters"]["security"], &report["parameters"]["message_bits"]), (&0.into(), &2.into()));
    }
    let report = sandbox.json(&["inspect", "table.ct"]);
    assert_eq!(report["layout"]["columns"][2], serde_json::json!({"name": "c", "element": "bool"}));
    assert_eq!(report["layout"]["shape"], serde_json::json!([4]));
    assert!(sandbox.done(&["inspect", "keys/server.keys"]).contains("security       none"));
}

#[cfg(unix)]
#[test]
fn the_secret_key_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = with_table("tfhe-mode");
    let mode = std::fs::metadata(sandbox.path("keys/secret.key")).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn equal_seeds_give_equal_keys() {
    let sandbox = with_table("tfhe-seeds");
    keygen(&sandbox, "again", '5');
    keygen(&sandbox, "other", '6');
    for file in ["secret.key", "server.keys"] {
        let [keys, again, other] = ["keys", "again", "other"].map(|place| sandbox.read(&format!("{place}/{file}")));
        assert!(keys == again && keys != other, "{file}");
    }
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let sandbox = with_table("tfhe-refusals");
    keygen(&sandbox, "other", '6');
    sandbox.done(&["keygen", "--out", "bits", "--tfhe", "TOY_BOOL"]);
    let with = |keys: &'static str| ["eval", "add", "--keys", keys, "table.ct", "-o", "out.ct"];
    sandbox.refused(&with("other/server.keys"), &["table.ct", "belongs to key"]);
    sandbox.refused(&with("bits/server.keys"), &["table.ct", "parameters"]);
    sandbox.refused(&with("keys/secret.key"), &["secret key with TFHE parameters"]);
    let decrypt = |key: &'static str| ["decrypt", "--key", key, "table.ct", "-o", "out.csv"];
    sandbox.refused(&decrypt("other/secret.key"), &["table.ct", "belongs to key"]);
    sandbox.refused(&decrypt("bits/secret.key"), &["table.ct", "parameters"]);
    sandbox.refused(&decrypt("keys/server.keys"), &["server.keys"]);
    for argument in ["--signed", "--unchecked"] {
        sandbox.refused(&[&decrypt("keys/secret.key")[..], &[argument]].concat(), &[argument]);
    }
    sandbox.refused(&eval("mean", &[]), &["server.keys", "mean"]);
    sandbox.refused(&eval("add", &["--columns", "a"]), &["--columns", "2 columns"]);
    sandbox.refused(&eval("add", &["--columns", "a,z"]), &["\"z\"", "a, b, c"]);
    sandbox.refused(&eval("add", &["--columns", "a,c"]), &["bool", "uint8"]);
    sandbox.refused(&eval("add", &["--columns", "a", "--number", "256"]), &["256", "0 to 255"]);
    sandbox.refused(&eval("sum", &["--number", "1"]), &["--number", "sum"]);
    sandbox.refused(&eval("add", &["--last"]), &["--last"]);
    // Cut off, and damaged.
    for (name, keep) in [("keys/server.keys", 1000), ("table.ct", 100)] {
        let whole = sandbox.read(name);
        sandbox.write(name, &whole[..whole.len() - keep]);
        sandbox.refused(&with("keys/server.keys"), &[name]);
        sandbox.write(name, &whole);
    }
}

#[test]
fn numbers_that_no_type_holds_are_refused_by_their_place() {
    let sandbox = with_table("tfhe-numbers");
    for (text, types, needed) in [
        ("a,b\n1,2\n3,256\n", "uint8", &["row 2, column 2 (\"b\")", "found 256", "0 to 255"][..]),
        ("a\n-1\n", "uint16", &["row 1, column 1", "found -1"]),
        ("a\n0.5\n", "int32", &["found 0.5", "whole number"]),
        ("a\n2\n", "bool", &["found 2", "0 to 1"]),
        ("a\n1e300\n", "uint64", &["row 1, column 1"]),
        ("a,b,c\n1,2,3\n", "uint8,uint8", &["--type", "2 types"]),
    ] {
        sandbox.write("bad.csv", text.as_bytes());
        sandbox.refused(&["encrypt", "--key", "keys/secret.key", "--type", types, "bad.csv", "-o", "bad.ct"], needed);
    }
    sandbox.refused(&["encrypt", "--key", "keys/secret.key", "table.csv", "-o", "bad.ct"], &["--type", "uint16"]);
    for usage in [&["keygen", "--out", "x", "--tfhe", "5_5"][..], &["plan", "--tfhe", "5_5"]] {
        assert_eq!(sandbox.run(usage).status.code(), Some(2), "{usage:?}");
    }
}
