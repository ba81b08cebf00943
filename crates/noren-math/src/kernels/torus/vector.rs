//! The negacyclic transform of torus words over vectors, written once: each instruction set expands it over its own lanes.
//!
//! A sweep loads `R` vectors as far apart as its layers join them, does up to three layers in registers, two where vectors of
//! four numbers leave no room for more, and stores them: the first sweep reads words and folds them, the last one of the
//! inverse rounds to words. What lies below a node of that sweep is done before the next node's, in the nearest cache. The
//! last six layers work on blocks of 64 points: three layers among eight vectors, a transposition, and three layers within
//! what were the vectors. Work that waits for other work is what costs time: so the last layer of one column of a sweep takes
//! turns with the first layer of the next, and blocks are done by twos, layer by layer, or a layer or two at a time.

use std::cell::Cell;

use crate::machine::aligned::LINE;

/// Numbers of a cache line.
const LINE_NUMBERS: usize = LINE / size_of::<f64>();

/// Vectors of a sweep from one call for what is needed soon to the next.
pub(in crate::kernels) const CALL_VECTORS: usize = 8;

/// Numbers that a walk calls into a cache on the way, some lines at a time: there is room for few that are on their way, and what
/// has no room is not called.
pub(in crate::kernels) struct Ahead<'a> {
    numbers: Cell<&'a [f64]>,
    part: usize,
}

impl<'a> Ahead<'a> {
    /// Those that a walk with `calls` calls asks for.
    pub(in crate::kernels) fn new(numbers: &'a [f64], calls: usize) -> Self {
        Self { numbers: Cell::new(numbers), part: numbers.len().div_ceil(calls).next_multiple_of(LINE_NUMBERS) }
    }

    /// Those that are called for next.
    #[inline(always)]
    pub(in crate::kernels) fn next(&self) -> &'a [f64] {
        let numbers = self.numbers.get();
        let (part, rest) = numbers.split_at(self.part.min(numbers.len()));
        self.numbers.set(rest);
        part
    }
}

