//! The digits of circuit bootstrapping for a set of parameters.

use noren_math::torus::gadget::Gadget;
use noren_ring::torus::control_table::ControlTable;
use noren_rlwe::torus::circuit::parameters::CircuitParameters;
use noren_rlwe::torus::circuit::spec::CircuitSpec;
use noren_rlwe::torus::digits::Digits;
use noren_rlwe::torus::law::Failure;
use noren_rlwe::torus::parameters::TorusParameters;

use crate::schemes::tfhe::parameters::{Encoding, Parameters};

/// The bits of lookups that shall have no more noise than a bootstrap.
const TARGET_BITS: usize = 16;

/// How many digits of messages may fail together as often as the parameters allow, as base-two logarithm.
const LOG2_DIGITS: f64 = 5.0;

/// The most digits that are tried.
const ROTATION_LEVELS: usize = 8;
const CONTROL_LEVELS: usize = 6;
const TRACE_LEVELS: usize = 24;
const SQUARE_LEVELS: usize = 8;

/// The noise of products with secrets may be this part of that of traces.
const SQUARE_PART: f64 = 0.02;

/// The fewest digits of the blind rotation, and then of controls, that meet the target; those of the trace have the least noise.
pub(crate) fn choose(parameters: &Parameters) -> Option<CircuitParameters> {
    let torus = parameters.torus();
    let bits = message_bits(parameters);
    let build = |spec: CircuitSpec| spec.build(torus).ok();
    let start = CircuitSpec {
        rotation: Digits::new(8, 1),
        trace: Digits::new(2, 1),
        square: Digits::new(8, 1),
        control: Digits::new(8, 1),
    };
    let trace = (1..=TRACE_LEVELS)
        .filter_map(|levels| best(levels, |trace| Some(build(CircuitSpec { trace, ..start })?.law().automorphism)));
    let (_, trace) = trace.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let energy = build(CircuitSpec { trace, ..start })?.law().trace_energy;
    let square = (1..=SQUARE_LEVELS).find_map(|levels| {
        let (variance, square) = best(levels, |square| Some(build(CircuitSpec { square, ..start })?.law().square))?;
        (variance < SQUARE_PART * energy).then_some(square)
    })?;
    (1..=ROTATION_LEVELS).find_map(|levels| {
        let (_, rotation) = best(levels, |rotation| Some(build(CircuitSpec { rotation, ..start })?.law().rotation))?;
        (1..=CONTROL_LEVELS).find_map(|levels| {
            let spec = |control| CircuitSpec { rotation, trace, square, control };
            let (_, control) = best(levels, |control| Some(build(spec(control))?.law().choice))?;
            let circuit = build(spec(control))?;
            let failure = failure(torus, parameters.encoding(), bits, circuit.control(), 1.0)?;
            let quiet = circuit.law().lookup(TARGET_BITS) <= torus.law().bootstrap();
            (quiet && failure.log2 + LOG2_DIGITS <= parameters.spec().max_failure_log2).then_some(circuit)
        })
    })
}

/// How likely a circuit bootstrap of a digit with so much noise fails; nothing where boxes have no room.
pub(crate) fn failure(
    torus: &TorusParameters,
    encoding: Encoding,
    bits: u32,
    control: Gadget,
    noise: f64,
) -> Option<Failure> {
    let degree = torus.shape().degree;
    let width = ControlTable::box_width(degree, bits, control);
    let factor = scale(encoding, bits) as f64 * noise;
    let deviation = torus.law().decision(factor * factor).sqrt();
    (width >= 2).then(|| Failure::of(deviation, width as f64 / (4 * degree) as f64))
}

/// The factor of a digit, so that it counts `1/2^bits` of the circle.
pub(crate) fn scale(encoding: Encoding, bits: u32) -> u64 {
    (1 << (u64::BITS - bits)) / encoding.unit()
}

/// The bits of a message.
pub(crate) fn message_bits(parameters: &Parameters) -> u32 {
    parameters.message_size().trailing_zeros()
}

/// The `levels` digits with the least variance, which is given too.
fn best(levels: usize, variance: impl Fn(Digits) -> Option<f64>) -> Option<(f64, Digits)> {
    let candidates = (1..=u32::BITS).filter_map(|log_base| {
        let digits = Digits::new(log_base, levels);
        Some((variance(digits)?, digits))
    });
    candidates.min_by(|a, b| a.0.total_cmp(&b.0))
}
