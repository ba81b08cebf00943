//! Which value of a function stands in which slot of which factor of the matrix.

use noren_rlwe::error::{Error, Result};
use noren_rlwe::galois::{conjugation_exponent, rotation_exponent};

use crate::lookup::error::LookupError;
use crate::schemes::bfv::{Encoder, Plaintext};
use crate::schemes::integers::content::Content;

/// How numbers lie in slots, and how the matrix of a function is cut into diagonals.
///
/// A number x is encrypted in all slots; its one-hot vector `e_x` is 1 in the slot of index x and 0 elsewhere. The slot of
/// row rho and column c, of two rows of n/2 columns, has the index
/// - `rho n/2 + c` where the domain has more than n/2 numbers: n numbers in each of a few blocks, a ciphertext each;
/// - `c mod P` where it has at most the power of two `P <= n/2`: then each of n/P stretches of P slots holds a query of its
///   own.
///
/// The row of the table `w_y = sum_x f(x, y) e_x` comes from rotations `rot_k` of both rows and their swap tau:
/// `w = sum_k D_k rot_k(e) + tau sum_k E_k rot_k(e)` with `D_k[rho, c] = f((rho, c + k), (rho, c))` and
/// `E_k[rho, c] = f((rho, c + k), (1 - rho, c))`; stretches need no E_k, and k from -P to P - 1. With `k = a + A b` the sums
/// are `sum_b rot_{A b}(sum_a f_{ba} rot_a(e))`, in which all [`factors`](Layout::factors) are moved back by `A b`.
///
/// Source: Nakashima et al., "Faster homomorphic evaluation of arbitrary bivariate integer functions via homomorphic linear
/// transformation", WAHC 2024; Halevi and Shoup, eprint 2018/244.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    degree: usize,
    domain: [usize; 2],
    stretch: Stretch,
    babies: usize,
    giants: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stretch {
    /// All slots, with the numbers of blocks of x and of y; whether the last number, `t - 1`, has no slot.
    Whole { blocks: [usize; 2], rest: [bool; 2] },
    /// The number of slots of a row.
    Slots(usize),
}

/// The cost of a giant step, in baby steps: it has two halves of a key switch of its own where baby steps share one.
const GIANT_COST: usize = 2;

impl Layout {
    /// The layout for numbers below `domain[0]` and `domain[1]` in n slots modulo t, with as many baby steps as cost least.
    ///
    /// # Errors
    /// [`Error::Parameters`] for an empty domain, or one of more than t numbers.
    pub fn new(degree: usize, t: u64, domain: [usize; 2]) -> Result<Self> {
        for size in domain {
            if size == 0 || size as u64 > t {
                let needed = format!("from 1 to the plaintext modulus {t}");
                return Err(Error::parameter("domain", size, needed));
            }
        }
        let (largest, half) = (domain[0].max(domain[1]), degree / 2);
        let stretch = if largest <= half {
            Stretch::Slots(largest.next_power_of_two())
        } else {
            // t - 1 is a multiple of n: the numbers below it fill whole blocks.
            let rest = domain.map(|size| size as u64 == t);
            let blocks = [0, 1].map(|i| (domain[i] - usize::from(rest[i])).div_ceil(degree).max(1));
            Stretch::Whole { blocks, rest }
        };
        let layout = Self { degree, domain, stretch, babies: 1, giants: 1 };
        let steps = layout.diagonals();
        let [blocks, results] = layout.blocks();
        let cost = |babies: usize| blocks * babies + GIANT_COST * layout.halves() * results * (steps / babies);
        let babies = (0..=steps.ilog2()).map(|bits| 1 << bits).min_by_key(|&babies| cost(babies)).unwrap_or(1);
        Ok(Self { babies, giants: steps / babies, ..layout })
    }

    /// The same layout with `babies` baby steps.
    ///
    /// # Errors
    /// [`Error::Parameters`] for a number that does not divide the number of diagonals.
    pub fn with_baby_steps(self, babies: usize) -> Result<Self> {
        let steps = self.diagonals();
        if babies == 0 || !steps.is_multiple_of(babies) {
            let needed = format!("a divisor of {steps}");
            return Err(Error::parameter("baby_steps", babies, needed));
        }
        Ok(Self { babies, giants: steps / babies, ..self })
    }

    /// How many numbers x and y there are.
    #[must_use]
    pub fn domain(&self) -> [usize; 2] {
        self.domain
    }

    /// How many slots there are.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// The exponent of the automorphism that rotates both rows by `steps`.
    pub(super) fn rotation_exponent(&self, steps: isize) -> u32 {
        rotation_exponent(self.degree, steps)
    }

    /// The exponent of the automorphism that swaps the rows.
    pub(super) fn swap_exponent(&self) -> u32 {
        conjugation_exponent(self.degree)
    }

    /// How many pairs of numbers one pair of ciphertexts holds.
    #[must_use]
    pub fn queries(&self) -> usize {
        self.degree / self.stretch()
    }

    /// How many ciphertexts hold the one-hot vector of x, and of y.
    #[must_use]
    pub fn blocks(&self) -> [usize; 2] {
        match self.stretch {
            Stretch::Whole { blocks, .. } => blocks,
            Stretch::Slots(_) => [1; 2],
        }
    }

    /// Whether x, and y, may be a number without a slot: `t - 1`.
    #[must_use]
    pub fn rest(&self) -> [bool; 2] {
        match self.stretch {
            Stretch::Whole { rest, .. } => rest,
            Stretch::Slots(_) => [false; 2],
        }
    }

    /// How many baby steps there are.
    #[must_use]
    pub fn babies(&self) -> usize {
        self.babies
    }

