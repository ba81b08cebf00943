//! From slots to samples over the torus, and back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use noren_ring::torus::lwe::{Coefficients, Lwe};
use noren_ring::torus::table::Table;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::torus::scheme_switch::keys::SwitchKeys;
use noren_rlwe::torus::scheme_switch::slices::Slice;
use noren_rlwe::torus::scheme_switch::switch;

use crate::bootstrapping::ends::Affine;
use crate::bootstrapping::{Bootstrapper, Mode};
use crate::schemes::ckks::{Ciphertext, Evaluator};
use crate::schemes::extent::Extent;
use crate::schemes::slots::SlotEvaluator;
use crate::schemes::tfhe;
use crate::switching::context::Context;
use crate::switching::law::{LOG2_FAILURE, SwitchingLaw};
use crate::switching::layout::Layout;
use crate::switching::readout::Readout;
use crate::switching::resolution::Steps;
use crate::switching::samples::Samples;
use crate::switching::tables::LOW;

/// Takes ciphertexts of CKKS to samples of TFHE and back, under secrets of one owner. Shared between threads.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use noren::bootstrapping::{BootstrapKeys, Bootstrapper, Mode, Preset};
/// use noren::ckks::{self, Decryptor, Encoder, Encryptor, KeyRequest};
/// use noren::switching::{Context, Parameters, SchemeSwitch};
/// use noren::{Seed, tfhe};
///
/// // Sets without security, for the example; real ones are Preset::N16 and "2_2".
/// let bootstrapping = Preset::Toy.spec_for(4)?.build()?;
/// let set = tfhe::Preset::named("TOY_SWITCH")?.parameters()?;
/// let (ckks, torus) = (ckks::Context::new(bootstrapping.ckks()?)?, tfhe::Context::new(set.clone())?);
/// let context = Context::new(&Parameters::new(&bootstrapping, &set)?, &ckks, &torus)?;
///
/// let keys = ckks.generate_keys(Seed::random()?, &KeyRequest::default())?;
/// let samples = torus.generate_keys(Seed::random()?)?;
/// let boot = BootstrapKeys::generate(&ckks, &bootstrapping, &keys.secret, Seed::random()?, None)?;
/// let between = context.expand(&context.generate_keys(&keys.secret, &samples.secret, &Seed::random()?)?)?;
///
/// let bootstrapper = Arc::new(Bootstrapper::new(&ckks, &bootstrapping, Arc::new(boot), Mode::Real)?);
/// let evaluator = tfhe::Evaluator::new(&torus, samples.server.clone())?;
/// let switch = SchemeSwitch::new(&context, bootstrapper, &evaluator, Arc::new(between))?;
///
/// let x = Encoder::new(&ckks).encode(&[0.5, -0.25, 0.75], 16, bootstrapping.input_level())?;
/// let x = Encryptor::public(&ckks, &keys.public, Seed::random()?)?.encrypt(&x)?.with_range(-1.0, 1.0);
/// let signs = switch.sign(&x)?;
/// let found = Decryptor::new(&ckks, &keys.secret)?.decrypt_real(&signs.result)?;
/// assert!((found[1] + 1.0).abs() < signs.result.error_bound() && signs.dead_zone < 0.05);
/// # Ok::<(), noren::Error>(())
/// ```
pub struct SchemeSwitch {
    context: Context,
    bootstrapper: Arc<Bootstrapper>,
    evaluator: tfhe::Evaluator,
    keys: Arc<SwitchKeys>,
    layout: Layout,
    law: SwitchingLaw,
    steps: Steps,
    failure: f64,
}

/// The polynomials of a ciphertext on its way down, whose coefficients are values.
pub(super) struct Lowered {
    slices: Vec<Coefficients>,
    shape: Shape,
    /// The part of the circle that a value of 1 is.
    part: f64,
    /// A bound on the error of the phase of a value, in units of the circle: that of the ciphertext, and of its slots as
    /// coefficients.
    pub error: f64,
}

