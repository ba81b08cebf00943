//! Memory and disk of a machine, and whether they suffice.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::wire::file;

/// Resources of a machine in bytes; an unknown one is taken to suffice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Resources {
    /// Memory that a new program can have.
    pub memory: Option<u64>,
    /// Room on the disk.
    pub disk: Option<u64>,
}

impl Resources {
    /// Those of this machine, with the disk on which `directory` lies, as far as the system tells. Memory is what is free
    /// of the machine's, of what the control groups of the process may have, and of its address space: the least of these.
    #[must_use]
    pub fn of_machine(directory: &Path) -> Self {
        Self { memory: memory(), disk: file::available(directory) }
    }

    /// Refuses work that takes more memory than there is; `what` it is for, and what to do.
    ///
    /// # Errors
    /// [`Error::Resources`] with both numbers.
    pub fn check_memory(&self, needed: u64, what: &'static str, advice: &'static str) -> Result<()> {
        suffices(self.memory, needed, what, advice)
    }

    /// Refuses work that makes larger files than there is room for; `what` they are, and what to do.
    ///
    /// # Errors
    /// [`Error::Resources`] with both numbers.
    pub fn check_disk(&self, needed: u64, what: &'static str, advice: &'static str) -> Result<()> {
        suffices(self.disk, needed, what, advice)
    }
}

/// An unknown resource suffices.
fn suffices(found: Option<u64>, needed: u64, what: &'static str, advice: &'static str) -> Result<()> {
    match found {
        Some(found) if found < needed => Err(Error::Resources { what, found, needed, advice }),
        _ => Ok(()),
    }
}

/// The bytes of memory that this process can still have, if the system tells.
fn memory() -> Option<u64> {
    let read = |path: &str| fs::read_to_string(path).ok();
    let machine = read("/proc/meminfo").and_then(|text| kilobytes(&text, "MemAvailable:"));
    let group =
        read("/proc/self/cgroup").and_then(|text| control_groups(&text).iter().filter_map(|at| at.room()).min());
    let limit = read("/proc/self/limits").and_then(|text| address_space(&text));
    let space = limit.zip(read("/proc/self/status").and_then(|text| kilobytes(&text, "VmSize:")));
    [machine, group, space.map(|(limit, used)| limit.saturating_sub(used))].into_iter().flatten().min()
}

/// The bytes of a line such as `MemAvailable:  123 kB`.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1 << 10)
}

/// The limit in force in the line `Max address space  LIMIT  HARD  bytes` of `/proc/self/limits`; none if it is `unlimited`.
fn address_space(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// A directory with the limit of a control group, and the names of its files.
#[derive(Debug, PartialEq, Eq)]
struct ControlGroup {
    directory: PathBuf,
    limit: &'static str,
    usage: &'static str,
    /// The field of `memory.stat` with the bytes of cached files, which make room when it is needed.
    cache: &'static str,
}

impl ControlGroup {
    /// The rest of its limit.
    fn room(&self) -> Option<u64> {
        let read = |name: &str| fs::read_to_string(self.directory.join(name)).ok();
        let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
        let stat = read("memory.stat").unwrap_or_default();
        let cache = stat.lines().find_map(|line| line.strip_prefix(self.cache)?.trim().parse::<u64>().ok());
        let used = number(self.usage)?.saturating_sub(cache.unwrap_or(0));
        Some(number(self.limit)?.saturating_sub(used))
    }
}

/// The control groups with a limit on memory in `/proc/self/cgroup`, and those that hold them. In a container its own group
/// may be mounted as the root, and the rest of the path may not be there.
fn control_groups(text: &str) -> Vec<ControlGroup> {
    let group = |line: &str| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let path = Path::new(path.trim_start_matches('/')).to_owned();
        match controllers {
            "" => Some(("/sys/fs/cgroup", path, "memory.max", "memory.current", "inactive_file ")),
            _ if controllers.split(',').any(|name| name == "memory") => Some((
                "/sys/fs/cgroup/memory",
                path,
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
                "total_inactive_file ",
            )),
            _ => None,
        }
    };
    let groups = text.lines().filter_map(group);
    let all = groups.flat_map(|(root, path, limit, usage, cache)| {
        let directories: Vec<_> = path.ancestors().map(|part| Path::new(root).join(part)).collect();
        directories.into_iter().map(move |directory| ControlGroup { directory, limit, usage, cache })
    });
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_suffice_is_refused_with_both_numbers() {
        let unknown = Resources::default();
        assert!(unknown.check_memory(u64::MAX, "a", "b").is_ok() && unknown.check_disk(u64::MAX, "a", "b").is_ok());
        let found = Resources { memory: Some((3 << 30) - 1), disk: Some(1 << 20) };
        assert!(found.check_memory((3 << 30) - 1, "a", "b").is_ok() && found.check_disk(1 << 20, "a", "b").is_ok());
        let message =
            found.check_memory(3 << 30, "memory for all", "make room").expect_err("a byte too few").to_string();
        assert_eq!(message, "memory for all: 3.0 GiB available, 3.0 GiB needed: make room");
        let message = found.check_disk(1 << 30, "disk", "make room").expect_err("too little").to_string();
        assert_eq!(message, "disk: 1.0 MiB available, 1.0 GiB needed: make room");
    }

    #[test]
    fn memory_is_read_from_its_lines() {
        let available = |text| kilobytes(text, "MemAvailable:");
        assert_eq!(available("MemTotal:  9 kB\nMemAvailable:     123 kB\n"), Some(123 << 10));
        assert_eq!(available("MemTotal:  9 kB\n"), None);
        assert_eq!(available("MemAvailable: 99999999999999999999 kB\n"), None);
        let limits =
            |limit: &str| format!("Max processes   7 8 processes\nMax address space   {limit}  unlimited  bytes\n");
        assert_eq!(address_space(&limits("409600000")), Some(409_600_000));
        assert_eq!(address_space(&limits("unlimited")), None);
    }

    #[test]
    fn control_groups_are_found_with_all_that_hold_them() {
        let directories = |text| -> Vec<String> {
            control_groups(text).iter().map(|group| group.directory.to_string_lossy().into_owned()).collect()
        };
        let new = directories("0::/user/session\n");
        assert_eq!(new, ["/sys/fs/cgroup/user/session", "/sys/fs/cgroup/user", "/sys/fs/cgroup/"]);
        let old = directories("9:name=systemd:/\n4:cpu,memory:/box\n3:memory_more:/no\n");
        assert_eq!(old, ["/sys/fs/cgroup/memory/box", "/sys/fs/cgroup/memory/"]);
        assert!(directories("nonsense\n1:2\n").is_empty());
    }

    #[test]
    fn control_groups_have_room_for_what_is_neither_used_nor_cached() {
        let directory = std::env::temp_dir().join(format!("noren-control-group-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("a writable temporary directory");
        let write = |name: &str, text: &str| fs::write(directory.join(name), text).expect("writable");
        let (limit, usage, cache) = ("memory.max", "memory.current", "inactive_file ");
        let group = ControlGroup { directory: directory.clone(), limit, usage, cache };
        assert_eq!(group.room(), None);
        write(usage, "700\n");
        write("memory.stat", "active_file 5\ninactive_file 200\n");
        for (limit, room) in [("1000\n", Some(500)), ("300\n", Some(0)), ("max\n", None)] {
            write("memory.max", limit);
            assert_eq!(group.room(), room, "{limit}");
        }
        fs::remove_dir_all(&directory).expect("still there");
    }
}
