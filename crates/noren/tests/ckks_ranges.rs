//! Results of CKKS are within their bounds, or refused: moduli, intervals, complex numbers.

mod world;

use noren::circuits::approx::Approximation;
use noren::circuits::matrix::Matrix;
use noren::circuits::polynomial::Polynomial;
use noren::ckks::{Ciphertext, CkksError, Decryptor, Encryptor, ParametersSpec, Releases};
use noren::error::cause;
use noren::schemes::error::SlotError;
use noren::schemes::range::Range;
use noren::schemes::slots::SlotEvaluator;
use noren::wire::{Form, Object};
use noren::{Complex64, Error};
use world::{World, real, seed, toy, uniform, worst};

fn decryptor(world: &World) -> Decryptor<'_> {
    Decryptor::new(&world.context, &world.keys.secret).expect("its key")
}

fn encrypt(world: &World, values: &[f64]) -> Ciphertext {
    world.encrypt(&real(values), 1).ciphertext
}

#[test]
fn a_message_that_may_leave_its_modulus_is_refused_unless_asked_for() {
    let world = World::new(ParametersSpec { log_q: vec![45, 40, 40], ..toy() }, 1, &[]);
    let x = encrypt(&world, &[8.0, -8.0]);
    let fourth = world.evaluator.square(&world.evaluator.square(&x).expect("a level")).expect("a level");
    // 4096 at the scale 2^40 needs 53 bits of 45.
    assert_eq!(fourth.error_bound(), f64::INFINITY);
    for refused in [
        decryptor(&world).decrypt_real(&fourth).map(drop),
        decryptor(&world).decrypt_complex(&fourth).map(drop),
        decryptor(&world).decrypt(&fourth).map(drop),
        decryptor(&world).decrypt_for_release(&fourth, 1, &mut Releases::new(1).expect("one")).map(drop),
    ] {
        let error = refused.expect_err("refused");
        assert!(matches!(error.downcast_ref(), Some(CkksError::Unbounded { level: 0, .. })), "{error}");
        let text = error.to_string();
        assert!(
            text.contains("message of up to 4096 ") && text.contains("modulus") && text.contains("with_magnitude"),
            "{text}"
        );
    }
    assert_eq!(decryptor(&world).allow_unbounded().decrypt_real(&fourth).expect("asked for").len(), 2);
}

#[test]
fn what_wrapped_stays_refused_however_small_it_becomes() {
    let world = World::new(ParametersSpec { log_q: vec![45, 40, 40, 40], ..toy() }, 1, &[]);
    let ev = &world.evaluator;
    let x = encrypt(&world, &[1.0, -1.0]);
    // 2^100 times the message leaves the modulus of 165 bits at the scale 2^40, and comes back small.
    let large = ev.mul_integer(&ev.mul_integer(&x, 1 << 62).expect("integers"), 1 << 62).expect("integers");
    let small = ev.mul_const(&large, Complex64::from(2f64.powi(-124))).expect("a level");
    let small = ev.add(&small.with_magnitude(1.0), &small_of(&world)).expect("levels");
    let found = decryptor(&world).allow_unbounded().decrypt_real(&small).expect("asked for");
    assert!((found[0] - 1.0).abs() > 1e-3, "it wrapped: {}", found[0]);
    assert!(matches!(cause(&decryptor(&world).decrypt_real(&small)), Some(CkksError::Unbounded { .. })));
    // And through a file.
    let bytes = large.to_bytes(&world.context, Form::Raw);
    let read = Ciphertext::from_bytes(&world.context, &bytes).expect("its bytes");
    let small = ev.mul_const(&read, Complex64::from(2f64.powi(-124))).expect("a level");
    assert!(matches!(cause(&decryptor(&world).decrypt_real(&small)), Some(CkksError::Unbounded { .. })));
}

fn small_of(world: &World) -> Ciphertext {
    world.evaluator.mul_const(&encrypt(world, &[0.0, 0.0]), Complex64::ONE).expect("a level")
}

