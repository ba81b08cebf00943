//! Numbers of 16 bits, four to a word: the same residues from every table, and those of the definition.

use noren_math::kernels::available;
use noren_math::modulus::Modulus;
use noren_math::prime::primes_below;

mod support;
use support::Numbers;

#[test]
fn halves_are_unpacked_to_residues_by_every_table() {
    let mut numbers = Numbers::new(21);
    for bits in [17, 30, 48, 50] {
        let q = primes_below(1 << bits, 2).next().expect("a prime");
        let modulus = Modulus::new(q).expect("below 2^50");
        for words in [0, 1, 2, 3, 7, 8, 9, 1024] {
            let halves: Vec<i16> = numbers.signed_row(4 * words).into_iter().map(|x| x as i16).collect();
            let word = |halves: &[i16]| (0..4).map(|i| u64::from(halves[i].cast_unsigned()) << (16 * i)).sum();
            let packed: Vec<u64> = halves.chunks_exact(4).map(word).collect();
            let expected: Vec<u64> = halves.iter().map(|&half| q.wrapping_add_signed(half.into())).collect();
            for table in available() {
                let mut out = vec![1; 4 * words];
                table.unpack_halves(&mut out, &packed, &modulus);
                assert_eq!(out, expected, "{} modulo {q}", table.name());
            }
        }
    }
}

#[test]
#[should_panic(expected = "need a prime above 2^15")]
fn small_primes_are_refused() {
    let modulus = Modulus::new(12289).expect("a prime");
    available().next().expect("the portable table").unpack_halves(&mut [0; 4], &[0], &modulus);
}
