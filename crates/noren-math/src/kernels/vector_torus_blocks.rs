//! The last six layers of the negacyclic transform, in blocks, written once: see `vector_torus.rs`.

/// Expands to `stems`, `enter_blocks` and `leave_blocks`, over what `vector_torus!` has in scope and defines.
macro_rules! torus_blocks {
    ($features:literal) => {
        /// The part of a transform below one node of the layer that the first sweep ends with, or below several in a row.
        struct Stem<'a> {
            /// The first of them.
            node: usize,
            count: usize,
            cells: &'a Cells,
            blocks: &'a [BlockRoots],
        }

        impl Stem<'_> {
            /// Transforms two halves at a time: two blocks, or the parts of one. A block without a second one is both.
            #[inline(always)]
            fn halves(&self) -> impl Iterator<Item = ([&BlockCells; 2], [&BlockRoots; 2])> {
                let cells = self.cells.as_chunks::<BLOCK_CELLS>().0.chunks(AT_ONCE);
                let ends = |i: usize| [0, i - 1];
                cells.zip(self.blocks.chunks(AT_ONCE)).map(move |(cells, roots)| {
                    (ends(cells.len()).map(|i| &cells[i]), ends(roots.len()).map(|i| &roots[i]))
                })
            }
        }

        /// All of them, one after the other, each small enough for the nearest cache if that is possible.
        #[inline(always)]
        fn stems<'a>(cells: &'a Cells, fft: &'a TorusFft) -> impl Iterator<Item = Stem<'a>> {
            let nodes = 1 << fft.sweeps().0;
            let stems = if fft.points() <= NEAR_POINTS { 1 } else { nodes };
            let (blocks, count) = (fft.blocks().len() / stems, nodes / stems);
            let parts = cells.chunks_exact(cells.len() / stems).zip(fft.blocks().chunks_exact(blocks));
            let stem = move |(i, (cells, roots))| Stem { node: nodes + i * count, count, cells, blocks: roots };
            parts.enumerate().map(stem)
        }

        /// The last six layers of the forward transform.
        #[target_feature(enable = $features)]
        fn enter_blocks(stem: &Stem, ahead: &Ahead) {
            align_stack();
            for (cells, roots) in stem.halves() {
                prefetch_far(ahead.next());
                let (upper, lower) =
                    (|h: usize, e| block_root(roots[h], e), |h, e| lane_roots(roots[h], part_of(h), e));
                let mut a = read_half(cells[0], 0);
                layer_down(&mut a, 0, |e| upper(0, e));
                let mut b = read_half(cells[1], 1);
                layer_down(&mut b, 0, |e| upper(1, e));
                layer_down(&mut a, 1, |e| upper(0, e));
                layer_down(&mut b, 1, |e| upper(1, e));
                prefetch_far(ahead.next());
                layer_down(&mut a, 2, |e| upper(0, e));
                layer_down(&mut b, 2, |e| upper(1, e));
                transpose_halves(&mut a, &mut b);
                prefetch_far(ahead.next());
                layer_down(&mut a, 0, |e| lower(0, e));
                layer_down(&mut b, 0, |e| lower(1, e));
                prefetch_far(ahead.next());
                layer_down(&mut a, 1, |e| lower(0, e));
                layer_down(&mut b, 1, |e| lower(1, e));
                layer_down(&mut a, 2, |e| lower(0, e));
                write_half(cells[0], 0, &a);
                layer_down(&mut b, 2, |e| lower(1, e));
                write_half(cells[1], 1, &b);
            }
        }

        /// The first six layers of the inverse, or, unless all of them, the last three of these.
        #[target_feature(enable = $features)]
        fn leave_blocks<const ALL: bool>(stem: &Stem, ahead: &Ahead) {
            if PARTS > 1 {
                return leave_halves::<ALL>(stem, ahead);
            }
            // Compilers hold more of two blocks at a time than there are registers: slower than two sweeps over one at a time.
            if ALL {
                let root = |v: usize, e: usize| lane_roots(&stem.blocks[v], 0, e);
                let get = |r: usize, v: usize| read(stem.cells, ROWS * v + r);
                columns_up::<ROWS>(stem.blocks.len(), root, get, |r, v, x| write(stem.cells, ROWS * v + r, x));
            }
            let blocks = stem.cells.as_chunks::<BLOCK_CELLS>().0.iter().zip(stem.blocks);
            for (cells, roots) in blocks {
                prefetch_far(ahead.next());
                let mut x = read_half(cells, 0);
                transpose_block(&mut x);
                layers_up(&mut x, |e| block_root(roots, e));
                write_half(cells, 0, &x);
            }
        }

        /// The same by halves.
        #[target_feature(enable = $features)]
        fn leave_halves<const ALL: bool>(stem: &Stem, ahead: &Ahead) {
            align_stack();
            for (cells, roots) in stem.halves() {
                prefetch_far(ahead.next());
                let (upper, lower) =
                    (|h: usize, e| block_root(roots[h], e), |h, e| lane_roots(roots[h], part_of(h), e));
                let mut a = read_half(cells[0], 0);
                let mut b = read_half(cells[1], 1);
                if ALL {
                    layer_up(&mut a, 2, |e| lower(0, e));
                    layer_up(&mut b, 2, |e| lower(1, e));
                    layer_up(&mut a, 1, |e| lower(0, e));
                    layer_up(&mut b, 1, |e| lower(1, e));
                    layer_up(&mut a, 0, |e| lower(0, e));
                    layer_up(&mut b, 0, |e| lower(1, e));
                }
                transpose_halves(&mut a, &mut b);
                layer_up(&mut a, 2, |e| upper(0, e));
                layer_up(&mut b, 2, |e| upper(1, e));
                layer_up(&mut a, 1, |e| upper(0, e));
                layer_up(&mut b, 1, |e| upper(1, e));
                layer_up(&mut a, 0, |e| upper(0, e));
                write_half(cells[0], 0, &a);
                layer_up(&mut b, 0, |e| upper(1, e));
                write_half(cells[1], 1, &b);
            }
        }

        /// Spills of the compiler cross cache lines unless something there has to lie on one.
        #[inline]
        #[target_feature(enable = $features)]
        fn align_stack() {
            std::hint::black_box(&mut splat(0.0));
        }

        /// Which part of the groups of a block a half has.
        #[inline(always)]
        const fn part_of(half: usize) -> usize {
            split::<PARTS>(half).1
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn read_half(cells: &BlockCells, half: usize) -> Half {
            let mut x = [(splat(0.0), splat(0.0)); ROWS];
            for (g, x) in x.iter_mut().enumerate() {
                *x = read(cells, PARTS * g + part_of(half));
            }
            x
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn write_half(cells: &BlockCells, half: usize, x: &Half) {
            for (g, &x) in x.iter().enumerate() {
                write(cells, PARTS * g + part_of(half), x);
            }
        }

        /// For vectors as long as the rows of a block.
        #[inline]
        #[target_feature(enable = $features)]
        fn transpose_block(x: &mut Half) {
            let mut parts = [[splat(0.0); ROWS]; 2];
            for g in 0..ROWS {
                (parts[0][g], parts[1][g]) = x[g];
            }
            transpose(&mut parts);
            for g in 0..ROWS {
                x[g] = (parts[0][g], parts[1][g]);
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn transpose_halves(a: &mut Half, b: &mut Half) {
            let zero = splat(0.0);
            let (mut re, mut im) = ([[zero; ROWS]; 2], [[zero; ROWS]; 2]);
            for g in 0..ROWS {
                (re[0][g], im[0][g]) = a[g];
                (re[1][g], im[1][g]) = b[g];
            }
            transpose(&mut re);
            transpose(&mut im);
            for g in 0..ROWS {
                (a[g], b[g]) = ((re[0][g], im[0][g]), (re[1][g], im[1][g]));
            }
        }
    };
}

pub(super) use torus_blocks;
