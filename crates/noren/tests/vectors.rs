//! Lengths and periods of vectors: matrices are right for every vector, and slots and coefficients do not mix.

mod world;

use noren::bgv::{Bgv, Context, Decryptor, Encoder, KeyRequest, Keys, ParametersSpec};
use noren::circuits::linear::LinearMap;
use noren::circuits::matrix::Matrix;
use noren::circuits::recorder::Recorder;
use noren::circuits::terms::Terms;
use noren::ckks::{self, Encryptor, Operand};
use noren::schemes::clear::{ClearEvaluator, ClearVector};
use noren::schemes::integers::{self, Encoding};
use noren::schemes::slots::SlotEvaluator;
use noren::wire::{Form, Object};
use noren::{Error, Security};
use world::{World, seed, toy, uniform};

const T: i64 = 65537;

/// `A x` by its definition.
fn product<T: Copy + std::ops::Mul<Output = T> + std::iter::Sum>(columns: usize, entries: &[T], x: &[T]) -> Vec<T> {
    entries.chunks(columns).map(|row| row.iter().zip(x).map(|(&a, &x)| a * x).sum()).collect()
}

#[test]
fn matrices_multiply_what_any_slots_hold() {
    for (rows, columns) in [(3, 3), (4, 8), (8, 4), (1, 7), (7, 1), (16, 16), (13, 16), (1, 1)] {
        let entries = uniform(1, rows * columns);
        let matrix = Matrix::new(rows, columns, entries.clone()).expect("a matrix");
        for slots in [16, 64] {
            let x = uniform(2, slots);
            let y = matrix.apply(&ClearEvaluator, &ClearVector::new(x.clone(), 1).expect("slots")).expect("no keys");
            let mut expected = product(columns, &entries, &x);
            expected.resize(slots, 0.0);
            let worst = y.values().iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-12, "{rows} x {columns} in {slots} slots: {worst}");
            // Exactly the rotations that are named.
            let recorder = Recorder::new();
            matrix.apply(&recorder, &recorder.fresh(64)).expect("nothing is refused");
            let named = matrix.rotations(None).expect("a matrix");
            assert!(recorder.usage().rotations.into_keys().eq(named.iter().copied().filter(|r| r % 64 != 0)));
        }
    }
}

#[test]
fn networks_of_ckks_chain_with_the_keys_of_their_matrices() {
    let (first, second) = (uniform(1, 32), uniform(2, 8));
    let layers = [Matrix::new(4, 8, first.clone()).expect("4 x 8"), Matrix::new(2, 4, second.clone()).expect("2 x 4")];
    let x = uniform(3, 8);
    let expected = product(4, &second, &product(8, &first, &x));
    let cheap = layers.each_ref().map(|layer| layer.rotations(Some(8)).expect("a power of two")).concat();
    let all = layers.each_ref().map(|layer| layer.rotations(None).expect("no period")).concat();
    assert!(cheap.len() < all.len());
    for (rotations, repeated) in [(&all, false), (&all, true), (&cheap, true)] {
        let world = World::new(toy(), 5, rotations);
        let plain = match repeated {
            true => world.encoder.encode_repeated(&x, 512, 4).expect("8 values"),
            false => world.encoder.encode(&x, 512, 4).expect("8 values"),
        };
        assert_eq!(plain.extent().period(), if repeated { 8 } else { 512 });
        let encryptor = Encryptor::public(&world.context, &world.keys.public, seed(4)).expect("its key");
        let x = encryptor.encrypt(&plain).expect("encrypt");
        let y = layers.iter().try_fold(x, |x, layer| layer.apply(&world.evaluator, &x)).expect("the keys are there");
        let found = world.decrypt(&y);
        let bound = y.error_bound();
        assert!(bound < 1e-6, "{bound}");
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).norm() <= bound, "{found} {expected}, bound {bound}");
        }
        let bytes = y.to_bytes(&world.context, Form::Packed);
        let back = ckks::Ciphertext::from_bytes(&world.context, &bytes).expect("its own bytes");
        assert_eq!(back.extent(), y.extent());
    }
}

#[test]
fn maps_refuse_vectors_of_another_period() {
    let map = LinearMap::dense(4, 4, &uniform(1, 16)).expect("4 x 4");
    let world = World::new(toy(), 5, &map.rotations());
    let encode = |slots| world.encoder.encode(&uniform(2, 4), slots, 1).expect("4 values");
    let encryptor = Encryptor::public(&world.context, &world.keys.public, seed(4)).expect("its key");
    let x = encryptor.encrypt(&encode(8)).expect("encrypt");
    let refused = map.apply(&world.evaluator, &x);
    assert!(matches!(refused, Err(Error::Length { found: 8, .. })));
    let y = map.apply(&world.evaluator, &encryptor.encrypt(&encode(4)).expect("encrypt")).expect("its period");
    // The sum of a period is one number everywhere, and a rotation keeps the period.
    assert_eq!(y.extent().period(), 4);
    assert!(x.clone().with_period(3).is_err() && x.clone().with_period(16).is_err() && x.with_length(Some(9)).is_err());
}

