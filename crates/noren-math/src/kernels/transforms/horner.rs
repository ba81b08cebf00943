//! Horner's rule at many points.

/// The values of the polynomial with the coefficients a at the points `c + i s`, real and imaginary parts: a step takes `x + i y` to
/// `(x c - y s + a_k) + i (x s + y c)`.
pub(in crate::kernels) fn horner(re: &mut [f64], im: &mut [f64], a: &[f64], [c, s]: [&[f64]; 2]) {
    for (((re, im), c), s) in re.iter_mut().zip(im).zip(c).zip(s) {
        let step = |[x, y]: [f64; 2], a: &f64| [x * c - y * s + a, x * s + y * c];
        [*re, *im] = a.iter().rev().fold([0.0; 2], step);
    }
}

/// Expands to `horner` over the `Vector`, `WIDTH`, `load`, `store`, `splat`, `add`, `sub` and `mul` in scope, all of which need
/// the CPU features that the string names.
///
/// Each point goes through the same additions and multiplications as in the function above, in the same order, so the
/// results have the same bits.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! vector_horner {
    ($features:literal) => {
        use crate::kernels::transforms::horner as portable;

        /// Vectors of points that are evaluated at a time: a step of each waits for the one before.
        const VECTORS: usize = 4;

        /// See `transforms::horner::horner`.
        #[target_feature(enable = $features)]
        pub(super) fn horner(re: &mut [f64], im: &mut [f64], a: &[f64], points: [&[f64]; 2]) {
            let (blocks, _) = re.as_chunks_mut::<WIDTH>();
            let (im_blocks, _) = im.as_chunks_mut::<WIDTH>();
            let [c, s] = points.map(|part| part.as_chunks::<WIDTH>().0);
            let count = blocks.len() / VECTORS * VECTORS;
            for first in (0..count).step_by(VECTORS) {
                let (mut x, mut y) = ([splat(0.0); VECTORS], [splat(0.0); VECTORS]);
                let c: [Vector; VECTORS] = std::array::from_fn(|i| load(&c[first + i]));
                let s: [Vector; VECTORS] = std::array::from_fn(|i| load(&s[first + i]));
                for &coefficient in a.iter().rev() {
                    let coefficient = splat(coefficient);
                    for i in 0..VECTORS {
                        let turned = add(mul(x[i], s[i]), mul(y[i], c[i]));
                        x[i] = add(sub(mul(x[i], c[i]), mul(y[i], s[i])), coefficient);
                        y[i] = turned;
                    }
                }
                for i in 0..VECTORS {
                    store(&mut blocks[first + i], x[i]);
                    store(&mut im_blocks[first + i], y[i]);
                }
            }
            let rest = count * WIDTH;
            let points = points.map(|part| &part[rest..]);
            portable::horner(&mut re[rest..], &mut im[rest..], a, points);
        }
    };
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(in crate::kernels) use vector_horner;
