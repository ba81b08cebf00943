//! Products of integers modulo t: messages, noise and refusals.

use noren_math::prime::primes_below;
use noren_math::sample::GAUSSIAN_SIGMA;
use noren_ring::ring::Ring;
use noren_rlwe::ciphertext::{Ciphertext, Plaintext};
use noren_rlwe::context::Context;
use noren_rlwe::decrypt::decrypt;
use noren_rlwe::encrypt::Encryptor;
use noren_rlwe::error::Error;
use noren_rlwe::key_request::KeyRequest;
use noren_rlwe::keys::EvaluationKeys;
use noren_rlwe::multiply::relinearize;
use noren_rlwe::noise::rounding;
use noren_rlwe::parameters::ParametersSpec;
use noren_rlwe::product::{Factors, multiply_scaled, multiply_switched, tensor_scaled};

use crate::small::{Setup, assert_std, ciphertext_words, seed, spec};

const T: u64 = 257;

/// `limbs` limbs, special primes and digits, and auxiliary primes that make B as large as Q.
fn scaled_spec(log_n: u32, limbs: usize, special: usize, dnum: usize) -> ParametersSpec {
    let spec = spec(log_n, limbs, special, dnum);
    let taken = spec.p.clone();
    let auxiliary = primes_below(1 << 48, 2 << log_n).filter(|prime| !taken.contains(prime)).take(limbs);
    ParametersSpec { auxiliary: auxiliary.collect(), ..spec }
}

fn relinearization(setup: &Setup) -> EvaluationKeys {
    let limbs = setup.parameters().max_limbs();
    let request = KeyRequest { relinearization: Some(limbs), ..KeyRequest::default() };
    setup.generator.evaluation_keys(&setup.secret, &request, None).expect("no security asked")
}

/// Q modulo t.
fn modulus(ring: &Ring) -> u64 {
    ring.moduli().fold(1, |product, q| product * (q.value() % T) % T)
}

/// The inverse modulo the prime t.
fn inverse(x: u64) -> u64 {
    (0..T - 2).fold(1, |power, _| power * (x % T) % T)
}

/// A message of integers modulo t.
fn message(n: usize, label: u64) -> Vec<u64> {
    (0..n as u64).map(|i| (i * i * 31 + label * (i + 17)) % T).collect()
}

/// The product of messages modulo `X^n + 1` and t.
fn product(a: &[u64], b: &[u64]) -> Vec<u64> {
    let n = a.len();
    let mut product = vec![0; n];
    for (i, x) in a.iter().enumerate().filter(|(_, x)| **x > 0) {
        for (j, y) in b.iter().enumerate() {
            let sign = if i + j < n { 1 } else { T - 1 };
            product[(i + j) % n] = (product[(i + j) % n] + sign * (x * y % T)) % T;
        }
    }
    product
}

/// `Q/t m` rounded: `-[Q m]_t / t` modulo Q.
fn encode(context: &Context, limbs: usize, m: &[u64]) -> Plaintext {
    let ring = context.ring_q(limbs);
    let q = modulus(&ring);
    let centred = |x: u64| if x > T / 2 { x as i64 - T as i64 } else { x as i64 };
    let numbers: Vec<i64> = m.iter().map(|m| centred((T - q) * m % T)).collect();
    let inverse: Vec<u64> = ring.moduli().map(|q| q.inv(q.reduce(T))).collect();
    Plaintext { poly: ring.mul_scalar(&ring.ntt(ring.from_signed(&numbers)), &inverse) }
}

/// The message, and the standard deviation of the noise: `t (c_0 + c_1 s) = -[Q m]_t + t e`.
fn decode(setup: &Setup, ciphertext: &Ciphertext) -> (Vec<u64>, f64) {
    let ring = setup.context.ring_q(ciphertext.limbs());
    let phase = decrypt(&setup.context, &setup.secret, ciphertext).expect("one context").poly;
    let numbers = ring.to_centered_i128(&ring.intt(ring.mul_integer(&phase, T as i64))).expect("small");
    let factor = inverse(T - modulus(&ring));
    let m = numbers.iter().map(|x| x.rem_euclid(T as i128) as u64 * factor % T).collect();
    let noise = |&x: &i128| (x as f64 / T as f64).powi(2);
    (m, (numbers.iter().map(noise).sum::<f64>() / numbers.len() as f64).sqrt())
}

