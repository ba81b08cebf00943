//! Functions that compute their rows apart, in batches of as many rows as a ciphertext holds: one plan, run for each batch.

use std::any::Any;
use std::sync::Arc;

use noren_math::random::Seed;
use noren_ring::engine::Engine;
use noren_ring::interrupt::Steps;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::security::Security;
use noren_rlwe::wire::publish::Destination;

use crate::backends::backend::{Backend, Bounds, Outcome, Outline, Plan, Record, Running};
use crate::backends::keys::{PartKind, SecretKey, ServerKeys};
use crate::backends::moduli;
use crate::backends::options::Options;
use crate::backends::parcel::in_runs;
use crate::circuits::recorder::CircuitUsage;
use crate::cost::price::{Left, Party, Price};
use crate::graph::dag::Graph;
use crate::graph::rows::{first_rows, repeated_rows, rows};
use crate::graph::shape::size;
use crate::lowering::recording::slots_of;

/// A function in batches of rows. The last batch repeats the last row.
pub(super) struct Batches {
    graph: Arc<Graph>,
    /// The rows of arrays.
    rows: usize,
    /// The rows of a batch.
    batch: usize,
    /// The function of a batch, and its plan.
    first: Arc<Graph>,
    plan: Arc<dyn Plan>,
}

/// The server half.
struct BatchedServer {
    count: usize,
    running: Box<dyn Running>,
}

impl Batches {
    /// The plans of a backend in batches of as many rows as fill a ciphertext of a plan for all rows, if these are fewer.
    pub(super) fn plans(
        backend: &'static dyn Backend,
        graph: &Arc<Graph>,
        options: &Options,
        whole: &dyn Plan,
    ) -> Vec<Arc<dyn Plan>> {
        let batched = || {
            // Backends without slots encrypt each element by itself.
            whole.usage()?;
            let rows = rows(graph)?;
            let Record { slots, lanes, .. } = whole.record();
            let batch = lanes * slots / slots_of(&first_rows(graph, 1)?);
            if !(1..rows).contains(&batch) {
                return None;
            }
            let first = Arc::new(first_rows(graph, batch)?);
            let plans = moduli::plans(backend, &first, options).ok()?;
            let batched = |plan| {
                let (graph, first) = (Arc::clone(graph), Arc::clone(&first));
                Arc::new(Self { graph, rows, batch, first, plan }) as Arc<dyn Plan>
            };
            Some(plans.into_iter().map(batched).collect())
        };
        batched().unwrap_or_default()
    }

    /// The plan of a file, in batches of `batch` rows.
    ///
    /// # Errors
    /// A function that does not compute its rows apart, or has no more of them; a record of no plan for a batch.
    pub(super) fn read(
        backend: &'static dyn Backend,
        graph: &Arc<Graph>,
        batch: usize,
        record: &Record,
    ) -> Result<Arc<dyn Plan>> {
        let refused = |needed: &str| Error::parameter("batch", batch, needed);
        let rows = rows(graph).ok_or_else(|| refused("none: the rows of arrays depend on one another"))?;
        if !(1..rows).contains(&batch) {
            return Err(refused(&format!("1 to {} of {rows} rows", rows - 1)));
        }
        let first = Arc::new(first_rows(graph, batch).ok_or_else(|| refused("none"))?);
        let plan = moduli::read(backend, &first, record)?;
        Ok(Arc::new(Self { graph: Arc::clone(graph), rows, batch, first, plan }))
    }

    fn count(&self) -> usize {
        self.rows.div_ceil(self.batch)
    }

    /// The rows of an input in a batch.
    fn rows(&self, values: &[f64], batch: usize) -> Vec<f64> {
        repeated_rows(values, self.rows, batch * self.batch, self.batch)
    }

    /// The results of all batches.
    fn joined(&self, batches: impl Iterator<Item = Result<Outcome>>) -> Result<Outcome> {
        let outputs = self.graph.outputs();
        let mut all = Outcome::exact(vec![Vec::new(); outputs.len()]);
        for batch in batches {
            let Outcome { values, bounds, integers } = batch?;
            all.values.iter_mut().zip(values).for_each(|(all, values)| all.extend(values));
            all.bounds.iter_mut().zip(bounds).for_each(|(all, bound)| *all = all.max(bound));
            for (all, integers) in all.integers.iter_mut().zip(integers) {
                integers.into_iter().for_each(|integers| all.get_or_insert_default().extend(integers));
            }
        }
        for (output, &at) in outputs.iter().enumerate() {
            let count = size(&self.graph.node(at).shape).unwrap_or(0);
            all.values[output].truncate(count);
            all.integers[output].iter_mut().for_each(|integers| integers.truncate(count));
        }
        Ok(all)
    }

    fn seed(seed: &Seed, batch: usize) -> Seed {
        seed.derive_for("noren batch", &[&[batch as u64]])
    }
}

