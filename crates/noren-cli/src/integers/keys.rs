//! `noren keygen --integers`: the keys of an owner for exact integers, which serve BGV and BFV.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use noren::bfv::{Context, KeyFile, KeyRequest, SlotMatrix};
use serde::Serialize;

use crate::console::Console;
use crate::describe::Integers;
use crate::describe::words::count;
use crate::failure::Failure;
use crate::integers::parameters::read_parameters;
use crate::key_files::{EVALUATION, KeyFiles, KeyFilesReport, NewKeys};
use crate::progress;
use crate::takes;

/// The evaluation keys that are planned, in words and numbers.
#[derive(Serialize)]
struct PlannedKeys {
    rotations: Vec<isize>,
    swap_rows: bool,
    matrices: bool,
    evaluation_keys: usize,
    parameters: Integers,
}

/// Makes `secret.key`, `public.key` and `eval.keys`, which appear together; `matrices` adds the keys that products with any
/// matrix need.
pub(crate) fn run(
    parameters: &Path,
    mut request: KeyRequest,
    matrices: bool,
    keys: &NewKeys<'_>,
    console: &Console,
) -> Result<(), Failure> {
    let context = Context::new(read_parameters(parameters, &takes::KEYGEN_INTEGERS, console)?)?;
    if matrices {
        request.automorphisms = SlotMatrix::automorphisms_of_all(&context, false)?;
    }
    let wanted = context.automorphisms_of(&request)?;
    // Equal automorphisms have one key, and the identity has none.
    let automorphisms: BTreeSet<u32> = wanted.galois.iter().map(|&(k, _)| k).filter(|&k| k != 1).collect();
    let plan = PlannedKeys {
        rotations: distinct(&context, &request.rotations)?,
        swap_rows: request.swap,
        matrices,
        evaluation_keys: automorphisms.len() + usize::from(wanted.relinearization.is_some()),
        parameters: Integers::new(context.parameters()),
    };
    if keys.plan_only {
        return console.plan_alone(&plan);
    }
    let files = KeyFiles::new(keys, &[EVALUATION])?;
    console.plan(&plan)?;
    let seed = keys.seed()?;
    let shown = progress::bar("making evaluation keys", 1);
    let made = context.generate_keys_with_progress(seed, &request, Some(&|done, total| shown.set(done, total)))?;
    drop(shown);
    let bytes = files.outputs().write(
        EVALUATION,
        &(),
        &KeyFile { context: context.clone(), key: Arc::unwrap_or_clone(made.evaluation) },
    )?;
    let files = files.finish(&context, made.secret, made.public, &[bytes])?;
    console.report(&KeyFilesReport { plan, keys: None, files })
}

/// The rotations that move something, each once.
fn distinct(context: &Context, rotations: &[isize]) -> Result<Vec<isize>, Failure> {
    let mut seen = BTreeSet::from([1]);
    let mut distinct = Vec::new();
    for &steps in rotations {
        if seen.insert(context.rotation_exponent(steps)?) {
            distinct.push(steps);
        }
    }
    Ok(distinct)
}

impl fmt::Display for PlannedKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "eval.keys      {}: products, and {}", count(self.evaluation_keys, "key"), self.moves())?;
        write!(f, "{}", self.parameters)
    }
}

impl PlannedKeys {
    /// The automorphisms in words.
    fn moves(&self) -> String {
        let rotations = match self.rotations.len() {
            0 => "no rotations".to_owned(),
            some => count(some, "rotation"),
        };
        let swap = if self.swap_rows { ", the swap of rows" } else { "" };
        let matrices = if self.matrices { ", products with matrices" } else { "" };
        format!("{rotations}{swap}{matrices}")
    }
}
