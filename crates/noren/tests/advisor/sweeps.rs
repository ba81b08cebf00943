//! Sweeps: no cliffs between questions, no refusal where something harder has an answer, and refusals whose suggestion works.

use noren::Security;
use noren::advisor::{Computation, Limits, Objective, Values, Workload, advise};
use noren::cost::{Machine, Party};
use noren_math::kernels::is_fastest;

use crate::{integer, real, server};

/// How much longer a question may take than a harder one. Parameters come in steps: a digit or a special prime less may be had
/// for a larger scale, whose products then have fewer rows to lift, 4 in place of 6 at most; and the scale starts anew where
/// a ring is left, with up to a quarter fewer bits. Of a step both may fall together.
const STEP: f64 = 1.5 * 1.25;

/// The server's time of the first candidate, and how far below 1 values stay that it is for.
fn first(workload: &Workload) -> Option<(f64, f64)> {
    let server = server();
    let advice = advise(workload, &server, &server, &Limits::default()).ok()?;
    Some((advice.candidates[0].price.server_seconds, advice.candidates[0].excluded))
}

/// Asserts that along a list of questions, each harder than the one before, times for the same values do not fall and answers do
/// not begin.
fn rising(workloads: &[Workload]) {
    let answers: Vec<Option<(f64, f64)>> = workloads.iter().map(first).collect();
    for (at, workload) in workloads.iter().enumerate() {
        let harder = answers[at + 1..].iter().flatten();
        let Some((time, excluded)) = answers[at] else {
            assert!(harder.count() == 0, "{workload:?} is refused, and something harder is not");
            continue;
        };
        let least = harder.filter(|other| other.1 <= excluded).map(|other| other.0).fold(f64::INFINITY, f64::min);
        assert!(time <= STEP * least, "{workload:?}: {time} s, harder {least} s");
    }
}

#[test]
fn squarings_of_any_depth_have_an_answer_without_cliffs() {
    // Advice calls no kernel.
    if !is_fastest() {
        return;
    }
    const SOME: [usize; 7] = [1, 4, 8, 10, 12, 16, 20];
    let every: Vec<usize> = (1..=20).collect();
    for (bits, instances, depths) in
        [(20.0, 1000, &every[..]), (20.0, 32_768, &SOME), (10.0, 1, &SOME), (24.0, 1, &SOME)]
    {
        let of = |&depth| Workload { instances, ..real(Computation::Squarings { depth }, bits) };
        let depths: Vec<Workload> = depths.iter().map(of).collect();
        rising(&depths);
        assert!(first(&depths[depths.len() - 1]).is_some(), "{bits} bits, {instances} instances");
    }
    for depth in [5, 15] {
        let of = |instances| Workload { instances, ..real(Computation::Squarings { depth }, 20.0) };
        rising(&[1, 1000, 100_000].map(of));
        let of = |bits| Workload { instances: 1000, ..real(Computation::Squarings { depth }, bits) };
        rising(&[10.0, 19.0, 21.0, 24.0].map(of));
    }
}

#[test]
fn integers_have_no_cliffs_either() {
    // Advice calls no kernel.
    if !is_fastest() {
        return;
    }
    let modulo = |depth, instances| {
        let workload = Workload::new(Computation::Squarings { depth }, Values::Integer { bits: 17, result_bits: None });
        Workload { instances, modulus: Some(65537), ..workload }
    };
    rising(&[1, 2, 4, 6, 8, 10, 12].map(|depth| modulo(depth, 32_768)));
    rising(&[1, 100, 10_000, 32_768, 100_000].map(|instances| modulo(4, instances)));
    rising(
        &[1, 2, 3, 4, 5]
            .map(|bits| Workload { instances: 4096, ..integer(Computation::Table { inputs: 2 }, bits, bits) }),
    );
    rising(&[2, 10, 100, 1000].map(|length| integer(Computation::InnerProduct { length }, 8, 26)));
}

