//! A whole key switch: digits, inner product and division, a few limbs at a time.

use crate::automorphism::Automorphism;
use crate::convert::GROUP;
use crate::decompose::{Decomposer, DigitRows, Digits, Lift};
use crate::divide::DivideRound;
use crate::poly::{Eval, Poly};
use crate::ring::Ring;
use crate::rows::Rows;

/// What becomes of the digits `d_j` of an element:
/// `round((P a_i + sum_j d_j k_ji) / D)` under `X -> X^k`, for i = 0 and 1.
///
/// A few limbs at a time, each digit is extended, transformed and multiplied, and what the division subtracts is
/// transformed too, while the rows are near: a limb's roots are read once for all its transforms, and neither the digits
/// nor their sums go through memory.
#[derive(Debug, Clone, Copy)]
pub struct KeySwitch<'a> {
    /// The pairs `(k_j0, k_j1)`, over the special primes and the element's limbs or more. There may be more pairs than
    /// digits: a key for a high level serves all lower ones.
    pub key: &'a [[Poly<Eval>; 2]],
    /// `a_0` and `a_1`, over the element's limbs or more; what is missing is 0.
    pub added: [Option<&'a Poly<Eval>>; 2],
    /// The division by `D`: by the special primes' product P, or by P and the last limbs.
    pub divide: &'a DivideRound,
    /// `X -> X^k`; the identity if it is missing.
    pub automorphism: Option<&'a Automorphism>,
}

impl Decomposer {
    /// Switches `c`, an element over the limbs of `ring_q` or more.
    ///
    /// # Panics
    /// As [`Decomposer::decompose`]; if the key has fewer pairs than there are digits; or if an operand lacks a limb.
    #[must_use]
    pub fn switch(&self, ring_q: &Ring, c: &Poly<Eval>, switch: &KeySwitch) -> [Poly<Eval>; 2] {
        let lift = self.lift(ring_q, c);
        self.switch_source(ring_q, Source::lifted(&lift, c), switch)
    }

    /// [`Decomposer::switch`] for an element whose digits were made before.
    ///
    /// # Panics
    /// As [`Decomposer::switch`].
    #[must_use]
    pub fn switch_digits(&self, ring_q: &Ring, digits: &Digits, switch: &KeySwitch) -> [Poly<Eval>; 2] {
        self.switch_source(ring_q, Source::Made(digits), switch)
    }

    /// `(sum_j d_j k_j0, sum_j d_j k_j1)` for the digits of `c`, an element over the limbs of `ring_q` or more: over the
    /// special primes and those limbs, not divided.
    ///
    /// # Panics
    /// As [`Decomposer::switch`].
    #[must_use]
    pub fn inner_product(&self, ring_q: &Ring, c: &Poly<Eval>, key: &[[Poly<Eval>; 2]]) -> [Poly<Eval>; 2] {
        let lift = self.lift(ring_q, c);
        Sums::new(ring_q.window(0..ring_q.range().end), Source::lifted(&lift, c), key).write()
    }

    fn switch_source(&self, ring_q: &Ring, source: Source, switch: &KeySwitch) -> [Poly<Eval>; 2] {
        switch.added.iter().flatten().for_each(|a| ring_q.check_covers(a));
        switch.automorphism.iter().for_each(|automorphism| ring_q.check_index(automorphism));
        let (end, kept) = (ring_q.range().end, switch.divide.kept().range());
        let dropped = switch.divide.dropped();
        assert!(
            kept.end <= end && dropped.iter().all(|&limb| limb < end),
            "limbs {dropped:?} cannot be dropped and {kept:?} kept of 0..{end}"
        );
        Sums::new(ring_q.window(0..end), source, switch.key).divide(self, switch)
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
    pub fn inner_product(&self, ring_qp: &Ring, key: &[[Poly<Eval>; 2]]) -> [Poly<Eval>; 2] {
        Sums::new(ring_qp.clone(), Source::Made(self), key).write()
    }

    /// `acc_i += (sum_j d_j k_ji)(X^k)` over the limbs of `ring_qp`: [`Digits::inner_product`] under an automorphism, of
    /// which only the total goes through memory.
    ///
    /// # Panics
    /// As [`Digits::inner_product`], and if `acc` is not of the ring or the automorphism one of another index.
    pub fn inner_product_add_assign(
        &self,
        ring_qp: &Ring,
        key: &[[Poly<Eval>; 2]],
        automorphism: &Automorphism,
        acc: &mut [Poly<Eval>; 2],
    ) {
        ring_qp.check_index(automorphism);
        acc.iter().for_each(|acc| ring_qp.check(acc));
        Sums::new(ring_qp.clone(), Source::Made(self), key).add_image(automorphism, acc);
    }
}

/// Rows that the digits of a group of limbs may take, or those of one limb if they are more.
const SCRATCH_ROWS: usize = 16;

/// A row with its limb.
type LimbRow<'a> = (usize, &'a mut [u64]);

