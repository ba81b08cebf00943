//! Polynomials over GF(2), a coefficient to a bit: words from the constant coefficient up.
//!
//! Bits above those of a polynomial are zero. No function branches or reads memory by coefficients.

/// The number of words of so many bits.
pub(crate) const fn words(bits: usize) -> usize {
    bits.div_ceil(u64::BITS as usize)
}

/// The polynomial of coefficients that are 0 or 1.
pub(crate) fn pack(coefficients: &[u64]) -> Vec<u64> {
    let mut packed = vec![0; words(coefficients.len())];
    pack_into(&mut packed, coefficients);
    packed
}

/// [`pack`] into as many words as it takes.
pub(crate) fn pack_into(out: &mut [u64], coefficients: &[u64]) {
    for (out, bits) in out.iter_mut().zip(coefficients.chunks(u64::BITS as usize)) {
        *out = bits.iter().rev().fold(0, |word, bit| word << 1 | bit);
    }
}

/// The first coefficients of a polynomial, each 0 or 1.
pub(crate) fn unpack(a: &[u64], count: usize) -> Vec<u64> {
    (0..count).map(|i| a[i / 64] >> (i % 64) & 1).collect()
}

/// Sets the coefficients from `X^bits` on to zero.
pub(crate) fn truncate(a: &mut [u64], bits: usize) {
    let whole = bits / 64;
    if let Some(first) = a.get_mut(whole) {
        *first &= (1 << (bits % 64)) - 1;
        a[whole + 1..].fill(0);
    }
}

/// The 64 coefficients from `X^start` on; the word after them must exist.
pub(crate) fn window(a: &[u64], start: usize) -> u64 {
    let (word, shift) = (start / 64, start % 64);
    // Shifted twice, as a shift by 64 is none.
    a[word] >> shift | a[word + 1] << 1 << (63 - shift)
}

/// The coefficients from `X^start` on, `bits` of them.
pub(crate) fn part(a: &[u64], start: usize, bits: usize) -> Vec<u64> {
    let (first, shift) = (start / 64, start % 64);
    let word = |i: usize| a.get(first + i).copied().unwrap_or(0);
    let mut part: Vec<u64> = (0..words(bits)).map(|i| word(i) >> shift | word(i + 1) << 1 << (63 - shift)).collect();
    truncate(&mut part, bits);
    part
}

/// `X^(bits - 1) a(1/X)` for a polynomial of `bits` coefficients.
pub(crate) fn reverse(a: &[u64], bits: usize) -> Vec<u64> {
    let reversed: Vec<u64> = a[..words(bits)].iter().rev().map(|word| word.reverse_bits()).collect();
    part(&reversed, reversed.len() * 64 - bits, bits)
}

/// Multiplies a power series of `bits` coefficients by `1 + X^step`, or divides it.
pub(crate) fn times_binomial(series: &mut [u64], bits: usize, step: usize, multiply: bool) {
    if multiply {
        add_shifted(series, step);
    } else {
        // 1/(1 + X^s) = prod_i (1 + X^(s 2^i)).
        std::iter::successors(Some(step), |step| Some(2 * step)).take_while(|&step| step < bits).for_each(|step| {
            add_shifted(series, step);
        });
    }
    truncate(series, bits);
}

/// `a += X^step a`, as far as there are words.
fn add_shifted(a: &mut [u64], step: usize) {
    let (whole, shift) = (step / 64, step % 64);
    for i in (whole..a.len()).rev() {
        let below = if i > whole { a[i - whole - 1] } else { 0 };
        a[i] ^= a[i - whole] << shift | below >> 1 >> (63 - shift);
    }
}

/// The remainder of a polynomial of m coefficients modulo `Phi_m`, given by its binomials: n coefficients.
pub(crate) fn remainder(binomials: &[(usize, bool)], a: &[u64], m: usize, n: usize) -> Vec<u64> {
    let high = m - n;
    let mut quotient = reverse(&part(a, n, high), high);
    binomials.iter().for_each(|&(step, factor)| times_binomial(&mut quotient, high, step, !factor));
    let mut product = part(&reverse(&quotient, high), 0, n);
    binomials.iter().for_each(|&(step, factor)| times_binomial(&mut product, n, step, factor));
    let mut low = part(a, 0, n);
    low.iter_mut().zip(&product).for_each(|(a, b)| *a ^= b);
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cyclotomic::{self, Cyclotomic};

    fn bits(count: usize, seed: u64) -> Vec<u64> {
        let next = |x: &u64| Some(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
        std::iter::successors(Some(seed), next).skip(1).take(count).map(|x| x >> 63).collect()
    }

    #[test]
    fn packed_polynomials_are_those_of_their_coefficients() {
        for count in [1, 2, 63, 64, 65, 127, 128, 200] {
            let a = bits(count, 1);
            let packed = pack(&a);
            assert_eq!(unpack(&packed, count), a);
            assert_eq!(unpack(&reverse(&packed, count), count), a.iter().rev().copied().collect::<Vec<_>>());
            for start in [0, 1, count / 2, count - 1] {
                assert_eq!(unpack(&part(&packed, start, count - start), count - start), a[start..]);
            }
            for step in [1, 2, 5, 63, 64, 65, 130] {
                for multiply in [false, true] {
                    let (mut found, mut expected) = (packed.clone(), a.clone());
                    times_binomial(&mut found, count, step, multiply);
                    cyclotomic::times_binomial(&mut expected, step, multiply, |a, b| a ^ b, |a, b| a ^ b);
                    assert_eq!(unpack(&found, count), expected, "{count} by {step}");
                }
            }
        }
    }

    #[test]
    fn remainders_are_those_of_coefficients() {
        for m in [15, 63, 105, 127, 255, 511, 1105] {
            let ring = Cyclotomic::new(m).expect("an index");
            let (binomials, n, m) = (ring.binomials(), ring.degree(), m as usize);
            let (mut a, mut expected) = (bits(m, 2), vec![0; n]);
            let found = remainder(&binomials, &pack(&a), m, n);
            let add = |a, b| a ^ b;
            let times = |a: &mut [u64], step, multiply| cyclotomic::times_binomial(a, step, multiply, add, add);
            cyclotomic::remainder(&binomials, &mut a, &mut expected, times, add);
            assert_eq!(unpack(&found, n), expected, "{m}");
        }
    }
}
