//! Measuring: how long an operation takes, warm, often enough to say.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

/// The fewest samples.
pub const LEAST_SAMPLES: usize = 5;
/// The most samples: more say nothing new.
const MOST_SAMPLES: usize = 100_000;
/// Short operations are repeated until a sample takes so long: a thousand times the resolution of the clock.
const SAMPLE: Duration = Duration::from_micros(50);
/// The part of the time that is spent on warming up.
const WARM_UP: f64 = 0.2;
/// The time that goes to the samples of a slow operation.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long an operation takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    /// The median of all samples.
    pub median_ns: f64,
    /// The median of the absolute deviations from the median.
    pub mad_ns: f64,
    /// The number of samples.
    pub reps: usize,
}

/// How long one call takes, divided by `per`: warm, over `seconds`, and with at least five samples.
///
/// # Errors
/// The errors of the operation.
pub fn time<E>(seconds: f64, per: f64, mut call: impl FnMut() -> Result<(), E>) -> Result<Timing, E> {
    let mut sample = |repeats: u32| {
        let start = Instant::now();
        (0..repeats).try_for_each(|_| call())?;
        Ok(start.elapsed())
    };
    let budget = Duration::from_secs_f64(seconds);
    let start = Instant::now();
    let mut repeats = 1;
    while sample(repeats)? < SAMPLE {
        repeats *= 2;
    }
    while start.elapsed() < budget.mul_f64(WARM_UP) {
        sample(repeats)?;
    }
    let start = Instant::now();
    let mut samples = Vec::new();
    while samples.len() < LEAST_SAMPLES || (start.elapsed() < budget && samples.len() < MOST_SAMPLES) {
        samples.push(sample(repeats)?.as_secs_f64() * 1e9 / f64::from(repeats) / per);
    }
    Ok(Timing::of(&mut samples))
}

/// The result of a call, and how long calls take: as [`time`] says where five calls take less than ten seconds, else of as many
/// calls as begin in that time after the first one, or, if the first one takes longer, of that alone.
///
/// # Errors
/// The errors of the operation.
pub fn with_result<T, E>(seconds: f64, mut call: impl FnMut() -> Result<T, E>) -> Result<(T, Timing), E> {
    let start = Instant::now();
    let result = call()?;
    let first = start.elapsed();
    let mut again = || call().map(|result| drop(black_box(result)));
    if first * (LEAST_SAMPLES as u32) < PATIENCE {
        return Ok((result, time(seconds, 1.0, again)?));
    }
    let mut samples = Vec::new();
    while start.elapsed() < PATIENCE {
        let begin = Instant::now();
        again()?;
        samples.push(begin.elapsed().as_secs_f64() * 1e9);
    }
    if samples.is_empty() {
        samples.push(first.as_secs_f64() * 1e9);
    }
    Ok((result, Timing::of(&mut samples)))
}

impl Timing {
    /// The statistics of samples, at least one.
    pub fn of(samples: &mut [f64]) -> Self {
        let median_ns = median(samples);
        let mut deviations: Vec<f64> = samples.iter().map(|x| (x - median_ns).abs()).collect();
        Self { median_ns, mad_ns: median(&mut deviations), reps: samples.len() }
    }
}

/// The middle of the numbers in order; the mean of the two in the middle where there are two.
fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    let middle = samples.len() / 2;
    if samples.len() % 2 == 1 { samples[middle] } else { (samples[middle - 1] + samples[middle]) / 2.0 }
}

/// A time in nanoseconds.
pub fn nanoseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e9
}

/// Runs `work` with the path of a file of this process in the directory for temporary files, and removes the file.
pub fn with_scratch_file<T>(work: impl FnOnce(&Path) -> T) -> T {
    let path = std::env::temp_dir().join(format!("noren-bench-{}.keys", std::process::id()));
    let result = work(&path);
    // Where it cannot be removed, the record counts all the same.
    let _ = std::fs::remove_file(&path);
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn medians_are_the_middle() {
        let timing = Timing::of(&mut [5.0, 1.0, 100.0, 2.0, 4.0]);
        assert_eq!(timing, Timing { median_ns: 4.0, mad_ns: 2.0, reps: 5 });
        assert_eq!(median(&mut [4.0, 1.0, 3.0, 2.0]), 2.5);
    }

    #[test]
    fn a_slow_call_is_sampled_five_times_and_timed_whole() {
        let pause = Duration::from_millis(3);
        let mut calls = 0;
        let timing = time(0.0, 1.0, || {
            calls += 1;
            std::thread::sleep(pause);
            Ok::<_, Infallible>(())
        });
        let Ok(timing) = timing;
        // One call warms up.
        assert_eq!((timing.reps, calls), (5, 6));
        assert!(timing.median_ns >= pause.as_nanos() as f64);
    }

    #[test]
    fn the_result_of_a_call_comes_with_its_timing() {
        let mut calls = 0;
        let found = with_result(0.0, || {
            calls += 1;
            std::thread::sleep(Duration::from_millis(1));
            Ok::<_, Infallible>(calls)
        });
        let Ok((result, timing)) = found;
        // One call for the result, one warms up.
        assert_eq!((result, timing.reps, calls), (1, 5, 7));
    }

    #[test]
    fn a_fast_call_is_repeated_within_a_sample() {
        let mut calls = 0u64;
        let timing = time(0.01, 2.0, || {
            calls = std::hint::black_box(calls + 1);
            Ok::<_, Infallible>(())
        });
        let Ok(timing) = timing;
        assert!(timing.reps >= LEAST_SAMPLES && calls > timing.reps as u64);
        assert!(timing.median_ns < SAMPLE.as_nanos() as f64 / 2.0);
    }
}
