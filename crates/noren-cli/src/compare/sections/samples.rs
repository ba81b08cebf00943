//! Keys, encryption and gates of TFHE: tables 2 and 4 of the comparison.

use crate::compare::data::Data;
use crate::compare::published::published;
use crate::compare::report::{Block, Section, Table};
use crate::compare::select::{Selection, duration, text, title};
use crate::describe::words::count;

/// Operations of the suite `tfhe`, and their names in table 4.
const OPS: [(&str, &str); 5] = [
    ("secret_key", "secret key"),
    ("server_key", "server (gate) key"),
    ("encrypt", "encryption"),
    ("gate", "gate (bootstrapping)"),
    ("decrypt", "decryption"),
];
/// The sets of bits: gates of the second fail far more seldom.
const SETS: [&str; 2] = ["BOOL", "BOOL_128"];
/// How many gates a batch has.
const BATCH: usize = 64;

/// The section.
pub(super) fn section(data: &Data) -> Section {
    let mut blocks = vec![Block::Text(
        "Bits under TFHE: the keys of a client and of its server, and one gate, which is a bootstrap. Libraries take their own \
         sets of the same security."
            .to_owned(),
    )];
    let header = ["library", "parameters"].into_iter().chain(OPS.map(|(_, name)| name)).chain(["gate, of 64"]);
    let mut table = Table::new("Times of TFHE (table 4)", header);
    for row in &published().bits {
        let times = OPS.map(|(op, _)| duration(row.milliseconds.get(op).map(|ms| ms * 1e6)));
        let start = [format!("{}, published", row.library), row.parameters.clone()];
        table.row(start.into_iter().chain(times).chain([String::new()]));
    }
    for &threads in &data.threads {
        let all = Selection::of(&data.records, "tfhe", threads);
        for set in SETS {
            let of = all.with("workload", set);
            for library in of.libraries() {
                let own = of.library(&library);
                let times = OPS.map(|(op, _)| duration(own.op(op).at("batch", 1).time()));
                let many = duration(own.op("gate").at("batch", BATCH).time());
                let theirs = own.op("gate").fastest().and_then(|record| text(record, "set"));
                let start =
                    [title(&library).to_owned(), format!("{}; {}", theirs.unwrap_or(set), count(threads, "thread"))];
                table.row(start.into_iter().chain(times).chain([many]));
            }
        }
    }
    blocks.push(Block::Table(table));
    blocks.push(Block::Text(
        "The time of a gate of 64 is that of one of 64 gates that are computed together. OpenFHE has no batches; TFHEpp has no \
         driver here, because it is no package of a registry."
            .to_owned(),
    ));
    Section { id: "samples", heading: "TFHE: keys and gates (tables 2 and 4)".to_owned(), blocks }
}
