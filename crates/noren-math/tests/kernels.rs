//! Every kernel of every table: equal to the portable one, bit for bit, and to arithmetic in big
//! integers.

use noren_math::cyclotomic::Cyclotomic;
use noren_math::error::Error;
use noren_math::kernels::rows::places::Place;
use noren_math::kernels::{
    Kernels, KeyRows, MAX_TERMS, MovedProducts, WeightedRows, WeightedSum, available, by_name, kernels, select,
};
use noren_math::machine::aligned::AlignedVec;
use noren_math::modulus::Modulus;
use noren_math::prime::primes_below;
use num_bigint::BigUint;

mod support;
use support::Numbers;

/// Around the widths of all vectors and of the blocks of the sums, and two real rows.
const LENGTHS: [usize; 14] = [0, 1, 3, 4, 5, 7, 8, 9, 31, 32, 33, 100, 1024, 4096];

/// The smallest and largest primes that a kernel accepts, and those of the sizes in use.
fn moduli() -> Vec<Modulus> {
    let mut primes = vec![3, 5, 17, 12289];
    for bits in [14, 28, 30, 36, 40, 45, 48, 49, 50] {
        primes.extend(primes_below(1 << bits, 1 << 10).take(1));
        // The first prime past a power of two is the hardest for Barrett's method.
        primes.extend((1..).map(|k| (1 << (bits - 1)) + 2 * k + 1).find(|&p| noren_math::prime::is_prime(p)));
    }
    primes.into_iter().map(|p| Modulus::new(p).expect("a prime below 2^50")).collect()
}

/// Calls `check` for each table but the portable one, which comes first.
fn each_table(check: impl Fn(&Kernels, &Kernels)) {
    let portable = by_name("portable").expect("always there");
    available().filter(|table| table.name() != "portable").for_each(|table| check(table, portable));
}

/// Runs the same call on both tables from the same start and compares the rows.
fn assert_same(name: &str, table: &Kernels, portable: &Kernels, start: &[u64], call: impl Fn(&Kernels, &mut [u64])) {
    let (mut found, mut expected) = (AlignedVec::from_slice(start), AlignedVec::from_slice(start));
    call(table, &mut found);
    call(portable, &mut expected);
    if let Some(j) = (0..start.len()).find(|&j| found[j] != expected[j]) {
        panic!("{name} of {}: word {j} of {} is {}, not {}", table.name(), start.len(), found[j], expected[j]);
    }
    // The same from a row that starts off the cache line.
    let mut shifted = AlignedVec::zeroed(start.len() + 1);
    shifted[1..].copy_from_slice(start);
    call(table, &mut shifted[1..]);
    assert_eq!(shifted[1..], found[..], "{name} of {} off the line", table.name());
}

#[test]
fn element_wise_kernels_equal_portable() {
    each_table(|table, portable| {
        let mut numbers = Numbers::new(1);
        for q in moduli() {
            for n in LENGTHS {
                let (a, b, c) = (numbers.row(n, q.value()), numbers.row(n, q.value()), numbers.row(n, q.value()));
                let w = q.shoup(numbers.below(q.value()));
                let same = |name: &str, call: &dyn Fn(&Kernels, &mut [u64])| {
                    assert_same(&format!("{name} modulo {}", q.value()), table, portable, &a, call);
                };
                same("add", &|k, out| k.add(out, &c, &b, &q));
                same("add_streamed", &|k, out| k.add_streamed(out, &c, &b, &q));
                same("add_assign", &|k, a| k.add_assign(a, &b, &q));
                same("sub", &|k, out| k.sub(out, &c, &b, &q));
                same("sub_streamed", &|k, out| k.sub_streamed(out, &c, &b, &q));
                same("sub_assign", &|k, a| k.sub_assign(a, &b, &q));
                same("neg", &|k, out| k.neg(out, &b, &q));
                same("neg_assign", &|k, a| k.neg_assign(a, &q));
                same("mul", &|k, out| k.mul(out, &c, &b, &q));
                same("mul_streamed", &|k, out| k.mul_streamed(out, &c, &b, &q));
                same("mul_assign", &|k, a| k.mul_assign(a, &b, &q));
                same("mul_add_assign", &|k, acc| k.mul_add_assign(acc, &c, &b, &q));
                same("mul_scalar_add_assign", &|k, acc| k.mul_scalar_add_assign(acc, &b, w, &q));
                same("sub_mul_scalar_assign", &|k, a| k.sub_mul_scalar_assign(a, &b, w, &q));
                same("add_scalar_assign", &|k, a| k.add_scalar_assign(a, w.value, &q));
                let wide = numbers.row(n, 1 << 52);
                same("mul_scalar", &|k, out| k.mul_scalar(out, &wide, w, &q));
                same("reduce", &|k, out| k.reduce(out, &wide, &q));
                assert_same("mul_scalar_assign", table, portable, &wide, |k, a| k.mul_scalar_assign(a, w, &q));
                let signed = numbers.signed_row(n);
                same("reduce_signed", &|k, out| k.reduce_signed(out, &signed, &q));
            }
        }
    });
}

