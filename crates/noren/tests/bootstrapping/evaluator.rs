//! Programs of any depth on the toy ring, against numbers.

use noren::error::cause;
use noren::schemes::error::SlotError;
use std::sync::{Arc, OnceLock};

use noren::bootstrapping::{
    BootstrapKeys, Bootstrapper, BootstrappingEvaluator, Mode, Parameters, Preset, WithBootstrapping,
};
use noren::circuits::approx::Approximation;
use noren::circuits::linear::LinearMap;
use noren::circuits::polynomial::Polynomial;
use noren::circuits::power::power;
use noren::circuits::product::{self, product, sequential};
use noren::circuits::recorder::Recorder;
use noren::circuits::renewing::{Planned, Renewing};
use noren::circuits::trace;
use noren::ckks::{Ciphertext, CkksError, Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, Keys};
use noren::programs::EncryptedTable;
use noren::programs::Program;
use noren::programs::TableLayout;
use noren::schemes::slots::SlotEvaluator;
use noren::{Error, Seed};
use noren_math::kernels::is_fastest;

use crate::numbers::uniform;

/// A bootstrap loses less, by the tests of the bootstrapper.
const PRECISION: f64 = 1.0 / (1 << 21) as f64;

struct World {
    parameters: Parameters,
    context: Context,
    keys: Keys,
    bootstrapper: Arc<Bootstrapper>,
}

fn seed(number: u8) -> Seed {
    Seed::from_bytes([number; 32])
}

fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let parameters = Preset::Toy.parameters().expect("a preset");
        let context = Context::new(parameters.ckks().expect("primes")).expect("rings");
        let products = product::rotations(32, 1).expect("factors");
        let rotations = matrix().rotations().into_iter().chain(products);
        let rotations = rotations.chain(trace::rotations(300, 1)).chain(trace::rotations(512, 1));
        let request = KeyRequest {
            relinearization: true,
            rotations: rotations.collect(),
            level: Some(parameters.output_level()),
            ..KeyRequest::default()
        };
        let keys = context.generate_keys(seed(1), &request).expect("keys");
        let bootstrap = BootstrapKeys::generate(&context, &parameters, &keys.secret, seed(2), None).expect("keys");
        let bootstrapper = Bootstrapper::new(&context, &parameters, Arc::new(bootstrap), Mode::Real).expect("its keys");
        World { parameters, context, keys, bootstrapper: Arc::new(bootstrapper) }
    })
}

fn matrix() -> LinearMap {
    LinearMap::dense(8, 8, &uniform(90, 64)).expect("a matrix")
}

impl World {
    /// An evaluator that has bootstrapped nothing.
    fn bootstrapping(&self) -> BootstrappingEvaluator {
        self.evaluator().with_bootstrapping(self.bootstrapper.clone()).expect("the right parameters")
    }

    fn evaluator(&self) -> Evaluator {
        Evaluator::new(&self.context, self.keys.evaluation.clone()).expect("its keys")
    }

    fn encrypt_at(&self, values: &[f64], level: usize) -> Ciphertext {
        let plaintext = Encoder::new(&self.context).encode(values, values.len(), level).expect("encode");
        let encryptor = Encryptor::public(&self.context, &self.keys.public, seed(3)).expect("encryptor");
        encryptor.encrypt(&plaintext).expect("encrypt")
    }

    /// With `levels` levels left for a program.
    fn encrypt(&self, values: &[f64], levels: usize) -> Ciphertext {
        self.encrypt_at(values, self.parameters.input_level() + levels)
    }

    /// The worst error, which is within the bound.
    fn error(&self, x: &Ciphertext, expected: impl Iterator<Item = f64>) -> f64 {
        let found = Decryptor::new(&self.context, &self.keys.secret).expect("key").decrypt_real(x).expect("decrypt");
        let error = found.iter().zip(expected).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        assert!(error <= x.error_bound(), "an error of {error:e}, a bound of {:e}", x.error_bound());
        error
    }
}

/// Numbers in `[-range, range)`, one for each slot.
fn numbers(number: u64, range: f64) -> Vec<f64> {
    uniform(number, 512).into_iter().map(|x| range * x).collect()
}

