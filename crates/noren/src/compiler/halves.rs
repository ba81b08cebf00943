//! The two halves of a compiled function, in each scheme: encryption, evaluation, decryption.

use noren_math::random::Seed;
use noren_rlwe::error::{Error, Result};

use crate::bootstrapping::BootstrappingEvaluator;
use crate::circuits::recorder::CircuitUsage;
use crate::circuits::renewing::Renewing;
use crate::compiler::columns;
use crate::compiler::deep::Model;
use crate::compiler::layout::Layout;
use crate::compiler::parameters::{Modelled, encrypted_range};
use crate::compiler::program::Program;
use crate::compiler::recording::{Recording, Renewed, Stored};
use crate::compiler::slots::lowering::{Approximations, Lowering, Output, Shared};
use crate::compiler::target::Target;
use crate::graph::shape::indices;
use crate::programs::columns::{Column, ColumnEvaluator, Element};
use crate::schemes::ckks;
use crate::schemes::ckks::model::NoiseModel;
use crate::schemes::integers;
use crate::schemes::slots::SlotEvaluator;
use crate::schemes::{bgv, tfhe};

/// The results of a function, after decryption.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// For each output its elements, in row-major order.
    pub values: Vec<Vec<f64>>,
    /// For each output a bound on the absolute error of its elements; 0 for exact schemes.
    pub bounds: Vec<f64>,
}

impl Program {
    /// The levels and keys that a server of slots needs; nothing for columns, which need all server keys.
    #[must_use]
    pub const fn usage(&self) -> Option<&CircuitUsage> {
        match self.target.recording() {
            Some(recording) => Some(&recording.usage),
            None => None,
        }
    }

    /// The request for the evaluation keys of a function on CKKS, each for the level at which it is used; those of bootstraps come
    /// besides.
    ///
    /// # Errors
    /// A function on another scheme.
    pub fn ckks_keys(&self) -> Result<ckks::KeyRequest> {
        let (level, recording) = self.of_reals()?;
        recording.usage.key_request(level)
    }

    /// The request for the evaluation keys of a function on BGV.
    ///
    /// # Errors
    /// A function on another scheme.
    pub fn bgv_keys(&self) -> Result<bgv::KeyRequest> {
        let (_, recording) = self.on_bgv()?;
        Ok(bgv::KeyRequest {
            relinearization: recording.usage.relinearization.is_some(),
            rotations: recording.usage.rotations.keys().copied().collect(),
            ..bgv::KeyRequest::default()
        })
    }

    /// Encrypts inputs with CKKS, each in row-major order.
    ///
    /// # Errors
    /// A function on another scheme; [`CompileError::OutsideRange`](crate::compiler::CompileError::OutsideRange); what the
    /// encoder and the encryptor refuse.
    pub fn encrypt_ckks(
        &self,
        context: &ckks::Context,
        encryptor: &ckks::Encryptor<'_>,
        inputs: &[Vec<f64>],
    ) -> Result<Vec<ckks::Ciphertext>> {
        let (level, recording) = self.of_reals()?;
        self.check_inputs(inputs)?;
        let encoder = ckks::Encoder::new(context);
        let mut ciphertexts = Vec::with_capacity(recording.ciphertexts());
        for (view, slots) in self.packed(recording, inputs)? {
            let range = encrypted_range(&recording.views[view]);
            let plaintext = encoder.encode(&slots, recording.slots, level)?;
            ciphertexts.push(encryptor.encrypt_in(&plaintext, range)?);
        }
        Ok(ciphertexts)
    }

    /// Evaluates the function on encrypted inputs: the ciphertexts of all outputs.
    ///
    /// # Errors
    /// A function on another scheme; another number of ciphertexts; what the evaluator refuses.
    pub fn run_ckks<E>(&self, ev: &E, inputs: Vec<ckks::Ciphertext>) -> Result<Vec<ckks::Ciphertext>>
    where
        E: SlotEvaluator<Scalar = f64, Ciphertext = ckks::Ciphertext, Plaintext: Send + Sync> + Sync,
    {
        let Target::Ckks { approximations, recording, .. } = &self.target else {
            return Err(self.of_another_scheme("ckks"));
        };
        for ciphertext in &inputs {
            check_length("slots of an input", ciphertext.slots(), recording.slots)?;
        }
        self.run_slots(ev, recording, *approximations, inputs)
    }

