//! Tables of whole numbers, as users meet them.

use crate::sandbox::Sandbox;

/// A sandbox with keys of integers modulo 12289 in a ring of degree 1024.
fn with_keys(name: &str) -> Sandbox {
    let sandbox = Sandbox::new(name);
    sandbox.integers("small.params", 10, 12289, 3);
    let keygen = ["keygen", "--out", "keys", "--integers", "small.params"];
    sandbox.done(&[&keygen[..], &["--rotations=1,-2", "--swap-rows", "--seed", &"7".repeat(64)]].concat());
    sandbox
}

fn encrypt<'a>(key: &'a str, input: &'a str) -> [&'a str; 6] {
    ["encrypt", "--key", key, input, "-o", "table.ct"]
}

fn decrypt(output: &str) -> [&str; 7] {
    ["decrypt", "--key", "keys/secret.key", "table.ct", "-o", output, "--force"]
}

/// More rows than slots, of all residues.
fn entry(row: usize, column: usize) -> i64 {
    ((row * 7919 + column * 104_729) % 12289) as i64
}

const ROWS: usize = 1030;

fn table() -> String {
    let lines = (0..ROWS).map(|row| format!("{},{}\n", entry(row, 0), entry(row, 1)));
    std::iter::once("a,b\n".to_owned()).chain(lines).collect()
}

#[test]
fn whole_numbers_come_back_exactly() {
    let sandbox = with_keys("integers");
    sandbox.write("table.csv", table().as_bytes());
    for key in ["keys/public.key", "keys/secret.key"] {
        let report = sandbox.json(&[&encrypt(key, "table.csv")[..], &["--force"]].concat());
        assert_eq!((&report["rows"], &report["columns"], &report["ciphertexts"]), (&ROWS.into(), &2.into(), &4.into()));
        assert!(report["noise_budget"].as_f64() > Some(60.0) && report["plaintext_modulus"] == 12289);
        sandbox.done(&decrypt("out.csv"));
        assert_eq!(sandbox.text("out.csv"), table());
    }
    assert!(sandbox.done(&decrypt("out.csv")).contains("every number is exact"));
    // The same numbers as NPY: the last bytes of the file.
    sandbox.done(&decrypt("out.npy"));
    let bytes = sandbox.read("out.npy");
    assert!(String::from_utf8_lossy(&bytes).contains("'<i8', 'fortran_order': False, 'shape': (1030, 2)"));
    let (words, _) = bytes[bytes.len() - ROWS * 2 * 8..].as_chunks::<8>();
    let found: Vec<i64> = words.iter().map(|word| i64::from_le_bytes(*word)).collect();
    assert_eq!(found, (0..ROWS).flat_map(|row| [entry(row, 0), entry(row, 1)]).collect::<Vec<_>>());
    // And back.
    sandbox.done(&[&encrypt("keys/public.key", "out.npy")[..], &["--force"]].concat());
    sandbox.done(&decrypt("again.npy"));
    assert_eq!(sandbox.read("again.npy"), bytes);
}

