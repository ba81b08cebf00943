//! Kernels that make several sums side by side: every table gives what sums one by one are.

use noren_math::kernels::rows::places::GROUP;
use noren_math::kernels::{KeyRows, MAX_TERMS, Panel, available, by_name};
use noren_math::machine::aligned::AlignedVec;
use noren_math::modulus::Modulus;
use noren_math::prime::primes_below;

mod support;
use support::Numbers;

/// The largest word that may be multiplied, and one more.
const BOUND: u64 = 1 << 50;

fn moduli() -> Vec<Modulus> {
    let primes = [14, 33, 48, 50].into_iter().flat_map(|bits| primes_below(1 << bits, 1 << 10).take(1));
    primes.chain([3]).map(|p| Modulus::new(p).expect("a prime below 2^50")).collect()
}

/// `groups` of `rows` rows, as they lie in a panel.
fn grouped(rows: &[Vec<u64>]) -> Vec<u64> {
    let groups = 0..rows[0].len() / GROUP;
    groups.flat_map(|g| rows.iter().flat_map(move |row| row[g * GROUP..][..GROUP].to_vec())).collect()
}

#[test]
fn products_of_a_panel_are_the_inner_products_of_its_rows() {
    let mut numbers = Numbers::new(21);
    let portable = by_name("portable").expect("always there");
    for q in moduli() {
        for (n, sums, terms) in [(8, 1, 1), (32, 2, 5), (16, 3, 16), (32, 4, 17), (24, 5, MAX_TERMS), (32, 11, 33)] {
            for add in [false, true] {
                let mut row = |count: usize, largest: bool| -> Vec<Vec<u64>> {
                    (0..count).map(|_| if largest { vec![BOUND - 1; n] } else { numbers.row(n, BOUND) }).collect()
                };
                let (factors, images) = (row(sums * terms, terms == MAX_TERMS), row(2 * terms, terms == MAX_TERMS));
                let start: Vec<Vec<u64>> = (0..2 * sums).map(|_| numbers.row(n, q.value())).collect();
                let mut expected = start.clone();
                for (row, expected) in expected.iter_mut().enumerate() {
                    let pairs = factors[row / 2 * terms..][..terms].iter().zip(images.iter().skip(row % 2).step_by(2));
                    let pairs: Vec<(&[u64], &[u64])> = pairs.map(|(f, y)| (&f[..], &y[..])).collect();
                    let mut sum = vec![0; n];
                    portable.inner_product(&mut sum, &pairs, &q);
                    let old = if add { expected.clone() } else { vec![0; n] };
                    portable.add(expected, &old, &sum, &q);
                }
                let (factors, images) = (grouped(&factors), grouped(&images));
                for table in available() {
                    let mut found = start.clone();
                    let mut out: Vec<&mut [u64]> = found.iter_mut().map(Vec::as_mut_slice).collect();
                    let panel = Panel { factors: &factors, images: &images, next: [&images, &factors[..7]] };
                    table.panel_products(&mut out, &panel, add, &q);
                    assert_eq!(found, expected, "{}: {sums} sums of {terms} terms, add: {add}", table.name());
                }
            }
        }
    }
}

#[test]
fn several_sums_of_stretched_products_are_those_one_by_one() {
    let mut numbers = Numbers::new(22);
    let portable = by_name("portable").expect("always there");
    for q in moduli() {
        for (n, stretch, sums, terms) in [(32, 8, 2, 3), (128, 32, 4, 32), (64, 64, 7, MAX_TERMS), (16, 8, 3, 0)] {
            let factors: Vec<Vec<u64>> = (0..sums * terms).map(|_| numbers.row(n / stretch, BOUND)).collect();
            let factors: Vec<&[u64]> = factors.iter().map(Vec::as_slice).collect();
            let stride = n + 24;
            let words = numbers.row(2 * terms.max(1) * stride, BOUND);
            let rows = KeyRows { words: &words, stride };
            let mut expected = vec![[vec![7; n], vec![7; n]]; sums];
            for (b, [left, right]) in expected.iter_mut().enumerate() {
                let factors = &factors[b * terms..][..terms];
                portable.stretched_products(&mut [[left, right]], factors, rows, &q);
            }
            for table in available() {
                let mut found = vec![[vec![7; n], vec![7; n]]; sums];
                let mut out: Vec<[&mut [u64]; 2]> =
                    found.iter_mut().map(|pair| pair.each_mut().map(Vec::as_mut_slice)).collect();
                table.stretched_products(&mut out, &factors, rows, &q);
                assert_eq!(found, expected, "{}: {sums} sums of {terms} terms", table.name());
            }
        }
    }
}

