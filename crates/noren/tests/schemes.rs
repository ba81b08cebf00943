//! One suite over all schemes and their twins in clear: the same operations and circuits give the same numbers, and the same bytes
//! on every device.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use noren::circuits::linear::LinearMap;
use noren::circuits::polynomial::{Basis, Polynomial};
use noren::circuits::product;
use noren::circuits::recorder::Recorder;
use noren::circuits::trace::{self, Unrolling};
use noren::error::Error;
use noren::schemes::clear::{ClearEvaluator, ClearIntegers, ClearVector};
use noren::schemes::integers::{self, Scheme};
use noren::schemes::slots::{GiantStep, Scalar, SlotEvaluator};
use noren::wire::{Form, Object};
use noren::{PublicKey, Security, Seed, bfv, bgv, ckks};
use noren_naive::Naive;
use noren_ring::device::Device;
use noren_ring::host::Host;
use noren_ring::parallel::Parallel;

/// Slots of every vector.
const SLOTS: usize = 128;
/// Multiplications that fresh vectors allow, at least.
const LEVELS: usize = 4;
/// The integers are those modulo t.
const T: u64 = 65537;

/// A scheme with its keys, or a twin.
trait World {
    type Number: Scalar;
    type Ev: SlotEvaluator<Scalar = Self::Number>;

    fn name(&self) -> String;
    fn ev(&self) -> &Self::Ev;
    fn number(x: i64) -> Self::Number;
    fn vector(&self, values: &[i64]) -> Ciphertext<Self>;
    fn read(&self, x: &Ciphertext<Self>) -> Vec<i64>;

    /// The ciphertext as it travels; nothing of numbers in clear.
    fn bytes(&self, _: &Ciphertext<Self>) -> Vec<u8> {
        Vec::new()
    }

    fn numbers(values: &[i64]) -> Vec<Self::Number> {
        values.iter().map(|&x| Self::number(x)).collect()
    }
}

type Ciphertext<W> = <<W as World>::Ev as SlotEvaluator>::Ciphertext;

struct Reals;

impl World for Reals {
    type Number = f64;
    type Ev = ClearEvaluator;

    fn name(&self) -> String {
        "reals in clear".into()
    }

    fn ev(&self) -> &ClearEvaluator {
        &ClearEvaluator
    }

    fn number(x: i64) -> f64 {
        x as f64
    }

    fn vector(&self, values: &[i64]) -> ClearVector {
        ClearVector::new(Self::numbers(values), LEVELS).unwrap()
    }

    fn read(&self, x: &ClearVector) -> Vec<i64> {
        x.values().iter().map(|&x| x as i64).collect()
    }
}

struct Integers(ClearIntegers);

impl World for Integers {
    type Number = i64;
    type Ev = ClearIntegers;

    fn name(&self) -> String {
        "integers in clear".into()
    }

    fn ev(&self) -> &ClearIntegers {
        &self.0
    }

    fn number(x: i64) -> i64 {
        x
    }

    fn vector(&self, values: &[i64]) -> ClearVector<i64> {
        ClearVector::new(values.to_vec(), LEVELS).unwrap()
    }

    fn read(&self, x: &ClearVector<i64>) -> Vec<i64> {
        x.values().iter().map(|&x| self.0.0.center(self.0.0.reduce(x.into()))).collect()
    }
}

struct Ckks {
    context: ckks::Context,
    keys: ckks::Keys,
    ev: ckks::Evaluator,
}

impl Ckks {
    fn on(device: impl Device + 'static) -> Self {
        let spec = ckks::ParametersSpec {
            log_n: 8,
            log_q: [vec![50], vec![40; LEVELS]].concat(),
            log_p: vec![50; 2],
            log_scale: 40,
            security: Security::None,
            ..ckks::ParametersSpec::default()
        };
        let (parameters, device) = (spec.build().unwrap(), Arc::new(device));
        let context = ckks::Context::on_device(parameters, None, Parallel::default(), device).unwrap();
        let request = ckks::KeyRequest { relinearization: true, rotations: rotations(), ..Default::default() };
        let keys = context.generate_keys(Seed::from_bytes([1; 32]), &request).unwrap();
        let ev = ckks::Evaluator::new(&context, keys.evaluation.clone()).unwrap();
        Self { context, keys, ev }
    }
}

impl World for Ckks {
    type Number = f64;
    type Ev = ckks::Evaluator;

    fn name(&self) -> String {
        "CKKS".into()
    }

    fn ev(&self) -> &ckks::Evaluator {
        &self.ev
    }

    fn number(x: i64) -> f64 {
        x as f64
    }

