//! Candidates that the compiler finds: plans of backends for a workload's graph.

use std::sync::Arc;

use noren_ring::interrupt;
use noren_rlwe::error::Result;

use crate::advisor::candidate::{Accuracy, Candidate, Compiled, Outcome};
use crate::advisor::rank::is_slower;
use crate::advisor::workload::{Computation, Values, Workload};
use crate::backends::backend;
use crate::backends::options::Options;
use crate::backends::scheme::Scheme;
use crate::backends::table::{Backends, Offer};
use crate::cost::price::{Left, Party, Price};
use crate::graph::dag::Graph;
use crate::graph::evaluated::Evaluated;

/// The most products of entries of a matrix in one run, of many instances: more would take seconds to go through.
const MOST_PRODUCTS: usize = 1 << 24;
/// How far below 1 the values of squarings stay, as powers of two: the most, the least that is tried, and one that is usual, with
/// which quicker parameters may do.
const MOST_EXCLUDED: u32 = 1;
const USUAL_EXCLUDED: u32 = 10;
const LEAST_EXCLUDED: u32 = 40;

impl Workload {
    /// The options that the workload is compiled with.
    pub(crate) fn options(&self) -> Options {
        let precision = match self.values {
            Values::Real { bits } => Some(libm::exp2(-bits)),
            Values::Integer { .. } => None,
        };
        Options { precision, dead_zone: self.dead_zone, nearest: false, ..Options::default() }
    }

    /// The same with as many instances as arrays have room for, and how often it is done.
    fn in_batches(&self) -> (Self, usize) {
        let most = match self.computation {
            Computation::Matrix { rows, columns } => {
                self.most_instances().min((MOST_PRODUCTS / rows.saturating_mul(columns).max(1)).max(1))
            }
            _ => self.most_instances(),
        };
        if self.instances <= most {
            return (self.clone(), 1);
        }
        let instances = if most > 1 { 1 << most.ilog2() } else { 1 };
        (Self { instances, ..self.clone() }, self.instances.div_ceil(instances))
    }
}

/// The candidates of these backends. Squarings of real numbers for which none has a plan on `[-1, 1]` are also searched with
/// narrower ranges of inputs.
pub(super) fn offered(
    backends: &Backends<'_>,
    workload: &Workload,
    client: &Party,
    server: &Party,
) -> Result<Vec<Outcome>> {
    let (batch, runs) = workload.in_batches();
    let (options, log2_failure) = (batch.options(), Some(workload.log2_failure));
    let asked = Asked { backends, options: &options, runs, log2_failure, client, server };
    let within =
        |excluded: f64| match batch.graph_below(excluded).and_then(|graph| Ok((Evaluated::new(&graph)?, graph))) {
            Ok((evaluated, function)) => asked.candidates(&Arc::new(function), &evaluated, excluded),
            Err(error) => {
                let rejected = |name: &str| Ok(name.parse::<Scheme>()?.rejects(&error));
                backends.names().into_iter().map(rejected).collect()
            }
        };
    let all = within(0.0)?;
    let is_chain = matches!(workload.computation, Computation::Squarings { .. });
    if !is_chain || !matches!(workload.values, Values::Real { .. }) || all.iter().any(|outcome| outcome.is_ok()) {
        return Ok(all);
    }
    let narrowed = |exponent: u32| within(libm::exp2(-f64::from(exponent)));
    let has_one = |outcomes: &[Outcome]| outcomes.iter().any(|outcome| outcome.is_ok());
    let (mut found, mut exponent) = (narrowed(MOST_EXCLUDED)?, MOST_EXCLUDED);
    if !has_one(&found) {
        return Ok(all);
    }
    let mut refused = LEAST_EXCLUDED;
    while exponent + 1 < refused {
        let middle = u32::midpoint(exponent, refused);
        let outcomes = narrowed(middle)?;
        match has_one(&outcomes) {
            true => (found, exponent) = (outcomes, middle),
            false => refused = middle,
        }
    }
    if exponent > USUAL_EXCLUDED {
        for (tight, usual) in found.iter_mut().zip(narrowed(USUAL_EXCLUDED)?) {
            match (tight, usual) {
                (Ok(tight), Ok(usual)) => tight.extend(usual),
                (tight @ Err(_), usual @ Ok(_)) => *tight = usual,
                _ => {}
            }
        }
    }
    Ok(found)
}

/// A request to backends for the plans of a function: their options, and the parties of the prices.
pub(crate) struct Asked<'a> {
    pub(crate) backends: &'a Backends<'a>,
    pub(crate) options: &'a Options,
    /// How often the function runs.
    pub(crate) runs: usize,
    /// The base-two logarithm of the most probability that any result is wrong, if there is one.
    pub(crate) log2_failure: Option<f64>,
    pub(crate) client: &'a Party,
    pub(crate) server: &'a Party,
}

