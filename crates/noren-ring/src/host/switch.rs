//! A whole key switch: digits, inner products and division, a few limbs at a time.

use std::ops::Range;

use noren_math::modulus::ShoupFactor;

use crate::decompose::Decomposer;
use crate::divide::DivideRound;
use crate::engine::Engine;
use crate::engine::rows::{LimbRow, Rows};
use crate::host::convert::GROUP;
use crate::host::digits::Digits;
use crate::host::source::Source;
use crate::host::sums::{Begin, Moved, Sums, pair_rows};
use crate::key::KeyPairs;
use crate::operand::Operand;
use crate::poly::{Eval, Poly};
use crate::switch::{KeySwitch, Term};
use crate::window::Window;

/// The summands of a switch before the division.
#[derive(Clone, Copy)]
pub(crate) struct Added<'a> {
    /// `a_0` and `a_1`; what is missing is 0.
    pub(crate) elements: [Option<Operand<'a>>; 2],
    /// Their factors in place of P, one for each limb of the sums. Then they may have limbs before
    /// those too, where there are no sums, and where they are taken as they are.
    pub(crate) factors: Option<&'a [ShoupFactor]>,
}

/// How many pairs are switched in one pass, at most: between its two halves the rows at the special primes wait in memory,
/// and with more than this many pairs the digits are better written down than made again.
const PASS: usize = 8;

impl Decomposer {
    /// Switches an element over the limbs of `ring_q` or more.
    pub(super) fn switch(&self, ring_q: &Window, element: Operand, switch: &KeySwitch) -> [Poly<Eval>; 2] {
        let lift = self.lift(ring_q, element);
        only(self.switch_source(ring_q, Source::lifted(&lift, element), vec![switch.terms], switch))
    }

    /// `round((w a_i + s_i) f / D)` for the sums `s_i` of the digits of `c` with a key, where w stands for the factors of
    /// what is added, and f for the multiplier of the division.
    pub(crate) fn switch_and_add(
        &self,
        ring_q: &Window,
        c: &Poly<Eval>,
        key: &KeyPairs,
        added: Added,
        divide: &DivideRound,
    ) -> [Poly<Eval>; 2] {
        let lift = self.lift(ring_q, c.into());
        let (source, terms) = (Source::lifted(&lift, c.into()), [Term { key, automorphism: None }]);
        only(self.divide(&Sums::new(self.ring_qp(ring_q), source, vec![&terms], None), added, divide))
    }

    /// [`Decomposer::switch`] with each term alone: several images of one element.
    ///
    /// The digits at a limb are made once and stay near while they are multiplied with the keys of all terms.
    pub(super) fn switch_each(&self, ring_q: &Window, c: &Poly<Eval>, switch: &KeySwitch) -> Vec<[Poly<Eval>; 2]> {
        let terms: Vec<&[Term]> = switch.terms.chunks(1).collect();
        if terms.len() <= PASS {
            let lift = self.lift(ring_q, c.into());
            // Each pair reads the rows of its own remainder: most of the reading.
            let source = Source::Lifted { lift: &lift, element: c.into(), group: GROUP };
            return self.switch_source(ring_q, source, terms, switch);
        }
        let digits = self.decompose(ring_q, c);
        // Passes of about one size.
        let pass = terms.len().div_ceil(terms.len().div_ceil(PASS));
        let passes = terms.chunks(pass);
        passes.flat_map(|terms| self.switch_source(ring_q, Source::Made(&digits), terms.to_vec(), switch)).collect()
    }

