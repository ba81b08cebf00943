//! Products of polynomials over GF(2), and sums over windows modulo `2^64`.

use noren_math::kernels::available;

mod support;
use support::Numbers;

#[test]
fn binary_products_are_those_of_coefficients() {
    let mut numbers = Numbers::new(30);
    for (words_a, words_b) in
        [(0, 0), (0, 3), (1, 1), (1, 2), (2, 1), (2, 2), (3, 5), (4, 4), (5, 1), (17, 16), (31, 33)]
    {
        for largest in [false, true] {
            let [a, b, before] = [words_a, words_b, words_a + words_b]
                .map(|count| (0..count).map(|_| if largest { u64::MAX } else { numbers.next() }).collect::<Vec<_>>());
            let mut expected = before.clone();
            for i in (0..64 * words_a).filter(|i| a[i / 64] >> (i % 64) & 1 == 1) {
                for j in (0..64 * words_b).filter(|j| b[j / 64] >> (j % 64) & 1 == 1) {
                    expected[(i + j) / 64] ^= 1 << ((i + j) % 64);
                }
            }
            for table in available() {
                let mut found = before.clone();
                table.add_binary_product(&mut found, &a, &b);
                assert_eq!(found, expected, "{}: {words_a} and {words_b} words", table.name());
            }
        }
    }
}

#[test]
fn window_sums_are_those_of_words() {
    let mut numbers = Numbers::new(31);
    let table: Vec<u64> = (0..400).map(|_| numbers.next()).collect();
    for (outs, factors) in
        [(0, 0), (0, 4), (4, 0), (1, 1), (7, 9), (8, 8), (9, 7), (22, 22), (31, 33), (32, 16), (75, 40)]
    {
        let a: Vec<u64> = (0..factors).map(|_| numbers.next()).collect();
        let mut starts = |count: usize| -> Vec<u32> {
            let last = 400 - outs.max(factors) as u64;
            (0..count as u64).map(|i| if i == 0 { last } else { numbers.below(last + 1) } as u32).collect()
        };
        let (at_factors, at_outs) = (starts(factors), starts(outs));
        let product = |a: u64, place: usize| u128::from(a) * u128::from(table[place]);
        let word = |sum: u128| (sum % (1 << 64)) as u64;
        let combination = |j: usize| {
            let terms = a.iter().zip(&at_factors).map(|(&a, &start)| product(a, start as usize + j));
            word(terms.fold(0, u128::wrapping_add))
        };
        let dot = |&start: &u32| {
            let terms = a.iter().enumerate().map(|(i, &a)| product(a, start as usize + i));
            word(terms.fold(0, u128::wrapping_add))
        };
        let expected: [Vec<u64>; 2] = [(0..outs).map(combination).collect(), at_outs.iter().map(dot).collect()];
        for kernels in available() {
            let mut found = [(); 2].map(|()| vec![1; outs]);
            kernels.window_combination(&mut found[0], &a, &table, &at_factors);
            kernels.window_dots(&mut found[1], &a, &table, &at_outs);
            assert_eq!(found, expected, "{}: {outs} sums of {factors} terms", kernels.name());
        }
    }
}
