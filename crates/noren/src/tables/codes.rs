//! Sets of codes: of the numbers from 0 on that stand for the values of a column.

/// A set of codes, as intervals with both ends, in ascending order, with a gap between any two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Codes {
    intervals: Vec<[u64; 2]>,
}

impl Codes {
    /// The codes from one to another, if there are any.
    #[must_use]
    pub fn between(first: u64, last: u64) -> Self {
        let intervals = if first <= last { vec![[first, last]] } else { Vec::new() };
        Self { intervals }
    }

    /// No code.
    #[must_use]
    pub const fn none() -> Self {
        Self { intervals: Vec::new() }
    }

    /// The intervals.
    #[must_use]
    pub fn intervals(&self) -> &[[u64; 2]] {
        &self.intervals
    }

    /// The codes of either.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut all: Vec<[u64; 2]> = self.intervals.iter().chain(&other.intervals).copied().collect();
        all.sort_unstable();
        let mut intervals: Vec<[u64; 2]> = Vec::new();
        for [first, last] in all {
            match intervals.last_mut() {
                Some([_, end]) if first <= end.saturating_add(1) => *end = last.max(*end),
                _ => intervals.push([first, last]),
            }
        }
        Self { intervals }
    }

    /// The codes below a count that are not in the set.
    #[must_use]
    pub fn complement(&self, count: u64) -> Self {
        let mut intervals = Vec::new();
        let mut next = 0;
        for &[first, last] in &self.intervals {
            if next < first {
                intervals.push([next, first - 1]);
            }
            next = last + 1;
        }
        if next < count {
            intervals.push([next, count - 1]);
        }
        Self { intervals }
    }

    /// The codes of both.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let within = |[first, last]: [u64; 2]| {
            other.intervals.iter().map(move |&[low, high]| [first.max(low), last.min(high)]).filter(|[a, b]| a <= b)
        };
        Self { intervals: self.intervals.iter().copied().flat_map(within).collect() }
    }

    /// Whether a code is in the set.
    #[must_use]
    pub fn contains(&self, code: u64) -> bool {
        self.intervals.iter().any(|&[first, last]| (first..=last).contains(&code))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COUNT: u64 = 20;

    fn set() -> impl Strategy<Value = Codes> {
        prop::collection::vec((0..COUNT, 0..COUNT), 0..4)
            .prop_map(|pairs| pairs.into_iter().fold(Codes::none(), |codes, (a, b)| codes.union(&Codes::between(a, b))))
    }

    proptest! {
        #[test]
        fn sets_are_those_of_their_members(a in set(), b in set()) {
            let (union, both, rest) = (a.union(&b), a.intersection(&b), a.complement(COUNT));
            for code in 0..COUNT {
                let [in_a, in_b] = [&a, &b].map(|set| set.contains(code));
                prop_assert_eq!(union.contains(code), in_a || in_b);
                prop_assert_eq!(both.contains(code), in_a && in_b);
                prop_assert_eq!(rest.contains(code), !in_a);
            }
            for set in [union, both, rest] {
                prop_assert!(set.intervals().windows(2).all(|pair| pair[0][1] + 1 < pair[1][0]));
                prop_assert!(set.intervals().iter().all(|[first, last]| first <= last));
            }
        }
    }
}
