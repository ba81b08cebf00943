//! A real set at 128-bit security, end to end.

use noren::bfv::Bfv;
use noren::bgv::{Bgv, KeyRequest, ParametersSpec};
use noren::schemes::integers::Scheme;

use crate::small::{Setup, rotated, zip};

/// N = 2^15, t = 65537, 12 limbs of 50 bits and 4 special primes: 800 bits of 868.
fn setup() -> Setup {
    let spec = ParametersSpec {
        log_n: 15,
        plaintext_modulus: 65537,
        log_q: vec![50; 12],
        log_p: vec![50; 4],
        dnum: 3,
        ..ParametersSpec::default()
    };
    let request = KeyRequest { relinearization: true, rotations: vec![1], swap: true, ..KeyRequest::default() };
    Setup::new(spec, &request)
}

fn products_and_rotations<S: Scheme>(setup: &Setup) {
    let (t, ev) = (setup.t(), setup.evaluator::<S>());
    let [x, y] = [1, 2].map(|stream| setup.values(stream));
    let (a, b) = (setup.encrypt::<S>(&x, 3), setup.encrypt::<S>(&y, 4));
    let product = ev.mul(&ev.rotate(&a, 1).unwrap(), &ev.swap_rows(&b).unwrap()).unwrap();
    let (low, high) = y.split_at(y.len() / 2);
    let expected = zip(t, &rotated(&x, 1), &[high, low].concat(), |a, b| a * b);
    setup.check(&product, &expected, 1.5, "product of rotations");
}

#[test]
#[ignore = "a ring of degree 2^15"]
fn one_hot_of_all_residues_is_exact_at_128_bits() {
    let setup = setup();
    products_and_rotations::<Bgv>(&setup);
    products_and_rotations::<Bfv>(&setup);

    // x^65536 is 1 but for x = 0.
    let (t, ev) = (setup.t(), setup.evaluator::<Bfv>());
    let secret = 12345;
    let n = setup.context.parameters().degree() as i64;
    let a = setup.encrypt::<Bfv>(&vec![secret; n as usize], 5);
    let index: Vec<i64> = (0..n).collect();
    let mut x = ev.sub_plain(&a, &setup.encode(&index)).unwrap();
    let mut clear: Vec<i64> = index.iter().map(|i| (secret - i).rem_euclid(t)).collect();
    for step in 1..=16 {
        let before = setup.decryptor().measure_noise(&x).unwrap().std.log2();
        x = ev.square(&x).unwrap();
        clear = zip(t, &clear, &clear, |a, b| a * b);
        let measured = setup.decryptor().measure_noise(&x).unwrap().std.log2();
        let predicted = x.noise().log2_std();
        println!(
            "squaring {step}: +{:.2} bits, {measured:.2}, predicted {predicted:.2}, {} limbs",
            measured - before,
            x.limbs()
        );
        // A squaring adds 29.9 bits to independent noise, and more where powers of the secret gather, which is predicted for the
        // worst signs: some tenths of a bit too much each time.
        assert!(measured <= predicted + 0.5, "squaring {step}: {measured:.2}, predicted {predicted:.2}");
        assert!(measured >= predicted - 6.0, "squaring {step}: {measured:.2}, predicted {predicted:.2}");
    }
    let one_hot = ev.add_scalar(&ev.neg(&x).unwrap(), 1).unwrap();
    let found = setup.decrypt(&one_hot);
    assert!(found.iter().enumerate().all(|(i, &bit)| bit == i64::from(i as i64 == secret)));
    println!("budget left: {:.1} bits", one_hot.noise_budget());
}
