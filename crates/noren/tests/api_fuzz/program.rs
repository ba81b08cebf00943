//! Random circuits on one evaluator, call by call.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use noren::circuits::polynomial::{Basis, Polynomial};
use noren::circuits::product::{product, sequential};
use noren::circuits::trace;
use noren::error::Result;
use noren::schemes::slots::{GiantStep, Scalar, SlotEvaluator};

use crate::draw::Draw;

/// Parameters, a secret with keys, and what must come out.
pub trait World: Sized {
    type Number: Scalar;
    type Ev: SlotEvaluator<Scalar = Self::Number>;

    /// A world, and how it was made.
    fn new(draw: &mut Draw) -> (Self, String);
    fn ev(&self) -> &Self::Ev;
    /// The evaluator of another secret with the same keys.
    fn foreign(&self) -> &Self::Ev;
    fn slots(&self) -> usize;
    fn rotations(&self) -> &[isize];
    /// A number as callers hand it in.
    fn number(&self, draw: &mut Draw) -> Self::Number;
    /// A number that cannot be encoded.
    fn wrong_number(&self, draw: &mut Draw) -> Self::Number;
    /// A number of an unusual size, which is taken as what it is, or refused.
    fn large_number(&self, draw: &mut Draw) -> Self::Number;
    fn encrypt(&self, values: &[Self::Number], draw: &mut Draw) -> Result<Ciphertext<Self>>;
    fn encrypt_foreign(&self, values: &[Self::Number], draw: &mut Draw) -> Result<Ciphertext<Self>>;
    /// A ciphertext of other parameters.
    fn encrypt_elsewhere(&self, draw: &mut Draw) -> Result<Ciphertext<Self>>;
    /// The error over its bound, or what is wrong.
    fn check(&self, x: &Ciphertext<Self>, truth: &[Self::Number]) -> std::result::Result<f64, String>;
    /// Whether decrypting with the other secret is refused.
    fn foreign_decrypts(&self, x: &Ciphertext<Self>) -> bool;
    fn plus(&self, x: Self::Number, y: Self::Number) -> Self::Number;
    fn times(&self, x: Self::Number, y: Self::Number) -> Self::Number;
    fn bytes_round_trip(&self, x: &Ciphertext<Self>) -> Result<Ciphertext<Self>>;
}

pub type Ciphertext<W> = <<W as World>::Ev as SlotEvaluator>::Ciphertext;
type Values<W> = Vec<<W as World>::Number>;
type Pool<W> = BTreeMap<usize, (Ciphertext<W>, Values<W>)>;

