//! Work: amounts of the units that operations on rings are made of.

use std::ops::{Add, AddAssign, Mul};

/// The base-two logarithms of the ring degrees that have a unit cost of their own for transforms.
pub const LOG_DEGREES: std::ops::RangeInclusive<u32> = 10..=17;

/// Where the words lie that an operation reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Residence {
    /// In the second-level cache of a core.
    Near,
    /// In the last-level cache, which all cores share.
    Cache,
    /// In memory.
    Memory,
}

/// A unit of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A word in one of the `log2 n` layers of a transform of this `log2 n`.
    Transform(u32),
    /// A word times a constant, added, in a base conversion.
    Conversion,
    /// A word of a switching key, multiplied and added.
    Key(Residence),
    /// A word that a pointwise operation reads or writes.
    Word(Residence),
    /// A word of an automorphism's image.
    Image,
    /// A call of an operation.
    Call,
    /// A loop that is shared between threads.
    SharedLoop,
    /// A word that is uniform modulo a prime, from an extendable-output function.
    Uniform,
    /// A word of an error or of a small secret.
    Error,
    /// A word in one of the `log2 n` layers of encoding in the canonical embedding, with rounding.
    Embedding,
    /// A word in one of the `log2 n` layers of decoding in the canonical embedding.
    Decoding,
    /// A word that is brought from its residues to a centred number.
    Centering,
    /// A word of a plaintext of integers, encoded or decoded.
    Residue,
    /// A word of memory that the system has just given, in pages of 4 KiB.
    Fresh,
    /// The same in large pages.
    FreshLarge,
}

/// How many units there are.
pub const UNITS: usize = TRANSFORMS + 18;
const TRANSFORMS: usize = (*LOG_DEGREES.end() - *LOG_DEGREES.start() + 1) as usize;

impl Unit {
    /// All units, in the order of their positions.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let residences = [Residence::Near, Residence::Cache, Residence::Memory];
        let mut all: Vec<Self> = LOG_DEGREES.map(Self::Transform).collect();
        all.push(Self::Conversion);
        all.extend(residences.map(Self::Key));
        all.extend(residences.map(Self::Word));
        all.extend([
            Self::Image,
            Self::Call,
            Self::SharedLoop,
            Self::Uniform,
            Self::Error,
            Self::Embedding,
            Self::Decoding,
            Self::Centering,
            Self::Residue,
            Self::Fresh,
            Self::FreshLarge,
        ]);
        all
    }

    /// The position among all units. Degrees below `2^10` and above `2^17` count as these.
    #[must_use]
    pub fn position(self) -> usize {
        let residence = |place| match place {
            Residence::Near => 0,
            Residence::Cache => 1,
            Residence::Memory => 2,
        };
        match self {
            Self::Transform(log_n) => {
                (log_n.clamp(*LOG_DEGREES.start(), *LOG_DEGREES.end()) - LOG_DEGREES.start()) as usize
            }
            Self::Conversion => TRANSFORMS,
            Self::Key(place) => TRANSFORMS + 1 + residence(place),
            Self::Word(place) => TRANSFORMS + 4 + residence(place),
            Self::Image => TRANSFORMS + 7,
            Self::Call => TRANSFORMS + 8,
            Self::SharedLoop => TRANSFORMS + 9,
            Self::Uniform => TRANSFORMS + 10,
            Self::Error => TRANSFORMS + 11,
            Self::Embedding => TRANSFORMS + 12,
            Self::Decoding => TRANSFORMS + 13,
            Self::Centering => TRANSFORMS + 14,
            Self::Residue => TRANSFORMS + 15,
            Self::Fresh => TRANSFORMS + 16,
            Self::FreshLarge => TRANSFORMS + 17,
        }
    }

    /// The name in files and tables.
    #[must_use]
    pub fn name(self) -> String {
        let residence = |place| match place {
            Residence::Near => "near",
            Residence::Cache => "cache",
            Residence::Memory => "memory",
        };
        match self {
            Self::Transform(log_n) => format!("transform_{log_n}"),
            Self::Key(place) => format!("key_{}", residence(place)),
            Self::Word(place) => format!("word_{}", residence(place)),
            other => format!("{other:?}").to_lowercase(),
        }
    }
}

/// Amounts of all units: those that the calling thread works on by itself, and those that all threads share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Work {
    serial: [f64; UNITS],
    shared: [f64; UNITS],
}