#[test]
fn thirty_squares_follow_one_another() {
    let (world, ev) = (world(), world().bootstrapping());
    let (range, levels) = (0.95_f64, world.parameters.levels_left());
    let mut expected = numbers(1, range);
    let mut x = world.encrypt(&expected, levels).with_magnitude(range);
    for round in 1..=30 {
        // Products of bounds are the bounds of products here: nothing needs to be stated.
        x = ev.square(&x).expect("levels do not end");
        expected.iter_mut().for_each(|x| *x *= *x);
        // An error grows by the product of 2 |x|, over all squares: 2^k y^(2^k - 1) is at most 1 / (-e ln y y).
        let growth = 1.0 / (std::f64::consts::E * -range.ln() * range);
        let error = world.error(&x, expected.iter().copied());
        assert!(error <= growth * PRECISION * f64::from(round), "{round}: {error:e}");
    }
    assert_eq!(ev.bootstraps(), (30 - levels as u64) / levels as u64);
    let plan = noren::bootstrapping::BootstrapPlan::new(&world.parameters).expect("a plan");
    assert!((ev.log2_failure() - plan.log2_failure(ev.bootstraps())).abs() < 1e-9);
}

#[test]
fn products_of_slots_may_be_deeper_than_the_levels() {
    let (world, count) = (world(), 32);
    let values: Vec<f64> = numbers(6, 0.03).iter().map(|x| (1.0 - x.abs()).copysign(*x)).collect();
    let x = world.encrypt(&values, world.parameters.levels_left());
    let expected = || (0..values.len()).map(|j| (0..count).map(|i| values[(j + i) % values.len()]).product());
    let levels = world.parameters.levels_left() as u64;
    for (found, depth) in [(product as fn(&_, &_, _, _) -> _, 5), (sequential, count as u64 - 1)] {
        let ev = world.bootstrapping();
        let y: Ciphertext = found(&ev, &x, count, 1).expect("levels do not end");
        // All factors are at most 1: errors of bootstraps add up to what as many factors lose.
        assert!(world.error(&y, expected()) <= count as f64 * PRECISION);
        assert_eq!(ev.bootstraps(), depth.div_ceil(levels) - 1, "depth {depth}");
    }
}

#[test]
fn polynomials_may_be_deeper_than_the_levels() {
    if !is_fastest() {
        return;
    }
    let (world, ev) = (world(), world().bootstrapping());
    // A pole near the interval: the coefficients fall slowly.
    let f = |x: f64| 0.8 / (1.0 + 30.0 * (x - 0.1) * (x - 0.1));
    let approximation = Approximation::new(f, [-1.0, 1.0], 128).expect("a polynomial");
    let polynomial = approximation.polynomial();
    assert_eq!((polynomial.degree(), polynomial.depth()), (128, 8));
    assert!(polynomial.depth() > 3 * world.parameters.levels_left());
    let mut expected = numbers(2, 1.0);
    let mut x = world.encrypt(&expected, 0);
    let plain = world.evaluator();
    assert!(matches!(polynomial.evaluate(&plain, &x), Err(Error::LevelExhausted { needed: 8, .. })));
    for round in 1..=3 {
        x = polynomial.evaluate(&ev, &x).expect("levels do not end");
        expected.iter_mut().for_each(|x| *x = polynomial.at(*x));
        // The slope is below 3; values and slopes of the parts are of size 1.
        let error = world.error(&x, expected.iter().copied());
        assert!(error <= 3f64.powi(round) * PRECISION && x.error_bound() < 2f64.powi(-10), "{round}: {error:e}");
    }
    assert_eq!(ev.bootstraps(), 63);
}

#[test]
fn an_argument_is_bootstrapped_once_where_its_polynomial_fits() {
    let (world, ev) = (world(), world().bootstrapping());
    let polynomial = Polynomial::power(vec![0.1, 0.2, 0.3, -0.4]).expect("coefficients");
    let values = numbers(4, 1.0);
    for (levels, bootstraps) in [(2, 0), (1, 1), (0, 2)] {
        let y = polynomial.evaluate(&ev, &world.encrypt(&values, levels)).expect("levels do not end");
        assert_eq!((ev.bootstraps(), ev.levels_left(&y)), (bootstraps, 0), "{levels}");
        assert!(world.error(&y, values.iter().map(|x| polynomial.at(*x))) <= 4.0 * PRECISION);
    }
}

