//! Comparisons that TFHE decides: what switches, its model, and its price.

use std::sync::Arc;

use noren_rlwe::error::Result;
use noren_rlwe::security::Security;
use noren_rlwe::torus::keys::CompactKeys;

use crate::backends::keys::ServerKeys;
use crate::backends::renewals::{Model, Overgrown};
use crate::backends::tfhe::price::costs;
use crate::bootstrapping::{self, Bootstrapper, Mode};
use crate::circuits::renewing::Renewable;
use crate::cost::price::{Party, Price};
use crate::lowering::decisions::{Decide, Decided};
use crate::schemes::ckks::model::ModelVector;
use crate::schemes::slots::SlotEvaluator;
use crate::schemes::{ckks, tfhe};
use crate::switching::functions::{BOUND_ROOM, reach};
use crate::switching::{self, Decision, Parameters, Readout, SchemeSwitch, Steps, SwitchingLaw};

/// How comparisons are decided.
#[derive(Clone)]
pub(super) struct Switches {
    pub(super) parameters: Parameters,
    pub(super) steps: Steps,
}

/// Decisions on the model of the noise.
pub(super) struct Decisions<'a> {
    pub(super) model: &'a Model,
    pub(super) switches: &'a Switches,
    /// The ratio of the predicted dead zone to the one that is reported: below 1 for plans, because the error bounds of ciphertexts
    /// differ from predicted ones.
    pub(super) margin: f64,
}

/// The bootstraps of samples that a decision takes.
pub(super) const fn bootstraps(steps: Steps) -> usize {
    match steps {
        Steps::One => 1,
        Steps::Three => 3,
    }
}

/// The set of TFHE that decides.
pub(super) const fn set(security: Security) -> &'static str {
    if matches!(security, Security::None) { "TOY_SWITCH" } else { "2_2" }
}

impl Switches {
    /// Decisions in so many steps, beside these parameters of bootstrapping.
    ///
    /// # Errors
    /// As [`Parameters::new`].
    pub(super) fn new(beside: &bootstrapping::Parameters, security: Security, steps: Steps) -> Result<Self> {
        let tfhe = tfhe::Preset::named(set(security))?.parameters()?;
        Ok(Self { parameters: Parameters::new(beside, &tfhe)?, steps })
    }

    /// The switch with the keys of a server, that has those of bootstrapping first.
    pub(super) fn switch(&self, bootstrapper: Arc<Bootstrapper>, keys: &ServerKeys) -> Result<SchemeSwitch> {
        let server = &keys.get::<tfhe::KeyFile<CompactKeys>>(1)?.key;
        let switching::KeyFile { context: ckks, parameters, keys } = keys.get(2)?;
        let torus = tfhe::Context::new(self.parameters.tfhe().clone())?;
        let context = switching::Context::new(parameters, ckks, &torus)?;
        let evaluator = tfhe::Evaluator::new(&torus, Arc::new(torus.expand(server)?))?;
        let between = Arc::new(context.expand(keys)?);
        Ok(SchemeSwitch::new(&context, bootstrapper, &evaluator, between)?.with_steps(self.steps))
    }
}

impl Decide<Renewable<ModelVector>> for Decisions<'_> {
    /// As [`SchemeSwitch::is_positive`], where the way down has the error of a bootstrap at most, and so has the way up.
    fn is_positive(&self, x: &Renewable<ModelVector>) -> Result<Decided<Renewable<ModelVector>>> {
        let (Self { model, switches, .. }, x) = (self, x.best());
        let (slots, law) = (model.noise.slots(x), switches.parameters.law(Mode::Real));
        let error = model.noise.error_bound(x);
        let reach = reach(x.range().magnitude(), x.worst_error());
        if !reach.is_finite() {
            return Err(Overgrown.into());
        }
        let [_, down] = model.errors(reach);
        let dead_zone = (reach * law.dead_zone(switches.steps, slots) + BOUND_ROOM * (error + down)) / self.margin;
        let [expected, up] = model.errors(1.0);
        let read = Readout::Bits.error(SwitchingLaw::bound(law.result(), slots)) / 2.0;
        let (decision, level) = (|x: f64| f64::from(u8::from(x > 0.0)), model.parameters.output_level());
        let errors = [model.deviation(x, expected), up + read];
        let result = model.noise.decided(x, (decision, [0.0, 1.0]), level, errors)?.into();
        Ok(Decided { result, dead_zone })
    }
}

impl Decide<Renewable<ckks::Ciphertext>> for SchemeSwitch {
    fn is_positive(&self, x: &Renewable<ckks::Ciphertext>) -> Result<Decided<Renewable<ckks::Ciphertext>>> {
        let Decision { result, dead_zone, .. } = Self::is_positive(self, x.best())?;
        Ok(Decided { result: result.into(), dead_zone })
    }
}

/// Adds the keys of decisions, and their bootstraps in a set of TFHE: so many, of which a batch runs at once.
///
/// # Errors
/// A machine on which no set was measured.
pub(crate) fn add_decisions(
    price: &mut Price,
    client: &Party,
    server: &Party,
    set: &str,
    [count, batch]: [usize; 2],
) -> Result<()> {
    price.keys_seconds += costs(&client.machine, set, client.threads)?.client_key * 1e-9;
    let costs = costs(&server.machine, set, server.threads)?;
    price.add_part("bootstraps of TFHE", count as f64, costs.bootstrap(batch.max(1)) * 1e-9 * count as f64);
    price.key_bytes += costs.client_key_bytes;
    price.server_memory += costs.server_key_bytes;
    Ok(())
}
