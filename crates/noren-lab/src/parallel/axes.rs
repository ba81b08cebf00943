//! Which points are measured.

use clap::ValueEnum;
use noren_cli::measure::{Failure, hardware_threads};

/// The level of the first figure: that of Akimoto and Sakuma.
pub(super) const LEVEL: usize = 16;
/// The second figure's levels end here: those of Akimoto and Sakuma.
const MOST_LEVELS: usize = 32;
/// More threads than cores, in multiples of these.
const OVERSUBSCRIBED: [usize; 2] = [2, 4];

/// The figures of Akimoto and Sakuma, "Speed-up of RNS type approximate homomorphic encryption by parallel processing".
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Figure {
    /// Time against threads, at level 16
    Threads,
    /// Time against levels, on one number of threads
    Levels,
}

/// The points of both figures.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Axes {
    /// Numbers of threads at level 16.
    pub(super) threads: Vec<usize>,
    /// Levels on [`Axes::fixed`] threads.
    pub(super) levels: Vec<usize>,
    pub(super) fixed: usize,
}

impl Axes {
    /// The points of one figure or both; what is empty has its defaults: all numbers of threads up to that of the cores, two
    /// and four times as many; levels 1 to 32 on all cores.
    ///
    /// # Errors
    /// Levels that there are not, and several numbers of threads for the figure against levels.
    pub(super) fn new(figure: Option<Figure>, threads: &[usize], levels: &[usize]) -> Result<Self, Failure> {
        let refused =
            |what, found: String, needed: &str| Err(Failure::Unsuitable { what, found, needed: needed.into() });
        if let Some(level) = levels.iter().find(|level| !(1..=MOST_LEVELS).contains(*level)) {
            return refused("--level", level.to_string(), "1 to 32");
        }
        if figure == Some(Figure::Threads) && !levels.is_empty() {
            return refused("--level", "levels".into(), "the figure levels: the figure threads is at level 16");
        }
        if figure == Some(Figure::Levels) && threads.len() > 1 {
            return refused("--threads", "a list".into(), "one number for the figure levels");
        }
        let cores = hardware_threads();
        let more = OVERSUBSCRIBED.map(|times| times * cores);
        let all = if threads.is_empty() { (1..=cores).chain(more).collect() } else { threads.to_vec() };
        let fixed = if figure == Some(Figure::Levels) { threads.first().copied().unwrap_or(cores) } else { cores };
        let every = if levels.is_empty() { (1..=MOST_LEVELS).collect() } else { levels.to_vec() };
        let (all, every) = match figure {
            None => (all, every),
            Some(Figure::Threads) => (all, Vec::new()),
            Some(Figure::Levels) => (Vec::new(), every),
        };
        Ok(Self { threads: all, levels: every, fixed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_their_points() {
        let threads = Axes::new(Some(Figure::Threads), &[1, 2], &[]).expect("points");
        assert_eq!((threads.threads, threads.levels), (vec![1, 2], vec![]));
        let levels = Axes::new(Some(Figure::Levels), &[3], &[]).expect("points");
        assert_eq!((levels.threads, levels.levels.len(), levels.fixed), (vec![], 32, 3));
        let both = Axes::new(None, &[], &[4]).expect("points");
        assert!(both.threads.ends_with(&[2 * hardware_threads(), 4 * hardware_threads()]));
        assert_eq!((both.levels, both.fixed), (vec![4], hardware_threads()));
    }

    #[test]
    fn points_that_there_are_not_are_refused() {
        let refused = |figure, threads: &[usize], levels: &[usize]| {
            Axes::new(figure, threads, levels).expect_err("refused").to_string()
        };
        assert!(refused(None, &[], &[33]).contains("1 to 32"));
        assert!(refused(Some(Figure::Threads), &[], &[3]).contains("level 16"));
        assert!(refused(Some(Figure::Levels), &[1, 2], &[]).contains("one number"));
    }
}
