//! Questions on tables through the tool, from CSV to CSV, and what is refused of them.

use crate::sandbox::Sandbox;

const PEOPLE: &str =
    "age,city,income\n31,Bern,2.5\n70,Chur,1\n45,Chur,4.25\n68,Chur,3\n90,Bern,0.5\n12,\"St. Gallen\",0\n";
const QUESTION: &str = "SELECT count(*), sum(income), max(age) WHERE age > 40 GROUP BY city";

fn asked(name: &str) -> Sandbox {
    let sandbox = Sandbox::new(name);
    sandbox.write("people.csv", PEOPLE.as_bytes());
    sandbox.done(&[
        "function",
        "query",
        QUESTION,
        "people.csv",
        "--step",
        "income=0.25",
        "--rows",
        "9",
        "-o",
        "ask.function",
    ]);
    sandbox
}

fn encrypt(table: &str) -> Vec<&str> {
    vec!["function", "encrypt", "ask.function", "--key", "keys/secret.key", table, "-o", "request"]
}

fn decrypt(output: &str) -> Vec<&str> {
    vec!["function", "decrypt", "ask.function", "--key", "keys/secret.key", "reply", "-o", output]
}

#[test]
fn questions_are_answered_from_tables_with_texts() {
    let sandbox = asked("question");
    assert_eq!(sandbox.json(&["function", "show", "ask.function"])["question"], QUESTION);
    sandbox.done(&["function", "keygen", "ask.function", "--out", "keys"]);
    // Columns in another order, and one more; fewer rows than were compiled.
    sandbox.write("others.csv", b"city,name,income,age\nBern,a,1.25,41\nSt. Gallen,b,4,40\nBern,c,2.5,90\n");
    for (table, expected) in [
        ("people.csv", "Bern,1,0.5,90\nChur,3,8.25,70\nSt. Gallen,0,0,\n"),
        ("others.csv", "Bern,2,3.75,90\nChur,0,0,\nSt. Gallen,0,0,\n"),
    ] {
        sandbox.done(&[&encrypt(table)[..], &["--force"]].concat());
        sandbox.done(&[
            "function",
            "run",
            "ask.function",
            "--keys",
            "keys/server.keys",
            "request",
            "-o",
            "reply",
            "--force",
        ]);
        sandbox.done(&[&decrypt("answer.csv")[..], &["--force"]].concat());
        assert_eq!(sandbox.text("answer.csv"), format!("city,count(*),sum(income),max(age)\n{expected}"));
    }
    sandbox.refused(&decrypt("answer.npy"), &["answer.npy", ".csv or .tsv"]);
    sandbox.refused(&[&decrypt("a.csv")[..], &["-o", "b.csv"]].concat(), &["--output", "2 files"]);
}

#[test]
fn tables_that_a_question_is_not_on_are_refused() {
    let sandbox = asked("question-refused");
    sandbox.done(&["function", "keygen", "ask.function", "--out", "keys"]);
    for (table, words) in [
        ("age,city,income\n31,Basel,1\n", vec!["row 1 (\"city\")", "Basel", "St. Gallen"]),
        ("age,city,income\n99,Bern,1\n", vec!["row 1 (\"age\")", "99", "from 12 to 90"]),
        ("age,city,income\nold,Bern,1\n", vec!["row 1, column 1 (\"age\")", "old", "a number"]),
        ("age,city,income\n31,,1\n", vec!["row 1, column 2 (\"city\")"]),
        ("age,income\n31,1\n", vec!["no column \"city\"", "age, income"]),
        ("age,city,income\n31,Bern\n", vec!["2 fields"]),
    ] {
        sandbox.write("wrong.csv", table.as_bytes());
        sandbox.refused(&encrypt("wrong.csv"), &words);
        assert!(!sandbox.exists("request"));
    }
    sandbox.refused(&[&encrypt("people.csv")[..], &["people.csv"]].concat(), &["2 tables"]);
    sandbox.refused(&[&encrypt("people.csv")[..], &["--no-header"]].concat(), &["--no-header"]);
    sandbox.refused(&[&encrypt("people.csv")[..], &["--missing", "mean"]].concat(), &["--missing"]);
    let query = |question: &'static str| ["function", "query", question, "people.csv", "-o", "other.function"];
    sandbox.refused(&query("count(*) where height > 3"), &["no column \"height\"", "age, city, income"]);
    sandbox.refused(&query("count(*) where"), &["character 15"]);
    sandbox.refused(&[&query("count(*)")[..], &["--step", "height=3"]].concat(), &["no column \"height\""]);
    let usage = sandbox.run(&[&query("count(*)")[..], &["--step", "age=0"]].concat());
    assert_eq!(usage.status.code(), Some(2));
    assert!(!sandbox.exists("other.function"));
}
