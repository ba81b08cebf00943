//! The sums of products with both halves of a key, and where they go: equal in every table to sums of single products.

use noren_math::cyclotomic::Cyclotomic;
use noren_math::kernels::places::Place;
use noren_math::kernels::{KeyRows, MAX_TERMS, MovedProducts, available, by_name};
use noren_math::modulus::Modulus;

mod support;
use support::{Numbers, moduli};

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
                    table.stretched_product_pair([left, right], &factors, &images, &q);
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
