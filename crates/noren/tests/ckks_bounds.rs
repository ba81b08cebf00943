//! Every ciphertext's error bound holds, and is within three bits of the worst error that is measured.

mod world;

use std::collections::BTreeMap;

use noren::Complex64;
use noren::ckks::{ParametersSpec, Scale};
use world::{Twin, World, real, rotated, toy, uniform, worst};

/// The claim: a bound is at most this many bits above the worst error of all trials.
const MOST_BITS: f64 = 3.0;

/// How inputs look.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    /// Uniform in [-1, 1].
    Real,
    /// Uniform on the unit circle.
    Circle,
    /// One in every slot.
    Ones,
}

#[derive(Debug, Clone, Copy)]
struct Setting {
    slots: usize,
    shape: Shape,
    symmetric: bool,
    trials: u64,
}

impl Setting {
    fn input(&self, world: &World, number: u64) -> Twin {
        let values: Vec<Complex64> = match self.shape {
            Shape::Real => real(&uniform(number, self.slots)),
            Shape::Circle => {
                let angles = uniform(number, self.slots);
                // A hair inside the circle: rounding must not lead to values above 1.
                angles.iter().map(|x| Complex64::from_polar(1.0 - 1e-12, x * std::f64::consts::PI)).collect()
            }
            Shape::Ones => vec![Complex64::from(1.0); self.slots],
        };
        if self.symmetric { world.encrypt_symmetric(&values, number) } else { world.encrypt(&values, number) }
    }
}