impl Default for Work {
    fn default() -> Self {
        Self { serial: [0.0; UNITS], shared: [0.0; UNITS] }
    }
}

impl Work {
    /// An amount of a unit on the calling thread.
    #[must_use]
    pub fn of(unit: Unit, amount: f64) -> Self {
        let mut work = Self::default();
        work.serial[unit.position()] = amount;
        work
    }

    /// The same work, and an amount of a unit on the calling thread.
    #[must_use]
    pub fn and(self, unit: Unit, amount: f64) -> Self {
        self + Self::of(unit, amount)
    }

    /// The same work, shared between threads.
    #[must_use]
    pub fn in_shared_loops(self) -> Self {
        let mut work = Self::default();
        work.shared.iter_mut().zip(self.serial.iter().zip(self.shared)).for_each(|(all, (a, b))| *all = a + b);
        work
    }

    /// The amount of a unit.
    #[must_use]
    pub fn amount(&self, unit: Unit) -> f64 {
        self.serial[unit.position()] + self.shared[unit.position()]
    }

    /// The amounts of one thread and of all threads, in the order of [`Unit::all`].
    #[must_use]
    pub const fn amounts(&self) -> [&[f64; UNITS]; 2] {
        [&self.serial, &self.shared]
    }
}

impl AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        self.serial.iter_mut().zip(other.serial).for_each(|(a, b)| *a += b);
        self.shared.iter_mut().zip(other.shared).for_each(|(a, b)| *a += b);
    }
}

impl Add for Work {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl Mul<f64> for Work {
    type Output = Self;

    fn mul(mut self, times: f64) -> Self {
        self.serial.iter_mut().chain(&mut self.shared).for_each(|a| *a *= times);
        self
    }
}

impl std::iter::Sum for Work {
    fn sum<I: Iterator<Item = Self>>(works: I) -> Self {
        works.fold(Self::default(), Add::add)
    }
}

/// The caches of a machine, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caches {
    /// The second-level cache of one core.
    pub near: u64,
    /// The last-level cache.
    pub last: u64,
}

impl Caches {
    /// How much of a working set of `bytes` bytes, which is read again and again, each memory serves.
    ///
    /// All of a set of half the size of a cache lies there, and nothing of one of twice its size: caches replace the lines
    /// that were not used for longest, which a loop over more than the cache needs next.
    #[must_use]
    pub fn shares(&self, bytes: f64) -> [(Residence, f64); 3] {
        let fits = |cache: u64| (0.5 - libm::log2(bytes.max(1.0) / cache.max(1) as f64) / 2.0).clamp(0.0, 1.0);
        let near = fits(self.near);
        let last = fits(self.last).max(near);
        [(Residence::Near, near), (Residence::Cache, last - near), (Residence::Memory, 1.0 - last)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_and_names_are_those_of_the_list() {
        let all = Unit::all();
        assert_eq!(all.len(), UNITS);
        for (position, unit) in all.iter().enumerate() {
            assert_eq!(unit.position(), position, "{unit:?}");
        }
        let names: std::collections::BTreeSet<String> = all.iter().map(|unit| unit.name()).collect();
        assert_eq!(names.len(), UNITS);
        assert!(names.contains("transform_16") && names.contains("key_memory") && names.contains("sharedloop"));
        assert_eq!(Unit::Transform(30).position(), Unit::Transform(17).position());
    }

    #[test]
    fn works_add_and_scale() {
        let work =
            Work::of(Unit::Call, 1.0).and(Unit::Image, 2.0).and(Unit::Image, 3.0) * 2.0 + Work::of(Unit::Call, 1.0);
        assert_eq!((work.amount(Unit::Call), work.amount(Unit::Image), work.amount(Unit::Error)), (3.0, 10.0, 0.0));
    }

    #[test]
    fn shares_of_memories_add_to_one() {
        let caches = Caches { near: 1 << 20, last: 16 << 20 };
        for (bytes, expected) in [
            (1.0, [1.0, 0.0, 0.0]),
            (512.0 * 1024.0, [1.0, 0.0, 0.0]),
            (1024.0 * 1024.0, [0.5, 0.5, 0.0]),
            (4.0 * 1024.0 * 1024.0, [0.0, 1.0, 0.0]),
            (16.0 * 1024.0 * 1024.0, [0.0, 0.5, 0.5]),
            (1e9, [0.0, 0.0, 1.0]),
        ] {
            assert_eq!(caches.shares(bytes).map(|(_, share)| share), expected, "{bytes}");
        }
    }
}