    /// Evaluates a function with bootstraps on encrypted inputs: the ciphertexts of all outputs.
    ///
    /// # Errors
    /// As [`Program::run_ckks`]; parameters of another bootstrapper; what bootstrapping refuses.
    pub fn run_bootstrapping(
        &self,
        ev: &BootstrappingEvaluator,
        inputs: Vec<ckks::Ciphertext>,
    ) -> Result<Vec<ckks::Ciphertext>> {
        let Target::Deep(plan) = &self.target else { return Err(self.of_another_scheme("ckks-bootstrapping")) };
        if *ev.bootstrapper().parameters() != plan.parameters {
            let found = ev.bootstrapper().parameters().name();
            return Err(Error::parameter("bootstrapper", found, format!("one of {}", plan.parameters.name())));
        }
        for ciphertext in &inputs {
            check_length("slots of an input", ciphertext.slots(), plan.recording.slots)?;
        }
        let mut source = Renewed(Stored::new(&plan.recording, inputs)?);
        let renewing = Renewing::new(ev.evaluator(), ev.renewal());
        let (slots, approximations) = (plan.recording.slots, plan.approximations);
        let outputs = Lowering::new(&renewing, &self.simple, slots, approximations, &mut source).run(|_, _, _| {})?;
        let outputs = as_recorded(&plan.recording, outputs)?;
        Ok(outputs.into_iter().flatten().map(|part| part.best().clone()).collect())
    }

    /// Decrypts the outputs, with bounds on their errors.
    ///
    /// # Errors
    /// A function on another scheme; another number of ciphertexts; what the decryptor refuses.
    pub fn decrypt_ckks(&self, decryptor: &ckks::Decryptor<'_>, outputs: &[ckks::Ciphertext]) -> Result<Outcome> {
        let (_, recording) = self.of_reals()?;
        let slots = outputs.iter().map(|c| decryptor.decrypt_real(c)).collect::<Result<Vec<_>>>()?;
        let errors: Vec<f64> = outputs.iter().map(ckks::Ciphertext::error_bound).collect();
        self.unpacked(recording, &slots, &errors)
    }

    /// Encrypts inputs with BGV.
    ///
    /// # Errors
    /// As [`Program::encrypt_ckks`].
    pub fn encrypt_bgv(
        &self,
        context: &bgv::Context,
        encryptor: &bgv::Encryptor<'_>,
        inputs: &[Vec<f64>],
    ) -> Result<Vec<bgv::Ciphertext>> {
        let (_, recording) = self.on_bgv()?;
        self.check_inputs(inputs)?;
        let encoder = bgv::Encoder::new(context);
        let encrypt = |(_, slots): (usize, Vec<f64>)| {
            let numbers: Vec<i64> = slots.iter().map(|&x| x as i64).collect();
            encryptor.encrypt(&encoder.encode_row(&numbers)?)
        };
        self.packed(recording, inputs)?.into_iter().map(encrypt).collect()
    }

    /// Evaluates the function on inputs of BGV.
    ///
    /// # Errors
    /// As [`Program::run_ckks`].
    pub fn run_bgv(&self, ev: &bgv::Evaluator, inputs: Vec<bgv::Ciphertext>) -> Result<Vec<bgv::Ciphertext>> {
        let (_, recording) = self.on_bgv()?;
        self.run_slots(ev, recording, Approximations::EXACT, inputs)
    }

    /// Decrypts the outputs of a function on BGV.
    ///
    /// # Errors
    /// As [`Program::decrypt_ckks`].
    pub fn decrypt_bgv(
        &self,
        context: &bgv::Context,
        decryptor: &integers::Decryptor<'_>,
        outputs: &[bgv::Ciphertext],
    ) -> Result<Outcome> {
        let (_, recording) = self.on_bgv()?;
        let encoder = bgv::Encoder::new(context);
        let decrypt = |ciphertext: &bgv::Ciphertext| {
            let values = encoder.decode_signed(&decryptor.decrypt(ciphertext)?)?;
            Ok(values.into_iter().take(recording.slots).map(|x| x as f64).collect())
        };
        let slots = outputs.iter().map(decrypt).collect::<Result<Vec<Vec<f64>>>>()?;
        self.unpacked(recording, &slots, &vec![0.0; slots.len()])
    }

    /// Encrypts inputs with TFHE, a column each.
    ///
    /// # Errors
    /// As [`Program::encrypt_ckks`].
    pub fn encrypt_tfhe(&self, encryptor: &tfhe::Encryptor<'_>, inputs: &[Vec<f64>]) -> Result<Vec<Column>> {
        self.check_inputs(inputs)?;
        let column = |(values, element): (&Vec<f64>, Element)| {
            Column::encrypt(encryptor, element, &values.iter().map(|&x| x as i128).collect::<Vec<_>>())
        };
        inputs.iter().zip(self.input_elements()?).map(column).collect()
    }

