//! Integers of TFHE: random programs against the arithmetic of the machine.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock};

use noren::error::Result;
use noren::radix::{Comparison, Evaluator, Integer, Move};
use noren::tfhe::{Context, Decryptor, Encryptor, Keys, Preset};
use noren::{Seed, tfhe};

use crate::draw::Draw;
use crate::program::CaseReport;

/// A set without security, and two secrets.
struct World {
    context: Context,
    keys: [Keys; 2],
    evaluators: [Evaluator; 2],
}

static WORLD: LazyLock<World> = LazyLock::new(|| {
    let preset = Preset::named("TOY_2_2").and_then(|preset| preset.parameters()).expect("a preset");
    let context = Context::new(preset).expect("a context");
    let keys = [1, 2].map(|byte| context.generate_keys(Seed::from_bytes([byte; 32])).expect("keys"));
    let evaluators = [0, 1].map(|k: usize| {
        let evaluator = tfhe::Evaluator::new(&context, Arc::clone(&keys[k].server)).expect("an evaluator");
        Evaluator::new(&evaluator).expect("digits of two bits").with_small_batch(k)
    });
    World { context, keys, evaluators }
});

type Vector = (Vec<Integer>, Vec<u64>);

/// Runs the case of a seed: one width, one batch, some calls on what there is.
pub fn run_radix(seed: u64) -> CaseReport {
    let world = &*WORLD;
    let mut report = CaseReport::default();
    let mut draw = Draw::new(seed, 0);
    let bits = draw.one(&[2, 4, 6, 8, 8, 10, 16]);
    let count = 1 + draw.below(4);
    let mut text = vec![format!("TOY_2_2, {count} integers of {bits} bits")];
    let mut pool: Vec<Vector> = Vec::new();
    let encryptor = Encryptor::new(&world.context, &world.keys[0].secret, draw.seed()).expect("the same parameters");
    let decryptor = Decryptor::new(&world.context, &world.keys[0].secret).expect("the same parameters");
    for _ in 0..2 {
        let values: Vec<u64> = (0..count).map(|_| draw.word() & mask(bits)).collect();
        let integers: Result<Vec<_>> = values.iter().map(|&x| Integer::encrypt(&encryptor, x, bits)).collect();
        pool.push((integers.expect("values of these bits"), values));
    }
    for _ in 0..4 + draw.below(5) {
        let (x, y) = (draw.below(pool.len()), draw.below(pool.len()));
        let outcome = catch_unwind(AssertUnwindSafe(|| call(world, bits, &pool[x], &pool[y], &mut draw)));
        let (name, found, truth) = match outcome {
            Ok(outcome) => outcome,
            Err(_) => {
                report.finding = Some(format!("FINDING in tfhe:{seed}: a panic\n{}", text.join("\n")));
                break;
            }
        };
        text.push(format!("  v{} = {name} of v{x}, v{y}", pool.len()));
        report.calls.push((name, found.is_ok()));
        let failed = match (found, truth) {
            (Err(error), Some(_)) => Some(format!("refused: {error}")),
            (Err(_), None) => None,
            (Ok(_), None) => Some("a mistake was not refused".to_owned()),
            (Ok(found), Some(truth)) => {
                let values: Result<Vec<u64>> = found.iter().map(|integer| integer.decrypt(&decryptor)).collect();
                match values {
                    Err(error) => Some(format!("decrypt: {error}")),
                    Ok(values) if values != truth => Some(format!("{values:?}, true {truth:?}")),
                    Ok(_) => {
                        if found[0].bits() == bits {
                            pool.push((found, truth));
                        }
                        None
                    }
                }
            }
        };
        if let Some(failed) = failed {
            report.finding = Some(format!("FINDING in tfhe:{seed}, {name}: {failed}\n{}", text.join("\n")));
            break;
        }
    }
    report
}

/// A call, what it gave, and what must come out, none for a mistake.
fn call(
    world: &World,
    bits: usize,
    (x, a): &Vector,
    (y, b): &Vector,
    draw: &mut Draw,
) -> (&'static str, Result<Vec<Integer>>, Option<Vec<u64>>) {
    let ev = &world.evaluators[0];
    let all = mask(bits);
    let each = |op: &dyn Fn(u64, u64) -> u64| Some(a.iter().zip(b).map(|(&a, &b)| op(a, b) & all).collect());
    match draw.below(13) {
        0 => ("add", ev.add(x, y), each(&u64::wrapping_add)),
        1 => ("sub", ev.sub(x, y), each(&u64::wrapping_sub)),
        2 => ("mul", ev.mul(x, y), each(&u64::wrapping_mul)),
        3 => ("neg", ev.neg(x), each(&|a, _| a.wrapping_neg())),
        4 => ("div", ev.div_rem(x, y).map(|(q, _)| q), each(&|a, b| a.checked_div(b).unwrap_or(all))),
        5 => ("rem", ev.div_rem(x, y).map(|(_, r)| r), each(&|a, b| a.checked_rem(b).unwrap_or(a))),
        6 => ("sum", ev.sum(&[x, y, x]), each(&|a, b| a.wrapping_mul(2).wrapping_add(b))),
        7 => {
            let flags = ev.compare(Comparison::Lt, x, y);
            ("select", flags.and_then(|flags| ev.select(&flags, x, y)), each(&u64::min))
        }
        8 => {
            let flags = ev.compare_signed(Comparison::Ge, x, y);
            let signed = |x: u64| (x ^ (1 << (bits - 1))) & all;
            let truth = each(&|a, b| if signed(a) >= signed(b) { a } else { b });
            ("select_signed", flags.and_then(|flags| ev.select(&flags, x, y)), truth)
        }
        9 => {
            let by = draw.below(bits);
            ("shift", ev.shift(Move::ShiftLeft, x, by), each(&|a, _| a << by))
        }
        10 => ("mistake_foreign_keys", world.evaluators[1].add(x, y), None),
        11 => {
            let seed = draw.seed();
            let foreign = Encryptor::new(&world.context, &world.keys[1].secret, seed).and_then(|encryptor| {
                let integers = a.iter().map(|&value| Integer::encrypt(&encryptor, value, bits));
                integers.collect::<Result<Vec<_>>>()
            });
            ("mistake_foreign_operand", foreign.and_then(|foreign| ev.add(x, &foreign)), None)
        }
        _ => {
            let shorter = ev.trivial(0, bits + 2).map(|integer| vec![integer; x.len()]);
            ("mistake_bits", shorter.and_then(|shorter| ev.add(x, &shorter)), None)
        }
    }
}

fn mask(bits: usize) -> u64 {
    u64::MAX >> (64 - bits)
}
