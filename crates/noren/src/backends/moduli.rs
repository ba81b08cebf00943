//! Integers beyond what one modulus of slots holds: the function modulo several primes, each with a plan of its own, and the Chinese
//! remainder theorem at the client.

use std::any::Any;
use std::sync::Arc;

use noren_math::random::Seed;
use noren_ring::engine::Engine;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::security::Security;

use crate::backends::backend::{Backend, Bounds, Modulus, Outcome, Outline, Plan, Record, Running};
use crate::backends::keys::{Key, PartKind, SecretKey, ServerKeys};
use crate::backends::modulus::{has_slots, modulus_above, modulus_holds, own_modulus};
use crate::backends::options::Options;
use crate::backends::parcel::{Purpose, in_runs};
use crate::circuits::recorder::CircuitUsage;
use crate::cost::price::{Party, Price};
use crate::graph::dag::Graph;
use crate::graph::wide::{centred, residues};
use crate::lowering::error::CompileError;

/// How many moduli are tried: the fewer there are, the larger is each, and the noise with it.
const COUNTS: [usize; 3] = [2, 3, 4];

/// The least ratio of the product of all moduli, without [`SPARE`], to the width of a result: ends of ranges are rounded by less.
const SLACK: f64 = 1.0 + 1.0 / 1024.0;

/// The part of the product of all moduli beside that ratio.
const SPARE: f64 = 65536.0;

/// Products are below this, so that those with a residue have 128 bits.
const LARGEST_PRODUCT: f64 = (1u128 << 100) as f64;

/// A function modulo several primes, with the plan of each.
struct Moduli {
    graph: Arc<Graph>,
    parts: Vec<(u64, Arc<dyn Plan>)>,
}

/// The server half: that of each modulus.
struct ServerOfModuli(Vec<Box<dyn Running>>);

