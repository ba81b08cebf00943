//! The last six layers of the negacyclic transform, in blocks, for vectors as long as the rows of a block: see
//! `vector.rs`.

/// Expands to `enter_blocks` and `leave_blocks`, over what `vector_torus!` has in scope and defines.
macro_rules! torus_blocks {
    ($features:literal) => {
        /// The last six layers of the forward transform, of two blocks at a time. A block without a second one is both.
        #[target_feature(enable = $features)]
        fn enter_blocks(stem: &Stem, ahead: &Ahead) {
            align_stack();
            for (cells, roots) in stem.cells.as_chunks::<ROWS>().0.chunks(2).zip(stem.blocks.chunks(2)) {
                let second = cells.len() - 1;
                prefetch_far(ahead.next());
                let upper = |block: usize, e: usize| block_root(&roots[block], e);
                let lower = |block: usize, e: usize| lane_roots(&roots[block], 0, e);
                let mut a = read_block(&cells[0]);
                layer_down(&mut a, 0, |e| upper(0, e));
                let mut b = read_block(&cells[second]);
                layer_down(&mut b, 0, |e| upper(second, e));
                layer_down(&mut a, 1, |e| upper(0, e));
                layer_down(&mut b, 1, |e| upper(second, e));
                prefetch_far(ahead.next());
                layer_down(&mut a, 2, |e| upper(0, e));
                layer_down(&mut b, 2, |e| upper(second, e));
                transpose_block(&mut a);
                transpose_block(&mut b);
                prefetch_far(ahead.next());
                layer_down(&mut a, 0, |e| lower(0, e));
                layer_down(&mut b, 0, |e| lower(second, e));
                prefetch_far(ahead.next());
                layer_down(&mut a, 1, |e| lower(0, e));
                layer_down(&mut b, 1, |e| lower(second, e));
                layer_down(&mut a, 2, |e| lower(0, e));
                write_block(&cells[0], &a);
                layer_down(&mut b, 2, |e| lower(second, e));
                write_block(&cells[second], &b);
            }
        }

        /// The first six layers of the inverse, or, unless all of them, the last three of these.
        #[target_feature(enable = $features)]
        fn leave_blocks<const ALL: bool>(stem: &Stem, ahead: &Ahead) {
            // Compilers hold more of two blocks at a time than there are registers: slower than two sweeps over one at a time.
            if ALL {
                let cells = &stem.cells.as_chunks::<ROWS>().0[..stem.blocks.len()];
                let root = |v: Column, e: usize| lane_roots(&stem.blocks[v.0], 0, e);
                let get = |r: usize, v: Column| read(&cells[v.0][r], 0);
                let put = |r: usize, v: Column, x: Pair| write(&cells[v.0][r], 0, x);
                columns_up::<ROWS>(stem.blocks.len(), root, get, put);
            }
            let blocks = stem.cells.as_chunks::<ROWS>().0.iter().zip(stem.blocks);
            for (cells, roots) in blocks {
                prefetch_far(ahead.next());
                let mut x = read_block(cells);
                transpose_block(&mut x);
                layers_up(&mut x, |e| block_root(roots, e));
                write_block(cells, &x);
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn read_block(cells: &BlockCells) -> [Pair; ROWS] {
            let mut x = [(splat(0.0), splat(0.0)); ROWS];
            for (g, x) in x.iter_mut().enumerate() {
                *x = read(&cells[g], 0);
            }
            x
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn write_block(cells: &BlockCells, x: &[Pair; ROWS]) {
            for (g, &x) in x.iter().enumerate() {
                write(&cells[g], 0, x);
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn transpose_block(x: &mut [Pair; ROWS]) {
            let mut parts = [[splat(0.0); ROWS]; 2];
            for g in 0..ROWS {
                (parts[0][g], parts[1][g]) = x[g];
            }
            transpose(&mut parts[0]);
            transpose(&mut parts[1]);
            for g in 0..ROWS {
                x[g] = (parts[0][g], parts[1][g]);
            }
        }
    };
}

pub(in crate::kernels) use torus_blocks;
