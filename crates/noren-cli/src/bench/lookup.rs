//! The suite `lookup`: a function of two encrypted numbers, by three methods.

use std::cell::RefCell;
use std::time::Instant;

use clap::ValueEnum;
use noren::bfv::{Ciphertext, Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, Keys, Parameters};
use noren::circuits::lookup::preset::MODULUS;
use noren::circuits::lookup::{Function, Layout, Lookup, LookupKeys, Plan, PolynomialLookup, Step, parameters_spec};
use noren::error::Error;

use crate::bench::ckks::seed;
use crate::bench::measure::Timing;
use crate::bench::record::Record;
use crate::bench::suite::Run;
use crate::failure::Failure;
use crate::machine;

/// How the table is multiplied with the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Method {
    /// The matrix at few limbs, under a sparse secret
    Fast,
    /// The matrix under the usual secret, as published by Nakashima et al.
    Linear,
    /// The polynomial with vectors as coefficients, as published by Maeda et al.
    Maeda,
}

/// The numbers that are looked up.
const NUMBERS: [usize; 2] = [31_415, 271];
/// What is looked up.
const FUNCTION: &str = "floor(x / y)";
/// The fewest evaluations of which the median is taken.
const LEAST_SAMPLES: usize = 3;

/// What all methods have in common.
struct World<'a> {
    run: &'a Run<'a>,
    context: Context,
    keys: Keys,
    threads: usize,
}

/// The degree that is asked for.
pub(super) fn degree(degrees: &[u32]) -> Result<u32, Failure> {
    match degrees {
        [] => Ok(15),
        &[log_n @ 12..=15] => Ok(log_n),
        _ => {
            let needed = "one degree from 12 to 15".to_owned();
            Err(Failure::Unsuitable { what: "--log-n", found: format!("{degrees:?}"), needed })
        }
    }
}

impl Method {
    const fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Linear => "linear",
            Self::Maeda => "maeda",
        }
    }

    /// The name of its evaluation in records.
    const fn op(self) -> &'static str {
        match self {
            Self::Fast => "lookup_fast",
            Self::Linear => "lookup_linear",
            Self::Maeda => "lookup_maeda",
        }
    }
}

/// `floor(x / y)`, and 0 for y = 0.
fn quotient(domain: [usize; 2]) -> Function {
    Function::rule(domain, |x, y| Some(x.checked_div(y).unwrap_or(0)))
}

/// Measures methods with each number of threads.
pub(super) fn run(run: &Run<'_>, log_n: u32, methods: &[Method]) -> Result<(), Failure> {
    let methods = if methods.is_empty() { &[Method::Fast, Method::Linear][..] } else { methods };
    // Smaller rings do not carry the modulus at any security: they are for trying out.
    let security = if log_n == 15 { noren::Security::Bits128 } else { noren::Security::None };
    let parameters = parameters_spec(log_n, security).build()?;
    for &threads in run.threads {
        let context = Context::with_threads(parameters.clone(), Some(threads))?;
        let request = KeyRequest { relinearization: true, ..KeyRequest::default() };
        let keys = context.generate_keys(seed(0), &request, None)?;
        let world = World { run, context, keys, threads };
        for method in methods {
            machine::reset_peak_rss();
            match method {
                Method::Fast => world.matrix(Plan::new(&parameters, [1 << log_n; 2])?, *method)?,
                Method::Linear => world.matrix(Plan::linear(&parameters, [1 << log_n; 2])?, *method)?,
                Method::Maeda => world.polynomial()?,
            }
        }
    }
    Ok(())
}

