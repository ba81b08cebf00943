//! Order among candidates: by what is to be short.

use std::cmp::Ordering;

use crate::advisor::candidate::Candidate;
use crate::advisor::workload::Objective;
use crate::cost::machine::Machine;
use crate::cost::price::{Party, Price};
use crate::cost::work::{Unit, Work};

/// A client whose cores take so many times as long as the server's is a slower device.
const SLOWER: f64 = 2.0;
/// A way for which another device of the client's owner makes the keys comes before others only if it saves more than this.
const HELP_SECONDS: f64 = 60.0;
/// Prices that differ by less than this part are alike.
const ALIKE: f64 = 0.05;
/// The work by which devices are compared.
const COMPARED: (Unit, f64) = (Unit::Transform(13), 1e6);

/// The order of candidates.
#[derive(Debug, Clone, Copy)]
pub struct Goal(Objective);

impl Goal {
    /// The goal of an objective for a client and a server.
    #[must_use]
    pub fn new(objective: Objective, client: &Party, server: &Party) -> Self {
        Self(match objective {
            Objective::Auto if is_slower(client, server) => Objective::Once,
            Objective::Auto => Objective::Server,
            stated => stated,
        })
    }

    /// The seconds that count.
    #[must_use]
    pub fn seconds(&self, price: &Price) -> f64 {
        match self.0 {
            Objective::Auto | Objective::Server => price.server_seconds,
            Objective::Latency => price.encrypt_seconds + price.server_seconds + price.decrypt_seconds,
            Objective::Once => {
                price.client_seconds() + price.helper_seconds + price.prepare_seconds + price.server_seconds
            }
        }
    }

    /// The number by which candidates are sorted, in seconds.
    pub(super) fn order(&self, price: &Price) -> f64 {
        self.seconds(price) + if price.helper_seconds > 0.0 { HELP_SECONDS } else { 0.0 }
    }
}

/// Whether a client is a slower device than its server.
pub(super) fn is_slower(client: &Party, server: &Party) -> bool {
    let seconds = |machine: &Machine| machine.seconds(&Work::of(COMPARED.0, COMPARED.1), 1).unwrap_or_default();
    seconds(&client.machine) > SLOWER * seconds(&server.machine)
}

/// The candidates that no other is as good as in everything that can be asked for, the first by the goal first.
pub(super) fn undominated(mut candidates: Vec<Candidate>, goal: &Goal) -> Vec<Candidate> {
    // Of those that take as long, what is better in the rest comes first.
    let rest = |a: &Candidate, b: &Candidate| {
        let pairs = respects(a, goal).into_iter().zip(respects(b, goal));
        pairs.map(|(a, b)| a.total_cmp(&b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    };
    candidates.sort_by(|a, b| goal.order(&a.price).total_cmp(&goal.order(&b.price)).then_with(|| rest(a, b)));
    let mut kept: Vec<Candidate> = Vec::new();
    for candidate in candidates {
        let found = respects(&candidate, goal);
        let worse = |other: &Candidate| respects(other, goal).iter().zip(found).all(|(a, b)| a - b <= ALIKE * a.abs());
        if !kept.iter().any(worse) {
            kept.push(candidate);
        }
    }
    kept
}

/// The criteria for a candidate, each better where it is less; all have the precision and the probability of failure that
/// were asked for.
fn respects(candidate: &Candidate, goal: &Goal) -> [f64; 7] {
    let price = &candidate.price;
    [
        goal.seconds(price),
        price.client_seconds(),
        price.helper_seconds,
        price.server_memory as f64,
        price.client_memory as f64,
        (price.key_bytes + price.input_bytes + price.result_bytes) as f64,
        candidate.excluded,
    ]
}