/// The plans of a backend, modulo several primes where one does not hold the integers of a function.
///
/// # Errors
/// As [`Backend::plans`]; integers beyond 2^53 that a backend does not have, or that more is done with than sums, products and moves.
pub(super) fn plans(
    backend: &'static dyn Backend,
    graph: &Arc<Graph>,
    options: &Options,
) -> Result<Vec<Arc<dyn Plan>>> {
    if !(backend.has_moduli() && needs_several(graph)) {
        check_narrow(backend, graph)?;
        return backend.plans(graph, options);
    }
    let (mut all, mut refused): (Vec<Arc<dyn Plan>>, _) = (Vec::new(), None);
    for count in COUNTS {
        match Moduli::plans(backend, graph, &primes(graph, count)?, options) {
            Ok(plans) => all.extend(plans.map(|plan| Arc::new(plan) as _)),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    match refused {
        Some(error) if all.is_empty() => Err(error),
        _ => Ok(all),
    }
}

/// The plan of a file.
///
/// # Errors
/// As [`Backend::read`]; moduli that do not hold the results.
pub(super) fn read(backend: &'static dyn Backend, graph: &Arc<Graph>, record: &Record) -> Result<Arc<dyn Plan>> {
    if record.moduli.is_empty() {
        check_narrow(backend, graph)?;
        return backend.read(graph, record);
    }
    let primes: Vec<u64> = record.moduli.iter().map(|part| part.modulus).collect();
    let refused = |needed: &str| Error::parameter("moduli", format!("{primes:?}"), needed);
    if !backend.has_moduli() || primes.len() > *COUNTS.last().unwrap_or(&0) {
        return Err(refused("fewer"));
    }
    let is_new = |(at, modulus): (usize, &u64)| has_slots(*modulus) && !primes[..at].contains(modulus);
    if !primes.iter().enumerate().all(is_new) || !(width(graph)..LARGEST_PRODUCT).contains(&product(&primes)) {
        return Err(refused(
            "different primes with slots whose product is beyond the width of each result, below 2^100",
        ));
    }
    let part = |part: &Modulus| Ok((part.modulus, backend.read(&modulo(graph, part.modulus)?, &part.plan)?));
    let parts = record.moduli.iter().map(part).collect::<Result<Vec<_>>>()?;
    let plan = Moduli { graph: Arc::clone(graph), parts };
    if plan.record() != *record {
        return Err(refused("those of the first plan, beside the plans"));
    }
    Ok(Arc::new(plan))
}

/// Refuses integers beyond 2^53 that no modulus of the function itself takes.
fn check_narrow(backend: &'static dyn Backend, graph: &Graph) -> Result<()> {
    let has_own = backend.has_moduli() && own_modulus(graph).is_some();
    match graph.first_wide().filter(|_| backend.is_exact() && !has_own) {
        None => Ok(()),
        Some(at) => {
            let needed = "integers of at most 2^53: scheme=\"bgv\" and scheme=\"bfv\" add and multiply larger ones";
            Err(CompileError::unsupported(graph, at, needed).into())
        }
    }
}

/// Whether no single modulus holds the integers of a function.
fn needs_several(graph: &Graph) -> bool {
    own_modulus(graph).is_none() && !modulus_holds(graph)
}

/// The least product of moduli that tells the numbers of each result apart.
fn width(graph: &Graph) -> f64 {
    let width = |&at: &usize| graph.node(at).range.high - graph.node(at).range.low;
    SLACK * graph.outputs().iter().map(width).fold(0.0, f64::max) + SPARE
}

fn product(primes: &[u64]) -> f64 {
    primes.iter().map(|&prime| prime as f64).product()
}

/// So many primes, each as small as their product allows.
fn primes(graph: &Graph, count: usize) -> Result<Vec<u64>> {
    let root = libm::pow(width(graph), 1.0 / count as f64);
    let mut primes: Vec<u64> = Vec::with_capacity(count);
    for _ in 0..count {
        let above = primes.last().map_or(root, |&last| (last + 1) as f64);
        primes.push(modulus_above(above)?);
    }
    Ok(primes)
}

/// A function modulo a prime.
fn modulo(graph: &Graph, prime: u64) -> Result<Arc<Graph>> {
    let needed = "sums, products and moves alone of integers that are known by their residues, from 2^45 on";
    residues(graph, prime).map(Arc::new).map_err(|at| match at {
        Some(at) => CompileError::unsupported(graph, at, needed).into(),
        None => Error::parameter("matrix", "too many rows", "fewer, for integers from 2^45 on"),
    })
}

impl Moduli {
    /// The plans of a function: of each prime the first, of each the second, and so on.
    fn plans(
        backend: &'static dyn Backend,
        graph: &Arc<Graph>,
        primes: &[u64],
        options: &Options,
    ) -> Result<impl Iterator<Item = Self>> {
        let of_prime = |&prime: &u64| Ok((prime, backend.plans(&modulo(graph, prime)?, options)?));
        let plans = primes.iter().map(of_prime).collect::<Result<Vec<_>>>()?;
        let count = plans.iter().map(|(_, plans)| plans.len()).min().unwrap_or(0);
        let graph = Arc::clone(graph);
        let plan = move |at: usize| {
            let parts = plans.iter().map(|(prime, plans)| (*prime, Arc::clone(&plans[at]))).collect();
            Self { graph: Arc::clone(&graph), parts }
        };
        Ok((0..count).map(plan))
    }

    fn each(&self) -> impl Iterator<Item = &Arc<dyn Plan>> {
        self.parts.iter().map(|(_, plan)| plan)
    }

    /// The first, for what is the same in all.
    fn first(&self) -> &Arc<dyn Plan> {
        &self.parts[0].1
    }

    /// The seed of one of the plans.
    fn seed(seed: &Seed, at: usize) -> Seed {
        seed.derive_for("noren modulus", &[&[at as u64]])
    }

    /// The keys of each plan, of a key of all.
    fn apart<P: Purpose>(&self, key: &Key<P>, parts: impl Fn(&dyn Plan) -> usize) -> Vec<Key<P>> {
        let mut start = 0;
        let own = |plan: &Arc<dyn Plan>| {
            let range = start..start + parts(&**plan);
            start = range.end;
            key.some_of(range)
        };
        self.each().map(own).collect()
    }

    /// The numbers of an output with these residues modulo each prime: those nearest to the middle of its range.
    fn numbers(&self, output: usize, all: &[Outcome]) -> Vec<i64> {
        let range = self.graph.node(self.graph.outputs()[output]).range;
        let middle = f64::midpoint(range.low, range.high) as i128;
        // Garner's algorithm: each residue adds a multiple of the product of the primes before.
        let mut found = vec![0_i128; all[0].values[output].len()];
        let mut product = 1_i128;
        for ((prime, _), outcome) in self.parts.iter().zip(all) {
            let prime = i128::from(*prime);
            let inverse = power(product % prime, prime - 2, prime);
            for (number, &residue) in found.iter_mut().zip(&outcome.values[output]) {
                *number += product * ((residue as i128 - *number).rem_euclid(prime) * inverse % prime);
            }
            product *= prime;
        }
        let least = middle - product / 2;
        found.into_iter().map(|number| (least + (number - least).rem_euclid(product)) as i64).collect()
    }
}

/// `base^exponent` modulo a prime below 2^63.
fn power(mut base: i128, mut exponent: i128, prime: i128) -> i128 {
    let mut power = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = power * base % prime;
        }
        base = base * base % prime;
        exponent >>= 1;
    }
    power
}