#[test]
fn the_logistic_map_goes_on() {
    let (world, ev) = (world(), world().bootstrapping());
    // x -> 5/2 x (1 - x) around its fixed point 3/5: y -> -1/2 y - 5/2 y^2, which contracts where |y| <= 0.1.
    let mut expected = numbers(3, 0.1);
    let mut y = world.encrypt(&expected, 1).with_magnitude(0.1);
    for _ in 0..20 {
        let square = ev.square(&y).expect("levels do not end");
        y = ev.weighted_sum(&[(&y, -0.5), (&square, -2.5)], 0.0).expect("levels do not end");
        expected.iter_mut().for_each(|y| *y = -0.5 * *y - 2.5 * *y * *y);
        let error = world.error(&y, expected.iter().copied());
        assert!(error <= 20.0 * PRECISION && y.error_bound() < 2f64.powi(-14), "{error:e} of {:e}", y.error_bound());
    }
    assert!(ev.bootstraps() >= 19, "{}", ev.bootstraps());
}

#[test]
fn magnitudes_that_a_program_states_keep_it_going() {
    let (world, ev) = (world(), world().bootstrapping());
    let mut expected = numbers(5, 1.0);
    let double = |x: &Ciphertext| ev.weighted_sum(&[(&ev.square(x)?, 2.0)], -1.0);
    let start = world.encrypt(&expected, 0);
    // 2 x^2 - 1 stays in [-1, 1], which squares show: no square is negative.
    let known = double(&double(&start).expect("levels do not end")).expect("levels do not end");
    assert_eq!(known.magnitude(), 1.0);
    // Of a product with itself the bounds say 3, 17, 577, and more than half a million.
    let product = |x: &Ciphertext| ev.weighted_sum(&[(&ev.mul(x, x)?, 2.0)], -1.0);
    let mut unstated = start.clone();
    let refused = (0..5).find_map(|_| match product(&unstated) {
        Ok(next) => {
            unstated = next;
            None
        }
        Err(error) => Some(error),
    });
    let Some(Error::Parameters { name: "magnitude", needed, .. }) = refused else { panic!("not refused: {refused:?}") };
    assert!(needed.contains("1024"), "{needed}");
    let mut x = start;
    for round in 1..=5 {
        x = double(&x).expect("levels do not end").with_magnitude(1.0);
        expected.iter_mut().for_each(|x| *x = 2.0 * *x * *x - 1.0);
        assert!(world.error(&x, expected.iter().copied()) <= 4f64.powi(round + 1) * PRECISION);
    }
}

#[test]
fn errors_that_a_program_states_replace_those_of_the_operations() {
    let (world, ev) = (world(), world().bootstrapping());
    let values = numbers(15, 0.5);
    let x = world.encrypt(&values, 0).with_magnitude(0.5);
    for stated in [0.0, 0.25] {
        let stating = x.clone().with_error_bound(stated);
        // Decoding rounds to f64.
        assert!((stated..stated + 1e-13).contains(&stating.error_bound()), "{stated}");
        // (z + e)^2 - z^2 is at most 2 |z| |e| + |e|^2, and what bootstrap and square add. A bootstrap counts 1/1024 of an
        // error besides, the room that it leaves to scales.
        let square = ev.square(&stating).expect("levels do not end");
        let renewed = stated * (1.0 + 1.0 / 1024.0);
        let carried = 2.0 * 0.5 * renewed + renewed * renewed;
        let added = square.error_bound() - carried;
        assert!((0.0..2f64.powi(-18)).contains(&added), "{stated}: {added:e}");
    }
    for none in [f64::INFINITY, f64::NAN, -1.0] {
        let unbounded = x.clone().with_error_bound(none);
        assert_eq!(unbounded.error_bound(), f64::INFINITY);
        assert!(matches!(ev.square(&unbounded).err(), Some(Error::Parameters { name: "magnitude", .. })));
    }
}

#[test]
fn a_program_that_has_levels_bootstraps_nothing() {
    let (world, ev) = (world(), world().bootstrapping());
    let values = numbers(6, 1.0);
    let x = world.encrypt(&values, world.parameters.levels_left());
    assert_eq!(ev.levels_left(&x), 2);
    let y = ev.mul(&ev.square(&x).expect("a level"), &x).expect("a level");
    // Sums and rotations work where no level is left.
    let y = ev.add(&ev.add_scalar(&y, 0.5).expect("a sum"), &ev.neg(&x).expect("a sum")).expect("a sum");
    let y = trace::sum(&ev, &y, 512, 1).expect("keys");
    assert_eq!((ev.bootstraps(), ev.log2_failure(), ev.levels_left(&y)), (0, f64::NEG_INFINITY, 0));
    let sum = values.iter().map(|x| x.powi(3) + 0.5 - x).sum::<f64>();
    assert!(world.error(&y, std::iter::repeat(sum)) < 512.0 * PRECISION);
    // High enough already.
    let same = ev.bootstrap(&x).expect("nothing to be done");
    assert_eq!((ev.bootstraps(), same.level()), (0, x.level()));
}

