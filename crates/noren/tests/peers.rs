//! Known answers of other libraries: encodings, products and rotations, encrypted where they are published so.
//!
//! Each vector names the library, its version, the file and the test that publish it.

use noren::bfv::Bfv;
use noren::bgv::{self, Bgv, Decryptor, KeyRequest, Keys, Plaintext};
use noren::ckks::{self, Scale};
use noren::schemes::integers::{Ciphertext, Encryptor, Evaluator, Scheme};
use noren::{Complex64, Security, Seed};

/// The series "CKKS explained" of OpenMined, part 2: degree 4 and scale 64, `160 + 90 X + 160 X^2 + 45 X^3` and the
/// values that it decodes to. The published coefficients of (3 + 4i, 2 - i) are rounded at random, so that what is
/// compared are those of the values that they decode to.
///
/// A polynomial of degree 4 stands in powers of `Y = X^(n/4)`. The series evaluates at zeta and zeta^3, noren at zeta
/// and zeta^5, the conjugate of zeta^3: the second value is conjugated.
#[test]
fn encodings_are_those_of_ckks_explained() {
    const COEFFICIENTS: [f64; 4] = [160.0, 90.0, 160.0, 45.0];
    let values = [Complex64::new(2.997_184_46, 3.991_553_37), Complex64::new(2.002_815_54, -1.008_446_63).conj()];
    let spec = ckks::ParametersSpec {
        log_n: 4,
        log_q: vec![50],
        log_scale: 30,
        security: Security::None,
        ..ckks::ParametersSpec::default()
    };
    let context = ckks::Context::new(spec.build().expect("parameters")).expect("context");
    let encoder = ckks::Encoder::new(&context);
    let plain = encoder.encode_complex(&values, 2, 0, &Scale::from_log2(6)).expect("two slots");
    let ring = context.rlwe().ring_q(1);
    let found = ring.to_centered_f64(&ring.intt(plain.rlwe().poly.clone()));
    let gap = found.len() / COEFFICIENTS.len();
    let mut expected = vec![0.0; found.len()];
    expected.iter_mut().step_by(gap).zip(COEFFICIENTS).for_each(|(x, c)| *x = c);
    assert_eq!(found, expected);
    // Eight decimals are published.
    for (found, expected) in encoder.decode_complex(&plain).expect("two slots").iter().zip(values) {
        assert!(
            (found.re - expected.re).abs() <= 5e-9 && (found.im - expected.im).abs() <= 5e-9,
            "{found}, {expected}"
        );
    }
}

/// A small ring with all keys that the vectors need.
struct World {
    context: bgv::Context,
    encoder: bgv::Encoder,
    keys: Keys,
}

impl World {
    fn new(log_n: u32, plaintext_modulus: u64) -> Self {
        let spec = bgv::ParametersSpec {
            log_n,
            plaintext_modulus,
            log_q: vec![40; 3],
            log_p: vec![48],
            security: Security::None,
            ..bgv::ParametersSpec::default()
        };
        let context = bgv::Context::new(spec.build().expect("parameters")).expect("rings");
        let request =
            KeyRequest { relinearization: true, rotations: vec![-1, 2, 3, -3], swap: true, ..KeyRequest::default() };
        let keys = context.generate_keys(Seed::from_bytes([1; 32]), &request).expect("keys");
        Self { encoder: bgv::Encoder::new(&context), context, keys }
    }

    fn evaluator<S: Scheme>(&self) -> Evaluator<S> {
        Evaluator::new(&self.context, self.keys.evaluation.clone()).expect("its keys")
    }

    fn encrypt<S: Scheme>(&self, plaintext: &Plaintext) -> Ciphertext<S> {
        let seed = Seed::from_bytes([2; 32]);
        let encryptor = Encryptor::public(&self.context, &self.keys.public, seed).expect("its key");
        encryptor.encrypt(plaintext).expect("encrypt")
    }

    fn decrypt<S: Scheme>(&self, x: &Ciphertext<S>) -> Plaintext {
        let decryptor = Decryptor::new(&self.context, &self.keys.secret).expect("its key");
        decryptor.decrypt(x).expect("noise left")
    }

    /// The product of two polynomials, encrypted, in `[-t/2, t/2)` and without its last zeros.
    fn product<S: Scheme>(&self, a: &[i64], b: &[i64]) -> Vec<i64> {
        let [x, y] = [a, b].map(|a| self.encrypt::<S>(&self.encoder.encode_coefficients(a).expect("in range")));
        let product = self.decrypt(&self.evaluator().mul(&x, &y).expect("its key"));
        let mut product = self.encoder.decode_coefficients_signed(&product).expect("a polynomial");
        product.truncate(product.iter().rposition(|&c| c != 0).map_or(0, |last| last + 1));
        product
    }
}

