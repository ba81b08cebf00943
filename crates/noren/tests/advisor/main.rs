//! The advisor: choices for workloads whose answers are known, refusals, and counts.

mod functions;
mod questions;
mod sweeps;

use noren::advisor::{Accuracy, Advice, Computation, Device, Limits, Scheme, Values, Workload, advise};
use noren::cost::{Machine, Party};
use noren_math::kernels::is_fastest;

fn server() -> Party {
    Party { machine: Machine::reference(), threads: 1 }
}

fn advice(workload: &Workload) -> Advice {
    advise(workload, &server(), &server(), &Limits::default()).expect("there is a scheme")
}

fn real(computation: Computation, bits: f64) -> Workload {
    Workload::new(computation, Values::Real { bits })
}

fn integer(computation: Computation, bits: u32, result_bits: u32) -> Workload {
    Workload::new(computation, Values::Integer { bits, result_bits: Some(result_bits) })
}

/// The chosen scheme, the degree that its parameters name, and the server's seconds.
fn choice(workload: &Workload) -> (Scheme, String, f64) {
    let best = &advice(workload).candidates[0];
    (best.scheme, best.parameters.clone(), best.price.server_seconds)
}

#[test]
fn known_workloads_get_the_scheme_that_is_right_for_them_within_twice_its_time() {
    // Seconds of one core with AVX-512.
    let rows = [
        (real(Computation::InnerProduct { length: 100 }, 20.0), Scheme::Ckks, "N = 2^13", 1.0e-3),
        (real(Computation::Product { count: 100 }, 20.0), Scheme::Ckks, "N = 2^14", 24e-3),
        (integer(Computation::Product { count: 100 }, 16, 16), Scheme::Tfhe, "2_2", 70.0),
        (integer(Computation::Table { inputs: 2 }, 15, 15), Scheme::BfvLookups, "N = 2^15", 4.5),
        (integer(Computation::Table { inputs: 2 }, 8, 8), Scheme::Tfhe, "2_2", 0.11),
        (integer(Computation::InnerProduct { length: 64 }, 4, 14), Scheme::Bgv, "t = 65537", 1.0e-3),
        (integer(Computation::Compare, 16, 1), Scheme::Tfhe, "2_2", 55e-3),
    ];
    for (workload, scheme, parameters, seconds) in rows {
        let (found, words, time) = choice(&workload);
        assert_eq!(found, scheme, "{workload:?}");
        assert!(words.contains(parameters), "{words}");
        assert!((seconds / 2.0..seconds * 2.0).contains(&time), "{workload:?}: {time} s, {seconds} are known");
    }
}

#[test]
fn comparisons_of_reals_are_polynomials_of_signs_where_these_are_quicker_than_switching() {
    // Advice calls no kernel.
    if !is_fastest() {
        return;
    }
    let workload = |dead_zone| Workload { dead_zone, instances: 100, ..real(Computation::Compare, 10.0) };
    // Predicted are 0.16 s for a polynomial of signs and 1.5 s for switching.
    let (scheme, ..) = choice(&workload(Some(0.0625)));
    assert_eq!(scheme, Scheme::Ckks);
    let refused = |workload: &Workload| {
        let result = advise(workload, &server(), &server(), &Limits::default());
        result.map(|_| ()).expect_err("out of reach").to_string()
    };
    assert!(refused(&workload(None)).contains("dead_zone"));
    assert!(refused(&workload(Some(1e-9))).contains("the smallest that is possible is"));
}

#[test]
fn a_weak_client_makes_its_messages_in_about_a_second() {
    let workload = Workload { dead_zone: Some(0.0625), ..real(Computation::Compare, 10.0) };
    let client = Device::named("pi-zero").expect("there is").party();
    let advice = advise(&workload, &client, &server(), &Limits::default()).expect("there is a scheme");
    let price = &advice.candidates[0].price;
    // Published for keys of TFHE on this device: 272 to 295 seconds.
    assert!(price.encrypt_seconds < 1.5, "{}", price.encrypt_seconds);
    assert!(price.client_memory < 512 << 20, "{}", price.client_memory);
}