    fn vector(&self, values: &[i64]) -> ckks::Ciphertext {
        let plaintext = ckks::Encoder::new(&self.context).encode(&Self::numbers(values), SLOTS, LEVELS).unwrap();
        let encryptor = ckks::Encryptor::public(&self.context, &self.keys.public, Seed::from_bytes([2; 32])).unwrap();
        encryptor.encrypt(&plaintext).unwrap()
    }

    fn read(&self, x: &ckks::Ciphertext) -> Vec<i64> {
        let values = ckks::Decryptor::new(&self.context, &self.keys.secret).unwrap().decrypt_real(x).unwrap();
        assert!(values.iter().all(|x| (x - x.round()).abs() < 0.1), "far from integers");
        values.iter().map(|x| x.round() as i64).collect()
    }

    fn bytes(&self, x: &ckks::Ciphertext) -> Vec<u8> {
        x.to_bytes(&self.context, Form::Packed)
    }
}

struct Exact<S> {
    context: bgv::Context,
    keys: bgv::Keys,
    ev: integers::Evaluator<S>,
}

impl<S: Scheme> Exact<S> {
    fn on(device: impl Device + 'static) -> Self {
        let spec = bgv::ParametersSpec {
            log_n: 8,
            plaintext_modulus: T,
            log_q: vec![36; LEVELS + 3],
            log_p: vec![48; 2],
            security: Security::None,
            ..bgv::ParametersSpec::default()
        };
        let context = bgv::Context::on_device(spec.build().unwrap(), None, Arc::new(device)).unwrap();
        let request = bgv::KeyRequest { relinearization: true, rotations: rotations(), ..Default::default() };
        let keys = context.generate_keys(Seed::from_bytes([1; 32]), &request).unwrap();
        let ev = integers::Evaluator::new(&context, keys.evaluation.clone()).unwrap();
        Self { context, keys, ev }
    }
}

impl<S: Scheme> World for Exact<S> {
    type Number = i64;
    type Ev = integers::Evaluator<S>;

    fn name(&self) -> String {
        S::NAME.into()
    }

    fn ev(&self) -> &integers::Evaluator<S> {
        &self.ev
    }

    fn number(x: i64) -> i64 {
        x
    }

    fn vector(&self, values: &[i64]) -> integers::Ciphertext<S> {
        let plaintext = bgv::Encoder::new(&self.context).encode_row(values).unwrap();
        let public: &PublicKey = &self.keys.public;
        let encryptor = integers::Encryptor::public(&self.context, public, Seed::from_bytes([2; 32])).unwrap();
        encryptor.encrypt(&plaintext).unwrap()
    }

    fn read(&self, x: &integers::Ciphertext<S>) -> Vec<i64> {
        let plaintext = bgv::Decryptor::new(&self.context, &self.keys.secret).unwrap().decrypt(x).unwrap();
        let both = bgv::Encoder::new(&self.context).decode_signed(&plaintext).unwrap();
        let (first, second) = both.split_at(SLOTS);
        assert_eq!(first, second, "both rows do the same");
        first.to_vec()
    }

    fn bytes(&self, x: &integers::Ciphertext<S>) -> Vec<u8> {
        x.to_bytes(&self.context, Form::Packed)
    }
}

/// A matrix with few diagonals, of small entries.
fn matrix() -> Vec<i64> {
    (0..64).map(|i| if (i / 8 + i % 8) % 3 == 0 { (i % 5) as i64 - 2 } else { 0 }).collect()
}

/// Rows and columns of matrices for vectors that repeat after 8 slots.
const NOT_SQUARE: [[usize; 2]; 3] = [[2, 8], [1, 5], [10, 6]];

/// All rotations of the suite.
fn rotations() -> Vec<isize> {
    let entries: Vec<f64> = matrix().iter().map(|&x| x as f64).collect();
    let map = LinearMap::dense(8, 8, &entries).unwrap();
    let recorder = Recorder::new();
    trace::sum(&recorder, &recorder.fresh(SLOTS), 12, 3).unwrap();
    product::product(&recorder, &recorder.fresh(SLOTS), 7, 2).unwrap();
    let plan = Unrolling::unrolled(64, 1, 3).unwrap();
    let recorded = recorder.usage().rotations.into_keys();
    let hybrids = NOT_SQUARE.map(|[rows, columns]| {
        let entries: Vec<f64> = matrix()[..rows * columns].iter().map(|&x| x as f64 + 1.0).collect();
        LinearMap::hybrid(8, rows, columns, &entries).unwrap().rotations()
    });
    let all: BTreeSet<isize> = recorded
        .chain(map.rotations())
        .chain(hybrids.into_iter().flatten())
        .chain(plan.rotations())
        .chain([1, -2, 5])
        .collect();
    all.into_iter().collect()
}

fn values(stream: usize) -> Vec<i64> {
    (0..SLOTS).map(|j| ((j * 7 + j / 9 + stream * 5) % 7) as i64 - 3).collect()
}

