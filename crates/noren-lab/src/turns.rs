//! Operations that are compared with each other take turns.

use std::time::{Duration, Instant};

use noren_cli::measure::{LEAST_SAMPLES, Timing};

/// The number of turns of operations that are compared.
const TURNS: u32 = 10;

/// How long calls take that are compared with each other, each over `seconds` and with at least five samples: they take
/// turns, so that a machine that is slower for a while is so for all of them.
///
/// The cache at the begin of a turn holds another operation's data, so the first call is not counted, unless it fills the turn
/// alone: then filling the cache is a small part of it. A call is to take far longer than the clock's resolution.
///
/// # Errors
/// The errors of a call.
pub(crate) fn in_turns<E>(seconds: f64, calls: &mut [impl FnMut() -> Result<(), E>]) -> Result<Vec<Timing>, E> {
    let budget = Duration::from_secs_f64(seconds);
    let turn = budget / TURNS;
    let mut spent = vec![Duration::ZERO; calls.len()];
    let mut samples = vec![Vec::new(); calls.len()];
    let lacks = |spent, samples: &Vec<f64>| spent < budget || samples.len() < LEAST_SAMPLES;
    while spent.iter().zip(&samples).any(|(&spent, samples)| lacks(spent, samples)) {
        for ((call, samples), spent) in calls.iter_mut().zip(&mut samples).zip(&mut spent) {
            if !lacks(*spent, samples) {
                continue;
            }
            let begin = Instant::now();
            call()?;
            if begin.elapsed() >= turn {
                samples.push(begin.elapsed().as_secs_f64() * 1e9);
            }
            while begin.elapsed() < turn {
                let start = Instant::now();
                call()?;
                samples.push(start.elapsed().as_secs_f64() * 1e9);
            }
            *spent += begin.elapsed();
        }
    }
    Ok(samples.iter_mut().map(|samples| Timing::of(samples)).collect())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn calls_that_are_compared_take_turns() {
        let order = RefCell::new(Vec::new());
        let call = |name: char, millis| {
            let order = &order;
            move || {
                order.borrow_mut().push(name);
                std::thread::sleep(Duration::from_millis(millis));
                Ok::<_, Infallible>(())
            }
        };
        // Turns of 5 ms: the second has its time after three, and its samples after five.
        let Ok(timings) = in_turns(0.05, &mut [call('a', 2), call('b', 20)]);
        let mut turns = order.into_inner();
        turns.dedup();
        assert!(turns.iter().collect::<String>().starts_with("ababababab"), "{turns:?}");
        assert!(timings[0].reps >= 5 && timings[0].median_ns >= 2e6, "{timings:?}");
        assert!(timings[1].reps == 5 && timings[1].median_ns >= 2e7, "{timings:?}");
    }
}