struct Exact {
    context: Context,
    keys: Keys,
    encoder: Encoder,
    ev: integers::Evaluator<Bgv>,
}

impl Exact {
    fn new(rotations: Vec<isize>) -> Self {
        let spec = ParametersSpec {
            log_n: 8,
            plaintext_modulus: T as u64,
            log_q: vec![45; 5],
            log_p: vec![48; 2],
            security: Security::None,
            ..ParametersSpec::default()
        };
        let context = Context::new(spec.build().expect("supported")).expect("rings");
        let request = KeyRequest { relinearization: true, rotations, swap: true, ..KeyRequest::default() };
        let keys = context.generate_keys(seed(1), &request).expect("keys");
        let ev = integers::Evaluator::new(&context, keys.evaluation.clone()).expect("its keys");
        Self { encoder: Encoder::new(&context), context, keys, ev }
    }

    fn encrypt(&self, plaintext: &noren::bgv::Plaintext) -> integers::Ciphertext<Bgv> {
        let encryptor = integers::Encryptor::public(&self.context, &self.keys.public, seed(2)).expect("its key");
        encryptor.encrypt(plaintext).expect("encrypt")
    }

    fn decrypt(&self, x: &integers::Ciphertext<Bgv>) -> noren::bgv::Plaintext {
        Decryptor::new(&self.context, &self.keys.secret).and_then(|key| key.decrypt(x)).expect("noise left")
    }
}

#[test]
fn networks_of_integers_are_exact_for_every_vector() {
    let numbers = |count: i64, salt: i64| (0..count).map(|i| (i * i + salt * i) % 7 - 3).collect::<Vec<_>>();
    let (first, second, x) = (numbers(32, 1), numbers(8, 2), numbers(8, 3));
    let layers = [Matrix::new(4, 8, first.clone()).expect("4 x 8"), Matrix::new(2, 4, second.clone()).expect("2 x 4")];
    let expected = product(4, &second, &product(8, &first, &x));
    let world = Exact::new(layers.each_ref().map(|layer| layer.rotations(None).expect("no period")).concat());
    let encoded = [world.encoder.encode(&x), world.encoder.encode_row(&x), world.encoder.encode_repeated(&x)];
    for (plain, period) in encoded.into_iter().zip([256, 128, 8]) {
        let x = world.encrypt(&plain.expect("8 values"));
        assert_eq!((x.content().extent().period(), x.content().extent().length()), (period, Some(8)));
        let y = layers.iter().try_fold(x, |x, layer| layer.apply(&world.ev, &x)).expect("the keys are there");
        assert_eq!(world.encoder.decode_signed(&world.decrypt(&y)).expect("slots")[..2], expected);
        let back = integers::Ciphertext::<Bgv>::from_bytes(&world.context, &y.to_bytes(&world.context, Form::Packed));
        assert_eq!(back.expect("its own bytes").content(), y.content());
    }
}

#[test]
fn rows_that_differ_have_no_period_of_their_own() {
    let world = Exact::new(vec![1]);
    let x = world.encrypt(&world.encoder.encode(&[1, 2, 3, 4]).expect("4 values"));
    assert_eq!(world.ev.period(&x), 128);
    assert_eq!(world.ev.with_period(x.clone(), 4).content().extent().period(), 256, "the second row is another one");
    assert_eq!(world.ev.rotate(&x, 1).expect("its key").content().extent().length(), None);
    let y = world.encrypt(&world.encoder.encode_repeated(&[1, 2, 3, 4]).expect("4 values"));
    let turned = world.ev.rotate(&y, 1).expect("its key");
    assert_eq!(turned.content(), y.content());
    assert_eq!(world.encoder.decode(&world.decrypt(&turned)).expect("slots")[..8], [2, 3, 4, 1, 2, 3, 4, 1]);
    let sum = world.ev.add(&x, &y).expect("one length");
    assert_eq!((sum.content().extent().length(), sum.content().extent().period()), (Some(4), 256));
}

#[test]
fn slots_and_coefficients_do_not_mix() {
    let world = Exact::new(vec![1]);
    let (slots, coefficients) = (world.encoder.encode(&[1, 2]), world.encoder.encode_coefficients(&[1, -2]));
    let (p, q) = (slots.expect("in range"), coefficients.expect("in range"));
    let (x, y) = (world.encrypt(&p), world.encrypt(&q));
    assert_eq!((x.content().encoding(), y.content().encoding()), (Encoding::Slots, Encoding::Coefficients));
    let ev = &world.ev;
    for refused in [
        ev.add(&x, &y),
        ev.sub(&y, &x),
        ev.mul(&x, &y),
        ev.dot(&[(&x, &x), (&y, &y)]),
        ev.add_plain(&x, &q),
        ev.mul_plain(&y, &p),
        ev.dot_plain(&[(&x, &p), (&y, &q)]),
    ] {
        assert!(matches!(refused, Err(Error::Parameters { name: "encoding of the second operand", .. })));
    }
    for refused in [ev.rotate(&y, 1), ev.swap_rows(&y), ev.sum_rotations(&y, &[1])] {
        assert!(matches!(refused, Err(Error::Parameters { name: "encoding of the vector", .. })));
    }
    let square = world.decrypt(&ev.square(&y).expect("noise left"));
    assert!(world.encoder.decode(&square).is_err(), "coefficients are no slots");
    assert_eq!(world.encoder.decode_coefficients_signed(&square).expect("a polynomial")[..4], [1, -4, 4, 0]);
    let back = noren::bgv::Plaintext::from_bytes(&world.context, &q.to_bytes(&world.context, Form::Packed));
    assert_eq!(back.expect("its own bytes").content(), q.content());
}