fn each(x: &[i64], y: &[i64], op: impl Fn(i64, i64) -> i64) -> Vec<i64> {
    x.iter().zip(y).map(|(&x, &y)| op(x, y)).collect()
}

fn turned(x: &[i64], steps: isize) -> Vec<i64> {
    let shift = steps.rem_euclid(SLOTS as isize) as usize;
    (0..SLOTS).map(|j| x[(j + shift) % SLOTS]).collect()
}

/// Every operation of the contract, and circuits made of them: their names and results.
fn suite<W: World>(world: &W) -> Vec<(String, Vec<u8>)> {
    let results = RefCell::new(Vec::new());
    let (ev, x, y) = (world.ev(), values(1), values(2));
    let (a, b) = (world.vector(&x), world.vector(&y));
    assert!(ev.level(&a) >= LEVELS && ev.slots(&a) == SLOTS, "{}", world.name());
    let check = |what: &str, found: noren::Result<Ciphertext<W>>, expected: &[i64]| {
        let found = found.unwrap_or_else(|error| panic!("{} {what}: {error}", world.name()));
        assert_eq!(world.read(&found), expected, "{} {what}", world.name());
        results.borrow_mut().push((format!("{} {what}", world.name()), world.bytes(&found)));
        found
    };
    let n = W::number;
    let p = ev.encode_for(&W::numbers(&y), &a).unwrap();
    check("input", Ok(a.clone()), &x);
    check("add", ev.add(&a, &b), &each(&x, &y, |x, y| x + y));
    check("sub", ev.sub(&a, &b), &each(&x, &y, |x, y| x - y));
    check("neg", ev.neg(&a), &each(&x, &x, |x, _| -x));
    check("add_scalar", ev.add_scalar(&a, n(5)), &each(&x, &x, |x, _| x + 5));
    check("add_plain", ev.add_plain(&a, &p), &each(&x, &y, |x, y| x + y));
    check("mul_plain", ev.mul_plain(&a, &p), &each(&x, &y, |x, y| x * y));
    check("mul_scalar", ev.mul_scalar(&a, n(-4)), &each(&x, &x, |x, _| -4 * x));
    check("weighted_sum", ev.weighted_sum(&[(&a, n(2)), (&b, n(-3))], n(1)), &each(&x, &y, |x, y| 2 * x - 3 * y + 1));
    check("dot", ev.dot(&[(&a, &b), (&b, &b)]), &each(&x, &y, |x, y| x * y + y * y));
    check("dot_plain", ev.dot_plain(&[(&a, &p), (&b, &p)]), &each(&x, &y, |x, y| x * y + y * y));
    let square = check("square", ev.square(&a), &each(&x, &x, |x, _| x * x));
    assert!(ev.level(&square) >= LEVELS - 1);
    let product = check("mul", ev.mul(&square, &b), &each(&x, &y, |x, y| x * x * y));
    check("add at two levels", ev.add(&product, &a), &each(&x, &y, |x, y| x * x * y + x));
    check("at_level", ev.at_level(&a, 1), &x);
    assert!(matches!(ev.at_level(&a, 1000), Err(Error::LevelExhausted { .. })), "{}", world.name());
    assert!(ev.dot(&[]).is_err() && ev.weighted_sum(&[], n(0)).is_err() && ev.dot_plain(&[]).is_err());

    check("rotate", ev.rotate(&a, -2), &turned(&x, -2));
    let many = ev.rotate_many(&a, &[5, 0, 1]).unwrap();
    for (image, steps) in many.into_iter().zip([5, 0, 1]) {
        check("rotate_many", Ok(image), &turned(&x, steps));
    }
    let sum = each(&x, &turned(&x, 1), |x, y| x + y);
    check("sum_rotations", ev.sum_rotations(&a, &[1]), &sum);
    let q = ev.encode_factor(&W::numbers(&y), &a).unwrap();
    let r = ev.encode_factor(&W::numbers(&x), &a).unwrap();
    let giants = [GiantStep { rotation: 0, terms: vec![(0, q)] }, GiantStep { rotation: 5, terms: vec![(1, r)] }];
    let second = turned(&each(&turned(&x, 1), &x, |x, y| x * y), 5);
    let expected = each(&each(&x, &y, |x, y| x * y), &second, |x, y| x + y);
    check("sum_giant_steps", ev.sum_giant_steps(&a, &[0, 1], &giants), &expected);

    let total = (0..12).fold(vec![0; SLOTS], |sum, k| each(&sum, &turned(&x, 3 * k), |x, y| x + y));
    check("sum of 12", trace::sum(ev, &a, 12, 3), &total);
    let total = (0..64).fold(vec![0; SLOTS], |sum, k| each(&sum, &turned(&x, k), |x, y| x + y));
    check("sum of 64", Unrolling::unrolled(64, 1, 3).unwrap().apply(ev, &a), &total);

    let total = (1..7).fold(x.clone(), |product, k| each(&product, &turned(&x, 2 * k), |x, y| x * y));
    check("product of 7", product::product(ev, &a, 7, 2), &total);
    let total = each(&each(&x, &turned(&x, 1), |x, y| x * y), &turned(&x, 2), |x, y| x * y);
    check("products in a row", product::sequential(ev, &a, 3, 1), &total);

    let rows: Vec<i64> = x[..8].repeat(SLOTS / 8);
    let map = LinearMap::dense(8, 8, &W::numbers(&matrix())).unwrap();
    let entry = |j: usize| (0..8).map(|k| matrix()[j % 8 * 8 + k] * rows[k]).sum();
    let expected: Vec<i64> = (0..SLOTS).map(entry).collect();
    check("matrix", map.apply(ev, &ev.with_period(world.vector(&rows), 8)), &expected);

    for [rows, columns] in NOT_SQUARE {
        let entries: Vec<i64> = matrix()[..rows * columns].iter().map(|x| x + 1).collect();
        let hybrid = LinearMap::hybrid(8, rows, columns, &W::numbers(&entries)).unwrap();
        let y = hybrid.apply(ev, &ev.with_period(world.vector(&x[..8].repeat(SLOTS / 8)), 8)).unwrap();
        let period = rows.next_power_of_two();
        assert_eq!(ev.period(&y), period);
        let entry = |row: usize| (0..columns).map(|c| entries[row * columns + c] * x[c]).sum();
        let expected: Vec<i64> = (0..SLOTS).map(|j| if j % period < rows { entry(j % period) } else { 0 }).collect();
        check("hybrid matrix", Ok(y), &expected);
    }

    let coefficients = [1, -2, 0, 3, 1];
    let at = |x: i64| coefficients.iter().rev().fold(0, |sum, c| sum * x + c);
    let polynomial = Polynomial::new(Basis::Power, W::numbers(&coefficients)).unwrap();
    check("polynomial", polynomial.evaluate(ev, &a), &each(&x, &x, |x, _| at(x)));
    results.into_inner()
}