/// The values, settings and sizes of a chain of draws that does not change.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        // Numbers of a linear congruence, whose high bits are as good as any here.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn size(&mut self, most_bits: u64) -> usize {
        let bits = self.below(most_bits);
        1 + self.below(1 << (bits + 1)) as usize
    }

    fn workload(&mut self) -> Workload {
        let computation = match self.below(8) {
            0 => Computation::Product { count: self.size(7) },
            1 => Computation::Sum { count: self.size(9) },
            2 => Computation::InnerProduct { length: self.size(8) },
            3 => Computation::Squarings { depth: self.size(5) },
            4 => Computation::Polynomial { degree: self.size(6) },
            5 => Computation::Matrix { rows: self.size(6), columns: self.size(6) },
            6 => Computation::Compare,
            _ => Computation::Table { inputs: 1 + self.below(2) as usize },
        };
        let values = match self.below(2) {
            0 => Values::Real { bits: 4.0 + self.below(300) as f64 / 10.0 },
            _ => {
                let bits = 1 + self.below(16) as u32;
                let result_bits = (self.below(3) == 0).then(|| 1 + self.below(32) as u32);
                Values::Integer { bits, result_bits }
            }
        };
        let moduli = [None, None, Some(65537), Some(65536), Some(257), Some((1 << 50) - 27)];
        Workload {
            instances: self.size(15),
            modulus: moduli[self.below(moduli.len() as u64) as usize],
            dead_zone: (self.below(2) == 0).then(|| f64::exp2(-(self.below(12) as f64))),
            objective: [Objective::Auto, Objective::Latency, Objective::Once][self.below(3) as usize],
            ..Workload::new(computation, values)
        }
    }

    fn limits(&mut self) -> Limits {
        Limits {
            server_memory: (self.below(4) == 0).then(|| 1 << (20 + self.below(14))),
            server_seconds: (self.below(4) == 0).then(|| f64::exp2(self.below(14) as f64 - 12.0)),
            ..Limits::default()
        }
    }
}

#[test]
fn advice_of_random_workloads_is_sound_and_what_a_refusal_suggests_works() {
    // Advice calls no kernel.
    if !is_fastest() {
        return;
    }
    let mut draws = Draws(20);
    let devices = [None, None, Some("pi4"), Some("pi-zero")];
    let (mut answered, mut suggested) = (0, 0);
    for _ in 0..150 {
        let (workload, limits) = (draws.workload(), draws.limits());
        let client = match devices[draws.below(devices.len() as u64) as usize] {
            Some(name) => noren::advisor::Device::named(name).expect("a device").party(),
            None => server(),
        };
        match advise(&workload, &client, &server(), &limits) {
            Ok(advice) => {
                answered += 1;
                sound(&workload, &advice).unwrap_or_else(|error| panic!("{workload:?}: {error}"));
            }
            Err(error) => {
                let text = error.to_string();
                if let Some((changed, limits)) = followed(&workload, &limits, &text) {
                    suggested += 1;
                    let again = advise(&changed, &client, &server(), &limits);
                    assert!(again.is_ok(), "{text}\n{changed:?} {limits:?}\n{:?}", again.map(|_| ()));
                }
            }
        }
    }
    assert!(answered > 40 && suggested > 15, "{answered} answered, {suggested} suggested");
}

/// Whether prices are numbers, candidates in the sets that are secure, and errors within what is asked.
fn sound(workload: &Workload, advice: &noren::advisor::Advice) -> std::result::Result<(), String> {
    for candidate in &advice.candidates {
        let price = &candidate.price;
        let times = [price.server_seconds, price.client_seconds(), price.helper_seconds, price.prepare_seconds];
        if !times.iter().all(|time| time.is_finite() && *time >= 0.0) {
            return Err(format!("{times:?}"));
        }
        if let (Values::Real { bits }, noren::advisor::Accuracy::Within(error)) = (workload.values, candidate.accuracy)
            && error > f64::exp2(-bits)
        {
            return Err(format!("{}: within {error}, {bits} bits are asked for", candidate.parameters));
        }
        if !(0.0..1.0).contains(&candidate.excluded) {
            return Err(format!("{} excluded", candidate.excluded));
        }
        if candidate.compiled.plan.security() == Security::None {
            return Err(format!("{}: no security", candidate.parameters));
        }
    }
    Ok(())
}

