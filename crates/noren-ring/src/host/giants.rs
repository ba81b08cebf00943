//! Sums of moved inner products with digits of several elements, and their division: the second half of a matrix.

use noren_math::kernels::MovedProducts;
use noren_math::kernels::rows::places::GROUP;

use crate::automorphism::Automorphism;
use crate::decompose::Decomposer;
use crate::divide::DivideRound;
use crate::engine::Engine;
use crate::engine::rows::{LimbRow, Rows};
use crate::host::convert::GROUP as GROUP_OF_LIMBS;
use crate::host::decompose::Lift;
use crate::host::key::NEAR;
use crate::host::source::{DigitRow, Source};
use crate::key::KeyPairs;
use crate::poly::{Coeff, Eval, Poly};
use crate::window::Window;

/// `psi(m + sum_j d_j k_j0, sum_j d_j k_j1)` for the digits `d_j` of an element.
pub(crate) struct Rotation<'a> {
    pub(crate) element: Poly<Eval>,
    pub(crate) lift: Lift<'a>,
    pub(crate) key: &'a KeyPairs,
    pub(crate) automorphism: &'a Automorphism,
    /// m, modulo the special primes too.
    pub(crate) moved: Option<Poly<Eval>>,
}

/// The rows of both parts at a limb.
pub(crate) type PairRow<'a> = (usize, [&'a mut [u64]; 2]);

impl Rotation<'_> {
    fn source(&self) -> Source<'_> {
        Source::lifted(&self.lift, (&self.element).into())
    }
}

impl Decomposer {
    /// Divides elements, which are lifted already at the limbs that are dropped, by P: the quotients over the limbs of
    /// `ring_q`, and lifted.
    pub(crate) fn divide_and_lift(
        &self,
        ring_q: &Window,
        mut elements: Vec<Poly<Eval>>,
        divide: &DivideRound,
    ) -> Vec<(Poly<Eval>, Lift<'_>)> {
        let (engine, dropped) = (ring_q.engine(), divide.dropped());
        let secrets: Vec<bool> = elements.iter().map(Poly::is_secret).collect();
        let mut lifted: Vec<Poly<Coeff>> = secrets.iter().map(|&secret| ring_q.unset(secret)).collect();
        let parted =
            elements.iter_mut().map(|element| element.limbs_mut().partition(|(limb, _)| dropped.contains(limb)));
        let (special, mut rows): (Vec<Vec<LimbRow>>, Vec<Vec<LimbRow>>) = parted.unzip();
        let mut terms: Vec<Vec<&[u64]>> =
            special.iter().map(|rows| rows.iter().map(|(_, row)| &**row).collect()).collect();
        let quotients: Vec<Rows> =
            terms.iter().zip(&secrets).map(|(terms, &secret)| divide.quotient(terms, secret)).collect();
        terms.iter_mut().zip(&quotients).for_each(|(terms, quotient)| terms.extend(quotient.rows()));

        let group = engine.group(rows.len() * ring_q.limbs(), GROUP_OF_LIMBS);
        let mut outs: Vec<Vec<LimbRow>> = lifted.iter_mut().map(|poly| poly.limbs_mut().collect()).collect();
        let mut tasks: Vec<(usize, &mut [LimbRow], &mut [LimbRow])> = Vec::new();
        for (i, (outs, rows)) in outs.iter_mut().zip(&mut rows).enumerate() {
            let groups = outs.chunks_mut(group).zip(rows.chunks_mut(group));
            tasks.extend(groups.map(|(outs, rows)| (i, outs, rows)));
        }
        // The elements of one group of limbs follow each other.
        tasks.sort_by_key(|(i, outs, _)| (outs[0].0, *i));
        let words = secrets.len() * ring_q.limbs() * ring_q.degree();
        let divide_limbs = |engine: &Engine, (): &mut (), (i, outs, rows): (usize, &mut [LimbRow], &mut [LimbRow])| {
            divide.convert(engine, &terms[i], outs);
            let words = outs.len() * ring_q.degree();
            engine.rows(words, outs.iter_mut().zip(rows), |((limb, out), (_, row))| {
                finish(divide, *limb, row, out);
                row.copy_from_slice(out);
                self.lift_row(ring_q, *limb, out);
            });
        };
        engine.walk(words, tasks.into_iter(), || (), divide_limbs);
        let special = self.gadget().special();
        let quotients = elements.into_iter().map(|mut element| {
            element.as_limbs_mut().keep(&(special..special + ring_q.limbs()));
            element
        });
        quotients.zip(lifted).map(|(element, lifted)| (element, self.lifted(ring_q, lifted))).collect()
    }