#[test]
fn the_distance_of_rows_in_memory_changes_nothing() {
    /// Bytes modulo which addresses collide, in words.
    const PAGE: usize = 4096 / 8;
    let q = Modulus::new(12289).expect("a prime");
    let n = 100;
    let input = AlignedVec::from_slice(&Numbers::new(8).row(3 * PAGE, q.value()));
    let (a, b) = (&input[..n], &input[2 * PAGE..][..n]);
    each_table(|table, portable| {
        for shift in [0, 1, 8, 9, 64, 127, 128, 129, 256, PAGE - 129, PAGE - 128, PAGE - 64, PAGE - 8, PAGE - 1] {
            // The buffers may start anywhere in a page: so do the rows, over all shifts.
            let mut out = AlignedVec::from_slice(&input[..n + PAGE]);
            let mut expected = out.clone();
            for calls in [Kernels::add, Kernels::mul_add_assign, Kernels::sub_streamed] {
                calls(table, &mut out[shift..][..n], a, b, &q);
                calls(portable, &mut expected[shift..][..n], a, b, &q);
            }
            table.add_assign(&mut out[shift..][..n], a, &q);
            portable.add_assign(&mut expected[shift..][..n], a, &q);
            assert_eq!(out, expected, "{} at {shift}", table.name());
        }
    });
}

#[test]
fn element_wise_kernels_mean_arithmetic_modulo_q() {
    let mut numbers = Numbers::new(2);
    for table in available() {
        for q in moduli() {
            let (n, p) = (64, u128::from(q.value()));
            let (a, b, c) = (numbers.row(n, q.value()), numbers.row(n, q.value()), numbers.row(n, q.value()));
            let w = q.shoup(numbers.below(q.value()));
            let factor = u128::from(w.value);
            let check = |name: &str, call: &dyn Fn(&mut [u64]), meaning: &dyn Fn(u128, u128, u128) -> u128| {
                let mut out = c.clone();
                call(&mut out);
                for j in 0..n {
                    let expected = meaning(a[j].into(), b[j].into(), c[j].into()) % p;
                    assert_eq!(u128::from(out[j]), expected, "{name} of {} modulo {p}", table.name());
                }
            };
            check("add", &|out| table.add(out, &a, &b, &q), &|a, b, _| a + b);
            check("add_assign", &|c| table.add_assign(c, &b, &q), &|_, b, c| c + b);
            check("sub", &|out| table.sub(out, &a, &b, &q), &|a, b, _| a + p - b);
            check("sub_assign", &|c| table.sub_assign(c, &b, &q), &|_, b, c| c + p - b);
            check("neg", &|out| table.neg(out, &a, &q), &|a, _, _| p - a);
            check("neg_assign", &|c| table.neg_assign(c, &q), &|_, _, c| p - c);
            check("mul", &|out| table.mul(out, &a, &b, &q), &|a, b, _| a * b);
            check("mul_assign", &|c| table.mul_assign(c, &b, &q), &|_, b, c| c * b);
            check("mul_add_assign", &|c| table.mul_add_assign(c, &a, &b, &q), &|a, b, c| c + a * b);
            check("mul_scalar", &|out| table.mul_scalar(out, &a, w, &q), &|a, _, _| a * factor);
            check("mul_scalar_assign", &|c| table.mul_scalar_assign(c, w, &q), &|_, _, c| c * factor);
            check("mul_scalar_add", &|c| table.mul_scalar_add_assign(c, &a, w, &q), &|a, _, c| c + a * factor);
            check("sub_mul_scalar", &|c| table.sub_mul_scalar_assign(c, &b, w, &q), &|_, b, c| (c + p - b) * factor);
            check("add_scalar", &|c| table.add_scalar_assign(c, w.value, &q), &|_, _, c| c + factor);

            let wide = numbers.row(n, 1 << 52);
            let mut out = vec![0; n];
            table.reduce(&mut out, &wide, &q);
            assert!((0..n).all(|j| u128::from(out[j]) == u128::from(wide[j]) % p));
            let signed = numbers.signed_row(n);
            table.reduce_signed(&mut out, &signed, &q);
            assert!((0..n).all(|j| i128::from(out[j]) == i128::from(signed[j]).rem_euclid(p as i128)));
        }
    }
}

