//! Candidates for real numbers: CKKS, with and without bootstrapping, and switching to TFHE.

use noren_rlwe::error::Result;
use noren_rlwe::security::Security;

use crate::advisor::candidate::{Accuracy, Candidate, Outcome, Plan, Rejection, Scheme};
use crate::advisor::circuit::{Placement, SlotCircuit};
use crate::advisor::two_seeds::helped;
use crate::advisor::workload::{Computation, Values, Workload};
use crate::backends::ckks_bootstrapping::add_bootstraps;
use crate::backends::decisions::add_decisions;
use crate::bootstrapping::{self, BootstrapPlan, Mode, Preset};
use crate::circuits::recorder::{CircuitUsage, Recorder};
use crate::circuits::renewing::{Planned, Renewing};
use crate::cost::price::{Party, Price};
use crate::cost::slots::{SlotDraft, Slots};
use crate::schemes::ckks::{self, Parameters, Requirements};
use crate::switching::{Parameters as SwitchingParameters, Steps};

/// The most slots of a ciphertext.
const MOST_SLOTS: usize = 1 << 16;
/// The most steps of circuits that are gone through.
const MOST_STEPS: usize = 1 << 17;
/// Bits beside the precision that sums and the encoding take.
const SPARE_BITS: f64 = 1.0;
/// The first prime is larger than the largest value at the scale by this many bits: one for the sign, one for the error.
const RANGE_BITS: u32 = 2;
/// Errors that arise after more squarings do not count beside those before.
const MOST_DOUBLINGS: usize = 1000;
/// The client encrypts with its secret key.
const SECRET_KEY: bool = true;
/// The largest first prime.
const FIRST_BITS: u32 = 50;

/// The circuits that a computation may be.
fn placements(workload: &Workload) -> Vec<SlotCircuit> {
    let domain = match (workload.values, workload.computation) {
        (Values::Integer { bits, .. }, Computation::Compare | Computation::Table { .. }) => {
            1usize.checked_shl(bits).unwrap_or(0)
        }
        _ => 0,
    };
    let of = |placement| SlotCircuit { computation: workload.computation, placement, domain };
    let mut circuits = vec![of(Placement::Consecutive)];
    if of(Placement::Apart).inputs() != circuits[0].inputs() || of(Placement::Apart).slots() != circuits[0].slots() {
        circuits.push(of(Placement::Apart));
    }
    circuits
}

/// The circuits that a computation may be, each with the sizes of ciphertexts that are worth a try: those that ciphertexts have
/// room for, and that are short enough to be gone through a few times.
pub(super) fn circuits(workload: &Workload, most_slots: usize) -> Vec<(SlotCircuit, Vec<usize>)> {
    let sizes = |circuit: SlotCircuit| {
        let (least, single) = (circuit.slots(), circuit.instances(circuit.slots()));
        let wanted = match circuit.instances(2 * circuit.slots()) > single {
            true => least.saturating_mul(workload.instances.next_power_of_two()).min(most_slots),
            false => least,
        };
        let mut sizes: Vec<usize> = (10..=16).map(|bits| 1usize << bits).filter(|&s| least < s && s < wanted).collect();
        sizes.extend([least, wanted]);
        sizes.sort_unstable();
        sizes.dedup();
        sizes.retain(|size| (least..=most_slots).contains(size));
        (circuit, sizes)
    };
    let short = placements(workload).into_iter().filter(|circuit| circuit.steps() <= MOST_STEPS);
    short.map(sizes).filter(|(_, sizes)| !sizes.is_empty()).collect()
}

/// Why there are no [`circuits`].
pub(super) fn no_room(workload: &Workload, most_slots: usize) -> String {
    let fitting = placements(workload).into_iter().filter(|circuit| circuit.slots() <= most_slots);
    match fitting.map(|circuit| circuit.steps()).find(|&steps| steps > MOST_STEPS) {
        Some(steps) => {
            format!(
                "a circuit of {steps} steps: advice goes through up to {MOST_STEPS}, ask for the parts of a larger one"
            )
        }
        None => "a vector has more values than a ciphertext slots".to_owned(),
    }
}

/// What a circuit asks of CKKS in ciphertexts of this many slots.
fn record(circuit: &SlotCircuit, slots: usize) -> Result<CircuitUsage> {
    let recorder = Recorder::new();
    let inputs = vec![recorder.fresh_repeated(slots, circuit.slots()); circuit.inputs()];
    circuit.run(&recorder, &inputs, circuit.real_coefficient())?;
    Ok(recorder.usage())
}

