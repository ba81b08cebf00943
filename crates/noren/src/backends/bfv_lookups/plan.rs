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

use crate::backends::backend::{Backend, Bounds, Outcome, Outline, Plan, Record, Running};
use crate::backends::bfv_lookups::fusion::Fusion;
use crate::backends::bfv_lookups::lookups::Lookups;
use crate::backends::bfv_lookups::price::BUDGET_FAILURE;
use crate::backends::bfv_lookups::server::LookupsServer;
use crate::backends::ckks::in_words;
use crate::backends::keys::{Part, PartKind, SecretKey, ServerKeys, part};
use crate::backends::options::Options;
use crate::backends::parcel::{containers, single};
use crate::backends::slots::check_length;
use crate::cost::price::{Party, Price};
use crate::graph::dag::Graph;
use crate::graph::shape::size;
use crate::lookup::{LookupKeyFile, MODULUS, parameters_spec};
use crate::schemes::bfv::{Bfv, Context, Decryptor, Encoder, Encryptor, KeyFile, KeyRequest, Parameters};
use crate::schemes::integers::Ciphertexts;

/// The ring that carries the parameters of lookups with 128-bit security.
const LOG_N: u32 = 15;
/// The smallest ring without security.
const LEAST_LOG_N: u32 = 9;

/// BFV with lookups: any function of one or two integers of up to 15 bits, and sums of such.
#[derive(Debug)]
pub struct BfvLookups;

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

    fn plans(&'static self, graph: &Arc<Graph>, options: &Options) -> Result<Vec<Arc<dyn Plan>>> {
        let fusion = Fusion::of(graph)?;
        let [x, y] = fusion.domain();
        let log_n = match options.security {
            Security::None => (x.max(y).next_power_of_two().ilog2() + 1).clamp(LEAST_LOG_N, LOG_N),
            _ => LOG_N,
        };
        let parameters = parameters_spec(log_n, options.security).build()?;
        Ok(vec![Arc::new(Lookups::new(graph, fusion, &parameters)?)])
    }

    fn read(&'static self, graph: &Arc<Graph>, record: &Record) -> Result<Arc<dyn Plan>> {
        let parameters = Parameters::from_bytes(&(), &record.bytes()?)?;
        let t = parameters.modulus().value();
        if t != MODULUS {
            return Err(Error::parameter("plaintext_modulus", t, MODULUS));
        }
        let plan = Lookups::new(graph, Fusion::of(graph)?, &parameters)?;
        check_length("slots", record.slots, plan.lookup.layout().queries())?;
        Ok(Arc::new(plan))
    }
}

impl Plan for Lookups {
    fn backend(&self) -> &'static str {
        BfvLookups.name()
    }

    fn record(&self) -> Record {
        let parameters = self.lookup.parameters().to_bytes(&(), Form::Packed);
        Record::new(&parameters, self.lookup.layout().queries())
    }

    fn parameters(&self) -> &dyn Any {
        self.lookup.parameters()
    }

    fn words(&self) -> String {
        let lookup = &self.lookup;
        let (words, queries) = (in_words(lookup.parameters().rlwe()), lookup.layout().queries());
        format!("{words}, t = {}, {queries} queries", lookup.parameters().modulus().value())
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

    fn encrypt(&self, secret: &SecretKey, inputs: &[Option<&[f64]>], seed: Seed) -> Result<Vec<Vec<u8>>> {
        let KeyFile { context, key } = secret.get::<KeyFile<RlweSecret>>(0)?;
        let (encoder, encryptor) = (Encoder::new(context), Encryptor::symmetric(context, key, seed)?);
        let Some(given) = inputs.iter().copied().collect::<Option<Vec<_>>>() else {
            let needed = "all inputs: they share ciphertexts in this scheme, BGV encrypts each for itself";
            return Err(Error::parameter("inputs that are encrypted", "some of them", needed));
        };
        let numbers = given.concat().into_iter().zip(&self.fusion.ranges);
        let numbers: Vec<usize> = numbers.map(|(x, [low, _])| (x as i64).wrapping_sub(*low) as usize).collect();
        let encrypt = |elements: &Vec<usize>| {
            let lanes: Vec<usize> = elements.iter().map(|&element| numbers[element]).collect();
            encryptor.encrypt(&self.lookup.layout().encode(&encoder, &lanes, MODULUS as usize)?)
        };
        let ciphertexts = self.packing.inputs.iter().map(encrypt).collect::<Result<_>>()?;
        // All inputs together stand for the first.
        let mut all = vec![Vec::new(); inputs.len()];
        all[0] = ciphertexts;
        Ok(containers(all, |ciphertexts| Ciphertexts::<Bfv>(ciphertexts).to_bytes(context, Form::Packed)))
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
