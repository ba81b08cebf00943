//! Sums of products with factors that are transformed on the way: those of the factors transformed one by one.

use noren_math::cyclotomic::Cyclotomic;
use noren_math::prime::primes_below;
use noren_math::random::Seed;
use noren_ring::images::Images;
use noren_ring::parallel::Parallel;
use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;
use noren_ring::small::SmallPolynomials;

/// A ring with two primes.
fn ring(log_n: u32, threads: usize) -> Ring {
    let primes: Vec<u64> = primes_below(1 << 50, 2 << log_n).take(3).collect();
    let index = Cyclotomic::power_of_two(1 << log_n).expect("a degree");
    Ring::with_parallel(index, &primes, Some(threads), Parallel::Both).expect("a ring").window(1..3)
}

/// The coefficients of factor i: all numbers of 16 bits in turn, and the one above.
fn coefficients(i: usize, out: &mut [i64]) {
    for (j, x) in out.iter_mut().enumerate() {
        *x = match (7 * i + 3 * j) % 11 {
            0 => 1 << 15,
            1 => -(1 << 15),
            2 => (1 << 15) - 1,
            _ => ((i * 40_503 + j * 9_973) % 65_536) as i64 - (1 << 15),
        };
    }
}

fn element(ring: &Ring, name: &str) -> [Poly<Eval>; 2] {
    [0, 1].map(|half| ring.uniform(&Seed::from_bytes([5; 32]), &format!("{name}/{half}")))
}

#[test]
fn packed_coefficients_are_those_that_were_written() {
    let ring = ring(6, 2);
    let small = SmallPolynomials::build(ring.engine(), 64, 9, coefficients, || {});
    for i in 0..small.count() {
        let mut expected = vec![0; 64];
        coefficients(i, &mut expected);
        assert!(small.coefficients(i).eq(expected), "polynomial {i}");
    }
    assert!(small.places().len() > 9, "the largest coefficients are in a list");
}

#[test]
fn streamed_sums_are_sums_of_products_for_any_number_of_threads() {
    let cases =
        [(4, 1, 1, 1), (4, 5, 3, 2), (6, 8, 20, 2), (6, 8, 40, 1), (8, 70, 20, 3), (11, 6, 5, 1), (12, 9, 2, 2)];
    for (log_n, images, sums, set_count) in cases {
        let mut seen: Vec<Vec<Poly<Eval>>> = Vec::new();
        for threads in [1, 2, 3] {
            let ring = ring(log_n, threads);
            let n = ring.degree();
            let factors = SmallPolynomials::build(ring.engine(), n, images * sums, coefficients, || {});
            let elements: Vec<Vec<[Poly<Eval>; 2]>> = (0..set_count)
                .map(|set| (0..images).map(|a| element(&ring, &format!("{set}/{a}"))).collect())
                .collect();
            let sets: Vec<Images> = elements.iter().map(|set| images_of(&ring, set, set_count)).collect();
            let found = ring.streamed_sums(&sets.iter().collect::<Vec<_>>(), &factors);
            assert_eq!((found.len(), found[0].len()), (set_count, sums));
            for (set, found) in elements.iter().zip(&found) {
                for (b, found) in found.iter().enumerate() {
                    for half in 0..2 {
                        let mut expected: Poly<Eval> = ring.zero();
                        for (a, image) in set.iter().enumerate() {
                            let signed: Vec<i64> = factors.coefficients(b * images + a).collect();
                            let factor = ring.ntt(ring.from_signed(&signed));
                            ring.mul_add_assign(&mut expected, &factor, &image[half]);
                        }
                        assert_eq!(words(&ring, &found[half]), words(&ring, &expected), "sum {b}, half {half}");
                    }
                }
            }
            seen.push(found.into_iter().flatten().flatten().collect());
        }
        let ring = ring(log_n, 1);
        let all = |polys: &[Poly<Eval>]| polys.iter().map(|poly| words(&ring, poly)).collect::<Vec<_>>();
        assert!(seen.windows(2).all(|pair| all(&pair[0]) == all(&pair[1])), "threads change no byte");
    }
}

fn images_of(ring: &Ring, elements: &[[Poly<Eval>; 2]], sets: usize) -> Images {
    let mut images = ring.images(elements.len(), sets);
    let set = |(i, element): (usize, &[Poly<Eval>; 2])| ring.set_image(&mut images, i, element.each_ref());
    elements.iter().enumerate().for_each(set);
    images
}

fn words(ring: &Ring, poly: &Poly<Eval>) -> Vec<Vec<u64>> {
    ring.rows(poly).map(<[u64]>::to_vec).collect()
}