/// The modulus that the product has before its rescaling holds it as well as the one after.
#[test]
fn a_product_with_a_plaintext_that_is_known_to_fit_has_a_bound() {
    let world = World::new(ParametersSpec { log_q: vec![42, 40], ..toy() }, 1, &[]);
    let ev = &world.evaluator;
    let x = encrypt(&world, &[0.9, -0.1]);
    let p = ev.encode_for(&[1.5, 3.0], &x).expect("two slots");
    let product = ev.mul_plain(&x, &p).expect("a level");
    // Up to 2.7, of which the modulus of 42 bits holds 2 at the scale 2^40.
    assert_eq!(product.error_bound(), f64::INFINITY);
    let known = product.with_magnitude(1.6);
    let found = decryptor(&world).decrypt_real(&known).expect("it fits");
    assert!(worst(&real(&found), &real(&[1.35, -0.3])) <= known.error_bound() && known.error_bound() < 1e-6);
}

#[test]
fn polynomials_refuse_what_is_not_known_to_lie_in_their_interval() {
    let world = World::new(toy(), 2, &[]);
    let values = [-1.5, 2.0, 0.25, 0.0];
    let cubic = Polynomial::chebyshev(vec![0.0, 0.0, 0.0, 1.0]).expect("coefficients");
    // Known to be at most 4.
    let wide = world.evaluator.mul_integer(&encrypt(&world, &values), 2).expect("an integer");
    let refused = cubic.evaluate_on(&world.evaluator, &wide, [-2.0, 2.0]).err().expect("too wide");
    let Some(SlotError::OutsideInterval { low, high, interval }) = refused.downcast_ref() else { panic!("{refused}") };
    assert_eq!((*low, *high, *interval), (-4.0, 4.0, [-2.0, 2.0]));
    assert!(matches!(cause(&cubic.evaluate(&world.evaluator, &wide)), Some(SlotError::OutsideInterval { .. })));
    let sigmoid = Approximation::sigmoid(3.0, 1e-3).expect("an approximation");
    assert!(matches!(cause(&sigmoid.evaluate(&world.evaluator, &wide)), Some(SlotError::OutsideInterval { .. })));

    // Values that are known to lie there: by their encryption, or by the statement of the caller.
    let plain = world.encode(&real(&values), 4).plaintext;
    let encryptor = Encryptor::public(&world.context, &world.keys.public, seed(5)).expect("a key");
    let known = encryptor.encrypt_in(&plain, [-1.5, 2.0]).expect("inside");
    assert!(matches!(encryptor.encrypt_in(&plain, [0.0, 2.0]), Err(Error::Parameters { name: "interval", .. })));
    let stated = encrypt(&world, &values).with_range(-1.5, 2.0);
    for x in [known, stated] {
        let y = cubic.evaluate_on(&world.evaluator, &x, [-1.5, 2.0]).expect("inside");
        let expected: Vec<Complex64> =
            values.iter().map(|x| Complex64::from(cubic.at((2.0 * x - 0.5) / 3.5))).collect();
        let error = worst(&world.decrypt(&y), &expected);
        assert!(error <= y.error_bound() && y.error_bound() < 1e-6, "{error:e} of {:e}", y.error_bound());
        // The range of the result is that of the polynomial, not of its terms.
        assert!(y.magnitude() < 1.05, "{}", y.magnitude());
    }
}

#[test]
fn one_sided_intervals_follow_from_what_is_computed() {
    let world = World::new(toy(), 2, &[]);
    let ev = &world.evaluator;
    let values = uniform(4, 8);
    // x^2 is in [0, 1] and (x + 1) / 2 too: no statement is needed.
    let square = ev.square(&encrypt(&world, &values)).expect("a level");
    let half = ev.weighted_sum(&[(&encrypt(&world, &values), 0.5)], 0.5).expect("a level");
    let root = Polynomial::chebyshev(vec![0.5, 0.4, -0.1]).expect("coefficients");
    for (x, of) in [(square, (|x| x * x) as fn(f64) -> f64), (half, |x| (x + 1.0) / 2.0)] {
        let y = root.evaluate_on(ev, &x, [0.0, 1.0]).expect("inside");
        let expected: Vec<f64> = values.iter().map(|&x| root.at(2.0 * of(x) - 1.0)).collect();
        let error = worst(&world.decrypt(&y), &real(&expected));
        assert!(error <= y.error_bound(), "{error:e} of {:e}", y.error_bound());
    }
    let difference =
        ev.sub(&encrypt(&world, &values), &ev.add_const(&encrypt(&world, &values), 3.0.into()).expect("fits"));
    assert_eq!(difference.expect("equal levels").estimate().range().interval(), Some([-5.0, -1.0]));
}