#[test]
fn deep_computations_are_bootstrapped_and_shallow_ones_are_not() {
    // Advice calls no kernel.
    if !is_fastest() {
        return;
    }
    let (deep, ..) = choice(&Workload { instances: 1 << 15, ..real(Computation::Squarings { depth: 100 }, 12.0) });
    let (shallow, ..) = choice(&Workload { instances: 1 << 15, ..real(Computation::Squarings { depth: 6 }, 12.0) });
    assert_eq!([deep, shallow], [Scheme::CkksBootstrapping, Scheme::Ckks]);
}

#[test]
fn bootstraps_are_counted_as_they_are_placed() {
    // Advice calls no kernel.
    if !is_fastest() {
        return;
    }
    // Ciphertexts of the preset `n16` have twelve levels, fresh and after each bootstrap.
    for (depth, expected) in [(36, 2.0), (37, 3.0), (39, 3.0)] {
        let workload = Workload { instances: 1 << 15, ..real(Computation::Squarings { depth }, 12.0) };
        let advice = advise(&workload, &server(), &server(), &Limits::default()).expect("there is a scheme");
        let mut candidates = advice.candidates.iter();
        let price = candidates.find(|one| one.scheme == Scheme::CkksBootstrapping).map(|one| &one.price).expect("one");
        let parts = price.parts.iter().filter(|part| part.name == "bootstraps of CKKS");
        assert_eq!(parts.map(|part| part.count).sum::<f64>(), expected, "depth {depth}");
    }
}

#[test]
fn more_depth_never_takes_a_smaller_modulus_and_more_instances_never_less_time() {
    let log_q = |depth| {
        let (_, words, _) = choice(&Workload { instances: 4096, ..real(Computation::Squarings { depth }, 14.0) });
        let after = words.split("log q = ").nth(1).expect("a modulus").split(' ').next().expect("a number").to_owned();
        after.parse::<f64>().expect("a number")
    };
    let moduli: Vec<f64> = [2, 4, 6, 8, 10].map(log_q).to_vec();
    assert!(moduli.is_sorted(), "{moduli:?}");
    let seconds =
        |instances| choice(&Workload { instances, ..real(Computation::InnerProduct { length: 100 }, 20.0) }).2;
    let times: Vec<f64> = [1, 100, 1000, 10_000].map(seconds).to_vec();
    assert!(times.is_sorted(), "{times:?}");
}

#[test]
fn limits_name_the_nearest_that_is_possible() {
    // Advice calls no kernel.
    if !is_fastest() {
        return;
    }
    let workload = real(Computation::InnerProduct { length: 100 }, 20.0);
    let limits = Limits { server_seconds: Some(1e-5), ..Limits::default() };
    let error = advise(&workload, &server(), &server(), &limits).map(|_| ()).expect_err("too short").to_string();
    assert!(error.contains("nearest is CKKS") && error.contains("on the server"), "{error}");
    for seconds in [f64::NAN, -1.0, 0.0, f64::INFINITY] {
        let server_limit = Limits { server_seconds: Some(seconds), ..Limits::default() };
        let client_limit = Limits { client_seconds: Some(seconds), ..Limits::default() };
        for (limits, name) in [(server_limit, "server_seconds"), (client_limit, "client_seconds")] {
            let error = advise(&workload, &server(), &server(), &limits).map(|_| ()).expect_err("no time").to_string();
            assert!(error.contains(name) && error.contains("a positive number of seconds"), "{error}");
        }
    }
    let limits = Limits { server_memory: Some(64 << 20), ..Limits::default() };
    let table = integer(Computation::Table { inputs: 2 }, 15, 15);
    let error = advise(&table, &server(), &server(), &limits).map(|_| ()).expect_err("too little").to_string();
    assert!(error.contains("MiB of memory on the server"), "{error}");
}

