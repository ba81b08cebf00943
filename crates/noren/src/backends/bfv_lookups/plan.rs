//! Plans of graphs whose functions are looked up.

use std::any::Any;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use noren_math::random::Seed;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::keys::SecretKey as RlweSecret;
use noren_rlwe::security::Security;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::reader::Limits;
use noren_rlwe::wire::writer::Form;

use crate::backends::backend::{Backend, Bounds, Outcome, Outline, Plan, Record, Running, Step};
use crate::backends::bfv_lookups::fusion::Fusion;
use crate::backends::bfv_lookups::packing::{Call, Group, Packing};
use crate::backends::bfv_lookups::price::{BUDGET_FAILURE, LookupDraft};
use crate::backends::bfv_lookups::server::LookupsServer;
use crate::backends::ckks::in_words;
use crate::backends::keys::{Part, PartKind, SecretKey, ServerKeys, part};
use crate::backends::options::Options;
use crate::backends::parcel::single;
use crate::backends::slots::check_length;
use crate::cost::price::{Party, Price};
use crate::graph::dag::Graph;
use crate::graph::shape::size;
use crate::lookup::{Function, LookupKeyFile, LookupPlan, MODULUS, parameters_spec};
use crate::lowering::error::CompileError;
use crate::schemes::bfv::{Bfv, Context, Decryptor, Encoder, Encryptor, KeyFile, KeyRequest, Noise, Parameters};
use crate::schemes::integers::Ciphertexts;
use crate::schemes::integers::noise::Mode;

/// The ring that carries the parameters of lookups with 128-bit security.
const LOG_N: u32 = 15;
/// The smallest ring without security.
const LEAST_LOG_N: u32 = 9;

/// BFV with lookups: any function of one or two integers of up to 15 bits, and sums of such.
#[derive(Debug)]
pub struct BfvLookups;

/// Lookups for a graph.
pub(super) struct LookupsPlan {
    graph: Arc<Graph>,
    pub(super) fusion: Arc<Fusion>,
    pub(super) packing: Packing,
    pub(super) lookup: LookupPlan,
}

impl Backend for BfvLookups {
    fn name(&self) -> &'static str {
        "bfv-lookups"
    }

    fn is_exact(&self) -> bool {
        true
    }

    /// Whether the elements of the node are sums of functions of at most two elements of inputs.
    fn evaluates(&self, graph: &Graph, at: usize) -> bool {
        let mut part = graph.clone();
        part.finish(vec![at]).is_ok() && Fusion::of(&Arc::new(part)).is_ok()
    }

    fn plan(&'static self, graph: &Arc<Graph>, options: &Options) -> Result<Arc<dyn Plan>> {
        let fusion = Fusion::of(graph)?;
        let [x, y] = fusion.domain();
        let log_n = match options.security {
            Security::None => (x.max(y).next_power_of_two().ilog2() + 1).clamp(LEAST_LOG_N, LOG_N),
            _ => LOG_N,
        };
        let parameters = parameters_spec(log_n, options.security).build()?;
        Ok(Arc::new(LookupsPlan::new(graph, fusion, &parameters)?))
    }

    fn read(&'static self, graph: &Arc<Graph>, record: &Record) -> Result<Arc<dyn Plan>> {
        let parameters = Parameters::from_bytes(&(), &record.bytes()?)?;
        let t = parameters.modulus().value();
        if t != MODULUS {
            return Err(Error::parameter("plaintext_modulus", t, MODULUS));
        }
        let plan = LookupsPlan::new(graph, Fusion::of(graph)?, &parameters)?;
        check_length("slots", record.slots, plan.lookup.layout().queries())?;
        Ok(Arc::new(plan))
    }
}

impl LookupsPlan {
    fn new(graph: &Arc<Graph>, fusion: Fusion, parameters: &Parameters) -> Result<Self> {
        let lookup = LookupPlan::new(parameters, fusion.domain())?;
        let packing = Packing::of(&fusion, lookup.layout().queries());
        let plan = Self { graph: Arc::clone(graph), fusion: Arc::new(fusion), packing, lookup };
        plan.check()?;
        Ok(plan)
    }

    /// Refuses sums whose noise is too large, and functions of nothing.
    fn check(&self) -> Result<()> {
        let degree = self.lookup.layout().degree();
        let noises = [false, true].map(|matrix| self.lookup.largest_noise(matrix));
        for group in self.packing.encrypted() {
            if self.noise(group, &noises).budget(degree) < 0.0 {
                let fit = libm::exp2(noises.iter().map(|noise| noise.budget(degree)).fold(f64::INFINITY, f64::min));
                let needed = format!(
                    "sums of at most {fit:.0} results of functions, not {}: return parts of the sum, and add them after \
                     decryption",
                    group.calls.len()
                );
                let [output, _] = group.places[0][0];
                return Err(CompileError::unsupported(&self.graph, self.graph.outputs()[output], &needed).into());
            }
        }
        if self.packing.encrypted().next().is_none() {
            let output = self.graph.outputs()[0];
            return Err(CompileError::unsupported(&self.graph, output, "return constants without encryption").into());
        }
        Ok(())
    }

