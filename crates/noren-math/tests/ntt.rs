//! The transform: against its definition, against schoolbook products, and every table against the
//! portable one.

use noren_math::cyclotomic::Cyclotomic;
use noren_math::error::Error;
use noren_math::kernels::{Kernels, available, by_name};
use noren_math::modulus::Modulus;
use noren_math::ntt::general::{GeneralTable, order_of_roots};
use noren_math::prime::{is_prime, primes_below, primitive_root_of_order};
use noren_math::roots::ntt::NttTable;
use proptest::prelude::*;

mod support;
use support::Numbers;

/// The largest prime of each size that has the roots for this ring: small ones exist for small
/// rings only.
fn tables(ring: &Cyclotomic, sizes: &[u32]) -> Vec<NttTable> {
    let primes = sizes.iter().filter_map(|&bits| primes_below(1 << bits, ring.index().into()).next());
    primes.map(|p| NttTable::new(Modulus::new(p).expect("a prime below 2^50"), ring).expect("p = 1 mod m")).collect()
}

fn forward(kernels: &Kernels, table: &NttTable, row: &[u64]) -> Vec<u64> {
    let mut row = row.to_vec();
    kernels.ntt_forward(&mut row, table);
    row
}

fn inverse(kernels: &Kernels, table: &NttTable, row: &[u64]) -> Vec<u64> {
    let mut row = row.to_vec();
    kernels.ntt_inverse(&mut row, table);
    row
}

fn negacyclic_product(a: &[u64], b: &[u64], q: &Modulus) -> Vec<u64> {
    let n = a.len();
    let mut product = vec![0; n];
    for (i, &a) in a.iter().enumerate() {
        for (j, &b) in b.iter().enumerate() {
            let term = (u128::from(a) * u128::from(b) % u128::from(q.value())) as u64;
            let place = &mut product[(i + j) % n];
            *place = if i + j < n { q.add(*place, term) } else { q.sub(*place, term) };
        }
    }
    product
}

#[test]
fn products_of_evaluations_are_negacyclic_products() {
    let mut numbers = Numbers::new(10);
    for log in 3..=9 {
        let ring = Cyclotomic::power_of_two(1 << log).expect("a degree");
        for table in tables(&ring, &[14, 28, 36, 45, 48, 50]) {
            let q = table.modulus();
            let (a, b) = (numbers.row(1 << log, q.value()), numbers.row(1 << log, q.value()));
            let expected = negacyclic_product(&a, &b, q);
            for kernels in available() {
                let mut product = forward(kernels, &table, &a);
                kernels.mul_assign(&mut product, &forward(kernels, &table, &b), q);
                assert_eq!(inverse(kernels, &table, &product), expected, "{} degree 2^{log}", kernels.name());
            }
        }
    }
}

/// Primes of messages, with the largest degree at which they are 1 modulo twice the degree.
const PLAINTEXT_PRIMES: [(u64, u32); 8] =
    [(17, 3), (97, 4), (257, 7), (7681, 8), (12289, 11), (40961, 12), (65537, 15), (786433, 17)];

#[test]
fn the_smallest_primes_transform_as_any() {
    let mut numbers = Numbers::new(17);
    let portable = by_name("portable").expect("always there");
    for (prime, largest) in PLAINTEXT_PRIMES {
        let q = Modulus::new(prime).expect("a prime");
        for log in 3..=largest {
            let ring = Cyclotomic::power_of_two(1 << log).expect("a degree");
            let table = NttTable::new(q, &ring).expect("p = 1 mod m");
            let (a, b) = (numbers.row(1 << log, prime), numbers.row(1 << log, prime));
            let (values, product) = (forward(portable, &table, &a), (log <= 9).then(|| negacyclic_product(&a, &b, &q)));
            for kernels in available() {
                let context = format!("{}, {prime}, degree 2^{log}", kernels.name());
                assert_eq!(forward(kernels, &table, &a), values, "{context}");
                assert_eq!(inverse(kernels, &table, &values), a, "{context}");
                // Lazy rows, and the ends of their range.
                let lazy: Vec<u64> = a.iter().enumerate().map(|(i, &x)| x + prime * (i as u64 % 4)).collect();
                assert_eq!(forward(kernels, &table, &lazy), values, "{context}");
                let most = vec![4 * prime - 1; 1 << log];
                assert_eq!(forward(kernels, &table, &most), forward(portable, &table, &most), "{context}");
                if let Some(expected) = &product {
                    let mut product = forward(kernels, &table, &a);
                    kernels.mul_assign(&mut product, &forward(kernels, &table, &b), &q);
                    assert_eq!(&inverse(kernels, &table, &product), expected, "{context}");
                }
            }
        }
    }
}

