//! Polynomials over the integers modulo a power of a prime, as slices of coefficients from the constant one up.

use crate::prime_power::PrimePower;

/// The product of polynomials; none for none.
pub(crate) fn product(a: &[u64], b: &[u64], z: &PrimePower) -> Vec<u64> {
    low_product(a, b, (a.len() + b.len()).saturating_sub(1), z)
}

/// The first coefficients of a product.
pub(crate) fn low_product(a: &[u64], b: &[u64], count: usize, z: &PrimePower) -> Vec<u64> {
    let (a, b) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let a = &a[..a.len().min(count)];
    // Coefficient j is sum_i a_i b_(j - i): b, with zeros before and after it, is read from len(a) - 1 - i on.
    let mut table = vec![0; a.len() + count];
    let words = b.len().min(count);
    table[a.len()..a.len() + words].copy_from_slice(&b[..words]);
    let starts: Vec<u32> = (0..a.len() as u32).map(|i| a.len() as u32 - i).collect();
    let mut product = vec![0; count];
    z.window_combination(&mut product, a, &table, &starts);
    product
}

/// The remainder of a polynomial, without leading zeros; the divisor has a leading coefficient that is a unit.
pub(crate) fn modulo(mut a: Vec<u64>, divisor: &[u64], z: &PrimePower) -> Vec<u64> {
    divide(&mut a, divisor, z);
    trim(&mut a);
    a
}

/// The quotient of polynomials.
pub(crate) fn quotient(mut a: Vec<u64>, divisor: &[u64], z: &PrimePower) -> Vec<u64> {
    divide(&mut a, divisor, z)
}

/// Leaves the remainder in `a`, and gives the quotient.
fn divide(a: &mut Vec<u64>, divisor: &[u64], z: &PrimePower) -> Vec<u64> {
    let n = divisor.len() - 1;
    if a.len() <= n {
        return Vec::new();
    }
    let inverse = z.inv(divisor[n]);
    let mut quotient = vec![0; a.len() - n];
    for low in (0..quotient.len()).rev() {
        let factor = z.mul(a[low + n], inverse);
        if factor != 0 {
            quotient[low] = factor;
            a[low..].iter_mut().zip(divisor).for_each(|(x, &y)| *x = z.sub(*x, z.mul(factor, y)));
        }
    }
    a.truncate(n);
    quotient
}

/// The monic greatest common divisor of polynomials modulo p, of which the first is not 0.
pub(crate) fn common_divisor(mut a: Vec<u64>, mut b: Vec<u64>, z: &PrimePower) -> Vec<u64> {
    trim(&mut b);
    while !b.is_empty() {
        let rest = modulo(a, &b, z);
        (a, b) = (b, rest);
    }
    let inverse = z.inv(*a.last().expect("not zero"));
    a.iter_mut().for_each(|x| *x = z.mul(*x, inverse));
    a
}

/// The inverse of a polynomial modulo an irreducible one and p, by Euclid's algorithm.
///
/// # Panics
/// If it is 0.
pub(crate) fn inverse(a: &[u64], modulus: &[u64], z: &PrimePower) -> Vec<u64> {
    let (mut a, mut b) = (modulus.to_vec(), modulo(a.to_vec(), modulus, z));
    let (mut of_a, mut of_b) = (Vec::new(), vec![1]);
    assert!(!b.is_empty(), "0 has no inverse");
    while b.len() > 1 {
        let factor = divide(&mut a, &b, z);
        trim(&mut a);
        let product = product(&factor, &of_b, z);
        of_a.resize(product.len().max(of_a.len()), 0);
        of_a.iter_mut().zip(&product).for_each(|(x, &y)| *x = z.sub(*x, y));
        std::mem::swap(&mut a, &mut b);
        std::mem::swap(&mut of_a, &mut of_b);
    }
    let unit = z.inv(b[0]);
    of_b.iter().map(|&x| z.mul(x, unit)).collect()
}

/// A power of a polynomial modulo another.
pub(crate) fn power_modulo(a: &[u64], mut exponent: u64, divisor: &[u64], z: &PrimePower) -> Vec<u64> {
    let (mut power, mut square) = (vec![1], modulo(a.to_vec(), divisor, z));
    while exponent > 0 {
        if exponent % 2 == 1 {
            power = modulo(product(&power, &square, z), divisor, z);
        }
        square = modulo(product(&square, &square, z), divisor, z);
        exponent /= 2;
    }
    power
}

fn trim(a: &mut Vec<u64>) {
    while a.last() == Some(&0) {
        a.pop();
    }
}
