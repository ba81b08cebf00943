//! Several owners of one secret through the tool: every party a process of its own for each call, and files alone between them.

use std::fs::{self, OpenOptions};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::sandbox::Sandbox;

/// Rows of the tables: more than a ciphertext has slots.
const ROWS: usize = 1100;
const COLUMNS: [&str; 2] = ["cases", "tests"];
const MODULUS: usize = 12289;

fn call(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

/// Parameters of a small ring, without security, for a number of parties.
fn parameters(sandbox: &Sandbox, parties: usize) {
    let sizes = format!("--log-n 10 --log-q 40,40,40 --log-p 40 --modulus {MODULUS} --secret joint:{parties}");
    sandbox.done(&call(&format!("params check {sizes} --security none -o joint.params")));
}

/// A session of these parties, and their folders.
fn begin(sandbox: &Sandbox, names: &[&str], options: &str) {
    parameters(sandbox, names.len());
    let all = names.join(",");
    let text = sandbox.done(&call(&format!("party session joint.params --names {all} -o session {options}")));
    let digest = text.lines().next().expect("a line").to_owned();
    for (at, name) in names.iter().enumerate() {
        let seed = format!("{at}").repeat(64);
        let text = sandbox.done(&call(&format!("party init session {name} --out {name} --seed {seed}")));
        assert!(digest.starts_with("session ") && text.starts_with(&digest), "{text}");
    }
}

/// The messages of all parties in a round, from 1; none in round 0.
pub fn messages(names: &[&str], round: usize) -> Vec<String> {
    names.iter().filter(|_| round > 0).map(|name| format!("{name}.{round}")).collect()
}

/// The call of a party in a round.
fn join(name: &str, names: &[&str], round: usize) -> Vec<String> {
    let output = ["-o".to_owned(), format!("{name}.{round}")];
    [vec!["party".into(), "join".into(), name.into()], messages(names, round - 1), output.into()].concat()
}

fn run(sandbox: &Sandbox, arguments: &[String]) -> String {
    sandbox.done(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

/// All rounds of all parties, and the keys.
fn make_keys(sandbox: &Sandbox, names: &[&str], rounds: usize) {
    for round in 1..=rounds {
        for name in names {
            let text = run(sandbox, &join(name, names, round));
            assert!(text.contains(&format!("party {name}, round {round} of {rounds}, ")), "{text}");
            assert!(text.contains(&format!("noren party join {name} MESSAGE...")), "{text}");
        }
    }
    for name in names {
        let last = messages(names, rounds).join(" ");
        let text = sandbox.done(&call(&format!("party join {name} {last}")));
        assert!(text.contains("rounds are done") && text.contains("noren party combine"), "{text}");
    }
    sandbox.done(&call(&format!("party combine session {} --out keys", all_messages(names, rounds))));
}

/// The messages of all rounds, the last round first.
fn all_messages(names: &[&str], rounds: usize) -> String {
    (1..=rounds).rev().flat_map(|round| messages(names, round)).collect::<Vec<_>>().join(" ")
}

fn entry(party: usize, row: usize, column: usize) -> usize {
    (row * (party + 3) + column * 7) % 1000
}

/// A line of names, and one for each row.
fn csv(rows: usize, entry: impl Fn(usize, usize) -> usize) -> String {
    let line = |row| (0..COLUMNS.len()).map(|column| entry(row, column).to_string()).collect::<Vec<_>>().join(",");
    std::iter::once(COLUMNS.join(",")).chain((0..rows).map(line)).map(|line| line + "\n").collect()
}

/// A sandbox where the parties have keys, and `table.ct` of one number.
pub fn with_keys(name: &str, names: &[&str], options: &str) -> Sandbox {
    let sandbox = Sandbox::new(name);
    begin(&sandbox, names, options);
    make_keys(&sandbox, names, 4);
    encrypt(&sandbox, "keys", "table");
    sandbox
}

/// A table with one row under a public key.
fn encrypt(sandbox: &Sandbox, keys: &str, name: &str) {
    sandbox.write(&format!("{name}.csv"), b"cases\n12\n");
    sandbox.done(&call(&format!("encrypt --key {keys}/public.key {name}.csv -o {name}.ct")));
}

#[test]
fn parties_make_keys_and_open_the_sum_of_their_tables() {
    for (names, options, rounds) in [
        (&["north", "south"][..], "--results 8 --relinearization --rotations 1,-2 --swap-rows", 5),
        (&["north", "south", "west"][..], "--results 8", 4),
    ] {
        let sandbox = Sandbox::new(&format!("party-{}", names.len()));
        begin(&sandbox, names, options);
        make_keys(&sandbox, names, rounds);
        // A party makes the same keys from its folder.
        let folder = fs::read_dir(sandbox.path("west").parent().expect("a sandbox").join(names[0]).join("messages"));
        let own = folder.expect("messages").map(|entry| entry.expect("a message").path().display().to_string());
        let own: Vec<String> = own.collect();
        let begun = ["party", "combine", "session", "--out", "again"].map(str::to_owned);
        run(&sandbox, &[&begun[..], &own].concat());
        for file in ["public.key", "eval.keys"] {
            assert_eq!(sandbox.read(&format!("keys/{file}")), sandbox.read(&format!("again/{file}")));
        }

        let mut tables = Vec::new();
        for (party, name) in names.iter().enumerate() {
            sandbox.write(&format!("{name}.csv"), csv(ROWS, |row, column| entry(party, row, column)).as_bytes());
            sandbox.done(&call(&format!("encrypt --key keys/public.key {name}.csv -o {name}.ct")));
            tables.push(format!("{name}.ct"));
        }
        sandbox.done(&call(&format!("eval add --keys keys/eval.keys {} -o total.ct", tables.join(" "))));

        let mut digests = Vec::new();
        for name in names {
            let report = sandbox.json(&call(&format!("party share {name} total.ct --yes -o {name}.share")));
            assert_eq!((&report["results_left"], &report["ciphertexts"]), (&4.into(), &4.into()), "{report}");
            let inspected = sandbox.json(&call(&format!("inspect {name}.share")));
            assert_eq!(report["digest"], inspected["layout"]["ciphertexts"]);
            digests.push(report["digest"].clone());
        }
        assert!(digests.iter().all(|digest| *digest == digests[0]), "{digests:?}");
        let shares: Vec<String> = names.iter().rev().map(|name| format!("{name}.share")).collect();
        let open = format!("party open session total.ct {} -o total.csv", shares.join(" "));
        let text = sandbox.done(&call(&open));
        assert!(text.contains("1100 rows, 2 columns of integers modulo 12289"), "{text}");
        let sum = |row, column| (0..names.len()).map(|party| entry(party, row, column)).sum();
        assert_eq!(sandbox.text("total.csv"), csv(ROWS, sum));
        let signed = [&call(&open)[..], &["--force", "--signed", "--no-header", "--public"]].concat();
        assert_eq!(sandbox.json(&signed)["column_names"], serde_json::json!(COLUMNS));
        assert_eq!(sandbox.text("total.csv"), csv(ROWS, sum).replacen("cases,tests\n", "", 1));
    }
}

#[test]
fn calls_that_were_killed_and_repeated_give_the_same_bytes() {
    let sandbox = Sandbox::new("party-killed");
    let names = ["north", "south"];
    begin(&sandbox, &names, "--results 2 --relinearization");
    let kill = |arguments: &[String], milliseconds: u64| {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = sandbox.command(&arguments);
        let mut process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the tool starts");
        thread::sleep(Duration::from_millis(milliseconds));
        process.kill().and_then(|()| process.wait()).expect("its own process");
    };
    for round in 1..=5 {
        run(&sandbox, &join("south", &names, round));
        // The same party from the same state, without an interruption, and with several.
        copy(&sandbox, "north", &format!("twin{round}"));
        let mut twin = join("north", &names, round);
        twin[2] = format!("twin{round}");
        let mut own = join("north", &names, round);
        own.push("--force".to_owned());
        for milliseconds in [0, 2, 5, 10, 20] {
            kill(&own, milliseconds);
        }
        run(&sandbox, &own);
        let killed = sandbox.read(&format!("north.{round}"));
        twin.push("--force".to_owned());
        run(&sandbox, &twin);
        assert_eq!(sandbox.read(&format!("north.{round}")), killed, "round {round}");
    }
    for name in names {
        sandbox.done(&["party", "join", name, "north.5", "south.5"]);
    }
    sandbox.done(&call(&format!("party combine session {} --out keys", all_messages(&names, 5))));
    encrypt(&sandbox, "keys", "table");
    let share: Vec<String> =
        call("party share north table.ct --yes -o north.share --force").into_iter().map(str::to_owned).collect();
    for milliseconds in [0, 5, 10, 20, 40] {
        kill(&share, milliseconds);
    }
    run(&sandbox, &share);
    let first = sandbox.read("north.share");
    let report = sandbox.json(&share.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!((sandbox.read("north.share"), &report["results_left"]), (first, &1.into()));
    sandbox.done(&call("party share south table.ct --yes -o south.share"));
    sandbox.done(&call("party open session table.ct north.share south.share -o table.csv --force"));
    assert_eq!(sandbox.text("table.csv"), "cases\n12\n");
}

/// Copies the folder of a party.
fn copy(sandbox: &Sandbox, from: &str, to: &str) {
    fs::create_dir_all(sandbox.path(to).join("messages")).expect("made");
    for folder in ["", "messages"] {
        for entry in fs::read_dir(sandbox.path(from).join(folder)).expect("a folder").flatten() {
            if entry.path().is_file() {
                fs::copy(entry.path(), sandbox.path(to).join(folder).join(entry.file_name())).expect("copied");
            }
        }
    }
}

#[test]
fn messages_that_are_missing_or_of_others_are_refused_by_name() {
    let sandbox = Sandbox::new("party-messages");
    let names = ["north", "south", "west"];
    begin(&sandbox, &names, "--results 4");
    let session = "party session joint.params --results 4 -o other --names";
    sandbox.done(&call(&format!("{session} north,south,west")));
    sandbox.refused(&call(&format!("{session} north,south")), &["other exists", "--force"]);
    sandbox.refused(&call(&format!("{session} north,south --force")), &["joint.params", "parties"]);
    sandbox.refused(&call(&format!("{session} north,north,west --force")), &["joint.params", "\"north\" twice"]);
    sandbox.refused(&call("party init session east --out east"), &["one of north, south, west"]);
    sandbox.refused(&call("party init session south --out north"), &["north: the folder", "the secret of a party"]);
    sandbox.refused(&call("party init joint.params south --out south2"), &["joint.params", "session of joint keys"]);
    sandbox.refused(&call("party join east -o east.1"), &["east/session"]);
    let out = sandbox.strict_command(&["party", "join", "north", "-o", "north.1"]).output().expect("the tool starts");
    assert!(String::from_utf8_lossy(&out.stderr).contains("--min-security") && !sandbox.exists("north.1"));

    for name in names {
        run(&sandbox, &join(name, &names, 1));
    }
    sandbox.refused(&call("party join north -o north.1"), &["north.1 exists", "--force"]);
    // Nothing of a session gets into another.
    sandbox.done(&call("party init other north --out stranger"));
    sandbox.done(&call("party join stranger -o stranger.1"));
    sandbox.refused(&call("party join north south.1 stranger.1 -o out"), &["stranger.1", "another session"]);
    sandbox.refused(&call("party join north joint.params -o out"), &["joint.params", "joint key generation"]);
    sandbox.refused(&call("party combine other north.1 --out keys"), &["north.1", "another session"]);
    // Messages that came are kept, and parties whose messages are missing are named.
    let late = sandbox.run(&call("party join north south.1 -o north.2"));
    let text = String::from_utf8_lossy(&late.stderr).into_owned();
    assert!(late.status.code() == Some(1) && text.contains("of round commit: those of west are missing"), "{text}");
    assert!(!sandbox.exists("north.2"));
    sandbox.refused(&call("party join north west.1"), &["--output", "the message of round reveal"]);
    let report = sandbox.json(&call("party join north west.1 -o north.2"));
    let expected = serde_json::json!(["reveal", 2, 4, ["south", "west"]]);
    assert_eq!(serde_json::json!([report["round"], report["number"], report["rounds"], report["missing"]]), expected);
    // A second message of a party, from a folder that was lost and made again.
    sandbox.done(&call("party init session west --out again"));
    sandbox.done(&call("party join again -o again.1"));
    sandbox.refused(&call("party join north again.1 -o out"), &["a second one of \"west\" in round commit"]);

    for name in ["south", "west"] {
        run(&sandbox, &join(name, &names, 2));
    }
    for round in 3..=4 {
        for name in names {
            run(&sandbox, &join(name, &names, round));
        }
    }
    let without = all_messages(&names, 4).replace("south.4 ", "");
    let combine = |messages: &str| format!("party combine session {messages} --out keys");
    sandbox.refused(&call(&combine(&without)), &["of round share: those of south are missing"]);
    let without = all_messages(&names, 4).replace(" west.1", "");
    sandbox.refused(&call(&combine(&without)), &["one of \"west\" before that of round commit"]);
    let bytes = sandbox.read("south.4");
    sandbox.write("south.4", &bytes[..bytes.len() - 9]);
    sandbox.refused(&call(&combine(&all_messages(&names, 4))), &["south.4"]);
    sandbox.write("south.4", &bytes);
    sandbox.done(&call(&combine(&all_messages(&names, 4))));
    sandbox.refused(&call(&combine(&all_messages(&names, 4))), &["keys/public.key exists", "--force"]);
    assert_eq!(fs::read_dir(sandbox.path("keys")).expect("a directory").count(), 2);
}

#[test]
fn what_cannot_be_opened_is_refused_before_it_is() {
    let names = ["north", "south"];
    let sandbox = with_keys("party-opening", &names, "--results 3");
    let share = |folder: &str, table: &str| format!("party share {folder} {table} --yes -o out");
    // Nobody is there to be asked.
    let silent = "party share north table.ct -o out";
    sandbox.refused(&call(silent), &["--yes", "no terminal"]);
    let output = sandbox.run(&call(&format!("{silent} --json")));
    assert!(output.status.code() == Some(1) && String::from_utf8_lossy(&output.stderr).contains("--yes"), "{output:?}");
    // Another process has the folder.
    let lock = OpenOptions::new().append(true).open(sandbox.path("north/opened")).expect("a log");
    lock.lock().expect("free");
    sandbox.refused(&call(&share("north", "table.ct")), &["north", "open in another process"]);
    drop(lock);
    // A party that has not seen the shares of keys.
    sandbox.done(&call("party init session north --out fresh"));
    sandbox
        .refused(&call(&share("fresh", "table.ct")), &["fresh", "of round reveal: those of north, south are missing"]);
    // Another key, with the same parameters, and another kind of file.
    for file in ["session", "north", "south"] {
        fs::rename(sandbox.path(file), sandbox.path(&format!("first-{file}"))).expect("renamed");
    }
    fs::rename(sandbox.path("keys"), sandbox.path("first")).expect("renamed");
    for message in all_messages(&names, 4).split(' ') {
        fs::remove_file(sandbox.path(message)).expect("removed");
    }
    fs::remove_file(sandbox.path("joint.params")).expect("removed");
    begin(&sandbox, &names, "--results 3");
    make_keys(&sandbox, &names, 4);
    sandbox.refused(&call(&share("north", "table.ct")), &["table.ct", "belongs to key"]);
    sandbox.refused(&call(&share("north", "keys/public.key")), &["keys/public.key", "encrypted table of integers"]);
    let add = "eval add --keys keys/eval.keys table.ct table.ct -o out";
    sandbox.refused(&call(add), &["table.ct", "belongs to key"]);

    // Too much noise: 2^12 times the table.
    encrypt(&sandbox, "keys", "table2");
    let sixteen = |table: &str, out: &str| format!("eval add --keys keys/eval.keys {} -o {out}", [table; 16].join(" "));
    for (table, out) in [("table2.ct", "x4.ct"), ("x4.ct", "x8.ct"), ("x8.ct", "x12.ct"), ("x12.ct", "x16.ct")] {
        sandbox.done(&call(&sixteen(table, out)));
    }
    sandbox.refused(&call(&share("north", "x16.ct")), &["x16.ct", "a joint decryption"]);

    // Shares of other tables and sessions, twice, and too few.
    for folder in ["north", "south"] {
        sandbox.done(&call(&format!("party share {folder} table2.ct --yes -o {folder}.share")));
        sandbox.done(&call(&format!("party share first-{folder} table.ct --yes -o first-{folder}.share")));
    }
    encrypt(&sandbox, "keys", "table3");
    sandbox.done(&call("party share south table3.ct --yes -o third.share"));
    let open = |table: &str, shares: &str| format!("party open session {table} {shares} -o out.csv");
    for (table, shares, words) in [
        ("table2.ct", "north.share", vec!["table2.ct", "those of south are missing"]),
        ("table2.ct", "north.share north.share south.share", vec!["two of \"north\""]),
        ("table2.ct", "north.share third.share", vec!["third.share", "of other ciphertexts"]),
        ("table2.ct", "north.share first-south.share", vec!["first-south.share", "another session"]),
        ("table2.ct", "north.share south.4", vec!["south.4", "shares of a joint decryption"]),
        ("north.share", "north.share south.share", vec!["north.share", "encrypted table"]),
    ] {
        sandbox.refused(&call(&open(table, shares)), &words);
    }
    sandbox.refused(&call("party open session table2.ct north.share south.share"), &["--output", "no terminal"]);
    let strange = "party open session table2.ct north.share south.share -o out.txt";
    sandbox.refused(&call(strange), &["out.txt", ".csv"]);

    // Two of three results are left for south, and one of them for another table: what was opened before counts once.
    sandbox.done(&call("party share south table2.ct --yes -o south.share --force"));
    for name in ["table4", "table5"] {
        encrypt(&sandbox, "keys", name);
    }
    sandbox.done(&call("party share south table4.ct --yes -o fourth.share"));
    sandbox.refused(&call(&share("south", "table5.ct")), &["table5.ct", "at most 3", "begin a new one"]);
    sandbox.done(&call("party share south table3.ct --yes -o third.share --force"));
}

#[test]
fn secrets_are_under_passphrases_and_messages_are_signed() {
    let sandbox = Sandbox::new("party-passphrase");
    parameters(&sandbox, 2);
    sandbox.done(&call("party session joint.params --names north,south --results 3 -o session"));
    sandbox.write("words", b"correct horse battery staple\n");
    sandbox.write("others", b"a passphrase of its own\n");
    sandbox.done(&call("party init session north --out north --passphrase-file words"));
    sandbox.done(&call("party init session south --out south"));
    #[cfg(unix)]
    for name in ["north/secret", "south/secret"] {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(sandbox.path(name)).expect("a secret").permissions().mode() & 0o777, 0o600);
    }
    assert!(sandbox.read("north/secret").starts_with(b"age-encryption.org/"));
    sandbox.refused(&call("party join north -o north.1"), &["north/secret", "needs a passphrase", "--passphrase-file"]);
    let wrong = "party join north -o north.1 --passphrase-file others";
    sandbox.refused(&call(wrong), &["north/secret", "the passphrase is wrong"]);
    sandbox.done(&call("party join north -o north.1 --passphrase-file words"));
    sandbox.done(&call("party join south -o south.1"));
    // The passphrase of a folder changes as that of a key.
    sandbox.done(&call("passphrase north/secret --passphrase-file words --remove"));

    sandbox.done(&call("signing-key --out south-signer"));
    let signed = "party join north south.1 -o north.2 --signer south-signer/signing.pub";
    sandbox.refused(&call(signed), &["south.1", "no signature"]);
    sandbox.done(&call("sign south.1 --key south-signer/signing.key"));
    sandbox.done(&call("verify south.1 --signer south-signer/signing.pub"));
    sandbox.done(&call(signed));
    assert!(sandbox.exists("north.2"));
}

#[test]
fn parameters_are_chosen_for_parties() {
    let sandbox = Sandbox::new("party-parameters");
    let choose = "params choose --depth 0 --modulus 65537 --sum 2 --slots 1024";
    sandbox.done(&call(&format!("{choose} --parties 2 --results 100 -o joint.params")));
    let session = "party session joint.params --names north,south -o session --results";
    let output = sandbox.strict_command(&call(&format!("{session} 100"))).output().expect("the tool starts");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let facts = sandbox.json(&["inspect", "session"]);
    assert_eq!(facts["layout"]["names"], serde_json::json!(["north", "south"]));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.starts_with(&format!("session {}\n", facts["layout"]["session"].as_str().expect("a digest"))),
        "{text}"
    );
    for wrong in ["--parties 2", "--results 100", "--parties 2 --results 9 --slot-degree 2"] {
        assert_eq!(sandbox.run(&call(&format!("{choose} {wrong}"))).status.code(), Some(2), "{wrong}");
    }
    sandbox.refused(&call(&format!("{choose} --parties 1 --results 100")), &["parties"]);
}

#[test]
fn some_parties_open_a_table_without_the_others() {
    let names = ["north", "south", "west"];
    let sandbox = with_keys("party-some", &names, "--results 8 --threshold 2");
    let share =
        |name: &str, among: &str| format!("party share {name} table.ct --among {among} --yes -o {name}.share --force");
    for [one, other] in [["north", "south"], ["west", "north"]] {
        let among = format!("{one},{other}");
        let text = sandbox.done(&call(&share(one, &among)));
        assert!(text.contains(&format!("together with  {one}, {other}")), "{text}");
        sandbox.done(&call(&share(other, &among)));
        sandbox.done(&call(&format!("party open session table.ct {one}.share {other}.share -o found.csv --force")));
        assert_eq!(sandbox.read("found.csv"), b"cases\n12\n");
    }
    sandbox.refused(&call("party share south table.ct --yes -o x"), &["the names of 2 of north, south, west"]);
    sandbox.refused(&call(&share("south", "north,west")), &["none of them is \"south\""]);
    // Shares for other parties that open together.
    sandbox.done(&call(&share("south", "south,west")));
    sandbox.refused(
        &call("party open session table.ct north.share south.share -o found.csv --force"),
        &["by south, west"],
    );
}