fn encrypt(setup: &Setup, limbs: usize, m: &[u64], call: u8) -> Ciphertext {
    let encryptor = Encryptor::symmetric(&setup.context, &setup.secret, seed(call)).expect("one context");
    encryptor.encrypt(&encode(&setup.context, limbs, m)).expect("supported")
}

#[test]
fn scaled_products_are_products_of_messages() {
    for (limbs, special, dnum) in [(1, 1, 1), (2, 1, 2), (4, 2, 2), (5, 2, 3)] {
        let setup = Setup::new(scaled_spec(6, limbs, special, dnum));
        let (context, keys, n) = (&setup.context, relinearization(&setup), setup.parameters().degree());
        for limbs in 1..=limbs {
            let [m, m2] = [message(n, 1), message(n, 2)];
            let [a, b] = [encrypt(&setup, limbs, &m, 5), encrypt(&setup, limbs, &m2, 6)];
            let expected = product(&m, &m2);
            let three = tensor_scaled(context, &[[&a, &b]], T).expect("auxiliary primes");
            assert_eq!(three.degree(), 2);
            assert_eq!(decode(&setup, &three).0, expected, "{limbs} limbs, three parts");
            let steps = relinearize(context, &three, &keys).expect("a key");
            assert_eq!(decode(&setup, &steps).0, expected, "{limbs} limbs, in steps");
            for kept in limbs.min(2)..=limbs {
                let two = multiply_scaled(context, &[[&a, &b]], T, kept, &keys).expect("a key");
                assert_eq!((two.degree(), two.limbs()), (1, kept));
                assert_eq!(decode(&setup, &two).0, expected, "{kept} of {limbs} limbs");
                let square = multiply_scaled(context, &[[&a, &a]], T, kept, &keys).expect("a key");
                assert_eq!(decode(&setup, &square).0, product(&m, &m));
                let sum = multiply_scaled(context, &[[&a, &b], [&b, &b]], T, kept, &keys).expect("a key");
                let both = expected.iter().zip(product(&m2, &m2)).map(|(x, y)| (x + y) % T).collect::<Vec<_>>();
                assert_eq!(decode(&setup, &sum).0, both, "a sum, {kept} of {limbs} limbs");
            }
        }
    }
}

#[test]
fn switched_products_keep_minus_q_in_the_message() {
    for (limbs, special, dnum) in [(3, 1, 3), (4, 2, 2), (6, 2, 3)] {
        // Auxiliary primes are not needed.
        let setup = Setup::new(spec(6, limbs, special, dnum));
        let (context, keys, n) = (&setup.context, relinearization(&setup), setup.parameters().degree());
        for limbs in 2..=limbs {
            let [m, m2] = [message(n, 3), message(n, 4)];
            let [a, b] = [encrypt(&setup, limbs, &m, 7), encrypt(&setup, limbs, &m2, 8)];
            let factor = T - modulus(&context.ring_q(limbs));
            let expected = |m: Vec<u64>| m.iter().map(|x| x * factor % T).collect::<Vec<_>>();
            for kept in 1..=limbs {
                let two = multiply_switched(context, &[[&a, &b]], T, kept, &keys).expect("a key");
                assert_eq!((two.degree(), two.limbs()), (1, kept));
                assert_eq!(decode(&setup, &two).0, expected(product(&m, &m2)), "{kept} of {limbs} limbs");
                let sum = multiply_switched(context, &[[&a, &b], [&b, &b]], T, kept, &keys).expect("a key");
                let both = product(&m, &m2).iter().zip(product(&m2, &m2)).map(|(x, y)| (x + y) % T).collect();
                assert_eq!(decode(&setup, &sum).0, expected(both), "a sum, {kept} of {limbs} limbs");
            }
        }
    }
}

