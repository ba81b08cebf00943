//! Records that benchmarks print, in the schema of all libraries.

use serde_json::Value;

/// The records of what a program printed.
pub fn records(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// A record of a right result has all fields, and a time.
pub fn check(record: &Value) {
    for field in ["suite", "op", "library", "version", "security", "isa", "note"] {
        assert!(record[field].is_string(), "{field} in {record}");
    }
    for field in ["n", "limbs", "special", "dnum", "slots", "threads", "reps"] {
        assert!(record[field].is_u64(), "{field} in {record}");
    }
    let positive = |field: &str| record[field].as_f64().is_some_and(|value| value > 0.0);
    assert!(positive("median_ns") && positive("log_qp"), "{record}");
    assert!(record["mad_ns"].as_f64() <= record["median_ns"].as_f64(), "{record}");
    // An operation that takes seconds is measured once.
    let slow = record["reps"] == 1 && record["median_ns"].as_f64() >= Some(1e9);
    assert!(record["reps"].as_u64() >= Some(5) || slow, "{record}");
    assert_eq!(record["library"], "noren");
}

/// The operations of the records of which the fields have these values.
pub fn ops<'a>(records: &'a [Value], fields: &[(&str, Value)]) -> Vec<&'a str> {
    let found = records.iter().filter(|record| fields.iter().all(|(name, value)| record[name] == *value));
    found.filter_map(|record| record["op"].as_str()).collect()
}
