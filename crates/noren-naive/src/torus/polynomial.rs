//! Polynomials modulo `2^64` and `X^N + 1`.

/// `X^rotation a`, for any rotation.
pub(super) fn shifted(a: &[u64], rotation: usize) -> Vec<u64> {
    let mut monomial = vec![0; a.len()];
    let place = rotation % (2 * a.len());
    monomial[place % a.len()] = if place < a.len() { 1 } else { -1 };
    product(a, &monomial)
}

/// `a(X^exponent)`.
pub(super) fn automorphism(a: &[u64], exponent: usize) -> Vec<u64> {
    let mut image = vec![0; a.len()];
    for (i, &word) in a.iter().enumerate() {
        place(&mut image, i * exponent, word);
    }
    image
}

/// `a(-X)`.
pub(super) fn alternated<T: Copy>(a: &[T], negate: fn(T) -> T) -> Vec<T> {
    a.iter().enumerate().map(|(i, &x)| if i % 2 == 0 { x } else { negate(x) }).collect()
}

/// `a b`, term by term.
pub(super) fn product(a: &[u64], b: &[i64]) -> Vec<u64> {
    let mut product = vec![0; a.len()];
    for (j, &y) in b.iter().enumerate().filter(|(_, y)| **y != 0) {
        for (i, &x) in a.iter().enumerate() {
            place(&mut product, i + j, x.wrapping_mul(y.cast_unsigned()));
        }
    }
    product
}

pub(super) fn sum(a: &[u64], b: &[u64]) -> Vec<u64> {
    a.iter().zip(b).map(|(x, y)| x.wrapping_add(*y)).collect()
}

pub(super) fn difference(a: &[u64], b: &[u64]) -> Vec<u64> {
    a.iter().zip(b).map(|(x, y)| x.wrapping_sub(*y)).collect()
}

/// `a += word X^exponent`.
fn place(a: &mut [u64], exponent: usize, word: u64) {
    let (n, exponent) = (a.len(), exponent % (2 * a.len()));
    let place = &mut a[exponent % n];
    *place = if exponent < n { place.wrapping_add(word) } else { place.wrapping_sub(word) };
}
