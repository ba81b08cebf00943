//! How the loops of an operation are shared out to threads.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// Ranges of coefficients are no shorter where they are handed out one by one: a sum of this length takes a few microseconds,
/// several times what it costs to hand it out.
const SHORTEST_RANGE: usize = 1 << 12;
/// Ranges are multiples of this many words: what automorphisms map to each other.
const RANGE_STEP: usize = 1 << 10;
/// Tiles for each thread, where rows are cut: the last one that is worked on is a small part of all.
const TILES_PER_THREAD: usize = 4;
/// The work that limbs of one task share, relative to the other work on a limb: to read the sources of conversions. Measured
/// for CKKS at N = 2^15 and 2^16, where sources are in a far cache: 0.1 to 0.8.
const SHARED: f64 = 0.5;
/// How many times as long work takes that threads share within a limb, as measured with two threads.
const DIVIDED: f64 = 1.3;

/// How the loops of an operation are shared out to threads. The results are the same bytes for each.
///
/// An operation on an element of shape `[limbs, degree]` consists of loops over words that do not depend on each other
/// (sums, products, conversions, inner products with keys, quotients) and of transforms, each of which needs a whole row.
/// All that does not mix limbs can go from limb to limb: then one thread converts, transforms, multiplies and divides a
/// limb while it is in the cache.
///
/// Source: Akimoto and Sakuma, "Speed-up of RNS type approximate homomorphic encryption by parallel processing", section 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Parallel {
    /// Limb after limb: threads share the coefficients of each, in one range for each thread; transforms are done by one
    /// thread.
    Coefficient,
    /// Each limb, or group of limbs, is one thread's.
    Modulus,
    /// Limbs are one thread's as long as there is one for each thread; the rest is shared in tiles of a limb and a range
    /// of coefficients, and its transforms by limb. Loops without a transform are tiles from the start.
    #[default]
    Both,
}

impl Parallel {
    /// All ways.
    pub const ALL: [Self; 3] = [Self::Coefficient, Self::Modulus, Self::Both];

    /// The name, in small letters.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Coefficient => "coefficient",
            Self::Modulus => "modulus",
            Self::Both => "both",
        }
    }

    /// Whether several limbs are worked on at the same time.
    pub(crate) fn spreads_limbs(self) -> bool {
        self != Self::Coefficient
    }

    /// How many of `tasks` on whole limbs are one thread's each; all threads share each of the others.
    pub(crate) fn undivided(self, tasks: usize, threads: usize) -> usize {
        match self {
            Self::Coefficient => 0,
            Self::Modulus => tasks,
            Self::Both => tasks - tasks % threads,
        }
    }

    /// How many words of a row of `degree` are in one range, where `rows` are worked on together.
    pub(crate) fn range(self, rows: usize, degree: usize, threads: usize) -> usize {
        let parts = match self {
            Self::Modulus => 1,
            Self::Coefficient => threads,
            Self::Both => (TILES_PER_THREAD * threads).div_ceil(rows.max(1)).min(degree / SHORTEST_RANGE),
        };
        degree.div_ceil(parts.max(1)).next_multiple_of(RANGE_STEP).min(degree)
    }

    /// How many of `limbs` one task should take where it gains by taking several, at most `most`.
    ///
    /// That is 1, 2 or 4, but never so many that a thread has no task: what makes the slowest thread's part the shortest, by a
    /// model. In units of the work on a limb that shares nothing, a limb costs `1 + SHARED/g` in a task of g, and
    /// `DIVIDED` times that in a task that all threads share.
    pub(crate) fn group(self, limbs: usize, most: usize, threads: usize) -> usize {
        let threads = if self.spreads_limbs() { threads } else { 1 };
        let time = |group: usize| {
            let tasks = limbs.div_ceil(group);
            let alone = (self.undivided(tasks, threads) * group).min(limbs);
            let limb = 1.0 + SHARED / group as f64;
            limb * (alone.div_ceil(threads) as f64 + DIVIDED * (limbs - alone) as f64 / threads as f64)
        };
        let groups = [1, 2, 4].into_iter().filter(|&group| group == 1 || (group <= most && group * threads <= limbs));
        groups.min_by(|&a, &b| time(a).total_cmp(&time(b))).unwrap_or(1)
    }
}

impl fmt::Display for Parallel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Parallel {
    type Err = Error;

    /// The way of this [`Parallel::name`].
    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|way| way.name() == name).ok_or_else(|| Error::Parallel { found: name.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_others_are_refused() {
        for way in Parallel::ALL {
            assert_eq!(way.to_string().parse::<Parallel>(), Ok(way));
        }
        let error = "limbs".parse::<Parallel>().expect_err("no such way");
        assert!(error.to_string().contains("coefficient, modulus or both"), "{error}");
    }

    #[test]
    fn only_a_rest_that_is_smaller_than_the_threads_is_shared() {
        for (tasks, threads, undivided) in [(9, 2, 8), (24, 2, 24), (3, 5, 0), (7, 1, 7)] {
            assert_eq!(Parallel::Both.undivided(tasks, threads), undivided);
            assert_eq!(Parallel::Modulus.undivided(tasks, threads), tasks);
            assert_eq!(Parallel::Coefficient.undivided(tasks, threads), 0);
        }
    }

    #[test]
    fn groups_are_as_large_as_the_threads_allow() {
        for (limbs, most, threads, group) in [
            (8, 4, 1, 4),
            (3, 4, 1, 2),
            (9, 3, 1, 2),
            (24, 4, 2, 4),
            (8, 4, 2, 4),
            (4, 4, 2, 2),
            (1, 4, 2, 1),
            (24, 1, 2, 1),
            (24, 4, 64, 1),
        ] {
            assert_eq!(Parallel::Both.group(limbs, most, threads), group, "{limbs} limbs on {threads} threads");
        }
        assert_eq!(Parallel::Coefficient.group(8, 4, 64), 4, "limbs are walked one after another");
    }

    #[test]
    fn ranges_cut_rows_into_enough_parts_that_automorphisms_respect() {
        let degree = 1 << 16;
        assert_eq!(Parallel::Modulus.range(1, degree, 64), degree);
        assert_eq!(Parallel::Coefficient.range(24, degree, 2), degree / 2);
        assert_eq!(Parallel::Coefficient.range(24, degree, 3) % RANGE_STEP, 0);
        assert_eq!(Parallel::Both.range(24, degree, 2), degree, "24 rows are enough for two threads");
        assert_eq!(Parallel::Both.range(2, degree, 2), degree / 4);
        assert_eq!(Parallel::Both.range(1, degree, 64), SHORTEST_RANGE);
        assert_eq!(Parallel::Both.range(1, 64, 4), 64, "short rows stay whole");
    }
}
