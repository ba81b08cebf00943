//! Whether memory and disk suffice, said before any work.

use std::fs;
use std::path::{Path, PathBuf};

use noren_rlwe::error::{Error, Result};
use noren_rlwe::wire::file;

use crate::bootstrapping::parameters::Parameters;
use crate::bootstrapping::plan::Plan;

/// What a machine has to offer, in bytes; what is not known is taken to suffice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Resources {
    /// Memory that a new program can have.
    pub memory: Option<u64>,
    /// Room on the disk.
    pub disk: Option<u64>,
}

/// What work takes, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demand {
    /// The most memory at once.
    pub memory: u64,
    /// New bytes of files.
    pub disk: u64,
}

/// Elements of the whole ring that key generation holds beside one key: the tables of transforms, the secrets and an image,
/// two halves, errors while they are sampled, a permutation for each key, and rows that the pools keep.
const GENERATION_ELEMENTS: u64 = 24;

impl Demand {
    /// What [`BootstrapKeyFile::generate`](crate::bootstrapping::key_file::BootstrapKeyFile::generate) takes, without the
    /// keys of an application. An estimate.
    ///
    /// # Errors
    /// None for parameters that were built.
    pub fn generate(parameters: &Parameters) -> Result<Self> {
        let plan = Plan::new(parameters)?;
        let largest =
            plan.keys().iter().map(|class| class.bytes() / class.count.max(1) as u64).max().unwrap_or_default();
        let memory = largest + GENERATION_ELEMENTS * element_bytes(parameters);
        Ok(Self { memory, disk: plan.disk_bytes() })
    }

    /// What the keys in memory take, and a bootstrap with them. An estimate.
    ///
    /// # Errors
    /// None for parameters that were built.
    pub fn bootstrap(parameters: &Parameters) -> Result<Self> {
        Ok(Self { memory: Plan::new(parameters)?.memory_bytes(), disk: 0 })
    }

    /// What a bootstrap takes beside keys that are mapped already. An estimate.
    ///
    /// # Errors
    /// None for parameters that were built.
    pub fn beside_mapped_keys(parameters: &Parameters) -> Result<Self> {
        let plan = Plan::new(parameters)?;
        Ok(Self { memory: plan.memory_bytes().saturating_sub(plan.key_bytes()), disk: 0 })
    }
}

/// About the bytes of a file of expanded keys, without those of an application.
///
/// # Errors
/// None for parameters that were built.
pub fn expanded_bytes(parameters: &Parameters) -> Result<u64> {
    Ok(Plan::new(parameters)?.key_bytes())
}

/// The bytes of an element over all primes.
fn element_bytes(parameters: &Parameters) -> u64 {
    let primes = parameters.max_level() + 1 + parameters.spec().special.count;
    (primes * parameters.degree() * size_of::<u64>()) as u64
}

impl Resources {
    /// Those of this machine, with the disk on which `directory` lies, as far as the system tells. Memory is what is free
    /// of the machine's, of what the control groups of the process may have, and of its address space: the least of these.
    #[must_use]
    pub fn of_machine(directory: &Path) -> Self {
        Self { memory: memory(), disk: file::available(directory) }
    }

    /// Refuses work that takes more than there is.
    ///
    /// # Errors
    /// [`Error::Resources`] with both numbers, for memory or for the disk.
    pub fn check(&self, demand: Demand) -> Result<()> {
        if let Some(found) = self.memory.filter(|&found| found < demand.memory) {
            let advice = "close other programs, raise the limit of the process or container, choose a preset with smaller keys such as \
                 n16-small, or a larger machine";
            return Err(Error::Resources { what: "memory for bootstrapping", found, needed: demand.memory, advice });
        }
        if let Some(found) = self.disk.filter(|&found| found < demand.disk) {
            let advice = "make room, choose another place, or a preset with smaller keys such as n16-small";
            return Err(Error::Resources { what: "disk for the keys", found, needed: demand.disk, advice });
        }
        Ok(())
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
    /// What is left of its limit.
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
        let demand = Demand { memory: 3 << 30, disk: 1 << 30 };
        let check = |memory, disk| Resources { memory, disk }.check(demand);
        assert!(check(None, None).is_ok() && check(Some(3 << 30), Some(1 << 30)).is_ok());
        let message = check(Some((3 << 30) - 1), None).expect_err("a byte too few").to_string();
        assert!(message.starts_with("memory for bootstrapping: 3.0 GiB available, 3.0 GiB needed"), "{message}");
        let message = check(Some(4 << 30), Some(1 << 20)).expect_err("too little").to_string();
        assert!(message.starts_with("disk for the keys: 1.0 MiB available, 1.0 GiB needed: make room"), "{message}");
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
