//! A way to compute, and a plan of one.

use std::any::Any;
use std::fmt::{self, Debug};
use std::sync::Arc;

use noren_math::random::Seed;
use noren_ring::engine::Engine;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::security::Security;
use noren_rlwe::wire::publish::Destination;
use serde::{Deserialize, Serialize};

use crate::backends::keys::{PartKind, SecretKey, ServerKeys};
use crate::backends::options::Options;
use crate::circuits::recorder::CircuitUsage;
use crate::cost::price::{Left, Party, Price};
use crate::graph::dag::Graph;
use crate::graph::interval::Interval;
use crate::graph::node::Node;
use crate::graph::operation::Operation;
use crate::graph::shape::size;
use crate::lowering::nodes::Approximations;
use crate::schemes::ckks::CkksError;

/// A way to compute functions of arrays: a scheme, and how it is used.
///
/// A [`Plan`] has all that follows from a function: this only makes and reads plans. All of them are in
/// [`Backends::ALL`](crate::backends::Backends::ALL).
pub trait Backend: Debug + Sync {
    /// Its name, for options and files.
    fn name(&self) -> &'static str;

    /// Whether results are exact; otherwise they are within an error bound.
    fn is_exact(&self) -> bool;

    /// Whether it adds and multiplies integers modulo any prime by which a function takes the remainders of all outputs, if rings have
    /// slots for it: then results beyond one modulus are computed modulo several.
    fn has_moduli(&self) -> bool {
        false
    }

