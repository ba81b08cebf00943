//! Conclusions from the figures: which scheme and library to take for which computation and client.

use crate::compare::data::Data;
use crate::compare::report::{Block, Section};
use crate::compare::sections::chains::{self, SCHEMES};
use crate::compare::sections::clients::part;
use crate::compare::sections::reductions::kinds;
use crate::compare::select::{Selection, bytes, digits, duration, number, title, whole};
use crate::describe::words;

/// How many gates a batch has.
const BATCH: usize = 64;

/// The section.
pub(super) fn section(data: &Data) -> Section {
    let threads = data.threads.first().copied().unwrap_or(1);
    let chains = chains::chains(data, threads);
    let mut found = Vec::new();
    found.extend(chain(&chains, &["bgv", "bfv"], "Whole numbers modulo 65537"));
    found.extend(chain(&chains, &["ckks"], "Real numbers"));
    found.extend(memory(&chains));
    found.extend(reduction(data, threads, "product", "The product of"));
    found.extend(reduction(data, threads, "inner-product", "The inner product of two vectors of"));
    found.extend(gates(data, threads));
    found.extend(client(data));
    let mut blocks =
        vec![Block::Text(format!("From the figures of this run, with {}:", words::count(threads, "thread")))];
    blocks.push(Block::List(found));
    blocks.push(Block::Text("Which scheme, whatever the figures:".to_owned()));
    blocks.push(Block::List(RULES.map(str::to_owned).to_vec()));
    Section { id: "conclusions", heading: "Which scheme and library to take".to_owned(), blocks }
}

/// The operations that schemes have, and those that they lack.
const RULES: [&str; 6] = [
    "Exact integers of few products, many at a time: BGV, or BFV where the noise should need no attention. Of comparisons and \
     other functions they have only lookups of whole tables.",
    "Real numbers with a known error and a known range: CKKS, without bootstrapping while the depth allows it. Write products of \
     many numbers as trees: their depth is the logarithm of the number.",
    "Products and inner products of many integers that must be exact: BGV or BFV where the modulus holds the results, else TFHE, \
     which takes thousands of times as long.",
    "Few values, comparisons, bits, or a depth that nobody knows: TFHE, in which every operation is followed by a bootstrap anyway.",
    "Long linear parts with a few comparisons: CKKS, with switching to TFHE for the comparisons.",
    "A client with little memory or a slow processor: encrypt in CKKS, or with light keys of TFHE, and let the server switch or \
     expand; whole keys of TFHE are for stronger clients.",
];

/// The fastest chain of some schemes, and the fastest of another library.
fn chain(all: &Selection<'_>, schemes: &[&str], numbers: &str) -> Option<String> {
    let name = |scheme: &str| SCHEMES.iter().find(|(known, _)| *known == scheme).map_or("", |(_, name)| *name);
    // For each depth the best of noren and of the others: time, scheme, library.
    let best = |depth: usize, ours: bool| {
        let all = all.at("depth", depth);
        let each = schemes.iter().flat_map(|scheme| {
            let of = all.with("scheme", scheme);
            let libraries = of.libraries().into_iter().filter(move |library| (library == "noren") == ours);
            libraries.filter_map(move |library| Some((of.library(&library).time()?, *scheme, library)))
        });
        each.min_by(|a, b| a.0.total_cmp(&b.0))
    };
    let depths: Vec<usize> = all.values("depth").into_iter().filter(|&depth| best(depth, true).is_some()).collect();
    let (first, last) = (*depths.first()?, *depths.last()?);
    let [shallow, deep] = [first, last].map(|depth| best(depth, true));
    let ((least, scheme, _), (most, at_depth, _)) = (shallow?, deep?);
    let mut text = format!(
        "{numbers}, {first} to {last} products that follow one another: noren takes {} ({}) to {} ({})",
        duration(Some(least)),
        name(scheme),
        duration(Some(most)),
        name(at_depth)
    );
    let pairs: Vec<_> = depths.iter().filter_map(|&depth| Some((best(depth, true)?, best(depth, false)?))).collect();
    let quotients: Vec<f64> = pairs.iter().map(|(ours, theirs)| theirs.0 / ours.0).collect();
    let (low, high) =
        (quotients.iter().copied().fold(f64::INFINITY, f64::min), quotients.iter().copied().fold(0.0, f64::max));
    match pairs.last() {
        None => text.push_str("; no other library was measured."),
        Some((_, (_, scheme, library))) => {
            let names = format!("{} of {}", name(scheme), title(library));
            let verdict = if low > 1.0 { "" } else { " (where it is below 1, the other library is faster)" };
            text.push_str(&format!(
                "; the fastest of the other libraries, at depth {last} {names}, takes {} to {} times as long{verdict}.",
                digits(low),
                digits(high)
            ));
        }
    }
    Some(text)
}

