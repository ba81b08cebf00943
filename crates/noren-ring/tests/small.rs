//! Polynomials with small coefficients: interpolation, and sums of products, against the ring's own verbs.

mod oracle;

use noren_math::random::Seed;
use noren_math::sample;
use noren_ring::key::KeyPairs;
use noren_ring::parallel::Parallel;
use noren_ring::poly::{Coeff, Eval, Poly};
use noren_ring::ring::Ring;
use noren_ring::small::SmallPolys;

/// Values modulo t: arbitrary ones, and those of constants next to the ends of the range.
fn values(t: u64, degree: usize, i: usize) -> Vec<u64> {
    let mut values = vec![0; degree];
    match i {
        0 => values.fill(t / 2),
        1 => values.fill(t / 2 + 1),
        _ => {
            let q = noren_math::modulus::Modulus::new(t).expect("a prime");
            sample::uniform(&mut Seed::from_bytes([7; 32]).xof(&format!("values/{i}")), &q, &mut values);
        }
    }
    values
}

fn plaintext_ring(whole: &Ring, t: u64) -> Ring {
    Ring::new(*whole.index(), &[t], Some(1)).expect("t = 1 modulo 2n")
}

fn small(ring_t: &Ring, count: usize) -> SmallPolys {
    let t = ring_t.moduli().next().expect("one prime").value();
    SmallPolys::interpolate(ring_t, count, |i, row| row.copy_from_slice(&values(t, ring_t.degree(), i)))
}

/// The polynomial with these values modulo t, with its centred coefficients, over `ring`.
fn element(ring: &Ring, ring_t: &Ring, i: usize) -> Poly<Eval> {
    let t = ring_t.moduli().next().expect("one prime").value();
    let evaluated: Poly<Eval> = ring_t.from_words(&values(t, ring.degree(), i)).expect("residues");
    let coefficients: Poly<Coeff> = ring_t.intt(evaluated);
    let centred = ring_t.to_centered_f64(&coefficients);
    ring.ntt(ring.from_signed(&centred.iter().map(|&x| x as i64).collect::<Vec<_>>()))
}

#[test]
fn interpolated_polynomials_have_the_centred_coefficients() {
    for (degree, t) in [(8, 97), (64, 257), (32, 65537), (2048, 65537)] {
        let whole = oracle::ring(degree, &[50, 36, 48]);
        let ring_t = plaintext_ring(&whole, t);
        let small = small(&ring_t, 5);
        assert_eq!(small.len(), 5);
        // The constants (t - 1)/2 and -(t - 1)/2 come first: 2^15 is what two bytes do not hold.
        for i in 0..5 {
            let found = small.element(&whole, i);
            assert_eq!(whole.to_words(&found), whole.to_words(&element(&whole, &ring_t, i)), "{t}, {i}");
        }
        assert!(small.bytes() >= 10 * degree);
    }
}

#[test]
fn sums_of_small_products_are_sums_of_products() {
    // The second is longer than what is handled at once, and shared out to threads.
    for (degree, pairs, threads) in [(32, 19, 1), (32, 8, 1), (1 << 15, 6, 2)] {
        for parallel in [Parallel::Both, Parallel::Coefficient] {
            let whole = oracle::ring_parallel(degree, &[50, 48, 36], Some(threads), parallel);
            let (ring, ring_t) = (whole.window(1..3), plaintext_ring(&whole, 65537));
            let uniform = |label: String| whole.uniform(&Seed::from_bytes([5; 32]), &label);
            let elements: Vec<[Poly<Eval>; 2]> =
                (0..pairs).map(|j| [0, 1].map(|half| uniform(format!("{half}/{j}")))).collect();
            let small = small(&ring_t, 9);
            // Some terms are missing, and polynomials are used again.
            let term = |i: usize, j: usize| (!(i + 2 * j).is_multiple_of(5)).then_some((3 * i + j) % 9);
            let found = ring.sum_small_products(&KeyPairs::new(&whole, &elements), &small, 4, term);
            assert_eq!(found.len(), 4);
            for (i, found) in found.iter().enumerate() {
                for half in 0..2 {
                    let mut expected = ring.zero();
                    for (j, pair) in elements.iter().enumerate() {
                        if let Some(p) = term(i, j) {
                            ring.mul_add_assign(&mut expected, &pair[half], &element(&ring, &ring_t, p));
                        }
                    }
                    let context = format!("degree {degree}, sum {i}, half {half}");
                    assert!(ring.to_words(&found[half]) == ring.to_words(&expected), "{context}");
                }
            }
        }
    }
}

#[test]
#[should_panic(expected = "small coefficients need one, of at most 17 bits")]
fn coefficients_must_be_small() {
    let whole = oracle::ring(32, &[50]);
    let _ = SmallPolys::interpolate(&plaintext_ring(&whole, 786_433), 1, |_, _| ());
}
