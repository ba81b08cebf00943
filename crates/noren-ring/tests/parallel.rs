//! The same words for every way to share out loops and every number of threads.

mod oracle;
mod verbs;

use std::sync::LazyLock;

use noren_math::cyclotomic::Cyclotomic;
use noren_math::kernels::is_fastest;
use noren_ring::parallel::Parallel;
use noren_ring::ring::Ring;

use verbs::{BITS, Results};

/// Large enough for rows to be cut everywhere: the pairs of a key have two blocks for each limb.
const DEGREE: usize = 1 << 15;

fn everything(threads: Option<usize>, parallel: Parallel) -> Results {
    let ring = oracle::ring_parallel(DEGREE, &BITS, threads, parallel);
    assert!(threads.is_none_or(|threads| ring.engine().threads() == threads));
    assert_eq!(ring.engine().parallel(), parallel);
    verbs::everything(&ring)
}

/// On one thread nothing is cut.
static EXPECTED: LazyLock<Results> = LazyLock::new(|| everything(Some(1), Parallel::Modulus));

fn assert_same_words_of(index: u32, ways: &[Parallel]) {
    let index = Cyclotomic::new(index).expect("a supported index");
    let everything = |threads, parallel| verbs::everything(&oracle::ring_of(index, &BITS, threads, parallel));
    let expected = everything(Some(1), Parallel::Modulus);
    for &parallel in ways {
        for ((verb, found), (_, expected)) in everything(Some(3), parallel).0.iter().zip(&expected.0) {
            assert!(found == expected, "{verb}: {parallel}");
        }
    }
}

/// The rows of an index that is not a power of two are not cut into whole blocks or vectors.
#[test]
fn general_indices_on_any_threads_give_the_same_words() {
    assert_same_words_of(15_709, &[Parallel::Coefficient, Parallel::Modulus, Parallel::Both]);
}

/// Nor are those of 13 17 257, although its degree is three blocks of 2^14 words.
#[test]
fn general_indices_of_whole_blocks_give_the_same_words() {
    assert_same_words_of(56_797, &[Parallel::Both]);
}

fn assert_same_words(parallel: Parallel) {
    let threads: &[Option<usize>] = match (cfg!(feature = "parallel"), is_fastest()) {
        // There is one thread only.
        (false, _) => &[None, Some(1)],
        // Loops are cut in the same way for all kernels.
        (true, false) => &[Some(3)],
        (true, true) => &[None, Some(1), Some(2), Some(3), Some(5)],
    };
    for &threads in threads {
        for ((verb, found), (_, expected)) in everything(threads, parallel).0.iter().zip(&EXPECTED.0) {
            assert!(found == expected, "{verb}: {parallel}, {threads:?} threads");
        }
    }
}

#[test]
fn coefficients_on_any_threads_give_the_same_words() {
    assert_same_words(Parallel::Coefficient);
}

#[test]
fn limbs_on_any_threads_give_the_same_words() {
    assert_same_words(Parallel::Modulus);
}

#[test]
fn tiles_on_any_threads_give_the_same_words() {
    assert_same_words(Parallel::Both);
}

#[test]
fn no_threads_are_refused_by_every_way() {
    let ring = oracle::ring(16, &BITS[..1]);
    let moduli: Vec<u64> = ring.moduli().map(|q| q.value()).collect();
    for parallel in Parallel::ALL {
        let error = Ring::with_parallel(*ring.index(), &moduli, Some(0), parallel).expect_err("no threads");
        assert!(error.to_string().contains("at least 1 is needed"), "{error}");
    }
}
