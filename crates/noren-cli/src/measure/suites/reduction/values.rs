//! The numbers that every driver takes, and what becomes of them.

use crate::measure::suites::reduction::case::{Case, Reduction};

/// The real factors of a product, of absolute values from 0.98 to 1, so that products of many are not small.
fn factor(j: usize) -> f64 {
    let size = 1.0 - (37 * j % 101) as f64 / 5050.0;
    if j.is_multiple_of(3) { -size } else { size }
}

/// The real entries of both vectors of an inner product, from -1 to 1.
fn entries(j: usize) -> [f64; 2] {
    [(37 * j % 101) as f64 / 50.0 - 1.0, (53 * j % 103) as f64 / 51.0 - 1.0]
}

/// Both vectors, `slots` slots each; a product has one. `padded` values after the first `count` change no result.
pub(super) fn reals(case: &Case, slots: usize, padded: bool) -> [Vec<f64>; 2] {
    let among = |j: usize| !padded || j < case.count;
    let fill = |of: &dyn Fn(usize) -> f64, rest| (0..slots).map(|j| if among(j) { of(j) } else { rest }).collect();
    match case.reduction {
        Reduction::Product => [fill(&factor, 1.0), Vec::new()],
        Reduction::InnerProduct => [fill(&|j| entries(j)[0], 0.0), fill(&|j| entries(j)[1], 0.0)],
    }
}

/// The result in slot j, of the slots from j on.
pub(super) fn reduced(case: &Case, [x, y]: &[Vec<f64>; 2], terms: usize, j: usize) -> f64 {
    let at = (0..terms).map(|i| (i + j) % x.len());
    match case.reduction {
        Reduction::Product => at.map(|i| x[i]).product(),
        Reduction::InnerProduct => at.map(|i| x[i] * y[i]).sum(),
    }
}

/// Integers below `2^bits`: the factors of a product are odd, so that it is not 0 modulo a power of two.
pub(super) fn integers(case: &Case) -> [Vec<u64>; 2] {
    let each = |of: fn(u64) -> u64| (0..case.count as u64).map(|j| of(j) & mask(case)).collect();
    match case.reduction {
        Reduction::Product => [each(|j| 2 * (37 * j % 101) + 1), Vec::new()],
        Reduction::InnerProduct => [each(|j| 37 * j % 251), each(|j| 53 * j % 241)],
    }
}

/// Their result modulo `2^bits`.
pub(super) fn reduced_integers(case: &Case, [x, y]: &[Vec<u64>; 2]) -> u64 {
    let total = match case.reduction {
        Reduction::Product => x.iter().fold(1u64, |product, x| product.wrapping_mul(*x)),
        Reduction::InnerProduct => x.iter().zip(y).map(|(x, y)| x * y).sum(),
    };
    total & mask(case)
}

fn mask(case: &Case) -> u64 {
    u64::MAX >> (64 - case.bits)
}
