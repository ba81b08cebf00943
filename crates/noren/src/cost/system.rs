//! This machine, as far as the system tells: processor, caches and memory.

use std::fs;

use crate::cost::work::Caches;

/// Caches of a server core, where the system does not tell.
const USUAL_CACHES: Caches = Caches { near: 1 << 20, last: 32 << 20 };
/// Memory, where the system does not tell.
const USUAL_MEMORY: u64 = 8 << 30;

/// The name of the processor.
#[must_use]
pub fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    // Names of virtual machines do not tell the generation.
    let model = [field("cpu family"), field("model\t")].into_iter().flatten().collect::<Vec<_>>().join(".");
    format!("{} {model}", field("model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned())).trim().to_owned()
}

/// The bytes of memory.
#[must_use]
pub fn memory() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kibibytes.map_or(USUAL_MEMORY, |kibibytes| kibibytes << 10)
}

/// The bytes of the caches of a core: the second level, and the last.
#[must_use]
pub fn caches() -> Caches {
    let size = |index: u32| {
        let text = fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size")).ok()?;
        let text = text.trim();
        let (digits, shift) = match text.strip_suffix('K') {
            Some(digits) => (digits, 10),
            None => (text.strip_suffix('M')?, 20),
        };
        digits.parse::<u64>().ok().map(|number| number << shift)
    };
    let near = size(2).unwrap_or(USUAL_CACHES.near);
    Caches { near, last: size(3).unwrap_or(near.max(USUAL_CACHES.near)) }
}