    /// A pair of results for each list of terms; the others are those of `switch`.
    fn switch_source<'a>(
        &self,
        ring_q: &Window,
        source: Source<'a>,
        pairs: Vec<&'a [Term<'a>]>,
        switch: &KeySwitch<'a>,
    ) -> Vec<[Poly<Eval>; 2]> {
        let moved = switch.moved.map(|m| Moved::Divided(m, self));
        let added = Added { elements: switch.added, factors: None };
        self.divide(&Sums::new(self.ring_qp(ring_q), source, pairs, moved), added, switch.divide)
    }

    /// `round((P a_i + s_i) / D)` for each pair of sums `s_i` and what is added, `a_i`.
    pub(crate) fn divide(&self, sums: &Sums, added: Added, divide: &DivideRound) -> Vec<[Poly<Eval>; 2]> {
        let (engine, degree) = (sums.ring.engine(), sums.ring.degree());
        let secret = sums.is_secret() || added.elements.iter().flatten().any(Operand::is_secret);

        // At the limbs that are dropped: what the division needs of all coefficients.
        let dropped = divide.dropped();
        let remainder = || {
            let mut rows = engine.unset_rows(dropped.len(), degree);
            rows.mark(secret);
            rows
        };
        let mut remainders: Vec<[Rows; 2]> = (0..sums.pairs()).map(|_| [remainder(), remainder()]).collect();
        let mut with_sums = Vec::with_capacity(remainders.len());
        let mut without = Vec::new();
        for pair in &mut remainders {
            with_sums.push(pair.each_mut().map(|rows| {
                let rows = dropped.iter().copied().zip(rows.rows_mut());
                rows.partition::<Vec<LimbRow>, _>(|(limb, _)| sums.ring.range().contains(limb))
            }));
        }
        let with_sums = with_sums.into_iter().map(|[(first, early_first), (second, early_second)]| {
            without.extend([(0, early_first), (1, early_second)]);
            [first, second]
        });
        let with_sums = with_sums.collect();
        added.lift(&sums.ring, without, divide);
        sums.for_each_limb(with_sums, None, |at, [first, second]| {
            let (limb, engine) = (at.limb, at.engine);
            at.write([&mut *first, &mut *second], |range, block, spare| {
                self.add(&sums.ring, limb, range, &added, block, spare);
            });
            engine.rows(2 * degree, [first, second].into_iter(), |row| divide.lift(limb, row));
        });
        let mut terms: Vec<[Vec<&[u64]>; 2]> =
            remainders.iter().map(|pair| pair.each_ref().map(|rows| rows.rows().collect())).collect();
        let quotients: Vec<[Rows; 2]> =
            terms.iter().map(|pair| pair.each_ref().map(|terms| divide.quotient(terms, secret))).collect();
        terms.iter_mut().flatten().zip(quotients.iter().flatten()).for_each(|(terms, rows)| terms.extend(rows.rows()));

        // At the limbs that are kept: all to the end.
        let result = || divide.kept().unset(secret);
        let mut results: Vec<[Poly<Eval>; 2]> = (0..sums.pairs()).map(|_| [result(), result()]).collect();
        let begin = |engine: &Engine, i: usize, rows: [&mut [LimbRow]; 2]| {
            terms[i].iter().zip(rows).for_each(|(terms, rows)| divide.convert(engine, terms, rows))
        };
        sums.for_each_limb(pair_rows(&mut results), Some(Begin { write: &begin, first: true }), |at, rows| {
            let limb = at.limb;
            at.merge(rows, |range, [first_sum, second_sum], [first, second], spare| {
                self.add(&sums.ring, limb, range, &added, [&mut *first_sum, &mut *second_sum], spare);
                divide.finish_block(limb, first_sum, first);
                divide.finish_block(limb, second_sum, second);
            });
        });
        results
    }

    /// `s_i += P a_i`, or with the factors of what is added, for a block of the row at a limb; `spare` is memory for a block.
    pub(crate) fn add(
        &self,
        ring: &Window,
        limb: usize,
        range: Range<usize>,
        added: &Added,
        s: [&mut [u64]; 2],
        spare: &mut [u64],
    ) {
        let factor = match added.factors {
            Some(factors) => factors[limb - ring.range().start],
            // P is 0 modulo the special primes.
            None => match self.special_factor(limb) {
                Some(special) => special,
                None => return,
            },
        };
        for (s, a) in s.into_iter().zip(&added.elements) {
            if let Some(a) = a {
                let words = a.words(ring, limb, range.clone(), spare);
                ring.engine().kernels().mul_scalar_add_assign(s, words, factor, ring.basis().modulus(limb));
            }
        }
    }
}

impl Added<'_> {
    /// Writes what the division needs at dropped limbs without sums, for rows of the first and the second result.
    fn lift(&self, ring: &Window, rows: Vec<(usize, Vec<LimbRow>)>, divide: &DivideRound) {
        let mut rows: Vec<_> =
            rows.into_iter().flat_map(|(i, rows)| rows.into_iter().map(move |(limb, row)| (limb, i, row))).collect();
        rows.sort_by_key(|&(limb, i, _)| (limb, i));
        ring.engine().rows(rows.len() * ring.degree(), rows.into_iter(), |(limb, i, row)| {
            match &self.elements[i] {
                Some(element) => element.write(ring, limb, 0, row),
                None => row.fill(0),
            }
            divide.lift(limb, row);
        });
    }
}

impl Digits {
    /// `(sum_j d_j k_j0, sum_j d_j k_j1)` over the limbs of `ring_qp`, each sum reduced once.
    ///
    /// The digits and the key may have more limbs than the ring, and the key may have more pairs than there are digits.
    ///
    /// # Panics
    /// If the key has fewer pairs, or the digits or the key lack a limb of the ring.
    #[must_use]
    pub fn inner_product(&self, ring_qp: &Window, key: &KeyPairs) -> [Poly<Eval>; 2] {
        self.polys().iter().for_each(|digit| ring_qp.check_covers(digit));
        key.check_covers(ring_qp, self.polys().len());
        let terms = [Term { key, automorphism: None }];
        only(Sums::new(ring_qp.clone(), Source::Made(self), vec![&terms], None).write())
    }
}

/// The result of one pair of sums.
pub(crate) fn only<T>(results: Vec<T>) -> T {
    results.into_iter().next().expect("one pair of sums gives one result")
}
