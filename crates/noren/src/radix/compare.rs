//! Comparisons: an order for each digit, and orders joined as carries are.

use crate::radix::carry::{BASE, GROUP, joint_state, state};
use crate::radix::circuit::{Circuit, MAX_NOISE};
use crate::radix::select::clean;
use crate::radix::value::Value;

/// A relation of two integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `a == b`.
    Eq,
    /// `a != b`.
    Ne,
    /// `a < b`.
    Lt,
    /// `a <= b`.
    Le,
    /// `a > b`.
    Gt,
    /// `a >= b`.
    Ge,
}

/// The flags that fit a lookup: each adds its noise.
const FLAGS: usize = 5;

impl Comparison {
    /// Whether it holds for an order: 0 for less, 1 for equal, 2 for greater.
    const fn holds(self, order: u64) -> bool {
        match self {
            Self::Eq => order == 1,
            Self::Ne => order != 1,
            Self::Lt => order == 0,
            Self::Le => order <= 1,
            Self::Gt => order == 2,
            Self::Ge => order >= 1,
        }
    }

    /// The truth value.
    pub(super) fn build(self, circuit: &mut Circuit, a: &[Value], b: &[Value], signed: bool) -> Value {
        match self {
            Self::Eq | Self::Ne => equality(circuit, a, b, |equal| u64::from(equal == (self == Self::Eq))),
            _ => self.order(circuit, a, b, signed),
        }
    }
    /// The truth value from the order of the integers, which is that of their highest digits that differ.
    fn order(self, circuit: &mut Circuit, a: &[Value], b: &[Value], signed: bool) -> Value {
        let mut pieces = pieces(circuit, a, b, signed);
        while pieces.len() > GROUP + 1 {
            pieces = pieces.chunks(GROUP).map(|pieces| join(circuit, pieces)).collect();
        }
        let Piece { sum, order } = join(circuit, &pieces);
        match order {
            // Four orders go around the circle: at 15 all are equal.
            Order::Joint(4) => match self {
                Self::Ge => circuit.at_least(&sum, 15, 1),
                Self::Gt => circuit.at_least(&sum, 16, 1),
                Self::Lt => circuit.at_least(&sum, 15, 1) * -1 + 1,
                _ => circuit.at_least(&sum, 16, 1) * -1 + 1,
            },
            _ => circuit.lookup(&sum, |x| u64::from(self.holds(order.of(x)))),
        }
    }
}

/// 3 for equal digits, more if that of a is greater: the order of a digit is the state of a sum.
pub(super) fn difference(a: &Value, b: &Value) -> Value {
    a.clone() - b + (BASE - 1) as i64
}

/// A function of whether a = b.
fn equality(circuit: &mut Circuit, a: &[Value], b: &[Value], function: impl Fn(bool) -> u64) -> Value {
    let differs = |circuit: &mut Circuit, a, b| circuit.lookup(&difference(a, b), |x| u64::from(x != BASE - 1));
    if let ([a], [b]) = (a, b) {
        return circuit.lookup(&difference(a, b), |x| function(x == BASE - 1));
    }
    let mut flags: Vec<Value> = a.iter().zip(b).map(|(a, b)| differs(circuit, a, b)).collect();
    loop {
        let sums: Vec<Value> =
            flags.chunks(FLAGS).map(|flags| flags.iter().fold(Value::constant(0), |sum, flag| sum + flag)).collect();
        if let [sum] = &sums[..] {
            return circuit.lookup(sum, |x| function(x == 0));
        }
        flags = sums.iter().map(|sum| circuit.lookup(sum, |x| u64::from(x != 0))).collect();
    }
}

/// The order of each digit, or of two together, the lowest first.
fn pieces(circuit: &mut Circuit, a: &[Value], b: &[Value], signed: bool) -> Vec<Piece> {
    // The highest digit of signed integers has its own order: 2 and 3 are negative.
    let unsigned = a.len() - usize::from(signed);
    let mut pieces = Vec::new();
    let mut differences = a.iter().zip(b).take(unsigned).map(|(a, b)| difference(a, b)).peekable();
    while let Some(low) = differences.next() {
        // Twice the higher difference leaves room for the order of the lower; so few digits need no such round.
        let high = differences.next_if(|high| a.len() > GROUP + 1 && high.noise() * 2.0 + 1.0 <= MAX_NOISE);
        pieces.push(match high {
            Some(high) => {
                let low = circuit.lookup(&low, state);
                Piece { sum: high * 2 + &low, order: Order::Above(2 * (BASE - 1) + 1) }
            }
            None => Piece { sum: low, order: Order::Above(BASE - 1) },
        });
    }
    if signed {
        let (a, b) = (clean(circuit, &a[unsigned]), clean(circuit, &b[unsigned]));
        pieces.push(Piece { sum: b * BASE as i64 + &a, order: Order::Signed });
    }
    pieces
}

/// A sum that says an order.
struct Piece {
    sum: Value,
    order: Order,
}

/// How it says it.
#[derive(Clone, Copy)]
enum Order {
    /// Equal at this number, less below.
    Above(u64),
    /// The number of orders side by side.
    Joint(usize),
    /// `a + 4 b` for digits with a sign.
    Signed,
}

impl Order {
    /// 0 for less, 1 for equal, 2 for greater.
    fn of(self, sum: u64) -> u64 {
        let compare = |a: u64, b: u64| a.cmp(&b) as i8;
        let order = match self {
            Self::Above(equal) => compare(sum, equal),
            Self::Joint(count) => return joint_state(sum, count),
            // The sign turned over makes the order that of unsigned digits.
            Self::Signed => compare((sum % BASE) ^ 2, (sum / BASE) ^ 2),
        };
        (order + 1) as u64
    }
}

/// Up to four pieces as one, the lowest first.
fn join(circuit: &mut Circuit, pieces: &[Piece]) -> Piece {
    if let [Piece { sum, order }] = pieces {
        return Piece { sum: sum.clone(), order: *order };
    }
    // A ciphertext has no room for 8 times an order: the fourth is doubled afterwards.
    let orders = pieces.iter().enumerate().map(|(place, Piece { sum, order })| {
        let scaled = circuit.lookup(sum, |x| order.of(x) << place.min(2));
        if place < GROUP { scaled } else { scaled * 2 }
    });
    let sum = orders.fold(Value::constant(0), |sum, order| sum + &order);
    Piece { sum, order: Order::Joint(pieces.len()) }
}