    /// The backends that take less for the same function wherever one of them has a plan of few levels: then this one is not chosen
    /// unless it is named.
    fn unless(&self, _: &Graph) -> &'static [&'static str] {
        &[]
    }

    /// Whether it has an operation: that of this node, on operands of these types and ranges.
    fn evaluates(&self, graph: &Graph, at: usize) -> bool;

    /// Small parameters for a function, as it is [evaluated](crate::graph::Evaluated): at least one plan, and all between which the price
    /// decides.
    ///
    /// # Errors
    /// [`CompileError`](crate::compiler::CompileError) for operations that it does not have, or a precision that it does not
    /// reach.
    fn plans(&'static self, graph: &Arc<Graph>, options: &Options) -> Result<Vec<Arc<dyn Plan>>>;

    /// The plan of a file: [`Plan::record`] gave the record.
    ///
    /// # Errors
    /// A record of no plan for this function.
    fn read(&'static self, graph: &Arc<Graph>, record: &Record) -> Result<Arc<dyn Plan>>;
}

/// A function with parameters of a backend: what is known of it before it runs, and the verbs of both halves.
///
/// Inputs and outputs are arrays in row-major order. What travels is a list of containers: [`Plan::encrypt`] and
/// [`Running::run`] give them.
pub trait Plan: Send + Sync {
    /// The name of its backend.
    fn backend(&self) -> &'static str;

    /// The record of it in a file.
    fn record(&self) -> Record;

    /// The parameters: of the type that the scheme has for them.
    fn parameters(&self) -> &dyn Any;

    /// The parameters in words.
    fn words(&self) -> String;

    /// The security that the parameters promise for every key.
    fn security(&self) -> Security;

    /// The price of one run.
    ///
    /// # Errors
    /// A machine without costs of the threads.
    fn price(&self, client: &Party, server: &Party) -> Result<Price>;

    /// The cost that remains to a client whose keys a stronger device of the same owner generates; none where that saves nothing.
    ///
    /// # Errors
    /// A machine without costs of the threads.
    fn left(&self, _client: &Party) -> Result<Option<Left>> {
        Ok(None)
    }

    /// The bounds on the errors of all nodes as the noise is predicted; none where results are exact.
    ///
    /// # Errors
    /// None of plans that were made.
    fn bounds(&self) -> Result<Option<Bounds>> {
        Ok(None)
    }

    /// The base-two logarithm of the probability that any result is wrong; none where only the bounds of errors may fail.
    ///
    /// # Errors
    /// None of plans that were made.
    fn log2_failure(&self) -> Result<Option<f64>> {
        Ok(None)
    }

    /// Ciphertexts, levels and steps, with the [bounds](Plan::bounds) of this plan in the steps.
    ///
    /// # Errors
    /// None of plans that were made.
    fn outline(&self, bounds: Option<&Bounds>) -> Result<Outline>;

    /// The levels and keys that the server needs, as far as they depend on the function.
    fn usage(&self) -> Option<&CircuitUsage> {
        None
    }

    /// The objects that a secret key consists of.
    fn secret_parts(&self) -> Vec<PartKind>;

    /// The objects that the keys of the server consist of.
    fn server_parts(&self) -> Vec<PartKind>;

    /// Makes a secret key. The seed is as secret as the key.
    ///
    /// # Errors
    /// Parameters whose rings cannot be made.
    fn make_secret(&self, seed: &Seed) -> Result<SecretKey>;

    /// Makes the keys of the server for a secret key; nothing in them decrypts.
    ///
    /// # Errors
    /// A secret key of other parameters; [`Error::Insecure`](noren_rlwe::error::Error::Insecure) names a key whose modulus is too
    /// large.
    fn make_server_keys(&self, secret: &SecretKey, seed: &Seed) -> Result<ServerKeys>;

    /// Makes the keys of the server straight into a file, as a whole or not at all; `progress` hears how many are done, of how
    /// many, where there are several.
    ///
    /// # Errors
    /// As [`Plan::make_server_keys`], and what writing refuses.
    fn write_server_keys(
        &self,
        secret: &SecretKey,
        seed: &Seed,
        to: Destination<'_>,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<()> {
        let keys = self.make_server_keys(secret, seed)?;
        progress(1, 1);
        keys.write_file(to)
    }

    /// Encrypts inputs: a container of ciphertexts for each. It is empty for those that are not given, and for those that no result
    /// depends on.
    ///
    /// # Errors
    /// A secret key of other parameters; what the encoder refuses; inputs that are not given to a plan that encrypts all together.
    fn encrypt(&self, secret: &SecretKey, inputs: &[Option<&[f64]>], seed: Seed) -> Result<Vec<Vec<u8>>>;

    /// The server half with its keys.
    ///
    /// # Errors
    /// Keys of other parameters; keys that are missing.
    fn server(self: Arc<Self>, keys: &ServerKeys) -> Result<Box<dyn Running>>;

    /// Decrypts outputs, with bounds on their errors.
    ///
    /// # Errors
    /// Containers of other ciphertexts; what the decryptor refuses.
    fn decrypt(&self, secret: &SecretKey, outputs: &[Vec<u8>]) -> Result<Outcome>;

    /// Evaluates the function in the clear, with the noise that the scheme would add; exact schemes add none.
    ///
    /// # Errors
    /// Inputs for which the function is not defined.
    fn simulate(&self, inputs: &[Vec<f64>], seed: &Seed) -> Result<Outcome>;
}

impl fmt::Debug for dyn Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plan({}, {})", self.backend(), self.words())
    }
}

/// The server half of a plan, with its keys.
pub trait Running: Send + Sync {
    /// Evaluates the function on containers of [`Plan::encrypt`]: containers of its results.
    ///
    /// # Errors
    /// Containers of other ciphertexts; what the evaluator refuses.
    fn run(&self, inputs: &[Vec<u8>]) -> Result<Vec<Vec<u8>>>;

    /// The threads on which several runs work side by side; without them one follows the other, each on all threads.
    fn engine(&self) -> Option<&Engine> {
        None
    }
}

/// The record of a plan in a file, beside the function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The bytes of the parameters, in hexadecimal.
    pub parameters: String,
    /// The slots of each ciphertext; 1 where elements are encrypted one by one.
    pub slots: usize,
    /// How many rows of slots of a ciphertext hold elements of their own.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub lanes: usize,
    /// The rows of a batch, where batches of rows run one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<usize>,
    /// The absolute error of approximations; 0 of exact schemes.
    pub error: f64,
    /// Real numbers that are closer than this may compare either way.
    pub dead_zone: Option<f64>,
    /// How comparisons are decided, by plans that decide them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decisions: Option<Decisions>,
    /// The plans modulo several primes, where one does not hold the results; the fields beside are those of the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moduli: Vec<Modulus>,
}