#[test]
fn groups_of_rows_come_to_lie_together() {
    let mut numbers = Numbers::new(23);
    for (rows, width) in [(0, 8), (1, 8), (1, 32), (5, 8), (6, 24)] {
        let rows: Vec<Vec<u64>> = (0..rows).map(|_| numbers.row(width, u64::MAX)).collect();
        let expected = if rows.is_empty() { Vec::new() } else { grouped(&rows) };
        for table in available() {
            let mut found = vec![7; expected.len()];
            table.regroup(&mut found, &rows.concat(), width);
            assert_eq!(found, expected, "{}", table.name());
        }
    }
}

#[test]
fn pieces_of_a_row_are_written_apart_and_nothing_else_is() {
    let mut numbers = Numbers::new(24);
    for (pieces, width, stride) in [(0, 8, 8), (1, 8, 8), (4, 32, 40), (3, 4, 9), (5, 16, 16), (2, 8, 12)] {
        let row = numbers.row(pieces * width, u64::MAX);
        for offset in [0, 1] {
            for table in available() {
                let mut found = AlignedVec::zeroed(pieces * stride + 1);
                found.fill(7);
                table.spread(&mut found[offset..], &row, width, stride);
                for (j, &word) in found.iter().enumerate() {
                    let place = j.checked_sub(offset).map(|j| (j / stride, j % stride));
                    let piece = place.filter(|&(i, w)| i < pieces && w < width);
                    let expected = piece.map_or(7, |(i, w)| row[i * width + w]);
                    assert_eq!(word, expected, "{}: word {j} of {pieces} pieces of {width}", table.name());
                }
            }
        }
    }
}

#[test]
fn shapes_that_do_not_fit_together_panic_in_every_table() {
    let q = Modulus::new(17).expect("a prime");
    for table in available() {
        let panics = |call: &dyn Fn()| std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).is_err();
        let panel = |rows: usize, n: usize, factors: usize, images: usize| {
            let mut found = vec![vec![0; n]; rows];
            let mut out: Vec<&mut [u64]> = found.iter_mut().map(Vec::as_mut_slice).collect();
            let panel = Panel { factors: &vec![0; factors], images: &vec![0; images], next: [&[]; 2] };
            table.panel_products(&mut out, &panel, false, &q);
        };
        panel(4, 8, 48, 48);
        assert!(panics(&|| panel(3, 8, 48, 48)), "half a sum");
        assert!(panics(&|| panel(4, 8, 47, 48)), "a factor is cut");
        assert!(panics(&|| panel(4, 8, 48, 47)), "an image is cut");
        assert!(panics(&|| panel(4, 12, 72, 72)), "no whole groups");
        assert!(panics(&|| panel(2, 8, 0, 0)), "no term");
        assert!(panics(&|| panel(2, 8, 8 * (MAX_TERMS + 1), 16 * (MAX_TERMS + 1))), "too many terms");
        assert!(panics(&|| table.regroup(&mut [0; 16], &[0; 24], 8)));
        assert!(panics(&|| table.regroup(&mut [0; 12], &[0; 12], 12)));
        assert!(panics(&|| table.spread(&mut [0; 23], &[0; 16], 8, 16)));
        assert!(panics(&|| table.spread(&mut [0; 64], &[0; 17], 8, 16)));
        assert!(panics(&|| table.spread(&mut [0; 64], &[0; 16], 16, 8)));
    }
}