impl Plan for Batches {
    fn backend(&self) -> &'static str {
        self.plan.backend()
    }

    fn record(&self) -> Record {
        Record { batch: Some(self.batch), ..self.plan.record() }
    }

    fn parameters(&self) -> &dyn Any {
        self.plan.parameters()
    }

    fn words(&self) -> String {
        format!("{}, {} batches of {} rows", self.plan.words(), self.count(), self.batch)
    }

    fn security(&self) -> Security {
        self.plan.security()
    }

    fn price(&self, client: &Party, server: &Party) -> Result<Price> {
        let price = self.plan.price(client, server)?.times(self.count());
        // Each thread has a batch of its own; what goes in and out is there as bytes.
        let others = server.threads.min(self.count()) as u64 - 1;
        let beside = price.run_memory.saturating_mul(others).saturating_add(price.input_bytes);
        let server_memory = price.server_memory.saturating_add(beside).saturating_add(price.result_bytes);
        Ok(Price { server_memory, ..price })
    }

    fn left(&self, client: &Party) -> Result<Option<Left>> {
        self.plan.left(client)
    }

    fn bounds(&self) -> Result<Option<Bounds>> {
        self.plan.bounds()
    }

    fn log2_failure(&self) -> Result<Option<f64>> {
        let any = libm::log2(self.count() as f64);
        Ok(self.plan.log2_failure()?.map(|failure| (failure + any).min(0.0)))
    }

    fn outline(&self, bounds: Option<&Bounds>) -> Result<Outline> {
        let mut outline = self.plan.outline(bounds)?.times(self.count());
        for step in &mut outline.steps {
            if let Some(rows) = step.shape.first_mut() {
                *rows = self.rows;
            }
        }
        Ok(outline)
    }

    fn usage(&self) -> Option<&CircuitUsage> {
        self.plan.usage()
    }

    fn secret_parts(&self) -> Vec<PartKind> {
        self.plan.secret_parts()
    }

    fn server_parts(&self) -> Vec<PartKind> {
        self.plan.server_parts()
    }

    fn make_secret(&self, seed: &Seed) -> Result<SecretKey> {
        self.plan.make_secret(seed)
    }

    fn make_server_keys(&self, secret: &SecretKey, seed: &Seed) -> Result<ServerKeys> {
        self.plan.make_server_keys(secret, seed)
    }

    fn write_server_keys(
        &self,
        secret: &SecretKey,
        seed: &Seed,
        to: Destination<'_>,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<()> {
        self.plan.write_server_keys(secret, seed, to, progress)
    }

    fn encrypt(&self, secret: &SecretKey, inputs: &[Option<&[f64]>], seed: Seed) -> Result<Vec<Vec<u8>>> {
        let encrypt = |at: usize| {
            let rows = |values: &Option<&[f64]>| values.map(|values| self.rows(values, at));
            let rows: Vec<_> = inputs.iter().map(rows).collect();
            let rows: Vec<_> = rows.iter().map(Option::as_deref).collect();
            self.plan.encrypt(secret, &rows, Self::seed(&seed, at))
        };
        Ok((0..self.count()).map(encrypt).collect::<Result<Vec<_>>>()?.concat())
    }

    fn server(self: Arc<Self>, keys: &ServerKeys) -> Result<Box<dyn Running>> {
        Ok(Box::new(BatchedServer { count: self.count(), running: Arc::clone(&self.plan).server(keys)? }))
    }

    fn decrypt(&self, secret: &SecretKey, outputs: &[Vec<u8>]) -> Result<Outcome> {
        let decrypt = |batch| Outcome::or_unknown(self.plan.decrypt(secret, batch), &self.first);
        self.joined(in_runs(outputs, self.count())?.map(decrypt))
    }

    fn simulate(&self, inputs: &[Vec<f64>], seed: &Seed) -> Result<Outcome> {
        let simulate = |at: usize| {
            let rows: Vec<_> = inputs.iter().map(|values| self.rows(values, at)).collect();
            self.plan.simulate(&rows, &Self::seed(seed, at))
        };
        self.joined((0..self.count()).map(simulate))
    }
}

impl Running for BatchedServer {
    fn run(&self, inputs: &[Vec<u8>]) -> Result<Vec<Vec<u8>>> {
        let steps = Steps::new(self.count);
        let run = |batch| {
            let outputs = self.running.run(batch);
            steps.advance(1);
            outputs
        };
        let batches = in_runs(inputs, self.count)?;
        let outputs: Vec<_> = match self.running.engine() {
            Some(engine) => engine.map(batches.collect(), run).into_iter().collect::<Result<_>>()?,
            None => batches.map(run).collect::<Result<_>>()?,
        };
        Ok(outputs.concat())
    }

