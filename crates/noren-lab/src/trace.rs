//! The suite `trace`: sums over 128 slots, by repeated doubling and by any number of unrolled iterations (the grid of
//! "trace-type functions").

use std::collections::BTreeSet;
use std::hint::black_box;

use clap::Args;
use noren::Complex64;
use noren::circuits::trace::Unrolling;
use noren::ckks::{Ciphertext, Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, Keys, Parameters};
use noren::cost::Party;
use noren::schemes::costs::RotationCosts;
use noren_cli::measure::{
    After, Failure, Judge, Record, Run, Shape, Timing, calibrated, drop_result, peak_rss, reset_peak_rss, seed, values,
};

use crate::shapes::of_trace;
use crate::turns::in_turns;

/// Rotations and sums of the plain method; `2^M` slots are added up.
const DOUBLINGS: usize = 7;
/// The levels that are measured.
const LEVELS: [usize; 3] = [1, 4, 9];

/// The options of the suite.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Numbers of special primes [default: 1,5,10]
    #[arg(long, value_name = "K,...", value_delimiter = ',')]
    special: Vec<usize>,
    /// Levels of the ciphertext [default: 1,4,9]
    #[arg(long, value_name = "LEVEL,...", value_delimiter = ',')]
    level: Vec<usize>,
    /// Numbers of iterations [default: 7,6,5,4,3,2,1]
    #[arg(long, value_name = "H,...", value_delimiter = ',')]
    unrolled: Vec<usize>,
}

impl Options {
    /// Measures the suite, and says after each step which it was.
    pub(crate) fn run(&self, run: &Run<'_>, after: &mut After<'_>) -> Result<(), Failure> {
        let shapes = of_trace(&self.special)?;
        let grid = Grid::new(&self.level, &self.unrolled)?;
        for shape in shapes {
            measure(run, shape, &grid)?;
            let special = shape.special.to_string();
            after(&[("--suite", "trace"), ("--special", &special), ("--level", &grid.levels())])?;
        }
        Ok(())
    }
}

/// Which cells of the grid are measured.
struct Grid {
    levels: Vec<usize>,
    /// From few keys to many, so that memory grows.
    iterations: Vec<usize>,
}

impl Grid {
    /// These levels and numbers of iterations, or all.
    fn new(levels: &[usize], iterations: &[usize]) -> Result<Self, Failure> {
        let mut grid = Self { levels: LEVELS.to_vec(), iterations: (1..=DOUBLINGS).collect() };
        if !levels.is_empty() {
            grid.levels = levels.to_vec();
        }
        if !iterations.is_empty() {
            grid.iterations = iterations.to_vec();
        }
        grid.iterations.sort_unstable_by(|a, b| b.cmp(a));
        let refuse =
            |what, found: usize, needed: String| Failure::Unsuitable { what, found: found.to_string(), needed };
        let highest = LEVELS[LEVELS.len() - 1];
        if let Some(&level) = grid.levels.iter().find(|&&level| !(1..=highest).contains(&level)) {
            return Err(refuse("--level", level, format!("1 to {highest}")));
        }
        if let Some(&h) = grid.iterations.iter().find(|&&h| !(1..=DOUBLINGS).contains(&h)) {
            return Err(refuse("--unrolled", h, format!("1 to {DOUBLINGS}")));
        }
        Ok(grid)
    }

    /// The levels as a list for an option.
    fn levels(&self) -> String {
        self.levels.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
    }
}

/// A way to take a sum.
struct Way {
    op: &'static str,
    method: Method,
    stride: isize,
    plan: Unrolling,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    /// Rotate and add, one doubling after another.
    Doubling,
    /// The plan.
    Unrolled,
}

/// A measurement: one way with the threads of one context.
struct Cell<'a> {
    way: &'a Way,
    place: usize,
    right: bool,
    peak_rss_bytes: Option<u64>,
}

/// A ciphertext with all that works on it.
struct Workplace<'a> {
    evaluator: Evaluator,
    decryptor: Decryptor<'a>,
    values: Vec<Complex64>,
    x: Ciphertext,
}

/// Measures the grid at one shape, with each number of threads.
///
/// All ways to take a sum at a level take turns, whatever their threads, so that their ratios hold on a machine whose
/// speed changes. Before that each is checked with its own keys alone, which shows the memory that it needs.
fn measure(run: &Run<'_>, shape: Shape, grid: &Grid) -> Result<(), Failure> {
    let parameters = shape.parameters()?;
    let contexts: noren::Result<Vec<Context>> =
        run.threads.iter().map(|&threads| Context::with_threads(parameters.clone(), Some(threads))).collect();
    let contexts = contexts?;
    let calibrated = calibrated(None)?;
    for &level in &grid.levels {
        // Keys for this level: what a program that sums at this level would ask for, and no more memory.
        let generate = |rotations: Vec<isize>| {
            let request = KeyRequest { rotations, level: Some(level), ..KeyRequest::default() };
            Context::new(parameters.clone())?.generate_keys(seed(0), &request)
        };
        let costs = |party: Party| party.rotations(parameters.rlwe(), level + 1);
        let measured = |&threads: &usize| costs(Party { machine: calibrated.clone(), threads });
        let measured: Vec<RotationCosts> = run.threads.iter().map(measured).collect::<noren::Result<_>>()?;
        let fixed = costs(Party::reference())?;
        let ways = grid.ways(&fixed, parameters.max_slots())?;
        let mut cells = Vec::new();
        for way in &ways {
            let keys = generate(way.plan.rotations())?;
            for (place, context) in contexts.iter().enumerate() {
                reset_peak_rss();
                let right = Workplace::new(context, &keys, level)?.is_right(run, way)?;
                cells.push(Cell { way, place, right, peak_rss_bytes: peak_rss() });
            }
        }
        let all: BTreeSet<isize> = ways.iter().flat_map(|way| way.plan.rotations()).collect();
        let keys = generate(all.into_iter().collect())?;
        let workplaces = contexts.iter().map(|context| Workplace::new(context, &keys, level));
        let workplaces = workplaces.collect::<Result<Vec<_>, _>>()?;
        let right = cells.iter().filter(|cell| cell.right);
        let mut calls: Vec<_> = right
            .map(|cell| (&workplaces[cell.place], cell.way))
            .map(|(workplace, way)| move || way.apply(&workplace.evaluator, black_box(&workplace.x)).map(drop_result))
            .collect();
        let mut timings = in_turns(run.seconds, &mut calls)?.into_iter();
        for cell in &cells {
            let timing = if cell.right { timings.next() } else { None };
            let costs = [&measured[cell.place], &fixed];
            run.report(&cell.record(&parameters, run.threads[cell.place], level, timing, costs)?)?;
        }
    }
    Ok(())
}

