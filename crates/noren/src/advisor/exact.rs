//! Candidates for integers in vectors: BGV, BFV and its lookups.

use noren_math::prime::is_prime;
use noren_rlwe::error::Result;

use crate::advisor::candidate::{Accuracy, Candidate, Outcome, Plan, Scheme};
use crate::advisor::circuit::{Placement, SlotCircuit};
use crate::advisor::compiled::offered;
use crate::advisor::workload::{Computation, Values, Workload};
use crate::backends::table::Backends;
use crate::circuits::recorder::{CircuitUsage, Recorder};
use crate::cost::price::Party;
use crate::cost::slots::{SlotDraft, Slots};
use crate::schemes::integers::{Parameters, Requirements, Scheme as IntegerScheme};

/// The most steps of circuits that are gone through.
const MOST_STEPS: usize = 1 << 17;
/// The most slots of a row.
const MOST_SLOTS: usize = 1 << 15;
/// The most bits of a plaintext modulus.
const MODULUS_BITS: f64 = 49.0;
/// The modulus that all rings up to degree `2^15` have slots for.
const USUAL_MODULUS: u64 = 65537;
/// The step of moduli that have slots in all rings.
const STEP: u64 = 1 << 18;
/// The most bits of a function as a polynomial.
const POLYNOMIAL_BITS: u32 = 10;
/// The most in BGV: with more, parts of any coefficients are added at depths where limbs were dropped already.
const POLYNOMIAL_BITS_OF_BGV: u32 = 4;
/// Fewer instances of a function of bits are for TFHE, where its results are bits again, for any depth.
const IN_BULK: usize = 16;
/// The coefficients of a gate, added.
const GATE_SUM: usize = 8;

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
fn circuits(workload: &Workload, most_slots: usize) -> Vec<(SlotCircuit, Vec<usize>)> {
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
fn no_room(workload: &Workload, most_slots: usize) -> String {
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

/// BGV or BFV.
pub(super) fn vectors<S: IntegerScheme>(
    scheme: Scheme,
    workload: &Workload,
    client: &Party,
    server: &Party,
) -> Result<Outcome> {
    let Values::Integer { bits, result_bits } = workload.values else {
        return Ok(scheme.rejects("values are real numbers: integers modulo t have no fractions"));
    };
    let needed_bits = match workload.computation {
        Computation::Compare | Computation::Table { .. } if workload.instances < IN_BULK => {
            return Ok(scheme.rejects(format!(
                "a function of bits is a polynomial modulo t, which is for {IN_BULK} instances or more: results of TFHE can \
                 be looked up again"
            )));
        }
        Computation::Compare | Computation::Table { .. } => {
            let all = workload.inputs() as u32 * bits;
            if all > POLYNOMIAL_BITS {
                return Ok(scheme.rejects(format!(
                    "a function of {all} bits is a polynomial of degree 2^{all} - 1: take lookups or TFHE, or up to \
                     {POLYNOMIAL_BITS} bits"
                )));
            }
            if all > POLYNOMIAL_BITS_OF_BGV && scheme == Scheme::Bgv {
                return Ok(scheme.rejects(format!(
                    "a function of {all} bits is a polynomial of degree 2^{all} - 1, whose sums need limbs that products drop: \
                     take BFV, or up to {POLYNOMIAL_BITS_OF_BGV} bits"
                )));
            }
            // The polynomial goes through as many points as there are.
            f64::from(all + 1)
        }
        _ => workload.exact_bits(bits),
    };
    if needed_bits > MODULUS_BITS && workload.modulus.is_none() {
        let most = format!(
            "results of {needed_bits:.0} bits exceed the plaintext modulus, which has at most {MODULUS_BITS:.0}"
        );
        return Ok(scheme
            .rejects(format!("{most}; results modulo 2^{} are for TFHE", workload.result_bits(bits, result_bits))));
    }
    let (mut found, mut refused) = (Vec::new(), None);
    for (circuit, sizes) in circuits(workload, MOST_SLOTS) {
        for slots in sizes {
            match vectors_in::<S>(scheme, workload, client, server, circuit, slots, needed_bits)? {
                Ok(candidate) => found.push(candidate),
                Err(reason) => refused = Some(reason),
            }
        }
        if let Some(modulus) = workload.modulus.filter(|_| circuit.slots() == 1) {
            let draft = Draft { circuit, slots: 1, modulus, packed: false };
            match draft.candidate::<S>(scheme, workload, client, server)? {
                Ok(candidate) => found.push(candidate),
                Err(reason) => refused = Some(reason),
            }
        }
    }
    match found.is_empty() {
        true => Ok(scheme.rejects(refused.unwrap_or_else(|| no_room(workload, MOST_SLOTS)))),
        false => Ok(Ok(found)),
    }
}

fn vectors_in<S: IntegerScheme>(
    scheme: Scheme,
    workload: &Workload,
    client: &Party,
    server: &Party,
    circuit: SlotCircuit,
    slots: usize,
    bits: f64,
) -> Result<std::result::Result<Candidate, String>> {
    let mut refused = format!("no slots for the modulus, and results exceed 2^{MODULUS_BITS:.0}");
    for modulus in moduli(workload.modulus, bits, slots) {
        match (Draft { circuit, slots, modulus, packed: true }).candidate::<S>(scheme, workload, client, server)? {
            Ok(candidate) => return Ok(Ok(candidate)),
            Err(reason) => refused = reason,
        }
    }
    Ok(Err(refused))
}

/// A circuit in rows of some slots, modulo a number.
struct Draft {
    circuit: SlotCircuit,
    slots: usize,
    modulus: u64,
    /// Whether values lie in slots; or else each ciphertext has one value, in coefficient 0, for which any modulus will do.
    packed: bool,
}

impl Draft {
    /// What the circuit needs of its parameters.
    fn requirements(&self, usage: &CircuitUsage, scheme: Scheme) -> Requirements {
        let (depth, sum, plain_products) = needs(&self.circuit, usage.depth);
        // BGV drops limbs as noise is predicted: a product of a polynomial is added to another part of it before the next one.
        let is_polynomial =
            matches!(self.circuit.computation, Computation::Polynomial { .. }) || self.circuit.domain > 2;
        Requirements {
            depth,
            plaintext_modulus: self.modulus,
            slots: if self.packed { 2 * self.slots } else { 1 },
            terms: if is_polynomial && scheme == Scheme::Bgv { 2 } else { 1 },
            sum,
            plain_products,
            ..Requirements::default()
        }
    }

    /// The candidate, or why there is none.
    fn candidate<S: IntegerScheme>(
        &self,
        scheme: Scheme,
        workload: &Workload,
        client: &Party,
        server: &Party,
    ) -> Result<std::result::Result<Candidate, String>> {
        let Self { circuit, slots, modulus, packed } = *self;
        let scaled = scheme == Scheme::Bfv;
        let usage = record(&circuit, slots)?;
        let needed = self.requirements(&usage, scheme);
        let parameters = match needed.choose::<S>() {
            Ok(parameters) if parameters.has_slots() || !packed => parameters,
            Ok(_) => return Ok(Err(format!("no slots modulo {modulus} in rings that the circuit needs"))),
            Err(error) => return Ok(Err(error.to_string())),
        };
        // A smaller ring than asked for there is not; in a larger one the circuit has more slots.
        let row = if packed { parameters.row_slots() } else { 1 };
        let usage = if row == slots { usage } else { record(&circuit, row)? };
        let single = !packed || circuit.instances(2 * row) == circuit.instances(row);
        let in_row = circuit.instances(row);
        let runs = workload.instances.div_ceil(if single { in_row } else { 2 * in_row });
        let draft = SlotDraft {
            slots: if scaled { Slots::ScaledResidues } else { Slots::Residues },
            parameters: parameters.rlwe().clone(),
            limbs: needed.limbs_by_depth::<S>(&parameters),
            width: row,
            inputs: circuit.inputs(),
            results: circuit.results(),
            runs,
            usage,
        };
        let price = draft.price(client, server)?;
        let mut reasons = vec![match workload.modulus {
            Some(asked) if asked == modulus => format!("results are exact modulo {modulus}"),
            Some(asked) => format!("results are exact below {modulus}; the client takes them modulo {asked}"),
            None if circuit.domain > 0 => format!("the function is a polynomial modulo {modulus}"),
            None => format!("results are exact modulo {modulus}, which is above the largest"),
        }];
        reasons.push(match scaled {
            true => "messages in the high bits: one set of limbs for all depths".to_owned(),
            false => "products drop limbs as their noise allows".to_owned(),
        });
        if !packed {
            reasons.push(format!("no slots modulo {modulus}: a ciphertext for each value"));
        }
        Ok(Ok(Candidate {
            scheme,
            library: "noren".to_owned(),
            parameters: describe(&parameters),
            plan: Plan::Integers(parameters, circuit, draft),
            price,
            accuracy: Accuracy::Exact,
            excluded: 0.0,
            reasons,
        }))
    }
}

/// Lookups of BFV: any function of one or two integers.
pub(super) fn lookups(workload: &Workload, client: &Party, server: &Party) -> Result<Outcome> {
    let scheme = Scheme::BfvLookups;
    match workload.computation {
        Computation::Compare | Computation::Table { .. } => {
            let backends = [Backends::ALL.named(scheme.name())?];
            Ok(offered(&Backends(&backends), workload, client, server)?.swap_remove(0))
        }
        _ => Ok(scheme.rejects("sums and products need no table")),
    }
}

/// What a circuit asks of integers in rows of this many slots.
fn record(circuit: &SlotCircuit, row: usize) -> Result<CircuitUsage> {
    let recorder = Recorder::<i64>::default();
    let inputs = vec![recorder.fresh_repeated(row, circuit.slots()); circuit.inputs()];
    circuit.run(&recorder, &inputs, 1)?;
    Ok(recorder.usage())
}

/// How many products of ciphertexts follow one another in a circuit of this depth, how many terms are added up in the end, and how
/// many products with plaintexts there are besides.
fn needs(circuit: &SlotCircuit, depth: usize) -> (usize, usize, usize) {
    match circuit.computation {
        Computation::Sum { count } => (depth, count, 0),
        Computation::InnerProduct { length } => (depth, length, 0),
        Computation::Matrix { columns, .. } => (0, columns, depth),
        Computation::Polynomial { degree } => (depth, degree + 1, 0),
        // A gate is `c + c a + c b + c a b` with numbers up to 2.
        Computation::Table { inputs: 2 } | Computation::Compare if circuit.domain == 2 => (1, GATE_SUM, 0),
        // Coefficients of a polynomial through points are anything modulo t: a product with a plaintext besides.
        Computation::Table { .. } | Computation::Compare => (depth, circuit.steps(), 1),
        _ => (depth, 1, 0),
    }
}

/// Prime moduli above `2^bits` with slots for rows of this many: the usual one, and one for all rings. For results modulo a
/// number that number comes first.
fn moduli(asked: Option<u64>, bits: f64, slots: usize) -> impl Iterator<Item = u64> {
    let exact = (bits <= MODULUS_BITS).then(|| libm::exp2(bits).ceil() as u64);
    let usual = exact.filter(|&least| least < USUAL_MODULUS && slots <= USUAL_MODULUS as usize / 4);
    let own = exact.and_then(|least| {
        let first = least.div_ceil(STEP).max(1);
        (first..).map(|k| k * STEP + 1).find(|&t| is_prime(t))
    });
    // Without slots it is no use here.
    let asked = asked.filter(|&t| is_prime(t) && (t - 1).is_multiple_of(4 * slots as u64));
    asked.into_iter().chain(usual.map(|_| USUAL_MODULUS)).chain(own)
}

fn describe(parameters: &Parameters) -> String {
    let rlwe = parameters.rlwe();
    format!(
        "N = {}, t = {}, log q = {:.0} in {} primes, log p = {:.0} in {}, {} digits",
        parameters.degree(),
        parameters.modulus().value(),
        rlwe.log_q(rlwe.max_limbs()),
        rlwe.max_limbs(),
        rlwe.log_p(),
        rlwe.p().len(),
        rlwe.dnum(),
    )
}
