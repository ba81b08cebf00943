//! All backends.

use std::sync::Arc;

use noren_rlwe::error::{Error, Result};

use crate::backends::backend::{Backend, Plan, Record};
use crate::backends::batches::Batches;
use crate::backends::bfv::BFV;
use crate::backends::bfv_lookups::BfvLookups;
use crate::backends::bgv::BGV;
use crate::backends::ckks::Ckks;
use crate::backends::ckks_bootstrapping::CkksBootstrapping;
use crate::backends::ckks_switching::CkksSwitching;
use crate::backends::moduli;
use crate::backends::options::Options;
use crate::backends::tfhe::Tfhe;
use crate::graph::dag::Graph;
use crate::graph::operation::Element;
use crate::lowering::error::CompileError;

/// The name of a backend, and its plans or why there are none.
pub(crate) type Offer = (&'static str, Result<Vec<Arc<dyn Plan>>>);

/// The most levels of functions that no backend which renews them evaluates in less time: beyond, the price decides.
const SHALLOW: usize = 24;

/// A static, because each crate that names a constant compiles all that its tables of methods lead to: BGV and BFV once more.
static ALL: [&dyn Backend; 7] = [&Ckks, &CkksBootstrapping, &CkksSwitching, &BGV, &BFV, &BfvLookups, &Tfhe];

/// Backends that a function may be compiled for.
#[derive(Debug, Clone, Copy)]
pub struct Backends<'a>(pub &'a [&'static dyn Backend]);

impl Default for Backends<'_> {
    fn default() -> Self {
        Self::ALL
    }
}

impl Backends<'_> {
    /// All of them.
    pub const ALL: Backends<'static> = Backends(&ALL);

    /// Their names.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|backend| backend.name()).collect()
    }

    /// The backend of this name.
    ///
    /// # Errors
    /// [`Error::Parameters`] with all names.
    pub fn named(&self, name: &str) -> Result<&'static dyn Backend> {
        let found = self.0.iter().find(|backend| backend.name() == name);
        found.copied().ok_or_else(|| Error::parameter("scheme", name, format!("auto, {}", self.names().join(", "))))
    }

    /// The plans of a backend for a graph, at least one.
    ///
    /// # Errors
    /// As [`Backend::plans`]: an operation that it does not have is named with the backends that have it.
    pub fn plans_of(
        &self,
        backend: &'static dyn Backend,
        graph: &Arc<Graph>,
        options: &Options,
    ) -> Result<Vec<Arc<dyn Plan>>> {
        let mut plans = moduli::plans(backend, graph, options).map_err(|error| self.named_in(error, backend, graph))?;
        let batched = plans.first().map(|whole| Batches::plans(backend, graph, options, &**whole));
        plans.extend(batched.into_iter().flatten());
        Ok(plans)
    }

    /// The plan of a file.
    ///
    /// # Errors
    /// As [`Backend::read`], and a backend that there is not.
    pub fn read(&self, name: &str, graph: &Arc<Graph>, record: &Record) -> Result<Arc<dyn Plan>> {
        let backend = self.named(name)?;
        let plan = match record.batch {
            Some(batch) => Batches::read(backend, graph, batch, &Record { batch: None, ..record.clone() }),
            None => moduli::read(backend, graph, record),
        };
        plan.map_err(|error| self.named_in(error, backend, graph))
    }

    /// The plans of each backend but one, or why there are none. Integers are to be exact, and what another
    /// backend does for less is not done twice.
    pub(crate) fn plans(&self, graph: &Arc<Graph>, options: &Options, but: Option<&str>) -> Vec<Offer> {
        let real =
            graph.nodes().iter().zip(graph.needed()).any(|(node, needed)| needed && node.element == Element::Real);
        let mut plans: Vec<Offer> = Vec::new();
        for &backend in self.0.iter().filter(|backend| Some(backend.name()) != but) {
            let name = backend.name();
            let is_shallow = |plan: &Arc<dyn Plan>| plan.usage().is_none_or(|usage| usage.depth <= SHALLOW);
            let is_cheap = |plans: &Result<Vec<_>>| plans.as_ref().is_ok_and(|plans| plans.iter().any(is_shallow));
            let has_plan = |cheaper: &str| {
                but == Some(cheaper) || plans.iter().any(|(name, plans)| *name == cheaper && is_cheap(plans))
            };
            let offered = if !real && !backend.is_exact() {
                let needed =
                    format!("real numbers: scheme=\"{name}\" computes with integers too, within an error bound");
                Err(Error::parameter("scheme", "integers, which are to be exact", needed))
            } else if let Some(cheaper) = backend.unless(graph).iter().find(|cheaper| has_plan(cheaper)) {
                let found = format!("a function that scheme=\"{cheaper}\" has the levels for");
                Err(Error::parameter("scheme", found, "a deeper one: what this scheme has more only takes time here"))
            } else {
                self.plans_of(backend, graph, options)
            };
            plans.push((name, offered));
        }
        plans
    }

    /// An error with the name of the backend, and of those that have an operation that it does not have.
    fn named_in(&self, error: Error, backend: &'static dyn Backend, graph: &Graph) -> Error {
        let Some(CompileError::Unsupported { node, place, operation, needed, .. }) = error.downcast_ref() else {
            return error;
        };
        let has = |other: &&&'static dyn Backend| !backend.evaluates(graph, *node) && other.evaluates(graph, *node);
        let others: Vec<String> =
            self.0.iter().filter(has).map(|other| format!("scheme=\"{}\"", other.name())).collect();
        let needed = match (&needed[..], others.is_empty()) {
            ("", true) => "no scheme here does".to_owned(),
            ("", false) => format!("use {}", others.join(" or ")),
            (needed, true) => needed.to_owned(),
            (needed, false) => format!("{needed}, or use {}", others.join(" or ")),
        };
        let (place, operation, scheme) = (place.clone(), operation.clone(), backend.name());
        CompileError::Unsupported { node: *node, place, operation, scheme, needed }.into()
    }
}