impl Plan for Moduli {
    fn backend(&self) -> &'static str {
        self.first().backend()
    }

    fn record(&self) -> Record {
        let part = |(modulus, plan): &(u64, Arc<dyn Plan>)| Modulus { modulus: *modulus, plan: plan.record() };
        Record { moduli: self.parts.iter().map(part).collect(), ..self.first().record() }
    }

    fn parameters(&self) -> &dyn Any {
        self.first().parameters()
    }

    fn words(&self) -> String {
        self.each().map(|plan| plan.words()).collect::<Vec<_>>().join("; ")
    }

    fn security(&self) -> Security {
        self.each().map(|plan| plan.security()).min().unwrap_or(Security::None)
    }

    fn price(&self, client: &Party, server: &Party) -> Result<Price> {
        let prices = self.each().map(|plan| plan.price(client, server)).collect::<Result<Vec<_>>>()?;
        Ok(prices.into_iter().reduce(Price::then).unwrap_or_default())
    }

    fn outline(&self, _: Option<&Bounds>) -> Result<Outline> {
        let count = self.parts.len();
        let mut outline = self.first().outline(None)?.times(count);
        // Modulo a prime each result is reduced, which takes nothing.
        outline.steps.retain(|step| step.operation != "remainder");
        Ok(outline)
    }

    fn usage(&self) -> Option<&CircuitUsage> {
        self.first().usage()
    }

    fn secret_parts(&self) -> Vec<PartKind> {
        self.each().flat_map(|plan| plan.secret_parts()).collect()
    }

    fn server_parts(&self) -> Vec<PartKind> {
        self.each().flat_map(|plan| plan.server_parts()).collect()
    }

    fn make_secret(&self, seed: &Seed) -> Result<SecretKey> {
        let make = |(at, plan): (usize, &Arc<dyn Plan>)| plan.make_secret(&Self::seed(seed, at));
        Ok(SecretKey::joined(self.each().enumerate().map(make).collect::<Result<_>>()?))
    }

    fn make_server_keys(&self, secret: &SecretKey, seed: &Seed) -> Result<ServerKeys> {
        let secrets = self.apart(secret, |plan| plan.secret_parts().len());
        let make = |(at, plan): (usize, &Arc<dyn Plan>)| plan.make_server_keys(&secrets[at], &Self::seed(seed, at));
        Ok(ServerKeys::joined(self.each().enumerate().map(make).collect::<Result<_>>()?))
    }

    fn encrypt(&self, secret: &SecretKey, inputs: &[Option<&[f64]>], seed: Seed) -> Result<Vec<Vec<u8>>> {
        let secrets = self.apart(secret, |plan| plan.secret_parts().len());
        let encrypt = |(at, (prime, plan)): (usize, &(u64, Arc<dyn Plan>))| {
            // Inputs within half of the prime, which the function modulo it takes as they are, stay.
            let residues = |values: &[f64]| values.iter().map(|&x| centred(x, *prime)).collect();
            let inputs: Vec<Option<Vec<f64>>> = inputs.iter().map(|values| values.map(residues)).collect();
            let inputs: Vec<_> = inputs.iter().map(Option::as_deref).collect();
            plan.encrypt(&secrets[at], &inputs, Self::seed(&seed, at))
        };
        Ok(self.parts.iter().enumerate().map(encrypt).collect::<Result<Vec<_>>>()?.concat())
    }

    fn server(self: Arc<Self>, keys: &ServerKeys) -> Result<Box<dyn Running>> {
        let keys = self.apart(keys, |plan| plan.server_parts().len());
        let server = |(plan, keys): (&Arc<dyn Plan>, _)| Arc::clone(plan).server(keys);
        Ok(Box::new(ServerOfModuli(self.each().zip(&keys).map(server).collect::<Result<_>>()?)))
    }

    fn decrypt(&self, secret: &SecretKey, outputs: &[Vec<u8>]) -> Result<Outcome> {
        let secrets = self.apart(secret, |plan| plan.secret_parts().len());
        let each = in_runs(outputs, self.parts.len())?.zip(self.each()).zip(&secrets);
        let all = each.map(|((outputs, plan), secret)| plan.decrypt(secret, outputs)).collect::<Result<Vec<_>>>()?;
        let numbers = (0..self.graph.outputs().len()).map(|output| self.numbers(output, &all)).collect();
        Ok(Outcome::whole(&self.graph, numbers))
    }

    fn simulate(&self, inputs: &[Vec<f64>], _: &Seed) -> Result<Outcome> {
        Ok(Outcome::whole(&self.graph, self.graph.evaluate_whole(inputs)?))
    }
}