/// A function modulo a prime.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Modulus {
    /// The prime.
    pub modulus: u64,
    /// The plan.
    pub plan: Record,
}

const fn one() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_one(count: &usize) -> bool {
    *count == 1
}

/// How comparisons of real numbers are decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decisions {
    /// The bytes of the parameters of the scheme that decides, in hexadecimal.
    pub parameters: String,
    /// The bootstraps of each decision.
    pub bootstraps: usize,
}

/// The results of a function, after decryption.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// For each output its elements, in row-major order.
    pub values: Vec<Vec<f64>>,
    /// For each output a bound on the absolute error of its elements; 0 for exact schemes.
    pub bounds: Vec<f64>,
    /// For each output whose elements may be integers beyond 2^53 these elements: its values are the nearest that `f64` holds.
    pub integers: Vec<Option<Vec<i64>>>,
}

impl Outcome {
    /// Values, with a bound on the error of each output.
    #[must_use]
    pub fn within(values: Vec<Vec<f64>>, bounds: Vec<f64>) -> Self {
        Self { integers: vec![None; values.len()], values, bounds }
    }

    /// Values without errors.
    #[must_use]
    pub fn exact(values: Vec<Vec<f64>>) -> Self {
        let bounds = vec![0.0; values.len()];
        Self::within(values, bounds)
    }

    /// The integers that the outputs of a graph are.
    pub(crate) fn whole(graph: &Graph, outputs: Vec<Vec<i64>>) -> Self {
        let nearest = |values: &Vec<i64>| values.iter().map(|&x| x as f64).collect();
        let outcome = Self::exact(outputs.iter().map(nearest).collect());
        let wide = graph.outputs().iter().zip(outputs).map(|(&at, values)| graph.is_wide(at).then_some(values));
        Self { integers: wide.collect(), ..outcome }
    }

    /// The outputs of a graph after decryption; NaN where ciphertexts are not as they state and the graph has a node
    /// [within](Operation::Within) a range, whose elements may have left it.
    ///
    /// # Errors
    /// Those of decryption, but for that one.
    pub(crate) fn or_unknown(found: Result<Self>, graph: &Graph) -> Result<Self> {
        let is_within = |(node, needed): (&Node, bool)| needed && matches!(node.operation, Operation::Within(..));
        let is_checked = graph.nodes().iter().zip(graph.needed()).any(is_within);
        let is_false = |error: &Error| matches!(error.downcast_ref(), Some(CkksError::NotAsStated { .. }));
        match found {
            Err(error) if is_checked && is_false(&error) => {
                let nothing = |&at: &usize| vec![f64::NAN; size(&graph.node(at).shape).unwrap_or(0)];
                let values: Vec<Vec<f64>> = graph.outputs().iter().map(nothing).collect();
                let bounds = vec![f64::NAN; values.len()];
                Ok(Self::within(values, bounds))
            }
            found => found,
        }
    }
}

/// The part of the width of an interval that the bound on the error of what is checked to lie there may be.
const CHECKED_PART: f64 = 1.0 / 32.0;

/// Bounds on errors, as noise is predicted.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    /// For each node the bound on the error of its elements, as far as it has ciphertexts.
    pub nodes: Vec<Option<f64>>,
    /// For each result.
    pub outputs: Vec<f64>,
    /// The largest bound of what is checked to lie in an interval, relative to what it may be, so that the check tells.
    pub checks: f64,
}

impl Bounds {
    /// Those of all nodes, and of all outputs.
    pub(crate) fn of(graph: &Graph, nodes: Vec<Option<f64>>, mut outputs: Vec<f64>) -> Self {
        let allowed = |&of: &usize| {
            let within = graph.nodes().iter().filter_map(|node| match node.operation {
                Operation::Within(node, range) if node == of => Some(CHECKED_PART * (range.high - range.low)),
                _ => None,
            });
            within.fold(f64::INFINITY, f64::min)
        };
        let checks = outputs.iter().zip(graph.outputs()).map(|(bound, of)| bound / allowed(of)).fold(0.0, f64::max);
        outputs.truncate(graph.results().len());
        Self { nodes, outputs, checks }
    }

