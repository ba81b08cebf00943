//! Horner's rule at many points, one after the other.

/// The values of the polynomial with the coefficients a at the points `c + i s`, real and imaginary parts: a step takes `x + i y` to
/// `(x c - y s + a_k) + i (x s + y c)`.
pub(super) fn horner(re: &mut [f64], im: &mut [f64], a: &[f64], [c, s]: [&[f64]; 2]) {
    for (((re, im), c), s) in re.iter_mut().zip(im).zip(c).zip(s) {
        let step = |[x, y]: [f64; 2], a: &f64| [x * c - y * s + a, x * s + y * c];
        [*re, *im] = a.iter().rev().fold([0.0; 2], step);
    }
}
