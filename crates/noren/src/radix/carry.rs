//! Carries: from digits that are too large to digits below 4.
//!
//! A sum of two digits, at most 6, does one of three things with a carry that comes in: it makes none (a sum below 3), passes
//! it on (3), or makes one itself (above): its *state* 0, 1 or 2. Of k sums with the states `s_0, ..., s_{k-1}` and a carry c
//! that comes in, the last makes a carry just if `c + s_0 + 2 s_1 + ... + 2^{k-1} s_{k-1} >= 2^k`. A table of 16 values has
//! room for three states and a carry. Scaled states come out of the lookups, so that their sums stay free of noise.

use crate::radix::circuit::{Circuit, DIGIT_NOISE, ROOM, Shape};
use crate::radix::value::Value;

/// Digits are below this.
pub(super) const BASE: u64 = 4;
/// The largest sum of two digits: with a carry it makes one carry at most.
pub(super) const MAX_SUM: u64 = 2 * (BASE - 1);
/// The largest last sum, from which no carry goes on.
pub(super) const MAX_LAST_SUM: u64 = ROOM as u64 - 2;
/// The states that, with a carry, go into a lookup.
pub(super) const GROUP: usize = 3;

/// The effect of a sum on a carry that comes in: 0 for no carry whatever comes, 1 for what comes, 2 for a carry.
pub(super) fn state(sum: u64) -> u64 {
    match sum {
        0..3 => 0,
        3 => 1,
        _ => 2,
    }
}

/// The state of the states `s_0, ..., s_{k-1}` together, from `s_0 + 2 s_1 + ... + 2^{k-1} s_{k-1}`.
pub(super) fn joint_state(states: u64, count: usize) -> u64 {
    // All pass a carry on.
    let passing = (1 << count) - 1;
    match states.cmp(&passing) {
        std::cmp::Ordering::Less => 0,
        std::cmp::Ordering::Equal => 1,
        std::cmp::Ordering::Greater => 2,
    }
}

/// The digits of the number with these sums as digits, plus a carry; what goes beyond the last digit is dropped. Sums have at
/// most the noise of four bootstraps and are at most 6, the last [`MAX_LAST_SUM`].
pub(super) fn propagate(circuit: &mut Circuit, sums: &[Value], carry: &Value) -> Vec<Value> {
    match circuit.shape() {
        Shape::Lean => ripple(circuit, sums, carry, false).0,
        Shape::Flat => look_ahead(circuit, sums, carry),
    }
}

/// The same, digit by digit, with the carry that goes beyond the last digit if it is wanted.
pub(super) fn ripple(circuit: &mut Circuit, sums: &[Value], carry: &Value, last: bool) -> (Vec<Value>, Value) {
    let mut carry = carry.clone();
    let mut digits = Vec::with_capacity(sums.len());
    for (index, sum) in sums.iter().enumerate() {
        let wants_carry = last || index + 1 < sums.len();
        let (digit, next) = split(circuit, &(sum.clone() + &carry), wants_carry);
        digits.push(digit);
        carry = next;
    }
    (digits, carry)
}

/// A value as digit and carry.
fn split(circuit: &mut Circuit, value: &Value, wants_carry: bool) -> (Value, Value) {
    if value.most() < BASE && value.noise() <= DIGIT_NOISE {
        (value.clone(), Value::constant(0))
    } else if wants_carry && value.most() >= BASE {
        (circuit.lookup(value, |x| x % BASE), circuit.lookup(value, |x| x / BASE))
    } else {
        (circuit.lookup(value, |x| x % BASE), Value::constant(0))
    }
}

/// The same, with carries that are looked ahead: for groups of three digits from their states.
fn look_ahead(circuit: &mut Circuit, sums: &[Value], carry: &Value) -> Vec<Value> {
    let mut carry = carry.clone();
    let mut digits = Vec::with_capacity(sums.len());
    let mut rest = sums;
    // Digits that nothing comes into, the first that makes a carry, and those that are done while others are still summed.
    while let [first, others @ ..] = rest {
        let latest = rest.iter().map(Value::round).max().unwrap_or(0);
        if carry.known().is_none() && carry.round() >= latest {
            break;
        }
        let (digit, next) = split(circuit, &(first.clone() + &carry), !others.is_empty());
        digits.push(digit);
        (carry, rest) = (next, others);
    }
    let mut groups = Vec::new();
    while !rest.is_empty() {
        // One digit more in the last group is better than one alone.
        let (sums, others) = rest.split_at(if rest.len() <= GROUP + 1 { rest.len() } else { GROUP });
        groups.push(Group::new(circuit, sums));
        rest = others;
    }
    let heads = heads(circuit, &groups, carry);
    let end = heads.iter().map(Value::round).max().unwrap_or(0) + 1;
    for (index, (group, head)) in groups.iter().zip(&heads).enumerate() {
        digits.extend(group.digits(circuit, head, end, index + 1 == groups.len()));
    }
    digits
}

