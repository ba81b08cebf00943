//! Decryptions that are handed on: what others may learn from them, and attacks on it.

mod world;

use noren::Error;
use noren::ckks::{Ciphertext, Decryptor, Releases};

use crate::world::{World, real, toy, uniform};

fn one() -> Releases {
    Releases::new(1).expect("one")
}

/// One release that hides little, so that its spacing is far below the values.
fn fine() -> Releases {
    one().with_statistical_security(1).expect("in range")
}

/// The noise of such a release in units of its spacing, and its rounding.
fn noise(decryptor: &Decryptor<'_>, ciphertext: &Ciphertext, bits: i32) -> Vec<f64> {
    let released = decryptor.decrypt_for_release(ciphertext, bits, &mut fine()).expect("release");
    let exact = decryptor.decrypt_real(ciphertext).expect("decrypt");
    released.iter().zip(exact).map(|(y, x)| (y - x) * f64::exp2(f64::from(bits))).collect()
}

#[test]
fn releases_are_rounded_and_refused_beyond_their_bits() {
    let world = World::new(toy(), 21, &[]);
    let x = world.encrypt_symmetric(&real(&uniform(1, 512)), 22);
    let decryptor = Decryptor::new(&world.context, &world.keys.secret).expect("decryptor");
    let allowed = one().bits(x.ciphertext.error_bound(), 512);
    let unit = f64::exp2(-f64::from(allowed));
    let released = decryptor.decrypt_for_release(&x.ciphertext, allowed, &mut one()).expect("release");
    for (value, exact) in released.iter().zip(&x.values) {
        assert_eq!((value / unit).fract(), 0.0);
        assert!(value.is_sign_positive() || *value != 0.0, "the sign of zero tells one bit more");
        assert!((value - exact.re).abs() <= 1.5 * unit + x.ciphertext.error_bound());
    }
    let refused = decryptor.decrypt_for_release(&x.ciphertext, allowed + 1, &mut one());
    let Err(Error::Parameters { name: "bits of a release", needed, .. }) = refused else { panic!("{refused:?}") };
    assert!(needed.starts_with(&format!("at most {allowed}: ")), "{needed}");
    // Fewer values take less noise: 4.5 bits for one in place of 512.
    let first = x.ciphertext.clone().with_length(Some(1)).expect("a length");
    assert_eq!(decryptor.decrypt_for_release(&first, allowed + 4, &mut one()).expect("release").len(), 1);
}

/// Gaussian noise of the deviation that the bits stand for, and what rounding adds.
#[test]
fn noise_has_the_deviation_that_was_promised() {
    let world = World::new(toy(), 31, &[]);
    let x = world.encrypt_symmetric(&real(&uniform(2, 512)), 32).ciphertext;
    let decryptor = Decryptor::new(&world.context, &world.keys.secret).expect("decryptor");
    let allowed = fine().bits(x.error_bound(), 512);
    assert!(allowed > 16, "{allowed}");
    let found: Vec<f64> = (0..8).flat_map(|less| noise(&decryptor, &x, allowed - less)).collect();
    let (count, expected) = (found.len() as f64, 8.6f64.powi(-2) + 1.0 / 12.0);
    let mean = found.iter().sum::<f64>() / count;
    let variance = found.iter().map(|x| x * x).sum::<f64>() / count;
    assert!(mean.abs() < 5.0 * (expected / count).sqrt(), "{mean}");
    assert!((variance / expected - 1.0).abs() < 5.0 * (2.0 / count).sqrt(), "{variance} for {expected}");
}

/// Who asks for the same numbers again and again takes no mean of noise; who changes the ciphertext gets other noise, so that
/// no difference of two releases is without it.
#[test]
fn noise_follows_from_key_and_ciphertext() {
    let world = World::new(toy(), 41, &[]);
    let x = world.encrypt_symmetric(&real(&uniform(3, 512)), 42).ciphertext;
    let decryptor = Decryptor::new(&world.context, &world.keys.secret).expect("decryptor");
    let bits = fine().bits(x.error_bound(), 512) - 1;
    let releases: Vec<_> =
        (0..8).map(|_| decryptor.decrypt_for_release(&x, bits, &mut fine()).expect("release")).collect();
    assert!(releases.iter().all(|release| *release == releases[0]));
    let evaluator = &world.evaluator;
    let changed = [
        evaluator.drop_level(&x, 1).expect("a level"),
        evaluator.add(&x, &world.encrypt_symmetric(&real(&[0.0; 512]), 43).ciphertext).expect("a sum"),
        evaluator.neg(&evaluator.neg(&x).expect("a ciphertext")).expect("a ciphertext"),
        x.clone().with_length(Some(100)).expect("a length"),
    ];
    for (index, other) in changed.iter().enumerate() {
        let release = decryptor.decrypt_for_release(other, bits, &mut fine()).expect("release");
        let changes = release.iter().zip(&releases[0]).filter(|(a, b)| a != b).count();
        // Of two independent noises, rounding shows the difference in `2 / (8.6 sqrt(pi))` of all slots: 67 of 512, with a
        // deviation of 7.6. The last two are the same polynomials.
        assert!(if index < 2 { (32..112).contains(&changes) } else { changes == 0 }, "{index}: {changes}");
    }
}

#[test]
fn releases_are_counted() {
    let world = World::new(toy(), 51, &[]);
    let decryptor = Decryptor::new(&world.context, &world.keys.secret).expect("decryptor");
    let xs: Vec<_> = (0..4).map(|k| world.encrypt_symmetric(&real(&uniform(k, 8)), 60 + k).ciphertext).collect();
    let mut releases = Releases::new(3).expect("some");
    for _ in 0..2 {
        for x in &xs[..3] {
            decryptor.decrypt_for_release(x, -10, &mut releases).expect("planned");
        }
    }
    assert_eq!((releases.made(), releases.planned()), (3, 3));
    let refused = decryptor.decrypt_for_release(&xs[3], -10, &mut releases);
    assert!(matches!(refused, Err(Error::Parameters { name: "releases", .. })), "{refused:?}");
    // A refused release does not count.
    let mut fresh = one();
    assert!(decryptor.decrypt_for_release(&xs[0], 60, &mut fresh).is_err() && fresh.made() == 0);
}