/// The outcome of a case.
#[derive(Default)]
pub struct CaseReport {
    /// Each call, and whether it was right.
    pub calls: Vec<(&'static str, bool)>,
    pub worst: f64,
    pub finding: Option<String>,
}

/// A call: its number, its name and the numbers of the calls that made its operands.
#[derive(Clone, Copy)]
struct Call(usize, &'static str, [usize; 3]);

/// The outcome that a call must have: values, or an error.
enum Truth<W: World> {
    Values(Values<W>),
    Refused,
}

/// All calls; some more often.
const NAMES: [&str; 34] = [
    "encrypt",
    "encrypt",
    "add",
    "sub",
    "mul",
    "mul",
    "neg",
    "square",
    "add_scalar",
    "mul_scalar",
    "add_plain",
    "mul_plain",
    "dot",
    "dot_plain",
    "weighted_sum",
    "rotate",
    "rotate_many",
    "sum_rotations",
    "sum_giant_steps",
    "trace_sum",
    "product",
    "at_level",
    "polynomial",
    "bytes",
    "mistake_foreign_operand",
    "mistake_foreign_keys",
    "mistake_foreign_secret",
    "mistake_parameters",
    "mistake_number",
    "large_number",
    "mistake_length",
    "mistake_level",
    "other_plain",
    "mistake_empty",
];

/// Runs the case of a seed; a failing program is cut down to the calls that it needs.
pub fn run_case<W: World>(name: &str, seed: u64) -> CaseReport {
    let mut calls = Vec::new();
    let mut report = run::<W>(name, seed, None, &mut calls);
    if report.finding.is_some() {
        let fewer = needed(&calls);
        let mut again = Vec::new();
        let shorter = run::<W>(name, seed, Some(&fewer), &mut again);
        if shorter.finding.is_some() {
            report.finding = shorter.finding;
        }
    }
    report
}

/// The last call, and those that it needs.
fn needed(calls: &[Call]) -> Vec<Call> {
    let mut wanted: Vec<usize> = calls.last().map(|call| call.0).into_iter().collect();
    let mut found: Vec<Call> = Vec::new();
    for call in calls.iter().rev() {
        if wanted.contains(&call.0) {
            wanted.extend(call.2);
            found.insert(0, *call);
        }
    }
    found
}

fn run<W: World>(name: &str, seed: u64, replay: Option<&[Call]>, calls: &mut Vec<Call>) -> CaseReport {
    let mut report = CaseReport::default();
    let (world, made) = W::new(&mut Draw::new(seed, 0));
    let mut text = vec![made];
    let mut pool: Pool<W> = BTreeMap::new();
    let mut choices = Draw::new(seed, 1);
    let count = replay.map_or_else(|| 6 + choices.below(12), <[Call]>::len);
    for position in 0..count {
        let call = match replay {
            Some(replay) => replay[position],
            None => {
                let name = if position < 2 { "encrypt" } else { NAMES[choices.below(NAMES.len())] };
                let made: Vec<usize> = pool.keys().copied().collect();
                let mut pick = || if made.is_empty() { usize::MAX } else { made[choices.below(made.len())] };
                Call(position, name, [pick(), pick(), pick()])
            }
        };
        let encrypts = call.1 == "encrypt";
        if !encrypts && call.2.iter().any(|id| !pool.contains_key(id)) {
            continue;
        }
        let call = if encrypts { Call(call.0, call.1, [usize::MAX; 3]) } else { call };
        calls.push(call);
        text.push(format!("  v{} = {} {:?}", call.0, call.1, call.2.map(|id| format!("v{id}"))));
        let mut draw = Draw::new(seed, 2 + call.0 as u64);
        let outcome = catch_unwind(AssertUnwindSafe(|| perform(&world, call, &pool, &mut draw)));
        let failed = match outcome {
            Err(panic) => {
                let words = panic.downcast_ref::<String>().cloned();
                let words = words.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
                Some(format!("a panic: {}", words.unwrap_or_default()))
            }
            Ok((Err(error), _)) => {
                report.calls.push((call.1, false));
                error.to_string().is_empty().then(|| "an error without words".to_owned())
            }
            Ok((Ok(_), Truth::Refused)) => Some("a mistake was not refused".to_owned()),
            Ok((Ok(found), Truth::Values(truth))) => {
                report.calls.push((call.1, true));
                let checked = catch_unwind(AssertUnwindSafe(|| world.check(&found, &truth)));
                match checked.unwrap_or_else(|_| Err("a panic while decrypting".to_owned())) {
                    Ok(ratio) => {
                        report.worst = report.worst.max(ratio);
                        pool.insert(call.0, (found, truth));
                        None
                    }
                    Err(wrong) => Some(wrong),
                }
            }
        };
        if let Some(failed) = failed {
            let program = text.join("\n");
            report.finding = Some(format!("FINDING in {name}:{seed}, {}: {failed}\n{program}", call.1));
            break;
        }
    }
    report
}

/// One call, and what must come out of it.
fn perform<W: World>(w: &W, call: Call, pool: &Pool<W>, draw: &mut Draw) -> (Result<Ciphertext<W>>, Truth<W>) {
    let ev = w.ev();
    let slots = w.slots();
    let vector = |draw: &mut Draw| (0..slots).map(|_| w.number(draw)).collect::<Values<W>>();
    if call.1 == "encrypt" {
        let mut values = vector(draw);
        let count = if draw.chance(3) { draw.below(slots) + 1 } else { slots };
        values[count..].fill(W::Number::ZERO);
        return (w.encrypt(&values, draw), Truth::Values(values));
    }
    let [(x, a), (y, b), (z, c)] = call.2.map(|id| &pool[&id]);
    let each = |p: &[W::Number], q: &[W::Number], op: &dyn Fn(W::Number, W::Number) -> W::Number| -> Values<W> {
        p.iter().zip(q).map(|(&p, &q)| op(p, q)).collect()
    };
    let plus = |p: &[W::Number], q: &[W::Number]| each(p, q, &|p, q| w.plus(p, q));
    let times = |p: &[W::Number], q: &[W::Number]| each(p, q, &|p, q| w.times(p, q));
    let minus_one = W::Number::ZERO.minus(W::Number::ONE);
    let negative = |p: &[W::Number]| p.iter().map(|&p| w.times(p, minus_one)).collect::<Values<W>>();
    let turned = |p: &[W::Number], steps: isize| -> Values<W> {
        (0..slots).map(|j| p[(j as isize + steps).rem_euclid(slots as isize) as usize]).collect()
    };
    let some_rotation = |draw: &mut Draw| match draw.below(4) {
        0 => draw.from(-20, 20) as isize,
        _ if w.rotations().is_empty() => 0,
        _ => w.rotations()[draw.below(w.rotations().len())],
    };
    match call.1 {
        "add" => (ev.add(x, y), Truth::Values(plus(a, b))),
        "sub" => (ev.sub(x, y), Truth::Values(plus(a, &negative(b)))),
        "mul" => (ev.mul(x, y), Truth::Values(times(a, b))),
        "neg" => (ev.neg(x), Truth::Values(negative(a))),
        "square" => (ev.square(x), Truth::Values(times(a, a))),
        "add_scalar" | "mul_scalar" => {
            let k = w.number(draw);
            let all = vec![k; slots];
            if call.1 == "add_scalar" {
                return (ev.add_scalar(x, k), Truth::Values(plus(a, &all)));
            }
            (ev.mul_scalar(x, k), Truth::Values(times(a, &all)))
        }
        "add_plain" | "mul_plain" => {
            let values = vector(draw);
            let plain = ev.encode_for(&values, x);
            if call.1 == "add_plain" {
                return (plain.and_then(|p| ev.add_plain(x, &p)), Truth::Values(plus(a, &values)));
            }
            (plain.and_then(|p| ev.mul_plain(x, &p)), Truth::Values(times(a, &values)))
        }
        // Prepared for another operand: refused, or right all the same.
        "other_plain" => {
            let values = vector(draw);
            let plain = ev.encode_for(&values, y);
            (plain.and_then(|p| ev.mul_plain(x, &p)), Truth::Values(times(a, &values)))
        }
        "dot" => (ev.dot(&[(x, y), (z, z)]), Truth::Values(plus(&times(a, b), &times(c, c)))),
        "dot_plain" => {
            let values = vector(draw);
            let plain = ev.encode_for(&values, x);
            let found = plain.and_then(|p| ev.dot_plain(&[(x, &p), (y, &p)]));
            (found, Truth::Values(times(&plus(a, b), &values)))
        }
        "weighted_sum" => {
            let [k, l, m, n] = [(); 4].map(|()| w.number(draw));
            let scaled = |p: &[W::Number], k| times(p, &vec![k; slots]);
            let truth = plus(&plus(&scaled(a, k), &scaled(b, l)), &plus(&scaled(c, m), &vec![n; slots]));
            (ev.weighted_sum(&[(x, k), (y, l), (z, m)], n), Truth::Values(truth))
        }
        "rotate" => {
            let r = some_rotation(draw);
            (ev.rotate(x, r), Truth::Values(turned(a, r)))
        }
        "rotate_many" => {
            let steps = [some_rotation(draw), 0, some_rotation(draw)];
            let which = draw.below(3);
            let found = ev.rotate_many(x, &steps).map(|mut all| all.swap_remove(which));
            (found, Truth::Values(turned(a, steps[which])))
        }
        "sum_rotations" => {
            let steps = [some_rotation(draw), some_rotation(draw)];
            let truth = plus(a, &plus(&turned(a, steps[0]), &turned(a, steps[1])));
            (ev.sum_rotations(x, &steps), Truth::Values(truth))
        }
        "sum_giant_steps" => {
            let (p, q) = (vector(draw), vector(draw));
            let (r, s) = (some_rotation(draw), some_rotation(draw));
            let truth = plus(&times(a, &p), &turned(&times(&turned(a, r), &q), s));
            let found = ev.encode_factor(&p, x).and_then(|p| {
                let q = ev.encode_factor(&q, x)?;
                let giants =
                    [GiantStep { rotation: 0, terms: vec![(0, p)] }, GiantStep { rotation: s, terms: vec![(1, q)] }];
                ev.sum_giant_steps(x, &[0, r], &giants)
            });
            (found, Truth::Values(truth))
        }
        "trace_sum" => {
            let (count, stride) = (1 + draw.below(9), draw.one(&[1, 1, 2, -3]));
            let truth = (1..count).fold(a.clone(), |sum, k| plus(&sum, &turned(a, k as isize * stride)));
            (trace::sum(ev, x, count, stride), Truth::Values(truth))
        }
        "product" => {
            let (count, stride) = (1 + draw.below(5), draw.one(&[1, 1, 2, -3]));
            let truth = (1..count).fold(a.clone(), |product, k| times(&product, &turned(a, k as isize * stride)));
            let in_a_row = draw.chance(3);
            let found = if in_a_row { sequential(ev, x, count, stride) } else { product(ev, x, count, stride) };
            (found, Truth::Values(truth))
        }
        "at_level" => {
            let level = draw.below(ev.level(x) + 1);
            (ev.at_level(x, level), Truth::Values(a.clone()))
        }
        "polynomial" => {
            let coefficients: Values<W> = (0..1 + draw.below(6)).map(|_| w.number(draw)).collect();
            let zero = vec![W::Number::ZERO; slots];
            let truth = coefficients.iter().rev().fold(zero, |sum, &c| plus(&times(&sum, a), &vec![c; slots]));
            let found = Polynomial::new(Basis::Power, coefficients).and_then(|polynomial| polynomial.evaluate(ev, x));
            (found, Truth::Values(truth))
        }
        "bytes" => (w.bytes_round_trip(x), Truth::Values(a.clone())),
        "mistake_foreign_operand" => {
            let foreign = w.encrypt_foreign(&vector(draw), draw);
            let found = foreign.and_then(|f| match draw.below(5) {
                0 => ev.add(x, &f),
                1 => ev.sub(&f, x),
                2 => ev.mul(x, &f),
                3 => ev.dot(&[(x, x), (&f, x)]),
                _ => ev.weighted_sum(&[(x, W::Number::ONE), (&f, W::Number::ONE)], W::Number::ZERO),
            });
            (found, Truth::Refused)
        }
        "mistake_foreign_keys" => {
            let foreign = w.foreign();
            let found = match draw.below(5) {
                0 => foreign.square(x),
                1 => foreign.rotate(x, some_rotation(draw)),
                2 => foreign.add_scalar(x, W::Number::ONE),
                3 => foreign.neg(x),
                _ => foreign.mul_scalar(x, W::Number::ONE),
            };
            (found, Truth::Refused)
        }
        "mistake_foreign_secret" => {
            let found = if w.foreign_decrypts(x) { Ok(x.clone()) } else { ev.at_level(x, usize::MAX) };
            (found, Truth::Refused)
        }
        "mistake_parameters" => {
            let found = w.encrypt_elsewhere(draw).and_then(|e| match draw.below(4) {
                0 => ev.add(x, &e),
                1 => ev.mul(&e, x),
                2 => ev.square(&e),
                _ => ev.rotate(&e, 1),
            });
            (found, Truth::Refused)
        }
        "large_number" => {
            let k = w.large_number(draw);
            let all = vec![k; slots];
            match draw.below(3) {
                0 => (ev.add_scalar(x, k), Truth::Values(plus(a, &all))),
                1 => (ev.mul_scalar(x, k), Truth::Values(times(a, &all))),
                _ => (ev.weighted_sum(&[(x, k)], k), Truth::Values(plus(&times(a, &all), &all))),
            }
        }
        "mistake_number" => {
            let wrong = w.wrong_number(draw);
            let found = if draw.chance(2) {
                ev.encode_for(&[wrong], x).and_then(|p| ev.add_plain(x, &p))
            } else {
                ev.encode_factor(&[wrong], x).map(|_| x.clone())
            };
            (found, Truth::Refused)
        }
        "mistake_length" => {
            let found = ev.encode_for(&vec![W::Number::ONE; slots + 1 + draw.below(9)], x);
            (found.and_then(|p| ev.add_plain(x, &p)), Truth::Refused)
        }
        "mistake_level" => (ev.at_level(x, ev.level(x) + 1 + draw.below(9)), Truth::Refused),
        "mistake_empty" => {
            let found = match draw.below(3) {
                0 => ev.dot(&[]),
                1 => ev.weighted_sum(&[], W::Number::ONE),
                _ => ev.dot_plain(&[]),
            };
            (found, Truth::Refused)
        }
        other => unreachable!("{other} is no call"),
    }
}