#[test]
fn scaled_products_add_the_noise_of_the_factors_and_of_the_auxiliary_modulus() {
    let setup = Setup::new(scaled_spec(12, 3, 2, 2));
    let (context, keys, n) = (&setup.context, relinearization(&setup), setup.parameters().degree());
    let zero = vec![0; n];
    for limbs in 1..=3 {
        let [a, b] = [9, 10].map(|call| encrypt(&setup, limbs, &zero, call));
        let two = multiply_scaled(context, &[[&a, &b]], T, limbs, &keys).expect("a key");
        // The phases are e + Q k with the standard deviations sigma and, for k, that of a rounding: the product is
        // t (k e' + k' e), and t k times the rounding of the second factor, which counts Q/B times.
        let list = context.ring().moduli().map(|q| q.value() as f64).collect::<Vec<_>>();
        let first = list.len() - 3;
        let log_q: f64 = list[first..first + limbs].iter().map(|q| q.log2()).sum();
        let mut auxiliary = first;
        while auxiliary + 2 > first || list[auxiliary..first].iter().map(|b| b.log2()).sum::<f64>() < log_q - 1.0 {
            auxiliary -= 1;
        }
        let ratio = list[auxiliary..first].iter().fold(log_q, |log, b| log - b.log2()).exp2();
        let (rounding, sigma) = (rounding(setup.parameters()), GAUSSIAN_SIGMA);
        let factors = (2.0 * sigma * sigma + (ratio * rounding).powi(2)).sqrt();
        let predicted = T as f64 * (n as f64).sqrt() * rounding * factors;
        let (decoded, measured) = decode(&setup, &two);
        assert_eq!(decoded, zero);
        assert_std(measured, predicted, n, &format!("{limbs} limbs"));
    }
}

#[test]
fn a_missing_part_is_zero_and_higher_ones_are_refused() {
    let setup = Setup::new(scaled_spec(4, 2, 1, 2));
    let (context, keys) = (&setup.context, relinearization(&setup));
    let (one, two) = (setup.arbitrary(2, 0, "one"), setup.arbitrary(2, 1, "two"));
    let padded = Ciphertext::new(vec![one.parts()[0].clone(), context.ring_q(2).zero()], setup.key());
    for (short, long) in
        [([&one, &two], [&padded, &two]), ([&two, &one], [&two, &padded]), ([&one, &one], [&padded, &padded])]
    {
        let words = |factors: Factors| {
            let scaled = multiply_scaled(context, &[factors], T, 2, &keys).expect("a key");
            let switched = multiply_switched(context, &[factors], T, 1, &keys).expect("a key");
            [scaled, switched].map(|product| ciphertext_words(context, &product))
        };
        assert_eq!(words(short), words(long));
    }
    let three = setup.arbitrary(2, 2, "three");
    let refused = multiply_scaled(context, &[[&two, &three]], T, 2, &keys);
    assert!(matches!(refused, Err(Error::DegreeTooHigh { found: 2, needed: 1 })));
    let low = setup.arbitrary(1, 1, "low");
    let refused = tensor_scaled(context, &[[&two, &low]], T);
    assert!(matches!(refused, Err(Error::LevelMismatch { left: 1, right: 0 })));
    let refused = multiply_switched(context, &[[&low, &low]], T, 2, &keys);
    assert!(matches!(refused, Err(Error::LevelExhausted { needed: 1, left: 0 })));
}

#[test]
fn scaled_products_need_auxiliary_primes() {
    let setup = Setup::new(spec(4, 3, 1, 3));
    let (keys, two) = (relinearization(&setup), setup.arbitrary(3, 1, "two"));
    let refused = multiply_scaled(&setup.context, &[[&two, &two]], T, 3, &keys).expect_err("too few").to_string();
    assert!(refused.contains("auxiliary") && refused.contains("3 limbs"), "{refused}");
    assert!(multiply_switched(&setup.context, &[[&two, &two]], T, 2, &keys).is_ok());
    let refused =
        multiply_scaled(&setup.context, &[[&two, &two]], T, 3, &EvaluationKeys::new(setup.parameters(), setup.key()));
    assert!(matches!(refused, Err(Error::MissingKey { .. })));
}
