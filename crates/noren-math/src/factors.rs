//! The factors of cyclotomic polynomials modulo powers of a prime.

use crate::galois_ring::GaloisRing;
use crate::hypercube::Hypercube;
use crate::polynomials::{common_divisor, modulo, power_modulo, quotient};
use crate::prime_power::PrimePower;
use crate::random::Seed;

/// A factor of `Phi_m` modulo p, of degree d: its coefficients, with the leading 1.
///
/// The sum c of `X^(k p^i)` over i is its own p-th power modulo `X^m - 1`, so that it is a number modulo each factor.
/// The greatest common divisor with `(c + v)^((p - 1)/2) - 1` (with `c + v` for p = 2) has those factors for which this
/// number is 0; the smaller part is split again, until a single factor is left.
///
/// Source: Cantor and Zassenhaus, "A new algorithm for factoring polynomials over finite fields", 1981, in the algebra
/// of Berlekamp.
pub(crate) fn factor(hypercube: &Hypercube) -> Vec<u64> {
    let z = PrimePower::new(hypercube.p(), 1).expect("the prime of a hypercube");
    let (ring, d, p) = (hypercube.ring(), hypercube.degree(), hypercube.p());
    let m = u64::from(ring.index());
    let residue = |c: &i64| (i128::from(*c).rem_euclid(i128::from(p))) as u64;
    let mut found: Vec<u64> = ring.polynomial().iter().map(residue).collect();
    let mut xof = Seed::from_bytes([0; 32]).xof("factor");
    let mut k = 0;
    while found.len() - 1 > d {
        k = k % (m - 1) + 1;
        let mut sum = vec![0; m as usize];
        let mut exponent = k;
        for _ in 0..d {
            sum[exponent as usize] = z.add(sum[exponent as usize], 1);
            exponent = exponent * (p % m) % m;
        }
        let mut sum = modulo(sum, &found, &z);
        if p == 2 {
            // A constant splits nothing.
            if sum.len() <= 1 {
                continue;
            }
        } else {
            let shift = xof.next_u64() % p;
            sum.resize(sum.len().max(1), 0);
            sum[0] = z.add(sum[0], shift);
            sum = power_modulo(&sum, (p - 1) / 2, &found, &z);
            sum.resize(sum.len().max(1), 0);
            sum[0] = z.sub(sum[0], 1);
        }
        let part = common_divisor(found.clone(), sum, &z);
        let degree = part.len() - 1;
        if degree > 0 && degree < found.len() - 1 {
            let other = found.len() - 1 - degree;
            found = if degree <= other { part } else { quotient(found, &part, &z) };
        }
    }
    found
}

/// The factor of `X^m - 1` modulo `p^r` that is this one modulo p. Both are monic, without the leading coefficient.
///
/// Newton's iteration: for `X^m - 1 = f g + rho`, `f + rho/g mod f` divides it modulo the square of the power of p that f
/// does it for, and `1/g = X f'/m` modulo f, because `f' g` is `m X^(m-1)` there.
pub(crate) fn lift(mut factor: Vec<u64>, z: &PrimePower, m: u64) -> Vec<u64> {
    let of_m = z.inv(m % z.value());
    for _ in 0..z.r().next_power_of_two().ilog2() {
        let ring = GaloisRing::of(*z, factor);
        let mut rest = ring.power_of_y(m);
        rest[0] = z.sub(rest[0], 1);
        let mut step = ring.mul(&rest, &ring.derivative());
        ring.times_y(&mut step);
        let below = ring.modulus();
        factor = below.iter().zip(&step).map(|(&x, &step)| z.add(x, z.mul(step, of_m))).collect();
    }
    factor
}

/// The shortest linear recurrence `sum_(i <= d) f_i s_(k - i) = 0`, with `f_0 = 1`, of a sequence modulo p: its d + 1
/// factors. The sequence has at least 2d terms.
///
/// Source: Massey, "Shift-register synthesis and BCH decoding", 1969.
pub(crate) fn recurrence(sequence: &[u64], z: &PrimePower) -> Vec<u64> {
    let (mut found, mut before) = (vec![1], vec![1]);
    let (mut length, mut gap, mut last) = (0, 1, 1);
    for (k, &next) in sequence.iter().enumerate() {
        let miss =
            found[1..].iter().zip(sequence[..k].iter().rev()).fold(next, |sum, (&f, &s)| z.add(sum, z.mul(f, s)));
        if miss == 0 {
            gap += 1;
            continue;
        }
        let unchanged = found.clone();
        let factor = z.mul(miss, z.inv(last));
        found.resize(found.len().max(before.len() + gap), 0);
        found[gap..].iter_mut().zip(&before).for_each(|(x, &y)| *x = z.sub(*x, z.mul(factor, y)));
        if 2 * length <= k {
            (length, before, last, gap) = (k + 1 - length, unchanged, miss, 1);
        } else {
            gap += 1;
        }
    }
    found.resize(length + 1, 0);
    found
}
