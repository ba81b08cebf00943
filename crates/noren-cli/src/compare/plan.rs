//! The steps of a comparison: what is measured, in which suite, and by whom.

/// A step of a comparison: a suite with its options.
pub(super) struct ComparisonStep {
    pub(super) suite: &'static str,
    pub(super) options: Vec<(&'static str, String)>,
    /// Whether peers measure it too.
    pub(super) peers: bool,
    /// Whether it is one for a single thread, whatever is asked for.
    pub(super) single: bool,
}

/// The seconds that go to each operation, in a quick and in a whole run.
pub(super) const SECONDS: [f64; 2] = [0.1, 0.3];

/// The numbers of values of the comparison.
const COUNTS: [usize; 6] = [2, 20, 40, 60, 80, 100];
/// Of products in a row: without bootstraps, and with the most.
const FEW_COUNTS: [usize; 3] = [2, 20, 100];
/// The most values that take no bootstraps in CKKS, and no minutes in TFHE.
const SHORT: usize = 20;

impl ComparisonStep {
    fn new(suite: &'static str, options: &[(&'static str, &str)]) -> Self {
        let options = options.iter().map(|&(name, value)| (name, value.to_owned())).collect();
        Self { suite, options, peers: true, single: false }
    }

    fn alone(self) -> Self {
        Self { peers: false, ..self }
    }

    /// The step in words: the suite and its options.
    pub(super) fn name(&self) -> String {
        let options = self.options.iter().map(|(name, value)| format!(" {name} {value}"));
        format!("{}{}", self.suite, options.collect::<String>())
    }
}

/// All steps, those of a quick run, or of a whole one.
pub(super) fn steps(quick: bool) -> Vec<ComparisonStep> {
    let mut steps = chains(quick);
    steps.extend(samples(quick));
    for suite in ["inner-product", "product"] {
        for scheme in ["ckks", "tfhe"] {
            for way in ["tree", "paper"] {
                for count in COUNTS {
                    steps.extend(reduction(quick, suite, scheme, way, count));
                }
            }
        }
    }
    steps.extend(clients(quick));
    steps
}

fn chains(quick: bool) -> Vec<ComparisonStep> {
    let depths: &[&str] = if quick { &["2", "6", "10"] } else { &["2", "4", "6", "8", "10"] };
    let schemes = ["bfv", "bgv", "ckks"].iter();
    let each = schemes.flat_map(|scheme| depths.iter().map(move |depth| [("--scheme", *scheme), ("--depth", *depth)]));
    each.map(|options| ComparisonStep::new("chain", &options)).collect()
}

fn samples(quick: bool) -> Vec<ComparisonStep> {
    let workloads: &[&str] =
        if quick { &["BOOL", "client-BOOL"] } else { &["BOOL", "BOOL_128", "2_2", "client-BOOL", "client-2_2"] };
    workloads.iter().map(|name| ComparisonStep::new("tfhe", &[("--workload", name), ("--batch", "1,64")])).collect()
}

/// The step of one reduction, if the run has it.
fn reduction(quick: bool, suite: &'static str, scheme: &str, way: &str, count: usize) -> Option<ComparisonStep> {
    let step = ComparisonStep::new(suite, &[("--scheme", scheme), ("--way", way), ("--count", &count.to_string())]);
    let (is_long, is_few) = (count > SHORT, FEW_COUNTS.contains(&count));
    let in_a_row = suite == "product" && scheme == "ckks" && way == "paper";
    match (quick, scheme, way) {
        (true, "tfhe", _) if is_long => None,
        (true, "tfhe", "tree") => Some(step.alone()),
        (true, _, _) if in_a_row && is_long => is_few.then(|| step.alone()),
        // The bootstraps of peers take minutes, and so do their integers, in a row and as a tree.
        (false, "ckks", _) if in_a_row && !is_few => Some(step.alone()),
        (false, "tfhe", "paper") if !is_few => Some(step.alone()),
        (false, "tfhe", "tree") if is_long => Some(step.alone()),
        _ => Some(step),
    }
}

fn clients(quick: bool) -> Vec<ComparisonStep> {
    let degrees: &[&str] = if quick { &["13", "15"] } else { &["13", "14", "15", "16"] };
    let parts: &[&str] = if quick { &["own", "public", "full"] } else { &["own", "public", "full", "all"] };
    let rings = degrees.iter().map(|bits| ComparisonStep::new("client", &[("--log-n", bits)]));
    let parts = parts.iter().map(|part| ComparisonStep::new("weak-client", &[("--part", part)]).alone());
    rings.chain(parts).map(|step| ComparisonStep { single: true, ..step }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quick_run_has_steps_of_every_suite_of_the_whole_one() {
        let [quick, whole] = [true, false].map(steps);
        assert!(quick.len() < whole.len());
        for step in &whole {
            assert!(quick.iter().any(|found| found.suite == step.suite), "{}", step.name());
        }
        for step in &quick {
            assert!(whole.iter().any(|found| found.name() == step.name()), "{}", step.name());
        }
    }

    #[test]
    fn a_quick_run_leaves_the_longest_products_to_ours() {
        let long = |step: &&ComparisonStep| step.name() == "product --scheme ckks --way paper --count 100";
        assert!(steps(true).iter().find(long).is_some_and(|step| !step.peers));
        assert!(steps(false).iter().find(long).is_some_and(|step| step.peers));
    }
}