/// The suite on the host and on a device without its kernels.
fn on_each_device<W: World>([host, naive]: [W; 2]) {
    for ((what, host), (_, naive)) in suite(&host).into_iter().zip(suite(&naive)) {
        assert!(!host.is_empty() && host == naive, "{what} on the naive device");
    }
}

#[test]
fn twins_in_clear_calculate_as_written() {
    suite(&Reals);
    suite(&Integers(ClearIntegers(bgv::PlaintextModulus::new(T).unwrap())));
}

#[test]
fn ckks_agrees_with_its_twin() {
    on_each_device([Ckks::on(Host), Ckks::on(Naive)]);
}

#[test]
fn bgv_agrees_with_its_twin() {
    on_each_device([Exact::<bgv::Bgv>::on(Host), Exact::on(Naive)]);
}

#[test]
fn bfv_agrees_with_its_twin() {
    on_each_device([Exact::<bfv::Bfv>::on(Host), Exact::on(Naive)]);
}

#[test]
fn polynomials_of_integers_wrap_around_the_modulus() {
    let world = Exact::<bfv::Bfv>::on(Host);
    let twin = ClearIntegers(bgv::PlaintextModulus::new(T).unwrap());
    let x: Vec<i64> = (0..SLOTS as i64).map(|j| j * 9973 % T as i64).collect();
    let coefficients: Vec<i64> = (0..12).map(|k| (k * 54321 + 7) % T as i64).collect();
    for basis in [Basis::Power, Basis::Chebyshev] {
        let polynomial = Polynomial::new(basis, coefficients.clone()).unwrap();
        let clear = polynomial.evaluate(&twin, &ClearVector::new(x.clone(), LEVELS).unwrap()).unwrap();
        let encrypted = polynomial.evaluate(world.ev(), &world.vector(&x)).unwrap();
        let signed: Vec<i64> = clear.values().iter().map(|&x| twin.0.center(x.cast_unsigned())).collect();
        assert_eq!(world.read(&encrypted), signed, "{basis:?}");
    }
    // And the twin itself, by Horner's scheme.
    let t = i128::from(T);
    let at = |x: i64| coefficients.iter().rev().fold(0, |sum, &c| (sum * i128::from(x) + i128::from(c)) % t) as i64;
    let polynomial = Polynomial::new(Basis::Power, coefficients.clone()).unwrap();
    let clear = polynomial.evaluate(&twin, &ClearVector::new(x.clone(), LEVELS).unwrap()).unwrap();
    assert_eq!(clear.values(), x.iter().map(|&x| at(x)).collect::<Vec<_>>());
}
