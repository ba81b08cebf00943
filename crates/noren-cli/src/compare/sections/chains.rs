//! Products that follow one another in BFV, BGV and CKKS: figure 1 and table 1 of the comparison.

use crate::compare::axis::Unit;
use crate::compare::data::Data;
use crate::compare::plot::{Figure, Line, Plot, Style};
use crate::compare::published::published;
use crate::compare::report::{Block, Section, Table};
use crate::compare::select::{Selection, bytes, duration, number, power, ratio, title};
use crate::describe::words::count;

/// The schemes, and their names.
pub(super) const SCHEMES: [(&str, &str); 3] = [("bfv", "BFV"), ("bgv", "BGV"), ("ckks", "CKKS")];

/// The section.
pub(super) fn section(data: &Data) -> Section {
    let mut blocks = vec![Block::Text(
        "A ciphertext is multiplied again and again with a fresh one, as often as the parameters allow: N = 2^15 and t = 65537 for \
         BFV and BGV, N = 2^16 and all 2^15 slots for CKKS."
            .to_owned(),
    )];
    for &threads in &data.threads {
        let all = chains(data, threads);
        if all.is_empty() {
            continue;
        }
        if Some(&threads) == data.threads.first() {
            let pair =
                |(scheme, name)| [Unit::Time, Unit::Bytes].map(|unit| plot(&all.with("scheme", scheme), name, unit));
            blocks.push(Block::Plots(SCHEMES.into_iter().flat_map(pair).collect()));
        }
        blocks.extend(SCHEMES.map(|(scheme, name)| Block::Table(times(&all.with("scheme", scheme), name, threads))));
    }
    let first = data.threads.first().copied().unwrap_or(1);
    blocks.push(Block::Table(moduli(&chains(data, first))));
    Section { id: "chains", heading: "Chains of multiplications (figure 1, table 1)".to_owned(), blocks }
}

/// The chains by a fresh ciphertext.
pub(super) fn chains(data: &Data, threads: usize) -> Selection<'_> {
    Selection::of(&data.records, "chain", threads).op("chain")
}

fn plot(chains: &Selection<'_>, name: &str, unit: Unit) -> Plot {
    let line = |(colour, library): (usize, String)| {
        let own = chains.library(&library);
        let value = |depth: usize| {
            let at = own.at("depth", depth);
            Some((depth as f64, if unit == Unit::Time { at.time()? } else { at.peak()? }))
        };
        let points = own.values("depth").into_iter().filter_map(value).collect();
        Line { name: title(&library).to_owned(), style: Style { colour, dashed: false }, points }
    };
    let lines = chains.libraries().into_iter().enumerate().map(line).collect();
    let what = if unit == Unit::Time { "time" } else { "peak memory" };
    let figure = Figure { across: "products that follow one another".to_owned(), unit, lines };
    Plot { title: format!("{name}: {what} of a chain"), figure }
}

fn times(chains: &Selection<'_>, name: &str, threads: usize) -> Table {
    let libraries = chains.libraries();
    let mut header = vec!["depth".to_owned()];
    for library in &libraries {
        header.push(title(library).to_owned());
        if library != "noren" {
            header.push("/ noren".to_owned());
        }
    }
    header.extend(libraries.iter().map(|library| format!("memory, {}", title(library))));
    let mut table = Table::new(format!("{name}, {}", count(threads, "thread")), header);
    for depth in chains.values("depth") {
        let at = |library: &str| chains.at("depth", depth).library(library);
        let ours = at("noren").time();
        let mut row = vec![depth.to_string()];
        for library in &libraries {
            let time = at(library).time();
            row.push(duration(time));
            if library != "noren" {
                row.push(ratio(time, ours));
            }
        }
        row.extend(libraries.iter().map(|library| bytes(at(library).peak())));
        table.row(row);
    }
    table
}

/// The bits of moduli, published and measured.
fn moduli(chains: &Selection<'_>) -> Table {
    let chain = &published().chain;
    let depths = chain.depths.iter().map(|depth| format!("depth {depth}"));
    let header = ["scheme", "library", "N"].map(str::to_owned).into_iter().chain(depths);
    let mut table = Table::new("Bits of the ciphertext modulus q (table 1)", header);
    for (scheme, name) in SCHEMES {
        for row in chain.log_q.iter().filter(|row| row.scheme == scheme) {
            let bits = row.bits.iter().map(|bits| format!("{bits:.0}"));
            let library = format!("{}, published", row.library);
            table.row([name.to_owned(), library, power(row.n)].into_iter().chain(bits));
        }
        let of = chains.with("scheme", scheme);
        for library in of.libraries() {
            let own = of.library(&library);
            let bits = |depth: &usize| {
                let record = own.at("depth", *depth).fastest();
                record.and_then(|record| number(record, "log_q")).map_or_else(String::new, |bits| format!("{bits:.0}"))
            };
            let degrees: Vec<String> = own.degrees().into_iter().map(power).collect();
            let start = [name.to_owned(), title(&library).to_owned(), degrees.join(", ")];
            table.row(start.into_iter().chain(chain.depths.iter().map(bits)));
        }
    }
    table
}
