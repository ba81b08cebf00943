//! `noren plan --tfhe`: what a set of parameters holds, how secure it is, how often it fails, and what operations cost.

use std::fmt;
use std::path::Path;

use clap::Args;
use noren::radix::{Comparison, Operation, Shape};
use noren::tfhe::PRESETS;
use noren::tfhe::{Encoding, Parameters, Preset};
use serde::Serialize;

use crate::console::Console;
use crate::describe::Tfhe;
use crate::failure::Failure;
use crate::given::{CHOSEN, Given};

/// The integers whose costs are shown.
const BITS: [usize; 3] = [8, 16, 32];

/// A set of parameters and the costs of operations with it, in words and numbers.
#[derive(Serialize)]
pub(crate) struct PlanReport {
    set: &'static str,
    source: &'static str,
    parameters: Tfhe,
    /// Of integers, how many bootstraps each operation takes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    costs: Vec<Cost>,
}

/// The cost of an operation.
#[derive(Serialize)]
struct Cost {
    operation: &'static str,
    /// Of 8, 16 and 32 bits.
    bootstraps: [usize; BITS.len()],
}

/// Its own option of `plan`.
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct SetOption {
    /// Integers and truth values that are encrypted one by one, with this set of docs/tfhe.md
    #[arg(long, value_name = "SET", value_parser = parse_set,
        conflicts_with_all = ["bootstrap", "lookup", "params", "slots", "mode"])]
    tfhe: Option<&'static Preset>,
}

pub(super) fn run(given: &Given, _: &Path, console: &Console) -> Result<(), Failure> {
    let SetOption { tfhe } = given.own();
    let preset = tfhe.expect(CHOSEN);
    console.plan_alone(&PlanReport::new(preset, &preset.parameters()?)?)
}

impl PlanReport {
    pub(crate) fn new(preset: &Preset, parameters: &Parameters) -> Result<Self, Failure> {
        let holds_integers = parameters.encoding() == Encoding::Integers { message_bits: 2, carry_bits: 2 };
        let operations = [
            ("add", Operation::Add),
            ("less", Operation::Compare(Comparison::Lt)),
            ("min", Operation::Min),
            ("mul", Operation::Mul),
            ("div", Operation::DivRem),
            ("sort of 8", Operation::Sort(8)),
        ];
        let cost = |(operation, of): (&'static str, Operation)| {
            let [a, b, c] = BITS.map(|bits| of.cost(bits, Shape::Lean).map(|cost| cost.bootstraps));
            Ok(Cost { operation, bootstraps: [a?, b?, c?] })
        };
        let costs = if holds_integers { operations.into_iter().map(cost).collect() } else { Ok(Vec::new()) };
        let costs = costs.map_err(|error: noren::Error| Failure::from(error))?;
        Ok(Self { set: preset.name, source: preset.source, parameters: Tfhe::new(parameters), costs })
    }
}

/// A set by its name.
pub(crate) fn parse_set(name: &str) -> Result<&'static Preset, String> {
    let names = || PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", ");
    Preset::named(name).map_err(|_| format!("one of {} is needed", names()))
}

impl fmt::Display for PlanReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "set            {} ({})", self.set, self.source)?;
        write!(f, "{}", self.parameters)?;
        for (index, Cost { operation, bootstraps }) in self.costs.iter().enumerate() {
            let label = if index == 0 { "bootstraps" } else { "" };
            let [a, b, c] = bootstraps;
            write!(f, "\n{label:<15}{operation:<9} {a} of 8 bits, {b} of 16, {c} of 32")?;
        }
        Ok(())
    }
}