impl Grid {
    /// Repeated doubling, the sum in each number of iterations, and the field trace in as many as the fixed costs choose.
    fn ways(&self, costs: &RotationCosts, slots: usize) -> noren::Result<Vec<Way>> {
        let unrolled = |h| Unrolling::unrolled(1 << DOUBLINGS, 1, h);
        let way = |method, plan| Way { op: "trace", method, stride: 1, plan };
        let mut ways = vec![way(Method::Doubling, unrolled(DOUBLINGS)?)];
        for &h in &self.iterations {
            ways.push(way(Method::Unrolled, unrolled(h)?));
        }
        let h = Unrolling::fastest(1 << DOUBLINGS, 1, costs, u64::MAX)?.steps();
        let plan = Unrolling::field_trace(slots, DOUBLINGS as u32, h)?;
        let stride = (slots >> DOUBLINGS).cast_signed();
        ways.push(Way { op: "field_trace", method: Method::Unrolled, stride, plan });
        Ok(ways)
    }
}

impl Way {
    fn apply(&self, ev: &Evaluator, x: &Ciphertext) -> noren::Result<Ciphertext> {
        match self.method {
            Method::Doubling => (0..DOUBLINGS)
                .try_fold(x.clone(), |sum, doubling| ev.add(&sum, &ev.rotate(&sum, self.stride << doubling)?)),
            Method::Unrolled => self.plan.apply(ev, x),
        }
    }
}

impl Cell<'_> {
    /// The record, with what the plan costs by the model as measured, and whether each model chooses it.
    fn record(
        &self,
        parameters: &Parameters,
        threads: usize,
        level: usize,
        timing: Option<Timing>,
        [measured, fixed]: [&RotationCosts; 2],
    ) -> noren::Result<Record> {
        let Way { op, method, stride, plan } = self.way;
        let mut record = Record::of_scheme("trace", op, parameters, threads, timing, "");
        record.peak_rss_bytes = self.peak_rss_bytes;
        let record = record
            .with("level", level)
            .with("keys", plan.rotations().len())
            .with("key_bytes", plan.key_bytes(measured));
        if *method == Method::Doubling {
            return Ok(record.with("method", "doubling"));
        }
        let chosen = |costs| -> noren::Result<bool> {
            Ok(Unrolling::fastest(1 << DOUBLINGS, *stride, costs, u64::MAX)?.steps() == plan.steps())
        };
        Ok(record
            .with("h", plan.steps())
            .with("model_ns", plan.cost(measured))
            .with("auto", chosen(measured)?)
            .with("auto_default", chosen(fixed)?))
    }
}

impl<'a> Workplace<'a> {
    fn new(context: &'a Context, keys: &'a Keys, level: usize) -> Result<Self, Failure> {
        let parameters = context.parameters();
        let (slots, encoder) = (parameters.max_slots(), Encoder::new(context));
        let values = values(slots);
        let plaintext = encoder.encode_complex(&values, slots, level, parameters.scale_at(level))?;
        Ok(Self {
            evaluator: Evaluator::new(context, keys.evaluation.clone())?,
            decryptor: Decryptor::new(context, &keys.secret)?,
            x: Encryptor::symmetric(context, &keys.secret, seed(1))?.encrypt(&plaintext)?,
            values,
        })
    }

    /// Whether every slot of the sum is right; warns if not.
    fn is_right(&self, run: &Run<'_>, way: &Way) -> Result<bool, Failure> {
        let Self { evaluator, decryptor, values, x } = self;
        let term = |j: usize, i: usize| values[(j + i * way.stride.unsigned_abs()) % values.len()];
        let expected = |j: usize| (0..1 << DOUBLINGS).map(|i| term(j, i)).sum();
        Judge { run, decryptor }.is_right(way.op, &way.apply(evaluator, x)?, expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_outside_the_grid_are_refused() {
        assert!(Grid::new(&[4], &[1, 7]).is_ok_and(|grid| grid.iterations == [7, 1] && grid.levels() == "4"));
        assert!(Grid::new(&[10], &[]).is_err_and(|error| error.to_string().contains("1 to 9")));
        assert!(Grid::new(&[], &[8]).is_err_and(|error| error.to_string().contains("1 to 7")));
    }
}
