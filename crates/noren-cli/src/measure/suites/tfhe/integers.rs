//! Integers of 8 to 64 bits, one operation at a time, and any function of two of 8 bits.

use std::slice;
use std::sync::Arc;

use noren::Error;
use noren::radix::{Comparison, Evaluator, Integer};
use noren::tfhe::{self, Decryptor, Encryptor, LargeLookup};

use crate::failure::Failure;
use crate::measure::judge::drop_result;
use crate::measure::judge::seed;
use crate::measure::suites::tfhe::measurement::Measurement;

/// The bits of integers that have tables.
const BYTE: usize = 8;

/// Sums, products, orders and quotients.
pub(super) fn run(measurement: &Measurement<'_>, bits: usize) -> Result<(), Failure> {
    let keys = measurement.context.generate_keys(seed(0))?;
    let (encryptor, decryptor) = (
        Encryptor::new(&measurement.context, &keys.secret, seed(1))?,
        Decryptor::new(&measurement.context, &keys.secret)?,
    );
    let evaluator = Evaluator::new(&tfhe::Evaluator::new(&measurement.context, keys.server)?)?;
    let mask = u64::MAX >> (64 - bits);
    // As every driver takes them.
    let (x, y) = (0x9e37_79b9 & mask, 0x0000_0b5d & mask);
    let (a, b) = (Integer::encrypt(&encryptor, x, bits)?, Integer::encrypt(&encryptor, y, bits)?);
    let (a, b) = (slice::from_ref(&a), slice::from_ref(&b));
    let is = |found: Vec<Integer>, expected: u64| Ok::<_, Error>(found[0].decrypt(&decryptor)? == expected);
    measurement.report("add", 1, is(evaluator.add(a, b)?, x.wrapping_add(y) & mask)?, || {
        evaluator.add(a, b).map(drop_result)
    })?;
    measurement.report("mul", 1, is(evaluator.mul(a, b)?, x.wrapping_mul(y) & mask)?, || {
        evaluator.mul(a, b).map(drop_result)
    })?;
    measurement
        .report("div", 1, is(evaluator.div_rem(a, b)?.0, x / y)?, || evaluator.div_rem(a, b).map(drop_result))?;
    let less = || evaluator.compare(Comparison::Lt, a, b);
    measurement.report("lt", 1, less()?[0].decrypt(&decryptor)? == (x < y), || less().map(drop_result))
}

/// Any function of two integers of 8 bits, here their quotient.
pub(super) fn table(measurement: &Measurement<'_>) -> Result<(), Failure> {
    let context = &measurement.context;
    let keys = context.generate_keys(seed(0))?;
    let circuit = Arc::new(context.expand_circuit(&context.circuit_keys(&seed(2), &keys.secret)?)?);
    let key_bytes = keys.server.bytes() + circuit.bytes();
    let (encryptor, decryptor) =
        (Encryptor::new(context, &keys.secret, seed(1))?, Decryptor::new(context, &keys.secret)?);
    let evaluator = tfhe::Evaluator::new(context, keys.server)?.with_circuit_keys(circuit)?;
    let digits = BYTE / 2;
    let f = |x: u64, y: u64| x.checked_div(y).unwrap_or(255);
    let lookup = LargeLookup::new(context, 2 * digits, digits, |pair| f(pair & 0xff, pair >> BYTE))?;
    let (x, y) = (200, 7);
    let (a, b) = (Integer::encrypt(&encryptor, x, BYTE)?, Integer::encrypt(&encryptor, y, BYTE)?);
    let pair: Vec<_> = a.digits().iter().chain(b.digits()).collect();
    let found = Integer::from_digits(evaluator.lookup_large(&pair, &lookup)?)?.decrypt(&decryptor)?;
    let call = || evaluator.lookup_large(&pair, &lookup).map(drop_result);
    measurement.report_with("table", 1, found == f(x, y), call, |record| record.with("key_bytes", key_bytes))
}