/// A plaintext under the public key.
fn encrypted(world: &World, plain: &ckks::Plaintext) -> ckks::Ciphertext {
    let encryptor = Encryptor::public(&world.context, &world.keys.public, seed(9)).expect("its own keys");
    encryptor.encrypt(plain).expect("its own parameters")
}

#[test]
fn sums_and_products_say_what_their_results_hold() {
    let world = World::new(toy(), 5, &[1, 2, 3, 4]);
    let ev = &world.evaluator;
    let encrypt = |values: usize, slots: usize, repeated: bool| {
        let x = uniform(7, values);
        let plain = match repeated {
            true => world.encoder.encode_repeated(&x, slots, 4),
            false => world.encoder.encode(&x, slots, 4),
        };
        encrypted(&world, &plain.expect("values"))
    };
    // Values, slots, whether they repeat; count and stride; values and period of the result.
    let cases = [
        ((3, 16, false), (None, 1), (1, 16)),
        ((4, 4, false), (None, 1), (1, 1)),
        ((4, 16, true), (None, 1), (1, 1)),
        ((4, 16, true), (Some(2), 2), (4, 2)),
        ((3, 16, true), (None, 1), (1, 4)),
        ((8, 16, false), (Some(2), 4), (16, 16)),
        ((8, 16, false), (Some(1), 1), (8, 16)),
    ];
    for ((values, slots, repeated), (count, stride), expected) in cases {
        let (x, clear) = (encrypt(values, slots, repeated), uniform(7, values));
        let terms = Terms::new(count, stride, x.extent(), x.slots()).expect("values");
        let at = |i: i64| clear[(i * stride) as usize];
        let all = 0..count.unwrap_or(values as i64);
        let (sum, product) = (all.clone().map(at).sum::<f64>(), all.map(at).product::<f64>());
        for (found, clear) in [(terms.sum(ev, &x, None), sum), (terms.product(ev, &x), product)] {
            let found = found.expect("keys and levels");
            let extent = found.extent();
            assert_eq!((extent.values(), extent.period()), expected, "{values} of {slots}, {count:?} by {stride}");
            let slots = world.decrypt(&found);
            assert!((slots[0] - clear).norm() <= found.error_bound(), "{} is not {clear}", slots[0]);
        }
    }
}

#[test]
fn operands_in_clear_and_encrypted_are_the_same_numbers() {
    let world = World::new(toy(), 5, &[]);
    let (ev, a, b, c) = (&world.evaluator, uniform(1, 8), uniform(2, 8), [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0]);
    let [x, y, condition] = [&a, &b, &c.to_vec()].map(|values| {
        encrypted(&world, &world.encoder.encode(values, 16, 4).expect("8 values").with_length(Some(8)).expect("8"))
    });
    let plain = world.encoder.encode(&b, 16, 4).expect("8 values").with_length(Some(8)).expect("8");
    let whole = [3.0; 8];
    let operands = [
        (Operand::from(&y), &b[..]),
        (Operand::from(&plain), &b),
        (Operand::from(&b[..]), &b),
        (Operand::from(0.5), &[0.5; 8]),
        (Operand::Integer(3), &whole),
    ];
    for (operand, clear) in operands {
        let right = |found: noren::Result<ckks::Ciphertext>, expected: &dyn Fn(usize) -> f64| {
            let found = found.expect("levels");
            for (j, slot) in world.decrypt(&found)[..8].iter().enumerate() {
                assert!((slot - expected(j)).norm() <= found.error_bound(), "{j}: {slot}, {}", expected(j));
            }
        };
        right(ev.add_operand(&x, operand), &|j| a[j] + clear[j]);
        right(ev.sub_operand(&x, operand), &|j| a[j] - clear[j]);
        right(ev.mul_operand(&x, operand), &|j| a[j] * clear[j]);
        if !matches!(operand, Operand::Plaintext(_)) {
            let select = |first: f64, second: f64, j: usize| if c[j] == 1.0 { first } else { second };
            right(ev.select(&condition, &x, operand), &|j| select(a[j], clear[j], j));
            right(ev.select(&condition, operand, &x), &|j| select(clear[j], a[j], j));
        }
    }
    let refused =
        [ev.add_operand(&x, &b[..3]), ev.select(&condition, 0.5, 0.25), ev.add_operand(&x, Operand::Integer(i64::MAX))];
    let texts = refused.map(|refused| refused.err().expect("no operand of it").to_string());
    for (text, part) in texts.iter().zip(["3 numbers were given", "two in clear", "is no float64"]) {
        assert!(text.contains(part), "{text}");
    }
}