/// The same with a bootstrap wherever `levels` levels are used up, and how many these are.
fn record_renewed(circuit: &SlotCircuit, slots: usize, levels: usize) -> Result<(CircuitUsage, usize)> {
    let (recorder, planned) = (Recorder::new(), Planned::new(levels));
    let inputs = vec![recorder.fresh_repeated(slots, circuit.slots()).into(); circuit.inputs()];
    circuit.run(&Renewing::new(&recorder, &planned), &inputs, circuit.real_coefficient())?;
    Ok((recorder.usage(), planned.count()))
}

/// CKKS with the levels that the computation needs.
pub(super) fn leveled(workload: &Workload, client: &Party, server: &Party) -> Result<Outcome> {
    let Some(bits) = real_bits(workload) else { return Ok(integers_alone(Scheme::Ckks)) };
    if let Some(rejection) = no_circuit(workload, Scheme::Ckks) {
        return Ok(Err(rejection));
    }
    let (mut found, mut refused) = (Vec::new(), None);
    for (circuit, sizes) in circuits(workload, MOST_SLOTS) {
        for slots in sizes {
            let usage = record(&circuit, slots)?;
            let precision_bits = bits + error_bits(workload.computation) + SPARE_BITS;
            let needed = Requirements {
                depth: usage.depth,
                precision_bits,
                slots,
                secret_key: SECRET_KEY,
                ..Requirements::default()
            };
            let terms = terms(workload.computation);
            // The growth of errors that values which stay below 1 are spared, as little as is needed.
            let spared = match workload.computation {
                Computation::Squarings { depth } if !needed.can_be_met() => least_spared(depth, |spared| {
                    let precision_bits = precision_bits - spared as f64;
                    let needed = Requirements { precision_bits, ..needed.clone() };
                    needed.can_be_met().then(|| with_room(&needed, terms).ok())?
                }),
                _ => None,
            };
            let spared = match spared {
                Some(spared) => Ok(spared),
                None => with_room(&needed, terms).map(|parameters| (parameters, 0)),
            };
            match spared {
                Ok((parameters, spared)) => {
                    found.push(leveled_in(workload, client, server, (circuit, usage), slots, (parameters, spared))?)
                }
                Err(error) => refused = Some(error),
            }
        }
    }
    let reason = || refused.map_or_else(|| no_room(workload, MOST_SLOTS), |error| error.to_string());
    match found.is_empty() {
        true => Ok(Scheme::Ckks.rejects(reason())),
        false => Ok(Ok(found)),
    }
}

/// The least number of bits, up to `most`, with which something is found.
fn least_spared<T>(most: usize, mut find: impl FnMut(usize) -> Option<T>) -> Option<(T, usize)> {
    let (mut low, mut found) = (0, (find(most)?, most));
    while low + 1 < found.1 {
        let middle = usize::midpoint(low, found.1);
        match find(middle) {
            Some(better) => found = (better, middle),
            None => low = middle,
        }
    }
    Some(found)
}

/// How far below 1 values of `depth` squarings stay, so that each error is raised by `spared` bits less than it is at 1.
///
/// An error before squaring j is multiplied by `2^(d-j) |x|^(2^d - 2^j)` in the end, and by `2^(d-j)` at `|x| = 1`. The last
/// factor is `2^-spared` or less for all j below d if `|x| <= 1 - spared ln 2 / 2^(d-1)`; the rounding of the last result is
/// not spared, and stays below the bit that is left over ([`SPARE_BITS`]).
fn excluded(depth: usize, spared: usize) -> f64 {
    spared as f64 * std::f64::consts::LN_2 * libm::exp2(1.0 - depth as f64)
}

/// What excluded values mean, in words; nothing where there are none.
fn words_of_excluded(depth: usize, excluded: f64) -> Option<String> {
    (excluded > 0.0).then(|| {
        format!(
            "the precision is that of values up to 1 - {excluded:.2e} in absolute value: at 1 the squarings alone multiply an \
             error by 2^{depth}"
        )
    })
}

/// The parameters for a computation whose result is a sum of `terms` values: their first prime, or one more, holds it.
fn with_room(needed: &Requirements, terms: usize) -> Result<Parameters> {
    let parameters = Parameters::for_requirements(needed)?;
    let spec = parameters.spec();
    let first = spec.log_scale + libm::log2(terms as f64).ceil() as u32 + RANGE_BITS;
    if first <= spec.log_q[0] {
        return Ok(parameters);
    }
    if first <= FIRST_BITS {
        let mut wider = spec.clone();
        wider.log_q[0] = first;
        wider.dnum = 0;
        if let Ok(wider) = wider.build() {
            return Ok(wider);
        }
    }
    Parameters::for_requirements(&Requirements { depth: needed.depth + 1, ..needed.clone() })
}