#[test]
fn the_same_ciphertext_is_bootstrapped_once() {
    let (world, ev) = (world(), world().bootstrapping());
    let (a, b) = (numbers(7, 1.0), numbers(8, 1.0));
    let (x, y) = (world.encrypt(&a, 0), world.encrypt(&b, 0));
    let square = ev.mul(&x, &x.clone()).expect("levels do not end");
    assert_eq!(ev.bootstraps(), 1);
    assert!(world.error(&square, a.iter().map(|a| a * a)) <= 3.0 * PRECISION);
    let product = ev.clone().dot(&[(&x, &y), (&y, &x)]).expect("levels do not end");
    assert_eq!(ev.bootstraps(), 2);
    assert!(world.error(&product, a.iter().zip(&b).map(|(a, b)| 2.0 * a * b)) <= 5.0 * PRECISION);
    // A better bound is another thing to bootstrap.
    ev.square(&x.with_magnitude(0.5)).expect("levels do not end");
    assert_eq!(ev.bootstraps(), 3);
}

#[test]
fn plain_operands_serve_at_every_level() {
    let (world, ev) = (world(), world().bootstrapping());
    let (a, p) = (numbers(9, 1.0), numbers(10, 1.0));
    let full = world.encrypt(&a, 2);
    let plain = ev.encode_for(&p, &full).expect("encode");
    for levels in [2, 1, 0] {
        let x = world.encrypt(&a, levels);
        let y = ev.add_plain(&ev.mul_plain(&x, &plain).expect("levels do not end"), &plain).expect("a sum");
        assert!(world.error(&y, a.iter().zip(&p).map(|(a, p)| a * p + p)) <= 3.0 * PRECISION, "{levels}");
        let both = ev.dot_plain(&[(&x, &plain), (&full, &plain)]).expect("levels do not end");
        assert!(world.error(&both, a.iter().zip(&p).map(|(a, p)| 2.0 * a * p)) <= 3.0 * PRECISION, "{levels}");
    }
    // A matrix that was prepared at one level, too.
    let prepared = matrix().prepare(&ev, &full).expect("encode");
    let clear = |start: usize| -> f64 { (0..8).map(|j| uniform(90, 64)[8 * start + j] * a[j]).sum() };
    for levels in [2, 1, 0] {
        let x = world.encrypt(&a[..8], levels);
        let refused = prepared.apply(&ev, &x);
        assert!(matches!(refused, Err(Error::Length { .. })), "other slots");
        let x = world.encrypt(&a[..8].repeat(64), levels).with_period(8).expect("a power of two");
        let y = prepared.apply(&ev, &x).expect("levels do not end");
        assert!(world.error(&y, (0..512).map(|j| clear(j % 8))) <= 9.0 * PRECISION, "{levels}");
    }
    let few = world.encrypt(&a[..8], 2);
    assert!(matches!(ev.add_plain(&few, &plain), Err(Error::Length { .. })));
    assert!(matches!(cause(&ev.encode_for(&[f64::NAN], &few)), Some(SlotError::NotFinite { .. })));
}

#[test]
fn ciphertexts_from_above_come_down_first() {
    let (world, ev) = (world(), world().bootstrapping());
    let (a, b) = (numbers(11, 1.0), numbers(12, 1.0));
    let top = world.encrypt_at(&a, world.parameters.max_level());
    assert_eq!(ev.levels_left(&top), 2);
    let product = ev.mul(&top, &world.encrypt(&b, 1)).expect("a level");
    assert_eq!((ev.bootstraps(), ev.levels_left(&product)), (0, 0));
    assert!(world.error(&product, a.iter().zip(&b).map(|(a, b)| a * b)) <= PRECISION);
    let rotated = trace::sum(&ev, &top, 512, 1).expect("keys of the level of results serve");
    assert!(world.error(&rotated, std::iter::repeat(a.iter().sum())) <= 512.0 * PRECISION);
    assert_eq!(ev.bootstrap(&top).expect("lowered").level(), world.parameters.output_level());
}

