//! The suite `lookup`: a function of two encrypted numbers, by three methods.

use std::cell::RefCell;
use std::time::Instant;

use clap::{Args, ValueEnum};
use noren::bfv::{Ciphertext, Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, Keys, Parameters};
use noren::error::Error;
use noren::lookup::MODULUS;
use noren::lookup::{Function, Layout, Lookup, LookupKeys, LookupPlan, PolynomialLookup, Step, parameters_spec};
use noren_cli::measure::{After, Failure, Record, Run, Timing, reset_peak_rss, seed};

/// The function, and how its table is multiplied with the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Method {
    /// The matrix at few limbs, under a sparse secret
    Fast,
    /// The same for eight pairs of numbers at once
    Eight,
    /// The same for numbers from 0 to t - 1, in two ciphertexts each: 8.6 GB
    Residues,
    /// The matrix under the usual secret, as published by Nakashima et al.
    Linear,
    /// The polynomial with vectors as coefficients, as published by Maeda et al.
    Maeda,
}

/// The options of the suite.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The base-two logarithm of the degree of the ring
    #[arg(long, value_name = "BITS", default_value_t = 15, value_parser = clap::value_parser!(u32).range(12..=15))]
    log_n: u32,
    /// Which methods [default: fast,linear]
    #[arg(long, value_enum, value_name = "METHOD,...", value_delimiter = ',')]
    method: Vec<Method>,
}

impl Options {
    /// Measures the suite, and says after it which step it was.
    pub(crate) fn run(&self, run: &Run<'_>, after: &mut After<'_>) -> Result<(), Failure> {
        measure(run, self.log_n, &self.method)?;
        after(&[("--suite", "lookup"), ("--log-n", &self.log_n.to_string())])
    }
}

/// The function of the lookup.
const FUNCTION: &str = "floor(x / y)";
/// The fewest evaluations of which the median is taken.
const LEAST_SAMPLES: usize = 3;

/// The time of all samples, none if a result was wrong, and of each step of each in nanoseconds.
type Measured = (Option<Timing>, Vec<(Step, f64)>);

/// The common part of all methods.
struct World<'a> {
    run: &'a Run<'a>,
    context: Context,
    keys: Keys,
    threads: usize,
}

