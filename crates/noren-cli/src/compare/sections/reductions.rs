//! Products and inner products of n numbers in CKKS and TFHE: figures 2 and 3 and table 3 of the comparison.

use crate::compare::axis::Unit;
use crate::compare::data::Data;
use crate::compare::plot::{Figure, Line, Plot, Style};
use crate::compare::published::{Parameters, published};
use crate::compare::report::{Block, Section, Table};
use crate::compare::select::{Selection, bytes, duration, number, power, title, whole};
use crate::describe::words;

/// One line of a plot: a scheme, a library and an order of operations.
#[derive(Clone)]
pub(super) struct Kind {
    pub(super) scheme: &'static str,
    pub(super) library: String,
    pub(super) way: &'static str,
}

/// The schemes, and their names.
const SCHEMES: [(&str, &str); 2] = [("ckks", "CKKS"), ("tfhe", "TFHE")];
/// The orders of operations, and what they are called.
const WAYS: [(&str, &str); 2] = [("tree", "tree"), ("paper", "in a row")];

/// The section of products.
pub(super) fn products(data: &Data) -> Section {
    let intro = "The product of n encrypted numbers. In a row: n - 1 products one after the other, as the comparison computes them, \
                 in CKKS with a rotation for each and a bootstrap where the levels end. As a tree: in CKKS a rotation and a product \
                 for each doubling, in TFHE all products of a layer together. Numbers are real, of absolute values up to 1 and with \
                 an error below 2^-20 in CKKS, and integers of 16 bits, whose products wrap around, in TFHE.";
    let mut blocks = vec![Block::Text(intro.to_owned())];
    blocks.extend(blocks_of(data, "product", "Product of n numbers", "(figure 2)"));
    blocks.push(Block::Table(parameters(data, "product", &published().product)));
    blocks.push(Block::Text(missing()));
    Section { id: "product", heading: "The product of n numbers (figure 2, table 3)".to_owned(), blocks }
}

/// The section of inner products.
pub(super) fn inner_products(data: &Data) -> Section {
    let intro = "The inner product of two encrypted vectors of n numbers. In CKKS one product of all slots, and their sum: in a row \
                 with a rotation for each doubling, as a tree with several doublings at a time, which share their work. In TFHE n \
                 products and n - 1 additions: in a row one by one, as a tree all products together and one sum of all.";
    let mut blocks = vec![Block::Text(intro.to_owned())];
    blocks.extend(blocks_of(data, "inner-product", "Inner product of length n", "(figure 3)"));
    blocks.push(Block::Table(parameters(data, "inner-product", &published().inner_product)));
    blocks.push(Block::Text(missing()));
    Section { id: "inner-product", heading: "The inner product of length n (figure 3, table 3)".to_owned(), blocks }
}

/// Which cells no peer fills.
fn missing() -> String {
    "Empty cells: OpenFHE has no integers of several bits in TFHE, TFHE-rs no CKKS, and of inner products OpenFHE has one way. \
     Lattigo and TenSEAL have no drivers for products and inner products, because the comparison measured OpenFHE alone in CKKS; \
     TFHEpp, which it measured in TFHE, is no package of a registry and has no integers. A time after \"about\" was not measured: it \
     is that of the largest measured n, times the quotient of the numbers of products."
        .to_owned()
}

/// The kinds that were measured, in the order of columns.
pub(super) fn kinds(all: &Selection<'_>) -> Vec<Kind> {
    let mut kinds = Vec::new();
    for (scheme, _) in SCHEMES {
        for library in all.with("scheme", scheme).libraries() {
            for (way, _) in WAYS {
                let kind = Kind { scheme, library: library.clone(), way };
                if !kind.of(all).is_empty() {
                    kinds.push(kind);
                }
            }
        }
    }
    kinds
}

impl Kind {
    /// Its records.
    pub(super) fn of<'a>(&self, all: &Selection<'a>) -> Selection<'a> {
        all.with("scheme", self.scheme).library(&self.library).with("way", self.way)
    }

    /// The time for n numbers; that of TFHE follows from fewer where these alone were measured. The second is whether it does.
    pub(super) fn time(&self, all: &Selection<'_>, suite: &str, count: usize) -> Option<(f64, bool)> {
        let own = self.of(all);
        if let Some(time) = own.at("count", count).time() {
            return Some((time, false));
        }
        let measured = own.values("count").into_iter().filter(|&fewer| fewer < count);
        let (fewer, time) = measured.filter_map(|fewer| Some((fewer, own.at("count", fewer).time()?))).next_back()?;
        let products = |count: usize| if suite == "product" { count - 1 } else { count } as f64;
        (self.scheme == "tfhe" && fewer > 2).then(|| (time * products(count) / products(fewer), true))
    }

    fn name(&self) -> String {
        let of = |names: &[(&str, &'static str)], wanted: &str| {
            names.iter().find(|(name, _)| *name == wanted).map_or("", |(_, title)| *title)
        };
        format!("{}, {}, {}", of(&SCHEMES, self.scheme), title(&self.library), of(&WAYS, self.way))
    }
}

