//! The ranks of the slots of a ciphertext, and the largest of them, by comparisons of all pairs.

use noren_ring::torus::lwe::Lwe;
use noren_rlwe::error::{Error, Result};

use crate::circuits::trace;
use crate::schemes::ckks::Ciphertext;
use crate::schemes::extent::Extent;
use crate::schemes::failures::log2_sum;
use crate::schemes::slots::SlotEvaluator;
use crate::switching::functions::{BOUND_ROOM, Decision, SIGN_PART, ZERO_OR_ONE, log2_of_each, reach};
use crate::switching::law::SwitchingLaw;
use crate::switching::readout::Readout;
use crate::switching::resolution::{Resolution, Steps};
use crate::switching::switch::{Reading, SchemeSwitch, Shape};
use crate::switching::tables::LOW;

/// Comparisons of all pairs of some numbers, as a matrix with a row for each number j, of `size` slots: slot i of a row is 1
/// where number j is below number i.
#[derive(Debug, Clone, Copy)]
struct Pairs {
    /// The power of two from the count on.
    size: usize,
    /// How many rows are in one ciphertext.
    rows: usize,
}

impl Pairs {
    fn new(count: usize, slots: usize) -> Self {
        let size = count.next_power_of_two();
        Self { size, rows: (slots / size).clamp(1, size) }
    }

    fn rotations(&self) -> Vec<isize> {
        trace::rotations(self.rows, self.size.cast_signed())
    }

    /// The place of a pair `a < b` among all of them.
    const fn place(a: usize, b: usize) -> usize {
        b * (b - 1) / 2 + a
    }
}

impl SchemeSwitch {
    /// The rotations that [`rank`](Self::rank) and [`top`](Self::top) of so many slots need, where as many slots are bootstrapped as
    /// are given; [`BootstrapKeys::generate_for`](crate::bootstrapping::BootstrapKeys::generate_for) makes keys for them.
    ///
    /// # Panics
    /// There are no slots to rank.
    #[must_use]
    pub fn rotations_of_ranks(count: usize, slots: usize) -> Vec<isize> {
        assert!(count > 0, "slots to rank");
        Pairs::new(count, slots).rotations()
    }

