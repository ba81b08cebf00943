//! The pairs of a key: in as they come out, at lower levels too.

mod oracle;

use noren_math::random::Seed;
use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;

const BITS: [u32; 4] = [50, 49, 40, 36];

fn pairs(ring: &Ring, digits: usize) -> Vec<[Poly<Eval>; 2]> {
    let seed = Seed::from_bytes([5; 32]);
    (0..digits).map(|j| [0, 1].map(|half| ring.uniform(&seed, &format!("{j}/{half}")))).collect()
}

#[test]
fn pairs_come_out_as_they_went_in() {
    for degree in [16, 1 << 12] {
        let whole = oracle::ring(degree, &BITS);
        for (digits, window) in [(1, 0..4), (3, 0..4), (3, 0..2), (2, 1..3)] {
            let ring = whole.window(window);
            let pairs = pairs(&whole, digits);
            let key = ring.key(&pairs);
            assert_eq!((key.digits(), key.ring().range()), (digits, ring.range()));
            for (digit, pair) in pairs.iter().enumerate() {
                for (half, (poly, found)) in pair.iter().zip(&ring.key_pair(&key, digit)).enumerate() {
                    let restricted = ring.restrict(poly);
                    assert_eq!(ring.to_words(found), ring.to_words(&restricted), "digit {digit}, half {half}");
                }
            }
        }
    }
}

#[test]
fn a_pair_that_is_set_changes_no_other() {
    let ring = oracle::ring(64, &BITS);
    let pairs = pairs(&ring, 3);
    let mut key = ring.zero_key(3);
    ring.set_key_pair(&mut key, 1, pairs[1].each_ref());
    for (digit, pair) in pairs.iter().enumerate() {
        for (found, poly) in ring.key_pair(&key, digit).iter().zip(pair) {
            let expected = if digit == 1 { ring.to_words(poly) } else { vec![0; 4 * 64] };
            assert_eq!(ring.to_words(found), expected, "digit {digit}");
        }
    }
}

#[test]
#[should_panic(expected = "a key is public")]
fn a_secret_pair_is_refused() {
    let ring = oracle::ring(16, &BITS);
    ring.set_key_pair(&mut ring.zero_key(1), 0, [&ring.zero(), &ring.zero().into_secret()]);
}