impl Lowered {
    /// How many values there are.
    pub(super) fn values(&self) -> usize {
        self.shape.count()
    }

    /// The distance of two values of which the phases are so far apart.
    pub(super) fn distance(&self, phases: f64) -> f64 {
        phases / self.part
    }

    /// The phase of results in slots that hold no value: 0, which costs nothing to pack; or, where these slots repeat and results
    /// are read as bits, one whose errors count in their squares, so that copies of them are as near to each other as the error
    /// bound says.
    pub(super) fn absent(&self, readout: Readout) -> u64 {
        let repeats = self.shape.extent.period() < self.shape.slots;
        if repeats && readout == Readout::Bits { LOW } else { 0 }
    }

    /// The bound on the error of a value.
    pub(super) fn error_of_values(&self) -> f64 {
        self.distance(self.error)
    }
}

/// How results of bootstraps are read, and what numbers become on the way up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    pub readout: Readout,
    pub affine: Affine,
}

impl SchemeSwitch {
    /// Switches with these keys.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] and [`Error::KeyMismatch`] for keys of other parameters or other secrets than those of the
    /// bootstrapper and of the evaluator; [`Error::Parameters`] for a bootstrapper of [`Mode::Paired`] or of other slots.
    pub fn new(
        context: &Context,
        bootstrapper: Arc<Bootstrapper>,
        evaluator: &tfhe::Evaluator,
        keys: Arc<SwitchKeys>,
    ) -> Result<Self> {
        let parameters = context.parameters();
        if bootstrapper.mode() == Mode::Paired {
            return Err(Error::parameter("mode", Mode::Paired, "real or complex"));
        }
        bootstrapper.evaluator().context().check(parameters.ckks(), "the parameters of switching")?;
        let (found, needed) = (bootstrapper.parameters(), parameters.bootstrapping());
        if found.spec() != needed.spec() {
            let [found, needed] = [found, needed].map(|parameters| format!("those of {} slots", parameters.slots()));
            return Err(Error::parameter("bootstrapping", found, needed));
        }
        keys.torus_owner().check(evaluator.keys().owner(), "the server keys of TFHE")?;
        keys.rlwe_owner().check(&bootstrapper.owner(), "the bootstrapping keys")?;
        context.tfhe().check_fingerprint(&evaluator.context().parameters().fingerprint(), "the evaluator of TFHE")?;
        let layout = parameters.layout(bootstrapper.mode());
        let law = parameters.law(bootstrapper.mode());
        let (context, evaluator) = (context.clone(), evaluator.clone());
        Ok(Self { context, bootstrapper, evaluator, keys, layout, law, steps: Steps::One, failure: LOG2_FAILURE })
    }

    /// The same with decisions in so many steps.
    #[must_use]
    pub fn with_steps(self, steps: Steps) -> Self {
        Self { steps, ..self }
    }

    /// In how many steps it decides.
    #[must_use]
    pub const fn steps(&self) -> Steps {
        self.steps
    }

    /// The same with another probability `2^log2` of results that are wrong outside dead zones: `2^-64` unless it is asked for. The
    /// dead zone is smaller where decisions may fail more often.
    ///
    /// # Errors
    /// [`Error::Parameters`] for a `log2` that is not from -500 to -20.
    pub fn with_failure(self, log2: f64) -> Result<Self> {
        if !(-500.0..=-20.0).contains(&log2) {
            return Err(Error::parameter("log2 of the failure", log2, "-500 to -20"));
        }
        Ok(Self { failure: log2, ..self })
    }

    /// `log2` of how likely a result is wrong outside dead zones.
    #[must_use]
    pub const fn failure(&self) -> f64 {
        self.failure
    }

    /// The context.
    #[must_use]
    pub const fn context(&self) -> &Context {
        &self.context
    }