    /// The largest bound of a result, where results may have one of `most`; as much larger than that as those of checks are too large.
    pub(crate) fn beside(&self, most: f64) -> f64 {
        if most == f64::INFINITY { self.largest() } else { self.largest().max(most * self.checks) }
    }

    /// The largest bound of a result.
    #[must_use]
    pub fn largest(&self) -> f64 {
        self.outputs.iter().copied().fold(0.0, f64::max)
    }
}

/// The outline of a plan: ciphertexts, levels, rotations and steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Outline {
    /// The ciphertexts of all inputs.
    pub ciphertexts: usize,
    /// The slots of each; 0 where elements are encrypted one by one.
    pub slots: usize,
    /// The levels that inputs have, and with bootstraps those that results of bootstraps have, for the function.
    pub levels: usize,
    /// The rotations that have a key.
    pub rotations: Vec<isize>,
    /// The steps, in order.
    pub steps: Vec<Step>,
}

impl Outline {
    /// The outline of `runs` runs, one after the other.
    pub(crate) fn times(self, runs: usize) -> Self {
        let step = |step: Step| Step {
            ciphertexts: step.ciphertexts * runs,
            products: step.products * runs,
            plain_products: step.plain_products * runs,
            rotations: step.rotations * runs,
            bootstraps: step.bootstraps * runs,
            ..step
        };
        Self { ciphertexts: self.ciphertexts * runs, steps: self.steps.into_iter().map(step).collect(), ..self }
    }
}

/// A node of a function that does something.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// The operation.
    pub operation: String,
    /// Where the function asks for it.
    pub place: String,
    /// The shape of the result.
    pub shape: Vec<usize>,
    /// Where its elements lie.
    pub range: Interval,
    /// The type of its elements, as the scheme holds them.
    pub element: String,
    /// The levels that are left after it.
    pub level: usize,
    /// The ciphertexts of the result.
    pub ciphertexts: usize,
    /// Products of ciphertexts.
    pub products: usize,
    /// Products with numbers in clear.
    pub plain_products: usize,
    /// Rotations.
    pub rotations: usize,
    /// Bootstraps.
    pub bootstraps: usize,
    /// The predicted bound on the error of its elements; 0 of exact schemes.
    pub bound: f64,
}

impl Record {
    /// The record of a plan that nothing else is known of than the bytes of its parameters, and the slots of each ciphertext.
    #[must_use]
    pub fn new(parameters: &[u8], slots: usize) -> Self {
        Self {
            parameters: Self::hexadecimal(parameters),
            slots,
            lanes: 1,
            batch: None,
            error: 0.0,
            dead_zone: None,
            decisions: None,
            moduli: Vec::new(),
        }
    }

    /// Bytes of parameters, as a record holds them.
    #[must_use]
    pub fn hexadecimal(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The bytes of the parameters.
    ///
    /// # Errors
    /// A text that is not hexadecimal.
    pub fn bytes(&self) -> Result<Vec<u8>> {
        Self::bytes_of(&self.parameters)
    }

    /// The bytes of a text in hexadecimal.
    ///
    /// # Errors
    /// Another text.
    pub(crate) fn bytes_of(text: &str) -> Result<Vec<u8>> {
        let digits: Option<Vec<u8>> = text.chars().map(|digit| digit.to_digit(16).map(|digit| digit as u8)).collect();
        let digits = digits.filter(|digits| digits.len().is_multiple_of(2));
        let digits = digits.ok_or_else(|| Error::parameter("parameters", "other text", "bytes in hexadecimal"))?;
        Ok(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
    }

    /// How functions of real numbers are approximated.
    ///
    /// # Errors
    /// An error that is not positive.
    pub(crate) fn approximations(&self) -> Result<Approximations> {
        let Self { error, dead_zone, .. } = *self;
        if error > 0.0 && error.is_finite() {
            return Ok(Approximations::of_reals(error, dead_zone));
        }
        Err(Error::parameter("error of approximations", error, "finite, and above 0"))
    }
}
