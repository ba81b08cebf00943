//! Bytes as the JSON of a graph of the compiler.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::graph::Graph;

fuzz_target!(|bytes: &[u8]| {
    let Ok(json) = std::str::from_utf8(bytes) else { return };
    let Ok(graph) = Graph::from_json(json) else { return };
    let again = Graph::from_json(&graph.to_json()).expect("what was written is read");
    assert_eq!(again.to_json(), graph.to_json());
    assert_eq!(graph.consumers().len(), graph.nodes().len());
});
