//! Measures the points of both figures.

use std::collections::HashMap;

use noren::Parallel;
use noren::ckks::{Context, Decryptor, Evaluator, KeyRequest, Keys, Parameters};
use noren_cli::measure::{Failure, Judge, Record, Run, Shape, Timing, bar, drop_result, seed, time};

use crate::parallel::axes::{Axes, LEVEL};
use crate::parallel::model::{self, Costs};
use crate::parallel::op::{Op, Operands, Size};
use crate::turns::in_turns;

/// The medians at level 16, by operation, way and threads.
type Medians = HashMap<(&'static str, Parallel, usize), f64>;

/// Measures both figures at one shape, and models more threads if one thread is among those that were measured.
pub(super) fn measure(run: &Run<'_>, shape: Shape, axes: &Axes) -> Result<(), Failure> {
    let parameters = shape.parameters()?;
    let context = Context::new(parameters.clone())?;
    let request = KeyRequest { relinearization: true, rotations: vec![1], ..KeyRequest::default() };
    let keys = context.generate_keys(seed(0), &request)?;
    let progress = bar("parallel", 1);
    let total = axes.threads.len() + axes.levels.len();
    let mut grid = Grid { run, parameters: &parameters, keys: &keys, medians: Medians::new() };
    for (done, &threads) in axes.threads.iter().enumerate() {
        progress.set(done, total);
        grid.measure("threads", threads, &[LEVEL], &mut |_| {})?;
    }
    let begun = axes.threads.len();
    grid.measure("levels", axes.fixed, &axes.levels, &mut |done| progress.set(begun + done, total))?;
    let measured: Vec<usize> = axes.threads.iter().copied().filter(|&threads| threads > 1).collect();
    if let (true, Some(&some)) = (axes.threads.contains(&1), measured.first()) {
        grid.model(some, axes)?;
    }
    Ok(())
}

/// All that works on one number of threads in each way.
struct Grid<'a> {
    run: &'a Run<'a>,
    parameters: &'a Parameters,
    keys: &'a Keys,
    medians: Medians,
}

impl Grid<'_> {
    /// Measures all operations at some levels on `threads` threads; the ways take turns.
    fn measure(
        &mut self,
        figure: &'static str,
        threads: usize,
        levels: &[usize],
        done: &mut dyn FnMut(usize),
    ) -> Result<(), Failure> {
        if levels.is_empty() {
            return Ok(());
        }
        let contexts =
            Parallel::ALL.map(|parallel| Context::with_parallel(self.parameters.clone(), Some(threads), parallel));
        let contexts = contexts.into_iter().collect::<noren::Result<Vec<_>>>()?;
        let evaluators = contexts.iter().map(|context| Evaluator::new(context, self.keys.evaluation.clone()));
        let evaluators = evaluators.collect::<noren::Result<Vec<_>>>()?;
        let decryptor = Decryptor::new(&contexts[0], &self.keys.secret)?;
        let judge = Judge { run: self.run, decryptor: &decryptor };
        for (i, level) in levels.iter().enumerate() {
            done(i);
            let on = &Operands::new(&contexts[0], self.keys, *level)?;
            for op in Op::ALL {
                let mut right = true;
                for evaluator in &evaluators {
                    let result = op.apply(evaluator, on)?;
                    right &= judge.is_right(op.name(), &result, |j| op.expected(&on.values, j))?;
                }
                let mut calls: Vec<_> = evaluators.iter().map(|ev| || op.apply(ev, on).map(drop_result)).collect();
                let timings = if right { in_turns(self.run.seconds, &mut calls)? } else { Vec::new() };
                for (i, &parallel) in Parallel::ALL.iter().enumerate() {
                    let timing = timings.get(i).copied();
                    if let (Some(timing), "threads") = (timing, figure) {
                        self.medians.insert((op.name(), parallel, threads), timing.median_ns);
                    }
                    self.run.report(
                        &self
                            .record(op, threads, *level, timing, "")
                            .with("figure", figure)
                            .with("parallel", parallel.name()),
                    )?;
                }
            }
        }
        Ok(())
    }

    /// Reports what the model says for more threads, from times on one thread and on `some` threads.
    fn model(&self, some: usize, axes: &Axes) -> Result<(), Failure> {
        let size = |level: usize| Size { limbs: level + 1, special: self.parameters.rlwe().p().len() };
        let time = |op: Op, parallel, threads| self.medians.get(&(op.name(), parallel, threads)).copied();
        // Where nothing is cut, all ways are one.
        let single = |op| Parallel::ALL.into_iter().filter_map(|way| time(op, way, 1)).reduce(f64::min);
        let Some(add) = single(Op::Add) else { return Ok(()) };
        let degree = self.parameters.degree();
        let bytes = |op: Op| (op.memory_rows(size(LEVEL)) * degree * size_of::<u64>()) as f64;
        let fastest = Parallel::ALL.into_iter().filter_map(|way| time(Op::Add, way, some)).fold(add, f64::min);
        // Sums limb by limb: what they take longer than their share is the handing out of as many loops.
        let loops = 2.0 * size(LEVEL).limbs as f64;
        let slow = time(Op::Add, Parallel::Coefficient, some).unwrap_or(fastest);
        let costs = Costs {
            degree,
            transform: self.transform()?,
            row: 0.0,
            fork: ((slow - fastest) / loops).max(0.0),
            byte: fastest / bytes(Op::Add),
        };
        let threads = |n: &usize| model::THREADS.map(|more| ("threads", more, *n));
        let levels =
            if axes.levels.is_empty() { (1..=self.parameters.max_level()).collect() } else { axes.levels.clone() };
        let levels = levels.into_iter().map(|level| ("levels", model::THREADS[1], level));
        let points: Vec<_> = [LEVEL].iter().flat_map(threads).chain(levels).collect();
        for op in Op::ALL {
            let Some(single) = single(op) else { continue };
            let costs = costs.of(op, size(LEVEL), single);
            for parallel in Parallel::ALL {
                for &(figure, threads, level) in &points {
                    let (work, memory) =
                        (costs.work(op, size(level), parallel, threads), costs.memory(op, size(level)));
                    let timing = Timing { median_ns: work.max(memory), mad_ns: 0.0, reps: 0 };
                    let record = self.record(op, threads, level, Some(timing), "a model, not a measurement");
                    let record = record.with("figure", figure).with("parallel", parallel.name());
                    self.run.report(&record.with("model", true).with("work_ns", work).with("memory_ns", memory))?;
                }
            }
        }
        Ok(())
    }

    /// The time of the transform of a row on one thread.
    fn transform(&self) -> Result<f64, Failure> {
        let context = Context::with_threads(self.parameters.clone(), Some(1))?;
        let ring = context.rlwe().ring().window(0..1);
        let mut row = Some(ring.constant(&[1]));
        let both = time(self.run.seconds, 2.0, || {
            row = row.take().map(|values| ring.ntt(ring.intt(values)));
            Ok::<_, Failure>(())
        })?;
        Ok(both.median_ns)
    }

    fn record(&self, op: Op, threads: usize, level: usize, timing: Option<Timing>, note: &'static str) -> Record {
        Record::of_scheme("parallel", op.name(), self.parameters, threads, timing, note).with("level", level)
    }
}
