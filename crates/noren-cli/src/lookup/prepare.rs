//! `noren prepare` of a function, ready to be looked up.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use noren::Resources;
use noren::bfv::Context;
use noren::lookup::{Function, Line, Lookup, LookupPlan};
use noren_rlwe::wire::file::directory_of;
use serde::Serialize;

use crate::console::Console;
use crate::describe::words::{available, bytes};
use crate::failure::Failure;
use crate::jobs::Preparation;
use crate::lookup::function::Given;
use crate::lookup::plan::{own_parameters, plan};
use crate::outputs;
use crate::progress;

/// Its own options.
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct FunctionOptions {
    #[command(flatten)]
    given: Given,
    /// Say what the preparation of a function takes, and stop
    #[arg(long, conflicts_with = "matrix")]
    dry_run: bool,
}

/// The plan of a preparation.
#[derive(Debug, Clone, Serialize)]
struct PlanReport {
    domain: [usize; 2],
    /// The one argument that the function depends on, if there is one: then there is no matrix.
    depends_on: Option<&'static str>,
    /// In memory and in the file, of a matrix.
    matrix_bytes: u64,
    available_memory: Option<u64>,
    available_disk: Option<u64>,
}

#[derive(Serialize)]
struct PreparationReport {
    path: PathBuf,
    #[serde(flatten)]
    plan: PlanReport,
    bytes: u64,
}

pub(super) fn run(job: &Preparation<'_>, console: &Console) -> Result<(), Failure> {
    let &Preparation { params, ref output, given } = job;
    let FunctionOptions { given, dry_run } = given.own();
    let parameters = own_parameters(params, console)?;
    let function = given.function(parameters.modulus().value())?;
    let plan = plan(&parameters, params, function.domain())?;
    let resources = Resources::of_machine(directory_of(output.path()));
    let report = PlanReport::new(&plan, &function, &resources);
    if dry_run {
        return console.plan_alone(&report);
    }
    if report.depends_on.is_none() {
        plan.check(&resources)?;
    }
    console.plan(&report)?;
    let context = Context::new(parameters)?;
    let shown = progress::bar("preparing the function", 1);
    let lookup = Lookup::prepare(&context, &plan, &function, Some(&|done, total| shown.set(done, total)))?;
    drop(shown);
    let shown = progress::spinner("writing the function".to_owned());
    lookup.save(output.destination())?;
    drop(shown);
    console.report(&PreparationReport {
        path: output.path().to_owned(),
        plan: report,
        bytes: outputs::size(output.path())?,
    })
}

impl PlanReport {
    fn new(plan: &LookupPlan, function: &Function, resources: &Resources) -> Self {
        let line = Line::modulo(function, plan.parameters().modulus().value());
        Self {
            domain: plan.layout().domain(),
            depends_on: line.map(|line| match line {
                Line::First => "x",
                Line::Second => "y",
                Line::Sum => "x + y",
                Line::Difference => "x - y",
            }),
            matrix_bytes: if line.is_some() { 0 } else { plan.matrix_bytes() },
            available_memory: resources.memory,
            available_disk: resources.disk,
        }
    }
}

impl fmt::Display for PlanReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y] = self.domain;
        write!(f, "function       f(x, y) for x below {x} and y below {y}")?;
        if let Some(number) = self.depends_on {
            return write!(f, "; it depends on {number} alone, and takes no matrix");
        }
        let (size, memory) = (bytes(self.matrix_bytes as f64), available(self.available_memory));
        write!(f, "\nmemory         {size}{memory}\nfile           {size}{}", available(self.available_disk))
    }
}

/// Its demand was shown before.
impl fmt::Display for PreparationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wrote {}, {}", self.path.display(), bytes(self.bytes as f64))
    }
}