#[test]
fn sums_equal_portable_and_big_integers() {
    let mut numbers = Numbers::new(3);
    let portable = by_name("portable").expect("always there");
    for q in moduli() {
        for terms in [0, 1, 2, 3, 15, 16, 17, 32, MAX_TERMS] {
            for n in [0, 1, 7, 8, 9, 31, 32, 33, 256] {
                let lefts: Vec<Vec<u64>> = (0..terms).map(|_| numbers.row(n, 1 << 50)).collect();
                let rights: Vec<Vec<u64>> = (0..terms).map(|_| numbers.row(n, 1 << 50)).collect();
                let weights = numbers.row(terms, q.value());
                let pairs: Vec<(&[u64], &[u64])> =
                    lefts.iter().zip(&rights).map(|(a, b)| (a.as_slice(), b.as_slice())).collect();
                let rows: Vec<&[u64]> = lefts.iter().map(Vec::as_slice).collect();
                let start = vec![7; n];

                each_table(|table, portable| {
                    assert_same("inner_product", table, portable, &start, |k, out| k.inner_product(out, &pairs, &q));
                    assert_same("weighted_sum", table, portable, &start, |k, out| {
                        k.weighted_sum(out, &rows, &weights, &q);
                    });
                });

                let (mut product, mut weighted) = (start.clone(), start);
                portable.inner_product(&mut product, &pairs, &q);
                portable.weighted_sum(&mut weighted, &rows, &weights, &q);
                for j in 0..n.min(33) {
                    let big = |sum: BigUint| u64::try_from(sum % q.value()).expect("below q");
                    let expected = (0..terms).map(|i| BigUint::from(lefts[i][j]) * rights[i][j]).sum();
                    assert_eq!(product[j], big(expected), "{terms} products modulo {}", q.value());
                    let expected = (0..terms).map(|i| BigUint::from(lefts[i][j]) * weights[i]).sum();
                    assert_eq!(weighted[j], big(expected), "{terms} weights modulo {}", q.value());
                }
            }
        }
    }
}

#[test]
fn sums_of_the_largest_words_are_right() {
    let largest = vec![(1 << 50) - 1; 40];
    for table in available() {
        for q in moduli() {
            for terms in [15, 16, 17, MAX_TERMS] {
                let mut out = vec![0; largest.len()];
                table.inner_product(&mut out, &vec![(largest.as_slice(), largest.as_slice()); terms], &q);
                let expected = q.reduce_u128(u128::from(largest[0]).pow(2) * terms as u128);
                assert!(
                    out.iter().all(|&x| x == expected),
                    "{terms} products of {} modulo {}",
                    table.name(),
                    q.value()
                );
                let (rows, key) = (vec![largest.as_slice(); terms], vec![largest[0]; 2 * terms * largest.len()]);
                let mut halves = [vec![0; largest.len()], vec![0; largest.len()]];
                let [left, right] = &mut halves;
                table.inner_product_pair([left, right], &rows, &key, &q);
                assert!(halves.iter().flatten().all(|&x| x == expected), "{terms} products of {}", table.name());
                table.weighted_sum(&mut out, &vec![largest.as_slice(); terms], &vec![q.value() - 1; terms], &q);
                let expected = q.reduce_u128(u128::from(largest[0]) * u128::from(q.value() - 1) * terms as u128);
                assert!(out.iter().all(|&x| x == expected), "{terms} weights of {} modulo {}", table.name(), q.value());
            }
        }
    }
}

