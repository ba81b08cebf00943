//! Estimates for other libraries: noren's predicted times, times ratios that were measured.

use serde::{Deserialize, Serialize};

use crate::advisor::candidate::Candidate;
use crate::advisor::workload::Computation;
use crate::backends::scheme::Scheme;
use crate::cost::price::Party;

/// The time of another library with a scheme, by its times beside noren's.
///
/// Its times are those of noren's candidate of the same scheme times a [`Ratio`]. It has no plan and no memory: what the library
/// would run was not counted. `bench/docs.py` makes the ratios from `bench/results`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PeerEstimate {
    /// The scheme.
    pub scheme: Scheme,
    /// The library.
    pub library: &'static str,
    /// The version that was measured.
    pub version: &'static str,
    /// The server's time, in seconds.
    pub server_seconds: f64,
    /// The client's time for the keys that it sends; nothing where it was not measured.
    pub keys_seconds: Option<f64>,
    /// The client's time to encode and encrypt the inputs; nothing where it was not measured.
    pub encrypt_seconds: Option<f64>,
    /// The client's time to decrypt and decode the results; nothing where it was not measured.
    pub decrypt_seconds: Option<f64>,
    /// The measurement that the server's time rests on.
    pub ratio: &'static Ratio,
    /// The ratios and what they are of, in words.
    pub reasons: Vec<String>,
}

/// The median of ratios peer / noren over operations that both did in one run.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ratio {
    /// The number of threads.
    pub threads: usize,
    /// The median.
    pub ratio: f64,
    /// The least ratio.
    pub least: f64,
    /// The greatest ratio.
    pub most: f64,
    /// The number of operations.
    pub rows: usize,
    /// The operations, in words.
    pub what: String,
    /// The machine.
    pub machine: String,
    /// The instruction set of noren's kernels.
    pub isa: String,
    /// The day, as year, month and day.
    pub date: String,
    /// The file below `bench/results`.
    pub records: String,
}

/// The ratios of a library with a scheme, by the number of threads, ascending.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Peer {
    scheme: Scheme,
    library: String,
    version: String,
    /// A remark on the ratios, or nothing.
    note: String,
    server: Vec<Ratio>,
    inner_products: Vec<Ratio>,
    products: Vec<Ratio>,
    keys: Vec<Ratio>,
    encrypt: Vec<Ratio>,
    decrypt: Vec<Ratio>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "made_by")]
    _made_by: String,
    peers: Vec<Peer>,
}

/// All peers.
///
/// # Panics
/// Never: the file is a part of the library, and tested.
fn peers() -> &'static [Peer] {
    static PEERS: std::sync::OnceLock<File> = std::sync::OnceLock::new();
    &PEERS.get_or_init(|| serde_json::from_str(include_str!("peers.json")).expect("the file is well formed")).peers
}

/// The estimates beside noren's candidates, the shortest time of the server first; those above `longest` seconds say so.
pub(super) fn estimates(
    candidates: &[Candidate],
    server: &Party,
    longest: Option<f64>,
    computation: Option<Computation>,
) -> Vec<PeerEstimate> {
    let first = |at: &usize| candidates[..*at].iter().all(|before| before.scheme != candidates[*at].scheme);
    let each = (0..candidates.len()).filter(first).flat_map(|at| {
        let candidate = &candidates[at];
        let same = peers().iter().filter(|peer| peer.scheme == candidate.scheme);
        same.filter_map(move |peer| peer.estimate(candidate, server, longest, computation))
    });
    let mut estimates: Vec<PeerEstimate> = each.collect();
    estimates.sort_by(|a, b| a.server_seconds.total_cmp(&b.server_seconds));
    estimates
}

/// The ratio of the most threads that are no more than `threads`, or else of the fewest.
fn with_threads(ratios: &'static [Ratio], threads: usize) -> Option<&'static Ratio> {
    ratios.iter().rev().find(|ratio| ratio.threads <= threads).or(ratios.first())
}

impl Peer {
    fn estimate(
        &'static self,
        candidate: &Candidate,
        server: &Party,
        longest: Option<f64>,
        computation: Option<Computation>,
    ) -> Option<PeerEstimate> {
        let price = &candidate.price;
        // Of the same computation where it was measured.
        let measured = match computation {
            Some(Computation::InnerProduct { .. }) => &self.inner_products[..],
            Some(Computation::Product { .. }) => &self.products,
            _ => &[],
        };
        let ratio = with_threads(measured, server.threads).or_else(|| with_threads(&self.server, server.threads))?;
        let server_seconds = price.server_seconds * ratio.ratio;
        let mut reasons = vec![format!("the server takes {}", ratio.words())];
        let mut client = |name: &str, seconds: f64, ratios: &'static [Ratio]| {
            let ratio = with_threads(ratios, 1)?;
            reasons.push(format!("{name} takes {}", ratio.words()));
            Some(seconds * ratio.ratio)
        };
        let keys_seconds = client("making keys", price.keys_seconds, &self.keys);
        let encrypt_seconds = client("encryption", price.encrypt_seconds, &self.encrypt);
        let decrypt_seconds = client("decryption", price.decrypt_seconds, &self.decrypt);
        if !ratio.isa.split('/').any(|isa| isa == server.machine.isa) {
            let (measured, here) = (&ratio.isa, &server.machine.isa);
            reasons.push(format!("the ratios are to noren with {measured}, which this server has not: it has {here}"));
        }
        if let Some(limit) = longest.filter(|limit| server_seconds > *limit) {
            reasons.push(format!("beyond the limit of {limit:.3} s on the server"));
        }
        reasons.extend((!self.note.is_empty()).then(|| self.note.clone()));
        Some(PeerEstimate {
            scheme: self.scheme,
            library: &self.library,
            version: &self.version,
            server_seconds,
            keys_seconds,
            encrypt_seconds,
            decrypt_seconds,
            ratio,
            reasons,
        })
    }
}

impl Ratio {
    /// The ratio with what it rests on.
    fn words(&self) -> String {
        let Self { threads, ratio, least, most, rows, what, machine, date, .. } = self;
        let range =
            if *rows > 1 { format!("median of {rows}, from {least} to {most}") } else { "one ratio".to_owned() };
        let threads = if *threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
        format!("{ratio} times as long as noren ({range}: {what} with {threads} on {machine}, {date})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_positive_and_each_rests_on_something() {
        assert!(!peers().is_empty());
        for peer in peers() {
            assert!(!peer.server.is_empty() && !peer.version.is_empty(), "{} {}", peer.scheme, peer.library);
            for ratio in [&peer.server, &peer.inner_products, &peer.products, &peer.keys, &peer.encrypt, &peer.decrypt]
                .into_iter()
                .flatten()
            {
                assert!(ratio.rows > 0 && 0.0 < ratio.least, "{ratio:?}");
                assert!(ratio.least <= ratio.ratio && ratio.ratio <= ratio.most, "{ratio:?}");
                assert!(!ratio.machine.is_empty() && ratio.records.contains(&ratio.date), "{ratio:?}");
            }
            assert!(peer.server.is_sorted_by_key(|ratio| ratio.threads));
        }
    }

    #[test]
    fn the_ratio_of_the_most_threads_that_the_server_has_counts() {
        let ckks = peers().iter().find(|peer| peer.scheme == Scheme::Ckks).expect("measured");
        let threads = |wanted| with_threads(&ckks.server, wanted).map(|ratio| ratio.threads);
        assert_eq!([threads(1), threads(2), threads(64)], [Some(1), Some(2), Some(2)]);
        assert_eq!(with_threads(&[], 1), None);
    }
}