    /// The bootstrapper on the way, which holds the keys of CKKS.
    #[must_use]
    pub const fn bootstrapper(&self) -> &Arc<Bootstrapper> {
        &self.bootstrapper
    }

    /// The evaluator of samples of TFHE.
    #[must_use]
    pub const fn evaluator(&self) -> &tfhe::Evaluator {
        &self.evaluator
    }

    /// The evaluator of CKKS, with the keys of bootstrapping.
    pub(super) fn ckks(&self) -> &Evaluator {
        self.bootstrapper.evaluator()
    }

    /// How much noise a switch adds.
    #[must_use]
    pub const fn law(&self) -> &SwitchingLaw {
        &self.law
    }

    /// The values of a ciphertext as samples, of which one of size 1 is this part of the circle: slots in their order, of complex
    /// messages all real parts before all imaginary ones.
    ///
    /// The ciphertext may be at any level from that of the input of bootstrapping up, and have any scale.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] and [`Error::KeyMismatch`] for ciphertexts of others;
    /// [`SlotError::NotReal`](crate::schemes::error::SlotError::NotReal) for a message that may be complex where bootstrapping is of
    /// real ones; [`Error::Length`] for more slots than are bootstrapped, [`Error::LevelExhausted`] for too few levels,
    /// [`Error::Parameters`] if values may leave the circle: `part (|z| + error)` is below 1/2.
    pub fn down(&self, a: &Ciphertext, part: f64) -> Result<Samples> {
        let lowered = self.lower(a, part)?;
        let count = lowered.shape.count();
        let numbers = (0..self.layout.parts()).flat_map(|part| (0..count).map(move |value| (part, value)));
        let values = numbers.map(|number| self.extract(&lowered, number)).collect();
        let owner = *self.keys.torus_owner();
        Ok(Samples { values, owner, part, error: lowered.error, deviation: self.law.down })
    }

    /// Samples as slots, at the level of results of bootstrapping and its canonical scale: of a phase x of the circle the slot is
    /// `sin(2 pi x)`. `readout` says how errors of phases count.
    ///
    /// There are as many samples as slots, or for complex slots twice as many. Fewer are as many slots as the next power of
    /// two, of which the others hold 0. The error bound is one of all slots: beside a 0 errors of phases count as
    /// [`Readout::Real`] has them, however samples are read.
    ///
    /// The error bound of the result holds but with the probability of all bounds, and that of
    /// [`BootstrapPlan::log2_failure`](crate::bootstrapping::BootstrapPlan::log2_failure).
    ///
    /// # Errors
    /// [`Error::Length`] for no sample, or more than slots hold; [`Error::ParameterMismatch`] and [`Error::KeyMismatch`] for
    /// samples of others.
    pub fn up(&self, samples: &Samples, readout: Readout) -> Result<Ciphertext> {
        self.check_samples(samples)?;
        let (parts, most) = (self.layout.parts(), self.layout.values());
        let found = samples.len();
        if !((1..=most).contains(&found) && found.is_multiple_of(parts)) {
            let needed = format!("1 to {most}, a multiple of {parts}");
            return Err(Error::Length { what: "samples", found, needed });
        }
        let count = found / parts;
        let slots = count.next_power_of_two();
        let shape = Shape { slots, extent: Extent::of_values(count, slots) };
        let affine = Affine { factor: 1.0, constant: 0.0 };
        let packed = self.packed(&samples.values.iter().collect::<Vec<_>>(), shape)?;
        let reading = Reading { readout, affine };
        // Slots without a sample have the noise of the way up alone, about a phase where the sine is steep.
        let absent = match slots - count {
            0 => 0.0,
            others => Readout::Real.error(SwitchingLaw::bound(self.law.up, parts * others)),
        };
        self.raise(&packed, shape, reading, (samples.error, samples.deviation), absent)
    }