impl Method {
    const fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Eight => "eight",
            Self::Residues => "residues",
            Self::Linear => "linear",
            Self::Maeda => "maeda",
        }
    }

    /// The name of its evaluation in records.
    const fn op(self) -> &'static str {
        match self {
            Self::Fast => "lookup_fast",
            Self::Eight => "lookup_eight",
            Self::Residues => "lookup_residues",
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
fn measure(run: &Run<'_>, log_n: u32, methods: &[Method]) -> Result<(), Failure> {
    let methods = if methods.is_empty() { &[Method::Fast, Method::Linear][..] } else { methods };
    // Smaller rings do not carry the modulus at any security: they are for trying out.
    let security = if log_n == 15 { noren::Security::Bits128 } else { noren::Security::None };
    let parameters = parameters_spec(log_n, security).build()?;
    for &threads in run.threads {
        let context = Context::with_threads(parameters.clone(), Some(threads))?;
        let request = KeyRequest { relinearization: true, ..KeyRequest::default() };
        let keys = context.generate_keys(seed(0), &request)?;
        let world = World { run, context, keys, threads };
        for method in methods {
            reset_peak_rss();
            let domain = [1 << log_n; 2];
            match method {
                Method::Fast | Method::Eight => world.matrix(&LookupPlan::new(&parameters, domain)?, *method)?,
                Method::Residues => world.matrix(&LookupPlan::new(&parameters, [MODULUS as usize; 2])?, *method)?,
                Method::Linear => world.matrix(&LookupPlan::linear(&parameters, domain)?, *method)?,
                Method::Maeda => world.polynomial(domain)?,
            }
        }
    }
    Ok(())
}

impl World<'_> {
    fn parameters(&self) -> &Parameters {
        self.context.parameters()
    }

    /// Looks up pairs that are drawn anew for each sample, `pairs` at once, and checks all results.
    fn measure(
        &self,
        layout: &Layout,
        function: &Function,
        pairs: usize,
        evaluate: impl Fn(&[[&Ciphertext; 2]], &dyn Fn(Step)) -> Result<Vec<Ciphertext>, Error>,
    ) -> Result<Measured, Error> {
        let (encoder, domain) = (Encoder::new(&self.context), layout.domain());
        let encryptor = Encryptor::public(&self.context, &self.keys.public, seed(1))?;
        let decryptor = Decryptor::new(&self.context, &self.keys.secret)?;
        let mut random = seed(3).xof("pairs");
        let (begin, mut samples, steps) = (Instant::now(), Vec::new(), RefCell::new(Vec::new()));
        // The first is a warm-up.
        while samples.len() <= LEAST_SAMPLES || begin.elapsed().as_secs_f64() < self.run.seconds {
            let numbers: Vec<[usize; 2]> =
                (0..pairs).map(|_| domain.map(|size| random.next_u64() as usize % size)).collect();
            let encrypt = |number: usize, size| encryptor.encrypt(&layout.encode(&encoder, &[number], size)?);
            let encrypted = numbers.iter().map(|&[x, y]| Ok([encrypt(x, domain[0])?, encrypt(y, domain[1])?]));
            let encrypted = encrypted.collect::<Result<Vec<_>, Error>>()?;
            let operands: Vec<[&Ciphertext; 2]> = encrypted.iter().map(|pair| pair.each_ref()).collect();
            let (start, last) = (Instant::now(), RefCell::new(Instant::now()));
            let watch = |step: Step| {
                let took = last.replace(Instant::now()).elapsed();
                steps.borrow_mut().push((step, took.as_secs_f64() * 1e9));
            };
            let results = evaluate(&operands, &watch)?;
            samples.push(start.elapsed().as_secs_f64() * 1e9);
            for (&[x, y], result) in numbers.iter().zip(&results) {
                let found = layout.gather(&encoder.decode(&decryptor.decrypt(result)?)?)[0];
                if Some(found as u64) != function.value(x, y) {
                    return Ok((None, steps.into_inner()));
                }
            }
        }
        Ok((Some(Timing::of(&mut samples[1..])), steps.into_inner()))
    }

    /// A record with the median time of each step.
    fn steps(mut record: Record, steps: &[(Step, f64)]) -> Record {
        for (step, name) in [
            (Step::OneHot, "one_hot_ns"),
            (Step::Powers, "powers_ns"),
            (Step::Babies, "babies_ns"),
            (Step::Matrix, "matrix_ns"),
            (Step::Giants, "giants_ns"),
            (Step::Select, "select_ns"),
        ] {
            let mut times: Vec<f64> = steps.iter().filter(|(known, _)| *known == step).map(|(_, ns)| *ns).collect();
            if !times.is_empty() {
                record = record.with(name, Timing::of(&mut times).median_ns);
            }
        }
        record
    }

    /// A method with a matrix: its preparation, keys and evaluation, step by step.
    fn matrix(&self, plan: &LookupPlan, method: Method) -> Result<(), Failure> {
        let (layout, pairs) = (plan.layout(), if method == Method::Eight { 8 } else { 1 });
        let quotient = quotient(layout.domain());
        let start = Instant::now();
        let lookup = Lookup::prepare(&self.context, plan, &quotient, None)?;
        let record = self.prepared(start, "of a rule; once", method);
        self.run.report(&record.with("matrix_bytes", lookup.bytes()))?;

        let keys = LookupKeys::generate(&self.context, seed(2), &self.keys.secret, plan, None)?;
        let evaluator = Evaluator::new(&self.context, self.keys.evaluation.clone())?;
        let evaluate =
            |pairs: &[[&Ciphertext; 2]], watch: &dyn Fn(Step)| lookup.evaluate_many(&evaluator, &keys, pairs, watch);
        let (timing, steps) = self.measure(layout, &quotient, pairs, evaluate)?;
        let [blocks, results] = layout.blocks();
        let giants = results * (layout.halves() * (layout.giants() - 1) + layout.halves() - 1);
        let sums = plan.sum_rotations().0.concat().len() + usize::from(plan.sum_rotations().1);
        let rotations = blocks * (layout.babies() - 1) + giants + sums;
        let squarings = (blocks + results) * (MODULUS - 1).ilog2() as usize;
        let record = Self::steps(self.record(method.op(), timing, FUNCTION, method), &steps)
            .with("products", pairs * (squarings + results))
            .with("rotations", pairs * rotations)
            .with("key_bytes", keys.bytes())
            .with("matrix_limbs", plan.limbs());
        self.run.report(&record)
    }

    /// The method with a polynomial.
    fn polynomial(&self, domain: [usize; 2]) -> Result<(), Failure> {
        let (quotient, start) = (quotient(domain), Instant::now());
        let lookup = PolynomialLookup::prepare(&self.context, &quotient)?;
        let record = self.prepared(start, "interpolated; once", Method::Maeda);
        self.run.report(&record.with("matrix_bytes", lookup.bytes()))?;

        let keys = self.context.generate_keys(seed(0), &lookup.keys())?;
        let evaluator = Evaluator::new(&self.context, keys.evaluation.clone())?;
        let evaluate = |pairs: &[[&Ciphertext; 2]], watch: &dyn Fn(Step)| {
            pairs.iter().map(|[x, y]| lookup.evaluate_watched(&evaluator, x, y, watch)).collect()
        };
        let (timing, steps) = self.measure(lookup.layout(), &quotient, 1, evaluate)?;
        let rotations = lookup.keys().rotations.len() + 1;
        let record = Self::steps(self.record(Method::Maeda.op(), timing, FUNCTION, Method::Maeda), &steps);
        let record = record.with("products", lookup.products()).with("rotations", rotations);
        self.run.report(&record.with("key_bytes", keys.evaluation.bytes()))
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