    /// Adds the rotations to a pair over `ring`, and divides it.
    pub(crate) fn divide_rotations(
        &self,
        ring: &Window,
        mut sum: [Poly<Eval>; 2],
        rotations: &[Rotation],
        divide: &DivideRound,
    ) -> [Poly<Eval>; 2] {
        let (engine, dropped) = (ring.engine(), divide.dropped());
        let secret = sum.iter().any(Poly::is_secret) || rotations.iter().any(Rotation::is_secret);
        sum.iter_mut().for_each(|part| part.as_limbs_mut().mark(secret));
        let (mut lost, mut kept): (Vec<PairRow>, Vec<PairRow>) =
            pair_rows(&mut sum).partition(|(limb, _)| dropped.contains(limb));
        // In the order in which the division takes them.
        lost.sort_by_key(|(limb, _)| dropped.iter().position(|dropped| dropped == limb));
        let rows = lost.iter_mut().map(|(limb, [first, second])| (*limb, [&mut **first, &mut **second])).collect();
        self.for_each_limb(ring, rows, rotations, |limb, rows| rows.into_iter().for_each(|row| divide.lift(limb, row)));
        let mut terms = [0, 1].map(|i| lost.iter().map(|(_, pair)| &*pair[i]).collect::<Vec<&[u64]>>());
        let quotients = terms.each_ref().map(|terms| divide.quotient(terms, secret));
        terms.iter_mut().zip(&quotients).for_each(|(terms, quotient)| terms.extend(quotient.rows()));

        let mut results = [(); 2].map(|()| divide.kept().unset(secret));
        let [mut firsts, mut seconds] = results.each_mut().map(|result| result.limbs_mut().collect::<Vec<LimbRow>>());
        let group = engine.group(kept.len(), places(rotations));
        let outs = firsts.chunks_mut(group).zip(seconds.chunks_mut(group));
        let tasks = kept.chunks_mut(group).zip(outs);
        let words = kept_words(ring, rotations);
        let memory = || scratch(ring, rotations, secret);
        engine.walk(words, tasks, memory, |engine, digits, (sums, (firsts, seconds))| {
            divide.convert(engine, &terms[0], firsts);
            divide.convert(engine, &terms[1], seconds);
            self.add_rotations(engine, ring, sums, rotations, digits);
            let words = 2 * sums.len() * ring.degree();
            let outs = firsts.iter_mut().zip(seconds).map(|((_, first), (_, second))| [first, second]);
            let rows = sums
                .iter()
                .zip(outs)
                .flat_map(|((limb, sums), outs)| sums.iter().zip(outs).map(|(sum, out)| (*limb, &**sum, &mut **out)));
            engine.rows(words, rows, |(limb, sum, out)| finish(divide, limb, sum, out));
        });
        results
    }

    /// Adds the rotations to the rows at some limbs, and runs `lift` on them.
    pub(crate) fn for_each_limb(
        &self,
        ring: &Window,
        mut rows: Vec<PairRow>,
        rotations: &[Rotation],
        lift: impl Fn(usize, [&mut [u64]; 2]) + Send + Sync,
    ) {
        let (engine, secret) = (ring.engine(), rotations.iter().any(Rotation::is_secret));
        let group = engine.group(rows.len(), places(rotations));
        let words = kept_words(ring, rotations);
        let memory = || scratch(ring, rotations, secret);
        engine.walk(words, rows.chunks_mut(group), memory, |engine, digits, rows| {
            self.add_rotations(engine, ring, rows, rotations, digits);
            let words = 2 * rows.len() * ring.degree();
            engine.rows(words, rows.iter_mut(), |(limb, [first, second])| {
                lift(*limb, [&mut **first, &mut **second]);
            });
        });
    }