#[test]
fn weighted_sums_are_those_of_integers_for_any_numbers_of_sums_and_rows() {
    let mut numbers = Numbers::new(10);
    let moduli = moduli();
    let mut check = |sums: usize, count: usize, counted: bool, n: usize| {
        let below = [1 << 50, (1 << 48) + 1, 1 << 44, 3][numbers.below(4) as usize];
        let rows: Vec<Vec<u64>> = (0..count).map(|_| numbers.row(n, below)).collect();
        let rows: Vec<&[u64]> = rows.iter().map(Vec::as_slice).collect();
        let counts = counted.then(|| numbers.row(n, count as u64 + 1));
        let terms: Vec<&[u64]> = rows.iter().copied().chain(counts.as_deref()).collect();
        // A modulus of its own for each sum.
        let shift = numbers.below(moduli.len() as u64) as usize;
        let moduli: Vec<&Modulus> = moduli.iter().cycle().skip(shift).take(sums).collect();
        let weights: Vec<Vec<u64>> = moduli.iter().map(|q| numbers.row(terms.len(), q.value())).collect();
        for table in available() {
            let mut out = vec![vec![7; n]; sums];
            let mut calls: Vec<WeightedSum> = out
                .iter_mut()
                .zip(&weights)
                .zip(&moduli)
                .map(|((out, weights), modulus)| WeightedSum { out, weights, modulus })
                .collect();
            table.weighted_sums(&mut calls, &WeightedRows { rows: &rows, below, counts: counts.as_deref() });
            for ((out, weights), q) in out.iter().zip(&weights).zip(&moduli) {
                for (j, &found) in out.iter().enumerate() {
                    let products = terms.iter().zip(weights).map(|(row, &w)| u128::from(row[j]) * u128::from(w));
                    let expected = products.sum::<u128>() % u128::from(q.value());
                    assert_eq!(u128::from(found), expected, "{} of {count} rows modulo {}", table.name(), q.value());
                }
            }
        }
    };
    for count in (0..=40).chain([63]) {
        for counted in [false, true] {
            for sums in 0..=9 {
                check(sums, count, counted, 70);
            }
            for n in [0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 256] {
                (1..=4).for_each(|sums| check(sums, count, counted, n));
            }
        }
    }
}

#[test]
fn weighted_sums_of_the_largest_words_are_right() {
    for (q, below) in moduli().into_iter().flat_map(|q| [1 << 50, q.value() + 1, 3].map(|below| (q, below))) {
        let largest = vec![below - 1; 40];
        for rows in [1, 4, 5, 6, 8, 11, 12, 13, 15, 16, 17, 28, 29, MAX_TERMS - 1] {
            let counts = vec![rows as u64; largest.len()];
            let sum = u128::from(largest[0]) * rows as u128 + rows as u128;
            let expected = q.reduce_u128(sum * u128::from(q.value() - 1));
            for table in available() {
                for sums in 1..=4 {
                    let weights = vec![q.value() - 1; rows + 1];
                    let mut out = vec![vec![7; largest.len()]; sums];
                    let mut calls: Vec<WeightedSum> =
                        out.iter_mut().map(|out| WeightedSum { out, weights: &weights, modulus: &q }).collect();
                    let all = vec![largest.as_slice(); rows];
                    table.weighted_sums(&mut calls, &WeightedRows { rows: &all, below, counts: Some(&counts) });
                    let (name, modulus) = (table.name(), q.value());
                    let right = out.iter().flatten().all(|&x| x == expected);
                    assert!(right, "{rows} rows below {below} modulo {modulus}: {name}");
                }
            }
        }
    }
}