    fn engine(&self) -> Option<&Engine> {
        self.running.engine()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends::table::Backends;
    use crate::backends::tests::{run, toy};
    use crate::graph::interval::Interval;
    use crate::graph::operation::{Binary, Element, Operation};

    /// `(x @ matrix)^2 + y` of `rows` rows of 24 and of 3 numbers.
    fn squares(rows: usize, element: Element) -> Arc<Graph> {
        let mut graph = Graph::default();
        let mut input = |name: &str, columns: usize| {
            let (shape, range) = (vec![rows, columns], Interval::new(-2.0, 2.0));
            graph.push(Operation::Input { name: name.into(), shape, element, range }, "").expect("an input")
        };
        let (x, y) = (input("x", 24), input("y", 3));
        let matrix = (0..72).map(|k| f64::from(k * 7 % 5) - 2.0).collect();
        let product = graph.push(Operation::MatMul { of: x, columns: 3, matrix }, "").expect("a product");
        let square = graph.push(Operation::Binary(Binary::Mul, product, product), "").expect("a square");
        let sum = graph.push(Operation::Binary(Binary::Add, square, y), "").expect("a sum");
        graph.finish(vec![sum, product]).expect("outputs");
        Arc::new(graph)
    }

    fn batched(name: &str, graph: &Arc<Graph>) -> (&'static dyn Backend, Arc<dyn Plan>) {
        let backend = Backends::ALL.named(name).expect("a backend");
        let plans = Backends::ALL.plans_of(backend, graph, &toy(name)).expect("plans");
        let plan = plans.into_iter().find(|plan| plan.record().batch.is_some());
        (backend, plan.expect("a plan in batches"))
    }

    #[test]
    fn rows_in_batches_are_the_rows_of_the_function() {
        for (name, element) in [
            ("ckks", Element::Real),
            ("ckks-bootstrapping", Element::Real),
            ("bgv", Element::Integer),
            ("bfv", Element::Integer),
        ] {
            let graph = squares(100, element);
            let (backend, plan) = batched(name, &graph);
            let batch = plan.record().batch.expect("batches");
            assert!(batch < 100 && 100 % batch != 0, "{name}: the last of {batch} rows is not full");
            let inputs: Vec<Vec<f64>> =
                [2400, 300].map(|count| (0..count).map(|k| f64::from(k * 11 % 5 - 2)).collect()).to_vec();
            let (found, expected) = (run(&plan, &inputs), graph.evaluate(&inputs).expect("values"));
            let simulated = plan.simulate(&inputs, &Seed::from_bytes([1; 32])).expect("values");
            for outcome in [found, simulated] {
                for ((values, wanted), bound) in outcome.values.iter().zip(&expected).zip(outcome.bounds) {
                    assert_eq!(values.len(), wanted.len());
                    let near = |(value, wanted): (&f64, &f64)| (value - wanted).abs() <= bound;
                    assert!(values.iter().zip(wanted).all(near), "{name}: within {bound}");
                }
            }
            let record = plan.record();
            let again = Backends::ALL.read(name, &graph, &record).expect("a plan of a file");
            assert_eq!((again.record(), again.words()), (record.clone(), plan.words()));
            let rows: Vec<usize> =
                plan.outline(None).expect("an outline").steps.iter().map(|step| step.shape[0]).collect();
            assert!(rows.iter().all(|&rows| rows == 100), "{rows:?}");
            let inner =
                backend.read(&squares(batch, element), &Record { batch: None, ..record.clone() }).expect("a batch");
            let [client, server] = [Party::reference(), Party::reference()];
            let (one, all) = (inner.price(&client, &server), plan.price(&client, &server));
            let (one, all) = (one.expect("a price"), all.expect("a price"));
            let count = 100usize.div_ceil(batch) as u64;
            assert_eq!((all.input_bytes, all.key_bytes), (count * one.input_bytes, one.key_bytes));
            for wrong in [0, 100, 1000] {
                let error = Backends::ALL.read(name, &graph, &Record { batch: Some(wrong), ..record.clone() });
                assert!(error.expect_err("batches").to_string().contains("1 to 99 of 100 rows"));
            }
        }
    }

    #[test]
    fn functions_of_several_rows_have_none() {
        let graph = squares(100, Element::Real);
        let sum = Operation::Reduce(crate::graph::operation::Reduction::Sum, graph.outputs()[0], vec![0]);
        let mut graph = Graph::clone(&graph);
        let sum = graph.push(sum, "").expect("a sum");
        graph.finish(vec![sum]).expect("an output");
        let graph = Arc::new(graph);
        let backend = Backends::ALL.named("ckks").expect("a backend");
        let plans = Backends::ALL.plans_of(backend, &graph, &toy("ckks")).expect("plans");
        assert!(plans.iter().all(|plan| plan.record().batch.is_none()));
        let record = Record { batch: Some(8), ..plans[0].record() };
        let message = Backends::ALL.read("ckks", &graph, &record).expect_err("no batches").to_string();
        assert!(message.contains("the rows of arrays depend on one another"), "{message}");
    }
}
