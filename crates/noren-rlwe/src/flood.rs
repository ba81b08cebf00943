//! Noise that floods another: uniform on an interval so wide that sums with the other tell nothing of it.

use noren_math::random::Xof;
use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;
use zeroize::Zeroizing;

/// The bits of the parts that the numbers of a flood are drawn in.
const PART_BITS: u32 = 48;

/// A polynomial whose coefficients are uniform from `-2^bits` to `2^bits - 1`; wiped when dropped.
#[must_use]
pub fn uniform(ring: &Ring, bits: u32, mut stream: Xof) -> Poly<Eval> {
    // In parts from the highest down; the highest is signed.
    let mut part = |bits: u32, signed: bool| {
        let mut words = Zeroizing::new(vec![0; ring.degree()]);
        stream.fill_u64(&mut words);
        let shift = if signed { 1i64 << (bits - 1) } else { 0 };
        let numbers = words.iter().map(|word| (word >> (u64::BITS - bits)) as i64 - shift);
        ring.from_signed(&Zeroizing::new(numbers.collect::<Vec<_>>())).into_secret()
    };
    let (parts, rest) = ((bits + 1) / PART_BITS, (bits + 1) % PART_BITS);
    let (first, parts) = if rest == 0 { (PART_BITS, parts - 1) } else { (rest, parts) };
    let mut numbers = part(first, true);
    for _ in 0..parts {
        numbers = ring.mul_integer(&numbers, 1 << PART_BITS);
        ring.add_assign(&mut numbers, &part(PART_BITS, false));
    }
    ring.ntt(numbers)
}