#[test]
fn reduce_centred_reduces_the_nearest_representative() {
    let mut numbers = Numbers::new(11);
    for from in moduli() {
        let half = from.value() / 2;
        for q in moduli() {
            for n in [0, 1, 3, 4, 5, 8, 9, 40] {
                let mut a = numbers.row(n, from.value());
                a.iter_mut().zip([half, half + 1, half - 1]).for_each(|(word, special)| *word = special);
                let nearest = |&a: &u64| a as i64 - if a > half { from.value() as i64 } else { 0 };
                let expected: Vec<u64> =
                    a.iter().map(|a| nearest(a).rem_euclid(q.value() as i64).cast_unsigned()).collect();
                for table in available() {
                    let mut out = vec![7; n];
                    table.reduce_centred(&mut out, &a, &from, &q);
                    assert_eq!(out, expected, "{} from {} to {}", table.name(), from.value(), q.value());
                }
            }
        }
    }
}

#[test]
fn inner_products_with_both_halves_are_two_inner_products() {
    let mut numbers = Numbers::new(7);
    let mut check = |q: &Modulus, terms: usize, stored: usize, n: usize| {
        let rows: Vec<Vec<u64>> = (0..terms).map(|_| numbers.row(n, 1 << 50)).collect();
        let rows: Vec<&[u64]> = rows.iter().map(Vec::as_slice).collect();
        let key: Vec<Vec<u64>> = (0..2 * stored).map(|_| numbers.row(n, 1 << 50)).collect();
        let expected = [0, 1].map(|half| {
            let pairs: Vec<(&[u64], &[u64])> =
                rows.iter().zip(key.iter().skip(half).step_by(2)).map(|(row, key)| (*row, key.as_slice())).collect();
            let mut out = vec![7; n];
            by_name("portable").expect("always there").inner_product(&mut out, &pairs, q);
            out
        });
        let key = key.concat();
        for table in available() {
            let mut found = [vec![7; n], vec![7; n]];
            let [left, right] = &mut found;
            table.inner_product_pair([left, right], &rows, &key, q);
            assert_eq!(found, expected, "{} of {terms} digits, {n} words", table.name());
        }
    };
    for q in moduli() {
        for (terms, stored) in [(0, 0), (0, 2), (1, 1), (1, 3), (3, 4), (4, 4), (5, 5), (8, 9), (17, 20), (64, 65)] {
            [0, 1, 7, 8, 9, 31, 32, 33, 63, 65, 256].into_iter().for_each(|n| check(&q, terms, stored, n));
        }
        // Longer than the tiles that the tables of vectors walk.
        check(&q, 3, 3, 10_000);
        check(&q, 5, 6, 20_001);
    }
}

#[test]
fn stretched_factors_give_what_written_out_factors_give() {
    let mut numbers = Numbers::new(14);
    let portable = by_name("portable").expect("always there");
    for q in moduli() {
        for terms in [0, 1, 7, 8, 16, 17, MAX_TERMS] {
            for (n, stretch) in [(8, 8), (24, 24), (40, 8), (64, 16), (96, 32), (256, 8), (256, 256), (4096, 64)] {
                let factors: Vec<Vec<u64>> = (0..terms).map(|_| numbers.row(n / stretch, 1 << 50)).collect();
                let written_out = |f: &Vec<u64>| f.iter().flat_map(|&x| vec![x; stretch]).collect::<Vec<u64>>();
                let rows: Vec<Vec<u64>> = factors.iter().map(written_out).collect();
                let rows: Vec<&[u64]> = rows.iter().map(Vec::as_slice).collect();
                let factors: Vec<&[u64]> = factors.iter().map(Vec::as_slice).collect();
                let images = numbers.row(2 * (terms + 1) * n, 1 << 50);
                let mut expected = [vec![7; n], vec![7; n]];
                let [left, right] = &mut expected;
                portable.inner_product_pair([left, right], &rows, &images, &q);
                for table in available() {
                    let mut found = [vec![7; n], vec![7; n]];
                    let [left, right] = &mut found;
                    let rows = KeyRows { words: &images, stride: n };
                    table.stretched_products(&mut [[left, right]], &factors, rows, &q);
                    assert_eq!(found, expected, "{}: {terms} factors, {n} words, {stretch} each", table.name());
                }
            }
        }
    }
}

