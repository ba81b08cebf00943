//! A model of the same curves for more threads than this machine has, from what one thread needs for each task.

use noren::Parallel;

use crate::parallel::op::{Op, Phase, Size};

/// Numbers of threads of the model.
pub(super) const THREADS: [usize; 4] = [8, 16, 32, 64];
/// Words of a block of a key, the finest part of its products that a thread can have.
const KEY_BLOCK: usize = 1 << 14;
/// The shortest range of coefficients that is handed out.
const SHORTEST_RANGE: usize = 1 << 12;

/// The measurements, all in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Costs {
    pub(super) degree: usize,
    /// The transform of a row.
    pub(super) transform: f64,
    /// A loop over coefficients for each row that it reads, by operation.
    pub(super) row: f64,
    /// To hand out a loop to threads and wait for all.
    pub(super) fork: f64,
    /// A byte from or to memory, for all threads together.
    pub(super) byte: f64,
}

impl Costs {
    /// The costs of an operation that takes `single` on one thread.
    pub(super) fn of(self, op: Op, size: Size, single: f64) -> Self {
        let phases = op.phases(size);
        let transforms: usize = phases.iter().map(|phase| phase.limbs * phase.transforms).sum();
        let rows: usize = phases.iter().map(|phase| phase.limbs * (phase.rows + phase.key_rows)).sum();
        Self { row: (single - transforms as f64 * self.transform).max(0.0) / rows as f64, ..self }
    }

    /// How long the tasks of an operation take on `threads` threads, each with memory as fast as if it were alone.
    pub(super) fn work(&self, op: Op, size: Size, parallel: Parallel, threads: usize) -> f64 {
        op.phases(size).iter().map(|phase| self.phase(phase, parallel, threads)).sum()
    }

    /// How long it takes at least to move the operands, keys and results of an operation.
    pub(super) fn memory(&self, op: Op, size: Size) -> f64 {
        (op.memory_rows(size) * self.degree * size_of::<u64>()) as f64 * self.byte
    }

    fn phase(&self, phase: &Phase, parallel: Parallel, threads: usize) -> f64 {
        let fork = if threads > 1 { self.fork } else { 0.0 };
        let loops = usize::from(phase.rows > 0) + usize::from(phase.key_rows > 0);
        match parallel {
            Parallel::Modulus => phase.limbs.div_ceil(threads) as f64 * self.shared(phase, 1, 1) + fork,
            Parallel::Coefficient => {
                let alone = phase.transforms as f64 * self.transform;
                phase.limbs as f64 * (alone + self.loops(phase, 1, threads) + loops as f64 * fork)
            }
            Parallel::Both if phase.transforms == 0 => self.loops(phase, phase.limbs, threads) + fork,
            Parallel::Both => {
                let (rounds, rest) = (phase.limbs / threads, phase.limbs % threads);
                let forks = if rest > 0 { 1 + loops } else { 1 };
                rounds as f64 * self.shared(phase, 1, 1) + self.shared(phase, rest, threads) + forks as f64 * fork
            }
        }
    }

    /// Some limbs of a phase, shared by threads: transforms by row, loops by range.
    fn shared(&self, phase: &Phase, limbs: usize, threads: usize) -> f64 {
        (limbs * phase.transforms).div_ceil(threads) as f64 * self.transform + self.loops(phase, limbs, threads)
    }

    /// The loops over coefficients of some limbs of a phase.
    fn loops(&self, phase: &Phase, limbs: usize, threads: usize) -> f64 {
        let part = |rows: usize, shortest: usize| {
            let parts = (self.degree / shortest).max(1);
            (limbs * parts).div_ceil(threads) as f64 / parts as f64 * rows as f64 * self.row
        };
        part(phase.rows, SHORTEST_RANGE) + part(phase.key_rows, KEY_BLOCK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { limbs: 17, special: 11 };

    fn costs(op: Op) -> Costs {
        Costs { degree: 1 << 16, transform: 100.0, row: 0.0, fork: 0.0, byte: 1e-6 }.of(op, SIZE, 1e5)
    }

    #[test]
    fn on_one_thread_every_way_takes_what_was_measured() {
        for op in Op::ALL {
            for parallel in Parallel::ALL {
                assert!((costs(op).work(op, SIZE, parallel, 1) - 1e5).abs() < 1e-6, "{op:?}, {parallel}");
            }
        }
    }

    #[test]
    fn limbs_alone_step_at_multiples_of_the_threads_and_tiles_do_not() {
        let time = |parallel, limbs| costs(Op::Add).work(Op::Add, Size { limbs, ..SIZE }, parallel, 8);
        assert_eq!(time(Parallel::Modulus, 9), time(Parallel::Modulus, 16));
        assert!(time(Parallel::Modulus, 9) > 1.9 * time(Parallel::Modulus, 8));
        assert!(time(Parallel::Both, 9) < 1.2 * time(Parallel::Both, 8));
    }

    #[test]
    fn transforms_on_one_thread_bound_what_coefficients_alone_can_gain() {
        let op = Op::Rotate;
        let transforms = 100.0 * (17 + (2 * 28 - 17) + 2 * 11 + 2 * 17) as f64;
        assert!(costs(op).work(op, SIZE, Parallel::Coefficient, 64) > transforms);
        assert!(costs(op).work(op, SIZE, Parallel::Both, 64) < costs(op).work(op, SIZE, Parallel::Modulus, 64));
    }
}
