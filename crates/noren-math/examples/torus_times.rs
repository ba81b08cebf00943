//! Prints how long the transforms of torus words and a step of a blind rotation take, in nanoseconds: the least of several
//! batches, hot.
//!
//! `cargo run --release -p noren-math --example torus_times [table]`

use std::hint::black_box;
use std::time::{Duration, Instant};

use noren_math::kernels::torus::{TorusProducts, Turns};
use noren_math::kernels::{Kernels, available};
use noren_math::machine::aligned::AlignedVec;
use noren_math::roots::monomial::Monomials;
use noren_math::roots::torus::TorusFft;
use noren_math::torus::gadget::Gadget;

/// How many batches the least is taken of.
const BATCHES: usize = 25;
/// How long a batch runs at least.
const BATCH_TIME: Duration = Duration::from_millis(2);

/// The least time of one call, in nanoseconds.
fn least(mut call: impl FnMut()) -> f64 {
    let mut repeats = 1;
    let mut time = |repeats: u32| {
        let start = Instant::now();
        (0..repeats).for_each(|_| call());
        start.elapsed()
    };
    while time(repeats) < BATCH_TIME {
        repeats *= 2;
    }
    let times = (0..BATCHES).map(|_| time(repeats).as_secs_f64() * 1e9 / f64::from(repeats));
    times.fold(f64::INFINITY, f64::min)
}

fn transforms(table: &Kernels, n: usize) {
    let fft = TorusFft::new(n);
    let gadget = Gadget::new(10, 2);
    let a = AlignedVec::from_slice(&(0..n as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect::<Vec<_>>());
    let (mut spectrum, mut out) = (AlignedVec::zeroed(n), AlignedVec::<u64>::zeroed(n));
    let forward = least(|| table.torus_forward_digits(black_box(&mut spectrum), &a[..], &gadget, 1, &fft, &[]));
    let integers = least(|| table.torus_forward(black_box(&mut spectrum), &a[..], 1.0, &fft));
    let fixed = AlignedVec::from_slice(&spectrum);
    let copy = least(|| black_box(&mut spectrum).copy_from_slice(&fixed));
    let inverse = least(|| {
        spectrum.copy_from_slice(&fixed);
        table.torus_inverse_add(black_box(&mut out[..]), &mut spectrum, &fft);
    });
    println!(
        "{} N = {n}: forward {forward:.0} (digits) {integers:.0} (words), inverse {:.0}",
        table.name(),
        inverse - copy
    );
}

fn step(table: &Kernels, n: usize, k: usize, gadget: Gadget) {
    let fft = TorusFft::new(n);
    let (columns, rows) = (k + 1, (k + 1) * gadget.levels());
    let monomials = Monomials::new(n);
    let key =
        AlignedVec::from_slice(&(0..3 * rows * columns * n).map(|i| (i % 1009) as f64 * 1e-6).collect::<Vec<_>>());
    let mut acc = AlignedVec::from_slice(
        &(0..columns * n).map(|i| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect::<Vec<_>>(),
    );
    let mut shifted = AlignedVec::<u64>::zeroed(n);
    let stride = n + 48;
    let mut digits = AlignedVec::<f64>::zeroed(rows * stride);
    let mut scratch = AlignedVec::zeroed(columns * n);
    let rotate =
        least(|| table.torus_rotate_difference(black_box(&mut shifted[..]), &acc[..n], n / 2 + 7, gadget.offset()));
    let (one, two) = ((&key[..rows * columns * n], None), Turns { monomials: &monomials, exponents: [n + 5, 77] });
    let products_of = |(key, turns), acc: &mut [u64], digits: &[f64], scratch: &mut [f64]| {
        let products = TorusProducts { digits, stride, rows, columns, key, turns, ahead: &[] };
        table.torus_products_add(acc, &products, scratch, &fft);
    };
    let products = |acc: &mut [u64], digits: &[f64], scratch: &mut [f64]| products_of(one, acc, digits, scratch);
    let pair = least(|| products_of((&key[..], Some(two)), &mut acc, &digits, black_box(&mut scratch)));
    let multiply = least(|| products(&mut acc, &digits, black_box(&mut scratch)));
    let all = least(|| {
        for i in 0..columns {
            table.torus_rotate_difference(&mut shifted[..], &acc[i * n..][..n], n / 2 + 7, gadget.offset());
            for level in 0..gadget.levels() {
                let spectrum = &mut digits[(i * gadget.levels() + level) * stride..][..n];
                table.torus_forward_digits(spectrum, &shifted[..], &gadget, level, &fft, &[]);
            }
        }
        products(&mut acc, &digits, black_box(&mut scratch));
    });
    println!(
        "{} step N = {n} k = {k} {gadget:?}: {all:.0}, of it rotate {rotate:.0} each, products {multiply:.0}, those of two bits {pair:.0}",
        table.name()
    );
}

fn main() {
    let wanted = std::env::args().nth(1);
    for table in available().filter(|table| wanted.as_deref().is_none_or(|name| table.name() == name)) {
        for log in 9..=13 {
            transforms(table, 1 << log);
        }
        step(table, 2048, 1, Gadget::new(23, 1));
        step(table, 2048, 1, Gadget::new(8, 5));
        step(table, 512, 3, Gadget::new(10, 2));
        step(table, 512, 4, Gadget::new(23, 1));
        step(table, 1024, 1, Gadget::new(7, 3));
        step(table, 1024, 1, Gadget::new(10, 2));
    }
}