#[test]
fn workloads_that_nobody_can_ask_for_are_refused_by_name() {
    for (workload, word) in [
        (real(Computation::Product { count: 0 }, 20.0), "count"),
        (real(Computation::Product { count: 10 }, -1.0), "bits"),
        (integer(Computation::Table { inputs: 3 }, 4, 4), "inputs"),
        (integer(Computation::Compare, 65, 1), "bits"),
        (Workload { instances: 0, ..integer(Computation::Compare, 8, 1) }, "instances"),
        (Workload { log2_failure: 1.0, ..integer(Computation::Compare, 8, 1) }, "log2_failure"),
    ] {
        let error = advise(&workload, &server(), &server(), &Limits::default()).map(|_| ()).expect_err(word);
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[test]
fn workloads_of_any_size_are_answered_in_time() {
    // Advice calls no kernel.
    if !is_fastest() {
        return;
    }
    const MOST: usize = 1 << 24;
    let started = std::time::Instant::now();
    let mut workloads = Vec::new();
    for computation in [
        Computation::Sum { count: MOST },
        Computation::Product { count: MOST },
        Computation::InnerProduct { length: MOST },
        Computation::Squarings { depth: MOST },
        Computation::Polynomial { degree: MOST },
        Computation::Matrix { rows: 1, columns: MOST },
        Computation::Matrix { rows: MOST, columns: 1 },
        Computation::Matrix { rows: MOST, columns: MOST },
    ] {
        workloads.extend([real(computation, 10.0), integer(computation, 8, 8)]);
        workloads.push(Workload { instances: MOST, ..integer(computation, 8, 40) });
    }
    workloads.push(Workload { instances: MOST, ..integer(Computation::Compare, 16, 1) });
    workloads.push(Workload { instances: MOST, ..integer(Computation::Table { inputs: 2 }, 15, 15) });
    let count = workloads.len();
    for workload in workloads {
        let result = advise(&workload, &server(), &server(), &Limits::default());
        let found = result.map(|advice| advice.candidates.len()).map_err(|error| error.to_string());
        assert!(found.is_ok() || found.is_err_and(|text| text.contains("out of reach")), "{workload:?}");
    }
    assert!(started.elapsed().as_secs_f64() < 3.0 * count as f64, "{:?}", started.elapsed());
}

#[test]
fn long_sums_take_several_ciphertexts() {
    // Advice calls no kernel.
    if !is_fastest() {
        return;
    }
    let unlimited = Limits { server_memory: Some(u64::MAX), client_memory: Some(u64::MAX), ..Limits::default() };
    let schemes = |workload: &Workload| advise(workload, &server(), &server(), &unlimited).expect("there is a scheme");
    for count in [65_536, 100_000] {
        let advice = schemes(&real(Computation::Sum { count }, 10.0));
        assert_eq!(advice.candidates[0].scheme, Scheme::Ckks);
        let advice = schemes(&integer(Computation::Sum { count }, 8, 25));
        assert!(advice.candidates.iter().any(|candidate| candidate.scheme == Scheme::Bgv), "{count}");
    }
    let advice = schemes(&integer(Computation::Sum { count: 1 << 20 }, 8, 28));
    assert_eq!(advice.candidates[0].scheme, Scheme::Bgv);
}

#[test]
fn prices_are_sums_of_their_parts_and_choices_come_in_order() {
    let advice = advice(&integer(Computation::InnerProduct { length: 16 }, 4, 12));
    let mut schemes: Vec<Scheme> = advice.candidates.iter().map(|candidate| candidate.scheme).collect();
    schemes.dedup();
    assert_eq!(schemes, [Scheme::Bgv, Scheme::Bfv, Scheme::Tfhe, Scheme::BfvLookups]);
    assert!(advice.candidates.is_sorted_by(|a, b| a.price.server_seconds <= b.price.server_seconds));
    for candidate in &advice.candidates {
        let sum: f64 = candidate.price.parts.iter().map(|part| part.seconds).sum();
        assert!((sum - candidate.price.server_seconds).abs() <= 1e-12 + 1e-9 * sum, "{}", candidate.scheme);
        assert!(candidate.price.key_bytes > 0 && candidate.price.input_bytes > 0 && candidate.price.result_bytes > 0);
        assert!(!candidate.reasons.is_empty());
    }
    let tfhe = advice.candidates.iter().find(|candidate| candidate.scheme == Scheme::Tfhe).expect("a candidate");
    assert!(matches!(tfhe.accuracy, Accuracy::ExactButFor(log2) if log2 < -100.0));
    assert!(advice.candidates[1].reasons.iter().any(|reason| reason.contains("times as long as BGV")));
    assert!(advice.rejections.iter().all(|rejection| !rejection.reason.is_empty()));
}

#[test]
fn other_libraries_stand_beside_candidates_with_noren_s_time_times_a_measured_ratio() {
    let workload = real(Computation::InnerProduct { length: 100 }, 20.0);
    let found = advice(&workload);
    assert!(found.candidates.iter().all(|candidate| candidate.library == "noren"));
    let ours = |scheme| found.candidates.iter().find(|candidate| candidate.scheme == scheme).expect("a candidate");
    let ckks: Vec<&str> =
        found.peers.iter().filter(|peer| peer.scheme == Scheme::Ckks).map(|peer| peer.library).collect();
    assert_eq!(ckks, ["lattigo", "openfhe"]);
    assert!(found.peers.is_sorted_by(|a, b| a.server_seconds <= b.server_seconds));
    for peer in &found.peers {
        let price = &ours(peer.scheme).price;
        assert_eq!(peer.server_seconds, price.server_seconds * peer.ratio.ratio);
        assert!(peer.reasons[0].contains(&peer.ratio.machine) && peer.reasons[0].contains(&peer.ratio.date));
        assert!(peer.encrypt_seconds.is_none_or(|seconds| seconds > 0.0) && peer.ratio.threads == 1);
    }
    // Keys of evaluation were not measured beside others in CKKS.
    assert!(found.peers.iter().all(|peer| peer.scheme != Scheme::Ckks || peer.keys_seconds.is_none()));
    let report = found.report(&workload, &server(), &server()).to_json();
    assert!(report.contains("\"peers\":[{\"scheme\":\"ckks\",\"library\":\"lattigo\""), "{report}");
}

#[test]
fn estimates_of_other_libraries_say_what_does_not_hold_for_this_server() {
    let workload = integer(Computation::InnerProduct { length: 16 }, 4, 12);
    let portable = Party { machine: Machine::reference_portable(), threads: 1 };
    let limits = Limits { server_seconds: Some(0.3), ..Limits::default() };
    let found = advise(&workload, &portable, &portable, &limits).expect("there is a scheme");
    assert!(!found.peers.is_empty());
    for peer in &found.peers {
        assert!(peer.reasons.iter().any(|reason| reason.contains("it has portable")), "{:?}", peer.reasons);
        let beyond = peer.reasons.iter().any(|reason| reason.contains("beyond the limit"));
        assert_eq!(beyond, peer.server_seconds > 0.3, "{:?}", peer.reasons);
    }
}

#[test]
fn machines_are_read_back_and_foreign_ones_refused() {
    let machine = Machine::reference();
    assert_eq!(Machine::parse(&machine.to_json()).expect("its own file"), machine);
    for wrong in ["", "{}", "[1, 2]", &machine.to_json().replace("\"transform_13\"", "\"warp_13\"")] {
        assert!(Machine::parse(wrong).is_err_and(|error| error.to_string().contains("noren calibrate")), "{wrong:.20}");
    }
    let negative = machine.to_json().replacen("\"conversion\": ", "\"conversion\": -", 1);
    assert!(Machine::parse(&negative).is_err());
    assert!(Party { machine, threads: 7 }.seconds(&noren::cost::Work::default()).is_err());
}