impl Running for ServerOfModuli {
    fn run(&self, inputs: &[Vec<u8>]) -> Result<Vec<Vec<u8>>> {
        let each = in_runs(inputs, self.0.len())?.zip(&self.0);
        Ok(each.map(|(inputs, server)| server.run(inputs)).collect::<Result<Vec<_>>>()?.concat())
    }

    fn engine(&self) -> Option<&Engine> {
        self.0.first()?.engine()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends::table::Backends;
    use crate::backends::tests::{run, toy};
    use crate::graph::interval::Interval;
    use crate::graph::operation::{Binary, Element, Operation, Reduction, Unary};

    fn input(graph: &mut Graph, name: &str, count: usize, range: Interval) -> usize {
        let input = Operation::Input { name: name.into(), shape: vec![count], element: Element::Integer, range };
        graph.push(input, "").expect("an input")
    }

    /// `sum(x)`, `sum(x y) - c` and `where(y > 3, x, -x)` of numbers up to 2^46 and 2^10.
    fn sums(count: usize) -> Arc<Graph> {
        let mut graph = Graph::default();
        let most = (1u64 << 46) as f64;
        let x = input(&mut graph, "x", count, Interval::new(-most, most));
        let y = input(&mut graph, "y", count, Interval::new(0.0, 7.0));
        let mut push = |operation| graph.push(operation, "here").expect("an operation");
        let number = |values: Vec<f64>| Operation::Constant { shape: vec![], element: Element::Integer, values };
        let (c, three) = (push(number(vec![(1u64 << 50) as f64 - 3.0])), push(number(vec![3.0])));
        let sum = push(Operation::Reduce(Reduction::Sum, x, vec![0]));
        let product = push(Operation::Binary(Binary::Mul, x, y));
        let products = push(Operation::Reduce(Reduction::Sum, product, vec![0]));
        let moved = push(Operation::Binary(Binary::Sub, products, c));
        let is_large = push(Operation::Binary(Binary::Greater, y, three));
        let negative = push(Operation::Unary(Unary::Neg, x));
        let chosen = push(Operation::Select(is_large, x, negative));
        graph.finish(vec![sum, moved, chosen]).expect("outputs");
        Arc::new(graph)
    }

    fn numbers(count: usize) -> [Vec<f64>; 2] {
        let x = |k: i64| ((k * 0x3fff_1234_5677) % (1 << 46)) * if k % 3 == 0 { -1 } else { 1 };
        [(0..count as i64).map(|k| x(k) as f64).collect(), (0..count).map(|k| (k * 5 % 8) as f64).collect()]
    }

    /// The results of [`sums`], by integers alone.
    fn expected([x, y]: &[Vec<f64>; 2]) -> Vec<Vec<i64>> {
        let pairs = || x.iter().zip(y).map(|(&x, &y)| (x as i64, y as i64));
        let chosen = pairs().map(|(x, y)| if y > 3 { x } else { -x }).collect();
        let sum = pairs().map(|(x, _)| x).sum();
        vec![vec![sum], vec![pairs().map(|(x, y)| x * y).sum::<i64>() - ((1 << 50) - 3)], chosen]
    }

    #[test]
    fn integers_beyond_one_modulus_are_exact() {
        for name in ["bgv", "bfv"] {
            let (graph, inputs) = (sums(500), numbers(500));
            let backend = Backends::ALL.named(name).expect("a backend");
            let plans = Backends::ALL.plans_of(backend, &graph, &toy(name)).expect("plans");
            let counts: Vec<usize> = plans.iter().map(|plan| plan.record().moduli.len()).collect();
            assert!(COUNTS.iter().all(|count| counts.contains(count)), "{name}: {counts:?}");
            let wanted = expected(&inputs);
            assert!(wanted[1][0].unsigned_abs() > 1 << 53);
            for plan in [plans.first(), plans.last()].into_iter().flatten() {
                let simulated = plan.simulate(&inputs, &Seed::from_bytes([1; 32])).expect("values");
                for outcome in [run(plan, &inputs), simulated] {
                    // Of these, the third is never beyond 2^53.
                    let whole = |x: &f64| *x as i64;
                    let third: Vec<i64> = outcome.values[2].iter().map(whole).collect();
                    assert_eq!(
                        [&outcome.integers[0], &outcome.integers[1]],
                        [&Some(wanted[0].clone()), &Some(wanted[1].clone())]
                    );
                    assert_eq!((third, &outcome.integers[2]), (wanted[2].clone(), &None));
                }
                let record = plan.record();
                let again = Backends::ALL.read(name, &graph, &record).expect("a plan of a file");
                assert_eq!((again.record(), again.words()), (record.clone(), plan.words()));
                let refused =
                    |record: Record| Backends::ALL.read(name, &graph, &record).expect_err("refused").to_string();
                let fewer = Record { moduli: record.moduli[1..2].to_vec(), ..record.clone() };
                assert!(refused(fewer).contains("beyond the width"));
                let twice = vec![record.moduli[0].clone(); record.moduli.len()];
                assert!(refused(Record { moduli: twice, ..record.clone() }).contains("different primes"));
                let large = |modulus: u64| Modulus { modulus, plan: record.moduli[0].plan.clone() };
                let primes = [1.0e13, 2.0e13, 3.0e13].map(|least| large(modulus_above(least).expect("a prime")));
                assert!(refused(Record { moduli: primes.to_vec(), ..record.clone() }).contains("below 2^100"));
                let mut others = record.clone();
                others.moduli[0].modulus = modulus_above(1e11).expect("a prime");
                let error = refused(others);
                assert!(error.contains("plaintext_modulus"), "the plan of another prime: {error}");
                assert!(refused(Record { slots: 2 * record.slots, ..record.clone() }).contains("of the first plan"));
                let none = Record { moduli: Vec::new(), ..record.moduli[0].plan.clone() };
                assert!(refused(none).contains("2^53"), "one modulus for all");
            }
        }
    }

    #[test]
    fn rows_of_large_integers_come_in_batches() {
        let mut graph = Graph::default();
        let most = (1u64 << 31) as f64;
        let rows = 3000;
        let x = input(&mut graph, "x", rows, Interval::new(-most, most));
        let square = graph.push(Operation::Binary(Binary::Mul, x, x), "").expect("a square");
        graph.finish(vec![square]).expect("an output");
        let graph = Arc::new(graph);
        let backend = Backends::ALL.named("bgv").expect("a backend");
        let plans = Backends::ALL.plans_of(backend, &graph, &toy("bgv")).expect("plans");
        let batched = plans.into_iter().find(|plan| plan.record().batch.is_some()).expect("batches");
        let x: Vec<i64> = (0..rows as i64).map(|k| (k * 0x1fff_1357) % (1 << 31) - k).collect();
        let outcome = run(&batched, &[x.iter().map(|&x| x as f64).collect()]);
        assert_eq!(outcome.integers, [Some(x.iter().map(|x| x * x).collect::<Vec<i64>>())]);
        assert!(batched.record().moduli.len() > 1);
        Backends::ALL.read("bgv", &graph, &batched.record()).expect("a plan of a file");
    }

    #[test]
    fn more_than_sums_and_products_of_large_integers_is_refused() {
        let graph = sums(500);
        for name in ["tfhe", "bfv-lookups"] {
            let backend = Backends::ALL.named(name).expect("a backend");
            let error = Backends::ALL.plans_of(backend, &graph, &toy(name)).expect_err("refused").to_string();
            assert!(error.contains("2^53") && error.contains("bgv"), "{name}: {error}");
        }
        let mut graph = Graph::default();
        let x = input(&mut graph, "x", 2, Interval::new(0.0, (1u64 << 47) as f64));
        let large = graph.push(Operation::Unary(Unary::Sign, x), "there").expect("signs");
        let sum = graph.push(Operation::Binary(Binary::Mul, x, large), "").expect("a product");
        graph.finish(vec![sum]).expect("an output");
        let backend = Backends::ALL.named("bgv").expect("a backend");
        let error = Backends::ALL.plans_of(backend, &Arc::new(graph), &toy("bgv")).expect_err("refused").to_string();
        assert!(error.contains("there") && error.contains("residues"), "{error}");
    }
}
