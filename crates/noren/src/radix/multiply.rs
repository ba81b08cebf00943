//! Products: of digits by lookups, summed by columns.

use crate::radix::carry::BASE;
use crate::radix::circuit::{Circuit, DIGIT_BITS};
use crate::radix::columns::Columns;
use crate::radix::select::clean;
use crate::radix::value::Value;

/// The product modulo the width.
pub(super) fn multiply(circuit: &mut Circuit, a: &[Value], b: &[Value]) -> Vec<Value> {
    let mut columns = Columns::new(a.len());
    let a: Vec<Value> = a.iter().map(|digit| clean(circuit, digit)).collect();
    let b: Vec<Value> = b.iter().map(|digit| clean(circuit, digit)).collect();
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b[..a.len() - i].iter().enumerate() {
            let pair = y.clone() * BASE as i64 + x;
            let product = |z: u64| (z % BASE) * (z / BASE);
            columns.add(i + j, circuit.lookup(&pair, |z| product(z) % BASE));
            if i + j + 1 < a.len() {
                columns.add(i + j + 1, circuit.lookup(&pair, |z| product(z) / BASE));
            }
        }
    }
    columns.sum(circuit)
}

/// The product with a number that everybody knows: all multiples of a digit come out of one bootstrap.
pub(super) fn multiply_known(circuit: &mut Circuit, a: &[Value], factor: u64) -> Vec<Value> {
    let mut columns = Columns::new(a.len());
    for (i, x) in a.iter().enumerate() {
        for j in 0..a.len() - i {
            let factor = factor >> (DIGIT_BITS * j) & (BASE - 1);
            if factor == 1 {
                columns.add(i + j, x.clone());
                continue;
            }
            columns.add(i + j, circuit.lookup(x, |x| x * factor % BASE));
            columns.add(i + j + 1, circuit.lookup(x, |x| x * factor / BASE));
        }
    }
    columns.sum(circuit)
}