/// Expands to the functions of `TorusKernels`. In scope have to be `Vector`, `WIDTH`, `load`, `get` and `set` of cells, `splat`,
/// `add`, `sub`, `mul`, the fused `mul_add` (`ab + c`), `mul_sub` (`ab - c`), `neg_mul_add` (`c - ab`) and `neg_mul_sub`
/// (`-ab - c`), `transpose`, `prefetch_far`, `place` of a digit, and for words of 32 and 64 bits `signed_*`, `digit_*` and
/// `add_nearest_*`, all of which need the CPU features that the string names; `torus_layers!` and `torus_blocks!` or
/// `torus_halves!` expand to the rest.
macro_rules! vector_torus {
    ($features:literal) => {
        use std::cell::Cell;

        use crate::kernels::torus::operands::{PAIR_TERMS, QUAD, TorusKernels, TorusProducts, Turns};
        use crate::kernels::torus::portable;
        use crate::kernels::torus::vector::{Ahead, CALL_VECTORS};
        use crate::roots::torus::{BLOCK, BlockRoots, GROUP, GROUP_WORDS, TorusFft, merged};
        use crate::torus::digit::Digit;

        /// Vectors in eight numbers.
        const PARTS: usize = GROUP / WIDTH;
        /// Groups in a block.
        const ROWS: usize = BLOCK / GROUP;
        /// Points that fit the nearest cache well.
        const NEAR_POINTS: usize = 1 << 11;

        /// The numbers of one vector in memory.
        type Numbers = [f64; WIDTH];
        /// The points of a group in memory: real and imaginary parts.
        type Group = [[Numbers; PARTS]; 2];
        /// The groups of a spectrum, which a sweep reads ahead of what it writes.
        type Cells = [Cell<Group>];
        /// Those of a block.
        type BlockCells = [Cell<Group>; ROWS];
        /// A group of the columns of a sweep, and a part of it.
        type Column = (usize, usize);
        /// As many words as a group has points.
        type WordGroup<T> = [[T; WIDTH]; PARTS];
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
                            return portable::forward(spectrum, a, scale, fft);
                        }
                        let scale = splat(scale);
                        transform(spectrum, fft, a, |words| $signed(words, scale), &[]);
                    }

                    #[target_feature(enable = $features)]
                    fn forward_digits(
                        spectrum: &mut [f64],
                        shifted: &[$word],
                        digit: Digit,
                        fft: &TorusFft,
                        ahead: &[f64],
                    ) {
                        if fft.points() < BLOCK {
                            return portable::forward_digits(spectrum, shifted, digit, fft, ahead);
                        }
                        let digit = place(digit);
                        transform(spectrum, fft, shifted, |words| $digit(words, &digit), ahead);
                    }

                    #[target_feature(enable = $features)]
                    fn inverse_add(out: &mut [$word], spectrum: &mut [f64], fft: &TorusFft) {
                        if fft.points() < BLOCK {
                            return portable::inverse_add(out, spectrum, fft);
                        }
                        sweeps_up::<true, _>(spectrum, fft, &[], out, |words, x| $add_nearest(words, x));
                    }

                    #[target_feature(enable = $features)]
                    fn products_add(out: &mut [$word], products: &TorusProducts, scratch: &mut [f64], fft: &TorusFft) {
                        if fft.points() < BLOCK {
                            return portable::products_add(out, products, scratch, fft);
                        }
                        // About half of the time goes by in each of the two.
                        let (first, rest) = products.ahead.split_at(products.ahead.len() / 2);
                        match products.turns {
                            None => sums::<1>(scratch, products, fft, first),
                            Some(_) => sums::<PAIR_TERMS>(scratch, products, fft, first),
                        }
                        let rows = out.chunks_exact_mut(fft.degree()).zip(scratch.chunks_exact_mut(fft.degree()));
                        let rest = Ahead::new(rest, products.columns);
                        for (out, spectrum) in rows {
                            sweeps_up::<false, _>(spectrum, fft, rest.next(), out, |words, x| $add_nearest(words, x));
                        }
                    }

                    #[target_feature(enable = $features)]
                    fn rotate_difference(out: &mut [$word], a: &[$word], rotation: usize, offset: $word) {
                        portable::rotate_difference(out, a, rotation, offset);
                    }
                }
            };
        }

        word!(u32, word32, signed_32, digit_32, add_nearest_32);
        word!(u64, word64, signed_64, digit_64, add_nearest_64);

        /// The forward transform of words of which `number` makes numbers.
        #[inline]
        #[target_feature(enable = $features)]
        fn transform<T>(
            spectrum: &mut [f64],
            fft: &TorusFft,
            words: &[T],
            number: impl Fn(&[T; WIDTH]) -> Vector,
            ahead: &[f64],
        ) {
            align_stack();
            let cells = cells(spectrum);
            let (first, rest) = fft.sweeps();
            let roots = node_roots(fft, 1);
            let ahead = Ahead::new(ahead, calls(fft, 2));
            match first {
                0 => first_sweep::<1, T>(cells, &roots, words, number, &ahead),
                1 => first_sweep::<2, T>(cells, &roots, words, number, &ahead),
                2 => first_sweep::<4, T>(cells, &roots, words, number, &ahead),
                _ if PARTS > 1 => {
                    first_sweep::<2, T>(cells, &roots, words, number, &ahead);
                    sweep_down::<4>(cells, fft, (2, 2), &ahead);
                }
                _ => first_sweep::<8, T>(cells, &roots, words, number, &ahead),
            }
            for stem in stems(cells, fft) {
                let (mut node, mut count) = (stem.node, stem.count);
                for &layers in rest {
                    match layers {
                        1 => sweep_down::<2>(stem.cells, fft, (node, count), &ahead),
                        2 => sweep_down::<4>(stem.cells, fft, (node, count), &ahead),
                        _ if PARTS > 1 => {
                            sweep_down::<2>(stem.cells, fft, (node, count), &ahead);
                            sweep_down::<4>(stem.cells, fft, (2 * node, 2 * count), &ahead);
                        }
                        _ => sweep_down::<8>(stem.cells, fft, (node, count), &ahead),
                    }
                    (node, count) = (node << layers, count << layers);
                }
                enter_blocks(&stem, &ahead);
            }
        }

        /// The inverse from the blocks on, or, unless all of it, from the fourth layer; `add_nearest` adds its numbers to words.
        #[inline]
        #[target_feature(enable = $features)]
        fn sweeps_up<const ALL: bool, T>(
            spectrum: &mut [f64],
            fft: &TorusFft,
            ahead: &[f64],
            words: &mut [T],
            add_nearest: impl Fn(&Cell<[T; WIDTH]>, Vector),
        ) {
            if PARTS > 1 {
                align_stack();
            }
            let cells = cells(spectrum);
            let (first, rest) = fft.sweeps();
            let ahead = Ahead::new(ahead, calls(fft, 1));
            for stem in stems(cells, fft) {
                leave_blocks::<ALL>(&stem, &ahead);
                let below = rest.iter().sum::<usize>();
                let (mut node, mut count) = (stem.node << below, stem.count << below);
                for &layers in rest.iter().rev() {
                    (node, count) = (node >> layers, count >> layers);
                    match layers {
                        1 => sweep_up::<2>(stem.cells, fft, (node, count), &ahead),
                        2 => sweep_up::<4>(stem.cells, fft, (node, count), &ahead),
                        _ if PARTS > 1 => {
                            sweep_up::<4>(stem.cells, fft, (2 * node, 2 * count), &ahead);
                            sweep_up::<2>(stem.cells, fft, (node, count), &ahead);
                        }
                        _ => sweep_up::<8>(stem.cells, fft, (node, count), &ahead),
                    }
                }
            }
            let roots = node_roots(fft, 1);
            match first {
                0 => last_sweep::<1, T>(cells, &roots, words, add_nearest, &ahead),
                1 => last_sweep::<2, T>(cells, &roots, words, add_nearest, &ahead),
                2 => last_sweep::<4, T>(cells, &roots, words, add_nearest, &ahead),
                _ if PARTS > 1 => {
                    sweep_up::<4>(cells, fft, (2, 2), &ahead);
                    last_sweep::<2, T>(cells, &roots, words, add_nearest, &ahead);
                }
                _ => last_sweep::<8, T>(cells, &roots, words, add_nearest, &ahead),
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn first_sweep<const R: usize, T>(
            cells: &Cells,
            roots: &[Pair; 4],
            words: &[T],
            number: impl Fn(&[T; WIDTH]) -> Vector,
            ahead: &Ahead,
        ) {
            let words: &[WordGroup<T>] = words.as_chunks().0.as_chunks().0;
            let (re, im) = words.split_at(words.len() / 2);
            let (re, im, rows) = (in_rows::<R, _>(re), in_rows::<R, _>(im), in_rows::<R, _>(cells));
            let get = |r: usize, v: Column| {
                call_at::<R>(ahead, r, v);
                (number(&re[r][v.0][v.1]), number(&im[r][v.0][v.1]))
            };
            let put = |r: usize, v: Column, x: Pair| write(&rows[r][v.0], v.1, x);
            columns_down::<R>(rows[0].len(), |_, e| roots[e], get, put);
        }

        /// How often a transform asks for what is needed soon: once for some vectors of each sweep, `of_blocks` times in the blocks.
        #[inline(always)]
        fn calls(fft: &TorusFft, of_blocks: usize) -> usize {
            (fft.sweeps().1.len() + 1 + of_blocks) * fft.points() / WIDTH / CALL_VECTORS
        }

        /// Asks for what is needed soon at the first vector of some columns of `R`.
        #[inline]
        #[target_feature(enable = $features)]
        fn call_at<const R: usize>(ahead: &Ahead, r: usize, v: Column) {
            if r == 0 && ((PARTS * v.0 + v.1) * R).is_multiple_of(CALL_VECTORS) {
                prefetch_far(ahead.next());
            }
        }

        #[target_feature(enable = $features)]
        fn sweep_down<const R: usize>(cells: &Cells, fft: &TorusFft, (first, count): (usize, usize), ahead: &Ahead) {
            align_stack();
            for (node, cells) in (first..).zip(cells.chunks_exact(cells.len() / count)) {
                let (roots, rows) = (node_roots(fft, node), in_rows::<R, _>(cells));
                let get = |r: usize, v: Column| {
                    call_at::<R>(ahead, r, v);
                    read(&rows[r][v.0], v.1)
                };
                let put = |r: usize, v: Column, x: Pair| write(&rows[r][v.0], v.1, x);
                columns_down::<R>(rows[0].len(), |_, e| roots[e], get, put);
            }
        }

        #[target_feature(enable = $features)]
        fn sweep_up<const R: usize>(cells: &Cells, fft: &TorusFft, (first, count): (usize, usize), ahead: &Ahead) {
            align_stack();
            for (node, cells) in (first..).zip(cells.chunks_exact(cells.len() / count)) {
                let (roots, rows) = (node_roots(fft, node), in_rows::<R, _>(cells));
                let get = |r: usize, v: Column| {
                    call_at::<R>(ahead, r, v);
                    read(&rows[r][v.0], v.1)
                };
                let put = |r: usize, v: Column, x: Pair| write(&rows[r][v.0], v.1, x);
                columns_up::<R>(rows[0].len(), |_, e| roots[e], get, put);
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn last_sweep<const R: usize, T>(
            cells: &Cells,
            roots: &[Pair; 4],
            words: &mut [T],
            add_nearest: impl Fn(&Cell<[T; WIDTH]>, Vector),
            ahead: &Ahead,
        ) {
            let words: &mut [WordGroup<T>] = words.as_chunks_mut().0.as_chunks_mut().0;
            let words = Cell::from_mut(words).as_slice_of_cells();
            let (re, im) = words.split_at(words.len() / 2);
            let (re, im, rows) = (in_rows::<R, _>(re), in_rows::<R, _>(im), in_rows::<R, _>(cells));
            let get = |r: usize, v: Column| {
                call_at::<R>(ahead, r, v);
                read(&rows[r][v.0], v.1)
            };
            let put = |r: usize, v: Column, x: Pair| {
                add_nearest(&re[r][v.0].as_array_of_cells()[v.1], x.0);
                add_nearest(&im[r][v.0].as_array_of_cells()[v.1], x.1);
            };
            columns_up::<R>(rows[0].len(), |_, e| roots[e], get, put);
        }

        /// `R` parts of one length, so that one check of an index is enough.
        #[inline(always)]
        fn in_rows<const R: usize, T>(all: &[T]) -> [&[T]; R] {
            let (len, mut rest) = (all.len() / R, all);
            let mut rows = [rest; R];
            for row in &mut rows {
                (*row, rest) = rest.split_at(len);
            }
            rows
        }

        /// The part of a transform below one node of the layer that the first sweep ends with, or below several in a row.
        struct Stem<'a> {
            /// The first of them.
            node: usize,
            count: usize,
            cells: &'a Cells,
            blocks: &'a [BlockRoots],
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

        /// All sums of products, each taken through the first six layers of the inverse while it is in registers. `TERMS` matrices
        /// make one.
        #[target_feature(enable = $features)]
        fn sums<const TERMS: usize>(scratch: &mut [f64], products: &TorusProducts, fft: &TorusFft, ahead: &[f64]) {
            align_stack();
            let run = ROWS * products.rows * TERMS * GROUP_WORDS;
            let keys = products.key.chunks_exact(run);
            let ahead = Ahead::new(ahead, keys.len() * PARTS * (ROWS / QUAD) * products.rows);
            let digits = products.digits.as_chunks::<GROUP_WORDS>().0;
            let stride = products.stride / GROUP_WORDS;
            let cells = cells(scratch);
            let in_column = fft.points() / GROUP;
            let mut factors = [[[(splat(0.0), splat(0.0)); ROWS]; PARTS]; 2];
            for (i, key) in keys.enumerate() {
                let (block, column) = (i / products.columns, i % products.columns);
                if let (0, Some(turns)) = (column, &products.turns) {
                    set_factors(&mut factors, turns, block);
                }
                let (quads, _) = as_groups(key).as_chunks::<QUAD>();
                let cells = &cells[column * in_column + ROWS * block..][..ROWS];
                let roots = &fft.blocks()[block];
                for part in 0..PARTS {
                    let quad = |q: usize| {
                        let rows = &quads[q * products.rows * TERMS..][..products.rows * TERMS];
                        let mut sum = [(splat(0.0), splat(0.0)); QUAD];
                        for (row, key) in rows.as_chunks::<TERMS>().0.iter().enumerate() {
                            prefetch_far(ahead.next());
                            let at = row * stride + ROWS * block + QUAD * q;
                            let digits: &[[f64; GROUP_WORDS]; QUAD] =
                                digits[at..at + QUAD].try_into().expect("QUAD groups");
                            for g in 0..QUAD {
                                let mut k = group_part(&key[0][g], part);
                                if TERMS == PAIR_TERMS {
                                    let [u, v] = [0, 1].map(|bit| factors[bit][part][QUAD * q + g]);
                                    k = plus_product(k, v, group_part(&key[2][g], part));
                                    k = plus_product(product(v, group_part(&key[1][g], part)), u, k);
                                }
                                sum[g] = plus_product(sum[g], group_part(as_group(&digits[g]), part), k);
                            }
                        }
                        sum
                    };
                    let root = |e: usize| lane_roots(roots, part, e);
                    let (lower, upper) = (half_up(quad(0), 0, root), half_up(quad(1), 1, root));
                    for g in 0..QUAD {
                        let (x, y) = unjoin(lower[g], upper[g], root(0), 0);
                        write(&cells[g], part, x);
                        write(&cells[QUAD + g], part, y);
                    }
                }
            }
        }

        /// `X^a - 1` and `X^b - 1` at the points of a block.
        #[inline]
        #[target_feature(enable = $features)]
        fn set_factors(factors: &mut [[[Pair; ROWS]; PARTS]; 2], turns: &Turns, block: usize) {
            for (factors, e) in factors.iter_mut().zip(turns.exponents) {
                let (re, im) = turns.monomials.value(BLOCK * block, e);
                let (first, within) = ((splat(re), splat(im)), turns.monomials.within(e));
                for (part, factors) in factors.iter_mut().enumerate() {
                    for (factor, row) in factors.iter_mut().zip(within) {
                        let row = group_part(as_group(row), part);
                        *factor = plus_product((splat(-1.0), splat(0.0)), first, row);
                    }
                }
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn product(a: Pair, b: Pair) -> Pair {
            (neg_mul_add(a.1, b.1, mul(a.0, b.0)), mul_add(a.1, b.0, mul(a.0, b.1)))
        }

        /// `sum + a b`.
        #[inline]
        #[target_feature(enable = $features)]
        fn plus_product(sum: Pair, a: Pair, b: Pair) -> Pair {
            let (re, im) = (mul_add(a.0, b.0, sum.0), mul_add(a.0, b.1, sum.1));
            (neg_mul_add(a.1, b.1, re), mul_add(a.1, b.0, im))
        }

        /// Spills of the compiler cross cache lines unless something there has to lie on one.
        #[inline]
        #[target_feature(enable = $features)]
        fn align_stack() {
            std::hint::black_box(&mut splat(0.0));
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

        /// Those of the layers among the vectors of a block.
        #[inline]
        #[target_feature(enable = $features)]
        fn block_root(roots: &BlockRoots, e: usize) -> Pair {
            (splat(roots[0][2 * e]), splat(roots[0][2 * e + 1]))
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn lane_roots(roots: &BlockRoots, part: usize, e: usize) -> Pair {
            let line = |line: usize| load(&roots[line].as_chunks().0[part]);
            (line(1 + 2 * e), line(2 + 2 * e))
        }

        /// The points of a part of a group.
        #[inline]
        #[target_feature(enable = $features)]
        fn read(group: &Cell<Group>, part: usize) -> Pair {
            let [re, im] = group.as_array_of_cells();
            (get(&re.as_array_of_cells()[part]), get(&im.as_array_of_cells()[part]))
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn write(group: &Cell<Group>, part: usize, x: Pair) {
            let [re, im] = group.as_array_of_cells();
            set(&re.as_array_of_cells()[part], x.0);
            set(&im.as_array_of_cells()[part], x.1);
        }

        /// The groups of a spectrum.
        #[inline(always)]
        fn cells(row: &mut [f64]) -> &Cells {
            Cell::from_mut(row.as_chunks_mut().0.as_chunks_mut().0.as_chunks_mut().0).as_slice_of_cells()
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn group_part(group: &Group, part: usize) -> Pair {
            (load(&group[0][part]), load(&group[1][part]))
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

pub(in crate::kernels) use vector_torus;