    /// Evaluates the function on columns.
    ///
    /// # Errors
    /// A function on another scheme; columns of other types or lengths; what the evaluator refuses.
    pub fn run_tfhe(&self, ev: &ColumnEvaluator, inputs: &[Column]) -> Result<Vec<Column>> {
        let elements = self.input_elements()?;
        check_length("columns of the inputs", inputs.len(), elements.len())?;
        for ((column, element), at) in inputs.iter().zip(elements).zip(self.graph.inputs()) {
            check_length("elements of an input", column.count(), self.graph.node(at).shape.iter().product())?;
            if column.element() != element {
                return Err(Error::parameter("elements of an input", column.element(), element.to_string()));
            }
        }
        columns::run(&self.simple, ev, inputs)
    }

    /// Decrypts the outputs of a function on TFHE.
    ///
    /// # Errors
    /// As [`Program::decrypt_ckks`].
    pub fn decrypt_tfhe(&self, decryptor: &tfhe::Decryptor<'_>, outputs: &[Column]) -> Result<Outcome> {
        check_length("columns of the outputs", outputs.len(), self.graph.outputs().len())?;
        let decrypt = |(column, at): (&Column, &usize)| {
            check_length("elements of an output", column.count(), self.graph.node(*at).shape.iter().product())?;
            Ok(column.decrypt(decryptor)?.into_iter().map(|x| x as f64).collect())
        };
        let values = outputs.iter().zip(self.graph.outputs()).map(decrypt).collect::<Result<Vec<_>>>()?;
        Ok(Outcome { bounds: vec![0.0; values.len()], values })
    }

    /// Evaluates the function in the clear, with the noise that the scheme would add: on CKKS by its noise model; exact schemes
    /// add none.
    ///
    /// # Errors
    /// [`CompileError::OutsideRange`](crate::compiler::CompileError::OutsideRange).
    pub fn simulate(&self, inputs: &[Vec<f64>], seed: &Seed) -> Result<Outcome> {
        self.check_inputs(inputs)?;
        let nodes = self.graph.inputs();
        match &self.target {
            Target::Ckks { parameters, approximations, recording } => {
                let model = NoiseModel::new(parameters.clone(), Some(seed));
                let (level, slots, inputs) = (parameters.max_level(), recording.slots, Some((&nodes[..], inputs)));
                let mut source = Modelled { model: &model, level, slots, inputs };
                let lowering = Lowering::new(&model, &self.simple, slots, *approximations, &mut source);
                let parts = as_recorded(recording, lowering.run(|_, _, _| {})?)?.concat();
                let values: Vec<Vec<f64>> = parts.iter().map(|part| part.values().to_vec()).collect();
                let errors: Vec<f64> = parts.iter().map(|part| model.error_bound(part)).collect();
                self.unpacked(recording, &values, &errors)
            }
            Target::Deep(plan) => {
                let model = Model::new(plan.parameters.clone(), Some(seed))?;
                let inputs = Some((&nodes[..], inputs));
                let outputs = model.run(&self.simple, &plan.recording, plan.approximations, inputs, |_, _, _| {})?;
                check_counts(&plan.recording, &outputs)?;
                let parts = outputs.concat();
                let values: Vec<Vec<f64>> = parts.iter().map(|part| part.best().values().to_vec()).collect();
                let errors: Vec<f64> = parts.iter().map(|part| model.bound(std::slice::from_ref(part))).collect();
                self.unpacked(&plan.recording, &values, &errors)
            }
            Target::Bgv { .. } | Target::Tfhe { .. } => {
                let values = self.simple.evaluate(inputs)?;
                Ok(Outcome { bounds: vec![0.0; values.len()], values })
            }
        }
    }

    /// The types of the columns of inputs.
    ///
    /// # Errors
    /// A function on another scheme.
    pub fn input_elements(&self) -> Result<Vec<Element>> {
        match self.target {
            Target::Tfhe { .. } => {
                self.simple.inputs().into_iter().map(|at| columns::element_of(&self.simple, at)).collect()
            }
            _ => Err(self.of_another_scheme("tfhe")),
        }
    }

    fn run_slots<E: Shared>(
        &self,
        ev: &E,
        recording: &Recording,
        approximations: Approximations,
        inputs: Vec<E::Ciphertext>,
    ) -> Result<Vec<E::Ciphertext>> {
        let mut source = Stored::new(recording, inputs)?;
        in_pool(ev, || {
            let lowering = Lowering::new(ev, &self.simple, recording.slots, approximations, &mut source);
            Ok(as_recorded(recording, lowering.run(|_, _, _| {})?)?.concat())
        })
    }

