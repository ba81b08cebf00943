//! Advice: all schemes for a workload, in order, with prices and reasons.

use noren_rlwe::error::Result;
use serde::Serialize;

use crate::advisor::candidate::{Accuracy, Candidate, Outcome, Rejection};
use crate::advisor::compiled::offered;
use crate::advisor::limits::Limits;
use crate::advisor::peers::{PeerEstimate, estimates};
use crate::advisor::rank::{Goal, undominated};
use crate::advisor::refusal::{Nearest, Refusal, suggestion};
use crate::advisor::workload::{Computation, Workload};
use crate::backends::scheme::Scheme;
use crate::backends::table::Backends;
use crate::cost::price::{Party, Price};

/// The ways to do a workload, the best first.
#[derive(Debug, Clone)]
pub struct Advice {
    /// The candidates.
    pub candidates: Vec<Candidate>,
    /// Estimated costs of other libraries with the schemes of the candidates.
    pub peers: Vec<PeerEstimate>,
    /// The refused ways, and why.
    pub rejections: Vec<Rejection>,
}

/// A candidate, as files and tables show it.
#[derive(Debug, Clone, Serialize)]
pub struct Row<'a> {
    /// The scheme.
    pub scheme: Scheme,
    /// The library.
    pub library: &'a str,
    /// The parameters in words.
    pub parameters: &'a str,
    /// The price of all instances.
    pub price: &'a Price,
    /// The accuracy of results.
    pub accuracy: Accuracy,
    /// How far below 1 the absolute values of inputs stay that the accuracy is of; 0 for all values.
    pub excluded: f64,
    /// The reasons for it and against it.
    pub reasons: &'a [String],
    /// A Python script that does it once; empty where there is none.
    pub script: String,
}

/// Advice with what it is for: what files, tables and other languages show.
#[derive(Debug, Clone, Serialize)]
pub struct Report<'a, W = Workload> {
    /// The workload.
    pub workload: &'a W,
    /// The processor of the client.
    pub client: &'a str,
    /// The processor of the server.
    pub server: &'a str,
    /// The threads of the server.
    pub threads: usize,
    /// The candidates, the best first.
    pub candidates: Vec<Row<'a>>,
    /// Estimated costs of other libraries with the same schemes, the shortest time of the server first.
    pub peers: &'a [PeerEstimate],
    /// The refused ways, and why.
    pub rejections: &'a [Rejection],
}

/// The ways to do a workload, ordered by what is to be short.
///
/// # Errors
/// [`Error::Parameters`](noren_rlwe::error::Error::Parameters) for a workload that no scheme can be asked for, limits that are
/// no times, or a machine without costs of the threads; if no scheme can do the workload within the limits, with the nearest that
/// is possible, which was tried.
///
/// # Examples
/// ```
/// use noren::advisor::{Computation, Limits, Scheme, Values, Workload, advise};
/// use noren::cost::{Machine, Party};
///
/// let server = Party { machine: Machine::reference(), threads: 1 };
/// let workload = Workload::new(Computation::InnerProduct { length: 100 }, Values::Real { bits: 20.0 });
/// let advice = advise(&workload, &server, &server, &Limits::default())?;
/// assert_eq!(advice.candidates[0].scheme, Scheme::Ckks);
/// # Ok::<(), noren::Error>(())
/// ```
pub fn advise(workload: &Workload, client: &Party, server: &Party, limits: &Limits) -> Result<Advice> {
    workload.check()?;
    limits.check()?;
    let limits = limits.within(client, server);
    attempt(workload, client, server, &limits)?.map_err(|refusal| {
        let works = suggestion(workload, &limits, &refusal, |workload, limits| {
            attempt(workload, client, server, limits).is_ok_and(|advice| advice.is_ok())
        });
        refusal.error(works)
    })
}

/// The advice, or why there is none.
fn attempt(
    workload: &Workload,
    client: &Party,
    server: &Party,
    limits: &Limits,
) -> Result<std::result::Result<Advice, Refusal>> {
    let outcomes = offered(&Backends::ALL, workload, client, server)?;
    let goal = Goal::new(workload.objective, client, server);
    Ok(Advice::ranked(outcomes, &goal, limits, server, Some(workload.computation)))
}

