//! Inner products of digits with keys, moved and added block by block.

use std::ops::Range;

use noren_math::kernels::rows::places::{GROUP, Place};
use noren_math::kernels::{KeyRows, MAX_TERMS, MovedProducts};

use crate::automorphism::Automorphism;
use crate::decompose::Decomposer;
use crate::engine::Engine;
use crate::engine::rows::{LimbRow, Rows};
use crate::host::source::{DigitRow, Source};
use crate::key_layout::BLOCK;
use crate::poly::{Eval, Poly};
use crate::switch::Term;
use crate::window::Window;

/// Pairs of sums `sum_k psi_k(P m + sum_j d_j k_j0)` and `sum_k psi_k(sum_j d_j k_j1)` over terms with the keys `k_j` and the
/// automorphisms `psi_k`, all of the same digits `d_j` and of the same m.
pub(crate) struct Sums<'a> {
    /// The limbs of the sums.
    pub(crate) ring: Window,
    source: Source<'a>,
    /// The terms of each pair.
    pairs: Vec<&'a [Term<'a>]>,
    moved: Option<Moved<'a>>,
}

/// The summand `P m` that automorphisms permute together with the first sum.
#[derive(Clone, Copy)]
pub(crate) enum Moved<'a> {
    /// m, over the limbs of the digits or more, and who knows P.
    Divided(&'a Poly<Eval>, &'a Decomposer),
    /// `P m` itself, or no multiple of P, where sums were added to it; 0 at limbs that it lacks. It is added to the first sum
    /// as it is, too.
    Undivided(&'a Poly<Eval>),
}

/// A pair of sums at one limb, to be made.
pub(crate) struct LimbSums<'b> {
    sums: &'b Sums<'b>,
    terms: &'b [Term<'b>],
    pub(crate) limb: usize,
    digits: Vec<DigitRow<'b>>,
    /// The engine that shares out loops over the row.
    pub(crate) engine: &'b Engine,
}

/// How many blocks of memory a block of both sums needs.
const BLOCKS: usize = 4;

/// The rows of both results of each pair.
type PairRows<'a> = Vec<[Vec<LimbRow<'a>>; 2]>;

/// A function that writes rows of both results of a pair, by its number, with the loops of an engine.
type WriteRows<'a> = dyn Fn(&Engine, usize, [&mut [LimbRow]; 2]) + Send + Sync + 'a;

/// Writes rows of both results of a pair, or of the second alone, in coefficient form.
pub(crate) struct Begin<'a> {
    pub(crate) write: &'a WriteRows<'a>,
    pub(crate) first: bool,
}