/// The workload and the limits that a refusal says work.
fn followed(workload: &Workload, limits: &Limits, text: &str) -> Option<(Workload, Limits)> {
    let (_, suggestion) = text.split_once("larger; nearest is ").or(text.split_once("less; "))?;
    let suggestion = suggestion.split(" works").next()?;
    let suggestion = suggestion.rsplit("; ").next()?.split(", or ").next()?;
    let (mut workload, mut limits) = (workload.clone(), *limits);
    let number = |text: &str| text.split_whitespace().find_map(|word| word.parse::<f64>().ok());
    if let Some(list) = suggestion.strip_prefix("a limit of ") {
        for limit in list.split(" and ") {
            let value = number(limit)?;
            match limit.rsplit(' ').next()? {
                "server_memory" => limits.server_memory = Some((value as u64) << 20),
                "client_memory" => limits.client_memory = Some((value as u64) << 20),
                "server_seconds" => limits.server_seconds = Some(value),
                "client_seconds" => limits.client_seconds = Some(value),
                other => panic!("{other} in {text}"),
            }
        }
        return Some((workload, limits));
    }
    let value = number(suggestion)?;
    match suggestion {
        text if text.starts_with("a precision of") => workload.values = Values::Real { bits: value },
        text if text.starts_with("a dead_zone of") => workload.dead_zone = Some(value),
        text if text.ends_with("instances") => workload.instances = value as usize,
        text if text.ends_with("bits of an input") => {
            let Values::Integer { result_bits, .. } = workload.values else { panic!("{text}") };
            workload.values = Values::Integer { bits: value as u32, result_bits };
        }
        _ => {
            let size = value as usize;
            workload.computation = match workload.computation {
                Computation::Product { .. } => Computation::Product { count: size },
                Computation::Sum { .. } => Computation::Sum { count: size },
                Computation::InnerProduct { .. } => Computation::InnerProduct { length: size },
                Computation::Squarings { .. } => Computation::Squarings { depth: size },
                Computation::Polynomial { .. } => Computation::Polynomial { degree: size },
                Computation::Matrix { rows, columns } => {
                    Computation::Matrix { rows: rows.min(size), columns: columns.min(size) }
                }
                _ => panic!("{text}"),
            };
        }
    }
    Some((workload, limits))
}

#[test]
fn refusals_say_what_was_tried_and_works() {
    // Advice calls no kernel.
    if !is_fastest() {
        return;
    }
    let refused = |workload: &Workload, limits: &Limits| {
        let party = Party { machine: Machine::reference(), threads: 1 };
        advise(workload, &party, &party, limits).map(|_| ()).expect_err("out of reach").to_string()
    };
    let precise = Workload { instances: 100, ..real(Computation::Product { count: 100 }, 38.0) };
    let text = refused(&precise, &Limits::default());
    assert!(text.contains("a precision of") && text.contains("works"), "{text}");
    let short = Limits { server_seconds: Some(1e-5), ..Limits::default() };
    let text = refused(&real(Computation::InnerProduct { length: 100 }, 20.0), &short);
    assert!(text.contains("server_seconds") && text.contains("works"), "{text}");
    let close = Workload { dead_zone: Some(1e-9), ..real(Computation::Compare, 10.0) };
    let text = refused(&close, &Limits::default());
    assert!(text.contains("a dead_zone of") && text.contains("works"), "{text}");
}
