//! Memory: buffers that are used again, secrets that are marked.

mod oracle;

use noren_math::random::Seed;
use noren_ring::automorphism::Automorphism;
use noren_ring::divide::DivideRound;
use noren_ring::poly::{Coeff, Eval, Poly};

const BITS: [u32; 8] = [50, 50, 50, 36, 40, 45, 38, 36];
/// Large enough for rows to be padded.
const DEGREE: usize = 4096;

#[test]
fn memory_is_kept_up_to_a_bound_and_used_again() {
    let ring = oracle::ring(DEGREE, &BITS[..2]);
    assert_eq!(ring.engine().kept_bytes(), 0);
    drop(ring.zero::<Eval>());
    let one = ring.engine().kept_bytes();
    assert!(one >= 2 * DEGREE * 8);
    for _ in 0..5 {
        let a = ring.zero::<Coeff>();
        assert_eq!(ring.engine().kept_bytes(), 0, "the kept buffer serves");
        drop(ring.window(0..1).truncate(a));
        assert_eq!(ring.engine().kept_bytes(), one, "a part that was cut off comes back too");
    }
    drop((0..100).map(|_| ring.zero()).collect::<Vec<Poly<Eval>>>());
    assert!(ring.engine().kept_bytes() >= 8 * one && ring.engine().kept_bytes() <= 24 * one);
}

#[test]
fn new_elements_do_not_show_old_words() {
    let ring = oracle::ring(DEGREE, &BITS[..2]);
    drop(ring.uniform(&Seed::from_bytes([1; 32]), "old"));
    assert!(ring.to_words(&ring.zero::<Eval>()).iter().all(|&word| word == 0));
}

#[test]
fn what_comes_from_a_secret_is_secret() {
    let ring = oracle::ring(16, &BITS);
    let public = ring.uniform(&Seed::from_bytes([1; 32]), "public");
    let secret = ring.uniform(&Seed::from_bytes([2; 32]), "secret").into_secret();
    let map = Automorphism::new(ring.index(), 3).expect("odd");
    assert!(!public.is_secret() && secret.is_secret() && secret.clone().is_secret());
    assert!(ring.add(&public, &secret).is_secret() && !ring.add(&public, &public).is_secret());
    assert!(ring.mul(&secret, &public).is_secret() && ring.neg(&secret).is_secret());
    assert!(ring.inner_product(&[(&public, &public), (&public, &secret)]).is_secret());
    assert!(ring.automorphism(&secret, &map).is_secret() && ring.intt(secret.clone()).is_secret());
    assert!(ring.window(1..3).restrict(&secret).is_secret() && ring.window(1..3).truncate(secret.clone()).is_secret());
    assert!(ring.divide_round(secret.clone(), &DivideRound::new(&ring, &[0], 1..3)).is_secret());
    let mut acc = public.clone();
    ring.mul_add_assign(&mut acc, &public, &secret);
    assert!(acc.is_secret() && !acc.into_public().is_secret());
    assert_eq!(format!("{secret:?}"), "Poly { window: 0..8, degree: 16, .. }");
}