impl Asked<'_> {
    /// The candidates for a function, of inputs in `[excluded - 1, 1 - excluded]`, and what is evaluated of it.
    pub(crate) fn candidates(
        &self,
        function: &Arc<Graph>,
        evaluated: &Evaluated,
        excluded: f64,
    ) -> Result<Vec<Outcome>> {
        interrupt::check();
        let precision = self.options.precision_of(function);
        let options = Options { precision: Some(evaluated.precision(precision)), ..self.options.clone() };
        let outcome = |(name, plans): Offer| {
            let scheme: Scheme = name.parse()?;
            match plans {
                Err(error) => Ok(scheme.rejects(error)),
                Ok(plans) => {
                    let way = |plan| {
                        let (function, evaluated) = (Arc::clone(function), evaluated.clone());
                        Compiled { function, evaluated, plan, runs: self.runs, precision }
                    };
                    self.of_scheme(scheme, plans.into_iter().map(way), excluded)
                }
            }
        };
        self.backends.plans(evaluated.graph(), &options, None).into_iter().map(outcome).collect()
    }

    /// The candidates of plans, with those whose keys another device makes.
    fn of_scheme(&self, scheme: Scheme, ways: impl Iterator<Item = Compiled>, excluded: f64) -> Result<Outcome> {
        let (mut found, mut refused) = (Vec::new(), String::new());
        for way in ways {
            let plan = Arc::clone(&way.plan);
            let failure = plan.log2_failure()?.map(|log2| log2 + libm::log2(way.runs as f64));
            if let (Some(failure), Some(asked)) = (failure, self.log2_failure)
                && failure > asked
            {
                refused = format!("all bootstraps together fail with 2^{failure:.0}, asked for is 2^{asked:.0}");
                continue;
            }
            let runs = way.runs;
            let price = |client: &Party| plan.price(client, self.server).map(|price| price.times(runs));
            let mut own = Candidate::of_plan(scheme, way, price(self.client)?, failure)?;
            own.excluded = excluded;
            if excluded > 0.0 {
                own.reasons.push(format!(
                    "the precision is that of values up to 1 - {excluded:.2e} in absolute value: nearer to 1 the squarings \
                     raise errors further"
                ));
            }
            if let Some(left) = plan.left(self.client)? {
                found.extend(helped(&own, left, self.client, self.server, |helper| Ok(price(helper)?.keys_seconds))?);
            }
            found.push(own);
        }
        Ok(if found.is_empty() { scheme.rejects(refused) } else { Ok(found) })
    }
}

impl Candidate {
    /// A plan of a backend, with the base-two logarithm of the probability that a result of any run is wrong.
    fn of_plan(scheme: Scheme, compiled: Compiled, price: Price, failure: Option<f64>) -> Result<Self> {
        let plan = &compiled.plan;
        let bounds = plan.bounds()?;
        let exact = failure.map_or(Accuracy::Exact, Accuracy::ExactButFor);
        let of_results = |bounds: &backend::Bounds| compiled.evaluated.largest_bound(&bounds.outputs);
        let accuracy = bounds.as_ref().map_or(exact, |bounds| Accuracy::Within(of_results(bounds)));
        let reasons = vec![reason(&plan.outline(bounds.as_ref())?)];
        let (library, parameters) = ("noren".to_owned(), plan.words());
        Ok(Self { scheme, library, parameters, compiled, price, accuracy, excluded: 0.0, reasons })
    }
}

/// The counts that the time of a plan depends on, in words.
fn reason(outline: &backend::Outline) -> String {
    let bootstraps: usize = outline.steps.iter().map(|step| step.bootstraps).sum();
    let rotations: usize = outline.steps.iter().map(|step| step.rotations).sum();
    match (outline.slots, bootstraps) {
        (0, bootstraps) => format!("{bootstraps} bootstraps"),
        (slots, 0) => format!("{} levels, {slots} slots, {rotations} rotations", outline.levels),
        (slots, bootstraps) => format!("{bootstraps} bootstraps, {slots} slots"),
    }
}

/// The same with keys of a stronger device, if the client is slower than its server: the client draws two seeds, makes the secrets
/// from them, and encrypts; the stronger device makes the same secrets and all keys. It has the costs of the server on one thread,
/// as which `priced` prices the keys.
///
/// # Errors
/// Those of `priced`.
fn helped(
    own: &Candidate,
    left: Left,
    client: &Party,
    server: &Party,
    priced: impl FnOnce(&Party) -> Result<f64>,
) -> Result<Option<Candidate>> {
    if !is_slower(client, server) || own.price.key_bytes == 0 {
        return Ok(None);
    }
    let helper_seconds = priced(&Party { threads: 1, ..server.clone() })?;
    let (keys_seconds, client_memory) = (left.secrets_seconds, left.memory);
    let price = Price { keys_seconds, helper_seconds, client_memory, ..own.price.clone() };
    let mut reasons = own.reasons.clone();
    reasons.push("a stronger device of the same owner makes the keys, from two seeds that the client draws".to_owned());
    Ok(Some(Candidate { price, reasons, ..own.clone() }))
}
