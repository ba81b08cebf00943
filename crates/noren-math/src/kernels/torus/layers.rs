//! The layers of the negacyclic transform among vectors, written once: see `vector.rs`.

/// Expands to `columns_down`, `columns_up` and the layers they are made of, over what `vector_torus!` has in scope and defines.
macro_rules! torus_layers {
    ($features:literal) => {
        /// The layers among `R` vectors for each column of `groups` groups: `get` reads and `put` writes vector `r` of column
        /// `v`, and `root` gives one of its four roots, in the order of [`merged`].
        ///
        /// The last layer of a column takes turns with the first one of the next, as a single column has too few butterflies at
        /// a time that do not wait for others.
        #[inline]
        #[target_feature(enable = $features)]
        fn columns_down<const R: usize>(
            groups: usize,
            root: impl Fn(Column, usize) -> Pair,
            get: impl Fn(usize, Column) -> Pair,
            put: impl Fn(usize, Column, Pair),
        ) {
            let mut x = [(splat(0.0), splat(0.0)); R];
            if R < 8 {
                for group in 0..groups {
                    for part in 0..PARTS {
                        let v = (group, part);
                        for (r, x) in x.iter_mut().enumerate() {
                            *x = get(r, v);
                        }
                        layers_down(&mut x, |e| root(v, e));
                        for (r, &x) in x.iter().enumerate() {
                            put(r, v, x);
                        }
                    }
                }
                return;
            }
            let start = (0, 0);
            let w = root(start, 0);
            (x[0], x[4]) = join(get(0, start), get(4, start), w, 0);
            (x[1], x[5]) = join(get(1, start), get(5, start), w, 0);
            (x[2], x[6]) = join(get(2, start), get(6, start), w, 0);
            (x[3], x[7]) = join(get(3, start), get(7, start), w, 0);
            for group in 0..groups - 1 {
                let (v, next) = ((group, 0), (group + 1, 0));
                let w = root(v, 1);
                let (a0, a2) = join(x[0], x[2], w, 0);
                let (a4, a6) = join(x[4], x[6], w, 1);
                let (a1, a3) = join(x[1], x[3], w, 0);
                let (a5, a7) = join(x[5], x[7], w, 1);
                let (w, even, odd) = (root(next, 0), root(v, 2), root(v, 3));
                let (b0, b1) = join(a0, a1, even, 0);
                put(0, v, b0);
                put(1, v, b1);
                (x[0], x[4]) = join(get(0, next), get(4, next), w, 0);
                let (b2, b3) = join(a2, a3, even, 1);
                put(2, v, b2);
                put(3, v, b3);
                (x[2], x[6]) = join(get(2, next), get(6, next), w, 0);
                let (b4, b5) = join(a4, a5, odd, 0);
                put(4, v, b4);
                put(5, v, b5);
                (x[1], x[5]) = join(get(1, next), get(5, next), w, 0);
                let (b6, b7) = join(a6, a7, odd, 1);
                put(6, v, b6);
                put(7, v, b7);
                (x[3], x[7]) = join(get(3, next), get(7, next), w, 0);
            }
            let last = (groups - 1, 0);
            layer_down(&mut x, 1, |e| root(last, e));
            layer_down(&mut x, 2, |e| root(last, e));
            for (r, &x) in x.iter().enumerate() {
                put(r, last, x);
            }
        }

        /// The inverse of [`columns_down`], `R` times as large.
        #[inline]
        #[target_feature(enable = $features)]
        fn columns_up<const R: usize>(
            groups: usize,
            root: impl Fn(Column, usize) -> Pair,
            get: impl Fn(usize, Column) -> Pair,
            put: impl Fn(usize, Column, Pair),
        ) {
            let mut x = [(splat(0.0), splat(0.0)); R];
            if R < 8 {
                for group in 0..groups {
                    for part in 0..PARTS {
                        let v = (group, part);
                        for (r, x) in x.iter_mut().enumerate() {
                            *x = get(r, v);
                        }
                        layers_up(&mut x, |e| root(v, e));
                        for (r, &x) in x.iter().enumerate() {
                            put(r, v, x);
                        }
                    }
                }
                return;
            }
            let start = (0, 0);
            let (even, odd) = (root(start, 2), root(start, 3));
            (x[0], x[1]) = unjoin(get(0, start), get(1, start), even, 0);
            (x[2], x[3]) = unjoin(get(2, start), get(3, start), even, 1);
            (x[4], x[5]) = unjoin(get(4, start), get(5, start), odd, 0);
            (x[6], x[7]) = unjoin(get(6, start), get(7, start), odd, 1);
            for group in 0..groups - 1 {
                let (v, next) = ((group, 0), (group + 1, 0));
                let w = root(v, 1);
                let (a0, a2) = unjoin(x[0], x[2], w, 0);
                let (a4, a6) = unjoin(x[4], x[6], w, 1);
                let (a1, a3) = unjoin(x[1], x[3], w, 0);
                let (a5, a7) = unjoin(x[5], x[7], w, 1);
                let (w, even, odd) = (root(v, 0), root(next, 2), root(next, 3));
                let (b0, b4) = unjoin(a0, a4, w, 0);
                put(0, v, b0);
                put(4, v, b4);
                (x[0], x[1]) = unjoin(get(0, next), get(1, next), even, 0);
                let (b2, b6) = unjoin(a2, a6, w, 0);
                put(2, v, b2);
                put(6, v, b6);
                (x[2], x[3]) = unjoin(get(2, next), get(3, next), even, 1);
                let (b1, b5) = unjoin(a1, a5, w, 0);
                put(1, v, b1);
                put(5, v, b5);
                (x[4], x[5]) = unjoin(get(4, next), get(5, next), odd, 0);
                let (b3, b7) = unjoin(a3, a7, w, 0);
                put(3, v, b3);
                put(7, v, b7);
                (x[6], x[7]) = unjoin(get(6, next), get(7, next), odd, 1);
            }
            let last = (groups - 1, 0);
            layer_up(&mut x, 1, |e| root(last, e));
            layer_up(&mut x, 0, |e| root(last, e));
            for (r, &x) in x.iter().enumerate() {
                put(r, last, x);
            }
        }

        /// The first two of three layers of the inverse, in one half of eight vectors.
        #[inline]
        #[target_feature(enable = $features)]
        fn half_up(mut x: [Pair; 4], half: usize, root: impl Fn(usize) -> Pair) -> [Pair; 4] {
            let w = root(2 + half);
            (x[0], x[1]) = unjoin(x[0], x[1], w, 0);
            (x[2], x[3]) = unjoin(x[2], x[3], w, 1);
            let w = root(1);
            (x[0], x[2]) = unjoin(x[0], x[2], w, half);
            (x[1], x[3]) = unjoin(x[1], x[3], w, half);
            x
        }

        /// The layers among `R` vectors, the farthest first; `root` gives the four roots of [`merged`].
        #[inline]
        #[target_feature(enable = $features)]
        fn layers_down<const R: usize>(x: &mut [Pair; R], root: impl Fn(usize) -> Pair) {
            for layer in 0..R.ilog2() {
                layer_down(x, layer, &root);
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn layer_down<const R: usize>(x: &mut [Pair; R], layer: u32, root: impl Fn(usize) -> Pair) {
            let half = R >> (layer + 1);
            for node in 0..1 << layer {
                let w = root(entry(layer, node));
                for a in 2 * half * node..2 * half * node + half {
                    (x[a], x[a + half]) = join(x[a], x[a + half], w, node);
                }
            }
        }

        /// The inverse of [`layers_down`], `R` times as large.
        #[inline]
        #[target_feature(enable = $features)]
        fn layers_up<const R: usize>(x: &mut [Pair; R], root: impl Fn(usize) -> Pair) {
            for layer in (0..R.ilog2()).rev() {
                layer_up(x, layer, &root);
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn layer_up<const R: usize>(x: &mut [Pair; R], layer: u32, root: impl Fn(usize) -> Pair) {
            let half = R >> (layer + 1);
            for node in 0..1 << layer {
                let w = root(entry(layer, node));
                for a in 2 * half * node..2 * half * node + half {
                    (x[a], x[a + half]) = unjoin(x[a], x[a + half], w, node);
                }
            }
        }

        /// `x, y -> x + w y, x - w y`, with `i w` in place of w in odd nodes.
        #[inline]
        #[target_feature(enable = $features)]
        fn join(x: Pair, y: Pair, w: Pair, node: usize) -> (Pair, Pair) {
            let t = (mul_sub(w.0, y.0, mul(w.1, y.1)), mul_add(w.0, y.1, mul(w.1, y.0)));
            if node % 2 == 0 {
                ((add(x.0, t.0), add(x.1, t.1)), (sub(x.0, t.0), sub(x.1, t.1)))
            } else {
                ((sub(x.0, t.1), add(x.1, t.0)), (add(x.0, t.1), sub(x.1, t.0)))
            }
        }

        /// `x, y -> x + y, conj(w) (x - y)`, with `i w` in place of w in odd nodes.
        #[inline]
        #[target_feature(enable = $features)]
        fn unjoin(x: Pair, y: Pair, w: Pair, node: usize) -> (Pair, Pair) {
            let d = (sub(x.0, y.0), sub(x.1, y.1));
            let cross = mul_sub(w.0, d.1, mul(w.1, d.0));
            let product = if node % 2 == 0 {
                (mul_add(w.0, d.0, mul(w.1, d.1)), cross)
            } else {
                (cross, neg_mul_sub(w.0, d.0, mul(w.1, d.1)))
            };
            ((add(x.0, y.0), add(x.1, y.1)), product)
        }

        /// Which of the four roots node `node` has, but for a factor `i` of every other node.
        #[inline(always)]
        const fn entry(layer: u32, node: usize) -> usize {
            layer as usize + node / 2
        }
    };
}

pub(in crate::kernels) use torus_layers;
