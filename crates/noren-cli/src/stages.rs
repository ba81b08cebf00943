//! Times of the stages of long work, which may come again and again.

use std::fmt;
use std::time::Instant;

use serde::Serialize;

/// The time of each stage, in the order in which they came first.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct Stages {
    times: Vec<StageTime>,
    /// When the last stage ended.
    #[serde(skip)]
    last: Instant,
}

#[derive(Serialize)]
struct StageTime {
    stage: &'static str,
    seconds: f64,
}

impl Stages {
    /// No stages yet; the first begins now.
    pub(crate) fn begin() -> Self {
        Self { times: Vec::new(), last: Instant::now() }
    }

    /// A stage begins now.
    pub(crate) fn restart(&mut self) {
        self.last = Instant::now();
    }

    /// A stage ends now, and the next one begins.
    pub(crate) fn end(&mut self, stage: &'static str) {
        let seconds = self.last.elapsed().as_secs_f64();
        match self.times.iter_mut().find(|time| time.stage == stage) {
            Some(time) => time.seconds += seconds,
            None => self.times.push(StageTime { stage, seconds }),
        }
        self.restart();
    }
}

/// A line for each stage, each ended.
impl fmt::Display for Stages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.times.iter().try_for_each(|StageTime { stage, seconds }| writeln!(f, "  {stage:<14} {seconds:.3} s"))
    }
}