fn leveled_in(
    workload: &Workload,
    client: &Party,
    server: &Party,
    (circuit, usage): (SlotCircuit, CircuitUsage),
    slots: usize,
    (parameters, spared): (Parameters, usize),
) -> Result<Candidate> {
    let (top, runs) = (parameters.max_level(), workload.instances.div_ceil(circuit.instances(slots)));
    let draft = SlotDraft {
        slots: Slots::Reals,
        parameters: parameters.rlwe().clone(),
        limbs: SlotDraft::limbs_below(top, usage.depth),
        width: slots,
        inputs: circuit.inputs(),
        results: circuit.results(),
        runs,
        usage,
    };
    let price = draft.price(client, server)?;
    let error = parameters.predicted_error_from(top, draft.usage.depth, 1.0, slots, SECRET_KEY)
        * libm::exp2(error_bits(workload.computation) - spared as f64);
    let excluded = excluded(draft.usage.depth, spared);
    let mut reasons = vec![match draft.usage.depth {
        0 => "no multiplications: one modulus is enough".to_owned(),
        depth => format!("depth {depth}: {} levels without bootstrapping", top),
    }];
    if circuit.instances(slots) > 1 {
        reasons.push(format!("{} instances share a ciphertext", circuit.instances(slots).min(workload.instances)));
    }
    reasons.extend(words_of_excluded(draft.usage.depth, excluded));
    Ok(Candidate {
        scheme: Scheme::Ckks,
        library: "noren".to_owned(),
        parameters: describe(&parameters),
        plan: Plan::Reals(parameters, circuit, draft),
        price,
        accuracy: Accuracy::Within(error),
        excluded,
        reasons,
    })
}

/// CKKS with bootstrapping.
pub(super) fn renewed(workload: &Workload, client: &Party, server: &Party) -> Result<Outcome> {
    let scheme = Scheme::CkksBootstrapping;
    let Some(bits) = real_bits(workload) else { return Ok(integers_alone(scheme)) };
    if let Some(rejection) = no_circuit(workload, scheme) {
        return Ok(Err(rejection));
    }
    let mut found = Vec::new();
    let mut reason = no_room(workload, MOST_SLOTS);
    // Both presets have as many slots.
    let largest = circuits(workload, 1 << Preset::N16.spec().log_slots).into_iter();
    let largest = largest.filter_map(|(circuit, sizes)| Some((circuit, *sizes.last()?)));
    let largest = largest
        .map(|(circuit, slots)| Ok((circuit, slots, record(&circuit, slots)?.depth)))
        .collect::<Result<Vec<_>>>()?;
    for preset in [Preset::N16, Preset::N16Precise] {
        for &(circuit, slots, depth) in &largest {
            let parameters = match preset.spec_for(slots.ilog2()) {
                Ok(spec) => spec.build()?,
                Err(_) => continue,
            };
            let levels = parameters.levels_left();
            if depth <= levels && is_leveled(workload, &circuit, slots, depth, bits) {
                reason = "no bootstrap is needed: the levels of parameters without bootstrapping are enough".to_owned();
                continue;
            }
            let (usage, bootstraps) = record_renewed(&circuit, slots, levels)?;
            let renewal = libm::exp2(-BootstrapPlan::new(&parameters)?.precision_bits(Mode::Real));
            let ckks = parameters.ckks()?;
            let kept = bits_of_renewed(&ckks, parameters.output_level(), (depth, levels), renewal, slots);
            let kept = kept - error_bits(workload.computation);
            // As for levels alone, what values below 1 are spared.
            let missing = libm::ceil((bits - kept).max(0.0));
            let missing = if missing > 0.0 { missing + SPARE_BITS } else { missing };
            let is_spared = matches!(workload.computation, Computation::Squarings { depth } if missing <= depth as f64);
            if missing > 0.0 && !is_spared {
                reason = format!("{preset} keeps {kept:.1} bits after {bootstraps} bootstraps, {bits} are asked for");
                continue;
            }
            let error = libm::exp2(-(kept + missing));
            let excluded = excluded(depth, missing as usize);
            let draft = Renewals { preset, parameters, circuit, usage, bootstraps, error, excluded, depth };
            let own = draft.candidate(workload, client, server)?;
            if bootstraps > 0
                && let Plan::Renewed(_, _, slots, _) = &own.plan
            {
                let priced = |helper: &Party| Ok(draft.candidate(workload, helper, server)?.price.keys_seconds);
                found.extend(helped(&own, slots.left(client)?, client, server, priced)?);
            }
            found.push(own);
        }
    }
    match found.is_empty() {
        true => Ok(scheme.rejects(reason)),
        false => Ok(Ok(found)),
    }
}

