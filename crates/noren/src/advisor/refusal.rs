//! Refusals: why no scheme does a workload, and the nearest workload or limit that works.

use noren_rlwe::error::Error;

use crate::advisor::candidate::Rejection;
use crate::advisor::limits::Limits;
use crate::advisor::workload::{Computation, Values, Workload};
use crate::backends::scheme::Scheme;
use crate::cost::price::Price;

/// The candidate that exceeds its limits least.
#[derive(Debug, Clone)]
pub(crate) struct Nearest {
    /// The ratio to its limit of what exceeds it most.
    pub(crate) excess: f64,
    pub(crate) scheme: Scheme,
    /// The quantity that exceeds it, in words.
    pub(crate) reason: String,
    pub(crate) price: Price,
}

/// Why there is no advice.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub(crate) nearest: Option<Box<Nearest>>,
    pub(crate) rejections: Vec<Rejection>,
}

impl Refusal {
    /// The error, with what works.
    pub(crate) fn error(self, works: Option<String>) -> Error {
        const FOUND: &str = "out of reach of all schemes";
        let works = works.map_or_else(String::new, |works| format!("; {works} works"));
        match self.nearest {
            Some(nearest) => {
                let Nearest { scheme, reason, .. } = *nearest;
                Error::parameter("limits", FOUND, format!("larger; nearest is {scheme}, which {reason}{works}"))
            }
            None => {
                let reasons: Vec<String> = match &self.rejections[..] {
                    // The graph of the workload is refused, for one reason.
                    [first, rest @ ..] if rest.iter().all(|other| other.reason == first.reason) => {
                        vec![first.reason.clone()]
                    }
                    all => all.iter().map(|r| format!("{}: {}", r.scheme, r.reason)).collect(),
                };
                Error::parameter("workload", FOUND, format!("less{works}: {}", reasons.join("; ")))
            }
        }
    }
}

/// Steps between what works and what does not, for real numbers.
const TENTHS: f64 = 10.0;
/// The smallest dead zone that is tried, as a power of two, and the largest.
const ZONES: std::ops::RangeInclusive<i32> = -30..=1;
/// Larger computations are not tried: they take seconds to go through. So do matrices with longer sides.
const MOST_SIZE: u64 = 1 << 14;
const MOST_SIDE: u64 = 1 << 9;
/// Workloads are tried no more often than this.
const MOST_TRIED: usize = 20;
/// The precision of a search for the nearest limit that works, as a part of it.
const PART: u64 = 64;
/// From this on it is a power of two.
const LARGE: u64 = 1 << 10;

/// One number of a workload, made smaller: its name, its value, and the workload with another value.
struct Smaller {
    /// The number in words, after its value.
    name: &'static str,
    value: u64,
    with: fn(&Workload, u64) -> Workload,
    /// Whether it is the size of the computation.
    is_size: bool,
}

/// The nearest workload or limits that work, in words: `advised` was asked whether they do.
pub(super) fn suggestion(
    workload: &Workload,
    limits: &Limits,
    refusal: &Refusal,
    advised: impl Fn(&Workload, &Limits) -> bool,
) -> Option<String> {
    let mut left = MOST_TRIED;
    let mut works = |workload: &Workload, limits: &Limits| {
        left = left.saturating_sub(1);
        left > 0 && workload.check().is_ok() && advised(workload, limits)
    };
    let size = match workload.computation {
        Computation::Squarings { depth: size } | Computation::Polynomial { degree: size } => size,
        _ => workload.inputs().saturating_mul(workload.outputs()),
    };
    let is_small = size as u64 <= MOST_SIZE;
    let Some(nearest) = &refusal.nearest else {
        return nearest_smaller(workload, is_small, |smaller| works(smaller, limits));
    };
    // With these limits the same search has this candidate.
    let wider = limits.wider(&nearest.price);
    let mut found = vec![format!("a limit of {}", wider.differences(limits))];
    if is_small {
        found.extend(nearest_smaller(workload, true, |smaller| works(smaller, limits)));
    }
    Some(found.join(", or "))
}

/// The first number of the workload with which, made smaller, it works, with the largest value that does; of large ones its size
/// alone.
fn nearest_smaller(workload: &Workload, is_small: bool, mut works: impl FnMut(&Workload) -> bool) -> Option<String> {
    if workload.computation == Computation::Compare
        && matches!(workload.values, Values::Real { .. })
        && let Some(zone) = least_zone(workload, &mut works)
    {
        return Some(zone);
    }
    for Smaller { name, value, with, is_size } in numbers(workload) {
        if !(is_small || is_size) {
            continue;
        }
        let Some(most) = largest(value, |value| works(&with(workload, value))) else { continue };
        return Some(match name {
            "bits" => format!("a precision of {:.1} bits", most as f64 / TENTHS),
            name => format!("{most} {name}"),
        });
    }
    None
}

