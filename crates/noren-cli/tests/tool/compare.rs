//! The report of a comparison from its data, and what is refused.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// A record with the fields that all have, and more.
fn record(library: &str, suite: &str, op: &str, median_ns: f64, more: &Value) -> Value {
    let mut record = json!({
        "suite": suite, "op": op, "library": library, "version": "1.2", "n": 16384, "limbs": 8, "log_qp": 422.0,
        "special": 2, "dnum": 4, "slots": 128, "security": "128", "isa": "avx512", "threads": 1,
        "median_ns": median_ns, "mad_ns": 1.0, "reps": 5, "peak_rss_bytes": 64 << 20, "note": "",
    });
    let fields = record.as_object_mut().expect("an object");
    fields.extend(more.as_object().expect("an object").clone());
    record
}

/// The data of a comparison: a chain of two depths, products of two counts, a gate, and a client.
fn data() -> Value {
    let mut records = Vec::new();
    for (library, times) in [("noren", 1.0), ("openfhe", 12.0)] {
        for (depth, time) in [(2, 4e6), (10, 7e7)] {
            let more = json!({ "scheme": "bgv", "depth": depth, "log_q": 59.0 * f64::from(depth) });
            records.push(record(library, "chain", "chain", times * time, &more));
        }
        for (count, time) in [(2, 4e5), (100, 2e7)] {
            let more = json!({
                "scheme": "ckks", "way": "tree", "count": count, "log_q": 326.0, "depth": 7, "bootstraps": 0,
                "worst_bits": 24.6,
            });
            records.push(record(library, "product", "product", times * time, &more));
        }
        for op in ["keygen", "encode", "encrypt"] {
            records.push(record(library, "client", op, times * 2e6, &json!({})));
        }
        for op in ["secret_key", "server_key", "encrypt", "gate", "decrypt"] {
            let more = json!({ "workload": "BOOL", "batch": 1 });
            records.push(record(library, "tfhe", op, times * 3e6, &more));
        }
    }
    let row = json!({ "scheme": "tfhe", "way": "paper", "count": 20, "log_q": 64.0, "depth": 19, "bootstraps": 2052 });
    records.push(record("noren", "product", "product", 5.7e9, &row));
    let part = json!({ "part": "own", "set": "n16", "file_bytes": 3 << 20 });
    records.push(record("noren", "weak-client", "light_keys", 7e7, &part));
    json!({
        "format": "noren comparison", "version": 1, "noren": "0.1.0", "date": "2026-11-25",
        "machine": { "cpu": "A <fast> processor", "cores": 2, "memory_bytes": 16u64 << 30, "isa": "avx512" },
        "quick": true, "threads": [1], "seconds": 300.0,
        "libraries": [
            { "name": "openfhe", "version": "1.5.1", "absent": null },
            { "name": "lattigo", "version": null, "absent": "not built" },
        ],
        "left_out": [{ "library": "openfhe", "step": "product --count 40", "reason": "out of memory" }],
        "records": records,
    })
}

fn write(sandbox: &Sandbox, data: &Value) {
    sandbox.write("recorded.json", data.to_string().as_bytes());
}