/// Whether levels alone are enough for all values.
fn is_leveled(workload: &Workload, circuit: &SlotCircuit, slots: usize, depth: usize, bits: f64) -> bool {
    let precision_bits = bits + error_bits(circuit.computation) + SPARE_BITS;
    let needed = Requirements { depth, precision_bits, slots, secret_key: SECRET_KEY, ..Requirements::default() };
    with_room(&needed, terms(workload.computation)).is_ok()
}

/// A bound on the error of `depth` products that follow one another on values up to 1, renewed after each `levels`, in bits: an error
/// doubles with each, and each bootstrap adds one.
fn bits_of_renewed(
    parameters: &Parameters,
    level: usize,
    (depth, levels): (usize, usize),
    renewal: f64,
    slots: usize,
) -> f64 {
    // Errors divided by what they grow by from the start.
    let (mut done, mut error) = (0, 0.0);
    loop {
        let now = levels.min(depth - done);
        let arisen = parameters.predicted_error_from(level, now, 1.0, slots, SECRET_KEY);
        let renewed = if done > 0 { renewal } else { 0.0 };
        error += libm::exp2(-(done as f64)) * renewed + libm::exp2(-((done + now) as f64)) * arisen;
        done += now;
        if done >= depth.min(MOST_DOUBLINGS) {
            break;
        }
    }
    -libm::log2(error) - depth as f64
}

/// A circuit with bootstraps.
struct Renewals {
    preset: Preset,
    parameters: bootstrapping::Parameters,
    circuit: SlotCircuit,
    usage: CircuitUsage,
    bootstraps: usize,
    error: f64,
    excluded: f64,
    depth: usize,
}

impl Renewals {
    fn candidate(&self, workload: &Workload, client: &Party, server: &Party) -> Result<Candidate> {
        let &Self { preset, ref parameters, circuit, ref usage, bootstraps, error, excluded, depth } = self;
        let runs = workload.instances.div_ceil(circuit.instances(parameters.slots()));
        let draft = SlotDraft {
            slots: Slots::Reals,
            parameters: parameters.ckks()?.rlwe().clone(),
            limbs: SlotDraft::limbs_below(parameters.output_level(), usage.depth),
            width: parameters.slots(),
            inputs: circuit.inputs(),
            results: circuit.results(),
            runs,
            usage: usage.clone(),
        };
        let mut price = draft.price(client, server)?;
        let mut reasons = vec![match bootstraps {
            0 => "the levels of parameters with bootstrapping are enough, and more would not end there".to_owned(),
            _ => format!("depth beyond the levels of secure parameters: {bootstraps} bootstraps"),
        }];
        if bootstraps > 0 {
            add_bootstraps(&mut price, client, server, parameters, Mode::Real, (bootstraps * runs) as f64)?;
        }
        reasons.extend(words_of_excluded(depth, excluded));
        Ok(Candidate {
            scheme: Scheme::CkksBootstrapping,
            library: "noren".to_owned(),
            parameters: format!("preset {preset}, {} slots", parameters.slots()),
            plan: Plan::Renewed(preset, circuit, draft, bootstraps),
            price,
            accuracy: Accuracy::Within(error),
            excluded,
            reasons,
        })
    }
}

