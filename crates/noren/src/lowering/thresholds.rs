//! The rounds of a search for order statistics: how many thresholds each compares elements with, and how near to them.

/// The most thresholds of a round.
pub(crate) const MOST_THRESHOLDS: usize = 16;

/// The part of the distance between two thresholds that noise may add to the lower end of an interval, and that approximations of
/// comparisons of counts may.
pub(super) const NOISE: f64 = 1.0 / 64.0;
pub(super) const APPROXIMATED: f64 = 1.0 / 10.0;

/// The least and the largest distance from a threshold, in distances between two, within which comparisons are not decided. Below
/// a half at most one threshold is as near to an element.
const LEAST_ZONE: f64 = 1.0 / 8.0;
const LARGEST_ZONE: f64 = 0.4;

/// The most rounds.
const MOST_ROUNDS: usize = 40;

/// A round of a search in an interval.
///
/// An order statistic lies in the interval, which begins at a number that is encrypted, and whose length is known. Equally spaced
/// thresholds cut it into pieces; the interval becomes the piece that holds the order statistic, longer at both ends by what is not
/// certain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Round {
    /// The distance between two thresholds, and from the ends to the first and the last.
    pub(super) step: f64,
    /// Elements that are closer to a threshold than this may be on either side of it.
    pub(super) zone: f64,
    /// By how much the next interval is longer than a piece, at each end.
    pub(super) slack: f64,
}

/// The rounds of a search, in an interval of length 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Search {
    /// The thresholds of each round.
    pub(super) thresholds: usize,
    pub(super) rounds: Vec<Round>,
    /// The length of the last interval.
    pub(super) width: f64,
}

/// What a round costs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    /// The order statistics that are searched for.
    pub(super) ranks: usize,
    /// The elements along the axis, a power of two.
    pub(super) elements: usize,
    /// The thresholds that elements in one ciphertext are compared with.
    pub(super) blocks: usize,
}

impl Size {
    /// The ciphertexts of comparisons with so many thresholds.
    pub(super) const fn groups(&self, thresholds: usize) -> usize {
        thresholds.div_ceil(self.blocks)
    }
}

impl Round {
    /// The rounds with so many thresholds, whose zones are this part of the distances between them; and the last interval's length.
    fn all(count: usize, thresholds: usize, zone: f64) -> (Vec<Self>, f64) {
        let mut width = 1.0;
        let mut next = || {
            let step = width / (thresholds + 1) as f64;
            let round = Self { step, zone: zone * step, slack: (zone + NOISE + APPROXIMATED) * step };
            width = step + 2.0 * round.slack;
            round
        };
        let rounds = (0..count).map(|_| next()).collect();
        (rounds, width)
    }

    /// Bootstraps, and the products of polynomials in bootstraps, of one ciphertext of comparisons: what they take for 12 levels
    /// from one bootstrap to the next.
    fn price_of_comparisons(&self, elements: usize) -> f64 {
        /// Levels of elements before their first comparison, and those of counts before they are bootstrapped.
        const FIRST: f64 = 11.0;
        const OF_COUNTS: f64 = 6.0;
        const BETWEEN: f64 = 12.0;
        const OF_LEVEL: f64 = 0.1;
        let levels = levels(self.zone, 1.0 / elements as f64);
        ((levels + OF_COUNTS - FIRST) / BETWEEN).ceil().max(0.0) + OF_LEVEL * levels
    }
}

/// About the levels of a sign of numbers from a distance on, within an error.
fn levels(distance: f64, error: f64) -> f64 {
    0.75 * -libm::log2(distance) + 0.35 * -libm::log2(error) + 2.0
}

impl Search {
    /// The cheapest rounds after which the interval is no longer than `width`.
    pub(super) fn new(width: f64, size: Size) -> Self {
        /// Bootstraps of counts and of the sums that follow from them, and their products.
        const OF_COUNTS: f64 = 4.5;
        let price = |thresholds: usize, rounds: &[Round]| -> f64 {
            let of_round = |(at, round): (usize, &Round)| {
                // The first interval is the same for all.
                let searched = if at == 0 { 1 } else { size.ranks };
                (searched * size.groups(thresholds)) as f64 * round.price_of_comparisons(size.elements) + OF_COUNTS
            };
            rounds.iter().enumerate().map(of_round).sum()
        };
        let fits = |thresholds: &usize| size.ranks * size.groups(*thresholds) <= size.elements;
        let counts = (1..=MOST_THRESHOLDS.ilog2()).map(|log| 1 << log).filter(fits);
        let mut best: Option<(f64, Self)> = None;
        for thresholds in counts.chain([2]) {
            for count in 1..=MOST_ROUNDS {
                let shrunk = (thresholds + 1) as f64 * libm::pow(width, 1.0 / count as f64);
                let zone = ((shrunk - 1.0) / 2.0 - NOISE - APPROXIMATED).min(LARGEST_ZONE);
                if zone < LEAST_ZONE && count < MOST_ROUNDS {
                    continue;
                }
                let (rounds, width) = Round::all(count, thresholds, zone.max(LEAST_ZONE));
                let price = price(thresholds, &rounds);
                if best.as_ref().is_none_or(|(least, _)| price < *least) {
                    best = Some((price, Self { thresholds, rounds, width }));
                }
            }
        }
        best.expect("rounds for two thresholds").1
    }

    /// How far elements are from thresholds at most, where the range of elements and the first interval have length 1.
    pub(super) fn reach(&self) -> f64 {
        // Thresholds of later rounds may be above the range by the length of their interval.
        1.0 + self.rounds.get(1).map_or(self.width, |second| second.step * (self.thresholds + 1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_become_as_short_as_is_wanted() {
        for width in [2.0, 0.5, 1e-2, 1e-4, 1e-6] {
            for (ranks, elements, blocks) in [(1, 16, 32), (2, 1 << 14, 2), (2, 1 << 15, 1), (1, 512, 4)] {
                let search = Search::new(width, Size { ranks, elements, blocks });
                assert!(search.width <= width.min(1.0) * (1.0 + 1e-9), "{search:?}");
                let mut length = 1.0;
                for round in &search.rounds {
                    assert!((length - round.step * (search.thresholds + 1) as f64).abs() < 1e-12 * length);
                    // No element is as near to two thresholds.
                    assert!(round.zone < round.step / 2.0 && round.slack > round.zone);
                    length = round.step + 2.0 * round.slack;
                }
                assert!((length - search.width).abs() < 1e-12);
            }
        }
    }
}
