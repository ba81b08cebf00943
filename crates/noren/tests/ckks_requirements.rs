//! Parameters that are chosen for requirements give the precision that was asked for, and not much more.

mod world;

use noren::ckks::{Ciphertext, Encryptor, Parameters, Requirements};
use noren::{Complex64, Security};
use world::{World, real, seed, worst};

/// The slots of vectors, all of which are filled.
const SLOTS: usize = 64;

/// The most bits by which a bound may be better than what was asked for: one for whole bits of the scale, one for the factors
/// of a product that do not share their errors, and one for the sum of both.
const SLACK: f64 = 3.0;

/// The precision that a chain of products states and achieves, in bits.
struct Outcome {
    stated: f64,
    achieved: f64,
}

struct Chains {
    world: World,
    depth: usize,
    max_abs: f64,
}

impl Chains {
    fn new(requirements: &Requirements) -> Self {
        let parameters = Parameters::for_requirements(requirements).expect("can be met");
        let world = World::new(parameters.spec().clone(), 1, &[]);
        Self { world, depth: requirements.depth, max_abs: requirements.max_abs }
    }

    /// Alternating signs, at the ends of the range.
    fn ends(&self, largest: f64, number: u64) -> (Ciphertext, Vec<f64>) {
        let sign = |j: u64| if (j * 0x9e37_79b9 + number) >> 5 & 1 == 0 { 1.0 } else { -1.0 };
        let values: Vec<f64> = (0..SLOTS as u64).map(|j| largest * sign(j)).collect();
        let world = &self.world;
        let encryptor = Encryptor::public(&world.context, &world.keys.public, seed(number)).expect("its key");
        let plain = world.encoder.encode(&values, SLOTS, world.max_level()).expect("they fit");
        (encryptor.encrypt_within(&plain, largest).expect("within"), values)
    }

    fn outcome(&self, found: &Ciphertext, expected: &[f64]) -> Outcome {
        assert_eq!(found.level() + self.depth, self.world.max_level());
        let error = worst(&self.world.decrypt(found), &real(expected));
        assert!(error <= found.error_bound(), "{error:e} of {:e}", found.error_bound());
        Outcome { stated: -found.error_bound().log2(), achieved: -error.log2() }
    }

    /// `a z^(2^depth - 1)`, with a up to `max_abs` and z up to 1: the steepest product within a range from 1 up.
    fn steepest(&self) -> Outcome {
        let ev = &self.world.evaluator;
        let ((mut y, mut expected), (mut z, mut power)) =
            (self.ends(self.max_abs, 2), self.ends(self.max_abs.min(1.0), 3));
        for step in 0..self.depth {
            y = ev.mul(&y, &z).expect("a level");
            expected.iter_mut().zip(&power).for_each(|(y, z)| *y *= z);
            if step + 1 < self.depth {
                z = ev.square(&z).expect("a level");
                power.iter_mut().for_each(|z| *z *= *z);
            }
        }
        self.outcome(&y, &expected)
    }

    /// `x^(2^depth)`, which ends at `max_abs`, or begins there if that is below 1.
    fn power(&self) -> Outcome {
        let degree = if self.max_abs < 1.0 { 0 } else { self.depth as i32 };
        let root = self.max_abs.powf(0.5f64.powi(degree));
        let (mut y, mut expected) = self.ends(root, 4);
        for _ in 0..self.depth {
            y = self.world.evaluator.square(&y).expect("a level");
            expected.iter_mut().for_each(|x| *x *= *x);
        }
        self.outcome(&y, &expected)
    }
}

/// Checks one point of the grid; gives its ring and what the chains gave.
fn check(depth: usize, max_abs: f64, precision_bits: f64, security: Security) -> (Parameters, Outcome, Outcome) {
    let requirements =
        Requirements { depth, precision_bits, max_abs, slots: SLOTS, security, ..Requirements::default() };
    let chains = Chains::new(&requirements);
    let (steepest, power) = (chains.steepest(), chains.power());
    for Outcome { stated, achieved } in [&steepest, &power] {
        assert!(*stated >= precision_bits && achieved >= stated, "{requirements:?}: {stated}, {achieved}");
    }
    let slack = steepest.stated - precision_bits;
    // Of numbers below 1 the fewest products have the largest error.
    assert!(slack < SLACK || max_abs < 1.0, "{requirements:?}: {slack} bits too good");
    (chains.world.context.parameters().clone(), steepest, power)
}

#[test]
fn products_within_the_range_reach_the_precision_and_not_much_more() {
    // Rings without security are small.
    for (depth, max_abs, bits) in
        [(1, 1.0, 20.0), (1, 1000.0, 12.0), (2, 30.0, 14.0), (3, 0.5, 18.0), (4, 100.0, 10.0), (8, 7.0, 10.0)]
    {
        check(depth, max_abs, bits, Security::None);
    }
}

#[test]
#[ignore = "slow: rings of 128 bits; run with --ignored --nocapture to see the table of docs/noise.md"]
fn the_grid_of_requirements() {
    println!("| depth | max_abs | asked | n | scale | steepest: stated | achieved | power: stated | achieved |");
    for depth in [1, 2, 4, 8, 12] {
        for max_abs in [1.0, 10.0, 100.0, 1000.0] {
            for bits in [8.0, 15.0, 20.0] {
                let requirements =
                    Requirements { depth, precision_bits: bits, max_abs, slots: SLOTS, ..Requirements::default() };
                if let Err(error) = Parameters::for_requirements(&requirements) {
                    println!("| {depth} | {max_abs} | {bits} | {error} |");
                    continue;
                }
                let (parameters, steepest, power) = check(depth, max_abs, bits, Security::Bits128);
                println!(
                    "| {depth} | {max_abs} | {bits} | 2^{} | 2^{} | {:.1} | {:.1} | {:.1} | {:.1} |",
                    parameters.spec().log_n,
                    parameters.log_scale(),
                    steepest.stated,
                    steepest.achieved,
                    power.stated,
                    power.achieved
                );
            }
        }
    }
}

#[test]
fn sums_of_what_is_promised_have_bounds() {
    // A sum of 64 slots lies in a range 64 times as wide.
    let requirements = Requirements {
        depth: 1,
        precision_bits: 10.0,
        max_abs: 4.0,
        slots: SLOTS,
        security: Security::None,
        ..Requirements::default()
    };
    let parameters = Parameters::for_requirements(&requirements).expect("can be met");
    let world = World::new(parameters.spec().clone(), 1, &[1, 2, 4, 8, 16, 32]);
    let values: Vec<f64> = (0..SLOTS).map(|j| 0.25 * (j % 5) as f64 - 0.5).collect();
    let x = world.encrypt(&real(&values), 1).ciphertext;
    let sum = (0..6).fold(world.evaluator.square(&x).expect("a level"), |sum, k| {
        world.evaluator.add(&sum, &world.evaluator.rotate(&sum, 1 << k).expect("a key")).expect("one level")
    });
    let expected: f64 = values.iter().map(|x| x * x).sum();
    let error = worst(&world.decrypt(&sum), &[Complex64::from(expected); SLOTS]);
    assert!(error <= sum.error_bound() && sum.error_bound().is_finite(), "{error:e} of {:e}", sum.error_bound());
}