/// The smallest power of two that works as dead zone, by halving: what works with a zone works with a larger one.
fn least_zone(workload: &Workload, works: &mut impl FnMut(&Workload) -> bool) -> Option<String> {
    let of = |exponent: i32| libm::exp2(f64::from(exponent));
    let mut tried = |exponent: i32| works(&Workload { dead_zone: Some(of(exponent)), ..workload.clone() });
    let (mut refused, mut found) = (ZONES.start() - 1, *ZONES.end());
    if !tried(found) {
        return None;
    }
    while refused + 1 < found {
        let middle = i32::midpoint(refused, found);
        if tried(middle) { found = middle } else { refused = middle }
    }
    Some(format!("a dead_zone of {}", of(found)))
}

/// The largest value, within a part of it, below one that does not work, if any does from 1 up; of large ones a power of two.
fn largest(refused: u64, mut works: impl FnMut(u64) -> bool) -> Option<u64> {
    if refused <= 1 || !works(1) {
        return None;
    }
    let (mut good, mut bad) = (0, (refused - 1).ilog2() + 1);
    while good + 1 < bad {
        let middle = u32::midpoint(good, bad);
        if works(1 << middle) { good = middle } else { bad = middle }
    }
    let (mut good, mut bad) = (1 << good, refused.min(1 << bad));
    while good < LARGE && bad - good > 1.max(good / PART) {
        let middle = u64::midpoint(good, bad);
        if works(middle) { good = middle } else { bad = middle }
    }
    Some(good)
}

/// The numbers of a workload that may be made smaller, the first to be tried first.
fn numbers(workload: &Workload) -> Vec<Smaller> {
    let mut numbers = Vec::new();
    if let Values::Real { bits } = workload.values {
        numbers.push(Smaller {
            name: "bits",
            is_size: false,
            value: (bits * TENTHS).ceil() as u64,
            with: |workload, tenths| {
                let values = Values::Real { bits: tenths as f64 / TENTHS };
                Workload { values, ..workload.clone() }
            },
        });
    }
    if workload.instances > 1 {
        numbers.push(Smaller {
            name: "instances",
            is_size: false,
            value: workload.instances as u64,
            with: |workload, instances| Workload { instances: instances as usize, ..workload.clone() },
        });
    }
    let size: Option<(&'static str, usize)> = match workload.computation {
        Computation::Product { count } | Computation::Sum { count } => Some(("values", count)),
        Computation::InnerProduct { length } => Some(("values in a vector", length)),
        Computation::Squarings { depth } => Some(("squarings", depth)),
        Computation::Polynomial { degree } => Some(("as the degree", degree)),
        Computation::Matrix { rows, columns } => Some(("rows and columns", rows.max(columns))),
        Computation::Compare | Computation::Table { .. } => None,
    };
    let most = if matches!(workload.computation, Computation::Matrix { .. }) { MOST_SIDE } else { MOST_SIZE };
    numbers.extend(size.map(|(name, value)| Smaller {
        name,
        value: (value as u64).min(most + 1),
        with: with_size,
        is_size: true,
    }));
    if let Values::Integer { bits, .. } = workload.values {
        numbers.push(Smaller {
            name: "bits of an input",
            is_size: false,
            value: u64::from(bits),
            with: |workload, bits| {
                let result_bits = match workload.values {
                    Values::Integer { result_bits, .. } => result_bits,
                    Values::Real { .. } => None,
                };
                Workload { values: Values::Integer { bits: bits as u32, result_bits }, ..workload.clone() }
            },
        });
    }
    numbers
}

/// The same computation of this size.
fn with_size(workload: &Workload, size: u64) -> Workload {
    let size = size as usize;
    let computation = match workload.computation {
        Computation::Product { .. } => Computation::Product { count: size },
        Computation::Sum { .. } => Computation::Sum { count: size },
        Computation::InnerProduct { .. } => Computation::InnerProduct { length: size },
        Computation::Squarings { .. } => Computation::Squarings { depth: size },
        Computation::Polynomial { .. } => Computation::Polynomial { degree: size },
        Computation::Matrix { rows, columns } => {
            Computation::Matrix { rows: rows.min(size), columns: columns.min(size) }
        }
        other => other,
    };
    Workload { computation, ..workload.clone() }
}