    /// Adds the rotations to the rows at some limbs, at most as many as [`places`] says.
    fn add_rotations(
        &self,
        engine: &Engine,
        ring: &Window,
        rows: &mut [PairRow],
        rotations: &[Rotation],
        digits: &mut Rows,
    ) {
        let (kernels, degree) = (engine.kernels(), ring.degree());
        let width = NEAR.min(degree);
        for rotation in rotations {
            let (source, psi) = (rotation.source(), rotation.automorphism);
            source.begin(engine, rows.iter().map(|&(limb, _)| limb), digits);
            for (place, (limb, [first, second])) in rows.iter_mut().enumerate() {
                let (limb, q) = (*limb, ring.basis().modulus(*limb));
                let (words, begun) = (source.digits() * degree, source.begun(limb, place, digits));
                engine.rows(words, begun, |row| ring.basis().transform(limb).forward(kernels, row));
                let digits: Vec<DigitRow> = (0..source.digits()).map(|j| source.row(j, limb, place, digits)).collect();
                let blocks = first.chunks_exact_mut(width).zip(second.chunks_exact_mut(width)).enumerate();
                engine.run(words, blocks, |(j, (first, second))| {
                    let from = psi.source(j, width);
                    let range = from * width..(from + 1) * width;
                    // The digits of an element that is written down are rows.
                    let words: Vec<&[u64]> = digits.iter().map(|digit| digit.words(range.clone(), &[])).collect();
                    let products = MovedProducts {
                        rows: &words,
                        key: rotation.key.rows(limb, from, width),
                        next: (j + 1 < degree / width)
                            .then(|| rotation.key.rows(limb, psi.source(j + 1, width), width)),
                        plus: rotation.moved.as_ref().map(|m| (&m.limb(limb)[range], 1)),
                        places: psi.places(from, width),
                        first: j * width / GROUP,
                    };
                    kernels.add_moved_products([first, second], &products, true, q);
                });
            }
        }
    }
}

/// The result of a division at a limb: `out` is changed from what is subtracted, in coefficient form.
fn finish(divide: &DivideRound, limb: usize, x: &[u64], out: &mut [u64]) {
    let ring = divide.kept();
    ring.basis().transform(limb).forward(ring.engine().kernels(), out);
    divide.finish_block(limb, x, out);
}

impl Rotation<'_> {
    fn is_secret(&self) -> bool {
        self.element.is_secret() || self.moved.as_ref().is_some_and(Poly::is_secret)
    }
}

/// The rows of both parts at every limb.
pub(crate) fn pair_rows([first, second]: &mut [Poly<Eval>; 2]) -> impl Iterator<Item = PairRow<'_>> {
    first.limbs_mut().zip(second.limbs_mut()).map(|((limb, first), (_, second))| (limb, [first, second]))
}

/// How many limbs are worked on together, at most.
fn places(rotations: &[Rotation]) -> usize {
    rotations.first().map_or(GROUP_OF_LIMBS, |rotation| rotation.source().places())
}

/// Memory for the digits of one element.
fn scratch(ring: &Window, rotations: &[Rotation], secret: bool) -> Rows {
    let rows = rotations.first().map_or(0, |rotation| rotation.source().scratch_rows());
    let mut rows = ring.engine().unset_rows(rows, ring.degree());
    rows.mark(secret);
    rows
}

/// About how many words the rotations read.
fn kept_words(ring: &Window, rotations: &[Rotation]) -> usize {
    let digits = |rotation: &Rotation| rotation.lift.digits();
    ring.limbs() * ring.degree() * (1 + rotations.iter().map(digits).sum::<usize>())
}
