//! Numbers as people read them.

/// A number of things, such as `1 level` and `2 levels`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A number of bytes as people read it.
pub(crate) fn bytes(count: f64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (count, 0);
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{value} bytes") } else { format!("{value:.1} {}", units[unit]) }
}

/// How much of something there is, if that is known: such as ` (3.0 GiB available)`.
pub(crate) fn available(found: Option<u64>) -> String {
    found.map_or_else(String::new, |found| format!(" ({} available)", bytes(found as f64)))
}

/// An error bound as people read it.
pub(crate) fn error(bound: f64) -> String {
    if bound > 0.0 && bound.is_finite() { format!("{bound:.2e} (2^{:.1})", bound.log2()) } else { bound.to_string() }
}

/// How many bootstraps there were, and the bound on the probability that any of them failed.
pub(crate) fn right_but(bootstraps: u64, log2_failure: f64) -> String {
    let bootstraps = count(bootstraps as usize, "bootstrap");
    format!("{bootstraps}, all right but with a probability of at most 2^{log2_failure:.1}")
}

/// Sizes of primes with repetitions counted, such as `50 + 6 x 45`.
pub(super) fn chain(bits: &[u32]) -> String {
    let parts = bits.chunk_by(|a, b| a == b).map(|run| match run.len() {
        1 => run[0].to_string(),
        count => format!("{count} x {}", run[0]),
    });
    parts.collect::<Vec<_>>().join(" + ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_count_repetitions() {
        assert_eq!(chain(&[50, 45, 45, 45, 50]), "50 + 3 x 45 + 50");
        assert_eq!(chain(&[]), "");
    }

    #[test]
    fn byte_counts_are_readable() {
        assert_eq!(bytes(1023.0), "1023 bytes");
        assert_eq!(bytes(1536.0), "1.5 KiB");
        assert_eq!(bytes(3.0 * 1024.0 * 1024.0 * 1024.0), "3.0 GiB");
    }
}
