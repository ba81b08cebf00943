//! The suite `trace`: sums over 128 slots, by any number of unrolled iterations (the grid of "trace-type functions").

use std::hint::black_box;

use noren::Complex64;
use noren::circuits::trace::Plan;
use noren::ckks::{Context, CostModel, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, Keys};
use noren::schemes::costs::RotationCosts;

use crate::bench::ckks::seed;
use crate::bench::judge::{Judge, drop_result, values};
use crate::bench::measure::{self, Timing};
use crate::bench::record::Record;
use crate::bench::shape::Shape;
use crate::bench::suite::Run;
use crate::failure::Failure;
use crate::machine;

/// Rotations and sums of the plain method; `2^M` slots are added up.
const DOUBLINGS: usize = 7;
/// The levels that are measured.
const LEVELS: [usize; 3] = [1, 4, 9];

/// Which cells of the grid are measured.
pub(super) struct Grid {
    levels: Vec<usize>,
    /// From few keys to many, so that memory grows.
    iterations: Vec<usize>,
}

impl Grid {
    /// These levels and numbers of iterations, or all.
    pub(super) fn new(levels: &[usize], iterations: &[usize]) -> Result<Self, Failure> {
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
    pub(super) fn levels(&self) -> String {
        self.levels.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
    }
}

/// Measures the grid at one shape, with each number of threads.
pub(super) fn run(run: &Run<'_>, shape: Shape, grid: &Grid) -> Result<(), Failure> {
    let parameters = shape.parameters()?;
    let contexts: noren::Result<Vec<Context>> =
        run.threads.iter().map(|&threads| Context::with_threads(parameters.clone(), Some(threads))).collect();
    let contexts = contexts?;
    for &level in &grid.levels {
        let costs = |context| CostModel::measure(context, level)?.rotations(&parameters, level);
        let costs: Vec<RotationCosts> = contexts.iter().map(costs).collect::<noren::Result<_>>()?;
        for &h in &grid.iterations {
            let plan = Plan::unrolled(1 << DOUBLINGS, 1, h)?;
            // The keys of the iterations before are gone.
            machine::reset_peak_rss();
            // Keys for this level: what a program that sums at this level would ask for, and no more memory.
            let request = KeyRequest { rotations: plan.rotations(), level: Some(level), ..KeyRequest::default() };
            let keys = Context::new(parameters.clone())?.generate_keys(seed(0), &request)?;
            for ((context, costs), &threads) in contexts.iter().zip(&costs).zip(run.threads) {
                let timing = measure(run, context, &keys, &plan, level)?;
                let note = if h == DOUBLINGS { "repeated doubling" } else { "" };
                let chosen = Plan::fastest(1 << DOUBLINGS, 1, costs, u64::MAX)?;
                let record = Record::of_scheme("trace", "trace", &parameters, threads, timing, note)
                    .with("level", level)
                    .with("h", h)
                    .with("keys", request.rotations.len())
                    .with("key_bytes", plan.key_bytes(costs))
                    .with("model_ns", plan.cost(costs))
                    .with("auto", plan == chosen);
                run.report(&record)?;
            }
        }
    }
    Ok(())
}

/// Checks and measures one sum.
fn measure(
    run: &Run<'_>,
    context: &Context,
    keys: &Keys,
    plan: &Plan,
    level: usize,
) -> Result<Option<Timing>, Failure> {
    let parameters = context.parameters();
    let evaluator = Evaluator::new(context, keys.evaluation.clone())?;
    let (encoder, decryptor) = (Encoder::new(context), Decryptor::new(context, &keys.secret)?);
    let slots = parameters.max_slots();
    let values = values(slots);
    let plaintext = encoder.encode_complex(&values, slots, level, parameters.scale_at(level))?;
    let x = Encryptor::symmetric(context, &keys.secret, seed(1))?.encrypt(&plaintext)?;
    let expected = |j: usize| (0..1 << DOUBLINGS).map(|i| values[(j + i) % slots]).sum::<Complex64>();
    let right = Judge { run, decryptor: &decryptor }.is_right("trace", &plan.apply(&evaluator, &x)?, expected)?;
    let time = || measure::time(run.seconds, 1.0, || plan.apply(&evaluator, black_box(&x)).map(drop_result));
    Ok(right.then(time).transpose()?)
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
