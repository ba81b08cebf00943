//! Digit by digit: noise taken off, bitwise functions, and choices.

use crate::radix::carry::BASE;
use crate::radix::circuit::{Circuit, DIGIT_BITS, MAX_NOISE};
use crate::radix::value::Value;

/// The digit with the noise of one bootstrap.
pub(super) fn clean(circuit: &mut Circuit, digit: &Value) -> Value {
    if digit.noise() <= 1.0 { digit.clone() } else { circuit.lookup(digit, |x| x) }
}

/// A function of two digits, digit by digit.
pub(super) fn map(circuit: &mut Circuit, a: &[Value], b: &[Value], function: fn(u64, u64) -> u64) -> Vec<Value> {
    let digit = |(a, b): (&Value, &Value)| {
        let sum = clean(circuit, b) * BASE as i64 + &clean(circuit, a);
        circuit.lookup(&sum, |x| function(x % BASE, x / BASE))
    };
    a.iter().zip(b).map(digit).collect()
}

/// The bits of digits that are 1 in a number.
pub(super) fn mask(circuit: &mut Circuit, digits: &[Value], number: u64) -> Vec<Value> {
    let digit = |(place, digit): (usize, &Value)| match number >> (DIGIT_BITS * place) & (BASE - 1) {
        0 => Value::constant(0),
        bits if bits == BASE - 1 => digit.clone(),
        bits => circuit.lookup(digit, |x| x & bits),
    };
    digits.iter().enumerate().map(digit).collect()
}

/// 3 less the digit: all its bits turned over.
pub(super) fn not(digit: &Value) -> Value {
    digit.clone() * -1 + (BASE - 1) as i64
}

/// `flag ? a : b` for each digit, with the noise of two bootstraps.
///
/// A digit is b plus what a lookup of twice the difference, and the flag, gives; with more noise than that has room for, it is
/// the sum of two lookups, of which one is 0.
pub(super) fn select(circuit: &mut Circuit, flag: &Value, a: &[Value], b: &[Value]) -> Vec<Value> {
    let digit = |(a, b): (&Value, &Value)| {
        if let (Some(a), Some(b)) = (a.known(), b.known()) {
            return circuit.lookup(flag, |x| if x == 1 { a } else { b });
        }
        let difference = (a.clone() - b + (BASE - 1) as i64) * 2 + flag;
        if difference.noise() <= MAX_NOISE && b.noise() <= 1.0 {
            let change = circuit.lookup(&difference, |x| if x % 2 == 1 { x / 2 } else { BASE - 1 });
            return (b.clone() + &change + (1 - BASE as i64)).within(BASE - 1);
        }
        let chosen = circuit.lookup(&(a.clone() * 2 + flag), |x| x / 2 * (x % 2));
        let other = circuit.lookup(&(b.clone() * 2 + flag), |x| x / 2 * (1 - x % 2));
        (chosen + &other).within(BASE - 1)
    };
    a.iter().zip(b).map(digit).collect()
}
