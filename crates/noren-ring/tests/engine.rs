//! Threads and memory: the same words on every number of threads, buffers that are used again, secrets that are marked.

mod oracle;

use noren_math::random::Seed;
use noren_ring::automorphism::Automorphism;
use noren_ring::convert::{BasisConverter, Conversion};
use noren_ring::decompose::Decomposer;
use noren_ring::divide::DivideRound;
use noren_ring::gadget::Gadget;
use noren_ring::key::KeyPairs;
use noren_ring::matrix::{GiantStep, Matrix, Order};
use noren_ring::operand::Operand;
use noren_ring::poly::{Coeff, Eval, Poly};
use noren_ring::ring::Ring;
use noren_ring::switch::{KeySwitch, Term};

const BITS: [u32; 8] = [50, 50, 50, 36, 40, 45, 38, 36];
/// Large enough for the threads to be used, and for several blocks in each row.
const DEGREE: usize = 4096;

/// One long calculation with every verb that runs on threads.
fn everything(ring: &Ring) -> Vec<Vec<u64>> {
    let q = ring.window(2..8);
    let seed = Seed::from_bytes([9; 32]);
    let (a, b) = (ring.uniform(&seed, "a"), ring.uniform(&seed, "b"));
    let key: Vec<[Poly<Eval>; 2]> =
        (0..3).map(|j| ["left", "right"].map(|side| ring.uniform(&seed, &format!("{side}/{j}")))).collect();
    let key = KeyPairs::new(ring, &key);
    let decomposer = Decomposer::new(ring, Gadget::new(&[50.0, 36.0, 40.0, 45.0, 38.0, 36.0], 2, 3).expect("digits"));
    let digits = decomposer.decompose(&q, &q.mul(&a, &b));
    let sums = digits.inner_product(ring, &key);
    let map = Automorphism::new(ring.index(), 5).expect("odd");
    let mut total = ring.automorphism(&sums[0], &map);
    ring.automorphism_add_assign(&mut total, &sums[1], &map);
    let divide = &DivideRound::new(ring, &[0, 1, 7], 2..7);
    let [c, d] = divide.apply_many([total, sums[0].clone()]);
    let terms = [Term { key: &key, automorphism: Some(&map) }, Term { key: &key, automorphism: None }];
    let products = [(&a, &b), (&b, &b)];
    let switch =
        KeySwitch { terms: &terms, moved: Some(&b), added: [Some(Operand::Products(&products)), None], divide };
    let mut switched = decomposer.switch_each(&q, &b, &switch);
    switched.push(decomposer.switch(&q, &a, &switch));
    switched.push(decomposer.switch(&q, Operand::Products(&products[..1]), &switch));
    let giants = [
        GiantStep { rotation: None, terms: vec![(0, &a), (1, &b)] },
        GiantStep { rotation: Some((&key, &map)), terms: vec![(1, &a)] },
    ];
    let mod_down = &DivideRound::new(ring, &[0, 1], 2..8);
    for order in [Order::Separate, Order::InTurn] {
        let matrix = Matrix { images: &[Some(terms[0]), None], giants: &giants, order, mod_down, divide };
        switched.push(decomposer.multiply_matrix(&q, [&a, &b], &matrix));
    }
    let q = ring.window(2..7);
    let sum = q.intt(q.add(&c, &d));
    let converted = BasisConverter::new(ring, &[2, 3], 0..8, Conversion::Exact).apply(&sum);
    let numbers = q.window(2..4).to_centered_f64(&q.window(2..4).restrict(&sum));
    let wide: Vec<i128> = (0..DEGREE as i128).map(|i| (i - 77) << 90).collect();
    vec![
        digits.polys().iter().chain(&sums).flat_map(|poly| ring.to_words(poly)).collect(),
        switched.iter().flatten().flat_map(|poly| q.to_words(poly)).collect(),
        q.to_words(&sum),
        ring.to_words(&converted),
        numbers.into_iter().map(f64::to_bits).collect(),
        ring.to_words(&ring.from_i128(&wide)),
    ]
}

#[test]
fn every_number_of_threads_gives_the_same_words() {
    let expected = everything(&oracle::ring_with(DEGREE, &BITS, Some(1)));
    // Without the feature there is one thread only.
    let numbers: &[Option<usize>] = if cfg!(feature = "parallel") { &[None, Some(2), Some(3)] } else { &[None] };
    for &threads in numbers {
        let ring = oracle::ring_with(DEGREE, &BITS, threads);
        assert!(threads.is_none_or(|threads| ring.engine().threads() == threads));
        assert!(everything(&ring) == expected, "{threads:?} threads");
    }
}

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
    assert!(DivideRound::new(&ring, &[0], 1..3).apply(secret.clone()).is_secret());
    let mut acc = public.clone();
    ring.mul_add_assign(&mut acc, &public, &secret);
    assert!(acc.is_secret() && !acc.into_public().is_secret());
    assert_eq!(format!("{secret:?}"), "Poly { window: 0..8, degree: 16, .. }");
}