/// Where the digits come from.
enum Source<'a> {
    /// They are written down.
    Made(&'a Digits),
    /// Their rows are made where they are used.
    Lifted { rows: DigitRows<'a>, secret: bool },
}

/// The inner products of digits with a key.
struct Sums<'a> {
    /// The limbs of the sums.
    ring: Ring,
    source: Source<'a>,
    key: &'a [[Poly<Eval>; 2]],
}

impl<'a> Source<'a> {
    fn lifted(lift: &'a Lift, c: &'a Poly<Eval>) -> Self {
        Self::Lifted { rows: lift.rows(c), secret: c.is_secret() }
    }

    fn digits(&self) -> usize {
        match self {
            Self::Made(digits) => digits.polys().len(),
            Self::Lifted { rows, .. } => rows.digits(),
        }
    }

    fn is_secret(&self) -> bool {
        match self {
            Self::Made(digits) => digits.polys().iter().any(Poly::is_secret),
            Self::Lifted { secret, .. } => *secret,
        }
    }

    /// How many limbs are begun together at most, and how many rows of scratch each digit has.
    fn places(&self) -> usize {
        match self {
            Self::Made(_) => GROUP,
            Self::Lifted { rows, .. } => (SCRATCH_ROWS / rows.digits()).clamp(1, rows.group()),
        }
    }

    /// Begins the digits' rows at some limbs, at most [`Source::places`], in `scratch` where they must be made at all.
    fn begin(&self, limbs: impl ExactSizeIterator<Item = usize> + Clone, scratch: &mut Rows) {
        let Self::Lifted { rows: digits, .. } = self else { return };
        let mut free = scratch.rows_mut();
        for j in 0..digits.digits() {
            let mut group: [LimbRow; GROUP] = std::array::from_fn(|_| (0, [].as_mut_slice()));
            group.iter_mut().zip(free.by_ref().take(self.places())).for_each(|(place, row)| place.1 = row);
            group.iter_mut().zip(limbs.clone()).for_each(|(place, limb)| place.0 = limb);
            digits.convert(j, &mut group[..limbs.len()]);
        }
    }

    /// Completes the digits' rows at a limb, the one at `place` of [`Source::begin`].
    fn complete(&self, limb: usize, place: usize, scratch: &mut Rows) {
        let Self::Lifted { rows: digits, .. } = self else { return };
        for (j, row) in scratch.rows_mut().skip(place).step_by(self.places()).enumerate() {
            if digits.own(j, limb).is_none() {
                digits.transform(limb, row);
            }
        }
    }

    /// The row of digit `j` at a limb, after [`Source::complete`].
    fn row<'b>(&'b self, j: usize, limb: usize, place: usize, scratch: &'b Rows) -> &'b [u64] {
        match self {
            Self::Made(digits) => digits.polys()[j].limb(limb),
            Self::Lifted { rows, .. } => rows.own(j, limb).unwrap_or_else(|| scratch.row(j * self.places() + place)),
        }
    }
}

impl<'a> Sums<'a> {
    /// # Panics
    /// If the key has too few pairs, or an operand lacks a limb.
    fn new(ring: Ring, source: Source<'a>, key: &'a [[Poly<Eval>; 2]]) -> Self {
        let digits = source.digits();
        assert!(key.len() >= digits, "{digits} digits need as many key rows, not {}", key.len());
        if let Source::Made(digits) = &source {
            digits.polys().iter().for_each(|digit| ring.check_covers(digit));
        }
        key[..digits].iter().flatten().for_each(|poly| ring.check_covers(poly));
        Self { ring, source, key }
    }

    fn is_secret(&self) -> bool {
        self.source.is_secret() || self.key.iter().flatten().any(Poly::is_secret)
    }

    /// How many words are read for the sums at so many limbs.
    fn words(&self, limbs: usize) -> usize {
        self.source.digits() * limbs * self.ring.degree()
    }

    /// Memory for the digits of a group of limbs.
    fn scratch(&self) -> Rows {
        let rows = if let Source::Made(_) = self.source { 0 } else { self.source.places() * self.source.digits() };
        self.unset(rows, self.source.is_secret())
    }

    /// Writes both sums at a limb, for whose group the digits' rows were begun.
    fn write_limb(&self, limb: usize, place: usize, scratch: &mut Rows, [first, second]: [&mut [u64]; 2]) {
        self.source.complete(limb, place, scratch);
        // Whole rows: the key comes from far away, in streams that are not to be interrupted.
        for (side, out) in [first, second].into_iter().enumerate() {
            let terms = self.key[..self.source.digits()].iter().enumerate();
            let terms = terms.map(|(j, key)| (self.source.row(j, limb, place, scratch), key[side].limb(limb)));
            self.ring.add_products(limb, out, terms);
        }
    }

    /// The sums as they are.
    fn write(&self) -> [Poly<Eval>; 2] {
        let secret = self.is_secret();
        let mut sums: [Poly<Eval>; 2] = std::array::from_fn(|_| self.ring.unset(secret));
        let [first, second] = sums.each_mut().map(|sum| sum.limbs_mut().collect());
        self.for_each_group(first, second, |scratch, first, second| {
            for (place, ((limb, first), (_, second))) in first.iter_mut().zip(second).enumerate() {
                self.write_limb(*limb, place, scratch, [first, second]);
            }
        });
        sums
    }