#[test]
fn moved_products_are_inner_products_that_are_permuted_and_added() {
    let mut numbers = Numbers::new(12);
    for (n, terms) in [(8, 1), (8, 0), (16, 3), (32, 1), (64, 4), (256, 5), (1024, 9), (4096, MAX_TERMS)] {
        let ring = Cyclotomic::power_of_two(n).expect("a degree");
        for q in moduli() {
            let rows: Vec<Vec<u64>> = (0..terms).map(|_| numbers.row(n, 1 << 50)).collect();
            let rows: Vec<&[u64]> = rows.iter().map(Vec::as_slice).collect();
            let (key, m) = (numbers.row(2 * terms * n, 1 << 50), numbers.row(n, 1 << 50));
            let start = [(); 2].map(|()| numbers.row(n, q.value()));
            let portable = by_name("portable").expect("always there");
            for (k, factor, add) in
                [(1, None, true), (5, None, false), (25, Some((1 << 50) - 1), true), (2 * n as u32 - 1, Some(1), false)]
            {
                let perm = ring.permutation(k).expect("odd");
                let mut products = [vec![0; n], vec![0; n]];
                let [left, right] = &mut products;
                portable.inner_product_pair([left, right], &rows, &key, &q);
                if let Some(factor) = factor {
                    let plus = |(x, m): (&mut u64, &u64)| {
                        *x = q.reduce_u128(u128::from(*x) + u128::from(*m) * u128::from(factor))
                    };
                    products[0].iter_mut().zip(&m).for_each(plus);
                }
                let image =
                    |half: usize, j: usize| products[half][perm[j] as usize] + if add { start[half][j] } else { 0 };
                let expected = [0, 1].map(|half| (0..n).map(|j| image(half, j) % q.value()).collect::<Vec<u64>>());
                let all = Place::of(&perm);
                for table in available() {
                    let (mut whole, mut halves) = (start.clone(), start.clone());
                    let plus = factor.map(|factor| (m.as_slice(), factor));
                    let [left, right] = &mut whole;
                    let key_rows = KeyRows { words: &key, stride: n };
                    let whole_products =
                        MovedProducts { rows: &rows, key: key_rows, next: None, plus, places: &all, first: 0 };
                    table.add_moved_products([left, right], &whole_products, add, &q);
                    assert_eq!(whole, expected, "{}, {terms} digits, {n} words, X^{k}", table.name());
                    // Half the words alone: the place of the result's first group is not 0.
                    let (half, to) = (n / 2, all[0].group() / (n / 16).max(1) * (n / 2));
                    if n < 16 {
                        continue;
                    }
                    let rows: Vec<&[u64]> = rows.iter().map(|row| &row[..half]).collect();
                    let plus = factor.map(|factor| (&m[..half], factor));
                    let [left, right] = halves.each_mut().map(|row| &mut row[to..to + half]);
                    let places = &all[..half / 8];
                    let half_products = MovedProducts {
                        rows: &rows,
                        next: Some(key_rows),
                        plus,
                        places,
                        first: to / 8,
                        ..whole_products
                    };
                    table.add_moved_products([left, right], &half_products, add, &q);
                    for (found, expected) in halves.iter().zip(&expected) {
                        assert_eq!(found[to..to + half], expected[to..to + half], "{}, half of {n}", table.name());
                    }
                    let wrong = MovedProducts { first: n, ..whole_products };
                    let refused = std::panic::catch_unwind(|| {
                        table.add_moved_products([&mut vec![0; n], &mut vec![0; n]], &wrong, add, &q);
                    });
                    assert!(refused.is_err(), "{}", table.name());
                }
            }
        }
    }
    let places: Vec<Place> = (0..4).map(Place::identity).collect();
    assert_eq!(Place::of(&(0..32).collect::<Vec<u32>>()), places);
    assert!(std::panic::catch_unwind(|| Place::of(&[0, 8, 1, 2, 3, 4, 5, 6])).is_err());
}