    /// The noise of a group at most, as the evaluator adds it up, where lookups of one and of two numbers have these.
    fn noise(&self, group: &Group, noises: &[Noise; 2]) -> Noise {
        let (parameters, limbs) = (self.lookup.parameters(), self.lookup.limbs());
        let laws = parameters.laws();
        let fresh = laws.fresh(Mode::Symmetric, parameters.max_limbs());
        let factor = |&(_, factor): &(usize, i64)| {
            let centered = factor.min(MODULUS.cast_signed() - factor);
            fresh.scaled(libm::log2(centered as f64))
        };
        let linear = group.inputs.iter().map(factor).reduce(|sum, term| sum.plus(&term));
        let linear = linear.map(|noise| noise.with(&laws.rounding(limbs)));
        let calls = group.calls.iter().map(|&at| noises[usize::from(is_pair(&self.packing.calls[at]))].clone());
        let sum = linear.into_iter().chain(calls).reduce(|sum, term| sum.plus(&term)).unwrap_or_else(Noise::none);
        sum.with(&laws.plain_rounding(limbs))
    }

    /// A function of numbers from 0 on, modulo [`MODULUS`]. Beyond the values of its arguments it is that of the last.
    pub(super) fn function(&self, at: usize) -> Function {
        let fusion = Arc::clone(&self.fusion);
        let calls = fusion.functions.calls(at);
        Function::batch(self.lookup.layout().domain(), move |x, y, values| {
            let ranges = &fusion.functions.get(at).ranges;
            let argument = |(numbers, &[low, high]): (&[u32], &[i64; 2])| -> Vec<i64> {
                numbers.iter().map(|&number| (low + i64::from(number)).min(high)).collect()
            };
            let points: Vec<Vec<i64>> = [x, y].into_iter().zip(ranges).map(argument).collect();
            let results = fusion.functions.values(&calls, &points).into_iter();
            let residue = |result: i64| result.rem_euclid(MODULUS.cast_signed()).cast_unsigned();
            values.iter_mut().zip(results).for_each(|(value, result)| *value = Some(residue(result)));
        })
    }

    /// For the price of some of the lookups.
    fn draft(&self, calls: &[&Call]) -> LookupDraft<'_> {
        let pairs: Vec<usize> = calls.iter().filter(|call| is_pair(call)).map(|call| call.function).collect();
        LookupDraft {
            plan: &self.lookup,
            inputs: self.packing.inputs.len(),
            results: self.packing.encrypted().count(),
            pairs: pairs.len(),
            matrices: pairs.iter().collect::<BTreeSet<_>>().len(),
            lines: calls.len() - pairs.len(),
            line_values: self.lookup.layout().domain()[0],
        }
    }

    /// The step of an output, with the lookups that no earlier one has.
    fn step(&self, output: usize, seen: &mut BTreeSet<usize>) -> Step {
        let (at, packing) = (self.graph.outputs()[output], &self.packing);
        let own = |group: &&Group| group.places.iter().flatten().any(|place| place[0] == output);
        let groups: Vec<&Group> = packing.encrypted().filter(own).collect();
        let calls = groups.iter().flat_map(|group| &group.calls).filter(|&&call| seen.insert(call));
        let calls: Vec<&Call> = calls.map(|&call| &packing.calls[call]).collect();
        let (draft, node) = (self.draft(&calls), self.graph.node(at));
        let ([factors, rotations], (sums, _)) = (draft.steps(), self.lookup.sum_rotations());
        Step {
            operation: node.operation.name(),
            place: node.place.clone(),
            shape: node.shape.clone(),
            range: node.range,
            element: "integer".to_owned(),
            level: 0,
            ciphertexts: groups.len(),
            products: draft.one_hot_vectors() * draft.squarings() + draft.pairs,
            plain_products: factors + draft.line_blocks(),
            rotations: rotations + calls.len() * sums.concat().len(),
            bootstraps: 0,
            bound: 0.0,
        }
    }
}

fn is_pair(call: &Call) -> bool {
    call.arguments.len() == 2
}

