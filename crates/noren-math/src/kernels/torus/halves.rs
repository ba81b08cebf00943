//! The last six layers of the negacyclic transform, in blocks, for vectors half as long as the rows of a block: see
//! `vector.rs`.

/// Expands to `enter_blocks` and `leave_blocks`, over what `vector_torus!` has in scope and defines.
///
/// Layers are merged by twos at most, so that all points fit the registers: the first of three alone, then two of them in each
/// quarter of the block, which is one part of four rows. A transposition exchanges two quarters, one of which is held meanwhile.
macro_rules! torus_halves {
    ($features:literal) => {
        /// The last six layers of the forward transform.
        #[target_feature(enable = $features)]
        fn enter_blocks(stem: &Stem, ahead: &Ahead) {
            align_stack();
            for (cells, roots) in stem.cells.as_chunks::<ROWS>().0.iter().zip(stem.blocks) {
                let upper = |e: usize| block_root(roots, e);
                prefetch_far(ahead.next());
                far_down(cells, 0, upper(0));
                far_down(cells, 1, upper(0));
                stay_in_memory();
                prefetch_far(ahead.next());
                write_quarter(cells, 0, 0, transpose_pairs(quarter_down(cells, 0, 0, upper)));
                let held = transpose_pairs(quarter_down(cells, 1, 0, upper));
                write_quarter(cells, 1, 0, transpose_pairs(quarter_down(cells, 0, 1, upper)));
                write_quarter(cells, 0, 1, held);
                write_quarter(cells, 1, 1, transpose_pairs(quarter_down(cells, 1, 1, upper)));
                stay_in_memory();
                let (left, right) = (|e: usize| lane_roots(roots, 0, e), |e: usize| lane_roots(roots, 1, e));
                prefetch_far(ahead.next());
                far_down(cells, 0, left(0));
                far_down(cells, 1, right(0));
                stay_in_memory();
                prefetch_far(ahead.next());
                write_quarter(cells, 0, 0, quarter_down(cells, 0, 0, left));
                stay_in_memory();
                write_quarter(cells, 1, 0, quarter_down(cells, 1, 0, left));
                stay_in_memory();
                write_quarter(cells, 0, 1, quarter_down(cells, 0, 1, right));
                stay_in_memory();
                write_quarter(cells, 1, 1, quarter_down(cells, 1, 1, right));
                stay_in_memory();
            }
        }

        /// The first six layers of the inverse, or, unless all of them, the last three of these.
        #[target_feature(enable = $features)]
        fn leave_blocks<const ALL: bool>(stem: &Stem, ahead: &Ahead) {
            align_stack();
            for (cells, roots) in stem.cells.as_chunks::<ROWS>().0.iter().zip(stem.blocks) {
                if ALL {
                    let (left, right) = (|e: usize| lane_roots(roots, 0, e), |e: usize| lane_roots(roots, 1, e));
                    write_quarter(cells, 0, 0, half_up(read_quarter(cells, 0, 0), 0, left));
                    stay_in_memory();
                    far_up(cells, 0, half_up(read_quarter(cells, 1, 0), 1, left), left(0));
                    stay_in_memory();
                    write_quarter(cells, 0, 1, half_up(read_quarter(cells, 0, 1), 0, right));
                    stay_in_memory();
                    far_up(cells, 1, half_up(read_quarter(cells, 1, 1), 1, right), right(0));
                    stay_in_memory();
                }
                let upper = |e: usize| block_root(roots, e);
                prefetch_far(ahead.next());
                let held = half_up(transpose_pairs(read_quarter(cells, 1, 0)), 0, upper);
                write_quarter(cells, 0, 0, half_up(transpose_pairs(read_quarter(cells, 0, 0)), 0, upper));
                stay_in_memory();
                far_up(cells, 0, half_up(transpose_pairs(read_quarter(cells, 0, 1)), 1, upper), upper(0));
                write_quarter(cells, 0, 1, held);
                stay_in_memory();
                prefetch_far(ahead.next());
                far_up(cells, 1, half_up(transpose_pairs(read_quarter(cells, 1, 1)), 1, upper), upper(0));
                stay_in_memory();
            }
        }

        /// The first of three layers, in one part of the rows.
        #[inline]
        #[target_feature(enable = $features)]
        fn far_down(cells: &BlockCells, part: usize, w: Pair) {
            for g in 0..WIDTH {
                let (x, y) = join(read(&cells[g], part), read(&cells[WIDTH + g], part), w, 0);
                write(&cells[g], part, x);
                write(&cells[WIDTH + g], part, y);
            }
        }

        /// The inverse of [`far_down`], twice as large, from a lower half in memory.
        #[inline]
        #[target_feature(enable = $features)]
        fn far_up(cells: &BlockCells, part: usize, upper: [Pair; WIDTH], w: Pair) {
            for (g, upper) in upper.into_iter().enumerate() {
                let (x, y) = unjoin(read(&cells[g], part), upper, w, 0);
                write(&cells[g], part, x);
                write(&cells[WIDTH + g], part, y);
            }
        }

        /// The second and third of three layers, in a quarter.
        #[inline]
        #[target_feature(enable = $features)]
        fn quarter_down(cells: &BlockCells, half: usize, part: usize, root: impl Fn(usize) -> Pair) -> [Pair; WIDTH] {
            let mut x = read_quarter(cells, half, part);
            let w = root(1);
            (x[0], x[2]) = join(x[0], x[2], w, half);
            (x[1], x[3]) = join(x[1], x[3], w, half);
            let w = root(2 + half);
            (x[0], x[1]) = join(x[0], x[1], w, 0);
            (x[2], x[3]) = join(x[2], x[3], w, 1);
            x
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn read_quarter(cells: &BlockCells, half: usize, part: usize) -> [Pair; WIDTH] {
            [0, 1, 2, 3].map(|i| read(&cells[WIDTH * half + i], part))
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn write_quarter(cells: &BlockCells, half: usize, part: usize, x: [Pair; WIDTH]) {
            for (i, x) in x.into_iter().enumerate() {
                write(&cells[WIDTH * half + i], part, x);
            }
        }

        /// Keeps the compiler from holding in registers what was written to memory for a later read.
        #[inline(always)]
        fn stay_in_memory() {
            std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
        }
    };
}

pub(in crate::kernels) use torus_halves;