    /// Results of bootstraps as the values of slots of this shape.
    ///
    /// # Errors
    /// As [`SchemeSwitch::up`].
    pub(super) fn climb(&self, samples: &[&Lwe], shape: Shape, reading: Reading) -> Result<Ciphertext> {
        let packed = self.packed(samples, shape)?;
        self.raise(&packed, shape, reading, (0.0, self.law.bootstrap), 0.0)
    }

    /// Samples at the coefficients of slots of this shape.
    fn packed(&self, samples: &[&Lwe], shape: Shape) -> Result<Vec<Slice>> {
        let count = shape.count();
        let groups: Vec<(usize, Vec<Option<&Lwe>>)> = self
            .layout
            .slices()
            .map(|slice| {
                let sample = |&(part, slot): &(usize, usize)| Some(samples[part * count + shape.value(slot)?]);
                (slice.number, slice.values.iter().map(sample).collect())
            })
            .collect();
        self.pack(groups)
    }

    /// Values by bootstraps: from their samples to samples that are read as a result. Slots that hold no value have the phase `others`,
    /// a word.
    ///
    /// Of values that do not repeat those of one slice are held at a time.
    ///
    /// # Errors
    /// Those of `bootstrap`, and as [`SchemeSwitch::up`].
    pub(super) fn through(
        &self,
        lowered: &Lowered,
        reading: Reading,
        others: u64,
        bootstrap: impl Fn(Vec<Lwe>) -> Result<Vec<Lwe>>,
    ) -> Result<Ciphertext> {
        let shape = lowered.shape;
        let repeats = shape.slots < self.layout.slots || shape.extent.period() < shape.slots;
        let dimension = self.context.tfhe().parameters().torus().dimension();
        let others = (others != 0).then(|| Lwe::trivial(dimension, others));
        let mut results: BTreeMap<(usize, usize), Lwe> = BTreeMap::new();
        let mut packed = Vec::new();
        for slice in self.layout.slices() {
            let number = |&(part, slot): &(usize, usize)| Some((part, shape.value(slot)?));
            let numbers: Vec<Option<(usize, usize)>> = slice.values.iter().map(number).collect();
            let is_new = |number: &&(usize, usize)| !results.contains_key(*number);
            let new: BTreeSet<(usize, usize)> = numbers.iter().flatten().filter(is_new).copied().collect();
            let operands = new.iter().map(|&number| self.extract(lowered, number)).collect();
            results.extend(new.into_iter().zip(bootstrap(operands)?));
            let sample =
                |number: &Option<(usize, usize)>| number.as_ref().map_or(others.as_ref(), |at| results.get(at));
            let samples = numbers.iter().map(sample).collect();
            packed.extend(self.pack(vec![(slice.number, samples)])?);
            if !repeats {
                results.clear();
            }
        }
        self.raise(&packed, shape, reading, (0.0, self.law.bootstrap), 0.0)
    }

    /// Results of a table at the phases of samples, each of which is decided wrong with probability `2^log2_failure` at most.
    pub(super) fn look_up(&self, operands: &[Lwe], table: &Table, log2_failure: f64) -> Result<Vec<Lwe>> {
        let jobs: Vec<(&Lwe, &Table)> = operands.iter().map(|sample| (sample, table)).collect();
        Ok(self.evaluator.bootstrap_failing(&jobs, log2_failure)?.into_iter().flatten().collect())
    }

    /// Refuses rotations of results without keys; names all of them.
    ///
    /// # Errors
    /// [`Error::MissingKey`].
    pub(crate) fn check_rotations(&self, steps: &[isize]) -> Result<()> {
        let (context, limbs) = (self.context.ckks(), self.bootstrapper.output_level() + 1);
        self.ckks().keys().check(None, steps.iter().map(|&steps| (context.rotation_exponent(steps), limbs)))
    }

    /// Refuses samples of other parameters, or under another secret.
    pub(super) fn check_samples(&self, samples: &Samples) -> Result<()> {
        self.keys.torus_owner().check(&samples.owner, "the samples")
    }

