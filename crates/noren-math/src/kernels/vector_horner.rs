//! Horner's rule at many points, written once: each instruction set expands it over its own lanes.
//!
//! Each point goes through the same additions and multiplications as in `portable_horner.rs`, in the same order, so the
//! results have the same bits.

/// Expands to `horner` over the `Vector`, `WIDTH`, `load`, `store`, `splat`, `add`, `sub` and `mul` in scope, all of which need
/// the CPU features that the string names.
macro_rules! vector_horner {
    ($features:literal) => {
        use crate::kernels::portable_horner;

        /// Vectors of points that are evaluated at a time: a step of each waits for the one before.
        const VECTORS: usize = 4;

        /// See `portable_horner::horner`.
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
            portable_horner::horner(&mut re[rest..], &mut im[rest..], a, points);
        }
    };
}

pub(super) use vector_horner;