impl World<'_> {
    fn parameters(&self) -> &Parameters {
        self.context.parameters()
    }

    fn encrypt(&self, layout: &Layout) -> Result<[Ciphertext; 2], Error> {
        let encoder = Encoder::new(&self.context);
        let encryptor = Encryptor::public(&self.context, &self.keys.public, seed(1))?;
        let encrypt = |number: usize| {
            let number = number % layout.domain()[0];
            encryptor.encrypt(&encoder.encode(&layout.spread(&[number], layout.domain()[0])?)?)
        };
        Ok([encrypt(NUMBERS[0])?, encrypt(NUMBERS[1])?])
    }

    /// Whether this is the value of the function at the numbers.
    fn is_right(&self, function: &Function, layout: &Layout, result: &Ciphertext) -> Result<bool, Error> {
        let plaintext = Decryptor::new(&self.context, &self.keys.secret)?.decrypt(result)?;
        let found = layout.gather(&Encoder::new(&self.context).decode(&plaintext)?)[0];
        Ok(function.value(NUMBERS[0] % layout.domain()[0], NUMBERS[1] % layout.domain()[1]) == Some(found as u64))
    }

    /// The time of all samples, and for how long they are taken.
    fn samples(&self, mut sample: impl FnMut() -> Result<(), Error>) -> Result<Timing, Error> {
        let (begin, mut samples) = (Instant::now(), Vec::new());
        while samples.len() < LEAST_SAMPLES || begin.elapsed().as_secs_f64() < self.run.seconds {
            let start = Instant::now();
            sample()?;
            samples.push(start.elapsed().as_secs_f64() * 1e9);
        }
        Ok(Timing::of(&mut samples))
    }

    /// A method with a matrix: its preparation, keys and evaluation, step by step.
    fn matrix(&self, plan: Plan, method: Method) -> Result<(), Failure> {
        let layout = plan.layout();
        let quotient = quotient(layout.domain());
        let start = Instant::now();
        let lookup = Lookup::prepare(&self.context, &plan, &quotient, None)?;
        let record = self.prepared(start, "of a rule; once", method);
        self.run.report(&record.with("matrix_bytes", lookup.bytes()))?;

        let keys = LookupKeys::generate(&self.context, seed(2), &self.keys.secret, &plan, None)?;
        let evaluator = Evaluator::new(&self.context, self.keys.evaluation.clone())?;
        let [x, y] = self.encrypt(layout)?;
        let right = self.is_right(&quotient, layout, &lookup.evaluate(&evaluator, &keys, &x, &y)?)?;
        let steps = RefCell::new(Vec::new());
        let timing = self.samples(|| {
            let last = RefCell::new(Instant::now());
            let watch = |step: Step| {
                let took = last.replace(Instant::now()).elapsed();
                steps.borrow_mut().push((step, took.as_secs_f64() * 1e9));
            };
            lookup.evaluate_many(&evaluator, &keys, &[[&x, &y]], &watch).map(drop)
        })?;
        let mut record = self.record(method.op(), right.then_some(timing), FUNCTION, method);
        for (step, name) in [
            (Step::OneHot, "one_hot_ns"),
            (Step::Babies, "babies_ns"),
            (Step::Matrix, "matrix_ns"),
            (Step::Giants, "giants_ns"),
            (Step::Select, "select_ns"),
        ] {
            let mut times: Vec<f64> =
                steps.borrow().iter().filter(|(known, _)| *known == step).map(|(_, ns)| *ns).collect();
            record = record.with(name, Timing::of(&mut times).median_ns);
        }
        let rotations =
            layout.babies() - 1 + layout.halves() * (layout.giants() - 1) + plan.sum_rotations().0.concat().len() + 2;
        let squarings = 2 * (MODULUS - 1).ilog2() as usize;
        let record = record
            .with("products", squarings + 1)
            .with("rotations", rotations)
            .with("key_bytes", keys.bytes())
            .with("matrix_limbs", plan.limbs());
        self.run.report(&record)
    }

    /// The method with a polynomial.
    fn polynomial(&self) -> Result<(), Failure> {
        let quotient = quotient([self.parameters().degree(); 2]);
        let start = Instant::now();
        let lookup = PolynomialLookup::prepare(&self.context, &quotient)?;
        self.run.report(&self.prepared(start, "interpolated; once", Method::Maeda))?;
        let keys = self.context.generate_keys(seed(0), &lookup.keys(), None)?;
        let evaluator = Evaluator::new(&self.context, keys.evaluation.clone())?;
        let [x, y] = self.encrypt(lookup.layout())?;
        let right = self.is_right(&quotient, lookup.layout(), &lookup.evaluate(&evaluator, &x, &y)?)?;
        let timing = self.samples(|| lookup.evaluate(&evaluator, &x, &y).map(drop))?;
        let timing = right.then_some(timing);
        let record = self.record(Method::Maeda.op(), timing, FUNCTION, Method::Maeda);
        let rotations = lookup.keys().rotations.len() + 1;
        self.run.report(&record.with("products", lookup.products()).with("rotations", rotations))
    }

    /// The record of a preparation that began then.
    fn prepared(&self, start: Instant, note: &'static str, method: Method) -> Record {
        let prepared = Some(Timing::of(&mut [start.elapsed().as_secs_f64() * 1e9]));
        self.record("lookup_prepare", prepared, note, method)
    }

    fn record(&self, op: &'static str, timing: Option<Timing>, note: &'static str, method: Method) -> Record {
        let record = Record::of_integers("lookup", op, self.parameters(), self.threads, timing, note);
        record.with("method", method.name())
    }
}