/// Programs of two vectors that repeat after eight slots.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Circuit {
    Power(u32),
    /// Of this degree, and then a product with the argument.
    Polynomial(usize),
    /// On an interval, and on a wider one.
    TwoFunctions,
    Product(usize),
    InARow(usize),
    /// Sums with what was renewed.
    Sums,
    /// Matrices one after the other, each result added to its vector.
    Matrices(usize),
    PlainProducts,
}

impl Circuit {
    fn run<E: SlotEvaluator<Scalar = f64>>(self, ev: &E, x: &E::Ciphertext, y: &E::Ciphertext) -> E::Ciphertext {
        self.try_run(ev, x, y).expect("levels do not end")
    }

    fn try_run<E: SlotEvaluator<Scalar = f64>>(
        self,
        ev: &E,
        x: &E::Ciphertext,
        y: &E::Ciphertext,
    ) -> noren::Result<E::Ciphertext> {
        match self {
            Self::Power(exponent) => power(ev, x, exponent),
            Self::Polynomial(degree) => {
                let coefficients = (0..=degree).map(|k| 0.5f64.powi(k as i32 + 1)).collect();
                let polynomial = Polynomial::chebyshev(coefficients)?;
                ev.mul(&polynomial.evaluate(ev, x)?, &ev.add(x, y)?)
            }
            Self::TwoFunctions => {
                let polynomial = Polynomial::chebyshev(vec![0.1, 0.2, 0.3])?;
                let [a, b] = [1.0, 2.0].map(|end| polynomial.evaluate_on(ev, x, [-end, end]));
                ev.add(&ev.mul(&a?, &b?)?, x)
            }
            Self::Product(count) => product(ev, x, count, 1),
            Self::InARow(count) => sequential(ev, x, count, 1),
            Self::Sums => {
                let mut z = ev.add(&ev.mul(x, y)?, x)?;
                for _ in 0..3 {
                    z = ev.weighted_sum(&[(&ev.sub(&ev.square(&z)?, y)?, 0.25), (x, 0.5)], 0.125)?;
                    z = ev.add(&ev.with_magnitude(z, 1.0), &ev.rotate(y, 1)?)?;
                    z = ev.dot(&[(&z, x), (y, &trace::sum(ev, x, 8, 1)?)])?;
                    z = ev.with_range(ev.mul_scalar(&z, 0.125)?, [-1.0, 1.0]);
                }
                Ok(z)
            }
            Self::Matrices(count) => {
                let prepared = matrix().prepare(ev, x)?;
                let next = |z: E::Ciphertext| ev.mul_scalar(&ev.add(&prepared.apply(ev, &z)?, &z)?, 0.1);
                (0..count).try_fold(x.clone(), |z, _| next(z))
            }
            Self::PlainProducts => {
                let ones = ev.encode_for(&[0.5; 512], x)?;
                let z = ev.mul_plain(&ev.mul(x, y)?, &ones)?;
                let z = ev.dot_plain(&[(&z, &ones), (y, &ones), (x, &ones)])?;
                ev.add_plain(&ev.mul(&z, y)?, &ev.encode_addend(&[0.25; 512], &z)?)
            }
        }
    }
}

