//! `noren keygen --integers`: the keys of an owner for exact integers, which serve BGV and BFV, and more of them.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use noren::bfv::{Context, KeyFile, KeyRequest, SlotMatrix};
use serde::Serialize;

use crate::additions::{self, KeyAddition};
use crate::console::Console;
use crate::describe::Integers;
use crate::describe::words::count;
use crate::failure::Failure;
use crate::given::CHOSEN;
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

/// Its own options of `keygen`.
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct IntegerOptions {
    /// Make keys for exact integers with these parameters instead: products, and what --rotations and --swap-rows ask for
    #[arg(long, value_name = "FILE")]
    integers: Option<PathBuf>,
    /// Also the keys for noren eval matrix with any matrix, in a ring of --integers whose index is no power of two
    #[arg(long)]
    matrices: bool,
}

/// Makes `secret.key`, `public.key` and `eval.keys`, which appear together.
pub(super) fn run(keys: &NewKeys<'_>, console: &Console) -> Result<(), Failure> {
    let IntegerOptions { integers, matrices } = keys.given.own();
    let (rotations, swap) = (keys.options.rotations.clone(), keys.options.swap_rows);
    let mut request = KeyRequest { relinearization: true, rotations, swap, ..KeyRequest::default() };
    let parameters = integers.expect(CHOSEN);
    let context = Context::new(read_parameters(&parameters, &takes::KEYGEN_INTEGERS, console)?)?;
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

/// Adds the keys that rotations and the swap need.
pub(super) fn add(addition: &KeyAddition<'_>, console: &Console) -> Result<(), Failure> {
    additions::add(addition, console, |context: &Context| {
        if !addition.programs.is_empty() {
            return Err(Failure::input(addition.secret, "--program", "a secret key of exact integers", "one of CKKS"));
        }
        let (rotations, swap) = (addition.keys.options.rotations.clone(), addition.keys.options.swap_rows);
        Ok(context.automorphisms_of(&KeyRequest { rotations, swap, ..KeyRequest::default() })?)
    })
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