#[test]
fn the_report_of_a_comparison_is_one_page_that_needs_nothing_else() {
    let sandbox = Sandbox::new("compare");
    write(&sandbox, &data());
    let summary = sandbox.json(&["compare", "--from", "recorded.json", "--out", "out"]);
    assert_eq!((&summary["records"], &summary["peers"]), (&26.into(), &json!(["openfhe"])));
    assert_eq!(summary["left_out"][0], "lattigo (not built)");
    let page = sandbox.text("out/report.html");
    // Nothing of the network, no script; names of others are no markup.
    for word in ["<script", "src=", "<link", "url(", "<fast>", "NaN"] {
        assert!(!page.contains(word), "{word}");
    }
    assert!(page.contains("A &lt;fast&gt; processor") && page.matches("<svg").count() >= 4);
    // Ours, the peer with its ratio, published figures, a time that follows from another, a model, a step that failed.
    let texts = [
        "4.00 ms",
        "48.0 ms",
        "12.0x",
        "590",
        "464 ms",
        "2^16, 1805, 32",
        "2^14, 326, 7, 0, 2^-25",
        "about 29.7 s",
        "a Raspberry Pi Zero 2 W: Cortex-A53 at 1 GHz",
        "model: costs of operations measured on Zen 4 with portable kernels, times",
        "measured in this run",
        "out of memory",
    ];
    for text in texts {
        assert!(page.contains(text), "{text}");
    }
    assert!(
        page.contains("16-bit integers of TFHE in noren in a row, about 29.7 s")
            && page.contains("OpenFHE 12.0 times as long")
    );
    // Each device has a row for each kind of work, which says what it rests on.
    let written: Value = serde_json::from_slice(&sandbox.read("out/data.json")).expect("JSON");
    let devices = written["devices"].as_array().expect("devices");
    let names: BTreeSet<&str> = devices.iter().filter_map(|row| row["name"].as_str()).collect();
    assert_eq!(names, BTreeSet::from(["server", "laptop", "phone", "browser", "pi4", "pi-zero"]));
    for row in devices {
        assert_eq!(
            row["basis"].as_str().map(|basis| basis.starts_with("model")),
            Some(row["name"] != "server"),
            "{row}"
        );
    }
    // The data that was written is read again, with the same report.
    sandbox.done(&["compare", "--from", "out/data.json", "--out", "again"]);
    assert_eq!(sandbox.text("again/report.html"), page);
    assert_eq!(sandbox.read("again/data.json"), sandbox.read("out/data.json"));
}

#[test]
fn an_earlier_report_is_replaced_only_by_force() {
    let sandbox = Sandbox::new("compare-force");
    write(&sandbox, &data());
    let call = ["compare", "--from", "recorded.json", "--out", "out"];
    sandbox.done(&call);
    sandbox.refused(&call, &["report.html", "exists", "--force"]);
    sandbox.done(&[&call[..], &["--force"]].concat());
    let names = std::fs::read_dir(sandbox.path("out")).expect("a directory");
    let names: BTreeSet<_> = names.map(|entry| entry.expect("an entry").file_name()).collect();
    assert_eq!(names, BTreeSet::from(["data.json".into(), "report.html".into()]));
}

#[test]
fn data_that_are_none_are_refused_and_leave_nothing() {
    let sandbox = Sandbox::new("compare-refused");
    let refuse = |change: &dyn Fn(&mut Value), words: &[&str]| {
        let mut wrong = data();
        change(&mut wrong);
        write(&sandbox, &wrong);
        sandbox.refused(&["compare", "--from", "recorded.json", "--out", "out"], words);
        assert!(!sandbox.exists("out"), "{words:?}");
    };
    refuse(&|data| data["format"] = "measurements".into(), &["format", "measurements", "noren comparison"]);
    refuse(&|data| data["version"] = 2.into(), &["version 2", "version 1"]);
    refuse(&|data| data["records"] = json!([]), &["records", "none"]);
    refuse(&|data| data["threads"] = json!([]), &["records", "threads"]);
    refuse(&|data| data["records"][0]["n"] = "many".into(), &["recorded.json", "many", "data.json of noren compare"]);
    refuse(&|data| *data = Value::Null, &["recorded.json", "data.json of noren compare"]);
    sandbox.refused(&["compare", "--quick", "--peers", "nowhere"], &["--peers", "no directory"]);
    sandbox.refused(&["compare", "--from", "nowhere"], &["nowhere"]);
    assert_eq!(sandbox.run(&["compare", "--quick", "--from", "recorded.json"]).status.code(), Some(2));
}

#[test]
fn wrong_results_and_strange_numbers_leave_cells_empty() {
    let sandbox = Sandbox::new("compare-empty");
    let mut data = data();
    for (index, record) in data["records"].as_array_mut().expect("records").iter_mut().enumerate() {
        match index % 3 {
            0 => record["median_ns"] = Value::Null,
            1 => record["median_ns"] = json!(-1.0),
            _ => record["peak_rss_bytes"] = Value::Null,
        }
        record["count"] = json!("many");
        record["depth"] = json!(-3);
    }
    write(&sandbox, &data);
    sandbox.done(&["compare", "--from", "recorded.json", "--out", "out"]);
    let page = sandbox.text("out/report.html");
    assert!(!page.contains("NaN") && !page.contains("inf "), "{page}");
}