    /// The degree of tables.
    pub(super) fn table_degree(&self) -> usize {
        self.context.tfhe().parameters().torus().shape().degree
    }

    /// The coefficients of a ciphertext under the secret of the subring.
    ///
    /// # Errors
    /// As [`SchemeSwitch::down`].
    pub(super) fn lower(&self, a: &Ciphertext, part: f64) -> Result<Lowered> {
        let positive = part.is_finite() && part > 0.0;
        if !positive {
            return Err(Error::parameter("part", part, "a positive part of the circle"));
        }
        let coefficients = self.bootstrapper.coefficients(a, part)?;
        let context = self.context.ckks().rlwe();
        let sample = switch::down(context, coefficients.rlwe(), &self.keys, self.context.large())?;
        let slices = (0..sample.slices()).map(|number| sample.slice(number).coefficients()).collect();
        Ok(Lowered { slices, shape: Shape::of(a), part, error: part * coefficients.error_bound() })
    }

    /// The sample of a value.
    pub(super) fn extract(&self, lowered: &Lowered, (part, value): (usize, usize)) -> Lwe {
        let (coefficient, count) = (self.layout.coefficient((part, value)), lowered.slices.len());
        lowered.slices[coefficient % count].sample(coefficient / count)
    }

    /// Samples packed, slice by slice.
    fn pack(&self, groups: Vec<(usize, Vec<Option<&Lwe>>)>) -> Result<Vec<Slice>> {
        switch::pack(self.layout.steps(), groups, &self.keys, self.context.tfhe().server())
    }

    /// Packed samples as slots, where phases had an error of at most so much, and besides a deviation. Other slots have errors of
    /// at most `absent`.
    fn raise(
        &self,
        slices: &[Slice],
        shape: Shape,
        Reading { readout, affine }: Reading,
        (error, deviation): (f64, f64),
        absent: f64,
    ) -> Result<Ciphertext> {
        self.evaluator.failures().spend(1, self.bootstrapper.sine_failure())?;
        let coefficients = switch::up(self.context.ckks().rlwe(), slices, &self.keys)?;
        let result = self.bootstrapper.sines(coefficients, tag(slices), affine)?;
        let values = self.layout.parts() * shape.count();
        let error = readout.error(error + SwitchingLaw::bound(deviation.hypot(self.law.up), values));
        // Of two parts that may each be wrong by so much.
        let error = affine.factor.abs() * error.max(absent) * (self.layout.parts() as f64).sqrt();
        // Slots that are read as fewer are means of several, whose errors need not be independent: no larger than each of them.
        let bound = result.error_bound();
        let result = if shape.slots < result.slots() { result.with_error_bound(bound) } else { result };
        Ok(self.ckks().with_errors(result.read_in(shape.slots, shape.extent), &[], error))
    }
}

/// The name of polynomials that these become.
fn tag(slices: &[Slice]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for word in slices.iter().flat_map(|slice| &slice.words) {
        hasher.update(&word.to_le_bytes());
    }
    let hash = hasher.finalize();
    u64::from_le_bytes(*hash.as_bytes().first_chunk().expect("a digest has 32 bytes"))
}

/// Which slots of a result hold which values: slot j holds value j modulo the slots and the period, if that is one of the values.
/// So every copy is what the first one is, the slots behind its values included.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub slots: usize,
    pub extent: Extent,
}

impl Shape {
    fn of(a: &Ciphertext) -> Self {
        Self { slots: a.slots(), extent: a.extent() }
    }

    /// The position among the values of a slot, or nothing for one that holds none.
    fn value(&self, slot: usize) -> Option<usize> {
        let slot = slot % self.slots % self.extent.period();
        (slot < self.extent.values()).then_some(slot)
    }

    /// How many values there are.
    fn count(&self) -> usize {
        self.extent.values()
    }
}
