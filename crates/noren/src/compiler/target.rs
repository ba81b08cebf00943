//! A scheme with parameters for a graph.

use noren_rlwe as rlwe;
use noren_rlwe::error::Result;
use noren_rlwe::security::Security;

use crate::compiler::columns;
use crate::compiler::deep::DeepPlan;
use crate::compiler::error::CompileError;
use crate::compiler::moduli::IntegerPlan;
use crate::compiler::options::{Options, Scheme};
use crate::compiler::parameters::CkksPlan;
use crate::compiler::recording::Recording;
use crate::compiler::slots::lowering::Approximations;
use crate::graph::dag::Graph;
use crate::graph::operation::Element;
use crate::schemes::{ckks, integers, tfhe};

/// A scheme with parameters for a graph.
#[derive(Debug, Clone)]
pub(super) enum Target {
    Ckks { parameters: ckks::Parameters, approximations: Approximations, recording: Recording },
    Deep(Box<DeepPlan>),
    Bgv { parameters: integers::Parameters, recording: Recording },
    Tfhe { parameters: tfhe::Parameters },
}

/// The name of the set of TFHE with digits of two bits.
pub(super) fn set(security: Security) -> &'static str {
    if security == Security::None { "TOY_2_2" } else { "2_2" }
}

impl Target {
    /// The smallest parameters of a scheme for a graph.
    ///
    /// # Errors
    /// [`CompileError`] for operations that the scheme does not have, or a precision that it does not reach.
    pub(super) fn new(scheme: Scheme, graph: &Graph, options: &Options) -> Result<Self> {
        match scheme {
            Scheme::Ckks => {
                let CkksPlan { parameters, approximations, recording } = CkksPlan::search(graph, options)?;
                Ok(Self::Ckks { parameters, approximations, recording })
            }
            Scheme::CkksBootstrapping => Ok(Self::Deep(DeepPlan::search(graph, options)?.into())),
            Scheme::Bgv => {
                if let Some(real) = graph
                    .nodes()
                    .iter()
                    .zip(graph.needed())
                    .find(|(node, needed)| *needed && node.element == Element::Real)
                {
                    let (place, operation) = (real.0.place.clone(), real.0.operation.name());
                    let needed = "integers: use scheme=\"ckks\" for real numbers".to_owned();
                    return Err(CompileError::Unsupported { place, operation, scheme: "bgv", needed }.into());
                }
                let IntegerPlan { parameters, recording } = IntegerPlan::search(graph, options)?;
                Ok(Self::Bgv { parameters, recording })
            }
            Scheme::Tfhe => {
                columns::check(graph)?;
                Ok(Self::Tfhe { parameters: tfhe::Preset::named(set(options.security))?.parameters()? })
            }
        }
    }

    /// The parameters in words.
    pub(super) fn words(&self) -> String {
        let of_ring = |degree: usize, parameters: &rlwe::parameters::Parameters| {
            let (bits, security) = (parameters.log_qp(), parameters.security());
            format!("degree {degree}, modulus of {bits:.0} bits, {security} security")
        };
        match self {
            Self::Ckks { parameters, .. } => of_ring(parameters.degree(), parameters.rlwe()),
            Self::Deep(plan) => format!("bootstrapping {}", plan.parameters.name()),
            Self::Bgv { parameters, .. } => of_ring(parameters.degree(), parameters.rlwe()),
            Self::Tfhe { parameters } => parameters.to_string(),
        }
    }

    /// What was recorded on slots.
    pub(super) const fn recording(&self) -> Option<&Recording> {
        match self {
            Self::Ckks { recording, .. } | Self::Bgv { recording, .. } => Some(recording),
            Self::Deep(plan) => Some(&plan.recording),
            Self::Tfhe { .. } => None,
        }
    }

    /// The dead zone of comparisons of real numbers.
    pub(super) const fn dead_zone(&self) -> Option<f64> {
        match self {
            Self::Ckks { approximations, .. } => approximations.dead_zone,
            Self::Deep(plan) => plan.approximations.dead_zone,
            Self::Bgv { .. } | Self::Tfhe { .. } => None,
        }
    }

    /// The scheme.
    pub(super) const fn scheme(&self) -> Scheme {
        match self {
            Self::Ckks { .. } => Scheme::Ckks,
            Self::Deep(_) => Scheme::CkksBootstrapping,
            Self::Bgv { .. } => Scheme::Bgv,
            Self::Tfhe { .. } => Scheme::Tfhe,
        }
    }
}