impl<'a> Sums<'a> {
    pub(crate) fn new(ring: Window, source: Source<'a>, pairs: Vec<&'a [Term<'a>]>, moved: Option<Moved<'a>>) -> Self {
        Self { ring, source, pairs, moved }
    }

    pub(crate) fn is_secret(&self) -> bool {
        self.source.is_secret() || self.moved.is_some_and(|moved| moved.is_secret())
    }

    /// How many pairs of sums there are.
    pub(crate) fn pairs(&self) -> usize {
        self.pairs.len()
    }

    /// All pairs, written.
    pub(crate) fn write(&self) -> Vec<[Poly<Eval>; 2]> {
        let secret = self.is_secret();
        let mut sums: Vec<[Poly<Eval>; 2]> =
            self.pairs.iter().map(|_| [(); 2].map(|()| self.ring.unset(secret))).collect();
        self.for_each_limb(pair_rows(&mut sums), None, |limb, rows| limb.write(rows, |_, _, _| {}));
        sums
    }

    /// Runs `finish` on the rows of both results of each pair at each limb.
    ///
    /// If there is a `begin`, it writes the rows of some limbs in coefficient form, and they are brought to evaluation form
    /// one after another with those of the digits, which need the same roots.
    pub(crate) fn for_each_limb(
        &self,
        mut results: PairRows,
        begin: Option<Begin>,
        finish: impl Fn(LimbSums, [&mut [u64]; 2]) + Send + Sync,
    ) {
        let (engine, limbs) = (self.ring.engine(), results[0][0].len());
        let group = engine.group(limbs, self.source.places());
        let mut tasks: Vec<Vec<[&mut [LimbRow]; 2]>> = Vec::new();
        tasks.resize_with(limbs.div_ceil(group), || Vec::with_capacity(results.len()));
        for [first, second] in &mut results {
            let groups = first.chunks_mut(group).zip(second.chunks_mut(group));
            tasks.iter_mut().zip(groups).for_each(|(task, (first, second))| task.push([first, second]));
        }
        let terms: usize = self.pairs.iter().map(|terms| terms.len()).sum();
        let words = terms * self.source.digits() * limbs * self.ring.degree();
        let degree = self.ring.degree();
        engine.walk(
            words,
            tasks.into_iter(),
            || self.unset(self.source.scratch_rows(), degree),
            |engine, scratch, mut pairs| {
                self.source.begin(engine, pairs[0][0].iter().map(|&(limb, _)| limb), scratch);
                // The digits stay near through all pairs; the rows of a pair would not if those of all were begun before.
                for (i, [first, second]) in pairs.iter_mut().enumerate() {
                    begin.iter().for_each(|begin| (begin.write)(engine, i, [&mut **first, &mut **second]));
                    for (place, ((limb, first), (_, second))) in first.iter_mut().zip(second.iter_mut()).enumerate() {
                        let transform = self.ring.basis().transform(*limb);
                        let digits = (i == 0).then(|| self.source.begun(*limb, place, scratch));
                        let results = begin
                            .as_ref()
                            .map(|begin| begin.first.then_some(&mut **first).into_iter().chain([&mut **second]));
                        let rows = digits.into_iter().flatten().chain(results.into_iter().flatten());
                        engine
                            .rows(self.source.digits() * degree, rows, |row| transform.forward(engine.kernels(), row));
                        finish(self.at(engine, i, *limb, place, scratch), [first, second]);
                    }
                }
            },
        );
    }

    /// Pair `i` at a limb, the one at `place` of those that were begun together.
    fn at<'b>(&'b self, engine: &'b Engine, i: usize, limb: usize, place: usize, scratch: &'b Rows) -> LimbSums<'b> {
        let row = |j| self.source.row(j, limb, place, scratch);
        let digits = (0..self.source.digits()).map(row).collect();
        LimbSums { sums: self, terms: self.pairs[i], limb, digits, engine }
    }

    /// Rows of memory, as secret as the sums.
    fn unset(&self, rows: usize, degree: usize) -> Rows {
        let mut rows = self.ring.engine().unset_rows(rows, degree);
        rows.mark(self.is_secret());
        rows
    }
}

impl<'a> Moved<'a> {
    pub(crate) fn is_secret(&self) -> bool {
        let (Self::Divided(m, _) | Self::Undivided(m)) = self;
        m.is_secret()
    }

    /// The row at a limb, and by what it is multiplied; nothing where it is 0.
    fn limb(&self, limb: usize) -> Option<(&'a [u64], u64)> {
        match self {
            Self::Divided(m, by) => by.special_factor(limb).map(|special| (m.limb(limb), special.value)),
            Self::Undivided(_) => self.own_share(limb).map(|m| (m, 1)),
        }
    }

    /// The row at a limb that is added to the first sum as it is; nothing where it is 0.
    fn own_share(&self, limb: usize) -> Option<&'a [u64]> {
        match self {
            Self::Undivided(m) if m.window().contains(&limb) => Some(m.limb(limb)),
            _ => None,
        }
    }
}

