//! Known answers of other libraries: transforms, roots of unity, primes and digits.
//!
//! Each vector names the library, its version, the file and the test that publish it.

use noren_math::cyclotomic::Cyclotomic;
use noren_math::kernels::available;
use noren_math::modulus::Modulus;
use noren_math::prime::{primes_below, primes_near, primitive_root_of_order};
use noren_math::roots::ntt::NttTable;
use noren_math::torus::gadget::Gadget;

/// The smallest degree that has a table.
const MIN_DEGREE: usize = 8;

/// Degree, prime, coefficients and their transform. Intel HEXL 1.2.5, `test/test-ntt.cpp`, the values of
/// `DegreeModulusInputOutput` that are not constant and whose prime is below 2^50 and 1 modulo `2 MIN_DEGREE`.
const HEXL_TRANSFORMS: [(usize, u64, &[u64], &[u64]); 8] = [
    (2, 281_474_976_710_897, &[1, 1], &[19_842_761_023_586, 261_632_215_687_313]),
    (4, 113, &[94, 109, 11, 18], &[82, 2, 81, 98]),
    (
        4,
        281_474_976_710_897,
        &[281_474_976_710_765, 49, 281_474_976_710_643, 275],
        &[12_006_376_116_355, 216_492_038_983_166, 272_441_922_811_203, 62_009_615_510_542],
    ),
    (4, 113, &[59, 50, 98, 50], &[1, 2, 3, 4]),
    (4, 16417, &[31, 21, 15, 34], &[1611, 14407, 14082, 2858]),
    (4, 4_194_353, &[4127, 9647, 1987, 5410], &[1_478_161, 3_359_347, 222_964, 3_344_742]),
    (
        8,
        4_194_353,
        &[1, 1, 0, 0, 0, 0, 0, 0],
        &[132_171, 4_062_184, 2_675_172, 1_519_183, 462_763, 3_731_592, 1_824_324, 2_370_031],
    ),
    (
        32,
        769,
        &[
            401, 203, 221, 352, 487, 151, 405, 356, 343, 424, 635, 757, 457, 280, 624, 353, 496, 353, 624, 280, 457,
            757, 635, 424, 343, 356, 405, 151, 487, 352, 221, 203,
        ],
        &[
            1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29,
            30, 31, 32,
        ],
    ),
];

/// Both libraries order values by reversed bits. HEXL evaluates at powers of the smallest root of order 2N, which is
/// the k-th power of noren's root for an odd k: value j of HEXL is value j of the image under `X -> X^k`, which stands
/// in place `permutation[j]`. A degree below `MIN_DEGREE` is embedded by `X -> X^gap`, which repeats each value `gap`
/// times.
#[test]
fn transforms_are_those_of_hexl() {
    for (degree, prime, coefficients, values) in HEXL_TRANSFORMS {
        let q = Modulus::new(prime).expect("a prime below 2^50");
        let ring = Cyclotomic::power_of_two(degree.max(MIN_DEGREE)).expect("a degree");
        let gap = ring.degree() / degree;
        let root = primitive_root_of_order(&q, 2 * degree as u64).expect("q = 1 mod 2N");
        let k = (1..2 * degree as u32).step_by(2).min_by_key(|&k| q.pow(root, k.into())).expect("an odd power");
        let mut row = vec![0; ring.degree()];
        row.iter_mut().step_by(gap).zip(coefficients).for_each(|(x, &c)| *x = c);
        let mut expected = vec![0; ring.degree()];
        let permutation = ring.permutation(k).expect("an odd exponent");
        permutation.iter().enumerate().for_each(|(j, &place)| expected[place as usize] = values[j / gap]);
        let table = NttTable::new(q, &ring).expect("q = 1 mod m");
        for kernels in available() {
            let mut found = row.clone();
            kernels.ntt_forward(&mut found, &table);
            assert_eq!(found, expected, "{}: degree {degree} modulo {prime}", kernels.name());
            kernels.ntt_inverse(&mut found, &table);
            assert_eq!(found, row, "{}: inverse, degree {degree} modulo {prime}", kernels.name());
        }
    }
}

