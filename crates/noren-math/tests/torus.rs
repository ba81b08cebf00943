//! Products of torus polynomials: against exact integers, for every table.

use noren_math::kernels::torus::TorusProducts;
use noren_math::kernels::{Kernels, available};
use noren_math::torus::fft::TorusFft;
use noren_math::torus::gadget::Gadget;
use noren_math::torus::word::Torus;

mod support;
use support::Numbers;

fn words<T: Torus>(numbers: &mut Numbers, n: usize) -> Vec<T> {
    (0..n).map(|_| T::wrapping_from(numbers.next() as i64)).collect()
}

/// `a b` modulo `X^N + 1` and q, term by term.
fn schoolbook<T: Torus>(a: &[i64], b: &[T]) -> Vec<T> {
    let n = a.len();
    let mut out = vec![T::default(); n];
    for (i, &x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            let term = T::wrapping_from(x.wrapping_mul(y.centred()));
            let at = (i + j) % n;
            out[at] = if i + j < n { out[at].wrapping_add(term) } else { out[at].wrapping_sub(term) };
        }
    }
    out
}

fn largest_error<T: Torus>(found: &[T], expected: &[T]) -> i64 {
    found.iter().zip(expected).map(|(x, y)| x.wrapping_sub(*y).centred().abs()).max().unwrap_or(0)
}

fn product<T: Torus>(table: &Kernels, fft: &TorusFft, a: &[i64], b: &[T]) -> Vec<T> {
    let n = a.len();
    let digits: Vec<T> = a.iter().map(|&x| T::wrapping_from(x)).collect();
    let (mut x, mut y, mut z) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    table.torus_forward(&mut x, &digits, 1.0, fft);
    table.torus_forward(&mut y, b, 2.0 * (-(T::BITS as f64)).exp2() / n as f64, fft);
    fft.mul_add_assign(&mut z, &x, &y);
    let mut out = vec![T::default(); n];
    table.torus_inverse_add(&mut out, &mut z, fft);
    out
}

#[test]
fn small() {
    for table in available() {
        for log in 4..=11 {
            let n = 1 << log;
            let mut numbers = Numbers::new(log);
            let fft = TorusFft::new(n);
            let a: Vec<i64> = (0..n).map(|_| numbers.below(64) as i64 - 32).collect();
            let b: Vec<u64> = words(&mut numbers, n);
            let e = largest_error(&product(table, &fft, &a, &b), &schoolbook(&a, &b));
            let b: Vec<u32> = words(&mut numbers, n);
            let f = largest_error(&product(table, &fft, &a, &b), &schoolbook(&a, &b));
            println!("{} {n}: {e} = 2^{:.1}, {f}", table.name(), (e as f64).log2());
        }
    }
}
