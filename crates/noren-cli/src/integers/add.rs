//! `noren eval add`: tables of encrypted integers, added entry by entry, without any secret.

use std::path::Path;
use std::time::Instant;

use noren::bfv::{Ciphertext, Context, Evaluator};
use noren::programs::{IntegerLayout, IntegerTable};

use crate::console::Console;
use crate::describe::words::count;
use crate::evaluation::{Evaluation, EvaluationOptions};
use crate::failure::Failure;
use crate::files;
use crate::integers::eval::EvaluationReport;
use crate::takes;

pub(super) fn run(job: Evaluation<'_>, console: &Console) -> Result<(), Failure> {
    let EvaluationOptions { keys, input, others, .. } = job.options;
    if others.is_empty() {
        let (found, needed) = ("none".to_owned(), "the table that is added to the first".to_owned());
        return Err(Failure::Unsuitable { what: "INPUT2", found, needed });
    }
    let file = files::open_evaluation_keys::<Context>(keys, &takes::EVAL_KEYS, console)?;
    let owner = file.key.owner().key;
    let evaluator = Evaluator::new(&file.context, file.key.into())?;
    let read = |path: &Path| {
        let table = files::read::<IntegerTable>(&file.context, path, &takes::EVAL_INPUT, console)?;
        owner.check(table.key_id(), "the table").map_err(Failure::file(path))?;
        Ok::<_, Failure>(table)
    };
    let first = read(input)?;
    let layout = first.layout();

    let start = Instant::now();
    let mut sums: Vec<Ciphertext> = first.ciphertexts().to_vec();
    for path in others {
        let other = read(path)?;
        if shape(other.layout()) != shape(layout) {
            let needed = format!("{}, as {} has", words(layout), input.display());
            return Err(Failure::input(path, "the table", words(other.layout()), needed));
        }
        for (sum, ciphertext) in sums.iter_mut().zip(other.ciphertexts()) {
            *sum = evaluator.add(sum, ciphertext).map_err(Failure::file(path))?;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    // Sums are larger than the sizes of their summands say.
    let layout = IntegerLayout::new(layout.rows(), layout.columns(), layout.slots(), layout.stretch())?
        .with_column_names(layout.column_names().to_vec())?;
    let result = IntegerTable::new(layout, sums)?;
    let bytes = job.output.write(&file.context, &result)?;
    console.report(&EvaluationReport::of(&result, &job.output, bytes, seconds))
}

/// The rows, the columns and the stretch of a layout, which are equal in tables that are added.
fn shape(layout: &IntegerLayout) -> [usize; 3] {
    [layout.rows(), layout.columns(), layout.stretch()]
}

fn words(layout: &IntegerLayout) -> String {
    let stretch = match layout.stretch() {
        1 => String::new(),
        slots => format!(", a number in {slots} slots"),
    };
    format!("{}, {}{stretch}", count(layout.rows(), "row"), count(layout.columns(), "column"))
}