#[test]
fn tables_of_one_shape_are_added() {
    let sandbox = with_keys("integers-add");
    sandbox.write("table.csv", table().as_bytes());
    sandbox.done(&encrypt("keys/public.key", "table.csv"));
    let add = |others: &'static str| format!("eval add --keys keys/eval.keys table.ct {others}");
    let run = |text: &str| sandbox.json(&text.split(' ').collect::<Vec<_>>());
    let report = run(&add("table.ct table.ct -o sum.ct"));
    assert_eq!((&report["rows"], &report["columns"]), (&ROWS.into(), &2.into()));
    run("decrypt --key keys/secret.key sum.ct -o sum.csv");
    let lines = (0..ROWS).map(|row| format!("{},{}\n", 3 * entry(row, 0) % 12289, 3 * entry(row, 1) % 12289));
    assert_eq!(sandbox.text("sum.csv"), std::iter::once("a,b\n".to_owned()).chain(lines).collect::<String>());

    let refused = |text: &str, needed: &[&str]| sandbox.refused(&text.split(' ').collect::<Vec<_>>(), needed);
    refused(&add("-o out.ct"), &["INPUT2", "found none"]);
    refused(&add("table.ct -o sum.ct"), &["sum.ct exists"]);
    refused(&add("table.ct --columns a -o out.ct"), &["--columns", "add takes none"]);
    refused("eval add --keys keys/public.key table.ct table.ct -o out.ct", &["keys/public.key", "evaluation keys"]);
    sandbox.write("short.csv", b"a,b\n1,2\n");
    run("encrypt --key keys/public.key short.csv -o short.ct");
    refused(
        &add("short.ct -o out.ct"),
        &["short.ct", "found 1 row, 2 columns", "1030 rows, 2 columns, as table.ct has"],
    );
    run("encrypt --key keys/public.key short.csv --domain 5 -o wide.ct");
    refused("eval add --keys keys/eval.keys short.ct wide.ct -o out.ct", &["wide.ct", "a number in"]);
}

#[test]
fn signed_numbers_are_for_who_asks_for_them() {
    let sandbox = with_keys("signed");
    sandbox.write("table.csv", b"x\n-6144\n-1\n0\n6144\n12288\n");
    sandbox.done(&encrypt("keys/public.key", "table.csv"));
    sandbox.done(&decrypt("out.csv"));
    assert_eq!(sandbox.text("out.csv"), "x\n6145\n12288\n0\n6144\n12288\n");
    sandbox.done(&[&decrypt("out.csv")[..], &["--signed"]].concat());
    assert_eq!(sandbox.text("out.csv"), "x\n-6144\n-1\n0\n6144\n-1\n");
}

#[test]
fn keys_are_planned_as_they_are_made() {
    let sandbox = Sandbox::new("integers-planned");
    sandbox.integers("small.params", 10, 65537, 3);
    // 512 steps are once around, and 513 as many as one.
    let keygen = ["keygen", "--out", "keys", "--integers", "small.params", "--rotations", "1,1,0,512,513,-1"];
    let text = sandbox.done(&[&keygen[..], &["--plan-only"]].concat());
    assert!(text.contains("3 keys: products, and 2 rotations"), "{text}");
    let plan = &sandbox.json(&keygen)["plan"];
    assert_eq!((&plan["evaluation_keys"], &plan["rotations"]), (&3.into(), &vec![1, -1].into()));
    let keys = sandbox.json(&["inspect", "keys/eval.keys"]);
    assert_eq!(keys["evaluation_keys"].as_array().map(Vec::len), Some(3), "{keys}");
}

#[test]
fn what_is_no_residue_is_refused_by_its_place() {
    let sandbox = with_keys("residues");
    for (text, needed) in [
        (
            "a,b\n1,2\n3,4.5\n",
            &["bad.csv: row 2, column 2 (\"b\")", "found 4.5", "whole number from -6144 to 12288"][..],
        ),
        ("a,b\n1,2\n12289,4\n", &["row 2, column 1 (\"a\")", "found 12289"]),
        ("a\n-6145\n", &["row 1, column 1", "found -6145"]),
        ("a\n1e300\n", &["row 1, column 1", "needed a whole number"]),
        ("a\nthree\n", &["row 1, column 1 (\"a\")", "\"three\""]),
    ] {
        sandbox.write("bad.csv", text.as_bytes());
        sandbox.refused(&encrypt("keys/public.key", "bad.csv"), needed);
    }
    sandbox.write("good.csv", b"a,b\n1,2\n");
    let sizes = [&encrypt("keys/public.key", "good.csv")[..], &["--domain", "4,4,4"]].concat();
    sandbox.refused(&sizes, &["--domain", "3 sizes", "one for each of 2 columns"]);
    sandbox.write("bounds.json", b"9");
    let bounds = [&encrypt("keys/public.key", "good.csv")[..], &["--bounds", "bounds.json"]].concat();
    sandbox.refused(&bounds, &["--bounds", "a key of exact integers", "--domain"]);
    let large = [&encrypt("keys/public.key", "good.csv")[..], &["--domain", "12290"]].concat();
    sandbox.refused(&large, &["domain", "12290", "1 to the plaintext modulus 12289"]);
}

