//! Rows of a table of another through the tool, from CSV to CSV, and what is refused of them.

use crate::sandbox::Sandbox;

const CITIES: &str = "city,inhabitants,note\nBern,134794,\"capital, on the Aare\"\nChur,37998,\nGenf,203840,\"\"\"Genève\"\"\"\n\
    Basel,173552,\"two\nlines\"\n";
const PROTOCOLS: [&str; 2] = ["retrieval", "intersection"];

/// The options of `describe` after the table.
fn options(protocol: &str) -> Vec<&str> {
    if protocol == "intersection" { vec!["--asked", "5"] } else { Vec::new() }
}

fn describe(sandbox: &Sandbox, protocol: &str, table: &[&str]) {
    let security = ["--security", "none", "-o", "cities.description"];
    sandbox.done(&[&[protocol, "describe"], table, &options(protocol)[..], &security].concat());
}

fn keygen(protocol: &str) -> Vec<&str> {
    vec![protocol, "keygen", "cities.description", "--out", "keys"]
}

fn encrypt<'a>(protocol: &'a str, asked: &[&'a str]) -> Vec<&'a str> {
    [&[protocol, "encrypt", "cities.description", "--key", "keys/secret.key", "-o", "request"], asked].concat()
}

fn answer<'a>(protocol: &'a str, table: &[&'a str]) -> Vec<&'a str> {
    let files = ["--keys", "keys/server.keys", "request", "-o", "reply"];
    [&[protocol, "answer", "cities.description"], table, &files].concat()
}

fn decrypt<'a>(protocol: &'a str, asked: &[&'a str], output: &'a str) -> Vec<&'a str> {
    let files = ["--key", "keys/secret.key", "reply", "-o", output];
    [&[protocol, "decrypt", "cities.description"], asked, &files].concat()
}

/// A sandbox with a table that was described.
fn described(name: &str, protocol: &str, table: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new(&format!("{name}-{protocol}"));
    sandbox.write("cities.csv", CITIES.as_bytes());
    describe(&sandbox, protocol, table);
    sandbox
}

/// The rows that are found, as they are written.
fn found(sandbox: &Sandbox, protocol: &str, table: &[&str], asked: &[&str]) -> String {
    sandbox.done(&[&keygen(protocol)[..], &["--force"]].concat());
    sandbox.done(&[&encrypt(protocol, asked)[..], &["--force"]].concat());
    sandbox.done(&[&answer(protocol, table)[..], &["--force"]].concat());
    sandbox.done(&[&decrypt(protocol, asked, "found.csv")[..], &["--force"]].concat());
    sandbox.text("found.csv")
}

#[test]
fn keywords_find_their_rows_and_others_none() {
    for protocol in PROTOCOLS {
        let by_city = ["cities.csv", "--by", "city"];
        let sandbox = described("keywords", protocol, &by_city);
        let asked = ["--ask", "Genf", "--ask", "Olten", "--ask", " Bern "];
        let expected =
            "keyword,inhabitants,note\nGenf,203840,\"\"\"Genève\"\"\"\nBern,134794,\"capital, on the Aare\"\n";
        assert_eq!(found(&sandbox, protocol, &by_city, &asked), expected, "{protocol}");
        let report = sandbox.json(&[&decrypt(protocol, &asked, "found.csv")[..], &["--force"]].concat());
        assert_eq!((&report["asked"], &report["found"]), (&3.into(), &2.into()));
        // The same from a table, of which a column has the keywords.
        sandbox.write("ours.csv", "name,place\nx,Chur\ny,Zug\n".as_bytes());
        let asked = ["--ask-from", "ours.csv", "--columns", "place"];
        assert_eq!(
            found(&sandbox, protocol, &by_city, &asked),
            "keyword,inhabitants,note\nChur,37998,\n",
            "{protocol}"
        );
        sandbox.refused(&encrypt(protocol, &asked), &["request exists", "--force"]);
        // Some columns, and no names.
        let shorter = [&by_city[..], &["--columns", "note,0", "--without-names"]].concat();
        describe(&sandbox, protocol, &[&shorter[..], &["--force"]].concat());
        let expected = "keyword,0,1\nBern,\"capital, on the Aare\",Bern\n";
        assert_eq!(found(&sandbox, protocol, &shorter, &["--ask", "Bern"]), expected, "{protocol}");
    }
}

#[test]
fn numbers_find_their_rows() {
    let sandbox = described("numbers", "retrieval", &["cities.csv", "--columns", "city"]);
    let rows = found(&sandbox, "retrieval", &["cities.csv", "--columns", "city"], &["--ask", "3", "--ask", "0"]);
    assert_eq!(rows, "row,city\n3,Basel\n0,Bern\n");
    for (number, words) in [("4", "0 to 3"), ("-1", "0 to 3"), ("Bern", "the number of a row")] {
        let asked = format!("--ask={number}");
        sandbox.refused(&[&encrypt("retrieval", &[&asked])[..], &["--force"]].concat(), &["--ask", number, words]);
    }
    let by_city = [&answer("retrieval", &["cities.csv", "--by", "city"])[..], &["--force"]].concat();
    sandbox.refused(&by_city, &["--by", "found a column of keywords", "needed none"]);
}

#[test]
fn a_column_of_keywords_alone_is_a_set() {
    let sandbox = Sandbox::new("retrieval-set");
    sandbox.write("cities.csv", b"Bern\nChur\n");
    let table = ["cities.csv", "--no-header", "--by", "0"];
    describe(&sandbox, "intersection", &table);
    let rows = found(&sandbox, "intersection", &table, &["--ask", "Chur", "--ask", "Zug"]);
    assert_eq!(rows, "keyword\nChur\n");
    assert_eq!(found(&sandbox, "intersection", &table, &["--ask", "Zug"]), "keyword\n");
}

#[test]
fn tables_that_have_no_keywords_are_refused() {
    let sandbox = Sandbox::new("retrieval-tables");
    for (table, words) in [
        ("city,x\nBern,1\nChur,2\nBern,3\n", vec!["row 3, column 1 (\"city\")", "\"Bern\", as in row 1"]),
        ("city,x\nBern,1\n,2\n", vec!["row 2, column 1 (\"city\")", "nothing", "a keyword"]),
        ("town,x\nBern,1\n", vec!["--by", "\"city\"", "town, x"]),
        ("city,x\n", vec!["no row"]),
        ("", vec!["no row"]),
        ("city,x\nBern\n", vec!["row 1", "1 field"]),
    ] {
        sandbox.write("cities.csv", table.as_bytes());
        for protocol in PROTOCOLS {
            let call =
                [&[protocol, "describe", "cities.csv", "--by", "city", "-o", "d"][..], &options(protocol)].concat();
            sandbox.refused(&call, &words);
        }
    }
    sandbox.write("cities.csv", CITIES.as_bytes());
    let call = ["retrieval", "describe", "cities.csv", "-o", "d"];
    sandbox.refused(&[&call[..], &["--columns", "mayor"]].concat(), &["--columns", "\"mayor\""]);
    sandbox.refused(&[&call[..], &["--missing", "drop"]].concat(), &["--missing", "cells are texts"]);
    sandbox.write("cities.npy", b"");
    sandbox.refused(&["retrieval", "describe", "cities.npy", "-o", "d"], &["an NPY file", ".csv or .tsv"]);
    let far =
        ["intersection", "describe", "cities.csv", "--by", "city", "--asked", "5", "--distance", "300", "-o", "d"];
    sandbox.refused(&far, &["cities.csv", "distance", "30 to 128"]);
    for call in [
        &["intersection", "describe", "cities.csv", "--asked", "5", "-o", "d"][..],
        &["intersection", "describe", "cities.csv", "--by", "city", "-o", "d"],
        &["retrieval", "encrypt", "d", "--key", "k", "-o", "request"],
        &["retrieval", "encrypt", "d", "--key", "k", "-o", "request", "--ask", "x", "--ask-from", "y.csv"],
    ] {
        assert_eq!(sandbox.run(call).status.code(), Some(2), "{call:?}");
    }
}

#[test]
fn what_does_not_belong_together_is_refused() {
    for protocol in PROTOCOLS {
        let by_city = ["cities.csv", "--by", "city"];
        let sandbox = described("together", protocol, &by_city);
        sandbox.done(&keygen(protocol));
        sandbox.done(&encrypt(protocol, &["--ask", "Bern"]));
        let refused = |words: &[&str], from: &str, to: &str, needed: &[&str]| {
            let call: Vec<&str> = words.iter().map(|word| if *word == from { to } else { word }).collect();
            sandbox.refused(&call, needed);
        };
        let answer = answer(protocol, &by_city);
        refused(&answer, "keys/server.keys", "keys/secret.key", &["keys/secret.key", "server keys of a", "--keys"]);
        refused(&answer, "cities.description", "request", &["request", "description of a table", "the description"]);
        refused(&answer, "request", "cities.description", &["cities.description", "of a private", "the input"]);
        refused(&answer, "city", "note", &["row 2, column 3 (\"note\")", "nothing"]);
        sandbox.write("longer.csv", (CITIES.to_owned() + "Lausanne,142329,\n").as_bytes());
        refused(&answer, "cities.csv", "longer.csv", &["longer.csv", "5 rows", "4 rows", "describe it again"]);
        sandbox.done(&answer);
        let decrypt = decrypt(protocol, &["--ask", "Bern"], "found.csv");
        refused(&decrypt, "keys/secret.key", "keys/server.keys", &["keys/server.keys", "secret key, for --key"]);
        refused(&decrypt, "reply", "request", &["request", "of a private", "the input"]);
        refused(&decrypt, "found.csv", "found.npy", &["found.npy", ".csv or .tsv"]);
        sandbox.write("two.csv", b"a,b\nBern,1\n");
        let from_two = encrypt(protocol, &["--ask-from", "two.csv", "--force"]);
        sandbox.refused(&from_two, &["two.csv", "2 columns", "--columns"]);
        // The keys of somebody else, who has the same description.
        sandbox.done(&[protocol, "keygen", "cities.description", "--out", "others"]);
        refused(&answer, "keys/server.keys", "others/server.keys", &["reply exists"]);
        let again = [&answer[..], &["--force"]].concat();
        refused(&again, "keys/server.keys", "others/server.keys", &["request", "key"]);
        refused(&decrypt, "keys/secret.key", "others/secret.key", &["reply", "key"]);
        let strict = sandbox.strict_command(&keygen(protocol)).output().expect("the tool starts");
        assert!(String::from_utf8_lossy(&strict.stderr).contains("security"), "less than 128 bits");
    }
    let sandbox = described("many", "intersection", &["cities.csv", "--by", "city"]);
    sandbox.done(&keygen("intersection"));
    let many = ["--ask=1", "--ask=2", "--ask=3", "--ask=4", "--ask=5", "--ask=6"];
    sandbox.refused(&encrypt("intersection", &many), &["keywords", "found 6", "at most 5"]);
}

#[test]
fn files_say_what_they_are() {
    for protocol in PROTOCOLS {
        let by_city = ["cities.csv", "--by", "city"];
        let sandbox = described("inspected", protocol, &by_city);
        found(&sandbox, protocol, &by_city, &["--ask", "Bern"]);
        for (file, needed) in [
            ("cities.description", vec!["description of a table", "\"rows\":4"]),
            ("request", vec!["request", "BFV ciphertext"]),
            ("reply", vec!["repl", "BFV ciphertext"]),
        ] {
            let text = sandbox.done(&["inspect", file]);
            assert!(needed.iter().all(|word| text.contains(word)), "{protocol} {file}: {text}");
        }
    }
}
