//! Sums of multiples of rows of 32-bit words.

use noren_math::kernels::available;
use noren_math::random::Seed;

#[test]
fn multiples_are_subtracted_the_same_by_all_tables() {
    let mut xof = Seed::from_bytes([1; 32]).xof("multiples");
    let mut words = |count| (0..count).map(|_| xof.next_u64() as u32).collect::<Vec<_>>();
    for len in [1, 7, 8, 9, 15, 16, 17, 64, 656] {
        for (batch, count) in [(0, 3), (1, 0), (1, 1), (1, 4), (2, 5), (3, 8), (5, 11)] {
            let (outs, factors, rows) = (words(batch * len), words(batch * count), words(count * len));
            let mut expected = outs.clone();
            for (place, out) in expected.iter_mut().enumerate() {
                let (b, at) = (place / len, place % len);
                let sum = (0..count).fold(0u64, |sum, r| {
                    sum.wrapping_add(u64::from(factors[b * count + r]) * u64::from(rows[r * len + at]))
                });
                *out = (u64::from(*out).wrapping_sub(sum)) as u32;
            }
            for table in available() {
                let mut found = outs.clone();
                table.sub_multiples(&mut found, &factors, &rows, len);
                assert_eq!(found, expected, "{}: {batch} sums of {count} rows of {len}", table.name());
            }
        }
    }
}