    /// How many giant steps there are.
    #[must_use]
    pub fn giants(&self) -> usize {
        self.giants
    }

    /// How many sums of giant steps make one block of the result: 2 where the second has its rows swapped.
    #[must_use]
    pub fn halves(&self) -> usize {
        match self.stretch {
            Stretch::Whole { .. } => 2,
            Stretch::Slots(_) => 1,
        }
    }

    /// The rotations of the baby steps, in order.
    #[must_use]
    pub fn baby_rotations(&self) -> Vec<isize> {
        (0..self.babies).map(|a| a as isize - self.offset() as isize).collect()
    }

    /// By how many columns each giant step rotates further than the one before.
    #[must_use]
    pub fn giant_rotation(&self) -> isize {
        self.babies as isize
    }

    /// How many slots of a row one number takes, or all slots where it takes both rows.
    #[must_use]
    pub fn stretch(&self) -> usize {
        match self.stretch {
            Stretch::Whole { .. } => self.degree,
            Stretch::Slots(period) => period,
        }
    }

    /// How many factors there are: for each block of the result and each half, giant step, block of x and baby step, in this
    /// order from the slowest.
    #[must_use]
    pub fn factors(&self) -> usize {
        let [blocks, results] = self.blocks();
        results * self.halves() * self.giants * blocks * self.babies
    }

    /// The index of a slot in block `block` of a one-hot vector.
    #[must_use]
    pub fn index(&self, block: usize, slot: usize) -> usize {
        match self.stretch {
            Stretch::Whole { .. } => block * self.degree + slot,
            Stretch::Slots(period) => block * period + slot % period,
        }
    }

    /// Where the value of a factor in a slot comes from: `(x, y)`, within the domain or not; `None` for 0.
    #[must_use]
    pub fn entry(&self, factor: usize, slot: usize) -> Option<[usize; 2]> {
        let [blocks, _] = self.blocks();
        let (baby, factor) = (factor % self.babies, factor / self.babies);
        let (block, factor) = (factor % blocks, factor / blocks);
        let (giant, factor) = (factor % self.giants, factor / self.giants);
        let (swapped, result) = (factor % self.halves(), factor / self.halves());
        let (half, mask) = (self.degree / 2, self.degree / 2 - 1);
        let (row, column) = (slot / half, slot % half);
        let back = (column + half - giant * self.babies) & mask;
        match self.stretch {
            Stretch::Whole { .. } => {
                let x = block * self.degree + row * half + ((column + baby) & mask);
                Some([x, result * self.degree + (row ^ swapped) * half + back])
            }
            Stretch::Slots(period) => {
                let y = back % period;
                let x = y + baby + giant * self.babies;
                if period == half {
                    return Some([x & mask, y]);
                }
                let x = x.checked_sub(period).filter(|&x| x < period)?;
                Some([x, y])
            }
        }
    }

    /// The value of each slot for these numbers, one for each query; 0 for those that are missing.
    ///
    /// # Errors
    /// [`Error::Length`] for more numbers than queries, [`LookupError::OutsideDomain`] for one that is not below
    /// `size`.
    pub fn spread(&self, numbers: &[usize], size: usize) -> Result<Vec<i64>> {
        if numbers.len() > self.queries() {
            let needed = format!("at most {}", self.queries());
            return Err(Error::Length { what: "numbers to look up", found: numbers.len(), needed });
        }
        if let Some((index, &value)) = numbers.iter().enumerate().find(|(_, value)| **value >= size) {
            return Err(LookupError::OutsideDomain { index, value: value as u64, size }.into());
        }
        let number = |slot| numbers.get(slot / self.stretch()).map_or(0, |&value| value as i64);
        Ok((0..self.degree).map(number).collect())
    }

    /// A plaintext of [these values](Self::spread), which says that numbers are spread so.
    ///
    /// # Errors
    /// As [`spread`](Self::spread); [`Error::Parameters`] for other slots than those of the layout.
    pub fn encode(&self, encoder: &Encoder, numbers: &[usize], size: usize) -> Result<Plaintext> {
        encoder.encode(&self.spread(numbers, size)?)?.with_stretch(self.stretch())
    }

    /// Refuses a vector whose numbers are not spread as the layout is.
    ///
    /// # Errors
    /// [`LookupError::NotSpread`]; [`Error::Parameters`] for coefficients.
    pub fn check(&self, content: Content) -> Result<()> {
        content.check_slots()?;
        let (found, needed) = (content.stretch().min(self.degree), self.stretch());
        if found >= needed { Ok(()) } else { Err(LookupError::NotSpread { found, needed }.into()) }
    }

    /// How many slots of a result hold the same number: all those of a row, or of both, where one number takes them; otherwise
    /// the first of each [stretch](Self::stretch) alone is a result.
    pub(super) fn stretch_of_results(&self) -> usize {
        if self.stretch() >= self.degree / 2 { self.stretch() } else { 1 }
    }

    /// The results of all queries among the values of all slots.
    ///
    /// # Panics
    /// If there is not one value for each slot.
    #[must_use]
    pub fn gather(&self, slots: &[i64]) -> Vec<usize> {
        assert_eq!(slots.len(), self.degree, "one value for each slot");
        slots.iter().step_by(self.stretch()).map(|&value| value as usize).collect()
    }

    /// How many diagonals there are.
    fn diagonals(&self) -> usize {
        let half = self.degree / 2;
        match self.stretch {
            Stretch::Whole { .. } => half,
            Stretch::Slots(period) => (2 * period).min(half),
        }
    }

    /// By how much the first diagonal lies to the right.
    fn offset(&self) -> usize {
        match self.stretch {
            Stretch::Slots(period) if 2 * period <= self.degree / 2 => period,
            _ => 0,
        }
    }
}