    /// Adds the images of the sums to `acc`.
    fn add_image(&self, automorphism: &Automorphism, acc: &mut [Poly<Eval>; 2]) {
        let secret = self.is_secret();
        acc.iter_mut().for_each(|acc| acc.rows.mark(secret));
        let [first, second] = acc.each_mut().map(|acc| acc.limbs_mut().collect());
        self.for_each_group(first, second, |scratch, first, second| {
            let mut sums = self.unset(2, secret);
            let [first_sum, second_sum] = sums.first_rows_mut();
            for (place, ((limb, first), (_, second))) in first.iter_mut().zip(second).enumerate() {
                self.write_limb(*limb, place, scratch, [first_sum, second_sum]);
                let (kernels, q) = (self.ring.engine().kernels(), self.ring.basis().modulus(*limb));
                automorphism.add_row(kernels, q, first_sum, first);
                automorphism.add_row(kernels, q, second_sum, second);
            }
        });
    }

    /// Runs `work` on groups of the rows of both results, after the digits' rows at their limbs were begun.
    fn for_each_group<'r>(
        &self,
        mut first: Vec<LimbRow<'r>>,
        mut second: Vec<LimbRow<'r>>,
        work: impl Fn(&mut Rows, &mut [LimbRow<'r>], &mut [LimbRow<'r>]) + Send + Sync,
    ) {
        let (engine, limbs) = (self.ring.engine(), first.len());
        let group = engine.group(limbs, self.source.places());
        let tasks = first.chunks_mut(group).zip(second.chunks_mut(group));
        engine.run_with(
            self.words(limbs),
            tasks,
            || self.scratch(),
            |scratch, (first, second)| {
                self.source.begin(first.iter().map(|&(limb, _)| limb), scratch);
                work(scratch, first, second);
            },
        );
    }

    /// The sums with all that a switch does to them.
    fn divide(&self, decomposer: &Decomposer, switch: &KeySwitch) -> [Poly<Eval>; 2] {
        let KeySwitch { added, divide, automorphism, .. } = *switch;
        let secret = self.is_secret() || added.iter().flatten().any(|a| a.is_secret());
        // `P a + sum_j d_j k_j`
        let write_limb = |limb: usize, place: usize, scratch: &mut Rows, [first, second]: [&mut [u64]; 2]| {
            self.write_limb(limb, place, scratch, [&mut *first, &mut *second]);
            // P is 0 modulo the special primes.
            let Some(special) = decomposer.special_factor(limb) else { return };
            let (q, kernels) = (self.ring.basis().modulus(limb), self.ring.engine().kernels());
            for (row, a) in [first, second].into_iter().zip(added) {
                a.iter().for_each(|a| kernels.mul_scalar_add_assign(row, a.limb(limb), special, q));
            }
        };

        // At the limbs that are dropped: what the division needs of all coefficients.
        let dropped = divide.dropped();
        let mut remainders = [self.unset(dropped.len(), secret), self.unset(dropped.len(), secret)];
        let [first, second] = remainders.each_mut().map(|rows| dropped.iter().copied().zip(rows.rows_mut()).collect());
        self.for_each_group(first, second, |scratch, first, second| {
            for (place, ((limb, first), (_, second))) in first.iter_mut().zip(second).enumerate() {
                write_limb(*limb, place, scratch, [first, second]);
                divide.lift(*limb, first);
                divide.lift(*limb, second);
            }
        });
        let terms = remainders.each_ref().map(|rows| rows.rows().collect::<Vec<_>>());
        let quotients = terms.each_ref().map(|terms| divide.quotient(terms, secret));
        let terms = [0, 1].map(|i| terms[i].iter().copied().chain(quotients[i].rows()).collect::<Vec<_>>());

        // At the limbs that are kept: all to the end.
        let mut results: [Poly<Eval>; 2] = std::array::from_fn(|_| divide.kept().unset(secret));
        let [first, second] = results.each_mut().map(|result| result.limbs_mut().collect());
        self.for_each_group(first, second, |scratch, first, second| {
            divide.convert(&terms[0], first);
            divide.convert(&terms[1], second);
            let mut sums = self.unset(2, secret);
            let [first_sum, second_sum] = sums.first_rows_mut();
            for (place, ((limb, first), (_, second))) in first.iter_mut().zip(second).enumerate() {
                write_limb(*limb, place, scratch, [first_sum, second_sum]);
                for (sum, out) in [(&mut *first_sum, first), (&mut *second_sum, second)] {
                    match automorphism {
                        None => divide.finish(*limb, sum, out),
                        Some(automorphism) => divide.finish_mapped(*limb, sum, out, automorphism),
                    }
                }
            }
        });
        results
    }

    fn unset(&self, rows: usize, secret: bool) -> Rows {
        let mut rows = self.ring.engine().unset_rows(rows, self.ring.degree());
        rows.mark(secret);
        rows
    }
}