/// The least memory of the deepest chains.
fn memory(all: &Selection<'_>) -> Option<String> {
    let depth = *all.values("depth").last()?;
    let each = SCHEMES.iter().filter_map(|(scheme, name)| {
        let of = all.at("depth", depth).with("scheme", scheme);
        let peaks = of.libraries().into_iter().filter_map(|library| Some((of.library(&library).peak()?, library)));
        let (peak, library) = peaks.min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(format!("{name}: {} with {}", title(&library), bytes(Some(peak))))
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| format!("The least memory at depth {depth}, keys included: {}.", each.join("; ")))
}

/// The fastest way to reduce the most numbers, and the times of others.
fn reduction(data: &Data, threads: usize, suite: &str, what: &str) -> Option<String> {
    let all = Selection::of(&data.records, suite, threads);
    let count = *all.values("count").last()?;
    let timed = kinds(&all).into_iter().filter_map(|kind| Some((kind.time(&all, suite, count)?, kind)));
    let mut timed: Vec<_> = timed.collect();
    timed.sort_by(|((a, _), _), ((b, _), _)| a.total_cmp(b));
    let described = timed.iter().map(|&((time, scaled), ref kind)| {
        let record = kind.of(&all).at("count", count).fastest();
        let bootstraps = record.and_then(|record| whole(record, "bootstraps"));
        let bootstraps = bootstraps.filter(|&count| kind.scheme == "ckks" && count > 0);
        let bootstraps = bootstraps.map_or_else(String::new, |count| format!(" with {count} bootstraps"));
        let bits = record.and_then(|record| number(record, "worst_bits"));
        let precision = bits.map_or_else(String::new, |bits| format!(" (error 2^-{bits:.0})"));
        let about = if scaled { "about " } else { "" };
        let way = if kind.way == "paper" { "in a row" } else { "as a tree" };
        let scheme = if kind.scheme == "tfhe" { "16-bit integers of TFHE" } else { "CKKS" };
        let library = title(&kind.library);
        format!("{scheme} in {library} {way}{bootstraps}, {about}{}{precision}", duration(Some(time)))
    });
    let described: Vec<String> = described.collect();
    let (fastest, others) = described.split_first()?;
    let rest = if others.is_empty() { String::new() } else { format!(" After it: {}.", others.join("; ")) };
    Some(format!("{what} {count} numbers: the fastest is {fastest}.{rest}"))
}

/// Gates one by one and in a batch.
fn gates(data: &Data, threads: usize) -> Option<String> {
    let all = Selection::of(&data.records, "tfhe", threads).with("workload", "BOOL").op("gate");
    let single = |library: &str| all.library(library).at("batch", 1).time();
    let ours = single("noren")?;
    let libraries = all.libraries().into_iter().filter(|library| library != "noren");
    let others: Vec<String> = libraries
        .filter_map(|library| Some(format!("{} {} times as long", title(&library), digits(single(&library)? / ours))))
        .collect();
    let others = if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
    let many = all.library("noren").at("batch", BATCH).time();
    let many = many.map_or_else(String::new, |time| format!(", each of {BATCH} together {}", duration(Some(time))));
    Some(format!("Bits and gates: TFHE of noren, one gate in {}{others}{many}.", duration(Some(ours))))
}

/// The work of a client.
fn client(data: &Data) -> Option<String> {
    let (own, made) = part(data, "own")?;
    let sent = |selection: &Selection<'_>| {
        bytes(Some(selection.records().iter().filter_map(|record| number(record, "file_bytes")).sum()))
    };
    let mut text = format!(
        "A weak client: light keys and encryption in CKKS, in {}, {} of memory and {} to send",
        duration(Some(own)),
        bytes(made.peak()),
        sent(&made)
    );
    if let Some((full, keys)) = part(data, "full") {
        text.push_str(&format!("; whole keys of TFHE take {} and {} to send", duration(Some(full)), sent(&keys)));
    }
    Some(text + ".")
}
