//! The work of a client: table 5 of the comparison.

use crate::compare::data::Data;
use crate::compare::published::published;
use crate::compare::report::{Block, Section, Table};
use crate::compare::select::{Selection, bytes, duration, number, power, title};
use crate::measure::Record;

/// A client measured here has one thread.
const THREADS: usize = 1;
/// The work of a client of CKKS, once and for a message.
const CKKS_OPS: [&str; 3] = ["keygen", "encode", "encrypt"];
/// Parts of the suite `weak-client`, and what they are.
pub(super) const PARTS: [(&str, &str); 4] = [
    ("own", "noren: light keys of TFHE, and a message of 2^15 reals under the secret key of CKKS"),
    ("public", "noren: a public key of CKKS, and a message of 2^15 reals under it"),
    ("full", "noren: keys of TFHE that travel whole"),
    ("all", "noren: all keys of bootstrapping, switching and TFHE"),
];

/// The section.
pub(super) fn section(data: &Data) -> Section {
    let blocks = vec![
        Block::Text(
            "Keys, encoding and encryption together, on one thread. In CKKS a client makes a secret and a public key and encrypts \
             one message of all slots; in TFHE it makes the keys of the server and encrypts a bit."
                .to_owned(),
        ),
        Block::Table(published_table()),
        Block::Table(totals(data)),
        Block::Text(
            "A client of noren need not make the keys of TFHE: light keys grow on the server, and a stronger device of the same \
             owner makes those of bootstrapping from a seed."
                .to_owned(),
        ),
        Block::Table(parts(data)),
        Block::Text(
            "Devices are those of noren advise --client: operations are counted, and each costs what it costs on a measured \
             machine with the same kernels, times a factor. The last column says what was measured and what is a model."
                .to_owned(),
        ),
        devices(data),
    ];
    Section { id: "clients", heading: "The work of a client (table 5)".to_owned(), blocks }
}

fn published_table() -> Table {
    let header = ["scheme", "library", "server", "Raspberry Pi 4", "Raspberry Pi Zero 2 W"];
    let mut table = Table::new("Published times of keys, encoding and encryption (table 5)", header);
    for row in &published().clients {
        let times = row.milliseconds.map(|ms| duration(Some(ms * 1e6)));
        table.row([row.scheme.to_uppercase(), row.library.clone()].into_iter().chain(times));
    }
    table
}

/// The sum of operations of the same kind; none if one is missing.
fn sum(selection: &Selection<'_>, ops: &[&str]) -> Option<f64> {
    ops.iter().map(|op| selection.op(op).time()).sum()
}

fn totals(data: &Data) -> Table {
    let header = ["scheme", "library", "parameters", "keys, encoding, encryption", "peak memory"];
    let mut table = Table::new("Times measured here", header);
    let rings = Selection::of(&data.records, "client", THREADS);
    for n in rings.degrees() {
        for library in rings.degree(n).libraries() {
            let own = rings.degree(n).library(&library);
            let time = duration(sum(&own, &CKKS_OPS));
            table.row([
                "CKKS".to_owned(),
                title(&library).to_owned(),
                format!("N = {}", power(n)),
                time,
                bytes(own.peak()),
            ]);
        }
    }
    let bits = Selection::of(&data.records, "tfhe", THREADS).with("workload", "BOOL");
    let keys = Selection::of(&data.records, "tfhe", THREADS).with("workload", "client-BOOL");
    for library in keys.libraries() {
        let encrypt = bits.library(&library).op("encrypt").time();
        let made = keys.library(&library);
        let time = made.op("client_keys").time().zip(encrypt).map(|(keys, encrypt)| keys + encrypt);
        let parameters = "bits, keys as they are sent".to_owned();
        table.row(["TFHE".to_owned(), title(&library).to_owned(), parameters, duration(time), bytes(made.peak())]);
    }
    table
}

/// The time of all that a device does once, of one message, and what it sends.
pub(super) fn part<'a>(data: &'a Data, name: &str) -> Option<(f64, Selection<'a>)> {
    let own = Selection::of(&data.records, "weak-client", THREADS).with("part", name);
    // Of operations that are repeated the first one counts, with the tables that it makes; it holds the encoding.
    let spent = |record: &&Record| match &*record.op {
        "encode" => Some(0.0),
        _ => number(record, "first_ns").or(record.median_ns),
    };
    let time: Option<f64> = own.records().iter().map(spent).sum();
    time.filter(|_| !own.is_empty()).map(|time| (time, own))
}

fn parts(data: &Data) -> Table {
    let mut table = Table::new("What a client of noren makes", ["device makes", "time", "peak memory", "sends"]);
    for (name, what) in PARTS {
        let Some((time, own)) = part(data, name) else { continue };
        let sent: f64 = own.records().iter().filter_map(|record| number(record, "file_bytes")).sum();
        table.row([what.to_owned(), duration(Some(time)), bytes(own.peak()), bytes(Some(sent))]);
    }
    table
}

/// All devices: this machine as it was measured, the others by models.
fn devices(data: &Data) -> Block {
    let header = ["device", "kernels", "memory", "work", "time", "of memory", "measured, or a model"];
    let mut table = Table::new("Clients of noren on devices (table 5)", header);
    let here = data.machine.cpu.as_deref().unwrap_or("this machine");
    let memory = bytes(data.machine.memory_bytes.map(|bytes| bytes as f64));
    for (work, time, peak) in measured(data) {
        let basis = "measured in this run".to_owned();
        let isa = data.machine.isa.clone();
        table.row([here.to_owned(), isa, memory.clone(), work, duration(Some(time)), bytes(peak), basis]);
    }
    for row in &data.devices {
        let [memory, peak] = [row.memory_bytes, row.peak_bytes].map(|count| bytes(count.map(|count| count as f64)));
        let time = duration(Some(row.milliseconds * 1e6));
        table.row([row.device.clone(), row.kernels.clone(), memory, row.work.clone(), time, peak, row.basis.clone()]);
    }
    Block::Table(table)
}

/// The measurements of a client of noren on this machine: the operation, nanoseconds, the peak memory of the process.
fn measured(data: &Data) -> Vec<(String, f64, Option<f64>)> {
    let rings = Selection::of(&data.records, "client", THREADS).library("noren");
    let numbers = rings.degrees().into_iter().filter_map(|n| {
        let own = rings.degree(n);
        let work = format!("CKKS, N = {}: keys, encoding, encryption", power(n));
        sum(&own, &CKKS_OPS).map(|time| (work, time, own.peak()))
    });
    let [bits, keys] = ["BOOL", "client-BOOL"]
        .map(|name| Selection::of(&data.records, "tfhe", THREADS).library("noren").with("workload", name));
    let time = keys.op("client_keys").time().zip(bits.op("encrypt").time());
    let bits = time.map(|(keys_time, encrypt)| {
        ("TFHE: keys of bits, encryption of one".to_owned(), keys_time + encrypt, keys.peak())
    });
    numbers.chain(bits).collect()
}
