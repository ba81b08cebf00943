//! This machine: processor and memory, as far as the system tells.

use std::fs;

/// The name of the processor.
pub(crate) fn cpu() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Bytes of memory: all, and what a new program can have.
pub(crate) fn memory() -> Option<(u64, u64)> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    Some((kibibytes(&text, "MemTotal:")?, kibibytes(&text, "MemAvailable:")?))
}

/// The most bytes of memory that this process has held so far.
pub fn peak_rss() -> Option<u64> {
    kibibytes(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// Starts [`peak_rss`] anew from what this process holds now, where the system can.
pub fn reset_peak_rss() {
    // Elsewhere, and in a sandbox that forbids it, the peak is that of the whole run.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// How many threads run at once.
pub fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The bytes in a line such as `VmHWM:     123 kB`.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    number.checked_mul(1 << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_from_their_lines() {
        let text = "VmPeak:\t     200 kB\nVmHWM:\t     123 kB\nVmRSS:\t 7 kB\n";
        assert_eq!(kibibytes(text, "VmHWM:"), Some(123 * 1024));
        assert_eq!(kibibytes(text, "VmSwap:"), None);
        assert_eq!(kibibytes("VmHWM: many kB", "VmHWM:"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn peak_memory_covers_what_was_held() {
        let held = std::hint::black_box(vec![1u8; 32 << 20]);
        let peak = peak_rss().expect("Linux tells");
        assert!(peak >= held.len() as u64, "{peak}");
    }
}
