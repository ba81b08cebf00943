//! Polynomials over the torus, modulo `X^N + 1`: products with monomials, automorphisms.

/// `out = X^rotation a`.
///
/// # Panics
/// If the lengths differ, or the rotation is not below 2N.
pub fn rotate(out: &mut [u64], a: &[u64], rotation: usize) {
    let (shift, positive) = place(out, a, rotation);
    let (wrapped, kept) = out.split_at_mut(shift);
    let (low, high) = a.split_at(a.len() - shift);
    if positive {
        kept.copy_from_slice(low);
        wrapped.iter_mut().zip(high).for_each(|(x, a)| *x = a.wrapping_neg());
    } else {
        kept.iter_mut().zip(low).for_each(|(x, a)| *x = a.wrapping_neg());
        wrapped.copy_from_slice(high);
    }
}

/// `out = X^rotation a - a`.
///
/// # Panics
/// As [`rotate`].
pub fn rotate_sub(out: &mut [u64], a: &[u64], rotation: usize) {
    rotate(out, a, rotation);
    out.iter_mut().zip(a).for_each(|(x, a)| *x = x.wrapping_sub(*a));
}

/// `out = a(X^exponent)`: the automorphism `X -> X^exponent`.
///
/// # Panics
/// If the lengths differ, or the exponent is even or not below 2N.
pub fn automorphism(out: &mut [u64], a: &[u64], exponent: usize) {
    scatter(out, a, exponent, |x, word| *x = word);
}

/// `out += a(X^exponent)`.
///
/// # Panics
/// As [`automorphism`].
pub fn add_automorphism(out: &mut [u64], a: &[u64], exponent: usize) {
    scatter(out, a, exponent, |x, word| *x = x.wrapping_add(word));
}

/// Puts each coefficient of `a(X^exponent)` to its place.
#[inline(always)]
fn scatter(out: &mut [u64], a: &[u64], exponent: usize, put: impl Fn(&mut u64, u64)) {
    let n = a.len();
    assert_eq!(out.len(), n, "polynomials of the same degree");
    assert!(exponent % 2 == 1 && exponent < 2 * n, "X^{exponent} of degree {n}: needs an odd exponent below {}", 2 * n);
    // Run after run of coefficients whose powers lie between the same two multiples of N, and have one sign.
    let (mut place, mut rest, mut negative) = (0, a, false);
    while !rest.is_empty() {
        let (run, later) = rest.split_at((n - place).div_ceil(exponent).min(rest.len()));
        let places = out[place..].iter_mut().step_by(exponent).zip(run);
        if negative {
            places.for_each(|(x, word)| put(x, word.wrapping_neg()));
        } else {
            places.for_each(|(x, word)| put(x, *word));
        }
        // Exponents above N pass over more than one multiple of it.
        let next = place + run.len() * exponent;
        negative ^= (next / n) % 2 == 1;
        (place, rest) = (next % n, later);
    }
}

/// `a(-X)` in place of a.
pub fn alternate(a: &mut [u64]) {
    a.as_chunks_mut::<2>().0.iter_mut().for_each(|[_, odd]| *odd = odd.wrapping_neg());
}

/// Coefficient `h` of the body as an LWE sample: the mask of the sample, one polynomial after the other, from the
/// polynomials of the mask.
///
/// With `s_r` the coefficients of secret r, `(A_r s_r)_h = sum_{j <= h} A_r[h-j] s_r[j] - sum_{j > h} A_r[N+h-j] s_r[j]`.
///
/// # Panics
/// If the lengths differ, or a polynomial has no such coefficient.
pub fn extract_mask(out: &mut [u64], masks: &[u64], degree: usize, h: usize) {
    assert_eq!(out.len(), masks.len(), "a word for each coefficient");
    assert!(h < degree, "coefficient {h} of {degree}");
    for (out, mask) in out.chunks_exact_mut(degree).zip(masks.chunks_exact(degree)) {
        let (low, high) = mask.split_at(h + 1);
        let (kept, wrapped) = out.split_at_mut(h + 1);
        kept.iter_mut().zip(low.iter().rev()).for_each(|(x, a)| *x = *a);
        wrapped.iter_mut().zip(high.iter().rev()).for_each(|(x, a)| *x = a.wrapping_neg());
    }
}

/// The masks whose coefficient 0 is extracted to `mask`: [`extract_mask`] undone.
///
/// # Panics
/// If the lengths differ.
pub fn embed_mask(out: &mut [u64], mask: &[u64], degree: usize) {
    assert_eq!(out.len(), mask.len(), "a word for each coefficient");
    for (out, mask) in out.chunks_exact_mut(degree).zip(mask.chunks_exact(degree)) {
        out[0] = mask[0];
        out[1..].iter_mut().zip(mask[1..].iter().rev()).for_each(|(x, a)| *x = a.wrapping_neg());
    }
}

/// The shift below N, and whether the rotation keeps the sign of what does not wrap around.
fn place(out: &[u64], a: &[u64], rotation: usize) -> (usize, bool) {
    let n = a.len();
    assert_eq!(out.len(), n, "polynomials of the same degree");
    assert!(rotation < 2 * n, "X^{rotation} of degree {n}: needs an exponent below {}", 2 * n);
    if rotation < n { (rotation, true) } else { (rotation - n, false) }
}