#[test]
fn what_cannot_be_right_is_not_written() {
    let sandbox = with_keys("wrong");
    sandbox.write("table.csv", b"a\n1\n2\n");
    sandbox.done(&encrypt("keys/public.key", "table.csv"));
    let decrypt = |key| ["decrypt", "--key", key, "table.ct", "-o", "out.csv"];
    // Another secret of the same parameters, and one of others.
    sandbox.done(&["keygen", "--out", "other", "--integers", "small.params"]);
    sandbox.refused(&decrypt("other/secret.key"), &["table.ct", "belongs to key"]);
    sandbox.integers("strange.params", 9, 12289, 3);
    sandbox.done(&["keygen", "--out", "strange", "--integers", "strange.params"]);
    sandbox.refused(&decrypt("strange/secret.key"), &["table.ct", "belongs to parameters"]);
    sandbox.refused(&decrypt("keys/public.key"), &["keys/public.key", "found public key with integer parameters"]);
    for (flag, value) in [("--unchecked", None), ("--release", Some("4"))] {
        let arguments: Vec<&str> = decrypt("keys/secret.key").into_iter().chain([flag]).chain(value).collect();
        sandbox.refused(&arguments, &[flag, "exact integers"]);
    }
    // A modulus without room for the noise of an encryption: refused by decryption, not garbage.
    let tiny = ["--log-n", "10", "--log-q", "20", "--log-p", "20", "--modulus", "12289"];
    sandbox.done(&[&["params", "check", "--security", "none", "-o", "tiny.params"], &tiny[..]].concat());
    sandbox.done(&["keygen", "--out", "tiny", "--integers", "tiny.params"]);
    sandbox.done(&["encrypt", "--key", "tiny/public.key", "table.csv", "-o", "tiny.ct"]);
    let decrypt = ["decrypt", "--key", "tiny/secret.key", "tiny.ct", "-o", "out.csv"];
    sandbox.refused(&decrypt, &["tiny.ct", "decryption", "bits of noise budget are missing", "parameters for more"]);
    // No slots modulo 12288.
    sandbox.integers("composite.params", 10, 12288, 3);
    sandbox.done(&["keygen", "--out", "composite", "--integers", "composite.params"]);
    let encrypt = ["encrypt", "--key", "composite/public.key", "table.csv", "-o", "composite.ct"];
    sandbox.refused(&encrypt, &["table.csv", "12288", "a prime below 2^50 that is 1 modulo 2048"]);
}

#[test]
fn parameters_of_integers_are_chosen_checked_and_shown() {
    let sandbox = Sandbox::new("integer-params");
    let choose = ["params", "choose", "--depth", "3", "--modulus", "65537"];
    let chosen = sandbox.json(&[&choose[..], &["--slots", "4096", "-o", "bfv.params"]].concat());
    assert_eq!((&chosen["plaintext_modulus"], &chosen["security_bits"]), (&65537.into(), &128.into()));
    assert!(chosen["slots"].as_u64() >= Some(4096) && chosen["depth_bfv"].as_u64() >= Some(3));
    assert!(chosen["budget_fresh"].as_f64() > Some(0.0));
    let shown = sandbox.json(&["params", "show", "bfv.params"]);
    assert_eq!(shown, chosen);
    assert_eq!(sandbox.json(&["params", "check", "bfv.params"])["primes_q"], chosen["primes_q"]);
    sandbox.refused(&["params", "check", "bfv.params", "--security", "256"], &["bfv.params", "256-bit"]);
    let bgv = sandbox.json(&[&choose[..], &["--scheme", "bgv", "--terms", "16", "--sum", "4"]].concat());
    assert!(bgv["depth_bgv"].as_u64() >= Some(3) && bgv["primes_q"] != chosen["primes_q"]);
    assert!(sandbox.done(&["params", "show", "bfv.params"]).contains("integers modulo t = 65537"));
    sandbox.refused(&["params", "choose", "--depth", "3", "--modulus", "1"], &["plaintext_modulus", "2 to 2^60 - 1"]);
    sandbox.refused(&["params", "choose", "--depth", "900", "--modulus", "65537"], &["depth", "depth is 900"]);
    // A modulus without slots is shown so.
    let check = ["params", "check", "--log-n", "13", "--log-q", "50,50", "--log-p", "50", "--modulus", "1024"];
    assert_eq!(sandbox.json(&check)["slots"], 0);
    let programs = ["keygen", "--out", "keys", "--program", "sum", "--rows", "1", "--columns", "1"];
    let needed = ["bfv.params: found integer parameters", "needed CKKS parameters"];
    sandbox.refused(&[&programs[..], &["--params", "bfv.params"]].concat(), &needed);
}