#[test]
fn products_of_polynomials_are_those_of_seal() {
    // Microsoft SEAL 4.4.3, native/tests/seal/evaluator.cpp, BFVEncryptMultiplyDecrypt and BGVEncryptMultiplyDecrypt:
    // degree 64, modulo 64, coefficients of X^0 upwards.
    let world = World::new(6, 64);
    let a = [0, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0, 1];
    let b = [1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 0, 1];
    let expected = [
        0, 0, 0, 1, 1, 1, 1, 0, 1, 2, 2, 2, 3, 2, 4, 2, 0, 3, 4, 4, 4, 4, 3, 4, 2, 3, 4, 2, 5, 2, 4, 0, 2, 2, 3, 1, 3,
        2, 1, 2, 0, 1, 1, 1, 1, 0, 1,
    ];
    assert_eq!(world.product::<Bgv>(&a, &b), expected);
    assert_eq!(world.product::<Bfv>(&a, &b), expected);
    // The same test: 3F is -1 modulo 64.
    assert_eq!(world.product::<Bgv>(&[1, 0, 1], &[63, 63]), [-1; 4]);
    assert_eq!(world.product::<Bfv>(&[1, 0, 1], &[63, 63]), [-1; 4]);
}

#[test]
fn products_of_polynomials_are_those_of_openfhe() {
    // OpenFHE 1.5.1, src/pke/unittest/UnitTestSHE.cpp, UnitTest_Mult_CoefPacked: modulo X^8 + 1, and in larger rings.
    let (a, b) = ([1, 0, 3, 1, 0, 1, 2, 1], [2, 1, 3, 2, 2, 1, 3, 0]);
    let wrapped = [-17, -11, 2, 0, 5, 9, 16, 12];
    let long = [2, 1, 9, 7, 12, 12, 16, 12, 19, 12, 7, 7, 7, 3];
    for (log_n, expected) in [(3, &wrapped[..]), (4, &long)] {
        let world = World::new(log_n, 65537);
        assert_eq!(world.product::<Bgv>(&a, &b), expected, "BGV, degree 2^{log_n}");
        assert_eq!(world.product::<Bfv>(&a, &b), expected, "BFV, degree 2^{log_n}");
    }
}

fn rotations_of_seal<S: Scheme>() {
    let world = World::new(3, 257);
    let ev = world.evaluator::<S>();
    let slots = |x: &Ciphertext<S>| world.encoder.decode(&world.decrypt(x)).expect("slots");
    let x = world.encrypt(&world.encoder.encode(&[1, 2, 3, 4, 5, 6, 7, 8]).expect("in range"));
    let x = ev.swap_rows(&x).expect("its key");
    assert_eq!(slots(&x), [5, 6, 7, 8, 1, 2, 3, 4]);
    let x = ev.rotate(&x, -1).expect("its key");
    assert_eq!(slots(&x), [8, 5, 6, 7, 4, 1, 2, 3]);
    let x = ev.rotate(&x, 2).expect("its key");
    assert_eq!(slots(&x), [6, 7, 8, 5, 2, 3, 4, 1]);
    let x = ev.swap_rows(&x).expect("its key");
    assert_eq!(slots(&x), [2, 3, 4, 1, 6, 7, 8, 5]);
}

/// Microsoft SEAL 4.4.3, `native/tests/seal/evaluator.cpp`, `BFVEncryptRotateMatrixDecrypt` and
/// `BGVEncryptRotateMatrixDecrypt`. SEAL calls `rotate_columns` what is `swap_rows` here.
#[test]
fn rows_rotate_and_swap_as_in_seal() {
    rotations_of_seal::<Bgv>();
    rotations_of_seal::<Bfv>();
}

#[test]
fn rotations_have_the_direction_of_openfhe() {
    // OpenFHE 1.5.1, src/pke/unittest/UnitTestSHE.cpp, UnitTest_EvalAtIndex: 16 slots of a longer row, by 3 and -3.
    let world = World::new(6, 65537);
    let numbers: Vec<i64> = (1..=16).collect();
    let x = world.encrypt::<Bgv>(&world.encoder.encode(&numbers).expect("in range"));
    let left = [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0, 0, 0];
    let right = [0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13];
    for (steps, expected) in [(3, left), (-3, right)] {
        let turned = world.evaluator().rotate(&x, steps).expect("its key");
        assert_eq!(world.encoder.decode(&world.decrypt(&turned)).expect("slots")[..16], expected, "by {steps}");
    }
}
