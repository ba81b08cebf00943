//! Products of polynomials over GF(2).

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