/// The worst bound and the worst error of each operation.
#[derive(Default)]
struct Record(BTreeMap<&'static str, (f64, f64)>);

impl Record {
    fn note(&mut self, name: &'static str, world: &World, twin: &Twin) {
        let bound = twin.ciphertext.error_bound();
        let error = world::worst(&world.decrypt(&twin.ciphertext), &twin.values);
        assert!(error <= bound, "{name}: an error of {error:e} exceeds its bound of {bound:e}");
        let entry = self.0.entry(name).or_default();
        *entry = (entry.0.max(bound), entry.1.max(error));
    }

    fn check(&self, what: &str) {
        let mut loose = Vec::new();
        for (name, (bound, error)) in &self.0 {
            let bits = (bound / error).log2();
            if std::env::var_os("NOREN_SHOW_BOUNDS").is_some() {
                println!("{what:60} {name:24} bound 2^{:6.2} worst 2^{:6.2} {bits:5.2}", bound.log2(), error.log2());
            }
            if bits > MOST_BITS {
                loose.push(format!("{name}: {bits:.2} bits"));
            }
        }
        assert!(loose.is_empty(), "{what}: bounds are too loose: {loose:?}");
    }
}

/// The canonical scale of a level times a factor.
fn near_chain(world: &World, level: usize, factor: f64) -> Scale {
    world.context.parameters().scale_at(level).mul(&Scale::from_f64(factor).expect("positive"))
}

/// The operations of one level or none, on fresh operands.
fn single_operations(world: &World, setting: Setting, trial: u64, record: &mut Record) {
    let [x, y, z] = [0, 1, 2].map(|i| setting.input(world, 1000 * trial + i));
    let level = world.max_level();
    let mut note = |name, twin: Twin| record.note(name, world, &twin);
    note("encrypt", x.clone());
    note("add", world.add(&x, &y));
    note("sub", world.sub(&x, &y));
    note("neg", world.apply([&x], |ev, [x]| ev.neg(x), |[x]| -x));
    note("mul", world.mul(&x, &y));
    note("square", world.square(&x));
    note("mul_no_rescale", world.apply([&x, &y], |ev, [x, y]| ev.rescale(&ev.mul_no_rescale(x, y)?), |[x, y]| x * y));
    let c = Complex64::new(0.3, -0.7);
    note("add_const", world.apply([&x], |ev, [x]| ev.add_const(x, c), |[x]| x + c));
    note("mul_const", world.apply([&x], |ev, [x]| ev.mul_const(x, c), |[x]| x * c));
    note("mul_integer", world.apply([&x], |ev, [x]| ev.mul_integer(x, -5), |[x]| x * -5.0));
    note("mul_i", world.apply([&x], |ev, [x]| ev.mul_i(x), |[x]| x * Complex64::i()));
    note("at_level", world.apply([&x], |ev, [x]| ev.at_level(x, level - 2), |[x]| x));
    note("drop_level", world.apply([&x], |ev, [x]| ev.drop_level(x, 1), |[x]| x));
    note(
        "weighted_sum",
        world.apply(
            [&x, &y, &z],
            |ev, [x, y, z]| ev.weighted_sum(&[(x, 0.5), (&ev.at_level(y, level - 1)?, -1.25), (z, 2.0)], 0.125),
            |[x, y, z]| 0.5 * x - 1.25 * y + 2.0 * z + 0.125,
        ),
    );
    let constant = Complex64::new(0.25, 0.5);
    let unusual = near_chain(world, level - 1, 0.7);
    note(
        "combine",
        world.apply(
            [&x, &y],
            |ev, [x, y]| {
                ev.combine(&[(x, c), (&ev.at_level(y, level - 1)?, 1.5.into())], constant, level - 2, &unusual)
            },
            |[x, y]| c * x + 1.5 * y + constant,
        ),
    );
    note("reinterpret", world.apply([&x], |ev, [x]| ev.reinterpret(x.clone(), &unusual), |[x]| x / unusual.to_f64()));
    note(
        "dot_combine",
        world.apply(
            [&x, &y, &z],
            |ev, [x, y, z]| {
                let target = x.scale().mul(y.scale()).div_u64(world.context.parameters().rlwe().q()[level]);
                ev.dot_combine(&[(x, y), (y, z)], &[(z, c), (x, 0.5.into())], constant, level - 1, &target)
            },
            |[x, y, z]| x * y + y * z + c * z + 0.5 * x + constant,
        ),
    );
    note(
        "dot",
        world.apply([&x, &y, &z], |ev, [x, y, z]| ev.dot(&[(x, y), (y, z), (z, x)]), |[x, y, z]| x * y + y * z + z * x),
    );
    let p = setting.input(world, 1000 * trial + 10).values;
    let plain = world.encode(&p, level);
    let by_plain = |operation: &dyn Fn(&Twin) -> noren::Result<noren::ckks::Ciphertext>,
                    f: &dyn Fn(Complex64, Complex64) -> Complex64| Twin {
        ciphertext: operation(&x).expect("the operation is allowed"),
        values: x.values.iter().zip(&p).map(|(&x, &p)| f(x, p)).collect(),
    };
    let ev = &world.evaluator;
    note("add_plain", by_plain(&|x| ev.add_plain(&x.ciphertext, &plain.plaintext), &|x, p| x + p));
    note("sub_plain", by_plain(&|x| ev.sub_plain(&x.ciphertext, &plain.plaintext), &|x, p| x - p));
    note("mul_plain", by_plain(&|x| ev.mul_plain(&x.ciphertext, &plain.plaintext), &|x, p| x * p));
    note(
        "mul_plain_no_rescale",
        by_plain(&|x| ev.mul_plain_no_rescale(&x.ciphertext, &plain.plaintext), &|x, p| x * p),
    );
    let pairs = [(&x.ciphertext, &plain.plaintext), (&y.ciphertext, &plain.plaintext)];
    let values = x.values.iter().zip(&y.values).zip(&p).map(|((x, y), p)| (x + y) * p).collect();
    note("dot_plain", Twin { ciphertext: ev.dot_plain(&pairs).expect("allowed"), values });
}

/// Rotations, and sums of rotations.
fn rotations(world: &World, setting: Setting, trial: u64, record: &mut Record) {
    let x = setting.input(world, 1000 * trial + 3);
    let mut note = |name, twin: Twin| record.note(name, world, &twin);
    note("rotate", world.rotate(&x, 1));
    note("rotate_back", world.rotate(&x, -1));
    let hoisted = world.evaluator.rotate_many(&x.ciphertext, &[1, 2, 0]).expect("keys are there");
    for (ciphertext, steps) in hoisted.into_iter().zip([1, 2, 0]) {
        note("rotate_many", Twin { ciphertext, values: rotated(&x.values, steps) });
    }
    note("conjugate", world.apply([&x], |ev, [x]| ev.conjugate(x), |[x]| x.conj()));
    note("real_part", world.apply([&x], |ev, [x]| ev.add(x, &ev.conjugate(x)?), |[x]| Complex64::from(2.0 * x.re)));
    note("plus_rotation", world.add(&x, &world.rotate(&x, 1)));
    note("times_rotation", world.mul(&x, &world.rotate(&x, 1)));
    let sum = world.evaluator.sum_rotations(&x.ciphertext, &[1, 2, 3]).expect("keys are there");
    let values = (0..setting.slots).map(|j| (0..4).map(|r| x.values[(j + r) % setting.slots]).sum()).collect();
    note("sum_rotations", Twin { ciphertext: sum, values });
    let sum = world.evaluator.sum_rotations_in_turn(&x.ciphertext, &[&[1, 2, 3], &[4]]).expect("keys are there");
    let values = (0..setting.slots).map(|j| (0..8).map(|r| x.values[(j + r) % setting.slots]).sum()).collect();
    note("sum_rotations_in_turn", Twin { ciphertext: sum, values });
}

/// The sum of all slots in every slot. All slots have the same error, so every trial is one sample only.
fn trace(world: &World, setting: Setting, trial: u64, record: &mut Record) {
    let mut sum = setting.input(world, 1000 * trial + 900);
    for doubling in 0..setting.slots.ilog2() {
        sum = world.add(&sum, &world.rotate(&sum, 1 << doubling));
    }
    record.note("trace", world, &sum);
}

/// Chains of products, and sums of what depends on each other and of what does not.
fn chains(world: &World, setting: Setting, trial: u64, record: &mut Record) {
    let [x, y] = [4, 5].map(|i| setting.input(world, 1000 * trial + i));
    let mut note = |name, twin: Twin| record.note(name, world, &twin);
    note("x + x", world.add(&x, &x));
    note("x^2 + x", world.add(&world.square(&x), &x));
    note("x (x y)", world.mul(&x, &world.mul(&x, &y)));
    let mut power = x.clone();
    for name in ["x^2", "x^4", "x^8", "x^16"] {
        power = world.square(&power);
        note(name, power.clone());
    }
    let mut sum = x.clone();
    for i in 0..40 {
        sum = world.add(&sum, &setting.input(world, 1000 * trial + 20 + i));
    }
    note("sum of 41", sum);
    let mut doubled = x.clone();
    for _ in 0..5 {
        doubled = world.add(&doubled, &doubled);
    }
    note("32 x by doubling", doubled);
    let (square, product) = (world.square(&x), world.mul(&x, &y));
    note("x^2 + x y", world.add(&square, &product));
    note("x^2 + 3 more of it", {
        let twice = world.add(&square, &square);
        world.add(&twice, &twice)
    });
}

fn check(spec: ParametersSpec, keys: u64, setting: Setting) {
    let max_slots = 1isize << (spec.log_n - 1);
    let doublings = (0..setting.slots.ilog2()).map(|k| 1isize << k);
    let steps: Vec<isize> = doublings.chain([1, 2, 3, max_slots - 1]).collect();
    let what = format!("n = 2^{}, scale 2^{}, {setting:?}", spec.log_n, spec.log_scale);
    let world = World::new(spec, keys, &steps);
    let mut record = Record::default();
    for trial in 0..setting.trials {
        single_operations(&world, setting, trial, &mut record);
        rotations(&world, setting, trial, &mut record);
        chains(&world, setting, trial, &mut record);
    }
    (0..setting.trials.max(16)).for_each(|trial| trace(&world, setting, trial, &mut record));
    record.check(&what);
}

#[test]
fn bounds_hold_and_are_tight_with_full_slots() {
    for (keys, shape) in [Shape::Real, Shape::Circle, Shape::Ones].into_iter().enumerate() {
        for symmetric in [false, true] {
            check(world::toy(), keys as u64, Setting { slots: 512, shape, symmetric, trials: 12 });
        }
    }
}

#[test]
fn bounds_hold_and_are_tight_with_few_slots() {
    for (keys, slots) in [8, 128].into_iter().enumerate() {
        for shape in [Shape::Circle, Shape::Ones] {
            check(world::toy(), 10 + keys as u64, Setting { slots, shape, symmetric: false, trials: 16 });
        }
    }
}

#[test]
fn bounds_hold_and_are_tight_at_a_small_scale() {
    let spec = ParametersSpec { log_q: vec![45, 28, 28, 28, 28], log_p: vec![45], log_scale: 28, ..world::toy() };
    for shape in [Shape::Circle, Shape::Ones] {
        check(spec.clone(), 20, Setting { slots: 512, shape, symmetric: false, trials: 16 });
    }
}

#[test]
fn bounds_hold_and_are_tight_with_a_sparse_secret() {
    let secret = noren::SecretDistribution::SparseTernary(64);
    let spec = ParametersSpec { secret, ..world::toy() };
    check(spec, 30, Setting { slots: 512, shape: Shape::Circle, symmetric: false, trials: 16 });
}

#[test]
fn bounds_hold_with_as_large_digits_as_the_special_modulus() {
    let spec = ParametersSpec { log_p: vec![40], dnum: 5, ..world::toy() };
    check(spec, 31, Setting { slots: 512, shape: Shape::Circle, symmetric: false, trials: 16 });
}

#[test]
fn bounds_hold_and_are_tight_at_128_bits_of_security() {
    let spec = ParametersSpec {
        log_n: 14,
        log_q: vec![50, 40, 40, 40, 40],
        log_p: vec![50, 50],
        log_scale: 40,
        ..ParametersSpec::default()
    };
    check(spec, 40, Setting { slots: 8192, shape: Shape::Circle, symmetric: false, trials: 2 });
}

#[test]
fn plaintexts_know_their_own_rounding() {
    let world = World::new(world::toy(), 50, &[]);
    for number in 0..8 {
        let plain = world.encode(&real(&uniform(number, 512)), 3);
        let error = world::worst(&world.encoder.decode_complex(&plain.plaintext).expect("decode"), &plain.values);
        let bits = (plain.plaintext.error_bound() / error).log2();
        assert!((0.0..MOST_BITS).contains(&bits), "{bits}");
    }
    // Constants meet the integers exactly where the scale is a power of two.
    let plain = world.encode(&vec![Complex64::new(0.5, 0.25); 512], world.max_level());
    assert_eq!(plain.plaintext.estimate().std(), 0.0);
}

#[test]
fn bounds_hold_the_rounding_of_large_results() {
    let world = World::new(ParametersSpec { log_q: vec![50, 45, 45], log_p: vec![50], log_scale: 45, ..toy() }, 9, &[]);
    let x = world.encrypt(&real(&uniform(9, 32)), 9);
    for constant in [0.0, 1e3, 12_345_678.0, 2f64.powi(40)] {
        let y = world.apply([&x], |ev, [x]| ev.add_const(x, constant.into()), |[x]| x + constant);
        // Sums in clear are rounded to f64 themselves.
        let error = worst(&world.decrypt(&y.ciphertext), &y.values);
        let (bound, rounding) = (y.ciphertext.error_bound(), constant * f64::EPSILON);
        assert!(error <= bound + rounding, "{constant}: {error:e} of {bound:e}");
        let most = x.ciphertext.error_bound() + 32.0 * rounding;
        assert!((4.0 * rounding..=most).contains(&bound), "{constant}: {bound:e}");
    }
}