#[test]
fn complex_messages_through_polynomials_are_within_their_bounds() {
    let world = World::new(toy(), 3, &[]);
    let angles = uniform(9, 64);
    let circle: Vec<Complex64> =
        angles.iter().map(|t| Complex64::from_polar(1.0, 3.2 * t)).chain([Complex64::I]).collect();
    let circle: Vec<Complex64> = circle.into_iter().chain(vec![Complex64::ONE; 63]).collect();
    let x = world.encrypt(&circle, 7).ciphertext;
    let clenshaw = |c: &[f64], z: Complex64| {
        let step = |(b1, b2): (Complex64, Complex64), c: &f64| (z * b1 * 2.0 - b2 + c, b1);
        let (b1, b2) = c[1..].iter().rev().fold((Complex64::ZERO, Complex64::ZERO), step);
        z * b1 - b2 + c[0]
    };
    let horner = |c: &[f64], z: Complex64| c.iter().rev().fold(Complex64::ZERO, |sum, c| sum * z + c);
    for coefficients in [vec![0.5, -1.0, 0.25, 0.3], uniform(11, 8), vec![0.0; 7].into_iter().chain([1.0]).collect()] {
        let chebyshev = Polynomial::chebyshev(coefficients.clone()).expect("coefficients");
        let power = Polynomial::power(coefficients.clone()).expect("coefficients");
        let results = [
            (chebyshev.evaluate(&world.evaluator, &x), circle.iter().map(|&z| clenshaw(&coefficients, z)).collect()),
            (power.evaluate(&world.evaluator, &x), circle.iter().map(|&z| horner(&coefficients, z)).collect()),
        ];
        for (y, expected) in results {
            let (y, expected): (_, Vec<Complex64>) = (y.expect("levels"), expected);
            let error = worst(&world.decrypt(&y), &expected);
            assert!(error <= y.error_bound(), "{error:e} of {:e}", y.error_bound());
            assert!(expected.iter().all(|z| z.norm() <= y.magnitude() * (1.0 + 1e-9)), "{}", y.magnitude());
            assert!(y.error_bound() < 1e-3, "{}", y.error_bound());
        }
    }
    let refused = Polynomial::chebyshev(vec![0.0, 1.0]).and_then(|p| p.evaluate_on(&world.evaluator, &x, [-2.0, 2.0]));
    assert!(matches!(cause(&refused), Some(SlotError::NotReal { .. })));
}

#[test]
fn imaginary_parts_are_dropped_only_where_that_is_asked_for() {
    let world = World::new(toy(), 4, &[]);
    let ev = &world.evaluator;
    let x = encrypt(&world, &[0.5, -0.25]);
    let turned = ev.mul_i(&x).expect("no level");
    let z = world.encrypt(&[Complex64::new(0.5, 0.5), Complex64::ONE], 2).ciphertext;
    for complex in [
        &turned,
        &z,
        &ev.add(&x, &z).expect("equal levels"),
        &ev.mul(&x, &z).expect("a level"),
        &ev.add_const(&x, Complex64::I).expect("fits"),
        &ev.mul_const(&x, Complex64::I).expect("a level"),
    ] {
        assert!(matches!(cause(&decryptor(&world).decrypt_real(complex)), Some(SlotError::NotReal { .. })));
        assert_eq!(decryptor(&world).decrypt_real_parts(complex).expect("asked for").len(), 2);
    }
    let rotated = ev.conjugate(&ev.rotate(&x, 0).expect("no key")).expect("a key");
    for real in [&rotated, &ev.square(&x).expect("a level"), &ev.mul_const(&x, Complex64::from(-2.0)).expect("a level")]
    {
        decryptor(&world).decrypt_real(real).expect("real");
    }
    // Known to be real again: i i x = -x.
    let back = ev.mul_i(&turned).expect("no level").with_range(-1.0, 1.0);
    assert!((decryptor(&world).decrypt_real(&back).expect("stated")[0] + 0.5).abs() < 1e-6);
}