/// Comparisons of real numbers in TFHE, and back.
pub(super) fn switched(workload: &Workload, client: &Party, server: &Party) -> Result<Outcome> {
    const SET: &str = "2_2";
    let scheme = Scheme::CkksSwitching;
    let Some(_) = real_bits(workload) else { return Ok(integers_alone(scheme)) };
    if workload.computation != Computation::Compare {
        return Ok(scheme.rejects("no comparison: nothing that CKKS lacks"));
    }
    let Some(dead_zone) = workload.dead_zone else {
        return Ok(scheme.rejects("say in which distance of equality either answer is right: dead_zone"));
    };
    let preset = Preset::N16;
    let tfhe = crate::schemes::tfhe::Preset::named(SET)?.parameters()?;
    let slots = workload.instances.next_power_of_two().min(1 << preset.spec().log_slots);
    let parameters = SwitchingParameters::new(&preset.spec_for(slots.ilog2())?.build()?, &tfhe)?;
    let law = parameters.law(Mode::Real);
    let zones = [Steps::One, Steps::Three].map(|steps| (steps, law.dead_zone(steps, workload.instances)));
    // A difference of two numbers in [-1, 1] is halved.
    let Some(&(steps, zone)) = zones.iter().find(|(_, zone)| 2.0 * zone <= dead_zone) else {
        let least = 2.0 * zones[1].1;
        return Ok(scheme.rejects(format!(
            "differences below {least:.2e} are not told apart with a failure of 2^{}",
            workload.log2_failure
        )));
    };
    let runs = workload.instances.div_ceil(slots);
    let bootstraps = if steps == Steps::One { 1 } else { 3 };
    let draft = SlotDraft {
        slots: Slots::Reals,
        parameters: parameters.ckks().rlwe().clone(),
        usage: CircuitUsage::default(),
        limbs: vec![parameters.bootstrapping().input_level() + 1],
        width: slots,
        inputs: 2,
        results: 1,
        runs,
    };
    let count = bootstraps * workload.instances;
    // All of a client, with the keys of both schemes.
    let priced = |client: &Party| -> Result<Price> {
        let mut price = draft.price(client, server)?;
        add_bootstraps(&mut price, client, server, parameters.bootstrapping(), Mode::Real, runs as f64)?;
        add_decisions(&mut price, client, server, SET, [count, workload.instances.min(slots)])?;
        Ok(price)
    };
    let price = priced(client)?;
    let own = Candidate {
        scheme,
        library: "noren".to_owned(),
        parameters: format!("preset {preset} with {SET}, {slots} slots"),
        plan: Plan::Switched(preset, SET, slots),
        price,
        accuracy: Accuracy::ExactButFor(workload.log2_failure),
        excluded: 0.0,
        reasons: vec![format!(
            "differences from {:.2e} on are decided right, by {bootstraps} bootstraps of TFHE each",
            2.0 * zone
        )],
    };
    let helped = helped(&own, draft.left(client)?, client, server, |helper| Ok(priced(helper)?.keys_seconds))?;
    Ok(Ok(helped.into_iter().chain([own]).collect()))
}

/// The precision, if values are real.
fn real_bits(workload: &Workload) -> Option<f64> {
    match workload.values {
        Values::Real { bits } => Some(bits),
        Values::Integer { .. } => None,
    }
}

fn integers_alone(scheme: Scheme) -> Outcome {
    scheme.rejects(
        "integers are to be exact, and CKKS computes with errors: rounding is right only while they stay below 1/2",
    )
}

/// The rejection of what is no circuit of sums and products.
fn no_circuit(workload: &Workload, scheme: Scheme) -> Option<Rejection> {
    let reason = match workload.computation {
        Computation::Compare => {
            "a comparison is no polynomial: take ckks-switching, or compile a function that says its dead zone"
        }
        Computation::Table { .. } => {
            "a table has no error bound between its entries: fit a polynomial to it, or take integers"
        }
        _ => return None,
    };
    Some(Rejection { scheme, reason: reason.to_owned() })
}

/// How many values the result is a sum of.
fn terms(computation: Computation) -> usize {
    match computation {
        Computation::Sum { count } => count,
        Computation::InnerProduct { length } => length,
        _ => 1,
    }
}

/// By how many bits sums in the computation raise errors: those of terms are independent; a polynomial whose coefficients add to
/// 1 has a derivative up to its degree.
fn error_bits(computation: Computation) -> f64 {
    match computation {
        Computation::Polynomial { degree } => libm::log2(degree as f64),
        _ => libm::log2(terms(computation) as f64) / 2.0,
    }
}

/// Parameters in words.
fn describe(parameters: &ckks::Parameters) -> String {
    let rlwe = parameters.rlwe();
    let spec = parameters.spec();
    format!(
        "N = 2^{}, log q = {:.0} in {} primes, log p = {:.0} in {}, {} digits, scale 2^{}{}",
        spec.log_n,
        rlwe.log_q(rlwe.max_limbs()),
        rlwe.max_limbs(),
        rlwe.log_p(),
        rlwe.p().len(),
        rlwe.dnum(),
        spec.log_scale,
        if rlwe.security() == Security::None { ", insecure" } else { "" },
    )
}