    /// The slots of all ciphertexts of inputs, each with the position of its view.
    fn packed(&self, recording: &Recording, inputs: &[Vec<f64>]) -> Result<Vec<(usize, Vec<f64>)>> {
        let nodes = self.graph.inputs();
        let mut packed = Vec::with_capacity(recording.ciphertexts());
        for (at, view) in recording.views.iter().enumerate() {
            let input = nodes.iter().position(|&node| node == view.free.input);
            let input = input.ok_or_else(|| Error::parameter("view", at, "one of an input"))?;
            packed.extend(view.pack(&inputs[input], recording.slots).into_iter().map(|slots| (at, slots)));
        }
        Ok(packed)
    }

    /// The elements of all outputs in decrypted slots, whose ciphertexts lie one output after the other.
    fn unpacked(&self, recording: &Recording, slots: &[Vec<f64>], errors: &[f64]) -> Result<Outcome> {
        let parts = |layout: &Layout| layout.parts(recording.slots);
        check_length("ciphertexts of the outputs", slots.len(), recording.layouts.iter().map(parts).sum())?;
        slots.iter().try_for_each(|vector| check_length("slots of an output", vector.len(), recording.slots))?;
        let mut start = 0;
        let mut outcome = Outcome { values: Vec::new(), bounds: Vec::new() };
        for (layout, &at) in recording.layouts.iter().zip(self.graph.outputs()) {
            let count = parts(layout);
            let own = &slots[start..start + count];
            let element = |index: Vec<usize>| {
                let address = layout.address(&index);
                own[address / recording.slots][address % recording.slots]
            };
            outcome.values.push(indices(&self.graph.node(at).shape).map(element).collect());
            outcome.bounds.push(errors[start..start + count].iter().copied().fold(0.0, f64::max));
            start += count;
        }
        Ok(outcome)
    }

    /// The level of inputs of a function of real numbers, and what was recorded.
    fn of_reals(&self) -> Result<(usize, &Recording)> {
        match &self.target {
            Target::Ckks { parameters, recording, .. } => Ok((parameters.max_level(), recording)),
            Target::Deep(plan) => Ok((plan.parameters.output_level(), &plan.recording)),
            Target::Bgv { .. } | Target::Tfhe { .. } => Err(self.of_another_scheme("ckks")),
        }
    }

    fn on_bgv(&self) -> Result<(&integers::Parameters, &Recording)> {
        match &self.target {
            Target::Bgv { parameters, recording } => Ok((parameters, recording)),
            _ => Err(self.of_another_scheme("bgv")),
        }
    }

    fn of_another_scheme(&self, needed: &str) -> Error {
        Error::WrongKind { found: format!("a function on {}", self.scheme()), needed: format!("one on {needed}") }
    }
}

/// Runs work on a thread of the evaluator, which otherwise hands each of its loops over to its threads, and waits.
fn in_pool<E: SlotEvaluator, T: Send>(ev: &E, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    match ev.engine() {
        Some(engine) => engine.map(vec![work], |work| work()).swap_remove(0),
        None => work(),
    }
}

/// The ciphertexts of each output, where they lie as was recorded: decryption looks for elements there.
fn as_recorded<C>(recording: &Recording, outputs: Vec<Output<C>>) -> Result<Vec<Vec<C>>> {
    if let Some((found, known)) = outputs.iter().zip(&recording.layouts).find(|(found, known)| found.layout != **known)
    {
        let needed = format!("{:?}, as was recorded", known.dimensions);
        return Err(Error::parameter("layout of an output", format!("{:?}", found.layout.dimensions), needed));
    }
    let parts: Vec<Vec<C>> = outputs.into_iter().map(|output| output.parts).collect();
    check_counts(recording, &parts)?;
    Ok(parts)
}

/// Each output has the ciphertexts of its layout: a sum of counts would hide one too many beside one too few.
fn check_counts<C>(recording: &Recording, outputs: &[Vec<C>]) -> Result<()> {
    check_length("outputs", outputs.len(), recording.layouts.len())?;
    let counts = recording.layouts.iter().map(|layout| layout.parts(recording.slots));
    outputs
        .iter()
        .zip(counts)
        .try_for_each(|(parts, count)| check_length("ciphertexts of an output", parts.len(), count))
}

fn check_length(what: &'static str, found: usize, needed: usize) -> Result<()> {
    if found == needed { Ok(()) } else { Err(Error::Length { what, found, needed: needed.to_string() }) }
}