#[test]
fn index_j_holds_the_value_at_psi_to_twice_its_reversal_plus_one() {
    let mut numbers = Numbers::new(11);
    for log in 3..=9u32 {
        let ring = Cyclotomic::power_of_two(1 << log).expect("a degree");
        for table in tables(&ring, &[20, 50]) {
            let q = table.modulus();
            let psi = primitive_root_of_order(q, ring.index().into()).expect("p = 1 mod m");
            let a = numbers.row(1 << log, q.value());
            let values: Vec<u64> = (0..ring.degree() as u64)
                .map(|j| {
                    let point = q.pow(psi, 2 * (j.reverse_bits() >> (64 - log)) + 1);
                    a.iter().rev().fold(0, |value, &c| q.add(q.mul(value, point), c))
                })
                .collect();
            for kernels in available() {
                assert_eq!(forward(kernels, &table, &a), values, "{} degree 2^{log}", kernels.name());
            }
        }
    }
}

#[test]
fn round_trips_return_the_row_and_tables_agree_at_every_degree() {
    let mut numbers = Numbers::new(12);
    let portable = by_name("portable").expect("always there");
    for log in 3..=17 {
        let ring = Cyclotomic::power_of_two(1 << log).expect("a degree");
        for table in tables(&ring, &[30, 48, 50]) {
            let row = numbers.row(1 << log, table.modulus().value());
            let expected = forward(portable, &table, &row);
            let unscaled = inverse(portable, &table, &row);
            for kernels in available() {
                let values = forward(kernels, &table, &row);
                assert_eq!(values, expected, "{} degree 2^{log}", kernels.name());
                assert_eq!(inverse(kernels, &table, &values), row, "{} degree 2^{log}", kernels.name());
                assert_eq!(inverse(kernels, &table, &row), unscaled, "{} degree 2^{log}", kernels.name());
            }
        }
    }
}

#[test]
fn lazy_rows_give_canonical_rows() {
    let mut numbers = Numbers::new(13);
    for log in [3, 6, 7, 8, 9, 10, 12] {
        let ring = Cyclotomic::power_of_two(1 << log).expect("a degree");
        for table in tables(&ring, &[20, 28, 36, 40, 48, 49, 50]) {
            let q = table.modulus();
            for (transform, times) in [(forward as fn(&Kernels, &NttTable, &[u64]) -> Vec<u64>, 4), (inverse, 2)] {
                let bound = times * q.value();
                for lazy in [numbers.row(1 << log, bound), vec![bound - 1; 1 << log]] {
                    let row: Vec<u64> = lazy.iter().map(|&x| q.reduce(x)).collect();
                    for kernels in available() {
                        let values = transform(kernels, &table, &lazy);
                        assert_eq!(values, transform(kernels, &table, &row));
                        assert!(values.iter().all(|&x| x < q.value()));
                    }
                }
            }
        }
    }
}

/// The primes on both sides of the bounds at which tables change their arithmetic, and of all sizes between.
fn boundary_tables(ring: &Cyclotomic) -> Vec<NttTable> {
    let step = u64::from(ring.index());
    let above = (20..50).filter_map(|bits| {
        let first = (1u64 << bits).next_multiple_of(step) + 1;
        (first..1 << 50).step_by(step as usize).find(|&p| is_prime(p))
    });
    let below = (20..=50).filter_map(|bits| primes_below(1 << bits, step).next());
    above.chain(below).map(|p| NttTable::new(Modulus::new(p).expect("a prime"), ring).expect("p = 1 mod m")).collect()
}