#[test]
fn files_of_integers_are_inspected() {
    let sandbox = with_keys("integer-inspect");
    sandbox.write("table.csv", b"a,b\n1,2\n");
    sandbox.done(&encrypt("keys/secret.key", "table.csv"));
    for (file, kind) in [
        ("small.params", "integer parameters"),
        ("keys/secret.key", "secret key with integer parameters"),
        ("keys/public.key", "public key with integer parameters"),
        ("keys/eval.keys", "evaluation keys with integer parameters"),
        ("table.ct", "encrypted table of integers"),
    ] {
        let report = sandbox.json(&["inspect", file]);
        assert_eq!((&report["kind"], &report["digest"]), (&kind.into(), &"ok".into()), "{file}");
        assert_eq!(report["parameters"].is_null(), file.ends_with(".ct"), "{file}");
        assert!(sandbox.done(&["inspect", file]).contains("digest ok"));
    }
    let keys = sandbox.json(&["inspect", "keys/eval.keys"]);
    let keys = keys["evaluation_keys"].as_array().expect("a list").clone();
    assert_eq!((keys.len(), &keys[0]["kind"], &keys[0]["level"]), (4, &"relinearisation".into(), &2.into()));
    let table = sandbox.json(&["inspect", "table.ct"]);
    assert_eq!((&table["ciphertexts"]["level"], &table["ciphertexts"]["seeded"]), (&2.into(), &2.into()));
    assert_eq!((&table["layout"]["stretch"], &table["layout"]["column_names"][1]), (&1.into(), &"b".into()));
    assert!(sandbox.done(&["inspect", "table.ct"]).contains("2 ciphertexts of 3 limbs, 2 with a seed"));
}

#[test]
fn damaged_files_of_integers_are_refused() {
    let sandbox = with_keys("integer-damage");
    sandbox.write("table.csv", b"a,b\n1,2\n");
    sandbox.done(&encrypt("keys/public.key", "table.csv"));
    let whole = sandbox.read("table.ct");
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    for (name, content, needed) in [
        ("cut.ct", &whole[..whole.len() - 64], "truncated"),
        ("flipped.ct", &flipped, "the digest does not match"),
        ("empty.ct", b"", "not a file of noren"),
        ("tail.ct", &[&whole[..], b"more"].concat(), "has a tail"),
    ] {
        sandbox.write(name, content);
        let decrypt = ["decrypt", "--key", "keys/secret.key", name, "-o", "out.csv"];
        sandbox.refused(&decrypt, &[name, needed]);
        sandbox.refused(&["inspect", name], &[name, needed]);
    }
    let swapped = ["decrypt", "--key", "keys/secret.key", "keys/public.key", "-o", "out.csv"];
    sandbox.refused(&swapped, &["found public key with integer parameters", "needed encrypted table, for the input"]);
    let eval = ["eval", "sum", "--keys", "keys/eval.keys", "table.ct", "-o", "out.ct"];
    sandbox.refused(&eval, &["keys/eval.keys: found evaluation keys with integer parameters", "with CKKS parameters"]);
}
