//! Division, bit by bit: twice the divisor, then the divisor itself is taken off where it fits.

use crate::radix::carry::{BASE, propagate, ripple};
use crate::radix::circuit::Circuit;
use crate::radix::compare::difference;
use crate::radix::select::clean;
use crate::radix::shift::Move;
use crate::radix::value::Value;

/// The weights of the flag of a remainder that is kept: above every difference of digits, `2 BASE - 2` at most.
const FLAGS: [u64; 2] = [8, 7];
/// The weight of the digits of multiples of the divisor beyond the remainder: above the last digit with its carry.
const BEYOND: u64 = 8;

/// Quotient and remainder; for a divisor of 0 all bits of the quotient are 1, and the remainder is the dividend.
///
/// For each digit of the quotient, the remainder takes up the next digit of the dividend; then it is below four times the
/// divisor. Its digits go through the carries of `remainder - 2 divisor`, which say whether that is negative, and of the two
/// one is kept; then the same with the divisor.
pub(super) fn divide(circuit: &mut Circuit, dividend: &[Value], divisor: &[Value]) -> (Vec<Value>, Vec<Value>) {
    let digits = dividend.len();
    let mut once: Vec<Value> = divisor.iter().map(|digit| clean(circuit, digit)).collect();
    once.push(Value::constant(0));
    let twice = Move::ShiftLeft.by(circuit, &once, 1);
    let beyond_once = beyond(circuit, &once);
    // Digits of twice the divisor beyond a place are 0 if that one is, and all of the divisor from there on.
    let beyond_twice = twice.iter().zip(&beyond_once).map(|(digit, beyond)| any(circuit, &(digit.clone() + beyond)));
    let multiples = [(&twice, beyond_twice.collect()), (&once, beyond_once)];
    let mut remainder: Vec<Value> = Vec::new();
    let mut quotient = Vec::with_capacity(digits);
    for place in (0..digits).rev() {
        remainder.insert(0, dividend[place].clone());
        let mut kept = Vec::new();
        for ((multiple, beyond), flag) in multiples.iter().zip(FLAGS) {
            let (rest, flag) = take_off(circuit, &remainder, multiple, &beyond[remainder.len()], flag);
            kept.push(flag);
            remainder = rest;
        }
        let bits = kept[0].clone() + &kept[1];
        // Of the two flags of remainders that were kept, each makes a bit of the quotient 0.
        quotient.push(circuit.lookup(&bits, |x| 2 * u64::from(x < FLAGS[0]) + u64::from(x % FLAGS[0] != FLAGS[1])));
    }
    quotient.reverse();
    (quotient, remainder)
}

/// The quotient of signed integers, rounded down, and the remainder, which has the sign of the divisor; for a divisor
/// of 0 the quotient is -1, of a negative dividend 0, and the remainder is the dividend.
///
/// Let `c` be 1 if the divisor b is negative, else 0, `e = a - c`, and `s` be 1 if that is negative, else 0. With `n`
/// the bits of e, turned over if s, and `n = Q |b| + R`, the quotient is Q, its bits turned over if `s != c`, as
/// `floor(-(n + 1) / d) = -floor(n / d) - 1`. The remainder is R, its bits turned over if s, plus c, plus b if
/// `s != c`.
pub(super) fn divide_signed(circuit: &mut Circuit, dividend: &[Value], divisor: &[Value]) -> (Vec<Value>, Vec<Value>) {
    /// The weight of the flag that complements digits: above every digit.
    const FLAG: u64 = BASE;
    let highest = |digits: &[Value]| digits[digits.len() - 1].clone();
    let turn_over = |circuit: &mut Circuit, digits: &[Value], flag: &Value| -> Vec<Value> {
        let turned = |x| if x < FLAG { x } else { BASE - 1 - (x - FLAG) };
        digits.iter().map(|digit| circuit.lookup(&(digit.clone() + flag), turned)).collect()
    };
    let sign = highest(divisor);
    let [one, minus_one, flag] = [1, BASE - 1, FLAG].map(|scale| circuit.lookup(&sign, |x| x / 2 * scale));
    let turned = turn_over(circuit, divisor, &flag);
    let magnitude = propagate(circuit, &turned, &one);

    let sums: Vec<Value> = dividend.iter().map(|digit| digit.clone() + &minus_one).collect();
    let less = propagate(circuit, &sums, &Value::constant(0));
    // Only a negative dividend can lose its sign by taking 1 off.
    let signs = clean(circuit, &highest(&less)) * BASE as i64 + &clean(circuit, &highest(dividend));
    let negative = circuit.lookup(&signs, |x| if x % BASE >= 2 || x / BASE >= 2 { FLAG } else { 0 });
    let number = turn_over(circuit, &less, &negative);
    let (quotient, remainder) = divide(circuit, &number, &magnitude);

    let differ = circuit.lookup(&(negative.clone() + &one), |x| if x / FLAG == x % FLAG { 0 } else { FLAG });
    let quotient = turn_over(circuit, &quotient, &differ);
    let remainder = turn_over(circuit, &remainder, &negative);
    let sums = remainder.iter().zip(divisor).map(|(digit, more)| {
        let more = circuit.lookup(&(more.clone() + &differ), |x| x.saturating_sub(FLAG));
        digit.clone() + &more
    });
    let sums: Vec<Value> = sums.collect();
    (quotient, propagate(circuit, &sums, &one))
}

/// For each place [`BEYOND`] if a digit from there on is not 0, else 0.
fn beyond(circuit: &mut Circuit, digits: &[Value]) -> Vec<Value> {
    /// The digits that, with a flag, go into a lookup.
    const DIGITS: usize = 2;
    let mut flags: Vec<Value> = vec![Value::constant(0); DIGITS];
    for (place, digit) in digits.iter().enumerate().rev() {
        let near = digits.get(place + 1).map_or(digit.clone(), |next| digit.clone() + next);
        flags.push(any(circuit, &(near + &flags[flags.len() - DIGITS])));
    }
    flags.reverse();
    flags.truncate(digits.len());
    flags
}

/// [`BEYOND`] unless the value is 0.
fn any(circuit: &mut Circuit, value: &Value) -> Value {
    circuit.lookup(value, |x| if x == 0 { 0 } else { BEYOND })
}

/// `remainder - multiple` if that is not negative, else the remainder, and a flag if it is kept; `beyond` is [`BEYOND`] if the multiple
/// has digits beyond those of the remainder.
fn take_off(
    circuit: &mut Circuit,
    remainder: &[Value],
    multiple: &[Value],
    beyond: &Value,
    flag: u64,
) -> (Vec<Value>, Value) {
    let sums: Vec<Value> = remainder.iter().zip(multiple).map(|(x, y)| difference(x, y)).collect();
    let (low, high) = sums.split_at(sums.len() - 1);
    let (mut rest, carry) = ripple(circuit, low, &Value::constant(1), true);
    let last = high[0].clone() + &carry;
    rest.push(circuit.lookup(&last, |x| x % BASE));
    let keeps = circuit.lookup(&(last + beyond), |x| if (BASE..2 * BASE).contains(&x) { 0 } else { flag });
    let chosen = remainder.iter().zip(&rest).map(|(old, new)| {
        let change = circuit.lookup(&(difference(old, new) + &keeps), |x| if x < flag { BASE - 1 } else { x - flag });
        (new.clone() + &change + (1 - BASE as i64)).within(BASE - 1)
    });
    (chosen.collect(), keeps)
}