#[test]
fn quotients_equal_portable_and_count_the_moduli() {
    let mut numbers = Numbers::new(4);
    let primes: Vec<u64> = primes_below(1 << 50, 1 << 17).take(24).collect();
    let inverses: Vec<f64> = primes.iter().map(|&p| 1.0 / p as f64).collect();
    for count in [0, 1, 2, 8, 24] {
        for n in LENGTHS {
            let rows: Vec<Vec<u64>> = primes[..count].iter().map(|&p| numbers.row(n, p)).collect();
            let rows: Vec<&[u64]> = rows.iter().map(Vec::as_slice).collect();
            each_table(|table, portable| {
                assert_same("quotients", table, portable, &vec![7; n], |k, out| {
                    k.quotients(out, &rows, &inverses[..count]);
                });
            });
        }
    }
    // Eight times a third of the prime, up to a rest that no rounding can hide: 8/3 + 1/2 = 3.17.
    let row = vec![primes[0] / 3; 33];
    for table in available() {
        let mut out = vec![0; row.len()];
        table.quotients(&mut out, &[row.as_slice(); 8], &[inverses[0]; 8]);
        assert!(out.iter().all(|&x| x == 3));
    }
}

#[test]
fn gaussian_samples_equal_portable_for_any_words() {
    let mut numbers = Numbers::new(9);
    let mut words: Vec<u64> = (0..63).flat_map(|bit| [1 << bit, (1 << bit) - 1, u64::MAX >> bit]).collect();
    words.extend([0, 1, 2, u64::MAX, 1 << 63]);
    words.extend((0..4000).map(|i| numbers.below(u64::MAX) >> (i % 63)));
    let pairs: Vec<u64> = (0..8 * words.len()).map(|_| words[numbers.below(words.len() as u64) as usize]).collect();
    each_table(|table, portable| {
        for n in [0, 1, 7, 8, 9, 63, 64, 65, 4 * words.len()] {
            let (mut found, mut expected) = (vec![7; n], vec![7; n]);
            table.gaussian(&mut found, &pairs[..2 * n]);
            portable.gaussian(&mut expected, &pairs[..2 * n]);
            assert_eq!(found, expected, "{} of {n}", table.name());
        }
    });
}

#[test]
fn permute_equals_portable_for_automorphisms_and_any_other_map() {
    let mut numbers = Numbers::new(5);
    each_table(|table, portable| {
        for n in [8, 16, 64, 1024] {
            let a = Numbers::new(6).row(n, u64::MAX);
            let ring = Cyclotomic::power_of_two(n).expect("a degree");
            for k in [1, 3, 5, 25, 2 * n as u32 - 1] {
                let perm = ring.permutation(k).expect("odd");
                assert_same("permute", table, portable, &a, |kernels, out| kernels.permute(out, &a, &perm));
            }
        }
    });
    for n in LENGTHS {
        let a = numbers.row(n, 1 << 50);
        let perm: Vec<u32> = (0..n).map(|_| numbers.below(n as u64) as u32).collect();
        for table in available() {
            let mut out = vec![0; n];
            table.permute(&mut out, &a, &perm);
            assert!((0..n).all(|j| out[j] == a[perm[j] as usize]));
        }
    }
}

#[test]
fn permute_add_assign_adds_what_permute_gives() {
    let q = Modulus::new(primes_below(1 << 50, 1 << 14).next().expect("there are many")).expect("a prime");
    let mut numbers = Numbers::new(7);
    for n in [8, 16, 64, 1024] {
        let (a, acc) = (numbers.row(n, q.value()), numbers.row(n, q.value()));
        let ring = Cyclotomic::power_of_two(n).expect("a degree");
        for k in [1, 3, 5, 25, 2 * n as u32 - 1] {
            let perm = ring.permutation(k).expect("odd");
            let expected: Vec<u64> = (0..n).map(|j| (acc[j] + a[perm[j] as usize]) % q.value()).collect();
            for table in available() {
                let mut found = acc.clone();
                table.permute_add_assign(&mut found, &a, &perm, &q);
                assert_eq!(found, expected, "{}, {n} words, X^{k}", table.name());
            }
        }
    }
}

#[test]
fn a_permutation_past_the_row_panics_in_every_table() {
    for table in available() {
        for perm in [[0, 1, 2, 3, 4, 5, 6, 8], [8, 9, 10, 11, 12, 13, 14, 15], [u32::MAX; 8]] {
            let caught = std::panic::catch_unwind(|| table.permute(&mut [0; 8], &[1; 8], &perm));
            assert!(caught.is_err(), "{}", table.name());
        }
    }
}