    /// How many of the first `count` slots are smaller, for each of them: 0 for the smallest, `count - 1` for the largest.
    ///
    /// All pairs are compared between the schemes, by `count (count - 1) / 2` decisions, and come up as a vector for all of them, or as
    /// several where more slots are needed than are bootstrapped; the rank is a sum of its slots. Of numbers that are nearer to
    /// each other than the [dead zone](Decision::dead_zone) either may count as the smaller one, and no rank is wrong by more than
    /// the number of such neighbours.
    ///
    /// The result has the slots of the operand. Further ones mean nothing.
    ///
    /// # Errors
    /// As [`SchemeSwitch::down`]; [`Error::Length`] for no slots, or more than there are; [`Error::MissingKey`] names rotations
    /// without keys ([`rotations_of_ranks`](Self::rotations_of_ranks)).
    pub fn rank(&self, x: &Ciphertext, count: usize) -> Result<Decision> {
        if !(1..=x.slots()).contains(&count) {
            return Err(Error::Length { what: "slots to rank", found: count, needed: format!("1 to {}", x.slots()) });
        }
        let [low, high] = self.interval(x)?;
        let pairs = Pairs::new(count, self.context().parameters().bootstrapping().slots());
        let slots = pairs.rows * pairs.size;
        self.check_rotations(&pairs.rotations())?;
        let (centred, _) = self.centred(x)?;
        let part = SIGN_PART / reach(high - low, x.estimate().worst());
        let lowered = self.lower(&centred, part)?;

        // The difference of two values has the noise of two ways down, and their errors.
        let law = SwitchingLaw { decision: self.law().decision.hypot(self.law().down), ..*self.law() };
        let log2_failure = log2_of_each(self.failure(), (count * (count - 1) / 2).max(1));
        let resolution = Resolution::new(&law, self.steps(), log2_failure);
        let dead_zone = lowered.distance(resolution.dead_zone) + 2.0 * BOUND_ROOM * lowered.error_of_values();
        let values: Vec<Lwe> = (0..count).map(|value| self.extract(&lowered, (0, value))).collect();
        let difference = |a: usize, b: usize| {
            let mut difference = values[b].clone();
            difference.add_multiple(&values[a], -1);
            difference
        };
        let differences = (1..count).flat_map(|b| (0..b).map(move |a| difference(a, b))).collect();
        let above = self.decide_each(differences, resolution)?;
        let negated = |bit: &Lwe| {
            let mut negated = bit.clone();
            negated.mul_assign(-1);
            negated
        };
        let below: Vec<Lwe> = above.iter().map(negated).collect();

        // 0, for slots without a pair.
        let none = Lwe::trivial(self.context().tfhe().parameters().torus().dimension(), LOW);
        let reading = Reading { readout: Readout::Bits, affine: ZERO_OR_ONE };
        let mut ranks: Option<Ciphertext> = None;
        for first in (0..count).step_by(pairs.rows) {
            let bit = |place: usize| match (first + place / pairs.size, place % pairs.size) {
                (row, column) if row >= count || column >= count || row == column => &none,
                (row, column) if row < column => &above[Pairs::place(row, column)],
                (row, column) => &below[Pairs::place(column, row)],
            };
            let bits: Vec<&Lwe> = (0..slots).map(bit).collect();
            let shape = Shape { slots, extent: Extent::of_slots(slots) };
            let rows = self.climb(&bits, shape, reading)?;
            ranks = Some(match ranks {
                Some(sum) => SlotEvaluator::add(self.ckks(), &sum, &rows)?,
                None => rows,
            });
        }
        let sum = trace::sum(self.ckks(), &ranks.expect("a number"), pairs.rows, pairs.size.cast_signed())?;
        // Ranks repeat with every row, so that they are as well a vector of another number of slots; and so do their errors.
        let bound = sum.error_bound();
        let sum = sum.with_error_bound(bound);
        let extent = Extent::of_values(count, x.slots()).repeated(pairs.size);
        let result = sum.read_in(x.slots(), extent).with_range(0.0, (count - 1) as f64);
        Ok(Decision { result, dead_zone, log2_failure: self.log2_failure(count.div_ceil(pairs.rows)) })
    }

    /// 1 for the `most` largest of the first `count` slots, and 0 for the others: those of the highest [ranks](SchemeSwitch::rank).
    ///
    /// Ranks are whole numbers, which a second decision tells apart, in three bootstraps where one does not do.
    ///
    /// # Errors
    /// As [`SchemeSwitch::rank`]; [`Error::Length`] if `most` is not from 1 to `count - 1`, or there are so many slots that their
    /// ranks are not told apart.
    pub fn top(&self, x: &Ciphertext, count: usize, most: usize) -> Result<Decision> {
        /// Ranks are so far from the edge between them.
        const DISTANCE: f64 = 0.5;
        if !(1..count).contains(&most) {
            let needed = format!("1 to {}, fewer than the slots", count.saturating_sub(1));
            return Err(Error::Length { what: "largest slots", found: most, needed });
        }
        let ranks = self.rank(x, count)?;
        let edge = (count - most) as f64 - DISTANCE;
        // All slots of a row, so that the result repeats as ranks do.
        let above = self.ckks().add_const(&ranks.result.with_length(None)?, (-edge).into())?;
        let mut question = self.question(&above, Steps::One)?;
        if question.dead_zone >= DISTANCE {
            question = self.asked(question.lowered, Steps::Three);
        }
        if question.dead_zone < DISTANCE {
            let result = self.answer(&question, ZERO_OR_ONE, LOW)?.with_length(Some(count))?;
            let log2_failure = log2_sum(ranks.log2_failure, self.log2_failure(1));
            return Ok(Decision { result, dead_zone: ranks.dead_zone, log2_failure });
        }
        Err(Error::Length {
            what: "slots to rank",
            found: count,
            needed: "fewer, whose ranks are told apart".to_owned(),
        })
    }
}
