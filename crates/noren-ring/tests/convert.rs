//! Basis conversion against the Chinese remainder theorem.

mod oracle;

use noren_ring::convert::Conversion;
use noren_ring::host::convert::BasisConverter;
use num_bigint::BigInt;
use oracle::{adversarial, centred, coefficients, element, is_centred, modulus, product, residue};

const DEGREE: usize = 64;
const BITS: [u32; 8] = [50, 30, 45, 50, 36, 49, 41, 50];

/// The source sets that are tried: one limb, the smallest and the largest primes, many, and not in a row.
const SOURCES: [&[usize]; 6] = [&[1], &[0], &[0, 1, 2], &[5, 6, 7], &[0, 1, 2, 7], &[0, 1, 2, 3, 4, 5]];

#[test]
fn exact_conversion_gives_the_centred_representative() {
    let whole = oracle::ring(DEGREE, &BITS);
    for sources in SOURCES {
        let q = product(&whole, sources);
        let single = sources.len() == 1;
        // Next to Q/2 one number may come out as its neighbour x ± Q, unless there is a single source.
        let numbers: Vec<BigInt> = adversarial(1, DEGREE, &q)
            .into_iter()
            .map(|x| if single || &x * 2 < &q - 9 || &x * 2 > &q + 9 { x } else { &x / 2 })
            .collect();
        for targets in [0..8, 2..5, 6..8] {
            let converter = BasisConverter::new(&whole, sources, targets.clone(), Conversion::Exact);
            let out = converter.apply(&element(&whole, &numbers));
            let ring = whole.window(targets);
            let expected: Vec<BigInt> = numbers.iter().map(|x| centred(x, &q)).collect();
            // Where a source is a target, the whole element's own residue, which is congruent, is kept.
            assert_eq!(ring.to_words(&out), ring.to_words(&element(&ring, &expected)), "{sources:?}");
        }
    }
}

#[test]
fn exact_conversion_is_off_by_one_modulus_at_most_next_to_the_half() {
    let whole = oracle::ring(DEGREE, &BITS);
    let sources = [0, 1, 2, 3];
    let (q, ring) = (product(&whole, &sources), whole.window(4..8));
    let numbers = adversarial(2, DEGREE, &q);
    let out = BasisConverter::new(&whole, &sources, 4..8, Conversion::Exact).apply(&element(&whole, &numbers));
    for (found, x) in coefficients(&ring, &out).iter().zip(&numbers) {
        assert_eq!(residue(found, &q), *x);
        assert!(is_centred(found, &q), "{found} is too large");
    }
}

#[test]
fn approximate_conversion_adds_fewer_multiples_than_sources() {
    let whole = oracle::ring(DEGREE, &BITS);
    for (sources, targets) in [(&[0usize, 1, 2][..], 3..8), (&[5, 6, 7], 0..5), (&[4], 0..4)] {
        let (q, ring) = (product(&whole, sources), whole.window(targets.clone()));
        let numbers = adversarial(3, DEGREE, &q);
        let converter = BasisConverter::new(&whole, sources, targets, Conversion::Approximate);
        let out = converter.apply(&element(&whole, &numbers));
        for (found, x) in coefficients(&ring, &out).iter().zip(&numbers) {
            let multiple = residue(&(found - x), &modulus(&ring)) / &q;
            assert!(multiple < BigInt::from(sources.len()), "{multiple} multiples with {} sources", sources.len());
            assert_eq!(residue(&(x + multiple * &q), &modulus(&ring)), residue(found, &modulus(&ring)));
        }
    }
}

#[test]
fn conversion_takes_any_number_of_sources() {
    const TARGETS: usize = 5;
    // Around what a table of counts, and one sum, hold.
    for sources in [2, 15, 16, 17, 63, 64, 68] {
        let whole = oracle::ring(16, &vec![40; sources + TARGETS]);
        let (limbs, targets): (Vec<usize>, _) = ((0..sources).collect(), sources..sources + TARGETS);
        let q = product(&whole, &limbs);
        let numbers = oracle::random(4, 16, &(&q / 4));
        for conversion in [Conversion::Exact, Conversion::Approximate] {
            let converter = BasisConverter::new(&whole, &limbs, targets.clone(), conversion);
            let out = converter.apply(&element(&whole, &numbers));
            let ring = whole.window(targets.clone());
            // The difference is a small multiple of Q, the same modulo each target.
            let multiples = if conversion == Conversion::Exact { 1 } else { sources };
            let words = ring.to_words(&out);
            for (j, x) in numbers.iter().enumerate() {
                let is = |e: usize| {
                    let shifted = x + &q * BigInt::from(e);
                    words
                        .chunks(16)
                        .zip(ring.moduli())
                        .all(|(row, p)| residue(&(&shifted - row[j]), &BigInt::from(p.value())) == BigInt::from(0))
                };
                assert!((0..multiples).any(is), "{sources} sources, {conversion:?}");
            }
        }
    }
}

#[test]
#[should_panic(expected = "repeat a limb")]
fn repeated_sources_are_a_bug() {
    let _ = BasisConverter::new(&oracle::ring(16, &[40, 41, 42]), &[0, 0], 1..3, Conversion::Exact);
}
