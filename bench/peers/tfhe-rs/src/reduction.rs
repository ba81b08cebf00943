//! Many encrypted integers become one: products and inner products, one after the other and as a tree.

use std::hint::black_box;
use std::time::Instant;

use rayon::prelude::*;
use tfhe::integer::{RadixCiphertext, ServerKey, gen_keys_radix};
use tfhe::shortint::parameters::v1_8::V1_8_PARAM_MESSAGE_2_CARRY_2_KS32_PBS_TUNIFORM_2M128;

use crate::driver::{Timing, peak_rss, time_slow};
use crate::record::{VERSION, isa};

/// The fastest of its sets of 2^-128.
const SET: &str = "2_2, KS32_PBS_TUNIFORM_2M128";
const DEGREE: usize = 2048;

/// What one step asks for.
pub struct Case<'a> {
    pub suite: &'a str,
    pub way: &'a str,
    pub count: usize,
    pub bits: u32,
    pub threads: usize,
    pub seconds: f64,
}

/// Measures one reduction of the integers of noren's `reduction/values.rs`.
pub fn run(case: &Case<'_>) {
    let &Case { suite, way, count, bits, threads, seconds } = case;
    let mask = u64::MAX >> (64 - bits);
    let start = Instant::now();
    let (client, server) = gen_keys_radix(V1_8_PARAM_MESSAGE_2_CARRY_2_KS32_PBS_TUNIFORM_2M128, bits as usize / 2);
    let keys_ns = start.elapsed().as_secs_f64() * 1e9;
    let product = suite == "product";
    let integers = |of: fn(u64) -> u64| (0..count as u64).map(|j| of(j) & mask).collect::<Vec<_>>();
    let (x, y) = if product {
        (integers(|j| 2 * (37 * j % 101) + 1), Vec::new())
    } else {
        (integers(|j| 37 * j % 251), integers(|j| 53 * j % 241))
    };
    let expected = if product {
        x.iter().fold(1u64, |product, x| product.wrapping_mul(*x))
    } else {
        x.iter().zip(&y).map(|(x, y)| x * y).sum()
    };
    let encrypt = |values: &[u64]| values.iter().map(|&x| client.encrypt(x)).collect::<Vec<RadixCiphertext>>();
    let (a, b) = (encrypt(&x), encrypt(&y));
    let call = || match (product, way == "paper") {
        (true, true) => in_a_row(&a, |x, y| server.mul_parallelized(x, y)),
        (true, false) => tree(&server, &a),
        (false, true) => {
            let products: Vec<_> = a.iter().zip(&b).map(|(a, b)| server.mul_parallelized(a, b)).collect();
            in_a_row(&products, |x, y| server.add_parallelized(x, y))
        }
        (false, false) => {
            let products: Vec<_> = a.par_iter().zip(&b).map(|(a, b)| server.mul_parallelized(a, b)).collect();
            server.sum_ciphertexts_parallelized(&products).expect("there are numbers")
        }
    };
    let start = Instant::now();
    let result = call();
    let first = start.elapsed();
    let right = client.decrypt::<u64>(&result) == expected & mask;
    let timing = right.then(|| time_slow(first, seconds, &mut || drop(black_box(call()))));
    let isa = isa();
    let note = if right { "" } else { "wrong result: no time" };
    let op = suite.replace('-', "_");
    let depth = match (product, way == "paper") {
        (true, true) => count - 1,
        (true, false) => count.next_power_of_two().ilog2() as usize,
        (false, _) => 1,
    };
    println!(
        r#"{{"suite":"{suite}","op":"{op}","library":"tfhe-rs","version":"{VERSION}","n":{DEGREE},"limbs":1,"log_qp":64,"special":0,"dnum":0,"slots":0,"security":"128","isa":"{isa}","threads":{threads},{},"peak_rss_bytes":{},"note":"{note}","set":"{SET}","scheme":"tfhe","way":"{way}","count":{count},"bits":{bits},"log_q":64,"depth":{depth},"keys_ns":{keys_ns:.0}}}"#,
        Timing::fields(timing),
        peak_rss()
    );
}

/// Each number after the other.
fn in_a_row(
    values: &[RadixCiphertext],
    op: impl Fn(&RadixCiphertext, &RadixCiphertext) -> RadixCiphertext,
) -> RadixCiphertext {
    let (first, rest) = values.split_first().expect("there are numbers");
    rest.iter().fold(first.clone(), |result, x| op(&result, x))
}

/// Pairs, pairs of pairs, and so on, those of a layer side by side.
fn tree(server: &ServerKey, values: &[RadixCiphertext]) -> RadixCiphertext {
    let mut layer = values.to_vec();
    while layer.len() > 1 {
        layer = layer
            .par_chunks(2)
            .map(|pair| match pair {
                [a, b] => server.mul_parallelized(a, b),
                rest => rest[0].clone(),
            })
            .collect();
    }
    layer.swap_remove(0)
}
