//! How a modulus is cut into digits.

use std::ops::Range;

use noren_math::kernels::MAX_TERMS;

use crate::error::Error;

/// How many digits a gadget may have: the products of all digits of a word with a key are added before they are reduced.
pub const MAX_DIGITS: usize = MAX_TERMS;

/// Sizes are compared to this fraction of a bit, so that the last bits of a logarithm cannot move a cut.
const STEPS_PER_BIT: f64 = (1u64 << 20) as f64;

/// The cut of `Q = q_0 .. q_L` into products D_j of consecutive primes, next to `special` primes with product P.
///
/// The gadget element `g_j` is 1 modulo the primes of digit j and 0 modulo the others, so that `sum_j d_j g_j = c` for
/// any `d_j = c mod D_j`. A switching key holds the multiples `P g_j` of a secret, and its noise grows with the largest
/// D_j / P: hence the digits are as even in bits, not in number of primes, as consecutive primes allow. At a lower level
/// the same digits are used as far as their primes are alive. Source: Han, Ki, section 3, eprint 2019/688.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gadget {
    skipped: usize,
    special: usize,
    digits: Vec<Range<usize>>,
}

impl Gadget {
    /// The cut into `dnum` digits whose largest digit is smallest; of several such cuts, the one whose last digits hold
    /// the fewest primes.
    ///
    /// `q_bits` are the sizes `log2 q_i` in bits, from q_0 up; they count to 2^-20 bit.
    ///
    /// # Errors
    /// [`Error::Digits`] unless there is at least 1 digit, and at most one for each prime and [`MAX_DIGITS`].
    pub fn new(q_bits: &[f64], special: usize, dnum: usize) -> Result<Self, Error> {
        Self::within(q_bits, special, special, dnum)
    }

    /// [`Gadget::new`] for keys that use only the last `special` of `listed` special primes: those next to q_0. Where few
    /// limbs are left, or a secret carries few, P need not be larger than their digits.
    ///
    /// # Errors
    /// As [`Gadget::new`].
    ///
    /// # Panics
    /// If fewer special primes are listed than used.
    pub fn within(q_bits: &[f64], listed: usize, special: usize, dnum: usize) -> Result<Self, Error> {
        assert!(special <= listed, "{special} special primes of {listed} cannot be used");
        let most = q_bits.len().min(MAX_DIGITS);
        if dnum == 0 || dnum > most {
            return Err(Error::Digits { found: dnum, most, limbs: q_bits.len() });
        }
        let mut ends = vec![0];
        ends.extend(q_bits.iter().scan(0, |end, &bits| {
            *end += (bits * STEPS_PER_BIT).round() as u64;
            Some(*end)
        }));
        // largest[j][i] is the largest digit of the best cut of the first i primes into j + 1 digits, and cuts[j][i] is
        // where the last of those digits starts.
        let mut largest = vec![ends.clone()];
        let mut cuts = vec![vec![0; ends.len()]];
        for j in 1..dnum {
            let before = &largest[j - 1];
            let reach: Vec<u64> = before.iter().zip(&ends).map(|(digit, &end)| digit.saturating_add(end)).collect();
            // The larger of the last digit, which shrinks as its start moves on, and of those before it, which grow: least
            // where the second reaches the first, or one place earlier. Of starts that are as good the last is taken.
            let best = |i: usize| {
                if i <= j {
                    return (u64::MAX, 0);
                }
                let reached = j + reach[j..i].partition_point(|&reach| reach < ends[i]);
                let others = if reached < i { before[reached] } else { u64::MAX };
                if reached > j && ends[i] - ends[reached - 1] < others {
                    return (ends[i] - ends[reached - 1], reached - 1);
                }
                (others, reached + before[reached..i].partition_point(|&digit| digit <= others) - 1)
            };
            let (costs, starts) = (0..ends.len()).map(best).unzip();
            largest.push(costs);
            cuts.push(starts);
        }
        let mut end = q_bits.len();
        let mut digits: Vec<Range<usize>> = (0..dnum)
            .rev()
            .map(|j| {
                let digit = cuts[j][end]..end;
                end = digit.start;
                digit
            })
            .collect();
        digits.reverse();
        Ok(Self { skipped: listed - special, special: listed, digits })
    }

    /// How many special primes at the start of the whole list are passed over: P is the product of those from there to q_0.
    #[must_use]
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// How many special primes stand before q_0 in the whole list: the position of q_0.
    #[must_use]
    pub fn special(&self) -> usize {
        self.special
    }

    /// The digits, as ranges of the primes q_0, q_1, ...
    #[must_use]
    pub fn digits(&self) -> &[Range<usize>] {
        &self.digits
    }

    /// How many primes q_i there are.
    #[must_use]
    pub fn limbs(&self) -> usize {
        self.digits.last().map_or(0, |digit| digit.end)
    }

    /// The digits that are alive among the first `limbs` primes; the last one may have lost primes.
    #[must_use]
    pub fn digits_at(&self, limbs: usize) -> Vec<Range<usize>> {
        let alive = self.digits.iter().filter(|digit| digit.start < limbs);
        alive.map(|digit| digit.start..digit.end.min(limbs)).collect()
    }
}