#[test]
fn rows_of_different_lengths_panic_in_every_table() {
    let q = Modulus::new(17).expect("a prime");
    for table in available() {
        let panics = |call: &(dyn Fn() + std::panic::RefUnwindSafe)| std::panic::catch_unwind(call).is_err();
        assert!(panics(&|| table.add(&mut [0; 8], &[0; 8], &[0; 9], &q)));
        assert!(panics(&|| table.mul_assign(&mut [0; 9], &[0; 8], &q)));
        assert!(panics(&|| table.inner_product(&mut [0; 8], &[(&[0u64; 8][..], &[0u64; 7][..])], &q)));
        assert!(panics(&|| table.inner_product(&mut [], &[(&[0u64; 0][..], &[0u64; 0][..]); MAX_TERMS + 1], &q)));
        let pair = |n: usize, rows: &[&[u64]], words: usize| {
            table.inner_product_pair([&mut [0; 8], &mut vec![0; n]], rows, &vec![0; words], &q);
        };
        pair(8, &[&[0; 8]], 17);
        assert!(panics(&|| pair(9, &[&[0; 8]], 16)));
        assert!(panics(&|| pair(8, &[&[0; 9]], 16)));
        assert!(panics(&|| pair(8, &[&[0; 8]], 15)));
        assert!(panics(&|| pair(8, &[[0; 8].as_slice(); MAX_TERMS + 1], 16 * (MAX_TERMS + 1))));
        let stretched = |n: usize, factors: &[&[u64]], words: usize| {
            let rows = KeyRows { words: &vec![0; words], stride: 16 };
            table.stretched_products(&mut [[&mut [0; 16], &mut vec![0; n]]], factors, rows, &q);
        };
        stretched(16, &[&[0; 2]], 33);
        assert!(panics(&|| stretched(24, &[&[0; 2]], 33)));
        assert!(panics(&|| stretched(16, &[&[0; 2]], 31)));
        assert!(panics(&|| stretched(16, &[&[0; 2], &[0; 1]], 64)));
        assert!(panics(&|| stretched(16, &[&[0; 4]], 32)));
        assert!(panics(&|| stretched(16, &[[0; 2].as_slice(); MAX_TERMS + 1], 32 * (MAX_TERMS + 1))));
        assert!(panics(&|| table.weighted_sum(&mut [0; 8], &[&[0; 8]], &[1, 1], &q)));
        assert!(panics(&|| table.reduce_centred(&mut [0; 8], &[0; 9], &q, &q)));
        let counted_below = |below: u64, rows: &[&[u64]], counts: &[u64], weights: usize| {
            let sum = WeightedSum { out: &mut [0; 8], weights: &vec![1; weights], modulus: &q };
            table.weighted_sums(&mut [sum], &WeightedRows { rows, below, counts: Some(counts) });
        };
        let counted = |rows: &[&[u64]], counts: &[u64], weights| counted_below(1 << 50, rows, counts, weights);
        counted(&[&[0; 8]], &[0; 8], 2);
        assert!(panics(&|| counted_below((1 << 50) + 1, &[&[0; 8]], &[0; 8], 2)));
        assert!(panics(&|| counted(&[&[0; 8]], &[0; 8], 1)));
        assert!(panics(&|| counted(&[&[0; 8]], &[0; 7], 2)));
        assert!(panics(&|| counted(&[[0; 8].as_slice(); MAX_TERMS], &[0; 8], MAX_TERMS + 1)));
    }
}

#[test]
fn tables_are_chosen_by_name() {
    assert_eq!(available().next().map(Kernels::name), Some("portable"));
    for table in available() {
        assert!(std::ptr::eq(by_name(table.name()).expect("available"), table));
    }
    for name in ["", "AVX2", "sse2"] {
        let Err(Error::Isa { found, available }) = by_name(name) else { panic!("{name} was accepted") };
        assert_eq!(found, name);
        assert!(available.contains("portable"));
    }
}

#[test]
fn the_chosen_table_is_the_selected_one() {
    assert!(std::ptr::eq(kernels(), select().expect("NOREN_ISA is unset or right")));
}
