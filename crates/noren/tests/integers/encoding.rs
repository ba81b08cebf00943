//! Slots and coefficients, by their definition.

use noren::bgv::{Bgv, Context, Encoder, KeyRequest, ParametersSpec};
use noren::error::cause;
use noren::schemes::integers::IntegerError;
use noren::{Security, error::Error};

use crate::small::{Setup, integers};

fn spec(t: u64) -> ParametersSpec {
    ParametersSpec {
        log_n: 4,
        plaintext_modulus: t,
        log_q: vec![40, 40],
        log_p: vec![48],
        security: Security::None,
        ..ParametersSpec::default()
    }
}

/// The value of a polynomial modulo t.
fn at(coefficients: &[i64], x: i64, t: i64) -> i64 {
    coefficients.iter().rev().fold(0, |sum, c| (sum * x + c).rem_euclid(t))
}

#[test]
fn slots_are_values_at_powers_of_five_of_a_root() {
    let n = 16;
    for t in [97, 193, 257, 65537] {
        let context = Context::new(spec(t as u64).build().unwrap()).unwrap();
        let encoder = Encoder::new(&context);
        let values = integers(n, t, 5);
        let plaintext = encoder.encode(&values).unwrap();
        let coefficients = encoder.decode_coefficients(&plaintext).unwrap();
        // Some primitive 2n-th root makes all slots right.
        let power = |x: i64, e: usize| (0..e).fold(1, |product, _| product * x % t);
        let is_root = |&x: &i64| power(x, n) == t - 1;
        let slot = |root: i64, j: usize| {
            let exponent = (0..j % (n / 2)).fold(1, |e, _| e * 5 % (2 * n));
            let exponent = if j < n / 2 { exponent } else { 2 * n - exponent };
            at(&coefficients, power(root, exponent), t)
        };
        let matches = (1..t).filter(is_root).filter(|&root| (0..n).all(|j| slot(root, j) == values[j])).count();
        assert_eq!(matches, 1, "modulo {t}");
        assert_eq!(encoder.decode(&plaintext).unwrap(), values);
    }
}

#[test]
fn rows_are_repeated_and_signs_are_kept() {
    let context = Context::new(spec(97).build().unwrap()).unwrap();
    let encoder = Encoder::new(&context);
    let plaintext = encoder.encode_row(&[-1, 2, -48, 96]).unwrap();
    let row = [96, 2, 49, 96, 0, 0, 0, 0];
    assert_eq!(encoder.decode(&plaintext).unwrap(), [row, row].concat());
    let row = [-1, 2, -48, -1, 0, 0, 0, 0];
    assert_eq!(encoder.decode_signed(&plaintext).unwrap(), [row, row].concat());
}

#[test]
fn coefficients_multiply_as_polynomials_modulo_any_t() {
    for t in [2, 3, 16, 100, 65536, (1 << 30) + 1] {
        let mut spec = spec(t as u64);
        spec.log_q = vec![50; 4];
        let setup = Setup::new(spec, &KeyRequest { relinearization: true, ..KeyRequest::default() });
        let (n, encoder) = (16, setup.encoder());
        let [x, y] = [1, 2].map(|stream| integers(n, t, stream));
        let encrypt = |values: &[i64], stream| {
            let seed = crate::small::seed(stream);
            let encryptor = noren::bgv::Encryptor::public(&setup.context, &setup.keys.public, seed).unwrap();
            encryptor.encrypt(&encoder.encode_coefficients(values).unwrap()).unwrap()
        };
        let (a, b) = (encrypt(&x, 3), encrypt(&y, 4));
        let mut expected = vec![0i128; n];
        for (i, a) in x.iter().enumerate() {
            for (j, b) in y.iter().enumerate() {
                let sign = if i + j < n { 1 } else { -1 };
                expected[(i + j) % n] += sign * i128::from(*a) * i128::from(*b);
            }
        }
        let expected: Vec<i64> = expected.into_iter().map(|x| x.rem_euclid(t.into()) as i64).collect();
        let read = |plaintext| encoder.decode_coefficients(&plaintext).unwrap();
        let product = setup.evaluator::<Bgv>().mul(&a, &b).unwrap();
        assert_eq!(read(setup.decryptor().decrypt(&product).unwrap()), expected, "BGV modulo {t}");
        let product = setup.evaluator::<noren::bfv::Bfv>().mul(&a.convert(), &b.convert()).unwrap();
        assert_eq!(read(setup.decryptor().decrypt(&product).unwrap()), expected, "BFV modulo {t}");
    }
}

#[test]
fn what_cannot_be_encoded_is_named() {
    let context = Context::new(spec(97).build().unwrap()).unwrap();
    let encoder = Encoder::new(&context);
    assert!(matches!(cause(&encoder.encode(&[0, 97])), Some(IntegerError::NotAResidue { index: 1, value: 97, t: 97 })));
    assert!(matches!(cause(&encoder.encode(&[-49])), Some(IntegerError::NotAResidue { index: 0, value: -49, t: 97 })));
    assert!(matches!(encoder.encode(&[0; 17]), Err(Error::Length { found: 17, .. })));
    assert!(matches!(encoder.encode_row(&[0; 9]), Err(Error::Length { found: 9, .. })));
    // 101 is a prime, but not 1 modulo 32; 33 is no prime.
    for t in [101, 33] {
        let context = Context::new(spec(t).build().unwrap()).unwrap();
        let refused = Encoder::new(&context).encode(&[1]);
        assert!(matches!(refused, Err(Error::Parameters { name: "plaintext_modulus", .. })), "{t}");
    }
    for t in [0, 1, 1 << 60] {
        assert!(matches!(spec(t).build(), Err(Error::Parameters { name: "plaintext_modulus", .. })), "{t}");
    }
}