#[test]
fn ranges_travel_with_their_ciphertexts() {
    let world = World::new(toy(), 5, &[]);
    let x = encrypt(&world, &[0.5, -0.25]).with_range(-0.5, 0.75);
    let z = world.encrypt(&[Complex64::new(0.5, 0.5), Complex64::ONE], 2).ciphertext;
    for ciphertext in [x, z] {
        let bytes = ciphertext.to_bytes(&world.context, Form::Packed);
        let read = Ciphertext::from_bytes(&world.context, &bytes).expect("its bytes");
        assert_eq!(read.estimate(), ciphertext.estimate());
    }
}

#[test]
fn products_with_themselves_are_not_negative() {
    let world = World::new(toy(), 2, &[]);
    let x = encrypt(&world, &[-1.5, 0.25, 0.5, 1.0]);
    let square = world.evaluator.mul(&x, &x).expect("a level");
    assert_eq!(square.estimate().range().interval(), Some([0.0, 2.25]));
    let again = world.evaluator.square(&x).expect("a level");
    assert_eq!(square.to_bytes(&world.context, Form::Raw), again.to_bytes(&world.context, Form::Raw));
    // A ciphertext of the same values is another one.
    let other = world.evaluator.mul(&x, &world.evaluator.neg(&x).expect("its key")).expect("a level");
    assert_eq!(other.estimate().range().interval(), Some([-2.25, 2.25]));
}

#[test]
fn products_with_matrices_lie_where_their_rows_say() {
    let entries = [1.0, -2.0, 0.5, 0.0, 0.25, 3.0, 0.0, -1.0, -4.0, 0.0, 0.0, 0.0];
    let matrix = Matrix::new(3, 4, entries.to_vec()).expect("3 x 4");
    let rotations = matrix.rotations(None).expect("no period");
    let world = World::new(toy(), 2, &rotations);
    let values = [1.5, 0.0, 0.5, 2.0];
    let encryptor = Encryptor::public(&world.context, &world.keys.public, seed(5)).expect("a key");
    for (slots, interval) in [(4, [0.0, 2.0]), (4, [-1.0, 2.0]), (64, [0.0, 2.0])] {
        let plain = world.encoder.encode(&values, slots, 4).expect("they fit");
        let y = matrix.apply(&world.evaluator, &encryptor.encrypt_in(&plain, interval).expect("inside")).expect("keys");
        // By the definition: each row at the end of the interval that suits the sign of the entry. Other slots are zero.
        let [low, high] = interval;
        let row = |row: &[f64], at: [f64; 2]| row.iter().map(|a| a * if *a > 0.0 { at[1] } else { at[0] }).sum::<f64>();
        let most = entries.chunks(4).map(|r| row(r, [low, high])).fold(0.0, f64::max);
        let least = entries.chunks(4).map(|r| row(r, [high, low])).fold(0.0, f64::min);
        assert_eq!(y.estimate().range().interval(), Some([least, most]), "{interval:?}");
        let expected = entries.chunks(4).map(|row| row.iter().zip(&values).map(|(a, x)| a * x).sum::<f64>());
        for (found, expected) in world.decrypt(&y).iter().zip(expected) {
            assert!((found - expected).norm() <= y.error_bound() && (least..=most).contains(&expected));
        }
    }
    let complex =
        world.encoder.encode_complex(&[Complex64::new(0.0, 2.0); 4], 4, 4, world.context.parameters().scale_at(4));
    let y =
        matrix.apply(&world.evaluator, &encryptor.encrypt(&complex.expect("they fit")).expect("a key")).expect("keys");
    assert_eq!(*y.estimate().range(), Range::disc(8.5));
}