/// Three digits that carries go through together; the last group has up to four.
struct Group<'a> {
    sums: &'a [Value],
    /// The states of the sums, each twice as much as the one below, but for the third of four, that is as the second.
    states: Vec<Value>,
}

/// The carry into each group, that into the first being known.
fn heads(circuit: &mut Circuit, groups: &[Group<'_>], carry: Value) -> Vec<Value> {
    let mut heads = vec![carry];
    // Of each group but the first the scaled state.
    let mut joint = Vec::new();
    for index in 1..groups.len() {
        // Three groups go into a lookup, from a carry on that was one of the lookup before.
        let (before, count) = if index == 1 {
            (groups[0].joint() + &heads[0], GROUP)
        } else {
            let from = (index - 2) / GROUP * GROUP;
            (total(&joint[from..]) + &heads[from + 1], joint.len() - from)
        };
        heads.push(circuit.lookup(&before, |x| x >> count));
        if index + 1 < groups.len() {
            let place = (index - 1) % GROUP;
            joint.push(circuit.lookup(&groups[index].joint(), |x| joint_state(x, GROUP) << place));
        }
    }
    heads
}

fn total(values: &[Value]) -> Value {
    values.iter().fold(Value::constant(0), |sum, value| sum + value)
}

impl<'a> Group<'a> {
    fn new(circuit: &mut Circuit, sums: &'a [Value]) -> Self {
        let place_of = |index| if index == 2 && sums.len() > GROUP { 1 } else { index };
        // Nothing comes after the last of four.
        let states = sums.iter().take(GROUP).enumerate();
        let states = states.map(|(index, sum)| circuit.lookup(sum, |x| state(x) << place_of(index)));
        Self { sums, states: states.collect() }
    }

    /// The states of all digits as one number.
    fn joint(&self) -> Value {
        total(&self.states)
    }

    /// The digits: the first from its sum and the carry, the others from their sums and what is pending before them. All are
    /// known after `end` rounds, or one more.
    fn digits(&self, circuit: &mut Circuit, carry: &Value, end: usize, is_last: bool) -> Vec<Value> {
        let first = self.sums[0].clone() + carry;
        let mut digits = vec![circuit.lookup(&first, |x| x % BASE)];
        let [_, others @ ..] = self.sums else { return digits };
        if let Some(sum) = others.first() {
            digits.push(finish(circuit, sum, &(self.states[0].clone() + carry)));
        }
        let [_, others @ ..] = others else { return digits };
        let two = self.states[0].clone() + &self.states[1];
        match others {
            [] => {}
            [sum] if is_last => digits.push(finish_far(circuit, sum, &(two + carry))),
            [sum] if carry.round() + 1 < end => {
                // Time for the carry into the second digit, doubled as its state is.
                let carry = circuit.lookup(&first, |x| x / BASE * 2);
                digits.push(finish_doubled(circuit, sum, &(self.states[1].clone() + &carry)));
            }
            [sum, last @ ..] => {
                let pending = circuit.lookup(&two, |x| joint_state(x, 2)) + carry;
                digits.push(finish(circuit, sum, &pending));
                let last = last.first().map(|sum| finish_far(circuit, sum, &(pending + &self.states[2])));
                digits.extend(last);
            }
        }
        digits
    }
}

/// The digit of a sum with what is pending before it, a carry from 2 on, at most 3.
fn finish(circuit: &mut Circuit, sum: &Value, pending: &Value) -> Value {
    let digit = circuit.lookup(sum, |x| x % BASE * 4);
    circuit.lookup(&(digit + pending), |x| (x / 4 + x % 4 / 2) % BASE)
}

/// The same for twice what is pending.
fn finish_doubled(circuit: &mut Circuit, sum: &Value, pending: &Value) -> Value {
    // 0, 1, 8 and 9 leave room for 0, 2, 4 and 6.
    let digit = circuit.lookup(sum, |x| x % 2 + x % BASE / 2 * 8);
    circuit.lookup(&(digit + pending), |x| (x % 2 + x / 8 * 2 + x % 8 / 4) % BASE)
}

/// The same for a carry that is pending before two digits, a carry from 4 on, at most 7: with the noise of two bootstraps.
fn finish_far(circuit: &mut Circuit, sum: &Value, pending: &Value) -> Value {
    let digit = circuit.lookup(sum, |x| x % BASE);
    let wraps = circuit.lookup(sum, |x| if x % BASE == BASE - 1 { 8 } else { 0 });
    // The carry that a digit takes up, and 3 more: a 3 becomes a 0.
    let change = circuit.lookup(&(wraps + pending), |x| match (x / 8, x % 8 / 4) {
        (_, 0) => 3,
        (0, _) => 4,
        _ => 0,
    });
    (digit + &change + -3).within(BASE - 1)
}