impl LimbSums<'_> {
    /// Makes the sums in `out`, and runs `finish` on each block of both as soon as it is complete: with its place in the row,
    /// and with memory for one more block.
    pub(crate) fn write(
        self,
        out: [&mut [u64]; 2],
        finish: impl Fn(Range<usize>, [&mut [u64]; 2], &mut [u64]) + Send + Sync,
    ) {
        self.for_each_block(out, |j, [first, second], memory| {
            let [own, spare, ..] = memory.first_rows_mut::<BLOCKS>();
            let range = self.make(j, [&mut *first, &mut *second], own);
            finish(range, [first, second], spare);
        });
    }

    /// Makes the sums block by block, and runs `finish` on each block of both and the same block of the rows `out`: with its
    /// place in the row, and with memory for one more block.
    pub(crate) fn merge(
        self,
        out: [&mut [u64]; 2],
        finish: impl Fn(Range<usize>, [&mut [u64]; 2], [&mut [u64]; 2], &mut [u64]) + Send + Sync,
    ) {
        self.for_each_block(out, |j, out, memory| {
            let [own, spare, first, second] = memory.first_rows_mut();
            let range = self.make(j, [&mut *first, &mut *second], own);
            finish(range, [first, second], out, spare);
        });
    }

    fn for_each_block(&self, rows: [&mut [u64]; 2], work: impl Fn(usize, [&mut [u64]; 2], &mut Rows) + Send + Sync) {
        let width = self.width();
        let memory = || self.sums.unset(BLOCKS, width);
        let words = self.terms.len() * self.digits.len() * self.sums.ring.degree();
        let [first, second] = rows.map(|row| row.chunks_exact_mut(width));
        self.engine.run_with(words, first.zip(second).enumerate(), memory, |memory, (j, (first, second))| {
            work(j, [first, second], memory);
        });
    }

    /// Makes block `j` of both sums, and returns its place; `own` is memory for a block.
    fn make(&self, j: usize, mut sums: [&mut [u64]; 2], own: &mut [u64]) -> Range<usize> {
        let Self { sums: Sums { ring, moved, .. }, terms, limb, ref digits, .. } = *self;
        let (kernels, q, width) = (ring.engine().kernels(), ring.basis().modulus(limb), self.width());
        let own_share = moved.and_then(|moved| moved.own_share(limb));
        let moved = moved.and_then(|moved| moved.limb(limb));
        let words = j * width..(j + 1) * width;
        for (i, Term { key, automorphism }) in terms.iter().enumerate() {
            let source = automorphism.map_or(j, |psi| psi.source(j, width));
            let range = source * width..(source + 1) * width;
            // One digit at most has this limb as its own.
            if let Some(element) = digits.iter().find_map(DigitRow::own) {
                element.write(ring, limb, range.start, own);
            }
            let mut rows: [&[u64]; MAX_TERMS] = [&[]; MAX_TERMS];
            rows.iter_mut().zip(digits).for_each(|(row, digit)| *row = digit.words(range.clone(), own));
            let (rows, key) = (&rows[..digits.len()], key.block(limb, source));
            let plus = moved.map(|(m, factor)| (&m[range.clone()], factor));
            let add = |places: &[Place], sums, add| {
                let key = KeyRows { words: key, stride: width };
                let products = MovedProducts { rows, key, next: None, plus, places, first: words.start / GROUP };
                kernels.add_moved_products(sums, &products, add, q);
            };
            let sums = sums.each_mut().map(|sum| &mut **sum);
            match automorphism {
                _ if !ring.index().is_power_of_two() => self.add_rows(sums, rows, key, plus, *automorphism, i > 0),
                Some(psi) => add(psi.places(source, width), sums, i > 0),
                None if i == 0 && plus.is_none() => kernels.inner_product_pair(sums, rows, key, q),
                // Seldom: relinearisations have one term, and move nothing along.
                None => {
                    let groups = words.start / GROUP..words.end / GROUP;
                    add(&groups.map(Place::identity).collect::<Vec<_>>(), sums, i > 0);
                }
            }
        }
        if let Some(own) = own_share {
            kernels.add_assign(sums[0], &own[words.clone()], q);
        }
        words
    }

    /// Adds a term to whole rows of both sums, or writes it, where words go anywhere: the index is not a power of two.
    #[cold]
    fn add_rows(
        &self,
        sums: [&mut [u64]; 2],
        digits: &[&[u64]],
        key: &[u64],
        plus: Option<(&[u64], u64)>,
        automorphism: Option<&Automorphism>,
        add: bool,
    ) {
        let ring = &self.sums.ring;
        let (kernels, q) = (ring.engine().kernels(), ring.basis().modulus(self.limb));
        let mut unmoved = self.sums.unset(2, ring.degree());
        let [left, right] = unmoved.first_rows_mut();
        kernels.inner_product_pair([&mut *left, &mut *right], digits, key, q);
        if let Some((m, factor)) = plus {
            kernels.mul_scalar_add_assign(left, m, q.shoup(factor), q);
        }
        for (sum, part) in sums.into_iter().zip([&*left, &*right]) {
            match automorphism {
                Some(psi) if add => psi.add(kernels, q, part, 0, sum),
                Some(psi) => psi.map(kernels, part, 0, sum),
                None if add => kernels.add_assign(sum, part, q),
                None => sum.copy_from_slice(part),
            }
        }
    }

    /// How many words a block has.
    fn width(&self) -> usize {
        self.sums.ring.piece(BLOCK)
    }
}

/// The rows of both results of each pair.
pub(crate) fn pair_rows(pairs: &mut [[Poly<Eval>; 2]]) -> PairRows<'_> {
    pairs.iter_mut().map(|pair| pair.each_mut().map(|poly| poly.limbs_mut().collect())).collect()
}
