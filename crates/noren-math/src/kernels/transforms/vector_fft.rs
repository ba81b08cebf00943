//! The special FFT over vectors, written once: each instruction set expands it over its own lanes.
//!
//! The head (bit reversal and the layers of span 1, 2 and 4) works on tiles: eight rows of eight
//! numbers, `n/8` apart. With the rows in bit-reversed order, the three layers act between rows; one
//! transposition then puts the tile where bit reversal wants it, which is the place of the tile with
//! the reversed number. All later layers act between whole vectors, up to three layers in one sweep,
//! and those of small span are finished chunk by chunk, in the nearest cache.
//!
//! Each number goes through the same additions and multiplications as in `fft.rs`, in the
//! same order, so the results have the same bits.

/// Numbers that one chunk holds: real and imaginary parts and a few roots fit a cache of 32 KiB.
pub(in crate::kernels) const CHUNK: usize = 1024;

/// The order of the rows of a tile: three bits reversed.
pub(in crate::kernels) const REVERSED: [usize; 8] = [0, 4, 2, 6, 1, 5, 3, 7];

/// Expands to `forward` and `inverse` over the `Vector`, `WIDTH`, `load`, `store`, `splat`, `add`, `sub`,
/// `mul` and `transpose` in scope, all of which need the CPU features that the string names.
macro_rules! vector_fft {
    ($features:literal) => {
        use crate::kernels::transforms::fft as portable;
        use crate::kernels::transforms::vector_fft::{CHUNK, REVERSED};
        use crate::roots::fft::{FftPass, FftTable, LANES, TILE};

        /// Vectors in eight numbers.
        const PARTS: usize = LANES / WIDTH;

        /// The numbers of one vector in memory.
        type Numbers = [f64; WIDTH];
        /// Real and imaginary parts.
        type Pair = (Vector, Vector);
        /// Rows of numbers in memory, real and imaginary.
        type Rows = [[Numbers; PARTS]; LANES];

        /// See `portable::fft_forward`.
        #[target_feature(enable = $features)]
        pub(super) fn forward(re: &mut [f64], im: &mut [f64], table: &FftTable) {
            if table.slots() < TILE {
                return portable::fft_forward(re, im, table);
            }
            head::<false>(re, im, table);
            let (inner, outer) = split_passes(table);
            for (re, im) in re.chunks_mut(CHUNK).zip(im.chunks_mut(CHUNK)) {
                for pass in inner {
                    sweep::<false>(re, im, pass);
                }
            }
            for pass in outer {
                sweep::<false>(re, im, pass);
            }
        }

        /// See `portable::fft_inverse`.
        #[target_feature(enable = $features)]
        pub(super) fn inverse(re: &mut [f64], im: &mut [f64], table: &FftTable) {
            if table.slots() < TILE {
                return portable::fft_inverse(re, im, table);
            }
            let (inner, outer) = split_passes(table);
            for pass in outer.iter().rev() {
                sweep::<true>(re, im, pass);
            }
            for (re, im) in re.chunks_mut(CHUNK).zip(im.chunks_mut(CHUNK)) {
                for pass in inner.iter().rev() {
                    sweep::<true>(re, im, pass);
                }
            }
            head::<true>(re, im, table);
        }

        /// The passes that stay within a chunk, and the others.
        fn split_passes(table: &FftTable) -> (&[FftPass], &[FftPass]) {
            table.passes().split_at(table.passes().partition_point(|pass| pass.block() <= CHUNK))
        }

        /// `x, y -> x + w y, x - w y`.
        #[inline]
        #[target_feature(enable = $features)]
        fn join(x: Pair, y: Pair, w: Pair) -> (Pair, Pair) {
            let t = (sub(mul(y.0, w.0), mul(y.1, w.1)), add(mul(y.0, w.1), mul(y.1, w.0)));
            ((add(x.0, t.0), add(x.1, t.1)), (sub(x.0, t.0), sub(x.1, t.1)))
        }

        /// `x, y -> x + y, conj(w) (x - y)`.
        #[inline]
        #[target_feature(enable = $features)]
        fn part(x: Pair, y: Pair, w: Pair) -> (Pair, Pair) {
            let d = (sub(x.0, y.0), sub(x.1, y.1));
            let product = (add(mul(d.0, w.0), mul(d.1, w.1)), sub(mul(d.1, w.0), mul(d.0, w.1)));
            ((add(x.0, y.0), add(x.1, y.1)), product)
        }

        /// The layers among `R` vectors, forwards or backwards; `root` gives entry `HALF - 1 + r` for row `r` of
        /// the layer that joins vectors `HALF` apart.
        #[inline]
        #[target_feature(enable = $features)]
        fn layers<const R: usize, const BACK: bool>(x: &mut [Pair; R], root: impl Fn(usize) -> Pair) {
            // Constant distances let the vectors stay in registers.
            if BACK {
                if R > 4 {
                    layer::<R, 4, BACK>(x, &root);
                }
                if R > 2 {
                    layer::<R, 2, BACK>(x, &root);
                }
            }
            layer::<R, 1, BACK>(x, &root);
            if !BACK {
                if R > 2 {
                    layer::<R, 2, BACK>(x, &root);
                }
                if R > 4 {
                    layer::<R, 4, BACK>(x, &root);
                }
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn layer<const R: usize, const HALF: usize, const BACK: bool>(x: &mut [Pair; R], root: impl Fn(usize) -> Pair) {
            for row in 0..HALF {
                let w = root(HALF - 1 + row);
                for block in 0..R / (2 * HALF) {
                    let (a, b) = (2 * HALF * block + row, 2 * HALF * block + row + HALF);
                    (x[a], x[b]) = if BACK { part(x[a], x[b], w) } else { join(x[a], x[b], w) };
                }
            }
        }

        #[target_feature(enable = $features)]
        fn sweep<const BACK: bool>(re: &mut [f64], im: &mut [f64], pass: &FftPass) {
            match pass.layers() {
                1 => sweep_streams::<2, BACK>(re, im, pass),
                2 => sweep_streams::<4, BACK>(re, im, pass),
                _ => sweep_streams::<8, BACK>(re, im, pass),
            }
        }

        /// One pass over `R` streams in each block.
        #[inline]
        #[target_feature(enable = $features)]
        fn sweep_streams<const R: usize, const BACK: bool>(re: &mut [f64], im: &mut [f64], pass: &FftPass) {
            let groups = pass.roots().as_chunks::<WIDTH>().0.chunks_exact(2 * PARTS * (R - 1));
            let zero = splat(0.0);
            for (re, im) in re.chunks_exact_mut(pass.block()).zip(im.chunks_exact_mut(pass.block())) {
                let (re, im) = (streams::<R>(re), streams::<R>(im));
                for (group, roots) in groups.clone().enumerate() {
                    for part in 0..PARTS {
                        let at = PARTS * group + part;
                        let mut x = [(zero, zero); R];
                        for (r, x) in x.iter_mut().enumerate() {
                            *x = (load(&re[r][at]), load(&im[r][at]));
                        }
                        layers::<R, BACK>(&mut x, |entry| {
                            let from = 2 * PARTS * entry + part;
                            (load(&roots[from]), load(&roots[from + PARTS]))
                        });
                        for (r, x) in x.iter().enumerate() {
                            store(&mut re[r][at], x.0);
                            store(&mut im[r][at], x.1);
                        }
                    }
                }
            }
        }

        /// `R` equal parts of a block.
        #[inline(always)]
        fn streams<const R: usize>(block: &mut [f64]) -> [&mut [Numbers]; R] {
            let stride = block.len() / R;
            let mut parts = block.chunks_exact_mut(stride);
            std::array::from_fn(|_| parts.next().expect("a block has R parts").as_chunks_mut().0)
        }

        /// Bit reversal and the first three layers, or backwards the last three, bit reversal and `1/n`.
        #[target_feature(enable = $features)]
        fn head<const BACK: bool>(re: &mut [f64], im: &mut [f64], table: &FftTable) {
            let mut roots = [(splat(0.0), splat(0.0)); LANES - 1];
            for (entry, root) in roots.iter_mut().enumerate() {
                *root = (splat(table.head().re[entry + 1]), splat(table.head().im[entry + 1]));
            }
            let scale = splat(1.0 / table.slots() as f64);
            let (mut re, mut im) = (streams::<LANES>(re), streams::<LANES>(im));
            let tiles = table.slots() / TILE;
            let shift = usize::BITS - tiles.ilog2();
            for tile in 0..tiles {
                let other = tile.reverse_bits().checked_shr(shift).unwrap_or(0);
                if tile <= other {
                    let mut here = read_tile(&re, &im, tile);
                    let mut there = read_tile(&re, &im, other);
                    turn_tile::<BACK>(&mut here, &roots, scale);
                    turn_tile::<BACK>(&mut there, &roots, scale);
                    write_tile(&mut re, &mut im, other, &here);
                    write_tile(&mut re, &mut im, tile, &there);
                }
            }
        }

        /// The three layers within a tile, and its transposition.
        #[inline]
        #[target_feature(enable = $features)]
        fn turn_tile<const BACK: bool>((re, im): &mut (Rows, Rows), roots: &[Pair; LANES - 1], scale: Vector) {
            if BACK {
                transpose(re);
                transpose(im);
            }
            for part in 0..PARTS {
                let mut x = [(scale, scale); LANES];
                for (r, x) in x.iter_mut().enumerate() {
                    *x = (load(&re[r][part]), load(&im[r][part]));
                }
                layers::<LANES, BACK>(&mut x, |entry| roots[entry]);
                for (r, x) in x.iter().enumerate() {
                    let (x_re, x_im) = if BACK { (mul(x.0, scale), mul(x.1, scale)) } else { *x };
                    store(&mut re[r][part], x_re);
                    store(&mut im[r][part], x_im);
                }
            }
            if !BACK {
                transpose(re);
                transpose(im);
            }
        }

        /// The rows of a tile, in bit-reversed order.
        #[inline]
        #[target_feature(enable = $features)]
        fn read_tile(re: &[&mut [Numbers]; LANES], im: &[&mut [Numbers]; LANES], tile: usize) -> (Rows, Rows) {
            let mut rows = ([[[0.0; WIDTH]; PARTS]; LANES], [[[0.0; WIDTH]; PARTS]; LANES]);
            for r in 0..LANES {
                for part in 0..PARTS {
                    store(&mut rows.0[r][part], load(&re[REVERSED[r]][PARTS * tile + part]));
                    store(&mut rows.1[r][part], load(&im[REVERSED[r]][PARTS * tile + part]));
                }
            }
            rows
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn write_tile(
            re: &mut [&mut [Numbers]; LANES],
            im: &mut [&mut [Numbers]; LANES],
            tile: usize,
            rows: &(Rows, Rows),
        ) {
            for r in 0..LANES {
                for part in 0..PARTS {
                    store(&mut re[REVERSED[r]][PARTS * tile + part], load(&rows.0[r][part]));
                    store(&mut im[REVERSED[r]][PARTS * tile + part], load(&rows.1[r][part]));
                }
            }
        }
    };
}

pub(in crate::kernels) use vector_fft;