impl Plan for LookupsPlan {
    fn backend(&self) -> &'static str {
        BfvLookups.name()
    }

    fn record(&self) -> Record {
        let parameters = Record::hexadecimal(&self.lookup.parameters().to_bytes(&(), Form::Packed));
        Record { parameters, slots: self.lookup.layout().queries(), error: 0.0, dead_zone: None }
    }

    fn parameters(&self) -> &dyn Any {
        self.lookup.parameters()
    }

    fn words(&self) -> String {
        in_words(self.lookup.layout().degree(), self.lookup.parameters().rlwe())
    }

    fn security(&self) -> Security {
        self.lookup.parameters().rlwe().security()
    }

    fn price(&self, client: &Party, server: &Party) -> Result<Price> {
        self.draft(&self.packing.calls.iter().collect::<Vec<_>>()).price(client, server)
    }

    fn log2_failure(&self) -> Result<Option<f64>> {
        Ok(Some(BUDGET_FAILURE + libm::log2(self.packing.encrypted().count() as f64)))
    }

    fn outline(&self, _: Option<&Bounds>) -> Result<Outline> {
        let mut seen = BTreeSet::new();
        Ok(Outline {
            ciphertexts: self.packing.inputs.len(),
            slots: self.lookup.layout().queries(),
            levels: 0,
            rotations: self.lookup.rotations(),
            steps: (0..self.graph.outputs().len()).map(|output| self.step(output, &mut seen)).collect(),
        })
    }

    fn secret_parts(&self) -> Vec<PartKind> {
        vec![PartKind::of::<KeyFile<RlweSecret>>(self.lookup.parameters().fingerprint())]
    }

    fn server_parts(&self) -> Vec<PartKind> {
        let open = |path: &Path| -> Result<Arc<dyn Part>> { Ok(part(LookupKeyFile::open(path, &Limits::default())?)) };
        vec![PartKind::of::<LookupKeyFile>(self.lookup.parameters().fingerprint()).opened_by(open)]
    }

    fn make_secret(&self, seed: &Seed) -> Result<SecretKey> {
        let context = Context::new(self.lookup.parameters().clone())?;
        let key = context.generate_keys(seed.clone(), &KeyRequest::default())?.secret;
        Ok(SecretKey::of(vec![part(KeyFile { context, key })]))
    }

    fn make_server_keys(&self, secret: &SecretKey, seed: &Seed) -> Result<ServerKeys> {
        let KeyFile { context, key } = secret.get::<KeyFile<RlweSecret>>(0)?;
        let file = LookupKeyFile::generate(context, &self.lookup, key, seed.clone(), None)?;
        Ok(ServerKeys::of(vec![part(file)]))
    }

    fn encrypt(&self, secret: &SecretKey, inputs: &[Vec<f64>], seed: Seed) -> Result<Vec<Vec<u8>>> {
        let KeyFile { context, key } = secret.get::<KeyFile<RlweSecret>>(0)?;
        let (encoder, encryptor) = (Encoder::new(context), Encryptor::symmetric(context, key, seed)?);
        let numbers = inputs.concat().into_iter().zip(&self.fusion.ranges);
        let numbers: Vec<usize> = numbers.map(|(x, [low, _])| (x as i64).wrapping_sub(*low) as usize).collect();
        let encrypt = |elements: &Vec<usize>| {
            let lanes: Vec<usize> = elements.iter().map(|&element| numbers[element]).collect();
            encryptor.encrypt(&self.lookup.layout().encode(&encoder, &lanes, MODULUS as usize)?)
        };
        let ciphertexts = self.packing.inputs.iter().map(encrypt).collect::<Result<_>>()?;
        Ok(vec![Ciphertexts::<Bfv>(ciphertexts).to_bytes(context, Form::Packed)])
    }

    fn server(self: Arc<Self>, keys: &ServerKeys) -> Result<Box<dyn Running>> {
        Ok(Box::new(LookupsServer::new(self, keys)?))
    }

    fn decrypt(&self, secret: &SecretKey, outputs: &[Vec<u8>]) -> Result<Outcome> {
        let KeyFile { context, key } = secret.get::<KeyFile<RlweSecret>>(0)?;
        let Ciphertexts(outputs) = Ciphertexts::<Bfv>::from_bytes(context, single(outputs)?)?;
        check_length("ciphertexts of the outputs", outputs.len(), self.packing.encrypted().count())?;
        let (encoder, decryptor) = (Encoder::new(context), Decryptor::new(context, key)?);
        let nodes = self.graph.outputs();
        let count = |&at: &usize| size(&self.graph.node(at).shape).unwrap_or(0);
        let mut values: Vec<Vec<f64>> = nodes.iter().map(|at| vec![0.0; count(at)]).collect();
        let mut left = outputs.iter();
        for group in &self.packing.groups {
            let lanes = match group.is_constant() {
                true => group.constants.clone(),
                false => {
                    let output = left.next().expect("they were counted");
                    self.lookup.layout().gather(&encoder.decode(&decryptor.decrypt(output)?)?)
                }
            };
            for (number, places) in lanes.into_iter().zip(&group.places) {
                for &[output, position] in places {
                    // The only one of the residue in the range, which has no more values than there are residues.
                    let low = self.graph.node(nodes[output]).range.low as i64;
                    let rest = (number as i64 - low).rem_euclid(MODULUS.cast_signed());
                    values[output][position] = (low + rest) as f64;
                }
            }
        }
        Ok(Outcome::exact(values))
    }

    fn simulate(&self, inputs: &[Vec<f64>], _: &Seed) -> Result<Outcome> {
        self.graph.evaluate(inputs).map(Outcome::exact)
    }
}