#[test]
fn extreme_rows_agree_at_the_bounds_of_every_size_of_prime() {
    let portable = by_name("portable").expect("always there");
    for log in [7, 8, 9, 10, 11, 13] {
        let n = 1 << log;
        let ring = Cyclotomic::power_of_two(n).expect("a degree");
        for table in boundary_tables(&ring) {
            let q = table.modulus().value();
            for (transform, largest) in
                [(forward as fn(&Kernels, &NttTable, &[u64]) -> Vec<u64>, 4 * q - 1), (inverse, 2 * q - 1)]
            {
                let alternating = (0..n as u64).map(|i| if i % 2 == 0 { largest } else { 0 }).collect();
                let halves = (0..n).map(|i| if i < n / 2 { 0 } else { largest }).collect();
                for row in [vec![q - 1; n], vec![largest; n], vec![1; n], alternating, halves] {
                    let expected = transform(portable, &table, &row);
                    for kernels in available() {
                        assert_eq!(transform(kernels, &table, &row), expected, "{} 2^{log} mod {q}", kernels.name());
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn tables_agree_for_any_prime_and_row(log in 3u32..=12, bits in 20u32..=50, skip in 0usize..20, seed: u64) {
        let ring = Cyclotomic::power_of_two(1 << log).expect("a degree");
        let prime = primes_below(1 << bits, ring.index().into()).nth(skip);
        prop_assume!(prime.is_some());
        let q = Modulus::new(prime.unwrap_or_default()).expect("a prime");
        let table = NttTable::new(q, &ring).expect("p = 1 mod m");
        let (wide, row) = (Numbers::new(seed).row(1 << log, 4 * q.value()), Numbers::new(seed).row(1 << log, 2 * q.value()));
        let portable = by_name("portable").expect("always there");
        let (values, coefficients) = (forward(portable, &table, &wide), inverse(portable, &table, &row));
        for kernels in available() {
            prop_assert_eq!(&forward(kernels, &table, &wide), &values);
            prop_assert_eq!(&inverse(kernels, &table, &row), &coefficients);
        }
    }
}

#[test]
fn a_scaled_inverse_is_the_inverse_times_the_factor() {
    let mut numbers = Numbers::new(15);
    for log in 3..=16 {
        let ring = Cyclotomic::power_of_two(1 << log).expect("a degree");
        for table in tables(&ring, &[20, 30, 48, 50]) {
            let q = table.modulus();
            let row = numbers.row(1 << log, 2 * q.value());
            for factor in [0, 1, 2, q.value() - 1, numbers.below(q.value())] {
                let scale = table.inverse_scale(factor);
                assert_eq!(scale.factor().value, factor);
                for kernels in available() {
                    let mut scaled = row.clone();
                    kernels.ntt_inverse_scaled(&mut scaled, &table, &scale);
                    let expected: Vec<u64> = inverse(kernels, &table, &row).iter().map(|&x| q.mul(x, factor)).collect();
                    assert_eq!(scaled, expected, "{} 2^{log} times {factor}", kernels.name());
                }
            }
        }
    }
}

#[test]
fn monomials_multiply_with_the_sign_at_the_largest_degree() {
    let ring = Cyclotomic::power_of_two(1 << 17).expect("a degree");
    let n = ring.degree();
    for table in tables(&ring, &[50]) {
        let q = table.modulus();
        let monomial = |i: usize| {
            let mut row = vec![0; n];
            row[i] = 1;
            row
        };
        for kernels in available() {
            for (i, j) in [(0, n - 1), (1, n - 1), (12_345, 123_456)] {
                let mut product = forward(kernels, &table, &monomial(i));
                kernels.mul_assign(&mut product, &forward(kernels, &table, &monomial(j)), q);
                let mut expected = monomial((i + j) % n);
                if i + j >= n {
                    kernels.neg_assign(&mut expected, q);
                }
                assert_eq!(inverse(kernels, &table, &product), expected);
            }
        }
    }
}

#[test]
fn permutations_of_evaluations_are_automorphisms_of_coefficients() {
    let mut numbers = Numbers::new(14);
    for n in [8, 64, 512] {
        let ring = Cyclotomic::power_of_two(n).expect("a degree");
        for table in tables(&ring, &[50]) {
            let q = table.modulus();
            let a = numbers.row(n, q.value());
            for k in [1, 3, 5, 25, 2 * n as u32 - 1, 2 * n as u32 + 5] {
                let mut image = vec![0; n];
                for (i, &coefficient) in a.iter().enumerate() {
                    let exponent = i * k as usize % (2 * n);
                    image[exponent % n] = if exponent < n { coefficient } else { q.neg(coefficient) };
                }
                let permutation = ring.permutation(k).expect("odd");
                for kernels in available() {
                    let mut permuted = vec![0; n];
                    kernels.permute(&mut permuted, &forward(kernels, &table, &a), &permutation);
                    assert_eq!(permuted, forward(kernels, &table, &image), "X -> X^{k}");
                }
            }
        }
    }
}

#[test]
fn a_prime_without_the_roots_is_refused() {
    let ring = Cyclotomic::power_of_two(1 << 10).expect("a degree");
    let q = Modulus::new(97).expect("a prime");
    assert_eq!(NttTable::new(q, &ring).err(), Some(Error::NoRoot { prime: 97, order: 1 << 11 }));
}

#[test]
fn a_row_of_another_length_panics() {
    let ring = Cyclotomic::power_of_two(64).expect("a degree");
    let table = tables(&ring, &[30]).remove(0);
    for kernels in available() {
        assert!(std::panic::catch_unwind(|| kernels.ntt_forward(&mut [0; 32], &table)).is_err());
        let scaled = || kernels.ntt_inverse_scaled(&mut [0; 32], &table, &table.inverse_scale(2));
        assert!(std::panic::catch_unwind(scaled).is_err());
    }
}

/// `a(omega^e)` for the units e, as it is written.
fn evaluations(ring: &Cyclotomic, q: &Modulus, a: &[u64]) -> Vec<u64> {
    let omega = primitive_root_of_order(q, ring.index().into()).expect("a root");
    let value = |&e: &u32| {
        let x = q.pow(omega, e.into());
        a.iter().rev().fold(0, |sum, &c| q.add(q.mul(sum, x), c))
    };
    ring.points().iter().map(value).collect()
}

#[test]
fn general_transforms_are_evaluations_at_primitive_roots() {
    let mut numbers = Numbers::new(11);
    for m in (3..140).chain([205, 255, 315, 420, 511]).filter(|m: &u32| m % 4 != 2 && !m.is_power_of_two()) {
        let ring = Cyclotomic::new(m).expect("an index");
        for bits in [30, 50] {
            let prime = primes_below(1 << bits, order_of_roots(&ring)).next().expect("a prime");
            let q = Modulus::new(prime).expect("a prime below 2^50");
            let table = GeneralTable::new(q, &ring).expect("p = 1 modulo the order of its roots");
            let a = numbers.row(ring.degree(), prime);
            let expected = evaluations(&ring, &q, &a);
            for kernels in available() {
                // Words up to four times the prime, and twice the prime, as the ranges allow.
                let mut row: Vec<u64> = a.iter().zip(0..).map(|(&x, i)| x + prime * (i % 4)).collect();
                table.forward(kernels, &mut row);
                assert_eq!(row, expected, "{} index {m}", kernels.name());
                row.iter_mut().zip(0..).for_each(|(x, i)| *x += prime * (i % 2));
                table.inverse(kernels, &mut row);
                assert_eq!(row, a, "{} index {m}", kernels.name());
            }
        }
    }
}

#[test]
fn general_transforms_of_large_indices_multiply() {
    // Two primes, three, a prime power, and one that is even.
    let mut numbers = Numbers::new(12);
    for m in [2047, 4095, 2187, 2052] {
        let ring = Cyclotomic::new(m).expect("an index");
        let prime = primes_below(1 << 50, order_of_roots(&ring)).next().expect("a prime");
        let q = Modulus::new(prime).expect("a prime below 2^50");
        let table = GeneralTable::new(q, &ring).expect("p = 1 modulo the order of its roots");
        let (n, phi) = (ring.degree(), ring.polynomial());
        let (a, b) = (numbers.row(n, prime), numbers.row(n, prime));
        let mut product = vec![0; 2 * n - 1];
        for (i, &x) in a.iter().enumerate() {
            for (place, &y) in product[i..].iter_mut().zip(&b) {
                *place = q.add(*place, q.mul(x, y));
            }
        }
        for top in (n..product.len()).rev() {
            let lead = product[top];
            for (place, &c) in product[top - n..top].iter_mut().zip(&phi) {
                let term = q.mul(lead, c.unsigned_abs());
                *place = if c < 0 { q.add(*place, term) } else { q.sub(*place, term) };
            }
        }
        product.truncate(n);
        for kernels in available() {
            let [mut x, mut y] = [a.clone(), b.clone()];
            table.forward(kernels, &mut x);
            table.forward(kernels, &mut y);
            kernels.mul_assign(&mut x, &y, &q);
            table.inverse(kernels, &mut x);
            assert!(x == product, "{} index {m}", kernels.name());
        }
    }
}

#[test]
fn general_transforms_refuse_what_they_cannot_do() {
    let ring = Cyclotomic::new(45).expect("an index");
    let order = order_of_roots(&ring);
    assert_eq!(order, 45 * 256);
    // 1 modulo the index alone.
    let prime = primes_below(1 << 40, 45).find(|p| p % order != 1).expect("a prime");
    let q = Modulus::new(prime).expect("a prime");
    assert!(matches!(GeneralTable::new(q, &ring), Err(Error::NoRoot { prime: p, .. }) if p == prime));
    let large = Cyclotomic::new((1 << 16) + 1).expect("an index");
    let prime = primes_below(1 << 50, order_of_roots(&large)).next().expect("a prime");
    let q = Modulus::new(prime).expect("a prime");
    assert!(matches!(GeneralTable::new(q, &large), Err(Error::Index { found: 65537, .. })));
}