#[test]
fn bootstraps_are_those_that_a_dry_run_counts() {
    if !is_fastest() {
        return;
    }
    let (world, levels) = (world(), world().parameters.levels_left());
    let circuits = [
        Circuit::Power(2),
        Circuit::Power(13),
        Circuit::Polynomial(3),
        Circuit::Polynomial(24),
        Circuit::TwoFunctions,
        Circuit::Product(32),
        Circuit::InARow(6),
        Circuit::Sums,
        Circuit::Matrices(3),
        Circuit::PlainProducts,
    ];
    let [a, b] = [16, 17].map(|number| numbers(number, 0.9)[..8].repeat(64));
    // Placements call no kernel: with those that are not the fastest, for a pair of levels.
    let pairs = [(1, 0), (0, levels), (levels, levels)];
    let pairs = &pairs[..if is_fastest() { 3 } else { 1 }];
    let mut seen = 0;
    for circuit in circuits {
        for &(first, second) in pairs {
            let (recorder, planned) = (Recorder::new(), Planned::new(levels));
            let fresh = recorder.fresh_repeated(512, 8);
            let blank =
                |left| recorder.at_level(&fresh, recorder.level(&fresh) - (levels - left)).expect("above").into();
            let dry = Renewing::new(&recorder, &planned);
            let plan = circuit.run(&dry, &blank(first), &blank(second));

            let ev = world.bootstrapping();
            let of = |values: &[f64], left| world.encrypt(values, left).with_range(-1.0, 1.0).with_period(8);
            let [x, y] = [of(&a, first), of(&b, second)].map(|x| x.expect("a power of two"));
            let result = circuit.run(&ev, &x, &y);
            let (found, left) = (ev.bootstraps() as usize, ev.levels_left(&result));
            assert_eq!((found, left), (planned.count(), dry.levels_left(&plan)), "{circuit:?}, {first}, {second}");
            // On vectors that know what they became, without the memory of the evaluator.
            let own = world.bootstrapping();
            let renewing = Renewing::new(own.evaluator(), own.renewal());
            let result = circuit.run(&renewing, &x.into(), &y.into());
            let (found, left) = (own.bootstraps() as usize, renewing.levels_left(&result));
            assert_eq!((found, left), (planned.count(), dry.levels_left(&plan)), "{circuit:?}, {first}, {second}");
            seen += found;
        }
    }
    assert!(seen > 10 * pairs.len(), "{seen} bootstraps");
}

#[test]
fn programs_on_tables_run_at_any_level() {
    let (world, ev) = (world(), world().bootstrapping());
    let entries = numbers(13, 1.0)[..300].to_vec();
    let layout = TableLayout::new(300, 1, 512).expect("it fits").with_exponents_of(&entries).expect("finite");
    let encryptor = Encryptor::public(&world.context, &world.keys.public, seed(4)).expect("encryptor");
    let level = world.parameters.input_level();
    let table = EncryptedTable::encrypt(&Encoder::new(&world.context), &encryptor, layout, &entries, level);
    let program = Program::parse("variance", None).expect("a program");
    let result = program.run(&ev, &table.expect("encrypted")).expect("levels do not end");
    assert!(ev.bootstraps() > 0);
    let decryptor = Decryptor::new(&world.context, &world.keys.secret).expect("key");
    let found = result.decrypt(&decryptor).expect("decrypt");
    let mean = entries.iter().sum::<f64>() / 300.0;
    let expected = entries.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 299.0;
    let error = (found.values[0] - expected).abs();
    assert!(error <= found.errors[0] && error <= 10.0 * PRECISION, "{error:e} of {:e}", found.errors[0]);
}

#[test]
fn what_cannot_go_on_is_refused() {
    let world = world();
    let ev = world.bootstrapping();
    let values = numbers(14, 1.0);
    // Below the level that bootstrapping takes.
    let level = world.parameters.input_level();
    let low = world.encrypt_at(&values, level - 1);
    let refused = ev.square(&low).err().expect("refused");
    assert!(matches!(refused.downcast_ref(), Some(CkksError::TooLowToBootstrap { needed, .. }) if *needed == level));
    // No keys for the program itself: they are named.
    let none = world.context.generate_keys(seed(1), &KeyRequest::default()).expect("keys").evaluation;
    let bare = Evaluator::new(&world.context, none).expect("its keys");
    let bare = bare.with_bootstrapping(world.bootstrapper.clone()).expect("the right parameters");
    let x = world.encrypt(&values, 1);
    let missing = |error: Option<Error>| match error {
        Some(Error::MissingKey { kind, .. }) => kind,
        other => panic!("another error: {other:?}"),
    };
    assert!(missing(bare.square(&x).err()).contains("relinearisation"));
    let named = missing(trace::sum(&bare, &x, 512, 1).err());
    assert!(["rotation by 1 ", "rotation by 256 "].iter().all(|rotation| named.contains(rotation)), "{named}");
    // Another ring.
    let mut spec = Preset::Toy.spec();
    spec.special.count += 1;
    let context = Context::new(spec.build().expect("supported").ckks().expect("primes")).expect("rings");
    let keys = context.generate_keys(seed(1), &KeyRequest::default()).expect("keys").evaluation;
    let other = Evaluator::new(&context, keys).expect("its keys").with_bootstrapping(world.bootstrapper.clone());
    assert!(matches!(other.err(), Some(Error::ParameterMismatch { .. })));
}
