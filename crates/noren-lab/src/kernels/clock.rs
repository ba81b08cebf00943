//! The clock of the core.

use std::hint::black_box;
use std::time::Instant;

/// The steps of the chain in one sample, about a tenth of a millisecond.
const STEPS: u32 = 1 << 18;
/// The samples; the fastest counts, because nothing makes a core run faster than its clock.
const SAMPLES: usize = 20;

/// The cycles in a nanosecond, by a chain of additions and exclusive ors: each waits for the one before it, and takes
/// one cycle.
pub(super) fn cycles_per_ns() -> f64 {
    let sample = || {
        let (mut x, step, mask) = (black_box(1u64), black_box(3u64), black_box(5u64));
        let start = Instant::now();
        for _ in 0..STEPS {
            x = x.wrapping_add(step) ^ mask;
        }
        let elapsed = start.elapsed().as_secs_f64() * 1e9;
        black_box(x);
        2.0 * f64::from(STEPS) / elapsed
    };
    (0..SAMPLES).map(|_| sample()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_those_of_processors() {
        let clock = cycles_per_ns();
        assert!((0.1..10.0).contains(&clock), "{clock} GHz");
    }
}
