//! Elements to numbers against big integers.

mod oracle;

use num_bigint::BigInt;
use oracle::{adversarial, centred, coefficients, element, modulus};

const DEGREE: usize = 2048;

/// A number as `f64`, correctly rounded, by its decimal digits.
fn to_f64(x: &BigInt) -> f64 {
    x.to_string().parse().expect("a decimal number")
}

#[test]
fn to_f64_is_right_to_the_last_bit_but_one() {
    for bits in [&[40][..], &[50, 30], &[50, 36, 36], &[50; 12], &[20, 50, 25, 45]] {
        let ring = oracle::ring(DEGREE, bits);
        let q = modulus(&ring);
        let mut numbers: Vec<BigInt> = adversarial(1, DEGREE, &q).iter().map(|x| centred(x, &q)).collect();
        // Small numbers, and those next to products of the first primes, where high digits almost cancel low ones.
        for (i, x) in numbers.iter_mut().enumerate().skip(DEGREE / 2) {
            *x >>= i % q.bits() as usize;
        }
        let mut product = BigInt::from(1);
        for (i, prime) in ring.moduli().enumerate() {
            product *= prime.value();
            let half: BigInt = &product / 2;
            numbers[100 + 4 * i..][..4].clone_from_slice(&[half.clone(), &half + 1, -&half - 1, half - 1]);
        }
        let numbers: Vec<BigInt> = numbers.iter().map(|x| centred(x, &q)).collect();
        let element = element(&ring, &numbers);
        let all = ring.to_centered_f64(&element);
        for (found, x) in all.iter().zip(&numbers) {
            let expected = to_f64(x);
            assert!((found - expected).abs() <= expected.abs() * 2f64.powi(-52), "{x} came out as {found:e}");
        }
        for step in [1, 2, 256, DEGREE] {
            let some: Vec<f64> = all.iter().step_by(step).copied().collect();
            assert_eq!(ring.to_centered_f64_every(&element, step), some, "{step}");
        }
    }
}

#[test]
fn to_i128_is_exact_and_refuses_what_is_too_wide() {
    for bits in [&[40][..], &[50, 30], &[50, 50, 20], &[50, 50, 50, 50]] {
        let ring = oracle::ring(64, bits);
        let q = modulus(&ring);
        let limit: BigInt = (BigInt::from(1) << 126u32) - 1;
        let numbers: Vec<BigInt> = adversarial(2, 64, &q).iter().map(|x| centred(x, &q) % &limit).collect();
        let found = ring.to_centered_i128(&element(&ring, &numbers)).expect("all are narrow");
        assert_eq!(found.into_iter().map(BigInt::from).collect::<Vec<_>>(), numbers);
    }
    let ring = oracle::ring(64, &[50, 50, 50]);
    let widest: BigInt = BigInt::from(1) << 126u32;
    for (x, fits) in [(&widest - 1, true), (1 - &widest, true), (widest.clone(), false), (-&widest, false)] {
        let mut numbers = vec![BigInt::from(0); 64];
        numbers[63] = x.clone();
        assert_eq!(ring.to_centered_i128(&element(&ring, &numbers)).is_some(), fits, "{x}");
    }
    let mut numbers = vec![BigInt::from(0); 64];
    numbers[1] = modulus(&ring) / 2;
    assert_eq!(ring.to_centered_i128(&element(&ring, &numbers)), None);
}

#[test]
fn integers_come_back_through_every_window() {
    let whole = oracle::ring(64, &[30, 50, 40, 50]);
    let wide: Vec<i128> = (0..64).map(|i| (i128::MAX >> (i + 8)) * if i % 2 == 0 { 1 } else { -1 } + i).collect();
    let numbers: Vec<BigInt> = wide.iter().map(|&x| x.into()).collect();
    for window in [0..4, 1..4, 2..3] {
        let ring = whole.window(window);
        let found = ring.from_i128(&wide);
        assert_eq!(ring.to_words(&found), ring.to_words(&element(&ring, &numbers)));
        let centred: Vec<BigInt> = numbers.iter().map(|x| centred(x, &modulus(&ring))).collect();
        assert_eq!(coefficients(&ring, &found), centred);
    }
    let extremes: Vec<i128> = (0..64).map(|i| [i128::MIN, i128::MAX, -1, 0][i % 4]).collect();
    let numbers: Vec<BigInt> = extremes.iter().map(|&x| x.into()).collect();
    assert_eq!(whole.to_words(&whole.from_i128(&extremes)), whole.to_words(&element(&whole, &numbers)));
    let narrow: Vec<i64> = (0..64).map(|i| [(1 << 62) - 1, 1 - (1 << 62), -1, i][i as usize % 4]).collect();
    let numbers: Vec<BigInt> = narrow.iter().map(|&x| x.into()).collect();
    assert_eq!(whole.to_words(&whole.from_signed(&narrow)), whole.to_words(&element(&whole, &numbers)));
}
