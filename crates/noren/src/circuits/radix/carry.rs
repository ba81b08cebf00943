//! Carries: from digits that are too large to digits below 4.
//!
//! A sum of two digits, at most 6, does one of three things with a carry that comes in: it makes none (a sum below 3), passes
//! it on (3), or makes one itself (above): its *state* 0, 1 or 2. Of k sums with the states `s_0, ..., s_{k-1}` and a carry c
//! that comes in, the last makes a carry just if `c + s_0 + 2 s_1 + ... + 2^{k-1} s_{k-1} >= 2^k`. A table of 16 values has
//! room for three states and a carry. Scaled states come out of the lookups, so that their sums stay free of noise.

use crate::circuits::radix::circuit::{Circuit, DIGIT_NOISE, Shape};
use crate::circuits::radix::value::Value;

/// Digits are below this.
pub(super) const BASE: u64 = 4;
/// The largest sum of two digits: with a carry it makes one carry at most.
pub(super) const MAX_SUM: u64 = 2 * (BASE - 1);
/// So many states, and a carry, go into a lookup.
pub(super) const GROUP: usize = 3;

/// What a sum does with a carry that comes in: 0 for no carry whatever comes, 1 for what comes, 2 for a carry.
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

/// The digits of the number with these sums as digits, each at most 6 with the noise of four digits, plus a carry; what goes
/// beyond the last digit is dropped.
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
    // Digits that nothing comes into, and the first that makes a carry.
    while let [first, others @ ..] = rest {
        let (digit, next) = split(circuit, &(first.clone() + &carry), !others.is_empty());
        digits.push(digit);
        (carry, rest) = (next, others);
        if carry.known().is_none() {
            break;
        }
    }
    let groups: Vec<Group> = rest.chunks(GROUP).map(|sums| Group::new(circuit, sums)).collect();
    let heads = heads(circuit, &groups, carry);
    let end = heads.iter().map(Head::round).max().unwrap_or(0) + 1;
    for (index, (group, head)) in groups.iter().zip(&heads).enumerate() {
        digits.extend(group.digits(circuit, head, end, index + 1 == groups.len()));
    }
    digits
}

/// Up to three digits that carries go through together.
struct Group<'a> {
    sums: &'a [Value],
    /// The states of the sums, the second 2 and the third 4 times.
    states: Vec<Value>,
}

/// What goes into a group: the carry, or what becomes one: a state with the carry that comes into it, a carry from 2 on.
enum Head {
    Carry(Value),
    Pending(Value),
}

/// What goes into each group, the carry that goes into the first being known.
fn heads(circuit: &mut Circuit, groups: &[Group<'_>], carry: Value) -> Vec<Head> {
    let mut known = vec![carry];
    // Of each group but the first the scaled state.
    let mut joint = Vec::new();
    for (index, group) in groups.iter().enumerate().skip(1) {
        // Three groups go into a lookup, from a carry on that was one of the lookup before.
        let (before, count) = if index == 1 {
            (groups[0].joint() + &known[0], GROUP)
        } else {
            let from = (index - 2) / GROUP * GROUP;
            (total(&joint[from..index - 1]) + &known[from + 1], index - 1 - from)
        };
        if count == 1 && group.sums.len() == 1 && index + 1 == groups.len() {
            let heads = known.into_iter().map(Head::Carry);
            return heads.chain([Head::Pending(before)]).collect();
        }
        known.push(circuit.lookup(&before, |x| x >> count));
        let place = (index - 1) % GROUP;
        joint.push(circuit.lookup(&group.joint(), |x| joint_state(x, GROUP) << place));
    }
    known.into_iter().map(Head::Carry).collect()
}

fn total(values: &[Value]) -> Value {
    values.iter().fold(Value::constant(0), |sum, value| sum + value)
}

impl Head {
    fn round(&self) -> usize {
        match self {
            Self::Carry(value) | Self::Pending(value) => value.round(),
        }
    }
}

impl<'a> Group<'a> {
    fn new(circuit: &mut Circuit, sums: &'a [Value]) -> Self {
        let states = sums.iter().enumerate().map(|(place, sum)| circuit.lookup(sum, |x| state(x) << place));
        Self { sums, states: states.collect() }
    }

    /// The states of all digits as one number.
    fn joint(&self) -> Value {
        total(&self.states)
    }

    /// The digits: the first from its sum and the carry, the others from their sums and what is pending before them. All are
    /// known after `end` rounds, or one more.
    fn digits(&self, circuit: &mut Circuit, head: &Head, end: usize, is_last: bool) -> Vec<Value> {
        let mut digits = Vec::with_capacity(self.sums.len());
        let carry = match head {
            Head::Carry(carry) => carry,
            Head::Pending(pending) => return vec![finish(circuit, &self.sums[0], pending)],
        };
        let first = self.sums[0].clone() + carry;
        digits.push(circuit.lookup(&first, |x| x % BASE));
        if let Some(sum) = self.sums.get(1) {
            digits.push(finish(circuit, sum, &(self.states[0].clone() + carry)));
        }
        if let Some(sum) = self.sums.get(2) {
            let two = self.states[0].clone() + &self.states[1];
            digits.push(if is_last {
                finish_far(circuit, sum, &(two + carry))
            } else if carry.round() + 1 < end {
                // Time for the carry into the second digit, doubled as its state is.
                let carry = circuit.lookup(&first, |x| x / BASE * 2);
                finish_doubled(circuit, sum, &(self.states[1].clone() + &carry))
            } else {
                let joint = circuit.lookup(&two, |x| joint_state(x, 2));
                finish(circuit, sum, &(joint + carry))
            });
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