/// Prime, order, and all primitive roots of that order. Microsoft SEAL 4.4.3, `native/tests/seal/util/numth.cpp`,
/// `TryPrimitiveRootMod`; the first is that of `TryMinimalPrimitiveRootMod`.
const SEAL_ROOTS: [(u64, u64, &[u64]); 2] =
    [(29, 4, &[12, 17]), (1_234_565_441, 8, &[249_725_733, 273_658_408, 960_907_033, 984_839_708])];

#[test]
fn roots_of_unity_are_those_of_seal() {
    let roots = |prime, order| {
        let q = Modulus::new(prime).expect("a prime");
        let root = primitive_root_of_order(&q, order).expect("order divides q - 1");
        let mut roots: Vec<u64> = (1..order).step_by(2).map(|k| q.pow(root, k)).collect();
        roots.sort_unstable();
        roots
    };
    for (prime, order, expected) in SEAL_ROOTS {
        assert_eq!(roots(prime, order), expected, "order {order} modulo {prime}");
    }
    // The same file, `IsPrimitiveRootMod`: of order 16, and of no other.
    for (order, is_root) in [(2, false), (8, false), (16, true), (32, false)] {
        assert_eq!(roots(1_234_565_441, order).contains(&1_180_581_915), is_root, "order {order}");
    }
}

/// Degree n, bits, and the largest primes of that size that are 1 modulo 2n. Microsoft SEAL 4.4.3,
/// `native/src/seal/util/globals.cpp`, default moduli for 128 and 192 bits of security.
const SEAL_PRIMES: [(u64, u32, &[u64]); 7] = [
    (4096, 36, &[0xf_fffe_e001, 0xf_fffc_4001]),
    (4096, 37, &[0x1f_fffe_0001]),
    (8192, 43, &[0x7ff_fffd_8001, 0x7ff_fffc_8001]),
    (8192, 44, &[0xfff_ffff_c001, 0xfff_fff6_c001, 0xfff_ffeb_c001]),
    (16384, 48, &[0xffff_fffd_8001, 0xffff_fffa_0001, 0xffff_fff0_0001]),
    (16384, 49, &[0x1_ffff_fff6_8001, 0x1_ffff_fff5_0001, 0x1_ffff_ffee_8001, 0x1_ffff_ffea_0001]),
    (16384, 50, &[0x3_ffff_ffdf_0001, 0x3_ffff_ffd4_8001, 0x3_ffff_ffd2_0001, 0x3_ffff_ffd1_8001]),
];

#[test]
fn primes_of_a_size_are_those_of_seal_and_openfhe() {
    for (degree, bits, expected) in SEAL_PRIMES {
        let found: Vec<u64> = primes_below(1 << bits, 2 * degree).take(expected.len()).collect();
        assert_eq!(found, expected, "degree {degree}, {bits} bits");
    }
    // OpenFHE 1.5.1, src/core/unittest/UnitTestNbTheory.cpp, method_prime_modulus.
    assert_eq!(primes_below(1 << 30, 2048).next(), Some(1_073_707_009));
    assert_eq!(primes_below(1 << 49, 4096).next(), Some(562_949_953_392_641));
    // The same file, test_nextQ: the primes that follow the first one above 2^22.
    let expected = [4_208_641, 4_263_937, 4_270_081, 4_274_177, 4_294_657, 4_300_801, 4_304_897, 4_319_233];
    let above = primes_near(f64::from(1 << 22), 2048, |p| p > 1 << 22);
    assert_eq!(above.skip(1).take(expected.len()).collect::<Vec<_>>(), expected);
}

/// TFHE-rs, commit 044a6028, `tfhe/src/core_crypto/commons/math/decomposition`: examples of
/// `SignedDecomposer::closest_representable` (1 340 987 234) and `DecompositionTerm::to_recomposition_summand` (2^19,
/// the digit of the last level), both for three digits of 4 bits in words of 32.
#[test]
fn digits_recompose_to_what_tfhe_rs_rounds_to() {
    let gadget = Gadget::new(4, 3);
    for (word, rounded) in [(1_340_987_234u32, 1_341_128_704u32), (1 << 19, 1_048_576)] {
        let digits: Vec<i64> = gadget.digits(word).collect();
        let sum = digits.iter().fold(0, |sum, digit| sum * 16 + digit) << 20;
        assert_eq!(sum.rem_euclid(1 << 32), i64::from(rounded), "{digits:?}");
    }
    assert!(gadget.digits(1u32 << 19).eq([0, 0, 1]));
}