impl Advice {
    /// The advice with what it is for.
    #[must_use]
    pub fn report<'a>(&'a self, workload: &'a Workload, client: &'a Party, server: &'a Party) -> Report<'a> {
        self.report_for(workload, client, server, |candidate| candidate.script(workload))
    }

    /// Puts what schemes have to offer in order: what is within limits, and of each scheme what nothing else of it is as good as
    /// in every respect. Peers are those of a computation.
    pub(crate) fn ranked(
        outcomes: Vec<Outcome>,
        goal: &Goal,
        limits: &Limits,
        server: &Party,
        computation: Option<Computation>,
    ) -> std::result::Result<Self, Refusal> {
        let mut advice = Self { candidates: Vec::new(), peers: Vec::new(), rejections: Vec::new() };
        let mut nearest: Option<Nearest> = None;
        for outcome in outcomes {
            let candidates = match outcome {
                Err(rejection) => {
                    advice.rejections.push(rejection);
                    continue;
                }
                Ok(candidates) => candidates,
            };
            let (mut kept, mut closest) = (Vec::new(), None::<Nearest>);
            for candidate in candidates {
                match limits.exceeded(&candidate.price) {
                    None => kept.push(candidate),
                    Some((excess, reason)) => {
                        let (scheme, price) = (candidate.scheme, candidate.price);
                        if closest.as_ref().is_none_or(|closest| excess < closest.excess) {
                            closest = Some(Nearest { excess, scheme, reason, price });
                        }
                    }
                }
            }
            if kept.is_empty()
                && let Some(closest) = closest
            {
                advice.rejections.push(Rejection { scheme: closest.scheme, reason: closest.reason.clone() });
                if nearest.as_ref().is_none_or(|nearest| closest.excess < nearest.excess) {
                    nearest = Some(closest);
                }
            }
            advice.candidates.extend(undominated(kept, goal));
        }
        if advice.candidates.is_empty() {
            return Err(Refusal { nearest: nearest.map(Box::new), rejections: advice.rejections });
        }
        advice.candidates.sort_by(|a, b| goal.order(&a.price).total_cmp(&goal.order(&b.price)));
        advice.compare(goal);
        advice.peers = estimates(&advice.candidates, server, limits.server_seconds, computation);
        Ok(advice)
    }

    /// The advice with what it is for, and a script of each candidate.
    pub(crate) fn report_for<'a, W>(
        &'a self,
        workload: &'a W,
        client: &'a Party,
        server: &'a Party,
        script: impl Fn(&Candidate) -> String,
    ) -> Report<'a, W> {
        let row = |candidate: &'a Candidate| Row {
            scheme: candidate.scheme,
            library: &candidate.library,
            parameters: &candidate.parameters,
            price: &candidate.price,
            accuracy: candidate.accuracy,
            excluded: candidate.excluded,
            reasons: &candidate.reasons,
            script: script(candidate),
        };
        Report {
            workload,
            client: &client.machine.processor,
            server: &server.machine.processor,
            threads: server.threads,
            candidates: self.candidates.iter().map(row).collect(),
            peers: &self.peers,
            rejections: &self.rejections,
        }
    }

    /// Says of all candidates but the first why they are not first.
    fn compare(&mut self, goal: &Goal) {
        let Some((best, others)) = self.candidates.split_first_mut() else { return };
        let (first, shortest) = (best.scheme, goal.seconds(&best.price).max(f64::MIN_POSITIVE));
        for other in others {
            let ratio = goal.seconds(&other.price) / shortest;
            if other.price.helper_seconds > 0.0 {
                other.reasons.push("comes later because it takes another device".to_owned());
            }
            let longest = other.price.parts.iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
            let most =
                longest.map_or_else(String::new, |part| format!(", most of it for {:.0} {}", part.count, part.name));
            if ratio >= 1.0 {
                other.reasons.push(format!("takes {ratio:.1} times as long as {first}{most}"));
            }
        }
    }
}

impl<W: Serialize> Report<'_, W> {
    /// The report as JSON.
    ///
    /// # Panics
    /// Never: it is plain data.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a report is plain data")
    }
}
