//! The negacyclic transform of torus words over vectors, written once: each instruction set expands it over its own lanes.
//!
//! A sweep loads `R` vectors as far apart as its layers join them, does up to three layers in registers, and stores them: the
//! first sweep reads words and folds them, the last one of the inverse rounds to words. The last six layers work on blocks of
//! 64 points: three layers among eight vectors, a transposition, three layers within what were the vectors.

/// Expands to the functions of `TorusKernels`. In scope have to be `Vector`, `WIDTH`, `load`, `store`, `splat`, `add`, `sub`,
/// `mul`, the fused `mul_add` (`ab + c`), `mul_sub` (`ab - c`), `neg_mul_add` (`c - ab`) and `neg_mul_sub` (`-ab - c`),
/// `transpose`, `prefetch_far`, and for words of 32 and 64 bits `signed_*`, `digit_*` and `add_nearest_*`, all of which need the CPU features
/// that the string names.
macro_rules! vector_torus {
    ($features:literal) => {
        use crate::kernels::portable_torus;
        use crate::kernels::torus::{QUAD, TorusKernels, TorusProducts};
        use crate::torus::fft::{BLOCK, BlockRoots, GROUP, GROUP_WORDS, TorusFft, merged};
        use crate::torus::gadget::Digit;

        /// Vectors in eight numbers.
        const PARTS: usize = GROUP / WIDTH;
        /// Groups in a block.
        const ROWS: usize = BLOCK / GROUP;

        /// The numbers of one vector in memory.
        type Numbers = [f64; WIDTH];
        /// The points of a group in memory: real and imaginary parts.
        type Group = [[Numbers; PARTS]; 2];
        /// Real and imaginary parts.
        type Pair = (Vector, Vector);

        /// Expands to the functions of one word.
        macro_rules! word {
            ($word:ty, $table:ident, $signed:ident, $digit:ident, $add_nearest:ident) => {
                pub(super) mod $table {
                    use super::*;

                    pub(in super::super) const TABLE: TorusKernels<$word> =
                        TorusKernels { forward, forward_digits, inverse_add, products_add, rotate_difference };

                    #[target_feature(enable = $features)]
                    fn forward(spectrum: &mut [f64], a: &[$word], scale: f64, fft: &TorusFft) {
                        if fft.points() < BLOCK {
                            return portable_torus::forward(spectrum, a, scale, fft);
                        }
                        let (re, im) = a.split_at(fft.points());
                        let (re, im) = (re.as_chunks::<WIDTH>().0, im.as_chunks::<WIDTH>().0);
                        let scale = splat(scale);
                        transform(spectrum, fft, |at| (mul($signed(&re[at]), scale), mul($signed(&im[at]), scale)));
                    }

                    #[target_feature(enable = $features)]
                    fn forward_digits(spectrum: &mut [f64], shifted: &[$word], digit: Digit, fft: &TorusFft) {
                        if fft.points() < BLOCK {
                            return portable_torus::forward_digits(spectrum, shifted, digit, fft);
                        }
                        let (re, im) = shifted.split_at(fft.points());
                        let (re, im) = (re.as_chunks::<WIDTH>().0, im.as_chunks::<WIDTH>().0);
                        transform(spectrum, fft, |at| ($digit(&re[at], digit), $digit(&im[at], digit)));
                    }

                    #[target_feature(enable = $features)]
                    fn inverse_add(out: &mut [$word], spectrum: &mut [f64], fft: &TorusFft) {
                        if fft.points() < BLOCK {
                            return portable_torus::inverse_add(out, spectrum, fft);
                        }
                        let (rows, _) = groups(spectrum).as_chunks_mut::<ROWS>();
                        for (rows, roots) in rows.iter_mut().zip(fft.blocks()) {
                            let mut x = [[(splat(0.0), splat(0.0)); ROWS]; PARTS];
                            for (g, row) in rows.iter().enumerate() {
                                for part in 0..PARTS {
                                    x[part][g] = read(row, part);
                                }
                            }
                            leave_block(rows, &mut x, roots);
                        }
                        finish(out, spectrum, fft);
                    }

                    #[target_feature(enable = $features)]
                    fn products_add(out: &mut [$word], products: &TorusProducts, scratch: &mut [f64], fft: &TorusFft) {
                        if fft.points() < BLOCK {
                            return portable_torus::products_add(out, products, scratch, fft);
                        }
                        sums(scratch, products, fft);
                        let rows = out.chunks_exact_mut(fft.degree()).zip(scratch.chunks_exact_mut(fft.degree()));
                        for (out, spectrum) in rows {
                            finish(out, spectrum, fft);
                        }
                    }

                    /// The layers of the inverse above the blocks.
                    #[target_feature(enable = $features)]
                    fn finish(out: &mut [$word], spectrum: &mut [f64], fft: &TorusFft) {
                        let (re, im) = out.split_at_mut(fft.points());
                        let (re, im) = (re.as_chunks_mut::<WIDTH>().0, im.as_chunks_mut::<WIDTH>().0);
                        sweeps_up(spectrum, fft, |at, x| {
                            $add_nearest(&mut re[at], x.0);
                            $add_nearest(&mut im[at], x.1);
                        });
                    }

                    #[target_feature(enable = $features)]
                    fn rotate_difference(out: &mut [$word], a: &[$word], rotation: usize, offset: $word) {
                        portable_torus::rotate_difference(out, a, rotation, offset);
                    }
                }
            };
        }

        word!(u32, word32, signed_32, digit_32, add_nearest_32);
        word!(u64, word64, signed_64, digit_64, add_nearest_64);

        /// The forward transform of the points that `source` gives, vector by vector.
        #[inline]
        #[target_feature(enable = $features)]
        fn transform(spectrum: &mut [f64], fft: &TorusFft, source: impl Fn(usize) -> Pair) {
            let groups = groups(spectrum);
            let (first, rest) = fft.sweeps();
            match first {
                0 => first_sweep::<1>(groups, fft, source),
                1 => first_sweep::<2>(groups, fft, source),
                2 => first_sweep::<4>(groups, fft, source),
                _ => first_sweep::<8>(groups, fft, source),
            }
            let mut nodes = 1 << first;
            for &layers in rest {
                match layers {
                    1 => sweep_down::<2>(groups, fft, nodes),
                    2 => sweep_down::<4>(groups, fft, nodes),
                    _ => sweep_down::<8>(groups, fft, nodes),
                }
                nodes <<= layers;
            }
            for (rows, roots) in groups.as_chunks_mut::<ROWS>().0.iter_mut().zip(fft.blocks()) {
                enter_block(rows, roots);
            }
        }

        /// The inverse from the blocks on; `sink` takes the points, vector by vector.
        #[inline]
        #[target_feature(enable = $features)]
        fn sweeps_up(spectrum: &mut [f64], fft: &TorusFft, sink: impl FnMut(usize, Pair)) {
            let groups = groups(spectrum);
            let (first, rest) = fft.sweeps();
            let mut nodes = fft.points() / BLOCK;
            for &layers in rest.iter().rev() {
                nodes >>= layers;
                match layers {
                    1 => sweep_up::<2>(groups, fft, nodes),
                    2 => sweep_up::<4>(groups, fft, nodes),
                    _ => sweep_up::<8>(groups, fft, nodes),
                }
            }
            match first {
                0 => last_sweep::<1>(groups, fft, sink),
                1 => last_sweep::<2>(groups, fft, sink),
                2 => last_sweep::<4>(groups, fft, sink),
                _ => last_sweep::<8>(groups, fft, sink),
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn first_sweep<const R: usize>(groups: &mut [Group], fft: &TorusFft, source: impl Fn(usize) -> Pair) {
            let roots = node_roots(fft, 1);
            let stride = groups.len() / R;
            let mut streams = streams::<R>(groups, stride);
            for g in 0..stride {
                for part in 0..PARTS {
                    let mut x = [roots[0]; R];
                    for (r, x) in x.iter_mut().enumerate() {
                        *x = source(PARTS * (r * stride + g) + part);
                    }
                    layers_down(&mut x, |e| roots[e]);
                    for (stream, x) in streams.iter_mut().zip(x) {
                        write(&mut stream[g], part, x);
                    }
                }
            }
        }

        #[target_feature(enable = $features)]
        fn sweep_down<const R: usize>(groups: &mut [Group], fft: &TorusFft, nodes: usize) {
            let block = groups.len() / nodes;
            let stride = block / R;
            for (node, groups) in groups.chunks_exact_mut(block).enumerate() {
                let roots = node_roots(fft, nodes + node);
                let mut streams = streams::<R>(groups, stride);
                for g in 0..stride {
                    for part in 0..PARTS {
                        let mut x = [roots[0]; R];
                        for (stream, x) in streams.iter().zip(&mut x) {
                            *x = read(&stream[g], part);
                        }
                        layers_down(&mut x, |e| roots[e]);
                        for (stream, x) in streams.iter_mut().zip(x) {
                            write(&mut stream[g], part, x);
                        }
                    }
                }
            }
        }

        #[target_feature(enable = $features)]
        fn sweep_up<const R: usize>(groups: &mut [Group], fft: &TorusFft, nodes: usize) {
            let block = groups.len() / nodes;
            let stride = block / R;
            for (node, groups) in groups.chunks_exact_mut(block).enumerate() {
                let roots = node_roots(fft, nodes + node);
                let mut streams = streams::<R>(groups, stride);
                for g in 0..stride {
                    for part in 0..PARTS {
                        let mut x = [roots[0]; R];
                        for (stream, x) in streams.iter().zip(&mut x) {
                            *x = read(&stream[g], part);
                        }
                        layers_up(&mut x, |e| roots[e]);
                        for (stream, x) in streams.iter_mut().zip(x) {
                            write(&mut stream[g], part, x);
                        }
                    }
                }
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn last_sweep<const R: usize>(groups: &mut [Group], fft: &TorusFft, mut sink: impl FnMut(usize, Pair)) {
            let roots = node_roots(fft, 1);
            let stride = groups.len() / R;
            let streams = streams::<R>(groups, stride);
            for g in 0..stride {
                for part in 0..PARTS {
                    let mut x = [roots[0]; R];
                    for (stream, x) in streams.iter().zip(&mut x) {
                        *x = read(&stream[g], part);
                    }
                    layers_up(&mut x, |e| roots[e]);
                    for (r, x) in x.into_iter().enumerate() {
                        sink(PARTS * (r * stride + g) + part, x);
                    }
                }
            }
        }

        /// The last six layers of the forward transform.
        #[inline]
        #[target_feature(enable = $features)]
        fn enter_block(rows: &mut [Group; ROWS], roots: &BlockRoots) {
            let mut x = [[(splat(0.0), splat(0.0)); ROWS]; PARTS];
            let upper = block_roots(roots);
            for (part, x) in x.iter_mut().enumerate() {
                for (row, x) in rows.iter().zip(x.iter_mut()) {
                    *x = read(row, part);
                }
                layers_down(x, |e| upper[e]);
            }
            transpose_pairs(&mut x);
            for (part, x) in x.iter_mut().enumerate() {
                layers_down(x, |e| lane_roots(roots, part, e));
                for (row, &mut x) in rows.iter_mut().zip(x) {
                    write(row, part, x);
                }
            }
        }

        /// The first six layers of the inverse.
        #[inline]
        #[target_feature(enable = $features)]
        fn leave_block(rows: &mut [Group; ROWS], x: &mut [[Pair; ROWS]; PARTS], roots: &BlockRoots) {
            for (part, x) in x.iter_mut().enumerate() {
                layers_up(x, |e| lane_roots(roots, part, e));
            }
            transpose_pairs(x);
            let upper = block_roots(roots);
            for (part, x) in x.iter_mut().enumerate() {
                layers_up(x, |e| upper[e]);
                for (row, &mut x) in rows.iter_mut().zip(x) {
                    write(row, part, x);
                }
            }
        }

        /// All sums of products, each taken through the first six layers of the inverse while it is in registers.
        #[target_feature(enable = $features)]
        fn sums(scratch: &mut [f64], products: &TorusProducts, fft: &TorusFft) {
            let run = ROWS * products.rows * GROUP_WORDS;
            let keys = products.key.chunks_exact(run);
            let mut next = products.next.unwrap_or_default().chunks_exact(run);
            let digits = products.digits.as_chunks::<GROUP_WORDS>().0;
            let stride = products.stride / GROUP_WORDS;
            let groups = groups(scratch);
            let in_column = fft.points() / GROUP;
            for (i, key) in keys.enumerate() {
                let (block, column) = (i / products.columns, i % products.columns);
                if let Some(next) = next.next() {
                    prefetch_far(next);
                }
                let mut x = [[(splat(0.0), splat(0.0)); ROWS]; PARTS];
                let (quads, _) = as_groups(key).as_chunks::<QUAD>();
                for part in 0..PARTS {
                    for (q, rows) in quads.chunks_exact(products.rows).enumerate() {
                        let mut sum = [(splat(0.0), splat(0.0)); QUAD];
                        for (row, key) in rows.iter().enumerate() {
                            let at = row * stride + ROWS * block + QUAD * q;
                            let digits: &[[f64; GROUP_WORDS]; QUAD] =
                                digits[at..at + QUAD].try_into().expect("so many groups");
                            for g in 0..QUAD {
                                let (d, k) = (read(as_group(&digits[g]), part), read(&key[g], part));
                                sum[g].0 = mul_add(d.0, k.0, sum[g].0);
                                sum[g].1 = mul_add(d.0, k.1, sum[g].1);
                                sum[g].0 = neg_mul_add(d.1, k.1, sum[g].0);
                                sum[g].1 = mul_add(d.1, k.0, sum[g].1);
                            }
                        }
                        x[part][QUAD * q..][..QUAD].copy_from_slice(&sum);
                    }
                }
                let at = column * in_column + ROWS * block;
                let rows: &mut [Group; ROWS] = (&mut groups[at..at + ROWS]).try_into().expect("a block");
                leave_block(rows, &mut x, &fft.blocks()[block]);
            }
        }

        /// The layers among `R` vectors, the farthest first; `root` gives the four roots of [`merged`].
        #[inline]
        #[target_feature(enable = $features)]
        fn layers_down<const R: usize>(x: &mut [Pair; R], root: impl Fn(usize) -> Pair) {
            for layer in 0..R.ilog2() {
                layer_down::<R>(x, layer, &root);
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn layer_down<const R: usize>(x: &mut [Pair; R], layer: u32, root: impl Fn(usize) -> Pair) {
            let half = R >> (layer + 1);
            for node in 0..1 << layer {
                let w = root(entry(layer, node));
                for a in 2 * half * node..2 * half * node + half {
                    let (y, t) = (x[a], times(x[a + half], w));
                    (x[a], x[a + half]) = if node % 2 == 0 {
                        ((add(y.0, t.0), add(y.1, t.1)), (sub(y.0, t.0), sub(y.1, t.1)))
                    } else {
                        ((sub(y.0, t.1), add(y.1, t.0)), (add(y.0, t.1), sub(y.1, t.0)))
                    };
                }
            }
        }

        /// What undoes [`layers_down`], `R` times as large.
        #[inline]
        #[target_feature(enable = $features)]
        fn layers_up<const R: usize>(x: &mut [Pair; R], root: impl Fn(usize) -> Pair) {
            for layer in (0..R.ilog2()).rev() {
                let half = R >> (layer + 1);
                for node in 0..1 << layer {
                    let w = root(entry(layer, node));
                    for a in 2 * half * node..2 * half * node + half {
                        let (y, z) = (x[a], x[a + half]);
                        let d = (sub(y.0, z.0), sub(y.1, z.1));
                        x[a] = (add(y.0, z.0), add(y.1, z.1));
                        let cross = mul_sub(w.0, d.1, mul(w.1, d.0));
                        x[a + half] = if node % 2 == 0 {
                            (mul_add(w.0, d.0, mul(w.1, d.1)), cross)
                        } else {
                            (cross, neg_mul_sub(w.0, d.0, mul(w.1, d.1)))
                        };
                    }
                }
            }
        }

        /// `w x`.
        #[inline]
        #[target_feature(enable = $features)]
        fn times(x: Pair, w: Pair) -> Pair {
            (mul_sub(w.0, x.0, mul(w.1, x.1)), mul_add(w.0, x.1, mul(w.1, x.0)))
        }

        /// Which of the four roots node `node` has, but for a factor `i` of every other node.
        #[inline(always)]
        const fn entry(layer: u32, node: usize) -> usize {
            layer as usize + node / 2
        }

        /// The roots of three layers from that of a node on.
        #[inline]
        #[target_feature(enable = $features)]
        fn node_roots(fft: &TorusFft, node: usize) -> [Pair; 4] {
            let last = fft.points() - 1;
            let mut roots = [(splat(0.0), splat(0.0)); 4];
            for (root, index) in roots.iter_mut().zip(merged(node)) {
                // A sweep of fewer layers has no use for the later roots, which may not be there.
                let (re, im) = fft.root(index & last);
                *root = (splat(re), splat(im));
            }
            roots
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn block_roots(roots: &BlockRoots) -> [Pair; 4] {
            let mut upper = [(splat(0.0), splat(0.0)); 4];
            for (e, root) in upper.iter_mut().enumerate() {
                *root = (splat(roots[0][2 * e]), splat(roots[0][2 * e + 1]));
            }
            upper
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn lane_roots(roots: &BlockRoots, part: usize, e: usize) -> Pair {
            let line = |line: usize| load(&roots[line].as_chunks().0[part]);
            (line(1 + 2 * e), line(2 + 2 * e))
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn transpose_pairs(x: &mut [[Pair; ROWS]; PARTS]) {
            let zero = splat(0.0);
            let (mut re, mut im) = ([[zero; PARTS]; ROWS], [[zero; PARTS]; ROWS]);
            for part in 0..PARTS {
                for g in 0..ROWS {
                    (re[g][part], im[g][part]) = x[part][g];
                }
            }
            transpose(&mut re);
            transpose(&mut im);
            for part in 0..PARTS {
                for g in 0..ROWS {
                    x[part][g] = (re[g][part], im[g][part]);
                }
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn read(group: &Group, part: usize) -> Pair {
            (load(&group[0][part]), load(&group[1][part]))
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn write(group: &mut Group, part: usize, x: Pair) {
            store(&mut group[0][part], x.0);
            store(&mut group[1][part], x.1);
        }

        /// `R` equal parts.
        #[inline(always)]
        fn streams<const R: usize>(mut groups: &mut [Group], stride: usize) -> [&mut [Group]; R] {
            let mut streams: [&mut [Group]; R] = std::array::from_fn(|_| Default::default());
            for stream in &mut streams {
                (*stream, groups) = groups.split_at_mut(stride);
            }
            streams
        }

        #[inline(always)]
        fn groups(row: &mut [f64]) -> &mut [Group] {
            row.as_chunks_mut().0.as_chunks_mut().0.as_chunks_mut().0
        }

        #[inline(always)]
        fn as_groups(row: &[f64]) -> &[Group] {
            row.as_chunks().0.as_chunks().0.as_chunks().0
        }

        #[inline(always)]
        fn as_group(words: &[f64; GROUP_WORDS]) -> &Group {
            &as_groups(words)[0]
        }
    };
}

pub(super) use vector_torus;
