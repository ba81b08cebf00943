//! Integers of radix digits: every operation against the arithmetic of the machine.

use noren::circuits::radix::{Comparison, Evaluator, Flag, Integer, Move, Operation, Shape};
use noren::tfhe::Decryptor;

use crate::world::{INTEGERS_2_2, World};

/// A world with integers.
struct Integers {
    world: World,
    evaluator: Evaluator,
}

impl Integers {
    fn of(world: World) -> Self {
        let evaluator = Evaluator::new(&world.evaluator()).expect("digits of two bits");
        Self { world, evaluator }
    }

    fn small() -> Self {
        Self::of(World::small(INTEGERS_2_2))
    }

    fn encrypt(&self, values: &[u64], bits: usize) -> Vec<Integer> {
        let encryptor = self.world.encryptor();
        values.iter().map(|&value| Integer::encrypt(&encryptor, value, bits).expect("an integer")).collect()
    }

    fn decrypt(&self, integers: &[Integer]) -> Vec<u64> {
        let decryptor = self.world.decryptor();
        integers.iter().map(|integer| integer.decrypt(&decryptor).expect("an integer")).collect()
    }

    fn decrypt_flags(&self, flags: &[Flag]) -> Vec<bool> {
        let decryptor: Decryptor<'_> = self.world.decryptor();
        flags.iter().map(|flag| flag.decrypt(&decryptor).expect("a flag")).collect()
    }
}

/// The values that are at the ends of something, and some others.
fn values(bits: usize) -> Vec<u64> {
    let max = u64::MAX >> (64 - bits);
    let all =
        [0, 1, 2, 3, 4, max, max - 1, max / 2, max / 2 + 1, 0x1234_5678_9abc_def1 & max, 0x5555_5555_5555_5555 & max];
    all.to_vec()
}

/// All pairs of values.
fn pairs(bits: usize) -> (Vec<u64>, Vec<u64>) {
    let values = values(bits);
    values.iter().flat_map(|&x| values.iter().map(move |&y| (x, y))).unzip()
}

const COMPARISONS: [Comparison; 6] =
    [Comparison::Eq, Comparison::Ne, Comparison::Lt, Comparison::Le, Comparison::Gt, Comparison::Ge];

#[test]
fn scratch() {
    let integers = Integers::small();
    for shape in [1000, 0] {
        let evaluator = Evaluator::new(&integers.world.evaluator()).unwrap().with_small_batch(shape);
        for bits in [2, 4, 6, 8, 10, 12, 16, 18, 32, 64] {
            let max = u64::MAX >> (64 - bits);
            let (xs, ys) = pairs(bits);
            let (xs, ys): (Vec<u64>, Vec<u64>) = xs.iter().zip(&ys).map(|(x, y)| (x & max, y & max)).unzip();
            let (a, b) = (integers.encrypt(&xs, bits), integers.encrypt(&ys, bits));
            let expect = |f: fn(u64, u64) -> u64| xs.iter().zip(&ys).map(|(&x, &y)| f(x, y) & max).collect::<Vec<_>>();
            assert_eq!(integers.decrypt(&evaluator.add(&a, &b).unwrap()), expect(u64::wrapping_add), "{bits}");
            assert_eq!(integers.decrypt(&evaluator.sub(&a, &b).unwrap()), expect(u64::wrapping_sub), "{bits}");
            for comparison in COMPARISONS {
                let flags = evaluator.compare(comparison, &a, &b).unwrap();
                let expected: Vec<bool> = xs
                    .iter()
                    .zip(&ys)
                    .map(|(x, y)| match comparison {
                        Comparison::Eq => x == y,
                        Comparison::Ne => x != y,
                        Comparison::Lt => x < y,
                        Comparison::Le => x <= y,
                        Comparison::Gt => x > y,
                        Comparison::Ge => x >= y,
                    })
                    .collect();
                assert_eq!(integers.decrypt_flags(&flags), expected, "{comparison:?} {bits}");
            }
        }
    }
    for shape in [Shape::Flat, Shape::Lean] {
        for operation in [
            Operation::Add,
            Operation::Sub,
            Operation::Neg,
            Operation::Compare(Comparison::Lt),
            Operation::Compare(Comparison::Eq),
            Operation::Mul,
            Operation::MulKnown(0xb7),
            Operation::Max,
            Operation::Select,
            Operation::DivRem,
            Operation::Move(Move::ShiftLeft),
            Operation::Sum(8),
        ] {
            let costs: Vec<String> = [8, 16, 32, 64]
                .map(|bits| {
                    let cost = operation.cost(bits, shape).unwrap();
                    format!("{} / {}", cost.bootstraps, cost.rounds)
                })
                .to_vec();
            println!("{shape:?} {operation:?} | {}", costs.join(" | "));
        }
    }
}
