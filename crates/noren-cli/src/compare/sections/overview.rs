//! The report as a whole: what was compared, where and how, and the sections in their order.

use crate::compare::data::Data;
use crate::compare::published::published;
use crate::compare::report::{Block, ComparisonReport, Section};
use crate::compare::sections::{chains, clients, conclusions, reductions, samples};
use crate::compare::select::{bytes, title};
use crate::describe::words::count;

/// The report of a comparison.
pub(in crate::compare) fn report(data: &Data) -> ComparisonReport {
    let sections = vec![
        conclusions::section(data),
        chains::section(data),
        samples::section(data),
        reductions::products(data),
        reductions::inner_products(data),
        clients::section(data),
        method(data),
    ];
    ComparisonReport {
        title: "Schemes and libraries for computing on encrypted numbers".to_owned(),
        facts: facts(data),
        sections,
    }
}

fn facts(data: &Data) -> Vec<(String, String)> {
    let machine = &data.machine;
    let cpu = machine.cpu.as_deref().unwrap_or("unknown processor");
    let memory = machine.memory_bytes.map(|bytes| bytes as f64);
    let threads: Vec<String> = data.threads.iter().map(|&threads| count(threads, "thread")).collect();
    let peers = data.libraries.iter().map(|library| match (&library.version, &library.absent) {
        (Some(version), _) => format!("{} {version}", title(&library.name)),
        (None, reason) => format!("{} left out ({})", title(&library.name), reason.as_deref().unwrap_or("unknown why")),
    });
    let peers: Vec<String> = peers.collect();
    let run = if data.quick { "quick: fewer depths and counts, fewer samples" } else { "whole" };
    [
        ("Machine", format!("{cpu}, {} cores, {}, kernels {}", machine.cores, bytes(memory), machine.isa)),
        ("Date", data.date.clone()),
        ("Run", format!("{run}; {:.0} minutes, with {}", data.seconds / 60.0, threads.join(" and "))),
        ("noren", data.noren.clone()),
        ("Peers", if peers.is_empty() { "none".to_owned() } else { peers.join("; ") }),
        ("Publication", published().source.clone()),
    ]
    .map(|(name, fact)| (name.to_owned(), fact))
    .to_vec()
}

/// How it was measured, and what was left out.
fn method(data: &Data) -> Section {
    let mut blocks = vec![Block::List(
        [
            "Every step runs in a process of its own, ours first and peers after it, on this machine; its peak memory, keys \
             included, is that of the process.",
            "Results are decrypted and compared with those in clear before they are timed; a wrong one has no time.",
            "Times are medians of at least five calls after a warm-up. Of products and inner products whose calls are slow, as \
             many calls are timed as begin within ten seconds; of a call that takes longer, the first one.",
            "Published times are those of another machine, named where they stand. The publication shows its figures 1 to 3 as \
             plots, without numbers: its parameters stand beside ours instead.",
            "Of products that take minutes peers measure those of 2, 20 and 100 numbers, and TFHE-rs trees of up to 20; a quick run \
             leaves out more.",
            "All parameters have 128-bit security by the estimate of the library that uses them.",
        ]
        .map(str::to_owned)
        .to_vec(),
    )];
    if data.left_out.is_empty() {
        blocks.push(Block::Text("No step failed.".to_owned()));
    } else {
        blocks.push(Block::Text("Steps that failed, and have no figures:".to_owned()));
        let each =
            data.left_out.iter().map(|step| format!("{}: {} ({})", title(&step.library), step.step, step.reason));
        blocks.push(Block::List(each.collect()));
    }
    Section { id: "method", heading: "How it was measured".to_owned(), blocks }
}
