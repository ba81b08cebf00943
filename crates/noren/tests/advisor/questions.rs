//! Questions with the answers that an expert gives, beside times that were measured.

use noren::advisor::{Advice, Candidate, Device, Limits, Scheme, Workload, advise};
use noren::cost::{Machine, Party};
use noren_math::kernels::is_fastest;
use serde::Deserialize;

#[derive(Deserialize)]
struct Questions {
    questions: Vec<Question>,
}

#[derive(Deserialize)]
struct Question {
    name: String,
    workload: Workload,
    /// A device; the server's machine where there is none.
    client: Option<String>,
    scheme: Scheme,
    /// A part of the words of the parameters.
    parameters: String,
    measured: Option<Measured>,
}

#[derive(Deserialize)]
struct Measured {
    /// The server's time with one thread.
    seconds: f64,
    records: String,
}

/// The answers that must be right, and those whose predicted time may be far off.
const RIGHT: usize = 38;
const QUESTIONS: usize = 40;
/// How much longer than the best that was measured a choice may take.
const FACTOR: f64 = 1.3;
/// A choice may have better parameters than the records: 0.12 ms was measured for the product of two numbers with those that are
/// advised, 0.60 of the record.
const LEAST: f64 = 0.5;

fn questions() -> Vec<Question> {
    let file: Questions = serde_json::from_str(include_str!("questions.json")).expect("well formed");
    file.questions
}

/// The machine that the times were measured on.
fn measured_on() -> Party {
    Party { machine: Machine::parse(include_str!("zen5.json")).expect("a machine"), threads: 1 }
}

fn answer(question: &Question, server: &Party) -> Advice {
    let client = match &question.client {
        Some(name) => Device::named(name).expect("a device").party(),
        None => server.clone(),
    };
    advise(&question.workload, &client, server, &Limits::default()).expect("an answer")
}

fn is_right(question: &Question, best: &Candidate) -> bool {
    best.scheme == question.scheme && best.parameters.contains(&question.parameters)
}

#[test]
fn experts_choose_the_same_and_measurements_confirm_the_price() {
    // Advice calls no kernel.
    if !is_fastest() {
        return;
    }
    let (server, questions) = (measured_on(), questions());
    assert_eq!(questions.len(), QUESTIONS);
    let (mut right, mut notes) = (0, Vec::new());
    for question in &questions {
        let advice = answer(question, &server);
        let best = &advice.candidates[0];
        let (mut good, name) = (is_right(question, best), &question.name);
        // Records are of circuits alone.
        let transfers = best.price.parts.iter().find(|part| part.name == "ciphertexts read and written");
        let found = best.price.server_seconds - transfers.map_or(0.0, |part| part.seconds);
        if !good {
            notes.push(format!("{name}: {} ({})", best.scheme, best.parameters));
        }
        if let Some(Measured { seconds, records }) = &question.measured {
            assert!(!records.is_empty());
            let ratio = found / seconds;
            if !(LEAST..=FACTOR).contains(&ratio) {
                notes.push(format!("{name}: {found:.3e} s predicted, {seconds:.3e} s measured, {ratio:.2}"));
                good = false;
            }
        }
        right += usize::from(good);
    }
    assert!(right >= RIGHT, "{right} of {QUESTIONS} right: {notes:#?}");
}

#[test]
fn the_choice_is_the_same_on_the_reference_machine() {
    // Advice calls no kernel.
    if !is_fastest() {
        return;
    }
    let server = Party { machine: Machine::reference(), threads: 1 };
    let wrong: Vec<String> = questions()
        .iter()
        .map(|question| (question, answer(question, &server).candidates.swap_remove(0)))
        .filter(|(question, best)| !is_right(question, best))
        .map(|(question, best)| format!("{}: {} ({})", question.name, best.scheme, best.parameters))
        .collect();
    assert!(wrong.len() <= QUESTIONS - RIGHT, "{wrong:#?}");
}