/// Plots and tables of a suite.
fn blocks_of(data: &Data, suite: &str, what: &str, figure: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    for &threads in &data.threads {
        let all = Selection::of(&data.records, suite, threads);
        let kinds = kinds(&all);
        if kinds.is_empty() {
            continue;
        }
        if Some(&threads) == data.threads.first() {
            let plots = [(Unit::Time, "time"), (Unit::Bytes, "peak memory")];
            let plots = plots.map(|(unit, quantity)| Plot {
                title: format!("{what}: {quantity} {figure}"),
                figure: Figure { across: "n".to_owned(), unit, lines: lines(&all, &kinds, unit) },
            });
            blocks.push(Block::Plots(plots.into_iter().collect()));
        }
        let counts = all.values("count");
        let header = || std::iter::once("n".to_owned()).chain(kinds.iter().map(Kind::name));
        let mut times = Table::new(format!("Time, {}", words::count(threads, "thread")), header());
        let mut memory = Table::new(format!("Peak memory with keys, {}", words::count(threads, "thread")), header());
        for count in counts {
            let time = |kind: &Kind| match kind.time(&all, suite, count) {
                Some((time, true)) => format!("about {}", duration(Some(time))),
                time => duration(time.map(|(time, _)| time)),
            };
            times.row(std::iter::once(count.to_string()).chain(kinds.iter().map(time)));
            let peak = |kind: &Kind| bytes(kind.of(&all).at("count", count).peak());
            memory.row(std::iter::once(count.to_string()).chain(kinds.iter().map(peak)));
        }
        blocks.extend([Block::Table(times), Block::Table(memory)]);
    }
    blocks
}

/// A line for each kind: a colour for each scheme and library, dashes for the way of the comparison.
fn lines(all: &Selection<'_>, kinds: &[Kind], unit: Unit) -> Vec<Line> {
    let mut colours: Vec<(&str, &str)> = Vec::new();
    let mut lines = Vec::new();
    for kind in kinds {
        let wanted = (kind.scheme, kind.library.as_str());
        if !colours.contains(&wanted) {
            colours.push(wanted);
        }
        let colour = colours.iter().position(|known| *known == wanted).unwrap_or_default();
        let own = kind.of(all);
        let value = |count: usize| {
            let at = own.at("count", count);
            Some((count as f64, if unit == Unit::Time { at.time()? } else { at.peak()? }))
        };
        let points = own.values("count").into_iter().filter_map(value).collect();
        lines.push(Line { name: kind.name(), style: Style { colour, dashed: kind.way == "paper" }, points });
    }
    lines
}

/// Degrees, moduli, depths, bootstraps and precision in CKKS, published and measured.
fn parameters(data: &Data, suite: &str, published: &[Parameters]) -> Table {
    let all = Selection::of(&data.records, suite, data.threads.first().copied().unwrap_or(1)).with("scheme", "ckks");
    let kinds = kinds(&all);
    let header = ["n", "published: N, log q, depth"].map(str::to_owned);
    let columns = kinds.iter().map(|kind| format!("{}: N, log q, depth, bootstraps, precision", kind.name()));
    let mut table = Table::new("Parameters of CKKS (table 3)", header.into_iter().chain(columns));
    for Parameters { count, n, log_q, depth } in published {
        let theirs = format!("{}, {log_q:.0}, {depth}", power(*n));
        let of = |kind: &Kind| {
            let Some(record) = kind.of(&all).at("count", *count).fastest() else { return String::new() };
            let log_q = number(record, "log_q").unwrap_or_default();
            let [depth, bootstraps] = ["depth", "bootstraps"].map(|field| whole(record, field).unwrap_or_default());
            // The drivers of peers tell right from wrong, and no precision.
            let bits = number(record, "worst_bits").map_or_else(|| "-".to_owned(), |bits| format!("2^-{bits:.0}"));
            format!("{}, {log_q:.0}, {depth}, {bootstraps}, {bits}", power(record.n))
        };
        table.row([count.to_string(), theirs].into_iter().chain(kinds.iter().map(of)));
    }
    table
}
